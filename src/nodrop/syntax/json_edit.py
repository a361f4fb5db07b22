"""Another value for a JSON text, written into the existing text: unchanged parts keep every byte.

New entries look like their neighbors: the same indentation, line ends and spaces, regardless of the file's author.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from nodrop.syntax.json import JsonMember, iterate_json_members, skip_space
from nodrop.syntax.places import BYTE_ORDER_MARK


@dataclass(frozen=True, slots=True)
class _ObjectLayout:
    """How an object is laid out: what stands before its first entry, between two, around a colon, and at its end."""

    first: str
    between: str
    colon: str
    tail: str

    def inner_layout(self, unit: str) -> "_ObjectLayout":
        """Return the layout of an object inside one that is laid out so."""
        if "\n" not in self.first and "\r" not in self.first:
            return self
        inner = self.first + unit
        return _ObjectLayout(inner, "," + inner, self.colon, self.first)


def rewrite_json(file_content: bytes, value: object) -> bytes:
    """Return the text of `raw`, which `parse` accepts, with only the changes that give `value`.

    Entries keep their order; a new one stands after the one that it follows in `value`. Of equal keys in one object
    the last is changed, as it is the one that counts; a key that goes is taken out wherever it stands.
    """
    text = file_content.decode()
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    text = text.removeprefix(BYTE_ORDER_MARK)
    return (mark + _JsonRewriter(text).text_with_value(value)).encode()


class _JsonRewriter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._decoder = json.JSONDecoder(strict=False)
        self._start = skip_space(text, 0)
        self._unit = ""

    def text_with_value(self, value: object) -> str:
        old, end = self._decoder.raw_decode(self._text, self._start)
        first_member = next(iterate_json_members(self._text, self._start, self._decoder), None)
        lead = self._text[self._start + 1 : first_member.key_start] if first_member else ""
        self._unit = lead.rpartition("\n")[2] if "\n" in lead else lead.rpartition("\r")[2]
        outermost = _ObjectLayout("", ", " if '", "' in self._text[:4096] else ",", ": ", "")
        body = self._render_value_change(self._start, end, old, value, outermost)
        return self._text[: self._start] + body + self._text[end:]

    def _render_value_change(self, start: int, end: int, old: object, new: object, inside: _ObjectLayout) -> str:
        """Return the text of `new` in place of `old` from `start` to `end`; `inside` is the layout to use."""
        if old == new:
            return self._text[start:end]
        if isinstance(old, dict) and isinstance(new, Mapping):
            return self._render_object_changes(start, end, old, new, inside)
        return self._render_value(new, inside)

    def _render_object_changes(
        self, start: int, end: int, old: Mapping[str, object], new: Mapping[str, object], inside: _ObjectLayout
    ) -> str:
        found_members = list(iterate_json_members(self._text, start, self._decoder))
        if not new:
            return "{}"
        if not found_members:
            return self._render_value(new, inside)
        layout = self._layout_of_object(found_members, start, end)
        within = self._layout_of_inner_object(found_members, old) or layout.inner_layout(self._unit)
        last = {member.key: number for number, member in enumerate(found_members)}
        entries: list[tuple[str, str | None, str]] = []
        """Key, what stands before the entry where that is known, and the entry."""
        for number, member in enumerate(found_members):
            key = str(member.key)
            if key not in new:
                continue
            lead = self._text[found_members[number - 1].end : member.key_start] if number else None
            body = self._text[member.start : member.end]
            if last[member.key] == number:
                body = self._render_value_change(member.start, member.end, old[key], new[key], within)
            entries.append((key, lead, self._text[member.key_start : member.start] + body))
        self._add_entries(entries, new, layout, within)
        leads = [layout.first, *(lead or layout.between for _, lead, _ in entries[1:])]
        inner = "".join(lead + body for lead, (_, _, body) in zip(leads, entries, strict=True))
        return "{" + inner + layout.tail + "}"

    def _add_entries(
        self,
        entries: list[tuple[str, str | None, str]],
        new: Mapping[str, object],
        layout: _ObjectLayout,
        within: _ObjectLayout,
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
            body = json.dumps(key) + layout.colon + self._render_value(value, within)
            added.setdefault(place, []).append((key, None, body))
        for number in sorted(added, reverse=True):
            entries[number:number] = added[number]

    def _layout_of_object(self, found_members: list[JsonMember], start: int, end: int) -> _ObjectLayout:
        text, member = self._text, found_members[0]
        first_text = text[start + 1 : member.key_start]
        between = text[member.end : found_members[1].key_start] if len(found_members) > 1 else ""
        if not between:
            spaced = not first_text.strip(" ") and text[member.key_end : member.start].endswith(" ")
            between = "," + (first_text or (" " if spaced else ""))
        return _ObjectLayout(
            first_text, between, text[member.key_end : member.start], text[found_members[-1].end : end - 1]
        )

    def _layout_of_inner_object(
        self, found_members: list[JsonMember], old_mapping: Mapping[str, object]
    ) -> _ObjectLayout | None:
        """Return the layout of an object that is an entry here already; the last one that has any entries."""
        for member in reversed(found_members):
            value = old_mapping[str(member.key)]
            if isinstance(value, dict) and value and self._text[member.start] == "{":
                inner = list(iterate_json_members(self._text, member.start, self._decoder))
                return self._layout_of_object(inner, member.start, member.end)
        return None

    def _render_value(self, value: object, layout: _ObjectLayout) -> str:
        """Render a value as new text; an object in the given layout."""
        if not isinstance(value, Mapping):
            return json.dumps(value)
        if not value:
            return "{}"
        within = layout.inner_layout(self._unit)
        bodies = [json.dumps(key) + layout.colon + self._render_value(item, within) for key, item in value.items()]
        return "{" + layout.first + layout.between.join(bodies) + layout.tail + "}"
