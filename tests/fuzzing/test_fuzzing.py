"""The fuzzer finds what is planted: a crash, a hang, a hog of memory, a death; it cuts it and resumes."""

import importlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from nodrop.platforms.sonic import reader
from nodrop.syntax.yaml import parse_yaml
from support.fuzzing import campaign as campaigns
from support.fuzzing import corpora
from support.fuzzing import worker as workers
from support.fuzzing.campaign import Campaign, load_once
from support.fuzzing.coverage import Coverage
from support.fuzzing.minimize import fewest, minimized
from support.fuzzing.mutation import Files, mutated
from support.fuzzing.targets import CODES, TARGETS, Target
from support.fuzzing.texts import Pairs, Raw, dump, load
from support.fuzzing.trial import Bench, command
from support.fuzzing.vocabulary import Vocabulary
from support.places import TESTS

SEED: Files = {"leaf1/config_db.json": b'{"PORT": {"Ethernet0": {"speed": "400000"}}, "VLAN": {"Vlan10": {}}}'}
SONIC = replace(next(one for one in TARGETS if one.name == "sonic"), commands=())
_READ = reader.read_device


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    load_once()


@pytest.fixture(autouse=True)
def one_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "seeds", lambda _: [SEED])
    monkeypatch.setattr(workers, "MINIMIZE_S", 5.0)


def _fits(raw: bytes) -> bool:
    try:
        tables = json.loads(raw)
    except ValueError:
        return False
    return isinstance(tables, dict) and "PORT" in tables and "VLAN" not in tables


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Have SONiC's reader do something where a configuration has PORT and no VLAN."""

    def planted(act: Callable[[], object]) -> None:
        def read(name: str, bundle):  # type: ignore[no-untyped-def]
            held = list(bundle)
            if all(_fits(raw) for _, raw in held):
                act()
            return _READ(name, held)

        monkeypatch.setattr(reader, "read_device", read)

    return planted


def after(tmp_path: Path, inputs: int = 30, target: Target = SONIC, silence_s: float = 60.0) -> Campaign:
    """Run a campaign without coverage, which a test cannot install under modules that are loaded."""
    found = Campaign(target, tmp_path, Coverage("nodrop"), hang_s=0.2)
    found.run(inputs, silence_s=silence_s)
    return found


def case_of(found: Campaign) -> dict[str, object]:
    (path,) = (found.folder / "crashes").iterdir()
    data = parse_yaml(path.read_bytes(), path.name).data
    assert isinstance(data, dict)
    return data


def test_a_planted_crash_is_found_reduced_and_reported(tmp_path: Path, plant: Callable[..., None]) -> None:
    def fail() -> None:
        raise ZeroDivisionError

    plant(fail)
    found = after(tmp_path, 60)
    (key,) = found.counts.crashes
    assert key.startswith("ZeroDivisionError ")
    case = case_of(found)
    assert case["was"] == key
    assert case["run"] == [["lint", ".", "--no-config", "--strictness", "auditor"]]
    assert [json.loads(text) for text in case["files"].values()] == [{"PORT": ""}]  # type: ignore[attr-defined]
    assert found.counts.tried == 60


def test_without_the_plant_nothing_is_reported(tmp_path: Path) -> None:
    found = after(tmp_path)
    assert (found.counts.crashes, found.counts.tried) == ({}, 30)
    assert 10 < found.counts.accepted < 30


def _spin() -> None:
    while True:
        pass


def _sleep() -> None:
    """Use no time of the processor."""
    time.sleep(60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (_spin, "hang"),
        (lambda: bytearray(3 << 30), "memory"),
        (_sleep, "hang"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "death"),
    ],
    ids=["hang", "memory", "silence", "death"],
)
def test_a_planted_hang_hog_or_death_is_found(
    tmp_path: Path, plant: Callable[..., None], act: Callable[[], object], kind: str
) -> None:
    plant(act)
    found = after(tmp_path, 60, silence_s=2.0 if act is _sleep else 60.0)
    assert {key.split()[0] for key in found.counts.crashes} == {kind}
    case = case_of(found)
    (text,) = case["files"].values()  # type: ignore[attr-defined]
    assert '"PORT"' in text


def test_exit_70_of_a_command_is_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nodrop.cli import show

    def fail(*_args: object, **_given: object) -> int:
        raise IndexError("planted")

    monkeypatch.setattr(show.command, "callback", fail)
    target = replace(SONIC, commands=(("show", "{new}"),))
    bench = Bench(target, tmp_path)
    monkeypatch.chdir(tmp_path)
    crash = bench.crash_of(SEED, SEED, target.commands[0])
    assert crash is not None
    assert (crash.kind, crash.step) == ("traceback", ("show", "{new}"))
    assert "IndexError: planted" in crash.text


def test_a_case_of_a_revision_names_it() -> None:
    target = next(one for one in TARGETS if one.name == "revision")
    crash = campaigns.Crash("traceback", "OSError x", "as it was", target.commands[0])
    text = campaigns.case(target, crash, {"revision.txt": b"a\xffb\n"}, {})
    assert parse_yaml(text, "case.yaml").data["run"] == [["check", "--base", "a\\udcffb", "."]]


