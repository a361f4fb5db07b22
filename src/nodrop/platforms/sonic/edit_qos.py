"""QoS and buffers of a device, brought into the tables of the config_db.json that it has."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import PfcWatchdog, PriorityGroup, QosProfile, Queue
from nodrop.model.states import Unknown, require_fact
from nodrop.model.subject import Subject, natural_sort_key
from nodrop.platforms.kit.editing import is_equal
from nodrop.platforms.sonic.config import name_in_reference
from nodrop.platforms.sonic.draft import EditableTables, FieldChanges, PortAndIndex
from nodrop.platforms.sonic.edit_profiles import (
    ProfileUse,
    fields_of_number_map,
    make_buffer_field_writer,
    number_text,
    referenced_name,
    resolve_overlapping_uses,
    scheduler_fields,
    update_shared_rows,
    wred_fields,
)
from nodrop.platforms.sonic.spelling import lossless_profile_name
from nodrop.platforms.sonic.tables import ALL_PRIORITIES, TABLE_BY_MAP_ATTRIBUTE, WORD_BY_IS_ENABLED
from nodrop.units import parse_whole_number

SWITCH_WIDE_QOS_MAP_KEY = "global"
"""The row of PORT_QOS_MAP that holds for the whole switch."""
EMPTY_PFC_ENABLE_SINCE = "202505"
"""The first release whose models take `pfc_enable: ""` (sonic-port-qos-map.yang)."""
_PROFILE_LIST_TABLE_BY_FIELD = {
    "ingress_buffers": "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "egress_buffers": "BUFFER_PORT_EGRESS_PROFILE_LIST",
}
_EMPTY_QOS_PROFILE = QosProfile(trust=None)
QueuesOrPriorityGroups = Mapping[int, Queue | PriorityGroup]
_Indexed = TypeVar("_Indexed", Queue, PriorityGroup)

PortsBeforeAndAfter = list[tuple[Interface, Interface]]
RowsByTableAndPort = Mapping[str, Mapping[str, Mapping[int | None, Mapping[str, object]]]]


def change_qos(
    draft: EditableTables, old_device: Device, new_device: Device, derived_subjects: Collection[Subject]
) -> None:
    """Bring the maps, pause, watchdogs, queues, groups and profiles of `new` into tables that state `old`.

    `derived_subjects` are subjects that the reader computed, and no row states.
    """
    pairs = [(a, b) for a, b in zip(old_device.interfaces, new_device.interfaces, strict=True) if a.name == b.name]
    moved = [(a, b) for a, b in pairs if not is_equal(a.qos, b.qos)]
    if not moved and is_equal(old_device.switch_dscp_to_tc, new_device.switch_dscp_to_tc):
        return
    for attribute in TABLE_BY_MAP_ATTRIBUTE:
        _edit_qos_maps(draft, attribute, pairs, (old_device.switch_dscp_to_tc, new_device.switch_dscp_to_tc))
    for a, b in moved:
        _edit_pfc_priorities(draft, a, b, new_device.version)
        _edit_watchdog(draft, a, b)
    _change_queue_profiles(draft, pairs)
    _edit_buffers(draft, pairs, old_device.name, derived_subjects)
    _add_and_remove_queue_and_group_rows(draft, moved)


def _qos_or_empty(interface: Interface) -> QosProfile:
    return interface.qos if isinstance(interface.qos, QosProfile) else _EMPTY_QOS_PROFILE


def _rows_by_index(table_rows: Iterable[_Indexed] | None | Unknown) -> dict[int, _Indexed]:
    return {} if isinstance(table_rows, Unknown) or table_rows is None else {row.index: row for row in table_rows}


def _edit_qos_maps(
    draft: EditableTables, attribute: str, pairs: PortsBeforeAndAfter, of_switch: tuple[object, object]
) -> None:
    table, field, _ = TABLE_BY_MAP_ATTRIBUTE[attribute]
    rows = {cell[0]: row for _, cell, row in draft.port_index_cells("PORT_QOS_MAP")}
    values = {a.name: (getattr(_qos_or_empty(a), attribute), getattr(_qos_or_empty(b), attribute)) for a, b in pairs}
    if attribute == "dscp_to_tc":
        values[SWITCH_WIDE_QOS_MAP_KEY] = of_switch
    uses = [
        ProfileUse(cell=(name, None), name=referenced_name(rows.get(name, {}), field), old=a, new=b, wanted="AZURE")
        for name, (a, b) in values.items()
        if not isinstance(b, Unknown)
    ]
    _point_rows_to_profiles(
        draft, "PORT_QOS_MAP", field, table, update_shared_rows(draft, table, uses, fields_of_number_map)
    )


def _point_rows_to_profiles(
    draft: EditableTables, table: str, field: str, target: str, renamed: dict[ProfileUse, str | None]
) -> None:
    """Let cells of a table name other rows of `target`; a row that is left without fields goes."""
    fields_by_cell: dict[PortAndIndex, FieldChanges] = {}
    rows = {cell: row for _, cell, row in draft.port_index_cells(table)}
    for use, name in renamed.items():
        like = rows.get(use.cell, {}).get(field)
        spelt = None if name is None else draft.spell_reference(target, name, like if isinstance(like, str) else None)
        fields_by_cell[use.cell] = {field: spelt}
    if fields_by_cell:
        draft.change_cells(table, fields_by_cell)


def _edit_pfc_priorities(draft: EditableTables, a: Interface, b: Interface, version: str | None | Unknown) -> None:
    old, new = _qos_or_empty(a), _qos_or_empty(b)
    sent, obeyed = new.pfc_tx_priorities, new.pfc_rx_priorities
    if isinstance(sent, Unknown) or isinstance(obeyed, Unknown):
        return
    if not is_equal(old.pfc_tx_priorities, sent):
        spelt: str | None = ",".join(map(str, sent))
        if not spelt and not isinstance(version, Unknown) and (version or "") < EMPTY_PFC_ENABLE_SINCE:
            spelt = None
        draft.change_cells("PORT_QOS_MAP", {(b.name, None): {"pfc_enable": spelt}})
    asymmetric = obeyed == ALL_PRIORITIES and sent != ALL_PRIORITIES
    if asymmetric != (draft.text("PORT", b.name, "pfc_asym") == "on") and b.name in draft.rows("PORT"):
        draft.update("PORT", b.name, {"pfc_asym": "on" if asymmetric else "off"})


def _watchdog_history_word(watchdog: PfcWatchdog) -> str | None:
    """Return the word that states in a row whether the switch estimates the history of pauses."""
    return None if watchdog.history is None else WORD_BY_IS_ENABLED[require_fact(watchdog.history)]


def _edit_watchdog(draft: EditableTables, a: Interface, b: Interface) -> None:
    old, new, cell = _qos_or_empty(a).pfc_watchdog, _qos_or_empty(b).pfc_watchdog, (b.name, None)
    if is_equal(old, new) or isinstance(new, Unknown):
        return
    if new is None:
        draft.remove_cells("PFC_WD", {cell})
        return
    before: dict[str, object] = {}
    if old is not None and not isinstance(old, Unknown):
        before = {
            "detection": old.detection_ms,
            "restoration": old.restoration_ms,
            "action": old.action,
            "history": _watchdog_history_word(old),
        }
    changed_fields = {
        field: number_text(value)
        for field, key, value in (
            ("action", "action", new.action),
            ("pfc_stat_history", "history", _watchdog_history_word(new)),
            ("detection_time", "detection", new.detection_ms),
            ("restoration_time", "restoration", new.restoration_ms),
        )
        if key not in before or before[key] != value
    }
    if changed_fields:
        draft.change_cells("PFC_WD", {cell: changed_fields})
    _set_watchdog_priorities(draft, b.name, new.priorities)


def _set_watchdog_priorities(draft: EditableTables, port: str, priorities: tuple[int, ...] | Unknown) -> None:
    if isinstance(priorities, Unknown):
        return
    rows = {cell[0]: row for _, cell, row in draft.port_index_cells("PORT_QOS_MAP")}
    spelt = str(rows.get(port, {}).get("pfcwd_sw_enable", ""))
    file_priorities = {number for word in spelt.split(",") if (number := parse_whole_number(word.strip())) is not None}
    if tuple(sorted(file_priorities)) != priorities:
        mask = ",".join(map(str, priorities)) or None
        draft.change_cells("PORT_QOS_MAP", {(port, None): {"pfcwd_sw_enable": mask}})


def _change_queue_profiles(draft: EditableTables, pairs: PortsBeforeAndAfter) -> None:
    for attribute, field, table, spell in (
        ("scheduler", "scheduler", "SCHEDULER", scheduler_fields),
        ("wred", "wred_profile", "WRED_PROFILE", wred_fields),
    ):
        uses = resolve_overlapping_uses(_queue_profile_uses(draft, pairs, attribute, field))
        _point_rows_to_profiles(draft, "QUEUE", field, table, update_shared_rows(draft, table, uses, spell))


def _queue_profile_uses(
    draft: EditableTables, pairs: PortsBeforeAndAfter, attribute: str, field: str
) -> Iterator[ProfileUse]:
    ports = {
        b.name: (_rows_by_index(_qos_or_empty(a).queues), _rows_by_index(_qos_or_empty(b).queues)) for a, b in pairs
    }
    rows = [(cell, row) for _, cell, row in draft.port_index_cells("QUEUE")]
    rows += [((port, index), {}) for port, (_, new) in ports.items() for index in new]
    for cell, row in rows:
        port, index = cell
        if port not in ports or index is None:
            continue
        old, new = (getattr(queues.get(index), attribute, None) for queues in ports[port])
        if isinstance(new, Unknown):
            continue
        name, base_name = referenced_name(row, field), "AZURE_LOSSLESS"
        if attribute == "scheduler" and new is not None:
            base_name = ".".join(("scheduler", new.type, *([] if new.weight is None else [str(new.weight)])))
        if row or new is not None:
            yield ProfileUse(cell=cell, name=name, old=old, new=new, wanted=base_name)


def _edit_buffers(draft: EditableTables, pairs: PortsBeforeAndAfter, device: str, derived: Collection[Subject]) -> None:
    rows = {
        table: _rows_by_port(draft, table)
        for table in ("BUFFER_PG", "BUFFER_QUEUE", *_PROFILE_LIST_TABLE_BY_FIELD.values())
    }
    uses = resolve_overlapping_uses(
        use
        for a, b in pairs
        for use in (*_buffer_uses_of_port(rows, a, b, device, derived), *_profile_list_uses(rows, a, b))
    )
    pools = [row.get("pool") for row in draft.rows("BUFFER_PROFILE").values()]
    like = next((pool for pool in pools if isinstance(pool, str)), None)
    renamed = update_shared_rows(draft, "BUFFER_PROFILE", uses, make_buffer_field_writer(draft, like))
    for table in ("BUFFER_PG", "BUFFER_QUEUE"):
        names_by_use = {use: name for use, name in renamed.items() if use.table == table}
        _point_rows_to_profiles(draft, table, "profile", "BUFFER_PROFILE", names_by_use)
    for table in _PROFILE_LIST_TABLE_BY_FIELD.values():
        names_by_use = {use: name for use, name in renamed.items() if use.table == table}
        _bind_profile_lists(draft, table, names_by_use, uses)


def _buffer_uses_of_port(
    tables: RowsByTableAndPort,
    left_port: Interface,
    right_port: Interface,
    device: str,
    derived_subjects: Collection[Subject],
) -> Iterator[ProfileUse]:
    old, new = _qos_or_empty(left_port), _qos_or_empty(right_port)
    buffer_tables: tuple[tuple[str, QueuesOrPriorityGroups, QueuesOrPriorityGroups, str], ...] = (
        ("BUFFER_PG", _rows_by_index(old.priority_groups), _rows_by_index(new.priority_groups), ""),
        ("BUFFER_QUEUE", _rows_by_index(old.queues), _rows_by_index(new.queues), "egress_lossy_profile"),
    )
    for table, before, after, default_profile in buffer_tables:
        rows = tables[table].get(right_port.name, {})
        for index in {*rows, *before, *after}:
            at = (device, right_port.name, "qos", "priority_groups", str(index))
            if index is None or (table == "BUFFER_PG" and at in derived_subjects):
                continue
            was, new_buffer = (getattr(groups.get(index), "buffer", None) for groups in (before, after))
            name = referenced_name(rows.get(index, {}), "profile")
            if isinstance(new_buffer, Unknown) or (name is None and new_buffer is None):
                continue
            lossless = bool(new_buffer is not None and new_buffer.headroom is not None)
            best = default_profile or (lossless_profile_name(right_port) if lossless else "ingress_lossy_profile")
            yield ProfileUse(
                table=table, cell=(right_port.name, index), name=name, old=was, new=new_buffer, wanted=best
            )


def _profile_list_uses(tables: RowsByTableAndPort, a: Interface, b: Interface) -> Iterator[ProfileUse]:
    for attribute, table in _PROFILE_LIST_TABLE_BY_FIELD.items():
        old, new = getattr(_qos_or_empty(a), attribute), getattr(_qos_or_empty(b), attribute)
        if isinstance(old, Unknown) or isinstance(new, Unknown):
            continue
        names = _split_profile_list(tables[table].get(b.name, {}).get(None, {}))
        for position in range(max(len(old), len(new), len(names))):
            yield ProfileUse(
                table=table,
                cell=(b.name, None),
                position=position,
                name=names[position] if position < len(names) else None,
                old=old[position] if position < len(old) else None,
                new=new[position] if position < len(new) else None,
                wanted=f"{attribute.partition('_')[0]}_profile",
            )


def _rows_by_port(draft: EditableTables, table: str) -> dict[str, dict[int | None, Mapping[str, object]]]:
    """Return the rows of a table by port and index."""
    rows_by_port: dict[str, dict[int | None, Mapping[str, object]]] = {}
    for _, (port, index), row in draft.port_index_cells(table):
        rows_by_port.setdefault(port, {})[index] = row
    return rows_by_port


def _split_profile_list(table_row: Mapping[str, object]) -> list[str]:
    return [
        name_in_reference(reference) for reference in str(table_row.get("profile_list", "")).split(",") if reference
    ]


def _bind_profile_lists(
    draft: EditableTables, table: str, renamed: dict[ProfileUse, str | None], uses: list[ProfileUse]
) -> None:
    fields_by_cell: dict[PortAndIndex, FieldChanges] = {}
    rows = {cell: row for _, cell, row in draft.port_index_cells(table)}
    by_cell: dict[PortAndIndex, list[ProfileUse]] = {}
    for use in uses:
        if use.table == table:
            by_cell.setdefault(use.cell, []).append(use)
    for cell in dict.fromkeys(use.cell for use in renamed):
        like = str(rows.get(cell, {}).get("profile_list", "")).partition(",")[0] or None
        own_uses = by_cell[cell]
        names = [renamed.get(use, use.name) for use in sorted(own_uses, key=lambda use: use.position)]
        spelt = [draft.spell_reference("BUFFER_PROFILE", name, like) for name in names if name is not None]
        fields_by_cell[cell] = {"profile_list": ",".join(spelt) or None}
    if fields_by_cell:
        draft.change_cells(table, fields_by_cell, keep_empty=False)


def _add_and_remove_queue_and_group_rows(draft: EditableTables, moved: PortsBeforeAndAfter) -> None:
    """Take out the rows of queues and groups that are no more, and of buffers that are None; add those that are new."""
    gone: set[PortAndIndex] = set()
    lost: set[PortAndIndex] = set()
    no_groups: set[PortAndIndex] = set()
    queues: set[PortAndIndex] = set()
    groups: set[PortAndIndex] = set()
    for a, b in moved:
        before, after = _rows_by_index(_qos_or_empty(a).queues), _rows_by_index(_qos_or_empty(b).queues)
        gone |= _port_index_pairs(b, before.keys() - after.keys())
        lost |= _port_index_pairs(
            b, [index for index, queue in after.items() if _loses_buffer(before.get(index), queue)]
        )
        queues |= _port_index_pairs(b, after)
        old_groups, new_groups = (_rows_by_index(_qos_or_empty(port).priority_groups) for port in (a, b))
        no_groups |= _port_index_pairs(b, old_groups.keys() - new_groups.keys())
        # Other groups without a row are buffermgrd's own.
        groups |= _port_index_pairs(b, new_groups.keys() - old_groups.keys())
    draft.remove_cells("QUEUE", gone)
    draft.remove_cells("BUFFER_QUEUE", gone | lost)
    draft.remove_cells("BUFFER_PG", no_groups)
    for table, cells, tables in (("QUEUE", queues, ("QUEUE", "BUFFER_QUEUE")), ("BUFFER_PG", groups, ("BUFFER_PG",))):
        stated = {cell for table_name in tables for _, cell, _ in draft.port_index_cells(table_name)}
        for port, index in sorted(cells - stated, key=lambda cell: (natural_sort_key(cell[0]), cell[1])):
            draft.add_empty_row(table, f"{port}|{index}")


def _port_index_pairs(interface: Interface, indexes: Iterable[int]) -> set[PortAndIndex]:
    return {(interface.name, index) for index in indexes}


def _loses_buffer(old: Queue | PriorityGroup | None, new: Queue | PriorityGroup) -> bool:
    return old is not None and old.buffer is not None and new.buffer is None
