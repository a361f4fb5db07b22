"""frr.conf as a device runs it: its own words wherever its files have them, with their places; else FRR's own."""

import json
from pathlib import Path

import pytest

import nodrop
from nodrop.errors import InputProblems
from nodrop.export.frr_conf import FrrConf, frr_conf
from nodrop.model.fabric import Device
from nodrop.model.reading import Reading
from nodrop.model.routing import BgpNeighbor, StaticRoute
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.platforms import frr
from nodrop.resources import resource_folder
from nodrop.syntax.places import Span
from support.command import built
from support.places import TESTS


def only(path: Path) -> tuple[Reading, Device]:
    reading = nodrop.read([str(path)])
    (device,) = reading.fabric.devices
    return reading, device


def conf(path: Path) -> FrrConf:
    found = frr_conf(*only(path))
    assert found is not None
    return found


def test_a_file_of_frr_is_what_runs_and_every_line_has_its_place(two_by_two: Path) -> None:
    found = conf(two_by_two / "leaf1")
    text = (two_by_two / "leaf1" / "frr.conf").read_text()
    assert (found.text, found.own, found.missing) == (text, False, ())
    for number, line in enumerate(text.split("\n"), 1):
        assert found.place(number) == ("frr.conf", Span(number, 1, number, max(len(line), 1) + 1))


def test_files_of_daemons_are_one_text_and_lines_stand_in_their_own_file(two_by_two: Path, tmp_path: Path) -> None:
    """What SONiC's mode `split` starts with (sonic-buildimage dockers/docker-fpm-frr/docker_init.sh)."""
    config = json.loads((two_by_two / "leaf1" / "config_db.json").read_text())
    config["DEVICE_METADATA"]["localhost"]["docker_routing_config_mode"] = "split"
    text = (two_by_two / "leaf1" / "frr.conf").read_text()
    (tmp_path / "config_db.json").write_text(json.dumps(config))
    (tmp_path / "bgpd.conf").write_text(text)
    (tmp_path / "zebra.conf").write_text("hostname leaf1\n!\nip nht resolve-via-default\n")
    found = conf(tmp_path)
    assert not found.own
    lines = found.text.split("\n")
    for wanted, file in (("ip nht resolve-via-default", "zebra.conf"), ("line vty", "bgpd.conf")):
        place = found.place(lines.index(wanted) + 1)
        assert place is not None
        assert place.file == file
        assert (tmp_path / file).read_text().split("\n")[place.span.line - 1] == wanted


def test_a_running_text_inside_json_has_places_in_it(two_by_two: Path, tmp_path: Path) -> None:
    """What `show runningconfiguration all` prints."""
    config = json.loads((two_by_two / "leaf1" / "config_db.json").read_text())
    text = (two_by_two / "leaf1" / "frr.conf").read_text()
    path = tmp_path / "config_db.json"
    path.write_text(json.dumps({**config, "bgpraw": text}))
    found = conf(tmp_path)
    assert (found.text, found.own) == (text, False)
    place = found.place(text.split("\n").index("line vty") + 1)
    assert place is not None
    written = path.read_text()[place.span.column - 1 : place.span.end_column - 1]
    assert (place.file, place.span.line, written) == ("config_db.json", 1, "line vty")


def test_static_routes_of_tables_come_before_the_text(two_by_two: Path, tmp_path: Path) -> None:
    config = json.loads((two_by_two / "leaf1" / "config_db.json").read_text())
    config["STATIC_ROUTE"] = {"default|192.0.2.0/24": {"nexthop": "10.1.0.0"}}
    (tmp_path / "config_db.json").write_text(json.dumps(config))
    text = (two_by_two / "leaf1" / "frr.conf").read_text()
    (tmp_path / "frr.conf").write_text(text)
    found = conf(tmp_path)
    assert (found.text, found.own) == (f"ip route 192.0.2.0/24 10.1.0.0\n{text}", False)
    second = found.place(2)
    assert (found.place(1), second and second.span.line) == (None, 1)


def test_sessions_of_tables_are_rendered_with_all_the_rest(two_by_two: Path, tmp_path: Path) -> None:
    """bgpcfgd adds the sessions of BGP_NEIGHBOR to what FRR starts with."""
    config = json.loads((two_by_two / "leaf1" / "config_db.json").read_text())
    asn = config["DEVICE_METADATA"]["localhost"]["bgp_asn"]
    config["BGP_NEIGHBOR"] = {"192.0.2.9": {"asn": "64999"}}
    (tmp_path / "config_db.json").write_text(json.dumps(config))
    (tmp_path / "frr.conf").write_text(f"router bgp {asn}\n neighbor 192.0.2.1 remote-as 65009\n")
    found = conf(tmp_path)
    assert found.own
    assert found.place(1) is None
    said = frr.read_frr(found.text).bgp
    assert said is not None
    assert [one.key for one in said.neighbors] == ["192.0.2.1", "192.0.2.9"]


