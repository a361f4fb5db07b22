"""Devices that were read before: the same readings, from fewer files read; whatever is wrong with them is read anew."""

import json
import os
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings

import nodrop
from nodrop import cache, opening, platforms, reading_cache
from nodrop.cache import Store
from nodrop.collect import read_inputs
from nodrop.errors import UnsupportedByPlatform
from nodrop.inputs import find_inputs
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Fabric
from nodrop.model.reading import DeviceReading, Reading
from nodrop.opening import read_device_files
from nodrop.reading_cache import DeviceReadings, split_into_runs
from support.random_fabrics import fabrics

CONFIG = {
    "DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}},
    "PORT": {f"Ethernet{number}": {"lanes": str(number), "speed": "100000", "mtuu": "1"} for number in range(4)},
    "NOBODYS_TABLE": {},
}
KINDS = {
    "config_db.json": json.dumps(CONFIG),
    "frr.conf": "hostname leaf1\nrouter bgp 65001\n neighbor 10.0.0.1 remote-as 65002\n"
    " neighbor 10.0.0.1 password s3cret\n",
}
NVUE = "- set:\n    interface:\n      swp1:\n        type: swp\n        link:\n          mtuu: 9216\n"
ONYX = "hostname leaf3\ninterface ethernet 1/1 mtu 9216 force\nroce\n"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    found = cache.open_user_store([])
    assert found is not None
    return found


def write(folder: str, files: dict[str, str]) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        Path(folder, name).write_text(text)


def site(devices: int = 3) -> None:
    """Put switches of several platforms into the folder `site`."""
    for number in range(devices):
        write(f"site/leaf{number}", KINDS)
    write("site/nvue", {"startup.yaml": NVUE})
    write("site/onyx", {"running-config.txt": ONYX})


def read(store: Store | None, *paths: str) -> Reading:
    inputs = find_inputs(paths or ("site",))
    return read_inputs(inputs, DeclaredFacts(), cached_runs=DeviceReadings(inputs.bundles, None, store))


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the devices that readers were asked to read."""
    names: list[str] = []

    def counting(platform: str) -> Any:
        reader = original(platform)

        class Counting:
            CANONICAL_FILES, COMPANION_FILES, SUBFOLDER_ENDINGS, USUAL_SUFFIXES = (
                reader.CANONICAL_FILES,
                reader.COMPANION_FILES,
                reader.SUBFOLDER_ENDINGS,
                reader.USUAL_SUFFIXES,
            )
            detect = staticmethod(reader.detect)

            @staticmethod
            def read_device(name: str, sources: Any) -> DeviceReading:
                names.append(name)
                found: DeviceReading = reader.read_device(name, sources)
                return found

        return Counting

    original = platforms.reader
    monkeypatch.setattr(opening.platforms, "reader", counting)
    return names


def test_what_was_read_before_is_the_same_and_not_read_again(store: Store, parsed: list[str]) -> None:
    site()
    plain = read(None)
    assert plain.remarks
    assert plain.notes
    assert sorted(parsed) == ["leaf0", "leaf1", "leaf2", "nvue", "onyx"]
    for time, expected in enumerate((5, 0, 0)):
        parsed.clear()
        found = read(store)
        assert repr(found) == repr(plain)
        assert found == plain
        assert len(parsed) == expected, time


def test_everything_that_a_reading_holds_can_be_kept(store: Store) -> None:
    """A device whose reading has no form would be read each time, and nobody would notice."""
    site()
    for bundle in find_inputs(["site"]).bundles:
        runs = DeviceReadings([bundle], None, store)
        assert runs.file_digests_by_device is not None, bundle.name
        assert DeviceReadings([bundle], None, store).all_kept_before, bundle.name


def test_a_processes_pool_reads_and_keeps_the_same(store: Store) -> None:
    site(60)
    bundles = find_inputs(["site"]).bundles
    plain = list(map(read_device_files, bundles))
    with ProcessPoolExecutor(2) as pool:
        for kept_before in (False, True):
            runs = DeviceReadings(bundles, pool, store)
            assert runs.all_kept_before is kept_before
            assert list(runs.all_readings()) == plain
    assert list(DeviceReadings(bundles, None, store).all_readings()) == plain


def test_one_changed_device_has_only_its_own_run_read(store: Store, parsed: list[str]) -> None:
    site(300)
    read(store)
    config = json.loads(KINDS["config_db.json"])
    config["PORT"]["Ethernet0"]["mtu"] = "1500"
    Path("site/leaf150/config_db.json").write_text(json.dumps(config))
    parsed.clear()
    found = read(store)
    (run,) = (
        run for run in split_into_runs(find_inputs(["site"]).bundles) if "leaf150" in {bundle.name for bundle in run}
    )
    assert parsed == [bundle.name for bundle in run]
    assert len(run) < 300
    assert found == read(None)


def test_a_device_more_or_less_has_no_run_read_but_those_that_it_is_in(store: Store, parsed: list[str]) -> None:
    site(300)
    read(store)
    before = set(split_into_runs(find_inputs(["site"]).bundles))
    write("site/leaf1000", KINDS)
    Path("site/leaf7/frr.conf").unlink()
    Path("site/leaf7/config_db.json").unlink()
    new = [run for run in split_into_runs(find_inputs(["site"]).bundles) if run not in before]
    assert 1 <= len(new) <= 3
    parsed.clear()
    found = read(store)
    assert parsed == [bundle.name for run in new for bundle in run]
    assert found == read(None)


@pytest.mark.parametrize(
    "kind", ["content", "name of the file", "folder", "one more file", "nodrop's code", "platform"]
)
def test_what_a_reading_depends_on_makes_it_another(store: Store, parsed: list[str], kind: str) -> None:
    write("site/leaf1", {"other.json": KINDS["config_db.json"]})
    read(store)
    platform = None
    if kind == "content":
        write("site/leaf1", {"other.json": KINDS["config_db.json"].replace("1", "2")})
    elif kind == "name of the file":
        Path("site/leaf1/other.json").rename("site/leaf1/another.json")
    elif kind == "folder":
        Path("site/leaf1").rename("site/leaf2")
    elif kind == "one more file":
        Path("site/leaf1/other.json").rename("site/leaf1/config_db.json")
        read(store)
        write("site/leaf1", {"frr.conf": KINDS["frr.conf"]})
    elif kind == "code":
        store = Store(store.folder, b"another", store.seal)
    else:
        platform = "nvue"
    parsed.clear()
    inputs = find_inputs(["site"], platform)
    found = read_inputs(inputs, DeclaredFacts(), cached_runs=DeviceReadings(inputs.bundles, None, store))
    assert len(parsed) == 1
    assert found == read_inputs(inputs, DeclaredFacts())


def test_the_same_bytes_elsewhere_show_where_they_are(store: Store) -> None:
    for folder in ("here", "there"):
        write(f"{folder}/leaf1", KINDS)
        write(f"{folder}/leaf2", {"config_db.json": "{"})
    for folder in ("here", "there", "here"):
        found = read(store, folder)
        (sources,) = found.sources.values()
        assert {source.display for source in sources} == {f"{folder}/leaf1/config_db.json", f"{folder}/leaf1/frr.conf"}
        assert [problem.path for problem in found.problems] == [f"{folder}/leaf2/config_db.json"]


def test_no_secret_and_no_text_of_a_file_is_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[bytes] = []
    monkeypatch.setattr(Store, "put", lambda _store, _key, data: kept.append(data))
    site()
    assert any(remark.secret for remark in read(store).remarks)
    assert kept
    assert not any(b"s3cret" in data or b"remote-as" in data for data in kept)


def test_standard_input_and_what_cannot_be_read_are_read_each_time(store: Store, parsed: list[str]) -> None:
    for _ in range(2):
        inputs = find_inputs(["-"], stdin=KINDS["config_db.json"].encode())
        runs = DeviceReadings(inputs.bundles, None, store)
        assert runs.file_digests_by_device is None
        assert len(list(runs.all_readings())) == 1
    site(1)
    inputs = find_inputs(["site"])
    Path("site/leaf0/frr.conf").unlink()
    for _ in range(2):
        runs = DeviceReadings(inputs.bundles, None, store)
        assert runs.file_digests_by_device is None
        assert [one.problems[:1] for one in runs.all_readings() if one.problems]
    assert list(store.folder.iterdir()) == []


def test_a_file_that_changes_while_it_is_read_is_kept_as_neither(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    site(1)
    monkeypatch.setattr(reading_cache, "_MAX_HELD_BYTES_PER_RUN", 0)
    original = reading_cache.read_device_from_open_files

    def changing(*given: Any) -> DeviceReading:
        write("site/onyx", {"running-config.txt": ONYX + "lldp\n"})
        return original(*given)

    monkeypatch.setattr(reading_cache, "read_device_from_open_files", changing)
    assert DeviceReadings(find_inputs(["site"]).bundles, None, store).file_digests_by_device is None
    assert list(store.folder.iterdir()) == []


class Bad:
    """Runs a command when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.system, ("touch ran",)


