"""What the shipped schema.yaml says differently from published sources, by path and release."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodrop.platforms.nvue.schema import SchemaNode, WordsAfterPath, node_below
from nodrop.platforms.nvue.schema_types import SettingLeaf
from nvue_merge import Merged, Release
from nvue_tree import NO_LIMIT, Path, Place, Value, widest

_NUMBERS = re.compile(r"from ([0-9]+) to ([0-9]+)$")
_ANYTHING = "\0"
"""Taken only by a setting that takes any text."""

KINDS: Mapping[str, str] = {
    "missing": "paths that the source has, at a place where schema.yaml lists all words",
    "extra": "paths that only schema.yaml has",
    "releases": "paths that the source has in other releases",
    "words": "values: words that one side alone takes",
    "range": "values: numbers that one side alone takes",
    "kind": "a value on one side, words that follow on the other",
    "any text": "values: any text in schema.yaml, a range or words in the source",
    "open": "paths below a place of which schema.yaml says nothing, by the place",
}
"""Kinds of differences, and what they are."""
_OF_ANY_WORD = frozenset({"missing", "releases"})
"""Kinds that say nothing of a word of schema.yaml where the source lets the owner choose any."""


@dataclass(frozen=True, order=True)
class Difference:
    """One difference at a path, in some releases."""

    kind: str
    path: Path
    text: str
    releases: tuple[Release, ...] = ()

    def __str__(self) -> str:
        """Return the line that says it."""
        names = [".".join(map(str, release)) for release in self.releases]
        spans = "" if not names else f" ({names[0]}..{names[-1]})" if len(names) > 1 else f" ({names[0]})"
        return f"{' '.join(self.path)}{spans}" + (f": {self.text}" if self.text else "")


def differences(schema: WordsAfterPath, tree: Merged) -> list[Difference]:
    """Return all differences, in order; those of the same kind and text at one path are one."""
    found: dict[tuple[str, Path, str], set[Release]] = {}
    for one in _places(schema, tree, (), tree.releases):
        found.setdefault((one.kind, one.path, one.text), set()).update(one.releases)
    order = list(KINDS)
    made = [Difference(*key, tuple(sorted(releases))) for key, releases in found.items()]
    return sorted(made, key=lambda one: (order.index(one.kind), one))


def summary(found: Iterable[Difference]) -> Iterator[str]:
    """Yield the differences by kind, with their number."""
    rows = list(found)
    for kind, meaning in KINDS.items():
        those = [one for one in rows if one.kind == kind]
        if those:
            yield f"{kind}: {len(those)} {meaning}"
            yield from (f"  {one}" for one in those)


def _places(place: WordsAfterPath, tree: Merged, path: Path, releases: Sequence[Release]) -> Iterator[Difference]:
    chosen = next((word for word in tree.words if word.startswith("<")), None)
    seen = set()
    for word, one in tree.words.items():
        here = (*path, word)
        if word == chosen:
            nodes: dict[str, SchemaNode] = {word: place.chosen.below} if place.chosen else {}
            fixed = {each: node for each, node in place.words.items() if each not in tree.words}
            if not nodes and not fixed:
                yield _unknown(place, here, one)
            for each, node in (nodes | fixed).items():
                seen.add(each)
                found = _nodes(node, one, (*path, each), releases)
                yield from found if each == word else (diff for diff in found if diff.kind not in _OF_ANY_WORD)
        elif (follows := node_below(place, word)) is not None:
            seen.add(word)
            yield from _nodes(follows, one, here, releases)
        else:
            yield _unknown(place, here, one)
    if tree.open:
        return
    for word, node in place.words.items():
        has = tuple(each for each in releases if _has(node, each))
        if word not in seen and has:
            yield Difference("extra", (*path, word), "", has)


def _unknown(place: WordsAfterPath, path: Path, one: Merged) -> Difference:
    if place.open:
        size = _size(one)
        return Difference(
            "open", place.pattern, path[-1] if size == 1 else f"{path[-1]}, and {size - 1} paths below it"
        )
    return Difference("missing", path, "", tuple(one.releases))


def _size(one: Merged) -> int:
    return 1 + sum(map(_size, one.words.values()))


def _nodes(node: SchemaNode, one: Merged, path: Path, releases: Sequence[Release]) -> Iterator[Difference]:
    stated = [each for each in releases if _has(node, each)]
    both = [each for each in stated if each in one.releases]
    if gone := tuple(each for each in stated if each not in both):
        yield Difference("releases", path, "only schema.yaml has it", gone)
    if come := tuple(each for each in one.releases if each not in stated and each in releases):
        yield Difference("releases", path, "only the source has it", come)
    for release in both:
        value = one.values.get(release) or _chosen_of(one.places.get(release))
        if isinstance(node, SettingLeaf) and value is not None:
            yield from _values(node, value, path, release)
        elif isinstance(node, SettingLeaf) and not one.open:
            yield Difference("kind", path, "words follow in the source", (release,))
        elif isinstance(node, WordsAfterPath) and release in one.values and not node.open:
            yield Difference("kind", path, "a value in the source", (release,))
    if isinstance(node, WordsAfterPath) and one.places:
        yield from _places(node, one, path, both)


def _chosen_of(place: Place | None) -> Value | None:
    """Return a place with words that nothing follows as the value that a file may write for it, such as `up`."""
    if place is None or not place.words or place.below is not None:
        return None
    ends = all(isinstance(each, Place) and not each.words and each.below is None for each in place.words.values())
    return Value(words=frozenset(place.words)) if ends else None


def _has(node: SchemaNode, release: Release) -> bool:
    """Whether a release has a path, and where all words that follow are known, one of them."""
    if (
        not node.span.has_release(release)
        or isinstance(node, SettingLeaf)
        or node.open
        or node.chosen
        or not node.words
    ):
        return node.span.has_release(release)
    return any(_has(each, release) for each in node.words.values())


def _values(leaf: SettingLeaf, value: Value, path: Path, release: Release) -> Iterator[Difference]:
    """Yield what one side alone takes; where the source takes any text, it does not say."""
    choices = [choice for choice in leaf.choices if choice.span.has_release(release)]
    if value.text:
        return
    if any(choice.takes(_ANYTHING) for choice in choices):
        yield Difference("any text", path, _said(value), (release,))
        return
    if refused := sorted(word for word in value.words if not _takes(leaf, word, release)):
        yield Difference("words", path, f"only the source takes {' '.join(refused)}", (release,))
    stated = {choice.said for choice in choices if choice.takes(choice.said)}
    numbers = {str(number) for low, high in value.ranges if high - low < len(stated) for number in range(low, high + 1)}
    if unknown := sorted(stated - value.words - numbers):
        yield Difference("words", path, f"only schema.yaml takes {' '.join(unknown)}", (release,))
    ours = widest((int(low), int(high)) for choice in choices for low, high in _NUMBERS.findall(choice.said))
    theirs = {_within(one, ours) for one in value.ranges}
    digits = {(int(word), int(word)) for word in value.words if word.isdigit()}
    if ours != theirs and (ours or theirs) and not (ours and digits and not theirs):
        yield Difference("range", path, f"{_ranges(ours)} in schema.yaml, {_ranges(theirs)} in the source", (release,))


def _takes(leaf: SettingLeaf, text: str, release: Release) -> bool:
    verdict = leaf.verdict(text)
    return verdict is None or (not isinstance(verdict, str) and any(span.has_release(release) for span in verdict))


def _within(one: tuple[int, int], ours: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return a range of the source; where it has no end, with that of schema.yaml."""
    low, high = one
    return (low, next((end for start, end in ours if start == low), high)) if high == NO_LIMIT else one


def _ranges(ranges: Iterable[tuple[int, int]]) -> str:
    return " and ".join(f"{low}..{'' if high == NO_LIMIT else high}" for low, high in sorted(ranges)) or "none"


def _said(value: Value) -> str:
    parts = [_ranges(value.ranges)] if value.ranges else []
    return " or ".join([*parts, *(["ip4"] if value.ip4 else []), *sorted(value.words)])
