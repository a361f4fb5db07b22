"""Malformed, hostile and absurd input through the real command line: always words and a code, never a traceback."""

import contextlib
import copy
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import nodrop as verbs
from nodrop.inputs.disk import FILE_HEAD_BYTES
from nodrop.report.schema import findings_schema
from nodrop.resources import resource_folder
from support.command import Done, built, nodrop
from support.marked import mostly_nightly, nightly

INTENT = (resource_folder("intents") / "two-by-two.yaml").read_text()
FINDINGS = Draft202012Validator(findings_schema())
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")
NASTY = {
    "escape": "\x1b[2J\x1b]0;owned\x07",
    "bidi": "\u202egnp.exe\u2066",
    "nul": "a\0b",
    "newline": "x\nrouter bgp 1\n ::error file=/etc/passwd::x",
    "carriage return": "x\r::error::x",
    "separators": "x\u2028y\u2029z\x85",
    "command": "%0A::error file=x,line=1::owned",
    "markup": "<script>alert(1)</script>[x](javascript:y)",
    "template": "{{ 7 * 7 }}{% raw %}${x}`id`$(id)",
    "path": "../../../../etc/passwd",
    "absolute": "/etc/passwd",
    "surrogate": "\udcff",
    "long": "A" * 10_000,
    "empty": "",
    "space": " ",
    "zalgo": "e" + "\u0301" * 200,
    "emoji": "\U0001f469\u200d\U0001f680",
    "digits": "\u0663\u00b2\uff11",
    "glob": "*?[a-z]",
    "dash": "--format=json",
}


TEXTS = mostly_nightly(NASTY, quick=("escape", "newline", "command", "markup", "template", "surrogate", "long"))


@pytest.fixture(scope="session")
def configs() -> dict[str, str]:
    """Real files of a real leaf, by name."""
    fabric = verbs.build(verbs.load(resource_folder("intents") / "two-by-two.yaml"))
    return {one.path: one.text for one in verbs.write(fabric) if one.device == "leaf1" or one.path == "fabric.yaml"}


@pytest.fixture(autouse=True)
def in_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tree(top: str | Path = ".") -> dict[str, tuple[int, int]]:
    """Everything below a folder, with size and time of change; links are not followed."""
    found = {}
    for here, folders, files in os.walk(top):
        for name in (*folders, *files):
            status = Path(here, name).lstat()
            found[str(Path(here, name))] = (status.st_size, status.st_mtime_ns)
    return found


def examined(*args: str | Path, stdin: bytes = b"") -> Done:
    """Run a command as text and as JSON: it ends with a code and in words that steer nothing, and changes nothing."""
    before = tree()
    done = nodrop(*args, stdin=stdin)
    assert done.code in (0, 1, 2, 3), done.err
    assert "Traceback" not in done.err
    assert not STEERS.search(done.out), STEERS.search(done.out)
    assert not STEERS.search(done.err)
    assert not re.search(r"^\s*::(?!: )", done.out, re.MULTILINE), "a workflow command of somebody else's"
    if args[0] == "lint":
        report = nodrop(*args, "--format", "json", stdin=stdin)
        assert report.code == done.code
        FINDINGS.validate(json.loads(report.out))
    assert tree() == before
    return done


def write(path: str, content: str | bytes | object) -> Path:
    where = Path(path)
    where.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    where.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return where


# ---------------------------------------------------------------------------------------------- broken syntax


