"""Changes of access lists in a given file of NVUE: lists, rules and bindings that are added, removed or changed."""

from collections.abc import Iterator, Mapping, Sequence

from nodrop.model.access import AccessEntry, AccessList, PortRange
from nodrop.model.fabric import Device
from nodrop.model.states import Unknown, known_rows
from nodrop.platforms.kit.editing import is_equal
from nodrop.platforms.nvue.edit_draft import PendingSettingChanges
from nodrop.platforms.nvue.read_access import binding_path
from nodrop.platforms.nvue.tree import Path

_NVUE_WORD_BY_PROTOCOL = {6: "tcp", 17: "udp"}
_PathAndValue = tuple[Path, str | None]
"""A path, and the value there; without one it is there and no more."""


def change_access_lists(draft: PendingSettingChanges, old_device: Device, new_device: Device) -> None:
    """Bring the access lists of `new` into a file with those of `old`; parts without a setting there stay unchanged."""
    if isinstance(old_device.access_lists, Unknown) or isinstance(new_device.access_lists, Unknown):
        return
    before: Mapping[str, AccessList] = {access_list.name: access_list for access_list in old_device.access_lists}
    after: Mapping[str, AccessList] = {access_list.name: access_list for access_list in new_device.access_lists}
    for name in dict.fromkeys((*before, *after)):
        _edit_access_list(draft, name, before.get(name), after.get(name))


def _edit_access_list(draft: PendingSettingChanges, name: str, old: AccessList | None, new: AccessList | None) -> None:
    bound = [set() if access_list is None else set(access_list.bindings) for access_list in (old, new)]
    for binding in sorted(bound[0] - bound[1], key=lambda acl_binding: acl_binding.key):
        *parent_path, direction = binding_path(name, binding)
        directions = draft.top.below(*parent_path).node.keys()
        draft.unset(*parent_path) if directions <= {direction} else draft.unset(*parent_path, direction)
    for binding in sorted(bound[1] - bound[0], key=lambda one: one.key):
        of_switch = binding.interface is not None and binding.stage in ("control-plane", "control-plane-out")
        draft.set(*binding_path(name, binding), *(("control-plane",) if of_switch else ()))
    if new is None:
        draft.unset("acl", name)
        return
    was = {entry.name: entry for entry in known_rows(old.entries if old is not None else ())}
    entries = {entry.name: entry for entry in known_rows(new.entries)}
    if old is None:
        draft.set(
            "acl",
            name,
            "type",
            to=next((access_entry.family for access_entry in entries.values() if access_entry.family), "ipv4"),
        )
    for gone in was.keys() - entries.keys():
        draft.unset("acl", name, "rule", gone)
    for entry in entries.values():
        if not is_equal(was.get(entry.name), entry):
            draft.unset("acl", name, "rule", entry.name)
            for path, value in _rule_settings(entry):
                whole_path = ("acl", name, "rule", entry.name, *path)
                draft.set(*whole_path) if value is None else draft.set(*whole_path, to=value)


def _rule_settings(entry: AccessEntry) -> Iterator[_PathAndValue]:
    """Yield the settings of a rule; an entry that has more than these is another one when it is read."""
    ip: Path = ("match", "ip")
    layer = _NVUE_WORD_BY_PROTOCOL.get(entry.protocol or 0)
    has_ports = bool(entry.source_ports or entry.destination_ports)
    if entry.protocol is not None and not (layer and has_ports):
        yield (*ip, "protocol"), layer or str(entry.protocol)
    for word, prefixes in (("source-ip", entry.sources), ("dest-ip", entry.destinations)):
        yield from (((*ip, word), prefix) for prefix in prefixes)
    for word, ports in (("source-port", entry.source_ports), ("dest-port", entry.destination_ports)):
        inside = (*ip, layer, word) if layer else (*ip, word)
        yield from (((*inside, text), None) for text in _format_port_ranges(ports))
    yield from (((*ip, "dscp"), str(dscp)) for dscp in entry.dscps)
    yield from (((*ip, "ecn", "ip-ect"), str(ecn)) for ecn in entry.ecns)
    if entry.dscp is not None:
        yield ("action", "set", "dscp"), str(entry.dscp)
    if entry.traffic_class is not None:
        yield ("action", "set", "class"), str(entry.traffic_class)
    if entry.action == "deny" or (entry.action == "permit" and entry.dscp is None):
        yield ("action", entry.action), None


def _format_port_ranges(ports: Sequence[PortRange]) -> Iterator[str]:
    return (str(port.first) if port.first == port.last else f"{port.first}-{port.last}" for port in ports)
