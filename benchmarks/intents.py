"""The intents that are measured: pods of SN5600 switches, leaves and spines on one platform or on two."""

from importlib.util import find_spec

RELEASES = {"sonic": "202505", "nvue": "5.16"}

_INTENT = """\
nodrop: 1
fabric: {fabric}
topology:
  kind: leaf-spine
  spines: {{ids: {first_spine}-{last_spine}, model: SN5600, platform: {spine}, version: "{spine_release}"}}
  leaves: {{ids: {first_leaf}-{last_leaf}, model: SN5600, platform: {leaf}, version: "{leaf_release}",
           ports: {{endpoints: 1-32, uplinks: 33-64}}}}
  uplinks: {{per_spine: 1, spine_slots: {spines}, leaf_slots: {leaves}, speed: 800G, media: DR8, length: 50m}}
  max_oversubscription: {oversubscription}
endpoints:
  gpu: {{ids: {first_server}-{last_server}, gpus: 8, nic: ConnectX-7, ports: 8, leaf_group: 32,
        speed: 400G, media: DR4, length: 20m}}
classes:
  rdma:    {{dscp: 26, priority: 3, lossless: true, share: 60%, ecn: {{min: 150kB, max: 1500kB, probability: 100%}}}}
  cnp:     {{dscp: 48, priority: 6, strict: true, max_rate: 5%}}
  control: {{dscp: 56, priority: 7, strict: true}}
  storage: {{dscp: 10, priority: 2, share: 20%}}
  inband:  {{dscp: 16, priority: 1, share: 5%}}
  default: {{dscp: rest, priority: 0, share: 15%}}
routing: {{asn: {{spines: {spine_asn}, leaves: 4200100000+}}}}
addressing: {{loopbacks: 10.0.0.0/16, links: 32.0.0.0/4, endpoints: 48.0.0.0/4, oob: 172.16.0.0/16}}
"""


def written() -> tuple[str, ...]:
    """Return the platforms that can be measured: those that nodrop writes."""
    return tuple(name for name in RELEASES if find_spec(f"nodrop.platforms.{name}.writer"))


def pod(
    fabric: str, *, number: int = 0, leaves: int = 64, spines: int = 32, leaf: str = "sonic", spine: str = "sonic"
) -> str:
    """Return the intent of a pod; `leaves`, a multiple of 8, have 32 links to hosts and one to each spine.

    The ids of the pod of a `number` begin after those of the pod before, so that pods of one size are one site: names,
    addresses and AS numbers follow from ids. The pools hold the ids of 128 such pods, which no private range does.
    """
    servers = leaves * 4
    return _INTENT.format(
        fabric=fabric,
        leaves=leaves,
        spines=spines,
        leaf=leaf,
        spine=spine,
        leaf_release=RELEASES[leaf],
        spine_release=RELEASES[spine],
        oversubscription=max(2, -(-16 // spines)),
        spine_asn=4200000000 + number,
        **_ids("spine", number, spines),
        **_ids("leaf", number, leaves),
        **_ids("server", number, servers),
    )


def _ids(word: str, number: int, count: int) -> dict[str, int]:
    """Return the first and the last id that a pod has of a kind."""
    return {f"first_{word}": number * count + 1, f"last_{word}": (number + 1) * count}
