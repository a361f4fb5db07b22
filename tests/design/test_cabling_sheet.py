"""Intents whose cables a sheet states row by row: the same fabric as by rules, and faults at the line of the row."""

import json
from pathlib import Path
from typing import Any

import pytest

import nodrop
from nodrop.design.deciding import find_decision
from nodrop.errors import InputProblems
from nodrop.intent.load import loads
from nodrop.model.compare import differences
from nodrop.platforms.kit.panel_names import PanelPortOrPart, find_panel_parts
from nodrop.resources import resource_folder
from support.designs import Data, build, changed, shipped

KEPT = ("tier", "ids", "model", "platform", "version", "offset", "per_pod", "ports", "max_oversubscription")


def sheet_of(name: str, cables: str | list[str] | None = None, **changes: Any) -> Data:
    """The data of a shipped intent of tiers with its cables in a sheet: as a build lists them, where none is given."""
    data = shipped(name)
    if cables is None:
        cables = next(one.text for one in nodrop.rack(build(data)) if one.path.endswith("cabling.csv"))
    groups = {
        group: {key: value for key, value in facts.items() if key in KEPT}
        for group, facts in data["topology"]["groups"].items()
    }
    return changed(data, {"topology": {"kind": "cabling", "groups": groups, "cables": cables} | changes})


@pytest.mark.parametrize("name", ["storage-leaves", "uneven-pods"])
def test_the_cables_that_a_build_lists_make_the_same_fabric(name: str) -> None:
    """But for timers of watchdogs, which follow from all ports that rules may give out one day; so they are stated."""
    timers = {
        "pfc": {"watchdog": {"hosts": {"detection": "600ms"}, "fabric": {"detection": "1800ms"}, "polling": "200ms"}}
    }
    data = sheet_of(name)
    assert list(differences(build(shipped(name, timers)), build(changed(data, timers)))) == []


def test_a_sheet_is_csv_or_a_list() -> None:
    data = shipped("cabling-sheet")
    cells = [[cell.strip() for cell in line.split(",")] for line in data["topology"]["cables"].splitlines()[1:]]
    listed = [f"{a}:{port}--{b}:{far}  {length}m" for a, port, b, far, length in cells]
    assert build(changed(data, {"topology.cables": listed})) == build(data)
    for mark in (";", "\t"):
        assert build(changed(data, {"topology.cables": data["topology"]["cables"].replace(",", mark)})) == build(data)


def test_devices_are_named_by_name_or_identity() -> None:
    data = shipped("cabling-sheet")
    named = changed(data, {"names": {"template": "{site}-{role}-{id:02}"}})
    cables = data["topology"]["cables"].replace("leaf1,", "cabling-sheet-leaf-01,")
    assert build(changed(named, {"topology.cables": cables})) == build(named)


@pytest.mark.parametrize("name", ["swp3", "Ethernet16", "etp3", "Eth1/3", "Ethernet1/3", "3", "ETP3"])
def test_a_port_has_all_names_that_people_use(name: str) -> None:
    assert find_panel_parts("SN4700", name)[0] == PanelPortOrPart(3)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("swp3s1", [(3, 1, 2), (3, 1, 4), (3, 1, 8)]),
        ("etp3b", [(3, 1, 2), (3, 1, 4), (3, 1, 8)]),
        ("Eth1/3/2", [(3, 1, 2), (3, 1, 4), (3, 1, 8)]),
        ("3/2", [(3, 1, 2), (3, 1, 4), (3, 1, 8)]),
        ("Ethernet20", [(3, 1, 2), (3, 2, 4), (3, 4, 8)]),
        ("Ethernet16", [(3, 0, 1), (3, 0, 2), (3, 0, 4), (3, 0, 8)]),
        ("swp33", []),
        ("3/9", []),
    ],
)
def test_the_name_of_a_part_is_one_of_each_split_that_has_it(name: str, parts: list[tuple[int, int, int]]) -> None:
    assert list(find_panel_parts("SN4700", name)) == parts


