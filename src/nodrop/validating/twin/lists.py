"""Programs that drop packets in a twin, and their places, for its switches' access lists; and the parts not applied."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from nodrop.model.access import ENTERING_STAGES, AccessEntry, AccessList, AccessListStage, Binding, PortRange
from nodrop.model.addresses import ADDRESS_FAMILIES
from nodrop.model.fabric import Device, Fabric
from nodrop.model.states import UNKNOWN, Unknown, known_rows
from nodrop.model.values import replace_fields
from nodrop.routing.filtering import decide_packets
from nodrop.routing.legs import routed_interfaces
from nodrop.routing.prefixes import Address
from nodrop.routing.roce_packets import roce_packets_of_dscp
from nodrop.validating.twin import bpf
from nodrop.validating.twin.bpf import BpfInstruction
from nodrop.validating.twin.list_programs import InexpressibleAccessList, compile_access_list
from nodrop.validating.twin.packets import ECT0_CODEPOINT, PortLocation, ProbePacket
from nodrop.validating.twin.plan import NamespaceKey, TwinInterface, TwinPlan
from nodrop.validating.twin.reaching import DeniedPacket

FilterDirection = Literal["ingress", "egress"]
_MAX_NAMED_SWITCHES: Final = 8
"""How many switches a note names."""
_TCP, _UDP, _ICMPV6 = 6, 17, 58
_BGP_PORT: Final = 179
_CONTROL_PORTS_BY_PROTOCOL: Final = {_TCP: (_BGP_PORT,), _UDP: (3784, 3785, 4784, 4791)}
"""The ports to which packets of BGP, BFD (RFC 5881, RFC 5883) and RoCEv2 go."""
_LOWEST_PORT_OF_SESSION_ANSWERS: Final = 1024
"""From here on the port may be to which a session's answers go."""


