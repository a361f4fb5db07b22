"""The output tree: replaced as a whole or not at all, whatever stops the run, and no file of the user's is lost."""

import errno
import itertools
import json
import os
import random
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nodrop.errors import InputProblems
from nodrop.publish import (
    DEFAULT_DISK_WRITER,
    BuildFolderDifference,
    DiskWriter,
    OutputTreeChanges,
    compare_with_build,
    content_digest,
    interrupted_build_hint,
    open_draft,
    publish,
)
from nodrop.publish.disk import DRAFT_MARKER_FILE, DRAFT_MARKER_FILE_CONTENT
from nodrop.publish.landing import OutputPlace
from support.places import TESTS
from support.publish_alternately import TREES, anything
from support.stopping_disk import FailingDisk, Stopped, StoppingDisk

OLD = {"fabric.yaml": b"mode: lossless\n", "leaf1/config_db.json": b"{}\n", "leaf2/apply/apply.sh": b"nv apply\n"}
NEW = {
    "fabric.yaml": b"mode: lossless\n",
    "leaf1/config_db.json": b'{"PORT": {}}\n',
    "spine1/frr.conf": b"router bgp 1\n",
}
INPUTS = {"intents/pod1.yaml": content_digest(b"pod1")}


def put(
    directory: Path, files: dict[str, bytes], disk: DiskWriter = DEFAULT_DISK_WRITER, *, overwrite_edited: bool = False
) -> OutputTreeChanges:
    return publish(
        directory, files, anything, inputs=INPUTS, display="out", disk=disk, overwrite_edited=overwrite_edited
    )


def recover(directory: Path, disk: DiskWriter = DEFAULT_DISK_WRITER) -> None:
    """Begin a build, which settles what another one left, and end it without one."""
    with open_draft(directory, anything, display=str(directory), disk=disk):
        pass


