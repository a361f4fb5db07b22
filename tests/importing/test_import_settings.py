"""Classes, timers, pools and NICs as they follow from what switches have."""

import re
import shutil
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from nodrop.importing import derive_intent
from nodrop.importing.classes import normalize_class_shares
from nodrop.model.fabric import Interface
from nodrop.model.qos import QosProfile
from nodrop.model.states import UNKNOWN, known_rows
from support.command import nodrop as run
from support.designs import build, data_of, shipped
from support.imported_fabrics import as_read, bare, called, imported
from support.platform_mixes import on


def test_shares_and_marks_are_read_where_no_file_says_a_speed() -> None:
    whole = bare("two-by-two")
    devices = (
        replace(one, interfaces=tuple(replace(port, speed_mbps=UNKNOWN) for port in one.interfaces))
        for one in whole.devices
    )
    found = derive_intent(replace(whole, devices=tuple(devices)), source="site")
    assert "share: 60%, ecn: {min: 150kB, max: 1500kB, probability: 100%}}" in found.text


def test_traffic_classes_that_share_a_queue_are_one() -> None:
    def shared(qos: Any) -> Any:
        return replace(qos, tc_to_queue=(0, 0, 0, 3, 0, 0, 6, 7)) if isinstance(qos, QosProfile) else qos

    whole = bare("two-by-two")
    devices = (
        replace(one, interfaces=tuple(replace(port, qos=shared(port.qos)) for port in one.interfaces))
        for one in whole.devices
    )
    found = derive_intent(replace(whole, devices=tuple(devices)), source="site")
    assert found.intent is not None
    assert [*found.intent.classes] == ["rdma", "cnp", "control", "default"]


def test_the_pool_of_a_vlan_holds_the_whole_subnet() -> None:
    whole = bare("storage-vlan")
    leaves = [one for one in whole.devices if one.name.startswith("leaf")]
    wide = [tuple(replace(vlan, addresses=("192.168.0.1/21",)) for vlan in known_rows(one.vlans)) for one in leaves]
    far = tuple(
        replace(one, name=one.name.replace("leaf", "leaf20"), vlans=vlans)
        for one, vlans in zip(leaves, wide, strict=True)
    )
    found = derive_intent(replace(whole, devices=far, links=()), source="site")
    (pool,) = re.findall(r"pool: ([0-9./]+)}", found.text)
    assert ip_network("192.168.0.0/21").subnet_of(ip_network(pool))


def test_timers_of_ports_with_sessions_to_what_was_not_read_are_the_fabrics(two_by_two: Path, tmp_path: Path) -> None:
    for leaf in ("leaf1", "leaf2"):
        shutil.copytree(two_by_two / leaf, tmp_path / leaf)
    done = run("import", tmp_path)
    assert "hosts:  {detection: 200ms, restoration: 400ms, action: drop}\n" in done.out
    assert "fabric: {detection: 600ms, restoration: 1200ms, action: drop}\n" in done.out


def test_timers_of_a_side_without_ports_are_left_out() -> None:
    whole = bare("two-by-two")
    names = {"leaf1": "tor-1", "leaf2": "tor-2"}
    devices = tuple(
        replace(one, interfaces=tuple(replace(port, side="host") for port in one.interfaces))
        for one in called(whole, names).devices
    )
    found = derive_intent(replace(whole, devices=devices, links=()), source="site")
    assert "    hosts: {detection: " in found.text
    assert "    fabric: " not in found.text


def test_nics_are_set_as_the_class_and_the_mtu_have_it() -> None:
    whole = bare("two-by-two")
    maps = tuple(3 if dscp == 3 else 0 if dscp == 26 else None for dscp in range(64))

    def moved(port: Interface) -> Interface:
        if not isinstance(port.qos, QosProfile) or not isinstance(port.qos.dscp_to_tc, tuple):
            return replace(port, mtu_bytes=1500)
        dscps = tuple(old if new is None else new for old, new in zip(port.qos.dscp_to_tc, maps, strict=True))
        return replace(port, mtu_bytes=1500, qos=replace(port.qos, dscp_to_tc=dscps))

    devices = (replace(one, interfaces=tuple(map(moved, one.interfaces))) for one in whole.devices)
    found = derive_intent(replace(whole, devices=tuple(devices), classes=()), source="site")
    assert "hosts: {rdma_mtu: 1024}" in found.text


