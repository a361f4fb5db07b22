"""A site's own rules: what is wrong with their files, and whether they find what their examples say."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from nodrop.engine.areas import rule_area_names
from nodrop.engine.mutants import mutants_of
from nodrop.engine.rules import shipped_rules
from nodrop.engine.site_rules import load_rules_with_shipped, load_site_rules
from nodrop.errors import InputProblems
from nodrop.resources import resource_folder
from support.command import Done, built, nodrop

RULE = """\
severity: warning
scope: interface
when: interface.enabled is in_use and interface.mtu_bytes
assert: interface.mtu_bytes >= options.mtu_bytes
message: "{{ interface.name }} has an MTU of {{ interface.mtu_bytes | bytes }}"
why: storage mounts expect it
fix: set it
options:
  mtu_bytes: {default: 9100, description: the site's MTU}
references: [handbook]
since: "2026"
examples:
  bad:
    - model: {leaf1/Ethernet0/mtu_bytes: 1500}
      at: [leaf1/Ethernet0]
  good:
    - model: {}
"""


@pytest.fixture(autouse=True)
def in_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str = RULE, *changes: tuple[str, str]) -> None:
    """Write a rule below `ours`, with texts replaced that must be there."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    path = Path("ours") / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def refused(*folders: str) -> list[str]:
    """Return what is wrong with the rules of folders."""
    with pytest.raises(InputProblems) as error:
        load_site_rules([Path(folder) for folder in folders or ("ours",)])
    return [str(problem) for problem in error.value.problems]


def test_own_rules_stand_among_the_shipped_ones() -> None:
    write("links/site-mtu")
    (own,) = load_site_rules([Path("ours"), Path("./ours")])
    assert (own.name, own.area, own.path) == ("site-mtu", "links", "ours/links/site-mtu.yaml")
    every = [rule.name for rule in load_rules_with_shipped([Path("ours")])]
    assert every == sorted([*(rule.name for rule in shipped_rules()), "site-mtu"])
    assert load_rules_with_shipped([]) is shipped_rules()


ANALYSIS = (
    ("assert: interface.mtu_bytes >= options.mtu_bytes\n", "analysis: cable_lengths\n"),
    ("when: interface.enabled is in_use and interface.mtu_bytes\n", "facts: [a]\n"),
    ('"{{ interface.name }} has an MTU of {{ interface.mtu_bytes | bytes }}"', "'{{ facts.a }}'"),
)


@pytest.mark.parametrize(
    ("name", "changes", "told"),
    [
        (
            "links/mtu-mismatch",
            (),
            "ours/links/mtu-mismatch.yaml:1:1: a rule `mtu-mismatch`, as the shipped rules/links/mtu-mismatch.yaml; "
            "expected an unused name (to be without the shipped one, leave it out: `--ignore mtu-mismatch`)",
        ),
        (
            "links/site-mtu",
            (('since: "2026"', 'since: "2026"\naliases: [old-mtu, pfc-one-sided]'),),
            "ours/links/site-mtu.yaml:12:20: aliases.1: a rule `pfc-one-sided`, as the shipped "
            "rules/pfc/pfc-one-sided.yaml; expected an unused name "
            "(to be without the shipped one, leave it out: `--ignore pfc-one-sided`)",
        ),
        (
            "links/site-mtu",
            (
                ("and interface.mtu_bytes", "and interface.mtu_bytes and interface.mtu_bytes > 9200"),
                ("interface.mtu_bytes >= options.mtu_bytes", "interface.mtu_bytes >= 9100"),
                ("bytes | bytes }}", "bytes | bytes }}, not {{ options.mtu_bytes }}"),
            ),
            "ours/links/site-mtu.yaml:4:1: assert: the rule can never apply: `interface.mtu_bytes > 9200` and "
            "`not (interface.mtu_bytes >= 9100)` are never all true; expected what a fabric can have",
        ),
        (
            "links/site-mtu",
            (
                ("scope: interface", "scope: interface\nmodes: [lossy]"),
                ("when: interface", "when: fabric.mode == 'trim' and interface"),
            ),
            "ours/links/site-mtu.yaml:4:1: when: the rule can never apply: `fabric.mode == 'trim'` is never true; "
            "expected what a fabric can have, in the modes lossy",
        ),
        (
            "links/site-mtu",
            (("interface.enabled", "interface.enabeld"),),
            "ours/links/site-mtu.yaml:3:17: when: Interface has no `enabeld` (did you mean `enabled`?)",
        ),
        (
            "links/site-mtu",
            (("options.mtu_bytes", "9100"),),
            "ours/links/site-mtu.yaml:9:3: options.mtu_bytes: an option that nothing reads; "
            "expected `options.mtu_bytes`",
        ),
        (
            "links/site-mtu",
            (("scope: interface", "scope: interface\nstated: interface.enabled"),),
            "ours/links/site-mtu.yaml:3:9: stated: one key of two; expected stated and severity_if_stated, or neither",
        ),
        (
            "links/site-mtu",
            (("scope: interface", "scope: interface\nseverity_if_stated: note"),),
            "ours/links/site-mtu.yaml:3:21: severity_if_stated: one key of two; "
            "expected stated and severity_if_stated, or neither",
        ),
        (
            "links/site-mtu",
            (("scope: interface", "scope: interface\nseverity_if_assumed: note"),),
            "ours/links/site-mtu.yaml:1:1: one key of two; expected severity_if_assumed and assumed, or neither",
        ),
        (
            "links/site-mtu",
            (("scope: interface", "scope: interface\nbecause: no file says more"),),
            "ours/links/site-mtu.yaml:1:1: because with confidence certain; "
            "expected it left out, or confidence likely or possible",
        ),
        (
            "lniks/site-mtu",
            (),
            "ours/lniks/site-mtu.yaml: no area `lniks` (did you mean `links`?)",
        ),
        (
            "links/site-mtu",
            (*ANALYSIS[1:], ("assert: interface.mtu_bytes >= options.mtu_bytes", "remark: unknown-tabel")),
            "ours/links/site-mtu.yaml:4:1: remark: no remark `unknown-tabel` (did you mean `unknown-table`?)",
        ),
    ],
)
def test_what_is_wrong_with_a_rule_is_told_with_its_line(
    name: str, changes: tuple[tuple[str, str], ...], told: str
) -> None:
    write(name, RULE, *changes)
    assert told in refused()


LINKS = """\
severity: warning
scope: link
analysis: ends
with: {what: speed}
facts: [link, speed_a, speed_b]
message: "the ends of {{ facts.link }} differ"
why: they do
fix: mend them
references: [handbook]
since: "2026"
examples:
  bad:
    - model: {leaf1/Ethernet224/speed_mbps: 100000}
      at: ["@fabric/links/leaf1:Ethernet224--spine1:Ethernet0"]
  good:
    - model: {}
"""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("with: {what: speed}\n", "", ":1:1: with: `ends` without `what`; expected the key with.what"),
        ("what: speed", "what: sped", ":4:8: with.what: `sped` (did you mean `speed`?)"),
        ("what: speed", "what: 7", ":4:8: with.what: a number; expected text"),
        ("what: speed", "whit: speed", ":4:8: with.whit: no parameter `whit` (did you mean `what`?)"),
        ("speed_b]", "sped_b]", ":5:1: facts: `ends` brings no fact `sped_b` (did you mean `speed_b`?)"),
    ],
)
def test_facts_and_arguments_are_those_of_the_analysis(old: str, new: str, told: str) -> None:
    write("links/site-speed", LINKS)
    assert [rule.name for rule in load_site_rules([Path("ours")])] == ["site-speed"]
    write("links/site-speed", LINKS, (old, new))
    assert refused() == [f"ours/links/site-speed.yaml{told}"]


