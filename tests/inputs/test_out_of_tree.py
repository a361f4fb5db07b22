"""Nothing is followed out of the tree: links that a change brings lead neither reads nor writes elsewhere.

The working directory is a repository whose files somebody else wrote. Beside it lies what they must not reach.
"""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nodrop.errors import InputProblems
from nodrop.inputs import DiskWithHeldTexts
from nodrop.locate import load_unchanged_source
from nodrop.opening import open_files
from nodrop.publish import content_digest
from nodrop.resources import resource_folder
from support.command import SCRIPT, nodrop
from support.marked import nightly

SECRET = "hunter2correcthorse"
"""What lies outside, word by word; no output may have it."""
OUTSIDE = {
    "credentials": f"https://bot:{SECRET}@git.example\n",
    "key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{SECRET}\n-----END OPENSSH PRIVATE KEY-----\n",
    "docker.json": json.dumps({"auths": {"r.example": {"auth": SECRET}}}) + "\n",
    "text.yaml": f"token: {SECRET}\nnodrop: {SECRET}\n",
    "db.json": json.dumps({"PORT": {"Ethernet0": {"lanes": SECRET, "admin_status": SECRET}}, SECRET: {}}) + "\n",
    "set.nv": f"nv set interface swp1 description {SECRET}\nnv set {SECRET}\n",
}
FORMS = ("text", "json", "sarif", "junit", "github", "gitlab", "concise")


def links_out(out: Path) -> dict[str, str]:
    """Ways in which a link in leaf1/ can lead to outside/NAME, by what they are called; `{}` is the name."""
    return {
        "relative": "../../outside/{}",
        "absolute": f"{out}/{{}}",
        "up and down": "../../repo/leaf1/../../outside/{}",
        "chain": "../chain/{}",
        "folder": "../folder/{}",
        "sibling": f"{out}/../outside/./{{}}",
        "process": f"/proc/self/root{out}/{{}}",
        "working directory of a process": "/proc/self/cwd/../outside/{}",
    }


WAYS = tuple(links_out(Path("/")))


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build, to be copied."""
    folder = tmp_path_factory.mktemp("whole")
    shutil.copy(resource_folder("intents") / "two-by-two.yaml", folder / "pod.yaml")
    assert nodrop("build", folder / "pod.yaml", "-o", folder / "build").code == 0
    return folder


@pytest.fixture(autouse=True)
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder beside the repository; the repository is the working directory."""
    repo, out = tmp_path / "repo", tmp_path / "outside"
    for folder in (repo / ".git", repo / "leaf1", repo / "chain", out):
        folder.mkdir(parents=True)
    for name, text in OUTSIDE.items():
        (out / name).write_text(text)
        (repo / "chain" / name).symlink_to(f"../../outside/{name}")
    (repo / "folder").symlink_to("../outside")
    monkeypatch.chdir(repo)
    return out


