"""A fabric of which nothing has changed: the same bytes in every format, from no rule and no reader; else anew."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nodrop import fabric_readings, judging, outcome_cache, reading_cache
from nodrop.cache import Store
from nodrop.engine import verdicts
from nodrop.engine.rules import shipped_rules
from nodrop.inputs import find_inputs
from nodrop.judging import CheckSettings
from nodrop.locate import FILE_CHANGED_NOTE_KIND
from nodrop.resources import resource_folder
from nodrop.results.outcome import FabricOutcome
from support.command import Done, built, nodrop, process

FORMATS = ("text", "json", "sarif", "junit", "github", "gitlab", "concise")
CONFIG = "site/pod/leaf1/config_db.json"


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pod")
    before = Path.cwd()
    os.chdir(folder)
    try:
        built(resource_folder("intents") / "two-by-two.yaml", "pod")
    finally:
        os.chdir(before)
    return folder / "pod"


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pod: Path) -> None:
    """A fabric with findings of several kinds, in `site/pod`, and a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("NODROP_NO_CACHE")
    shutil.copytree(pod, "site/pod")
    edit(CONFIG, lambda config: config["PFC_WD"].pop("Ethernet0"))
    edit(CONFIG, lambda config: config["PORT"]["Ethernet8"].update(mtuu="9216"))
    append("site/pod/leaf2/frr.conf", "password s3cret\n")


def append(path: str, text: str) -> None:
    Path(path).write_text(Path(path).read_text() + text)


