"""The baseline: what was found when it was made is counted and not told, and comes back with other facts."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.engine.baseline import (
    Baseline,
    BaselineEntry,
    digest_finding_facts,
    format_baseline,
    load,
    mark_known_findings,
)
from nodrop.engine.finding import Finding
from nodrop.errors import InputProblems
from nodrop.resources import resource_folder
from support.command import nodrop as called
from support.command import unwatched
from support.report_samples import finding

INTENT = resource_folder("intents") / "two-by-two.yaml"
RULE = "pfc-without-watchdog"
FILE = "nodrop.baseline.yaml"


@pytest.fixture
def site(repository: Path) -> Path:
    """A repository with a build, of which one port has no watchdog, and a configuration that names the baseline."""
    unwatched("Ethernet0")
    Path("nodrop.yaml").write_text(f"baseline: {FILE}\n")
    return repository


def change(path: str, **rows: Any) -> None:
    """Put rows into tables of a leaf1, {} for an empty table's row; None takes a row away."""
    data = json.loads(Path(path).read_text())
    for key, value in rows.items():
        table, _, row = key.partition("__")
        if value is None:
            data[table].pop(row, None)
        else:
            data[table][row] = {**data[table].get(row, {}), **value}
    Path(path).write_text(json.dumps(data, indent=4))


def baseline(*args: str) -> str:
    """What is said when the baseline is written."""
    done = called("baseline", *(args or ("build",)))
    assert (done.code, done.out) == (0, ""), done
    return done.err


def told(*args: str) -> set[tuple[str, str]]:
    done = called("lint", *(args or ("build",)), "--format", "json")
    assert done.code in (0, 1), done
    found = json.loads(done.out)["findings"]
    return {(one["rule"], one["subject"]) for one in found if not one["baselined"] and not one["suppressed"]}


def test_what_is_in_the_baseline_is_counted_and_only_what_is_new_is_told(site: Path) -> None:
    Path("nodrop.yaml").unlink()
    assert baseline() == f"{FILE}: 1 finding of 1 rule (1 new)\n"
    assert told() == {(RULE, "leaf1/Ethernet0")}, "nobody named it"
    assert told("build", "--baseline", FILE) == set()
    Path("nodrop.yaml").write_text(f"baseline: {FILE}\n")
    assert told() == set()
    done = called("lint", "build")
    assert (done.code, done.out.count("\n")) == (0, 2)
    assert done.out.endswith(" rules: 1 in the baseline\n")
    assert f"baseline[{RULE}]: leaf1/Ethernet0\n" in called("lint", "build", "-v").out
    assert told("build", "--no-suppressions") == {(RULE, "leaf1/Ethernet0")}
    unwatched("Ethernet8")
    assert told() == {(RULE, "leaf1/Ethernet8")}
    assert called("lint", "build").code == 1


def test_the_file_has_no_line_and_no_path_and_stays_when_lines_move(site: Path) -> None:
    baseline()
    text = Path(FILE).read_text()
    assert "build" not in text
    head, version, findings, rule, entry = text.rsplit("\n", 5)[0:5]
    assert (version, findings, rule) == ("version: 1", "findings:", f"  {RULE}:")
    assert entry.startswith("    leaf1/Ethernet0: ")
    path = Path("build/leaf1/config_db.json")
    path.write_text("\n\n\n" + path.read_text())
    shutil.move("build", "elsewhere")
    assert told("elsewhere") == set()
    assert baseline("elsewhere") == f"{FILE}: 1 finding of 1 rule\n"
    assert Path(FILE).read_text() == text
    assert head


def test_a_finding_with_other_facts_comes_back(site: Path) -> None:
    def hold(**values: str) -> None:
        change("build/leaf1/config_db.json", PFC_WD__Ethernet16=values)

    hold(detection_time="1500", restoration_time="3000")
    slow = {(rule, subject) for rule, subject in told("build", "--no-suppressions") if rule != RULE}
    assert slow
    baseline()
    assert told() == set()
    hold(detection_time="3000", restoration_time="6000")
    assert told() == slow
    said = baseline()
    assert f"{len(slow)} with other facts" in said
    assert told() == set()
    hold(detection_time="1500", restoration_time="3000")
    assert told() == slow, "a file that knows the worse value does not know the better one"


