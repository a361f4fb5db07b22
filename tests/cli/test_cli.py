"""The command line as a whole: exit codes, help, formats, colors, words that are not known, streams that break."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from ruamel.yaml import YAML

import nodrop.cli.main as cli
from nodrop.cli.export import command as group
from nodrop.engine import rules as rule_files
from nodrop.engine import verdicts
from nodrop.engine.rule_loader import parse_rule
from nodrop.engine.rules import select_lint_rules, select_validate_rules, shipped_rules
from nodrop.resources import resource_folder
from support.command import SCRIPT, Done, built, nodrop, on_terminal, process
from support.gitops import committed, git
from support.places import GOLDEN, ROOT, TESTS

COMMANDS = (
    *(
        "baseline",
        "build",
        "check",
        "completion",
        "drift",
        "explain",
        "export",
        "fix",
        "hardware",
        "import",
        "init",
        "lint",
        "lsp",
        "path",
        "plan",
        "prove",
        "rules",
        "schema",
    ),
    *("show", "size", "test-rules", "twin", "validate"),
)
INSIDE = tuple(f"export {name}" for name in group.list_commands(click.Context(group)))
"""The commands of groups."""
INTENT = resource_folder("intents") / "two-by-two.yaml"
CRASHES = """\
severity: error
scope: interface
assert: 1 / ((interface.lanes or 8) - 8) > 0
message: "{{ interface.name }} is at fault"
why: it crashes
fix: mend the rule
references: [none]
since: "0.1"
examples: {bad: [{model: {}, at: [leaf1/Ethernet0]}], good: [{model: {}}]}
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a sound build, one with a fault, and an empty folder."""
    here = tmp_path_factory.mktemp("site")
    built(INTENT, here / "good")
    built(INTENT, here / "bad")
    without_watchdogs(here / "bad" / "leaf1")
    (here / "empty").mkdir()
    (here / "two-by-two.yaml").write_bytes(INTENT.read_bytes())
    return here


@pytest.fixture(autouse=True)
def in_site(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)


def without_watchdogs(device: Path) -> None:
    """Delete the rows of PFC_WD, as somebody in an editor would: nothing else changes."""
    path = device / "config_db.json"
    config = json.loads(path.read_text())
    config["PFC_WD"] = {"GLOBAL": config["PFC_WD"]["GLOBAL"]}
    path.write_text(json.dumps(config, indent=4))


@pytest.fixture
def crashing_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = parse_rule(
        CRASHES.encode(), str(resource_folder("rules") / "pfc" / "crashes.yaml"), name="crashes", area="pfc"
    )
    rules = (*shipped_rules(), rule)
    monkeypatch.setattr(rule_files, "shipped_rules", lambda: rules)


@pytest.mark.parametrize(
    ("paths", "code"),
    [
        (["good"], 0),
        (["good", "empty"], 0),
        (["empty"], 3),
        (["bad"], 1),
        (["bad", "empty"], 1),
        (["missing"], 2),
        (["missing", "empty"], 2),
        (["missing", "bad"], 2),
        (["two-by-two.yaml"], 0),
        (["two-by-two.yaml", "bad"], 1),
    ],
)
def test_exit_codes_of_lint(paths: list[str], code: int) -> None:
    assert nodrop("lint", *paths).code == code
    assert nodrop("lint", *reversed(paths)).code == code


@pytest.mark.usefixtures("crashing_rule")
@pytest.mark.parametrize("paths", [["good"], ["bad"], ["bad", "missing"], ["two-by-two.yaml", "bad"]])
def test_a_crashing_rule_outranks_everything(paths: list[str]) -> None:
    done = nodrop("lint", *paths)
    assert done.code == 70
    assert "rules/pfc/crashes.yaml: leaf1/Ethernet0: rule crashes failed: ZeroDivisionError" in done.out
    assert done.err == "a rule failed; this is a bug of nodrop, please report it\n"
    assert ("pfc-without-watchdog" in done.out) == ("bad" in paths), "the other rules are judged"


@pytest.mark.usefixtures("crashing_rule")
def test_a_crashing_rule_stops_a_build(tmp_path: Path) -> None:
    done = nodrop("build", "two-by-two.yaml", "-o", tmp_path / "out", "--write-anyway")
    assert done.code == 70
    assert not (tmp_path / "out").exists()
    assert done.err.endswith(f"nothing was written to {tmp_path / 'out'}\n")


@pytest.mark.usefixtures("crashing_rule")
def test_a_rule_that_is_left_out_does_not_crash() -> None:
    assert nodrop("lint", "good", "--ignore", "crashes").code == 0
    assert nodrop("lint", "good", "--select", "ecn").code == 0


@pytest.mark.parametrize("command", [["lint", "good"], ["build", "two-by-two.yaml", "-o", "never"]])
def test_a_crash_is_70_with_the_traceback(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by a test")

    monkeypatch.setattr(verdicts, "judge", crash)
    done = nodrop(*command)
    assert (done.code, done.out) == (70, "")
    assert "Traceback (most recent call last)" in done.err
    assert done.err.endswith("nodrop failed; this is a bug, please report it with the lines above\n")
    assert not Path("never").exists()


def test_a_crash_that_quotes_a_file_steers_neither_a_terminal_nor_a_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("a\x1b[31m\x1b]0;b\x07\n::error::c\r::error::d\n  ::warning::e\n##[error]f \u202eg")

    monkeypatch.setattr(verdicts, "judge", crash)
    done = nodrop("lint", "good")
    assert done.code == 70
    assert done.err.split("\n")[-6:-2] == [
        r"| RuntimeError: a\x1b[31m\x1b]0;b\x07",
        r"| \x3a:error::c\r::error::d",
        r"|   \x3a:warning::e",
        r"| \x23#[error]f \u202eg",
    ]
    assert {row[:2] for row in done.err.split("\n")[:-2]} == {"| "}


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(verdicts, "judge", interrupted)
    assert nodrop("lint", "good").code == 130


@pytest.mark.usefixtures("kept_rules")
def test_main_ends_the_process_with_the_code() -> None:
    assert process("lint", "bad").code == 1
    assert process("lint", "empty").code == 3


def test_the_table_of_exit_codes_says_which_commands_end_with_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "note.txt").write_text("nothing of a fabric\n")
    committed(tmp_path, "first")
    table = (ROOT / "docs/output.md").read_text()
    row = re.search(r"^\| 3 \| (.*?); other commands end with 2", table, re.MULTILINE)
    assert row
    said = re.findall(r"`([\w-]+)`", row[1])
    words = {
        **{name: (name, ".") for name in ("lint", "fix", "baseline", "import", "show", "test-rules", "twin")},
        "check": ("check", "--base", "HEAD"),
        "drift": ("drift", ".", "."),
        "path": ("path", ".", "a", "b"),
        "plan": ("plan", ".", "."),
    }
    ends = {name: nodrop(*command).code for name, command in words.items()}
    assert ends == {name: 3 if name in said else 2 for name in words}


@pytest.mark.parametrize("fail_on", ["error", "warning", "note", "unknown", "never"])
@pytest.mark.parametrize(
    ("rule", "reached"),
    [
        ("pfc-without-watchdog", {"error", "warning", "note", "unknown"}),
        ("fabric-pfc-without-watchdog", {"warning", "note", "unknown"}),
        ("duplicate-key", set()),
    ],
)
def test_fail_on(rule: str, reached: set[str], fail_on: str) -> None:
    done = nodrop("lint", "bad", "--select", rule, "--fail-on", fail_on)
    assert done.code == (1 if fail_on in reached else 0)


def test_an_unknown_verdict_fails_only_where_that_was_asked_for() -> None:
    for fail_on, code in (("unknown", 1), ("warning", 0), ("note", 0)):
        done = nodrop("lint", "good/leaf1", "--select", "mtu-mismatch", "--fail-on", fail_on)
        assert (done.code, "unknown[mtu-mismatch]" in done.out) == (code, True)


def test_the_commands_are_those_that_have_a_snapshot() -> None:
    assert tuple(cli.nodrop.list_commands(None)) == COMMANDS  # type: ignore[arg-type]
    known = {path.stem for path in (TESTS / "cli").glob("*.txt")}
    assert known == {"nodrop", *COMMANDS, *(one.replace(" ", "-") for one in INSIDE)}


@pytest.mark.parametrize("command", ["nodrop", *COMMANDS, *INSIDE])
def test_help(command: str, update_golden: bool) -> None:
    done = nodrop(*([] if command == "nodrop" else command.split()), "--help")
    assert (done.code, done.err) == (0, "")
    snapshot = TESTS / "cli" / f"{command.replace(' ', '-')}.txt"
    if update_golden:
        snapshot.parent.mkdir(exist_ok=True)
        snapshot.write_text(done.out)
    assert done.out == snapshot.read_text()


def test_help_has_a_short_form_and_no_arguments_is_a_mistake() -> None:
    assert nodrop("-h") == nodrop("--help")
    assert nodrop("lint", "-h") == nodrop("lint", "--help")
    assert nodrop() == Done(2, "", nodrop("--help").out)


def test_version() -> None:
    assert nodrop("--version") == Done(0, "nodrop 0.1.0\n", "")


@pytest.mark.parametrize("args", [["--help"], ["lint", "--help"], ["build", "--help"], ["--version"], ["lnt"]])
def test_what_needs_no_library_loads_none(args: list[str]) -> None:
    code = (
        "import sys\nfrom nodrop.cli.main import run\n"
        f"run({args!r})\n"
        "heavy = {'pydantic', 'jinja2', 'orjson', 'ruamel', 'ruamel.yaml', '_ruamel_yaml', 'netaddr', 'rich'}\n"
        "sys.exit(','.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["lnt", "good"], "no command 'lnt' (did you mean `lint`?)"),
        (["xyz"], f"no command 'xyz' (known: {', '.join(COMMANDS)})"),
        (["lint", "good", "--select", "pfc-without-watchdogs"], "(did you mean `pfc-without-watchdog`?)"),
        (["lint", "good", "--ignore", "ecn,bufers"], "no rule or area 'bufers' (did you mean `buffers`?)"),
        (["lint", "good", "--select", ""], "no rule or area '' (`nodrop rules` lists all)"),
        (["lint", "good", "--select", "nosuch"], "no rule or area 'nosuch' (`nodrop rules` lists all)"),
        (["explain", "zzz"], "no rule 'zzz' (`nodrop rules` lists all)"),
        (["hardware", "zzz"], "no model 'zzz' (`nodrop hardware` lists all)"),
        (["plan", "good"], "Missing argument 'NEW'. Example: nodrop plan before build"),
        (["plan"], "Missing argument 'OLD'. Example: nodrop plan before build"),
        (["plan", "good", "good", "good"], "3 paths; expected OLD and NEW"),
        (["check"], "Missing option '--base', such as --base origin/main or --base ./before"),
        (["lint", "good", "--platform", "sonik"], "no platform 'sonik' (did you mean `sonic`?)"),
        (["lint", "good", "--format", "jsno"], "no format 'jsno' (did you mean `json`?)"),
        (
            ["lint", "good", "--format", "html=x"],
            "no format 'html' (known: concise, github, gitlab, json, junit, sarif, text)",
        ),
        (["lint", "good", "--assume", "mode=losless"], "no mode 'losless' (did you mean `lossless`?)"),
        (["lint", "good", "--assume", "mod=lossless"], "no assumption 'mod' (did you mean `mode`?)"),
        (["lint", "good", "--assume", "rdma=64"], "'64' is no DSCP; expected rdma=0 to rdma=63"),
        (["lint", "good", "--assume", "rdma=" + "1" * 5000], "is no DSCP"),
        (["lint", "good", "--assume", "rdma=\u0663"], "is no DSCP"),
        (["lint", "good", "--fail-on", "eror"], "(did you mean `error`?)"),
        (["lint", "good", "--strictness", "pedant"], "(did you mean `pedantic`?)"),
        (["lint", "good", "--color", "alway"], "(did you mean `always`?)"),
        (["lint", "good", "--bogus"], "No such option '--bogus'"),
        (["lint"], "Missing argument 'PATH...'"),
        (["lint", "good", "--assume", "lossless"], "'lossless' assumes nothing; expected KEY=VALUE: mode=lossless"),
        (["explain", "watchdog"], "watchdog is an area; its rules: fabric-pfc-without-watchdog, pfc-without-watchdog"),
        (["explain", "pfc-without-watchdg"], "no rule 'pfc-without-watchdg' (did you mean `pfc-without-watchdog`?)"),
        (["hardware", "SN560"], "no model 'SN560' (did you mean `SN5600` or `SN5610` or `SN5640`?)"),
        (["rules", "--format", "markdwn"], "(did you mean `markdown`?)"),
        (["show", "two-by-two.yaml", "--format", "txt"], "(did you mean `text`?)"),
        (["schema", "intents"], "(did you mean `intent`?)"),
        (["build", "two-by-two.yaml"], "Missing option '-o' / '--output'"),
        (["build", "-o", "x"], "Missing argument 'INTENT...'"),
        (["build", "two-by-two.yaml", "-o", ""], "--output is empty; expected a folder"),
    ],
)
def test_what_is_not_known_is_said_with_the_nearest_word(args: list[str], said: str) -> None:
    done = nodrop(*args)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_what_the_user_typed_cannot_steer_the_terminal() -> None:
    for args in (
        ["\x1b[31mlint"],
        ["lint", "--\x1b[31m"],
        ["lint", "\x1b[2J"],
        ["show", "\x1b]0;x\x07"],
        ["rules", "\x1b]0;x\x07"],
        ["rules", "\u202e"],
        ["lint", "\u202e"],
    ):
        done = nodrop(*args)
        assert done.code == 2
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.out + done.err)


def valid(text: str) -> Any:
    """Parse what was printed as findings, valid by the schema that nodrop prints."""
    schema = json.loads(nodrop("schema", "findings").out)
    Draft202012Validator.check_schema(schema)
    document = json.loads(text)
    Draft202012Validator(schema).validate(document)
    return document


@pytest.mark.parametrize(
    ("args", "counts"),
    [
        (["good"], {"devices": 4, "interfaces": 128, "error": 0, "warning": 0, "unknown": 0}),
        (["bad"], {"devices": 4, "interfaces": 128, "error": 3, "warning": 4, "unknown": 0}),
        (["bad", "--ignore", "watchdog"], {"devices": 4, "error": 0, "warning": 0}),
        (["good/leaf1/config_db.json"], {"devices": 1, "interfaces": 32, "unknown": 8}),
        (["empty"], {"devices": 0, "interfaces": 0}),
        (["missing", "bad"], {"devices": 4, "error": 3}),
        (["two-by-two.yaml"], {"devices": 4}),
    ],
)
def test_json_is_valid_by_its_schema(args: list[str], counts: dict[str, int]) -> None:
    done = nodrop("lint", *args, "--format", "json")
    summary = valid(done.out)["summary"]
    assert {key: summary[key] for key in counts} == counts
    assert (done.err, summary["rules"] > 5) == ("", True)


@pytest.mark.parametrize("name", ["concise", "github", "gitlab", "junit", "sarif"])
def test_every_other_format_is_written_to_its_file(name: str, tmp_path: Path) -> None:
    target = tmp_path / "report"
    done = nodrop("lint", "bad", "--format", f"{name}={target}")
    assert (done.code, done.out) == (1, "")
    assert "pfc-without-watchdog" in target.read_text()


def test_json_holds_each_finding_with_its_place() -> None:
    document = valid(nodrop("lint", "bad", "--format", "json").out)
    first = document["findings"][0]
    assert (first["rule"], first["subject"], first["device"]) == ("pfc-without-watchdog", "leaf1/Ethernet0", "leaf1")
    for finding in document["findings"]:
        line = Path(finding["file"]).read_text().splitlines()[finding["line"] - 1]
        assert line[finding["column"] - 1 : finding["end_column"] - 1] == '"3"'


def test_problems_and_build_findings_are_in_the_json(tmp_path: Path) -> None:
    document = valid(nodrop("lint", "missing", "--format", "json").out)
    assert document["problems"] == [
        {
            "file": "missing",
            "line": None,
            "column": None,
            "path": None,
            "message": "no such file or folder",
            "hint": None,
        }
    ]
    done = nodrop("build", "two-by-two.yaml", "-o", tmp_path / "out", "--format", "json")
    assert valid(done.out)["summary"]["devices"] == 4


def test_two_formats_in_one_run(tmp_path: Path) -> None:
    done = nodrop("lint", "bad", "--format", "text", "--format", f"json={tmp_path / 'findings.json'}")
    assert done == nodrop("lint", "bad")
    assert (tmp_path / "findings.json").read_text() == nodrop("lint", "bad", "--format", "json").out
    done = nodrop("lint", "bad", "--format", f"text={tmp_path / 'findings.txt'}")
    assert (done.code, done.out) == (1, "")
    assert "\n" + (tmp_path / "findings.txt").read_text() == "\n" + nodrop("lint", "bad").out


@pytest.mark.parametrize(
    ("formats", "said"),
    [
        (["text", "json"], "two formats for standard output"),
        (["text=a", "json=a"], "two formats for a; give each a separate file"),
        (["json=missing/findings.json"], "cannot write missing/findings.json: no such file or directory"),
        (["json=good"], "cannot write good: is a directory"),
    ],
)
def test_formats_that_cannot_be_written(formats: list[str], said: str) -> None:
    done = nodrop("lint", "bad", *(f"--format={each}" for each in formats))
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not Path("a").exists()


def _with_text_keys(data: Any) -> Any:
    """Return what YAML loads as JSON has it: a panel port is a key of text."""
    if isinstance(data, dict):
        return {str(key): _with_text_keys(value) for key, value in data.items()}
    return list(map(_with_text_keys, data)) if isinstance(data, list) else data


def test_schemas_fit_what_they_describe() -> None:
    yaml = YAML(typ="safe", pure=True)
    described = {
        "intent": [path.read_text() for path in resource_folder("intents").glob("*.yaml")],
        "fabric": [Path("good/fabric.yaml").read_text()],
        "profile": [path.read_text() for path in resource_folder("profiles").glob("*.yaml")],
        "rule": [path.read_text() for path in resource_folder("rules").rglob("*.yaml")],
    }
    for kind, texts in described.items():
        schema = json.loads(nodrop("schema", kind).out)
        assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
        Draft7Validator.check_schema(schema)
        for text in texts:
            Draft7Validator(schema).validate(_with_text_keys(yaml.load(text)))
        assert not Draft7Validator(schema).is_valid({"no-such-key": 1})


@pytest.mark.parametrize(
    ("environment", "option", "colored"),
    [
        ({}, "auto", False),
        ({"FORCE_COLOR": "1"}, "auto", True),
        ({"FORCE_COLOR": ""}, "auto", False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "auto", False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, "auto", True),
        ({"NO_COLOR": "1"}, "always", True),
        ({"FORCE_COLOR": "1"}, "never", False),
        ({}, "always", True),
    ],
)
def test_color(
    environment: dict[str, str], option: str, colored: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for command in (["lint", "bad"], ["build", "two-by-two.yaml", "-o", tmp_path / "out"]):
        done = nodrop(*command, "--color", option)
        assert ("\x1b[" in done.out) == colored
        assert re.sub(r"\x1b\[[0-9;]*m", "", done.out) == nodrop(*command, "--color", "never").out
    assert "\x1b" not in nodrop("lint", "bad", "--color", option, "--format", "json").out


def test_color_never_reaches_a_file(tmp_path: Path) -> None:
    nodrop("lint", "bad", "--color", "always", "--format", f"text={tmp_path / 'findings.txt'}")
    assert (tmp_path / "findings.txt").read_text() == nodrop("lint", "bad").out


@pytest.mark.parametrize(
    ("environment", "colored"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"TERM": "xterm", "NO_COLOR": "1"}, False)],
)
def test_color_on_a_terminal(environment: dict[str, str], colored: bool) -> None:
    done = on_terminal("lint", "bad", **environment)
    assert done.code == 1
    assert re.sub(r"\x1b\[0m", "", done.out).endswith("notes\r\n")
    assert ("\x1b[" in done.out) == colored


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["lint", "bad"], 1),
        (["lint", "good"], 0),
        (["lint", "bad", "--format", "json"], 1),
        (["rules"], 0),
        (["explain", "pfc-without-watchdog"], 0),
        (["schema", "intent"], 0),
        (["show", "two-by-two.yaml"], 0),
        (["--help"], 0),
    ],
)
def test_a_reader_that_goes_away_changes_nothing(args: list[str], code: int) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run([sys.executable, "-c", SCRIPT, *args], stdout=theirs, stderr=subprocess.PIPE, check=False)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (code, b"")


@pytest.mark.usefixtures("kept_rules")
def test_a_build_whose_reader_goes_away_is_written(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    command = [sys.executable, "-c", SCRIPT, "build", "two-by-two.yaml", "-o", str(tmp_path / "out")]
    done = subprocess.run(command, stdout=theirs, stderr=theirs, check=False)
    os.close(theirs)
    assert done.returncode == 0
    assert nodrop("build", "two-by-two.yaml", "-o", tmp_path / "out", "--check").code == 0


@pytest.mark.usefixtures("kept_rules")
def test_a_full_disk_is_said() -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-c", SCRIPT, "lint", "good"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (2, b"Error: cannot write standard output: no space left on device\n")


@pytest.mark.parametrize("closed", [0, 1])
@pytest.mark.usefixtures("kept_rules")
def test_a_stream_that_is_closed_is_no_crash(closed: int) -> None:
    command = [sys.executable, "-c", SCRIPT, "lint", "-" if closed == 0 else "bad"]
    shell = f'exec "$@" {closed}>&-'
    done = subprocess.run(["sh", "-c", shell, "sh", *command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2 if closed == 0 else 1, "")
    assert done.stdout == "" or "<stdin>:1:1: an empty file; expected JSON" in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-16"])
def test_output_is_utf_8_whatever_the_terminal_says(encoding: str) -> None:
    done = process("show", "two-by-two.yaml", env={"PYTHONIOENCODING": encoding})
    assert (done.code, "×" in done.out) == (0, True)


RUNS = (
    ["lint", "bad"],
    ["lint", "bad", "-v"],
    ["lint", "bad", "--format", "json"],
    ["lint", "bad", "missing", "good/leaf1", "empty"],
    ["show", "two-by-two.yaml"],
    ["show", "two-by-two.yaml", "--format", "json"],
    ["rules", "--format", "json"],
    ["explain", "headroom-too-small"],
    ["schema", "intent"],
)


ALL_RUNS = """
import json, sys
from dataclasses import astuple
from support.command import nodrop
print(json.dumps([astuple(nodrop(*args)) for args in json.load(sys.stdin)]))
"""


@pytest.mark.slow
def test_output_does_not_depend_on_hashes() -> None:
    """All commands run in one process: only its hashes are other ones."""
    env = {**os.environ, "PYTHONHASHSEED": "4242", "PYTHONPATH": str(TESTS)}
    command = [sys.executable, "-c", ALL_RUNS]
    done = subprocess.run(command, input=json.dumps(RUNS), capture_output=True, text=True, check=True, env=env)
    others = {" ".join(args): Done(*other) for args, other in zip(RUNS, json.loads(done.stdout), strict=True)}
    assert others == {" ".join(args): nodrop(*args) for args in RUNS}


@pytest.mark.parametrize("args", RUNS, ids=" ".join)
def test_output_names_neither_this_machine_nor_the_time(args: list[str], site: Path) -> None:
    done = nodrop(*args)
    said = re.sub(r"https?://\S+", "", done.out + done.err)
    assert str(site) not in said
    assert str(resource_folder("rules")) not in said
    assert not re.search(r"(?<!\S)/(?!(?:etc|sys)/)[a-z]+/", said), (
        "an absolute path, other than those of hosts' settings"
    )
    assert not re.search(r"\b\d\d?:\d\d:\d\d\b|\b20\d\d-\d\d-\d\d\b", said), "a time"


def test_rules_in_every_form() -> None:
    names = [rule.name for rule in shipped_rules()]
    text, markdown, listed = (nodrop("rules", "--format", form) for form in ("text", "markdown", "json"))
    assert sorted(line.split()[0] for line in text.out.splitlines() if line.startswith("  ")) == names
    assert text == nodrop("rules")
    areas = [line for line in text.out.splitlines()[2:] if re.fullmatch(r"[a-z]+", line)]
    assert areas == sorted({rule.area for rule in shipped_rules()})
    watchdog = nodrop("rules", "watchdog").out.splitlines()
    of_watchdog = [rule.name for rule in shipped_rules() if rule.area == "watchdog"]
    assert watchdog[0].startswith(f"{len(of_watchdog)} rules in 1 area: ")
    assert [line.split()[0] for line in watchdog if line.startswith("  ")] == of_watchdog
    assert "no rule or area 'watchdgo' (did you mean `watchdog`?)" in nodrop("rules", "watchdgo").err
    assert [line.split("`")[1] for line in markdown.out.splitlines()[2:]] == names
    assert [rule["name"] for rule in json.loads(listed.out)["rules"]] == names
    assert all(len(line) <= 110 for line in text.out.splitlines())


@pytest.mark.parametrize("rule", [rule.name for rule in shipped_rules()])
def test_every_rule_is_explained(rule: str) -> None:
    done = nodrop("explain", rule)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{rule}  (")
    for part in ("Why", "What to do", "Reported after", "Not reported after", "References"):
        assert f"\n{part}" in done.out


def test_examples_that_edit_files_are_shown_as_lines() -> None:
    lines = nodrop("explain", "setting-of-another-release").out.splitlines()
    first = lines.index("  - leaf1/startup.yaml has")
    assert lines[first + 1 : first + 4] == [
        "      - polling-interval: 100",
        "      + recovery-interval: 2",
        "    reported at leaf1",
    ]
    whole = nodrop("explain", "unknown-command").out
    shown = "  - leaf1/nclu.txt is\n      net add interface swp1 storage-optimised pfc\n    reported at leaf1\n"
    assert shown in whole


def test_each_strictness_adds_to_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules that `bad` breaks, some of them for stricter readers."""
    stricter = {
        "pfc-without-watchdog": {"strictness": "pedantic"},
        "fabric-pfc-without-watchdog": {"strictness": "auditor"},
        "rdma-dscp-in-lossy-class": {"confidence": "possible"},
    }
    broken = set(heard("bad"))
    assert broken >= {"pfc-without-watchdog", "fabric-pfc-without-watchdog"}
    rules = tuple(replace(rule, **stricter.get(rule.name, {})) for rule in shipped_rules())  # type: ignore[arg-type]
    monkeypatch.setattr(rule_files, "shipped_rules", lambda: rules)
    assert set(heard("bad")) == broken - stricter.keys()
    assert heard("bad", "--strictness", "regular") == heard("bad")
    assert set(heard("bad", "--strictness", "pedantic")) == broken - {"fabric-pfc-without-watchdog"}
    assert set(heard("bad", "--strictness", "auditor")) == broken
    counts = [summary_of("bad", "--strictness", word)["rules"] for word in ("regular", "pedantic", "auditor")]
    assert counts == sorted(set(counts)), "what is not heard is not judged either"