def test_two_own_rules_of_one_name_are_told_with_both_places() -> None:
    write("links/site-mtu")
    write("pfc/site-mtu")
    assert refused() == ["ours/pfc/site-mtu.yaml:1:1: a second rule `site-mtu` (first in ours/links/site-mtu.yaml)"]


def test_a_folder_that_has_no_effect_is_told() -> None:
    write("links/site-mtu")
    Path("empty").mkdir()
    assert refused("empty") == ["empty: no rule in it; expected files folder/area/name.yaml"]
    assert refused("none") == ["none: no such folder; expected a folder of rules"]
    assert refused("ours/links/site-mtu.yaml") == ["ours/links/site-mtu.yaml: a file; expected a folder of rules"]
    assert refused("ours/links") == [
        "ours/links/site-mtu.yaml: a rule in no area; expected folder/area/name.yaml (give the folder that links is in)"
    ]


def test_rules_that_find_what_their_examples_say_pass() -> None:
    write("links/site-mtu")
    done = nodrop("test-rules", "ours")
    assert (done.code, done.err) == (0, "")
    assert done.out == "ok    links/site-mtu  1 bad, 1 good on sonic and nvue\n1 rule: 1 ok, 0 failed\n"


def test_a_file_is_one_rule() -> None:
    write("links/site-mtu")
    write("links/other-mtu", RULE, ("at: [leaf1/Ethernet0]", "at: [leaf1/Ethernet8]"))
    done = nodrop("test-rules", "ours/links/site-mtu.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out == "ok    links/site-mtu  1 bad, 1 good on sonic and nvue\n1 rule: 1 ok, 0 failed\n"
    done = nodrop("test-rules", "ours/links/other-mtu.yaml", "--mutants")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        "FAIL  links/other-mtu  1 bad, 1 good, 8 changes on sonic and nvue",
        "  ours/links/other-mtu.yaml:14:7: bad[0] on sonic and nvue: no finding at leaf1/Ethernet8",
        "  ours/links/other-mtu.yaml:14:7: bad[0] on sonic and nvue: a finding at leaf1/Ethernet0",
        "1 rule: 0 ok, 1 failed",
    ]


