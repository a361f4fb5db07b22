"""A cache that a change under check brings along answers nothing: neither its place nor its seal is taken for good."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from nodrop import cache, outcome_cache
from nodrop.cache import Store
from nodrop.results.outcome import FabricOutcome
from support.command import nodrop


@pytest.fixture
def checkout(two_by_two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a faulty switch in it, where the user stands; the user's own folders are beside it."""
    here = tmp_path / "checkout"
    shutil.copytree(two_by_two / "leaf1", here / "configs/leaf1")
    database = here / "configs/leaf1/config_db.json"
    database.write_text(database.read_text().replace('"pfc_enable"', '"pfc_enabled"'))
    (here / ".git").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.delenv("NODROP_NO_CACHE")
    forget_folders()
    return here


def forget_folders() -> None:
    """Forget which folders were found safe, as another process does not know it."""
    cache._open_cache_folder.cache_clear()
    cache._load_or_create_secret.cache_clear()


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    forget_folders()


def forged(monkeypatch: pytest.MonkeyPatch, kept: Path, home: Path) -> None:
    """Fill a cache folder as an attacker does who has another home and a nodrop that keeps no findings."""
    keep = outcome_cache._store_outcome

    def silent(store: Store, key: str, made: FabricOutcome) -> None:
        keep(store, key, replace(made, findings=()))

    with monkeypatch.context() as attack:
        attack.setenv("HOME", str(home))
        attack.setenv("XDG_CACHE_HOME", str(kept))
        attack.setattr(outcome_cache, "_store_outcome", silent)
        assert nodrop("lint", "configs").code == 1
        forget_folders()
        assert nodrop("lint", "configs").code == 0, "the attack itself does not work"
    forget_folders()


