"""How FRR states which next hop a session passes on: `next-hop-self`, and `force` for reflected routes too."""

from nodrop.model.routing import BgpNeighbor, Ipv6Unicast
from nodrop.platforms.frr.commands import CommandBinding, CommandValues
from nodrop.platforms.kit.bindings import FieldBinding
from nodrop.syntax.lines import CommandNotUnderstood


def _decode_next_hop_self(command: CommandValues) -> bool:
    if command.values not in ((), ("force",)):
        raise CommandNotUnderstood
    return command.on


def _forced_next_hop_self_fault(forced: bool, carried: BgpNeighbor | Ipv6Unicast) -> str | None:
    return "reflected routes keep their next hop where others do" if forced and not carried.next_hop_self else None


NEXT_HOP_BINDINGS: tuple[CommandBinding, ...] = (
    FieldBinding(
        field="next_hop_self",
        where=("next-hop-self [*]",),
        decode=_decode_next_hop_self,
        encode=lambda value, carried: (
            f"{'' if value else 'no '}next-hop-self{' force' if value and carried.next_hop_forced else ''}"
        ),
    ),
    FieldBinding(
        field="next_hop_forced",
        where=("next-hop-self [*]",),
        decode=lambda command: _decode_next_hop_self(command) and command.values == ("force",),
        encode=lambda value, _: f"next-hop-self{' force' if value else ''}",
        refuses=(_forced_next_hop_self_fault,),
    ),
)