@pytest.mark.slow
def test_a_configuration_cut_off_anywhere(configs: dict[str, str], tmp_path: Path) -> None:
    raw = configs["config_db.json"].encode()
    path = tmp_path / "leaf1" / "config_db.json"
    path.parent.mkdir()
    for end in range(0, len(raw) - 2, 50):
        path.write_bytes(raw[:end])
        done = nodrop("lint", "leaf1/config_db.json", "--select", "hygiene")
        lines = raw[:end].decode().rstrip().split("\n")
        place = f"leaf1/config_db.json:{len(lines)}:{len(lines[-1]) + 1}"
        assert (done.code, done.out.count(f"error: {place}: ")) == (2, 1), end
        said = done.out.partition(f"{place}: ")[2].partition("\n")[0]
        if end == 0:
            assert said == "an empty file; expected JSON"
        else:
            opened = re.fullmatch(r"the file ends inside (an object|a text) opened at line (\d+), column (\d+)", said)
            assert opened, said
            character = lines[int(opened[2]) - 1][int(opened[3]) - 1]
            assert character == {"an object": "{", "a text": '"'}[opened[1]]


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["config_db.json", "frr.conf", "fabric.yaml", "intent.yaml"])
def test_any_file_cut_off_anywhere(name: str, configs: dict[str, str], tmp_path: Path) -> None:
    text = configs.get(name, INTENT)
    for other, whole in configs.items():
        write(f"leaf1/{other}", whole)
    path = write(f"leaf1/{name}", "")
    for end in range(0, len(text), max(len(text) // 40, 1)):
        path.write_text(text[:end])
        examined("lint", "leaf1")


ELSE = [
    *[b"", b" \n\t", b"\xef\xbb\xbf", b"\0", b"\0" * 5000, b"\xff\xff\xff", b"\x80abc", b"\r\r\r"],
    *[b"\xff\xfe{\0}\0", "{}".encode("utf-16"), "nodrop: 1\n".encode("utf-16"), b'{"PORT": {"\xc3\x28": {}}}'],
    *[
        b"{",
        b"}",
        b"[]",
        b"null",
        b"1",
        b'"x"',
        b"1e999",
        b"-",
        b"{}{}",
        b"{} x",
        b"{'a': 1}",
        b'{"a": 1,}',
        b'{"a":\r1}',
    ],
    *[b"// x\n{}", b"%YAML 9.9\n---\n", b"PK\x03\x04", b"\x1f\x8b\x08", b"#!/bin/sh\nrm -rf /\n"],
    *[b"!!python/object/apply:os.system [id]", b"nodrop: !!python/name:os.system\n", b"<<: {a: 1}\nnodrop: 1\n"],
    *[b"? [a]\n: 1\n", b"nodrop: 1\n---\nnodrop: 1\n", b"\t\tnodrop: 1", b"nodrop: 1\nfabric: 'x", b"nodrop: 1\n\xff"],
    *[b"nodrop:", b"nodrop: [", b"*x", b"&x *x", b"nodrop: 1\n&a a: *a\n", b"a: &a [*a]\nnodrop: 1\n"],
]


@pytest.mark.slow
@pytest.mark.parametrize("raw", ELSE, ids=lambda raw: repr(raw[:20]))
@pytest.mark.parametrize("name", ["config_db.json", "frr.conf", "fabric.yaml", "intent.yaml", "x.json", "x.txt"])
def test_files_that_are_something_else(name: str, raw: bytes) -> None:
    write(f"leaf1/{name}", raw)
    examined("lint", f"leaf1/{name}")
    examined("lint", "leaf1")


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"nodrop: 1\n\xff", b"\0", b"[" * 1000])
def test_standard_input_that_is_something_else(raw: bytes) -> None:
    assert examined("lint", "-", stdin=raw).code == 2


@pytest.mark.parametrize("raw", [b"\xef\xbb\xbf", b"\r\n"])
def test_a_byte_order_mark_and_line_ends_of_windows_are_read(raw: bytes, configs: dict[str, str]) -> None:
    for name in ("config_db.json", "frr.conf", "fabric.yaml"):
        text = configs[name].encode()
        if raw != b"\xef\xbb\xbf":
            text = text.replace(b"\n", raw)
        elif name != "config_db.json":  # a switch does not load one that begins so
            text = raw + text
        write(f"leaf1/{name}", text)
    write("intent.yaml", raw + INTENT.encode() if raw == b"\xef\xbb\xbf" else INTENT.encode().replace(b"\n", raw))
    for path in ("leaf1", "intent.yaml"):
        done = examined("lint", path)
        assert (done.code, "no findings in" in done.out) == (0, True)


@pytest.mark.parametrize("levels", [65, 1000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('{"PORT":[', "]}")])
def test_deep_nesting(opening: str, closing: str, levels: int) -> None:
    write("leaf1/config_db.json", opening * levels + "1" + closing * levels)
    write("leaf1/open.json", opening * levels)
    done = examined("lint", "leaf1/config_db.json")
    assert (done.code, "at most 64 levels" in done.out) == (2, True)
    assert examined("lint", "leaf1/open.json").code == 2
    flow = opening.replace('"', "") * levels
    write("leaf2/intent.yaml", f"nodrop: 1\nx: {flow}")
    write("leaf2/config_db.json", "{}")
    write("leaf2/fabric.yaml", f"name: {flow}")
    done = examined("lint", "leaf2")
    assert (done.code, done.out.count("error: ")) == (2, 2)


