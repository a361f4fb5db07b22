"""Which policies leave equal paths without a link bandwidth beside others that have one, and what a router hears."""

from typing import Any

import pytest

from nodrop.model.edit import set_value
from nodrop.model.fabric import Fabric
from nodrop.model.routing import Bgp, RouteMap, RouteMapRule
from nodrop.model.subject import parse_subject
from support.analysis_results import say
from support.designs import build, shipped

WEIGHTED = {"routing.balancing": "weighted"}
BANDWIDTH = "extcommunity bandwidth"


def set_maps(fabric: Fabric, switch: str, name: str, *rules: RouteMapRule) -> Fabric:
    """Return a fabric with one route map of a switch replaced."""
    bgp = fabric.device(switch).bgp
    assert isinstance(bgp, Bgp)
    maps = tuple(one for one in bgp.route_maps if one.name != name)
    return set_value(fabric, parse_subject(f"{switch}/@bgp/route_maps"), (*maps, RouteMap(name=name, rules=rules)))


def without_weights(fabric: Fabric, *switches: str) -> Fabric:
    """Return a fabric in which some switches set no link bandwidth."""
    for switch in switches:
        bgp = fabric.device(switch).bgp
        assert isinstance(bgp, Bgp)
        for one in bgp.route_maps:
            rules = (
                RouteMapRule(
                    sequence=rule.sequence,
                    action=rule.action,
                    matches=rule.matches,
                    sets=tuple(row for row in rule.sets if row[0] != BANDWIDTH),
                )
                for rule in one.rules
            )
            fabric = set_maps(fabric, switch, one.name, *rules)
    return fabric


def found(fabric: Fabric) -> dict[str, tuple[Any, ...]]:
    hits = say("partial_weights", fabric)
    return {name: tuple(facts[key] for key in ("chooser", "weighed", "paths")) for name, facts in hits.items()}


def test_a_spine_without_weights_is_found_with_the_paths_that_have_one() -> None:
    fabric = build(shipped("two-by-two", WEIGHTED))
    assert say("partial_weights", fabric) == {}
    assert say("partial_weights", without_weights(fabric, "spine2")) == {
        "spine2/@bgp/route_maps/FABRIC-OUT": {
            "device": "spine2",
            "policy": "route map FABRIC-OUT",
            "chooser": "leaf1",
            "weighed": 2,
            "paths": 4,
            "prefix": "10.2.1.0/24",
        }
    }
    assert say("partial_weights", without_weights(fabric, "spine1", "spine2")) == {}
    assert say("partial_weights", build(shipped("two-by-two"))) == {}


@pytest.mark.parametrize("name", ["unnumbered", "dual-stack"])
def test_each_family_has_its_own_policies(name: str) -> None:
    fabric = without_weights(build(shipped(name, WEIGHTED)), "spine2")
    assert sorted(found(fabric)) == [f"spine2/@bgp/route_maps/{policy}-OUT" for policy in ("FABRIC", "FABRIC6")]


def test_in_three_tiers_those_who_choose_between_cores_and_between_spines_are_found() -> None:
    fabric = build(shipped("uneven-pods", WEIGHTED))
    assert found(fabric) == {}
    assert found(without_weights(fabric, "core2")) == {"core2/@bgp/route_maps/FABRIC-OUT": ("spine1", 4, 8)}
    assert found(without_weights(fabric, "spine4")) == {"spine4/@bgp/route_maps/FABRIC-OUT": ("core1", 4, 8)}


def test_a_weight_given_on_import_replaces_those_that_are_sent() -> None:
    fabric = without_weights(build(shipped("two-by-two", WEIGHTED)), "spine2")
    for leaf in ("leaf1", "leaf2"):
        accept = RouteMapRule(sequence=10, action="permit", sets=((BANDWIDTH, "100"),))
        fabric = set_maps(fabric, leaf, "FABRIC-IN", accept)
    assert found(fabric) == {}


def test_a_policy_that_weighs_some_routes_is_found_for_the_others() -> None:
    fabric = build(shipped("two-by-two", WEIGHTED))
    bgp = fabric.device("spine2").bgp
    assert isinstance(bgp, Bgp)
    only = RouteMapRule(
        sequence=10, action="permit", matches=(("ip address prefix-list", "FABRIC"),), sets=((BANDWIDTH, "100"),)
    )
    rest = RouteMapRule(sequence=20, action="permit")
    assert found(set_maps(fabric, "spine2", "FABRIC-OUT", only, rest)) == {}
    turned = set_maps(fabric, "spine2", "FABRIC-OUT", RouteMapRule(sequence=5, action="permit"), only)
    assert found(turned) == {"spine2/@bgp/route_maps/FABRIC-OUT": ("leaf1", 2, 4)}


@pytest.mark.parametrize(
    "rule",
    [
        RouteMapRule(sequence=10, action="permit", sets=(("call", "OTHER"),)),
        RouteMapRule(sequence=10, action="permit", matches=(("community", "GSHUT"),), sets=((BANDWIDTH, "100"),)),
    ],
)
def test_what_depends_on_other_maps_or_on_communities_is_not_claimed(rule: RouteMapRule) -> None:
    fabric = build(shipped("two-by-two", WEIGHTED))
    assert found(set_maps(fabric, "spine2", "FABRIC-OUT", rule, RouteMapRule(sequence=20, action="permit"))) == {}
