"""The severity of rules that rest on what nobody states: lowered unless the files themselves show it."""

import json
from pathlib import Path
from typing import Any

import pytest

import nodrop
from nodrop.engine.vocabulary.traces import rdma_is_lossless_somewhere, shows_roce
from nodrop.model.fabric import Fabric, TrafficClass
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.values import replace_fields
from support.analysis_results import with_changes
from support.designs import build, shipped

WATCHDOG, LOSSY, TUNNEL = "pfc-without-watchdog", "rdma-dscp-in-lossy-class", "tunnel-derives-dscp"
ON_LOSSY_BUFFER = "lossless-queue-on-lossy-buffer"


def leaf(tmp_path: Path, **tables: Any) -> Path:
    """Write leaf1 of two-by-two on SONiC with tables replaced, or removed where None."""
    (text,) = (
        one.text
        for one in nodrop.write(build(shipped("two-by-two")))
        if (one.device, one.path) == ("leaf1", "config_db.json")
    )
    data = json.loads(text)
    for name, table in tables.items():
        data.pop(name)
        data |= {} if table is None else {name: table}
    (tmp_path / "leaf1").mkdir()
    (tmp_path / "leaf1" / "config_db.json").write_text(json.dumps(data))
    return tmp_path


def severities(path: Path, rule: str) -> set[tuple[str, str]]:
    """Return severity and confidence of what a rule finds."""
    return {
        (one.severity, one.confidence) for one in nodrop.lint(nodrop.read([str(path)])).findings if one.rule == rule
    }


AZURE = {str(dscp): "1" for dscp in range(64)}


def test_pfc_without_a_watchdog_is_an_error_where_the_switch_shows_roce(tmp_path: Path) -> None:
    assert severities(leaf(tmp_path, PFC_WD=None), WATCHDOG) == {("error", "certain")}


def test_pfc_without_a_watchdog_is_a_warning_without_a_sign_of_roce(tmp_path: Path) -> None:
    path = leaf(tmp_path, PFC_WD=None, DSCP_TO_TC_MAP={"AZURE": AZURE}, WRED_PROFILE={})
    assert severities(path, WATCHDOG) == {("warning", "likely")}


def test_pfc_without_a_watchdog_is_an_error_where_the_mode_is_stated(tmp_path: Path) -> None:
    path = leaf(tmp_path, PFC_WD=None, DSCP_TO_TC_MAP={"AZURE": AZURE}, WRED_PROFILE={})
    (path / "fabric.yaml").write_text("mode: lossless\n")
    assert {severity for severity, _ in severities(path, WATCHDOG)} == {"error"}


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("", set()),
        ("classes: {rdma: {purpose: rdma, dscp: [26], tc: 3, lossless: true}}\n", {"error"}),
    ],
)
def test_a_lossy_dscp_is_an_error_where_stated_and_none_where_maps_protect_others(
    tmp_path: Path, stated: str, expected: set[str]
) -> None:
    path = leaf(tmp_path, DSCP_TO_TC_MAP={"AZURE": AZURE | {"3": "3", "4": "3"}})
    (path / "fabric.yaml").write_text(f"mode: lossless\n{stated}")
    assert {severity for severity, _ in severities(path, LOSSY)} == expected


def test_a_lossy_dscp_is_an_error_where_other_ports_have_it_lossless(tmp_path: Path) -> None:
    path = leaf(tmp_path)
    file = path / "leaf1" / "config_db.json"
    data = json.loads(file.read_text())
    (name,) = data["DSCP_TO_TC_MAP"]
    data["DSCP_TO_TC_MAP"]["OTHER"] = AZURE
    data["PORT_QOS_MAP"]["Ethernet0"]["dscp_to_tc_map"] = "OTHER"
    file.write_text(json.dumps(data))
    assert name != "OTHER"
    assert {severity for severity, _ in severities(path, LOSSY)} == {"error"}


@pytest.mark.parametrize(("qos", "severity"), [("", "note"), ("    qos: {roce: {enable: on}}\n", "warning")])
def test_a_tunnel_that_derives_the_dscp_is_a_note_without_a_sign_of_roce(
    tmp_path: Path, qos: str, severity: str
) -> None:
    file = tmp_path / "leaf1" / "startup.yaml"
    file.parent.mkdir()
    file.write_text(
        "- header:\n    model: SN4700\n    nvue-api-version: nvue_v1\n    version: Cumulus Linux 5.16.0\n- set:\n"
        "    interface: {swp1: {type: swp, link: {state: {up: {}}}}}\n"
        f"    nve: {{vxlan: {{state: enabled, source: {{address: 10.0.0.1}}}}}}\n{qos}"
    )
    assert {one for one, _ in severities(tmp_path, TUNNEL)} == {severity}