def test_entries_that_no_longer_occur_are_named_and_kept_until_they_are_pruned(site: Path) -> None:
    baseline()
    before = Path(FILE).read_text()
    row = json.loads(Path("build/leaf1/config_db.json").read_text())["PFC_WD"]["Ethernet16"]
    change("build/leaf1/config_db.json", PFC_WD__Ethernet0=row)
    note = f"note: {FILE}: {RULE} is not found any more at leaf1/Ethernet0; `nodrop baseline --prune` drops that\n"
    assert note in called("lint", "build").out
    assert note not in called("lint", "build/leaf2").out, "leaf1 was not given"
    assert note not in called("lint", "build", "--ignore", RULE).out, "the rule was not run"
    kept = "1 that do not occur any more, kept; --prune drops them"
    assert baseline() == f"{FILE}: 1 finding of 1 rule ({kept})\n"
    assert Path(FILE).read_text() == before
    assert baseline("build/leaf2", "--prune") == f"{FILE}: 1 finding of 1 rule\n"
    assert baseline("build", "--prune") == f"{FILE}: 0 findings of 0 rules (1 that do not occur any more, dropped)\n"
    assert Path(FILE).read_text().endswith("\nversion: 1\nfindings: {}\n")
    assert told() == set()


def test_what_is_found_more_often_than_it_was_is_told_again(site: Path) -> None:
    """A fabric's name is a path, which the file has not; a second fabric with the same fault is new."""
    both = ("pod1", "pod2", "--ignore", "topology")  # what two copies have in common is not the point
    shutil.move("build", "pod1")
    baseline("pod1")
    shutil.copytree("pod1", "pod2")
    found = json.loads(called("lint", *both, "--format", "json").out)
    assert [(one["rule"], one["file"], one["baselined"]) for one in found["findings"]] == [
        (RULE, "pod1/leaf1/config_db.json", False),
        (RULE, "pod2/leaf1/config_db.json", False),
    ]
    assert found["summary"]["baseline"] == 0
    baseline(*both)
    assert Path(FILE).read_text().endswith(" x2\n")
    assert told(*both) == set()
    assert told("pod2") == set()
    baseline("pod1")
    assert told(*both) == set(), "what was not judged is kept"


def test_what_is_suppressed_is_not_in_it_and_its_entry_has_not_ended(site: Path) -> None:
    baseline()
    entry = {"rule": RULE, "at": "leaf1/**", "reason": "a pilot"}
    Path("nodrop.yaml").write_text(json.dumps({"baseline": FILE, "suppress": [entry]}))
    done = called("lint", "build")
    assert done.out.endswith(": 1 suppressed\n")
    assert "any more" not in done.out
    Path(FILE).unlink()
    Path("nodrop.yaml").write_text(json.dumps({"suppress": [entry]}))
    assert baseline() == f"{FILE}: 0 findings of 0 rules\n"


def test_what_validate_finds_is_kept_with_the_rest(site: Path) -> None:
    path = Path("build/leaf1/frr.conf")
    path.write_text(path.read_text().replace(" network 10.0", " !network 10.0"))
    loud = called("validate", "build", "--format", "json", "--no-suppressions")
    rules = {one["rule"] for one in json.loads(loud.out)["findings"] if one["severity"] != "note"}
    if not rules:
        pytest.fail(path.read_text())
    baseline("build", "--routing")
    quiet = json.loads(called("validate", "build", "--format", "json").out)
    assert {one["rule"] for one in quiet["findings"] if not one["baselined"]} == set()
    text = Path(FILE).read_text()
    baseline()
    assert Path(FILE).read_text() == text, "without --routing, entries of its rules stay"


