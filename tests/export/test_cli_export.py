"""`nodrop export`: what is written, what is told of what is not seen, and what is never overwritten."""

from pathlib import Path

import pytest

import nodrop as nodrop_package
from nodrop.export.batfish import LAYER1_FILE, build_snapshot
from nodrop.resources import resource_folder
from support.command import nodrop


def files(folder: Path) -> dict[str, str]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != ".nodrop.json")
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_build_becomes_its_snapshot(two_by_two: Path) -> None:
    done = nodrop("export", "batfish", two_by_two, "-o", "out")
    assert (done.code, done.out, done.err) == (0, "", "out: 4 switches, 4 hosts, 14 cables, 13 files\n")
    assert files(Path("out")) == build_snapshot(nodrop_package.read([str(two_by_two)])).files


def test_an_intent_is_built_first_and_what_is_not_seen_is_told() -> None:
    done = nodrop("export", "batfish", resource_folder("intents") / "storage-vlan.yaml", "-o", "out/")
    assert (done.code, done.out) == (0, "")
    reason = "Batfish gives VLANs of SONiC an MTU of 1500 bytes, whatever they have"
    assert done.err.splitlines() == [
        f"not seen: leaf1/@vlans/100/mtu_bytes, leaf2/@vlans/100/mtu_bytes: {reason}",
        "out: 4 switches, 6 hosts, 20 cables, 15 files",
    ]


def test_many_parts_are_counted() -> None:
    done = nodrop("export", "batfish", resource_folder("intents") / "dual-stack.yaml", "-o", "out")
    first = "leaf1/@neighbors/fd00:1:0:1::101, leaf1/@neighbors/fd00:1:0:1::e9, leaf1/@neighbors/fd00:1:0:1::f1"
    assert f"not seen: {first} and 13 more: Batfish has no BGP of IPv6" in done.err.splitlines()


def test_a_snapshot_replaces_a_snapshot_and_nothing_else(two_by_two: Path) -> None:
    assert nodrop("export", "batfish", two_by_two, "-o", "out").code == 0
    assert nodrop("export", "batfish", two_by_two / "leaf1", "-o", "out").code == 0
    switches = {name for name in files(Path("out")) if not name.startswith("hosts/")}
    assert switches == {LAYER1_FILE, "sonic_configs/leaf1/config_db.json", "sonic_configs/leaf1/frr.conf"}
    assert nodrop("build", resource_folder("intents") / "two-by-two.yaml", "-o", "build").code == 0
    before = files(Path("build"))
    done = nodrop("export", "batfish", "build", "-o", "build")
    told = f"holds what another command of nodrop wrote, without {LAYER1_FILE}"
    hint = "give a new or an empty folder; nothing was touched"
    assert (done.code, done.err) == (2, f"error: build: {told} ({hint})\n")
    assert files(Path("build")) == before
    Path("mine").mkdir()
    Path("mine/notes.txt").write_text("mine")
    assert nodrop("export", "batfish", "build", "-o", "mine").code == 2
    assert files(Path("mine")) == {"notes.txt": "mine"}


def test_what_cannot_be_read_is_told_and_nothing_is_written(two_by_two: Path) -> None:
    Path("build/leaf1").mkdir(parents=True)
    Path("build/leaf2").mkdir()
    Path("build/leaf1/config_db.json").write_text((two_by_two / "leaf1" / "config_db.json").read_text())
    Path("build/leaf2/config_db.json").write_text('{"PORT": {')
    done = nodrop("export", "batfish", "build", "-o", "out")
    assert (done.code, done.out, Path("out").exists()) == (2, "", False)
    assert done.err.startswith("error: build/leaf2/config_db.json:")
    assert done.err.endswith("nothing was written to out\n")
    Path("empty").mkdir()
    assert nodrop("export", "batfish", "empty", "-o", "out").code == 2
    assert nodrop("export", "batfish", "build", "-o", "").code == 2


def test_an_unknown_form_names_the_nearest() -> None:
    done = nodrop("export", "batfisch")
    assert (done.code, "no command 'batfisch' (did you mean `batfish`?)" in done.err) == (2, True)
