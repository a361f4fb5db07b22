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

from nodrop.cli.options import REPORT_FORMATS
from nodrop.resources import resource_folder
from support.command import nodrop
from support.places import TESTS

CORPUS: dict[str, list[Any]] = YAML(typ="safe").load((TESTS / "cli" / "secrets.yaml").read_text())
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
        shutil.copytree(TESTS / "platforms" / "cumulus" / "good", device)
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
        good = {
            "onyx": TESTS / "platforms" / "onyx" / "good.txt",
            "nclu": TESTS / "platforms" / "nclu" / "good.txt",
        }.get(platform, path)
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
    outputs = [word for name in REPORT_FORMATS if name != "text" for word in ("--format", f"{name}={tmp_path / name}")]
    for strictness in ("regular", "auditor"):
        for _ in range(2):  # the second from the cache
            done = nodrop("lint", what, "-v", "--strictness", strictness, "--format", "text", *outputs)
            assert [*leaks(done.out + done.err)] == []
            for name in REPORT_FORMATS:
                if name != "text":
                    assert [*leaks((tmp_path / name).read_text())] == [], name
    kept = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert kept
    from nodrop import cache

    store = cache.open_user_store([])
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
    text = (resource_folder("intents") / "two-by-two.yaml").read_text()
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


LIKE = {
    "config_db.json": {
        "LDAP_SERVER": {"192.0.2.9": {"bind_password": f"{SECRET}001", "prio": "x"}},
        "AAA": {"authentication": {"login": "tacacs+", "passkey": f"{SECRET}002"}},
        "TACPLUS_SERVER": {"192.0.2.8": {"passkeyy": f"{SECRET}003"}},
        "SNMP_COMMUNITY": {f"{SECRET}004": {"TYPE": "RWX", "bogus": "1"}},
        "CREDENTIALS": {"x": {"password": f"{SECRET}005"}},
    },
    "frr.conf": f"router bgp 65001\n neighbor 10.0.0.1 passwor {SECRET}006\n neighbor 10.0.0.1 PASSWORD {SECRET}007\n",
    "nclu.txt": f"net add bgp neighbor swp1 passwor {SECRET}008\nnet add interface swp2 alias password {SECRET}009\n"
    f"net add bpg neighbor swp1 pasword {SECRET}010\n",
}
"""What only looks like a secret, by the file that it stands in: no command quotes it."""


