"""Which of a switch's changes go in one pass: those towards another switch, those of watchdogs, those of PFC."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from nodrop.model.compare import apply_differences
from nodrop.model.fabric import Device, End, Fabric
from nodrop.model.fields import names_of_fields_with_columns
from nodrop.model.intern import Interner
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject
from nodrop.plan.model import ChangeScope, DeviceChange, DifferingEntry, PortGroupChange

_WATCHDOG_FIELDS = frozenset(names_of_fields_with_columns(Device, QosProfile, aspect="watchdog"))
_PFC_PRIORITY_FIELDS = frozenset({"pfc_rx_priorities", "pfc_tx_priorities"})


class ChangesByScope:
    """The changes of a plan, a share of them at a time; `old` and `new` show where ports and sessions lead."""

    def __init__(self, changes: Sequence[DeviceChange], old: Fabric, new: Fabric) -> None:
        self._changes = {change.name: change for change in changes}
        links = [(link.a, link.b) for fabric in (old, new) for link in fabric.links]
        pairs = (pair for a, b in links for pair in ((a, b), (b, a)))
        self._far = {near: far.node for near, far in pairs if near.node in self._changes}
        beside = self._changes.keys() | set(self._far.values())
        self._holders = {
            address.partition("/")[0]: device.name
            for fabric in (old, new)
            for device in fabric.devices
            if device.name in beside
            for address in _addresses_of_device(device)
        }
        self._made: dict[tuple[str, frozenset[ChangeScope]], Device] = {}
        self._interner = Interner()

    def has_changes_in_scope(self, name: str, change_share: ChangeScope) -> bool:
        """Whether any of a switch's changes is among those."""
        return bool(self.change_within_share(name, change_share).parts)

    def change_within_share(self, name: str, share: ChangeScope) -> DeviceChange:
        """Return what becomes of a switch by no more than a share of its changes."""
        change = self._changes[name]
        if share == ChangeScope():
            return change
        ports_by_entries: dict[tuple[DifferingEntry, ...], list[str]] = {}
        for changed_part in change.parts:
            for port in changed_part.ports or ("",):
                above = ("interfaces", port) if port else ()
                taken = tuple(
                    entry
                    for entry in changed_part.entries
                    if self._share_takes_change(name, share, (*above, *entry.path), entry.old, entry.new)
                )
                ports_by_entries.setdefault(taken, []).append(port)
        shared_parts = (
            PortGroupChange(tuple(filter(None, ports)), entries)
            for entries, ports in ports_by_entries.items()
            if entries
        )
        return replace(change, parts=tuple(shared_parts))

    def far_nodes_of_changes(self, name: str) -> set[str | None]:
        """Return the switches and hosts that the changes of a switch lead to; None for changes that lead to none."""
        found_ends: set[str | None] = set()
        for changed_part in self._changes[name].parts:
            if changed_part.ports:
                found_ends.update(self._far.get(End(name, port)) for port in changed_part.ports)
            else:
                found_ends.update(self.far_node_of_path(name, entry.path) for entry in changed_part.entries)
        return found_ends

    def device_after_shares(self, name: str, done: Iterable[ChangeScope]) -> Device | None:
        """Return a switch after shares of its changes; None where there is none, before it comes or after it went.

        One that comes or goes, or runs another system afterwards, does so as a whole.
        """
        change, shares = self._changes[name], frozenset(done)
        if not shares:
            return change.old
        if ChangeScope() in shares or change.old is None or change.new is None or change.kind == "replaced":
            return change.new
        if (name, shares) not in self._made:
            differences = apply_differences(
                change.old,
                change.new,
                lambda path, old, new: any(self._share_takes_change(name, share, path, old, new) for share in shares),
            )
            self._made[name, shares] = self._interner.device(differences)
        return self._made[name, shares]

    def _share_takes_change(self, name: str, share: ChangeScope, path: Subject, old: object, new: object) -> bool:
        match share.kind:
            case "towards":
                return self.far_node_of_path(name, path) in share.ends
            case "elsewhere":
                return self.far_node_of_path(name, path) not in share.ends
            case "guarding":
                return _is_watchdog_path(path) and new is not None
            case "unguarded":
                return not _is_watchdog_path(path) or new is None
            case "safe":
                return not _increases_pause_risk(path, old, new)
            case "daring":
                return _increases_pause_risk(path, old, new)
            case "all":
                return True

    def far_node_of_path(self, name: str, path: Subject) -> str | None:
        """Return the switch or host that a port or session of a switch leads to."""
        match path:
            case ("interfaces", port, *_):
                return self._far.get(End(name, port))
            case ("bgp", "neighbors", key, *_) | ("vrf_bgp", _, "neighbors", key, *_):
                return self._holders.get(key) or self._far.get(End(name, key))
        return None


def _addresses_of_device(device: Device) -> Iterable[str]:
    yield from (address for port in device.interfaces for address in known_rows(port.addresses))
    yield from (address for loopback in known_rows(device.loopbacks) for address in loopback.addresses)


def _is_watchdog_path(path: Subject) -> bool:
    return not _WATCHDOG_FIELDS.isdisjoint(path)


def _increases_pause_risk(path: Subject, old: Any, new: Any) -> bool:
    """Whether a port is to pause more than it did, or to be watched less."""
    if not _PFC_PRIORITY_FIELDS.isdisjoint(path) and not isinstance(new, Unknown):
        return not set(new or ()) <= set(() if isinstance(old, Unknown) else old or ())
    return _is_watchdog_path(path) and new is None
