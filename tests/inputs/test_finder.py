"""The finder of inputs: devices, intents, statements beside them, and files that cannot be read."""

from pathlib import Path

import pytest

from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.inputs import FabricInputs, find_inputs, is_intent
from nodrop.inputs.known import REASON_BY_IGNORED_SUFFIX
from nodrop.platforms import hosts as host_files
from support.places import GOLDEN

CONFIG = b'{"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}}, "PORT": {}}'
FRR = b"frr version 10.0\nfrr defaults datacenter\nhostname leaf1\n"
INTENT = b"nodrop: 1\nfabric: pod1\n"
STATED = b"fabric: pod1\nmode: lossless\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lay(files: dict[str, bytes]) -> None:
    for name, raw in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(raw)


def bundles(inputs: FabricInputs) -> dict[str, list[str]]:
    return {bundle.name: [name for name, _ in bundle.files] for bundle in inputs.bundles}


def test_folders_of_devices() -> None:
    lay({"build/leaf1/config_db.json": CONFIG, "build/leaf1/frr.conf": FRR, "build/fabric.yaml": STATED})
    found = find_inputs(["build"])
    assert bundles(found) == {"leaf1": ["config_db.json", "frr.conf"]}
    assert [bundle.platform for bundle in found.bundles] == ["sonic"]
    assert [text.display for text in found.stated] == ["build/fabric.yaml"]
    assert (found.folder_of_fabric, found.problems, found.notes) == ("build", [], [])


def test_a_file_that_is_named_twice_counts_once() -> None:
    lay({"build/leaf1/config_db.json": CONFIG})
    assert bundles(find_inputs(["build", "build/leaf1", "build/leaf1/config_db.json"])) == {"leaf1": ["config_db.json"]}


def test_folders_with_stated_facts_of_their_own_are_fabrics() -> None:
    for pod in ("pod1", "pod2"):
        lay({f"build/{pod}/fabric.yaml": STATED, f"build/{pod}/leaf1/config_db.json": CONFIG})
    found = find_inputs(["build"])
    assert [one.folder_of_fabric for one in found.fabrics()] == ["build/pod1", "build/pod2"]
    assert find_inputs(["build/pod1"]).require_single_fabric().folder_of_fabric == "build/pod1"
    with pytest.raises(InputProblems) as caught:
        found.require_single_fabric()
    assert [problem.path for problem in caught.value.problems] == ["build/pod1/fabric.yaml", "build/pod2/fabric.yaml"]


def test_what_is_excluded_is_passed_over_unless_it_is_named() -> None:
    lay({"build/leaf1/config_db.json": CONFIG, "build/old/config_db.json": CONFIG})

    def excluded(path: Path) -> bool:
        return path.name == "old"

    assert bundles(find_inputs(["build"], exclude=excluded)) == {"leaf1": ["config_db.json"]}
    assert bundles(find_inputs(["build/old"], exclude=excluded)) == {"old": ["config_db.json"]}


@pytest.mark.parametrize("suffix", sorted(REASON_BY_IGNORED_SUFFIX))
def test_no_ending_that_a_reader_takes_is_ignored_by_name(suffix: str) -> None:
    assert not host_files.may_be_host_file(suffix)
    assert [name for name in platforms.platform_names() if suffix in platforms.reader(name).USUAL_SUFFIXES] == []


def test_texts_that_are_held_stand_for_files() -> None:
    lay({"leaf1/config_db.json": CONFIG})
    found = find_inputs(["leaf1"], held={"leaf1/config_db.json": b"{}"})
    ((_, text),) = found.bundles[0].files
    assert text.read_bytes(100) == b"{}"


@pytest.mark.parametrize(
    ("raw", "platform"),
    [(CONFIG, "sonic"), ((GOLDEN / "two-by-two" / "leaf1" / "config_db.json").read_bytes(), "sonic"), (b"{", "sonic")],
)
def test_standard_input_is_a_device(raw: bytes, platform: str) -> None:
    (bundle,) = find_inputs(["-"], stdin=raw).bundles
    assert (bundle.name, bundle.platform, bundle.files[0][1].display) == ("stdin", platform, "<stdin>")


FOREIGN_JSON = [
    b'{"name": "web", "scripts": {"build": "tsc"}, "dependencies": {"react": "^18"}}',
    b'{"title": "PFC", "panels": [{"targets": [{"expr": "pfc"}]}], "templating": {"list": []}}',
    b'{"ENV": {"PATH": {"value": "/bin"}}, "PORTS": {"Ethernet0": {}}}',
    b'{"a": {"b": {"PORT": {"Ethernet0": {}}}}}',
    b'{"PORT": "8080", "text": "\\"PORT\\": {"}',
    b'{"panels": [' + b'{"id": 7}, ' * 10_000 + b"{}]}",
]