def bad_entries(store: Store) -> Iterator[bytes]:
    good = store.get(next(entry.name for entry in store.folder.iterdir()))
    assert good is not None
    yield pickle.dumps(Bad())
    yield b""
    yield b"[" * 1_000_000
    yield b'["tuples", [2], ["plain", [1, 2]]]'
    yield b'["plain", ["leaf0"]]'
    yield good[: len(good) // 2]
    yield good.replace(b'"DeviceReading"', b'"Fabric"')
    yield good.replace(b'["tuples",[', b'["tuples",[9', 1)


def test_what_somebody_else_put_under_a_key_is_read_anew_and_replaced(store: Store, parsed: list[str]) -> None:
    site()
    plain = read(store)
    for bad in list(bad_entries(store)):
        for entry in list(store.folder.iterdir()):
            store.put(entry.name, bad)
        parsed.clear()
        assert read(store) == plain
        assert len(parsed) == 5, bad[:80]
        read(store)
        parsed.clear()
        assert read(store) == plain
        assert parsed == []
    assert not Path("ran").exists()


def test_an_entry_that_is_gone_by_the_time_it_is_needed_is_read_anew(store: Store) -> None:
    site()
    read(store)
    plain = list(map(read_device_files, find_inputs(["site"]).bundles))
    runs = DeviceReadings(find_inputs(["site"]).bundles, None, store)
    assert runs.all_kept_before
    store.prune(0)
    assert list(runs.all_readings()) == plain


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("random")


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(fabric=fabrics())
def test_random_fabrics_are_read_alike_with_and_without_and_again(shared: Path, store: Store, fabric: Fabric) -> None:
    folder = shared / f"{len(list(shared.iterdir()))}"
    try:
        for artifact in nodrop.write(fabric):
            path = folder / artifact.device / artifact.path
            write(str(path.parent), {path.name: artifact.text})
    except UnsupportedByPlatform:
        return
    plain = read(None, str(folder))
    assert repr(read(store, str(folder))) == repr(plain)
    again = DeviceReadings(find_inputs([str(folder)]).bundles, None, store)
    assert again.all_kept_before
    with mock.patch.object(reading_cache, "read_device_files", side_effect=AssertionError("read anew")):
        assert len(list(again.all_readings())) == len(plain.fabric.devices)
    assert repr(read(store, str(folder))) == repr(plain)
