"""Commands of FRR as places of fields: how the command of a row is matched, read and written.

A place is the words of a command, without `no` and without the session that it is about. `*` is a word that states a
value, `#` one that is a number, `[*]` one that may be missing, `**` all words to the end. `...` are words that state
no field.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from typing import Any, NamedTuple

from nodrop.platforms.kit.bindings import FieldBinding

VALUE_PLACEHOLDERS = ("*", "#", "[*]", "**")
_OPTIONAL_PLACEHOLDERS = ("[*]", "...")
_UNLIMITED_WORD_COUNT = 1 << 30


class CommandValues(NamedTuple):
    """The words of a command that state values, and whether it begins without `no`."""

    values: tuple[str, ...]
    on: bool


CommandBinding = FieldBinding[str, CommandValues, Any, str]
"""`encode` is given the value and its part of the model; it returns the whole command, with `no` where it needs it.

`decode` raises CommandNotUnderstood where FRR does not take the command; None means that the field is
not stated any more.
"""


class CommandForm(NamedTuple):
    """The words of a command by position, where its values are, and how many words it has, also behind `no`."""

    literals: tuple[tuple[int, str], ...]
    numbers: tuple[int, ...]
    values: slice
    least: int
    least_off: int
    most: int

    def values_of_command(self, line_words: Sequence[str], *, is_enabled: bool = True) -> tuple[str, ...] | None:
        """Return the words that state values; None where it is another command."""
        count = len(line_words)
        if count > self.most or count < (self.least if is_enabled else self.least_off):
            return None
        for position, word in self.literals:
            if position < count and line_words[position] != word:
                return None
        if any(position < count and not line_words[position].isdecimal() for position in self.numbers):
            return None
        return tuple(line_words[self.values])


@cache
def command_form_of_context(frr_context: str) -> CommandForm:
    """Return the form of a place."""
    words = frr_context.split()
    literals = tuple(
        (position, word) for position, word in enumerate(words) if word not in (*VALUE_PLACEHOLDERS, "...")
    )
    values = [position for position, word in enumerate(words) if word in VALUE_PLACEHOLDERS]
    value_start, last = (values[0], values[-1] + 1) if values else (0, 0)
    return CommandForm(
        literals=literals,
        numbers=tuple(position for position, word in enumerate(words) if word == "#"),
        values=slice(value_start, None if words[-1] == "**" else last),
        least=sum(word not in _OPTIONAL_PLACEHOLDERS for word in words),
        least_off=value_start if values else len(literals),
        most=_UNLIMITED_WORD_COUNT if words[-1] in ("**", "...") else len(words),
    )


class FieldCommandTable:
    """The commands of the rows of a class."""

    def __init__(self, owner: type[Any], rows: Iterable[CommandBinding]) -> None:
        """Index the commands by their first word; those with more fixed words are tried first."""
        self.rows = tuple(rows)
        self.limited = tuple(row for row in self.rows if row.refuses)
        self._rows = {row.field: row for row in self.rows}
        default = {field.name: field.default for field in fields(owner)}
        self._written = [(row.field, row.encode, default[row.field]) for row in self.rows if row.encode is not None]
        bindings: dict[str, list[CommandBinding]] = {}
        for row in self.rows:
            for where in row.where:
                bindings.setdefault(where, []).append(row)
        self._read: dict[str, list[tuple[CommandForm, list[CommandBinding]]]] = {}
        for where in sorted(bindings, key=lambda pattern: -len(command_form_of_context(pattern).literals)):
            self._read.setdefault(where.split()[0], []).append((command_form_of_context(where), bindings[where]))
        self.first_words = frozenset(self._read)
        self._recall_command = lru_cache(maxsize=4096)(self._decode_command)
        """`_decode_command`, remembered: most sessions of a fabric are configured by the same words."""

    def read_fields(self, line_words: tuple[str, ...], is_enabled: bool) -> Mapping[str, object] | None:
        """Return the fields of a command, None for a field that it takes back; None where no row reads the command.

        Raise CommandNotUnderstood where FRR does not take its values.
        """
        if not line_words or line_words[0] not in self.first_words:
            return None
        return self._recall_command(line_words, is_enabled)

    def _decode_command(self, line_words: tuple[str, ...], is_enabled: bool) -> Mapping[str, object] | None:
        match = self._find_matching_rows(line_words, is_enabled)
        if match is None:
            return None
        rows, values = match
        command = CommandValues(values, is_enabled)
        stated = {row.field: row.decode(command) for row in rows if row.decode is not None}
        return stated or None

    def _find_matching_rows(
        self, words: Sequence[str], on: bool
    ) -> tuple[Sequence[CommandBinding], tuple[str, ...]] | None:
        for place, rows in self._read.get(words[0], ()) if words else ():
            values = place.values_of_command(words, is_enabled=on)
            if values is not None:
                return rows, values
        return None

    def states_field(self, field: str, words: Sequence[str]) -> bool:
        """Whether a command, with or without `no`, states a field, even with a value that FRR does not take."""
        on = "no" not in words[:1]
        match = self._find_matching_rows(words if on else words[1:], on)
        return match is not None and any(row.field == field for row in match[0])

    def commands_of_non_default_fields(self, model: object, **unless: object) -> Iterator[str]:
        """Yield the commands of a part of the model whose fields are not at their defaults, each command once.

        `unless` has the default values of fields for which those of the class do not apply here.
        """
        last = None
        for field, encode, default in self._written:
            value = getattr(model, field)
            if unless and field in unless:
                default = unless[field]
            if value is not default and value != default and (line := encode(value, model)) != last:
                yield line
                last = line

    def first_field_of_each_command(self, moved: Container[str]) -> list[str]:
        """Return one of the fields that each command states, for commands with a field among `moved`."""
        return list({row.where[0]: row.field for row in self.rows if row.where and row.field in moved}.values())

    def line(self, field: str, model: object, **unless: object) -> str | None:
        """Return the command that states a field and what goes with it; None where all of that is at its default."""
        where = self._rows[field].where[:1]
        together = FieldCommandTable(type(model), (row for row in self.rows if row.where[:1] == where))
        return next(together.commands_of_non_default_fields(model, **unless), None)
