"""The same bytes, wherever and however nodrop runs: all outputs are made again under other circumstances and compared.

Circumstances are hash seed, locale, encoding, time zone, width of the terminal, umask, order of the environment,
working directory, number of processes, order and times of files in their folders, and other Pythons.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path

import pytest

from nodrop.engine import suppressions
from nodrop.resources import resource_folder
from support.all_outputs import FORMATS
from support.command import SCRIPT, nodrop, unwatched
from support.places import ROOT, TESTS

OUTPUTS = TESTS / "support" / "all_outputs.py"
PLAIN = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC", "COLUMNS": "80"}


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """How nodrop is run."""

    env: Mapping[str, str] = field(default_factory=dict)
    jobs: int = 1
    umask: int = 0o022
    shuffled: bool = False
    python: str = sys.executable


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii:strict"}
OTHERS = {
    "seed, POSIX, east, narrow, processes, shuffled": Circumstances(
        env={"PYTHONHASHSEED": "1", "LC_ALL": "POSIX", "TZ": "Pacific/Kiritimati", "COLUMNS": "30", "LANGUAGE": "de"},
        jobs=4,
        umask=0o077,
        shuffled=True,
    ),
    "seed, ASCII, west, wide": Circumstances(
        env={"PYTHONHASHSEED": "4", "TZ": "Etc/GMT+12", "COLUMNS": "400", "TERM": "xterm", **ASCII},
        umask=0o002,
    ),
    "seed, Turkish, half hours, processes": Circumstances(
        env={"PYTHONHASHSEED": "4294967295", "LC_ALL": "tr_TR", "TZ": "Asia/Kolkata", "PYTHONWARNDEFAULTENCODING": "1"},
        jobs=3,
        shuffled=True,
    ),
}


@pytest.fixture(scope="session")
def locales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of locales, Turkish in an encoding that is not UTF-8: with dotless i and a comma in numbers."""
    folder = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef"):
        subprocess.run(
            ["localedef", "-i", "tr_TR", "-f", "ISO-8859-9", folder / "tr_TR"], capture_output=True, check=False
        )
    return folder


def copied(scene: Path, into: Path, order: random.Random) -> None:
    """Copy a folder, its files in some order and with some times."""
    files = [path for path in scene.rglob("*") if path.is_file()]
    for path in order.sample(files, len(files)):
        to = into / path.relative_to(scene)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
        os.utime(to, (when := order.randrange(10**9), when))
    (into / ".git").mkdir()


