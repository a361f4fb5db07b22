"""How fields of the model are bound to a platform's configuration: one row per field, in one table per class.

A platform has a module of such tables for each group of its settings, such as those of BGP. Its reader, its writer, its
places, its limits and its edits are loops over the rows and name no field. To bind a field, add a row. Where the loop
does not fit, a named function next to the row does the work: a `decode`, an `encode` or a `refuses`.

The platform defines the types of place, source, context and text:

- NVUE: a place is a path below the session; the source is a node of the tree and that of its group.
- FRR: a place is the words of a command; the source is the words that follow.
- config_db: a place is a column; the source is a row of a table.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from nodrop.platforms.kit.expressible import unsupported_error

Place = TypeVar("Place")
Source = TypeVar("Source")
Context = TypeVar("Context")
Text = TypeVar("Text")

RefusalCheck = Callable[[Any, Any], str | None]
"""Returns why a value (its first argument) of a part of the model (its second) cannot be written; None if it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldBinding(Generic[Place, Source, Context, Text]):
    """A field of a class of the model, and all that a platform knows about it.

    A field that the platform has no setting for has a row with `refuses` only.
    """

    field: str
    where: tuple[Place, ...] = ()
    """All places that can state the field, the most exact first; the first is the one that is written."""
    decode: Callable[[Source], Any] | None = None
    """Returns the value that a source states, None where it states none; without it, the field is not read."""
    encode: Callable[[Any, Context], Text] | None = None
    """Returns the text of a value other than None; without it, the field is not written."""
    since: str | None = None
    """What a release needs to have, a key of `SINCE` in the platform's `releases.py`; None if all releases have it."""
    refuses: tuple[RefusalCheck, ...] = ()
    """Are asked for each value, None included; the first reason counts."""


AnyFieldBinding = FieldBinding[Any, Any, Any, Any]


def decode_fields(bindings: Iterable[FieldBinding[Any, Source, Any, Any]], source: Source) -> dict[str, Any]:
    """Return the fields that a source states, and no others: the class has their defaults."""
    stated = ((row.field, row.decode(source)) for row in bindings if row.decode is not None)
    return {field: value for field, value in stated if value is not None}


def encode_fields(
    bindings: Iterable[FieldBinding[Any, Any, Context, Text]], model: object, context: Context
) -> Iterator[Text]:
    """Yield the text of each field of a part of the model that is not None, in the order of the rows."""
    for row in bindings:
        if row.encode is not None and (value := getattr(model, row.field)) is not None:
            yield row.encode(value, context)


def places_of_field(bindings: Iterable[FieldBinding[Place, Any, Any, Any]], field: str) -> tuple[Place, ...]:
    """Return the places of a field, the most exact first; none of a field without a row."""
    return next((row.where for row in bindings if row.field == field), ())


def bound_fields(bindings: Iterable[AnyFieldBinding]) -> frozenset[str]:
    """Return the fields that have a row."""
    return frozenset(row.field for row in bindings)


def find_refused_fields(bindings: Iterable[AnyFieldBinding], model: object) -> Iterator[tuple[str, str]]:
    """Yield each field of a part of the model that its row refuses, and the reason."""
    for row in bindings:
        for refuses in row.refuses:
            if reason := refuses(getattr(model, row.field), model):
                yield row.field, reason
                break


def check_fields(bindings: Iterable[AnyFieldBinding], model: object, *path: object) -> None:
    """Raise UnsupportedByPlatform for the first field of a part of the model, at `path`, that its row refuses."""
    for field, reason in find_refused_fields(bindings, model):
        raise unsupported_error((*path, field), reason)


def check_release_has_fields(
    bindings: Iterable[AnyFieldBinding], model: Any, lacks: Callable[[str], str | None], *path: object
) -> None:
    """Raise UnsupportedByPlatform for the first field that is not at its default and that a release does not have.

    `lacks` returns why a release does not have a row's requirement; None if it has it.
    """
    for row in bindings:
        if row.since is not None and (reason := lacks(row.since)):
            default = next(field.default for field in dataclasses.fields(model) if field.name == row.field)
            if (value := getattr(model, row.field)) is not default and value != default:
                raise unsupported_error((*path, row.field), reason)


@dataclass(frozen=True, slots=True)
class NumberRangeCheck:
    """A check that a number is from `low` to `high`, or one of the others; texts and None pass."""

    low: int
    high: int
    others: frozenset[int] = frozenset()

    def __call__(self, value: Any, _: object) -> str | None:
        """Return the reason why a value is refused, None if it passes."""
        passes = not isinstance(value, int) or value in self.others or self.low <= value <= self.high
        return None if passes else f"is not from {self.low} to {self.high}"


def refuse_unless_default(reason: str, default: Any = None) -> RefusalCheck:
    """Return a check that refuses every value but the default; use it where the platform has no setting for a field."""
    return lambda value, _: None if value is default else reason
