"""Compile NVUE's settings from schema.yaml and published.yaml, and find the setting that a wrong word stands for."""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path as File
from typing import Any

from nodrop.model.types import did_you_mean_hint, known_word_hint
from nodrop.platforms.nvue.published import ALL_WORDS_DOCUMENTED, fill_open_schema_words, read_published_settings
from nodrop.platforms.nvue.schema_types import (
    UNLIMITED_SPAN,
    Release,
    SettingAvailability,
    SettingLeaf,
    parse_release_span,
    parse_setting_leaf,
)
from nodrop.platforms.nvue.tree import Path
from nodrop.syntax.yaml import parse_yaml

SCHEMA_FILE = File(__file__).with_name("schema.yaml")

_PLACEHOLDER_KEY_PATTERN = re.compile(r"<(?P<name>\S+?)(?: (?P<low>[0-9]+)\.\.(?P<high>[0-9]+))?>")
_MIN_SIMILARITY_ELSEWHERE = 0.8
"""How much alike a misspelt word and one elsewhere in the schema have to be, as difflib counts."""
_MIN_SIMILARITY_AT_SAME_PLACE = 0.7
"""How much alike they have to be at one place, where no other word will do; with less, the words there are named."""
_QOS_KEY = "qos"
"""The object that other platforms spell at ports, and guides then invent there."""
_UNAMBIGUOUS_KEYS = frozenset({
    "adaptive-routing", "bgp", "breakout", "congestion-control", "ecmp-hash", "egress-scheduler", "lag-hash", "ospf",
    "packet-trim", "path-selection", "pfc", "pfc-watchdog", "qos", "roce", "traffic-pool",
})  # fmt: skip
"""Words that name one thing wherever they stand: where NVUE does not have them, they are misplaced."""
_MAX_SUGGESTIONS = 3
"""Paths that end in the same word; `state` and `mode` are in far more."""


@dataclass(frozen=True, slots=True)
class UserChosenWord:
    """A word that the owner chooses: its name, the node below it, and its range if it is a number."""

    name: str
    below: "SchemaNode"
    low: int = 0
    high: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class WordsAfterPath:
    """A place in a path: the words that may follow, a word that the owner chooses, and whether there may be others."""

    pattern: Path
    """The words that lead here, `<name>` for a chosen one."""
    span: SettingAvailability
    words: Mapping[str, "SchemaNode"]
    chosen: UserChosenWord | None
    open: bool
    """Whether there may be others than `words`."""
    fixed: bool
    """Whether no word that leads here is chosen by the owner: each file has this place but once."""
    complete: frozenset[Release] = frozenset()
    """The releases of which every word is known, though there may be others in other releases."""
    instead: Mapping[str, str] = field(default_factory=dict)
    """The path that is meant by words that are often written here, and are not there."""
    seen: list[tuple[Any, Any]] = field(default_factory=list)
    """What was found below the place before, with the value of which it was found; of a place that is not fixed, the
    last value alone, and all that is found in its file."""

    def available_words(self, release: Release | None) -> list[str]:
        """Return the words that a release has here."""
        return [word for word, node in self.words.items() if node.span.has_release(release)]


SchemaNode = WordsAfterPath | SettingLeaf


@cache
def schema_root() -> WordsAfterPath:
    """Return the first place of every path."""
    published_words, releases = read_published_settings()
    return _build_words((), fill_open_schema_words(_read_typed_words(), published_words), releases)


@cache
def schema_without_published_words() -> WordsAfterPath:
    """Return the first place of the paths of schema.yaml alone: those that hints are made of."""
    return _build_words((), _read_typed_words(), frozenset())


@cache
def _read_typed_words() -> Mapping[str, object]:
    data: Any = parse_yaml(SCHEMA_FILE.read_bytes(), SCHEMA_FILE.name).data
    typed_words: Mapping[str, Any] = data
    return typed_words


def _build_words(pattern: Path, stated_values: Mapping[str, Any], releases: frozenset[Release]) -> WordsAfterPath:
    words: dict[str, SchemaNode] = {}
    chosen = None
    is_open = False
    instead = {word: path for key, path in stated_values.get("-", {}).items() for word in key.split(", ")}
    for key, spec in stated_values.items():
        if key == "-":
            continue
        for word in key.split(", "):
            if word == "...":
                is_open = True
            elif match := _PLACEHOLDER_KEY_PATTERN.fullmatch(key):
                below = _build_schema_node((*pattern, f"<{match['name']}>"), spec, releases)
                ends = (int(match["low"]), int(match["high"])) if match["high"] else ()
                chosen = UserChosenWord(match["name"], below, *ends)
            elif word:
                words[word] = _build_schema_node((*pattern, word), spec, releases)
    complete = releases if stated_values.get("...") == ALL_WORDS_DOCUMENTED else frozenset()
    return WordsAfterPath(
        pattern,
        parse_release_span(stated_values.get("", ""))[0],
        words,
        chosen,
        is_open,
        _lacks_placeholders(pattern),
        complete,
        instead,
    )


def _build_schema_node(pattern: Path, spec: Any, releases: frozenset[Release]) -> SchemaNode:
    if isinstance(spec, Mapping):
        return _build_words(pattern, spec, releases)
    span, remainder = parse_release_span(spec) if isinstance(spec, str) else (UNLIMITED_SPAN, "")
    return (
        WordsAfterPath(pattern, span, {}, None, True, _lacks_placeholders(pattern))
        if remainder == "open"
        else parse_setting_leaf(pattern[-1], spec)
    )


