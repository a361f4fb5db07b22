"""A cabling sheet in its own file: the same fabric as in the intent, and faults at the line of the file."""

import json
from pathlib import Path

import pytest

import nodrop
from nodrop.errors import InputProblems
from nodrop.intent.load import loads
from nodrop.resources import resource_folder
from support.command import nodrop as run

TEXT = (resource_folder("intents") / "cabling-sheet.yaml").read_text()
HEAD, REST = TEXT.split("  cables: |\n")
ROWS, REST = REST.split("endpoints:\n")
CSV = "".join(f"{line.strip()}\n" for line in ROWS.splitlines())


def listed(csv: str) -> str:
    """A sheet in YAML, from one in CSV without spaces that matter."""
    rows = [[cell.strip() for cell in line.split(",")] for line in csv.splitlines()[1:]]
    return "cables:\n" + "".join(f"  - {a}:{port}--{b}:{far} {length}m\n" for a, port, b, far, length in rows)


def site(folder: Path, name: str, sheet: str | bytes) -> Path:
    """Write an intent that names a sheet, and the sheet, and return the path of the intent."""
    path = folder / "intents" / "site.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{HEAD}  cables: {{file: {name}}}\nendpoints:\n{REST}")
    raw = sheet.encode() if isinstance(sheet, str) else sheet
    (path.parent / name).write_bytes(raw)
    return path


def problems_of(path: Path) -> list[str]:
    with pytest.raises(InputProblems) as refused:
        nodrop.build(nodrop.load(path))
    return [str(problem) for problem in refused.value.problems]


@pytest.mark.parametrize(
    ("name", "sheet"),
    [
        ("cables.csv", CSV),
        ("cables.yaml", listed(CSV)),
        ("../cables.YML", listed(CSV)),
        ("cables", CSV.replace(",", ";")),
        ("spread.csv", b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode()),
    ],
)
def test_a_sheet_in_a_file_makes_the_same_fabric(tmp_path: Path, name: str, sheet: str | bytes) -> None:
    (tmp_path / ".git").mkdir()
    assert nodrop.build(nodrop.load(site(tmp_path, name, sheet))) == nodrop.build(loads(TEXT.encode(), "intent.yaml"))


def test_every_command_reads_the_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    site(tmp_path, "cables.csv", CSV)
    path = Path("intents/site.yaml")
    assert run("build", path, "-o", "build").code == 0
    assert '"cables.csv": ' in Path("build/.nodrop.json").read_text()
    assert run("build", path, "-o", "build", "--check").code == 0
    for words in (("show", path), ("lint", path), ("lint", "."), ("plan", "build", path), ("drift", "build", path)):
        assert (run(*words).code, run(*words).err) == (0, "")
    assert "ignored: intents/cables.csv" in run("lint", "-v", ".").out