@dataclass(slots=True, kw_only=True)
class TwinFilters:
    """The access lists of a fabric, as programs on the interfaces of a twin."""

    fabric: Fabric
    notes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """What is not applied, with the switches of which that is so."""
    acting: dict[tuple[NamespaceKey, str], list["_AppliedAccessList"]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By namespace and interface the lists that run there, in this order."""
    far: Mapping[PortLocation, PortLocation] = field(default_factory=dict)
    """The interface at the other end of the cable of each."""
    bridged: Mapping[PortLocation, tuple[str, ...]] = field(default_factory=dict)
    """The ports of each bridge."""
    own: dict[str, frozenset[Address]] = field(default_factory=dict)
    """The addresses of each switch with lists."""
    lacking: list[str] = field(default_factory=list)
    """Of that what may drop packets on switches, so that the twin shows more than they let pass."""

    @property
    def programs(self) -> dict[tuple[NamespaceKey, str], list[tuple[FilterDirection, tuple[BpfInstruction, ...]]]]:
        """The programs that run, by namespace and interface, in this order."""
        return {at: [(acting.way, acting.program) for acting in lists] for at, lists in self.acting.items()}

    @property
    def rendered_notes(self) -> Iterator[str]:
        """The notes, in the words of a report."""
        for note, devices in sorted(self.notes.items()):
            count_suffix = (
                f" and {len(devices) - _MAX_NAMED_SWITCHES} more switches" if len(devices) > _MAX_NAMED_SWITCHES else ""
            )
            yield f"not applied in the twin: {note} ({', '.join(devices[:_MAX_NAMED_SWITCHES])}{count_suffix})"

    def filters_egress(self, nic: TwinInterface) -> bool:
        """Whether a list acts on what leaves an interface."""
        return any(acting.way == "egress" for acting in self.acting.get((nic.space, nic.name), ()))

    def denial_cause(self, lost: DeniedPacket) -> str:
        """Return which entry drops a packet that was denied, as the end of a sentence; "" where no list does.

        Where it may have left by several interfaces that drop it, all their entries are named.
        """
        packet, at, leaves_by = lost
        # a frame for a bridge is not seen at its port
        entered = at or self.far.get((packet.space, packet.device))
        if entered is not None:
            where = entered[0]
            for acting in self.acting.get(entered, ()):
                if acting.way == "ingress" and (what := self._dropping_entry(acting, packet, where)):
                    return f", dropped there by {what}" if at else f", dropped by {what} where it enters {where.node}"
        space = packet.space if at is None else at[0]
        names = [name for hop in leaves_by for name in (hop, *self.bridged.get((space, hop), ()))]
        causes = [self._dropping_egress_entry((space, name), packet) for name in names]
        text = " or ".join(dict.fromkeys(filter(None, causes)))
        return text and f", dropped by {text} where it leaves {space.node}"

    def _dropping_egress_entry(self, interface: PortLocation, packet: ProbePacket) -> str:
        """Return which entry drops a packet that leaves by an interface, in words; "" where none surely does."""
        acting_lists = (acting for acting in self.acting.get(interface, ()) if acting.way == "egress")
        causes = (self._dropping_entry(acting, packet, interface[0]) for acting in acting_lists)
        return next(filter(None, causes), "")

    def _dropping_entry(self, acting: "_AppliedAccessList", packet: ProbePacket, space: NamespaceKey) -> str:
        """Return which entry of a list drops a packet in a namespace, in words; "" where none surely does."""
        rules, own_addresses = acting.rules, self.own.get(space.node, frozenset())
        for_itself, from_itself = packet.target in own_addresses, packet.space.node == space.node
        passes = {
            "ingress": False,
            "egress": from_itself and rules.own_packets is not True,
            "transit": for_itself,
            "transit-out": from_itself,
        }.get(acting.stage, True)
        roce = roce_packets_of_dscp(self.fabric, packet.source, packet.target, packet.dscp)._replace(
            source_ports=(PortRange(packet.port, packet.port),),
            ecns=frozenset({ECT0_CODEPOINT}),
            opcodes=frozenset({packet.opcode}),
        )
        for decision in () if passes else decide_packets(rules, "", roce):
            if decision.action == "deny":
                entry = decision.entry
                return f"{f'entry {entry.name}' if entry else 'the last action'} of access list {rules.name}"
        return ""

    def tc_batch_commands(self, space: NamespaceKey) -> Iterator[str]:
        """Yield the lines for `tc -batch` that have the programs of a namespace run."""
        for (at, name), lists in self.acting.items():
            if at == space:
                yield f"qdisc add dev {name} clsact"
                for number, acting in enumerate(lists, 1):
                    code = bpf.format_bytecode(acting.program)
                    yield f'filter add dev {name} {acting.way} pref {number} bpf da bytecode "{code}"'


class _AppliedAccessList(NamedTuple):
    """A list at an interface, with those of its entries that are for the interface, and its program."""

    way: FilterDirection
    stage: AccessListStage
    rules: AccessList
    program: tuple[BpfInstruction, ...]


def build_filters(fabric: Fabric, plan: TwinPlan) -> TwinFilters:
    """Return what applies the access lists of a fabric's switches in its twin."""
    wires = [(wire.a, wire.b) for wire in plan.wires if wire.b is not None]
    ends = [(one, other) for wire in wires for one, other in (wire, wire[::-1])]
    bridged: defaultdict[PortLocation, tuple[str, ...]] = defaultdict(tuple)
    for nic in plan.nics:
        if nic.bridge is not None:
            bridged[nic.space, nic.bridge] += (nic.name,)
    far = {(one.space, one.name): (other.space, other.name) for one, other in ends}
    found_filters = TwinFilters(fabric=fabric, far=far, bridged=bridged)
    for device in fabric.devices:
        lists = [access_list for access_list in known_rows(device.access_lists) if access_list.bindings]
        if lists:
            _DeviceAccessLists(device, plan, found_filters).add_access_lists(lists)
    return found_filters


class _DeviceAccessLists:
    """The lists of one switch."""

    def __init__(self, device: Device, plan: TwinPlan, found_filters: TwinFilters) -> None:
        self._name, self._found = device.name, found_filters
        self._nics = [nic for nic in plan.nics if nic.space.node == device.name and (nic.ends or _is_vlan(nic))]
        self._ports = {port.name for port in device.interfaces}
        own_addresses = (
            address for leg in routed_interfaces(device) for address in leg.addresses if not address.is_link_local
        )
        self._own: tuple[Address, ...] = tuple(dict.fromkeys(own_addresses))
        found_filters.own[device.name] = frozenset(self._own)

    def add_access_lists(self, lists: Iterable[AccessList]) -> None:
        """Take lists in their order."""
        for rules in lists:
            name = f"access list {rules.name}"
            if isinstance(rules.entries, Unknown):
                self._add_limitation(f"{name}, whose entries are not known")
                continue
            if all(binding.stage == "services" for binding in rules.bindings):
                self._note(f"{name} of the control plane, which lets BGP pass")
                continue
            try:
                rows = list(self._acting_lists_by_nic(rules, rules.entries))
            except InexpressibleAccessList as error:
                self._add_limitation(f"{name}, for {error}")
                continue
            for nic, acting in rows:
                self._found.acting[nic.space, nic.name].append(acting)
            for entry in rules.entries:
                lacking = list(_conditions_bpf_cannot_check(entry))
                if lacking and entry.refused is None and entry.action != "next":
                    tell = self._add_limitation if _may_match_twin_traffic(entry) else self._note
                    tell(f"entry {entry.name} of {name}, for conditions that the twin lacks: {', '.join(lacking)}")
            if isinstance(rules.otherwise, Unknown) and not _matches_all_packets(rules, rules.entries):
                self._add_limitation(f"what {name} does without a match, for that is not known")
            for words in dict.fromkeys(words for entry in rules.entries for words in _actions_twin_omits(entry)):
                self._note(f"{words}, {name}")
            if rules.own_packets is UNKNOWN and any(binding.stage == "egress" for binding in rules.bindings):
                self._note(f"{name} at egress to what the switch itself sends, for it is not known whether it is")

    def _acting_lists_by_nic(
        self, rules: AccessList, entries: Sequence[AccessEntry]
    ) -> Iterator[tuple[TwinInterface, _AppliedAccessList]]:
        rows: dict[tuple[object, tuple[int, ...]], tuple[BpfInstruction, ...]] = {}
        for binding in dict.fromkeys(rules.bindings):
            nics = [nic for nic in self._nics if self._applies_to_nic(rules, entries, binding, nic)]
            if not nics and binding.interface is not None and binding.interface not in self._ports:
                self._note(f"access list {rules.name} at {binding.interface}, which the twin does not have")
            for nic in nics:
                places = tuple(place for place, entry in enumerate(entries) if self._entry_applies_to_nic(entry, nic))
                chosen = tuple(entries[place] for place in places)
                key = (binding.stage, places)
                if key not in rows:
                    rows[key] = compile_access_list(rules, chosen, binding.stage, self._own)
                there = tuple(replace_fields(entry, interfaces=()) if entry.interfaces else entry for entry in chosen)
                way: FilterDirection = "ingress" if binding.stage in ENTERING_STAGES else "egress"
                yield nic, _AppliedAccessList(way, binding.stage, replace_fields(rules, entries=there), rows[key])

    def _applies_to_nic(
        self, rules: AccessList, entries: Sequence[AccessEntry], binding: Binding, nic: TwinInterface
    ) -> bool:
        """Whether a binding is for an interface of the twin; one at ports of a bundle, with those at all the others."""
        if binding.interface is None:
            return bool(nic.ends) or any(nic.leg in access_entry.interfaces for access_entry in entries)
        ports = [end.port for end in nic.ends]
        if binding.interface == nic.leg:
            return True
        if binding.interface not in ports:
            return False
        alike = {other_binding.interface for other_binding in rules.bindings if other_binding.stage == binding.stage}
        if not alike.issuperset(ports):
            raise InexpressibleAccessList(f"it acts at some members of {nic.leg}, which is one interface in the twin")
        return binding.interface == ports[0]

    def _entry_applies_to_nic(self, entry: AccessEntry, nic: TwinInterface) -> bool:
        if not entry.interfaces or nic.leg in entry.interfaces:
            return True
        ports = {end.port for end in nic.ends}
        if ports & set(entry.interfaces) and not ports <= set(entry.interfaces):
            raise InexpressibleAccessList(
                f"entry {entry.name} is for some members of {nic.leg}, one interface in the twin"
            )
        return bool(ports) and ports <= set(entry.interfaces)

    def _add_limitation(self, limitation: str) -> None:
        self._note(limitation)
        self._found.lacking.append(f"{limitation} of {self._name}")

    def _note(self, note: str) -> None:
        devices = self._found.notes[note]
        if self._name not in devices:
            devices.append(self._name)


def _actions_twin_omits(entry: AccessEntry) -> Iterator[str]:
    """Yield an entry's actions besides passing or dropping packets, which the twin's kernel does not do."""
    if entry.refused is None:
        yield from ["its policers"] if entry.polices else []
        yield from ["its redirects"] if entry.redirects is not None else []
        yield from ["the DSCPs that it sets"] if entry.dscp is not None else []
        yield from ["the traffic classes that it sets"] if entry.traffic_class is not None else []


def _conditions_bpf_cannot_check(entry: AccessEntry) -> Iterator[str]:
    """Yield the conditions of an entry that no program can check: at one interface it sees no other."""
    yield from entry.others
    if entry.far_interfaces:
        yield f"the port on the other side ({', '.join(entry.far_interfaces)})"


def _may_match_twin_traffic(entry: AccessEntry) -> bool:
    """Whether an entry may match RoCE, BGP, BFD or neighbor discovery, as far as its conditions are known."""
    if entry.family == "other" or entry.protocol not in (None, *_CONTROL_PORTS_BY_PROTOCOL, _ICMPV6):
        return False
    if entry.protocol == _ICMPV6:
        return True
    wanted = {
        port
        for protocol, ports in _CONTROL_PORTS_BY_PROTOCOL.items()
        if entry.protocol in (None, protocol)
        for port in ports
    }
    if _accepts_any_of_ports(entry.destination_ports, wanted):
        return True
    answers = entry.protocol in (None, _TCP) and _accepts_any_of_ports(entry.source_ports, {_BGP_PORT})
    return answers and any(port_range.last >= _LOWEST_PORT_OF_SESSION_ANSWERS for port_range in entry.destination_ports)


def _accepts_any_of_ports(port_ranges: Sequence[PortRange], ports: Iterable[int]) -> bool:
    """Whether a condition on ports is true of any of some; an empty one is."""
    return not port_ranges or any(one.first <= port <= one.last for one in port_ranges for port in ports)


def _matches_all_packets(rules: AccessList, entries: Sequence[AccessEntry]) -> bool:
    """Whether some entries of a list match all packets of each of its families, and leave none without a match."""
    families = ADDRESS_FAMILIES if rules.family is None else (rules.family,)
    whole = [
        entry for entry in entries if entry.refused is None and entry.action != "next" and not _has_conditions(entry)
    ]
    return all(any(entry.family in (None, family) for entry in whole) for family in families)


def _has_conditions(entry: AccessEntry) -> bool:
    sets = (
        entry.sources,
        entry.destinations,
        entry.source_ports,
        entry.destination_ports,
        entry.dscps,
        entry.ecns,
        entry.interfaces,
        entry.far_interfaces,
        entry.others,
    )
    return any(sets) or any(number is not None for number in (entry.protocol, entry.tcp_flags, entry.opcode))


def _is_vlan(nic: TwinInterface) -> bool:
    return not nic.ends and nic.leg.startswith("VLAN ")