def test_a_rule_that_fails_is_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from support.fuzzing import targets

    monkeypatch.setattr(targets, "judge", lambda *_a, **_k: type("V", (), {"problems": ("rules/pfc/x.yaml: oh",)}))
    monkeypatch.chdir(tmp_path)
    crash = Bench(SONIC, tmp_path / "bench").crash_of(SEED, SEED, ())
    assert crash is not None
    assert (crash.kind, crash.key) == ("rule", "rule rules/pfc/x.yaml")


@pytest.mark.slow
def test_a_campaign_goes_on_where_it_ended(tmp_path: Path) -> None:
    first = after(tmp_path / "a", 10)
    second = Campaign(SONIC, tmp_path / "a", Coverage("nodrop"))
    assert (second.counts, second.corpus, second.seen) == (first.counts, first.corpus, first.seen)
    second.run(10)
    assert second.counts.tried == 20
    whole = after(tmp_path / "b", 20)
    assert second.counts.accepted == whole.counts.accepted


def test_an_input_that_reaches_a_new_block_is_kept(tmp_path: Path, plant: Callable[..., None]) -> None:
    coverage = Coverage("nodrop")
    coverage.slot()

    def reach() -> None:
        coverage.hits[0] = 1

    plant(reach)
    found = Campaign(SONIC, tmp_path, coverage)
    found.run(60)
    assert found.counts.blocks == 1
    assert len(found.corpus) == 2
    assert _fits(found.corpus[1]["leaf1/config_db.json"])
    assert Campaign(SONIC, tmp_path, coverage).corpus == found.corpus


def test_every_target_has_seeds_and_knows_its_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert {target.name for target in TARGETS} == set(corpora._MAKERS)
    for words in {step[: 2 if step[0] == "export" else 1] for target in TARGETS for step in target.commands}:
        assert command([*words, "--help"]).code in CODES, words


def test_mutations_are_the_same_for_the_same_seed() -> None:
    vocabulary = Vocabulary()
    vocabulary.learn(load(SEED["leaf1/config_db.json"], "json"))

    def made() -> Iterator[Files]:
        for number in range(200):
            yield mutated(SEED, SONIC.syntax, vocabulary.settle(), [SEED], Random(number))

    first = list(made())
    assert first == list(made())
    assert len({one["leaf1/config_db.json"] for one in first if one}) > 100


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("json", b'{"a": {"b": [1, "x", null]}, "a": true}\n'),
        ("yaml", b"a:\n  b:\n    - 1\n    - x\n    - c: null\n      d: 'no'\n"),
        ("toml", b'[tool.nodrop]\na = [1, "x"]\nb = {c = 2}\n'),
    ],
)
def test_documents_are_written_as_they_were_read(syntax: str, text: bytes) -> None:
    tree = load(text, syntax)
    assert load(dump(tree, syntax), syntax) == tree
    assert isinstance(tree, Pairs)


def test_a_raw_value_has_no_quotes() -> None:
    tree = Pairs([["a", Raw("9" * 5000)], ["a", Raw("!!set {b}")]])
    assert dump(tree, "yaml") == b"a: " + b"9" * 5000 + b"\na: !!set {b}\n"
    assert dump(tree, "json").startswith(b'{"a": 999')


def test_the_fewest_are_found() -> None:
    assert fewest(list(range(100)), lambda part: {3, 71} <= set(part)) == [3, 71]
    assert fewest([1, 2], lambda _: True) == []


def test_lines_and_words_and_files_are_cut() -> None:
    files = {"a": b"x\n  keep this word\ny", "b": b"z"}
    assert minimized(files, {"": "lines"}, lambda one: b"this" in one.get("a", b""), 5.0) == {"a": b"  this"}


def test_coverage_tells_which_branches_ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "counted").mkdir()
    (tmp_path / "counted" / "__init__.py").write_text("")
    (tmp_path / "counted" / "sample.py").write_text(
        textwrap.dedent("""
            def grade(number):
                "Said first."
                if number > 10:
                    return "large" if number > 100 else "middling"
                for _ in range(number):
                    pass
                return number and "small" or "none"
            """)
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    coverage = Coverage("counted")
    coverage.install()
    grade = importlib.import_module("counted.sample").grade
    assert grade.__doc__ == "Said first."
    assert coverage.blocks == 8
    reached = {}
    for number in (0, 5, 50, 500):
        coverage.clear()
        assert grade(number) == {0: "none", 5: "small", 50: "middling", 500: "large"}[number]
        reached[number] = coverage.seen()
    assert len(set(reached.values())) == 4
    assert reached[50].bit_count() == reached[500].bit_count() == 3
    with pytest.raises(RuntimeError, match="imported already"):
        Coverage("counted").install()


@pytest.mark.nightly
def test_a_fixed_number_of_inputs_of_every_format_ends_well(tmp_path: Path) -> None:
    """About a minute on a machine that does nothing else; with a fixed seed, every machine tries the same inputs."""
    words = [sys.executable, "-m", "support.fuzzing", "--inputs", "60", "--state", str(tmp_path), "--seed", "22"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONHASHSEED": "0"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    cases = "\n".join(path.read_text()[:2000] for path in tmp_path.glob("*/crashes/*"))
    assert (done.returncode, cases) == (0, ""), done.stdout + done.stderr
    assert done.stdout.count(" 60 inputs,") == len(TARGETS)
