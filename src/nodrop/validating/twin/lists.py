"""Which programs drop packets where in a twin, for the access lists of its switches, and what is not applied."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from nodrop.model.access import ENTERING, AccessEntry, AccessList, Binding
from nodrop.model.fabric import Device, Fabric
from nodrop.model.states import UNKNOWN, Unknown, known_rows
from nodrop.routing.legs import legs
from nodrop.routing.prefixes import Address
from nodrop.validating.twin import bpf
from nodrop.validating.twin.bpf import Row
from nodrop.validating.twin.list_programs import Inexpressible, compile_list
from nodrop.validating.twin.plan import Nic, Plan, Space

Way = Literal["ingress", "egress"]
_PLACES: Final = 8
"""How many switches a note names."""


@dataclass(slots=True, kw_only=True)
class Filters:
    """The access lists of a fabric, for the interfaces of a twin."""

    programs: dict[tuple[Space, str], list[tuple[Way, tuple[Row, ...]]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By namespace and interface what is to run there, in this order."""
    notes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """What is not applied, with the switches of which that is so."""
    lacking: list[str] = field(default_factory=list)
    """Of that what may drop packets on switches, so that the twin shows more than they let pass."""

    @property
    def rendered_notes(self) -> Iterator[str]:
        """The notes, in the words of a report."""
        for note, devices in sorted(self.notes.items()):
            count_suffix = f" and {len(devices) - _PLACES} more switches" if len(devices) > _PLACES else ""
            yield f"not applied in the twin: {note} ({', '.join(devices[:_PLACES])}{count_suffix})"

    def commands(self, space: Space) -> Iterator[str]:
        """Yield the lines for `tc -batch` that have the programs of a namespace run."""
        for (at, name), rows in self.programs.items():
            if at == space:
                yield f"qdisc add dev {name} clsact"
                for number, (direction, program) in enumerate(rows, 1):
                    code = bpf.bytecode(program)
                    yield f'filter add dev {name} {direction} pref {number} bpf da bytecode "{code}"'


def filters(fabric: Fabric, plan: Plan) -> Filters:
    """Return what applies the access lists of a fabric's switches in its twin."""
    found_filters = Filters()
    for device in fabric.devices:
        lists = [access_list for access_list in known_rows(device.access_lists) if access_list.bindings]
        if lists:
            _Device(device, plan, found_filters).take(lists)
    return found_filters


class _Device:
    """The lists of one switch."""

    def __init__(self, device: Device, plan: Plan, found_filters: Filters) -> None:
        self._name, self._found = device.name, found_filters
        self._nics = [nic for nic in plan.nics if nic.space.node == device.name and (nic.ends or _is_vlan(nic))]
        self._ports = {port.name for port in device.interfaces}
        own_addresses = (address for leg in legs(device) for address in leg.addresses if not address.link_local)
        self._own: tuple[Address, ...] = tuple(dict.fromkeys(own_addresses))

    def take(self, lists: Iterable[AccessList]) -> None:
        """Take lists in their order."""
        for rules in lists:
            name = f"access list {rules.name}"
            if isinstance(rules.entries, Unknown):
                self._lack(f"{name}, whose entries are not known")
                continue
            if all(binding.stage == "services" for binding in rules.bindings):
                self._note(f"{name} of the control plane, which lets BGP pass")
                continue
            try:
                rows = list(self._rows(rules, rules.entries))
            except Inexpressible as error:
                self._lack(f"{name}, for {error}")
                continue
            for nic, direction, program in rows:
                self._found.programs[nic.space, nic.name].append((direction, program))
            for words in dict.fromkeys(words for entry in rules.entries for words in _left_out(entry)):
                self._note(f"{words}, {name}")
            if rules.own_packets is UNKNOWN and any(binding.stage == "egress" for binding in rules.bindings):
                self._note(f"{name} at egress to what the switch itself sends, for it is not known whether it is")

    def _rows(self, rules: AccessList, entries: Sequence[AccessEntry]) -> Iterator[tuple[Nic, Way, tuple[Row, ...]]]:
        rows: dict[tuple[object, ...], tuple[Row, ...]] = {}
        for binding in dict.fromkeys(rules.bindings):
            nics = [nic for nic in self._nics if self._acts(rules, entries, binding, nic)]
            if not nics and binding.interface is not None and binding.interface not in self._ports:
                self._note(f"access list {rules.name} at {binding.interface}, which the twin does not have")
            for nic in nics:
                chosen = tuple(access_entry for access_entry in entries if self._is_for(access_entry, nic))
                key = (binding.stage, *map(id, chosen))
                if key not in rows:
                    rows[key] = compile_list(rules, chosen, binding.stage, self._own)
                yield nic, "ingress" if binding.stage in ENTERING else "egress", rows[key]

    def _acts(self, rules: AccessList, entries: Sequence[AccessEntry], binding: Binding, nic: Nic) -> bool:
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
            raise Inexpressible(f"it acts at some members of {nic.leg}, which is one interface in the twin")
        return binding.interface == ports[0]

    def _is_for(self, entry: AccessEntry, nic: Nic) -> bool:
        if not entry.interfaces or nic.leg in entry.interfaces:
            return True
        ports = {end.port for end in nic.ends}
        if ports & set(entry.interfaces) and not ports <= set(entry.interfaces):
            raise Inexpressible(f"entry {entry.name} is for some members of {nic.leg}, one interface in the twin")
        return bool(ports) and ports <= set(entry.interfaces)

    def _lack(self, limitation: str) -> None:
        self._note(limitation)
        self._found.lacking.append(f"{limitation} of {self._name}")

    def _note(self, note: str) -> None:
        devices = self._found.notes[note]
        if self._name not in devices:
            devices.append(self._name)


def _left_out(entry: AccessEntry) -> Iterator[str]:
    """Yield what an entry does besides letting packets pass or dropping them, which the twin's kernel does not."""
    if entry.refused is None:
        yield from ["its policers"] if entry.polices else []
        yield from ["its redirects"] if entry.redirects is not None else []
        yield from ["the DSCPs that it sets"] if entry.dscp is not None else []
        yield from ["the traffic classes that it sets"] if entry.traffic_class is not None else []


def _is_vlan(nic: Nic) -> bool:
    return not nic.ends and nic.leg.startswith("VLAN ")
