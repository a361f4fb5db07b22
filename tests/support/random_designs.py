"""Random intents that can be built: gaps in ids, both models, several groups, classes on any priority, timers."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from nodrop.hardware import switch
from nodrop.units import show_speed
from support.designs import Data
from support.random_addressing import addressing

LEAVES, SPINES = 8, 4
"""The highest ids; with up to four links between any two switches, halving has room for all of them."""

SPEEDS = {"ConnectX-7": ("400G", "200G", "100G"), "ConnectX-6-Dx": ("200G", "100G")}
MEDIA = {
    "800G": (("DR8", 500), ("AOC", 100)),
    "400G": (("DR4", 500), ("AOC", 100)),
    "200G": (("FR4", 900), ("SR4", 100)),
    "100G": (("LR4", 2000), ("SR4", 100)),
}
GROUPS = ("gpu", "storage", "border")


def id_sets(highest: int, largest: int) -> st.SearchStrategy[list[int]]:
    return st.sets(st.integers(1, highest), min_size=1, max_size=largest).map(sorted)


def spelt(numbers: Sequence[int]) -> list[str]:
    return [str(number) for number in numbers]


def splits(model: str, speed: str) -> dict[int, int]:
    """The splits at which a model has ports of a speed, and the lanes of each."""
    ways = [way for way in switch(model).breakout_options() if not way.platforms]
    return {way.into: way.lanes for way in ways if speed in map(show_speed, way.speeds)}


@st.composite
def uplinks(draw: st.DrawFn, leaf: str, spine: str, speeds: Sequence[str], plain: bool) -> Data:
    speed = draw(st.sampled_from([one for one in speeds if splits(leaf, one) and splits(spine, one)]))
    low, high = splits(leaf, speed), splits(spine, speed)
    split = draw(st.sampled_from(sorted(low)))
    spine_split = split if plain else draw(st.sampled_from(sorted(high)))
    copper = [("DAC", 2)] if low[split] == high[spine_split] else []
    media, reach = draw(st.sampled_from([*MEDIA[speed], *copper]))
    made = {"per_spine": str(draw(st.integers(1, 4))), "speed": speed, "media": media, "split": str(split)}
    other = {} if spine_split == split and draw(st.booleans()) else {"spine_split": str(spine_split)}
    return made | other | {"length": f"{draw(st.integers(1, reach))}m"}


@st.composite
def groups(
    draw: st.DrawFn, index: int, leaves: list[int], model: str, speeds: Sequence[str], split: str
) -> Data | None:
    """A group on five panel ports of every leaf; None where no leaves are there for it."""
    width, together = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    ports = width * together
    over_leaves = (
        [] if width < ports == together else ["leaves"] if ports == 1 or len(leaves) % width else ["leaves", "rails"]
    )
    spread = draw(st.sampled_from(["one-leaf", *over_leaves]))
    width, together = (1, ports) if spread == "one-leaf" else (width, together)
    each = draw(st.integers(1, 5 // together))
    sets = [block for block in range(LEAVES) if all(block * width + one + 1 in leaves for one in range(width))]
    if not sets:
        return None
    places = st.tuples(st.sampled_from(sets), st.integers(1, each)).map(lambda place: place[0] * each + place[1])
    nic = draw(st.sampled_from([nic for nic, known in SPEEDS.items() if set(known) & set(speeds)]))
    speed = draw(st.sampled_from([one for one in SPEEDS[nic] if one in speeds]))
    media, reach = draw(st.sampled_from(MEDIA[speed]))
    return {
        "ids": spelt(sorted(draw(st.sets(places, min_size=1, max_size=8)))),
        "gpus": str(draw(st.sampled_from([0, 1, 8]))),
        "nic": nic,
        "ports": str(ports),
        "spread": spread,
        **({"ports_per_leaf": str(together)} if spread != "one-leaf" and together > 1 else {}),
        "leaf_group": str(each),
        "leaf_ports": f"{5 * index + 1}-{5 * index + 5}",
        "split": split or str(draw(st.sampled_from(sorted(splits(model, speed))))),
        "speed": speed,
        "media": media,
        "length": f"{draw(st.integers(1, reach))}m",
    }


@st.composite
def classes(draw: st.DrawFn) -> tuple[Data, Data]:
    """Classes, and hosts that are set for them, as stated or as follows from them."""
    rdma, second, *others = draw(st.permutations(range(1, 8)))
    dscps = draw(st.permutations(range(64)))
    also = draw(st.booleans())
    share = draw(st.integers(1, 98))
    made = {
        "rdma": {"dscp": spelt(dscps[:2]), "priority": str(rdma), "lossless": True, "share": f"{share}%"},
        "storage": {"dscp": str(dscps[2]), "priority": str(second), "lossless": also, "share": f"{99 - share}%"},
        "cnp": {"dscp": str(dscps[3]), "priority": str(others[0]), "strict": True, "max_rate": "5%"},
        "control": {"dscp": str(dscps[4]), "priority": str(others[1]), "strict": True},
        "default": {"dscp": "rest", "priority": "0", "share": "1%"},
    }
    made["rdma"]["ecn"] = {"min": "150kB", "max": "1500kB", "probability": "100%"}
    lossless = [str(rdma), *([str(second)] if also else [])]
    stated: Data = {"tos": str(dscps[0] * 4 + 2), "cnp_dscp": str(dscps[3]), "pfc": lossless}
    return made, draw(st.sampled_from([stated, {}, {"fifo_class": "storage"}]))


watchdogs = st.sampled_from(
    [
        {},
        {"fabric": "off"},
        {"hosts": {"detection": "300ms"}, "polling": "150ms"},
        {"hosts": {"detection": "2s", "action": "alert"}},
        {"hosts": {"detection": "5s"}},
        {"fabric": {"detection": "5s", "restoration": "9s"}},
    ]
)


@st.composite
def intents(draw: st.DrawFn, *, plain: bool = False) -> Data:
    """An intent that can be built; a plain one has switches of 32 ports, and one speed and split for all links."""
    models = ["SN4700"] if plain else ["SN4700", "SN5600"]
    leaf_model, spine_model = draw(st.sampled_from(models)), draw(st.sampled_from(models))
    leaves, spines = draw(id_sets(LEAVES, 4)), draw(id_sets(SPINES, 3))
    speeds = [draw(st.sampled_from(["200G", "400G"]))] if plain else ["400G", "200G", "100G"]
    upwards = draw(uplinks(leaf_model, spine_model, [*speeds] if plain else [*speeds, "800G"], plain))
    split = upwards["split"] if plain else ""
    endpoints: dict[str, Any] = {}
    for index, name in enumerate(draw(st.lists(st.sampled_from(GROUPS), min_size=1, unique=True))):
        group = draw(groups(index, leaves, leaf_model, speeds, split))
        endpoints |= {name: group} if group else {}
    traffic, hosts = draw(classes())
    sessions, pools = draw(addressing())
    tier = {"platform": "sonic", "version": "202505"}
    ports = {"endpoints": "1-16", "uplinks": "17-32"}
    lone = {"ids": "1", "nic": "ConnectX-7", "leaf_group": "1", "speed": speeds[0], "media": "AOC", "length": "5m"}
    lone |= {"split": split} if split else {}
    if not endpoints:
        leaves, endpoints = sorted({1, *leaves}), {"gpu": lone}
    return {
        "nodrop": "1",
        "fabric": "random",
        "mtu": str(draw(st.sampled_from([4200, 9100, 9216]))),
        "topology": {
            "kind": "leaf-spine",
            "spines": tier | {"ids": spelt(spines), "model": spine_model},
            "leaves": tier | {"ids": spelt(leaves), "model": leaf_model, "ports": ports},
            "uplinks": upwards,
            "max_oversubscription": "1000",
        },
        "endpoints": endpoints,
        "classes": traffic,
        "hosts": hosts,
        "pfc": {"watchdog": draw(watchdogs)},
        "routing": {"asn": {"spines": "4200000000", "leaves": "65000+"}} | sessions,
        "addressing": pools | {"oob": "192.168.100.0/24"},
    }