@pytest.mark.parametrize(
    ("name", "sheet", "fault"),
    [
        ("a.csv", CSV.replace("etp20", "etp99"), "a.csv:10:1: leaf3 has no port etp99; expected Ethernet0"),
        ("a.yaml", listed(CSV).replace("etp20", "etp99"), "a.yaml:10:5: cables.8: leaf3 has no port etp99"),
        ("a.yaml", "cables: []\n", "a.yaml:1:9: cables: an empty list; expected at least one entry"),
        ("a.yaml", listed(CSV) + "media: DR4\n", "a.yaml:14:1: media: unknown key media (known keys: cables)"),
        ("a.yaml", "- leaf1:1--spine1:1\n", "a.yaml:1:1: a list; expected a mapping"),
        ("a.csv", "", "a.csv:1:1: no line of column names; expected device, port, device, port, length, media"),
        ("a.csv", CSV.replace("leaf2,  Eth1/17", 'leaf2,  "Eth1/17'), "a.csv:13:1: unexpected end of data"),
        ("a.csv", b"device,port\xff", "a.csv:1:12: byte 0xff at offset 11; expected UTF-8"),
        ("a.csv", CSV + "leaf1,29,spine1,33/1,20\n", "one cable in each port (first at line 2)"),
    ],
)
def test_a_fault_of_a_sheet_is_at_its_line_of_the_file(
    tmp_path: Path, name: str, sheet: str | bytes, fault: str
) -> None:
    (problem,) = problems_of(site(tmp_path, name, sheet))
    assert fault in problem


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("none.csv", "none.csv: no such file or directory; expected a readable file"),
        ("../../x.csv", "../../x.csv, which leads out of the repository; expected a path below the repository"),
        ("/etc/passwd", "/etc/passwd, an absolute path; expected a path below the repository"),
        ("link.csv", "link.csv, which leads out of the repository; expected a path below the repository"),
        (".git/config", ".git/config, which leads out of the repository"),
        ("folder", "folder: a folder; expected a regular file"),
    ],
)
def test_a_file_that_cannot_be_a_sheet_is_refused_at_its_key(tmp_path: Path, name: str, fault: str) -> None:
    (tmp_path / "outside.csv").write_text(CSV)
    top = tmp_path / "top"
    (top / "intents" / "folder").mkdir(parents=True)
    (top / ".git").mkdir()
    (top / "intents" / "link.csv").symlink_to("../../outside.csv")
    path = site(top, "cables.csv", CSV)
    path.write_text(path.read_text().replace("file: cables.csv", f"file: {name}"))
    (problem,) = problems_of(path)
    assert problem.startswith(f"{path}:12:18: topology.cables.file: {fault}")


def test_a_text_without_a_folder_names_no_file() -> None:
    text = f"{HEAD}  cables: {{file: cables.csv}}\nendpoints:\n{REST}"
    done = run("lint", "-", stdin=text.encode())
    assert (done.code, done.out.splitlines()[0]) == (
        2, "error: <stdin>:12:18: topology.cables.file: cables.csv: a file, of a text without a folder",
    )  # fmt: skip
    with pytest.raises(InputProblems, match="a file, of a text without a folder; expected the cables here"):
        nodrop.build(loads(text.encode(), "intent.yaml"))


def test_a_dragonfly_has_its_cables_in_a_file(tmp_path: Path) -> None:
    """Refused with the same words as with the cables in the intent."""
    data = "nodrop: 1\nfabric: direct\nclasses: {rdma: {dscp: 26, priority: 3, lossless: true}}\n"
    rows = ["g0s0:1--g0s1:1", "g1s0:1--g1s1:1", "g0s0:2--g1s0:2"]
    topology = "topology: {{kind: dragonfly, cables: {}}}\n"
    (tmp_path / "cables.yaml").write_text("cables:\n" + "".join(f"- {row}\n" for row in rows))
    said = []
    for name, cables in (("here.yaml", f"{json.dumps(rows)}"), ("there.yaml", "{file: cables.yaml}")):
        (tmp_path / name).write_text(data + topology.format(cables))
        said.append([line.replace(name, "") for line in problems_of(tmp_path / name)])
    assert said[0] == said[1] != []


def test_an_editor_shows_faults_of_a_sheet_that_is_not_open_at_the_intent(tmp_path: Path) -> None:
    pytest.importorskip("pygls", reason="the extra `lsp` is not installed")
    from nodrop.lsp.desk import TextChecker

    path = site(tmp_path, "cables.csv", CSV.replace("etp20", "etp99"))
    sheet = path.parent / "cables.csv"
    (mark,) = TextChecker().check_text(path, {str(path): path.read_bytes()}).marks[str(path)]
    assert mark.message.startswith(f"{sheet}:10:1: leaf3 has no port etp99")
    marks = TextChecker().check_text(path, {str(path): path.read_bytes(), str(sheet): sheet.read_bytes()}).marks
    assert (marks[str(path)], marks[str(sheet)][0].point) == ([], (10, 1))
    assert (
        TextChecker().check_text(path, {str(path): path.read_bytes(), str(sheet): CSV.encode()}).marks[str(path)] == []
    )