def test_a_file_that_is_named_more_than_once_is_tested_once(monkeypatch: pytest.MonkeyPatch) -> None:
    write("links/site-mtu")
    assert nodrop("test-rules", "ours", "ours/links/site-mtu.yaml").out.endswith("1 rule: 1 ok, 0 failed\n")
    monkeypatch.chdir("ours/links")
    assert nodrop("test-rules", "site-mtu.yaml", "../links/site-mtu.yaml").out == (
        "ok    links/site-mtu  1 bad, 1 good on sonic and nvue\n1 rule: 1 ok, 0 failed\n"
    )


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("ours/links/none.yaml", "ours/links/none.yaml: no such file or directory; expected a readable file"),
        ("ours/none", "ours/none: no such folder; expected a folder of rules"),
        ("ours/links/site-mtu.yml", "ours/links/site-mtu.yml: a file called `site-mtu.yml`; expected the ending .yaml"),
        ("site-mtu.yaml", "site-mtu.yaml: no area `{here}` (known: {areas})"),
        (
            "ours/links/mtu-mismatch.yaml",
            "ours/links/mtu-mismatch.yaml:1:1: a rule `mtu-mismatch`, as the shipped rules/links/mtu-mismatch.yaml; "
            "expected an unused name (to be without the shipped one, leave it out: `--ignore mtu-mismatch`)",
        ),
    ],
)
def test_a_file_that_is_no_rule_is_reported(path: str, told: str, tmp_path: Path) -> None:
    write("links/mtu-mismatch")
    Path("ours/links/site-mtu.yml").write_text(RULE)
    Path("site-mtu.yaml").write_text(RULE)
    done = nodrop("test-rules", path)
    assert (done.code, done.out) == (2, "")
    known = ", ".join(sorted(rule_area_names()))
    assert done.err == f"error: {told.format(here=tmp_path.name, areas=known)}\n"


@pytest.mark.slow
def test_shipped_rules_are_tested_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(resource_folder("rules").parent)
    name = "telemetry/counters-not-exported"
    (rule,) = (one for one in shipped_rules() if f"{one.area}/{one.name}" == name)
    kinds = [example.kind for example in rule.examples]
    counts = f"{kinds.count('bad')} bad, {kinds.count('good')} good"
    ok = f"ok    {name}  {counts} on sonic and nvue\n1 rule: 1 ok, 0 failed\n"
    assert nodrop("test-rules", f"rules/{name}.yaml") == Done(0, ok, "")
    assert nodrop("test-rules", "rules", "--select", rule.name) == Done(0, ok, "")
    with_changes = ok.replace(counts, f"{counts}, {len(mutants_of(rule))} changes")
    assert nodrop("test-rules", f"rules/{name}.yaml", "--mutants") == Done(0, with_changes, "")
    assert nodrop("lint", "--rules", "rules", "intents/two-by-two.yaml").code == 2, "they are shipped already"