def heard(*args: str) -> list[str]:
    return [finding["rule"] for finding in json.loads(nodrop("lint", *args, "--format", "json").out)["findings"]]


def summary_of(*args: str) -> dict[str, int]:
    return dict(json.loads(nodrop("lint", *args, "--format", "json").out)["summary"])


def test_a_former_name_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = tuple(
        replace(rule, aliases=("no-watchdog",)) if rule.name == "pfc-without-watchdog" else rule
        for rule in shipped_rules()
    )
    monkeypatch.setattr(rule_files, "shipped_rules", lambda: rules)
    assert nodrop("explain", "no-watchdog") == nodrop("explain", "pfc-without-watchdog")
    selected = nodrop("lint", "bad", "--select", "no-watchdog")
    assert selected == nodrop("lint", "bad", "--select", "pfc-without-watchdog")
    assert "3 errors, 0 warnings" in selected.out
    assert "0 errors, 4 warnings" in nodrop("lint", "bad", "--ignore", "no-watchdog").out


def test_show() -> None:
    done = nodrop("show", "two-by-two.yaml")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("two-by-two: lossless fabric of 4 switches and 4 hosts\n")
    shown = json.loads(nodrop("show", "two-by-two.yaml", "--format", "json").out)
    assert (shown["version"], shown["fabric"], len(shown["devices"])) == (2, "two-by-two", 4)


