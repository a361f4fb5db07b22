"""nodrop.yaml and [tool.nodrop]: where they are found, what they change, and how their faults are told."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from nodrop import config
from nodrop.errors import InputProblems
from nodrop.resources import resource_folder
from support.command import nodrop as called
from support.command import unwatched

INTENT = resource_folder("intents") / "two-by-two.yaml"


@pytest.fixture
def site(repository: Path) -> Path:
    """A repository with a build of which one port has no watchdog."""
    unwatched("Ethernet0")
    return repository


def rules_found(*args: str) -> dict[str, str]:
    """The rules that speak, with their severities."""
    done = called("lint", *args, "--format", "json")
    assert done.code in (0, 1), done
    return {one["rule"]: one["severity"] for one in json.loads(done.out)["findings"]}


def test_severities_strictness_and_the_threshold_come_from_the_file(site: Path) -> None:
    assert rules_found("build") == {"pfc-without-watchdog": "error"}
    (site / "nodrop.yaml").write_text("severity: {pfc-without-watchdog: note}\n")
    assert rules_found("build") == {"pfc-without-watchdog": "note"}
    assert called("lint", "build").code == 0
    (site / "nodrop.yaml").write_text("severity: {pfc-without-watchdog: note}\nfail_on: note\n")
    assert called("lint", "build").code == 1
    assert called("lint", "build", "--fail-on", "warning").code == 0, "flags win"
    assert rules_found("build", "--no-config") == {"pfc-without-watchdog": "error"}


def test_how_many_rules_run_follows_the_file(site: Path) -> None:
    def rules(*args: str) -> int:
        counted: int = json.loads(called("lint", "build", "--format", "json", *args).out)["summary"]["rules"]
        return counted

    before = rules()
    (site / "nodrop.yaml").write_text("severity: {pfc-without-watchdog: off}\n")
    assert rules() == before - 1
    (site / "nodrop.yaml").write_text("strictness: auditor\n")
    assert rules() == rules("--no-config", "--strictness", "auditor") > before
    assert rules("--strictness", "regular") == before, "flags win"


def test_what_is_stated_there_is_weaker_than_a_fabric_yaml_beside_the_files(site: Path) -> None:
    def mode() -> dict[str, Any]:
        return {
            one["fact"]: one["value"] for one in json.loads(called("lint", "build", "--format", "json").out)["assumed"]
        }

    (site / "nodrop.yaml").write_text("fabric: {mode: lossy, classes: {rdma: {dscp: 26, lossless: false}}}\n")
    assert rules_found("build") == {"pfc-without-watchdog": "error"}
    (site / "build" / "fabric.yaml").unlink()
    assert "mode" not in mode()
    assert rules_found("build/leaf1") != {"pfc-without-watchdog": "error"}
    (site / "nodrop.yaml").unlink()
    assert mode()["mode"] == "lossless"


def test_a_profile_and_an_option_come_from_the_file(site: Path) -> None:
    (site / "nodrop.yaml").write_text("profile: dell\n")
    assert rules_found("build") == rules_found("build", "--no-config", "--profile", "dell")
    (site / "bands.yaml").write_text(
        "about: ours\nwatchdog: [{side: hosts, detection: 1ms to 2ms, source: a decision}]\n"
    )
    (site / "conf").mkdir()
    (site / "nodrop.yaml").rename(site / "conf" / "strict.yaml")
    (site / "conf" / "strict.yaml").write_text("profile: ../bands.yaml\n")
    assert "watchdog-outside-profile" in rules_found("build", "-c", "conf/strict.yaml"), "paths begin at the file"


def test_the_nearest_file_up_to_the_repository_counts(site: Path) -> None:
    (site.parent / "nodrop.yaml").write_text("severity: {pfc-without-watchdog: off}\n")
    try:
        assert config.find_config_file(["build/leaf1"]) is None, "what lies above the repository is not looked for"
    finally:
        (site.parent / "nodrop.yaml").unlink()
    (site / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.nodrop]\nfail_on = 'never'\n")
    assert config.find_config_file(["build/leaf1"]) == Path("pyproject.toml")
    assert called("lint", "build").code == 0
    (site / "nodrop.yaml").write_text("fail_on: error\n")
    assert config.find_config_file(["build/leaf1"]) == Path("nodrop.yaml")
    (site / "build" / "pyproject.toml").write_text("[tool.other]\n")
    assert config.find_config_file(["build"]) == Path("nodrop.yaml"), (
        "a pyproject.toml without the table does not count"
    )
    (site / "build" / "nodrop.yaml").write_text(INTENT.read_text())
    assert config.find_config_file(["build"]) == Path("nodrop.yaml"), "an intent may be called so"
    (site / "build" / "leaf1" / "nodrop.yaml").write_text("fail_on: note\n")
    assert config.find_config_file(["build/leaf1"]) == Path("build/leaf1/nodrop.yaml")
    assert config.find_config_file(["build/leaf1", "build/leaf2"]) == Path("nodrop.yaml"), "one file for all inputs"
    assert config.find_config_file(["-"]) == Path("nodrop.yaml")


def test_what_is_excluded_is_not_looked_into(site: Path) -> None:
    shutil.copytree(site / "build" / "leaf1", site / "build" / "old" / "leaf9")
    devices = json.loads(called("lint", "build", "--format", "json").out)["summary"]["devices"]
    for pattern, left in (
        ("old", 1),
        ("build/old", 1),
        ("build/*/leaf9", 1),
        ("leaf[12]", 0),
        ("leaf?", 3),
        ("old/leaf9", 0),
    ):
        (site / "nodrop.yaml").write_text(f"exclude: ['{pattern}']\n")
        done = json.loads(called("lint", "build", "--format", "json").out)
        assert devices - done["summary"]["devices"] == left, pattern
    (site / "nodrop.yaml").write_text("exclude: [old]\n")
    named = json.loads(called("lint", "build/old/leaf9", "--format", "json").out)
    assert named["summary"]["devices"] == 1, "what is named is read"


FAULTS = {
    "severty: {}": "nodrop.yaml:1:1: severty: unknown key severty (did you mean severity?)",
    "severity: {pfc-without-watchdgo: off}": "nodrop.yaml:1:12: severity.pfc-without-watchdgo: no rule "
    "`pfc-without-watchdgo` (did you mean `pfc-without-watchdog`?)",
    "severity: {pfc-without-watchdog: fatal}": "nodrop.yaml:1:34: severity.pfc-without-watchdog: fatal; expected "
    "error, warning, note or off",
    "strictness: strict": "nodrop.yaml:1:13: strictness: strict; expected regular, pedantic or auditor",
    "version: 2": "nodrop.yaml:1:10: version: 2; expected 1",
    "options:\n  pfc-without-watchdog: {max: 3}": "nodrop.yaml:2:26: options.pfc-without-watchdog.max: no option `max` "
    "of pfc-without-watchdog (it has none)",
    "suppress:\n- {rule: x, at: leaf1}": "nodrop.yaml:2:3: suppress.0: reason is missing (why the finding may stay, "
    "for later readers)",
    "suppress:\n- {rule: x, at: leaf1, reason: so, until: tomorrow}": "nodrop.yaml:2:43: suppress.0.until: tomorrow; "
    "expected a day, such as 2027-06-30",
    "fabric: {mode: lossles}": "nodrop.yaml:1:16: fabric.mode: lossles; expected lossless, pfc-only, lossy, trim "
    "or uec (did you mean lossless?)",
    "fabric:\n  cables: [leaf1-spine1]": "nodrop.yaml:2:12: fabric.cables.0: leaf1-spine1; expected "
    "leaf1:Ethernet0--spine1:Ethernet8 30m DR4",
    "[": "nodrop.yaml:1:2: the end of the file; expected a value",
    "- a": "nodrop.yaml:1:1: a list; expected a mapping (keys: version, rules",
    "profile: nvidai": "nvidai: no such file or folder",
}


@pytest.mark.parametrize("text", FAULTS)
def test_faults_have_their_place(site: Path, text: str) -> None:
    (site / "nodrop.yaml").write_text(text)
    done = called("lint", "build")
    assert done.code == 2
    assert FAULTS[text] in done.err, done.err


TOML = """[project]
name = "site"

