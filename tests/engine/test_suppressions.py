"""Suppressions: what they hide, in nodrop.yaml and as comments, and what is told of those that hide nothing."""

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from nodrop.resources import resource_folder
from support.command import nodrop as called
from support.command import unwatched

INTENT = resource_folder("intents") / "two-by-two.yaml"
RULE = "pfc-without-watchdog"


@pytest.fixture
def site(repository: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a build of which two ports have no watchdog, on a known day."""
    unwatched("Ethernet0", "Ethernet8")
    monkeypatch.setenv("NODROP_TODAY", "2027-06-30")
    return repository


def suppress(*entries: dict[str, str]) -> None:
    Path("nodrop.yaml").write_text(json.dumps({"suppress": entries}))


def report(*args: str) -> Any:
    done = called("lint", *(args or ("build",)), "--format", "json")
    assert done.code in (0, 1), done
    return json.loads(done.out)


def told(*args: str) -> set[tuple[str, str]]:
    """Rule and subject of what is neither suppressed nor in the baseline."""
    return {(one["rule"], one["subject"]) for one in report(*args)["findings"] if one["suppressed"] is None}


def hidden(*args: str) -> set[tuple[str, str, str]]:
    """Subject, reason and place of what is suppressed."""
    found = (one for one in report(*args)["findings"] if one["suppressed"])
    return {(one["subject"], one["suppressed"]["reason"], one["suppressed"]["location"]) for one in found}


BOTH = {(RULE, "leaf1/Ethernet0"), (RULE, "leaf1/Ethernet8")}


def test_a_suppression_hides_its_subjects_and_no_others(site: Path) -> None:
    assert told() == BOTH
    suppress({"rule": RULE, "at": "leaf1/Ethernet0", "reason": "a pilot"})
    assert told() == {(RULE, "leaf1/Ethernet8")}
    assert hidden() == {("leaf1/Ethernet0", "a pilot", "nodrop.yaml:1")}
    suppress({"rule": RULE, "at": "leaf*/Ethernet*", "reason": "a pilot"})
    assert told() == set()
    assert called("lint", "build").code == 0
    assert told("build", "--no-suppressions") == BOTH
    assert called("lint", "build", "--no-suppressions").code == 1
    assert told("build", "--no-config") == BOTH


def test_the_totals_count_what_is_hidden(site: Path) -> None:
    suppress({"rule": RULE, "at": "leaf1/**", "reason": "a pilot", "until": "2027-06-30"})
    done = called("lint", "build")
    skipped, totals = done.out.splitlines()
    assert " rules skipped: " in skipped
    assert totals.startswith("no findings in 4 devices")
    assert done.out.endswith(": 2 suppressed\n")
    assert report()["summary"] | {"rules": 0} == {
        "devices": 4, "interfaces": 128, "rules": 0, "error": 0, "warning": 0, "note": 0, "causes": 0,
        "unknown": 0, "suppressed": 2, "baseline": 0, "evpn_not_computed": 0, "leaks_not_computed": 0,
        "declared_harmless": 0,
    }  # fmt: skip
    shown = called("lint", "build", "-v").out
    assert f"suppressed[{RULE}]: leaf1/Ethernet[0-8 by 8]: a pilot (nodrop.yaml:1, until 2027-06-30)\n" in shown or (
        f"suppressed[{RULE}]: leaf1/Ethernet0, leaf1/Ethernet8: a pilot (nodrop.yaml:1, until 2027-06-30)\n" in shown
    )


def test_the_first_of_several_counts_and_none_of_them_is_unused(site: Path) -> None:
    entry = {"rule": RULE, "at": "leaf1/**", "reason": "first"}
    suppress(entry, {**entry, "reason": "second"})
    assert told() == set()
    assert {reason for _, reason, _ in hidden()} == {"first"}


def test_an_ended_one_is_told_with_its_day_and_hides_nothing(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suppress({"rule": RULE, "at": "leaf1/**", "reason": "a pilot", "until": "2027-06-30"})
    assert told() == set(), "its last day counts"
    monkeypatch.setenv("NODROP_TODAY", "2027-07-01")
    assert told() == BOTH | {("expired-suppression", f"@fabric/suppressions/{RULE}/leaf1%2F**")}
    message = next(one["message"] for one in report()["findings"] if one["rule"] == "expired-suppression")
    assert message == (
        f"the suppression of {RULE} at leaf1/** ended on 2027-06-30; the 2 findings that it hid are back"
    )
    monkeypatch.setenv("NODROP_TODAY", "tomorrow")
    done = called("lint", "build")
    assert done.code == 2
    assert done.out.startswith("error: NODROP_TODAY: 'tomorrow'; expected a day, such as 2027-06-30\n")


def unused() -> set[str]:
    return {subject for rule, subject in told() if rule == "unused-suppression"}


def test_an_unused_one_is_told_where_its_rule_was_run_on_what_it_covers(site: Path) -> None:
    suppress({"rule": RULE, "at": "leaf2/**", "reason": "a pilot"})
    assert unused() == {f"@fabric/suppressions/{RULE}/leaf2%2F**"}
    suppress({"rule": RULE, "at": "leaf9/**", "reason": "not given"})
    assert unused() == set()
    suppress({"rule": "hosts-lost-by-one-failure", "at": "**", "reason": "is `nodrop validate`'s"})
    assert {rule for rule, _ in told()} == {RULE}
    validated = called("validate", "build", "--format", "json")
    assert "unused-suppression" in {one["rule"] for one in json.loads(validated.out)["findings"]}
    suppress({"rule": RULE, "at": "leaf2/**", "reason": "a pilot"})
    hygiene = {rule for rule, _ in told("build", "--select", "hygiene")}
    assert hygiene == set(), "its rule was not run"


def test_an_unused_one_is_not_told_where_its_rule_is_off(site: Path) -> None:
    entry = {"rule": RULE, "at": "leaf2/**", "reason": "a pilot"}
    Path("nodrop.yaml").write_text(json.dumps({"suppress": [entry], "severity": {RULE: "off"}}))
    assert told() == set()


def test_one_that_is_too_narrow_is_told_what_would_fit(site: Path) -> None:
    suppress({"rule": RULE, "at": "leaf1", "reason": "a pilot"})
    (message,) = (one["message"] for one in report()["findings"] if one["rule"] == "unused-suppression")
    assert message == (
        f"there is no {RULE} at leaf1: the suppression hides nothing (leaf1/** would cover what is below it)"
    )


def test_findings_about_suppressions_have_their_place_and_severity(site: Path) -> None:
    text = f"suppress:\n  - rule: {RULE}x\n    at: '**'\n    reason: a pilot\n"
    Path("nodrop.yaml").write_text(f"{text}severity: {{unknown-rule-in-suppression: error}}\n")
    (found,) = (one for one in report()["findings"] if one["rule"] == "unknown-rule-in-suppression")
    assert (found["severity"], found["file"], found["line"], found["column"], found["end_column"]) == (
        "error", "nodrop.yaml", 2, 11, 32,
    )  # fmt: skip
    assert found["message"] == (f"no rule {RULE}x exists (did you mean `{RULE}`?): the suppression at ** hides nothing")
    assert f"2 |   - rule: {RULE}x\n" in called("lint", "build").out


def test_one_of_several_fabrics_is_enough_for_a_suppression(site: Path) -> None:
    shutil.move("build", "pod1")
    shutil.copytree("pod1", "pod2")
    path = Path("pod2/leaf1/config_db.json")
    rows = json.loads(path.read_text())
    rows["PFC_WD"]["Ethernet0"] = rows["PFC_WD"]["Ethernet16"]
    path.write_text(json.dumps(rows, indent=4))
    suppress({"rule": RULE, "at": "leaf1/Ethernet0", "reason": "a pilot"})
    found = report("pod1", "pod2", "--ignore", "topology")
    assert found["summary"]["suppressed"] == 1
    assert {(one["rule"], one["file"]) for one in found["findings"] if one["suppressed"] is None} == {
        (RULE, "pod1/leaf1/config_db.json"),
        (RULE, "pod2/leaf1/config_db.json"),
    }
    suppress({"rule": RULE, "at": "leaf1/Ethernet16", "reason": "a pilot"})
    assert [rule for rule, _ in told("pod1", "pod2", "--ignore", "topology") if rule != RULE] == [
        "unused-suppression"
    ], "told once"


def comment(text: str) -> list[tuple[str, str, int]]:
    """What is told of an intent whose RDMA class marks too early, with a text above that class, in line 15."""
    early = INTENT.read_text().replace("min: 150kB, max: 1500kB", "min: 1kB, max: 2kB")
    Path("site.yaml").write_text(early.replace("  rdma: ", f"{text}  rdma: "))
    found = report("site.yaml")["findings"]
    return [(one["rule"], one["subject"], one["line"]) for one in found if not one["suppressed"]]


def test_a_comment_in_an_intent_covers_what_its_key_decides(site: Path) -> None:
    plain = comment("")
    assert plain
    rules = {rule for rule, _, _ in plain}
    names = ", ".join(sorted(rules))
    assert comment(f"  # nodrop: allow[{names}] until 2027-06-30: a test\n") == []
    found = report("site.yaml")["findings"]
    assert {one["suppressed"]["location"] for one in found} == {"site.yaml:15"}
    assert len(found) == len(plain)
    built = called("build", "site.yaml", "-o", "out")
    assert built.code == 0, built
    assert f"{len(plain)} suppressed" in built.out


def test_a_comment_that_says_something_else_in_an_intent_is_told_there(site: Path) -> None:
    told = comment("  # nodrop: alow[ecn-never-marks]: a test\n")
    assert ("malformed-suppression", "@fabric/suppressions", 15) in told
    assert "15 |   # nodrop: alow[ecn-never-marks]: a test\n" in called("lint", "site.yaml").out
    told = comment("  # nodrop: allow[pfc-without-watchdog]: a test\n")
    assert ("unused-suppression", f"@fabric/suppressions/{RULE}", 15) in told


@pytest.mark.parametrize(
    "text",
    [
        '[[tool.nodrop.suppress]]\nrule = "a"\nat = "**"\nreason = "x"\n'
        '[[tool.nodrop.suppress]]\nrule = "b"\nat = "**"\nreason = "x"\n',
        '[tool.nodrop]\nsuppress = [\n  {rule = "a", at = "**", reason = "x"},\n\n'
        '  {at = "**", rule = "b", reason = "x"},\n]\n',
    ],
)
def test_suppressions_of_a_pyproject_know_their_lines(site: Path, text: str) -> None:
    Path("pyproject.toml").write_text(text)
    found = [one for one in report()["findings"] if one["rule"] == "unknown-rule-in-suppression"]
    lines = text.split("\n")
    assert [lines[one["line"] - 1][one["column"] - 1 :][:4] for one in found] == ["rule", "rule"]
    assert [f'"{name}"' in lines[one["line"] - 1] for name, one in zip("ab", found, strict=True)] == [True, True]


def test_what_is_kept_of_a_run_knows_its_days(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(site / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(site / "state"))
    path = Path("build/leaf1/frr.conf")
    allowed = f"! nodrop: allow[{RULE}, malformed-value] until 2027-06-30: a pilot\nrouter bgp"
    path.write_text(path.read_text().replace("router bgp", allowed))
    suppress({"rule": RULE, "at": "leaf1/Ethernet0", "reason": "a pilot"})
    cold, warm = called("lint", "build", "-v"), called("lint", "build", "-v")
    assert "unused-suppression" in cold.out
    assert warm == cold
    monkeypatch.setenv("NODROP_TODAY", "2027-07-01")
    after = {rule for rule, _ in told()}
    assert after == {RULE, "expired-suppression"}
    assert {rule for rule, _ in told("build", "--no-cache")} == after
    monkeypatch.setenv("NODROP_TODAY", "2027-06-30")
    assert called("lint", "build", "-v") == cold


FILES = {
    "onyx.txt": "## Hostname: leaf1\ninterface ethernet 1/1 mtu 9216\n# {}\ndcb priority-flow-control enable force\n",
    "nclu.txt": "net add hostname leaf1\n# {}\nnet add interface swp1 mtu 9216\n",
    "leaf1.yaml": "- set:\n    # {}\n    interface:\n      swp1: {{link: {{mtu: 9216}}}}\n",
    "leaf1.nv.txt": "nv set system hostname leaf1\n# {}\nnv set interface swp1 link mtu 9216\n",
    "leaf1/interfaces": "auto swp1\niface swp1\n    mtu 9216\n# {}\nauto swp2\niface swp2\n    mtu 9216\n",
    "hosts/gpu1.sh": "#!/bin/sh\n# {}\nmlnx_qos -i eth0 --trust dscp\n",
}


@pytest.mark.parametrize("name", FILES)
def test_comments_of_every_kind_of_file_are_heard_and_are_nothing_else(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(FILES[name].format("a comment"))
    before = told(str(path))
    path.write_text(FILES[name].format("nodrop: alow[x]: y"))
    found = [one for one in report(str(path))["findings"] if one["rule"] == "malformed-suppression"]
    line = FILES[name].split("{}")[0].count("\n") + 1
    assert [(one["file"], one["line"]) for one in found] == [(str(path), line)]
    assert {one for one in told(str(path)) if one[0] != "malformed-suppression"} == before


def test_reasons_reach_no_report_as_they_stand(site: Path) -> None:
    """What would end an annotation, an element or a line, or steer a terminal, is escaped."""
    path = Path("build/leaf1/frr.conf")
    hostile = "]]> <b> ::error::x %0A \x1b[31m \u202e"
    rule = "graceful-restart-off"
    allowed = f"! nodrop: allow[odd-name, {rule}]: {hostile}\nrouter bgp"
    path.write_text(path.read_text().replace("router bgp", allowed))
    suppress({"rule": RULE, "at": "leaf1/**", "reason": "]]> <b> ::error::x %0A"})
    formats = ("text", "concise", "json", "sarif", "junit", "github", "gitlab")
    said = {name: called("lint", "build", "-v", "--format", name).out for name in formats}
    assert "\x1b" not in "".join(said.values())
    assert "\u202e" not in "".join(said.values())
    assert not [line for line in said["github"].splitlines() if line.startswith("::error")]
    (skipped,) = ElementTree.fromstring(said["junit"]).iter("skipped")
    assert skipped.attrib == {"message": "]]> <b> ::error::x %0A"}
    results = json.loads(said["sarif"])["runs"][0]["results"]
    shut = [one["suppressions"] for one in results if "suppressions" in one]
    assert [(one["kind"], one["justification"], one["properties"]) for (one,) in shut] == [
        ("external", "]]> <b> ::error::x %0A", {"location": "nodrop.yaml:1"})
    ] * 2
    assert RULE not in said["github"] + said["gitlab"] + said["concise"].replace(f"allow[{RULE}", "")
