"""EVPN, and routes leaked between VRFs: every report says of which devices they were not computed."""

import json

import pytest

from nodrop.engine.finding import FabricVerdict
from nodrop.model.fabric import Device, Fabric
from nodrop.model.reading import Note, Reading
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.platforms.kit.unknown_lines import is_route_leak_note, note_unknown_command, note_unknown_line
from nodrop.report import concise, github, gitlab, sarif, text
from nodrop.report import json as as_json
from nodrop.results.merged import merge_outcomes
from nodrop.results.outcome import FabricOutcome


def _bgp(*, evpn: bool, vrf: str | None = None) -> Bgp:
    return Bgp(asn=65001, vrf=vrf, neighbors=(BgpNeighbor(interface="swp1", evpn=evpn),))


def _outcome(*, evpn: bool = True) -> FabricOutcome:
    devices = (
        Device(name="leaf1", platform="nvue", bgp=_bgp(evpn=evpn)),
        Device(name="leaf2", platform="nvue", bgp=_bgp(evpn=False), vrf_bgp=(_bgp(evpn=evpn, vrf="RED"),)),
        Device(name="leaf3", platform="nvue", bgp=_bgp(evpn=False)),
    )
    reading = Reading(fabric=Fabric(name="pod", mode="lossless", devices=devices))
    return FabricOutcome.of(reading, FabricVerdict(findings=(), unknown=(), notes=(), problems=(), rules=3))


def test_the_last_line_says_of_how_many_devices_the_routes_of_evpn_were_not_computed() -> None:
    assert text.format_outcome_totals(_outcome()).endswith("; EVPN routes of 2 devices not computed")
    assert "EVPN" not in text.render(_outcome(evpn=False))
    assert text.render(_outcome()).count("EVPN") == 1
    assert text.render(_outcome(), verbose=True).count("EVPN") > 1


def test_it_is_counted_over_several_fabrics() -> None:
    assert "EVPN routes of 4 devices" in text.format_outcome_totals(merge_outcomes((_outcome(), _outcome())))


def test_json_counts_the_devices_and_has_a_note_of_each() -> None:
    said = json.loads(as_json.render(_outcome()))
    assert said["summary"]["evpn_not_computed"] == 2
    assert [note["device"] for note in said["notes"] if note["kind"] == "not-computed"] == ["leaf1", "leaf2"]
    assert json.loads(as_json.render(_outcome(evpn=False)))["summary"]["evpn_not_computed"] == 0


def test_other_formats_name_the_devices() -> None:
    for form in (concise, github, gitlab, sarif):
        said = form.render(_outcome()).decode()
        assert "EVPN routes were not computed" in said
        assert "leaf1" in said
        assert "leaf2" in said
        assert "leaf3" not in said
        assert "EVPN" not in form.render(_outcome(evpn=False)).decode()


LEAKS = (
    note_unknown_command("import vrf red", "leaf1", "leaf1/frr.conf", 7),
    note_unknown_command("import vrf BLUE", "leaf1", "leaf1/frr.conf", 8),
    note_unknown_command("export vpn", "leaf2", "leaf2/frr.conf", 9),
    note_unknown_command("ip route 10.9.0.0/24 10.1.0.1 nexthop-vrf RED", "leaf3", "leaf3/frr.conf", 9),
    note_unknown_line(
        "vrf default router bgp address-family ipv4-unicast route-import from-vrf",
        "vrf ... router bgp address-family ipv4-unicast route-import from-vrf",
        "leaf4",
        "leaf4/startup.yaml",
        9,
    ),
)


@pytest.mark.parametrize("note", LEAKS, ids=lambda note: note.text)
def test_lines_that_leak_routes_are_known(note: Note) -> None:
    assert is_route_leak_note(note)


@pytest.mark.parametrize(
    "text", ["import check", "neighbor 10.0.0.1 strict-capability-match", "ip route 10.0.0.0/8 e0 x"]
)
def test_other_lines_leak_no_routes(text: str) -> None:
    assert not is_route_leak_note(note_unknown_command(text, "leaf1", "leaf1/frr.conf", 7))


def _leaking() -> FabricOutcome:
    devices = (Device(name="leaf1", platform="sonic", bgp=_bgp(evpn=True)),)
    reading = Reading(fabric=Fabric(name="pod", mode="lossless", devices=devices), notes=LEAKS)
    return FabricOutcome.of(reading, FabricVerdict(findings=(), unknown=(), notes=(), problems=(), rules=3))


def test_the_last_line_says_of_how_many_devices_leaked_routes_were_not_computed() -> None:
    expected = "; EVPN routes of 1 device not computed; routes leaked between VRFs of 4 devices not computed"
    assert text.format_outcome_totals(_leaking()).endswith(expected)
    summary = json.loads(as_json.render(_leaking()))["summary"]
    assert (summary["evpn_not_computed"], summary["leaks_not_computed"]) == (1, 4)


def test_github_has_a_notice_for_each_kind_of_routes() -> None:
    notices = [line for line in github.render(_leaking()).decode().splitlines() if line.startswith("::notice")]
    assert [notice.rpartition("::")[2] for notice in notices if "not-computed" in notice] == [
        "EVPN routes were not computed: leaf1",
        "routes leaked between VRFs were not computed: leaf[1-4]",
    ]
