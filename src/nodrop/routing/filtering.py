"""Effect of an access list on packets: the entry that decides each part of them, and how sure that is.

Packets are a box: sets of addresses, ranges of ports, DSCPs, ECN bits, opcodes. Each entry cuts the box into the part
that it matches and the part that it leaves to later entries. A later entry is therefore checked only for these rests,
as in a switch.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

from nodrop.model.access import AccessEntry, AccessList, PortRange
from nodrop.model.addresses import AddressFamily
from nodrop.model.states import Unknown
from nodrop.routing.prefixes import Prefix, parse_prefix
from nodrop.routing.roce_opcodes import opcodes_matching

MAX_PACKET_PARTS = 4_000
"""How many parts packets are cut into before the rest counts as not known."""
EVERY_ECN = frozenset(range(4))
_ANY_PORT = (PortRange(0, 65_535),)
_NON_HOST_PREFIXES = (
    "0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/4", "240.0.0.0/4", "::/128", "::1/128", "::ffff:0:0/96", "ff00::/8",
)  # fmt: skip
"""What is the address of no host (RFC 6890; RFC 1112 and RFC 4291 for groups)."""
_PROTOCOLS_WITH_PORTS = (6, 17)
_TCP_PROTOCOL = 6


class AddressRange(NamedTuple):
    """Addresses that are treated alike; `sure` where packets with one of them are known to exist."""

    prefix: Prefix
    sure: bool = True


class PacketSet(NamedTuple):
    """Packets of one protocol between addresses, with what may differ among them."""

    family: AddressFamily
    protocol: int
    sources: tuple[AddressRange, ...]
    destinations: tuple[AddressRange, ...]
    source_ports: tuple[PortRange, ...] = _ANY_PORT
    destination_ports: tuple[PortRange, ...] = _ANY_PORT
    dscps: frozenset[int] = frozenset(range(64))
    ecns: frozenset[int] = EVERY_ECN
    doubtful_ecns: frozenset[int] = frozenset()
    """ECN bits that packets may have, or not."""
    opcodes: frozenset[int] = frozenset()
    """Opcodes of RoCE; none where it is another protocol."""
    doubtful_opcodes: frozenset[int] = frozenset()
    """Opcodes that packets may have, or not."""
    doubtful: bool = False
    """Whether only such bits or opcodes are left of packets that were cut."""
    far_port: str | None = None
    """The port on the other side of the switch; None where that may be any."""

    @property
    def surely_exist(self) -> bool:
        """Whether such packets are known to exist."""
        return (
            any(source.sure for source in self.sources)
            and any(destination.sure for destination in self.destinations)
            and not self.doubtful
        )

    def with_ecns(self, ecns: frozenset[int]) -> "PacketSet":
        """Return those with some of their ECN bits."""
        if ecns == self.ecns:
            return self
        return self._replace(ecns=ecns, doubtful=self.doubtful or ecns <= self.doubtful_ecns)

    def with_opcodes(self, opcodes: frozenset[int]) -> "PacketSet":
        """Return those with some of their opcodes."""
        if opcodes == self.opcodes:
            return self
        return self._replace(opcodes=opcodes, doubtful=self.doubtful or opcodes <= self.doubtful_opcodes)


class EarlierEntryActions(NamedTuple):
    """What entries before the last one do to packets, and the entries that do it."""

    dscp: tuple[AccessEntry, int] | None = None
    traffic_class: tuple[AccessEntry, int] | None = None
    polices: AccessEntry | None = None
    redirects: AccessEntry | None = None


class FilterDecision(NamedTuple):
    """The fate of a part of the packets: the deciding entry, None if no entry matches, and whether that is sure."""

    action: Literal["permit", "deny", "unknown"]
    entry: AccessEntry | None
    packets: PacketSet
    sure: bool
    marks: EarlierEntryActions = EarlierEntryActions()


class _PacketsNotMatchedYet(NamedTuple):
    """Packets that no entry has decided yet; `doubts` are entries that may have, with another condition."""

    packets: PacketSet
    doubts: tuple[AccessEntry, ...] = ()
    marks: EarlierEntryActions = EarlierEntryActions()


def decide_packets(rules: AccessList, port: str, packets: PacketSet) -> Iterator[FilterDecision]:
    """Yield the effect of a list at a port on all packets, part by part; the list must be bound to `port`."""
    if isinstance(rules.entries, Unknown):
        yield FilterDecision("unknown", None, packets, sure=False)
        return
    open_flows = [_PacketsNotMatchedYet(packets)]
    relevant = [access_entry for access_entry in rules.entries if _may_match_packets(access_entry, port, packets)]
    for position, entry in enumerate(relevant):
        next_flows: list[_PacketsNotMatchedYet] = []
        for flow in open_flows:
            for inside, piece in _split_packets(flow.packets, entry):
                if not inside:
                    next_flows.append(flow._replace(packets=piece))
                elif _is_match_uncertain(rules, entry, packets):
                    next_flows.append(flow._replace(packets=piece, doubts=(*flow.doubts, entry)))
                elif entry.action == "next":
                    next_flows.append(flow._replace(packets=piece, marks=_override_packet_actions(flow.marks, entry)))
                else:
                    tied = _find_tied_entries(relevant[position + 1 :], entry, piece)
                    yield _make_filter_decision(
                        entry.action, entry, flow._replace(packets=piece, doubts=(*flow.doubts, *tied))
                    )
        open_flows = next_flows
        if len(open_flows) > MAX_PACKET_PARTS:
            yield from (
                FilterDecision("unknown", None, part.packets, sure=False, marks=part.marks) for part in open_flows
            )
            return
    otherwise = rules.otherwise
    applies = rules.family in (None, packets.family)
    for flow in open_flows:
        if isinstance(otherwise, Unknown) and applies:
            yield FilterDecision("unknown", None, flow.packets, sure=False, marks=flow.marks)
        else:
            action: Literal["permit", "deny"] = "deny" if applies and otherwise == "deny" else "permit"
            yield _make_filter_decision(action, None, flow)


def _make_filter_decision(
    action: Literal["permit", "deny"], entry: AccessEntry | None, flow: _PacketsNotMatchedYet
) -> FilterDecision:
    """Return a decision, which the entries that may have decided before make doubtful if they do something else."""
    against = next((doubt for doubt in flow.doubts if doubt.action not in (action, "next")), None)
    if against is not None:
        return FilterDecision("unknown", against, flow.packets, sure=False, marks=flow.marks)
    marks = _override_packet_actions(flow.marks, entry) if entry is not None else flow.marks
    return FilterDecision(action, entry, flow.packets, flow.packets.surely_exist, marks)


def _override_packet_actions(marks: EarlierEntryActions, entry: AccessEntry) -> EarlierEntryActions:
    return EarlierEntryActions(
        (entry, entry.dscp) if entry.dscp is not None else marks.dscp,
        (entry, entry.traffic_class) if entry.traffic_class is not None else marks.traffic_class,
        entry if entry.polices else marks.polices,
        entry if entry.redirects is not None else marks.redirects,
    )


def _may_match_packets(entry: AccessEntry, port: str, packets: PacketSet) -> bool:
    """Whether an entry may match any of the packets, by its conditions that all of them share."""
    if entry.refused is not None or (entry.interfaces and port not in entry.interfaces):
        return False
    if entry.family not in (None, packets.family) or entry.protocol not in (None, packets.protocol):
        return False
    if (entry.source_ports or entry.destination_ports) and packets.protocol not in _PROTOCOLS_WITH_PORTS:
        return False
    if entry.far_interfaces and packets.far_port is not None and packets.far_port not in entry.far_interfaces:
        return False
    if entry.opcode is not None and not packets.opcodes:
        return False
    return entry.tcp_flags is None or packets.protocol == _TCP_PROTOCOL


def _is_match_uncertain(rules: AccessList, entry: AccessEntry, packets: PacketSet) -> bool:
    """Whether an entry may match less than its conditions: some are not in the model, or the list is for others."""
    of_others = entry.family is None and rules.family not in (None, packets.family)
    by_unknown_port = bool(entry.far_interfaces) and packets.far_port is None
    return bool(entry.others) or entry.tcp_flags is not None or of_others or by_unknown_port


def _find_tied_entries(later: Sequence[AccessEntry], entry: AccessEntry, packets: PacketSet) -> tuple[AccessEntry, ...]:
    """Return later entries of the same priority that match some of the packets too: which decides is not defined."""
    if entry.priority is None:
        return ()
    tied = (access_entry for access_entry in later if access_entry.priority == entry.priority)
    return tuple(
        access_entry for access_entry in tied if any(inside for inside, _ in _split_packets(packets, access_entry))
    )


def _split_packets(packets: PacketSet, entry: AccessEntry) -> Iterator[tuple[bool, PacketSet]]:
    """Yield the parts of packets that an entry leaves, and the part that it matches, if any."""
    remaining_packets = packets
    if entry.sources:
        atoms, other_atoms = _split_addresses(remaining_packets.sources, parse_prefixes(entry.sources))
        if other_atoms:
            yield False, remaining_packets._replace(sources=other_atoms)
        remaining_packets = remaining_packets._replace(sources=atoms)
    if entry.destinations:
        atoms, other_atoms = _split_addresses(remaining_packets.destinations, parse_prefixes(entry.destinations))
        if other_atoms and remaining_packets.sources:
            yield False, remaining_packets._replace(destinations=other_atoms)
        remaining_packets = remaining_packets._replace(destinations=atoms)
    if not remaining_packets.sources or not remaining_packets.destinations:
        return
    if entry.source_ports:
        ports, remaining_port_ranges = _split_ports(remaining_packets.source_ports, entry.source_ports)
        if remaining_port_ranges:
            yield False, remaining_packets._replace(source_ports=remaining_port_ranges)
        remaining_packets = remaining_packets._replace(source_ports=ports)
    if entry.destination_ports:
        ports, remaining_port_ranges = _split_ports(remaining_packets.destination_ports, entry.destination_ports)
        if remaining_port_ranges and remaining_packets.source_ports:
            yield False, remaining_packets._replace(destination_ports=remaining_port_ranges)
        remaining_packets = remaining_packets._replace(destination_ports=ports)
    if not remaining_packets.source_ports or not remaining_packets.destination_ports:
        return
    if entry.dscps:
        dscps = remaining_packets.dscps & frozenset(entry.dscps)
        if remaining_packets.dscps - dscps:
            yield False, remaining_packets._replace(dscps=remaining_packets.dscps - dscps)
        if not dscps:
            return
        remaining_packets = remaining_packets._replace(dscps=dscps)
    if entry.ecns:
        ecns = remaining_packets.ecns & frozenset(entry.ecns)
        if remaining_packets.ecns - ecns:
            yield False, remaining_packets.with_ecns(remaining_packets.ecns - ecns)
        if not ecns:
            return
        remaining_packets = remaining_packets.with_ecns(ecns)
    if entry.opcode is not None:
        opcodes = remaining_packets.opcodes & opcodes_matching(entry.opcode)
        if remaining_packets.opcodes - opcodes:
            yield False, remaining_packets.with_opcodes(remaining_packets.opcodes - opcodes)
        if not opcodes:
            return
        remaining_packets = remaining_packets.with_opcodes(opcodes)
    yield True, remaining_packets


@cache
def parse_prefixes(texts: tuple[str, ...]) -> tuple[Prefix, ...]:
    """Return the prefixes that some texts stand for."""
    return tuple(found_prefix for text in texts if (found_prefix := parse_prefix(text)) is not None)


def _split_addresses(
    atoms: Sequence[AddressRange], wanted_prefixes: Sequence[Prefix]
) -> tuple[tuple[AddressRange, ...], tuple[AddressRange, ...]]:
    """Return the addresses in some prefixes and those outside; a range around a prefix is in both, neither sure."""
    inside: list[AddressRange] = []
    outside: list[AddressRange] = []
    for atom in atoms:
        if any(block.covers(atom.prefix) for block in wanted_prefixes):
            inside.append(atom)
            continue
        prefixes = [block for block in wanted_prefixes if atom.prefix.covers(block) and not _is_non_host_prefix(block)]
        inside += [AddressRange(block, sure=False) for block in prefixes]
        outside.append(atom if not prefixes else AddressRange(atom.prefix, sure=False))
    return tuple(inside), tuple(outside)


@cache
def _is_non_host_prefix(own_prefix: Prefix) -> bool:
    return any(no_host_prefix.covers(own_prefix) for no_host_prefix in parse_prefixes(_NON_HOST_PREFIXES))


@cache
def _split_ports(
    ports: tuple[PortRange, ...], wanted_port_ranges: tuple[PortRange, ...]
) -> tuple[tuple[PortRange, ...], tuple[PortRange, ...]]:
    """Return the ports in some ranges, and those outside."""
    edges = sorted({edge for port in (*ports, *wanted_port_ranges) for edge in (port.first, port.last + 1)})
    inside: list[PortRange] = []
    outside: list[PortRange] = []
    for first_port, end in pairwise(edges):
        if any(port.first <= first_port <= port.last for port in ports):
            matched = any(port_range.first <= first_port <= port_range.last for port_range in wanted_port_ranges)
            (inside if matched else outside).append(PortRange(first_port, end - 1))
    return tuple(inside), tuple(outside)