def test_an_example_that_says_otherwise_fails_at_its_line() -> None:
    write("links/site-mtu", RULE, ("at: [leaf1/Ethernet0]", "at: [leaf1/Ethernet8]"))
    write("links/other-mtu", RULE, ("model: {}", "model: {spine1/Ethernet0/mtu_bytes: 9000}"))
    done = nodrop("test-rules", "ours")
    assert done.code == 1
    assert done.out.splitlines() == [
        "FAIL  links/other-mtu  1 bad, 1 good on sonic and nvue",
        "  ours/links/other-mtu.yaml:17:7: good[0] on sonic and nvue: a finding at spine1/Ethernet0",
        "FAIL  links/site-mtu   1 bad, 1 good on sonic and nvue",
        "  ours/links/site-mtu.yaml:14:7: bad[0] on sonic and nvue: no finding at leaf1/Ethernet8",
        "  ours/links/site-mtu.yaml:14:7: bad[0] on sonic and nvue: a finding at leaf1/Ethernet0",
        "2 rules: 0 ok, 2 failed",
    ]
    assert nodrop("test-rules", "ours", "--select", "links").code == 1
    assert nodrop("test-rules", "ours", "--select", "site-mut").code == 2


def test_an_example_that_fits_no_fabric_fails_with_the_nearest_word() -> None:
    write("links/site-mtu", RULE, ("leaf1/Ethernet0/mtu_bytes", "leaf1/Ethernet0/mtu_byte"))
    write("links/other-mtu", RULE, ("model: {}", "intent: {classes: {rdma: {dscp: 99}}}"))
    done = nodrop("test-rules", "ours")
    assert done.code == 1
    assert (
        "site-mtu.yaml:14:7: bad[0] on sonic and nvue: leaf1/Ethernet0/mtu_byte: Interface has no `mtu_byte`"
        in done.out
    )
    assert (
        "other-mtu.yaml:17:7: good[0]: no platform can say it: sonic: two-by-two.yaml: classes.rdma.dscp: " in done.out
    )


def test_what_a_platform_cannot_say_is_told_and_is_no_fault() -> None:
    change = "model: {leaf1/Ethernet0/mtu_bytes: 1500, leaf1/@watchdog_polling_ms: 150}"
    write("links/site-mtu", RULE, ("model: {leaf1/Ethernet0/mtu_bytes: 1500}", change))
    done = nodrop("test-rules", "ours")
    assert done.code == 0, done.out
    assert "  bad[0]: nvue cannot express it: " in done.out
    assert "1 bad, 1 good on sonic\n" in done.out


def test_a_platform_that_is_said_not_to_have_the_fault_but_has_it_fails() -> None:
    write("links/site-mtu", RULE, ('since: "2026"', 'since: "2026"\nunseen: {nvue: "it has no MTU"}'))
    done = nodrop("test-rules", "ours")
    assert done.code == 1
    assert "site-mtu.yaml:12:10: unseen.nvue on nvue: nvue can say a bad example, and so have the fault" in done.out


def test_conditions_that_no_example_pins_fail_where_that_is_asked_for() -> None:
    write("links/site-mtu")
    assert nodrop("test-rules", "ours").code == 0
    done = nodrop("test-rules", "ours", "--mutants")
    assert done.code == 1
    assert done.out.splitlines()[:2] == [
        "FAIL  links/site-mtu  1 bad, 1 good, 8 changes on sonic and nvue",
        "  ours/links/site-mtu.yaml:3:7: when: no example notices the change "
        "interface.enabled is in_use and interface.mtu_bytes -> true",
    ]
    port = "leaf1/Ethernet8"
    pinned = f"model: {{{port}/mtu_bytes: 1500, {port}/enabled: false, leaf1/Ethernet0/mtu_bytes: 9100}}"
    write(
        "links/site-mtu",
        RULE,
        ("model: {}", pinned),
        ("when: interface.enabled is in_use and interface.mtu_bytes", "when: interface.enabled is in_use"),
        ("assert: ", "assert: not interface.mtu_bytes or "),
    )
    unpinned = nodrop("test-rules", "ours", "--mutants").out
    assert "in_use -> true" not in unpinned
    assert ">= options.mtu_bytes -> interface.mtu_bytes > options.mtu_bytes" not in unpinned


def test_other_programs_read_the_results() -> None:
    write("links/site-mtu", RULE, ("at: [leaf1/Ethernet0]", "at: [leaf1/<x>]"))
    write("links/other-mtu")
    document = json.loads(nodrop("test-rules", "ours", "--format", "json").out)
    assert document["summary"] == {"rules": 2, "passed": 1, "failed": 1}
    assert [(one["name"], one["passed"], one["platforms"]) for one in document["rules"]] == [
        ("other-mtu", True, ["sonic", "nvue"]),
        ("site-mtu", False, ["sonic", "nvue"]),
    ]
    assert document["rules"][1]["faults"][0] == {
        "at": "bad[0]",
        "line": 14,
        "column": 7,
        "platforms": ["sonic", "nvue"],
        "message": "no finding at leaf1/<x>",
    }
    done = nodrop("test-rules", "ours", "--format", "junit")
    assert done.code == 1
    suite = ET.fromstring(done.out).find("testsuite")
    assert suite is not None
    assert {case.get("name"): case.find("failure") is not None for case in suite} == {
        "other-mtu": False,
        "site-mtu": True,
    }


