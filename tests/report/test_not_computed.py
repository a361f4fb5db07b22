"""Sessions for EVPN: every report says of which devices the routes were not computed."""

import json

from nodrop.engine.finding import Verdict
from nodrop.model.fabric import Device, Fabric
from nodrop.model.reading import Reading
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.report import concise, github, gitlab, sarif, text
from nodrop.report import json as as_json
from nodrop.results.merged import merge_outcomes
from nodrop.results.outcome import Outcome


def _bgp(*, evpn: bool, vrf: str | None = None) -> Bgp:
    return Bgp(asn=65001, vrf=vrf, neighbors=(BgpNeighbor(interface="swp1", evpn=evpn),))


def _outcome(*, evpn: bool = True) -> Outcome:
    devices = (
        Device(name="leaf1", platform="nvue", bgp=_bgp(evpn=evpn)),
        Device(name="leaf2", platform="nvue", bgp=_bgp(evpn=False), vrf_bgp=(_bgp(evpn=evpn, vrf="RED"),)),
        Device(name="leaf3", platform="nvue", bgp=_bgp(evpn=False)),
    )
    reading = Reading(fabric=Fabric(name="pod", mode="lossless", devices=devices))
    return Outcome.of(reading, Verdict(findings=(), unknown=(), notes=(), problems=(), rules=3))


def test_the_last_line_says_of_how_many_devices_the_routes_of_evpn_were_not_computed() -> None:
    assert text.totals(_outcome()).endswith("; EVPN routes of 2 devices not computed")
    assert "EVPN" not in text.render(_outcome(evpn=False))
    assert text.render(_outcome()).count("EVPN") == 1
    assert text.render(_outcome(), verbose=True).count("EVPN") > 1


def test_it_is_counted_over_several_fabrics() -> None:
    assert "EVPN routes of 4 devices" in text.totals(merge_outcomes((_outcome(), _outcome())))


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
