import dataclasses
import re
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.engine.finding import FileLocation, Finding, Fix, FixCommands, UnknownVerdict
from nodrop.errors import Problem
from nodrop.model.reading import Assumption, Note
from nodrop.report.text import render
from nodrop.results.outcome import FabricOutcome, first_shown_findings
from nodrop.syntax.places import Span
from support.report_samples import at, finding, outcome, related

LEAF7 = "build/leaf7/config_db.json"
SPINE1 = "build/spine1/config_db.json"
LEAF7_PORTS = [
    finding(
        f"leaf7/Ethernet{8 * slot}",
        at(LEAF7, 97 + slot, 9, 9 + len(f'"Ethernet{8 * slot}"')),
        fix=Fix(text="give the class a watchdog: detection 200 ms, restoration 400 ms, action drop"),
    )
    for slot in range(16)
]
OTHER_PORTS = [
    finding(f"leaf{leaf}/Ethernet{port}", at(f"build/leaf{leaf}/config_db.json", 7, 9, 20))
    for leaf in (8, 9, 10, 11, 14)
    for port in range(0, 128, 8)
]
LINK = finding(
    "@fabric/links/leaf7:Ethernet128--spine1:Ethernet0",
    at(LEAF7, 9, 13, 21),
    rule="fec-differs",
    severity="warning",
    confidence="likely",
    message="leaf7:Ethernet128 has FEC rs and spine1:Ethernet0 has none",
    related=(
        related("spine1/Ethernet0", "no FEC here", at(SPINE1, 120, 5, 16)),
        related("spine1", "the switch"),
    ),
)
LINES = {
    (LEAF7, 9): '\t\t"fec": "rs",',
    (LEAF7, 97): '        "Ethernet0": {',
    (SPINE1, 120): '    "Ethernet0": {},',
}
WHOLE = outcome(
    *LEAF7_PORTS,
    *OTHER_PORTS,
    LINK,
    lines=LINES,
    assumed=(
        Assumption(fact="mode", value="lossless", reason="PFC is on"),
        Assumption(fact="RDMA", value="DSCP 26", reason="NVIDIA's convention"),
    ),
    unknown=(
        UnknownVerdict(
            rule="headroom-below-bound",
            missing="link.length_m",
            subjects_count=32,
            devices=("leaf7", "leaf8"),
            resolved_by="cables in fabric.yaml",
        ),
        UnknownVerdict(rule="deadlock", missing="fabric.links", subjects_count=1, devices=(), resolved_by=""),
    ),
    notes=(
        Note(kind="table", message="BANNER is not understood", device="leaf8", file="b.json", line=3),
        Note(kind="table", message="BANNER is not understood", device="leaf7", file="a.json", line=4),
        Note(kind="renamed", message="called leaf7-2, since leaf7 is taken", device="leaf7-2"),
    ),
    problems=(
        Problem(path="b.yaml", line=3, column=5, where="fabric.mode", found="'losless'", hint="lossless?"),
        Problem(path="a.json", found="a pipe", expected="a regular file"),
    ),
    suppressed=3,
    baseline=12,
)


def test_a_whole_report() -> None:
    assert (
        render(WHOLE)
        == """\
assumed: lossless (PFC is on), RDMA = DSCP 26 (NVIDIA's convention)

error[pfc-without-watchdog]: leaf7: Ethernet0 honours pause on priority 3 but has no PFC watchdog
  --> build/leaf7/config_db.json:97:9
   |
97 |         "Ethernet0": {
   |         ^^^^^^^^^^^ leaf7/Ethernet0
   = fix: give the class a watchdog: detection 200 ms, restoration 400 ms, action drop
   = 15 more of the same on leaf7: Ethernet[8-120 by 8]
   = the same on leaf[8-11], leaf14 (5 devices, 80 ports)

warning[fec-differs]: leaf7:Ethernet128 has FEC rs and spine1:Ethernet0 has none
   --> build/leaf7/config_db.json:9:13
    |
  9 |         "fec": "rs",
    |                   ^^ @fabric/links/leaf7:Ethernet128--spine1:Ethernet0
   ::: build/spine1/config_db.json:120:5
    |
120 |     "Ethernet0": {},
    |     ----------- spine1/Ethernet0: no FEC here
    = spine1: the switch
    = likely, not certain: the files do not show all that decides it

unknown: 2 rules undecided on leaf7, leaf8: no file states the cables, the length of the cable; -v lists them

note: leaf7-2: called leaf7-2, since leaf7 is taken
note: BANNER is not understood (2 times on leaf7, leaf8)

error: a.json: a pipe; expected a regular file
error: b.yaml:3:5: fabric.mode: 'losless' (lossless?)

`nodrop explain RULE --at ID PATH` shows the values behind a finding; ID follows ^^^ or the first =.
6 devices, 192 interfaces, 11 rules: 96 errors, 1 warning, 0 notes, 2 unknown, 3 suppressed, 12 in the baseline, \
2 problems
"""
    )