def contents(directory: Path) -> dict[str, bytes | None]:
    """Everything below a folder: bytes of files, None for folders."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() if path.is_file() else None
        for path in directory.rglob("*")
    }


def files_in(directory: Path) -> dict[str, bytes]:
    found = {path: data for path, data in contents(directory).items() if data is not None}
    found.pop(".nodrop.json", None)
    return found


def is_whole(directory: Path, files: dict[str, bytes]) -> bool:
    return compare_with_build(directory, files, display="out") == ()


def beside(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.parent.iterdir() if path.name != directory.name)


def lock_of(directory: Path) -> OutputPlace:
    """The lock beside a folder, as a build has it."""
    return OutputPlace(os.open(directory.parent, os.O_PATH), f".{directory.name}.nodrop-lock")


def refusal(directory: Path, files: dict[str, bytes] = NEW, disk: DiskWriter = DEFAULT_DISK_WRITER) -> str:
    """The words of the refusal, which has changed nothing and left nothing."""
    exists = directory.exists()
    before = contents(directory.parent)
    with pytest.raises(InputProblems) as refused:
        put(directory, files, disk)
    assert contents(directory.parent) == before
    assert directory.exists() == exists
    assert str(directory) not in str(refused.value)
    return str(refused.value)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


class TestPublish:
    def test_absent_folder_and_its_parents_are_made(self, tmp_path: Path) -> None:
        done = put(tmp_path / "a" / "b" / "out", OLD)
        assert done == OutputTreeChanges(written=tuple(sorted(OLD)), unchanged=(), removed=())
        assert files_in(tmp_path / "a" / "b" / "out") == OLD
        assert beside(tmp_path / "a" / "b" / "out") == []

    def test_empty_folder_is_filled_and_keeps_its_permissions(self, out: Path) -> None:
        out.mkdir(mode=0o700)
        put(out, OLD)
        assert files_in(out) == OLD
        assert out.stat().st_mode & 0o777 == 0o700
        out.chmod(0o555)
        put(out, NEW)
        assert out.stat().st_mode & 0o777 == 0o755

    def test_a_second_build_says_what_it_did_and_leaves_no_empty_folders(self, out: Path) -> None:
        put(out, OLD)
        done = put(out, NEW)
        assert done == OutputTreeChanges(
            written=("leaf1/config_db.json", "spine1/frr.conf"),
            unchanged=("fabric.yaml",),
            removed=("leaf2/apply/apply.sh",),
        )
        assert files_in(out) == NEW
        assert not (out / "leaf2").exists()
        assert beside(out) == []

    @pytest.mark.parametrize("exchange", [True, False])
    def test_unchanged_files_are_the_same_files(self, out: Path, exchange: bool) -> None:
        put(out, OLD)
        before = {path: (out / path).stat().st_ino for path in OLD}
        put(out, NEW, StoppingDisk(exchange=exchange))
        assert (out / "fabric.yaml").stat().st_ino == before["fabric.yaml"]
        assert (out / "fabric.yaml").stat().st_nlink == 1
        assert (out / "leaf1/config_db.json").stat().st_ino != before["leaf1/config_db.json"]

    def test_where_links_are_refused_files_are_written(self, out: Path) -> None:
        put(out, OLD)
        assert put(out, NEW, FailingDisk("add_hard_link", errno.EPERM)).unchanged == ("fabric.yaml",)
        assert is_whole(out, NEW)

    def test_an_equal_build_changes_nothing(self, out: Path) -> None:
        put(out, OLD)
        inode, disk = out.stat().st_ino, StoppingDisk()
        assert put(out, OLD, disk) == OutputTreeChanges(written=(), unchanged=tuple(sorted(OLD)), removed=())
        assert out.stat().st_ino == inode
        assert disk.done == ["lock", "mkdir", "mark", "mark", "remove_tree", "unlock"]

    def test_no_files_at_all(self, out: Path) -> None:
        put(out, OLD)
        assert put(out, {}).removed == tuple(sorted(OLD))
        assert list(contents(out)) == [".nodrop.json"]

    @pytest.mark.parametrize(("umask", "private"), [(0o022, False), (0o077, False), (0o002, False), (0o002, True)])
    def test_scripts_can_be_run_and_modes_follow_the_umask(self, out: Path, umask: int, private: bool) -> None:
        before = os.umask(umask)
        try:
            publish(out, OLD, anything, inputs=INPUTS, display="out", private=private)
        finally:
            os.umask(before)
        modes = {path.name: path.stat().st_mode & 0o777 for path in out.rglob("*")}
        less = 0o700 if private else ~umask
        file, run = 0o666 & less, 0o777 & less
        assert modes == {
            **dict.fromkeys(("fabric.yaml", "config_db.json", ".nodrop.json"), file),
            **dict.fromkeys(("apply.sh", "apply", "leaf1", "leaf2"), run),
        }

    def test_changed_permissions_are_put_right(self, out: Path) -> None:
        put(out, OLD)
        (out / "leaf2/apply/apply.sh").chmod(0o600)
        assert put(out, OLD).written == ("leaf2/apply/apply.sh",)
        assert (out / "leaf2/apply/apply.sh").stat().st_mode & 0o777 == 0o755

    def test_a_link_to_the_folder_stays_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "disk").mkdir()
        (tmp_path / "out").symlink_to("disk/tree")
        put(tmp_path / "out", OLD)
        put(tmp_path / "out", NEW)
        assert (tmp_path / "out").is_symlink()
        assert files_in(tmp_path / "disk" / "tree") == NEW
        assert beside(tmp_path / "disk" / "tree") == []

    def test_a_deleted_file_comes_back(self, out: Path) -> None:
        put(out, OLD)
        (out / "leaf1/config_db.json").unlink()
        assert put(out, OLD).written == ("leaf1/config_db.json",)
        assert is_whole(out, OLD)

    @pytest.mark.parametrize("count", [20, 200])
    def test_many_files_are_synced_at_once(self, out: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
        synced: list[int] = []
        monkeypatch.setattr("os.fsync", synced.append)
        disk = StoppingDisk()
        put(out, {f"leaf{number}/config_db.json": b"{}" for number in range(count)}, disk)
        syncs = [name for name in disk.done if "sync" in name]
        expected = ["sync_filesystem", "fsync_folder"] if count > 64 else ["fsync_folder"] * (count + 2)
        assert syncs == expected
        assert len(synced) == (1 if count > 64 else count + 1 + count + 2)


class TestManifest:
    def test_lists_inputs_and_files_and_is_equal_for_equal_builds(self, tmp_path: Path) -> None:
        put(tmp_path / "one", OLD)
        put(tmp_path / "elsewhere" / "two", NEW)
        put(tmp_path / "elsewhere" / "two", dict(reversed(OLD.items())))
        one, two = ((tmp_path / name / ".nodrop.json").read_bytes() for name in ("one", "elsewhere/two"))
        assert one == two
        files = {path: content_digest(data) for path, data in OLD.items()}
        assert json.loads(one) == {"version": 1, "inputs": INPUTS, "files": files}
        assert list(json.loads(one)["files"]) == sorted(OLD)

    def test_new_inputs_alone_are_written(self, out: Path) -> None:
        put(out, OLD)
        done = publish(out, OLD, anything, inputs={"other.yaml": "00"}, display="out")
        assert done.written == ()
        assert json.loads((out / ".nodrop.json").read_bytes())["inputs"] == {"other.yaml": "00"}

    def test_absolute_names_are_a_bug(self, out: Path) -> None:
        with pytest.raises(ValueError, match="absolute"):
            publish(out, OLD, anything, inputs={"/home/me/intent.yaml": "00"}, display="out")

    @pytest.mark.parametrize(
        "path",
        ["", ".", "/etc/passwd", "..", "../x", "a/../../x", "a//b", "a/", "./a", "a b", "a\nb", "a\\b", "é", "a\x00",
         ".nodrop.json", "leaf1/.nodrop.json", ".NODROP.json"],
    )  # fmt: skip
    def test_names_that_are_not_plain_are_a_bug(self, out: Path, path: str) -> None:
        with pytest.raises(ValueError):
            put(out, {path: b""})
        assert not out.exists()

    def test_a_file_in_the_place_of_a_folder_is_a_bug(self, out: Path) -> None:
        with pytest.raises(ValueError, match="'a/b'"):
            put(out, {"a/b": b"", "a/b/c": b""})

    def test_odd_but_plain_names(self, out: Path) -> None:
        files = {"a.b_c@d+e=f-1": b"", "..x": b"", "x..": b"", ".hidden/-": b""}
        put(out, files)
        assert files_in(out) == files


class TestRefused:
    def test_a_folder_of_the_users(self, out: Path) -> None:
        out.mkdir()
        (out / "thesis\x1b.tex").write_text("years of work")
        assert refusal(out) == (
            "out: is not empty and has no .nodrop.json, so nodrop did not write it: 'thesis\\x1b.tex' "
            "(give a new or an empty folder; nothing was touched)"
        )

    @pytest.mark.parametrize("make", ["file", "folder", "empty folder", "link", "nested"])
    def test_anything_that_is_not_listed(self, out: Path, make: str) -> None:
        put(out, OLD)
        foreign = out / ("leaf1/notes" if make == "nested" else "notes")
        if make in ("file", "nested"):
            foreign.write_text("mine")
        elif make == "link":
            foreign.symlink_to("leaf1")
        else:
            foreign.mkdir()
        if make == "folder":
            (foreign / "a").write_text("mine")
        where = foreign.relative_to(out)
        assert refusal(out) == (
            f"out/{where}: was not written by nodrop (move it out of the folder, which a build replaces as a whole; "
            "nothing was touched)"
        )

    @pytest.mark.parametrize("instead", ["link", "folder"])
    def test_something_else_under_a_listed_name(self, out: Path, instead: str) -> None:
        put(out, OLD)
        (out / "fabric.yaml").unlink()
        if instead == "link":
            (out / "fabric.yaml").symlink_to("leaf1/config_db.json")
        else:
            (out / "fabric.yaml").mkdir()
        assert "out/fabric.yaml: is no longer the plain file that nodrop wrote" in refusal(out)

    def test_a_linked_folder_is_not_entered(self, out: Path) -> None:
        put(out, OLD)
        (out / "leaf1").rename(out.parent / "moved")
        (out / "leaf1").symlink_to("../moved")
        assert "out/leaf1: was not written by nodrop" in refusal(out)

    def test_an_edited_file_and_every_problem_at_once(self, out: Path) -> None:
        put(out, OLD)
        (out / "leaf1/config_db.json").write_text("{ }\n")
        (out / "leaf2/apply/apply.sh").write_text("nv diff\n")
        (out / "notes").write_text("mine")
        lines = refusal(out).splitlines()
        assert [line.split(" (")[0] for line in lines] == [
            "out/leaf1/config_db.json: was changed since nodrop wrote it",
            "out/leaf2/apply/apply.sh: was changed since nodrop wrote it",
            "out/notes: was not written by nodrop",
        ]

    def test_an_edit_may_be_given_up_by_name_or_made_needless(self, out: Path) -> None:
        put(out, OLD)
        (out / "leaf1/config_db.json").write_bytes(NEW["leaf1/config_db.json"])
        put(out, NEW)
        assert is_whole(out, NEW)
        (out / "leaf1/config_db.json").write_text("edited")
        put(out, NEW, overwrite_edited=True)
        assert is_whole(out, NEW)

    @pytest.mark.parametrize(
        ("manifest", "words"),
        [
            (b"<<<<<<< HEAD", "is damaged: not JSON"),
            (b"[" * 100_000, "is damaged: not JSON"),
            (b'{"version": 2}', "is not of version 1"),
            (b"[]", "is not of version 1"),
            (b'{"version": 1, "inputs": {}, "files": ["fabric.yaml"]}', "do not map names to digests"),
            (b'{"version": 1, "inputs": {}, "files": {"fabric.yaml": 7}}', "do not map names to digests"),
            (b'{"version": 1, "inputs": {}, "files": {".nodrop.json": ""}}', "it lists itself"),
        ],
    )
    def test_a_manifest_that_cannot_be_trusted(self, out: Path, manifest: bytes, words: str) -> None:
        put(out, OLD)
        (out / ".nodrop.json").write_bytes(manifest)
        assert words in refusal(out)

    def test_a_manifest_cannot_reach_outside(self, out: Path) -> None:
        out.mkdir()
        (out.parent / "thesis").write_text("years of work")
        listed = {
            "../thesis": content_digest(b"years of work"),
            str(out.parent / "thesis"): content_digest(b"years of work"),
        }
        (out / ".nodrop.json").write_text(json.dumps({"version": 1, "inputs": {}, "files": listed}))
        assert put(out, OLD).removed == ()
        assert (out.parent / "thesis").read_text() == "years of work"

    def test_a_manifest_that_is_a_link(self, out: Path) -> None:
        put(out, OLD)
        (out / ".nodrop.json").rename(out.parent / "manifest")
        (out / ".nodrop.json").symlink_to("../manifest")
        assert "out/.nodrop.json: is no longer the plain file that nodrop wrote" in refusal(out)

    def test_a_file_and_a_folder_below_a_file(self, out: Path) -> None:
        out.write_text("mine")
        assert refusal(out) == "out: is not a folder (give a new or an empty folder)"
        with pytest.raises(InputProblems, match="not a directory"):
            put(out / "below", OLD)

    def test_a_link_in_a_circle(self, out: Path) -> None:
        out.symlink_to("out")
        with pytest.raises(InputProblems, match="too many levels of symbolic links"):
            put(out, OLD)

    def test_a_mount_point(self) -> None:
        with pytest.raises(InputProblems, match="out: is a mount point"):
            put(Path("/"), OLD)

    @pytest.mark.parametrize("below", [".", "leaf1"])
    def test_the_working_directory(self, out: Path, below: str, monkeypatch: pytest.MonkeyPatch) -> None:
        put(out, OLD)
        monkeypatch.chdir(out / below)
        assert "is or holds the working directory" in refusal(out)

    def test_while_another_build_runs(self, out: Path) -> None:
        put(out, OLD)
        lock = lock_of(out)
        handle = DEFAULT_DISK_WRITER.try_lock(lock)
        assert handle is not None
        assert refusal(out) == "out: another nodrop build is writing it (wait until that has ended)"
        (out.parent / ".out.nodrop-new").mkdir()
        assert "another nodrop build" in refusal(out)
        assert beside(out) == [".out.nodrop-lock", ".out.nodrop-new"]
        child = os.dup(handle)
        DEFAULT_DISK_WRITER.unlock_and_remove_lock(lock, handle)
        put(out, NEW)
        assert beside(out) == []
        os.close(child)

    def test_a_lock_whose_file_was_just_removed_is_taken_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, tries = tmp_path / ".out.nodrop-lock", []

        def flock(handle: int, operation: int) -> None:
            tries.append(handle)
            if len(tries) == 1:
                path.unlink()
            if len(tries) == 2:
                path.rename(tmp_path / "moved")
                path.touch()

        monkeypatch.setattr("fcntl.flock", flock)
        handle = DEFAULT_DISK_WRITER.try_lock(lock_of(tmp_path / "out"))
        assert handle is not None
        assert len(tries) == 3
        assert os.path.samestat(os.fstat(handle), path.stat())
        os.close(handle)

    def test_builds_into_neighbouring_folders_do_not_meet(self, out: Path) -> None:
        handle = DEFAULT_DISK_WRITER.try_lock(lock_of(out))
        assert handle is not None
        put(out.parent / "out2", OLD)
        DEFAULT_DISK_WRITER.unlock_and_remove_lock(lock_of(out), handle)


class TestSystemRefuses:
    @pytest.mark.parametrize("operation", ["mkdir", "write_file", "fsync_folder", "exchange", "try_lock"])
    @pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EDQUOT, errno.EIO])
    def test_the_old_tree_stays_and_nothing_is_left(self, out: Path, operation: str, code: int) -> None:
        put(out, OLD)
        words = refusal(out, disk=FailingDisk(operation, code))
        assert f"cannot be read or written: {os.strerror(code).lower()}" in words
        assert is_whole(out, OLD)

    def test_the_file_at_fault_is_named_as_the_user_knows_it(self, out: Path) -> None:
        words = refusal(out, disk=FailingDisk("write_file", errno.ENOSPC))
        assert words == (
            "out/fabric.yaml: cannot be read or written: no space left on device "
            "(nothing was touched; mend this or give another folder)"
        )

    def test_the_second_rename_fails(self, out: Path) -> None:
        put(out, OLD)

        class Disk2(StoppingDisk):
            def rename(self, source: OutputPlace, place: OutputPlace) -> None:
                if source.name == ".out.nodrop-new":
                    raise OSError(errno.EBUSY, "busy")
                super().rename(source, place)

        assert "it is a mount point or in use" in refusal(out, disk=Disk2(exchange=False))
        assert is_whole(out, OLD)

    def test_the_old_tree_cannot_be_removed(self, out: Path) -> None:
        put(out, OLD)
        with pytest.raises(InputProblems) as refused:
            put(out, NEW, FailingDisk("remove_tree", errno.EACCES))
        assert str(refused.value) == (
            "out: holds the new build, but the tree that it replaced could not be removed: permission denied "
            "(remove .out.nodrop-new beside it by hand)"
        )
        assert files_in(out) == NEW
        assert refusal(out, OLD, FailingDisk("remove_tree", errno.EACCES)) == (
            "out: an earlier build was cut short, and clearing up after it fails: permission denied "
            "(remove .out.nodrop-new beside it by hand)"
        )
        put(out, OLD)
        assert beside(out) == []

    def test_a_missing_function_of_the_c_library(self, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ctypes.CDLL", lambda *arguments, **named: object())
        many = {f"leaf{number}": b"" for number in range(100)}
        put(out, OLD)
        put(out, many)
        assert is_whole(out, many)
        assert beside(out) == []

    @pytest.mark.parametrize("exchange", [True, False])
    def test_an_interrupted_build_tidies_up(self, out: Path, exchange: bool) -> None:
        class Impatient(StoppingDisk):
            def fsync_folder(self, folder: int) -> None:
                raise KeyboardInterrupt

        put(out, OLD)
        with pytest.raises(KeyboardInterrupt):
            put(out, NEW, Impatient(exchange=exchange))
        assert is_whole(out, OLD)
        assert beside(out) == []

    @pytest.mark.parametrize("what", ["new file", "edit", "first file"])
    def test_a_user_at_work_while_the_build_runs(self, out: Path, what: str) -> None:
        class Busy(DiskWriter):
            def mkdir(self, place: OutputPlace, mode: int = 0o777) -> None:
                super().mkdir(place, mode)
                if place.name == "leaf1":
                    out.mkdir(exist_ok=True)
                    (out / ("fabric.yaml" if what == "edit" else "notes")).write_text("mine")

        if what != "first file":
            put(out, OLD)
        with pytest.raises(InputProblems, match="while the build ran"):
            put(out, NEW, Busy())
        assert (out / ("fabric.yaml" if what == "edit" else "notes")).read_text() == "mine"
        assert beside(out) == []


@pytest.mark.slow
@pytest.mark.parametrize("torn", [False, True], ids=["before", "within"])
@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "renames"])
@pytest.mark.parametrize("start", ["absent", "empty", "built"])
def test_every_operation_may_be_the_last(tmp_path: Path, start: str, exchange: bool, torn: bool) -> None:
    """After any stop DIR (without exchange: after recover) is a whole tree; stopping recover too changes nothing."""
    before = OLD if start == "built" else {}
    for last in itertools.count():
        case = tmp_path / str(last)
        out, twice, again = case / "a" / "out", case / "b" / "out", case / "c" / "out"
        finished = False
        for directory in (out, twice, again):
            directory.parent.mkdir(parents=True)
            if start == "empty":
                directory.mkdir()
            if start == "built":
                put(directory, OLD)
            disk = StoppingDisk(exchange=exchange, last=last, torn=torn)
            try:
                put(directory, NEW, disk)
                finished = True
            except Stopped:
                pass
            if exchange:
                assert files_in(directory) in (before, NEW)
        recover(out)
        assert files_in(out) in (before, NEW)
        assert (files_in(out) == {} and start != "built") or is_whole(out, files_in(out))
        assert beside(out) == []
        stop_recovery_everywhere(twice, before, torn=torn)
        put(again, NEW)
        assert is_whole(again, NEW)
        assert beside(again) == []
        if finished:
            assert last == len(disk.done)
            break


def stop_recovery_everywhere(out: Path, before: dict[str, bytes], *, torn: bool) -> None:
    """Recovery is stopped at its first operation, then at its second …, always going on from what the last one left."""
    for last in itertools.count():
        disk = StoppingDisk(last=last, torn=torn)
        try:
            recover(out, disk)
        except Stopped:
            continue
        break
    assert files_in(out) in (before, NEW)
    assert beside(out) == []


@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "renames"])
def test_the_order_of_operations(out: Path, exchange: bool) -> None:
    """The new tree is whole and synced before the swap, and the swap is synced before the old tree goes."""
    put(out, OLD)
    disk = StoppingDisk(exchange=exchange)
    put(out, NEW, disk)
    folders = ["mkdir", "mark", "mkdir", "mkdir"]
    build = folders + ["write_file"] * 2 + ["link", "write_file", "unmark"] + ["fsync_folder"] * 3
    swap = ["exchange", "fsync_folder"] if exchange else ["exchange", "rename", "rename", "fsync_folder", "rename"]
    assert disk.done == ["lock", *build, *swap, "mark", "remove_tree", "unlock"]


@pytest.mark.parametrize("seed", range(20))
def test_a_kill_at_any_moment(tmp_path: Path, seed: int) -> None:
    out, way = tmp_path / "out", ("exchange", "renames")[seed % 2]
    script = TESTS / "support" / "publish_alternately.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen([sys.executable, script, out, way], env=environment, stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"A\n", "the first build has ended"
    select.select([], [], [], random.Random(seed).uniform(0, 0.1))
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    child.stdout.close()
    if way == "exchange":
        assert files_in(out) in TREES.values()
    recover(out)
    assert [letter for letter, files in TREES.items() if is_whole(out, files)] in (["A"], ["B"])
    assert beside(out) == []
    publish(out, NEW, anything, inputs={}, display="out")
    assert is_whole(out, NEW)


class TestRecover:
    def test_a_reader_is_told_of_a_tree_that_is_missing_and_changes_nothing(self, out: Path) -> None:
        assert interrupted_build_hint(out) is None
        put(out, OLD)
        for other in ("new", "old"):
            (out.parent / f".out.nodrop-{other}").mkdir()
        assert [interrupted_build_hint(path) for path in (out, out / "leaf1/config_db.json", out / "no" / "such")] == [
            None
        ] * 3
        (out.parent / ".out.nodrop-old").rmdir()
        out.rename(out.parent / ".out.nodrop-old")
        before = contents(out.parent)
        assert interrupted_build_hint(out) == (
            "a build of out was interrupted; run `nodrop build` again, or rename .out.nodrop-old beside it to out"
        )
        with pytest.raises(InputProblems, match="a build of out was interrupted"):
            compare_with_build(out, OLD, display="out")
        assert contents(out.parent) == before

    def test_a_reader_without_rights_and_no_tree(self, out: Path) -> None:
        put(out, OLD)
        out.rename(out.parent / ".out.nodrop-old")
        with pytest.raises(InputProblems, match=r"rename \.out\.nodrop-old beside it to out"):
            recover(out, FailingDisk("rename", errno.EACCES))
        recover(out)
        assert is_whole(out, OLD)

    def test_links_beside_the_folder_are_not_followed(self, out: Path) -> None:
        (out.parent / "mine").mkdir()
        (out.parent / "mine" / "thesis").write_text("years of work")
        (out.parent / ".out.nodrop-new").symlink_to("mine")
        assert ".out.nodrop-new beside it was not made by nodrop" in refusal(out)
        assert (out.parent / ".out.nodrop-new").is_symlink()
        assert (out.parent / "mine" / "thesis").exists()

    @pytest.mark.parametrize(
        ("held", "ours"),
        [(b"", True), (DRAFT_MARKER_FILE_CONTENT[:9], True), (DRAFT_MARKER_FILE_CONTENT, True), (b"mine", False)],
    )
    def test_a_folder_is_removed_where_nodrop_has_marked_it(self, out: Path, held: bytes, ours: bool) -> None:
        new = out.parent / ".out.nodrop-new"
        new.mkdir()
        (new / DRAFT_MARKER_FILE).write_bytes(held)
        if ours:
            put(out, OLD)
            assert beside(out) == []
            return
        assert "was not made by nodrop" in refusal(out)
        assert (new / DRAFT_MARKER_FILE).read_bytes() == held

    def test_a_mark_that_is_cut_short_says_nothing_of_what_else_is_there(self, out: Path) -> None:
        new = out.parent / ".out.nodrop-new"
        new.mkdir()
        (new / DRAFT_MARKER_FILE).write_bytes(DRAFT_MARKER_FILE_CONTENT[:9])
        (new / "thesis").write_text("years of work")
        assert "was not made by nodrop" in refusal(out)
        (new / DRAFT_MARKER_FILE).write_bytes(DRAFT_MARKER_FILE_CONTENT)
        put(out, OLD)
        assert beside(out) == []

    def test_a_folder_made_by_the_user_after_a_crash_is_kept(self, out: Path) -> None:
        put(out, OLD)
        out.rename(out.parent / ".out.nodrop-old")
        (out.parent / ".out.nodrop-new").mkdir()
        out.mkdir()
        (out / "notes").write_text("mine")
        with pytest.raises(InputProblems, match="notes"):
            recover(out)
        assert files_in(out) == {"notes": b"mine"}
        assert beside(out) == []


class TestCheck:
    def test_a_build_has_no_drift(self, out: Path) -> None:
        put(out, OLD)
        assert compare_with_build(out, OLD, display="out") == ()

    def test_other_inputs_are_no_drift(self, out: Path) -> None:
        publish(out, OLD, anything, inputs={"renamed.yaml": "00"}, display="out")
        assert compare_with_build(out, OLD, display="out") == ()

    def test_every_kind(self, out: Path) -> None:
        built = {"a": b"1\n2\n3\n", "b/c": b"1\n2", "d": b"1\r\n2\n", "e": b"", "f/g": b"x", "h": b"h"}
        put(out, built)
        (out / "a").write_bytes(b"1\n2\nthree\n")
        (out / "b/c").write_bytes(b"1\n2\n")
        (out / "d").write_bytes(b"1\n2\n")
        (out / "e").write_bytes(b"\xff\x00")
        (out / "f/g").unlink()
        (out / "h").unlink()
        (out / "h").symlink_to("a")
        (out / "b/extra").write_bytes(b"")
        (out / "mine").mkdir()
        (out / "mine" / "inner").write_bytes(b"")
        assert compare_with_build(out, built, display="out") == (
            BuildFolderDifference(path="a", kind="differs", line=3),
            BuildFolderDifference(path="b/c", kind="differs", line=2),
            BuildFolderDifference(path="b/extra", kind="unexpected"),
            BuildFolderDifference(path="d", kind="differs", line=1),
            BuildFolderDifference(path="e", kind="differs", line=1),
            BuildFolderDifference(path="f/g", kind="missing"),
            BuildFolderDifference(path="h", kind="differs"),
            BuildFolderDifference(path="mine", kind="unexpected"),
        )

    def test_a_build_of_an_older_intent(self, out: Path) -> None:
        put(out, OLD)
        assert compare_with_build(out, NEW, display="out") == (
            BuildFolderDifference(path=".nodrop.json", kind="differs", line=8),
            BuildFolderDifference(path="leaf1/config_db.json", kind="differs", line=1),
            BuildFolderDifference(path="leaf2/apply/apply.sh", kind="unexpected"),
            BuildFolderDifference(path="spine1/frr.conf", kind="missing"),
        )

    def test_a_manifest_that_is_missing_or_stale(self, out: Path) -> None:
        put(out, OLD)
        manifest = out / ".nodrop.json"
        whole = manifest.read_bytes()
        manifest.write_bytes(whole.replace(content_digest(OLD["fabric.yaml"]).encode(), b"0"))
        assert compare_with_build(out, OLD, display="out") == (
            BuildFolderDifference(path=".nodrop.json", kind="differs", line=7),
        )
        manifest.write_bytes(b"damaged")
        assert compare_with_build(out, OLD, display="out") == (
            BuildFolderDifference(path=".nodrop.json", kind="differs", line=1),
        )
        manifest.unlink()
        assert compare_with_build(out, OLD, display="out") == (
            BuildFolderDifference(path=".nodrop.json", kind="missing"),
        )
        manifest.mkdir()
        assert compare_with_build(out, OLD, display="out") == (
            BuildFolderDifference(path=".nodrop.json", kind="differs"),
        )

    def test_no_folder_and_a_file(self, out: Path) -> None:
        assert [drift.kind for drift in compare_with_build(out, OLD, display="out")] == ["missing"] * 4
        out.write_text("mine")
        with pytest.raises(InputProblems, match="out: is not a folder"):
            compare_with_build(out, OLD, display="out")