def with_row(row: str) -> tuple[str, int]:
    """The text of the shipped sheet with two more columns and one more row, and the line of that."""
    lines = (resource_folder("intents") / "cabling-sheet.yaml").read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("    device,"))
    last = max(number for number, line in enumerate(lines) if line.startswith("    leaf3,"))
    wider = [lines[first] + ",media,speed", *(f"{line},," for line in lines[first + 1 : last + 1]), f"    {row}"]
    return "\n".join([*lines[:first], *wider, *lines[last + 1 :]]), last + 2


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("leaf1,swp99,spine1,7/1,30,,", "leaf1 has no port swp99; expected Ethernet0 to Ethernet248"),
        ("leaf1,25,spin1,7/1,30,,", "no switch or host spin1; expected one of the intent (did you mean spine1?)"),
        ("leaf1,25,leaf2,25,30,,", "leaf1:25 and leaf2:25 are both in tier 1; expected a cable between two tiers "
         "(packets that go sideways in a tier let lossless buffers wait in a circle)"),
        ("leaf1,29,spine1,7/1,30,,", "a second cable in leaf1:29; expected one cable in each port (first at line 14)"),
        ("leaf1,3,spine1,7/1,30,,", "3 of leaf1 is for hosts; expected one use for a port"),
        ("leaf1,25,spine1,1,30,,", "are one panel port, split in different ways; expected one split of a panel port"),
        ("leaf1,25,spine1,7,30,,800G", "25 of leaf1 has no 800G; expected 400G or 200G or 100G"),
        ("leaf1,25,spine1,7/1,30,DR9,", "DR9; expected a medium of the catalogue"),
        ("leaf1,25,spine1,7/1,5km,,", "5km; expected a length in whole metres, 1m to 100000m"),
        ("leaf1,25,spine1,7/1,600,DR4,", "600m; expected at most 500m on DR4"),
        ("leaf1,25,spine1,7/1,30", "5 columns; expected 7, as the first line has"),
        ("leaf1,,spine1,7/1,30,,", "an end without device or port"),
        ('leaf1,"25,spine1,7/1,30,,', "unexpected end of data; expected CSV"),
        ("gpu1,nic1,gpu2,nic1,30,,", "gpu1:nic1 and gpu2:nic1 are both hosts; expected a switch at one end"),
        ("gpu1,nic1,leaf2,1,30,,", "gpu1:nic1 in leaf2:1; expected leaf1:Ethernet0, by endpoints.gpu"),
        ("gpu1,nic3,leaf1,3,30,,", "gpu1 has no port nic3; expected nic1 and so on"),
    ],
)  # fmt: skip
def test_a_row_that_is_no_cable_is_refused_at_its_line(row: str, said: str) -> None:
    text, line = with_row(row)
    with pytest.raises(InputProblems) as refused:
        nodrop.build(loads(text.encode(), "intent.yaml"))
    (problem,) = refused.value.problems
    assert str(problem).startswith(f"intent.yaml:{line}:1: topology.cables: ")
    assert said in str(problem)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"topology.cables": "leaf1,29,spine1,1\n"}, "column leaf1; expected one of device, port, length"),
        ({"topology.cables": "device,port,length\n"}, "1 columns called device; expected device, port, device, port"),
        ({"topology.cables": ""}, "no line of column names; expected device, port, device, port, length, media"),
        ({"topology.cables": []}, "topology.cables: an empty list; expected a text, or a list of texts"),
        ({"topology.cables": ["leaf1-29 spine1"]}, "expected leaf1:swp1--spine1:swp1 30m DR4 400G"),
        ({"topology.media": None}, "no media; expected a value in the row, or topology.media"),
        ({"topology.groups.leaf.model": "SN470"}, "topology.groups.leaf.model: SN470"),
        ({"topology.groups.spine.ids": "1-3", "topology.groups.core": {
            "tier": "3", "ids": "1", "model": "SN5600", "platform": "nvue", "version": "5.16"}},
         "topology.groups.core: no group has uplinks to core; expected a cable of a lower group"),
        ({"topology.groups.leaf.ids": "1-4", "endpoints.gpu.ids": "1-8"}, "leaf4 has no cable to a higher tier"),
        ({"endpoints.gpu.leaf_group": "3", "topology.groups.leaf.ports.endpoints": "1-6"},
         "leaf1 is 1.5:1 oversubscribed, 2.4T down and 1.6T up; expected at most 1:1 "
         "(max_oversubscription: 1.5, or more cables)"),
    ],
)  # fmt: skip
def test_a_sheet_that_is_none_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputProblems) as refused:
        build(changed(shipped("cabling-sheet"), changes))
    assert said in "\n".join(map(str, refused.value.problems))


