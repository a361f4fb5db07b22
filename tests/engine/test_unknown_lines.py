"""A line is modelled, known to be harmless, or an unknown verdict that is counted, shown and fails a gate."""

import json
from pathlib import Path

import pytest

from nodrop.engine.unknowns import unknown_line_verdicts
from nodrop.model.reading import DeviceReading
from nodrop.platforms.frr import harmless as frr_harmless
from nodrop.platforms.frr.harmless import HarmlessLine, find_harmless_row
from nodrop.platforms.frr.words import strip_no_word
from nodrop.platforms.kit.unknown_lines import note_unknown_command
from nodrop.report import concise, github, sarif
from nodrop.report.text import render
from support.command import nodrop
from support.report_samples import outcome
from support.sonic_configs import read

LINES = """\
router bgp 65000
 neighbor 10.0.0.1 remote-as 65001
 neighbor 10.0.0.1 strict-capability-match
 neighbor Ethernet0 strict-capability-match
 bgp dampening
!
router ospf
 ospf router-id 10.0.0.9
"""
ABOUT = ("bgp dampening", "neighbor ... strict-capability-match", "router ospf")
WHOLE = outcome(unknown=unknown_line_verdicts(read(None, LINES).notes))


def unknown(reading: DeviceReading) -> list[tuple[str, list[int | None]]]:
    verdicts = unknown_line_verdicts(reading.notes)
    return [(one.missing, [place.span.line if place.span else None for place in one.places]) for one in verdicts]


def test_a_line_of_no_block_ends_the_block_that_it_is_in_and_is_unknown_there() -> None:
    """FRR has `bgp update-delay` outside of processes alone: what follows it in one is refused."""
    process = "router bgp 65000\n neighbor 10.0.0.1 remote-as 65001\n"
    assert unknown(read(None, f"bgp update-delay 10\n{process}")) == []
    assert unknown(read(None, f"{process} bgp update-delay 10\n")) == [("bgp update-delay", [3])]


@pytest.mark.parametrize(
    "line",
    [
        "ip prefix-list P permit 2001:db8::/64",
        "ipv6 prefix-list P permit 10.0.0.0/8",
        "ip prefix-list P permit 10.0.0.0/8 le 33",
    ],
)
def test_a_prefix_list_takes_prefixes_of_its_family_alone(line: str) -> None:
    """FRR refuses others (lib/filter_cli.c)."""
    assert unknown(read(None, f"{line}\n")) == [(" ".join(line.split()[:2]), [1])]


def test_lines_that_set_the_same_are_one_verdict_with_every_place() -> None:
    assert unknown(read(None, LINES)) == [
        ("bgp dampening", [5]),
        ("neighbor ... strict-capability-match", [3, 4]),
        ("router ospf", [7]),
    ]
    assert {one.rule for one in WHOLE.unknown} == {"unknown-line"}
    assert {one.devices for one in WHOLE.unknown} == {("sw1",)}


def test_each_kind_is_one_line_of_the_text_and_counts_in_the_last() -> None:
    shown = render(WHOLE, width=200)
    assert shown.splitlines() == [
        "unknown[unknown-line]: frr.conf:5: `bgp dampening`: nodrop does not know what this line changes",
        "unknown[unknown-line]: frr.conf:3: `neighbor ... strict-capability-match`: nodrop does not know what this "
        "line changes (2 lines on sw1)",
        "unknown[unknown-line]: frr.conf:7: `router ospf`: nodrop does not know what this line changes",
        "",
        "no findings in 6 devices, 192 interfaces, 11 rules: 3 unknown",
    ]


