"""Several reports of one run: each to a target of its own, whole or not at all, none lost by another's fault."""

import errno
import json
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from nodrop.publish.landing import OutputPlace
from nodrop.resources import resource_folder
from support.command import SCRIPT, Done, built, nodrop
from support.patience import END_S

FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab")


@pytest.fixture(autouse=True)
def faulty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    intent = (resource_folder("intents") / "two-by-two.yaml").read_text()
    Path("pod.yaml").write_text(intent.replace("min: 150kB, max: 1500kB", "min: 1kB, max: 2kB"))
    return tmp_path


def formats(*values: str) -> list[str]:
    return [word for value in values for word in ("--format", value)]


def test_every_format_at_once_is_what_it_is_alone() -> None:
    done = nodrop("lint", "pod.yaml", *formats(*(f"{name}=all.{name}" for name in FORMATS[1:]), "text"))
    assert done.code == 1
    for name in FORMATS[1:]:
        assert Path(f"all.{name}").read_text() == nodrop("lint", "pod.yaml", "--format", name).out
    assert done.out == nodrop("lint", "pod.yaml").out


def test_a_target_that_cannot_be_written_keeps_no_other_from_it() -> None:
    Path("folder").mkdir()
    done = nodrop(
        "lint", "pod.yaml", *formats("sarif=missing/x", "json=good.json", "junit=folder", "gitlab=b\0", "text")
    )
    assert (done.code, done.out) == (2, nodrop("lint", "pod.yaml").out)
    assert json.loads(Path("good.json").read_text())["findings"]
    assert done.err == (
        "Error: cannot write missing/x: no such file or directory; cannot write folder: is a directory; "
        "cannot write b\\x00: a NUL character in the name\n"
    )


def test_a_build_whose_report_cannot_be_written_writes_nothing_but_its_other_reports() -> None:
    Path("sound.yaml").write_text((resource_folder("intents") / "two-by-two.yaml").read_text())
    done = nodrop("build", "sound.yaml", "-o", "out", *formats("json=missing/x", "junit=out.xml"))
    assert (done.code, Path("out").exists()) == (2, False)
    assert ElementTree.fromstring(Path("out.xml").read_text()).tag == "testsuites"


@pytest.mark.parametrize(
    ("one", "other"),
    [("a", "a"), ("a", "./a"), ("a", "sub/../a"), ("link", "a"), ("a", "hard"), ("link", "dangling")],
)
def test_two_formats_for_one_file_by_whichever_names_are_refused(one: str, other: str, faulty: Path) -> None:
    Path("sub").mkdir()
    if "hard" in (one, other):
        Path("a").write_text("old")
        Path("hard").hardlink_to("a")
    Path("link").symlink_to("a")
    Path("dangling").symlink_to(faulty / "a")
    done = nodrop("lint", "pod.yaml", *formats(f"json={one}", f"sarif={other}"))
    shown = one if one == other else f"{one} and {other}, which are one"
    assert done.code == 2
    assert f"two formats for {shown}; give each a separate file: --format json=FILE" in done.err
    assert not Path("a").exists() or Path("a").read_text() == "old"


def test_the_file_that_standard_output_leads_to_is_taken() -> None:
    command = [sys.executable, "-c", SCRIPT, "lint", "pod.yaml", *formats("text", "json=report")]
    with Path("report").open("w") as report:
        done = subprocess.run(command, stdout=report, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, Path("report").read_text()) == (2, "")
    assert b"two formats for standard output and report, which are one" in done.stderr


def test_different_names_of_different_files_are_taken() -> None:
    Path("sub").mkdir()
    assert nodrop("lint", "pod.yaml", *formats("json=a", "sarif=sub/a", "junit=A")).code == 1
    assert json.loads(Path("sub/a").read_text())["version"] == "2.1.0"


