"""Random intents that a person could want, as text, and the fabrics that they become."""

import json
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

import nodrop
from nodrop.errors import InputProblems
from nodrop.intent.load import loads
from nodrop.model.fabric import Fabric
from nodrop.platforms.sonic.releases import has_feature
from nodrop.units import show_ids
from support.random_addressing import addressing

PORTS = {"SN2410": (48, 56), "SN4410": (24, 32), "SN4700": (16, 32), "SN5600": (32, 64)}
"""The last panel port of a leaf towards hosts, and the last towards spines."""
UPLINKS = {
    "SN2410": [("100G", "DR", 500, 1), ("100G", "DAC", 3, 1), ("50G", "AOC", 100, 2)],
    "SN4410": [("400G", "DR4", 500, 1), ("200G", "FR4", 2000, 2), ("100G", "AOC", 100, 4)],
    "SN4700": [
        ("400G", "DR4", 500, 1), ("400G", "AOC", 100, 1), ("400G", "DAC", 3, 1), ("200G", "FR4", 2000, 1),
        ("200G", "DAC", 3, 2), ("100G", "LR4", 5000, 4),
    ],
    "SN5600": [
        ("800G", "DR8", 500, 1), ("800G", "DAC", 2, 1), ("400G", "SR8", 100, 1), ("200G", "AOC", 100, 1),
        ("400G", "DR4", 500, 2), ("200G", "DAC", 2, 4),
    ],
}  # fmt: skip
ENDPOINTS = {
    "SN2410": [("ConnectX-6-Dx", "25G", "AOC", 1), ("ConnectX-6-Dx", "25G", "DAC", 1)],
    "SN4410": [("ConnectX-6-Dx", "100G", "AOC", 1), ("ConnectX-7", "200G", "AOC", 2), ("ConnectX-7", "100G", "LR4", 4)],
    "SN4700": [
        ("ConnectX-7", "400G", "DR4", 1), ("ConnectX-7", "200G", "AOC", 1), ("ConnectX-6-Dx", "100G", "LR4", 1),
        ("ConnectX-7", "200G", "AOC", 2), ("ConnectX-6-Dx", "100G", "LR4", 4),
    ],
    "SN5600": [
        ("ConnectX-7", "400G", "DR4", 1), ("ConnectX-7", "200G", "AOC", 1), ("ConnectX-6-Dx", "100G", "LR4", 1),
        ("ConnectX-7", "400G", "DR4", 2), ("ConnectX-7", "200G", "AOC", 4),
    ],
}  # fmt: skip
SLOTS = 8
"""Leaves that a spine's ports are shared out among, and spines that a leaf's are."""


@st.composite
def classes(draw: st.DrawFn) -> dict[str, Any]:
    """The six classes, or without some, at any priorities; RDMA alone is lossless."""
    names = ["rdma", "default", *(name for name in ("cnp", "control", "storage", "inband") if draw(st.booleans()))]
    numbers = draw(st.permutations(range(8)).filter(lambda order: order[0] > 0))
    dscps = draw(st.permutations(range(64)))
    shared = [name for name in names if name not in ("cnp", "control")]
    cuts = sorted(draw(st.sets(st.integers(1, 99), min_size=len(shared) - 1, max_size=len(shared) - 1)))
    shares = [high - low for low, high in zip([0, *cuts], [*cuts, 100], strict=True)]
    made: dict[str, Any] = {}
    for place, name in enumerate(names):
        made[name] = {"dscp": "rest" if name == "default" else dscps[place], "priority": numbers[place]}
        if name in shared:
            made[name]["share"] = f"{shares[shared.index(name)]}%"
        else:
            made[name]["strict"] = True
    if "cnp" in made and draw(st.booleans()):
        made["cnp"]["max_rate"] = f"{draw(st.integers(1, 100))}%"
    least = draw(st.integers(1, 10_000))
    made["rdma"] |= {
        "lossless": True,
        "ecn": {
            "min": f"{least}kB",
            "max": f"{least + draw(st.integers(1, 10_000))}kB",
            "probability": f"{draw(st.integers(1, 100))}%",
        },
    }
    return made


@st.composite
def watchdogs(draw: st.DrawFn) -> dict[str, Any]:
    """Timers all derived, some stated, or the fabric's side off."""
    kind = draw(st.sampled_from(["derived", "stated", "off"]))
    if kind == "derived":
        return {}
    polling = draw(st.sampled_from([100, 150, 200]))
    hosts = draw(st.integers(2 * polling, 1000))
    action = draw(st.sampled_from(["drop", "forward", "alert"]))
    fabric: Any = {"detection": f"{draw(st.integers(hosts + 2 * polling + 1, 5000))}ms", "action": action}
    return {
        "hosts": {"detection": f"{hosts}ms", "restoration": f"{draw(st.integers(hosts, 60000))}ms"},
        "fabric": "off" if kind == "off" else fabric,
        "polling": f"{polling}ms",
    }