def test_a_verbose_report_lists_every_finding_and_note_with_its_place() -> None:
    shown = outcome(
        *LEAF7_PORTS[:2], *OTHER_PORTS[:1], finding("spine1"), lines=LINES, notes=WHOLE.notes, devices=3, interfaces=9
    )
    assert (
        render(shown, verbose=True)
        == """\
error[pfc-without-watchdog]: leaf7: Ethernet0 honours pause on priority 3 but has no PFC watchdog
  --> build/leaf7/config_db.json:97:9
   |
97 |         "Ethernet0": {
   |         ^^^^^^^^^^^ leaf7/Ethernet0
   = fix: give the class a watchdog: detection 200 ms, restoration 400 ms, action drop
   = 3 more of the same:
     build/leaf7/config_db.json:98:9: leaf7: Ethernet8 honours pause on priority 3 but has no PFC watchdog
     build/leaf8/config_db.json:7:9: leaf8: Ethernet0 honours pause on priority 3 but has no PFC watchdog
     spine1: spine1 honours pause on priority 3 but has no PFC watchdog

note: leaf7-2: called leaf7-2, since leaf7 is taken
note: a.json:4: BANNER is not understood
note: b.json:3: BANNER is not understood

`nodrop explain RULE --at ID PATH` shows the values behind a finding; ID follows ^^^ or the first =.
3 devices, 9 interfaces, 11 rules: 4 errors, 0 warnings, 0 notes
"""
    )


def test_the_order_in_which_things_are_found_does_not_matter() -> None:
    backwards = outcome(
        *reversed(WHOLE.findings),
        lines=LINES,
        assumed=WHOLE.assumed,
        unknown=WHOLE.unknown[::-1],
        notes=WHOLE.notes[::-1],
        problems=WHOLE.problems[::-1],
        suppressed=3,
        baseline=12,
    )
    assert render(backwards, verbose=True) == render(WHOLE, verbose=True)
    assert render(backwards) == render(WHOLE)


def test_it_is_enough_to_locate_the_first_of_each_group() -> None:
    first = first_shown_findings(WHOLE.findings)
    assert [finding.subject for finding in first] == [
        *((f"leaf{number}", "Ethernet0") for number in (7, 8, 9, 10)),
        LINK.subject,
    ]
    bare = tuple(each if each in first else dataclasses.replace(each, located=None) for each in WHOLE.findings)
    assert render(dataclasses.replace(WHOLE, findings=bare)) == render(WHOLE)


def test_commands_of_other_switches_are_shown_where_they_differ() -> None:
    def shut(device: str, port: str) -> Finding:
        commands = FixCommands(device=device, language="sonic", lines=(f"sudo config interface startup {port}",))
        return finding(f"{device}/{port}", fix=Fix(text="enable it", commands=(commands,)))

    text = render(outcome(shut("leaf7", "Ethernet0"), shut("leaf8", "Ethernet8"), shut("leaf9", "Ethernet0")))
    assert [line.strip() for line in text.splitlines() if "sudo" in line or "SONiC" in line] == [
        "= fix: enable it; on leaf7, leaf9 (SONiC):",
        "sudo config interface startup Ethernet0",
        "on leaf8 (SONiC):",
        "sudo config interface startup Ethernet8",
    ]