def test_a_rule_that_cannot_be_loaded_is_exit_code_2() -> None:
    write("links/site-mtu", RULE, ("severity: warning", "severity: wrning"))
    done = nodrop("test-rules", "ours")
    assert (done.code, done.out) == (2, "")
    assert "ours/links/site-mtu.yaml:1:11: severity: `wrning`" in done.err
    assert nodrop("test-rules", "nowhere").code == 2


def listed(*options: str) -> dict[str, dict[str, Any]]:
    """Return what `nodrop rules` says of each rule."""
    return {each["name"]: each for each in json.loads(nodrop("rules", "--format", "json", *options).out)["rules"]}


def test_the_list_says_what_is_on_and_why_not() -> None:
    write("links/site-mtu")
    plain = listed()
    assert list(plain) == [rule.name for rule in shipped_rules()]
    off = {name: each["disabled_reason"] for name, each in plain.items() if not each["enabled"]}
    assert set(off.values()) == {
        "strictness pedantic",
        "strictness auditor",
        "only possible, so strictness pedantic",
    }
    assert {name for name, why in off.items() if why == "strictness auditor"} == {
        rule.name for rule in shipped_rules() if rule.strictness == "auditor"
    }
    assert all(each["enabled"] for each in listed("--strictness", "auditor").values())
    chosen = listed("--select", "links,pfc-one-sided", "--ignore", "mtu-mismatch", "--rules", "ours")
    assert {name for name, each in chosen.items() if each["disabled_reason"] != "not selected"} == {
        "pfc-one-sided",
        "site-mtu",
        *(rule.name for rule in shipped_rules() if rule.area == "links"),
    }
    assert chosen["mtu-mismatch"]["disabled_reason"] == "ignored"
    assert chosen["site-mtu"] == plain["mtu-mismatch"] | {
        "name": "site-mtu",
        "platforms": ["nvue", "sonic"],
        "severity": "warning",
        "default_severity": "warning",
        "scope": "interface",
        "fixable": "no",
        "summary": "[port] has an MTU of [mtu bytes]",
        "why": "storage mounts expect it",
        "fix": "set it",
        "references": ["handbook"],
        "since": "2026",
        "options": {"mtu_bytes": {"type": "a number", "default": 9100, "value": 9100, "description": "the site's MTU"}},
        "file": "ours/links/site-mtu.yaml",
        "shipped": False,
    }
    assert (plain["mtu-mismatch"]["file"], plain["mtu-mismatch"]["shipped"]) == ("rules/links/mtu-mismatch.yaml", True)


def test_the_list_is_that_of_the_configuration() -> None:
    write("links/site-mtu")
    Path("nodrop.yaml").write_text(
        "rules: [ours]\nseverity: {site-mtu: error, mtu-mismatch: 'off'}\noptions: {site-mtu: {mtu_bytes: 9000}}\n"
    )
    here = listed()
    assert (here["site-mtu"]["severity"], here["site-mtu"]["default_severity"]) == ("error", "warning")
    assert here["site-mtu"]["options"]["mtu_bytes"]["value"] == 9000
    assert here["mtu-mismatch"]["disabled_reason"] == "severity off in nodrop.yaml"
    assert "site-mtu" not in listed("--no-config")
    lines = nodrop("rules", "--select", "site-mtu,mtu-mismatch").out.splitlines()
    assert lines[:2] == ["2 rules in 1 area: 1 on (1 error)", "1 off: 1 severity off in nodrop.yaml"]
    assert lines[4] == "links"
    assert lines[5].startswith("  mtu-mismatch  off      (severity off in nodrop.yaml) ")
    assert lines[6].startswith("  site-mtu      error    ")
    table = nodrop("rules", "--select", "site-mtu,mtu-mismatch", "--format", "markdown").out.splitlines()
    assert table[2].startswith("| `mtu-mismatch` | links | off: severity off in nodrop.yaml | all | ")
    assert table[3:] == ["| `site-mtu` | links | error | all | storage mounts expect it. |"]
    done = nodrop("test-rules")
    assert (done.code, done.out.splitlines()[-1]) == (0, "1 rule: 1 ok, 0 failed")


