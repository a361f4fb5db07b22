"""Files below a root: the kernel's way and the way folder by folder give one answer, also while links are swapped."""

import contextlib
import errno
import gc
import os
import pickle
import threading
from pathlib import Path

import pytest

from nodrop.syntax import root as module
from nodrop.syntax.root import InputRoot, LinkLeadsOut, find_containment_root, topmost_repository_of_path


@pytest.fixture(params=["openat2", "folder by folder"])
def top(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A root with links of all kinds, and something outside."""
    if request.param != "openat2":
        monkeypatch.setattr(module, "_load_syscall", lambda: None)
    top = tmp_path / "top"
    for folder in ("a/b", ".git", "sub/.git"):
        (top / folder).mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (top / "a/b/file").write_text("inside")
    (top / ".git/config").write_text("token")
    (top / "sub/.git/config").write_text("token")
    for name, target in LINKS.items():
        (top / name).symlink_to(target.format(top=top, out=tmp_path))
    return top


LINKS = {
    "inside": "a/b/file",
    "dots": "a/../a/b/./file",
    "absolute": "{top}/a/b/file",
    "to-itself-by-top": "{top}",
    "folder": "a/b",
    "chain": "inside",
    "out": "../secret",
    "out-absolute": "{out}/secret",
    "up-and-in": "../top/a/b/file",
    "alike": "{top}-else/file",
    "nowhere-out": "../nothing",
    "nowhere": "a/nothing",
    "git": ".git/config",
    "inner-git": "sub/.git/config",
    "git-folder": "sub/.git",
    "loop": "loop",
    "through-a-file": "a/b/file/more",
    "process": "/proc/self/root",
}

EXPECTED: dict[str, str | int | None] = {
    "a/b/file": "inside",
    "inside": "inside",
    "dots": "inside",
    "absolute": "inside",
    "folder/file": "inside",
    "chain": "inside",
    "to-itself-by-top/a/b/file": "inside",
    ".git/config": "token",
    "out": None,
    "out-absolute": None,
    "up-and-in": None,
    "alike": None,
    "nowhere-out": None,
    "git": None,
    "inner-git": None,
    "git-folder/config": None,
    "process/etc/hostname": None,
    "../secret": None,
    "nowhere": errno.ENOENT,
    "nothing": errno.ENOENT,
    "loop": errno.ELOOP,
    "through-a-file": errno.ENOTDIR,
    "a/b/file/more": errno.ENOTDIR,
}


def content(root: InputRoot, path: Path) -> str:
    with os.fdopen(root.open(path, os.O_RDONLY)) as file:
        return file.read()


@pytest.mark.parametrize("path", EXPECTED)
def test_what_a_path_leads_to(path: str, top: Path) -> None:
    expected, root = EXPECTED[path], InputRoot(str(top), "top")
    if isinstance(expected, str):
        assert content(root, top / path) == expected
        assert root.status(top / path).st_size == len(expected)
        assert content(pickle.loads(pickle.dumps(root)), top / path) == expected
    elif expected is None:
        with pytest.raises(LinkLeadsOut, match="a link that leads out of top"):
            root.open(top / path, os.O_RDONLY)
        with pytest.raises(LinkLeadsOut):
            root.status(top / path)
    else:
        with pytest.raises(OSError) as refused:
            root.open(top / path, os.O_RDONLY)
        assert refused.value.errno == expected


def test_a_path_that_is_not_there_yet_has_a_real_one(top: Path) -> None:
    root = InputRoot(str(top), "top")
    assert root.resolve_path(top / "folder/new/deep") == f"{top}/a/b/new/deep"
    with pytest.raises(LinkLeadsOut):
        root.resolve_path(top / "nowhere-out/new")


def test_what_is_swapped_while_it_is_opened_leads_nowhere_else(top: Path) -> None:
    """One thread swaps a file, and a folder above it, for links that lead out, as fast as it can."""
    root, ended = InputRoot(str(top), "top"), threading.Event()

    def swap() -> None:
        while not ended.is_set():
            for name, out in (("a/b/file", top / "out"), ("a/b", top / "away")):
                with contextlib.suppress(OSError):
                    (top / "spare").symlink_to(os.readlink(out) if out.is_symlink() else "../..")  # noqa: PTH115
                    (top / name).rename(top / "kept")
                    (top / "spare").rename(top / name)
                    (top / name).unlink()
                    (top / "kept").rename(top / name)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        seen = set()
        for _ in range(2000):
            with contextlib.suppress(OSError):
                seen.add(content(root, top / "a/b/file"))
    finally:
        ended.set()
        thread.join()
    assert seen <= {"inside"}


def test_the_root_is_the_nearest_repository_that_no_link_leads_to(tmp_path: Path) -> None:
    for folder in ("outer/.git", "outer/inner/.git", "outer/inner/deep", "else/.git", "plain/deep"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "outer/link").symlink_to("../else")
    (tmp_path / "user").symlink_to("outer")
    (tmp_path / "current").symlink_to("plain")
    found = {
        path: topmost_repository_of_path(f"{tmp_path}/{path}")
        for path in ("outer", "outer/x/y", "outer/inner/deep", "outer/link", "outer/link/x", "user/inner", "plain/deep")
    }
    assert {path: top and os.path.relpath(top, tmp_path) for path, top in found.items()} == {
        "outer": "outer",
        "outer/x/y": "outer",
        "outer/inner/deep": "outer/inner",
        "outer/link": "outer",
        "outer/link/x": "outer",
        "user/inner": "user/inner",
        "plain/deep": None,
    }
    assert find_containment_root(tmp_path / "current").top == f"{tmp_path}/current"
    (tmp_path / "plain/file").write_text("")
    assert find_containment_root(tmp_path / "plain/file").top == f"{tmp_path}/plain"


def test_descriptors_are_given_back(top: Path) -> None:
    gc.freeze()  # what earlier tests left behind is not looked at here: that takes seconds, and may close descriptors
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in EXPECTED:
        for _ in range(3):
            root = InputRoot(str(top), "top")
            with contextlib.suppress(OSError):
                root.status(top / path)
            with contextlib.suppress(OSError):
                os.close(root.open(top / path, os.O_RDONLY))
            with contextlib.suppress(OSError):
                root.resolve_path(top / path)
    del root
    gc.collect()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