@pytest.mark.parametrize("command", [["show"], ["build", "-o", "never"]])
@pytest.mark.parametrize(
    ("path", "said"),
    [
        (
            "good",
            "good: a folder; expected an intent, which is a file (`nodrop import` derives one from configurations)",
        ),
        ("good/leaf1/config_db.json", "good/leaf1/config_db.json: no intent; expected an intent, YAML with the key"),
        ("good/fabric.yaml", "good/fabric.yaml: no intent; expected an intent, YAML with the key `nodrop: 1`"),
        ("two-by-two.yml", "two-by-two.yml: no such file or folder (did you mean two-by-two.yaml?)"),
        ("godo/fabric.yaml", "godo/fabric.yaml: no such file or folder"),
        ("", '"": an empty path'),
    ],
)
def test_what_is_no_intent_is_told_in_one_line(command: list[str], path: str, said: str) -> None:
    done = nodrop(*command, path)
    assert (done.code, (done.out + done.err).count("error: ")) == (2, 1)
    assert f"error: {said}" in done.out + done.err
    assert not Path("never").exists()


def test_an_intent_whose_first_key_is_misspelt_is_still_read_as_one(tmp_path: Path) -> None:
    intent = tmp_path / "intent.yaml"
    intent.write_text(INTENT.read_text().replace("nodrop: 1", "nodorp: 1"))
    assert "unknown key nodorp (did you mean nodrop?)" in nodrop("show", intent).err
    intent.write_text(INTENT.read_text(), encoding="utf-16")
    assert "UTF-16 text; expected UTF-8" in nodrop("show", intent).err


