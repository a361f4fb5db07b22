"""Access lists as programs of classic BPF, which drop the packets that the lists surely deny.

A program is for one list at one interface and one way. It runs on Ethernet frames without tags, ends with DROP or
with PASS, after which the next list decides, and takes fragments without ports as a switch does: they match no port.
If conditions that the model does not have, or an unknown last action, may decide, packets pass.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from nodrop.model.access import AccessEntry, AccessList, AccessListStage, Bits, PortRange
from nodrop.model.addresses import ADDRESS_BITS, ADDRESS_FAMILIES, AddressFamily
from nodrop.model.states import Unknown
from nodrop.routing.filtering import parse_prefixes
from nodrop.routing.prefixes import Address, Prefix
from nodrop.routing.roce_packets import ROCE_PORT
from nodrop.validating.twin import bpf
from nodrop.validating.twin.bpf import BpfInstruction, BpfProgram, JumpLabel

DROP, PASS = 2, 0xFFFFFFFF
"""TC_ACT_SHOT and TC_ACT_UNSPEC of linux/pkt_cls.h: the packet is dropped; the next program decides."""
_TYPE_AT, _HEADER_AT = 12, 14
_ETHERTYPE_BY_FAMILY: Final[dict[AddressFamily, int]] = {"ipv4": 0x0800, "ipv6": 0x86DD}


class _HeaderOffsets(NamedTuple):
    """Where a header has what entries match: bytes from the beginning of the frame."""

    protocol: int
    source: int
    destination: int


_HEADER_OFFSETS_BY_FAMILY: Final[dict[AddressFamily, _HeaderOffsets]] = {
    "ipv4": _HeaderOffsets(23, 26, 30),
    "ipv6": _HeaderOffsets(20, 22, 38),
}
_FRAGMENT_AT, _OFFSET = 20, 0x1FFF
"""Of IPv4: which part of a packet it is, in units of 8 bytes (RFC 791)."""
_DSCP_MASK_AND_SHIFT: Final[dict[AddressFamily, tuple[int, int]]] = {"ipv4": (0x00FC, 2), "ipv6": (0x0FC0, 6)}
"""The bits of DSCP among the first two bytes of a header, and how far they are from the right end."""
_IPV6_HEADER_BYTES: Final = 40
_ECN_MASK_AND_SHIFT: Final[dict[AddressFamily, tuple[int, int]]] = {"ipv4": (0x0003, 0), "ipv6": (0x0030, 4)}
"""The same of the ECN bits."""
_BTH_OPCODE_OFFSET: Final = 8
"""Where BTH has the opcode, behind the header of UDP."""
_TCP_FLAGS_OFFSET: Final = 13
"""Where TCP has its flags (RFC 9293)."""
_TCP, _UDP = 6, 17
_WORD_BITS: Final = 32
_ALL_BITS: Final = 0xFFFFFFFF
_SWITCH_OWNED_DESTINATIONS: Final = {
    "ipv4": (Prefix("ipv4", 0xE0000000, 4), Prefix("ipv4", 0xFFFFFFFF, 32)),
    "ipv6": (Prefix("ipv6", 0xFF << 120, 8), Prefix("ipv6", 0xFE80 << 112, 10)),
}
"""What is for a switch itself besides its addresses: groups, the broadcast address, link-local addresses."""
_SWITCH_OWNED_SOURCES: Final = {"ipv4": (), "ipv6": (Prefix("ipv6", 0xFE80 << 112, 10), Prefix("ipv6", 0, 128))}
"""What a switch sends from besides its addresses: link-local addresses, and none while it looks for duplicates."""


class InexpressibleAccessList(Exception):
    """A list with effects that no program can have; the text gives the reason."""


def compile_access_list(
    rules: AccessList, entries: Sequence[AccessEntry], stage: AccessListStage, own_addresses: Iterable[Address]
) -> tuple[BpfInstruction, ...]:
    """Return the program of a list at a stage, from its entries that are for the interface.

    `own_addresses` are the addresses of the switch, which distinguish its own packets from others. Raise Inexpressible
    if the stage, or the length of the program, is beyond the twin's kernel.
    """
    rows = _AccessListCompiler(rules, entries, stage, tuple(own_addresses)).program.rows()
    if len(rows) > bpf.MAX_INSTRUCTIONS:
        raise InexpressibleAccessList(f"it makes {len(rows)} rows of BPF, and {bpf.MAX_INSTRUCTIONS} are possible")
    return rows


class _AccessListCompiler:
    """One program, written family by family."""

    def __init__(
        self,
        rules: AccessList,
        entries: Sequence[AccessEntry],
        stage: AccessListStage,
        own_addresses: tuple[Address, ...],
    ) -> None:
        self.program, self._rules, self._stage, self._own = BpfProgram(), rules, stage, own_addresses
        self._passes, self._drops = JumpLabel(), JumpLabel()
        starts = {family: JumpLabel() for family in ADDRESS_FAMILIES}
        self.program.add_operation(bpf.LOAD_HALF, _TYPE_AT)
        for family in ADDRESS_FAMILIES:
            self.program.branch(bpf.EQUAL, _ETHERTYPE_BY_FAMILY[family], label_if_true=starts[family])
        self.program.jump(self._passes)
        for family in ADDRESS_FAMILIES:
            self.program.place_label(starts[family])
            self._compile_family_entries(
                family, [access_entry for access_entry in entries if self._may_decide_family(access_entry, family)]
            )
        self.program.place_label(self._drops)
        self.program.add_operation(bpf.RETURN, DROP)
        self.program.place_label(self._passes)
        self.program.add_operation(bpf.RETURN, PASS)

    def _may_decide_family(self, entry: AccessEntry, family: AddressFamily) -> bool:
        """Whether an entry may decide packets of a family; one that states none is for the list's.

        A drop with conditions that the model does not have, or on the port on the other side, may match less, so that
        it drops nothing for sure; a permit with such conditions lets pass all that it may match.
        """
        may_match_less = bool(entry.others or entry.far_interfaces)
        if entry.refused is not None or entry.action == "next" or (may_match_less and entry.action == "deny"):
            return False
        return (entry.family or self._rules.family) in (None, family)

    def _compile_family_entries(self, family: AddressFamily, entries: Sequence[AccessEntry]) -> None:
        applies, otherwise = self._rules.family in (None, family), self._rules.otherwise
        drops = applies and not isinstance(otherwise, Unknown) and otherwise == "deny"
        last = self._drops if drops else self._passes
        if family == "ipv4":
            self.program.add_operation(bpf.LOAD_IPV4_HEADER_LENGTH, _HEADER_AT)
        if entries or last is self._drops:
            self._pass_packets_outside_stage(family)
        for entry in entries:
            after = JumpLabel()
            self._write_entry_conditions(entry, family, after)
            self.program.jump(self._drops if entry.action == "deny" else self._passes)
            self.program.place_label(after)
        self.program.jump(last)

    def _pass_packets_outside_stage(self, family: AddressFamily) -> None:
        """Let packets pass that a list does not affect at this stage, by whether they are for or from the switch."""
        places, own_addresses = (
            _HEADER_OFFSETS_BY_FAMILY[family],
            [address for address in self._own if address.family == family],
        )
        alone = tuple(Prefix(family, address.number, ADDRESS_BITS[family]) for address in own_addresses)
        inside = JumpLabel()
        if self._stage in ("control-plane", "control-plane-out"):
            self._pass_roce(family)
        match self._stage:
            case "transit":
                self._jump_by_prefixes(
                    places.destination, (*alone, *_SWITCH_OWNED_DESTINATIONS[family]), self._passes, inside
                )
            case "control-plane":
                self._jump_by_prefixes(
                    places.destination, (*alone, *_SWITCH_OWNED_DESTINATIONS[family]), inside, self._passes
                )
            case "transit-out":
                self._jump_by_prefixes(places.source, (*alone, *_SWITCH_OWNED_SOURCES[family]), self._passes, inside)
            case "control-plane-out":
                self._jump_by_prefixes(places.source, (*alone, *_SWITCH_OWNED_SOURCES[family]), inside, self._passes)
            case "egress" if self._rules.own_packets is not True:
                self._jump_by_prefixes(places.source, (*alone, *_SWITCH_OWNED_SOURCES[family]), self._passes, inside)
            case "services":
                raise InexpressibleAccessList(
                    "the twin has no connection tracking, by which the switch accepts answers"
                )
            case _:
                pass
        self.program.place_label(inside)

    def _pass_roce(self, family: AddressFamily) -> None:
        """Let pass the twin's own packets of RoCE, which stand for packets through the switch."""
        other = JumpLabel()
        self.program.add_operation(bpf.LOAD_BYTE, _HEADER_OFFSETS_BY_FAMILY[family].protocol)
        self.program.branch(bpf.EQUAL, _UDP, label_if_false=other)
        self._load_layer_4_value(family, 2, bpf.LOAD_HALF)
        self.program.branch(bpf.EQUAL, ROCE_PORT, label_if_true=self._passes)
        self.program.place_label(other)

    def _write_entry_conditions(self, entry: AccessEntry, family: AddressFamily, after: JumpLabel) -> None:
        """Write the conditions of an entry, which lead to the next one where one does not hold."""
        places = _HEADER_OFFSETS_BY_FAMILY[family]
        with_ports = bool(entry.source_ports or entry.destination_ports)
        if entry.protocol is not None:
            self.program.add_operation(bpf.LOAD_BYTE, places.protocol)
            self.program.branch(bpf.EQUAL, entry.protocol, label_if_false=after)
        for texts, at in ((entry.sources, places.source), (entry.destinations, places.destination)):
            if texts:
                label = JumpLabel()
                self._jump_by_prefixes(
                    at, [prefix for prefix in parse_prefixes(texts) if prefix.family == family], label, after
                )
                self.program.place_label(label)
        if entry.dscps:
            mask, right = _DSCP_MASK_AND_SHIFT[family]
            self.program.add_operation(bpf.LOAD_HALF, _HEADER_AT)
            self.program.add_operation(bpf.AND, mask)
            self._require_any_test([self._branch_if_equal(dscp << right) for dscp in entry.dscps], after)
        if entry.ecns:
            mask, right = _ECN_MASK_AND_SHIFT[family]
            self.program.add_operation(bpf.LOAD_HALF, _HEADER_AT)
            self.program.add_operation(bpf.AND, mask)
            self._require_any_test([self._branch_if_equal(ecn << right) for ecn in entry.ecns], after)
        if with_ports or entry.tcp_flags is not None or entry.opcode is not None:
            self._require_layer_4(entry, family, after)
        for ranges, at in ((entry.source_ports, 0), (entry.destination_ports, 2)):
            if ranges:
                self._load_layer_4_value(family, at, bpf.LOAD_HALF)
                self._require_any_test([self._make_port_range_test(port_range) for port_range in ranges], after)
        if entry.tcp_flags is not None:
            self._load_layer_4_value(family, _TCP_FLAGS_OFFSET, bpf.LOAD_BYTE)
            self.program.add_operation(bpf.AND, entry.tcp_flags.mask)
            self.program.branch(bpf.EQUAL, entry.tcp_flags.number & entry.tcp_flags.mask, label_if_false=after)
        if entry.opcode is not None:
            self._require_opcode(entry.opcode, family, after)

    def _require_opcode(self, opcode: Bits, family: AddressFamily, after: JumpLabel) -> None:
        """Go on with the next entry where a packet is not RoCE with an opcode."""
        self.program.add_operation(bpf.LOAD_BYTE, _HEADER_OFFSETS_BY_FAMILY[family].protocol)
        self.program.branch(bpf.EQUAL, _UDP, label_if_false=after)
        self._load_layer_4_value(family, 2, bpf.LOAD_HALF)
        self.program.branch(bpf.EQUAL, ROCE_PORT, label_if_false=after)
        self._load_layer_4_value(family, _BTH_OPCODE_OFFSET, bpf.LOAD_BYTE)
        self.program.add_operation(bpf.AND, opcode.mask)
        self.program.branch(bpf.EQUAL, opcode.number & opcode.mask, label_if_false=after)

    def _require_layer_4(self, entry: AccessEntry, family: AddressFamily, after: JumpLabel) -> None:
        """Go on with the next entry where a packet is neither TCP nor UDP, or is a later fragment."""
        label = JumpLabel()
        self.program.add_operation(bpf.LOAD_BYTE, _HEADER_OFFSETS_BY_FAMILY[family].protocol)
        if entry.tcp_flags is None:
            self.program.branch(bpf.EQUAL, _UDP, label_if_true=label)
        self.program.branch(bpf.EQUAL, _TCP, label_if_false=after)
        self.program.place_label(label)
        if family == "ipv4":
            self.program.add_operation(bpf.LOAD_HALF, _FRAGMENT_AT)
            self.program.branch(bpf.ANY_BIT, _OFFSET, label_if_true=after)

    def _load_layer_4_value(self, family: AddressFamily, at: int, code: int) -> None:
        """Load the value at a place behind the header of IP."""
        if family == "ipv6":
            self.program.add_operation(code, _HEADER_AT + _IPV6_HEADER_BYTES + at)
        else:
            self.program.add_operation(bpf.INDEXED_HALF if code == bpf.LOAD_HALF else bpf.INDEXED_BYTE, _HEADER_AT + at)

    def _require_any_test(self, tests: Sequence[Callable[[JumpLabel], None]], after: JumpLabel) -> None:
        """Write tests and require any one of them to succeed; each jumps to its label if it does."""
        label = JumpLabel()
        for test in tests:
            test(label)
        self.program.jump(after)
        self.program.place_label(label)

    def _branch_if_equal(self, number: int) -> Callable[[JumpLabel], None]:
        return lambda label: self.program.branch(bpf.EQUAL, number, label_if_true=label)

    def _make_port_range_test(self, ports: PortRange) -> Callable[[JumpLabel], None]:
        def test(label: JumpLabel) -> None:
            beyond = JumpLabel()
            self.program.branch(bpf.AT_LEAST, ports.first, label_if_false=beyond)
            self.program.branch(bpf.GREATER, ports.last, label_if_false=label)
            self.program.place_label(beyond)

        return test

    def _jump_by_prefixes(self, at: int, prefixes: Iterable[Prefix], so: JumpLabel, otherwise: JumpLabel) -> None:
        """Jump by whether the address at a place is in one of some prefixes."""
        for prefix in prefixes:
            beyond = JumpLabel()
            words = ADDRESS_BITS[prefix.family] // _WORD_BITS
            for number in range(words):
                length = min(max(prefix.length - number * _WORD_BITS, 0), _WORD_BITS)
                if length:
                    mask = _ALL_BITS << _WORD_BITS - length & _ALL_BITS
                    prefix_word = prefix.first >> (words - 1 - number) * _WORD_BITS & mask
                    self.program.add_operation(bpf.LOAD_WORD, at + number * _WORD_BITS // 8)
                    if mask != _ALL_BITS:
                        self.program.add_operation(bpf.AND, mask)
                    self.program.branch(bpf.EQUAL, prefix_word, label_if_false=beyond)
            self.program.jump(so)
            self.program.place_label(beyond)
        self.program.jump(otherwise)