@pytest.mark.usefixtures("kept_rules")
def test_a_write_that_fails_half_way_leaves_the_old_file() -> None:
    """A limit on the size of files stands for a disk that is full after the first bytes."""
    Path("old.json").write_text("old")
    before = sorted(map(str, Path().iterdir()))

    def limited() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    targets = formats("json=old.json", "sarif=new.sarif", "text")
    command = [sys.executable, "-B", "-c", SCRIPT, "lint", "pod.yaml", *targets]
    done = subprocess.run(command, capture_output=True, check=False, preexec_fn=limited)
    assert done.stderr == b"Error: cannot write old.json: file too large; cannot write new.sarif: file too large\n"
    assert (done.returncode, done.stdout.decode()) == (2, nodrop("lint", "pod.yaml").out)
    assert Path("old.json").read_text() == "old"
    assert sorted(map(str, Path().iterdir())) == before


def test_a_file_keeps_its_mode_and_nothing_is_written_through_a_link() -> None:
    Path("mine").write_text("old")
    Path("mine").chmod(0o640)
    Path("link").symlink_to("mine")
    before = os.umask(0o027)
    try:
        done = nodrop("lint", "pod.yaml", *formats("json=link", "sarif=new"))
        nodrop("lint", "pod.yaml", *formats("junit=mine"))
    finally:
        os.umask(before)
    assert (
        done.err
        == "Error: cannot write link: a link, which nothing is written through; remove it or give another name\n"
    )
    assert Path("link").is_symlink()
    assert ElementTree.fromstring(Path("mine").read_text()).tag == "testsuites"
    assert [stat.S_IMODE(Path(name).stat().st_mode) for name in ("mine", "new")] == [0o640, 0o640]


class Waits(BaseException):
    """A command waits; no handler of nodrop's may take it for an error."""


@pytest.fixture
def in_time() -> Iterator[None]:
    """Fail where a command waits: for a reader or writer of a pipe there is none."""

    def late(*_: object) -> None:
        raise Waits

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(int(END_S))
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def lay(kind: str, path: Path) -> None:
    """Put something that is no regular file under a name."""
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(path))
    elif os.geteuid() != 0:
        pytest.skip("only root can make a device")
    else:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))


OUTPUTS: dict[str, tuple[str, ...]] = {
    "lint": ("lint", "pod.yaml", "--format", "json={}"),
    "baseline": ("baseline", "pod.yaml", "-o", "{}"),
    "import": ("import", "built", "-o", "{}"),
    "build": ("build", "pod.yaml", "--write-anyway", "-o", "{}"),
    "plan --patch": ("plan", "built", "pod.yaml", "--patch", "{}"),
    "init": ("init", "{}"),
}


