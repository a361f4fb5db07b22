"""Everything of a device that is not QoS, brought into the tables of the config_db.json that it has."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from nodrop.model.bridging import PortChannel, Vlan
from nodrop.model.fabric import Device, Interface
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown
from nodrop.platforms.kit.editing import is_equal
from nodrop.platforms.sonic.draft import EditableTables
from nodrop.platforms.sonic.edit_access import change_access_lists
from nodrop.platforms.sonic.edit_profiles import number_text
from nodrop.platforms.sonic.read_buffers import model_pool_name
from nodrop.platforms.sonic.spelling import sonic_pool_name
from nodrop.platforms.sonic.streams import change_streams
from nodrop.platforms.sonic.tables import (
    DEVICE_TYPE_BY_ROLE,
    TABLE_FIELD_BY_DYNAMIC_BUFFERS_FIELD,
    TABLE_FIELD_BY_PORT_FIELD,
    TABLE_FIELD_BY_TRIMMING_FIELD,
    WORD_BY_IS_ENABLED,
)
from nodrop.syntax.shapes import get_or_make_mapping

_Row = TypeVar("_Row")

_WORD_BY_BOOLEAN = {True: "on", False: "off"}
_DEFAULT_ROW_NAME = "AZURE"
_COUNTER_TABLE = "FLEX_COUNTER_TABLE"


def change_ports_services_and_pools(draft: EditableTables, old_device: Device, new_device: Device) -> None:
    """Bring ports, addresses, cables, services, pools and switch-wide settings of `new` into the tables of `old`."""
    for a, b in zip(old_device.interfaces, new_device.interfaces, strict=True):
        if not is_equal(a, b):
            _change_port(draft, a, b)
    _edit_switch_fields(draft, old_device, new_device)
    _change_pools(draft, old_device, new_device)
    _edit_dynamic_buffers(draft, old_device, new_device)
    _edit_trimming(draft, old_device, new_device)
    _edit_counters(draft, old_device, new_device)
    change_streams(draft, old_device, new_device)
    _edit_tunnels(draft, old_device, new_device)
    change_access_lists(draft, old_device, new_device)
    _edit_loopbacks(draft, old_device, new_device)
    _edit_bridged_addresses(draft, "VLAN_INTERFACE", _rows_of_vlans(old_device), _rows_of_vlans(new_device))
    _edit_bridged_addresses(
        draft,
        "PORTCHANNEL_INTERFACE",
        _rows_by_key(old_device.port_channels, "name"),
        _rows_by_key(new_device.port_channels, "name"),
    )
    _edit_management(draft, old_device, new_device)
    for table, attribute in (("NTP_SERVER", "ntp_servers"), ("SYSLOG_SERVER", "syslog_servers")):
        _edit_servers(draft, table, getattr(old_device, attribute), getattr(new_device, attribute))


def _change_port(draft: EditableTables, left_port: Interface, right_port: Interface) -> None:
    for attribute, field in TABLE_FIELD_BY_PORT_FIELD.items():
        before, after = getattr(left_port, attribute), getattr(right_port, attribute)
        if is_equal(before, after) or isinstance(after, Unknown):
            continue
        if attribute == "enabled":
            spelt: str | None = "up" if after else "down"
        elif attribute == "advertised_speeds_mbps":  # orchagent keeps the speeds that it has where the field goes
            spelt = ",".join(map(str, after or ())) or "all"
        else:
            spelt = _WORD_BY_BOOLEAN[after] if isinstance(after, bool) else number_text(after)
        if right_port.name in draft.rows("PORT"):
            draft.update("PORT", right_port.name, {field: spelt})
    if not is_equal(left_port.cable_length_m, right_port.cable_length_m) and not isinstance(
        right_port.cable_length_m, Unknown
    ):
        lists = [name for name, row in draft.rows("CABLE_LENGTH").items() if right_port.name in row]
        names = lists or [*draft.rows("CABLE_LENGTH"), _DEFAULT_ROW_NAME][:1]
        for name in names:
            metres = right_port.cable_length_m
            draft.update("CABLE_LENGTH", name, {right_port.name: None if metres is None else f"{metres}m"})
    if not is_equal(left_port.addresses, right_port.addresses) and not isinstance(right_port.addresses, Unknown):
        _set_addresses(draft, "INTERFACE", right_port.name, right_port.addresses)
    if not is_equal(left_port.vrf, right_port.vrf) and not isinstance(right_port.vrf, Unknown):
        draft.update("INTERFACE", right_port.name, {"vrf_name": right_port.vrf})


def _set_addresses(draft: EditableTables, table: str, name: str, addresses: Iterable[str]) -> None:
    rows = draft.rows(table)
    keys = [f"{name}|{address}" for address in addresses]
    for key in rows:
        if key.startswith(f"{name}|") and key not in keys:
            draft.remove(table, key)
    if keys:
        draft.add_empty_row(table, name)
    for key in keys:
        draft.add_empty_row(table, key)


def _rows_of_vlans(device: Device) -> dict[str, Vlan]:
    return {f"Vlan{key}": vlan for key, vlan in _rows_by_key(device.vlans, "key").items()}


def _edit_bridged_addresses(
    draft: EditableTables,
    table: str,
    old_rows: Mapping[str, Vlan | PortChannel],
    new_rows: Mapping[str, Vlan | PortChannel],
) -> None:
    """Set the addresses of VLANs or port channels that were there before."""
    for name in old_rows.keys() & new_rows.keys():
        if old_rows[name].addresses != new_rows[name].addresses:
            _set_addresses(draft, table, name, new_rows[name].addresses)


def _edit_fib_suppression(draft: EditableTables, old: Bgp, new: Bgp) -> None:
    """Let fpmsyncd answer as BGP waits, for which orchagent has to be in its synchronous mode."""
    if not is_equal(old.suppress_fib_pending, new.suppress_fib_pending):
        on = new.suppress_fib_pending is True
        asynchronous = draft.rows("DEVICE_METADATA").get("localhost", {}).get("synchronous_mode") == "disable"
        stated = {"suppress-fib-pending": "enabled" if on else None}
        draft.update(
            "DEVICE_METADATA", "localhost", stated | ({"synchronous_mode": "enable"} if on and asynchronous else {})
        )


def _edit_switch_fields(draft: EditableTables, old: Device, new: Device) -> None:
    fields = {
        "buffer_model": (old.buffer_model, new.buffer_model),
        "mac": (old.mac, new.mac),
        "type": (old.role, None if isinstance(new.role, Unknown) else DEVICE_TYPE_BY_ROLE.get(new.role)),
    }
    for field, (before, after) in fields.items():
        role = new.role if field == "type" else after
        if not is_equal(before, role) and after is not None and not isinstance(after, Unknown):
            draft.update("DEVICE_METADATA", "localhost", {field: after})
    if not is_equal(old.watchdog_polling_ms, new.watchdog_polling_ms) and not isinstance(
        new.watchdog_polling_ms, Unknown
    ):
        if new.watchdog_polling_ms is None:
            draft.remove("PFC_WD", "GLOBAL")
        else:
            draft.update("PFC_WD", "GLOBAL", {"POLL_INTERVAL": str(new.watchdog_polling_ms)})
    numbers = [device.bgp.asn for device in (old, new) if isinstance(device.bgp, Bgp)]
    if len(set(numbers)) > 1 and "bgp_asn" in draft.rows("DEVICE_METADATA").get("localhost", {}):
        draft.update("DEVICE_METADATA", "localhost", {"bgp_asn": str(numbers[1])})
    if isinstance(old.bgp, Bgp) and isinstance(new.bgp, Bgp):
        _edit_fib_suppression(draft, old.bgp, new.bgp)
    if not is_equal(old.hash_fields, new.hash_fields) and not isinstance(new.hash_fields, Unknown):
        hashed = [field.upper().replace("-", "_") for field in new.hash_fields or ()]
        if hashed:
            get_or_make_mapping(draft.data, "SWITCH_HASH", "GLOBAL")["ecmp_hash"] = hashed
        else:
            draft.update("SWITCH_HASH", "GLOBAL", {"ecmp_hash": None})
    if not is_equal(old.gnmi_port, new.gnmi_port) and not isinstance(new.gnmi_port, Unknown):
        draft.update("GNMI", "gnmi", {"port": number_text(new.gnmi_port)})


def _edit_tunnels(draft: EditableTables, old: Device, new: Device) -> None:
    before, after = _rows_by_key(old.tunnels, "name"), _rows_by_key(new.tunnels, "name")
    for name in before.keys() & after.keys() & draft.rows("TUNNEL").keys():
        mode = after[name].dscp_mode
        if not is_equal(before[name].dscp_mode, mode) and not isinstance(mode, Unknown):
            draft.update("TUNNEL", name, {"dscp_mode": mode})


def _rows_by_key(rows: Iterable[_Row] | None | Unknown, key: str) -> dict[str, _Row]:
    return {} if rows is None or isinstance(rows, Unknown) else {getattr(row, key): row for row in rows}


def _change_pools(draft: EditableTables, old_device: Device, new_device: Device) -> None:
    names = {model_pool_name(name): name for name in draft.rows("BUFFER_POOL")}
    before, after = _rows_by_key(old_device.buffer_pools, "name"), _rows_by_key(new_device.buffer_pools, "name")
    for key in before.keys() - after.keys():
        draft.remove("BUFFER_POOL", names[key])
    for key, pool in after.items():
        was = before.get(key)
        fields = {
            "mode": pool.mode,
            "percentage": number_text(pool.percentage),
            "size": None if pool.computed else number_text(pool.size_bytes),
            "type": pool.direction,
            "xoff": None if pool.computed else number_text(pool.shared_headroom_bytes),
        }
        attributes = ("mode", "percentage", "size_bytes", "direction", "shared_headroom_bytes")
        pairs = zip(fields.items(), attributes, strict=True)
        changed = {
            field: value
            for (field, value), attribute in pairs
            if was is None or not is_equal(getattr(was, attribute), getattr(pool, attribute))
        }
        if pool.computed and was is not None and was.computed:  # neither size stands in the file
            changed = {field: value for field, value in changed.items() if field not in {"size", "xoff"}}
        if changed:
            draft.update("BUFFER_POOL", names.get(key, sonic_pool_name(key)), changed)


def _edit_dynamic_buffers(draft: EditableTables, old: Device, new: Device) -> None:
    before, after = old.dynamic_buffers, new.dynamic_buffers
    if is_equal(before, after) or isinstance(after, Unknown) or isinstance(before, Unknown):
        return
    for attribute, (table, field) in TABLE_FIELD_BY_DYNAMIC_BUFFERS_FIELD.items():
        was, new_value = getattr(before, attribute, None), getattr(after, attribute, None)
        if was != new_value:
            row = next(iter(draft.rows(table)), _DEFAULT_ROW_NAME)
            draft.update(table, row, {field: number_text(new_value)})


def _edit_trimming(draft: EditableTables, old: Device, new: Device) -> None:
    before, after = old.trimming, new.trimming
    if is_equal(before, after) or isinstance(after, Unknown) or isinstance(before, Unknown):
        return
    if after is None:
        draft.remove("SWITCH_TRIMMING", "GLOBAL")
        return
    for attribute, field in TABLE_FIELD_BY_TRIMMING_FIELD.items():
        was, new_value = getattr(before, attribute, None), getattr(after, attribute)
        if was != new_value:
            draft.update("SWITCH_TRIMMING", "GLOBAL", {field: number_text(new_value)})


def _edit_counters(draft: EditableTables, old: Device, new: Device) -> None:
    before, after = _rows_by_key(old.counters, "group"), _rows_by_key(new.counters, "group")
    for group in before.keys() - after.keys():
        draft.remove(_COUNTER_TABLE, group)
    for group, counter in after.items():
        was = before.get(group)
        if was is None or was.enabled != counter.enabled:
            draft.update(_COUNTER_TABLE, group, {"FLEX_COUNTER_STATUS": WORD_BY_IS_ENABLED[counter.enabled]})
        if (was.interval_ms if was else None) != counter.interval_ms:
            draft.update(_COUNTER_TABLE, group, {"POLL_INTERVAL": number_text(counter.interval_ms)})


def _edit_loopbacks(draft: EditableTables, old: Device, new: Device) -> None:
    table = "LOOPBACK_INTERFACE"
    before, after = _rows_by_key(old.loopbacks, "name"), _rows_by_key(new.loopbacks, "name")
    for name in before.keys() - after.keys():
        for key in [key for key in draft.rows(table) if key.partition("|")[0] == name]:
            draft.remove(table, key)
    for name, loopback in after.items():
        was = before.get(name)
        if was is None:
            draft.add_empty_row(table, name)
        if was is None or was.addresses != loopback.addresses:
            _set_addresses(draft, table, name, loopback.addresses)
        if was is None or was.vrf != loopback.vrf:
            draft.update(table, name, {"vrf_name": loopback.vrf})


def _edit_management(draft: EditableTables, old: Device, new: Device) -> None:
    before, after = old.management, new.management
    if is_equal(before, after) or isinstance(after, Unknown) or isinstance(before, Unknown) or before is None:
        return
    if after is None or after.interface != before.interface:
        return
    table = "MGMT_INTERFACE"
    rows = draft.rows(table)
    gateways = [key for key, row in rows.items() if "gwaddr" in row] or [
        key for key in rows if key.startswith(f"{after.interface}|")
    ][:1]
    if before.addresses != after.addresses:
        keys = [f"{after.interface}|{address}" for address in after.addresses]
        for key in [key for key in rows if key.startswith(f"{after.interface}|") and key not in keys]:
            draft.remove(table, key)
        for key in keys:
            draft.add_empty_row(table, key)
        gateways = keys[:1]
    if before.gateway != after.gateway or before.addresses != after.addresses:
        for key in gateways:
            draft.update(table, key, {"gwaddr": after.gateway})
    if before.own_vrf != after.own_vrf:
        draft.update("MGMT_VRF_CONFIG", "vrf_global", {"mgmtVrfEnabled": "true" if after.own_vrf else "false"})


def _edit_servers(
    draft: EditableTables, table: str, old: tuple[str, ...] | Unknown, new: tuple[str, ...] | Unknown
) -> None:
    if is_equal(old, new) or isinstance(new, Unknown) or isinstance(old, Unknown):
        return
    for name in [name for name in old if name not in new]:
        draft.remove(table, name)
    for name in new:
        if name not in old:
            draft.add_empty_row(table, name)
