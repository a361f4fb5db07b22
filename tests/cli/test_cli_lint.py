"""`nodrop lint`: what it looks at and takes for one fabric, what it assumes, and the fault it must not miss."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodrop.resources import resource_folder
from support.command import Done, built, nodrop

CLEAN = "no findings in 4 devices, 128 interfaces"
ASSUMED = (
    "assumed: lossless (ports have PFC, a lossless priority group or a PFC watchdog), "
    "RDMA = DSCP 26 (NVIDIA's convention)\n"
)


APART = ("--ignore", "management-address-in-two-fabrics,numbers-repeat-in-separate-fabrics")
"""The builds have the same addresses, as fabrics on separate networks may have."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds of both shipped intents; nobody writes into them."""
    here = tmp_path_factory.mktemp("site")
    built(resource_folder("intents") / "reference-256.yaml", here / "large")
    built(resource_folder("intents") / "two-by-two.yaml", here / "small")
    shutil.copy(resource_folder("intents") / "two-by-two.yaml", here)
    return here


@pytest.fixture(autouse=True)
def in_scratch(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test has copies of its own."""
    shutil.copytree(site, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def edit(path: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a config_db.json as parsed."""
    config = json.loads(Path(path).read_text())
    change(config)
    Path(path).write_text(json.dumps(config, indent=4))


def found(*args: str | Path) -> dict[str, list[str]]:
    """Lint, and return the subjects of every rule that found something."""
    document = json.loads(nodrop("lint", *args, "--format", "json").out)
    subjects: dict[str, list[str]] = {}
    for finding in document["findings"]:
        subjects.setdefault(finding["rule"], []).append(finding["subject"])
    return subjects


def line_of(path: str, *keys: str) -> int:
    """The line of a key below other keys, in a file indented by four columns a level."""
    wanted = [f'{"    " * level}"{key}": ' for level, key in enumerate(keys, 1)]
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        if line.startswith(wanted[0]):
            wanted.pop(0)
            if not wanted:
                return number
    raise AssertionError(keys)


def test_a_leaf_without_watchdogs() -> None:
    """The acceptance case: PFC_WD rows of one leaf are deleted, and that is found at every port, and nothing else."""
    path = "large/leaf2/config_db.json"
    lines = Path(path).read_text().splitlines(keepends=True)
    start = lines.index('    "PFC_WD": {\n')
    end = lines.index("    },\n", start)
    Path(path).write_text(
        "".join([*lines[: start + 1], *lines[start + 1 : start + 4], *lines[end:]]).replace(
            "        },\n    },\n", "        }\n    },\n"
        )
    )
    assert list(json.loads(Path(path).read_text())["PFC_WD"]) == ["GLOBAL"]

    assert found("large") == {
        "pfc-without-watchdog": [f"leaf2/Ethernet{number}" for number in range(0, 128, 8)],
        "fabric-pfc-without-watchdog": [f"leaf2/Ethernet{number}" for number in range(128, 256, 8)],
    }
    done = nodrop("lint", "large")
    host, fabric = (line_of(path, "PORT_QOS_MAP", port, "pfc_enable") for port in ("Ethernet0", "Ethernet128"))
    assert (done.code, done.err) == (1, "")
    paragraphs = done.out.split("\n\n")
    assert len(paragraphs) == 3
    assert paragraphs[0].startswith("error[pfc-without-watchdog]: leaf2: Ethernet0 ")
    assert f"  --> {path}:{host}:27\n" in paragraphs[0]
    assert f'{host} |             "pfc_enable": "3",\n' in paragraphs[0]
    assert "^^^ leaf2/Ethernet0\n" in paragraphs[0]
    assert "= 15 more of the same on leaf2: Ethernet[8-120 by 8]" in paragraphs[0]
    assert paragraphs[1].startswith("warning[fabric-pfc-without-watchdog]: leaf2: Ethernet128, ")
    assert f"  --> {path}:{fabric}:27\n" in paragraphs[1]
    assert "= 15 more of the same on leaf2: Ethernet[136-248 by 8]" in paragraphs[1]
    assert re.fullmatch(
        r"(?:.+\n)+6 devices, 192 interfaces, \d+ rules: 16 errors, 16 warnings, 0 notes\n", paragraphs[2]
    )


def test_verbose_names_every_finding_with_its_line() -> None:
    edit("small/leaf1/config_db.json", lambda config: config["PFC_WD"].pop("Ethernet8"))
    edit("small/leaf1/config_db.json", lambda config: config["PFC_WD"].pop("Ethernet16"))
    done = nodrop("lint", "small", "-v")
    line = line_of("small/leaf1/config_db.json", "PORT_QOS_MAP", "Ethernet16", "pfc_enable")
    assert "1 more of the same:\n" in done.out
    assert f" small/leaf1/config_db.json:{line}:27: leaf1: Ethernet16 " in done.out


def test_a_sound_build() -> None:
    for paths in (
        ["small"],
        ["small/"],
        ["./small"],
        ["small", "small"],
        ["small", "small/leaf1"],
        [Path("small").resolve()],
    ):
        done = nodrop("lint", *paths)
        assert (done.code, CLEAN in done.out, done.err) == (0, True, "")


def test_a_device_is_read_once_by_whatever_names() -> None:
    paths = ["small/leaf1/config_db.json", "small/leaf1/frr.conf", "small/leaf1", "./small//leaf1/config_db.json"]
    assert "1 device, 32 interfaces" in nodrop("lint", *paths).out


def test_fabric_yaml_is_found_beside_a_path_and_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stated = nodrop("lint", "small/leaf1")
    assert (stated.code, "assumed" in stated.out) == (0, False)
    assert nodrop("lint", "small/leaf1/config_db.json").out == stated.out
    for folder, path in (
        ("small", "leaf1"),
        ("small/leaf1", "."),
        ("small/leaf1", "config_db.json"),
        ("small/leaf2", "../leaf1"),
    ):
        with monkeypatch.context() as inside:
            inside.chdir(folder)
            assert nodrop("lint", path).out == stated.out
    Path("small/fabric.yaml").rename("small/leaf1/fabric.yaml")
    assert nodrop("lint", "small/leaf1").out == stated.out


def test_without_fabric_yaml_it_is_said_what_was_assumed() -> None:
    Path("small/fabric.yaml").unlink()
    done = nodrop("lint", "small")
    assert (done.code, done.out.startswith(ASSUMED)) == (0, True)
    assumed = json.loads(nodrop("lint", "small", "--format", "json").out)["assumed"]
    assert [(each["fact"], each["value"]) for each in assumed] == [("mode", "lossless"), ("RDMA", "DSCP 26")]


def test_what_was_assumed_is_said_once_for_all_fabrics() -> None:
    for folder in ("small", "large"):
        Path(folder, "fabric.yaml").unlink()
    done = nodrop("lint", "two-by-two.yaml", "small", *APART)
    assert (done.code, done.out.startswith(ASSUMED), done.out.count("assumed")) == (0, True, 1)


def test_a_fabric_yaml_of_ones_own() -> None:
    Path("small/fabric.yaml").write_text("mode: lossless\nclasses:\n  rdma: {dscp: 10}\n")
    assert found("small").keys() == {"pfc-on-unintended-priority", "nic-tos-not-rdma"}
    out = nodrop("lint", "small").out
    assert "undecided on leaf1, leaf2, spine1, spine2 without traffic classes; state in fabric.yaml: classes: {" in out
    Path("small/fabric.yaml").write_text("mode: lossless\nclasses:\n  rdma: {dscp: 10, lossless: true}\n")
    assert found("small").keys() == {"rdma-dscp-in-lossy-class", "nic-tos-not-rdma"}


def test_a_named_fabric_yaml_holds_for_all_and_first() -> None:
    Path("mine").mkdir()
    Path("mine/fabric.yaml").write_text("classes:\n  rdma: {dscp: 10, lossless: true}\n")
    assert "rdma-dscp-in-lossy-class" in found("small", "mine/fabric.yaml")
    assert "rdma-dscp-in-lossy-class" in found("mine/fabric.yaml", "small/leaf1/config_db.json")
    assert found("small", "small/fabric.yaml") == {}


def test_a_faulty_fabric_yaml_is_told_and_the_devices_are_linted() -> None:
    Path("small/fabric.yaml").write_text("mode: lossles\n")
    done = nodrop("lint", "small")
    assert done.code == 2
    assert "error: small/fabric.yaml:1:7: mode: lossles; expected " in done.out
    assert "(did you mean lossless?)" in done.out
    assert f"{CLEAN}" in done.out
    alone = nodrop("lint", "small/fabric.yaml")
    assert (alone.code, "error: small/fabric.yaml:1:7: mode: lossles" in alone.out) == (2, True)


def test_fabric_yaml_alone_is_nothing_to_look_at() -> None:
    done = nodrop("lint", "small/fabric.yaml")
    assert (done.code, done.err) == (3, "")
    assert done.out == (
        "note: small/fabric.yaml: says what no switch file can; name configurations too, and it is read with them\n\n"
        "nothing checked\n"
    )


@pytest.mark.parametrize(
    ("assume", "findings"),
    [
        ([], set()),
        (["rdma=26"], set()),
        (["rdma=10"], {"rdma-dscp-in-lossy-class"}),
        (["rdma=10", "rdma=26"], set()),
        (["mode=lossy", "rdma=10"], set()),
        (["mode=pfc-only", "rdma=10"], {"rdma-dscp-in-lossy-class"}),
    ],
)
def test_assume(assume: list[str], findings: set[str]) -> None:
    options = [f"--assume={each}" for each in assume]
    for with_stated in (True, False):
        assert found("small", *options, "--select", "rdma-dscp-in-lossy-class").keys() == findings, with_stated
        Path("small/fabric.yaml").unlink(missing_ok=True)
    out = nodrop("lint", "small", *options).out
    assert ("RDMA = DSCP" in out) == (not any("rdma" in each for each in assume))
    assert ("lossless (ports have PFC" in out) == (not any("mode" in each for each in assume))


def test_standard_input_stands_for_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    built(resource_folder("intents") / "two-by-two.yaml", "build")
    file = Path("build/leaf1/config_db.json")
    config = json.loads(file.read_text())
    del config["PFC_WD"]["Ethernet0"]
    edited = json.dumps(config, indent=4).encode()
    done = nodrop("lint", "-", "--stdin-filename", file, "--format", "concise", stdin=edited)
    assert done.out.splitlines()[0].startswith(f"{file}:"), "what is typed is judged, with what lies beside it"
    assert "pfc-without-watchdog" in done.out
    assert nodrop("lint", file).code == 0, "and the file is what it was"
    whole = json.loads(nodrop("lint", "build", "-", "--stdin-filename", file, "--format", "json", stdin=edited).out)
    assert {one["subject"] for one in whole["findings"]} == {"leaf1/Ethernet0"}
    assert whole["summary"]["devices"] == 4, "it is no device besides"
    new = nodrop("lint", "-", "--stdin-filename", "new/leaf9/config_db.json", "--format", "json", stdin=edited)
    assert [one["file"] for one in json.loads(new.out)["findings"]] == ["new/leaf9/config_db.json"]
    Path("new").mkdir()
    Path("new/nodrop.yaml").write_text("severity: {pfc-without-watchdog: off}\n")
    assert nodrop("lint", "-", "--stdin-filename", "new/leaf9/config_db.json", stdin=edited).code == 0
    assert "names what `-` reads" in nodrop("lint", file, "--stdin-filename", "x.json").err


def test_standard_input() -> None:
    config = Path("small/leaf1/config_db.json").read_bytes()
    done = nodrop("lint", "-", stdin=config)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(ASSUMED)
    assert "1 device, 32 interfaces" in done.out
    edit("small/leaf1/config_db.json", lambda config: config["PFC_WD"].pop("Ethernet8"))
    done = nodrop("lint", "-", stdin=Path("small/leaf1/config_db.json").read_bytes())
    line = line_of("small/leaf1/config_db.json", "PORT_QOS_MAP", "Ethernet8", "pfc_enable")
    assert (done.code, f"  --> <stdin>:{line}:27\n" in done.out) == (1, True)


def test_standard_input_that_is_an_intent_or_nothing() -> None:
    done = nodrop("lint", "-", stdin=Path("two-by-two.yaml").read_bytes())
    assert (done.code, CLEAN in done.out) == (0, True)
    done = nodrop("lint", "-", stdin=b"nodrop: 1\nfabrik: x\n")
    assert (done.code, "error: <stdin>:2:1: fabrik: unknown key fabrik" in done.out) == (2, True)
    for empty in (b"", b" \n"):
        done = nodrop("lint", "-", stdin=empty)
        assert (done.code, "error: <stdin>:1:1: an empty file; expected JSON" in done.out) == (2, True)


def test_standard_input_is_a_device_of_the_fabric_of_the_paths() -> None:
    config = Path("small/leaf2/config_db.json").read_bytes()
    shutil.rmtree("small/leaf2")
    done = nodrop("lint", "small", "-", stdin=config)
    assert (done.code, CLEAN in done.out) == (0, True)
    without = "unknown: 11 rules undecided on leaf2, spine1, spine2: no file states the BGP settings of the switch, "
    assert without in done.out, "there is no frr.conf"


def test_a_drained_switch_is_a_warning_unless_the_intent_drains_it() -> None:
    text = Path("two-by-two.yaml").read_text()
    Path("drained.yaml").write_text(text + "devices: {spine1: {drained: true}}\n")
    done = nodrop("lint", "drained.yaml")
    assert (done.code, "note[switch-drained]: spine1 is drained" in done.out) == (0, True)
    Path("nodrop.yaml").write_text("severity: {switch-drained: error}\n")
    done = nodrop("lint", "drained.yaml")
    Path("nodrop.yaml").unlink()
    assert (done.code, "error[switch-drained]: spine1 is drained" in done.out) == (1, True)
    file = Path("small/spine1/frr.conf")
    file.write_text(file.read_text().replace(" bgp router-id", " bgp graceful-shutdown\n bgp router-id"))
    done = nodrop("lint", "small")
    assert (done.code, "warning[switch-drained]: spine1 is drained" in done.out) == (1, True)


def test_intents() -> None:
    done = nodrop("lint", "two-by-two.yaml")
    assert (done.code, CLEAN in done.out, done.err) == (0, True, "")
    text = Path("two-by-two.yaml").read_text()
    Path("faulty.yaml").write_text(text.replace("min: 150kB, max: 1500kB", "min: 48MB, max: 52MB"))
    done = nodrop("lint", "faulty.yaml")
    assert (done.code, "error[ecn-never-before-pfc]" in done.out) == (1, True)
    assert re.search(r"^ +--> faulty\.yaml:\d+:\d+$", done.out, re.MULTILINE)
    assert re.search(r"^ +::: faulty\.yaml/leaf1/config_db\.json:\d+:\d+$", done.out, re.MULTILINE)
    for folder in ("small", "large"):
        shutil.rmtree(folder)
    assert nodrop("lint", ".").out.count("error[ecn-never-before-pfc]") == 2, "intents in folders are found"
    assert "8 devices" in nodrop("lint", ".").out


def test_intents_and_builds_in_one_folder_are_fabrics_of_their_own() -> None:
    done = nodrop("lint", ".", *APART)
    assert (done.code, "\nno findings in 14 devices, 448 interfaces" in done.out) == (0, True)
    edit("small/spine1/config_db.json", lambda config: config["PFC_WD"].clear())
    assert found(".", *APART).keys() == {"fabric-pfc-without-watchdog"}


def test_files_of_other_names_are_devices_of_their_own() -> None:
    Path("dump").mkdir()
    for device in ("leaf1", "spine1"):
        shutil.copy(f"small/{device}/config_db.json", f"dump/{device}.json")
    shutil.copy("small/leaf1/frr.conf", "dump/leaf1.conf")
    done = nodrop("lint", "dump")
    assert (done.code, "incomplete: no findings in 2 devices, 64 interfaces" in done.out) == (3, True)
    assert "not read: dump/leaf1.conf: a configuration of FRR under another name than frr.conf" in done.out
    assert "2 devices, 64 interfaces" in nodrop("lint", "dump/leaf1.json", "dump/spine1.json").out
    assert nodrop("lint", "dump/leaf1.conf").code == 2
    assert "1 device, 0 interfaces" in nodrop("lint", "dump/leaf1.conf", "--platform", "sonic").out


def test_two_devices_of_one_hostname_are_told_apart() -> None:
    shutil.copytree("small/leaf1", "small/leaf9")
    edit("small/leaf9/config_db.json", lambda config: config["PFC_WD"].pop("Ethernet8"))
    done = nodrop("lint", "small", "--select", "watchdog")
    note = "note: small/leaf9/config_db.json: a second device calls itself leaf1; it is leaf1.2 here\n"
    assert (done.code, done.out.count(note)) == (1, 1)
    assert nodrop("lint", "small", "-v").out.count("a second device calls itself leaf1") == 1
    assert "5 devices, 160 interfaces" in done.out
    ((subject,),) = found("small", "--select", "watchdog").values()
    assert subject == "leaf1.2/Ethernet8"


@pytest.mark.parametrize("options", [[], ["--platform", "sonic"]])
def test_several_fabrics_by_several_paths(options: list[str]) -> None:
    done = nodrop("lint", "small", "large", *APART, *options)
    assert (done.code, "\nno findings in 10 devices, 320 interfaces" in f"\n{done.out}") == (0, True)
    edit("small/leaf1/config_db.json", lambda config: config["PFC_WD"].pop("Ethernet0"))
    edit("large/leaf1/config_db.json", lambda config: config["PFC_WD"].pop("Ethernet8"))
    done = nodrop("lint", "small", "large", *APART, *options)
    assert "Ethernet0 " in done.out
    assert (done.code, found("small", "large", *APART, *options)) == (
        1,
        {"pfc-without-watchdog": ["leaf1/Ethernet8", "leaf1/Ethernet0"]},
    )


def test_an_empty_folder_and_one_without_anything_of_ours() -> None:
    names = "config_db.json, frr.conf, interfaces, nclu.txt, qos_features.conf, running-config.txt, startup.yaml"
    note = f"holds neither configurations ({names}, other JSON) nor intents (YAML)"
    Path("empty/inside").mkdir(parents=True)
    assert nodrop("lint", "empty") == Done(3, f"note: empty: {note}\n\nnothing checked\n", "")
    Path("empty/readme.txt").write_text("config_db.json is elsewhere")
    Path("empty/other.yaml").write_text("services:\n  nodrop: {image: x}\n")
    unread = "not read: empty/other.yaml: YAML of no known form"
    last = "files: 0 files read, 1 not read (empty/other.yaml)\nnothing checked"
    assert nodrop("lint", "empty") == Done(3, f"note: empty: {note}\n\n{unread}\n\n{last}\n", "")
    Path("empty/package.json").write_text('{"name": "x"}')
    done = nodrop("lint", "empty")
    assert (done.code, "not read: empty/package.json: JSON without a table of config_db.json" in done.out) == (3, True)
    done = nodrop("lint", "empty", "small")
    assert (done.code, CLEAN in done.out, f"note: empty: {note}" in done.out) == (0, True, True)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "switch.txt",
            "hello\n",
            "a file of no known platform; expected a configuration of cumulus, nclu, nvue, onyx, sonic, or an intent",
        ),
        (
            "policy.yaml",
            "apiVersion: mellanox.com/v1alpha1\nkind: NicClusterPolicy\n---\napiVersion: v1\nkind: ConfigMap\n",
            "Kubernetes NicClusterPolicy, ConfigMap, which nodrop does not read; expected a configuration of",
        ),
        (
            "intent.yaml",
            "fabric: x\n",
            "YAML that is not recognized; expected an intent, which starts with `nodrop: 1`",
        ),
        ("switch.json", "{}", "not read: switch.json: empty: contains no configuration"),
        ("switch.json", "[]", "a list; expected an object of tables"),
        ("switch.json", "{'PORT': {}}", "1:2: a single quote; expected"),
    ],
)
def test_a_named_file_that_is_nothing_of_ours(name: str, text: str, said: str) -> None:
    Path(name).write_text(text)
    done = nodrop("lint", name)
    assert (done.code, said in done.out) == (3 if said.startswith("not read") else 2, True)


def test_a_whole_build_below_any_name() -> None:
    """A fabric may be called as a folder of a build is."""
    Path("small").rename("plan")
    Path("site").mkdir()
    Path("plan").rename("site/plan")
    done = nodrop("lint", "site")
    assert (done.code, CLEAN in done.out) == (0, True)
