"""No secret of a configuration is in what a command says or keeps; only patches and exports hold what they must."""

import json
import shutil
from collections.abc import Iterator
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from command import nodrop
from nodrop.cli.options import FORMATS
from nodrop.resources import home

HERE = Path(__file__).parent
CORPUS: dict[str, list[Any]] = YAML(typ="safe", pure=True).load((HERE / "secrets.yaml").read_text())
del CORPUS["frr"]
RULES = {"secret-in-configuration", "hashed-password-in-configuration"}
SECRET = "Zk3rT9qW"
"""What every secret of the corpus begins with."""


class Site:
    """A device's files with secrets in them, and the lines on which they stand."""

    def __init__(self, folder: Path, device: Path, file: str) -> None:
        self.folder, self.file = folder, device / file
        self._numbers = count()

    def secret(self) -> str:
        return f"{SECRET}{next(self._numbers):03}"

    def fill(self, text: str) -> str:
        while "@" in text.replace("cumulus@leaf1", ""):
            head, sep, rest = text.partition("cumulus@leaf1") if text.startswith("cumulus@leaf1") else ("", "", text)
            text = head + sep + rest.replace("@", self.secret(), 1)
        return text

    @property
    def lines(self) -> list[int]:
        """The lines that hold a secret."""
        return [number for number, line in enumerate(self.file.read_text().split("\n"), 1) if SECRET in line]


def merged(into: dict[str, Any], more: dict[str, Any]) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merged(into[key], value)
        else:
            into[key] = value


def site(kind: str, folder: Path, two_by_two: Path) -> Site:
    """Make a device of a platform with all its secrets."""
    platform, _, file = kind.partition("/")
    device, cases = folder / "leaf1", CORPUS[kind]
    if platform == "sonic":
        shutil.copytree(two_by_two / "leaf1", device)
    elif platform == "cumulus":
        shutil.copytree(HERE / "cumulus/good", device)
    else:
        device.mkdir()
    made = Site(folder, device, file)
    texts = [made.fill(case) for case in cases] if not file.endswith(".json") else []
    path = device / file
    if file.endswith(".json"):
        tables = json.loads(path.read_text())
        for case in cases:
            merged(tables, json.loads(made.fill(json.dumps(case))))
        path.write_text(json.dumps(tables, indent=2))
    elif file.endswith(".yaml"):
        yaml, tree = YAML(typ="safe", pure=True), dict[str, Any]()
        for text in texts:
            merged(tree, yaml.load(text))
        written = StringIO()
        yaml.default_flow_style = False
        yaml.dump([{"set": tree}], written)
        path.write_text(written.getvalue())
    else:
        good = {"onyx": HERE / "onyx/good.txt", "nclu": HERE / "nclu/good.txt"}.get(platform, path)
        path.write_text((good.read_text() if good.exists() else "") + "\n" + "\n".join(texts) + "\n")
    return made


@pytest.fixture(scope="module")
def sites(two_by_two: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Site]:
    made = {}
    for kind in CORPUS:
        made[kind] = site(kind, tmp_path_factory.mktemp(kind.replace("/", "-")), two_by_two)
    return made


def told(found: Site) -> set[int]:
    done = nodrop(
        "lint",
        found.file if found.file.suffix == ".nv" else found.folder,
        "--format",
        "json",
        "--strictness",
        "auditor",
    )
    return {one["line"] for one in json.loads(done.out)["findings"] if one["rule"] in RULES}


@pytest.mark.parametrize("kind", CORPUS)
def test_every_secret_is_remarked_where_it_stands(sites: dict[str, Site], kind: str) -> None:
    found = sites[kind]
    texts = found.file.read_text().split("\n")
    assert [texts[line - 1] for line in found.lines if line not in told(found)] == []


def leaks(text: str) -> Iterator[str]:
    """Yield the lines of an output in which a secret stands, a part of one included."""
    yield from (line for line in text.split("\n") if SECRET[:6] in line)


