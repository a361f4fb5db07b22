"""Spines with AS numbers of their own are at fault only where a leaf would carry traffic from one to another."""

from nodrop.model.states import UNKNOWN
from support.analysis_results import look

OTHER = 4200000001
OWN = {"spine2/@bgp/asn": OTHER, "leaf*/@neighbors/10.1.?.24?/remote_asn": OTHER}
OPEN: dict[str, object] = {"leaf*/@neighbors/*/export_policy": None}


def spines(changes: dict[str, object]) -> dict[str, object]:
    found = look("spine_asns", changes)
    return {key: each if isinstance(each, str) else (each["asn"], each["other"]) for key, each in found.items()}


def test_numbers_of_their_own_and_leaves_that_pass_everything_on() -> None:
    assert spines({}) == {}
    assert spines(OPEN) == {}
    assert spines({**OWN, **OPEN}) == {"spine1": (4200000000, "spine2"), "spine2": (OTHER, "spine1")}


def test_leaves_that_export_their_own_prefixes_close_the_way() -> None:
    assert spines({**OWN}) == {}


def test_one_leaf_that_passes_all_is_enough() -> None:
    changes = {**OWN, "leaf2/@neighbors/10.1.2.225/export_policy": None}
    assert spines(changes).keys() == {"spine1", "spine2"}


def test_a_policy_that_is_not_there_denies_all() -> None:
    assert spines({**OWN, "leaf*/@neighbors/*/export_policy": "NOWHERE"}) == {}


def test_a_session_that_is_shut_passes_nothing() -> None:
    assert spines({**OWN, **OPEN, "leaf*/@neighbors/*/enabled": False}) == {}


def test_a_rule_that_denies_foreign_prefixes_comes_first() -> None:
    deny = [
        {"sequence": 5, "action": "deny", "matches": [["ip address prefix-list", "FABRIC"]]},
        {"sequence": 10, "action": "permit"},
    ]
    assert spines({**OWN, "leaf*/@bgp/route_maps/FABRIC-OUT/rules": deny}) == {}
    assert spines({**OWN, "leaf*/@bgp/route_maps/FABRIC-OUT/rules": deny[1:]}).keys() == {"spine1", "spine2"}


def test_a_policy_by_more_than_prefixes_is_left_open() -> None:
    by_path = [{"sequence": 10, "action": "permit", "matches": [["as-path", "OWN"]]}]
    changes = {**OWN, "leaf*/@bgp/route_maps/FABRIC-OUT/rules": by_path}
    assert spines(changes) == {"leaf1": "device.bgp.route_maps", "leaf2": "device.bgp.route_maps"}


def test_a_policy_that_goes_through_others_is_left_open() -> None:
    for goes in (["call", "OTHER"], ["on-match", "next"]):
        elsewhere = [{"sequence": 10, "action": "permit", "sets": [goes]}]
        changes = {**OWN, "leaf*/@bgp/route_maps/FABRIC-OUT/rules": elsewhere}
        assert spines(changes) == {"leaf1": "device.bgp.route_maps", "leaf2": "device.bgp.route_maps"}


def test_what_is_not_known_of_routing_is_left_open() -> None:
    assert spines({"spine1/@bgp": UNKNOWN}) == {"spine1": "device.bgp"}
    assert spines({**OWN, "leaf1/@bgp": UNKNOWN}) == {"leaf1": "device.bgp"}


def test_without_roles_nobody_knows_who_is_a_spine() -> None:
    changes: dict[str, object] = {f"{name}/@role": UNKNOWN for name in ("leaf1", "leaf2", "spine1", "spine2")}
    assert spines({**OWN, **OPEN, **changes}) == {}