def test_the_seal_alone_keeps_a_forged_entry_out(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder lies beside the checkout, where it may be used, and has the attacker's entries."""
    forged(monkeypatch, tmp_path / "cache", tmp_path / "attacker")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert nodrop("lint", "configs").code == 1
    assert nodrop("lint", "configs").code == 1


def test_the_place_alone_keeps_a_forged_entry_out(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attacker knows the user's secret, but the folder lies in the checkout."""
    forged(monkeypatch, tmp_path / "cache", tmp_path / "home")
    shutil.move(tmp_path / "cache", checkout / ".cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(checkout / ".cache"))
    before = sorted(checkout.rglob("*"))
    done = nodrop("lint", "configs", "-v")
    assert done.code == 1
    assert "inside a git work tree" in done.err
    assert nodrop("lint", "configs").err == ""
    assert sorted(checkout.rglob("*")) == before


@pytest.mark.parametrize("where", ["configs/.cache", "configs", "configs/leaf1/a/b"])
def test_a_cache_below_what_is_checked_is_not_used(checkout: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    (checkout / ".git").rmdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(checkout / where))
    before = sorted(checkout.rglob("*"))
    done = nodrop("lint", "configs", "-v")
    assert "a path that is checked" in done.err
    assert sorted(checkout.rglob("*")) == before


def test_a_cache_that_what_is_checked_lies_in_is_not_used(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / ".git").rmdir()
    (checkout / "nodrop").mkdir(mode=0o700)
    shutil.move("configs", "nodrop/configs")
    monkeypatch.setenv("XDG_CACHE_HOME", str(checkout))
    assert "a path that is checked" in nodrop("lint", "nodrop/configs", "-v").err
    assert [path.name for path in Path("nodrop").iterdir()] == ["configs"]


def test_a_cache_beside_what_is_checked_is_used(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / ".git").rmdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(checkout / "configs2"))
    assert nodrop("lint", "configs", "-v").code == 1
    assert list((checkout / "configs2/nodrop").iterdir())


@pytest.mark.parametrize("command", [["check", "--base", "other", "configs"], ["drift", "configs", "other"]])
def test_other_commands_refuse_it_too(checkout: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    (checkout / ".git").rmdir()
    shutil.copytree("configs", "other")
    monkeypatch.setenv("XDG_CACHE_HOME", str(checkout / "configs/.cache"))
    assert "a path that is checked" in nodrop(*command, "-v").err
    assert not Path("configs/.cache").exists()


def test_a_link_to_a_work_tree_is_no_way_around(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "kept").mkdir()
    (tmp_path / "elsewhere").symlink_to(checkout / "kept")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert "inside a git work tree" in nodrop("lint", "configs", "-v").err
    assert not list((checkout / "kept").iterdir())


def test_the_secret_in_a_work_tree_is_not_used(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(checkout / "state"))
    assert "inside a git work tree" in nodrop("lint", "configs", "-v").err
    assert not (checkout / "state").exists()


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the secret lies, the cache being beside it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    forget_folders()
    return tmp_path / "state/nodrop/cache.key"


def test_the_secret_is_made_once_and_nobody_else_may_read_it(key: Path) -> None:
    assert cache.open_user_store([]) is not None
    made = key.read_bytes()
    assert len(made) == 32
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700
    forget_folders()
    assert cache.open_user_store([]) is not None
    assert key.read_bytes() == made
    assert [one.name for one in key.parent.iterdir()] == ["cache.key"]


def test_entries_of_another_secret_are_not_there(key: Path) -> None:
    store = cache.open_user_store([])
    assert store is not None
    store.put("00", b"kept")
    assert store.get("00") == b"kept"
    key.unlink()
    forget_folders()
    other = cache.open_user_store([])
    assert other is not None
    assert other.get("00") is None
    assert store.get("00") == b"kept"


def test_the_secret_is_not_shown(key: Path) -> None:
    store = cache.open_user_store([])
    assert repr(key.read_bytes()) not in repr(store)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda key: (key.write_bytes(bytes(31)), key.chmod(0o600)), "is no key of nodrop"),
        (lambda key: (key.write_bytes(bytes(33)), key.chmod(0o600)), "is no key of nodrop"),
        (lambda key: (key.write_bytes(b""), key.chmod(0o600)), "is no key of nodrop"),
        (lambda key: (key.write_bytes(bytes(32)), key.chmod(0o644)), "can be read by others"),
        (lambda key: (key.write_bytes(bytes(32)), key.chmod(0o620)), "can be read by others"),
        (lambda key: key.mkdir(), "is not a file"),
        (lambda key: os.mkfifo(key, 0o600), "is not a file"),
        (lambda key: (key.with_name("a").write_bytes(bytes(32)), key.symlink_to("a")), "is not a file"),
        (lambda key: key.symlink_to("gone"), "is not a file"),
    ],
    ids=["short", "long", "empty", "readable", "writable", "folder", "pipe", "link", "dangling link"],
)
def test_a_secret_that_is_not_one_is_not_used(key: Path, made: object, why: str) -> None:
    key.parent.mkdir(mode=0o700, parents=True)
    made(key)  # type: ignore[operator]
    assert cache.open_user_store([]) is None
    assert why in cache.why_no_user_store([])


def test_a_secret_of_somebody_else_is_not_used(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache.open_user_store([]) is not None
    forget_folders()
    own = os.geteuid()
    seen = os.fstat

    def foreign(file: int) -> os.stat_result:
        found = seen(file)
        if stat.S_ISREG(found.st_mode):
            return os.stat_result((*found[:4], own + 1, *found[5:]))
        return found

    monkeypatch.setattr(os, "fstat", foreign)
    assert cache.open_user_store([]) is None


def test_where_no_secret_can_be_written_nothing_is_kept(key: Path) -> None:
    key.parent.parent.write_text("")
    assert cache.open_user_store([]) is None
    assert "nothing is kept for the next run" in cache.why_no_user_store([])


def test_processes_that_begin_at_once_share_one_secret(key: Path) -> None:
    script = "from nodrop import cache; print(cache.open_user_store([]).seal.hex())"

    def begin(_: int) -> str:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
        return done.stdout.strip()

    with ThreadPoolExecutor(6) as pool:
        seals = set(pool.map(begin, range(6)))
    assert seals == {key.read_bytes().hex()}
    assert [one.name for one in key.parent.iterdir()] == ["cache.key"]
