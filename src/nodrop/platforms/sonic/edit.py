"""Changes of the model in a given config_db.json, written by any program, and as a patch for `config apply-patch`.

The tables are changed as a draft, written into the text, and read again: the result must be the old device with
the changes and nothing else, or the change is left for an edit by hand. Values that the switch derives from the
changes (a computed headroom, the pools, the groups that buffermgrd adds) follow, and are reported.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes, omit_computed_shared_headroom
from nodrop.model.change import Change, EditResult, PatchStep
from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import QosProfile, Trust
from nodrop.model.reading import DeviceReading
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject, matches
from nodrop.model.values import replace_fields
from nodrop.platforms.frr.changes import VTYSH_CHANGES_FILE, find_vtysh_changes
from nodrop.platforms.frr.changes import find_peer_group_change_effects as regrouped_by_frr
from nodrop.platforms.frr.files import FRR_FILE
from nodrop.platforms.kit.editing import (
    EditState,
    PlatformEditFunctions,
    RetryBudget,
    UnaskedChange,
    copy_pause_to_other_direction,
    is_equal,
    sources_of_files,
    with_rebuilt_ports,
)
from nodrop.platforms.sonic.config import CONFIG_DB_FILE
from nodrop.platforms.sonic.draft import EditableTables
from nodrop.platforms.sonic.edit_frr import MANUAL_EDIT_REASON, change_frr
from nodrop.platforms.sonic.edit_qos import change_qos
from nodrop.platforms.sonic.edit_rows import change_ports_services_and_pools
from nodrop.platforms.sonic.edit_tables import apply_session_admin_status, change_routing_config_tables
from nodrop.platforms.sonic.gcu import annotate_steps_with_effects
from nodrop.platforms.sonic.patch import diff_tables
from nodrop.platforms.sonic.reader import read_device
from nodrop.platforms.sonic.schema_check import yang_refused_fault_kinds
from nodrop.platforms.sonic.tables import ALL_PRIORITIES, DEVICE_TYPE_BY_ROLE, HASH_SEED_BY_DEVICE_TYPE
from nodrop.platforms.sonic.turns import tables_after_each_patch
from nodrop.syntax.json import parse_json_text
from nodrop.syntax.json_edit import rewrite_json
from nodrop.syntax.shapes import mapping_at, mapping_or_empty, value_at

_MANUAL_REASON_BY_FACT: Mapping[str, str] = {
    "@routing_tables": "bgp reads its mode when it starts: build with another routing.delivery, and load that",
    "@extra": "it is no field of the model: change the table itself",
    "@extra_lines": MANUAL_EDIT_REASON,
    "@headroom_table": "the image of the switch has it",
    "@model": "it is the switch, not a setting",
    "@platform": "it is the switch, not a setting",
    "@version": "it is the release that is installed: `sonic-installer install`",
    "lanes": "ports get other lanes by `config interface breakout`, which makes them and their tables again; QoS that "
    "it loads (-l) may come before the ports exist and fail: set it again after that (sonic-swss 3234)",
    "port": "it is where the port is, not a setting",
    "link_pause": "no table of SONiC says it",
    "macsec": "its profile holds keys, which are not for files: `config macsec port add` and `del`",
    "side": "no file of a switch says it: state it in fabric.yaml",
}

PATCH, COMMANDS = "patch.json", "commands.sh"
"""The steps for `config apply-patch` (patch-1.json and so on where there are several), and what is typed besides
or in their place."""
_UNPATCHABLE_PATHS = (
    ("VERSIONS",),
    ("DEVICE_METADATA", "localhost", "hwsku"),
    ("DEVICE_METADATA", "localhost", "platform"),
)
"""What the switch and its release say, and no patch."""
_DIALECT_REMARK_KINDS = frozenset(
    {"bracket-reference", "comma-port-list", "ignored-table", "unknown-field", "unknown-table"}
)


def edit(
    config_files: Mapping[str, bytes], changes: Iterable[Change], *, name: str = "", budget: RetryBudget | None = None
) -> EditResult:
    """Change a device's files, given by canonical name; `name` is the device's where they state no hostname.

    Raises InputProblems where config_db.json cannot be read. Changes are made together where that can be, else one
    by one, in their order; what cannot be made is `by_hand`, with the reason.
    """
    wanted_changes = list(changes)
    state = EditState(
        config_files, name or (wanted_changes[0].subject[0] if wanted_changes else ""), _EDIT_FUNCTIONS, budget
    )
    by_hand = state.apply_changes(wanted_changes)
    files = {file: raw for file, raw in state.bundle.items() if raw != config_files.get(file)}
    if not files:
        return EditResult(by_hand=by_hand)
    old_data, new_data = (
        mapping_or_empty(parse_json_text(config_files[CONFIG_DB_FILE], CONFIG_DB_FILE)),
        mapping_or_empty(parse_json_text(state.bundle[CONFIG_DB_FILE], CONFIG_DB_FILE)),
    )
    edit = EditResult(files=files, by_hand=by_hand, follows=tuple(state.find_side_changes(wanted_changes, by_hand)))
    return _add_patch_steps(edit, _compute_patch_steps(old_data, new_data, state.first.device))


def _compute_patch_steps(
    old_values: Mapping[str, object], new_values: Mapping[str, object], device: Device
) -> Iterator[tuple[PatchStep, ...]]:
    """Yield the steps of each patch, in turn, from a device's configuration to another, as the updater takes them."""
    was, will = list(yang_refused_fault_kinds(old_values)), list(yang_refused_fault_kinds(new_values))
    state = old_values
    for target in tables_after_each_patch(old_values, new_values):
        yield tuple(
            annotate_steps_with_effects(diff_tables(state, target), state, target, device.version, was=was, will=will)
        )
        state = target