def share_map(device: str, *ports: str, impact: str = "", notes: tuple[str, ...] = ()) -> Fix:
    """Return the command for a map that ports of a switch share."""
    lines = ('sudo sonic-db-cli CONFIG_DB HSET "DSCP_TO_TC_MAP|AZURE" 40 0',)
    commands = FixCommands(device=device, language="sonic", lines=lines, impact=impact, ports=ports, notes=notes)
    return Fix(text="map the DSCP", commands=(commands,))


def footers(*findings: Finding, width: int = 100) -> list[str]:
    """Return the footers of one block, and the lines that belong to them."""
    return [line[2:] for line in block(*findings, width=width).splitlines()[2:]]


def test_ports_that_the_findings_name_are_not_listed_again_above_the_commands() -> None:
    fix = share_map("leaf1", "swp1", "swp2", "swp3")
    first, second, third = (finding(f"leaf1/swp{number}", fix=fix if number == 1 else None) for number in (1, 2, 3))
    assert footers(first, second, third) == [
        "= fix: map the DSCP; on leaf1 (SONiC), changing only the affected ports:",
        '    sudo sonic-db-cli CONFIG_DB HSET "DSCP_TO_TC_MAP|AZURE" 40 0',
        "= 2 more of the same on leaf1: swp2, swp3",
    ]
    assert footers(first, second) == [
        "= fix: map the DSCP; on leaf1 (SONiC):",
        "  changes 3 ports: swp[1-3]",
        '    sudo sonic-db-cli CONFIG_DB HSET "DSCP_TO_TC_MAP|AZURE" 40 0',
        "= 1 more of the same on leaf1: swp2",
    ]


def test_ports_of_another_switch_or_fabric_do_not_count_as_named() -> None:
    first = finding("leaf1/swp1", fix=share_map("leaf1", "swp1"))
    assert footers(first, finding("leaf2/swp2", fix=share_map("leaf2", "swp1", "swp2")))[:3] == [
        "= fix: map the DSCP; on leaf1, leaf2 (SONiC):",
        "  changes 1 port on leaf1: swp1",
        "  changes 2 ports on leaf2: swp1, swp2",
    ]
    elsewhere = dataclasses.replace(finding("leaf1/swp2"), within="pod2")
    shared = dataclasses.replace(first, fix=share_map("leaf1", "swp1", "swp2"))
    assert footers(shared, elsewhere)[1] == "  changes 2 ports: swp1, swp2"


def test_equal_commands_show_what_they_disturb_on_any_of_their_switches() -> None:
    first = finding("leaf1/swp1", fix=share_map("leaf1", "swp1", notes=("drain first",)))
    second = finding("leaf2/swp1", fix=share_map("leaf2", "swp1", impact="port bounce: the link goes down"))
    assert footers(first, second)[:3] == [
        "= fix: map the DSCP; on leaf1, leaf2 (SONiC), changing only the affected ports:",
        "  impact: port bounce: the link goes down",
        "  drain first",
    ]


def test_what_introduces_commands_is_wrapped_like_the_fix_and_commands_are_not() -> None:
    impact = "traffic-affecting: until both ends of a cable have it, one drops packets"
    fix = share_map("leaf-of-a-long-name", "swp1", impact=impact)
    assert footers(finding("leaf-of-a-long-name/swp1", fix=fix), width=70)[:-1] == [
        "= fix: map the DSCP;",
        "  on leaf-of-a-long-name (SONiC), changing only the affected ports:",
        "  impact: traffic-affecting: until both ends of a cable have it, one",
        "  drops packets",
    ]
    assert footers(finding("leaf-of-a-long-name/swp1", fix=fix), width=60)[:3] == [
        "= fix: map the DSCP;",
        "  on leaf-of-a-long-name (SONiC), changing only the",
        "  affected ports:",
    ]


def storm(causes: int) -> FabricOutcome:
    """So many findings of two rules, each of a cause of its own, on four switches."""
    return outcome(
        *(
            finding(
                f"leaf{cause % 4}/Ethernet{cause}",
                at(f"build/leaf{cause % 4}.json", cause + 1, 1, 2),
                rule="b-rule" if cause % 3 else "a-rule",
                severity="error" if cause % 3 else "warning",
                group=str(cause),
            )
            for cause in range(causes)
        ),
        finding("@fabric", rule="c-rule", severity="note"),
    )