@st.composite
def texts(draw: st.DrawFn) -> str:
    """An intent: ids with gaps, one to six leaves, one to four spines, one to three groups of endpoints."""
    model = draw(st.sampled_from(sorted(PORTS)))
    half, panels = PORTS[model]
    speed, media, reach, split = draw(st.sampled_from(UPLINKS[model]))
    leaves = sorted(draw(st.sets(st.integers(1, SLOTS), min_size=1, max_size=6)))
    spines = sorted(draw(st.sets(st.integers(1, SLOTS), min_size=1, max_size=4)))
    per_spine = draw(st.integers(1, (panels - half) * split // SLOTS))
    tier = {"model": model, "platform": "sonic", "version": draw(st.sampled_from(RELEASES))}
    made = draw(classes())
    sessions, pools = draw(addressing())
    intent: dict[str, Any] = {
        "nodrop": 1,
        "fabric": draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)),
        "mtu": draw(st.sampled_from([9216, 9100, 4300])),
        "topology": {
            "kind": "leaf-spine",
            "spines": {"ids": show_ids(tuple(spines)), **tier},
            "leaves": {
                "ids": show_ids(tuple(leaves)),
                **tier,
                "ports": {"endpoints": f"1-{half}", "uplinks": f"{half + 1}-{panels}"},
            },
            "uplinks": {
                "per_spine": per_spine,
                "split": split,
                "speed": speed,
                "media": media,
                "length": f"{draw(st.integers(1, reach))}m",
                "spine_slots": SLOTS,
                "leaf_slots": SLOTS,
            },
            "max_oversubscription": 1000,
        },
        "endpoints": draw(endpoints(model, leaves, half)),
        "classes": made,
        "pfc": {"watchdog": draw(watchdogs())},
        "buffers": {
            "lossless_pool": f"{draw(st.integers(1, 99))}%",
            "shared_headroom": draw(st.sampled_from(["off", "off", "on"])),
            "alpha": draw(st.sampled_from(["1/8", "1/4", "1/2", "1", "2", "4", "8"])),
        },
        "hosts": draw(st.sampled_from([{}, {"tos": made["rdma"]["dscp"] * 4 + 2, "pfc": [made["rdma"]["priority"]]}]))
        | {
            "rdma_mtu": draw(st.sampled_from([1024, 2048, 4096])),
            **draw(st.sampled_from([{}, {"queue_pairs": 1}, {"queue_pairs": 128}])),
        },
        "routing": sessions
        | {
            "asn": draw(
                st.sampled_from([{"spines": 65000, "leaves": "65100+"}, {"spines": "65000+", "leaves": "65100+"}])
            ),
            "bfd": draw(st.booleans()),
        },
        "addressing": pools
        | {
            "oob": draw(st.sampled_from(["192.168.100.0/24", "172.16.0.0/23"])),
        },
    }
    if has_feature(str(tier["version"]), "routing in tables"):
        intent["routing"]["delivery"] = draw(st.sampled_from(["frr.conf", "tables"]))
    if "cnp" in made:
        intent["hosts"]["cnp_dscp"] = made["cnp"]["dscp"]
    if draw(st.booleans()):
        intent["buffers"]["pattern_mtu"] = draw(st.integers(64, 9216))
    if draw(st.booleans()):
        intent["services"] = {"ntp": ["192.0.2.10", "192.0.2.9"], "syslog": ["192.0.2.20"]}
        if draw(st.booleans()):
            intent["services"] |= {"dns": ["192.0.2.53"], "snmp": {"location": 'row "4", rack 2', "contact": "noc"}}
            intent["routing"]["hash"] = ["src-ip", "dst-ip", "ip-protocol"]
    return json.dumps(intent)  # which is YAML too


@st.composite
def endpoints(draw: st.DrawFn, model: str, leaves: list[int], ports: int) -> dict[str, Any]:
    """Groups side by side on the leaves' ports, each on one leaf or spread over two, as rails or not."""
    made = {}
    count = draw(st.integers(1, 3))
    width = ports // count
    for number, name in enumerate(("gpu", "storage", "border")[:count]):
        first = 1 + number * width
        nic, speed, media, split = draw(st.sampled_from(ENDPOINTS[model]))
        pairs = [leaf for leaf in leaves if leaf % 2 and leaf + 1 in leaves]
        spread = bool(pairs) and draw(st.booleans())
        each = draw(st.integers(1, 4))
        ids = [
            (block - 1 if not spread else block // 2) * each + place
            for block in (pairs if spread else leaves)
            for place in sorted(draw(st.sets(st.integers(1, each), min_size=1)))
        ]
        made[name] = {
            "ids": show_ids(tuple(ids)),
            "gpus": draw(st.sampled_from([0, 8])),
            "nic": nic,
            "ports": 2 if spread else 1,
            "spread": draw(st.sampled_from(["leaves", "rails"])) if spread else "one-leaf",
            "split": split,
            "leaf_group": each,
            "leaf_ports": f"{first}-{first + width - 1}",
            "speed": speed,
            "media": media,
            "length": f"{draw(st.integers(1, 100))}m",
        }
        if draw(st.integers(0, 5)) == 0:
            made[name]["vlan"] = {"id": 100 + number, "pool": draw(st.sampled_from(VLAN_POOLS[number]))}
        if not spread and 2 * each <= width * split and draw(st.integers(0, 3)) == 0:
            made[name] |= {"ports": 2, "bond": True}
    return made


VLAN_POOLS = (
    ("100.64.0.0/10", ["100.64.0.0/10", "fd64::/32"]),
    ("172.16.0.0/12", ["172.16.0.0/12", "fd65::/32"]),
    ("198.18.0.0/15", "fd66::/32"),
)


RELEASES = ("202305", "202311", "202405", "202411", "202505", "202511", "202605", "master")


@st.composite
def built(draw: st.DrawFn) -> Fabric:
    """The fabric of a random intent; a design that cannot work is passed over."""
    text = draw(texts())
    try:
        return nodrop.build(loads(text.encode(), "random.yaml"))
    except InputProblems:
        assume(False)
        raise
