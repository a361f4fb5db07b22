"""Access lists of a config_db.json (ACL_TABLE, ACL_RULE) as orchagent installs them.

Of the rules of a table the one with the highest PRIORITY decides; what none matches is forwarded, for orchagent adds no
last rule (sonic-swss orchagent/aclorch.cpp; acl-loader states its last rule, DEFAULT_RULE, in the file). It
installs no rule with a field, or a value, that the type of the table does not have: the same in all releases from
202305 on. Tables of the type CTRLPLANE are for caclmgrd (sonic-host-services scripts/caclmgrd).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.model.access import AccessEntry, AccessList, Binding, Bits, PortRange
from nodrop.model.addresses import address_of, network_of
from nodrop.model.states import UNKNOWN, Unknown, known_rows
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.entry_order import sort_lists_and_entries
from nodrop.platforms.sonic.config import DeviceTables, RowFields
from nodrop.syntax.places import quote_text
from nodrop.units import parse_whole_number

TABLE, RULE, TYPE = "ACL_TABLE", "ACL_RULE", "ACL_TABLE_TYPE"
_CONTROL_PLANE_TYPE = "CTRLPLANE"
_L4_MATCH_FIELDS = frozenset({"L4_SRC_PORT", "L4_DST_PORT", "TCP_FLAGS", "VLAN_ID", "IP_TYPE"})
_PORT_RANGE_FIELDS = frozenset({"L4_SRC_PORT_RANGE", "L4_DST_PORT_RANGE"})
_IPV4_MATCH_FIELDS = _L4_MATCH_FIELDS | {"ETHER_TYPE", "SRC_IP", "DST_IP", "ICMP_TYPE", "ICMP_CODE", "IP_PROTOCOL"}
_IPV6_MATCH_FIELDS = _L4_MATCH_FIELDS | {"SRC_IPV6", "DST_IPV6", "ICMPV6_TYPE", "ICMPV6_CODE", "NEXT_HEADER"}
_MATCH_FIELDS_BY_TYPE: Mapping[str, frozenset[str]] = {
    "L3": _IPV4_MATCH_FIELDS | _PORT_RANGE_FIELDS,
    "L3V6": _IPV6_MATCH_FIELDS | _PORT_RANGE_FIELDS | {"IP_PROTOCOL"},
    "L3V4V6": _IPV4_MATCH_FIELDS | _IPV6_MATCH_FIELDS | {"IN_PORTS"},
    "MIRROR": _IPV4_MATCH_FIELDS | _IPV6_MATCH_FIELDS | _PORT_RANGE_FIELDS | {"IN_PORTS", "DSCP"},
    "MIRRORV6": _IPV6_MATCH_FIELDS | _PORT_RANGE_FIELDS | {"IP_PROTOCOL", "DSCP"},
    "MIRROR_DSCP": frozenset({"DSCP"}),
}
"""The fields that rules of each type of table may match (aclorch.cpp, initDefaultTableTypes and
stageMandatoryMatchFields; MIRROR has those of IPv6 on some platforms only)."""
_FAMILY_BY_TABLE_TYPE: Mapping[str, Any] = {"L3": "ipv4", "L3V6": "ipv6", "MIRROR": "ipv4", "MIRRORV6": "ipv6"}
_PORTS_BY_SERVICE: Mapping[str, tuple[int | None, tuple[PortRange, ...]]] = {
    "NTP": (17, (PortRange(123, 123),)),
    "SNMP": (None, (PortRange(161, 161),)),
    "SSH": (6, (PortRange(22, 22),)),
    "REDFISH": (6, (PortRange(443, 443),)),
    "EXTERNAL_CLIENT": (6, ()),
    "ANY": (None, ()),
}
"""Protocol and ports of the services that caclmgrd knows (ACL_SERVICES); those of EXTERNAL_CLIENT are in its rules."""
_MIRROR_ACTION_FIELDS = ("MIRROR_ACTION", "MIRROR_INGRESS_ACTION", "MIRROR_EGRESS_ACTION")
_ACTION_FIELDS = frozenset(
    {"PACKET_ACTION", "REDIRECT_ACTION", "POLICER_ACTION", "DSCP_ACTION", *_MIRROR_ACTION_FIELDS}
)
_FAMILY_BY_IP_TYPE: Mapping[str, object] = {
    **dict.fromkeys(("ANY", "IP")),
    **dict.fromkeys(("IPV4ANY", "NON_IPV6"), "ipv4"),
    **dict.fromkeys(("IPV6ANY", "NON_IPV4"), "ipv6"),
    **dict.fromkeys(("NON_IP", "ARP", "ARP_REQUEST", "ARP_REPLY"), "other"),
}
"""What orchagent knows as IP_TYPE (aclIpTypeLookup); the schema has other words too, such as IPV4."""
_IPV4_TYPE, _IPV6_TYPE = 0x0800, 0x86DD
_RULE_FIELDS_BY_FAMILY = {
    "ipv4": ("SRC_IP", "DST_IP", "ICMP_TYPE", "ICMP_CODE"),
    "ipv6": ("SRC_IPV6", "DST_IPV6", "ICMPV6_TYPE", "ICMPV6_CODE", "NEXT_HEADER"),
}
_IMPLIED_PROTOCOL_BY_FIELD = {"TCP_FLAGS": 6, "ICMP_TYPE": 1, "ICMP_CODE": 1, "ICMPV6_TYPE": 58, "ICMPV6_CODE": 58}
"""The protocol that a field implies where none is stated."""
_MODELED_FIELDS = frozenset(
    {"PRIORITY", "SRC_IP", "DST_IP", "SRC_IPV6", "DST_IPV6", "L4_SRC_PORT", "L4_DST_PORT", "IP_PROTOCOL", "NEXT_HEADER"}
) | {"IP_TYPE", "DSCP", "TCP_FLAGS", "BTH_OPCODE", *_PORT_RANGE_FIELDS, *_ACTION_FIELDS}
"""Fields whose meaning is in the model; others are kept as conditions that may match less."""
ACL_RULE_FIELDS_BY_ENTRY_FIELD: Mapping[str, tuple[str, ...]] = {
    "action": ("PACKET_ACTION",),
    "priority": ("PRIORITY",),
    "family": ("IP_TYPE", "ETHER_TYPE"),
    "protocol": ("IP_PROTOCOL", "NEXT_HEADER"),
    "sources": ("SRC_IP", "SRC_IPV6"),
    "destinations": ("DST_IP", "DST_IPV6"),
    "source_ports": ("L4_SRC_PORT", "L4_SRC_PORT_RANGE"),
    "destination_ports": ("L4_DST_PORT", "L4_DST_PORT_RANGE"),
    "dscps": ("DSCP",),
    "opcode": ("BTH_OPCODE",),
    "tcp_flags": ("TCP_FLAGS",),
    "interfaces": ("IN_PORTS", "OUT_PORTS"),
    "redirects": ("REDIRECT_ACTION", "PACKET_ACTION"),
    "polices": ("POLICER_ACTION",),
    "dscp": ("DSCP_ACTION",),
    "mirrors": (*_MIRROR_ACTION_FIELDS, "PACKET_ACTION"),
}
"""The fields of a rule that state a part of an entry."""
ACL_RULE_FIELDS = frozenset(field for fields in ACL_RULE_FIELDS_BY_ENTRY_FIELD.values() for field in fields)
ACL_TABLE_FIELDS_BY_LIST_FIELD: Mapping[str, tuple[str, ...]] = {"bindings": ("ports", "stage"), "family": ("type",)}
_VLAN_NAME_PATTERN = re.compile(r"Vlan([0-9]{1,4})")


class _RuleNotInstalled(Exception):
    """A rule is not installed; the text gives the reason."""


def read_access_lists(config: DeviceTables) -> tuple[AccessList, ...] | Unknown:
    """Return a device's access lists, sorted by name."""
    if not config.is_conclusive_about_table(TABLE):
        return UNKNOWN
    rules: dict[str, list[tuple[str, RowFields]]] = {}
    for key, row in config.rows(RULE).items():
        table, _, name = key.partition("|")
        rules.setdefault(table, []).append((name, row))
    tables = config.rows(TABLE).items()
    return sort_lists_and_entries(
        _build_access_list(config, name, _uppercase_fields(row), rules.get(name, ())) for name, row in tables
    )


