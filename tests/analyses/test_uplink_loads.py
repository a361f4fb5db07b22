"""Which uplinks get more than their speed in equal shares, and which weights prevent it."""

from typing import Any

from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, RouteMap, RouteMapRule
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.report.bandwidth import FabricBandwidth
from support.analysis_results import say, with_changes
from support.designs import build, changed, shipped

SLOW = {"leaf1/Ethernet224": "spine1/Ethernet0", "leaf1/Ethernet240": "spine2/Ethernet0"}
"""A cable of leaf 1 to each spine, beside one of 400G."""
SLOWER = {f"{port}/speed_mbps": 200_000 for ends in SLOW.items() for port in ends}
ONE_OF_TWO = {
    "device": "leaf1", "uplinks": 4, "slowest": 200.0, "fastest": 400.0, "usable": 800.0,
    "total": 1200.0,
}  # fmt: skip


def with_bandwidths(fabric: Fabric, slow: str, fast: str, *further: tuple[str, str]) -> Fabric:
    """Return a fabric whose leaf 1 gives routes over slow and fast cables these link bandwidths; None gives none."""
    index, leaf = Index(fabric), fabric.device("leaf1")
    bgp = leaf.bgp
    assert isinstance(bgp, Bgp)
    slow_addresses = {
        str(address).partition("/")[0]
        for port in SLOW
        if (end := index.far_end(*port.split("/"))) is not None and (far := index.interface(*end)) is not None
        for address in far.addresses
    }
    maps = tuple(
        RouteMap(
            name=name,
            rules=(RouteMapRule(sequence=10, action="permit", sets=(("extcommunity bandwidth", value), *further)),),
        )
        for name, value in (("SLOW", slow), ("FAST", fast))
    )
    neighbors = tuple(
        replace_fields(neighbor, import_policy="SLOW" if neighbor.address in slow_addresses else "FAST")
        for neighbor in bgp.neighbors
    )
    changed_bgp = replace_fields(bgp, route_maps=(*bgp.route_maps, *maps), neighbors=neighbors)
    devices = tuple(replace_fields(one, bgp=changed_bgp) if one.name == "leaf1" else one for one in fabric.devices)
    return replace_fields(fabric, devices=devices)


def test_uplinks_of_two_speeds_are_found_at_the_first_slow_one() -> None:
    assert say("uplink_speeds", with_changes({})) == {}
    assert say("uplink_speeds", with_changes(SLOWER)) == {"leaf1/Ethernet224": ONE_OF_TWO}
    unknown = with_changes(SLOWER | {"leaf1/Ethernet224/speed_mbps": UNKNOWN})
    assert say("uplink_speeds", unknown) == {"leaf1": "interface.speed_mbps"}


def test_sums_that_differ_are_found_once() -> None:
    one = with_changes(
        {port: speed for port, speed in SLOWER.items() if "Ethernet240" not in port and "spine2" not in port}
    )
    assert say("uplink_speeds", one) == {}
    assert list(say("uplink_shares", one)) == ["leaf1/Ethernet224"]


def test_link_bandwidths_cover_the_speeds_only_in_their_ratio() -> None:
    fabric = with_changes(SLOWER)
    assert say("uplink_speeds", with_bandwidths(fabric, "200000", "400000")) == {}
    assert say("uplink_speeds", with_bandwidths(fabric, "10000", "10000")) == {"leaf1/Ethernet224": ONE_OF_TWO}
    by_count = with_bandwidths(fabric, "num-multipaths", "num-multipaths")
    assert say("uplink_speeds", by_count) == {"leaf1/Ethernet224": ONE_OF_TWO}
    drained = with_bandwidths(fabric, "200000", "400000", ("local-preference", "0"))
    assert say("uplink_speeds", drained) == {"leaf1/Ethernet224": ONE_OF_TWO}


def test_adaptive_routing_covers_the_speeds() -> None:
    ports = [f"leaf1/Ethernet{lane}/adaptive_routing" for lane in (224, 232, 240, 248)]
    adaptive = dict.fromkeys(ports, True)
    assert say("uplink_speeds", with_changes(SLOWER | adaptive)) == {"leaf1/Ethernet224": ONE_OF_TWO}
    assert say("uplink_speeds", with_changes(SLOWER | adaptive | {"leaf1/@adaptive_routing": True})) == {}


def test_oversubscription_is_that_of_what_equal_shares_fill() -> None:
    """Leaf 1 has three ports of 400G to hosts, and 800G in equal shares of 1200G; without a limit below, 1.5:1."""
    fabric = with_changes(SLOWER)
    (leaf_tier, *_) = FabricBandwidth(fabric).tier_capacity_facts()
    assert (leaf_tier["up_mbps"], leaf_tier["usable_up_mbps"], leaf_tier["oversubscription"]) == (
        2_800_000,
        2_400_000,
        1.5,
    )
    assert say("oversubscription", fabric) == {
        "leaf1": {
            "device": "leaf1", "down": 1200.0, "up": 800.0, "of": " (of 1200)", "ratio": 1.5,
            "wanted": 1.0,
        }
    }  # fmt: skip
    weighted = with_bandwidths(fabric, "200000", "400000")
    (leaf_tier, *_) = FabricBandwidth(weighted).tier_capacity_facts()
    assert (leaf_tier["usable_up_mbps"], leaf_tier["oversubscription"]) == (2_800_000, 1.0)
    assert say("oversubscription", weighted) == {}


def sheet(*leaves: tuple[int, int], **routing: Any) -> Fabric:
    """Return leaves with so many cables of 400G to each of two spines."""
    data = shipped("cabling-sheet")
    rows, taken = ["device, port, device, port, length"], [0, 0]
    for leaf, counts in enumerate(leaves, start=1):
        own = 32
        for spine, count in enumerate(counts):
            for _ in range(count):
                taken[spine] += 1
                rows.append(f"leaf{leaf}, {own}, spine{spine + 1}, {taken[spine]}, 30")
                own -= 1
    group = {"tier": 1, "ids": f"1-{len(leaves)}", "model": "SN4700", "platform": "sonic", "version": "202505"}
    topology = {
        "kind": "cabling", "media": "DR4", "speed": "400G", "max_oversubscription": 4,
        "groups": {
            "leaf": {**group, "ports": {"endpoints": "1-4"}},
            "spine": {**group, "tier": 2, "ids": "1-2"},
        },
        "cables": "\n".join(rows) + "\n",
    }  # fmt: skip
    hosts = {"ids": f"1-{len(leaves)}", "nic": "ConnectX-7", "spread": "one-leaf", "leaf_group": 1, "speed": "400G"}
    endpoints = {"gpu": {**hosts, "media": "DR4", "length": "5m"}}
    asn = {"leaf": "4200100000+", "spine": "4200000000"}
    return build(changed(data, {"topology": topology, "endpoints": endpoints, "routing": {"asn": asn, **routing}}))


def test_weights_by_the_number_of_paths_fit_few_uneven_leaves() -> None:
    """Others send a leaf with 3 and 1 cables 3 parts over the first spine; from a leaf as uneven, it would be 9."""
    few = ((2, 2), (2, 2), (2, 2), (3, 1))
    assert list(say("uplink_shares", sheet(*few))) == ["leaf4/Ethernet224"]
    assert say("uplink_shares", sheet(*few, balancing="weighted")) == {}
    alike = say("uplink_shares", sheet((3, 1), (3, 1), balancing="weighted"))
    assert {facts["weights"] for facts in alike.values()} == {"spines send them, but they do not fit"}
    assert set(alike) == {"leaf1/Ethernet224", "leaf2/Ethernet224"}
