"""Changes of BGP and static routes in the tables of the management framework, by the rows of the writer."""

from nodrop.errors import Unsupported
from nodrop.model.fabric import Device
from nodrop.model.states import UnknownFact
from nodrop.platforms.kit.editing import same
from nodrop.platforms.sonic.draft import Draft
from nodrop.platforms.sonic.routing_tables import tables


def change_tables(draft: Draft, old_device: Device, new_device: Device) -> None:
    """Bring the routing of `new` into tables that state that of `old`; ValueError if no table can express it."""
    if all(same(getattr(old_device, name), getattr(new_device, name)) for name in ("bgp", "vrf_bgp", "static_routes")):
        return
    try:
        before, after = tables(old_device), tables(new_device)
    except (Unsupported, UnknownFact) as error:
        raise ValueError(f"no table says it: {error}") from None
    for table in {**after, **before}:
        was, will = before.get(table, {}), after.get(table, {})
        for key in was.keys() - will.keys():
            draft.remove(table, key)
        for key, row in will.items():
            if key not in was:
                draft.add(table, key)
            columns = {**dict.fromkeys(was.get(key, {})), **row}
            changed = {name: value for name, value in columns.items() if was.get(key, {}).get(name) != value}
            draft.update(table, key, changed)