def bomb(levels: int, width: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "text", [bomb(9, 9), bomb(50, 2), "x: &x [" + "y, " * 100_000 + "]\n" + "z: [*x, *x, *x, *x, *x]\n"]
)
def test_aliases_that_multiply(text: str) -> None:
    write("leaf1/config_db.json", "{}")
    write("leaf1/fabric.yaml", text)
    write("intent.yaml", f"nodrop: 1\n{text}")
    for path in ("leaf1", "intent.yaml"):
        done = examined("lint", path)
        assert (done.code, "aliases" in done.out) == (2, True)
    assert nodrop("show", "intent.yaml").code == 2


def test_keys_that_stand_twice(configs: dict[str, str]) -> None:
    text = configs["config_db.json"].replace('"PFC_WD": {', '"PFC_WD": {},\n    "PFC_WD": {', 1)
    write("leaf1/config_db.json", text)
    write("leaf1/fabric.yaml", configs["fabric.yaml"])
    done = examined("lint", "leaf1", "--select", "duplicate-key")
    line = text[: text.index('"PFC_WD": {\n')].count("\n") + 1
    assert (done.code, f"--> leaf1/config_db.json:{line}:5" in done.out) == (1, True)
    write("leaf1/config_db.json", "{" + '"PORT": {},' * 5_000 + '"PORT": {}}')
    assert examined("lint", "leaf1", "--select", "duplicate-key").code == 1


# ------------------------------------------------------------------------------------------- hostile content


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place inside a document."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*path, key)
        yield from places(each, (*path, key))


def put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    """Replace what stands at a place; nothing where an earlier change has removed it."""
    with contextlib.suppress(KeyError, IndexError, TypeError):
        for key in path[:-1]:
            document = document[key]
        document[path[-1]]
        document[path[-1]] = value


numbers = (
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([10**30, -1, 0, 2**64, 1e308])
)
NASTY_WORDS = [text for name, text in NASTY.items() if name not in ("long", "surrogate")]
KEYS = [
    "Ethernet0,Ethernet8",
    "Ethernet0|3-4",
    "Ethernet0|9-0",
    "Ethernet\u0663",
    "|",
    "||",
    "[TABLE|x]",
    "AZURE",
    "NULL",
]
VALUES = [
    "0",
    "-1",
    "3,4",
    ",",
    "3-",
    "9" * 20,
    "10.0.0.1/31",
    "::/0",
    "999.0.0.1/33",
    "true",
    "up",
    "5m",
    "0m",
    "-5m",
    "1e3",
]
words = st.text(max_size=6) | st.sampled_from([*NASTY_WORDS, *KEYS, *VALUES])
jsons = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=4,
)


@pytest.mark.nightly
@given(data=st.data())
def test_wrong_values_anywhere_in_a_configuration(data: st.DataObject, configs: dict[str, str]) -> None:
    config = json.loads(configs["config_db.json"])
    everywhere = list(places(config))
    by_depth = [[path for path in everywhere if len(path) == depth] for depth in (1, 2, 3)]
    for _ in range(data.draw(st.integers(1, 4))):
        path = data.draw(st.sampled_from(data.draw(st.sampled_from(by_depth))))
        put(config, path, copy.deepcopy(data.draw(jsons)))
    if data.draw(st.booleans()):
        table = data.draw(st.sampled_from(sorted(config)))
        if isinstance(config[table], dict):
            config[table][data.draw(words)] = data.draw(jsons)
    write("leaf1/config_db.json", json.dumps(config))
    write("leaf1/frr.conf", configs["frr.conf"])
    Path("leaf1/fabric.yaml").unlink(missing_ok=True)
    if data.draw(st.booleans()):
        write("leaf1/fabric.yaml", configs["fabric.yaml"])
    assert examined("lint", "leaf1").code in (0, 1, 2)