def outputs(scene: Path, folder: Path, how: Circumstances, locales: Path) -> Path:
    """Make all outputs of a scene in a folder of its own, and return where they are."""
    here = folder / "work"
    order = random.Random(folder.name)
    copied(scene, here, order)
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    env = (
        PLAIN
        | kept
        | {
            "PYTHONPATH": str(ROOT / "src"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_STATE_HOME": str(folder / "state"),
        }
        | dict(how.env)
    )
    env |= {"LOCPATH": str(locales)} if env["LC_ALL"] == "tr_TR" else {}
    turned = dict(order.sample(list(env.items()), len(env)))
    command = [how.python, OUTPUTS, str(how.jobs), *(["shuffled"] if how.shuffled else [])]
    done = subprocess.run(command, cwd=here, env=turned, umask=how.umask, capture_output=True, check=False)
    if done.returncode:
        pytest.fail(f"{how}: {done.stderr.decode()}")
    return here


def difference(one: Path, other: Path) -> str:
    """Return the first file and line in which two folders differ, nothing where they do not."""
    files, theirs = ({str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()} for top in (one, other))
    if files != theirs:
        return f"only one of both has {min(files ^ theirs)}"
    for name in sorted(files):
        had, has = (top.joinpath(name).read_bytes() for top in (one, other))
        if had != has:
            lines = zip_longest(had.split(b"\n"), has.split(b"\n"))
            number, (old, new) = next((at, pair) for at, pair in enumerate(lines, 1) if pair[0] != pair[1])
            return f"{name}:{number}: {(old or b'')[:400]!r}\n    became {(new or b'')[:400]!r}"
    return ""


CONFIG = """\
version: 1
suppress:
  - {rule: ecn-missing-on-rdma-queue, at: "leaf1/Ethernet0/**", reason: "Zürih'te ışık, 試験", until: 2999-12-31}
  - {rule: pfc-without-watchdog, at: "leaf1/Ethernet8", reason: bitti, until: 2020-01-31}
"""


def broken(folder: Path) -> None:
    """Put faults into a build: missing rows and words of other tongues; and a cut file in a folder with an odd name."""
    (folder / ".nodrop.json").unlink()
    unwatched("Ethernet0", "Ethernet8", path=str(folder / "leaf1/config_db.json"))
    path = folder / "leaf1/config_db.json"
    config = json.loads(path.read_text())
    del config["WRED_PROFILE"]
    config["DIŞ_TABLO"] = {"ığ": {"İ": "Straße"}}
    config["PORT"]["Ethernet0"]["description"] = "İstanbul – gpu1 \u202e"
    path.write_text(json.dumps(config, indent=4, ensure_ascii=False), "utf-8")
    spine = folder / "spine1/frr.conf"
    spine.write_text(spine.read_text().replace("maximum-paths", "maksimum-yollar"))
    cut = folder.with_name("cut ığ") / "config_db.json"
    cut.parent.mkdir()
    cut.write_text('{"PORT": {"Ethernet0": {"lanes": "1,2", "ı": ', "utf-8")
    (folder / "leaf-é.json").write_text('{"PORT": {"Ethernet0": {"speed": "400000", "mtu": "9100"}}}')


@pytest.fixture(scope="module")
def scene(two_by_two: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two intents, a broken build, and what the site has decided."""
    folder = tmp_path_factory.mktemp("scene")
    (folder / "intents").mkdir()
    text = (resource_folder("intents") / "two-by-two.yaml").read_text("utf-8")
    (folder / "intents/lab.yaml").write_text(f"# ılık İç, ß, 試験\n{text}", "utf-8")
    other = text.replace("fabric: two-by-two", "fabric: hall-2").replace("min: 150kB", "min: 1.5kB")
    (folder / "intents/hall.yaml").write_text(other, "utf-8")
    shutil.copytree(two_by_two, folder / "broken/lab")
    shutil.copytree(TESTS / "platforms" / "cumulus" / "bad", folder / "broken/cumulus")
    broken(folder / "broken/lab")
    (folder / "broken/lab/nodrop.yaml").write_text(CONFIG, "utf-8")
    return folder


def made_of(scene: Path, folder: Path, locales: Path) -> Mapping[str, Path]:
    """Make all outputs of a scene under all circumstances, two at a time."""
    ways = {"plain": Circumstances(), **OTHERS}
    with ThreadPoolExecutor(2) as two:
        done = {
            name: two.submit(outputs, scene, folder / str(number), how, locales)
            for number, (name, how) in enumerate(ways.items())
        }
    return {name: one.result() for name, one in done.items()}


@pytest.fixture(scope="module")
def made(scene: Path, locales: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """All outputs of the scene, by circumstances."""
    return made_of(scene, tmp_path_factory.mktemp("outputs"), locales)


def test_the_first_difference_is_told(tmp_path: Path) -> None:
    for name, text in (("one", "a\nb\nc\n"), ("other", "a\nB\n")):
        (tmp_path / name / "leaf1").mkdir(parents=True)
        (tmp_path / name / "leaf1/frr.conf").write_text(text)
    one, other = tmp_path / "one", tmp_path / "other"
    assert difference(one, one) == ""
    assert difference(one, other) == "leaf1/frr.conf:2: b'b'\n    became b'B'"
    (other / "leaf0").touch()
    assert difference(one, other) == "only one of both has leaf0"


@pytest.mark.slow
def test_same_bytes(made: Mapping[str, Path]) -> None:
    """Equal is only what there is: each report says something of the faults, and each folder has something.

    One test for all, for two processes would make all outputs twice.
    """
    plain = made["plain"]
    assert {name: text for name in OTHERS if (text := difference(plain, made[name]))} == {}
    for form in FORMATS:
        for name in ("lint-lab-cold", "lint-lab-warm"):
            assert b"pfc-without-watchdog" in (plain / f"reports/{name}.{form}").read_bytes()
    assert (plain / "reports/lint-lab-cold.text").read_bytes() == (plain / "reports/lint-lab-warm.text").read_bytes()
    for folder in (
        "built/lab",
        "built/hall",
        "built-together/hall-2",
        "batfish/lab",
        "containerlab/lab",
        "patches/lab",
        "back/lab",
    ):
        assert any((plain / folder).rglob("*.*")), folder
    said = {path.name[4:]: path.read_text("utf-8") for path in (plain / "said").iterdir()}
    assert "+" in said["fix-broken-lab---diff.out"]
    assert "cut ığ/config_db.json:1" in (plain / "reports/lint-cut ığ-cold.text").read_text("utf-8")
    assert not [name for name, text in said.items() if "exit 70" in text]


def test_the_working_directory_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    intent, ways = tmp_path / "deep/in/lab.yaml", {"/": "", "deep": "in/lab.yaml", "deep/in": "lab.yaml"}
    intent.parent.mkdir(parents=True)
    shutil.copyfile(resource_folder("intents") / "two-by-two.yaml", intent)
    for number, (here, name) in enumerate(ways.items()):
        monkeypatch.chdir(tmp_path / here)
        assert nodrop("build", name or intent, "-o", os.path.relpath(tmp_path / f"out{number}")).code == 0
    assert [difference(tmp_path / "out0", tmp_path / f"out{number}") for number in (1, 2)] == ["", ""]


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12"])
def test_suppressions_end_at_one_moment_everywhere(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The two zones never have the same day, 26 hours apart as they are; of one of them UTC never has it."""
    monkeypatch.setenv("TZ", zone)
    monkeypatch.delenv("NODROP_TODAY", raising=False)
    time.tzset()
    try:
        before, day, after = datetime.now(UTC).date(), suppressions.today(), datetime.now(UTC).date()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert day in (before, after)


@pytest.mark.parametrize("how", [("-c", SCRIPT), ("-m", "nodrop"), ("-I", "-m", "nodrop")])
def test_a_terminal_that_is_not_utf_8(how: tuple[str, ...], tmp_path: Path) -> None:
    """Names of files are taken as UTF-8, and so is what is said of them, also by Python without its environment."""
    (tmp_path / "ışık.json").write_text('{"PORT": {}')
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | ASCII
    env |= {"PYTHONPATH": str(ROOT / "src")} if how[0] != "-I" else {}
    command = [sys.executable, *how, "lint", "ışık.json", "yok-ığ"]
    done = subprocess.run([os.fsencode(part) for part in command], cwd=tmp_path, env=env, capture_output=True)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 2, said
    assert "ışık.json:1" in said
    assert "yok-ığ" in said


PYTHONS = Path(os.environ.get("NODROP_PYTHONS") or Path(sys.prefix) / "pythons")
"""Where `make pythons` puts an environment for each Python of the machine, called by its version."""
NEEDED = (
    "import importlib.metadata as m; m.version('nodrop'); import _ruamel_yaml, click, jinja2, netaddr, orjson, pydantic"
)


def other_python(version: str) -> str:
    """Return a Python of a version that has what nodrop needs."""
    prepared = PYTHONS / version / "bin/python"
    found = str(prepared) if prepared.exists() else shutil.which(f"python{version}")
    if found is None or subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"no Python {version} on this machine")
    done = subprocess.run([found, "-c", NEEDED], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{done.stderr.splitlines()[-1]} in Python {version}: `make pythons` gives it what nodrop needs")
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_other_pythons(version: str, made: Mapping[str, Path], scene: Path, locales: Path, tmp_path: Path) -> None:
    how = Circumstances(python=other_python(version), jobs=2, env={"PYTHONHASHSEED": "5"})
    assert difference(made["plain"], outputs(scene, tmp_path, how, locales)) == ""


LARGE = {
    "ids: 1-4, model": "ids: 1-32, model",
    "ids: 1-2, model": "ids: 1-16, model",
    "per_spine: 8": "per_spine: 1",
    "ids: 1-32, gpus": "ids: 1-256, gpus",
}
"""The reference fabric as 48 switches; with those of the other intents, they are more than a hundred."""


@pytest.fixture(scope="module")
def every_scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All intents and a large one, and all configurations of every platform that tests read."""
    folder = tmp_path_factory.mktemp("scenes")
    (folder / "intents").mkdir()
    for path in resource_folder("intents").glob("*.yaml"):
        shutil.copyfile(path, folder / "intents" / path.name)
    text = (
        (resource_folder("intents") / "reference-256.yaml").read_text("utf-8").replace("\nfabric: ", "\nfabric: large-")
    )
    for old, new in LARGE.items():
        assert old in text, old
        text = text.replace(old, new)
    (folder / "intents/large.yaml").write_text(text, "utf-8")
    for name in ("cumulus", "nclu", "nvue", "onyx"):
        ignored = shutil.ignore_patterns("*.py", "*.findings", "__pycache__", "*.csv")
        shutil.copytree(TESTS / "platforms" / name, folder / "broken" / name, ignore=ignored)
    return folder


@pytest.mark.nightly
def test_same_bytes_of_everything(every_scene: Path, locales: Path, tmp_path: Path) -> None:
    made = made_of(every_scene, tmp_path, locales)
    plain = made["plain"]
    said = {path.name: path.read_text("utf-8") for path in (plain / "said").iterdir()}
    assert not [name for name, text in said.items() if "exit 70" in text]
    assert all((plain / "built" / path.stem / ".nodrop.json").exists() for path in (plain / "intents").iterdir())
    assert {name: text for name in OTHERS if (text := difference(plain, made[name]))} == {}
