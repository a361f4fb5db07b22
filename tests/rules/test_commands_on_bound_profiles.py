"""Commands of rules for ports with their own profiles: they change those, and typed in they end their finding."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import nodrop
from nodrop.advising import add_fix_commands
from nodrop.engine.finding import Finding
from nodrop.locate import add_finding_places
from nodrop.platforms import make_place_finder
from support.typed_commands import type_commands

MAPPING = """nv set qos mapping RM trust l3
nv set qos mapping RM dscp 24,26 switch-priority 3
nv set interface swp1 qos mapping profile RM
"""
PAUSED = """nv set qos pfc P switch-priority 3
nv set interface swp1 qos pfc profile P
nv set interface swp1 qos pfc-watchdog state enable
"""
MARKED = """nv set qos congestion-control E traffic-class {tc} ecn enable
nv set qos congestion-control E traffic-class {tc} min-threshold 150000
nv set qos congestion-control E traffic-class {tc} max-threshold 1500000
nv set interface swp1 qos congestion-control profile E
"""
TWO_PRIORITIES = """nv set interface swp1-2 link state up
nv set qos pfc A switch-priority 3
nv set qos pfc B switch-priority 0
nv set qos pfc B xoff-threshold 1500
nv set qos pfc B xon-threshold 1000
nv set qos pfc B port-buffer 2000
nv set qos pfc B rx disable
nv set interface swp2 qos pfc profile A
nv set interface swp1 qos pfc profile B
"""
ALL_PAUSED = """nv set interface swp1 link state up
nv set qos pfc P switch-priority 0
nv set interface swp1 qos pfc profile P
nv set interface swp1 qos pfc-watchdog state enable
"""


def found(folder: Path, name: str, text: str) -> Mapping[str, Finding]:
    """Return the first finding of each rule about a file, with its commands."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    reading = nodrop.read([str(folder)])
    findings: dict[str, Finding] = {}
    located = add_finding_places(nodrop.lint(reading).findings, reading, make_place_finder).findings
    for finding in add_fix_commands(located, reading):
        findings.setdefault(finding.rule, finding)
    return findings


def commands_of(finding: Finding) -> tuple[str, ...]:
    assert finding.fix is not None
    return tuple(line for commands in finding.fix.commands for line in commands.lines)


def line_of(finding: Finding) -> int | None:
    return finding.located.span.line if finding.located is not None and finding.located.span is not None else None


@pytest.mark.parametrize(
    ("text", "rule", "lines"),
    [
        (
            MAPPING + PAUSED + MARKED.format(tc=3),
            "unintended-dscp-in-lossless-class",
            ["nv set qos mapping RM dscp 24-25,27-31 switch-priority 0"],
        ),
        (
            MAPPING.replace("nv set qos mapping RM trust l3\n", "") + PAUSED + MARKED.format(tc=3),
            "rdma-dscp-in-lossy-class",
            ["nv set qos mapping RM trust l3", "nv set qos mapping RM dscp 26 switch-priority 3"],
        ),
        (
            MAPPING + PAUSED + MARKED.format(tc=2),
            "ecn-missing-on-rdma-queue",
            [
                "nv set qos congestion-control E traffic-class 3 ecn enable",
                "nv set qos congestion-control E traffic-class 3 min-threshold 150000",
                "nv set qos congestion-control E traffic-class 3 max-threshold 1500000",
                "nv set qos congestion-control E traffic-class 3 probability 100",
            ],
        ),
        (
            ALL_PAUSED,
            "unintended-dscp-in-lossless-class",
            [
                "nv set qos mapping default-global trust l3",
                "nv set qos mapping default-global dscp 26 switch-priority 0",
                "nv set qos mapping default-global dscp 0-25,27-63 switch-priority 1",
            ],
        ),
    ],
    ids=["map", "trust", "marking", "priority-0-is-lossless"],
)
def test_typed_commands_end_the_finding(tmp_path: Path, text: str, rule: str, lines: list[str]) -> None:
    commands = commands_of(found(tmp_path / "before", "sw1.nv", text)[rule])
    assert [*commands] == [*lines, "nv config apply"]
    after = text + "".join(f"{line}\n" for line in commands if line.startswith("nv set "))
    assert rule not in found(tmp_path / "after", "sw1.nv", after)
    assert "rdma-dscp-in-lossy-class" not in found(tmp_path / "after", "sw1.nv", after)


