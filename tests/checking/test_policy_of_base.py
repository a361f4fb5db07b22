"""Who decides what passes: a change is checked by the policy of its base, and says where it would hide something."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from nodrop import judging
from nodrop.model.reading import Reading
from support.check_repositories import Git, commit
from support.command import nodrop, unwatched
from support.policy_cases import (
    CASES,
    FRR,
    LEAF,
    MARK,
    MISSING,
    OWN,
    POLICY,
    SLOW,
    Case,
    Copy,
    Drop,
    Edit,
    Link,
    Move,
    Remove,
    Step,
    Write,
)


def done(step: Step) -> None:
    """Make one step of a change in the working directory."""
    match step:
        case Write(path, text):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text.replace(MARK, fingerprint()) if MARK in text else text)
        case Edit(path, old, new):
            text = Path(path).read_text()
            assert text.count(old) == 1, (path, old)
            Path(path).write_text(text.replace(old, new))
        case Move(old, new):
            Path(new).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(old, new)
        case Copy(old, new):
            shutil.copytree(old, new)
        case Remove(path):
            shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink()
        case Drop(path, tables):
            config = json.loads(Path(path).read_text())
            Path(path).write_text(json.dumps({key: rows for key, rows in config.items() if key not in tables}))
        case Link(path, target):
            Path(path).symlink_to(target)


def fingerprint() -> str:
    """Return what a baseline has of the finding of the fault `host`, which lies there."""
    found = nodrop("baseline", "build", "--no-config", "-o", "../made.yaml")
    assert found.code == 0, found
    (line,) = (one for one in Path("../made.yaml").read_text().splitlines() if "leaf1/Ethernet0" in one)
    return line.partition(": ")[2]


def broken(fault: str) -> None:
    """Make a fault of leaf1."""
    match fault:
        case "host":
            unwatched("Ethernet0")
        case "uplink":
            unwatched("Ethernet224")
        case "paths":
            done(Edit(FRR, "maximum-paths 32", "maximum-paths 1"))
        case "slow":
            config = json.loads(Path(LEAF).read_text())
            config["PFC_WD"]["Ethernet0"]["detection_time"] = "250"
            Path(LEAF).write_text(json.dumps(config, indent=4))


def changed(case: Case, git: Git) -> None:
    """Make the base of a case, commit it on the branch main, and change it."""
    git("checkout", "-q", "main")
    for step in case.base:
        done(step)
    if case.base:
        commit(git)
    git("checkout", "-q", "-B", "topic")
    broken(case.fault)
    for step in case.change:
        done(step)


def require(case: Case, *base: str) -> Any:
    """Check the change of a case against its base, and compare what is told with what must be."""
    words = ("check", "--base", *base, *case.words)
    ended = nodrop(*words, "--format", "json=../report.json", "--format", "text")
    made = json.loads(Path("../report.json").read_text())
    told = [*made["findings"], *made["blockers"]]
    failing = {one["rule"] for one in told if one["severity"] != "note"}
    assert (ended.code, failing) == (case.code, set(case.rules)), ended.out + ended.err
    severities = {one["rule"]: one["severity"] for one in sorted(told, key=lambda one: one["severity"], reverse=True)}
    if case.severity or (case.verdict not in case.rules):
        assert severities.get(case.verdict, "") == case.severity, ended.out
    said = " ".join(one["message"] for one in told if one["rule"] == case.verdict)
    assert [word for word in case.says if word not in said] == [], said
    assert case.severity == "" or case.verdict in ended.out
    return made


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_against_a_revision(configurations: Git, case: Case) -> None:
    changed(case, configurations)
    require(case, "main")


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_against_a_folder(configurations: Git, case: Case, tmp_path: Path) -> None:
    changed(case, configurations)
    configurations("worktree", "add", "-q", "--detach", str(tmp_path / "before"), "main")
    require(case, "../before")


def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each state that is checked by rules."""
    seen: list[str] = []
    before = judging.run_rules

    def watched(reading: Reading, *words: Any, **more: Any) -> Any:
        seen.append(reading.fabric.name)
        return before(reading, *words, **more)

    monkeypatch.setattr(judging, "run_rules", watched)
    return seen


