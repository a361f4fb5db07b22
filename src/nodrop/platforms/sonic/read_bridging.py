"""Port channels and VLANs of a config_db.json: each is a row, its members are rows, and so are its addresses.

Older files list the members in the row itself. vlanmgrd still takes those of a VLAN, untagged (sonic-swss
cfgmgr/vlanmgr.cpp, `members@`). Those of a port channel were read until 201803: teammgrd reads PORTCHANNEL_MEMBER
alone (sonic-buildimage dockers/docker-teamd, October 2018), and is older than the first version of a database
(sonic-utilities scripts/db_migrator.py, April 2019), so they count in a file that has neither.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.platforms.sonic.config import DeviceTables, RowFields
from nodrop.syntax.shapes import value_at

DEFAULT_MTU_BYTES = 9100
"""MTU of a port channel or VLAN without one (sonic-swss cfgmgr/teammgr.cpp, cfgmgr/vlanmgr.cpp)."""

_IS_UP_BY_WORD = {"up": True, "down": False}
_IS_TRUE_BY_WORD = {"true": True, "false": False, "True": True, "False": False}
_IS_TAGGED_BY_MODE = {"tagged": True, "untagged": False, "priority_tagged": True}
_VLAN_NAME_PATTERN = re.compile(r"Vlan([0-9]{1,4})")

_OLD_MEMBERS_REASON = (
    "the file has no PORTCHANNEL_MEMBER and no version: PORTCHANNEL lists the members, as until 201803"
)

ReasonByDerivedSubject = dict[Subject, str]


def read_port_channel_and_vlan_fields(config: DeviceTables, derived_values: ReasonByDerivedSubject) -> dict[str, Any]:
    """Return the fields of a device that state its port channels and VLANs."""
    return {"port_channels": _read_port_channels(config, derived_values), "vlans": _read_vlans(config, derived_values)}


def _read_port_channels(
    config: DeviceTables, derived_values: ReasonByDerivedSubject
) -> tuple[PortChannel, ...] | Unknown:
    """Return the port channels, sorted by name; settings that a row leaves out are teammgrd's defaults.

    A file with port channels and nothing of their members is a part of a configuration.
    """
    inline = _read_inline_members(config, "PORTCHANNEL")
    states_members = "PORTCHANNEL_MEMBER" in config.data or any(
        value_at(config.data, "PORTCHANNEL", name, "members") is not None for name in config.rows("PORTCHANNEL")
    )
    if not config.is_conclusive_about_table("PORTCHANNEL") or (config.rows("PORTCHANNEL") and not states_members):
        return UNKNOWN
    members: dict[str, list[str]] = {}
    for name, port in _owner_member_pairs(config, "PORTCHANNEL_MEMBER", "PORTCHANNEL"):
        members.setdefault(name, []).append(port)
    listed = {} if "PORTCHANNEL_MEMBER" in config.data or config.database.text else inline
    members |= listed
    _remark_unknown_inline_members(config, "PORTCHANNEL", listed)
    for name in listed:
        derived_values[_attribute_subject(config, ("PORTCHANNEL", name), "members")] = _OLD_MEMBERS_REASON
        config.old_forms |= {("PORTCHANNEL", name, field) for field in ("members", "admin_status")}
    addresses = addresses_by_interface_of_table(config, "PORTCHANNEL_INTERFACE")
    return tuple(
        PortChannel(
            name=name,
            members=tuple(sorted(members.get(name, ()), key=natural_sort_key)),
            enabled=_read_admin_status(
                config, ("PORTCHANNEL", name), row, name in listed, derived_values, by_daemon=name not in listed
            ),
            min_links=config.integer(("PORTCHANNEL", name), row, "min_links"),
            fast_rate=config.meaning_of_word(("PORTCHANNEL", name), row, "fast_rate", _IS_TRUE_BY_WORD) or False,
            fallback=config.meaning_of_word(("PORTCHANNEL", name), row, "fallback", _IS_TRUE_BY_WORD) or False,
            mtu_bytes=_read_mtu(config, ("PORTCHANNEL", name), row, derived_values),
            addresses=addresses.get(name, ()),
            vrf=config.rows("PORTCHANNEL_INTERFACE").get(name, {}).get("vrf_name"),
            description=row.get("description"),
            segment=UNKNOWN if config.rows("EVPN_ETHERNET_SEGMENT") else None,
        )
        for name, row in sorted(config.rows("PORTCHANNEL").items(), key=lambda item: natural_sort_key(item[0]))
    )


def _read_vlans(config: DeviceTables, derived: ReasonByDerivedSubject) -> tuple[Vlan, ...] | Unknown:
    """Return the VLANs, sorted by number; settings that a row leaves out are vlanmgrd's defaults."""
    if not config.is_conclusive_about_table("VLAN"):
        return UNKNOWN
    members: dict[str, list[VlanMember]] = {}
    modes = config.rows("VLAN_MEMBER")
    inline = _read_inline_members(config, "VLAN")
    _remark_unknown_inline_members(config, "VLAN", inline)
    for name, ports in inline.items():
        untagged = (port for port in ports if f"{name}|{port}" not in modes)
        members[name] = [VlanMember(interface=port, tagged=False) for port in untagged]
        config.old_forms.add(("VLAN", name, "members"))
    for name, port in _owner_member_pairs(config, "VLAN_MEMBER", "VLAN"):
        keys = ("VLAN_MEMBER", f"{name}|{port}")
        tagged = config.meaning_of_word(keys, modes.get(keys[1], {}), "tagging_mode", _IS_TAGGED_BY_MODE)
        members.setdefault(name, []).append(VlanMember(interface=port, tagged=tagged is not False))
    addresses = addresses_by_interface_of_table(config, "VLAN_INTERFACE")
    vlans = []
    for name, row in config.rows("VLAN").items():
        number = _VLAN_NAME_PATTERN.fullmatch(name)
        if number is None:
            config.remark_malformed_value(("VLAN", name), name, "Vlan and a number, such as Vlan100")
            continue
        vlans.append(
            Vlan(
                id=int(number[1]),
                members=tuple(sorted(members.get(name, ()), key=lambda member: natural_sort_key(member.interface))),
                enabled=_read_admin_status(config, ("VLAN", name), row, True, derived),
                mtu_bytes=_read_mtu(config, ("VLAN", name), row, derived),
                addresses=addresses.get(name, ()),
                vrf=config.rows("VLAN_INTERFACE").get(name, {}).get("vrf_name"),
                description=row.get("description"),
            )
        )
    return tuple(sorted(vlans, key=lambda vlan: vlan.id))