def link(path: str, target: str) -> Path:
    """Put a link in the place of whatever is there."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).unlink(missing_ok=True)
    Path(path).symlink_to(target)
    return Path(path)


def refused(*words: str, at: str | None = None) -> str:
    """Run a command that must refuse what leads out, and return what it said; nothing is said of what lies there."""
    done = nodrop(*words)
    said = done.out + done.err
    assert SECRET not in said
    assert done.code == 2, said
    assert "a link that leads out of" in said, said
    assert at is None or at in said, said
    return said


def tree(top: Path) -> dict[str, tuple[str, bytes | None]]:
    """Everything below a folder, and what it is; links are not followed."""
    found: dict[str, tuple[str, bytes | None]] = {}
    for here, folders, names in os.walk(top):
        for name in (*folders, *names):
            path = Path(here, name)
            status = path.lstat()
            data = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
            found[str(path.relative_to(top))] = (stat.filemode(status.st_mode), data)
    return found


# ------------------------------------------------------------------------------------------------------- reading

READ = {
    "frr.conf": "credentials",
    "config_db.json": "docker.json",
    "config_db.json of a switch": "db.json",
    "interfaces": "key",
    "startup.yaml": "text.yaml",
    "leaf.yaml": "text.yaml",
    "qos_features.conf": "credentials",
    "fabric.yaml": "credentials",
    "pod.yml": "text.yaml",
    "ConnectX-7.sh": "key",
    "leaf1.cfg": "set.nv",
    "leaf1.json": "docker.json",
}
"""Names of links, and what they lead to: the rows of A5, and other names that are looked at."""


@pytest.mark.parametrize("name", READ)
def test_a_link_that_leads_out_is_a_problem(name: str) -> None:
    link(f"leaf1/{name.split()[0]}", f"../../outside/{READ[name]}")
    refused("lint", "leaf1", at=f"leaf1/{name.split()[0]}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["frr.conf", "config_db.json"])
def test_whichever_way_it_goes(way: str, name: str, outside: Path) -> None:
    link(f"leaf1/{name}", links_out(outside)[way].format(READ[name]))
    refused("lint", "leaf1", at=f"leaf1/{name}")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("strictness", ["auditor", *nightly("regular")])
def test_no_format_shows_what_lies_there(form: str, strictness: str, whole: Path) -> None:
    shutil.copytree(whole / "build", "build")
    link("build/leaf1/frr.conf", "../../../outside/credentials")
    link("build/leaf2/config_db.json", "../../../outside/db.json")
    done = nodrop("lint", "build", "-v", "--strictness", strictness, "--format", form)
    assert done.code == 2
    assert SECRET not in done.out + done.err


READERS: dict[str, tuple[str, ...]] = {
    "lint": ("lint", "build"),
    "validate": ("validate", "build"),
    "import": ("import", "build"),
    "fix": ("fix", "--diff", "--unsafe", "build"),
    "plan": ("plan", "whole", "build"),
    "drift": ("drift", "build", "whole"),
    "baseline": ("baseline", "build"),
    "export batfish": ("export", "batfish", "build", "-o", "snapshot"),
    "export containerlab": ("export", "containerlab", "build", "-o", "lab"),
}


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("name", ["leaf1/config_db.json", *nightly("leaf1/frr.conf", "fabric.yaml")])
def test_no_command_shows_what_lies_there(command: str, name: str, whole: Path) -> None:
    for copy in ("build", "whole"):
        shutil.copytree(whole / "build", copy)
    link(f"build/{name}", os.path.relpath("../outside/docker.json", Path("build", name).parent))
    refused(*READERS[command], at=f"build/{name}")


@pytest.mark.parametrize("name", ["leaf1/frr.conf", "leaf1/config_db.json", "fabric.yaml"])
@pytest.mark.parametrize(
    "words",
    [
        ("path", "gpu1:nic1", "gpu2:nic1"),
        ("explain", "--at", "leaf1/Ethernet0"),
        ("explain", "pfc-without-watchdog", "--at", "leaf1/Ethernet0"),
    ],
    ids=lambda words: words[0],
)
def test_what_answers_in_spite_of_problems_shows_nothing_either(words: tuple[str, ...], name: str, whole: Path) -> None:
    shutil.copytree(whole / "build", "build")
    link(f"build/{name}", os.path.relpath("../outside/docker.json", Path("build", name).parent))
    done = nodrop(*words, "build")
    assert SECRET not in done.out + done.err


@pytest.mark.parametrize("command", ["lint", "build", "show"])
def test_an_intent_that_is_named_leads_nowhere_else(command: str) -> None:
    link("pod.yaml", "../outside/text.yaml")
    words = {"build": ("build", "pod.yaml", "-o", "out")}.get(command, (command, "pod.yaml"))
    refused(*words, at="pod.yaml")


@pytest.mark.parametrize("named", ["folder", "folder/", "folder/credentials", "leaf1/up/outside", "chain/key"])
def test_what_is_named_in_a_repository_leads_nowhere_else(named: str) -> None:
    link("leaf1/up", "../..")
    refused("lint", named, at=named.rstrip("/"))


def test_whether_there_is_anything_is_not_told() -> None:
    said = []
    for target in ("credentials", "nothing", "nothing/at/all", ".", "credentials/below"):
        link("leaf1/frr.conf", f"../../outside/{target}")
        said.append(refused("lint", "leaf1", at="leaf1/frr.conf"))
        link("leaf1.cfg", f"../outside/{target}")
        said[-1] += refused("lint", "leaf1.cfg", at="leaf1.cfg")
    assert len(set(said)) == 1


@pytest.mark.parametrize("target", ["../.git/config", "../sub/.git/config", "../.GIT/config", "../git/config"])
def test_a_repository_s_own_files_are_out_of_reach(target: str) -> None:
    for folder in (".git", "sub/.git", ".GIT"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, "config").write_text(f"[http]\n\textraheader = AUTHORIZATION: basic {SECRET}\n")
    link("git", ".git")
    link("leaf1/frr.conf", target)
    refused("lint", "leaf1", at="leaf1/frr.conf")


def test_the_repository_is_not_one_that_a_link_leads_to(outside: Path) -> None:
    (outside / ".git").mkdir()
    (outside / "leaf1").mkdir()
    (outside / "leaf1" / "frr.conf").write_text(OUTSIDE["credentials"])
    refused("lint", "folder/leaf1", at="folder/leaf1")


def test_a_folder_that_is_called_alike_is_another(outside: Path) -> None:
    evil = outside.parent / "repo-other"
    evil.mkdir()
    (evil / "frr.conf").write_text(OUTSIDE["credentials"])
    link("leaf1/frr.conf", "../../repo-other/frr.conf")
    refused("lint", "leaf1", at="leaf1/frr.conf")


def test_a_link_to_a_folder_elsewhere_is_not_entered_and_what_is_not_read_is_no_problem(outside: Path) -> None:
    Path("leaf1/frr.conf").write_text("hostname leaf1\nrouter bgp 65001\n")
    link("leaf1/elsewhere", "../../outside")
    link("leaf1/README", "../../outside/credentials")
    link("leaf1/gone", "../../outside/nothing")
    done = nodrop("lint", "leaf1", "-v")
    assert done.code in (1, 3), done
    assert SECRET not in done.out
    lines = [line for line in (done.out + done.err).splitlines() if "a link that leads out of" in line]
    assert [name for name in ("elsewhere", "README", "gone") if any(f"leaf1/{name}" in line for line in lines)] == [
        "elsewhere",
        "README",
        "gone",
    ]
    assert len({line.replace("elsewhere", "X").replace("README", "X").replace("gone", "X") for line in lines}) == 1


def test_rules_and_baselines_that_are_links_show_nothing() -> None:
    link("rules/hygiene/mine.yaml", "../../../outside/text.yaml")
    link("nodrop.baseline.yaml", "../outside/text.yaml")
    Path("leaf1/frr.conf").write_text("hostname leaf1\nrouter bgp 65001\n")
    for words in (("--rules", "rules"), ("--rules", "rules/hygiene")):
        done = nodrop("lint", "leaf1", *words)
        assert (done.code, SECRET in done.out + done.err) == (2, False)


INSIDE: dict[str, Callable[[Path], str]] = {
    "beside": lambda _: "real.conf",
    "above": lambda _: "../real.conf",
    "absolute": lambda here: f"{here}/real.conf",
    "through a link to a folder": lambda _: "../inner/real.conf",
    "chain": lambda _: "../first",
    "up and down": lambda _: "../leaf1/../leaf1/./real.conf",
}


@pytest.mark.parametrize("way", INSIDE)
def test_a_link_that_stays_inside_is_read(way: str) -> None:
    text = "hostname leaf1\nrouter bgp 65001\n neighbor 10.0.0.1 remote-as 65002\n nonsense here\n"
    for place in (".", "leaf1", "real"):
        Path(place).mkdir(exist_ok=True)
        Path(place, "real.conf").write_text(text)
    link("inner", "real")
    link("first", "second")
    link("second", "real/real.conf")
    link("leaf1/frr.conf", INSIDE[way](Path.cwd()))
    done = nodrop("lint", "leaf1", "-v")
    assert done.code in (1, 3), done
    assert "nonsense here" in done.out


@pytest.mark.parametrize("named", ["current", "current/", "current/leaf1", "current/leaf1/frr.conf", "one.conf"])
def test_outside_a_repository_a_user_may_name_a_link(
    named: str, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (outside / "leaf1").mkdir()
    (outside / "leaf1" / "frr.conf").write_text("hostname leaf1\nrouter bgp 65001\n")
    place = outside.parent / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    link("current", "../outside")
    link("one.conf", "../outside/leaf1/frr.conf")
    assert "leaf1" in nodrop("lint", named, "--platform", "sonic").out
    link("current/leaf1/config_db.json", "../../repo/x.json")
    if named.startswith("current"):
        done = nodrop("lint", named)
        assert done.code == 2
        assert "leaf1/config_db.json: a link that leads out of current" in done.out


def test_what_options_name_is_read_as_it_is_named(outside: Path) -> None:
    Path("leaf1/frr.conf").write_text("hostname leaf1\nrouter bgp 65001\n")
    (outside / "mine.yaml").write_text("strictness: auditor\n")
    assert nodrop("lint", "leaf1", "-c", "../outside/mine.yaml").code == 3
    assert nodrop("lint", "leaf1", "-c", str(outside / "mine.yaml")).code == 3


@pytest.mark.parametrize("make", ["loop", "to itself", "long chain"])
def test_links_in_circles_end(make: str) -> None:
    if make == "loop":
        link("leaf1/frr.conf", "../leaf1/b")
        link("leaf1/b", "frr.conf")
    elif make == "to itself":
        link("leaf1/frr.conf", "frr.conf")
    else:
        for number in range(100):
            link(f"leaf1/l{number}", f"l{number + 1}")
        Path("leaf1/l100").write_text("hostname leaf1\n")
        link("leaf1/frr.conf", "l0")
    done = nodrop("lint", "leaf1")
    assert done.code == 2
    assert "leaf1/frr.conf" in done.out + done.err
    assert "too many levels of symbolic links" in (done.out + done.err).lower()


# ------------------------------------------------------------------------------------------------------- writing

WRITE: dict[str, tuple[tuple[str, ...], bool]] = {
    "json": (("lint", "build", "--format", "json={}"), False),
    "sarif": (("lint", "build", "--format", "sarif={}"), False),
    "junit": (("lint", "build", "--format", "junit={}"), False),
    "gitlab": (("validate", "build", "--format", "gitlab={}"), False),
    "markdown": (("plan", "whole", "build", "--format", "markdown={}"), False),
    "plan --patch": (("plan", "whole", "build", "--patch", "{}"), True),
    "drift --patch": (("drift", "build", "whole", "--patch", "{}"), True),
    "fix --patch": (("fix", "build", "--unsafe", "--patch", "{}"), True),
    "baseline": (("baseline", "build", "-o", "{}"), False),
    "import": (("import", "build", "-o", "{}"), False),
    "build": (("build", "pod.yaml", "-o", "{}"), True),
    "export batfish": (("export", "batfish", "build", "-o", "{}"), True),
    "export containerlab": (("export", "containerlab", "build", "-o", "{}"), True),
    "init": (("init", "{}.yaml"), False),
    "init in a folder": (("init", "{}"), True),
    "init --rule": (("init", "{}", "--rule", "hygiene/mine"), True),
}
"""Commands that write, with the place of what they write; whether that is a folder."""


@pytest.fixture
def changed(whole: Path, outside: Path) -> Iterator[Path]:
    """Two fabrics that differ, and an intent; afterwards all outside is as it was."""
    shutil.copytree(whole / "build", "build")
    shutil.copytree(whole / "build", "whole")
    shutil.copy(whole / "pod.yaml", "pod.yaml")
    path = Path("build/leaf1/config_db.json")
    config = json.loads(path.read_text())
    del config["PFC_WD"]["Ethernet0"]
    path.write_text(json.dumps(config, indent=4))
    for name in ("taken", "empty", "rules"):
        (outside / name).mkdir()
    (outside / "taken" / "mine").write_text("years of work")
    (outside / "victim").write_text("years of work")
    before = tree(outside), tree(Path(".git"))
    yield outside
    assert (tree(outside), tree(Path(".git"))) == before


def wrote_nothing(words: tuple[str, ...], target: str, named: str) -> None:
    """A command refuses to write through a link, which it names."""
    done = nodrop(*(word.format(target) for word in words))
    assert done.code == 2, done
    assert "link" in done.err + done.out
    assert named in done.err + done.out


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("kind", ["file", *nightly("nothing", "inside", "git")])
@pytest.mark.parametrize("command", WRITE)
def test_an_output_that_is_a_link_is_refused(command: str, kind: str) -> None:
    words, is_folder = WRITE[command]
    if kind == "inside" and command in ("init in a folder", "init --rule"):
        pytest.skip("the folder is one above what is written, and may lead elsewhere inside")
    leads = {"file": "../outside/empty" if is_folder else "../outside/victim", "nothing": "../outside/new"}
    Path("mine").mkdir()
    Path("mine.txt").write_text("mine")
    leads |= {"inside": "mine" if is_folder else "mine.txt", "git": ".git/new"}
    name = "target.yaml" if command == "init" else "target"
    link(name, leads[kind])
    wrote_nothing(words, "target", name)
    assert Path(name).is_symlink()
    assert (list(Path("mine").iterdir()), Path("mine.txt").read_text()) == ([], "mine")


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("parent", ["../outside/empty", *nightly("../outside/new", ".git", "next/deep", "chained")])
@pytest.mark.parametrize("command", WRITE)
def test_a_folder_above_an_output_leads_nowhere_else(command: str, parent: str) -> None:
    link("next", "../outside")
    link("chained", "linked")
    link("linked", "../outside/empty")
    link("reports", parent)
    wrote_nothing(WRITE[command][0], "reports/target", "reports")


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("command", WRITE)
def test_a_folder_above_an_output_may_lead_elsewhere_inside(command: str) -> None:
    Path("mine").mkdir()
    link("reports", "mine")
    words, _ = WRITE[command]
    done = nodrop(*(word.format("reports/target") for word in words))
    assert done.code in (0, 1), done
    assert [path.name.partition(".")[0] for path in Path("mine").iterdir() if path.name != ".nodrop"] == ["target"]


@pytest.mark.usefixtures("changed")
def test_a_fix_changes_no_file_elsewhere(outside: Path) -> None:
    shutil.move("build/leaf1/config_db.json", "real.json")
    link("build/leaf1/config_db.json", "../../../outside/db.json")
    refused("fix", "--unsafe", "build", at="build/leaf1/config_db.json")
    link("build/leaf1/config_db.json", "../../real.json")
    before = Path("real.json").read_bytes()
    done = nodrop("fix", "--unsafe", "--edit-generated", "build")
    assert done.code == 2
    assert "build/leaf1/config_db.json: a link" in done.out + done.err
    assert Path("real.json").read_bytes() == before


@pytest.mark.usefixtures("changed")
def test_schemas_of_init_are_no_links() -> None:
    link(".nodrop/intent.schema.json", "../../outside/victim")
    assert nodrop("init", ".").code == 2
    link("rules/.nodrop", "../../outside/empty")
    assert nodrop("init", "rules", "--rule", "hygiene/mine").code == 2


@pytest.mark.usefixtures("changed")
def test_without_a_repository_it_is_the_working_directory_that_nothing_leads_out_of() -> None:
    Path(".git").rename("../git")
    link("report.json", "../outside/victim")
    link("reports", "../outside/empty")
    for target in ("report.json", "reports/x"):
        wrote_nothing(("lint", "build", "--format", "json={}"), target, target.partition("/")[0])
    Path("../git").rename(".git")


def test_a_link_of_the_user_s_above_the_repository_is_followed(whole: Path, outside: Path) -> None:
    link("../short", "repo")
    (outside.parent / "elsewhere").symlink_to(outside)
    shutil.copytree(whole / "build", "build")
    os.chdir("../short")
    for target in (outside.parent / "short" / "a.json", outside.parent / "elsewhere" / "b.json"):
        assert nodrop("lint", "build", "--format", f"json={target}").code == 0
        assert target.is_file()


@pytest.mark.parametrize("target", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.usefixtures("kept_rules")
def test_streams_are_written_to_as_before(target: str, whole: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, "lint", str(whole / "build"), "--format", f"json={target}"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0
    assert json.loads(done.stdout)["findings"] == []


# ------------------------------------------------------------------------------------------------------- umask

MODES: dict[str, tuple[tuple[str, ...], bool]] = {
    "build": (("build", "pod.yaml", "-o", "made"), False),
    "json": (("lint", "build", "--format", "json=made"), False),
    "baseline": (("baseline", "build", "-o", "made"), False),
    "import": (("import", "build", "-o", "made"), False),
    "init": (("init", "made"), False),
    "plan --patch": (("plan", "whole", "build", "--patch", "made"), True),
    "drift --patch": (("drift", "build", "whole", "--patch", "made"), True),
    "fix --patch": (("fix", "build", "--unsafe", "--patch", "made"), True),
    "export batfish": (("export", "batfish", "build", "-o", "made"), True),
    "export containerlab": (("export", "containerlab", "build", "-o", "made"), True),
}


@pytest.mark.usefixtures("changed")
@pytest.mark.parametrize("umask", [0o027, *nightly(0o077, 0o002, 0o000)])
@pytest.mark.parametrize("command", MODES)
def test_modes_follow_the_umask_and_what_may_hold_secrets_is_for_its_owner(command: str, umask: int) -> None:
    words, secret = MODES[command]
    before = os.umask(umask)
    try:
        done = nodrop(*words)
    finally:
        os.umask(before)
    assert done.code in (0, 1), done
    made = [Path("made"), *Path("made").rglob("*")]
    assert made[0].exists()
    for path in made:
        whole = 0o777 if path.is_dir() or path.suffix == ".sh" else 0o666
        assert oct(stat.S_IMODE(path.stat().st_mode)) == oct(whole & (0o700 if secret else ~umask)), path


@pytest.mark.usefixtures("changed")
def test_another_umask_is_no_drift() -> None:
    seen = []
    for umask in (0o022, 0o077, 0o002):
        before = os.umask(umask)
        try:
            nodrop("build", "pod.yaml", "-o", "made")
            seen.append({path: path.stat().st_ino for path in Path("made").rglob("*")})
            assert nodrop("build", "pod.yaml", "-o", "made", "--check").code == 0
        finally:
            os.umask(before)
    assert seen[0] == seen[1] == seen[2]


# ------------------------------------------------------------------------------------------------------- manifests


def claim(folder: str, *names: str) -> None:
    """Put a manifest into a folder that claims what lies there."""
    listed = {
        name: content_digest(Path(folder, name).read_bytes()) if Path(folder, name).is_file() else "" for name in names
    }
    Path(folder, ".nodrop.json").write_text(json.dumps({"version": 1, "inputs": {}, "files": listed}))


CLAIMED = (
    "mine.txt",
    "leaf1/notes.md",
    "leaf1/.bashrc",
    ".bashrc",
    "leaf1/config_db.json.bak",
    "a/b/c/d/config_db.json",
    "src/main.py",
    "Fabric.yaml",
    "leaf1/CONFIG_DB.JSON",
    "hosts/id_rsa",
    "plan/budget.ods",
    "leaf1/apply/thesis.tex",
    "PATCHES.txt",
    "config_db.json",
)


@pytest.mark.parametrize("name", CLAIMED)
def test_a_manifest_claims_nothing_that_no_build_writes(name: str, whole: Path) -> None:
    Path("out", name).parent.mkdir(parents=True)
    Path("out", name).write_text("years of work")
    claim("out", name)
    before = tree(Path("out"))
    done = nodrop("build", whole / "pod.yaml", "-o", "out")
    assert (done.code, tree(Path("out"))) == (2, before)
    assert f"out/{name.split('/')[0]}" in done.err


@pytest.mark.parametrize("name", ["notes.txt", "leaf1/thesis.tex", "leaf1/.bashrc", "a/b/c/d/patch.json", "patch.json"])
def test_a_manifest_claims_nothing_that_no_patch_is_called(name: str, whole: Path) -> None:
    shutil.copytree(whole / "build", "build")
    Path("out", name).parent.mkdir(parents=True, exist_ok=True)
    Path("out", name).write_text("years of work")
    Path("out/PATCHES.txt").write_text("")
    claim("out", "PATCHES.txt", name)
    before = tree(Path("out"))
    done = nodrop("plan", whole / "build", "build", "--patch", "out")
    assert (done.code, tree(Path("out"))) == (2, before)


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 1, "inputs": {}, "files": {"leaf1": "00"}}',
        '{"version": 1, "inputs": {}, "files": {"": "00", "leaf1/": "00", "/": "00", "../..": "00"}}',
        '{"version": 1, "inputs": {}, "files": {"leaf1/../mine": "00"}}',
        '{"version": true, "inputs": {}, "files": {}}',
        '{"version": 1.0, "inputs": {}, "files": {}}',
    ],
)
def test_a_hostile_manifest_costs_nobody_a_file(text: str, whole: Path) -> None:
    Path("out/leaf1").mkdir(parents=True)
    Path("out/leaf1/mine").write_text("years of work")
    Path("out/mine").write_text("years of work")
    Path("out/.nodrop.json").write_text(text)
    before = tree(Path("out"))
    assert nodrop("build", whole / "pod.yaml", "-o", "out").code == 2
    assert tree(Path("out")) == before


def test_a_manifest_of_any_size_is_refused_in_words(whole: Path) -> None:
    Path("out").mkdir()
    with Path("out/.nodrop.json").open("wb") as file:
        file.truncate(1 << 40)
    done = nodrop("build", whole / "pod.yaml", "-o", "out")
    assert done.code == 2
    assert "out/.nodrop.json" in done.err
    assert "1,099,511,627,776 bytes" in done.err


# ------------------------------------------------------------------------------------------- what readers leave alone

BESIDE = (".X.nodrop-old", ".X.nodrop-new", ".X.nodrop-lock")


@pytest.mark.parametrize("name", [BESIDE[0], *nightly(*BESIDE[1:])])
@pytest.mark.parametrize(
    "words",
    [
        ("lint", "X"),
        ("lint", "X/leaf1"),
        ("validate", "X"),
        ("show", "X"),
        ("plan", "X", "whole"),
        ("drift", "X", "whole"),
        ("import", "X"),
        ("fix", "X"),
        ("explain", "--at", "leaf1", "X"),
        ("build", "--check", "pod.yaml", "-o", "X"),
    ],
    ids=" ".join,
)
def test_commands_that_read_move_and_delete_nothing(name: str, words: tuple[str, ...], whole: Path) -> None:
    shutil.copytree(whole / "build", "whole")
    shutil.copytree(whole / "build", name)
    Path(name, "precious").write_text("years of work")
    shutil.copy(whole / "pod.yaml", "pod.yaml")
    before = tree(Path())
    assert nodrop(*words).code != 0
    assert tree(Path()) == before


def test_an_interrupted_build_is_reported_with_what_to_do(whole: Path) -> None:
    shutil.copytree(whole / "build", ".X.nodrop-old")
    for words in (("lint", "X"), ("lint", "X/leaf1")):
        done = nodrop(*words)
        assert done.code == 2
        assert "a build of X was interrupted" in done.err + done.out
        assert ".X.nodrop-old" in done.err + done.out
        assert "`nodrop build`" in done.err + done.out


@pytest.mark.parametrize("kind", ["folder", "file", "link", "deep", "with somebody else's marker"])
@pytest.mark.parametrize("name", [".out.nodrop-new", ".out.nodrop-old"])
def test_a_build_deletes_nothing_beside_it_that_nodrop_did_not_make(kind: str, name: str, whole: Path) -> None:
    if kind == "file":
        Path(name).write_text("years of work")
    elif kind == "link":
        link(name, "../outside")
    else:
        deep = Path(name, "a/b" if kind == "deep" else ".")
        deep.mkdir(parents=True)
        (deep / "precious").write_text("years of work")
        if kind.startswith("with"):
            (deep / ".nodrop-draft").write_text("mine")
    before = tree(Path())
    done = nodrop("build", whole / "pod.yaml", "-o", "out")
    assert (done.code, tree(Path())) == (2, before)
    assert name in done.err


def test_a_lock_that_holds_anything_is_not_removed(whole: Path) -> None:
    Path(".out.nodrop-lock").write_text("years of work")
    nodrop("build", whole / "pod.yaml", "-o", "out")
    assert Path(".out.nodrop-lock").read_text() == "years of work"


def test_drafts_beside_a_file_cost_nobody_a_file(whole: Path, outside: Path) -> None:
    shutil.copytree(whole / "build", "build")
    path = Path("build/leaf1/config_db.json")
    config = json.loads(path.read_text())
    del config["PFC_WD"]["Ethernet0"]
    path.write_text(json.dumps(config, indent=4))
    draft = path.with_name(f".{path.name}.{os.getpid()}.nodrop")
    draft.write_text("years of work")
    nodrop("fix", "--unsafe", "--edit-generated", "build")
    assert draft.read_text() == "years of work"


def test_a_file_that_became_a_link_out_of_the_tree_is_not_opened_again(outside: Path) -> None:
    """Not even where it holds the same, for that alone would tell."""
    path = Path("leaf1/frr.conf")
    shutil.copy(outside / "key", path)
    found, problems = open_files([("frr.conf", DiskWithHeldTexts().text(path))])
    assert problems == []
    link("leaf1/frr.conf", "../../outside/key")
    with pytest.raises(InputProblems, match="leads out of the repository"):
        load_unchanged_source(found[0][0])


@pytest.mark.parametrize("named", ["col/leaf1", "col/leaf1/frr.conf", "col"])
def test_a_fabric_yaml_that_nobody_named_leads_nowhere_else_without_a_repository(
    named: str, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = outside.parent / "place"
    (place / "col" / "leaf1").mkdir(parents=True)
    (place / "col" / "leaf1" / "frr.conf").write_text("hostname leaf1\nrouter bgp 65001\n")
    monkeypatch.chdir(place)
    (outside / "shadow").write_text(f"root:{SECRET}:19000\n")
    link("col/fabric.yaml", str(outside / "shadow"))
    done = nodrop("lint", named, "--platform", "sonic")
    assert done.code == 2
    assert SECRET not in done.out + done.err
    assert "col/fabric.yaml: a link that leads out of" in done.out + done.err


def test_a_folder_without_a_repository_is_read(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = outside.parent / "place"
    (place / "leaf1").mkdir(parents=True)
    (place / "leaf1" / "frr.conf").write_text("hostname leaf1\nrouter bgp 65001\n")
    monkeypatch.chdir(place)
    for named in ("leaf1", ".", str(place)):
        assert "leaf1" in nodrop("lint", named, "--platform", "sonic").out
