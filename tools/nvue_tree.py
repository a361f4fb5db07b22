"""NVUE's configuration tree of one release, as a published source states it: places, chosen words and values."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

NO_LIMIT = 2**64 - 1
"""The end of a range that the source leaves open."""

Path = tuple[str, ...]
"""Words from the root; a word that the owner chooses is `<name>`."""


class Unusable(Exception):
    """The input is not what the tool expects; the text says what is wrong."""


@dataclass(frozen=True)
class Value:
    """What a setting may be: any of these."""

    words: frozenset[str] = frozenset()
    ranges: frozenset[tuple[int, int]] = frozenset()
    """Whole numbers, both ends included."""
    ip4: bool = False
    text: bool = False
    """Any text: a pattern or a type that the notation of schema.yaml does not have."""

    def __or__(self, other: "Value") -> "Value":
        ranges = widest(self.ranges | other.ranges)
        return Value(self.words | other.words, ranges, self.ip4 or other.ip4, self.text or other.text)


def widest(ranges: Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """Return the ranges that no other one contains."""
    found = set(ranges)
    return frozenset(
        (low, high)
        for low, high in found
        if not any(start <= low and high <= end for start, end in found - {(low, high)})
    )


ANY = Value(text=True)


@dataclass
class Place:
    """A place in the tree: the words that may follow, and a word that the owner chooses."""

    words: dict[str, "Place | Value"] = field(default_factory=dict)
    name: str = ""
    """What the chosen word is; empty if there is none."""
    below: "Place | Value | None" = None
    """What follows the chosen word."""
    open: bool = False
    """Whether the source does not say what follows."""


Tree = Place | Value


@dataclass(frozen=True)
class Source:
    """The tree of one release, and where it is from."""

    release: tuple[int, int]
    version: str
    """The version of NVIDIA's specification."""
    digest: str
    """SHA-256 of NVIDIA's specification."""
    root: Place


def paths(place: Place, before: Path = ()) -> Iterator[tuple[Path, Tree]]:
    """Yield all paths, each before those below it."""
    below = {f"<{place.name}>": place.below} if place.below is not None else {}
    for word, tree in sorted((place.words | below).items()):
        yield (*before, word), tree
        if isinstance(tree, Place):
            yield from paths(tree, (*before, word))


def chosen_name(api_path: str) -> str:
    """Return the name of the chosen word that ends a path of the API, such as `vlan` of `/bridge/vlan/{vlan-id}`."""
    last = api_path.rstrip("/").rpartition("/")[2]
    return last[1:-1].removesuffix("-id") if last.startswith("{") and last.endswith("}") else ""