@pytest.mark.parametrize("raw", FOREIGN_JSON)
def test_json_without_a_table_is_not_read_unless_its_platform_is_stated(raw: bytes) -> None:
    lay({"site/some.json": raw, "site/leaf1/config_db.json": CONFIG})
    found = find_inputs(["site"])
    assert [(note.file, note.message) for note in found.notes] == [
        ("site/some.json", "JSON without a table of config_db.json")
    ]
    for each in (find_inputs(["site/some.json"]), find_inputs(["-"], stdin=raw)):
        (problem,) = each.problems
        assert (problem.found, "--platform" in problem.hint) == ("JSON without a table of config_db.json", True)
        assert each.bundles == []
    assert bundles(find_inputs(["site/some.json"], "sonic")) == {"some": ["config_db.json"]}
    lay({"leaf2/config_db.json": raw})
    assert bundles(find_inputs(["leaf2/config_db.json"])) == {"leaf2": ["config_db.json"]}


@pytest.mark.parametrize(
    "raw",
    [
        b'{"WRED_PROFILE": {"A": {"ecn": "ecn_all"}}}',
        b'{"localhost": {"PORT": {"Ethernet0": {}}}, "asic0": {}}',
        b'{"PORT|Ethernet0": {"type": "hash", "value": {"mtu": "9100"}}}',
        b'admin@leaf1:~$ show runningconfiguration all\n{\n "PORT": {"Ethernet0": {}}\n}\nadmin@leaf1:~$ \n',
        b'{"Mine": {}, "BGP_NEIGHBOR": {"10.0.0.1": {"asn": "65001"}',
    ],
)
def test_json_with_a_table_under_any_name_is_read(raw: bytes) -> None:
    lay({"site/some.json": raw})
    assert bundles(find_inputs(["site"])) == {"some": ["config_db.json"]}


def test_standard_input_may_be_an_intent() -> None:
    found = find_inputs(["-"], stdin=INTENT)
    assert ([text.read_bytes(100) for text in found.all_intents()], found.bundles) == ([INTENT], [])


def test_what_does_not_exist_is_a_problem_and_all_else_is_found() -> None:
    lay({"leaf1/config_db.json": CONFIG})
    found = find_inputs(["gone", "leaf1"])
    assert ([problem.path for problem in found.problems], bundles(found)) == (["gone"], {"leaf1": ["config_db.json"]})


def test_a_fabric_file_beside_an_intent_alone_is_named() -> None:
    lay({"site/pod.yaml": INTENT, "site/fabric.yaml": STATED})
    for path in ("site", "site/pod.yaml"):
        (note,) = find_inputs([path]).notes
        assert (note.kind, note.file) == ("not-read", "site/fabric.yaml")
        assert note.message.startswith("beside an intent, which states all of its fabric itself")
    lay({"site/other.yaml": INTENT})
    assert len(find_inputs(["site"]).notes) == 1
    lay({"all/site/pod.yaml": INTENT, "all/site/fabric.yaml": STATED, "all/leaf1/config_db.json": CONFIG})
    (nested,) = find_inputs(["all"]).nested
    assert [one.file for one in nested.notes] == ["all/site/fabric.yaml"]


def test_a_fabric_file_of_configurations_is_read_also_beside_an_intent() -> None:
    lay({"site/pod.yaml": INTENT, "site/fabric.yaml": STATED, "site/leaf1/config_db.json": CONFIG})
    assert find_inputs(["site"]).notes == []
    lay({"above/fabric.yaml": STATED, "above/intents/pod.yaml": INTENT})
    assert find_inputs(["above/intents"]).notes == []


def test_stated_facts_alone_are_no_fabric() -> None:
    lay({"fabric.yaml": STATED})
    found = find_inputs(["fabric.yaml"])
    assert ([note.kind for note in found.notes], found.bundles) == (["nothing"], [])


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (INTENT, True),
        (b"# a comment\n'nodrop': 1\n", True),
        (b"\xef\xbb\xbfnodrop: 1\n", True),
        (b"fabric: nodrop\n", False),
        (b'{"nodrop": 1}', False),
        (b" nodrop: 1\n", False),
        (b"", False),
    ],
)
def test_how_an_intent_begins(head: bytes, expected: bool) -> None:
    assert is_intent(head) is expected