def test_other_formats_have_the_place_of_each_kind() -> None:
    assert concise.render(WHOLE).decode().splitlines()[1] == (
        "frr.conf:3: unknown[unknown-line] `neighbor ... strict-capability-match`: nodrop does not know what this line "
        "changes (1 more)"
    )
    assert github.render(WHOLE).decode().splitlines()[2] == (
        "::warning title=unknown-line,file=frr.conf,line=7::`router ospf`: nodrop does not know what this line changes"
    )
    run = json.loads(sarif.render(WHOLE))["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["unknown-line"]
    told = run["invocations"][0]["toolExecutionNotifications"][1]
    regions = [one["physicalLocation"]["region"]["startLine"] for one in told["locations"]]
    assert (told["associatedRule"]["id"], regions) == ("unknown-line", [3, 4])


@pytest.mark.parametrize(("line", "code"), [("", 0), (" bgp dampening\n", 1), (" bgp log-neighbor-changes\n", 0)])
def test_an_unknown_line_fails_a_gate_and_nothing_else(tmp_path: Path, line: str, code: int) -> None:
    nodrop("build", "intents/two-by-two.yaml", "--output", str(tmp_path))
    file = next(tmp_path.glob("**/leaf1/frr.conf"))
    file.write_text(file.read_text().replace("router bgp 4200100001\n", f"router bgp 4200100001\n{line}"))
    assert nodrop("lint", str(tmp_path)).code == 0
    done = nodrop("lint", str(tmp_path), "--fail-on", "unknown")
    assert done.code == code, done.out
    assert ("1 unknown" in done.out) == (code == 1)


@pytest.mark.parametrize(
    ("line", "about"),
    [
        ("neighbor 10.0.0.1 weight 100", "neighbor ... weight"),
        ("no neighbor SPINES capability extended-nexthop", "no neighbor ... capability extended-nexthop"),
        ("ip protocol bgp route-map DENY", "ip protocol bgp route-map"),
        ("ip prefix-list A5 seq x permit any", "ip prefix-list"),
        ("neighbor 10.0.0.1 password hunter", "neighbor ... password"),
        ("neighbor", "neighbor ..."),
        ("10.0.0.1", "a line without a command"),
        ("no", "no"),
    ],
)
def test_a_kind_has_no_names_no_values_and_no_secret(line: str, about: str) -> None:
    note = note_unknown_command(line, "sw1", None, None)
    assert note.about == about
    assert "hunter" not in note.message


def test_every_row_has_a_reason_and_a_source() -> None:
    rows = frr_harmless.harmless_rows()
    assert len({(row.block, row.line) for row in rows}) == len(rows)
    for row in rows:
        assert row.because
        assert ".c" in row.source


@pytest.mark.parametrize("row", frr_harmless.harmless_rows(), ids=lambda row: f"{row.block} {row.line}")
def test_a_row_covers_its_example_with_and_without_no_only_if_it_says_so(row: HarmlessLine) -> None:
    words = tuple(row.example_command.removesuffix(" ...").split())
    assert (find_harmless_row(row.block, words, True) is not None) == row.takes_line
    assert (find_harmless_row(row.block, *strip_no_word(("no", *words))) is not None) == row.takes_no


@pytest.mark.parametrize(
    ("block", "line"),
    [
        ("session", "no send-community"),
        ("session", "dont-capability-negotiate"),
        ("session", "override-capability"),
        ("session", "strict-capability-match"),
        ("session", "capability orf prefix-list both"),
        ("session", "attribute-unchanged next-hop"),
        ("session", "nexthop-local unchanged"),
        ("session", "route-server-client"),
        ("session", "addpath-tx-all-paths"),
        ("session", "maximum-prefix 100"),
        ("process", "no bgp deterministic-med"),
        ("process", "bgp listen range 10.0.0.0/8 peer-group A"),
        ("interface", "no link-detect"),
        ("interface", "shutdown"),
        ("top", "no ip forwarding"),
        ("top", "zebra nexthop kernel disable"),
        ("vrf", "vni 100"),
    ],
)
def test_what_may_change_routes_is_on_no_list(block: frr_harmless.BlockKind, line: str) -> None:
    assert find_harmless_row(block, *strip_no_word(tuple(line.split()))) is None
