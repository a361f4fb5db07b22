"""Another user of the machine may write to the folder that a build lies in: nothing but the build changes.

Wherever that user swaps names there, what the user of nodrop has elsewhere, or beside the build, stays as it is.
"""

import os
import pickle
import stat
import sys
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from nodrop.errors import InputProblems
from nodrop.publish import MANIFEST_FILE, open_draft, publish
from nodrop.publish.disk import DRAFT_MARKER_FILE, DRAFT_MARKER_FILE_CONTENT
from nodrop.publish.file import replace_file, write_new_file
from support.publish_alternately import anything
from support.stopping_disk import StoppingDisk

OLD = {"fabric.yaml": b"mode: lossless\n", "leaf1/config_db.json": b"{}\n"}
NEW = {"fabric.yaml": b"mode: lossless\n", "leaf1/config_db.json": b'{"PORT": {}}\n'}
STRANGER = 54321
NAMES = ("out", ".out.nodrop-new", ".out.nodrop-old")
CALLS = frozenset(
    {"open", "os.listdir", "os.scandir", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.chmod"}
    | {"ctypes.dlsym", "os.truncate", "shutil.rmtree"}
)
"""The calls, as Python audits them, before each of which a rival may act."""


class Rival:
    """Somebody who puts something else under a name, once, before the call numbered `moment` (from 0)."""

    def __init__(self) -> None:
        self.moment = -1
        self.calls = 0
        sys.addaudithook(self.see)

    def wait(self, moment: int, name: Path, decoy: Path) -> None:
        """Swap the name and the decoy at that moment."""
        self.moment, self.calls, self.name, self.decoy = moment, 0, name, decoy

    def see(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.moment < 0 or event not in CALLS or (event == "open" and str(arguments[0]).endswith((".py", ".pyc"))):
            return
        self.calls += 1
        if self.calls > self.moment:
            self.moment = -1
            aside = self.name.with_name("aside")
            if os.path.lexists(self.name):
                self.name.rename(aside)
            self.decoy.rename(self.name)


@pytest.fixture(scope="module")
def rival() -> Iterator[Rival]:
    made = Rival()
    yield made
    made.moment = -1


def tree(top: Path) -> dict[str, tuple[str, bytes | None]]:
    """Everything below a folder, links not followed."""
    found: dict[str, tuple[str, bytes | None]] = {}
    for here, folders, names in os.walk(top):
        for name in (*folders, *names):
            path = Path(here, name)
            mode = path.lstat().st_mode
            found[str(path.relative_to(top))] = (stat.filemode(mode), path.read_bytes() if stat.S_ISREG(mode) else None)
    return found


def files_in(top: Path) -> dict[str, bytes]:
    """The files of a build; none behind a link."""
    found = {} if top.is_symlink() else tree(top)
    return {name: data for name, (_, data) in found.items() if data is not None and name != MANIFEST_FILE}


def put(directory: Path, files: dict[str, bytes], *, exchange: bool = True) -> None:
    disk = StoppingDisk(exchange=exchange)
    publish(directory, files, anything, inputs={}, display="out", disk=disk)


def precious(folder: Path) -> Path:
    """A folder of the user's, in which names are as in a build, one of them with years of work."""
    for name in (*OLD, "thesis"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"years of work")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("leftover", [False, True], ids=["nothing-left", "a-draft-left"])
@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "renames"])
@pytest.mark.parametrize("decoy", ["link", "folder"])
@pytest.mark.parametrize("name", NAMES)
def test_a_rival_at_any_moment_changes_nothing_else(
    tmp_path: Path,
    rival: Rival,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    decoy: str,
    exchange: bool,
    leftover: bool,
) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)
    for moment in range(1000):
        case = tmp_path / str(moment)
        out, elsewhere = case / "shared" / "out", case / "elsewhere"
        out.parent.mkdir(parents=True)
        put(out, OLD)
        if leftover:
            precious(out.with_name(".out.nodrop-new"))
            out.with_name(".out.nodrop-new").joinpath(DRAFT_MARKER_FILE).write_bytes(DRAFT_MARKER_FILE_CONTENT)
        precious(elsewhere)
        (elsewhere / DRAFT_MARKER_FILE).write_bytes(DRAFT_MARKER_FILE_CONTENT)
        bait = out.with_name("bait")
        if decoy == "link":
            bait.symlink_to(elsewhere)
        else:
            precious(bait)
            kept = tree(bait), bait.stat().st_ino
        before = tree(elsewhere)
        rival.wait(moment, out.with_name(name), bait)
        refused = False
        try:
            put(out, NEW, exchange=exchange)
        except InputProblems:
            refused = True
        acted, rival.moment = rival.moment < 0, -1
        assert tree(elsewhere) == before, moment
        if decoy == "folder":
            (there,) = (path for path in out.parent.iterdir() if path.stat().st_ino == kept[1])
            assert tree(there) == kept[0], (moment, there.name)
        where = ["out"] if name != "out" else ["out", "aside", ".out.nodrop-old"]
        standing = [files_in(out.with_name(one)) for one in where if os.path.lexists(out.with_name(one))]
        assert NEW in standing or (refused and OLD in standing), (moment, refused)
        if not acted:
            assert not refused
            break
    assert moment > 20, "the rival sees what is done"


