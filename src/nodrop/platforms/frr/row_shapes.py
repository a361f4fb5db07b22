"""Common shapes of the rows with FRR's commands for fields: a flag, a value, a number."""

from collections.abc import Callable

from nodrop.platforms.frr.commands import VALUE_PLACEHOLDERS, CommandBinding, CommandValues
from nodrop.platforms.frr.words import checked_number
from nodrop.platforms.kit.bindings import FieldBinding, NumberRangeCheck, RefusalCheck
from nodrop.syntax.lines import CommandNotUnderstood


def flag_row(
    field: str, *frr_context: str, means: bool = True, refuses: tuple[RefusalCheck, ...] = ()
) -> CommandBinding:
    """Return the row of a command without a value, which means `means`; with `no`, the opposite."""
    words = frr_context[0].removesuffix(" ...")
    return FieldBinding(
        field=field,
        where=frr_context,
        decode=lambda command: command.on is means,
        encode=lambda value, _: words if value is means else f"no {words}",
        refuses=refuses,
    )


def value_row(
    field: str, *frr_context: str, read: Callable[..., object] = str, refuses: tuple[RefusalCheck, ...] = ()
) -> CommandBinding:
    """Return the row of a command with one value, which `read` takes from its words."""

    def decode(command: CommandValues) -> object:
        if not command.on:
            raise CommandNotUnderstood
        return read(*command.values)

    words = " ".join("{}" if word in VALUE_PLACEHOLDERS else word for word in frr_context[0].split())
    return FieldBinding(
        field=field, where=frr_context, decode=decode, encode=lambda value, _: words.format(value), refuses=refuses
    )


def number_row(
    field: str, frr_context: str, bounds: NumberRangeCheck, *refusals: RefusalCheck, bare: int = 0
) -> CommandBinding:
    """Return the row of a command with a number; without one, it means `bare`."""

    def read_number(word: str | None = None) -> int:
        return bare if word is None else checked_number(word, bounds.low, bounds.high)

    return value_row(field, frr_context, read=read_number, refuses=(bounds, *refusals))
