"""Names of functions: a verb with its object, a noun of the field, or a predicate that reads as a question."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.places import ROOT

SOURCE = ROOT / "src" / "nodrop"

PARTICIPLES = frozenset(
    [
        "adapted",
        "added",
        "answered",
        "asked",
        "bounded",
        "bound",
        "bridged",
        "carried",
        "changed",
        "chosen",
        "cleared",
        "closed",
        "compared",
        "computed",
        "counted",
        "covered",
        "cut",
        "derived",
        "drawn",
        "filled",
        "folded",
        "found",
        "given",
        "grouped",
        "guessed",
        "held",
        "joined",
        "judged",
        "kept",
        "known",
        "laid",
        "left",
        "limited",
        "listed",
        "looked",
        "made",
        "marked",
        "matched",
        "merged",
        "mixed",
        "named",
        "numbered",
        "opened",
        "ordered",
        "packed",
        "paired",
        "parted",
        "pieced",
        "pinned",
        "placed",
        "proposed",
        "read",
        "recalled",
        "reduced",
        "refused",
        "rendered",
        "replaced",
        "resolved",
        "said",
        "scaled",
        "seen",
        "settled",
        "shown",
        "spelt",
        "split",
        "spoken",
        "stated",
        "taken",
        "told",
        "tried",
        "wanted",
        "watched",
        "worked",
        "written",
    ]
)
ADVERBS = frozenset(["apart", "around", "beside", "beyond", "plain", "within"])
"""What is left of a sentence without its noun: a reader has to open the function to know of what it speaks."""

RULE_WORD = "a word of the rule language: files of users name it"
EXCEPTIONS = {
    "__init__.py: read": "a verb of the Python API, beside `build`, `write` and `check`",
    "engine/vocabulary/general.py: known": RULE_WORD,
    "engine/vocabulary/general.py: listed": RULE_WORD,
    "engine/vocabulary/general.py: within": RULE_WORD,
}
"""Functions that keep such a name, each with the reason."""


def is_bare(name: str) -> bool:
    """Whether a name ends in a bare participle or adverb, with at most one word before it."""
    words = name.strip("_").split("_")
    return len(words) <= 2 and words[-1] in PARTICIPLES | ADVERBS


def functions(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
            yield node.name


@pytest.mark.parametrize("name", ["told", "_said", "is_known", "path_said", "_apart", "check_beside", "read", "_split"])
def test_a_bare_participle_or_adverb_is_no_name(name: str) -> None:
    assert is_bare(name)


@pytest.mark.parametrize(
    "name", ["read_bytes", "_find_lost_prefixes", "is_known_port", "report_findings", "_policy_of"]
)
def test_a_verb_with_its_object_is_a_name(name: str) -> None:
    assert not is_bare(name)


def test_no_function_is_named_by_a_bare_participle_or_adverb() -> None:
    """Name what a function does and to what (`find_rows`), what it returns (`neighbor_names`), or what it asks."""
    bare = {
        f"{path.relative_to(SOURCE).as_posix()}: {name}"
        for path in SOURCE.rglob("*.py")
        for name in functions(path)
        if is_bare(name)
    }
    assert bare == set(EXCEPTIONS)
