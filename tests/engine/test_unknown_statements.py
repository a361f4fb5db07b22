"""What an owner has to state for what could not be decided: a line of fabric.yaml, and nothing that no file can say."""

from pathlib import Path

import pytest

import nodrop
from nodrop.engine.finding import UnknownVerdict
from nodrop.engine.unknowns import UnknownFactCounts, advise_on_missing_fact, format_owner_statement
from nodrop.model.fabric import Device, Interface
from nodrop.model.states import UNKNOWN
from nodrop.report.text import render
from nodrop.results.outcome import FabricOutcome


def verdict(missing: str, *devices: str, rule: str = "some-rule", resolved_by: str | None = None) -> UnknownVerdict:
    """Return a verdict that lacks a fact on devices."""
    supply = advise_on_missing_fact(missing) if resolved_by is None else resolved_by
    return UnknownVerdict(rule=rule, missing=missing, subjects_count=1, devices=devices, resolved_by=supply)


@pytest.mark.parametrize(
    "missing",
    ["fabric.mode", "fabric.links", "device.role", "device.model", "traffic_class.tc", "policy.rdma_mtu", "host.nic"],
)
def test_a_statement_can_be_pasted_into_fabric_yaml(missing: str, tmp_path: Path) -> None:
    found = format_owner_statement(verdict(missing, "leaf1"))
    assert found is not None
    (tmp_path / "fabric.yaml").write_text(found[1].replace("PORT", "Ethernet0") + "\n")
    folder = tmp_path / "leaf1"
    folder.mkdir()
    (folder / "config_db.json").write_text(
        '{"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}}, "PORT": {"Ethernet0": {"speed": "400000"}}}'
    )
    assert nodrop.read([str(tmp_path)]).problems == ()


def test_what_a_file_has_to_say_is_no_statement() -> None:
    assert format_owner_statement(verdict("device.bgp", "leaf1")) is None
    assert format_owner_statement(verdict("interface.fec", "leaf1")) is None


def test_each_thing_that_is_missing_takes_one_line() -> None:
    unknown = (
        verdict("device.model", "leaf1", rule="a-rule"),
        verdict("device.model", "leaf2", rule="another-rule"),
        verdict("interface.fec", "leaf1", rule="a-rule"),
        verdict("interface.autoneg", "leaf1", rule="third-rule"),
    )
    shown = render(FabricOutcome(unknown=unknown)).splitlines()
    assert [line for line in shown if line.startswith("unknown")] == [
        "unknown: 2 rules undecided on leaf1, leaf2 without models of devices; state in fabric.yaml: "
        "models: {leaf1: SN5600}",
        "unknown: 2 rules undecided on leaf1: no file states the FEC of the port, the autonegotiation of the port; "
        "-v lists them",
    ]


def test_a_folded_line_names_the_devices_that_lack_each_fact() -> None:
    unknown = (
        verdict("interface.fec", "leaf1", "leaf2", rule="a-rule"),
        verdict("device.bgp", "leaf2", rule="b-rule", resolved_by="a file with its routing (frr.conf)"),
    )
    (shown,) = (line for line in render(FabricOutcome(unknown=unknown)).splitlines() if line.startswith("unknown"))
    assert shown == (
        "unknown: 2 rules undecided on leaf1, leaf2: no file states the FEC of the port, "
        "the BGP settings of the switch (leaf2); -v lists them"
    )


def test_a_computed_fact_lacks_its_first_unknown_input() -> None:
    ports = (Interface(name="swp1", speed_mbps=UNKNOWN),)
    known = Device(name="leaf1", platform="nvue", model="SN5600", interfaces=ports)
    assert advice_on(known) == "a file that states the speed of the port"
    unknown_model = Device(name="leaf1", platform="nvue", model=UNKNOWN, interfaces=ports)
    assert advice_on(unknown_model).endswith("state them under models in fabric.yaml")


def advice_on(device: Device) -> str:
    """Return what would supply the headroom of a device."""
    facts = UnknownFactCounts({device.name: device})
    facts.count_unchecked_subjects("headroom-too-small", "priority_group.buffer.headroom.xoff_bytes", [device.name])
    (unknown,) = facts.verdicts()
    return unknown.resolved_by


def test_nobody_misses_what_no_file_of_the_platform_can_state() -> None:
    devices = {name: Device(name=name, platform=platform) for name, platform in (("old", "onyx"), ("new", "nvue"))}
    facts = UnknownFactCounts(devices)
    facts.count_unchecked_subjects("a-rule", "interface.adaptive_routing", ["old"])
    assert facts.verdicts() == ()
    facts.count_unchecked_subjects("a-rule", "paths(interface.adaptive_routing, interface.side)", ["old", "new"])
    assert [unknown.devices for unknown in facts.verdicts()] == [("new",)]