@pytest.mark.parametrize("command", [["show"], ["build", "-o", "never"], ["lint"]])
def test_a_faulty_intent_is_told_with_its_places(command: list[str], tmp_path: Path) -> None:
    intent = tmp_path / "intent.yaml"
    text = INTENT.read_text().replace("media: DR4, length: 30m", "media: DR4, lenght: 30 m").replace("26,", "99,", 1)
    intent.write_text(text)
    done = nodrop(*command, intent)
    lines = text.splitlines()
    place = next((n, line.index("lenght") + 1) for n, line in enumerate(lines, 1) if "lenght" in line)
    assert done.code == 2
    assert f"error: {intent}:{place[0]}:{place[1]}: topology.uplinks.lenght: unknown key lenght" in done.out + done.err
    assert "(did you mean length?)" in done.out + done.err
    assert "classes.rdma.dscp: 99; expected" in done.out + done.err
    assert not Path("never").exists()


def test_a_switch_alone_is_not_told_that_its_neighbors_are_nobody(tmp_path: Path) -> None:
    """What is at the far ends of its cables was not read."""
    leaf = GOLDEN / "unnumbered" / "leaf1"
    for name in ("config_db.json", "frr.conf"):
        (tmp_path / name).write_bytes((leaf / name).read_bytes())
    done = nodrop("validate", tmp_path)
    assert done.code == 0
    assert "unknown[session-to-nobody]" in done.out
    assert "supply the configurations of spine1, spine2" in done.out
    (tmp_path / "config_db.json").unlink()
    done = nodrop("validate", tmp_path)
    assert done.code == 3
    assert "no file states the VLANs of the switch" in done.out