def test_what_shows_roce() -> None:
    fabric = with_changes({"leaf1/*/qos/dscp_to_tc/26": 1})
    device = fabric.device("leaf1")
    assert shows_roce(fabric, device, index=Index(fabric)), "its lossless queue marks"
    ports = tuple(
        replace_fields(
            port, qos=replace_fields(port.qos, queues=tuple(replace_fields(one, wred=None) for one in port.qos.queues))
        )
        if not isinstance(port.qos, type(UNKNOWN)) and port.qos is not None
        else port
        for port in device.interfaces
    )
    bare = replace_fields(device, interfaces=ports)
    assert not shows_roce(fabric, bare, index=Index(fabric))
    assert shows_roce(fabric, replace_fields(bare, qos_style="macro"), index=Index(fabric))
    rdma = TrafficClass(name="rdma", purpose="rdma", dscp=(24,), tc=3, lossless=True)
    other = replace_fields(with_changes({}), classes=(rdma,))
    assert not rdma_is_lossless_somewhere(other, index=Index(other))
    assert rdma_is_lossless_somewhere(fabric, index=Index(fabric)), "spines have it"


def one_file(tmp_path: Path, tables: dict[str, Any]) -> Path:
    """Write the tables of one switch of SONiC."""
    (tmp_path / "leaf1").mkdir()
    (tmp_path / "leaf1" / "config_db.json").write_text(json.dumps(tables))
    return tmp_path


TOR = {
    "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "type": "ToRRouter", "bgp_asn": "65100"}},
    "PORT": {"Ethernet0": {"lanes": "0", "speed": "100000", "admin_status": "up"}},
    "INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}},
    "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.1.0.1/32": {}},
    "BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65200", "name": "spine1"}},
}


SPINE = {
    "DEVICE_METADATA": {"localhost": {"hostname": "spine1", "type": "LeafRouter", "bgp_asn": "65200"}},
    "PORT": {"Ethernet0": {"lanes": "0", "speed": "100000", "admin_status": "up"}},
    "INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.1/31": {}},
    "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.1.0.2/32": {}},
    "BGP_NEIGHBOR": {"10.0.0.0": {"asn": "65100", "name": "leaf1"}},
}
"""What shows that no other leaf has the number of leaf1."""


def add_spine(tmp_path: Path) -> None:
    """Write the spine of the one leaf."""
    (tmp_path / "spine1").mkdir()
    (tmp_path / "spine1" / "config_db.json").write_text(json.dumps(SPINE))


def test_what_only_a_template_says_of_loops_is_a_note(tmp_path: Path) -> None:
    path = one_file(tmp_path, TOR)
    add_spine(tmp_path)
    (found,) = (one for one in nodrop.lint(nodrop.read([str(path)])).findings if one.rule == "loop-rejection-off")
    assert (found.severity, found.confidence) == ("note", "likely")
    assert found.doubt == "bgpcfgd's templates say allowas-in 1 for the type ToRRouter (peer-group.conf.j2)"


def loops_allowed(tmp_path: Path) -> Path:
    """Write leaf1 with a frr.conf that says allowas-in."""
    path = one_file(tmp_path, TOR | {"BGP_NEIGHBOR": {}})
    text = json.loads((path / "leaf1" / "config_db.json").read_text())
    text["DEVICE_METADATA"]["localhost"]["docker_routing_config_mode"] = "split-unified"
    (path / "leaf1" / "config_db.json").write_text(json.dumps(text))
    (path / "leaf1" / "frr.conf").write_text(
        "router bgp 65100\n neighbor 10.0.0.1 remote-as 65200\n address-family ipv4 unicast\n"
        "  neighbor 10.0.0.1 allowas-in 1\n exit-address-family\n"
    )
    return path


def test_loops_that_a_file_allows_are_a_warning(tmp_path: Path) -> None:
    path = loops_allowed(tmp_path)
    add_spine(tmp_path)
    assert severities(path, "loop-rejection-off") == {("warning", "certain")}


def test_loops_that_the_only_file_allows_are_unknown(tmp_path: Path) -> None:
    verdict = nodrop.lint(nodrop.read([str(loops_allowed(tmp_path))]))
    assert "loop-rejection-off" not in {finding.rule for finding in verdict.findings}
    (unknown,) = (unknown for unknown in verdict.unknown if unknown.rule == "loop-rejection-off")
    assert (unknown.missing, unknown.resolved_by) == ("the other end of a session", "the configuration of 10.0.0.1")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ("note", "likely")),
        ({"VERSIONS": {"DATABASE": {"VERSION": "version_202505_01"}}}, ("error", "certain")),
        ({"LOOPBACK_INTERFACE": {"Loopback0": {}}}, ("error", "certain")),
    ],
    ids=["no release", "release", "another row without address"],
)
def test_an_address_without_row_is_a_note_where_the_file_may_be_older_than_such_rows(
    tmp_path: Path, changes: dict[str, Any], expected: tuple[str, str]
) -> None:
    old = {"INTERFACE": {"Ethernet0|10.0.0.0/31": {}}, "LOOPBACK_INTERFACE": {"Loopback0|10.1.0.1/32": {}}}
    assert severities(one_file(tmp_path, TOR | old | changes), "address-without-interface-row") == {expected}