def edit(path: str, change: Callable[[Any], object]) -> None:
    config = json.loads(Path(path).read_text())
    change(config)
    Path(path).write_text(json.dumps(config, indent=1))


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was done: a word for each run of devices that was read, and for each fabric that was judged."""
    done: list[str] = []
    for module, name, word in (
        (reading_cache, "read_device_from_open_files", "read"),
        (judging, "run_rules", "judged"),
    ):
        original = getattr(module, name)

        def counted(*given: Any, _original: Any = original, _word: str = word, **more: Any) -> Any:
            done.append(_word)
            return _original(*given, **more)

        monkeypatch.setattr(module, name, counted)
    return done


def lint(*options: str) -> Done:
    return nodrop("lint", "site", *options)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("options", [[], ["-v"], ["--strictness", "auditor", "--fail-on", "unknown"]], ids=str)
def test_every_report_is_the_same_with_and_without_and_again(form: str, options: list[str], work: list[str]) -> None:
    plain = lint("--format", form, *options, "--no-cache")
    assert plain.code == 1
    assert lint("--format", form, *options) == plain
    assert work.count("judged") == 2
    work.clear()
    for _ in range(2):
        assert lint("--format", form, *options) == plain
    assert work == []


def test_all_formats_at_once_to_files() -> None:
    def files() -> dict[str, bytes]:
        names = [f"--format={form}=report.{form}" for form in FORMATS]
        lint(*names)
        return {form: Path(f"report.{form}").read_bytes() for form in FORMATS}

    assert files() == files()


@pytest.mark.slow
def test_a_process_of_its_own_and_a_pool_say_the_same() -> None:
    for number in range(30):
        shutil.copytree("site/pod", f"site/pod{number}")
    plain = process("lint", "site", "--no-cache", "--jobs", "1")
    assert plain.code == 1
    for _ in range(2):
        assert process("lint", "site", "--jobs", "2") == plain
        assert process("lint", "site", "--jobs", "1") == plain


CHANGES: dict[str, Callable[[], list[str]]] = {
    "a file": lambda: edit(CONFIG, lambda config: config["PFC_WD"].pop("Ethernet8")) or [],
    "a file is gone": lambda: Path("site/pod/leaf2/frr.conf").unlink() or [],
    "a file more": lambda: shutil.copy(CONFIG, "site/pod/another.json") and [],
    "fabric.yaml": lambda: append("site/pod/fabric.yaml", "# changed\n") or [],
    "fabric.yaml is gone": lambda: Path("site/pod/fabric.yaml").unlink() or [],
    "a host's file": lambda: Path("site/pod/hosts/nic.sh").write_text("mlnx_qos -i eth0 --trust=pcp\n") and [],
    "an assumption": lambda: ["--assume", "mode=lossy"],
    "a profile": lambda: ["--profile", "nvidia"],
    "selection": lambda: ["--select", "pfc-without-watchdog"],
    "exclusion": lambda: ["--ignore", "pfc-without-watchdog"],
    "strictness": lambda: ["--strictness", "auditor"],
    "what is shown": lambda: ["-v"],
    "a configuration": lambda: Path("site/nodrop.yaml").write_text("severity: {pfc-without-watchdog: note}\n") and [],
    "an option": lambda: Path("site/nodrop.yaml").write_text(
        "options: {lossless-cable-past-300-m: {metres: 500}}\n"
    ) and [],
}  # fmt: skip


@pytest.mark.parametrize("kind", CHANGES)
def test_whatever_changes_is_judged_anew(kind: str, work: list[str]) -> None:
    lint()
    work.clear()
    options = CHANGES[kind]()
    changed = lint(*options)
    assert work.count("judged") == 1
    assert changed == lint(*options, "--no-cache")
    work.clear()
    assert lint(*options) == changed
    assert work == []


@pytest.mark.parametrize("of", ["a profile", "a rule", "a rule more"])
def test_a_file_that_an_option_names_counts_by_what_it_holds(of: str, work: list[str]) -> None:
    shutil.copy(resource_folder("profiles") / "nvidia.yaml", "ours.yaml")
    shutil.copytree(resource_folder("rules") / "watchdog", "rules/watchdog")
    for rule in Path("rules/watchdog").glob("*.yaml"):
        rule.rename(rule.with_name(f"our-{rule.name}"))
        text = rule.with_name(f"our-{rule.name}").read_text()
        rule.with_name(f"our-{rule.name}").write_text(
            "".join(line for line in text.splitlines(keepends=True) if not line.startswith("aliases:"))
        )
    one, *others = sorted(Path("rules/watchdog").glob("*.yaml"))
    for rule in others:
        rule.rename(rule.with_suffix(".later"))
    Path("nodrop.yaml").write_text("rules: [rules]\nprofile: ours.yaml\n")
    first = lint("-c", "nodrop.yaml", "--format", "sarif")
    assert first.code == 1, first
    work.clear()
    assert lint("-c", "nodrop.yaml", "--format", "sarif") == first
    assert work == []
    if of == "a profile":
        text = Path("ours.yaml").read_text()
        Path("ours.yaml").write_text(text.replace("150", "151") if "150" in text else text + "\n")
    elif of == "a rule":
        one.write_text(one.read_text() + "# changed\n")
    else:
        others[0].with_suffix(".later").rename(others[0])
    changed = lint("-c", "nodrop.yaml", "--format", "sarif")
    assert changed == lint("-c", "nodrop.yaml", "--format", "sarif", "--no-cache")
    if of != "a profile":
        assert work.count("judged") == 2


def test_what_was_found_wrong_with_the_command_is_found_again() -> None:
    lint()
    for _ in range(2):
        done = lint("--select", "no-such-rule")
        assert done.code == 2
        assert "no-such-rule" in done.out + done.err


SUPPRESSED = """\
suppress:
- {rule: pfc-without-watchdog, at: leaf1/Ethernet0, reason: the host has one, until: 2027-06-30}
- {rule: pfc-without-watchdog, at: leaf2/Ethernet0, reason: hides nothing}
"""


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_suppressions_come_back_and_end_on_their_day(
    form: str, work: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("site/nodrop.yaml").write_text(SUPPRESSED)
    append("site/pod/leaf2/frr.conf", "! nodrop: allow[secret-in-configuration] until 2027-03-31: nobody minds\n")
    seen = []
    for day, anew in (("2027-01-01", 1), ("2027-04-01", 1), ("2027-07-01", 1)):
        monkeypatch.setenv("NODROP_TODAY", day)
        plain = lint("--format", form, "-v", "--no-cache")
        work.clear()
        assert lint("--format", form, "-v") == plain
        assert work.count("judged") >= anew
        work.clear()
        assert lint("--format", form, "-v") == plain
        assert work.count("read") == 0
        assert work.count("judged") == 0
        seen.append(plain.out)
    assert len(set(seen)) == 3


def test_one_of_several_fabrics_that_changed_is_judged_alone(work: list[str]) -> None:
    for number in range(4):
        shutil.copytree("site/pod", f"site/pod{number}")
    apart = ("--ignore", "topology")  # copies have all in common
    lint(*apart)
    assert work.count("judged") == 5
    edit("site/pod2/leaf2/config_db.json", lambda config: config["PFC_WD"].pop("Ethernet0"))
    work.clear()
    changed = lint(*apart)
    assert work.count("judged") == 1
    assert changed == lint(*apart, "--no-cache")


def test_the_same_fabric_elsewhere_shows_its_own_paths() -> None:
    first = lint("--format", "json")
    Path("site").rename("elsewhere")
    moved = nodrop("lint", "elsewhere", "--format", "json")
    assert moved.out == first.out.replace("site/pod", "elsewhere/pod")
    assert moved == nodrop("lint", "elsewhere", "--format", "json", "--no-cache")


def test_no_secret_and_no_line_of_a_file_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[bytes] = []
    shipped_rules()  # so that this process does not keep them too
    monkeypatch.setattr(Store, "put", lambda _store, _key, data: kept.append(data))
    done = lint("-v")
    assert '"PFC_WD": {' in done.out or '"mtuu": "9216"' in done.out
    assert len(kept) == 3  # the settings, the devices, what came of them
    assert not any(b"s3cret" in data or b'mtuu\\": \\"' in data for data in kept)


def entries() -> Iterator[Path]:
    yield from Path("cache/nodrop").iterdir()


def test_an_outcome_that_somebody_altered_is_made_anew(work: list[str]) -> None:
    plain = lint()
    for damage in (b"", b"nodrop 1", b"cos\nsystem\n(S'touch ran'\ntR."):
        for entry in entries():
            entry.write_bytes(damage)
        work.clear()
        assert lint() == plain
        assert work.count("judged") == 1
        work.clear()
        assert lint() == plain
        assert work == []
    store = Store(Path("cache/nodrop"), b"", Path("state/nodrop/cache.key").read_bytes())
    for data in (b'["plain", [1]]', b'["tuples", [2], ["plain", [1, 2]]]', b"[]"):
        for entry in entries():
            store.put(entry.name, data)
        assert lint() == plain
    assert not Path("ran").exists()


def test_what_will_not_be_so_again_is_not_kept(monkeypatch: pytest.MonkeyPatch, work: list[str]) -> None:
    """Places that were lost, for a file changed between reading and looking for them."""
    original = verdicts.judge

    def changing(*given: Any, **more: Any) -> Any:
        edit(CONFIG, lambda config: config["PORT"]["Ethernet8"].update(mtuuu="1"))
        return original(*given, **more)

    before = Path(CONFIG).read_bytes()
    monkeypatch.setattr(verdicts, "judge", changing)
    done = lint("--format", "json")
    assert FILE_CHANGED_NOTE_KIND in {note["kind"] for note in json.loads(done.out)["notes"]}
    monkeypatch.setattr(verdicts, "judge", original)
    Path(CONFIG).write_bytes(before)
    assert lint("--format", "json") == lint("--format", "json", "--no-cache")


def test_a_line_of_a_file_that_has_changed_since_is_not_shown(tmp_path: Path) -> None:
    (inputs,) = find_inputs(["site"]).fabrics()
    store = Store(tmp_path / "cache/nodrop", b"", b"a secret")
    settings = CheckSettings(store=store)
    outcome_cache.check_or_recall_outcome(inputs, settings)
    found = outcome_cache.check_or_recall_outcome(inputs, settings)
    place = next(one.located for one in found.findings if one.located and one.located.file == CONFIG)
    assert place.span is not None
    again = outcome_cache.check_or_recall_outcome(inputs, settings)
    assert found.line(CONFIG, place.span.line) == Path(CONFIG).read_text().splitlines()[place.span.line - 1]
    Path(CONFIG).write_text("{}")
    assert again.line(CONFIG, place.span.line) is None
    assert found.line("elsewhere", 1) is None


def test_standard_input_intents_and_counts_are_worked_out_each_time(work: list[str]) -> None:
    raw = Path(CONFIG).read_bytes()
    for args in (
        ("lint", "-"),
        ("lint", str(resource_folder("intents") / "two-by-two.yaml")),
        ("lint", "site", "--statistics"),
    ):
        nodrop(*args, stdin=raw)
        work.clear()
        nodrop(*args, stdin=raw)
        assert work.count("judged") == 1, args


def test_everything_that_an_outcome_holds_can_be_kept() -> None:
    """A new part of a finding without a form would have every fabric judged each time, and nobody would notice."""
    (inputs,) = find_inputs(["site"]).fabrics()
    made = judging.run_rules(
        fabric_readings.read_fabric_or_intent(inputs, CheckSettings()),
        judging.chosen_rules(CheckSettings()),
        CheckSettings(),
    )
    values = outcome_cache._StoredOutcome(*(getattr(made, name) for name in outcome_cache._STORED_FIELDS))
    assert (
        outcome_cache._PACKING_TABLE.unpack(outcome_cache._PACKING_TABLE.pack(values), outcome_cache._StoredOutcome)
        == values
    )
    assert isinstance(made, FabricOutcome)


def test_nothing_is_kept_where_nobody_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    lint("--no-cache")
    monkeypatch.setenv("NODROP_NO_CACHE", "1")
    lint()
    assert not Path("cache").exists()


def test_why_nothing_is_kept_is_told_on_demand() -> None:
    Path("cache/nodrop").mkdir(parents=True)
    Path("cache/nodrop").chmod(0o777)
    assert lint().err == ""
    assert "can be written by others" in lint("-v").err
