"""The trees of several releases as one, in the notation of platforms/nvue/schema.yaml."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from nvue_tree import Path, Place, Source, Value
from release_spans import span as span_of

Release = tuple[int, int]

_OLD, _NEW = (5, 14), (5, 15)
_ON_OFF, _ENABLED = frozenset({"on", "off"}), frozenset({"enabled", "disabled"})
_PLAIN = re.compile(r"(?!(?:on|off|yes|no|true|false|null|y|n)$)[A-Za-z<][\w<>. -]*")
_WORD = re.compile(r"[^\s,']+")


@dataclass
class Merged:
    """A path in the releases that have it, with the oldest first."""

    values: dict[Release, Value] = field(default_factory=dict)
    places: dict[Release, Place] = field(default_factory=dict)
    words: dict[str, "Merged"] = field(default_factory=dict)
    """What may follow; the word that the owner chooses is `<name>`."""

    @property
    def releases(self) -> list[Release]:
        """Return the releases that have the path, oldest first."""
        return sorted(self.values.keys() | self.places.keys())

    @property
    def open(self) -> bool:
        """Whether nothing is known of what follows."""
        return not self.words and (any(place.open for place in self.places.values()) or bool(self.values))


def merged(sources: Sequence[Source]) -> Merged:
    """Return the tree of all releases."""
    return _merged({source.release: source.root for source in sources})


def _merged(trees: Mapping[Release, Place | Value]) -> Merged:
    found = Merged(
        values={release: tree for release, tree in trees.items() if isinstance(tree, Value)},
        places={release: tree for release, tree in trees.items() if isinstance(tree, Place)},
    )
    below: dict[str, dict[Release, Place | Value]] = {}
    names = [place.name for place in found.places.values() if place.name]
    for release, place in found.places.items():
        for word, tree in place.words.items():
            below.setdefault(word, {})[release] = tree
        if place.below is not None:
            below.setdefault(f"<{names[-1]}>", {})[release] = place.below
    found.words = {word: _merged(trees) for word, trees in sorted(below.items())}
    return found


def unsaid(tree: Merged, path: Path = ()) -> Iterator[str]:
    """Yield what the notation cannot say of a tree, a line for each path."""
    for word, one in tree.words.items():
        here = (*path, word)
        if one.values and one.places:
            yield f"{' '.join(here)}: a value in {_names(one.values)}, and words in {_names(one.places)}"
        between = [each for each in tree.places if one.releases[0] < each < one.releases[-1]]
        if missing := [each for each in between if each not in one.releases]:
            yield f"{' '.join(here)}: missing from {_names(missing)} only"
        yield from unsaid(one, here)


def _names(releases: Mapping[Release, object] | Sequence[Release]) -> str:
    return " ".join(map(_spelled, sorted(releases)))


def lines(tree: Merged, depth: int = 0) -> Iterator[str]:
    """Yield the lines of what follows a path."""
    pad = "  " * depth
    for word, one in tree.words.items():
        key = word if _PLAIN.fullmatch(word) else json.dumps(word)
        span = span_of(one.releases, tree.releases, _spelled)
        if one.values and not one.places:
            said = list(_said(word, one, tree, span))
            if len(said) == 1:
                yield f"{pad}{key}: {said[0]}"
            else:
                yield f"{pad}{key}:"
                yield from (f"{pad}  - {each}" for each in said)
        elif one.open or one.values:
            yield f"{pad}{key}: {' '.join(filter(None, (span, 'open')))}"
        elif not one.words and not span:
            yield f"{pad}{key}: {{}}"
        else:
            yield f"{pad}{key}:"
            if span:
                yield f'{pad}  "": {span}'
            yield from lines(one, depth + 1)


def _spelled(release: Release) -> str:
    return ".".join(map(str, release))


def _said(word: str, one: Merged, around: Merged, span: str) -> Iterator[str]:
    """Yield the texts that say what a value is, one for each span of releases that say the same."""
    found = one.values
    if _is_switch(word, one, around):
        yield "switch"
        return
    plain = {release: _dialect_free(release, value) for release, value in found.items()}
    if len(set(plain.values())) == 1 and min(found) <= _OLD < max(found) and plain != found:
        yield from (f"{span} {text}".strip() for text in _texts(next(iter(plain.values())), flag=True))
        return
    groups = [list(group) for _, group in groupby(one.releases, key=lambda release: list(_texts(found[release])))]
    for group in groups:
        limits = span if len(groups) == 1 else span_of(group, around.releases, _spelled)
        yield from (f"{limits} {text}".strip() for text in _texts(found[group[0]]))


def _is_switch(word: str, one: Merged, around: Merged) -> bool:
    """Whether a word is `enable` of the old dialect or `state` of the new one, where the place has both."""
    ends, words = {"enable": (_OLD, _ON_OFF), "state": (_NEW, _ENABLED)}.get(word, (None, frozenset()))
    other = around.words.get("state" if word == "enable" else "enable")
    if ends is None or other is None or set(one.values.values()) != {Value(words=words)}:
        return False
    return one.releases[-1 if word == "enable" else 0] == ends


def _dialect_free(release: Release, value: Value) -> Value:
    """Return a value without the words of its dialect for on and off, if it has both."""
    both = _ON_OFF if release <= _OLD else _ENABLED
    return Value(value.words - both, value.ranges, value.ip4, value.text) if both <= value.words else value


def _texts(value: Value, *, flag: bool = False) -> Iterator[str]:
    """Yield the texts for a value, all of which apply."""
    if value.text or not all(map(_WORD.fullmatch, value.words)):
        yield "text"
        return
    kinds = ["flag"] if flag else []
    kinds += [f"number {low}..{high}" for low, high in sorted(value.ranges)] + (["ip4"] if value.ip4 else [])
    words = " ".join(sorted(value.words))
    if value.words == {"enable", "disable"} and not kinds:
        yield "able"
    elif not kinds:
        yield f"one of {words}"
    else:
        yield from kinds[:-1]
        yield f"{kinds[-1]} or {words}" if words else kinds[-1]
