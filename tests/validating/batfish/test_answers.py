"""What becomes of Batfish's answers: each fault shows in the item that it stands at, and silence in none."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from nodrop.analyses._computed import compute_observation
from nodrop.model.access import AccessEntry, AccessList, Binding
from nodrop.model.fabric import Device, End, Fabric, Interface, Link
from nodrop.model.index import Index
from nodrop.model.routing import AsPathList, Bgp, BgpNeighbor, Redistribution, RouteMap, RouteMapRule, StaticRoute
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.routing.observation import ObservationCheck, ValidatorObservation, address_item, route_item
from nodrop.validating.batfish import reaching
from nodrop.validating.batfish.lines import why_line_is_harmless
from nodrop.validating.batfish.names import format_node_specifier
from nodrop.validating.batfish.observing import PARTLY_READ_REASON
from support import batfish_answering as answering
from support.batfish_answering import (
    FABRIC,
    SOUND,
    Rows,
    exported,
    flow,
    interface,
    node,
    observed,
    owner,
    route,
    session,
)
from support.designs import shared_subnet

LINK = ("@fabric", "links", "leaf1:Ethernet0--spine1:Ethernet8")
LEAF, SPINE = ("leaf1", "@neighbors", "10.1.0.0"), ("spine1", "@neighbors", "10.1.0.1")
TO_SPINE, TO_LEAF = route_item("leaf1", "10.0.0.9/32"), route_item("spine1", "10.0.0.1/32")
REACHED = route_item("leaf1", "10.0.0.9/32", check="reach")
CHECKED: tuple[ObservationCheck, ...] = (
    "configuration",
    "links",
    "packets",
    "sessions",
    "addresses",
    "routes",
    "reach",
)


def differences(seen: ValidatorObservation, fabric: Fabric = FABRIC) -> dict[Any, Any]:
    """The items that Batfish sees otherwise than the built-in computation, or does not have, with what it sees."""
    own = compute_observation(Index(fabric))
    return {
        (check, item): seen.seen.get(check, {}).get(item)
        for check in CHECKED
        for item in {**own.seen.get(check, {}), **seen.seen.get(check, {})}
        if not seen.reason_unseen(check, item)
        and own.seen.get(check, {}).get(item) != seen.seen.get(check, {}).get(item)
    }


def test_sound_answers_agree_in_every_item() -> None:
    seen = observed()
    assert differences(seen) == {}
    assert seen.unseen == {}
    assert seen.refused == ()
    assert seen.notes[0] == "versions"
    assert seen.seen == {
        "configuration": {("leaf1",): "whole", ("spine1",): "whole"},
        "links": {LINK: "up"},
        "packets": {LINK: "crosses"},
        "sessions": {LEAF: "up", SPINE: "up"},
        "addresses": {
            address_item("10.1.0.1"): ("leaf1:Ethernet0",),
            address_item("10.0.0.1"): ("leaf1:Loopback0",),
            address_item("10.1.0.0"): ("spine1:Ethernet8",),
            address_item("10.0.0.9"): ("spine1:Loopback0",),
            address_item("router id 10.0.0.1"): ("leaf1",),
            address_item("router id 10.0.0.9"): ("spine1",),
        },
        "routes": {TO_SPINE: frozenset({"Ethernet0"}), TO_LEAF: frozenset({"Ethernet8"})},
        "reach": {REACHED: "delivered"},
    }


@pytest.mark.parametrize("question", sorted(SOUND.keys() - {"bgpSessionCompatibility", "fileParseStatus"}))
def test_an_empty_answer_never_passes(question: str) -> None:
    """The two others only have words for what is seen elsewhere."""
    if SOUND[question]:
        assert differences(observed(**{question: []}))


def _edited(question: str, number: int, **words: Any) -> Mapping[str, Rows]:
    rows = [dict(row) for row in SOUND[question]]
    rows[number] |= words
    return {question: rows}


FAULTS: Mapping[str, tuple[Mapping[str, Rows], Mapping[Any, Any]]] = {
    "a node is lost": (_edited("nodeProperties", 0, Node=node("other")), {("configuration", ("leaf1",)): "refused"}),
    "a port has no next router": (
        {"layer3Edges": []},
        {("links", LINK): "down", ("packets", LINK): "lost"},
    ),
    "a cable is not used": ({"layer1Edges": []}, {("links", LINK): "down", ("packets", LINK): "lost"}),
    "the ends differ in MTU": (_edited("interfaceProperties", 1, MTU=1500), {("packets", LINK): "lost"}),
    "a port is not there": (
        {"interfaceProperties": SOUND["interfaceProperties"][:1]},
        {("links", LINK): None, ("packets", LINK): None},
    ),
    "a session is half open": (
        _edited("bgpSessionStatus", 0, Established_Status="NOT_COMPATIBLE")
        | _edited("bgpSessionCompatibility", 0, Configured_Status="HALF_OPEN"),
        {("sessions", LEAF): "down"},
    ),
    "a session is missing": ({"bgpSessionStatus": SOUND["bgpSessionStatus"][:1]}, {("sessions", SPINE): None}),
    "a session is with another": (
        _edited("bgpSessionStatus", 0, Remote_Node=node("spine2")),
        {("sessions", LEAF): "down"},
    ),
    "a session carries nothing": (_edited("bgpSessionStatus", 1, Address_Families=[]), {("sessions", SPINE): "down"}),
    "a session of nobody's": (
        {
            "bgpSessionStatus": [
                *SOUND["bgpSessionStatus"],
                session("leaf1", "10.1.0.1", "10.9.9.9", "spine1", Established_Status="NOT_COMPATIBLE"),
            ]
        },
        {("sessions", ("leaf1", "@neighbors", "10.9.9.9")): "down"},
    ),
    "an address twice": (
        {"ipOwners": [*SOUND["ipOwners"], owner("spine1", "Loopback0", "10.0.0.1", 32)]},
        {("addresses", address_item("10.0.0.1")): ("leaf1:Loopback0", "spine1:Loopback0")},
    ),
    "a router id twice": (
        _edited("bgpProcessConfiguration", 0, Router_ID="10.0.0.9"),
        {
            ("addresses", address_item("router id 10.0.0.1")): None,
            ("addresses", address_item("router id 10.0.0.9")): ("leaf1", "spine1"),
        },
    ),
    "a route is missing": ({"routes": SOUND["routes"][:2]}, {("routes", TO_LEAF): None}),
    "a route drops": (
        {"routes": [*SOUND["routes"][1:], route("leaf1", "10.9.0.0/16", "static", type="discard")]},
        {("routes", route_item("leaf1", "10.9.0.0/16")): frozenset({"discard"})},
    ),
    "a route leads nowhere": (
        _edited("routes", 1, Next_Hop={"type": "ip", "ip": "10.7.0.1"}),
        {("routes", TO_SPINE): frozenset({"to 10.7.0.1"})},
    ),
    "a route of a VRF": (
        {"routes": [*SOUND["routes"], {**SOUND["routes"][1], "VRF": "Vrf1"}]},
        {("routes", route_item("leaf1", "10.0.0.9/32", "Vrf1")): frozenset({"to 10.1.0.0"})},
    ),
    "packets go round": (
        {"detectLoops": [flow("spine1", "10.5.0.1", "LOOP"), flow("leaf1", "10.5.0.1", "LOOP")]},
        {("reach", route_item("leaf1", "10.5.0.1/32", check="reach")): "loop"},
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_shows_where_it_stands(fault: str) -> None:
    changes, expected = FAULTS[fault]
    assert differences(observed(**changes)) == expected


def test_what_batfish_calls_it_is_kept() -> None:
    seen = observed(**FAULTS["a session is half open"][0])
    assert seen.said["sessions", LEAF] == "HALF_OPEN"
    assert observed(**FAULTS["a session is with another"][0]).said["sessions", LEAF] == "ESTABLISHED with None"
    assert observed(**FAULTS["the ends differ in MTU"][0]).said["packets", LINK] == "MTU 9216 and 1500"
    assert observed(fates={("leaf1", "10.0.0.9"): "NULL_ROUTED"}).said["reach", REACHED] == "to 10.0.0.9: NULL_ROUTED"


@pytest.mark.parametrize(
    ("word", "fate"),
    [("NO_ROUTE", "no route"), ("NULL_ROUTED", "no route"), ("DENIED_IN", "denied"), ("LOOP", "loop"),
     ("NEIGHBOR_UNREACHABLE", "no route"), ("SOMETHING_NEW", "no route")],
)  # fmt: skip
def test_a_packet_that_does_not_arrive(word: str, fate: str) -> None:
    assert differences(observed(fates={("leaf1", "10.0.0.9"): word})) == {("reach", REACHED): fate}


def test_a_session_over_a_numbered_interface_goes_by_the_interface() -> None:
    leaf, spine = FABRIC.devices
    assert isinstance(leaf.bgp, Bgp)
    assert isinstance(leaf.bgp.neighbors, tuple)
    over = replace_fields(leaf.bgp.neighbors[0], address=None, interface="Ethernet0")
    fabric = replace_fields(
        FABRIC, devices=(replace_fields(leaf, bgp=replace_fields(leaf.bgp, neighbors=(over,))), spine)
    )
    seen = observed(fabric)
    assert seen.seen["sessions"] == {("leaf1", "@neighbors", "Ethernet0"): "up", SPINE: "up"}
    unnumbered = _edited("bgpSessionStatus", 0, Local_Interface=interface("leaf1", "Ethernet0"), Remote_IP=None)
    assert observed(fabric, **unnumbered).seen["sessions"] == seen.seen["sessions"]


def _warning(device: str, line: int, text: str) -> dict[str, Any]:
    said = "This syntax is unrecognized"
    return {"Filename": f"sonic_configs/{device}/frr.conf", "Line": line, "Text": text, "Comment": said}


def _line(text: str, wanted: str) -> int:
    return text.splitlines().index(wanted) + 1


def test_a_line_that_nobody_reads_makes_it_part_of_a_configuration() -> None:
    snapshot = exported(above={"leaf1": "frr version 10.0\nsomething new\n"})
    seen = observed(snapshot=snapshot, parseWarning=[_warning("leaf1", 2, "something new")])
    (refused,) = seen.refused
    assert (refused.device, refused.text, refused.said) == ("leaf1", "something new", "This syntax is unrecognized")
    assert refused.place is not None
    assert (refused.place.file, refused.place.span.line, refused.matters) == ("frr.conf", 2, True)
    assert differences(seen) == {("configuration", ("leaf1",)): "in part"}


def test_a_line_that_ends_a_block_does_not_matter() -> None:
    snapshot = exported()
    line = _line(snapshot.files["sonic_configs/leaf1/frr.conf"], "exit")
    seen = observed(snapshot=snapshot, parseWarning=[_warning("leaf1", line, "exit")])
    assert [one.matters for one in seen.refused] == [False]
    assert differences(seen) == {}


def with_bgp(device: Device, **changes: Any) -> Device:
    assert isinstance(device.bgp, Bgp)
    return replace_fields(device, bgp=replace_fields(device.bgp, **changes))


def test_what_hangs_on_a_skipped_line_is_not_seen() -> None:
    leaf, spine = FABRIC.devices
    assert isinstance(leaf.bgp, Bgp)
    assert isinstance(leaf.bgp.neighbors, tuple)
    shut = with_bgp(leaf, neighbors=(replace_fields(leaf.bgp.neighbors[0], enabled=False),))
    fabric = replace_fields(FABRIC, devices=(shut, spine))
    snapshot = exported(fabric)
    line = _line(snapshot.files["sonic_configs/leaf1/frr.conf"], " neighbor 10.1.0.0 shutdown")
    seen = observed(fabric, snapshot=snapshot, parseWarning=[_warning("leaf1", line, "neighbor 10.1.0.0 shutdown")])
    reason = "Batfish skips `neighbor 10.1.0.0 shutdown` of leaf1"
    assert seen.unseen == {
        "configuration": {("leaf1",): PARTLY_READ_REASON},
        "sessions": {LEAF: reason, SPINE: reason},
        "routes": {TO_SPINE: reason, TO_LEAF: reason},
        "reach": {REACHED: reason},
    }
    assert ("leaf1",) not in seen.seen["configuration"]
    told = f"Batfish does not read `neighbor 10.1.0.0 shutdown` (leaf1, frr.conf:{line})"
    assert told in seen.notes
    assert [one.matters for one in seen.refused] == [False]
    assert "sessions" not in seen.seen or not seen.seen["sessions"]
    assert differences(seen, fabric) == {}


def test_a_switch_that_is_told_not_to_forward_is_not_taken_whole() -> None:
    snapshot = exported(above={"leaf1": "no ip forwarding\n"})
    seen = observed(snapshot=snapshot, parseWarning=[_warning("leaf1", 1, "no ip forwarding")])
    assert [(one.device, one.text, one.matters) for one in seen.refused] == [("leaf1", "no ip forwarding", True)]
    assert seen.seen["configuration"]["leaf1",] == "in part"


def test_a_file_of_which_batfish_reads_a_part_and_names_no_line_is_not_taken_whole() -> None:
    rows = [{"File_Name": "sonic_configs/leaf1/frr.conf", "Status": "PARTIALLY_UNRECOGNIZED", "Nodes": []}]
    seen = observed(fileParseStatus=rows)
    assert seen.seen["configuration"] == {("leaf1",): "in part", ("spine1",): "whole"}
    assert seen.said["configuration", ("leaf1",)] == "PARTIALLY_UNRECOGNIZED"


def test_a_skipped_line_counts_where_the_file_says_less_than_the_device_does() -> None:
    """Rendered from a model of which the platform does not say everything, the text reads back otherwise."""
    leaf, spine = FABRIC.devices
    assert isinstance(leaf.bgp, Bgp)
    assert isinstance(leaf.bgp.neighbors, tuple)
    shut = with_bgp(
        leaf, neighbors=(replace_fields(leaf.bgp.neighbors[0], enabled=False, hold_s=9),), requires_policy=UNKNOWN
    )
    snapshot = exported(
        replace_fields(
            FABRIC, devices=(replace_fields(shut, bgp=replace_fields(shut.bgp, requires_policy=False)), spine)
        )
    )
    line = _line(snapshot.files["sonic_configs/leaf1/frr.conf"], " neighbor 10.1.0.0 shutdown")
    warnings = [_warning("leaf1", line, "neighbor 10.1.0.0 shutdown")]
    seen = observed(replace_fields(FABRIC, devices=(shut, spine)), snapshot=snapshot, parseWarning=warnings)
    assert set(seen.unseen["sessions"]) == {LEAF, SPINE}


@pytest.mark.parametrize("side", ["import_policy", "export_policy"])
def test_a_route_map_that_is_not_there_lets_everything_pass(side: str) -> None:
    leaf, spine = FABRIC.devices
    assert isinstance(leaf.bgp, Bgp)
    assert isinstance(leaf.bgp.neighbors, tuple)
    fabric = replace_fields(
        FABRIC, devices=(with_bgp(leaf, neighbors=(replace_fields(leaf.bgp.neighbors[0], **{side: "NONE"}),)), spine)
    )
    reason = "Batfish lets everything pass where a route map is not there"
    hanging = TO_SPINE if side == "import_policy" else TO_LEAF
    assert observed(fabric).unseen["routes"] == {hanging: reason}


def test_a_route_map_of_redistribution_that_is_not_there_lets_everything_pass() -> None:
    leaf, spine = FABRIC.devices
    told = (Redistribution(source="static", policy="NONE"),)
    routed = replace_fields(spine, static_routes=(StaticRoute(prefix="10.9.0.0/16", next_hop="blackhole"),))
    fabric = replace_fields(FABRIC, devices=(leaf, with_bgp(routed, redistributions=told)))
    reason = "Batfish lets everything pass where a route map is not there"
    assert observed(fabric).unseen["routes"] == {route_item("leaf1", "10.9.0.0/16"): reason}


def test_routes_of_ipv4_over_a_session_of_ipv6_are_not_seen() -> None:
    leaf, spine = FABRIC.devices

    def over(device: Device, own: str, far: str) -> Device:
        session = BgpNeighbor(address=far, remote_asn="external", extended_next_hop=True)
        (port,) = device.interfaces
        return with_bgp(
            replace_fields(device, interfaces=(replace_fields(port, addresses=(f"{own}/127",)),)), neighbors=(session,)
        )

    fabric = replace_fields(FABRIC, devices=(over(leaf, "fd00::1", "fd00::"), over(spine, "fd00::", "fd00::1")))
    reason = "Batfish drops addresses, sessions and routes of IPv6"
    assert observed(fabric).unseen["routes"] == {TO_SPINE: reason, TO_LEAF: reason}


def test_an_underscore_in_a_regular_expression_of_paths_matches_nothing() -> None:
    leaf, spine = FABRIC.devices
    assert isinstance(leaf.bgp, Bgp)
    assert isinstance(leaf.bgp.neighbors, tuple)
    fabric = replace_fields(
        FABRIC,
        devices=(
            with_bgp(
                leaf,
                neighbors=(replace_fields(leaf.bgp.neighbors[0], import_policy="IN"),),
                as_path_lists=(AsPathList(name="A", rules=(("permit", "_6510[0-4]_"),)),),
                route_maps=(
                    RouteMap(
                        name="IN", rules=(RouteMapRule(sequence=10, action="permit", matches=(("as-path", "A"),)),)
                    ),
                ),
            ),
            spine,
        ),
    )
    reason = "Batfish takes _ in an AS path's regular expression for that very character"
    assert observed(fabric).unseen["routes"] == {TO_SPINE: reason}


def test_what_batfish_reads_and_does_not_follow_is_not_seen() -> None:
    leaf, spine = FABRIC.devices
    fabric = replace_fields(FABRIC, devices=(with_bgp(leaf, requires_policy=True), spine))
    seen = observed(fabric)
    reason = "Batfish does not model ebgp-requires-policy"
    assert seen.unseen == {
        "routes": {TO_SPINE: reason, TO_LEAF: reason},
        "reach": {REACHED: reason},
    }
    assert seen.seen["sessions"] == {LEAF: "up", SPINE: "up"}


def test_sessions_that_a_list_drops_are_not_seen_where_the_snapshot_lacks_the_list() -> None:
    leaf, spine = FABRIC.devices
    port = next(one.name for one in leaf.interfaces if "10.1.0.1/31" in one.addresses)
    rules = AccessList(
        name="A",
        entries=(AccessEntry(name="1", action="deny", protocol=6),),
        bindings=(Binding(interface=port, stage="ingress"),),
    )
    fabric = replace_fields(FABRIC, devices=(replace_fields(leaf, access_lists=(rules,)), spine))
    assert differences(observed(fabric), fabric)[("sessions", LEAF)] == "up"
    snapshot = replace(exported(fabric), unseen={("leaf1", "@access_lists", "A"): "no lists"})
    seen = observed(fabric, snapshot=snapshot)
    assert seen.unseen["sessions"] == {LEAF: "no lists", SPINE: "no lists"}
    assert seen.unseen["reach"] == {REACHED: "no lists"}
    assert differences(seen, fabric) == {}


def test_which_of_equally_good_routes_is_used_is_nothing_to_differ_in() -> None:
    """Two neighbors of other ASes offer one prefix, and a router takes one: which one hangs on who came first."""

    def router(name: str, asn: int, *ports: str, networks: tuple[str, ...] = ()) -> Device:
        own = [Interface(name=f"e{number}", addresses=(f"{port}/31",)) for number, port in enumerate(ports)]
        far = [f"{port[:-1]}{int(port[-1]) ^ 1}" for port in ports]
        return Device(
            name=name,
            platform="sonic",
            interfaces=tuple(own),
            bgp=Bgp(
                asn=asn,
                router_id=f"10.0.0.{asn}",
                import_check=False,
                networks=networks,
                neighbors=tuple(BgpNeighbor(address=one, remote_asn="external") for one in far),
            ),
        )

    fabric = Fabric(
        name="three",
        mode="lossless",
        devices=(
            router("a", 1, "10.1.0.0", "10.1.1.0"),
            router("b", 2, "10.1.0.1", networks=("10.5.0.0/24",)),
            router("c", 3, "10.1.1.1", networks=("10.5.0.0/24",)),
        ),
        links=(Link(a=End("a", "e0"), b=End("b", "e0")), Link(a=End("a", "e1"), b=End("c", "e0"))),
    )
    item = route_item("a", "10.5.0.0/24")
    reason = "which of equally good routes is used hangs on which came first"
    assert observed(fabric).unseen["routes"][item] == reason
    first, *others = fabric.devices
    relaxed = replace_fields(fabric, devices=(with_bgp(first, multipath_relax=True), *others))
    assert item not in observed(relaxed).unseen.get("routes", {})


def test_a_network_without_a_route_is_announced_all_the_same() -> None:
    leaf, spine = FABRIC.devices
    fabric = replace_fields(FABRIC, devices=(leaf, with_bgp(spine, networks=("10.0.0.9/32", "10.77.0.0/16"))))
    item = route_item("leaf1", "10.77.0.0/16")
    assert observed(fabric).unseen == {"routes": {item: "Batfish announces networks that no route leads to"}}


def test_issues_of_whole_files() -> None:
    file = "sonic_configs/leaf1/frr.conf"
    issues = [
        {"Nodes": None, "Source_Lines": None, "Type": "Parse warning (unimplemented)", "Details": "x",
         "Line_Text": None},
        {"Nodes": ["leaf1"], "Source_Lines": None, "Type": "Convert error", "Details": "lost", "Line_Text": None},
        {"Nodes": None, "Source_Lines": [{"filename": file, "lines": [3]}], "Type": "Parse warning (redflag)",
         "Details": "Failed to deserialize VLAN", "Line_Text": None},
    ]  # fmt: skip
    seen = observed(initIssues=issues)
    assert [(one.device, one.said, one.place and one.place.span.line) for one in seen.refused] == [
        ("leaf1", "Convert error: lost", None),
        ("leaf1", "Parse warning (redflag): Failed to deserialize VLAN", 3),
    ]
    assert differences(seen) == {("configuration", ("leaf1",)): "in part"}


def test_issues_of_evpn_do_not_matter() -> None:
    about = {"Nodes": ["leaf1"], "Source_Lines": None, "Type": "Convert warning (redflag)", "Line_Text": None}
    issues = [about | {"Details": f"vni 104001 for vrf RED {fault}"} for fault in ("does not exist", "is lost")]
    assert [(refused.said.split()[-1], refused.matters) for refused in observed(initIssues=issues).refused] == [
        ("exist", False),
        ("lost", True),
    ]


def test_references_to_nothing() -> None:
    snapshot = exported(
        above={"leaf1": "frr version 10.0\nbgp community-list standard DRAIN permit graceful-shutdown\n"}
    )
    row = {
        "File_Name": "sonic_configs/leaf1/frr.conf", "Struct_Type": "bgp community-list", "Ref_Name": "DRAIN",
        "Context": "route-map match community", "Lines": {"filename": "sonic_configs/leaf1/frr.conf", "lines": [5]},
    }  # fmt: skip
    (refused,) = observed(snapshot=snapshot, undefinedReferences=[row]).refused
    assert refused.said == "bgp community-list DRAIN is not defined (route-map match community)"
    assert refused.matters
    skipped = _warning("leaf1", 2, "bgp community-list standard DRAIN permit graceful-shutdown")
    seen = observed(snapshot=snapshot, undefinedReferences=[row], parseWarning=[skipped])
    assert [one.matters for one in seen.refused] == [False, False]


def test_ipv6_is_not_asked_of_it() -> None:
    leaf, spine = FABRIC.devices
    six = replace_fields(
        spine, loopbacks=(replace_fields(spine.loopbacks[0], addresses=("10.0.0.9/32", "fd00::9/128")),)
    )
    item = address_item("fd00::9")
    seen = observed(replace_fields(FABRIC, devices=(leaf, six)))
    assert seen.unseen == {"addresses": {item: "Batfish drops addresses, sessions and routes of IPv6"}}


def test_ports_without_addresses_and_sessions_are_no_neighbors_to_it() -> None:
    rows = [row | {"All_Prefixes": []} for row in SOUND["interfaceProperties"]]
    seen = observed(interfaceProperties=rows, layer3Edges=[])
    reason = "Batfish has ports without an address as neighbors only where both have BGP over them"
    assert seen.unseen == {"links": {LINK: reason}}
    assert seen.seen["packets"] == {LINK: "crosses"}
    down = [rows[0] | {"Active": False}, rows[1]]
    assert observed(interfaceProperties=down, layer3Edges=[]).seen["links"] == {LINK: "down"}
    assert observed(interfaceProperties=rows, layer3Edges=[], layer1Edges=[]).seen["links"] == {LINK: "down"}


def test_what_the_snapshot_lacks_is_not_seen() -> None:
    def missing(part: tuple[str, ...]) -> Mapping[ObservationCheck, Any]:
        made = exported()
        lacking = answering.Exported(made.files, made.where, made.names, made.ports, {part: "so"})
        return observed(snapshot=lacking).unseen

    assert missing(LINK) == {"links": {LINK: "so"}, "packets": {LINK: "so"}}
    assert missing(LEAF) == {"sessions": {LEAF: "so"}}
    assert missing(("spine1", "Ethernet8", "mtu_bytes")) == {"packets": {LINK: "so"}}
    all_of = {(): "leaf1: so"}
    assert missing(("leaf1", "@bgp")) == {
        "sessions": {LEAF: "so"}, "routes": all_of, "reach": all_of, "failures": all_of
    }  # fmt: skip
    found = missing(("leaf1",))
    assert found["configuration"] == {("leaf1",): "so"}
    assert found["links"] == found["packets"] == {LINK: "so"}
    assert found["routes"] == all_of


def test_a_start_that_sends_nothing_anywhere_is_not_taken_for_one_that_loses_nothing() -> None:
    class Mute(answering.Answers):
        def _packets(self, **_: Any) -> Rows:
            return []

    kept, answering.Answers = answering.Answers, Mute  # type: ignore[misc]
    try:
        seen = observed()
    finally:
        answering.Answers = kept  # type: ignore[misc]
    assert differences(seen) == {("reach", REACHED): None}


def _many() -> Fabric:
    """The pair, with ten addresses at the spine."""
    leaf, spine = FABRIC.devices
    loopbacks = ("10.0.0.9/32", *(f"10.0.1.{number}/32" for number in range(9)))
    return replace_fields(
        FABRIC,
        devices=(
            leaf,
            with_bgp(
                replace_fields(spine, loopbacks=(replace_fields(spine.loopbacks[0], addresses=loopbacks),)),
                networks=loopbacks,
            ),
        ),
    )


def _all_lost(word: str) -> dict[str, str]:
    return dict.fromkeys(("10.0.0.9", *(f"10.0.1.{number}" for number in range(9))), word)


@pytest.mark.parametrize(
    "lost",
    [
        {"10.0.1.2": "NO_ROUTE", "10.0.1.3": "NO_ROUTE", "10.0.1.8": "NO_ROUTE"},
        {"10.0.1.2": "LOOP", "10.0.1.3": "NO_ROUTE"},
        _all_lost("NO_ROUTE"),
        _all_lost("NO_ROUTE") | {"10.0.1.7": "LOOP"},
        _all_lost("LOOP") | {"10.0.1.7": "DENIED_IN", "10.0.1.6": "ACCEPTED"},
    ],
)
def test_lost_packets_are_told_one_by_one(lost: Mapping[str, str]) -> None:
    words = {"NO_ROUTE": "no route", "LOOP": "loop", "DENIED_IN": "denied", "ACCEPTED": "delivered"}
    seen = observed(_many(), fates={("leaf1", to): word for to, word in lost.items()})
    assert {item[3].removesuffix("/32"): fate for item, fate in seen.seen["reach"].items()} == {
        to: words[lost.get(to, "ACCEPTED")] for to in _all_lost("")
    }


def test_that_everything_is_lost_takes_few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaching, "MAX_REACHABILITY_QUESTIONS", 3)
    seen = observed(_many(), fates={("leaf1", to): word for to, word in _all_lost("NO_ROUTE").items()})
    assert set(seen.seen["reach"].values()) == {"no route"}


def test_what_too_many_questions_would_tell_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaching, "MAX_REACHABILITY_QUESTIONS", 3)
    seen = observed(_many(), fates={("leaf1", "10.0.1.3"): "NO_ROUTE"})
    reasons = set(seen.unseen["reach"].values())
    assert reasons == {"Batfish shows one lost packet per switch and question, and 3 questions did not tell all"}
    assert route_item("leaf1", "10.0.1.3/32", check="reach") in seen.unseen["reach"]


def test_static_routes_are_compared_too() -> None:
    leaf, spine = FABRIC.devices
    routed = replace_fields(leaf, static_routes=(StaticRoute(prefix="10.9.0.0/16", next_hop="blackhole"),))
    fabric = replace_fields(FABRIC, devices=(routed, spine))
    item = route_item("leaf1", "10.9.0.0/16")
    assert differences(observed(fabric), fabric) == {("routes", item): None}
    row = route("leaf1", "10.9.0.0/16", "static", type="discard")
    assert differences(observed(fabric, routes=[*SOUND["routes"], row]), fabric) == {}


def test_static_routes_are_there_without_a_session() -> None:
    leaf, spine = FABRIC.devices
    routed = replace_fields(leaf, bgp=None, static_routes=(StaticRoute(prefix="10.9.0.0/16", next_hop="blackhole"),))
    fabric = replace_fields(FABRIC, devices=(routed, replace_fields(spine, bgp=None)))
    assert compute_observation(Index(fabric)).seen["routes"] == {
        route_item("leaf1", "10.9.0.0/16"): frozenset({"discard"})
    }


@pytest.mark.parametrize(
    "line",
    ["exit", "exit-address-family", "bgp session-dscp 56", "no bgp ebgp-requires-policy",
     "ipv6 route fd00::/64 blackhole",
     "bgp graceful-restart", "no bgp suppress-duplicates", "neighbor swp1 capability extended-nexthop", "log syslog"],
)  # fmt: skip
def test_lines_that_do_not_matter(line: str) -> None:
    assert why_line_is_harmless(line)


@pytest.mark.parametrize(
    "line",
    ["neighbor 10.0.0.1 shutdown", "neighbor 10.0.0.1 prefix-list X in", "neighbor X maximum-prefix 10",
     "bgp dampening", "neighbor X as-override",
     "bgp bestpath compare-routerid", "neighbor X passive", "neighbor X ttl-security hops 1"],
)  # fmt: skip
def test_lines_that_may_matter(line: str) -> None:
    assert not why_line_is_harmless(line)


def test_names_that_are_no_words_are_quoted() -> None:
    assert format_node_specifier(["leaf1", "p0-leaf.1", "1a", "a b"]) == 'leaf1, p0-leaf.1, "1a", "a b"'


def test_a_prefix_of_two_leaves_is_reached_where_all_hosts_in_it_are() -> None:
    fates = {("leaf2", host): "NEIGHBOR_UNREACHABLE" for host in ("10.3.1.12", "10.3.1.13")}
    seen = observed(shared_subnet(), fates=fates)
    assert seen.seen["reach"][route_item("leaf2", "10.3.1.0/24", check="reach")] == "no route"
    assert seen.seen["reach"][route_item("leaf1", "10.3.1.0/24", check="reach")] == "delivered"