@given(data=st.data())
def test_wrong_words_anywhere_in_a_routing_configuration(data: st.DataObject, configs: dict[str, str]) -> None:
    lines = configs["frr.conf"].splitlines()
    for _ in range(data.draw(st.integers(1, 6))):
        index = data.draw(st.integers(0, len(lines) - 1))
        cut = lines[index].split(" ")
        at = data.draw(st.integers(0, len(cut)))
        change = data.draw(st.sampled_from(["cut", "put", "twice", "out"]))
        if change == "cut":
            lines[index] = " ".join(cut[:at])
        elif change == "put":
            lines[index] = " ".join([*cut[:at], data.draw(words), *cut[at:]])
        elif change == "twice":
            lines.insert(data.draw(st.integers(0, len(lines))), lines[index])
        else:
            lines[index] = lines[index].strip()
    write("leaf1/config_db.json", configs["config_db.json"])
    write("leaf1/frr.conf", "\n".join(lines))
    assert examined("lint", "leaf1").code in (0, 1, 2)


def spelt(value: Any) -> str:
    """Parsed YAML, on one line, its texts in quotes unless they are words that the loader leaves alone."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{spelt(str(key))}: {spelt(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(spelt, value)) + "]"
    return json.dumps(value)


@pytest.mark.nightly
@given(data=st.data())
@pytest.mark.parametrize("name", ["intent.yaml", "fabric.yaml"])
def test_wrong_values_anywhere_in_yaml(name: str, data: st.DataObject, configs: dict[str, str]) -> None:
    from nodrop.syntax.yaml import parse_yaml

    document = parse_yaml(configs.get(name, INTENT), name).data
    everywhere = list(places(document))
    for _ in range(data.draw(st.integers(1, 3))):
        put(document, data.draw(st.sampled_from(everywhere)), copy.deepcopy(data.draw(jsons)))
    text = "".join(f"{spelt(str(key))}: {spelt(value)}\n" for key, value in document.items())
    write(f"site/{name}", text)
    write("site/leaf1/config_db.json", configs["config_db.json"])
    assert examined("lint", "site").code in (0, 1, 2)
    assert examined("show", f"site/{name}").code in (0, 2)


def everywhere(config: dict[str, Any], text: str) -> dict[str, Any]:
    """A configuration with a text in every kind of place: names of tables, rows and fields, and values."""
    config["DEVICE_METADATA"]["localhost"]["hostname"] = text
    config["PORT"]["Ethernet0"] |= {"description": text, "alias": text, "lanes": text, text: text}
    config["PORT"][text] = dict(config["PORT"]["Ethernet8"])
    config["PORT_QOS_MAP"][text] = dict(config["PORT_QOS_MAP"]["Ethernet8"])
    config["PORT_QOS_MAP"]["Ethernet8"]["dscp_to_tc_map"] = text
    config["PFC_WD"][text] = {"action": text, "detection_time": text}
    config["BUFFER_PG"][f"{text}|3-4"] = {"profile": text}
    config["QUEUE"][f"Ethernet8|{text}"] = {"scheduler": text, "wred_profile": text}
    config["DSCP_TO_TC_MAP"][text] = {text: text}
    config["DEVICE_NEIGHBOR"][text] = {"name": text, "port": text}
    config["INTERFACE"][f"Ethernet0|{text}"] = {}
    config["CABLE_LENGTH"]["AZURE"][text] = text
    config["FLEX_COUNTER_TABLE"][text] = {"FLEX_COUNTER_STATUS": text}
    config[text] = {text: {text: text}}
    return config


@pytest.mark.parametrize("name", TEXTS)
def test_nasty_text_in_a_configuration(name: str, configs: dict[str, str]) -> None:
    config = everywhere(json.loads(configs["config_db.json"]), NASTY[name])
    write("leaf1/config_db.json", json.dumps(config))
    write("leaf2/config_db.json", json.dumps(config, ensure_ascii=False))
    assert examined("lint", "leaf1", "-v", "--color", "never", "--strictness", "auditor").code in (1, 2)
    assert examined("lint", ".").code in (1, 2)


HOSTILE_ROUTING = """\
hostname TEXT
router bgp TEXT
 neighbor TEXT remote-as TEXT
 neighbor 10.1.0.1 description TEXT
 neighbor 10.1.0.1 route-map TEXT in
route-map TEXT permit TEXT
 match ip address prefix-list TEXT
ip prefix-list TEXT seq TEXT permit TEXT le TEXT
ip route TEXT TEXT vrf TEXT
TEXT
!TEXT
bgp community-list standard TEXT permit TEXT
router bgp
neighbor
no neighbor
no
ip
ip route
route-map
router bgp MANY
router bgp 65001
 neighbor x
 no neighbor x
 neighbor 10.1.0.1 remote-as MANY
 neighbor 10.1.0.1 allowas-in TEXT
 address-family ipv4 unicast
  maximum-paths TEXT
  maximum-paths MANY
  network
  neighbor
