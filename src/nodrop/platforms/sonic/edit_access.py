"""Changes of access lists in a given config_db.json: tables and rules that come, go or change."""

from collections.abc import Iterator, Sequence

from nodrop.model.access import AccessEntry, AccessList, PortRange
from nodrop.model.fabric import Device
from nodrop.model.states import Unknown, known_rows
from nodrop.platforms.kit.editing import is_equal
from nodrop.platforms.sonic.draft import EditableTables
from nodrop.platforms.sonic.read_access import ACL_RULE_FIELDS, RULE, TABLE, access_rule_key
from nodrop.platforms.sonic.spelling import vlan_name

_TYPE_BY_FAMILY = {"ipv4": "L3", "ipv6": "L3V6"}


def change_access_lists(draft: EditableTables, old_device: Device, new_device: Device) -> None:
    """Bring the access lists of `new` into tables that state `old`; settings without a field there stay as they are."""
    if isinstance(old_device.access_lists, Unknown) or isinstance(new_device.access_lists, Unknown):
        return
    before = {acl.name: acl for acl in old_device.access_lists}
    after = {acl.name: acl for acl in new_device.access_lists}
    for name, access_list in before.items():
        kept_access_list = after.get(name)
        entries = set() if kept_access_list is None else {entry.name for entry in known_rows(kept_access_list.entries)}
        for entry in known_rows(access_list.entries):
            if entry.name not in entries:
                draft.remove(RULE, access_rule_key(name, entry.name))
        if kept_access_list is None:
            draft.remove(TABLE, name)
    for name, new_access_list in after.items():
        _edit_access_list(draft, before.get(name), new_access_list)


def _edit_access_list(draft: EditableTables, old: AccessList | None, new: AccessList) -> None:
    if any(binding.stage == "services" for binding in new.bindings):
        return  # its rules are in other words, and their services are stated at the table
    if old is None:
        draft.update(TABLE, new.name, {"type": _TYPE_BY_FAMILY.get(new.family or "", "L3V4V6")})
    if old is None or not is_equal(old.bindings, new.bindings):
        ports = [_binding_port_name(binding.interface) for binding in new.bindings if binding.interface is not None]
        draft.update(
            TABLE, new.name, {"ports": ports or None, "stage": next((binding.stage for binding in new.bindings), None)}
        )
    entries = {entry.name: entry for entry in known_rows(old.entries if old is not None else ())}
    for entry in known_rows(new.entries):
        if not is_equal(entries.get(entry.name), entry):
            row = dict(_rule_fields(entry))
            draft.update(
                RULE, access_rule_key(new.name, entry.name), {**dict.fromkeys(ACL_RULE_FIELDS - row.keys()), **row}
            )


def _binding_port_name(name: str) -> str:
    number = name.removeprefix("VLAN ")
    return name if number == name else vlan_name(int(number))


def _rule_fields(entry: AccessEntry) -> Iterator[tuple[str, str]]:
    """Yield the fields of a rule; an entry that has more than these is another one when it is read."""
    if entry.priority is not None:
        yield "PRIORITY", str(entry.priority)
    permit = "FORWARD" if entry.redirects is None else f"REDIRECT:{entry.redirects}"
    yield "PACKET_ACTION", "DROP" if entry.action == "deny" else permit
    for side, prefixes in (("SRC", entry.sources), ("DST", entry.destinations)):
        yield from ((f"{side}_IPV6" if ":" in prefix else f"{side}_IP", prefix) for prefix in prefixes)
    if entry.family in _TYPE_BY_FAMILY and not (entry.sources or entry.destinations):
        yield "IP_TYPE", f"{entry.family.replace('ip', 'IP').upper()}ANY"
    if entry.protocol is not None:
        yield "NEXT_HEADER" if entry.family == "ipv6" else "IP_PROTOCOL", str(entry.protocol)
    for field, ports in (("L4_SRC_PORT", entry.source_ports), ("L4_DST_PORT", entry.destination_ports)):
        yield from _port_range_fields(field, ports)
    if len(entry.dscps) == 1:
        yield "DSCP", str(entry.dscps[0])
    if entry.opcode is not None:
        yield "BTH_OPCODE", f"{entry.opcode.number:#04x}/{entry.opcode.mask:#04x}"
    if entry.tcp_flags is not None:
        yield "TCP_FLAGS", f"{entry.tcp_flags.number:#x}/{entry.tcp_flags.mask:#x}"
    if entry.interfaces:
        yield "IN_PORTS", ",".join(entry.interfaces)


def _port_range_fields(field: str, ports: Sequence[PortRange]) -> Iterator[tuple[str, str]]:
    for port in ports:
        yield (field, str(port.first)) if port.first == port.last else (f"{field}_RANGE", f"{port.first}-{port.last}")
