"""Changes of the model in NVUE's documents, no matter who wrote them: in place, as `nv` commands and as a YAML patch.

The result of a change is computed as settings, written where the document has them, and read again: it must be the old
device with the changes and nothing else, or the change is left to be done by hand.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodrop.errors import NodropError
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes, omit_computed_shared_headroom
from nodrop.model.change import Change, EditResult
from nodrop.model.compare import differences
from nodrop.model.edit import find_value
from nodrop.model.fabric import Device, Fabric, Interface
from nodrop.model.qos import COLORS, QosProfile, Queue, WredProfile
from nodrop.model.reading import DeviceReading
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject, matches
from nodrop.model.values import replace_fields
from nodrop.platforms import main_config_file, unsupported_paths
from nodrop.platforms.kit.editing import (
    ConfigFiles,
    EditState,
    PlatformEditFunctions,
    RetryBudget,
    UnaskedChange,
    copy_pause_to_other_direction,
    is_equal,
    sources_of_files,
    with_rebuilt_ports,
)
from nodrop.platforms.nvue.corrections import is_only_in_other_releases
from nodrop.platforms.nvue.edit_between import edit_between_file_versions as edit_between_file_versions
from nodrop.platforms.nvue.edit_bridging import change_bridging
from nodrop.platforms.nvue.edit_document import YamlDocument
from nodrop.platforms.nvue.edit_draft import PendingSettingChanges
from nodrop.platforms.nvue.edit_operations import SetOrUnsetOperation, combine_operations
from nodrop.platforms.nvue.edit_qos import change_qos
from nodrop.platforms.nvue.edit_removals import raise_removals_to_empty_parents
from nodrop.platforms.nvue.edit_rows import change_ports_services_and_routing
from nodrop.platforms.nvue.edit_script import ScriptDocument
from nodrop.platforms.nvue.edit_steps import COMMANDS, format_operations, split_into_steps
from nodrop.platforms.nvue.reader import read_device
from nodrop.platforms.nvue.schema_types import Release, parse_release
from nodrop.platforms.nvue.tree import Node, NvueFileTree, Path
from nodrop.syntax import nvset

_NOT_A_SETTING_REASON = "it is the switch, not a setting"
_MANUAL_REASON_BY_FACT: Mapping[str, str] = {
    "macsec": "NVUE has no setting for MACsec",
    "@model": _NOT_A_SETTING_REASON,
    "@platform": _NOT_A_SETTING_REASON,
    "@version": "it is the release that is installed, not a setting",
    "@name": "it is the name by which the fabric knows the switch: `nv set system hostname`",
    "@qos_style": "all of QoS states it: build with another `style`; `nodrop plan` of both builds writes the patch",
    "@buffer_model": "NVUE has one way of working headroom out",
    "lanes": "`link breakout` changes lanes: it creates the ports again, without their settings",
    "port": "it is where the port is, not a setting",
}
_BUFFER_PATH_TEXTS: Mapping[str, str] = {
    "queues": "egress-lossy-buffer traffic-class <tc>` and `egress-lossless-buffer",
    "priority_groups": "ingress-lossy-buffer priority-group <group>` and `ingress-lossless-buffer",
}
"""Where NVUE takes alphas and reserved bytes, below the buffers of the switch."""
_REMARK_KINDS_NAMING_KEYS = frozenset(
    {"mixed-dialect", "overlapping-keys", "part-without-breakout", "setting-of-another-release", "unknown-setting"}
)
"""Kinds of remarks whose facts name keys, which are others once a key of several ports is taken apart."""
_REMARK_KINDS_ABOUT_EFFECT = frozenset({"lossless-half-configured", "macro-mode-not-stated", "unused-profile"})
"""Kinds of remarks about what the settings come to."""
_DERIVED_QOS_FIELDS = frozenset(
    {"pfc_to_priority_group", "pfc_to_queue", "priority_groups", "queues", "tc_to_priority_group"}
)
"""Parts of a port's QoS that NVUE works out of which priorities are paused, and of where they leave."""
_FIELDS_OF_PROFILES = ("qos", "link_pause", "cable_length_m")
"""Parts of a port that profiles state."""
_DEPTH_OF_QOS_PART = len(("qos", "queues", "3", "wred"))
"""Steps to a part of a port's QoS that one profile states as a whole."""
_PFC_PRIORITY_FIELDS = frozenset({"pfc_rx_priorities", "pfc_tx_priorities"})


