"""Types of YANG models, in the words of schema.yaml."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from yang_paths import Node, Unsaid, leaf_at, parsed, place_of

Words = Mapping[str, Mapping[str, str]]
"""The word for a type, by module and name."""

_LIMITS = {
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
}
_LONGEST = 1_000_000
"""What schema_types.py takes for the length of any text."""
_CHOICES = re.compile(r"[\w-]+(?:\|[\w-]+)*", re.ASCII)
_APOSTROPHE = r"\x27"
"""As the file has it, so that a text needs only one kind of quotes."""
_NAMED = {r"\p{N}": r"\d", r"\p{L}": "a-zA-Z", r"\p{Nd}": r"\d"}
"""Classes of XML Schema; the checks of nodrop match ASCII."""


class Types:
    """Writes types, and remembers what the words do not say."""

    def __init__(self, words: Words, report: Callable[[Node, str], None]) -> None:
        self._words = words
        self._report = report

    def said(self, leaf: Node) -> str:
        """Return the type of a leaf or leaf-list in words."""
        parts = self._parts(leaf, leaf.search_one("type"))
        return " or ".join(dict.fromkeys(_joined(parts)))

    def _parts(self, leaf: Node, stated: Node) -> Iterator[str]:
        """Yield the alternatives of a type: one, or those of a union."""
        chain = list(_chain(stated))
        for at, each in enumerate(chain):
            word = self._words.get(_module(each), {}).get(each.arg.rpartition(":")[2]) if each.i_typedef else None
            if word:
                if any(one.search_one(kind) for one in chain[: at + 1] for kind in ("pattern", "length", "range")):
                    self._report(leaf, f"a pattern, length or range beside {each.arg}")
                yield word
                return
        base = chain[-1]
        match base.arg:
            case "union":
                for each in base.search("type"):
                    yield from self._parts(leaf, each)
            case "leafref":
                yield self._reference(leaf, base)
            case "boolean":
                yield "enum true false"
            case "enumeration":
                yield self._enum(chain)
            case "string":
                yield self._text(chain)
            case "decimal64":
                yield _number(f"decimal{base.search_one('fraction-digits').arg}", chain, (None, None))
            case name if name in _LIMITS:
                yield _number(name, chain, _LIMITS[name])
            case name:
                self._report(leaf, f"type {name}")
                yield "text"

    def _reference(self, leaf: Node, stated: Node) -> str:
        path = stated.search_one("path").arg
        required = stated.search_one("require-instance")
        target = leaf_at(parsed(path), leaf)
        if required is not None and required.arg == "false":
            return self.said(target)
        table, row, field = place_of(target)
        keys = row.i_key if row.keyword == "list" else ()
        return f"ref {table}" if [key.arg for key in keys] == [field] else f"ref {table}.{field}"

    def _enum(self, chain: list[Node]) -> str:
        names = next([one.arg for one in each.search("enum")] for each in chain if each.search("enum"))
        if any(" " in name or not name for name in names):
            return f"text /{'|'.join(map(re.escape, names))}/"
        return f"enum {' '.join(names)}"

    def _text(self, chain: list[Node]) -> str:
        patterns = [python_pattern(one) for each in reversed(chain) for one in each.search("pattern")]
        lengths = [_spans(one.arg, (0, _LONGEST)) for each in chain if (one := each.search_one("length")) is not None]
        spans = lengths[0] if lengths else []
        if len(spans) > 1:
            patterns.insert(0, "|".join(f".{{{low},{high}}}" for low, high in spans))
            spans = []
        length = f" {spans[0][0]}..{spans[0][1]}" if spans else ""
        if len(patterns) == 1 and _CHOICES.fullmatch(patterns[0]):
            words = patterns[0].split("|")
            if not spans or all(int(spans[0][0]) <= len(word) <= int(spans[0][1]) for word in words):
                return f"enum {' '.join(words)}"
        if not patterns:
            return f"text{length}"
        *before, last = patterns
        whole = "".join(f"(?=(?:{one})\\Z)" for one in before) + (f"(?:{last})" if before else last)
        return f"text{length} /{whole}/"


def _joined(parts: Iterable[str]) -> list[str]:
    """Put neighbours together: words of enumerations, and addresses of both versions."""
    made: list[str] = []
    for part in parts:
        before = made[-1] if made else ""
        if part.startswith("enum ") and before.startswith("enum "):
            made[-1] = f"enum {' '.join(dict.fromkeys([*before.split()[1:], *part.split()[1:]]))}"
        elif (before, part) in (("ip4", "ip6"), ("prefix4", "prefix6")):
            made[-1] = part[:-1]
        else:
            made.append(part)
    return made


def default_of(leaf: Node) -> str | None:
    """Return the default of a leaf: its own, or that of its type."""
    stated = leaf.search_one("default")
    if stated is not None:
        return str(stated.arg)
    for each in _chain(leaf.search_one("type")):
        if each.i_typedef and (stated := each.i_typedef.search_one("default")) is not None:
            return str(stated.arg)
    return None


def python_pattern(stated: Node) -> str:
    """Return a pattern of XML Schema as Python has it, where `^` and `$` are characters and matches are whole."""
    text = stated.arg
    for name, same in _NAMED.items():
        text = text.replace(name, same if same != "a-zA-Z" or _in_class(text, name) else f"[{same}]")
    made, inside, at = "", False, 0
    while at < len(text):
        one = text[at]
        if one == "\\":
            made += text[at : at + 2] if text[at + 1] != "'" else _APOSTROPHE
            at += 2
            continue
        inside = one == "[" or (inside and one != "]")
        made += _APOSTROPHE if one == "'" else f"\\{one}" if one in "^$" and not inside else one
        at += 1
    modifier = stated.search_one("modifier")
    return f"(?!(?:{made})\\Z).*" if modifier is not None and modifier.arg == "invert-match" else made


def _in_class(text: str, name: str) -> bool:
    before = text[: text.index(name)] if name in text else ""
    return before.rfind("[") > before.rfind("]")


def _chain(stated: Node) -> Iterator[Node]:
    """Yield a type and those that it is made of, down to a type of YANG itself."""
    each = stated
    while True:
        yield each
        if each.i_typedef is None:
            return
        each = each.i_typedef.search_one("type")


def _module(stated: Node) -> str:
    return str(stated.i_typedef.i_module.arg)


def _number(base: str, chain: list[Node], limits: tuple[int | None, int | None]) -> str:
    found = [one.arg for each in reversed(chain) if (one := each.search_one("range")) is not None]
    spans: list[tuple[Any, Any]] = []
    for text in found:
        low, high = (spans[0][0], spans[-1][1]) if spans else limits
        spans = _spans(text, (low, high))
    return f"{base} {'|'.join(str(low) if low == high else f'{low}..{high}' for low, high in spans)}" if spans else base


def _spans(text: str, limits: tuple[Any, Any]) -> list[tuple[str, str]]:
    ends = dict(zip(("min", "max"), limits, strict=True))
    spans = []
    for part in text.split("|"):
        low, dots, high = (one.strip() for one in part.partition(".."))
        first, last = (str(ends.get(one, one)) for one in (low, high if dots else low))
        if "None" in (first, last):
            raise Unsaid(f"range {text}")
        spans.append((first, last))
    return spans