def test_equal_findings_of_other_fabrics_are_told_by_their_folders() -> None:
    def inside(pod: str, *subjects: str) -> list[Finding]:
        placed = at(f"{pod}/x.json", 1, 1, 2)
        return [finding(each, placed if each == subjects[0] else None, within=pod) for each in subjects]

    first = inside("pod1", "leaf1/Ethernet0", "leaf1/Ethernet8", "leaf2/Ethernet0")
    text = render(outcome(*first, *inside("pod2", "leaf1/Ethernet0"), *inside("pod3", "leaf1/Ethernet0")))
    assert [line for line in text.splitlines() if "same" in line] == [
        "  = 1 more of the same on leaf1: Ethernet8",
        "  = the same on leaf2, and in pod2, pod3 (2 other fabrics, 3 devices, 3 ports)",
    ]
    text = render(outcome(*inside("pod1", "@fabric/links/a:1--b:1"), *inside("pod2", "@fabric/links/a:1--b:1")))
    assert "  = the same in pod2 (1 other fabric, 1 link)" in text


def test_of_more_than_twenty_causes_the_rest_are_counted_by_rule() -> None:
    lines = render(storm(60)).splitlines()
    assert len([line for line in lines if line.startswith(("error[", "warning[", "note["))]) == 20
    assert lines[-7:] == [
        "20 of 61 different findings are shown; -v lists all. By rule:",
        "  error[b-rule]: 40 findings on 4 devices, 40 different",
        "  warning[a-rule]: 20 findings on 4 devices, 20 different",
        "  note[c-rule]: 1 finding",
        "",
        "`nodrop explain RULE --at ID PATH` shows the values behind a finding; ID follows ^^^ or the first =.",
        "6 devices, 192 interfaces, 11 rules: 40 errors, 20 warnings, 1 note",
    ]


def test_of_twenty_causes_and_of_any_number_where_verbose_all_are_shown() -> None:
    for text, causes in ((render(storm(19)), 20), (render(storm(60), verbose=True), 61)):
        assert len(re.findall(r"^(?:error|warning|note)\[", text, re.MULTILINE)) == causes
        assert "By rule" not in text