@pytest.mark.parametrize("kind", CORPUS)
def test_no_format_shows_a_secret(
    sites: dict[str, Site], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = sites[kind]
    monkeypatch.delenv("NODROP_NO_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    what = found.file if found.file.suffix == ".nv" else found.folder
    outputs = [word for name in FORMATS if name != "text" for word in ("--format", f"{name}={tmp_path / name}")]
    for strictness in ("regular", "auditor"):
        for _ in range(2):  # the second from the cache
            done = nodrop("lint", what, "-v", "--strictness", strictness, "--format", "text", *outputs)
            assert [*leaks(done.out + done.err)] == []
            for name in FORMATS:
                if name != "text":
                    assert [*leaks((tmp_path / name).read_text())] == [], name
    kept = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert kept
    from nodrop import cache

    store = cache.opened([])
    assert store is not None
    for path in kept:
        assert SECRET.encode() not in (store.get(path.name) or b""), path


@pytest.mark.parametrize("kind", CORPUS)
def test_no_command_shows_a_secret(
    sites: dict[str, Site], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = sites[kind]
    monkeypatch.chdir(tmp_path)
    base = tmp_path / "base"
    shutil.copytree(found.folder, base)
    former = base / found.file.relative_to(found.folder)
    former.write_text(former.read_text().replace(SECRET, f"{SECRET}old"))
    what = found.file if found.file.suffix == ".nv" else found.folder
    was = former if found.file.suffix == ".nv" else base
    for words in (
        ["validate", what, "-v"],
        ["import", what],
        ["import", what, "-v"],
        ["fix", "--unsafe", "--diff", what],
        ["baseline", what],
        ["plan", was, what, "-v"],
        ["plan", was, what, "--format", "json"],
        ["drift", was, what, "-v"],
        ["explain", "leaf1", what],
        ["show", what],
    ):
        done = nodrop(*words)
        assert done.code != 70, done.err
        assert [*leaks(done.out + done.err)] == [], words
    for path in tmp_path.rglob("*"):
        if path.is_file() and base not in path.parents:
            assert [*leaks(path.read_text(errors="replace"))] == [], path


def test_check_shows_no_secret(sites: dict[str, Site], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for kind, found in sites.items():
        name = kind.replace("/", "-")
        for top, former in ((old, True), (new, False)):
            shutil.copytree(found.file.parent, top / name)
            file = top / name / found.file.name
            file.write_text(file.read_text().replace(SECRET, f"{SECRET}old") if former else file.read_text())
    monkeypatch.chdir(tmp_path)
    for name in ("text", "markdown", "json"):
        done = nodrop("check", "new", "--base", "old", "--format", name, "-v")
        assert done.code in (0, 1, 2), done.err
        assert [*leaks(done.out + done.err)] == []


def test_settings_of_ones_own_in_an_intent_are_not_shown(tmp_path: Path) -> None:
    text = (home("intents") / "two-by-two.yaml").read_text()
    extra = f"extra:\n  leaf1:\n    config_db: {{TACPLUS: {{global: {{passkey: {SECRET}001}}}}}}\n"
    file = tmp_path / "i.yaml"
    file.write_text(f"{text}\n{extra}")
    for words in (["lint", file, "-v"], ["validate", file], ["build", file, "--check", "-o", tmp_path / "out"]):
        done = nodrop(*words)
        assert [*leaks(done.out + done.err)] == []
    file.write_text(f"{text}\nextra:\n  leaf1:\n    passkey: {{x: {SECRET}002}}\n")
    done = nodrop("lint", file)
    assert [*leaks(done.out + done.err)] == []


def test_hosts_files_show_no_secret(tmp_path: Path) -> None:
    (tmp_path / "gpu1").mkdir()
    (tmp_path / "gpu1/nccl.env").write_text(f"NCCL_IB_TC=106\nAPI_TOKEN={SECRET}001\nexport DB_PASSWORD={SECRET}002\n")
    (tmp_path / "gpu1/setup.sh").write_text(f"mlnx_qos -i eth0 --pfc=0,0,0,1,0,0,0,0\nmysql --password={SECRET}003\n")
    for words in (["lint", tmp_path, "-v"], ["lint", tmp_path, "--format", "json"], ["show", tmp_path]):
        done = nodrop(*words)
        assert [*leaks(done.out + done.err)] == []