NONE = "no baseline; expected the keys version and findings, as `nodrop baseline` writes them"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", f"1:1: {NONE}"),
        ("- a\n", f"1:1: {NONE}"),
        ("version: 2\nfindings: {}\n", "1:10: version '2'; expected 1"),
        ("version: 1\nfindings: []\nmore: 1\n", "3:7: the key 'more'; expected the keys version and findings"),
        ("version: 1\nfindings:\n  - a\n", "3:3: no mapping; expected keys with values"),
        ("version: 1\nfindings:\n  a: {b: xyz}\n", "3:10: no fingerprint with a digest; expected 32 and 16 hex"),
        ("version: 1\nfindings: &a {b: *a}\n", "2:18: findings.b: the alias '*a' inside its own anchor"),
    ],
)
def test_what_is_no_baseline_is_told_with_its_line(site: Path, text: str, said: str) -> None:
    Path(FILE).write_text(text)
    for done in (called("lint", "build"), called("baseline", "build")):
        assert done.code == 2
        assert f"{FILE}:{said}" in done.err
    assert Path(FILE).read_text() == text


def test_a_baseline_that_is_not_there_is_told(site: Path) -> None:
    done = called("lint", "build")
    assert done.code == 2
    assert f"{FILE}: no such file; expected a baseline (`nodrop baseline PATH` writes one)" in done.err


def test_nothing_is_written_where_not_all_can_be_read(site: Path) -> None:
    baseline()
    before = Path(FILE).read_text()
    Path("build/leaf2/config_db.json").write_text("{")
    done = called("baseline", "build")
    assert done.code == 2
    assert done.err.endswith(f"nothing was written to {FILE}\n")
    assert Path(FILE).read_text() == before


def test_a_former_name_of_a_rule_will_do() -> None:
    one = finding("leaf1/Ethernet0", former=("0" * 32,), fingerprint="1" * 32)
    before = Baseline(
        entries={("0" * 32, digest_finding_facts(one)): BaselineEntry(rule="old-name", subject="leaf1/Ethernet0")}
    )
    (settled,), met = mark_known_findings([one], before)
    assert settled.baselined
    assert met == {("0" * 32, digest_finding_facts(one)): 1}


def test_lines_are_no_facts_that_count() -> None:
    one, other, third = (
        finding("leaf1", facts=facts) for facts in ({"first_line": "3"}, {"first_line": "4"}, {"a": 1})
    )
    assert digest_finding_facts(one) == digest_finding_facts(other) != digest_finding_facts(third)


WORDS = st.text("abcdef0123456789", min_size=32, max_size=32)
SUBJECTS = st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=3).map("/".join)
ENTRIES = st.dictionaries(
    st.tuples(WORDS, WORDS.map(lambda word: word[:16])),
    st.builds(BaselineEntry, rule=st.sampled_from(["a-rule", "b-rule"]), subject=SUBJECTS, times=st.integers(1, 3)),
)


@given(ENTRIES)
def test_a_baseline_is_read_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, entries: Any) -> None:
    path = tmp_path_factory.mktemp("b") / FILE
    text = format_baseline(Baseline(entries=entries))
    path.write_bytes(text.encode())
    read = load(path).entries
    assert {key: (one.rule, one.times) for key, one in read.items()} == {
        key: (one.rule, one.times) for key, one in entries.items()
    }
    assert format_baseline(Baseline(entries=read)) == text


@given(st.lists(st.sampled_from(["leaf1", "leaf2", "leaf1/Ethernet0"])), ENTRIES)
def test_settling_marks_and_neither_adds_nor_drops(subjects: list[str], entries: Any) -> None:
    findings: list[Finding] = [finding(one, fingerprint=f"{number:032x}") for number, one in enumerate(subjects)]
    known = {
        (one.fingerprint, digest_finding_facts(one)): BaselineEntry(rule=one.rule, subject="x") for one in findings[::2]
    }
    settled, _ = mark_known_findings(findings, Baseline(entries={**entries, **known}))
    assert [one.fingerprint for one in settled] == [one.fingerprint for one in findings]
    assert [one.baselined for one in settled] == [number % 2 == 0 for number in range(len(findings))]


def test_a_file_that_cannot_be_read_names_itself(tmp_path: Path) -> None:
    with pytest.raises(InputProblems, match="expected a regular file"):
        load(tmp_path)
