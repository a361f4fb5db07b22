"""The severity of rules that rest on what nobody states: lowered unless the files themselves show it."""

import json
from pathlib import Path
from typing import Any

import pytest

import nodrop
from nodrop.lint.vocabulary.traces import rdma_is_lossless_somewhere, shows_roce
from nodrop.model.fabric import TrafficClass
from nodrop.model.index import Index
from nodrop.model.states import UNKNOWN
from nodrop.model.values import changed
from support.analysis_results import with_changes
from support.designs import build, shipped

WATCHDOG, LOSSY, TUNNEL = "pfc-without-watchdog", "rdma-dscp-in-lossy-class", "tunnel-derives-dscp"


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
        ("", {"warning"}),
        ("classes: {rdma: {purpose: rdma, dscp: [26], tc: 3, lossless: true}}\n", {"error"}),
    ],
)
def test_a_lossy_dscp_is_an_error_where_it_is_stated(tmp_path: Path, stated: str, expected: set[str]) -> None:
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
        changed(port, qos=changed(port.qos, queues=tuple(changed(one, wred=None) for one in port.qos.queues)))
        if not isinstance(port.qos, type(UNKNOWN)) and port.qos is not None
        else port
        for port in device.interfaces
    )
    bare = changed(device, interfaces=ports)
    assert not shows_roce(fabric, bare, index=Index(fabric))
    assert shows_roce(fabric, changed(bare, qos_style="macro"), index=Index(fabric))
    rdma = TrafficClass(name="rdma", purpose="rdma", dscp=(24,), tc=3, lossless=True)
    other = changed(with_changes({}), classes=(rdma,))
    assert not rdma_is_lossless_somewhere(other, index=Index(other))
    assert rdma_is_lossless_somewhere(fabric, index=Index(fabric)), "spines have it"
