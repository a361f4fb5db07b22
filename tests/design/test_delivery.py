"""BGP in tables (`routing.delivery`): which switches have it, how the design is as tables hold it, and refusals."""

from typing import Any

import pytest

import nodrop
from nodrop.design import find_adaptations
from nodrop.errors import InputProblems
from nodrop.intent.schema import Intent
from nodrop.model.fabric import Fabric
from nodrop.model.routing import Bgp, PrefixRule
from nodrop.model.states import require_fact
from nodrop.platforms.kit.traits import traits_of_platform
from support.designs import build, changed, load, shipped
from support.platform_mixes import on

TABLES = {"routing.delivery": "tables", "topology.leaves.version": "202511", "topology.spines.version": "202511"}


def intent(name: str, changes: dict[str, Any] | None = None) -> Intent:
    return load(shipped(name, TABLES | (changes or {})))


def bgp_of(fabric: Fabric, name: str) -> Bgp:
    bgp = fabric.device(name).bgp
    assert isinstance(bgp, Bgp)
    return bgp


def test_frr_conf_is_the_default() -> None:
    assert not any(one.routing_tables for one in build(shipped("two-by-two")).devices)


@pytest.mark.parametrize("name", ["two-by-two", "dual-stack", "unnumbered"])
def test_the_files_of_an_intent_with_tables(name: str) -> None:
    fabric = nodrop.build(intent(name))
    assert all(one.routing_tables for one in fabric.devices)
    artifacts = list(nodrop.write(fabric))
    assert {one.path for one in artifacts if one.device} == {"apply/apply.sh", "config_db.json"}
    assert nodrop.read_back(artifacts, fabric).fabric.devices[0].bgp == fabric.devices[0].bgp


def test_only_the_switches_of_sonic_have_tables_in_a_mixed_fabric() -> None:
    tables = {"routing.delivery": "tables", "topology.leaves.version": "202511"}
    fabric = build(changed(on("two-by-two", "sonic", "nvue"), tables))
    assert {one.platform: one.routing_tables for one in fabric.devices} == {"sonic": True, "nvue": False}


def test_sessions_and_maps_as_tables_hold_them() -> None:
    plain, held = (build(shipped("two-by-two", changes)) for changes in (None, TABLES))
    was, now = bgp_of(plain, "leaf1"), bgp_of(held, "leaf1")
    assert {one.hold_s for one in require_fact(was.neighbors)} == {None}
    assert {one.hold_s for one in require_fact(now.neighbors)} == {9}
    assert (was.requires_policy, now.requires_policy) == (False, True)
    assert (was.session_dscp, now.session_dscp) == (56, None)
    assert [one.name for one in was.community_lists] == ["GSHUT"]
    assert now.community_lists == ()
    for one in now.route_maps:
        assert not any(attribute == "local-preference" for rule in one.rules for attribute, _ in rule.sets)
    assert [rule.sequence for rule in now.route_maps[0].rules] == [20]


def rules(name: str, listed: str, changes: dict[str, Any] | None = None) -> tuple[PrefixRule, ...]:
    lists = bgp_of(nodrop.build(intent(name, changes)), "leaf1").prefix_lists
    return next(one.rules for one in lists if one.name == listed)


def test_ranges_have_both_ends() -> None:
    first, second = rules("two-by-two", "FABRIC")
    assert (first.prefix, first.ge, first.le) == ("10.0.0.0/16", 32, 32)
    assert (second.prefix, second.ge, second.le) == ("10.2.0.0/16", 24, 24)


def test_a_least_length_that_the_template_drops_is_left_out() -> None:
    """The text 128 is less than 48, and 24 less than 8 (bgpd.conf.db.pref_list.j2 of SONiC)."""
    (loopbacks, *_) = rules("dual-stack", "FABRIC6")
    assert (loopbacks.ge, loopbacks.le) == (None, 128)
    wide = {"addressing.endpoints": "11.0.0.0/8"}
    _, endpoints = rules("two-by-two", "FABRIC", wide)
    assert (endpoints.prefix, endpoints.ge, endpoints.le) == ("11.0.0.0/8", None, 24)


def test_notes_name_all_that_tables_hold_in_another_way() -> None:
    found = {one.path.partition("/")[2] for one in find_adaptations(intent("two-by-two")) if "@bgp" in one.path}
    assert found == {
        "@bgp",
        "@bgp/suppress_fib_pending",
        "@bgp/community_lists",
        "@bgp/neighbors/*/hold_s",
        "@bgp/prefix_lists",
        "@bgp/requires_policy",
        "@bgp/route_maps",
        "@bgp/session_dscp",
    }


def refused(changes: dict[str, Any], data: Any = None) -> list[tuple[str, str, str, str]]:
    with pytest.raises(InputProblems) as raised:
        nodrop.build(load(changed(data or shipped("two-by-two"), changes)))
    return [(one.where, one.found, one.expected, one.hint) for one in raised.value.problems]


@pytest.mark.parametrize("release", [one for one in traits_of_platform("sonic").releases if one < "202511"])
def test_a_release_that_cannot_have_tables_is_refused(release: str) -> None:
    changes = {"routing.delivery": "tables"} | {f"topology.{tier}.version": release for tier in ("leaves", "spines")}
    found = f"tables, which SONiC {release} cannot have of this design"
    assert refused(changes) == [("routing.delivery", found, "frr.conf", "or SONiC 202511 or later")]


def test_tables_are_refused_where_no_switch_has_them() -> None:
    found = "tables, which NVUE does not have"
    data = on("two-by-two", "nvue", "nvue")
    assert refused({"routing.delivery": "tables"}, data) == [("routing.delivery", found, "frr.conf", "")]


@pytest.mark.parametrize("name", ["sonic", "leaf", "spine2"])
def test_lines_for_frr_conf_are_refused_beside_tables(name: str) -> None:
    found = "lines for frr.conf, which is made of tables"
    expected = [(f"extra.{name}.lines", found, "no lines", "or routing.delivery: frr.conf")]
    assert refused(TABLES | {"extra": {name: {"lines": ["banner motd line x"]}}}) == expected
