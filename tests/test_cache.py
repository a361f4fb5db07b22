"""What is kept for the next run: whole, the user's own and under its key, or as good as not there; never an error."""

import os
import resource
import stat
import sys
import time
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from nodrop import cache
from nodrop.cache import Store
from support.places import TESTS

DATA = b"what was worked out " * 50


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "cache" / "nodrop"


@pytest.fixture
def store(folder: Path) -> Store:
    found = cache.open_user_store([])
    assert found is not None
    assert found.folder == folder
    return found


@pytest.fixture
def key(store: Store) -> str:
    key = store.entry_name("test", b"a", b"b")
    store.put(key, DATA)
    return key


def test_what_is_put_is_got_and_nobody_else_may_look_at_it(store: Store, key: str) -> None:
    assert store.get(key) == DATA
    assert store.has(key)
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    (entry,) = store.folder.iterdir()
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    other = store.entry_name("test", b"c")
    assert store.get(other) is None
    assert not store.has(other)
    store.drop(key)
    store.drop(key)
    assert store.get(key) is None


def test_a_key_tells_kinds_parts_and_code_apart(store: Store) -> None:
    keys = [
        store.entry_name("test", b"ab", b"c"),
        store.entry_name("test", b"a", b"bc"),
        store.entry_name("test", b"abc"),
        store.entry_name("other", b"ab", b"c"),
        Store(store.folder, b"another nodrop", store.seal).entry_name("test", b"ab", b"c"),
    ]
    assert len(set(keys)) == len(keys)


def test_the_code_is_all_that_decides_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    now = cache.code_digest()
    cache.code_digest.cache_clear()
    assert cache.code_digest() == now
    for change in (
        lambda: monkeypatch.setattr(sys, "version_info", (3, 99, 0)),
        lambda: monkeypatch.setattr(cache.metadata, "version", lambda name: f"9 of {name}"),
        lambda: monkeypatch.setattr(cache, "resource_folder", lambda name: TESTS / "rules" / "incidents"),
    ):
        cache.code_digest.cache_clear()
        change()
        assert cache.code_digest() != now
        monkeypatch.undo()
    cache.code_digest.cache_clear()


def test_every_file_of_the_package_counts() -> None:
    package = Path(cache.__file__).parent
    counted = set(cache._find_code_files(str(package)))
    assert counted == {str(path) for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def test_an_entry_that_was_altered_anywhere_is_not_there(store: Store, key: str) -> None:
    entry = store.folder / key
    raw = entry.read_bytes()
    for at in range(len(raw)):
        entry.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        assert store.get(key) is None, at
    for length in range(len(raw)):
        entry.write_bytes(raw[:length])
        assert store.get(key) is None, length
    entry.write_bytes(raw + b"\0")
    assert store.get(key) is None
    entry.write_bytes(raw)
    assert store.get(key) == DATA


def test_an_entry_under_another_key_is_not_there(store: Store, key: str) -> None:
    other = store.entry_name("test", b"other")
    (store.folder / key).rename(store.folder / other)
    assert store.get(other) is None


def sealed(store: Store, key: str, squeezed: bytes) -> None:
    """Put an entry that says itself that it is whole."""
    (store.folder / key).write_bytes(cache._CACHE_FORMAT_HEADER + store.authentication_code(key, squeezed) + squeezed)


def test_an_entry_that_swells_beyond_measure_is_not_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    key = store.entry_name("test", b"bomb")
    sealed(store, key, zlib.compress(bytes(9000)))
    assert store.get(key) == bytes(9000)
    monkeypatch.setattr(cache, "MAX_ENTRY_BYTES", 1000)
    assert store.get(key) is None
    sealed(store, key, b"not squeezed")
    assert store.get(key) is None
    (store.folder / key).write_bytes(bytes(2000))
    assert store.get(key) is None
    store.put(key, os.urandom(2000))
    assert store.get(key) is None


def test_what_is_no_file_of_the_users_own_is_not_there(store: Store, key: str, tmp_path: Path) -> None:
    entry = store.folder / key
    raw = entry.read_bytes()
    entry.unlink()
    entry.mkdir()
    assert store.get(key) is None
    assert not store.has(key)
    store.put(key, DATA)
    store.drop(key)
    store.prune(0)
    assert entry.is_dir()
    entry.rmdir()
    (tmp_path / "elsewhere").write_bytes(raw)
    entry.symlink_to(tmp_path / "elsewhere")
    assert store.get(key) is None
    assert not store.has(key)
    store.put(key, DATA)
    assert store.get(key) == DATA
    assert not entry.is_symlink()
    entry.unlink()
    os.mkfifo(entry)
    assert store.get(key) is None


def test_an_entry_of_somebody_else_is_not_there(store: Store, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert store.get(key) is None


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda folder: folder.mkdir(parents=True) or folder.chmod(0o770), "can be written by others"),
        (lambda folder: folder.mkdir(parents=True) or folder.chmod(0o702), "can be written by others"),
        (lambda folder: folder.parent.mkdir() or folder.write_text(""), "is not a folder"),
        (lambda folder: folder.parent.mkdir() or folder.symlink_to(folder.parent), "is not a folder"),
        (lambda folder: folder.parent.write_text(""), "not a directory"),
    ],
)
def test_a_folder_that_is_not_safe_is_left_alone(folder: Path, made: object, why: str) -> None:
    made(folder)  # type: ignore[operator]
    before = sorted(map(str, folder.parent.rglob("*")))
    assert cache.open_user_store([]) is None
    assert why in cache.why_no_user_store([])
    Store(folder, b"", b"").put("00", DATA)
    assert sorted(map(str, folder.parent.rglob("*"))) == before