def test_own_rules_judge_beside_the_shipped_ones_in_every_report() -> None:
    write("links/site-mtu")
    built(resource_folder("intents") / "two-by-two.yaml", "build")
    path = Path("build/leaf1/config_db.json")
    config = json.loads(path.read_text())
    config["PORT"]["Ethernet0"]["mtu"] = "1500"
    path.write_text(json.dumps(config, indent=4))
    assert "site-mtu" not in nodrop("lint", "build").out
    done = nodrop("lint", "build", "--rules", "ours", "--select", "site-mtu", "--format", "sarif")
    assert done.code == 1
    (run,) = json.loads(done.out)["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["site-mtu"]
    assert [(one["ruleId"], one["ruleIndex"]) for one in run["results"]] == [("site-mtu", 0)]
    report = nodrop("lint", "build", "--rules", "ours").out
    assert "also ends site-mtu: leaf1: Ethernet0 has an MTU of 1.5 kB" in report
    assert rules_counted(report) == rules_counted(nodrop("lint", "build").out) + 1


def rules_counted(report: str) -> int:
    """Return how many rules a report says to have judged by."""
    found = re.search(r"(\d+) rules: ", report)
    assert found is not None
    return int(found[1])


def test_an_own_rule_that_crashes_is_its_author_s_fault() -> None:
    write("links/site-mtu", RULE, (">= options.mtu_bytes", "/ (options.mtu_bytes - 9100) > 1"))
    done = nodrop("lint", resource_folder("intents") / "two-by-two.yaml", "--rules", "ours", "--select", "site-mtu")
    assert done.code == 2
    assert "rule site-mtu failed: ZeroDivisionError" in done.out
    assert "bug" not in done.err


def test_a_first_rule_passes_and_is_never_written_over() -> None:
    done = nodrop("init", "--rule", "links/port-too-narrow")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("rules/links/port-too-narrow.yaml: written; `nodrop test-rules rules` tries it")
    assert nodrop("test-rules", "rules").out.endswith("1 rule: 1 ok, 0 failed\n")
    path = Path("rules/links/port-too-narrow.yaml")
    assert (path.parent / path.read_text().partition("$schema=")[2].partition("\n")[0]).is_file()
    path.write_text("mine")
    assert nodrop("init", "--rule", "links/port-too-narrow").code == 2
    assert path.read_text() == "mine"
    assert nodrop("init", "ours", "--rule", "ecn/late-marks").code == 0
    assert Path("ours/ecn/late-marks.yaml").is_file()
    for rule, told in (
        ("lniks/x", "no area `lniks` (did you mean `links`?)"),
        ("links/X", "a rule called `X`; expected the fault in lower case"),
        ("links", "expected AREA/NAME"),
    ):
        done = nodrop("init", "--rule", rule)
        assert done.code == 2
        assert told in done.err


def test_what_stands_in_an_own_rule_cannot_harm_a_reader() -> None:
    hostile = "a \u202eb [x](y) | <b> `c`"
    write(
        "links/site-mtu",
        RULE,
        ("why: storage mounts expect it", f"why: '{hostile}'"),
        ("fix: set it", f"fix: '{hostile}'"),
    )
    write(
        "links/site-mtu",
        Path("ours/links/site-mtu.yaml").read_text(),
        ("at: [leaf1/Ethernet0]", 'at: ["leaf1/\u202e"]'),
    )
    for words in (
        ("rules", "--rules", "ours", "--select", "site-mtu"),
        ("rules", "--rules", "ours", "--select", "site-mtu", "--format", "markdown"),
        ("explain", "site-mtu", "--rules", "ours"),
        ("test-rules", "ours"),
        ("test-rules", "ours", "--format", "junit"),
        ("lint", resource_folder("intents") / "two-by-two.yaml", "--rules", "ours", "--select", "site-mtu"),
    ):
        done = nodrop(*words)
        assert done.code in (0, 1)
        assert "\u202e" not in done.out + done.err, words
    table = nodrop("rules", "--rules", "ours", "--select", "site-mtu", "--format", "markdown").out
    assert "<b>" not in table
    assert len(re.findall(r"(?<!\\)\|", table.splitlines()[2])) == 6