def test_colors_change_nothing_but_colors() -> None:
    colored = render(WHOLE, color=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render(WHOLE)
    assert colored.count("\x1b[0m") == len(re.findall(r"\x1b\[[1-9][0-9;]*m", colored))
    assert "\x1b[1;31merror[pfc-without-watchdog]\x1b[0m: \x1b[1mleaf7: Ethernet0 honours" in colored


@pytest.mark.parametrize(
    ("facts", "last"),
    [
        ({}, "no findings in 6 devices, 192 interfaces, 11 rules"),
        ({"devices": 1, "interfaces": 1, "rules": 1}, "no findings in 1 device, 1 interface, 1 rule"),
        ({"suppressed": 2}, "no findings in 6 devices, 192 interfaces, 11 rules: 2 suppressed"),
        ({"baseline": 12}, "no findings in 6 devices, 192 interfaces, 11 rules: 12 in the baseline"),
        ({"rules": 0}, "nothing checked in 6 devices, 192 interfaces, 0 rules"),
        ({"devices": 0, "interfaces": 0}, "nothing checked"),
    ],
)
def test_no_findings_says_what_was_checked(facts: dict[str, int], last: str) -> None:
    assert render(outcome(**facts)) == f"{last}\n"


def test_no_findings_does_not_hide_what_was_not_decided() -> None:
    shown = outcome(unknown=WHOLE.unknown[:1], problems=WHOLE.problems[:1])
    assert render(shown).splitlines()[-1] == (
        "no findings in 6 devices, 192 interfaces, 11 rules: 1 unknown, 1 problem"
    )


def block(*findings: Finding, lines: dict[tuple[str, int], str] | None = None, width: int = 100) -> str:
    text = render(outcome(*findings, lines=lines), width=width)
    assert text.count("\n\n") == 1
    return text.split("\n\n")[0]


HEAD = "error[pfc-without-watchdog]: leaf7 honours pause on priority 3 but has no PFC watchdog\n"


@pytest.mark.parametrize(
    ("located", "rest"),
    [
        (None, "  = leaf7"),
        (FileLocation(file=LEAF7, span=None), f" --> {LEAF7}\n  = leaf7"),
        (at(LEAF7, 1200, 1, 2), f" --> {LEAF7}:1200:1\n  = leaf7"),
    ],
)
def test_without_a_line_to_quote_the_part_is_named(located: FileLocation | None, rest: str) -> None:
    assert block(finding("leaf7", located)) == HEAD + rest


def test_tabs_and_wide_characters_keep_the_carets_under_the_span() -> None:
    line = '\t"描述":\t"界", "mtu": 1500'
    assert block(finding("leaf7", at(LEAF7, 5, 13, 18)), lines={(LEAF7, 5): line}).splitlines()[2:] == [
        "  |",
        '5 |     "描述":    "界", "mtu": 1500',
        "  | " + " " * 21 + "^^^^^ leaf7",
    ]


def test_a_long_line_is_cut_to_the_width() -> None:
    line = '{"PORT":{' + ",".join(f'"Ethernet{8 * slot}":{{}}' for slot in range(64)) + "}}"
    column = line.index('"Ethernet256"') + 1
    assert block(finding("leaf7", at(LEAF7, 1, column, column + 13)), lines={(LEAF7, 1): line}, width=64) == (
        HEAD
        + """\
 --> build/leaf7/config_db.json:1:539
  |
1 | ...,"Ethernet248":{},"Ethernet256":{},"Ethernet264":{},"E...
  |                      ^^^^^^^^^^^^^ leaf7"""
    )


def test_a_span_over_lines_is_underlined_on_its_first() -> None:
    place = FileLocation(file=LEAF7, span=Span(3, 3, 9, 4))
    assert block(finding("leaf7", place), lines={(LEAF7, 3): '  "PORT": {'}).splitlines()[3:] == [
        '3 |   "PORT": {',
        "  |   ^^^^^^^^^ leaf7",
    ]


def test_a_fix_is_wrapped_and_keeps_its_own_lines() -> None:
    fix = Fix(text="give the class a watchdog that fires before the fabric does\nor turn PFC off on this port\n")
    assert block(finding("leaf7", fix=fix), width=50).splitlines()[2:] == [
        "  = fix: give the class a watchdog that fires",
        "    before the fabric does",
        "    or turn PFC off on this port",
    ]


def test_a_name_with_hyphens_is_not_broken() -> None:
    fix = Fix(text="correct the watchdog of its neighbor leaf-of-a-long-name")
    assert footers(finding("leaf7", fix=fix), width=52) == [
        "= fix: correct the watchdog of its neighbor",
        "  leaf-of-a-long-name",
    ]


@pytest.mark.parametrize(
    ("subjects", "others"),
    [
        (["leaf1", "leaf2", "leaf3", "leaf4"], ["the same on leaf[2-4] (3 devices)"]),
        (["leaf1", "leaf2"], ["the same on leaf2"]),
        (
            [f"leaf1/Ethernet{port}/qos/queues/3" for port in range(0, 64, 8)],
            ["7 more of the same on leaf1: Ethernet[8-56 by 8] queue 3"],
        ),
        (
            [f"leaf{leaf}/@neighbors/10.1.{leaf}.{host}" for leaf in (1, 2) for host in range(1, 9, 2)],
            [
                "3 more of the same on leaf1: 10.1.1.3, 10.1.1.5, 10.1.1.7",
                "the same on leaf2 (1 device, 4 neighbors)",
            ],
        ),
        (
            [f"@fabric/links/leaf1:swp{port}--spine1:swp{port}" for port in (1, 2, 3)],
            ["2 more of the same: leaf1:swp2--spine1:swp2, leaf1:swp3--spine1:swp3"],
        ),
        (
            ["@fabric/classes/rdma", "leaf1/swp1", "leaf1/@buffer_pools/a", "leaf1/@buffer_pools/b"],
            ["the same on leaf1 (1 device, 2 buffer pools, 1 port)"],
        ),
    ],
)
def test_a_group_is_one_block(subjects: list[str], others: list[str]) -> None:
    lines = block(*(finding(subject) for subject in subjects)).splitlines()
    assert lines[2:] == [f"  = {other}" for other in others]


def test_other_rules_and_causes_are_blocks_of_their_own() -> None:
    findings = [
        finding("leaf1", rule="a", group="x"),
        finding("leaf2", rule="a", group="x"),
        finding("leaf3", rule="a", group="y"),
        finding("leaf4", rule="b", group="x"),
    ]
    assert [part.splitlines()[0].split(":")[0] for part in render(outcome(*findings)).split("\n\n")[:-1]] == [
        "error[a]",
        "error[a]",
        "error[b]",
    ]


def test_of_many_related_parts_and_notes_the_first_few_are_shown() -> None:
    parts = tuple(related(f"leaf{number}", "in the cycle") for number in range(1, 8))
    assert block(finding("leaf1", related=parts)).splitlines()[-2:] == [
        "  = leaf4: in the cycle",
        "  = 3 more related parts; -v shows them",
    ]
    notes = tuple(Note(kind="table", message=f"table {letter} is not understood") for letter in "ABCDEFGH")
    assert render(outcome(notes=notes)).split("\n\n")[0].splitlines()[-2:] == [
        "note: table E is not understood",
        "note: 3 more about table; -v lists them",
    ]


def test_nothing_in_a_configuration_can_forge_a_line_or_steer_the_terminal() -> None:
    hostile = "a\n\nno findings\x1b[2J\u202e"
    shown = outcome(
        finding(f"leaf1/{hostile}", at(hostile, 1, 1, 2), message=hostile, fix=Fix(text=hostile), rule=hostile),
        lines={(hostile, 1): hostile.replace("\n", "")},
    )
    written = r"a\n\nno findings\x1b[2J\u202e"
    assert (
        render(shown)
        == rf"""error[{written}]: leaf1: {written}
 --> {written}:1:1
  |
1 | ano findings\x1b[2J\u202e
  | ^ leaf1/{written}
  = fix: a
    no findings\x1b[2J\u202e

`nodrop explain RULE --at ID PATH` shows the values behind a finding; ID follows ^^^ or the first =.
6 devices, 192 interfaces, 11 rules: 1 error, 0 warnings, 0 notes
"""
    )


# Other numbers, such as ², are left out only because `subject.natural` cannot sort them yet.
HOSTILE = st.text(st.characters(exclude_categories=("No",)), max_size=12)


@given(st.lists(HOSTILE, min_size=12, max_size=12), st.booleans(), st.integers(0, 80))
def test_no_control_character_gets_out(texts: list[str], verbose: bool, width: int) -> None:
    a, b, c, d, e, f, g, h, i, j, k, l = texts  # noqa: E741
    place = at(a, 1, len(b), len(b) + 3)
    shown = FabricOutcome(
        devices=1,
        interfaces=1,
        rules=1,
        findings=(
            *(
                finding(f"leaf1/{part}", place, device=c, message=d, fix=Fix(text=e), rule=f, group=g)
                for part in (h, i, "x" + h)
            ),
            finding("leaf1", related=(related("leaf2", j, place),)),
        ),
        unknown=(UnknownVerdict(rule=a, missing=b, subjects_count=1, devices=(c, d), resolved_by=e),),
        notes=(Note(kind=f, message=g, device=h, file=i), Note(kind=f, message=g, device=k), Note(kind=f, message=l)),
        problems=(Problem(path=j, where=k, found=l, expected=a, hint=b),),
        assumed=(Assumption(fact=c, value=d, reason=e),),
        line=lambda file, line: k,
    )
    for color in (False, True):
        text = render(shown, color=color, verbose=verbose, width=width)
        text = re.sub(r"\x1b\[[0-9;]*m", "", text) if color else text
        assert all(category(char) not in ("Cc", "Cs", "Zl", "Zp") for char in text.replace("\n", ""))