def _add_patch_steps(edit: EditResult, turned: Iterable[tuple[PatchStep, ...]]) -> EditResult:
    """Return an edit with the steps of patches, each patch as a form, and commands where some steps are typed."""
    edits = [replace(edit, steps=steps) for steps in turned]
    patches = [patch_edit.patch for patch_edit in edits if any(not step.command for step in patch_edit.steps)]
    last = len(patches)
    names = [PATCH if last == 1 else f"patch-{number:0{len(str(last))}}.json" for number in range(1, last + 1)]
    whole_edit = replace(edit, steps=tuple(step for patch_edit in edits for step in patch_edit.steps))
    typed = "".join(f"sudo {line}\n" for line in whole_edit.commands_outside_patch.splitlines())
    return replace(whole_edit, forms=dict(zip(names, patches, strict=True)) | ({COMMANDS: typed} if typed else {}))


def edit_between_file_versions(
    old_files: Mapping[str, bytes], new_files: Mapping[str, bytes], *, name: str = ""
) -> EditResult | None:
    """Return the edit from a device's old config_db.json to its new one, in all of its content, and its new frr.conf.

    None if they differ in facts that no patch changes: the HWSKU, the database's release, the set of ports, their
    lanes, and whether BGP is in tables, which bgp asks when it starts. Raises InputProblems if one of them cannot be
    read.
    """
    if CONFIG_DB_FILE not in old_files or CONFIG_DB_FILE not in new_files:
        return None
    before, after = (
        mapping_or_empty(parse_json_text(old_files[CONFIG_DB_FILE], CONFIG_DB_FILE)),
        mapping_or_empty(parse_json_text(new_files[CONFIG_DB_FILE], CONFIG_DB_FILE)),
    )
    if any(value_at(before, *path) != value_at(after, *path) for path in _UNPATCHABLE_PATHS) or _port_lanes(
        before
    ) != _port_lanes(after):
        return None
    if ("BGP_GLOBALS" in before) != ("BGP_GLOBALS" in after):
        return None
    tables = _add_patch_steps(
        EditResult(), _compute_patch_steps(before, after, read_device(name, sources_of_files(old_files)).device)
    )
    return _add_frr_changes(
        replace(tables, files={CONFIG_DB_FILE: new_files[CONFIG_DB_FILE]} if tables.steps else {}), old_files, new_files
    )


def _add_frr_changes(tables: EditResult, old: Mapping[str, bytes], new: Mapping[str, bytes]) -> EditResult:
    """Return an edit with the commands of vtysh for another frr.conf, if they are known."""
    texts = [bundle[FRR_FILE].decode(errors="replace") for bundle in (old, new) if FRR_FILE in bundle]
    lines = find_vtysh_changes(*texts) if len(texts) == len((old, new)) else None
    if not lines:
        return tables
    return replace(
        tables, files={**tables.files, FRR_FILE: new[FRR_FILE]}, forms={**tables.forms, VTYSH_CHANGES_FILE: lines}
    )


