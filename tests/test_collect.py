"""From paths to readings: which files make up which device of which fabric, and what is read of them."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import nodrop
from nodrop.collect import read_artifacts, read_inputs
from nodrop.errors import InputProblems
from nodrop.inputs import DeviceFiles, FabricInputs, FileText, find_inputs
from nodrop.model.declared import DeclaredFacts
from nodrop.opening import content_digest, read_device_files
from nodrop.platforms.kit.artifact import Artifact
from nodrop.resources import resource_folder
from nodrop.syntax.json import MAX_JSON_BYTES

SONIC = '{"DEVICE_METADATA": {"localhost": {}}, "PORT": {"Ethernet0": {"lanes": "0,1", "speed": "100000"}}}'
FRR = "hostname leaf1\nrouter bgp 65001\n"
INTENT = "nodrop: 1\n"


@pytest.fixture(autouse=True)
def in_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(path: str, text: str | bytes = SONIC) -> Path:
    where = Path(path)
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_bytes(text.encode() if isinstance(text, str) else text)
    return where


def shape(inputs: FabricInputs) -> dict[str, object]:
    """What was found, in short: devices with their files, the rest by how it is shown; nothing that is empty."""
    parts = {
        "devices": {bundle.name: [(name, text.display) for name, text in bundle.files] for bundle in inputs.bundles},
        "intents": [text.display for text in inputs.intents],
        "stated": [text.display for text in inputs.stated],
        "problems": list(map(str, inputs.problems)),
        "notes": [f"{note.file}: {note.message}" for note in inputs.notes],
        "nested": [shape(nested) for nested in inputs.nested],
    }
    return {key: part for key, part in parts.items() if part}


def test_files_of_a_folder_are_a_device_and_others_are_their_own() -> None:
    for path in ("site/leaf1/config_db.json", "site/leaf2/config_db.json", "site/old/spine7.json", "site/old/x y.json"):
        write(path)
    write("site/leaf1/frr.conf", FRR)
    write("site/leaf3/frr.conf", FRR)
    write("site/leaf1/other.conf", "not ours")
    write("site/leaf1/.hidden.json")
    assert shape(find_inputs(["site"])) == {
        "devices": {
            "leaf1": [
                ("config_db.json", "site/leaf1/config_db.json"),
                ("frr.conf", "site/leaf1/frr.conf"),
            ],
            "leaf2": [("config_db.json", "site/leaf2/config_db.json")],
            "leaf3": [("frr.conf", "site/leaf3/frr.conf")],
            "hidden": [("config_db.json", "site/leaf1/.hidden.json")],
            "spine7": [("config_db.json", "site/old/spine7.json")],
            "x-y": [("config_db.json", "site/old/x y.json")],
        },
        "notes": ["site/leaf1/other.conf: text of no known form"],
    }


def test_a_named_file_brings_its_canonical_neighbors() -> None:
    write("leaf1/config_db.json")
    write("leaf1/frr.conf", FRR)
    write("leaf1/saved.json")
    whole = {"leaf1": [("config_db.json", "leaf1/config_db.json"), ("frr.conf", "leaf1/frr.conf")]}
    for path in ("leaf1/config_db.json", "leaf1/frr.conf"):
        assert shape(find_inputs([path])) == {"devices": whole}
    saved = {"saved": [("config_db.json", "leaf1/saved.json")]}
    assert shape(find_inputs(["leaf1/saved.json"])) == {"devices": saved}
    assert shape(find_inputs(["leaf1"])) == {"devices": whole | saved}
    assert shape(find_inputs(["leaf1/saved.json", "leaf1", "leaf1/frr.conf"])) == {"devices": whole | saved}


@pytest.mark.parametrize(("folder", "path"), [("leaf1", "."), ("leaf1", "config_db.json"), ("leaf1/inner", "..")])
def test_a_device_is_called_as_its_folder_however_it_is_named(
    folder: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("leaf1/config_db.json")
    Path("leaf1/inner").mkdir()
    monkeypatch.chdir(folder)
    assert [bundle.name for bundle in find_inputs([path]).bundles] == ["leaf1"]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("leaf 1", "leaf-1"),
        ("-leaf", "leaf"),
        ("\u0661", "device"),
        ("...", "device"),
        ("x" * 80, "x" * 63),
        ("..a", "a"),
    ],
)
def test_a_folder_whose_name_no_device_can_have(folder: str, name: str) -> None:
    write(f"{folder}/config_db.json")
    assert [bundle.name for bundle in find_inputs([folder]).bundles] == [name]


def test_intents_are_told_from_other_yaml() -> None:
    write("a/one.yaml", INTENT)
    write("a/two.yml", "# a comment\n\n'nodrop' : 1\n")
    write("a/bom.yaml", b"\xef\xbb\xbfnodrop: 1\n")
    write("a/other.yaml", "services:\n  nodrop: 1\n")
    write("a/README.md", INTENT)
    notes = ["a/other.yaml: YAML of no known form"]
    assert shape(find_inputs(["a"])) == {"intents": ["a/bom.yaml", "a/one.yaml", "a/two.yml"], "notes": notes}
    assert shape(find_inputs(["a/one.yaml", "a", "a/../a/one.yaml"])) == {
        "intents": ["a/one.yaml", "a/bom.yaml", "a/two.yml"],
        "notes": notes,
    }
    assert [row.file for row in find_inputs(["a"]).ignored] == ["a/README.md"]
    assert shape(find_inputs(["a/other.yaml"])) == {
        "problems": [
            "a/other.yaml: YAML that is not recognized; expected an intent, which starts with `nodrop: 1`, "
            "or an NVUE file, a list with `header` and `set`"
        ]
    }


def test_fabric_yaml_is_looked_for_beside_each_path_and_then_above() -> None:
    write("site/pod/leaf1/config_db.json")
    write("site/fabric.yaml", "mode: lossy\n")
    assert "stated" not in shape(find_inputs(["site/pod/leaf1"])), "two folders above is somebody else's"
    assert shape(find_inputs(["site/pod"]))["stated"] == ["site/fabric.yaml"]
    write("site/pod/fabric.yaml", "mode: lossy\n")
    for path in ("site/pod", "site/pod/leaf1", "site/pod/leaf1/config_db.json"):
        assert shape(find_inputs([path]))["stated"] == ["site/pod/fabric.yaml"]
    write("site/pod/leaf1/fabric.yaml", "mode: lossy\n")
    assert shape(find_inputs(["site/pod/leaf1/config_db.json"]))["stated"] == ["site/pod/leaf1/fabric.yaml"]


@pytest.mark.parametrize(
    ("folder", "path", "display"), [("leaf1", ".", "../fabric.yaml"), ("leaf1/x", "..", "../../fabric.yaml")]
)
def test_fabric_yaml_above_the_working_directory(
    folder: str, path: str, display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("leaf1/config_db.json")
    write("fabric.yaml", "mode: lossy\n")
    Path("leaf1/x").mkdir()
    monkeypatch.chdir(folder)
    assert shape(find_inputs([path]))["stated"] == [display]


def two_fabrics() -> None:
    for fabric in ("a", "b"):
        write(f"{fabric}/leaf1/config_db.json")
        write(f"{fabric}/fabric.yaml", "mode: lossy\n")
    write("c/leaf1/config_db.json")


def devices_of(fabric: str) -> dict[str, object]:
    return {"leaf1": [("config_db.json", f"{fabric}/leaf1/config_db.json")]}


def test_each_fabric_yaml_has_a_fabric_of_its_own() -> None:
    two_fabrics()
    a, b, c = (
        {"devices": devices_of(name), "stated": [f"{name}/fabric.yaml"]}
        if name != "c"
        else {"devices": devices_of(name)}
        for name in "abc"
    )
    assert shape(find_inputs(["a"])) == a
    assert shape(find_inputs(["a/leaf1", "a"])) == a
    assert shape(find_inputs(["a", "b"])) == {"nested": [a, b]}
    assert shape(find_inputs(["c", "a", "b"])) == {"nested": [c, a, b]}
    assert shape(find_inputs(["."])) == {"devices": devices_of("c"), "nested": [a, b]}
    assert [shape(fabric) for fabric in find_inputs(["a", "b"]).fabrics()] == [a, b]
    joined = find_inputs(["a", "c"])
    assert [bundle.files[0][1].display for bundle in joined.bundles] == [
        "a/leaf1/config_db.json",
        "c/leaf1/config_db.json",
    ]
    assert (shape(joined)["stated"], len(joined.fabrics())) == (["a/fabric.yaml"], 1)


def test_a_fabric_yaml_that_is_named_holds_for_all_that_is_named() -> None:
    two_fabrics()
    both = find_inputs(["a", "b", "b/fabric.yaml"])
    assert (len(both.fabrics()), len(both.bundles)) == (1, 2)
    assert [text.display for text in both.stated] == ["b/fabric.yaml", "a/fabric.yaml", "b/fabric.yaml"]


def test_an_intent_called_fabric_yaml_is_an_intent() -> None:
    write("leaf1/config_db.json")
    write("fabric.yaml", INTENT)
    write("inner/fabric.yaml", INTENT)
    devices = {"leaf1": [("config_db.json", "leaf1/config_db.json")]}
    assert shape(find_inputs(["fabric.yaml"])) == {"intents": ["fabric.yaml"]}
    assert shape(find_inputs(["leaf1"])) == {"devices": devices}
    assert shape(find_inputs(["."])) == {"devices": devices, "intents": ["fabric.yaml", "inner/fabric.yaml"]}


def test_several_fabrics_are_no_single_reading() -> None:
    two_fabrics()
    assert len(nodrop.read(["a"]).fabric.devices) == 1
    with pytest.raises(InputProblems) as refused:
        nodrop.read(["a", "b"])
    assert str(refused.value) == "\n".join(
        f"{name}/fabric.yaml: one of several fabrics (read each by itself)" for name in "ab"
    )
    assert nodrop.read([]).fabric.devices == ()


def test_one_fabric_below_a_folder_is_read_with_what_else_is_to_be_said() -> None:
    write("site/pod/leaf1/config_db.json")
    write("site/pod/fabric.yaml", "name: pod\nmode: lossy\n")
    write("site/other.json", "{}")
    reading = nodrop.read(["site", "gone"])
    assert (reading.fabric.name, len(reading.fabric.devices)) == ("pod", 1)
    assert ([note.file for note in reading.notes], [problem.path for problem in reading.problems]) == (
        ["site/other.json"],
        ["gone"],
    )


def test_folders_called_plan_and_apply_are_searched_like_others() -> None:
    for folder in ("plan", "apply", "leaf1/apply"):
        write(f"site/{folder}/config_db.json")
    write("site/leaf1/config_db.json")
    devices = [bundle.files[0][1].display for bundle in find_inputs(["site"]).bundles]
    assert devices == [f"site/{folder}/config_db.json" for folder in ("apply", "leaf1", "leaf1/apply", "plan")]
    assert list(shape(find_inputs(["site/apply"]))["devices"]) == ["apply"]  # type: ignore[call-overload]
    write("site/plan/fabric.yaml")
    assert len(find_inputs(["site"]).nested) == 1


def test_links_to_folders_are_told_and_not_followed() -> None:
    write("site/leaf1/config_db.json")
    Path("site/loop").symlink_to(".")
    Path("site/leaf1/up").symlink_to("..")
    Path("site/self").symlink_to("self")
    Path("site/gone.json").symlink_to("nowhere")
    Path("site/leaf2").mkdir()
    Path("site/leaf2/config_db.json").symlink_to("../leaf1/config_db.json")
    Path("elsewhere").mkdir()
    Path("site/out").symlink_to("../elsewhere")
    inputs = find_inputs(["site"])
    found, nowhere = shape(inputs), "a link that leads nowhere, or no regular file"
    assert found["notes"] == [
        "site/out: a link that leads out of site, which is not followed",
        f"site/gone.json: {nowhere}",
        f"site/self: {nowhere}",
    ]
    assert {row.file for row in inputs.ignored} == {"site/loop", "site/leaf1/up"}
    assert list(found["devices"]) == ["leaf1", "leaf2"]  # type: ignore[call-overload]
    assert "problems" not in found
    Path("entry").symlink_to("site/leaf1")
    assert list(shape(find_inputs(["entry"]))["devices"]) == ["entry"]  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", '"": an empty path (`.` is the working directory)'),
        ("gone", "gone: no such file or folder"),
        ("flie", "flie: no such file or folder (did you mean file?)"),
        ("leaf3", "leaf3: no such file or folder"),
        ("lief1", "lief1: no such file or folder (did you mean leaf1?)"),
        ("./lief1", "./lief1: no such file or folder (did you mean leaf1?)"),
        ("gone/leaf1/config_db.json", "gone/leaf1/config_db.json: no such file or folder"),
        ("file/inside", "file/inside: not a directory"),
        ("x" * 300, "x" * 300 + ": file name too long"),
        ("self", "self: too many levels of symbolic links"),
        ("nul\0", "nul\0: a NUL character in the name"),
        ("fifo", "fifo: not a regular file; expected a file or a folder (`-` reads standard input)"),
        ("/dev/zero", "/dev/zero: not a regular file; expected a file or a folder (`-` reads standard input)"),
        ("zero", "zero: not a regular file; expected a file or a folder (`-` reads standard input)"),
        ("file", "file: a file of no known platform; expected a configuration of cumulus, nclu, nvue, onyx, "
         "sonic, or an intent in YAML (--platform says which)"),
    ],
)  # fmt: skip
def test_paths_that_lead_nowhere(path: str, said: str) -> None:
    write("file", "text")
    Path("leaf1").mkdir()
    Path("self").symlink_to("self")
    Path("zero").symlink_to("/dev/zero")
    os.mkfifo("fifo")
    assert shape(find_inputs([path])) == {"problems": [said]}


def test_a_folder_that_cannot_be_read_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    write("site/leaf1/config_db.json")
    write("site/leaf2/config_db.json")
    real = os.scandir

    def scandir(path: int) -> object:
        if Path(f"/proc/self/fd/{path}").readlink().name == "leaf1":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = shape(find_inputs(["site"]))
    assert found["problems"] == ["site/leaf1: permission denied; expected a readable folder"]
    assert list(found["devices"]) == ["leaf2"]  # type: ignore[call-overload]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_what_another_user_may_not_enter(tmp_path: Path) -> None:
    write("closed/leaf1/config_db.json")
    write("leaf2/config_db.json").chmod(0)
    Path("closed").chmod(0o700)
    tmp_path.chmod(0o755)
    os.seteuid(65534)
    try:
        assert shape(find_inputs(["closed/leaf1"])) == {"problems": ["closed/leaf1: permission denied"]}
        assert shape(find_inputs(["closed"])) == {"problems": ["closed: permission denied; expected a readable folder"]}
        reading = read_inputs(find_inputs(["leaf2"]), DeclaredFacts())
    finally:
        os.seteuid(0)
    assert list(map(str, reading.problems)) == ["leaf2/config_db.json: permission denied; expected a readable file"]


def test_folders_nested_deeper_than_python_recurses() -> None:
    top = Path("deep")
    top.mkdir()
    os.chdir(top)
    for _ in range(1200):
        Path("d").mkdir()
        os.chdir("d")
    write("config_db.json")
    os.chdir(Path(*[".."] * 1201))
    try:
        assert [bundle.name for bundle in find_inputs(["deep"]).bundles] == ["d"]
    finally:
        subprocess.run(["rm", "-r", "deep"], check=True)  # more than shutil and pytest can remove


def test_standard_input() -> None:
    inputs = find_inputs(["-"], stdin=SONIC.encode())
    assert shape(inputs) == {"devices": {"stdin": [("config_db.json", "<stdin>")]}}
    assert [device.name for device in read_inputs(inputs, DeclaredFacts()).fabric.devices] == ["stdin"]
    assert shape(find_inputs(["-"], stdin=INTENT.encode())) == {"intents": ["<stdin>"]}
    assert shape(find_inputs(["-"], "sonic", stdin=SONIC.encode())) == shape(inputs)


def test_forcing_a_platform_reads_what_is_not_recognised() -> None:
    write("dump.txt", SONIC)
    write("odd.txt", "{}")
    write("a/odd.json", "{}")
    assert list(shape(find_inputs(["dump.txt"]))["devices"]) == ["dump"]  # type: ignore[call-overload]
    assert "problems" in shape(find_inputs(["odd.txt"]))
    assert shape(find_inputs(["odd.txt"], "sonic")) == {"devices": {"odd": [("config_db.json", "odd.txt")]}}
    assert shape(find_inputs(["a"]))["notes"] == [
        "a/odd.json: empty: contains no configuration",
        "a: holds neither configurations (config_db.json, frr.conf, interfaces, nclu.txt, qos_features.conf, "
        "running-config.txt, startup.yaml, other JSON) nor intents (YAML)",
    ]
    assert shape(find_inputs(["a"], "sonic")) == {"devices": {"odd": [("config_db.json", "a/odd.json")]}}


def bundle(*files: tuple[str, str]) -> DeviceFiles:
    return DeviceFiles(
        name="x", platform="sonic", files=tuple((name, FileText(display=path, path=Path(path))) for name, path in files)
    )


def test_a_file_that_cannot_be_read_leaves_the_other() -> None:
    write("leaf1/config_db.json")
    reading = read_device_files(bundle(("config_db.json", "leaf1/config_db.json"), ("frr.conf", "leaf1/frr.conf")))
    assert list(map(str, reading.problems)) == ["leaf1/frr.conf: no such file or directory; expected a readable file"]
    assert [(source.name, source.display, source.digest) for source in reading.sources] == [
        ("config_db.json", "leaf1/config_db.json", content_digest(SONIC.encode()))
    ]
    assert len(reading.device.interfaces) == 1


def test_text_is_held_only_where_there_is_no_file() -> None:
    write("leaf1/config_db.json")
    on_disk = read_device_files(bundle(("config_db.json", "leaf1/config_db.json"))).sources[0]
    assert (on_disk.path, on_disk.held) == (Path("leaf1/config_db.json"), None)
    held = DeviceFiles(
        name="x", platform="sonic", files=(("config_db.json", FileText(display="<stdin>", held=SONIC.encode())),)
    )
    source = read_device_files(held).sources[0]
    assert (source.path, source.held, source.display) == (None, SONIC.encode(), "<stdin>")


def test_a_file_of_half_a_gigabyte_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    write("leaf1/config_db.json")
    os.truncate("leaf1/config_db.json", 500_000_000)
    monkeypatch.setattr(os, "fdopen", None)
    reading = read_inputs(find_inputs(["leaf1"]), DeclaredFacts())
    said = f"leaf1/config_db.json: 500,000,000 bytes; expected at most {MAX_JSON_BYTES:,} bytes"
    assert list(map(str, reading.problems)) == [said]
    assert reading.fabric.devices == ()


def test_what_is_stated_on_the_command_line_is_stronger() -> None:
    write("leaf1/config_db.json")
    write("fabric.yaml", "name: pod\nmode: trim\nclasses: {rdma: {dscp: 10}}\nroles: {leaf1: leaf}\n")
    reading = read_inputs(find_inputs(["leaf1"]), DeclaredFacts(mode="lossy", roles={"leaf1": "spine"}))
    assert (reading.fabric.name, reading.fabric.mode, reading.assumed) == ("pod", "lossy", ())
    assert [one.dscp for one in reading.fabric.classes] == [(10,)]
    assert reading.fabric.devices[0].role == "spine"


def test_problems_of_all_kinds_are_kept_together() -> None:
    write("leaf1/config_db.json")
    write("leaf2/config_db.json", SONIC[:-1])
    write("fabric.yaml", "mode: none\n")
    inputs = find_inputs(["leaf1", "leaf2", "gone"])
    reading = read_inputs(inputs, DeclaredFacts())
    assert [problem.path for problem in reading.problems] == ["gone", "fabric.yaml", "leaf2/config_db.json"]
    assert [device.name for device in reading.fabric.devices] == ["leaf1"]


def test_a_device_without_ports_is_told() -> None:
    write("leaf1/frr.conf", FRR)
    write("leaf2/config_db.json", '{"DSCP_TO_TC_MAP": {}}')
    write("leaf3/config_db.json")
    reading = read_inputs(find_inputs(["."]), DeclaredFacts())
    assert [(note.file, note.message) for note in reading.notes if note.kind == "no-ports"] == [
        ("leaf1/frr.conf", "names no port, so nothing about ports is checked"),
        ("leaf2/config_db.json", "names no port, so nothing about ports is checked"),
    ]
    assert len(reading.fabric.devices) == 3


def test_nothing_is_assumed_of_nothing() -> None:
    assert read_inputs(FabricInputs(), DeclaredFacts()).assumed == ()


def test_artifacts_are_read_as_files_are() -> None:
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / "two-by-two.yaml"))
    artifacts = list(nodrop.write(fabric))
    for artifact in artifacts:
        write(f"out/{artifact.device}/{artifact.path}", artifact.text)
    extra = Artifact(device="leaf1", path="plan.txt", text="not a canonical file")
    platform_of = {device.name: device.platform for device in fabric.devices}
    of_text = list(read_artifacts([*(one for one in artifacts if one.device), extra], platform_of, "out"))
    of_files = [read_device_files(bundle) for bundle in find_inputs(["out"]).bundles]
    assert [one.device for one in of_text] == [one.device for one in of_files]
    assert [[(s.name, s.display) for s in one.sources] for one in of_text] == [
        [(s.name, s.display) for s in one.sources] for one in of_files
    ]
    assert {one.sources[0].display for one in read_artifacts(artifacts[:1], platform_of, "")} == {
        "leaf1/config_db.json"
    }
    assert nodrop.read(["out"]).fabric == nodrop.read_back(artifacts, fabric, "out").fabric


def test_reading_changes_nothing_on_the_disk() -> None:
    write("out/leaf1/config_db.json")
    write("out/fabric.yaml", "mode: lossy\n")
    before = {path: path.stat().st_mtime_ns for path in Path().rglob("*")}
    nodrop.read(["out", "gone"])
    assert {path: path.stat().st_mtime_ns for path in Path().rglob("*")} == before


def test_digests_are_those_that_places_are_checked_with() -> None:
    write("leaf1/config_db.json", json.dumps({"PORT": {"Ethernet0": {"mtu": "x"}}}))
    reading = nodrop.read(["leaf1"])
    assert reading.sources["leaf1"][0].digest == content_digest(Path("leaf1/config_db.json").read_bytes())