@pytest.mark.parametrize(
    ("devices", "said"),
    [
        ({"spine1": "core-a", "spine2": "core-a"}, "names.devices.spine1: spine1 and spine2 would both be core-a"),
        ({"spine1": "core-a", "spine9": "core-b"}, "names.devices.spine9: no switch or host spine9"),
    ],
)
def test_a_faulty_name_is_reported_instead_of_the_rows_that_have_it(devices: Data, said: str) -> None:
    data = shipped("cabling-sheet")
    cables = data["topology"]["cables"].replace("spine1,", "core-a,").replace("spine2,", "core-b,")
    with pytest.raises(InputProblems) as refused:
        build(changed(data, {"topology.cables": cables, "names": {"devices": devices}}))
    (problem,) = map(str, refused.value.problems)
    assert said in problem


def test_what_a_cable_more_changes() -> None:
    """A cable between leaf 1 and spine 1 changes these two alone, and nothing of their other ports."""
    data = shipped("cabling-sheet")
    more = data["topology"]["cables"] + "leaf1,25,spine1,33/1,20\n"
    before, after = build(data), build(changed(data, {"topology.cables": more}))
    touched = {device.name for device in before.devices if device != after.device(device.name)}
    assert touched == {"leaf1", "spine1"}
    ports = {port.name: port for port in before.device("leaf1").interfaces}
    assert [port.name for port in after.device("leaf1").interfaces if port != ports[port.name]] == ["Ethernet192"]


def test_a_switch_that_names_another_neighbor_than_the_sheet_is_a_finding(tmp_path: Path) -> None:
    for artifact in nodrop.write(build(shipped("cabling-sheet"))):
        path = tmp_path / artifact.device / artifact.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(artifact.text)
    config = tmp_path / "leaf1" / "config_db.json"
    tables = json.loads(config.read_text())
    tables["DEVICE_NEIGHBOR"] = {"Ethernet224": {"name": "spine2", "port": "swp1s0"}}
    config.write_text(json.dumps(tables))
    verdict = nodrop.lint(nodrop.read([str(tmp_path)]))
    assert [(finding.rule, finding.subject) for finding in verdict.findings] == [
        ("neighbor-unlike-cable", ("leaf1", "Ethernet224", "neighbor"))
    ]


@pytest.mark.parametrize("form", ["block", "list"])
def test_a_decision_on_a_cable_is_at_its_row(form: str) -> None:
    text = (resource_folder("intents") / "cabling-sheet.yaml").read_text()
    if form == "list":
        data = shipped("cabling-sheet")
        cells = [[cell.strip() for cell in line.split(",")] for line in data["topology"]["cables"].splitlines()[1:]]
        rows = "".join(f"    - {a}:{port}--{b}:{far} {length}m\n" for a, port, b, far, length in cells)
        start = text.index("  cables: |\n")
        end = text.index("\nendpoints:", start)
        text = f"{text[:start]}  cables:\n{rows}{text[end + 1 :]}"
    intent = loads(text.encode(), "intent.yaml")
    link = next(one for one in nodrop.build(intent).links if one.a.node == "leaf1" and one.b.node == "spine2")
    decision = find_decision(intent, (link.a.node, link.a.port))
    assert decision is not None
    assert decision.message == "stated here: topology.cables"
    assert decision.line == text.splitlines()[decision.span.line - 1]
    assert decision.line.strip().startswith(("leaf1,", "- leaf1:"))
    assert "spine2" in decision.line