def test_bgp_of_tables_is_rendered(two_by_two: Path, tmp_path: Path) -> None:
    config = json.loads((two_by_two / "leaf1" / "config_db.json").read_text())
    localhost = config["DEVICE_METADATA"]["localhost"]
    for key in ("docker_routing_config_mode", "frr_mgmt_framework_config"):
        localhost.pop(key, None)
    config["BGP_NEIGHBOR"] = {"10.1.0.0": {"asn": "65000", "name": "spine1"}}
    (tmp_path / "config_db.json").write_text(json.dumps(config))
    reading, device = only(tmp_path)
    found = frr_conf(reading, device)
    assert found is not None
    assert found.own
    assert frr.read_frr(found.text).bgp == device.bgp


def test_every_platform_without_frrs_words_is_rendered(tmp_path: Path) -> None:
    built(resource_folder("intents") / "reference-256-nvue-leaves.yaml", tmp_path / "build")
    reading = nodrop.read([str(tmp_path / "build" / name) for name in ("leaf1", "spine1")])
    confs = {device.platform: (device, frr_conf(reading, device)) for device in reading.fabric.devices}
    device, found = confs["nvue"]
    assert found is not None
    assert (found.own, found.missing) == (True, ())
    assert device.bgp
    assert frr.read_frr(found.text).bgp == replace_fields(
        device.bgp, default_ipv4_unicast=True, preserve_forwarding=False
    )
    other = confs["sonic"][1]
    assert other is not None
    assert not other.own


@pytest.mark.parametrize("folder", ["cumulus/good", "nclu/good.txt", "onyx/good.txt"])
def test_older_platforms(folder: str) -> None:
    reading, device = only(TESTS / "platforms" / folder)
    found = frr_conf(reading, device)
    assert found is not None
    assert found.own is (folder != "cumulus/good")
    assert device.bgp
    unknown = ("import_check of BGP in VRF default is not known",) if folder.startswith("onyx") else ()
    assert found.missing == unknown
    bgp = replace_fields(device.bgp, import_check=True) if unknown else device.bgp
    assert frr.read_frr(found.text, frr.DATACENTER).bgp == bgp


def test_what_is_not_known_is_said(two_by_two: Path) -> None:
    reading, device = only(two_by_two / "leaf1")
    bare = Reading(fabric=reading.fabric)
    assert frr_conf(bare, replace_fields(device, bgp=UNKNOWN)) is None
    odd = replace_fields(device, vrf_bgp=UNKNOWN, bgp=replace_fields(device.bgp, neighbors=UNKNOWN))
    found = frr_conf(bare, odd)
    assert found is not None
    assert found.missing == ("device.vrf_bgp is not known", "neighbors of BGP in VRF default is not known")


def test_what_frr_cannot_say_is_left_out_as_a_whole_and_said(two_by_two: Path) -> None:
    reading, device = only(two_by_two / "leaf1")
    assert device.bgp
    found = frr_conf(
        Reading(fabric=reading.fabric), replace_fields(device, bgp=replace_fields(device.bgp, maximum_paths=999))
    )
    assert found is not None
    assert "router bgp" not in found.text
    assert found.missing == ("bgp/maximum_paths: is not from 1 to 514",)


def test_a_field_of_a_session_that_frr_has_no_command_for_is_left_out_alone(two_by_two: Path) -> None:
    reading, device = only(two_by_two / "leaf1")
    assert device.bgp
    session = BgpNeighbor(interface="Ethernet0", remote_asn="external", ebgp_multihop=2, hold_s=9)
    found = frr_conf(
        Reading(fabric=reading.fabric), replace_fields(device, bgp=replace_fields(device.bgp, neighbors=(session,)))
    )
    assert found is not None
    said = frr.read_frr(found.text).bgp
    assert said is not None
    assert said.neighbors == (replace_fields(session, ebgp_multihop=None),)
    reason = "a session over an interface is to the far end of its link"
    assert found.missing == (f"ebgp_multihop of the session to Ethernet0: {reason}",)


def test_static_routes_need_no_bgp_and_other_vrfs_no_default_one(two_by_two: Path) -> None:
    reading, device = only(two_by_two / "leaf1")
    bare = Reading(fabric=reading.fabric)
    route = StaticRoute(prefix="192.0.2.0/24", next_hop="10.1.0.0")
    found = frr_conf(bare, replace_fields(device, bgp=None, static_routes=(route,)))
    assert found is not None
    said = frr.read_frr(found.text)
    assert (said.bgp, said.static_routes, found.missing) == (None, (route,), ())
    other = replace_fields(device.bgp, vrf="blue")
    found = frr_conf(bare, replace_fields(device, bgp=None, vrf_bgp=(other,)))
    assert found is not None
    assert frr.read_frr(found.text).vrf_bgp == (other,)


def test_a_file_that_has_changed_is_refused(two_by_two: Path, tmp_path: Path) -> None:
    for name in ("config_db.json", "frr.conf"):
        (tmp_path / name).write_text((two_by_two / "leaf1" / name).read_text())
    reading, device = only(tmp_path)
    (tmp_path / "frr.conf").write_text("!\n")
    with pytest.raises(InputProblems, match="changed since it was read"):
        frr_conf(reading, device)
