"""Files replaced where they stand: old or new whatever happens, with owner, mode and links kept."""

import os
from pathlib import Path
from typing import BinaryIO

import pytest

from nodrop.errors import InputProblems
from nodrop.publish import FileReplacement, build_folder_of_file, publish, replace_files
from nodrop.publish.disk import DiskWriter
from nodrop.publish.landing import OutputPlace


class Ended(BaseException):
    """The run is ended here, as by a signal."""


class Mortal(DiskWriter):
    """A disk on which a run ends before an operation, the first being number 0."""

    def __init__(self, last: int) -> None:
        self.left = last

    def _step(self) -> None:
        if self.left == 0:
            raise Ended
        self.left -= 1

    def write_draft(self, file: BinaryIO, data: bytes) -> None:
        self._step()
        super().write_draft(file, data)

    def copy_owner_and_mode(self, draft: int, place: OutputPlace) -> None:
        self._step()
        super().copy_owner_and_mode(draft, place)

    def replace_file_with_draft(self, draft: OutputPlace, place: OutputPlace) -> None:
        self._step()
        super().replace_file_with_draft(draft, place)

    def fsync_folder(self, folder: int) -> None:
        self._step()
        super().fsync_folder(folder)


def two(folder: Path) -> list[FileReplacement]:
    """Two files to be replaced."""
    made = []
    for name in ("a", "b"):
        (folder / name).write_bytes(f"old {name}".encode())
        new = f"new {name}".encode()
        made.append(FileReplacement(path=folder / name, display=name, old=f"old {name}".encode(), new=new))
    return made


def test_files_are_replaced_and_nothing_is_left_beside_them(tmp_path: Path) -> None:
    replace_files(two(tmp_path))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "new a", "b": "new b"}


@pytest.mark.parametrize("last", range(8))
def test_a_run_that_is_ended_leaves_each_file_old_or_new(tmp_path: Path, last: int) -> None:
    files = two(tmp_path)
    with pytest.raises(Ended):
        replace_files(files, disk=Mortal(last))
    texts = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert texts.keys() == {"a", "b"}
    assert all(texts[name] in (f"old {name}", f"new {name}") for name in texts)
    assert last >= 5 or texts == {"a": "old a", "b": "old b"}


def test_a_file_that_has_changed_keeps_all_from_being_replaced(tmp_path: Path) -> None:
    files = two(tmp_path)
    (tmp_path / "b").write_text("somebody else's")
    with pytest.raises(InputProblems, match="b: changed since it was read"):
        replace_files(files)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old a", "b": "somebody else's"}


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    files = two(tmp_path)
    (tmp_path / "a").unlink()
    with pytest.raises(InputProblems, match="a: cannot be replaced: no such file"):
        replace_files(files)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_mode_owner_and_link_stay(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    file = tmp_path / "real" / "a"
    file.write_text("old")
    file.chmod(0o604)
    if os.geteuid() == 0:
        os.chown(file, 12345, 54321)
    before = file.stat()
    (tmp_path / "link").symlink_to("real/a")
    replace_files([FileReplacement(path=tmp_path / "link", display="link", old=b"old", new=b"new")])
    after = file.stat()
    assert (tmp_path / "link").is_symlink()
    assert file.read_text() == "new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_mtime_ns >= before.st_mtime_ns


def test_a_file_of_a_build_is_known_by_the_manifest_above_it(tmp_path: Path) -> None:
    publish(tmp_path / "out", {"pod/leaf1/x.json": b"1"}, lambda _: True, inputs={"pod.yaml": "0"}, display="out")
    (tmp_path / "out" / "mine.json").write_text("2")
    (tmp_path / "link").symlink_to("out/pod/leaf1/x.json")
    for path in ("out/pod/leaf1/x.json", "link"):
        built = build_folder_of_file(tmp_path / path)
        assert built is not None
        assert (built.folder, built.inputs) == (tmp_path / "out", ("pod.yaml",))
    assert build_folder_of_file(tmp_path / "out" / "mine.json") is None