def _owner_member_pairs(config: DeviceTables, table: str, owner_table: str) -> Iterator[tuple[str, str]]:
    """Yield (owner of a member, member); a member of a missing owner is reported."""
    for key in config.rows(table):
        name, bar, port = key.partition("|")
        config.find_row((table, key), name, owner_table, ())
        if bar:
            yield name, port
        else:
            config.remark_malformed_value((table, key), key, f"a row of {owner_table}, a bar and a port")


def _read_inline_members(config: DeviceTables, table: str) -> dict[str, list[str]]:
    """Return the members that rows of a table list themselves, by row."""
    found = {name: value_at(config.data, table, name, "members") for name in config.rows(table)}
    return {
        name: list(dict.fromkeys(member for member in members if isinstance(member, str)))
        for name, members in found.items()
        if isinstance(members, list)
    }


def _remark_unknown_inline_members(config: DeviceTables, table: str, members: Mapping[str, list[str]]) -> None:
    """Remark members that are neither ports nor port channels, where the file has all ports."""
    of_tables = ("PORT", "PORTCHANNEL") if table == "VLAN" else ("PORT",)
    if not (config.lists_ports_with_lanes and all(map(config.is_conclusive_about_table, of_tables))):
        return
    for name, ports in members.items():
        for port in ports:
            if not any(port in config.rows(of_table) for of_table in of_tables):
                keys, kind = (table, name, "members"), " or ".join(of_tables)
                config.remark("dangling-reference", (), keys, kind=kind, name=port, field="/".join(keys))


def addresses_by_interface_of_table(config: DeviceTables, table_name: str) -> dict[str, tuple[str, ...]]:
    """Return the addresses of each interface of a table, as they are written."""
    addresses_by_name: dict[str, list[str]] = {}
    for key in config.rows(table_name):
        name, _, address = key.partition("|")
        if address:
            addresses_by_name.setdefault(name, []).append(address)
    return {name: tuple(texts) for name, texts in addresses_by_name.items()}


def _read_admin_status(
    config: DeviceTables,
    keys: tuple[str, str],
    row: RowFields,
    default: bool,
    derived: ReasonByDerivedSubject,
    *,
    by_daemon: bool = True,
) -> bool:
    stated: bool | None = config.meaning_of_word(keys, row, "admin_status", _IS_UP_BY_WORD)
    if stated is not None:
        return stated
    source = "sonic-swss cfgmgr" if by_daemon else "until 201803"
    reason = f"{keys[0]} has no admin_status, which is {'up' if default else 'down'} ({source})"
    derived[_attribute_subject(config, keys, "enabled")] = reason
    return default


def _read_mtu(config: DeviceTables, keys: tuple[str, str], row: RowFields, derived: ReasonByDerivedSubject) -> int:
    stated = config.integer(keys, row, "mtu")
    if stated is not None:
        return stated
    reason = f"{keys[0]} has no mtu, which is {DEFAULT_MTU_BYTES} (sonic-swss cfgmgr)"
    derived[_attribute_subject(config, keys, "mtu_bytes")] = reason
    return DEFAULT_MTU_BYTES


def _attribute_subject(config: DeviceTables, keys: tuple[str, str], attribute: str) -> Subject:
    table, name = keys
    subject_head = ("@port_channels", name) if table == "PORTCHANNEL" else ("@vlans", name.removeprefix("Vlan"))
    return (config.device, *subject_head, attribute)