def edit(
    config_files: Mapping[str, bytes], changes: Iterable[Change], *, name: str = "", budget: RetryBudget | None = None
) -> EditResult:
    """Change a device's file, given by canonical name; `name` is the device's where it states no hostname.

    Raises InputProblems where the file cannot be read. Changes are made together where that can be, else one by one,
    in their order; what cannot be made is `by_hand`, with the reason.
    """
    wanted_changes = list(changes)
    drawing = _NvueEdit()
    means = PlatformEditFunctions(
        read=read_device,
        impossible=_unsupported_reason,
        together=_add_derived_changes,
        draw=drawing.propose_changed_documents,
        follows=_is_derived_change,
        correct=drawing.set_values_at_paths,
        spelling=_REMARK_KINDS_NAMING_KEYS,
        meaning=_REMARK_KINDS_ABOUT_EFFECT,
    )
    state = EditState(config_files, name or (wanted_changes[0].subject[0] if wanted_changes else ""), means, budget)
    by_hand = state.apply_changes(wanted_changes)
    file = main_config_file("nvue", config_files)
    if state.bundle == config_files:
        return EditResult(by_hand=by_hand)
    tree = NvueFileTree(config_files[file], file)
    release = PendingSettingChanges(tree, state.first).release
    new_operations = drawing.collect_operations(state.bundle, tree.root, parse_release(release))
    forms = format_operations(new_operations)
    if forms[COMMANDS]:
        new_paths = [path for operation in new_operations if operation.value is not None for path in operation.paths]
        texts = _describe_deletions(tree, drawing.paths_of_other_releases, new_paths, config_files[file].decode())
        forms[COMMANDS] = "".join(f"# delete {text} of {file}\n" for text in texts) + forms[COMMANDS]
    return EditResult(
        files={file: state.bundle[file]},
        steps=tuple(split_into_steps(new_operations, tree.root, state.first.device, release)),
        forms=forms,
        by_hand=by_hand,
        follows=tuple(state.find_side_changes(wanted_changes, by_hand)),
    )


class _NvueEdit:
    """Documents that describe a device's new state, and the settings that distinguish them from the given one."""

    def __init__(self) -> None:
        self._drafts: list[tuple[ConfigFiles, PendingSettingChanges]] = []
        self.paths_of_other_releases: tuple[Path, ...] = ()
        """Removed settings that the switch's release does not have; `collect_operations` finds them."""

    def propose_changed_documents(
        self, config_files: ConfigFiles, device_reading: DeviceReading, new_device: Device
    ) -> Iterator[ConfigFiles]:
        """Yield the document changed in its own lines, then as it is with the changes behind.

        First shut ports get what the other ports of their profile get; then, where that differs, they stay as they are.
        """
        file = main_config_file("nvue", config_files)
        if file not in config_files:
            raise ValueError(f"there is no {file}")
        self._discard_untaken_drafts(config_files)
        tree = NvueFileTree(config_files[file], file)
        known: list[list[SetOrUnsetOperation]] = []
        untaken: list[PendingSettingChanges] = []
        for shut_ports_follow in (True, False):
            draft = PendingSettingChanges(tree, device_reading)
            try:
                change_ports_services_and_routing(draft, device_reading.device, new_device)
                change_bridging(draft, device_reading.device, new_device)
                change_qos(draft, device_reading.device, new_device, shut_ports_follow=shut_ports_follow)
                operations = draft.operations
            except NodropError as error:
                raise ValueError(str(error)) from None
            if operations not in known:
                known.append(operations)
                self._drafts = [pair for pair in self._drafts if pair[1] not in untaken]
                untaken.append(draft)
                yield from self._documents(config_files, file, draft, device_reading.device, new_device)

    def _documents(
        self,
        config_files: ConfigFiles,
        file: str,
        draft: PendingSettingChanges,
        old_device: Device,
        new_device: Device,
    ) -> Iterator[ConfigFiles]:
        """Yield the document with the operations of a draft: in its own lines, then behind it."""
        try:
            wanted_operations = draft.operations
            if not wanted_operations and (first_difference := next(differences(old_device, new_device), None)):
                raise ValueError(_reason_without_nvue_setting(first_difference.path))
            text = config_files[file].decode()
            for in_place in (True, False):
                document = ScriptDocument(text) if nvset.has_nv_lines(config_files[file]) else YamlDocument(text)
                if in_place:
                    for operation in wanted_operations:
                        document.apply_operation(operation)
                else:
                    document.append_operations(wanted_operations)
                edited_bundle = {**config_files, file: document.text.encode()}
                self._drafts.append((edited_bundle, draft))
                yield edited_bundle
        except NodropError as error:
            raise ValueError(str(error)) from None

    def set_values_at_paths(self, config_files: ConfigFiles, changes: Sequence[Change]) -> ConfigFiles:
        """Return the files with settings changed at their paths."""
        file = main_config_file("nvue", config_files)
        self._discard_untaken_drafts(config_files)
        draft = PendingSettingChanges(
            NvueFileTree(config_files[file], file), read_device("", sources_of_files(config_files))
        )
        for change in changes:
            path = change.subject[2:]
            if change.new is None:
                draft.unset(*path)
            else:
                draft.set(*path, to=change.new)
        text = config_files[file].decode()
        try:
            document = ScriptDocument(text) if nvset.has_nv_lines(config_files[file]) else YamlDocument(text)
            for operation in draft.operations:
                document.apply_operation(operation)
        except NodropError as error:
            raise ValueError(str(error)) from None
        edited_bundle = {**config_files, file: document.text.encode()}
        self._drafts.append((edited_bundle, draft))
        return edited_bundle

    def _discard_untaken_drafts(self, bundle: ConfigFiles) -> None:
        """Discard documents that were drawn and not taken: all drawn after the bundle that work continues from."""
        at = next((at for at, (drawn_bundle, _) in enumerate(self._drafts) if drawn_bundle is bundle), -1)
        earlier = self._drafts[:at] if at > 0 else []
        self._drafts = [*earlier, *self._drafts[at : at + 1]] if at >= 0 else []

    def collect_operations(
        self, config_files: ConfigFiles, root: Node, release: Release | None
    ) -> list[SetOrUnsetOperation]:
        """Return all that was done to a file on the way to a bundle, as a switch of its release takes it.

        `root` is the tree of the file. What the release does not have is not on the switch, and is not removed there.
        """
        self._discard_untaken_drafts(config_files)
        gone: dict[Path, None] = {}
        new_values: dict[Path, str] = {}
        for _, draft in self._drafts:
            for path in draft.gone:
                for below in [value_path for value_path in new_values if value_path[: len(path)] == path]:
                    del new_values[below]
            gone |= draft.gone
            for path in draft.wanted:
                new_values.pop(path, None)
            new_values |= draft.wanted
        others = dict.fromkeys(path for path in gone if is_only_in_other_releases(path, release))
        self.paths_of_other_releases = tuple(others)
        removed = [path for path in gone if path not in others]
        return [
            *combine_operations(raise_removals_to_empty_parents(root, removed, new_values)),
            *combine_operations(new_values),
        ]


