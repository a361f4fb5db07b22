"""Files that are whole from the moment that they have a name."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodrop.publish.disk import DEFAULT_DISK_WRITER, DRAFT_MARKER_FILE
from nodrop.publish.held import HeldFolder
from nodrop.publish.landing import OutputPlace, open_folder_of_output


def write(path: Path, data: bytes) -> None:
    with open_folder_of_output(path) as place:
        os.close(place.create_whole_file(data))


def failing(code: int, call: Callable[..., Any]) -> Callable[..., Any]:
    """A call of the system that fails where a file without a name is made, or gets one."""

    def called(path: Any, *args: Any, **options: Any) -> Any:
        if (path == "." and args and args[0] & os.O_ACCMODE == os.O_RDWR) or "/proc/" in str(path):
            raise OSError(code, os.strerror(code))
        return call(path, *args, **options)

    return called


def test_a_write_that_is_cut_short_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(handle: int, data: bytes) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", cut_short)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path / "lock", b"held")
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "lock", b"held")
    assert (tmp_path / "lock").read_bytes() == b"held"


@pytest.mark.parametrize(("name", "code"), [("open", errno.EOPNOTSUPP), ("open", errno.EISDIR), ("link", errno.ENOENT)])
def test_a_file_is_written_where_none_can_be_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: int
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(os, name, failing(code, getattr(os, name)))
        write(tmp_path / "lock", b"held")
    assert (tmp_path / "lock").read_bytes() == b"held"


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    write(tmp_path / "lock", b"mine")
    with pytest.raises(FileExistsError):
        write(tmp_path / "lock", b"other")
    assert (tmp_path / "lock").read_bytes() == b"mine"


def test_a_folder_is_marked_once_so_that_a_full_disk_keeps_no_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "draft").mkdir()
    with open_folder_of_output(tmp_path / "draft") as place:
        folder = HeldFolder.of(place)
        assert folder is not None
        DEFAULT_DISK_WRITER.mark_removable(folder)
        monkeypatch.setattr(
            OutputPlace, "create_whole_file", lambda *_: pytest.fail("there is no room for another mark")
        )
        DEFAULT_DISK_WRITER.mark_removable(folder)
    assert [path.name for path in (tmp_path / "draft").iterdir()] == [DRAFT_MARKER_FILE]