@pytest.mark.parametrize("form", ["as written", "on one line", "a dump"])
def test_what_looks_like_a_secret_is_not_shown(
    form: str, two_by_two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(two_by_two / "leaf1", "old/leaf1")
    shutil.copytree(two_by_two / "leaf1", "new/leaf1")
    file = Path("new/leaf1/config_db.json")
    tables = json.loads(file.read_text())
    merged(tables, LIKE["config_db.json"])
    del tables["PFC_WD"]
    if form == "a dump":
        tables = {f"{table}|{key}": row for table, rows in tables.items() for key, row in rows.items()}
    file.write_text(json.dumps(tables, indent=None if form == "on one line" else 4))
    with Path("new/leaf1/frr.conf").open("a") as lines:
        lines.write(LIKE["frr.conf"])
    Path("old/leaf2").mkdir()
    Path("new/leaf2").mkdir()
    Path("old/leaf2/nclu.txt").write_text("net add interface swp1 mtu 9216\n")
    Path("new/leaf2/nclu.txt").write_text("net add interface swp1 mtu 9216\n" + LIKE["nclu.txt"])
    commands = [
        ["lint", "new", "-v", "--strictness", "auditor", "--format", name] for name in ("text", "json", "github")
    ]
    commands += [["check", "new", "--base", "old", "--format", name, "-v"] for name in ("text", "markdown", "json")]
    commands += [["plan", "old", "new", "-v"], ["import", "new"], ["fix", "--diff", "--unsafe", "new/leaf1"]]
    for words in commands:
        done = nodrop(*words)
        assert done.code != 70, done.err
        assert [*leaks(done.out + done.err)] == [], words


def test_a_community_with_another_fault_is_in_no_entry_of_the_cache(
    two_by_two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nodrop import cache

    monkeypatch.delenv("NODROP_NO_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shutil.copytree(two_by_two / "leaf1", tmp_path / "leaf1")
    file = tmp_path / "leaf1/config_db.json"
    tables = json.loads(file.read_text())
    file.write_text(json.dumps(tables | {"SNMP_COMMUNITY": {f"{SECRET}001": {"TYPE": "RWX"}}}))
    nodrop("lint", tmp_path / "leaf1")
    store = cache.open_user_store([])
    kept = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert store is not None
    assert kept
    for path in kept:
        assert SECRET.encode() not in (store.get(path.name) or b""), path


def test_an_import_shows_no_community_and_no_folded_secret(tmp_path: Path) -> None:
    (tmp_path / "leaf1").mkdir()
    (tmp_path / "leaf1/startup.yaml").write_text(
        "- header: {version: Cumulus Linux 5.14.0}\n- set:\n    system:\n      hostname: leaf1\n      snmp-server:\n"
        f"        readonly-community:\n          {SECRET}001: {{access: {{any: {{}}}}}}\n      aaa:\n        radius:\n"
        f"          server:\n            192.0.2.1:\n              secret: >-\n                {SECRET}002\n"
        "    interface:\n      swp1-4:\n        type: swp\n"
    )
    for words in (["import", tmp_path], ["lint", tmp_path, "-v"], ["show", tmp_path]):
        done = nodrop(*words)
        assert done.code != 70, done.err
        assert [*leaks(done.out + done.err)] == [], words


SLIPS_IN_TABLES = {
    "TACPLUS": "pasword pass_key passky secrt pss",
    "RADIUS_SERVER": "passky Passkey pskey",
    "BGP_NEIGHBOR": "auth_pasword auth_pssword authpassword auth_pw",
    "LDAP": "bind_pssword bindpw",
    "NTP_KEY": "vlaue val",
    "NTP_KEYS": "value",
    "SNMP_USER": "SNMP_USER_AUTH_PSSWORD SNMP_USER_AUTH_PW",
    "MACSEC_PROFILE": "primary_ckk primarycak",
    "DEVICE_METADATA": "snmp_comunity pssword",
    "SNMP": "comunity snmp_comunity",
}
"""Misspelled names of secret fields, by table or misspelled table."""
_KEYS = {"BGP_NEIGHBOR": "default|10.0.0.1", "RADIUS_SERVER": "192.0.2.2", "DEVICE_METADATA": "localhost"}
_NVUE = (
    "- header: {version: Cumulus Linux 5.14.0}\n- set:\n    interface:\n      swp1-4: {type: swp}\n    system:\n"
    "      hostname: leaf1\n"
)
SLIPS_IN_TEXTS = {
    "a session of FRR": ("frr.conf", "router bgp 65001\n neighbor 10.0.0.2 WORD SECRET\n"),
    "a daemon": ("frr.conf", "router bgp 65001\n!\nWORD SECRET\nenable WORD SECRET\n"),
    "NCLU": (
        "nclu.txt",
        "net add interface swp1 mtu 9216\nnet add bgp neighbor swp1 WORD SECRET\nnet add radius WORD SECRET\n",
    ),
    "Onyx": ("running-config.txt", "hostname leaf1\nusername admin WORD SECRET\ninterface ethernet 1/1 mtu 9216\n"),
    "a user of NVUE": ("startup.yaml", f"{_NVUE}      aaa: {{user: {{bob: {{WORD: SECRET}}}}}}\n"),
    "a server of NVUE": (
        "startup.yaml",
        f"{_NVUE}      aaa:\n        radius:\n          server:\n            192.0.2.1:\n              WORD: SECRET\n",
    ),
}
"""Where a misspelled word has a secret behind it, by what it is for."""


def _assert_no_format_leaks(folder: Path) -> None:
    for name in REPORT_FORMATS:
        done = nodrop("lint", folder, "-v", "--strictness", "auditor", "--format", name)
        assert done.code != 70, done.err
        assert [*leaks(done.out + done.err)] == [], name


@pytest.mark.parametrize("indent", [4, None])
@pytest.mark.parametrize("table", SLIPS_IN_TABLES)
def test_the_value_of_a_misspelled_secret_field_is_not_shown(
    table: str, indent: int | None, two_by_two: Path, tmp_path: Path
) -> None:
    shutil.copytree(two_by_two / "leaf1", tmp_path / "leaf1")
    file = tmp_path / "leaf1/config_db.json"
    tables = json.loads(file.read_text())
    for number, field in enumerate(SLIPS_IN_TABLES[table].split()):
        merged(tables, {table: {_KEYS.get(table, "global"): {field: f"{SECRET}{number:03}"}}})
    file.write_text(json.dumps(tables, indent=indent))
    _assert_no_format_leaks(tmp_path)


def test_texts_in_place_of_rows_of_secrets_are_not_shown(two_by_two: Path, tmp_path: Path) -> None:
    shutil.copytree(two_by_two / "leaf1", tmp_path / "leaf1")
    file = tmp_path / "leaf1/config_db.json"
    tables = json.loads(file.read_text())
    wrong = {"passkey": f"{SECRET}001", "global": {"paskey": [f"{SECRET}002"]}}
    file.write_text(
        json.dumps(tables | {"TACPLUS": wrong, "SNMP_COMUNITY": {f"{SECRET}003": {"TYPE": "RO"}}}, indent=4)
    )
    _assert_no_format_leaks(tmp_path)


@pytest.mark.parametrize("word", ["pasword", "pssword", "passsword", "apssword", "passwrd", "paword"])
@pytest.mark.parametrize("place", SLIPS_IN_TEXTS)
def test_what_follows_a_misspelled_word_for_a_secret_is_not_shown(place: str, word: str, tmp_path: Path) -> None:
    name, text = SLIPS_IN_TEXTS[place]
    (tmp_path / "leaf1").mkdir()
    (tmp_path / "leaf1" / name).write_text(text.replace("WORD", word).replace("SECRET", f"{SECRET}001"))
    _assert_no_format_leaks(tmp_path)


def test_a_misspelled_secret_is_moved_on_the_switch(two_by_two: Path, tmp_path: Path) -> None:
    """The command reads the value there, so that nothing shows it."""
    shutil.copytree(two_by_two / "leaf1", tmp_path / "leaf1")
    file = tmp_path / "leaf1/config_db.json"
    tables = json.loads(file.read_text())
    file.write_text(json.dumps(tables | {"TACPLUS": {"global": {"passky": f"{SECRET}001"}}}, indent=4))
    done = nodrop("lint", tmp_path)
    moved = 'passkey "$(sudo sonic-db-cli CONFIG_DB HGET "TACPLUS|global" passky)"'
    assert f'sudo sonic-db-cli CONFIG_DB HSET "TACPLUS|global" {moved}' in done.out
