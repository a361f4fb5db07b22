"""The intents that are measured: pods of SN5600 switches on one platform or on two, alone or below a third tier."""

import json
from importlib.util import find_spec

RELEASES = {"sonic": "202505", "nvue": "5.16"}

_INTENT = """\
nodrop: 1
fabric: {fabric}
topology:
  kind: leaf-spine
  spines: {{ids: {first_spine}-{last_spine}, model: SN5600, platform: {spine}, version: "{spine_release}"}}
  leaves: {{ids: {first_leaf}-{last_leaf}, model: SN5600, platform: {leaf}, version: "{leaf_release}",
           ports: {{endpoints: 1-{to_hosts}, uplinks: 33-64}}}}
  uplinks: {{per_spine: 1, spine_slots: {spines}, leaf_slots: {leaves}, {cable}, length: 50m}}
  max_oversubscription: {oversubscription}
endpoints:
  gpu: {{ids: {first_server}-{last_server}, gpus: 8, nic: ConnectX-7, ports: 8, leaf_group: {to_hosts},
        speed: 400G, media: DR4, length: 20m}}
{classes}\
routing: {{asn: {{spines: {spine_asn}, leaves: 4200100000+}}}}
addressing: {{loopbacks: 10.0.0.0/16, links: 32.0.0.0/4, endpoints: 48.0.0.0/4, oob: 172.16.0.0/16}}
"""
_CLASSES = """\
classes:
  rdma:    {dscp: 26, priority: 3, lossless: true, share: 60%, ecn: {min: 150kB, max: 1500kB, probability: 100%}}
  cnp:     {dscp: 48, priority: 6, strict: true, max_rate: 5%}
  control: {dscp: 56, priority: 7, strict: true}
  storage: {dscp: 10, priority: 2, share: 20%}
  inband:  {dscp: 16, priority: 1, share: 5%}
  default: {dscp: rest, priority: 0, share: 15%}
"""
_SPLIT = """\
nodrop: 1
fabric: split
topology:
  kind: leaf-spine
  spines: {{ids: 1-4, model: SN5600, platform: {platform}, version: "{release}"}}
  leaves: {{ids: 1-8, model: SN5600, platform: {platform}, version: "{release}",
           ports: {{endpoints: 1-32, uplinks: 33-64}}}}
  uplinks: {{per_spine: 16, speed: 400G, media: DR4, length: 50m, split: 2}}
  max_oversubscription: 1
endpoints:
  gpu: {{ids: 1-64, gpus: 8, nic: ConnectX-7, ports: 8, spread: rails, leaf_group: 64, speed: 400G, media: DR4,
        length: 20m, split: 2}}
{classes}\
routing: {{asn: {{spines: 4200000000, leaves: 4200100000+}}}}
addressing: {{loopbacks: 10.0.0.0/16, links: 32.0.0.0/4, endpoints: 48.0.0.0/4, oob: 172.16.0.0/16}}
"""
PORTS = 64
"""Panel ports of a switch; half of them lead up where there is a tier above."""


def written() -> tuple[str, ...]:
    """Return the platforms that can be measured: those that nodrop writes."""
    return tuple(name for name in RELEASES if find_spec(f"nodrop.platforms.{name}.writer"))