def _describe_deletions(tree: NvueFileTree, deleted: Sequence[Path], kept: Iterable[Path], text: str) -> list[str]:
    """Return which lines to delete for deleted settings, and for keys that have nothing else below, and will not.

    Of a line with other settings, as `{a: 1, b: 2}` is one, only the setting is named.
    """
    tops = raise_removals_to_empty_parents(tree.root, deleted, kept, keeps_holders=False)
    rows = text.split("\n")
    lines: dict[Path, list[int]] = {}
    found: dict[tuple[int, str], None] = {}
    for path in deleted:
        top = next(path[:length] for length in range(1, len(path) + 1) if path[:length] in tops)
        span = tree.span(top, whole=True, key=True)
        if span is not None and "{" in rows[span.line - 1][: span.column - 1]:
            found[span.line, f"{' '.join(top)} from line {span.line}"] = None
            continue
        spans = (span, tree.span(path, whole=True, key=True))
        lines.setdefault(top, []).extend(span.line for span in spans if span is not None)
    for of_top in filter(None, lines.values()):
        found |= {(line, f"line {line}"): None for line in range(min(of_top), max(of_top) + 1)}
    return [described for _, described in sorted(found)]


def _reason_without_nvue_setting(path: Sequence[object]) -> str:
    """Return the reason that no setting was found for a difference, from known facts about it."""
    buffer = next(
        (where for field_name, where in _BUFFER_PATH_TEXTS.items() if field_name in path and "buffer" in path), None
    )
    if buffer is not None:
        head = "nv set qos advance-buffer-config default-global"
        return f"nodrop does not write it; NVUE takes it for the whole switch, `{head} {buffer}`"
    return "nodrop knows no setting of NVUE for it"


def _unsupported_reason(change: Change) -> str | None:
    """Say why no text of the device can be changed so; None where it may be."""
    area, *field_path = (*change.subject[1:], "")
    is_device_wide = area.startswith("@")
    path = (area[1:], *field_path) if is_device_wide else ("interfaces", "*", *field_path)
    for unsaid, reason in unsupported_paths("nvue").items():
        if path[: unsaid.count("/") + 1] == tuple(unsaid.split("/")):
            return reason
    return _MANUAL_REASON_BY_FACT.get(area if is_device_wide else field_path[0])


