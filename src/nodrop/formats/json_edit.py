"""Another value for a JSON text, written into the text that is there: whatever does not change keeps its every byte.

New entries look like their neighbors: the same indentation, line ends and spaces, whoever wrote the file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nodrop.formats.json import Member, members, skip_space
from nodrop.formats.places import BOM


@dataclass(frozen=True, slots=True)
class _Layout:
    """How an object is laid out: what stands before its first entry, between two, around a colon, and at its end."""

    first: str
    between: str
    colon: str
    tail: str

    def within(self, unit: str) -> "_Layout":
        """The layout of an object inside one that is laid out so."""
        if "\n" not in self.first and "\r" not in self.first:
            return self
        inner = self.first + unit
        return _Layout(inner, "," + inner, self.colon, self.first)


def rewrite(raw: bytes, value: Any) -> bytes:
    """The text of `raw`, which `parse` accepts, changed in no more than it takes to spell `value`.

    Entries keep their order; a new one stands after the one that it follows in `value`. Of equal keys in one object
    the last is changed, as it is the one that counts; a key that goes is taken out wherever it stands.
    """
    text = raw.decode()
    mark = BOM if text.startswith(BOM) else ""
    text = text.removeprefix(BOM)
    return (mark + _Rewriter(text).text_for(value)).encode()


class _Rewriter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = json.JSONDecoder(strict=False)
        self._start = skip_space(text, 0)
        self._unit = ""

    def text_for(self, value: Any) -> str:
        old, end = self._decoder.raw_decode(self._text, self._start)
        first = next(members(self._text, self._start, self._decoder), None)
        lead = self._text[self._start + 1 : first.key_start] if first else ""
        self._unit = lead.rpartition("\n")[2] if "\n" in lead else lead.rpartition("\r")[2]
        outermost = _Layout("", ", " if '", "' in self._text[:4096] else ",", ": ", "")
        body = self._value(self._start, end, old, value, outermost)
        return self._text[: self._start] + body + self._text[end:]

    def _value(self, start: int, end: int, old: Any, new: Any, inside: _Layout) -> str:
        """What stands for `new` where `old` stood from `start` to `end`; `inside` is how it would be laid out."""
        if old == new:
            return self._text[start:end]
        if isinstance(old, dict) and isinstance(new, Mapping):
            return self._object(start, end, old, new, inside)
        return self._spelt(new, inside)

    def _object(self, start: int, end: int, old: Mapping[str, Any], new: Mapping[str, Any], inside: _Layout) -> str:
        found = list(members(self._text, start, self._decoder))
        if not new:
            return "{}"
        if not found:
            return self._spelt(new, inside)
        layout = self._layout(found, start, end)
        within = self._layout_within(found, old) or layout.within(self._unit)
        last = {member.key: number for number, member in enumerate(found)}
        entries: list[tuple[str, str | None, str]] = []
        """Key, what stands before the entry where that is known, and the entry."""
        for number, member in enumerate(found):
            key = str(member.key)
            if key not in new:
                continue
            lead = self._text[found[number - 1].end : member.key_start] if number else None
            body = self._text[member.start : member.end]
            if last[member.key] == number:
                body = self._value(member.start, member.end, old[key], new[key], within)
            entries.append((key, lead, self._text[member.key_start : member.start] + body))
        self._add(entries, new, layout, within)
        leads = [layout.first, *(lead or layout.between for _, lead, _ in entries[1:])]
        inner = "".join(lead + body for lead, (_, _, body) in zip(leads, entries, strict=True))
        return "{" + inner + layout.tail + "}"

    def _add(
        self, entries: list[tuple[str, str | None, str]], new: Mapping[str, Any], layout: _Layout, within: _Layout
    ) -> None:
        """Put the entries that are new where they belong."""
        present, place = {key for key, _, _ in entries}, 0
        if present >= new.keys():
            return
        places = {key: number for number, (key, _, _) in enumerate(entries, 1)}
        added: dict[int, list[tuple[str, str | None, str]]] = {}
        for key, value in new.items():
            if key in places:
                place = places[key]
                continue
            body = json.dumps(key) + layout.colon + self._spelt(value, within)
            added.setdefault(place, []).append((key, None, body))
        for number in sorted(added, reverse=True):
            entries[number:number] = added[number]

    def _layout(self, found: list[Member], start: int, end: int) -> _Layout:
        text, one = self._text, found[0]
        first = text[start + 1 : one.key_start]
        between = text[one.end : found[1].key_start] if len(found) > 1 else ""
        if not between:
            spaced = not first.strip(" ") and text[one.key_end : one.start].endswith(" ")
            between = "," + (first or (" " if spaced else ""))
        return _Layout(first, between, text[one.key_end : one.start], text[found[-1].end : end - 1])

    def _layout_within(self, found: list[Member], old: Mapping[str, Any]) -> _Layout | None:
        """The layout of an object that is an entry here already; the last one that has any entries."""
        for member in reversed(found):
            value = old[str(member.key)]
            if isinstance(value, dict) and value and self._text[member.start] == "{":
                inner = list(members(self._text, member.start, self._decoder))
                return self._layout(inner, member.start, member.end)
        return None

    def _spelt(self, value: Any, layout: _Layout) -> str:
        """A value in new text; an object is laid out as `layout` says."""
        if not isinstance(value, Mapping):
            return json.dumps(value)
        if not value:
            return "{}"
        within = layout.within(self._unit)
        bodies = [json.dumps(key) + layout.colon + self._spelt(item, within) for key, item in value.items()]
        return "{" + layout.first + layout.between.join(bodies) + layout.tail + "}"