def test_no_port_gets_the_pfc_profile_of_a_port_whose_lossless_class_takes_everything(tmp_path: Path) -> None:
    findings = found(tmp_path, "sw1.nv", TWO_PRIORITIES)
    assert commands_of(findings["rdma-dscp-in-lossy-class"]) == (
        "nv set qos mapping default-global trust l3",
        "nv set qos mapping default-global dscp 26 switch-priority 3",
        "nv config apply",
    )
    profile_lines = [line for line in commands_of(findings["pause-sent-not-obeyed"]) if " qos pfc B " in line]
    assert profile_lines == ["nv set qos pfc B rx enable"]


def test_a_name_with_a_meaning_for_a_shell_is_in_no_command(tmp_path: Path) -> None:
    text = (MAPPING + PAUSED + MARKED.format(tc=3)).replace(" RM", " R$(x)")
    assert commands_of(found(tmp_path, "sw1.nv", text)["unintended-dscp-in-lossless-class"]) == ()


ONYX = """dcb priority-flow-control enable force
dcb priority-flow-control priority 3 enable
advanced buffer management force
pool iPool1 size 5242880 type dynamic
interface ethernet 1/1 ingress-buffer iPort.pg3 map pool iPool1 type lossless reserved 67538 xoff 18432 xon 18432
interface ethernet 1/1 qos trust L3
interface ethernet 1/1 dcb priority-flow-control mode on force
interface ethernet 1/1 pfc-wd
"""


def test_a_lossless_group_that_no_priority_is_bound_to_lacks_the_binding(tmp_path: Path) -> None:
    findings = found(tmp_path / "before", "sw1.txt", ONYX)
    finding = findings["lossless-pg-without-pfc"]
    assert "priority 3 with PFC is not in it" in finding.message
    commands = commands_of(finding)
    assert "interface ethernet 1/1 ingress-buffer iPort.pg3 bind switch-priority 3" in commands
    assert not {"lossless-queue-without-ecn", "traffic-classes-share-lossless-group"} & findings.keys()
    (after,) = type_commands("onyx", commands, {"sw1.txt": ONYX}).values()
    assert "lossless-pg-without-pfc" not in found(tmp_path / "after", "sw1.txt", after)
    assert "xon-without-hysteresis" not in found(tmp_path / "after", "sw1.txt", after)


def test_each_unknown_command_of_onyx_is_reported(tmp_path: Path) -> None:
    (tmp_path / "sw1.txt").write_text(
        "dcb priority-flow-control enable force\n"
        "traffic dscp-map dscp 26 priority 3\ntraffic dscp-map dscp 24 priority 3\ntraffic dscp-map dscp 8 priority 1\n"
        "interface ethernet 1/1 qos trust L3\n"
    )
    findings = nodrop.lint(nodrop.read([str(tmp_path)])).findings
    assert {line_of(finding) for finding in findings if finding.rule == "unknown-command"} == {2, 3, 4}


SHARES = """nv set interface swp1 link state up
nv set qos roce mode lossless
nv set qos egress-scheduler S traffic-class 3 mode dwrr
nv set qos egress-scheduler S traffic-class 3 bw-percent 5
nv set qos egress-scheduler S traffic-class {strict} mode strict
nv set interface swp1 qos egress-scheduler profile S
"""


@pytest.mark.parametrize(("strict", "is_found"), [("0-2,4-7", True), ("0", True), ("6-7", False)])
def test_a_strict_queue_of_unmarked_packets_starves_rdma(tmp_path: Path, strict: str, is_found: bool) -> None:
    findings = found(tmp_path, "sw1.nv", SHARES.format(strict=strict))
    assert ("too-many-strict-queues" in findings) is is_found
    if is_found:
        assert "queue 0 takes unmarked packets (DSCP 0)" in findings["too-many-strict-queues"].message


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (
            "sw1.nv",
            MAPPING + PAUSED.replace("nv set interface swp1 qos pfc-watchdog state enable\n", "") + MARKED.format(tc=3),
            5,
        ),
        (
            "traffic.conf",
            "traffic.packet_priority_source_set = [dscp]\n"
            "traffic.cos_3.priority_source.dscp = [26]\n"
            "pfc.port_group_list = [all]\n"
            "pfc.all.port_set = swp1-swp2\n"
            "pfc.all.cos_list = [3]\n"
            "ecn_red.port_group_list = [marked]\n"
            "ecn_red.marked.port_set = swp1-swp2\n"
            "ecn_red.marked.cos_list = [3]\n",
            4,
        ),
    ],
    ids=["nvue", "cumulus"],
)
def test_a_missing_watchdog_is_pointed_out_where_the_port_gets_its_pfc(
    tmp_path: Path, name: str, text: str, line: int
) -> None:
    assert line_of(found(tmp_path, name, text)["pfc-without-watchdog"]) == line
