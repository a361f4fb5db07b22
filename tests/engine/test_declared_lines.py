"""A site declares lines that nodrop does not know harmless: they no longer fail, and are counted with the reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from nodrop.limits import MAX_DECLARED_LINE_CHARACTERS
from support.command import nodrop

FRR = Path("build/leaf1/frr.conf")
GATE = ("lint", "build", "--fail-on", "unknown")


@pytest.fixture
def site(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a build of which two switches have lines that nodrop does not know, on a known day."""
    monkeypatch.setenv("NODROP_TODAY", "2027-06-30")
    for switch, line in (("leaf1", "bgp dampening 30"), ("leaf2", "bgp dampening 15 750 2000")):
        file = Path("build", switch, "frr.conf")
        before, word, after = file.read_text().partition("router bgp ")
        number, _, rest = after.partition("\n")
        file.write_text(f"{before}{word}{number}\n {line}\n{rest}")
    return repository


def declare(**entry: str) -> None:
    Path("nodrop.yaml").write_text(json.dumps({"harmless": [{"reason": "towards the WAN"} | entry]}))


def report(*args: str) -> Any:
    return json.loads(nodrop("lint", "build", "--format", "json", *args).out)


def declared(*args: str) -> list[tuple[str, str]]:
    notes = report(*args)["notes"]
    return [(note["device"], note["message"]) for note in notes if note["kind"] == "declared-line"]


def remarks() -> list[tuple[str, str, int | None]]:
    found = report()["findings"]
    return [(one["rule"], one["message"], one["line"]) for one in found]


def test_declared_lines_no_longer_fail_and_are_counted_with_their_reason(site: Path) -> None:
    before = nodrop(*GATE)
    assert (before.code, before.out.splitlines()[-1].rpartition(": ")[2]) == (1, "1 unknown")
    declare(line="bgp dampening **")
    after = nodrop(*GATE)
    assert (after.code, after.out.splitlines()[-1].rpartition(": ")[2]) == (0, "2 lines declared harmless")
    assert declared() == [
        ("leaf1", "`bgp dampening 30` is declared harmless: towards the WAN (nodrop.yaml:1)"),
        ("leaf2", "`bgp dampening 15 750 2000` is declared harmless: towards the WAN (nodrop.yaml:1)"),
    ]
    assert report()["summary"]["declared_harmless"] == 2
    assert "`bgp dampening 30` is declared harmless: towards the WAN (nodrop.yaml:1)" in nodrop(*GATE, "-v").out
    assert "declared harmless: towards" not in after.out
    assert nodrop(*GATE, "--no-suppressions").code == 1


@pytest.mark.parametrize(
    ("entry", "switches"),
    [
        ({"line": "bgp dampening *"}, ["leaf1"]),
        ({"line": "bgp  damp*ing  3*"}, ["leaf1"]),
        ({"line": "bgp dampening **", "at": "*2"}, ["leaf2"]),
        ({"line": "bgp dampening"}, []),
        ({"line": "dampening **"}, []),
        ({"line": "no bgp dampening **"}, []),
        ({"line": "bgp dampening .*"}, []),
        ({"line": "bgp dampening **", "at": "spine*"}, []),
    ],
)
def test_a_declaration_covers_whole_lines_of_its_switches(
    site: Path, entry: dict[str, str], switches: list[str]
) -> None:
    declare(**entry)
    assert [device for device, _ in declared()] == switches
    assert nodrop(*GATE).code == 1
    assert report()["unknown"][0]["subjects_count"] == 2 - len(switches)


@pytest.mark.parametrize(
    ("line", "at", "where"),
    [
        ("bgp graceful-restart", "*", "`bgp graceful-restart`"),
        ("log syslog informational", "*", "`log syslog informational`"),
        ("router bgp **", "leaf*", "`router bgp **` at leaf*"),
    ],
)
def test_one_that_covers_no_unknown_line_is_unused(site: Path, line: str, at: str, where: str) -> None:
    declare(line=line, at=at)
    assert remarks() == [("unused-suppression", f"there is no unknown-line {where}: the suppression hides nothing", 1)]
    assert nodrop(*GATE).code == 1


def test_one_for_switches_that_were_not_given_is_not_unused(site: Path) -> None:
    declare(line="bgp nothing", at="other*")
    assert remarks() == []


@pytest.mark.parametrize(("until", "code"), [("2027-06-30", 0), ("2027-06-29", 1)])
def test_it_holds_until_the_end_of_its_day(site: Path, until: str, code: int) -> None:
    declare(line="bgp dampening **", until=until)
    assert nodrop(*GATE).code == code
    said = "the suppression of unknown-line `bgp dampening **` ended on 2027-06-29; its lines are unknown again"
    assert remarks() == ([("expired-suppression", said, 1)] if code else [])
    assert len(declared()) == (0 if code else 2)


def test_no_other_unknown_verdict_can_be_declared(site: Path) -> None:
    Path("build/leaf1/frr.conf").unlink()
    declare(line="bgp dampening **")
    before = {one["rule"] for one in report("--no-suppressions")["unknown"]}
    assert {one["rule"] for one in report()["unknown"]} == before - {"unknown-line"}


@pytest.mark.parametrize(
    "line", ["", " ", "*", "** bgp", "b*gp dampening", "bgp ** dampening", "b" * (MAX_DECLARED_LINE_CHARACTERS + 1)]
)
def test_a_pattern_begins_with_a_word_and_is_bounded(site: Path, line: str) -> None:
    declare(line=line)
    done = nodrop(*GATE)
    assert (done.code, "expected words in at most 200 characters, the first without `*`" in done.err) == (2, True), done


def test_a_declaration_needs_its_reason(site: Path) -> None:
    Path("nodrop.yaml").write_text("harmless:\n- {line: bgp dampening}\n")
    done = nodrop(*GATE)
    assert (done.code, "reason is missing" in done.err) == (2, True), done
