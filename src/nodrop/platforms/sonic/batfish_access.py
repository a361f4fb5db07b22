"""Access lists as Batfish's reader of SONiC takes them: those of IPv4 at ports, with a last rule that forwards.

Batfish denies what no rule matches, which SONiC forwards, and drops the rules of all tables at a field that its class
of rules does not have: ranges of ports, DSCPs and IP_TYPE among them (Batfish 0.36, vendor/sonic, AclRule).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.model.access import AccessEntry, AccessList, PortRange
from nodrop.model.fabric import Device
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject
from nodrop.platforms.sonic.read_access import RULE, TABLE, access_rule_key

_HIGHEST, _LAST = 99_999, "FORWARD_THE_REST"
_MOST_PORTS_OF_EXPANDED_RANGE = 64
"""Up to how many ports a range is written as so many rules."""
_EGRESS_REASON = "what the switch itself sends may pass a list at egress or not, and Batfish filters it"
_LIST_KIND_REASON = "Batfish has lists of IPv4 at ports only"
_UNKNOWN_ENTRIES_REASON = "its entries are not known"


class _InexpressibleInBatfish(Exception):
    """Batfish has no field for a condition or an action, which the text names."""


def batfish_access_tables(
    device: Device, ports: Mapping[str, object]
) -> tuple[dict[str, dict[str, object]], dict[Subject, str]]:
    """Return the tables of the lists that Batfish can have, and of each other list why it does not see it."""
    tables: dict[str, dict[str, Any]] = {TABLE: {}, RULE: {}}
    unseen: dict[Subject, str] = {}
    for rules in known_rows(device.access_lists):
        bound = [binding for binding in rules.bindings if binding.stage != "services"]
        if not bound or rules.family == "ipv6" or _has_only_ipv6_entries(rules):
            continue
        try:
            rows = list(_build_rule_rows(rules))
            if any(binding.stage != "ingress" for binding in bound):
                raise _InexpressibleInBatfish(_EGRESS_REASON)
            if any(binding.interface not in ports for binding in bound):
                raise _InexpressibleInBatfish(_LIST_KIND_REASON)
        except _InexpressibleInBatfish as error:
            unseen[device.name, "@access_lists", rules.name] = str(error)
            continue
        tables[TABLE][rules.name] = {
            "type": "L3",
            "stage": "INGRESS",
            "ports": [binding.interface for binding in bound],
        }
        for number, (name, row) in enumerate(rows):
            tables[RULE][access_rule_key(rules.name, name)] = {"PRIORITY": str(_HIGHEST - number), **row}
        tables[RULE][access_rule_key(rules.name, _LAST)] = {"PRIORITY": "1", "PACKET_ACTION": "FORWARD"}
    return tables, unseen


def _has_only_ipv6_entries(rules: AccessList) -> bool:
    entries = known_rows(rules.entries)
    return bool(entries) and all(access_entry.family == "ipv6" for access_entry in entries)


def _build_rule_rows(rules: AccessList) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rules of a list in their order, those of ranges of ports several times."""
    if isinstance(rules.entries, Unknown):
        raise _InexpressibleInBatfish(_UNKNOWN_ENTRIES_REASON)
    for entry in rules.entries:
        if entry.refused is None and entry.family not in ("ipv6", "other") and not entry.mirrors:
            _require_supported_entry(entry)
            row = {"PACKET_ACTION": "DROP" if entry.action == "deny" else "FORWARD"}
            row |= {"IP_PROTOCOL": str(entry.protocol)} if entry.protocol is not None else {}
            for field, prefixes in (("SRC_IP", entry.sources), ("DST_IP", entry.destinations)):
                row |= {field: prefixes[0]} if prefixes else {}
            for near in _expand_port_ranges("L4_SRC_PORT", entry.source_ports):
                for far in _expand_port_ranges("L4_DST_PORT", entry.destination_ports):
                    suffix = "_".join((*near.values(), *far.values()))
                    yield f"{entry.name}{'_' if suffix else ''}{suffix}", row | near | far


def _require_supported_entry(entry: AccessEntry) -> None:
    lacking = {
        "DSCPs": bool(entry.dscps),
        "opcodes of RoCE": entry.opcode is not None,
        "flags of TCP": entry.tcp_flags is not None,
        "ports of entry in a rule": bool(entry.interfaces),
        "redirection": entry.redirects is not None,
        **dict.fromkeys(entry.others, True),
    }
    if missing_features := [feature for feature, is_used in lacking.items() if is_used]:
        raise _InexpressibleInBatfish(f"Batfish has no {', '.join(missing_features)} in access lists of SONiC")


def _expand_port_ranges(field: str, ranges: tuple[PortRange, ...]) -> list[dict[str, str]]:
    """Return the field for every port of some ranges; once without it where there is no range."""
    count = sum(port_range.last - port_range.first + 1 for port_range in ranges)
    if count > _MOST_PORTS_OF_EXPANDED_RANGE:
        raise _InexpressibleInBatfish(
            f"Batfish has no ranges of ports in access lists of SONiC, and {count} ports are too many rules"
        )
    every = (port for port_range in ranges for port in range(port_range.first, port_range.last + 1))
    return [{field: str(port)} for port in every] or [{}]