def _add_derived_changes(device: Device, new: Device, subjects: Sequence[Subject]) -> Device:
    """Return the device with what NVUE computes from the changes, and states together with them."""
    return fill_in_computed_buffer_sizes(
        omit_computed_shared_headroom(with_rebuilt_ports(device, new, subjects, _couple_port_settings))
    )


def _couple_port_settings(old: Interface, new: Interface, device: str, subjects: Sequence[Subject]) -> Interface:
    new = copy_pause_to_other_direction(old, new, device, subjects, lambda priorities: priorities == ())
    if is_equal(old.qos, new.qos) or not isinstance(old.qos, QosProfile) or not isinstance(new.qos, QosProfile):
        return new
    if isinstance(old.qos.queues, Unknown) or isinstance(new.qos.queues, Unknown):
        return new
    were = {queue.index: queue for queue in old.qos.queues}
    queues = tuple(_copy_wred_to_colors(were.get(queue.index, queue), queue) for queue in new.qos.queues)
    return replace_fields(new, qos=replace_fields(new.qos, queues=queues))


def _copy_wred_to_colors(old: Queue, new: Queue) -> Queue:
    """Return a queue that marks all colors alike, as NVUE does, where it did and one of them was changed."""
    was, wred_profile = old.wred, new.wred
    if not isinstance(was, WredProfile) or not isinstance(wred_profile, WredProfile):
        return new
    moved = [color for color in COLORS if not is_equal(getattr(was, color), getattr(wred_profile, color))]
    if not is_equal(was.green, was.yellow) or not is_equal(was.green, was.red) or len(moved) != 1:
        return new
    return replace_fields(
        new, wred=replace_fields(wred_profile, **dict.fromkeys(COLORS, getattr(wred_profile, moved[0])))
    )


def _is_derived_change(side_effect: UnaskedChange) -> bool:
    """Whether NVUE derives a difference from the changes: it has no setting for it."""
    _, area, *field_path = (*side_effect.subject, "")
    requested_paths = [subject[1:] for subject in side_effect.wanted]
    requested_fields = {field for subject in requested_paths for field in subject}
    if area.startswith("@"):
        triggers: Mapping[str, frozenset[str]] = {
            "@buffer_pools": _PFC_PRIORITY_FIELDS | {"@buffer_pools", "priority_groups"},
            "@dynamic_buffers": _PFC_PRIORITY_FIELDS | {"priority_groups"},
            "@trimming": frozenset({"tc_to_queue", "@trimming"}),
            "@adaptive_routing": frozenset({"adaptive_routing"}),
            "@watchdog_polling_ms": frozenset({"pfc_watchdog"}),
        }
        return bool(triggers.get(area, frozenset()) & requested_fields)
    if field_path[0] in _FIELDS_OF_PROFILES and _follows_profile_of_other_ports(side_effect):
        return True
    port_fields = {field for subject in requested_paths if matches(subject[:1], (area,)) for field in subject[1:]}
    if field_path[0] == "cable_length_m":
        return bool(_PFC_PRIORITY_FIELDS & port_fields)
    if field_path[0] == "speed_mbps":
        return "enabled" in port_fields
    if field_path[0] != "qos":
        return False
    qos_field, *inside = field_path[1:]
    if qos_field in ("dscp_to_tc", "pcp_to_tc"):
        return "trust" in port_fields
    if qos_field == "pfc_watchdog":
        return bool(_PFC_PRIORITY_FIELDS & port_fields) and inside[:1] == ["priorities"]
    if qos_field == "queues" and inside[1:2] != ["buffer"]:
        return False
    return qos_field in _DERIVED_QOS_FIELDS and bool(
        port_fields & (_PFC_PRIORITY_FIELDS | {"cable_length_m", "speed_mbps", "mtu_bytes", "queues", "tc_to_queue"})
        or {"@dynamic_buffers", "@buffer_pools"} & requested_fields
    )


def _follows_profile_of_other_ports(side_effect: UnaskedChange) -> bool:
    """Whether a shut port gets what other ports were to get, because it shares their profile."""
    name, port, *field_path = side_effect.subject
    shut = (
        next((one for one in reading.device.interfaces if one.name == port and one.enabled is False), None)
        for reading in (side_effect.old, side_effect.new)
    )
    if None in shut:
        return False
    asked = [subject for subject in side_effect.wanted if not subject[1].startswith("@")]
    depth = min(len(field_path), _DEPTH_OF_QOS_PART)
    if any(subject[2:][:depth] == tuple(field_path[: len(subject) - 2][:depth]) for subject in asked):
        return True
    new = Fabric(name="", mode="lossless", devices=(side_effect.new.device,))
    return any(
        is_equal(find_value(new, (name, subject[1], *field_path)), side_effect.difference.b) for subject in asked[:1]
    )
