"""Changes of BGP in tables: those of the management framework by the rows of the writer, and bgpcfgd's sessions."""

from nodrop.errors import UnsupportedByPlatform
from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown, UnknownFact
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.editing import is_equal
from nodrop.platforms.sonic.draft import EditableTables
from nodrop.platforms.sonic.read_bgp import SESSION_TABLES
from nodrop.platforms.sonic.routing_tables import build_config_tables_of_routing


def change_routing_config_tables(draft: EditableTables, old_device: Device, new_device: Device) -> None:
    """Bring the routing of `new` into tables that state that of `old`; ValueError if no table can express it."""
    if all(
        is_equal(getattr(old_device, name), getattr(new_device, name)) for name in ("bgp", "vrf_bgp", "static_routes")
    ):
        return
    try:
        before, after = build_config_tables_of_routing(old_device), build_config_tables_of_routing(new_device)
    except (UnsupportedByPlatform, UnknownFact) as error:
        raise ValueError(f"no table says it: {error}") from None
    for table in {**after, **before}:
        was, will = before.get(table, {}), after.get(table, {})
        for key in was.keys() - will.keys():
            draft.remove(table, key)
        for key, row in will.items():
            if key not in was:
                draft.add_empty_row(table, key)
            columns = {**dict.fromkeys(was.get(key, {})), **row}
            changed = {name: value for name, value in columns.items() if was.get(key, {}).get(name) != value}
            draft.update(table, key, changed)


def apply_session_admin_status(draft: EditableTables, old_device: Device, new_device: Device) -> Device:
    """Start and shut the sessions of bgpcfgd's tables as in `new`; return `old` with what the tables then state.

    bgpcfgd takes `admin_status` of a row at any time (sonic-buildimage src/sonic-bgpcfgd/bgpcfgd/managers_bgp.py).
    """
    old, new = old_device.bgp, new_device.bgp
    if not isinstance(old, Bgp) or not isinstance(new, Bgp):
        return old_device
    if isinstance(old.neighbors, Unknown) or isinstance(new.neighbors, Unknown):
        return old_device
    states = {neighbor.key: neighbor.enabled for neighbor in new.neighbors}
    neighbors = []
    for neighbor in old.neighbors:
        enabled = states.get(neighbor.key, neighbor.enabled)
        table = next((name for name in SESSION_TABLES if neighbor.key in draft.rows(name)), None)
        if table is None or isinstance(enabled, Unknown) or enabled == neighbor.enabled:
            neighbors.append(neighbor)
            continue
        draft.update(table, neighbor.key, {"admin_status": "up" if enabled else "down"})
        neighbors.append(replace_fields(neighbor, enabled=enabled))
    return replace_fields(old_device, bgp=replace_fields(old, neighbors=tuple(neighbors)))
