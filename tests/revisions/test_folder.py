"""A folder that stands for a former state of the working directory."""

from pathlib import Path

import pytest

from nodrop.errors import InputProblems
from nodrop.revisions.folder import former_state_of_folder


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for state in ("old", "site"):
        (tmp_path / state / "build" / "leaf1").mkdir(parents=True)
        (tmp_path / state / "build" / "leaf1" / "frr.conf").write_text("frr version 10.0\n")
        (tmp_path / state / "build" / "leaf1" / "config_db.json").write_text(f'{{"{state}": {{}}}}')
    monkeypatch.chdir(tmp_path / "site")
    return tmp_path


def refused(base: str, *paths: str) -> list[str]:
    with pytest.raises(InputProblems) as caught:
        former_state_of_folder(Path(base), paths)
    return [problem.found for problem in caught.value.problems]


def test_files_are_those_of_the_folder_under_the_paths_of_now() -> None:
    former = former_state_of_folder(Path("../old"), ["build"])
    text = former.text(Path("build/leaf1/config_db.json"))
    assert (text.display, text.read_bytes(1000)) == ("build/leaf1/config_db.json", b'{"old": {}}')
    assert [entry.name for entry in former.entries(Path("build/leaf1"))] == ["config_db.json", "frr.conf"]
    assert former.head(Path("build/leaf1/config_db.json")) == b'{"old": {}}'
    assert former.is_folder(Path("build"))
    assert former.is_file(Path("build/leaf1/frr.conf"))
    assert not former.is_file(Path("build/leaf2/frr.conf"))


def test_which_files_are_as_they_were() -> None:
    former = former_state_of_folder(Path("../old"), ["build"])
    paths = ("build/leaf1/frr.conf", "build/leaf1/config_db.json")
    assert [former.is_unchanged(former.text(Path(path))) for path in paths] == [True, False]


def test_a_link_out_of_the_folder_is_a_problem_and_is_not_followed(site: Path) -> None:
    (site / "secret").write_text("secret")
    (site / "old" / "build" / "leaf1" / "frr.conf").unlink()
    (site / "old" / "build" / "leaf1" / "frr.conf").symlink_to("../../../secret")
    former = former_state_of_folder(Path("../old"), ["build"])
    assert former.text(Path("build/leaf1/frr.conf")).read_bytes(1000) == b""
    assert former.head(Path("build/leaf1/frr.conf")) == b""
    assert [problem.path for problem in former.problems] == ["build/leaf1/frr.conf"]


@pytest.mark.parametrize(
    ("base", "paths", "found"),
    [
        ("../none", ["build"], "no such folder"),
        ("build/leaf1/frr.conf", ["build"], "no such folder"),
        (".", ["build"], "that is the working directory, with the files of now"),
        ("..", ["build"], "the working directory lies in it, with the files of now"),
        ("../old", ["../old"], "not below the working directory, which ../old represents"),
        ("../old/build", ["build"], "build is not in it"),
    ],
)
def test_a_folder_that_stands_for_no_former_state(base: str, paths: list[str], found: str) -> None:
    assert refused(base, *paths) == [found]


def test_an_empty_folder_says_that_nothing_was_there(site: Path) -> None:
    (site / "empty").mkdir()
    former = former_state_of_folder(Path("../empty"), ["build"])
    assert former.explain_missing_path("build") is not None
    assert not former.is_folder(Path("build"))
