"""A switch's tables, reduced to those that Batfish's reader of SONiC takes (Batfish 0.36, vendor/sonic/representation).

A key that a class of its rows does not have makes Batfish drop the whole table without an error. Therefore only keys
that it knows are kept. It takes members of VLANs from the older form of the table VLAN only.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.model.fabric import Device
from nodrop.model.states import Unknown, is_known_off, known_rows
from nodrop.platforms.kit.artifact import BatfishTables
from nodrop.platforms.sonic.batfish_access import batfish_access_tables
from nodrop.platforms.sonic.config import DeviceTables
from nodrop.platforms.sonic.document import CONFIG_DB_FILE
from nodrop.platforms.sonic.frr_text import read_tables_and_frr

_SNAPSHOT_FOLDER = "sonic_configs"
_VLAN_NAME_PREFIX = "Vlan"
_UNREAD_TABLES = (
    "PORTCHANNEL", "PORTCHANNEL_MEMBER", "PORTCHANNEL_INTERFACE", "VLAN_SUB_INTERFACE", "VRF", "VXLAN_TUNNEL", "VNET",
)  # fmt: skip
"""Tables of what bears on routing that it does not read."""
_UNSUPPORTED_FRR_LINE = re.compile(
    r"^router bgp [0-9.]+ (?:vrf (?!default\b)|view )|^[ \t]*vrf (?!default\b)"
    r"|^[ \t]*address-family l2vpn\b|^ip route .* vrf (?!default\b)|^interface \S+ vrf |^router ospf",
    re.MULTILINE,
)
"""Lines at which it loses the whole device, or that belong to what it does not have."""
_ADDRESS_TABLES = ("INTERFACE", "LOOPBACK_INTERFACE", "VLAN_INTERFACE")
_IPV4_PREFIX_PATTERN = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2}")
_BATFISH_TAGGING_MODE = {"tagged": "tagged", "untagged": "untagged", "priority_tagged": "untagged"}
_VLAN_MTU_REASON = "Batfish gives VLANs of SONiC an MTU of 1500 bytes, whatever they have"


def batfish_tables(
    device: Device, config_files: Mapping[str, bytes], hostname: str, frr_conf: str
) -> BatfishTables | None:
    """Return the tables; None if the device has VRFs, port channels or other parts beyond Batfish's reader."""
    documents, _ = read_tables_and_frr(config_files)
    config = DeviceTables(device.name, documents)
    if _has_parts_beyond_batfish(device, config) or _UNSUPPORTED_FRR_LINE.search(frr_conf):
        return None
    ports = {port.name: port for port in device.interfaces}
    rows_by_table: dict[str, dict[str, Any]] = {"DEVICE_METADATA": {"localhost": {"hostname": hostname}}}
    rows_by_table["PORT"] = {
        name: {"admin_status": "down" if is_known_off(port.enabled) else "up"}
        | ({"mtu": str(port.mtu_bytes)} if isinstance(port.mtu_bytes, int) else {})
        for name, port in ports.items()
    }
    members = dict(_vlan_member_rows(config, ports))
    of_vlan: dict[str, list[str]] = {
        name: [] for name in config.rows("VLAN") if name.removeprefix(_VLAN_NAME_PREFIX).isdecimal()
    }
    for key in members:
        of_vlan[key.partition("|")[0]].append(key.partition("|")[2])
    rows_by_table["VLAN"] = {
        name: {"vlanid": name.removeprefix(_VLAN_NAME_PREFIX), "members": sorted(ports)}
        for name, ports in of_vlan.items()
    }
    rows_by_table["VLAN_MEMBER"] = members
    names_by_table = {"INTERFACE": ports, "LOOPBACK_INTERFACE": None, "VLAN_INTERFACE": of_vlan}
    for table in _ADDRESS_TABLES:
        rows, allowed_names = config.rows(table), names_by_table[table]
        names = {key.partition("|")[0] for key in rows}
        kept_names = {name for name in names if allowed_names is None or name in allowed_names}
        rows_by_table[table] = {name: {} for name in sorted(kept_names)}
        rows_by_table[table] |= {
            key: _secondary_field(row) for key, row in rows.items() if _is_address_batfish_reads(key, kept_names)
        }
    filters, unseen = batfish_access_tables(device, ports)
    rows_by_table |= filters
    for vlan in known_rows(device.vlans):
        if vlan.addresses:
            unseen[device.name, "@vlans", vlan.key, "mtu_bytes"] = _VLAN_MTU_REASON
    text = json.dumps({table: rows for table, rows in rows_by_table.items() if rows}, indent=1) + "\n"
    return BatfishTables(_SNAPSHOT_FOLDER, CONFIG_DB_FILE, text, _VLAN_NAME_PREFIX, unseen)


def _has_parts_beyond_batfish(device: Device, config: DeviceTables) -> bool:
    """Whether the tables have parts that are not read: other routing tables, bundles, a port in several VLANs."""
    if not config.rows("PORT") or any(config.rows(table) for table in _UNREAD_TABLES):
        return True
    if any("vrf_name" in row for table in _ADDRESS_TABLES for row in config.rows(table).values()):
        return True
    if isinstance(device.vlans, Unknown) or any(is_known_off(vlan.enabled) for vlan in device.vlans):
        return bool(config.rows("VLAN"))
    carried = [member.interface for vlan in known_rows(device.vlans) for member in vlan.members]
    return len(carried) != len(set(carried))


def _vlan_member_rows(config: DeviceTables, ports: Mapping[str, object]) -> Iterator[tuple[str, dict[str, str]]]:
    rows = config.rows("VLAN_MEMBER")
    for key, row in rows.items():
        vlan, _, port = key.partition("|")
        mode = _BATFISH_TAGGING_MODE.get(row.get("tagging_mode", ""))
        if mode and port in ports and vlan in config.rows("VLAN") and vlan.removeprefix(_VLAN_NAME_PREFIX).isdecimal():
            yield key, {"tagging_mode": mode}


def _is_address_batfish_reads(key: str, interface_names: set[str]) -> bool:
    """Whether a row is an address that is read."""
    name, bar, address = key.partition("|")
    return bool(bar) and name in interface_names and _IPV4_PREFIX_PATTERN.fullmatch(address) is not None


def _secondary_field(row: Mapping[str, str]) -> dict[str, str]:
    return {"secondary": "true"} if row.get("secondary") == "true" else {}