def pod(
    fabric: str,
    *,
    number: int = 0,
    leaves: int = 64,
    spines: int = 32,
    to_hosts: int = 32,
    leaf: str = "sonic",
    spine: str = "sonic",
) -> str:
    """Return the intent of a pod; `leaves`, a multiple of 8, have `to_hosts` links to hosts and one to each spine.

    Above 32 spines or 64 leaves the links to spines are split in two, which leaves room for twice as many.

    The ids of the pod of a `number` begin after those of the pod before, so that pods of one size are one site: names,
    addresses and AS numbers follow from ids. The pools hold the ids of 128 such pods, which no private range does.
    """
    servers = leaves * to_hosts // 8
    split = spines > PORTS // 2 or leaves > PORTS
    return _INTENT.format(
        fabric=fabric,
        leaves=leaves,
        spines=spines,
        to_hosts=to_hosts,
        cable="speed: 400G, media: DR4, split: 2" if split else "speed: 800G, media: DR8",
        leaf=leaf,
        spine=spine,
        leaf_release=RELEASES[leaf],
        spine_release=RELEASES[spine],
        oversubscription=max(2, -(-16 // spines)),
        spine_asn=4200000000 + number,
        classes=_CLASSES,
        **_ids("spine", number, spines),
        **_ids("leaf", number, leaves),
        **_ids("server", number, servers),
    )


def split_ports(platform: str, *, rdma_dscp: int = 26) -> str:
    """Return the intent of 12 switches whose ports are all split in two and cabled: 1,536 ports."""
    classes = _CLASSES.replace("dscp: 26,", f"dscp: {rdma_dscp},")
    return _SPLIT.format(platform=platform, release=RELEASES[platform], classes=classes)


def three_tiers(pods: int, platform: str = "sonic") -> str:
    """Return the intent of a full fat tree: pods of 32 leaves and 32 spines, and cores in planes above.

    A plane has the same spines of every pod, 64 in all, and 32 cores that all of these have a link to. So `pods` is a
    power of two up to 64, and there are 80 switches for each of them. 128 pods fit where links to cores are split:
    then a plane has 128 spines and 64 cores, and a leaf 24 ports to hosts, so that these are fewer than 100,000.
    """
    half = PORTS // 2
    split = 2 if pods > PORTS else 1
    spines_of_plane = PORTS * split
    in_pod = spines_of_plane // pods
    to_hosts = 24 if split == 2 else half
    switches = {"model": "SN5600", "platform": platform, "version": RELEASES[platform]}
    to_spines = {"links": 1, "speed": "800G", "media": "DR8", "length": "50m", "slots": half, "peer_slots": in_pod}
    to_cores = {"ports": f"{half + 1}-{PORTS}", "links": 1, "length": "100m", "slots": spines_of_plane}
    to_cores |= {"speed": "400G", "media": "DR4", "split": 2} if split == 2 else {"speed": "800G", "media": "DR8"}
    leaf_groups: dict[str, object] = {}
    groups: dict[str, object] = {}
    asn: dict[str, str] = {"leaf": "4200100000+"}
    for plane in range(half // in_pod):
        first = half + 1 + plane * in_pod
        leaf_groups[f"spine{plane}x"] = {
            "ports": f"{first}-{first + in_pod - 1}", "peer_ports": f"1-{half}", **to_spines,
        }  # fmt: skip
        groups[f"spine{plane}x"] = {
            "tier": 2, "ids": f"1-{spines_of_plane}", "per_pod": in_pod, "offset": plane * spines_of_plane, **switches,
            "uplinks": {f"core{plane}x": {**to_cores, "peer_slots": half * split}},
        }  # fmt: skip
        groups[f"core{plane}x"] = {
            "tier": 3, "ids": f"1-{half * split}", "offset": plane * half * split, **switches,
        }  # fmt: skip
        asn |= {f"spine{plane}x": f"{4200200000 + 1000 * plane}+pod", f"core{plane}x": str(4200000000 + plane)}
    groups["leaf"] = {
        "tier": 1, "ids": f"1-{half * pods}", "per_pod": half, "ports": {"endpoints": f"1-{to_hosts}"}, **switches,
        "uplinks": leaf_groups,
    }  # fmt: skip
    servers = {
        "ids": f"1-{to_hosts * pods * 4}", "gpus": 8, "nic": "ConnectX-7", "ports": 8, "spread": "rails",
        "leaf_group": to_hosts, "speed": "400G", "media": "DR4", "length": "20m",
    }  # fmt: skip
    intent = {
        "nodrop": 1, "fabric": "tiers", "topology": {"kind": "tiers", "groups": groups},
        "endpoints": {"gpu": servers}, "routing": {"asn": asn},
        "addressing": {
            "loopbacks": "10.0.0.0/8", "links": "32.0.0.0/4", "endpoints": "48.0.0.0/4", "oob": "172.16.0.0/12",
        },
    }  # fmt: skip
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in intent.items()) + _CLASSES


def _ids(word: str, number: int, count: int) -> dict[str, int]:
    """Return the first and the last id that a pod has of a kind."""
    return {f"first_{word}": number * count + 1, f"last_{word}": (number + 1) * count}