@pytest.mark.usefixtures("in_time")
@pytest.mark.parametrize("kind", ["pipe", "socket", "device"])
@pytest.mark.parametrize("above", ["", "../"])
@pytest.mark.parametrize("command", OUTPUTS)
def test_what_is_no_regular_file_is_refused(
    command: str, above: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("here").mkdir()
    Path("pod.yaml").rename("here/pod.yaml")
    monkeypatch.chdir("here")
    if "built" in OUTPUTS[command]:
        built("pod.yaml", "built", "--write-anyway", "--fail-on", "never")
    there = Path(f"{above}x.yaml")
    lay(kind, there)
    before = there.lstat()
    done = nodrop(*(word.format(there) for word in OUTPUTS[command]))
    assert done.code == 2, done
    assert "x.yaml" in done.err + done.out
    assert os.path.samestat(there.lstat(), before)


@pytest.mark.usefixtures("in_time")
def test_check_does_not_wait_for_a_pipe_in_the_place_of_a_file() -> None:
    built("pod.yaml", "out", "--write-anyway", "--fail-on", "never")
    Path("out/leaf1/config_db.json").unlink()
    os.mkfifo("out/leaf1/config_db.json")
    done = nodrop("build", "pod.yaml", "-o", "out", "--check")
    assert done.code == 1
    assert "drift: out/leaf1/config_db.json: differs from the build" in done.err


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_an_open_descriptor_is_written_to(name: str) -> None:
    """As shells name it: `--format json=>(jq .)`."""
    reader, writer = os.pipe()
    with ThreadPoolExecutor(max_workers=1) as other_end, os.fdopen(reader, "rb") as pipe:
        report = other_end.submit(json.load, pipe)
        try:
            done = nodrop("lint", "pod.yaml", *formats(f"json={name.format(writer)}", "text"))
        finally:
            os.close(writer)
        assert report.result()["findings"]
    assert done == Done(1, nodrop("lint", "pod.yaml").out, "")


def test_the_null_device_takes_a_report() -> None:
    assert nodrop("lint", "pod.yaml", *formats("json=/dev/null")).code == 1
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.usefixtures("kept_rules")
def test_standard_output_that_is_a_file_is_written_on() -> None:
    command = [sys.executable, "-c", SCRIPT, "lint", "pod.yaml", *formats("json=/dev/stdout")]
    with Path("report").open("wb") as report:
        report.write(b"before\n")
        report.flush()
        assert subprocess.run(command, stdout=report, check=False).returncode == 1
        report.write(b"after\n")
    first, *said, last = Path("report").read_text().splitlines(keepends=True)
    assert (first, last) == ("before\n", "after\n")
    assert json.loads("".join(said))["findings"]


def test_a_file_in_a_folder_that_takes_no_new_one_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write anywhere, so the refusal is made up."""
    Path("old.json").write_text("old")

    def refused(*_: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(OutputPlace, "create_hidden_draft", refused)
    done = nodrop("lint", "pod.yaml", *formats("json=old.json", "sarif=new.sarif"))
    assert (done.code, done.err) == (2, "Error: cannot write new.sarif: permission denied\n")
    assert json.loads(Path("old.json").read_text())["findings"]


def test_reports_of_a_build_speak_of_the_intent() -> None:
    nodrop("build", "pod.yaml", "-o", "out", *formats("json=build.json", "sarif=build.sarif"))
    found = next(
        one for one in json.loads(Path("build.json").read_text())["findings"] if one["rule"] == "ecn-below-one-packet"
    )
    assert found["related"][0] == {
        "subject": found["at"],
        "message": "decided here: classes.rdma.ecn.max",
        "file": "pod.yaml",
        "line": 15,
        "column": 80,
    }
    (run,) = json.loads(Path("build.sarif").read_text())["runs"]
    result = next(one for one in run["results"] if one["ruleId"] == "ecn-below-one-packet")
    (place,) = result["locations"]
    assert result["relatedLocations"][0]["message"] == {"text": "resulting configuration"}
    assert place["physicalLocation"]["artifactLocation"] == {"uri": "pod.yaml"}
    assert place["physicalLocation"]["region"]["startLine"] == 15
    built("pod.yaml", "out", "--write-anyway", "--fail-on", "never")
    again = json.loads(nodrop("lint", "out", "--format", "json").out)["findings"]
    assert not any("decided" in one["message"] for each in again for one in each["related"])


HOSTILE = "a\n::error::x\r]]><b>`${{%0A\x1b]8;;http:x\x07\u202e.yaml"
UNSEEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def test_hostile_names_of_an_intent_stay_names_in_every_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of the file, and a remark on the very line that is shown, hold what reports might take for their own."""
    text = Path("pod.yaml").read_text().replace("probability: 100%}}", "probability: 100%}}  # \u202e`]]>::error::x")
    assert "\u202e" in text
    Path(HOSTILE).write_text(text)
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    names = [name for name in FORMATS if name != "text"]
    done = nodrop("lint", f"./{HOSTILE}", "--statistics", *formats("text", *(f"{name}=all.{name}" for name in names)))
    assert done.code == 1
    links = re.compile(r"\x1b]8;;(?:file://[\w.%/#~-]+)?\x1b\\", re.ASCII)
    shown = links.sub("", done.out)
    assert links.search(done.out)
    assert not UNSEEN.search(shown)
    assert r"\u202e`]]>::error::x" in shown
    assert not any(line.startswith("::error") for line in shown.splitlines())
    said = {name: Path(f"all.{name}").read_bytes().decode() for name in names}
    assert [name for name in names if UNSEEN.search(said[name])] == []
    assert all(re.fullmatch(r"::(error|warning|notice) [^:\n]*::[^\n]*", line) for line in said["github"].splitlines())
    found = json.loads(said["json"])["findings"]
    assert {one["related"][0]["file"] for one in found if one["related"]} == {HOSTILE}
    assert len(said["concise"].splitlines()) == len(found)
    assert ElementTree.fromstring(said["junit"]).find(".//testcase") is not None
    results = json.loads(said["sarif"])["runs"][0]["results"]
    uris = {one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in results}
    assert {unquote(uri) for uri in uris} == {HOSTILE}