def test_a_policy_that_stays_costs_no_second_run_of_the_rules(
    configurations: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("nodrop.yaml").write_text("fail_on: error\n")
    commit(configurations)
    unwatched("Ethernet0")
    seen = judged(monkeypatch)
    assert nodrop("check", "--base", "HEAD").code == 1
    assert len(seen) == 2
    Path("nodrop.yaml").write_text("fail_on: never\n")
    assert nodrop("check", "--base", "HEAD").code == 1
    assert len(seen) == 5


@pytest.mark.parametrize("form", ["text", "concise", "json", "sarif", "junit", "github", "gitlab", "markdown"])
def test_every_format_has_the_verdicts(configurations: Git, form: str) -> None:
    unwatched("Ethernet0")
    Path("nodrop.yaml").write_text("fail_on: never\n")
    Path("build/.venv").mkdir()
    shutil.move("build/leaf2", "build/.venv/leaf2")
    ended = nodrop("check", "--base", "main", "--format", form)
    assert ended.code == 1
    for rule, file in ((POLICY, "nodrop.yaml"), (MISSING, "build/.venv/leaf2/config_db.json")):
        assert rule in ended.out
        assert file in ended.out


@pytest.mark.parametrize("rule", [POLICY, MISSING])
def test_explain_has_a_page_of_each_verdict(rule: str) -> None:
    ended = nodrop("explain", rule)
    assert (ended.code, ended.out.startswith(f"{rule}: error, of `nodrop check` alone")) == (0, True)


@pytest.mark.parametrize(
    ("key", "name", "said"),
    [
        ("rules", "/", "an absolute path"),
        ("rules", "/proc", "an absolute path"),
        ("rules", "../..", "leads out of the repository"),
        ("rules", "led", "leads out of the repository"),
        ("rules", "a" * 5000, "no such folder"),
        ("profile", "/etc/hostname", "an absolute path"),
        ("profile", "../x.yaml", "leads out of the repository"),
        ("profile", "build/../../x.yaml", "leads out of the repository"),
        ("profile", ".git/config", "leads out of the repository"),
        ("profile", "a" * 5000, "file name too long"),
        ("baseline", "../x.yaml", "leads out of the repository"),
        ("baseline", "led/hostname", "leads out of the repository"),
        ("baseline", "a" * 5000, "no such file"),
    ],
)
def test_what_a_configuration_names_lies_below_the_repository(
    configurations: Git, key: str, name: str, said: str
) -> None:
    Path("led").symlink_to("/etc")
    Path("nodrop.yaml").write_text(f"{key}: {[name] if key == 'rules' else name}\n")
    ended = nodrop("lint", "build")
    assert (ended.code, said in ended.out + ended.err) == (2, True), ended


def test_rule_files_that_are_links_out_of_their_folder_are_refused(configurations: Git, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("password: hunter2\n")
    Path("rules/pfc").mkdir(parents=True)
    Path("rules/pfc/some-rule.yaml").symlink_to(tmp_path / "secret")
    Path("nodrop.yaml").write_text("rules: [rules]\n")
    ended = nodrop("lint", "build")
    assert ended.code == 2
    assert "rules/pfc/some-rule.yaml: a link that leads out of the folder" in ended.err + ended.out
    assert "hunter2" not in ended.err + ended.out


def test_a_configuration_that_is_a_link_out_of_the_repository_is_not_read(configurations: Git, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("password: hunter2\n")
    Path("nodrop.yaml").symlink_to(tmp_path / "secret")
    ended = nodrop("lint", "build")
    assert ended.code == 2
    assert "nodrop.yaml: a link that leads out of the repository" in ended.err + ended.out
    assert "hunter2" not in ended.err + ended.out


def test_comments_in_an_intent_count_as_far_as_the_base_has_them(intent: Git) -> None:
    for step in OWN:
        done(step)
    commit(intent)
    intent("branch", "-f", "main")
    text = Path("intents/fabric.yaml").read_text()
    assert "pfc:" not in text
    allowing = f"# nodrop: allow[{SLOW}]: tried\npfc: {{watchdog: {{hosts: {{detection: 300ms}}}}}}\n"
    Path("intents/fabric.yaml").write_text(f"{text}{allowing}")
    made = nodrop("check", "--base", "main")
    assert made.code == 1
    assert "error[policy-changed]: intents/fabric.yaml: a new comment allows" in made.out
    assert nodrop("check", "--base", "main", "--config-from", "work").code == 0


def test_what_a_policy_names_is_never_waited_for_with_a_cache(
    configurations: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in OWN:
        done(step)
    commit(configurations)
    Path("nodrop.yaml").unlink()
    Path("nodrop.yaml").symlink_to("/dev/zero")
    shutil.rmtree("rules")
    Path("rules").symlink_to("/proc")
    monkeypatch.setenv("NODROP_NO_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    unwatched("Ethernet0")
    found = nodrop("check", "--base", "HEAD")
    assert found.code == 2
    assert found.out.count("nodrop.yaml: a link that leads out of the repository") == 1
    assert "Ethernet0" in found.out and "watchdog" in found.out  # noqa: PT018 -- one finding


def missed(git: Git) -> tuple[int, str, str]:
    """Return how a check ends from which a switch is missing, with the severity and message of that verdict."""
    ended = nodrop("check", "--base", "main", "--no-routing", "--format", "json")
    (told,) = (one for one in json.loads(ended.out)["blockers"] if one["rule"] == MISSING)
    return ended.code, told["severity"], told["message"]


def test_a_configuration_with_escaped_characters_is_found(configurations: Git) -> None:
    text = "".join(f"\\u{ord(one):04x}" if one.isalpha() else one for one in Path(LEAF).read_text())
    shutil.rmtree("build/leaf1")
    Path("kept.txt").write_text(text)
    assert missed(configurations)[:2] == (1, "error")


def test_a_file_that_is_too_large_to_compare_is_no_sign_of_a_deletion(
    configurations: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nodrop.checking.missing_switches._MAX_COMPARED_BYTES", 1000)
    shutil.rmtree("build/leaf1")
    Path("kept.txt").write_text("x" * 1001)
    code, severity, message = missed(configurations)
    assert (code, severity, "kept.txt, of more than 1,000 bytes" in message) == (1, "error", True)


def test_more_files_than_are_compared_are_no_sign_of_a_deletion(
    configurations: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nodrop.checking.missing_switches._MAX_COMPARED_FILES", 3)
    shutil.rmtree("build/leaf1")
    for number in range(4):
        Path(f"kept{number}.txt").write_text("x")
    code, severity, message = missed(configurations)
    assert (code, severity, "files beyond the first 3" in message) == (1, "error", True)


def test_a_repository_in_place_of_a_switch_is_no_sign_of_a_deletion(configurations: Git) -> None:
    shutil.rmtree("build/leaf1")
    configurations("init", "-q", "build/leaf1")
    code, severity, message = missed(configurations)
    assert (code, severity, "build/leaf1" in message) == (1, "error", True)


def test_a_submodule_that_is_not_checked_out_is_no_sign_of_a_deletion(configurations: Git) -> None:
    shutil.rmtree("build/leaf1")
    head = configurations("rev-parse", "HEAD")
    configurations("rm", "-rq", "--cached", "build/leaf1")
    configurations("update-index", "--add", "--cacheinfo", f"160000,{head},build/leaf1")
    configurations("commit", "-qm", "a submodule")
    Path("build/leaf1").mkdir()
    code, severity, message = missed(configurations)
    assert (code, severity, "build/leaf1, an empty folder" in message) == (1, "error", True)


def test_rows_of_a_dump_among_tables_are_refused(configurations: Git) -> None:
    config = json.loads(Path(LEAF).read_text())
    rows = config.pop("PFC_WD")
    Path(LEAF).write_text(json.dumps(config | {f"PFC_WD|{name}": row for name, row in rows.items()}))
    ended = nodrop("check", "--base", "main")
    assert (ended.code, "rows of a dump of the database beside tables" in ended.out + ended.err) == (2, True)