def test_validate_says_what_it_has_computed(tmp_path: Path) -> None:
    built(resource_folder("intents") / "dual-stack.yaml", tmp_path / "build")
    done = nodrop("validate", tmp_path / "build")
    rules = [rule for rule in select_validate_rules(shipped_rules()) if rule.strictness == "regular"]
    shared = len(
        {one.name for one in select_lint_rules(shipped_rules())}
        & {one.name for one in select_validate_rules(shipped_rules())}
    )
    observed = sum(rule.observed for rule in shipped_rules())
    assert done == Done(
        code=0,
        out="note: BGP sessions: 16 up\n"
        "note: IPv4: 6 prefixes announced, reached over up to 4 next hops\n"
        "note: IPv6: 6 prefixes announced, reached over up to 4 next hops\n"
        "\n"
        f"{len(shipped_rules()) - len(rules)} rules skipped: "
        f"{len(select_lint_rules(shipped_rules())) - shared} run by nodrop lint, {observed} for nodrop validate --all, "
        "1 above strictness regular\n"
        f"no findings in 4 devices, 128 interfaces, {len(rules)} rules\n",
        err="",
    )


def test_what_others_do_at_the_end_of_a_process_is_done() -> None:
    """Memory alone is not given back: whoever wants to be called is, and what it says is heard."""
    words = (
        "import atexit, sys; atexit.register(print, 'called'); sys.argv = ['nodrop', 'rules', 'nonsense'];",
        SCRIPT,
    )
    done = subprocess.run([sys.executable, "-c", " ".join(words)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (2, "called")
    assert "nonsense" in done.stderr