def test_a_folder_of_somebody_else_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert cache.open_user_store([]) is None
    assert cache.why_no_user_store([]) == f"nothing is kept for the next run: {folder} belongs to another user"


def test_entries_lie_where_the_specification_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for stated in ("", "here", "./here"):
        monkeypatch.setenv("XDG_CACHE_HOME", stated)
        store = cache.open_user_store([])
        assert store is not None
        assert store.folder == tmp_path / ".cache/nodrop"


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", _homeless)
    assert cache.open_user_store([]) is None
    assert "no home folder" in cache.why_no_user_store([])


def _homeless() -> Path:
    raise RuntimeError("Could not determine home directory.")


@contextmanager
def full() -> Iterator[None]:
    """Let no file grow beyond 100 bytes, as on a disk without room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_on_a_full_disk_nothing_is_kept_and_nothing_is_left(store: Store) -> None:
    key = store.entry_name("test", b"full")
    with full():
        store.put(key, os.urandom(5000))
    assert store.get(key) is None
    assert list(store.folder.iterdir()) == []


def test_on_a_disk_that_may_not_be_written_nothing_is_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> int:
        raise OSError(30, "Read-only file system")

    key = store.entry_name("test", b"read-only")
    monkeypatch.setattr(os, "open", refused)
    store.put(key, DATA)
    monkeypatch.undo()
    assert store.get(key) is None


def test_where_the_folder_is_gone_nothing_is_kept(store: Store, key: str) -> None:
    (store.folder / key).unlink()
    store.folder.rmdir()
    store.put(key, DATA)
    store.prune()
    assert store.get(key) is None


def test_the_entries_that_nobody_uses_go_first(store: Store) -> None:
    now = time.time()
    keys = [store.entry_name("test", bytes([number])) for number in range(10)]
    for age, key in enumerate(keys):
        store.put(key, os.urandom(1000))
        os.utime(store.folder / key, (now - 7200 * age, now - 7200 * age))
    assert store.get(keys[9]) is not None  # which marks it as used
    store.prune(4400)
    assert {entry.name for entry in store.folder.iterdir()} == {keys[0], keys[1], keys[2], keys[9]}


def test_what_a_process_left_unfinished_goes_too(store: Store, key: str) -> None:
    old, new = store.folder / f"{cache._UNFINISHED_FILE_START}old", store.folder / f"{cache._UNFINISHED_FILE_START}new"
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (time.time() - 4000, time.time() - 4000))
    store.prune()
    assert {entry.name for entry in store.folder.iterdir()} == {new.name, key}


def hammer(store: Store, number: int) -> set[bytes | None]:
    """Put, get, drop and prune one key, and return all that was seen under it."""
    key, seen = store.entry_name("test", b"shared"), set[bytes | None]()
    for _ in range(200):
        store.put(key, bytes([number]) * 50_000)
        seen.add(store.get(key))
        if number == 0:
            store.prune(0)
    return seen


def test_processes_share_entries_without_seeing_half_of_one(store: Store) -> None:
    with ProcessPoolExecutor(4) as pool:
        seen = set().union(*pool.map(hammer, [store] * 4, range(4)))
    assert seen <= {None, *(bytes([number]) * 50_000 for number in range(4))}
    assert len(seen) > 1
    store.prune(0)
    assert list(store.folder.iterdir()) == []
