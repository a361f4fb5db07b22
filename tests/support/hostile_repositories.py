"""What a hostile change, or what it left on the disk, puts beside the files under check so that git answers wrongly.

Each case works in a site whose branch `main` has a fabric without faults and whose branch `topic` has one new fault in
`build/leaf1`. It returns the words of `nodrop check` after `--base`, and the environment that the command has.
"""

import hashlib
import os
import shutil
import subprocess
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from support.command import unwatched

Git = Callable[..., str]
BROKEN = "build/leaf1/config_db.json"
EVIL = "evil"
_STORE = ("HEAD", "config", "objects", "refs", "index")


@dataclass(frozen=True)
class Attack:
    """How `nodrop check` is run on what a case has made, and how it must end."""

    base: str
    paths: tuple[str, ...] = ()
    code: int = 1
    says: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)


def store(folder: Path, tree: Path, *, base: str = "main", config: str = "") -> None:
    """Make a folder a git directory whose branch is what lies in a tree now, so that nothing has changed since."""
    made = folder.with_name(folder.name + ".made")
    git = ("git", f"--git-dir={made}", f"--work-tree={tree}", "-c", "user.name=x", "-c", "user.email=x@example.com")
    for words in (("init", "-q", "-b", base), ("add", "-A"), ("commit", "-q", "-m", "as it is")):
        subprocess.run((*git, *words), check=True, capture_output=True)
    subprocess.run((*git, "update-ref", "refs/remotes/origin/main", "HEAD"), check=True)
    folder.mkdir(exist_ok=True)
    for name in _STORE:
        Path(made, name).rename(folder / name)
    shutil.rmtree(made)
    work = os.path.relpath(tree, folder)
    (folder / "config").write_text(f"[core]\nrepositoryformatversion = 0\nbare = false\nworktree = {work}\n{config}")