def peer_group_change_effects(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the effects of BGP sessions that join or leave peer groups of frr.conf, as reasons."""
    texts = [bundle[FRR_FILE].decode(errors="replace") for bundle in (old, new) if FRR_FILE in bundle]
    if len(texts) == len((old, new)):
        yield from regrouped_by_frr(*texts)


def _port_lanes(tables: object) -> Mapping[str, object]:
    return {port: value_at(row, "lanes") for port, row in mapping_at(tables, "PORT").items()}


def _rewrite_bundle(
    config_files: Mapping[str, bytes], device_reading: DeviceReading, new_device: Device
) -> Iterator[Mapping[str, bytes]]:
    if CONFIG_DB_FILE not in config_files:
        raise ValueError(f"there is no {CONFIG_DB_FILE}")
    draft = EditableTables(mapping_or_empty(parse_json_text(config_files[CONFIG_DB_FILE], CONFIG_DB_FILE)))
    change_ports_services_and_pools(draft, device_reading.device, new_device)
    change_qos(draft, device_reading.device, new_device, device_reading.derived)
    routing = config_files.get(FRR_FILE)
    if device_reading.device.routing_tables is True:
        change_routing_config_tables(draft, device_reading.device, new_device)
    else:
        from_rows = routing is None
        old_device = (
            apply_session_admin_status(draft, device_reading.device, new_device) if from_rows else device_reading.device
        )
        routing = change_frr(routing, old_device, new_device)
    yield {**config_files, CONFIG_DB_FILE: rewrite_json(config_files[CONFIG_DB_FILE], draft.data)} | (
        {} if routing is None else {FRR_FILE: routing}
    )


def _correct_settings(config_files: Mapping[str, bytes], changes: Sequence[Change]) -> Mapping[str, bytes]:
    """Return the files with fields of rows changed, and rows added; a row without fields goes with its last field."""
    draft = EditableTables(mapping_or_empty(parse_json_text(config_files.get(CONFIG_DB_FILE, b"{}"), CONFIG_DB_FILE)))
    for change in changes:
        table, key, *fields = change.subject[2:]
        if not fields:
            draft.add_empty_row(table, key)
            continue
        (field,) = fields
        if draft.text(table, key, field) != change.old:
            raise ValueError(f"{CONFIG_DB_FILE} says something else there")
        draft.update(table, key, {field: change.new})
        if change.new is None and not draft.rows(table).get(key):
            draft.remove(table, key)
    return {**config_files, CONFIG_DB_FILE: rewrite_json(config_files[CONFIG_DB_FILE], draft.data)}


def _is_derived_change(side_effect: UnaskedChange) -> bool:
    """Whether a difference is in priority groups that the reader computes."""
    derived = side_effect.old.derived.keys() | side_effect.new.derived.keys()
    return any(side_effect.subject[:5] == path[:5] for path in derived if path[2:4] == ("qos", "priority_groups"))


def _unsupported_reason(change: Change) -> str | None:
    """Say why no text of the device can be changed so; None where it may be."""
    area, *field_path = (*change.subject[1:3], "")
    return _MANUAL_REASON_BY_FACT.get(area if area.startswith("@") else field_path[0])


def _add_derived_changes(device: Device, new: Device, subjects: Sequence[Subject]) -> Device:
    """Return the device with what its switch computes from the changes, and what shares a field with them."""
    new = with_rebuilt_ports(device, new, subjects, _couple_port_settings)
    if not is_equal(new.role, device.role) and (device.name, "@hash_seed") not in subjects:
        seed = HASH_SEED_BY_DEVICE_TYPE.get(DEVICE_TYPE_BY_ROLE.get(str(new.role), ""))
        new = replace_fields(new, hash_seed=device.hash_seed if seed is None else seed)
    return fill_in_computed_buffer_sizes(omit_computed_shared_headroom(new))


def _couple_port_settings(old: Interface, new: Interface, device: str, subjects: Sequence[Subject]) -> Interface:
    """Return a port with what shares a field with something that changed: both directions of pause, and the trust."""
    if is_equal(old.qos, new.qos) or not isinstance(old.qos, QosProfile) or not isinstance(new.qos, QosProfile):
        return new
    if not is_equal(old.qos.pfc_tx_priorities, ALL_PRIORITIES):
        new = copy_pause_to_other_direction(old, new, device, subjects, lambda _: False)
    assert isinstance(new.qos, QosProfile)
    if not any(matches(subject[:4], (device, new.name, "qos", "trust")) for subject in subjects):
        new = replace_fields(new, qos=replace_fields(new.qos, trust=_trust_of_maps(new.qos)))
    return new


def _trust_of_maps(qos: QosProfile) -> Trust | None | Unknown:
    if isinstance(qos.dscp_to_tc, Unknown) or isinstance(qos.pcp_to_tc, Unknown):
        return qos.trust
    by_dscp, by_pcp = qos.dscp_to_tc is not None, qos.pcp_to_tc is not None
    trusts: dict[tuple[bool, bool], Trust] = {(True, True): "both", (True, False): "dscp", (False, True): "pcp"}
    return trusts.get((by_dscp, by_pcp))


_EDIT_FUNCTIONS = PlatformEditFunctions(
    read=read_device,
    impossible=_unsupported_reason,
    together=_add_derived_changes,
    draw=_rewrite_bundle,
    follows=_is_derived_change,
    correct=_correct_settings,
    spelling=_DIALECT_REMARK_KINDS,
)