def static_leaf(xoff_bytes: int, version: str | Unknown) -> Fabric:
    """Return two-by-two of SONiC with static buffers and one stated headroom at leaf1:Ethernet0, which has 3 m."""
    buffer = {"pool": "ingress_lossless", "size_bytes": 400000, "dynamic_th": 0}
    fabric = with_changes(
        {
            "leaf1/@buffer_model": "traditional",
            "leaf1/@dynamic_buffers": None,
            "leaf1/@buffer_pools/*/computed": False,
            "leaf1/@buffer_pools/*/percentage": None,
            "leaf1/@buffer_pools/*/size_bytes": 20000000,
            "leaf1/*/qos/priority_groups/3/buffer": buffer
            | {"headroom": {"xoff_bytes": xoff_bytes, "xon_bytes": 19456}},
        }
    )
    devices = tuple(replace_fields(one, version=version) if one.name == "leaf1" else one for one in fabric.devices)
    return replace_fields(fabric, devices=devices)


@pytest.mark.parametrize(
    ("xoff_bytes", "version", "expected"),
    [
        (30000, "202505", {"error"}),
        (30000, UNKNOWN, {"warning"}),
        (2800, UNKNOWN, {"error"}),
    ],
    ids=["release", "no release", "less than is on the cable"],
)
def test_a_headroom_below_the_figures_of_unknown_releases_is_a_warning(
    xoff_bytes: int, version: str | Unknown, expected: set[str]
) -> None:
    found = nodrop.lint(Reading(fabric=static_leaf(xoff_bytes, version))).findings
    assert {
        one.severity for one in found if one.rule == "headroom-too-small" and one.subject[1] == "Ethernet0"
    } == expected


@pytest.mark.parametrize(
    ("role", "side", "expected"),
    [
        ("leaf", UNKNOWN, "error"),
        ("spine", UNKNOWN, "warning"),
        (UNKNOWN, UNKNOWN, "warning"),
        ("spine", "host", "error"),
    ],
)
def test_a_port_that_may_lead_to_a_switch_lacks_its_watchdog_as_one_between_switches(
    role: str | Unknown, side: Any, expected: str
) -> None:
    fabric = with_changes({"leaf1/Ethernet0/qos/pfc_watchdog": None})
    leaf1 = fabric.device("leaf1")
    ports = tuple(replace_fields(one, side=side) if one.name == "Ethernet0" else one for one in leaf1.interfaces)
    devices = tuple(
        replace_fields(leaf1, role=role, interfaces=ports) if one.name == "leaf1" else one for one in fabric.devices
    )
    (found,) = (
        one
        for one in nodrop.lint(Reading(fabric=replace_fields(fabric, devices=devices))).findings
        if one.rule == WATCHDOG
    )
    assert found.severity == expected


LIMITED = {"pool": "egress_lossy", "size_bytes": 0, "dynamic_th": 3}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "error"),
        ({"leaf1/Ethernet0/qos/dscp_to_tc": (0,) * 64}, "warning"),
        ({"leaf1/Ethernet0/qos/dscp_to_tc": (0,) * 64, "leaf1/Ethernet0/qos/pcp_to_tc": tuple(range(8))}, "error"),
    ],
    ids=["its DSCP is mapped to it", "all DSCPs are mapped elsewhere", "a PCP is mapped to it"],
)
def test_a_lossless_queue_on_a_lossy_buffer_is_an_error_where_packets_reach_it(
    changes: dict[str, object], expected: str
) -> None:
    fabric = with_changes({"leaf1/Ethernet0/qos/queues/3/buffer": LIMITED, **changes})
    findings = nodrop.lint(Reading(fabric=fabric)).findings
    assert {(finding.severity, *finding.subject) for finding in findings if finding.rule == ON_LOSSY_BUFFER} == {
        (expected, "leaf1", "Ethernet0", "qos", "queues", "3")
    }


@pytest.mark.parametrize(
    ("unwatched", "expected"),
    [((224,), "warning"), ((224, 232, 240, 248), "note"), ((0, 224, 232, 240, 248), "warning")],
    ids=["others between switches have one", "all hosts' ports have one", "a host's port has none"],
)
def test_a_watchdog_on_all_hosts_and_no_fabric_port_is_a_practice(unwatched: tuple[int, ...], expected: str) -> None:
    fabric = with_changes({f"leaf1/Ethernet{number}/qos/pfc_watchdog": None for number in unwatched})
    findings = nodrop.lint(Reading(fabric=fabric)).findings
    rows = [finding for finding in findings if finding.rule == "fabric-pfc-without-watchdog"]
    assert {(finding.subject[1], finding.severity) for finding in rows} == {
        (f"Ethernet{number}", expected) for number in unwatched if number >= 224
    }