def forge(objects: Path, oid: str, kind: str, content: bytes) -> None:
    """Write an object under the name of another one."""
    path = objects / oid[:2] / oid[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(zlib.compress(b"%s %d\0%s" % (kind.encode(), len(content), content)))


def put(objects: Path, kind: str, content: bytes, digits: int = 40) -> str:
    """Write an object under its own name, and return that."""
    raw = b"%s %d\0%s" % (kind.encode(), len(content), content)
    oid = (hashlib.sha1(raw, usedforsecurity=False) if digits == 40 else hashlib.sha256(raw)).hexdigest()
    forge(objects, oid, kind, content)
    return oid


def embedded_in_the_named_folder(git: Git) -> Attack:
    store(Path("build"), Path("build"))
    return Attack("main", ("build",))


def embedded_with_a_remote_branch(git: Git) -> Attack:
    git("update-ref", "refs/remotes/origin/main", "main")
    store(Path("build"), Path("build"))
    return Attack("origin/main", ("build",))


def embedded_and_committed(git: Git) -> Attack:
    store(Path("build"), Path("build"))
    git("add", "-A")
    git("commit", "-q", "-m", "no change of a switch")
    return Attack("main", ("build",))


def embedded_above_the_named_folder(git: Git) -> Attack:
    store(Path("build"), Path("build"))
    return Attack("main", ("build/leaf1",))


def embedded_at_a_file(git: Git) -> Attack:
    store(Path("build/leaf1"), Path("build/leaf1"))
    return Attack("main", (BROKEN,))


def embedded_at_the_working_directory(git: Git) -> Attack:
    store(Path("build"), Path("build"))
    os.chdir("build")
    return Attack("main", (".",))


def forged_in_an_embedded_store(git: Git) -> Attack:
    """The commit is the real one by name; the files are moved to where the embedded work tree has them."""
    commit = git("rev-parse", "main")
    oid = git("rev-parse", f"main:{BROKEN}")
    now = Path(BROKEN).read_bytes()
    Path("moved").mkdir()
    Path("build").rename("moved/build")
    Path("moved").rename("build")
    shutil.copytree(".git/objects", "build/objects")
    forge(Path("build/objects"), oid, "blob", now)
    Path("build/refs").mkdir()
    Path("build/HEAD").write_text(f"{commit}\n")
    Path("build/config").write_text("[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\n")
    return Attack(commit, ("--exact", "--", "build"))


def nested_folder(git: Git) -> Attack:
    store(Path("build/.git"), Path("build"))
    return Attack("main", ("build",))


def nested_file(git: Git) -> Attack:
    store(Path(EVIL), Path("build"))
    Path("build/.git").write_text(f"gitdir: ../{EVIL}\n")
    return Attack("main", ("build",))


def nested_file_at_the_working_directory(git: Git) -> Attack:
    store(Path(EVIL), Path("build"))
    Path("build/.git").write_text(f"gitdir: ../{EVIL}\n")
    os.chdir("build")
    return Attack("main", (".",), code=2, says="lies among the files of the work tree")


def link_into_another_repository(git: Git) -> Attack:
    other = Path("../other")
    shutil.copytree("build", other / "build")
    store(other / ".git", other)
    shutil.rmtree("build")
    Path("build").symlink_to(other / "build")
    return Attack("main", ("build",), code=2, says="build: leads to ")


def another_repository(git: Git) -> Attack:
    other = Path("../other")
    shutil.copytree("build", other / "build")
    store(other / ".git", other)
    return Attack("main", ("../other/build",), code=2, says="../other/build: leads to ")


def link_to_the_git_directory(git: Git) -> Attack:
    shutil.copytree("build", ".git/build")
    Path("kept").symlink_to(".git/build")
    return Attack("main", ("kept",), code=2, says="kept: leads to ")


def submodule_of_another_git_directory(git: Git) -> Attack:
    """The submodule's `.git` names an embedded store that has the commit of before, with the content of now."""
    shutil.copytree(".", "../inner")
    git("-C", "../inner", "checkout", "-q", "-f", "main")
    git("submodule", "--quiet", "add", "../inner", "site")
    git("commit", "-q", "-m", "with a submodule", "--", "site", ".gitmodules")
    git("update-ref", "refs/heads/main", "HEAD")
    unwatched("Ethernet224", path=f"site/{BROKEN}")
    commit, oid = git("-C", "site", "rev-parse", "HEAD"), git("-C", "site", "rev-parse", f"HEAD:{BROKEN}")
    shutil.copytree(".git/modules/site", EVIL)
    git("config", "--file", f"{EVIL}/config", "core.worktree", "../site")
    forge(Path(EVIL, "objects"), oid, "blob", Path("site", BROKEN).read_bytes())
    Path("site/.git").write_text(f"gitdir: ../{EVIL}\n")
    assert git("-C", "site", "rev-parse", "HEAD") == commit
    return Attack("main", (".",), says="the git directory of the submodule")


def grafts(git: Git) -> Attack:
    """What was before is the change itself, where the tip of main is said to come from it."""
    git("commit", "-q", "-a", "-m", "unwatched")
    main, topic = git("rev-parse", "main"), git("rev-parse", "topic")
    Path(".git/info").mkdir(exist_ok=True)
    Path(".git/info/grafts").write_text(f"{main} {topic}\n{topic}\n")
    return Attack("main", ("build",))


def replaced(git: Git) -> Attack:
    git("commit", "-q", "-a", "-m", "unwatched")
    git("replace", "main", "topic")
    git("replace", "-f", git("rev-parse", f"main:{BROKEN}"), git("rev-parse", f"topic:{BROKEN}"))
    return Attack("main", ("build",))


def forged_blob(git: Git) -> Attack:
    """The clone itself holds other content under the name of a blob."""
    oid = git("rev-parse", f"main:{BROKEN}")
    forge(Path(".git/objects"), oid, "blob", Path(BROKEN).read_bytes())
    return Attack("main", ("build",), code=2, says=f"the content of the blob {oid[:12]} does not fit its name")


def forged_blob_of_an_alternate(git: Git) -> Attack:
    """The clone takes what it has not from a folder of the change."""
    oid = git("rev-parse", f"main:{BROKEN}")
    Path(".git/objects", oid[:2], oid[2:]).unlink()
    forge(Path("objects"), oid, "blob", Path(BROKEN).read_bytes())
    Path(".git/objects/info/alternates").write_text(f"{Path('objects').absolute()}\n")
    return Attack("main", ("build",), code=2, says=f"the content of the blob {oid[:12]} does not fit its name")


def forged_tree(git: Git) -> Attack:
    """The folder of the device is that of the change, under the name of the one before."""
    git("commit", "-q", "-a", "-m", "unwatched")
    folder = str(Path(BROKEN).parent)
    oid, other = git("rev-parse", f"main:{folder}"), git("rev-parse", f"topic:{folder}")
    raw = subprocess.run(("git", "cat-file", "tree", other), check=True, capture_output=True).stdout
    forge(Path(".git/objects"), oid, "tree", raw)
    return Attack("main", ("build",), code=2, says=f"the content of the tree {oid[:12]} does not fit its name")


def forged_commit(git: Git) -> Attack:
    git("commit", "-q", "-a", "-m", "unwatched")
    commit = git("rev-parse", "main")
    text = git("cat-file", "commit", "main").replace(git("rev-parse", "main^{tree}"), git("rev-parse", "topic^{tree}"))
    forge(Path(".git/objects"), commit, "commit", text.encode())
    return Attack("main", ("--exact", "build"), code=2, says="--base main: git cannot read the commit")


def tree_that_names_its_parent(git: Git) -> Attack:
    """A tree of the right name whose entries git itself would never write."""
    objects, blob = Path(".git/objects"), git("rev-parse", f"main:{BROKEN}")
    tree = put(objects, "tree", b"100644 ../../x\0" + bytes.fromhex(blob))
    text = git("cat-file", "commit", "main").replace(git("rev-parse", "main^{tree}"), tree)
    commit = put(objects, "commit", text.encode())
    return Attack(commit, ("--exact", "build"), code=2, says="is no name of a file")


def git_dir_from_where_the_command_runs(git: Git) -> Attack:
    """A relative GIT_DIR is that of the working directory, whichever folder is named."""
    store(Path("build/.git"), Path("build"))
    return Attack("main", ("build",), environment={"GIT_DIR": ".git"})


def variables_of_another_repository(git: Git) -> Attack:
    """What names parts of a repository in the environment is not taken for those of the one that is asked."""
    store(Path(EVIL), Path())
    at = Path(EVIL).absolute()
    given = {
        "GIT_COMMON_DIR": str(at),
        "GIT_OBJECT_DIRECTORY": str(at / "objects"),
        "GIT_INDEX_FILE": str(at / "index"),
    }
    return Attack("main", ("build",), environment=given)


def folder_named_like_the_branch(git: Git) -> Attack:
    """A branch that was not fetched is no reason to take a folder of the change for it."""
    shutil.copytree("build", "origin/main/build")
    return Attack("origin/main", ("build",), code=2, says="--base origin/main: no such revision")


def tag_named_like_the_branch(git: Git) -> Attack:
    """More people may push a tag than may merge, and git prefers a tag to a branch of the same name."""
    git("update-ref", "refs/remotes/origin/main", "main")
    git("add", "-A")
    git("commit", "-q", "-m", "with a fault")
    git("update-ref", "refs/tags/origin/main", "HEAD")
    return Attack("origin/main", ("build",), code=2, says="write the whole name: --base refs/remotes/origin/main")


CASES = (
    tag_named_like_the_branch,
    embedded_in_the_named_folder,
    embedded_with_a_remote_branch,
    embedded_and_committed,
    embedded_above_the_named_folder,
    embedded_at_a_file,
    embedded_at_the_working_directory,
    forged_in_an_embedded_store,
    nested_folder,
    nested_file,
    nested_file_at_the_working_directory,
    link_into_another_repository,
    another_repository,
    link_to_the_git_directory,
    submodule_of_another_git_directory,
    grafts,
    replaced,
    forged_blob,
    forged_blob_of_an_alternate,
    forged_tree,
    forged_commit,
    tree_that_names_its_parent,
    git_dir_from_where_the_command_runs,
    variables_of_another_repository,
    folder_named_like_the_branch,
)

BASES = (
    ("..", "the working directory lies in it"),
    ("../..", "the working directory lies in it"),
    ("/", "the working directory lies in it"),
    ("//", "the working directory lies in it"),
    ("/proc/self/root", "the working directory lies in it"),
    ("./build/../..", "the working directory lies in it"),
    (".", "that is the working directory"),
    ("/proc/self/cwd", "that is the working directory"),
    ("", "an empty base"),
    ("x" * 300, "a name of 300 characters"),
    ("./" + "x" * 5000, "a name of 5,002 characters"),
    ("/" + "x/" * 3000, "a name of 6,001 characters"),
    ("main\nmain", "a control character"),
    ("main\0", "a control character"),
    ("\t", "a control character"),
    (":/unwatched", "a search in messages of commits"),
    ("HEAD^{/(a+)+$}", "a search in messages of commits"),
    ("main^{/unwatched}", "a search in messages of commits"),
    ("HEAD:build", "no such revision"),
    (":build", "no such revision"),
    ("@{u}", "no such revision"),
    ("-x", "no such revision"),
    ("--output=x", "no such revision"),
    ("^main", "no such revision"),
    ("main..topic", "no such revision"),
    ("main topic", "no such revision"),
    ("./nowhere", "no such folder"),
    ("../nowhere/", "no such folder"),
    ("build/leaf1/config_db.json", "no such revision"),
    ("./build/leaf1/config_db.json", "no such folder"),
    ("build", "no such revision (`build/` is the folder"),
)
"""What `--base` may hold that is no former state, and what is said of it."""