@pytest.mark.parametrize("decoy", ["link", "folder"])
@pytest.mark.parametrize("name", NAMES[:2])
def test_another_process_writes_and_reads_in_the_folders_of_the_build(tmp_path: Path, name: str, decoy: str) -> None:
    out, elsewhere = tmp_path / "shared" / "out", precious(tmp_path / "elsewhere")
    out.parent.mkdir()
    put(out, OLD)
    before = tree(elsewhere)
    with open_draft(out, anything, display="out") as draft:
        part = pickle.dumps(draft.part_for_prefix())
        out.with_name(name).rename(out.with_name("aside"))
        if decoy == "link":
            out.with_name(name).symlink_to(elsewhere)
        else:
            elsewhere.rename(out.with_name(name))
        with pytest.raises(InputProblems, match="another process replaced it while the build ran"):
            pickle.loads(part).put(NEW)
        if decoy == "folder":
            out.with_name(name).rename(elsewhere)
    assert tree(elsewhere) == before


def needs_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make files of another user")


def given(path: Path) -> None:
    """Give a file or a folder, with all that is in it, to another user."""
    for one in (path, *(path.rglob("*") if path.is_dir() and not path.is_symlink() else ())):
        os.chown(one, STRANGER, STRANGER, follow_symlinks=False)


@pytest.mark.parametrize("kind", ["empty", "marked", "tree"])
@pytest.mark.parametrize("name", NAMES[1:])
@pytest.mark.parametrize("built", [True, False])
def test_what_another_user_left_is_refused(tmp_path: Path, name: str, kind: str, built: bool) -> None:
    needs_root()
    out = tmp_path / "out"
    left = tmp_path / name
    if kind == "tree":
        put(out, OLD)
        out.rename(left)
    else:
        left.mkdir()
    if kind == "marked":
        (left / DRAFT_MARKER_FILE).write_bytes(DRAFT_MARKER_FILE_CONTENT)
        (left / "thesis").write_bytes(b"years of work")
    if built:
        left.rename(tmp_path / "aside")
        put(out, OLD)
        (tmp_path / "aside").rename(left)
    given(left)
    before = tree(tmp_path)
    with pytest.raises(InputProblems) as refused:
        put(out, NEW)
    assert str(refused.value) == (
        f"out: {name} beside it belongs to another user, uid {STRANGER}, and a build needs the name "
        f"(move {name} away; nothing was touched)"
    )
    assert tree(tmp_path) == before


def test_a_lock_of_another_user_is_refused(tmp_path: Path) -> None:
    needs_root()
    lock = tmp_path / ".out.nodrop-lock"
    lock.touch()
    given(lock)
    with pytest.raises(
        InputProblems, match=rf"out: \.out\.nodrop-lock beside it belongs to another user, uid {STRANGER}"
    ):
        put(tmp_path / "out", OLD)
    assert [path.name for path in tmp_path.iterdir()] == [".out.nodrop-lock"]


@pytest.mark.parametrize("kind", ["empty", "text", "pipe", "link", "folder"])
def test_a_lock_that_no_build_made_stays(tmp_path: Path, kind: str) -> None:
    lock, out = tmp_path / ".out.nodrop-lock", tmp_path / "out"
    (tmp_path / "mine").touch()
    make = {
        "empty": lock.touch,
        "text": lambda: lock.write_text("years of work"),
        "pipe": lambda: os.mkfifo(lock),
        "link": lambda: lock.symlink_to("mine"),
        "folder": lock.mkdir,
    }
    make[kind]()
    before = tree(tmp_path)
    with suppress(InputProblems) if kind in ("pipe", "link", "folder") else nullcontext():
        put(out, OLD)
    assert {name: there for name, there in tree(tmp_path).items() if not name.startswith("out")} == before


@pytest.mark.parametrize("mode", [0o1777, 0o777])
@pytest.mark.parametrize("below", ["", "report.json"])
def test_a_link_of_another_user_where_everybody_may_write_is_not_followed(
    tmp_path: Path, mode: int, below: str
) -> None:
    needs_root()
    shared, elsewhere = tmp_path / "shared", tmp_path / "elsewhere"
    shared.mkdir()
    elsewhere.mkdir()
    (elsewhere / "report.json").write_text("years of work")
    shared.chmod(mode)
    (shared / "link").symlink_to(elsewhere if below else elsewhere / "report.json")
    replace_file(shared / "link" / below, b"my own link")
    assert (elsewhere / "report.json").read_bytes() == b"my own link"
    given(shared / "link")
    with pytest.raises(OSError, match=f"a link of another user, uid {STRANGER}"):
        replace_file(shared / "link" / below, b"new")
    with pytest.raises(OSError, match=f"a link of another user, uid {STRANGER}"):
        write_new_file(shared / "link" / "new", b"new")
    with pytest.raises(InputProblems, match=f"a link of another user, uid {STRANGER}"):
        put(shared / "link" / "tree", OLD)
    assert (tree(elsewhere)["report.json"][1], len(tree(elsewhere))) == (b"my own link", 1)