exit
end
exit
"""


@pytest.mark.parametrize("name", TEXTS)
def test_nasty_text_in_a_routing_configuration(name: str, configs: dict[str, str]) -> None:
    lines = HOSTILE_ROUTING.replace("TEXT", NASTY[name]).replace("MANY", "9" * 5000).splitlines()
    write("leaf1/config_db.json", configs["config_db.json"])
    write("leaf1/frr.conf", "\n".join([*lines, *configs["frr.conf"].splitlines(), *lines]))
    examined("lint", "leaf1")
    examined("lint", "leaf1/frr.conf", "-v")


@pytest.mark.parametrize("name", TEXTS)
def test_nasty_text_in_an_intent_builds_nothing(name: str) -> None:
    quoted = json.dumps(NASTY[name])
    replaced = {
        "fabric: two-by-two": f"fabric: {quoted}",
        "gpu:     {": f"{quoted}: {{",
        "nic: ConnectX-7": f"nic: {quoted}",
        "model: SN4700": f"model: {quoted}",
        "media: DR4": f"media: {quoted}",
        "rdma:    {": f"{quoted}: {{",
        "10.0.0.0/16": quoted,
        "dscp: 26": f"dscp: {quoted}",
        "length: 30m": f"length: {quoted}",
    }
    for old, new in replaced.items():
        assert old in INTENT
        write("intent.yaml", INTENT.replace(old, new, 1))
        examined("lint", "intent.yaml")
        examined("show", "intent.yaml")
        before = tree("/etc") if name in ("path", "absolute") else {}
        done = nodrop("build", "intent.yaml", "-o", "out")
        assert done.code in (0, 1, 2)
        assert not STEERS.search(done.out + done.err)
        assert {path.name for path in Path().iterdir()} <= {"intent.yaml", "out"}
        assert done.code == 0 or not Path("out").exists()
        assert not before or tree("/etc") == before
        if Path("out").exists():
            assert {path.name for path in Path("out").iterdir()} == {
                ".nodrop.json", "fabric.yaml", "leaf1", "leaf2", "spine1", "spine2"
            }  # fmt: skip
            assert not any(STEERS.search(path.read_text()) for path in Path("out").rglob("*") if path.is_file())
            assert nodrop("lint", "out").code == 0, "what was built is read as it was meant"


@pytest.mark.parametrize("name", TEXTS)
def test_nasty_text_in_what_is_stated(name: str, configs: dict[str, str]) -> None:
    quoted = json.dumps(NASTY[name])
    write("leaf1/config_db.json", configs["config_db.json"])
    for text in (
        f"name: {quoted}\n",
        f"mode: {quoted}\n",
        f"{quoted}: 1\n",
        f"classes: {{{quoted}: {{dscp: 26}}}}\n",
        f"roles: {{leaf1: {quoted}}}\nmodels: {{{quoted}: {quoted}}}\n",
        f"cables: [{quoted}]\n",
        f"hosts: {{h: {{group: {quoted}, nic: {quoted}, ports: {{{quoted}: {{addresses: [{quoted}]}}}}}}}}\n",
    ):
        write("leaf1/fabric.yaml", text)
        examined("lint", "leaf1")


@pytest.mark.parametrize(
    "name",
    mostly_nightly(
        (name for name in NASTY if name not in ("nul", "path", "absolute", "long", "empty", "zalgo")),
        quick=("escape", "newline", "command", "surrogate"),
    ),
)
def test_nasty_names_of_files(name: str, configs: dict[str, str]) -> None:
    part = NASTY[name].replace("/", "-")
    write(f"site/{part}/config_db.json", configs["config_db.json"].replace("PFC_WD", "PFC_WX"))
    write(f"site/{part}.json", "{")
    write(f"site/{part}.yaml", "nodrop: 1\n")
    (Path("site") / f"{part}-link").symlink_to("nowhere")
    Path("site/up").symlink_to("..")
    done = examined("lint", "site")
    assert done.code == 2
    examined("lint", f"site/{part}/config_db.json", f"site/{part}.json", f"site/{part}.yaml")
    examined("show", f"site/{part}.yaml")


@pytest.mark.parametrize(
    "number",
    ["9" * 5000, "1e400", "１２", "NaN", *nightly("1" + "0" * 400, "-0", "0x10", "Infinity", "1_000", " 5 ")],
)
def test_huge_and_odd_numbers(number: str, configs: dict[str, str]) -> None:
    config = json.loads(configs["config_db.json"])
    config["PORT"]["Ethernet0"] |= {"speed": number, "mtu": number, "lanes": number, "index": number}
    config["PFC_WD"]["Ethernet8"] |= {"detection_time": number, "restoration_time": number}
    config["PFC_WD"]["GLOBAL"]["POLL_INTERVAL"] = number
    config["PORT_QOS_MAP"]["Ethernet8"] |= {"pfc_enable": number, "pfcwd_sw_enable": f"3,{number}"}
    config["CABLE_LENGTH"]["AZURE"]["Ethernet0"] = f"{number}m"
    for table in ("BUFFER_POOL", "BUFFER_PROFILE", "WRED_PROFILE", "SCHEDULER", "TC_TO_QUEUE_MAP", "DSCP_TO_TC_MAP"):
        for row in config[table].values():
            row |= dict.fromkeys([key for key in row if key not in ("type", "mode", "pool", "ecn")][:4], number)
    config["BUFFER_PG"][f"Ethernet0|{number}"] = {"profile": "NULL"}
    config["PORT"][f"Ethernet{number}"] = dict(config["PORT"]["Ethernet8"])
    write("leaf1/config_db.json", json.dumps(config))
    with contextlib.suppress(ValueError):
        write("leaf2/config_db.json", json.dumps(config).replace(f'"{number}"', number))
    write("leaf2/fabric.yaml", f"classes: {{rdma: {{dscp: '{number}', tc: '{number}'}}}}\n")
    write("intent.yaml", INTENT.replace("dscp: 26", f"dscp: '{number}'").replace("length: 3m", f"length: '{number}m'"))
    for path in (".", "leaf1", "leaf2", "intent.yaml"):
        examined("lint", path)


# ------------------------------------------------------------------------------------------ absurd files


@pytest.mark.parametrize("name", ["config_db.json", "frr.conf", "fabric.yaml", "x.json", "intent.yaml"])
def test_half_a_gigabyte_is_refused_unread(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write("leaf1/config_db.json", "{}")
    write(f"leaf1/{name}", "nodrop: 1\n" if name == "intent.yaml" else '{"PORT": {}}')
    os.truncate(f"leaf1/{name}", 500_000_000)
    fdopen = os.fdopen

    class Beginning(BytesIO):
        def __init__(self, file: BinaryIO) -> None:
            super().__init__(file.read(FILE_HEAD_BYTES))
            self.file = file

        def close(self) -> None:
            self.file.close()
            super().close()

        def read(self, size: int | None = -1, /) -> bytes:
            assert 0 <= (-1 if size is None else size) <= FILE_HEAD_BYTES, "the file is read"
            return super().read(size)

    def never(descriptor: int, *args: Any, **named: Any) -> Any:
        file = fdopen(descriptor, *args, **named)
        return file if os.fstat(descriptor).st_size < 500_000_000 else Beginning(file)

    monkeypatch.setattr(os, "fdopen", never)
    for path in ("leaf1", f"leaf1/{name}"):
        done = examined("lint", path)
        assert done.code == 2
        assert f"error: leaf1/{name}: 500,000,000 bytes; expected at most " in done.out
    if name == "intent.yaml":
        assert nodrop("build", f"leaf1/{name}", "-o", "out").code == nodrop("show", f"leaf1/{name}").code == 2


@pytest.mark.parametrize("name", ["config_db.json", "frr.conf"])
@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: Path(path).symlink_to("/dev/zero"), lambda path: Path(path).mkdir()]
)
def test_what_is_no_file(name: str, make: Callable[[str], None], configs: dict[str, str]) -> None:
    other = "frr.conf" if name == "config_db.json" else "config_db.json"
    write(f"leaf1/{other}", configs[other])
    make(f"leaf1/{name}")
    done = examined("lint", "leaf1")
    if Path("leaf1", name).is_dir():
        assert done.code == (3 if other == "frr.conf" else 0)
    else:
        assert (done.code, f"error: leaf1/{name}: a " in done.out) == (2, True)
    assert examined("lint", f"leaf1/{name}").code in (2, 3)


def test_pipes_and_devices_of_any_name_are_never_waited_for() -> None:
    for name in ("fabric.yaml", "x.json", "x.yaml", "x.txt"):
        Path(name.partition(".")[0] + name).mkdir()
        os.mkfifo(f"{name.partition('.')[0]}{name}/{name}")
    os.mkfifo("fabric.yaml")
    for path in (".", "fabric.yaml", "xx.json/x.json", "xx.yaml/x.yaml"):
        examined("lint", path)
    assert nodrop("show", "fabric.yaml").code == 2
    assert nodrop("build", "fabric.yaml", "-o", "out").code == 2


def test_links_that_lead_in_circles(configs: dict[str, str]) -> None:
    write("site/leaf1/config_db.json", configs["config_db.json"])
    for link, target in (("site/here", "."), ("site/leaf1/up", "../.."), ("site/one", "two"), ("site/two", "one")):
        Path(link).symlink_to(target)
    Path("site/leaf1/frr.conf").symlink_to("frr.conf")
    Path("site/fabric.yaml").symlink_to("fabric.yaml")
    done = examined("lint", "site")
    assert (done.code, "too many levels of symbolic links" in done.out) == (2, True)
    assert examined("lint", "site/one").code == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_files_that_may_not_be_read(configs: dict[str, str], tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for name in ("config_db.json", "fabric.yaml"):
        write(f"leaf1/{name}", configs[name])
        write(f"{name}.d/{name}", configs["config_db.json"]).chmod(0)
    write("intent.yaml", INTENT).chmod(0)
    Path("closed").mkdir(0o700)
    nodrop("lint", "leaf1")  # with everything loaded before this is somebody else
    os.seteuid(65534)
    try:
        for path in ("config_db.json.d", "config_db.json.d/config_db.json", "closed", "closed/leaf1", "intent.yaml"):
            done = examined("lint", path)
            assert (done.code, "permission denied" in done.out or path == "intent.yaml") == (2, True)
        for output in ("out", "closed/out"):
            done = nodrop("build", "intent.yaml", "-o", output)
            assert (done.code, "permission denied" in done.err) == (2, True)
        assert "permission denied" in nodrop("show", "intent.yaml").err
    finally:
        os.seteuid(0)


@pytest.mark.slow
def test_a_hundred_thousand_rows() -> None:
    config = {"PORT": {f"Ethernet{n}": {"speed": "x"} for n in range(20_000)}, "DEVICE_METADATA": {"localhost": {}}}
    write("leaf1/config_db.json", config)
    assert examined("lint", "leaf1").code in (1, 2)


# ------------------------------------------------------------------------------------- nothing is written astray


def test_a_build_never_follows_links_out_of_its_folder(tmp_path: Path) -> None:
    write("intent.yaml", INTENT)
    built("intent.yaml", "out")
    victim = write("elsewhere/config_db.json", "precious")
    shutil.rmtree("out/leaf1")
    Path("out/leaf1").symlink_to(tmp_path / "elsewhere")
    write("intent.yaml", INTENT.replace("length: 30m", "length: 31m"))
    done = nodrop("build", "intent.yaml", "-o", "out")
    assert (done.code, victim.read_text(), list(Path("elsewhere").iterdir())) == (2, "precious", [victim])
    assert Path("out/leaf1").is_symlink()


def test_a_manifest_that_lies_deletes_nothing_of_others() -> None:
    write("intent.yaml", INTENT)
    built("intent.yaml", "out")
    write("precious.txt", "precious")
    manifest = json.loads(Path("out/.nodrop.json").read_text())
    for name in ("../precious.txt", "/etc/passwd", "leaf1/../../precious.txt", "", ".", "..", "a\0b"):
        manifest["files"][name] = "0" * 64
    write("out/.nodrop.json", manifest)
    write("intent.yaml", INTENT.replace("length: 30m", "length: 31m"))
    done = nodrop("build", "intent.yaml", "-o", "out")
    assert done.code in (0, 2)
    assert Path("precious.txt").read_text() == "precious"
    assert Path("/etc/passwd").exists()


def test_a_refused_build_writes_nothing_at_all() -> None:
    write("intent.yaml", INTENT.replace("SN4700", "SN1"))
    before = tree()
    for output in ("out", "a/b/c", "intent.yaml/x", "."):
        assert nodrop("build", "intent.yaml", "-o", output).code == 2
        assert tree() == before
