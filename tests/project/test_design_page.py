"""docs/design.md: short, about files that exist, and with the sections that other texts refer to."""

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

from support.places import ROOT

PAGE = ROOT / "docs" / "design.md"
PAGES = (*sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("*.md")))
MAX_WORDS = 6000
_SUFFIXES = r"(?:py|ya?ml|md|txt|json|j2)"
_FILE = re.compile(rf"`([\w.<>*/-]+(?:\.{_SUFFIXES}|/))`")
_SECTION = re.compile(r"^#{2,3} (\d+(?:\.\d+)?)\.? (.*)$", re.MULTILINE)
_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
_REFERENCE = re.compile(
    r"contract (\d+\.\d+\w?)|docs/design\.md`?, (?:section )?(\d+(?:\.\d+)?)(?:, ([a-z ]+))?(?: and (\d+\.\d+))?"
)
_REFERRING = (
    "*.md",
    "docs/*.md",
    "src/**/*.py",
    "src/**/*.yaml",
    "tests/**/*.py",
    "scripts/*.py",
    "tools/*.py",
    "rules/**/*.yaml",
)


@cache
def files() -> tuple[str, ...]:
    """Return the files of the repository, without hidden folders."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith(".") or name == ".ci"]
        found += [Path(folder, name).relative_to(ROOT).as_posix() for name in names]
    return tuple(found)


def missing_files(text: str) -> list[str]:
    """Return the files and folders that a text names and that no path of the repository ends with."""
    missing = []
    for name in _FILE.findall(text):
        pattern = re.sub(r"<[^>]+>", "*", name)
        pattern = f"{pattern}*" if pattern.endswith("/") else pattern
        if not any(fnmatch(f"/{file}", f"*/{pattern}") for file in files()):
            missing.append(name)
    return missing


def broken_links(page: Path, text: str) -> list[str]:
    """Return the relative links of a page that lead to no file."""
    targets = _LINK.findall(text)
    return [target for target in targets if not (page.parent / target).exists()]


def sections(text: str) -> dict[str, str]:
    """Return the content of each section by its number."""
    heads = list(_SECTION.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {head[1]: text[head.end() : end] for head, end in zip(heads, ends, strict=True)}


def dangling_references(text: str, page: str) -> Iterator[str]:
    """Yield the references of a text to sections, or to topics of them, that the page does not have."""
    parts = sections(page)
    for reference in _REFERENCE.finditer(text):
        numbers = [number for number in (reference[1], reference[2], reference[4]) if number]
        topic = reference[3]
        if not parts.keys() >= set(numbers) or (topic and f"**{topic}" not in parts[numbers[0]].lower()):
            yield reference[0]


def test_the_design_is_short() -> None:
    assert len(PAGE.read_text().split()) <= MAX_WORDS


def test_the_design_names_files_that_exist() -> None:
    assert missing_files(PAGE.read_text()) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_pages_lead_to_files(page: Path) -> None:
    assert broken_links(page, page.read_text()) == []


def test_references_to_the_design_lead_to_a_section() -> None:
    page = PAGE.read_text()
    wrong = [
        f"{path.relative_to(ROOT)}: {reference}"
        for pattern in _REFERRING
        for path in sorted(ROOT.glob(pattern))
        if path.name != "test_design_page.py"
        for reference in dangling_references(path.read_text(), page)
    ]
    assert not wrong, wrong


def test_wrong_names_and_references_are_found() -> None:
    assert missing_files("`design/gone.py`, `platforms/<os>/reader.py`, `rules/`, `gone/`") == [
        "design/gone.py",
        "gone/",
    ]
    assert broken_links(PAGE, "[a](gone.md) [b](decisions.md#x) [c](https://x.y/z.md) [d](#e)") == ["gone.md"]
    page = "## 4. Design\n* **Classes.** x\n## 9. Contracts\n### 9.7 Files\ny\n"
    good = "contract 9.7; docs/design.md, section 4, classes; docs/design.md, 9.7 and 9.7"
    assert list(dangling_references(good, page)) == []
    bad = "contract 9.8; docs/design.md, section 4, watchdogs; `docs/design.md`, 9.21"
    assert list(dangling_references(bad, page)) == [
        "contract 9.8",
        "docs/design.md, section 4, watchdogs",
        "docs/design.md`, 9.21",
    ]
