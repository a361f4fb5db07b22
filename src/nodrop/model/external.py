"""Neighbors outside the fabric, as its owner states them: no file of theirs is read."""

from collections.abc import Iterable, Sequence

from nodrop.model.addresses import network_of
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.values import model_dataclass


@model_dataclass
class ExternalPort:
    """A port of a neighbor outside: how `links` name it, and the addresses that the neighbor has there."""

    name: str
    addresses: tuple[str, ...] = ()
    """With their prefix lengths, each in a network of two, IPv4 first."""


@model_dataclass
class ExternalNeighbor:
    """A router, gateway or firewall outside the fabric to which switches speak BGP."""

    name: str
    asn: int | Unknown = UNKNOWN
    ports: tuple[ExternalPort, ...] = ()
    """The ports whose addresses are stated, sorted by name."""
    announces: tuple[str, ...] | Unknown = UNKNOWN
    """The prefixes that it announces to every switch, IPv4 first; `10.64.0.0/16 le 24` may have longer ones inside."""
    receives: tuple[str, ...] | Unknown = UNKNOWN
    """What is announced to it: prefixes, as `10.2.0.0/16 le 24` also those inside up to a length; nothing else."""


def sort_addresses(texts: Iterable[str]) -> tuple[str, ...]:
    """Return addresses or prefixes, those of IPv4 first, each once; words may follow a prefix."""
    return tuple(sorted(set(texts), key=_order_of_address))


def _order_of_address(text: str) -> tuple[bool, int, int, str]:
    network = network_of(text.partition(" ")[0])
    return (
        (":" in text, int(network.network_address), network.prefixlen, text) if network else (":" in text, 0, 0, text)
    )


def common_statements(old: Sequence[ExternalNeighbor], new: Sequence[ExternalNeighbor]) -> tuple[ExternalNeighbor, ...]:
    """Return the statements about neighbors outside that hold while one list becomes the other: those that both have.

    Of a neighbor that one of them lacks, nothing but its name is left.
    """
    before, after = ({neighbor.name: neighbor for neighbor in side} for side in (old, new))
    return tuple(_common_statement(name, before.get(name), after.get(name)) for name in sorted({*before, *after}))


def _common_statement(name: str, old: ExternalNeighbor | None, new: ExternalNeighbor | None) -> ExternalNeighbor:
    asns = [UNKNOWN if side is None else side.asn for side in (old, new)]
    if old is None or new is None or any(isinstance(asn, Unknown) for asn in asns) or old.asn != new.asn:
        return ExternalNeighbor(name=name)
    return ExternalNeighbor(
        name=name,
        asn=new.asn,
        ports=tuple(port for port in new.ports if port in old.ports),
        announces=_common_prefixes(old.announces, new.announces),
        receives=_common_prefixes(old.receives, new.receives),
    )


def _common_prefixes(old: tuple[str, ...] | Unknown, new: tuple[str, ...] | Unknown) -> tuple[str, ...] | Unknown:
    if isinstance(old, Unknown) or isinstance(new, Unknown):
        return UNKNOWN
    return tuple(prefix for prefix in new if prefix in old)
