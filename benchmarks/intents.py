"""The intents that are measured: pods of SN5600 switches, leaves and spines on one platform or on two."""

from importlib.util import find_spec

RELEASES = {"sonic": "202505", "nvue": "5.16"}

_INTENT = """\
nodrop: 1
fabric: {fabric}
topology:
  kind: leaf-spine
  spines: {{ids: 1-{spines}, model: SN5600, platform: {spine}, version: "{spine_release}"}}
  leaves: {{ids: 1-{leaves}, model: SN5600, platform: {leaf}, version: "{leaf_release}",
           ports: {{endpoints: 1-32, uplinks: 33-64}}}}
  uplinks: {{per_spine: 1, speed: 800G, media: DR8, length: 50m}}
  max_oversubscription: {oversubscription}
endpoints:
  gpu: {{ids: 1-{servers}, gpus: 8, nic: ConnectX-7, ports: 8, leaf_group: 32,
        speed: 400G, media: DR4, length: 20m}}
classes:
  rdma:    {{dscp: 26, priority: 3, lossless: true, share: 60%, ecn: {{min: 150kB, max: 1500kB, probability: 100%}}}}
  cnp:     {{dscp: 48, priority: 6, strict: true, max_rate: 5%}}
  control: {{dscp: 56, priority: 7, strict: true}}
  storage: {{dscp: 10, priority: 2, share: 20%}}
  inband:  {{dscp: 16, priority: 1, share: 5%}}
  default: {{dscp: rest, priority: 0, share: 15%}}
routing: {{asn: {{spines: 4200000000, leaves: 4200100000+}}}}
addressing: {{loopbacks: 10.0.0.0/16, links: 10.4.0.0/14, endpoints: 10.8.0.0/14, oob: 192.168.0.0/22}}
"""


def written() -> tuple[str, ...]:
    """Return the platforms that can be measured: those that nodrop writes."""
    return tuple(name for name in RELEASES if find_spec(f"nodrop.platforms.{name}.writer"))


def pod(fabric: str, *, leaves: int = 64, spines: int = 32, leaf: str = "sonic", spine: str = "sonic") -> str:
    """Return the intent of a pod; `leaves`, a multiple of 8, have 32 links to hosts and one to each spine."""
    return _INTENT.format(
        fabric=fabric,
        leaves=leaves,
        spines=spines,
        leaf=leaf,
        spine=spine,
        leaf_release=RELEASES[leaf],
        spine_release=RELEASES[spine],
        oversubscription=max(2, -(-16 // spines)),
        servers=leaves * 4,
    )
