"""Access lists of Onyx: `ipv4 access-list`, its entries, and the ports that name it.

Entries are ordered by their sequence numbers (Onyx user manual, Access Control List). The manual does not state what
happens to packets that no entry matches, so it is not known here. Of conditions, those of protocol, addresses and
single ports are read.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nodrop.model.access import AccessEntry, AccessList, Binding, PortRange
from nodrop.model.addresses import address_of, network_of
from nodrop.model.states import UNKNOWN
from nodrop.platforms.kit.entry_order import sort_lists_and_entries
from nodrop.platforms.kit.packet_words import IP_PROTOCOL_NUMBER_BY_WORD
from nodrop.platforms.onyx.commands import OnyxCommand
from nodrop.units import parse_whole_number

_ACL_FAMILIES = ("ipv4", "ipv6", "mac")
_ACL_ACTIONS = ("permit", "deny")
_SEQUENCE_STEP = 10
"""By how much the numbers of entries grow that are given none."""


@dataclass(slots=True)
class _GatheredAccessList:
    """A list while it is gathered: its entries by number, with the words of each, and where it is bound."""

    family: str
    entries: dict[int, OnyxCommand] = field(default_factory=dict)
    words: dict[int, tuple[str, ...]] = field(default_factory=dict)
    bindings: list[Binding] = field(default_factory=list)


def read_access_lists(commands: Iterable[OnyxCommand]) -> tuple[AccessList, ...]:
    """Return the access lists that commands make and bind."""
    lists_by_name: dict[str, _GatheredAccessList] = {}
    for name, number, command, words in _read_entries(commands, lists_by_name):
        lists_by_name[name].entries[number], lists_by_name[name].words[number] = command, words
    return sort_lists_and_entries(
        AccessList(
            name=name,
            entries=tuple(_build_access_entry(str(number), words, acl.family) for number, words in acl.words.items()),
            family="ipv6" if acl.family == "ipv6" else "ipv4" if acl.family == "ipv4" else None,
            otherwise=UNKNOWN,
            bindings=tuple(acl.bindings),
        )
        for name, acl in lists_by_name.items()
    )


def entry_commands(commands: Iterable[OnyxCommand]) -> Mapping[tuple[str, str], OnyxCommand]:
    """Return the command of each entry, by the name of its list and its number."""
    lists_by_name: dict[str, _GatheredAccessList] = {}
    return {(name, str(number)): command for name, number, command, _ in _read_entries(commands, lists_by_name)}


def _read_entries(
    commands: Iterable[OnyxCommand], lists_by_name: dict[str, _GatheredAccessList]
) -> Iterator[tuple[str, int, OnyxCommand, tuple[str, ...]]]:
    """Yield list, number, command and words of each entry, and note lists and bindings in `lists_by_name`."""
    last: str | None = None
    for command in commands:
        words = command.words
        if command.negated:
            continue
        if "access-group" in words[1:-1] and command.names:
            for name in words[words.index("access-group") + 1 :][:1]:
                bound = lists_by_name.setdefault(name, _GatheredAccessList(words[0]))
                bound.bindings += [
                    Binding(interface=_binding_interface(command.kind, ifname), stage="ingress")
                    for ifname in command.names
                ]
            continue
        if len(words) > 2 and words[0] in _ACL_FAMILIES and words[1] == "access-list":
            last, words = words[2], words[3:]
            lists_by_name.setdefault(last, _GatheredAccessList(command.words[0]))
        elif command.kind or words[:1] not in (("seq-number",), ("permit",), ("deny",)):
            continue
        if last is None:
            continue
        number = parse_whole_number(words[1]) if words[:1] == ("seq-number",) and len(words) > 1 else None
        if number is not None:
            words = words[2:]
        if words[:1] and words[0] in _ACL_ACTIONS:
            yield last, number or max(lists_by_name[last].entries, default=0) + _SEQUENCE_STEP, command, words


def _binding_interface(kind: str, name: str) -> str:
    number = parse_whole_number(name.removeprefix("Vlan")) if kind == "vlan" else None
    return name if number is None else f"VLAN {number}"


def _build_access_entry(number: str, words: Sequence[str], family: str) -> AccessEntry:
    action, protocol, remaining_words = words[0], "".join(words[1:2]), list(words[2:])
    other_conditions: list[str] = []
    numbered = None
    if family == "mac":
        other_conditions, remaining_words = [" ".join(words[1:])], []
    elif protocol not in ("ip", "ipv6", "any"):
        numbered = parse_whole_number(protocol, 255)
        numbered = IP_PROTOCOL_NUMBER_BY_WORD.get(protocol) if numbered is None else numbered
        if numbered is None:
            other_conditions.append(protocol)
    sources, remaining_words = _parse_leading_address(remaining_words, other_conditions)
    destinations, remaining_words = _parse_leading_address(remaining_words, other_conditions)
    ports = {word: _take_port_ranges(word, remaining_words) for word in ("eq-source", "eq-destination")}
    if remaining_words:
        other_conditions.append(" ".join(remaining_words))
    return AccessEntry(
        name=number,
        action="deny" if action == "deny" else "permit",
        family="ipv4" if family == "ipv4" else "ipv6" if family == "ipv6" else None,
        protocol=numbered,
        sources=sources,
        destinations=destinations,
        source_ports=ports["eq-source"],
        destination_ports=ports["eq-destination"],
        others=tuple(other_conditions),
    )


def _take_port_ranges(word: str, words: list[str]) -> tuple[PortRange, ...]:
    """Return the port behind a word, and take both out of the words; none where no port is there."""
    at = words.index(word) if word in words[:-1] else None
    port = None if at is None else parse_whole_number(words[at + 1], 65_535)
    if at is None or port is None:
        return ()
    del words[at : at + 2]
    return (PortRange(port, port),)


def _parse_leading_address(words: list[str], other_conditions: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Return the prefix with which words begin, `any`, `10.0.0.0 mask 255.0.0.0` or `10.0.0.0/8`, and the rest."""
    if not words or words[0] == "any":
        return (), words[1:]
    masked = len(words) > 2 and words[1] == "mask"
    network = network_of(f"{words[0]}/{words[2]}" if masked and address_of(words[2]) is not None else words[0])
    remaining_words = words[3:] if masked else words[1:]
    if network is None:
        other_conditions.append(words[0])
        return (), remaining_words
    return (str(network),), remaining_words