def _lacks_placeholders(pattern: Path) -> bool:
    return not any(word.startswith("<") for word in pattern)


def suggest_path(statement_words: WordsAfterPath, path: Path, release: Release | None) -> str:
    """Return which path was meant by one whose last word `place_node` does not have."""
    *_, before, word = ("", *path)
    known_releases = statement_words.available_words(release)
    if replacement := statement_words.instead.get(word) or " ".join(_split_hyphenated_path(statement_words, word)):
        return f"there is `{replacement}`"
    if begun := [f"`{candidate}`" for candidate in known_releases if candidate.startswith(f"{word}-")]:
        return (
            f"did you mean {' or '.join(begun)}?"
            if len(begun) <= _MAX_SUGGESTIONS
            else known_word_hint(word, known_releases, _MIN_SIMILARITY_AT_SAME_PLACE)
        )
    if begins := [candidate for candidate in known_releases if word.startswith(f"{candidate}-")]:
        elsewhere = _find_path_elsewhere(word, statement_words.pattern) if word in _paths_by_last_word() else None
        return f"there is `{' '.join(elsewhere or (*statement_words.pattern, max(begins, key=len)))}`"
    if near := did_you_mean_hint(word, known_releases, _MIN_SIMILARITY_ELSEWHERE):
        return near
    if (
        statement_words.pattern
        and statement_words.pattern[-1].startswith("<")
        and (near := did_you_mean_hint(before, known_releases))
    ):
        return f"`{before}` is in the place of {statement_words.pattern[-1]}; {near}"
    if elsewhere := _find_path_elsewhere(word, statement_words.pattern):
        return f"there is `{' '.join(elsewhere)}`"
    return known_word_hint(word, known_releases, _MIN_SIMILARITY_AT_SAME_PLACE)


def _split_hyphenated_path(statement_words: WordsAfterPath, word: str) -> Path:
    """Return the path that is written as one word, such as `ntp-server`."""
    for dash in (at for at, letter in enumerate(word) if letter == "-"):
        below = statement_words.words.get(word[:dash])
        if isinstance(below, WordsAfterPath) and word[dash + 1 :] in below.words:
            return (*statement_words.pattern, word[:dash], word[dash + 1 :])
    return ()


def node_below(place_node: SchemaNode | None, word: str) -> SchemaNode | None:
    """Return the place that a word leads to; None where the schema does not go on."""
    if not isinstance(place_node, WordsAfterPath):
        return None
    return place_node.words.get(word) or (place_node.chosen.below if place_node.chosen else None)


def schema_has_path(path: Path) -> bool:
    """Whether NVUE has a path, as far as the schema goes; any path below an open place without words counts."""
    place: SchemaNode = schema_root()
    for word in path:
        if isinstance(place, SettingLeaf) or (place.open and not place.words and place.chosen is None):
            return True
        next_place = node_below(place, word)
        if next_place is None:
            return False
        place = next_place
    return True


def _is_plausible_path(path: Path, beside: Path) -> bool:
    """Whether the author of a path below `beside` may have meant another: a path of the same object, or of classes."""
    return not beside or path[0] in (beside[0], _QOS_KEY)


def _find_path_elsewhere(word: str, beside: Path) -> Path | None:
    """Return the path with this word that has most words in common with another; else one with a word much like it.

    None for a word that is in many places: none of them is more likely than the others.
    """
    index = _paths_by_last_word()
    paths = [
        path
        for path in index.get(word, ())
        if _is_plausible_path(path, beside) or path in paths_by_object_word().get(word, ())
    ] or [
        path
        for close in difflib.get_close_matches(word, index, n=1, cutoff=_MIN_SIMILARITY_ELSEWHERE)
        for path in index[close]
        if path[:1] == beside[:1]
    ]
    if len(paths) > _MAX_SUGGESTIONS:
        return None
    return min(paths, key=lambda path: (-_common_prefix_length(path, beside), len(path)), default=None)


def _common_prefix_length(path: Path, other_path: Path) -> int:
    return next(
        (at for at, pair in enumerate(zip(path, other_path, strict=False)) if pair[0] != pair[1]), len(other_path)
    )


@cache
def _paths_by_last_word() -> Mapping[str, list[Path]]:
    """Return the paths that end in each word."""
    index: dict[str, list[Path]] = {}
    for path in _schema_paths(schema_without_published_words()):
        index.setdefault(path[-1], []).append(path)
    return index


@cache
def paths_by_object_word() -> Mapping[str, tuple[Path, ...]]:
    """Return the paths of the words that name one thing wherever they stand, such as `bgp`."""
    paths_by_word: dict[str, list[Path]] = {}
    places = [schema_without_published_words()]
    while places:
        place = places.pop()
        below = [place.chosen.below] if place.chosen else []
        for node in (*place.words.values(), *below):
            if isinstance(node, WordsAfterPath):
                places.append(node)
                if node.pattern[-1] in _UNAMBIGUOUS_KEYS:
                    paths_by_word.setdefault(node.pattern[-1], []).append(node.pattern)
    return {word: tuple(paths) for word, paths in paths_by_word.items()}


def _schema_paths(place: WordsAfterPath) -> Iterator[Path]:
    for word, node in place.words.items():
        yield (*place.pattern, word)
        if isinstance(node, WordsAfterPath):
            yield from _schema_paths(node)
    if place.chosen and isinstance(place.chosen.below, WordsAfterPath):
        yield from _schema_paths(place.chosen.below)