@pytest.mark.parametrize(
    ("shares", "even"),
    [((13, 13, 12), (34, 34, 32)), ((1, 1, 1), (34, 33, 33)), ((60, 20, 20), (60, 20, 20))],
)
def test_shares_of_a_scheduler_are_parts_of_a_hundred(shares: tuple[int, ...], even: tuple[int, ...]) -> None:
    keys: dict[str, Any] = {f"class{n}": {"share": f"{share}%"} for n, share in enumerate(shares)}
    normalize_class_shares(keys)
    assert tuple(int(one["share"][:-1]) for one in keys.values()) == even


@pytest.mark.parametrize(
    ("changes", "stated"),
    [
        ({"classes.rdma.dscp": "24", "classes.rdma.priority": "4"}, None),
        ({"classes.rdma.dscp": ["24", "30"], "hosts.tos": "122"}, {"tos": "122"}),
        ({"classes.cnp.dscp": ["46", "48"], "hosts.cnp_dscp": "46"}, {"cnp_dscp": "46"}),
    ],
)
def test_what_follows_from_the_classes_is_not_stated(changes: dict[str, Any], stated: dict[str, Any] | None) -> None:
    found = imported(build(shipped("two-by-two", changes)))
    assert data_of(found.text).get("hosts") == stated


def test_a_fabric_that_pauses_and_marks_nothing_is_taken_for_pfc_only_without_cnps() -> None:
    classes = shipped("pfc-only")["classes"]
    assert classes["control"]["dscp"] != "48"
    fabric = as_read(build(shipped("pfc-only", {"classes.control.dscp": "48"})))
    found = derive_intent(replace(fabric, mode="lossless"), source="site")
    assert found.rebuilds_same_fabric, (found.problems, found.left)
    assert found.intent is not None
    assert found.intent.mode == "pfc-only"
    assert found.intent.classes["control"].dscp == (48,)
    assert "cnp" not in found.intent.classes
    assert any(text.startswith("mode: ports pause, and no queue marks packets") for text in found.guessed)


def test_a_session_with_a_number_of_no_switch_is_a_neighbor_outside() -> None:
    """Without fabric.yaml: the cables to it are asked for, all else follows from the session and its policies."""
    result = derive_intent(bare("border"), source="files")
    assert [line.partition(":")[0] for line in result.lacking] == [
        f"external.{name}.{key}" for name in ("gateway", "wan") for key in ("media", "length")
    ]
    data = data_of(result.text)["external"]
    assert data["gateway"] == {
        "asn": "65002",
        "links": {"leaf1": {"9": "198.51.100.1/30"}, "leaf2": {"9": "198.51.100.5/30"}},
        "speed": "200G",
        "mtu": "9000",
        "accept": ["10.64.0.0/16 le 24"],
        "max_prefixes": "100",
        "announce": ["10.2.0.0/22"],
    }
    assert data["wan"]["links"]["border2"] == {"1": ["192.0.2.2/31", "2001:db8::2/127"]}
    assert "announce" not in data["wan"]


@pytest.mark.parametrize("name", ["trim", "uec"])
def test_the_class_of_cut_packets_is_known_by_its_number_where_no_file_names_it(name: str) -> None:
    """NVUE says the switch priority of cut packets, SONiC the queue."""
    for own in (bare(name), as_read(build(on(name, "nvue", "nvue")))):
        found = derive_intent(own, source="site")
        assert found.problems == ()
        assert found.intent is not None
        assert found.intent.trimming is not None
        assert found.intent.classes[found.intent.trimming.into].priority == 5