def remark_refused_rules(config: DeviceTables, lists: tuple[AccessList, ...] | Unknown) -> None:
    """Remark the rules that orchagent does not install, unless the place has another remark."""
    remarked = config.paths_with_remarks()
    for access_list in known_rows(lists):
        for entry in known_rows(access_list.entries):
            if entry.refused is None:
                continue
            row = config.rows(RULE)[access_rule_key(access_list.name, entry.name)]
            field = next((column for column in row if entry.refused.startswith(f"{column.upper()} ")), None)
            keys = (RULE, access_rule_key(access_list.name, entry.name), *(() if field is None else (field,)))
            if keys not in remarked:
                subject = ("@access_lists", access_list.name, "entries", entry.name)
                config.remark("refused-rule", subject, keys, table=access_list.name, rule=entry.name, why=entry.refused)


def access_rule_key(name: str, entry: str) -> str:
    """Return the key of an entry's row."""
    return f"{name}|{entry}"


def paths_of_access_list_part(subject_path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield where a part of an access list stands: in the row of its rule, or of its table."""
    name, field, entry, entry_field = (*subject_path, "", "", "", "")[:4]
    if field == "entries" and entry:
        row = access_rule_key(name, entry)
        yield from ((RULE, row, column) for column in ACL_RULE_FIELDS_BY_ENTRY_FIELD.get(entry_field, ()))
        yield (RULE, row)
    yield from ((TABLE, name, column) for column in ACL_TABLE_FIELDS_BY_LIST_FIELD.get(field, ()))
    yield (TABLE, name)
    yield (TABLE,)


def _uppercase_fields(row: RowFields) -> dict[str, str]:
    return {field.upper().removesuffix("@"): value for field, value in row.items()}


def _build_access_list(config: DeviceTables, name: str, table: Mapping[str, str], rules: Any) -> AccessList:
    kind = table.get("TYPE", "").upper()
    stage: Any = "egress" if table.get("STAGE", "").upper() == "EGRESS" else "ingress"
    ports = [port.strip() for port in table.get("PORTS", "").split(",") if port.strip()]
    bindings = tuple(Binding(interface=_model_interface_name(port), stage=stage) for port in dict.fromkeys(ports))
    matches = _MATCH_FIELDS_BY_TYPE.get(kind) or _match_fields_of_custom_table_type(config, kind)
    if kind == _CONTROL_PLANE_TYPE:
        return _build_control_plane_access_list(name, table, rules)
    entries: Any = UNKNOWN
    if matches is not None:
        entries = tuple(_build_access_entry(rule, _uppercase_fields(row), kind, stage, matches) for rule, row in rules)
    return AccessList(name=name, entries=entries, family=_FAMILY_BY_TABLE_TYPE.get(kind), bindings=bindings)


def _build_control_plane_access_list(name: str, table: Mapping[str, str], rules: Any) -> AccessList:
    """Return a table for caclmgrd: rules for services, after which it drops all else that is for the switch.

    It accepts BGP before, and BFD only while orchagent has sessions of it, which FRR's are not.
    """
    entries = []
    for service in (word.strip() for word in table.get("SERVICES", "").split(",")):
        for rule, row in rules if service in _PORTS_BY_SERVICE else ():
            entry = _build_access_entry(rule, _uppercase_fields(row), _CONTROL_PLANE_TYPE, "ingress", frozenset())
            protocol, ports = _PORTS_BY_SERVICE[service]
            ports = ports or (entry.destination_ports if service == "EXTERNAL_CLIENT" else ())
            entries.append(replace_fields(entry, protocol=protocol, destination_ports=ports))
    several = len({entry.name for entry in entries}) < len(entries)
    return AccessList(
        name=name,
        entries=UNKNOWN if several else tuple(entries),
        otherwise="deny" if entries else "permit",
        bindings=(Binding(interface=None, stage="services"),),
    )


def _match_fields_of_custom_table_type(config: DeviceTables, kind: str) -> frozenset[str] | None:
    """Return the matches of a type that the file defines; None if they are not stated."""
    for name, row in config.rows(TYPE).items():
        if name.upper() == kind:
            stated = _uppercase_fields(row).get("MATCHES", "")
            return frozenset(word.strip() for word in stated.split(",") if word.strip())
    return None


def _model_interface_name(port: str) -> str:
    vlan = _VLAN_NAME_PATTERN.fullmatch(port)
    return f"VLAN {int(vlan[1])}" if vlan else port


def _build_access_entry(name: str, row: dict[str, str], kind: str, stage: str, matches: frozenset[str]) -> AccessEntry:
    priority = parse_whole_number(row.get("PRIORITY", ""))
    entry_fields: dict[str, Any] = {}
    refused = None
    try:
        entry_fields = dict(_read_conditions(row, kind, stage)) | dict(_action_fields(row, kind))
        if kind != _CONTROL_PLANE_TYPE:
            _refuse_invalid_matches(row, kind, matches)
    except _RuleNotInstalled as error:
        refused = str(error)
    return AccessEntry(name=name, priority=priority, refused=refused, **entry_fields)


def _refuse_invalid_matches(table_row: Mapping[str, str], object_kind: str, matches: frozenset[str]) -> None:
    """Raise _Refused where the type of the table does not have a field, or the rule has no condition or no action."""
    conditions = [field for field in table_row if field not in _ACTION_FIELDS and field != "PRIORITY"]
    for field in conditions:
        if field.removesuffix("_MASK") not in matches and field not in matches:
            raise _RuleNotInstalled(f"{field} is no match of a table of type {object_kind}")
    if not conditions:
        raise _RuleNotInstalled("it matches on nothing")


def _read_conditions(table_row: dict[str, str], object_kind: str, stage: str) -> Iterator[tuple[str, object]]:
    """Yield the fields of an entry that state which packets it matches; those of an address first."""
    families = {_read_address_family(table_row)} | {
        family for family, fields in _RULE_FIELDS_BY_FAMILY.items() if any(map(table_row.get, fields))
    }
    stated = families - {None}
    yield "family", "other" if len(stated) > 1 else next(iter(stated), None)
    protocol = _read_number(table_row, "IP_PROTOCOL", 255)
    protocol = _read_number(table_row, "NEXT_HEADER", 255) if protocol is None else protocol
    implied = next((number for field, number in _IMPLIED_PROTOCOL_BY_FIELD.items() if field in table_row), None)
    yield "protocol", implied if protocol is None else protocol
    criteria = [
        f"{field} {table_row[field]}"
        for field in sorted(table_row)
        if _is_unmodeled_field(field, table_row, object_kind, stage)
    ]
    for field, side in (("sources", "SRC"), ("destinations", "DST")):
        prefixes = tuple(
            _read_prefix(table_row, column) for column in (f"{side}_IP", f"{side}_IPV6") if table_row.get(column)
        )
        criteria += [
            f"{side}_IP{version}_MASK"
            for version in ("", "V6")
            if _prefix_length_of_mask(table_row, f"{side}_IP{version}") is False
        ]
        yield field, prefixes
    for field, side in (("source_ports", "L4_SRC_PORT"), ("destination_ports", "L4_DST_PORT")):
        yield field, tuple(_read_port_ranges(table_row, side))
    yield "dscps", _matched_dscps(table_row)
    yield "opcode", _read_bth_opcode(table_row)
    yield "tcp_flags", _read_six_bit_number_and_mask(table_row, "TCP_FLAGS")
    ports = table_row.get("IN_PORTS" if stage == "ingress" else "OUT_PORTS", "")
    yield "interfaces", tuple(port.strip() for port in ports.split(",") if port.strip())
    yield "others", tuple(criteria)


def _is_unmodeled_field(field: str, row: Mapping[str, str], kind: str, stage: str) -> bool:
    """Whether a field is a condition that the model does not have."""
    if field == "PACKET_ACTION":  # whether a table that mirrors may drop depends on the platform
        return kind.startswith("MIRROR") and row[field].upper() == "DROP"
    if (
        field in _MODELED_FIELDS
        or field.endswith("_MASK")
        or field == ("IN_PORTS" if stage == "ingress" else "OUT_PORTS")
    ):
        return False
    return field != "ETHER_TYPE" or _parse_ethertype(row) is None


def _parse_ethertype(row: Mapping[str, str]) -> int | None:
    text = row.get("ETHER_TYPE", "")
    try:
        return int(text, 0)
    except ValueError:
        return None


def _read_address_family(row: Mapping[str, str]) -> object:
    """Return the family that IP_TYPE or ETHER_TYPE names; `other` for packets that are not of IP."""
    kind = row.get("IP_TYPE")
    if kind is not None and kind.upper() not in _FAMILY_BY_IP_TYPE:
        raise _RuleNotInstalled(f"IP_TYPE {quote_text(kind)} is unknown to orchagent (IPV4ANY, IPV6ANY, IP, ANY, …)")
    family = _FAMILY_BY_IP_TYPE[kind.upper()] if kind is not None else None
    number = _parse_ethertype(row)
    if number is not None:
        of_number = {_IPV4_TYPE: "ipv4", _IPV6_TYPE: "ipv6"}.get(number, "other")
        return of_number if family in (None, of_number) else "other"
    return family


def _read_number(row: Mapping[str, str], field: str, most: int) -> int | None:
    text = row.get(field)
    if text is None:
        return None
    try:
        number = int(text, 0) if len(text) <= len("0x") + 8 else -1
    except ValueError:
        number = -1
    if not 0 <= number <= most:
        raise _RuleNotInstalled(f"{field} {quote_text(text)} is no number up to {most}")
    return number


def _prefix_length_of_mask(row: Mapping[str, str], field: str) -> int | bool:
    """Return the length that a field's mask states, False where it is no prefix's; True without a mask."""
    text = row.get(f"{field}_MASK")
    if text is None:
        return True
    mask = address_of(text)
    bits = "" if mask is None else f"{int(mask):0{mask.max_prefixlen}b}"
    return bits.count("1") if bits and "01" not in bits else False


def _read_prefix(row: Mapping[str, str], field: str) -> str:
    text = row[field]
    length = _prefix_length_of_mask(row, field)
    spelt = f"{text}/{length}" if isinstance(length, int) and not isinstance(length, bool) else text
    network = network_of(spelt)
    if network is None or (network.version == 6) is not field.endswith("V6"):
        raise _RuleNotInstalled(
            f"{field} {quote_text(text)} is no prefix of {'IPv6' if field.endswith('V6') else 'IPv4'}"
        )
    return str(network) if length is not False else str(network.supernet(new_prefix=0))


def _read_port_ranges(table_row: Mapping[str, str], field: str) -> Iterator[PortRange]:
    number = _read_number(table_row, field, 65_535)
    if number is not None:
        yield PortRange(number, number)
    text = table_row.get(f"{field}_RANGE")
    if text is not None:
        first_text, _, last = text.partition("-")
        low, high = parse_whole_number(first_text, 65_535), parse_whole_number(last, 65_535)
        if low is None or high is None or low > high:
            raise _RuleNotInstalled(f"{field}_RANGE {quote_text(text)} is no rising range of ports")
        yield PortRange(low, high)


def _read_six_bit_number_and_mask(row: Mapping[str, str], field: str) -> Bits | None:
    """Return a number with its mask, `46` or `0x2/0x3`, both of six bits."""
    if field not in row:
        return None
    number, slash, mask = row[field].partition("/")
    found_number = _read_number({field: number}, field, 63)
    masked = _read_number({field: mask}, field, 63) if slash else 63
    return None if found_number is None or masked is None else Bits(found_number, masked)


def _read_bth_opcode(row: Mapping[str, str]) -> Bits | None:
    """Return an opcode of BTH, for which orchagent wants a mask, `0x81/0xff`."""
    if (text := row.get("BTH_OPCODE")) is None:
        return None
    number, slash, mask = text.partition("/")
    if not slash:
        raise _RuleNotInstalled(f"BTH_OPCODE {quote_text(text)} has no mask (0x81/0xff)")
    numbers = [_read_number({"BTH_OPCODE": part}, "BTH_OPCODE", 255) or 0 for part in (number, mask)]
    return Bits(*numbers)


def _matched_dscps(row: Mapping[str, str]) -> tuple[int, ...]:
    bits = _read_six_bit_number_and_mask(row, "DSCP")
    return () if bits is None else tuple(dscp for dscp in range(64) if dscp & bits.mask == bits.number & bits.mask)


def _action_fields(row: Mapping[str, str], kind: str) -> Iterator[tuple[str, object]]:
    """Yield the fields of an entry that state what happens to packets."""
    mirrors = any(field in row for field in _MIRROR_ACTION_FIELDS)
    stated = row.get("PACKET_ACTION")
    word, colon, target = (stated or "").partition(":")
    word = word.upper()
    if kind == _CONTROL_PLANE_TYPE:
        yield "action", "deny" if word == "DROP" else "permit"
        return
    if stated is not None and (word not in ("FORWARD", "DROP", "COPY", "DO_NOT_NAT", "DISABLE_TRIM") or colon):
        if word != "REDIRECT" or not target:
            raise _RuleNotInstalled(
                f"PACKET_ACTION {quote_text(stated)} is unknown to orchagent (FORWARD, DROP, REDIRECT:…)"
            )
        yield "redirects", target
    if not any(field in row for field in _ACTION_FIELDS):
        raise _RuleNotInstalled("it has no action")
    yield "action", "deny" if word == "DROP" else "permit"
    yield "mirrors", mirrors or word == "COPY"
    if "REDIRECT_ACTION" in row:
        yield "redirects", row["REDIRECT_ACTION"]
    yield "polices", "POLICER_ACTION" in row
    yield "dscp", _read_number(row, "DSCP_ACTION", 63)