[tool.nodrop]
strictness = "pedantic"
severity = {pfc-without-watchdog = "note"}
exclude = ["old"]

[[tool.nodrop.suppress]]
rule = "pfc-without-watchdog"
at = "leaf1/Ethernet0"
reason = "a pilot"
until = 2027-06-30

[tool.nodrop.fabric]
mode = "lossless"

[tool.nodrop.options.headroom-too-small]
"""


def test_a_table_of_a_pyproject_says_the_same_as_the_yaml(site: Path) -> None:
    (site / "pyproject.toml").write_text(TOML)
    (site / "nodrop.yaml").write_text(
        "strictness: pedantic\nseverity: {pfc-without-watchdog: note}\nexclude: [old]\n"
        "suppress:\n  - {rule: pfc-without-watchdog, at: leaf1/Ethernet0, reason: a pilot, until: 2027-06-30}\n"
        "fabric: {mode: lossless}\noptions: {headroom-too-small: {}}\n"
    )
    toml, yaml = config.load(Path("pyproject.toml")), config.load(Path("nodrop.yaml"))
    for name in ("strictness", "severity", "exclude", "declared", "options", "fail_on", "rules"):
        assert getattr(toml, name) == getattr(yaml, name), name
    (one,), (other,) = toml.suppress, yaml.suppress
    assert (one.rule, one.at, one.reason, one.until) == (other.rule, other.at, other.reason, other.until)
    assert (one.file, one.line) == ("pyproject.toml", 10)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "strictness =",
            "strictnes =",
            "pyproject.toml:5:1: strictnes: unknown key strictnes (did you mean strictness?)",
        ),
        ('"pedantic"', '"pedant"', "pyproject.toml:5:1: strictness: pedant; expected regular, pedantic or auditor"),
        ("watchdog = ", "watchdgo = ", "pyproject.toml:6:13: severity.pfc-without-watchdgo: no rule"),
        ('mode = "lossless"', "mode = 3", "pyproject.toml:16:1: fabric.mode: 3; expected lossless"),
        ("[tool.nodrop]", "[tool.nodrop", "pyproject.toml:4:13: "),
    ],
)
def test_faults_of_a_table_have_their_line(site: Path, old: str, new: str, said: str) -> None:
    (site / "pyproject.toml").write_text(TOML.replace(old, new, 1))
    done = called("lint", "build", "-c", "pyproject.toml")
    assert (done.code, said in done.err) == (2, True), done.err


def test_a_config_that_is_named_must_be_there(site: Path) -> None:
    assert "no such file" in called("lint", "build", "-c", "nodorp.yaml").err
    (site / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert "no table [tool.nodrop]" in called("lint", "build", "-c", "pyproject.toml").err
    assert "contradict" in called("lint", "build", "-c", "pyproject.toml", "--no-config").err


def test_a_build_is_judged_by_it_too(site: Path) -> None:
    (site / "nodrop.yaml").write_text("strictness: auditor\nfail_on: never\n")
    (site / "intent.yaml").write_text(INTENT.read_text())
    strict = called("build", "intent.yaml", "-o", "out")
    regular = called("build", "intent.yaml", "-o", "out", "--no-config")
    assert (strict.code, regular.code) == (0, 0)
    assert strict.out != regular.out, "more rules ran"


def test_quiet_prints_findings_and_nothing_else(site: Path) -> None:
    done = called("lint", "build", "-q")
    assert (done.code, done.out.startswith("error[pfc-without-watchdog]"), "devices" in done.out) == (1, True, False)
    quiet = called("lint", "build/leaf2", "-q", "--fail-on", "error")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


def test_a_site_states_its_own_rules(site: Path) -> None:
    folder = site / "ours" / "hygiene"
    folder.mkdir(parents=True)
    shipped = (resource_folder("rules") / "watchdog" / "pfc-without-watchdog.yaml").read_text()
    (folder / "our-watchdog.yaml").write_text(shipped)
    (site / "nodrop.yaml").write_text("rules: [ours]\n")
    assert rules_found("build") == {"pfc-without-watchdog": "error", "our-watchdog": "error"}
    (folder / "our-watchdog.yaml").rename(folder / "pfc-without-watchdog.yaml")
    assert "a rule `pfc-without-watchdog`, as the shipped" in called("lint", "build").err


def test_a_broken_file_that_is_found_is_an_error_and_not_passed_over(site: Path) -> None:
    (site / "nodrop.yaml").write_bytes(b"\xff\xfe\x00")
    assert called("lint", "build").code == 2
    with pytest.raises(InputProblems):
        config.load(Path("nodrop.yaml"))
