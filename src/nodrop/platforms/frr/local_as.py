"""How FRR states the AS number that a session shows instead of that of its process: `neighbor X local-as N`."""

from collections.abc import Mapping

from nodrop.limits import MAX_UINT32
from nodrop.model.routing import BgpNeighbor, LocalAsnMode
from nodrop.platforms.frr.commands import CommandBinding, CommandValues
from nodrop.platforms.frr.words import checked_number
from nodrop.platforms.kit.bindings import FieldBinding, NumberRangeCheck, refuse_unless_default
from nodrop.syntax.lines import CommandNotUnderstood

_LOCAL_AS_COMMAND = "local-as * [*] [*]"
_LOCAL_AS_MODE_BY_WORDS: Mapping[str, LocalAsnMode] = {
    "": "prepend",
    "no-prepend": "no-prepend",
    "no-prepend replace-as": "replace-as",
}
"""The words behind the local AS number, and what is done with it."""


def _encode_local_as(asn: int | None, neighbor: BgpNeighbor) -> str:
    words = next(words for words, mode in _LOCAL_AS_MODE_BY_WORDS.items() if mode == neighbor.local_asn_mode)
    return f"local-as {asn} {words}".rstrip()


def _decode_local_as_mode(command: CommandValues) -> LocalAsnMode | None:
    mode = _LOCAL_AS_MODE_BY_WORDS.get(" ".join(command.values[1:]))
    if mode is None:
        raise CommandNotUnderstood
    return mode if command.on else None


def _local_as_mode_fault(mode: str, neighbor: BgpNeighbor) -> str | None:
    alone = mode != "prepend" and neighbor.local_asn is None
    return "there is no local AS number for it to be about" if alone else None


LOCAL_AS_BINDINGS: tuple[CommandBinding, ...] = (
    FieldBinding(
        field="local_asn",
        where=(_LOCAL_AS_COMMAND,),
        decode=lambda command: checked_number(command.values[0], 1) if command.on else None,
        encode=_encode_local_as,
        refuses=(NumberRangeCheck(1, MAX_UINT32),),
    ),
    FieldBinding(
        field="local_asn_mode",
        where=(_LOCAL_AS_COMMAND,),
        decode=_decode_local_as_mode,
        encode=lambda _, neighbor: _encode_local_as(neighbor.local_asn, neighbor),
        refuses=(_local_as_mode_fault,),
    ),
    FieldBinding(
        field="local_asn_of_group",
        refuses=(
            refuse_unless_default(
                "the local AS number of a peer group that a session may not have is not written", default=False
            ),
        ),
    ),
)
"""Rows of a session."""
