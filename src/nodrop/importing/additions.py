"""The content of switches' files beyond the model: carried in `extra`, by platform, role or switch, as far as possible.

Settings that the built files do not have are tried as additions all at once; those that are in the model's way, or that
hold a possible secret, are left.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nodrop import platforms
from nodrop.errors import Problem
from nodrop.importing.parts import KeyTree
from nodrop.importing.tier_view import TierView
from nodrop.model.fabric import Extra
from nodrop.model.reading import Note
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.extras import RoutingLine
from nodrop.platforms.kit.secrets import looks_like_secret
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.report.names import format_name_list

DeviceFiles = Mapping[str, bytes]
MAX_TRIED_SETTINGS = 400
"""Settings of a switch that are tried as additions, at most: more are another way to write what is built."""
_MAX_LISTED_SETTINGS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchFilesAndSecrets:
    """The content of the files of switches, by the switches' own names, and the lines in them that hold secrets."""

    bundles: Mapping[str, DeviceFiles]
    secret: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleAdditions:
    """The possible additions: settings and lines by the intent's name of the switch; and the rest that is left in any
    case.
    """

    settings: Mapping[str, tuple[Extra, ...]]
    lines: Mapping[str, tuple[RoutingLine, ...]]
    left: tuple[str, ...] = ()
    unlike: frozenset[str] = frozenset()
    """Switches of which facts of the model are told already: settings that go with these are counted."""
    unknown: tuple[Note, ...] = ()
    """Of those that an intent takes: the notes about settings and lines of unknown effect."""

    def without(self, refused: Iterable[Problem], sight: TierView) -> "PossibleAdditions":
        """Return this without the refused additions, which are left."""
        tree = _build_additions_tree(self, sight)
        where = {".".join(("extra", *keys)): keys for keys in _paths_of_tree(tree)}
        gone: dict[str, set[tuple[str, ...]]] = {}
        for problem in refused:
            if (keys := where.get(problem.where)) is not None:
                gone.setdefault(keys[0], set()).add(keys[1:])
        settings: dict[str, tuple[Extra, ...]] = {}
        lines: dict[str, tuple[RoutingLine, ...]] = {}
        by_setting: dict[str, list[str]] = {}
        counted: dict[str, int] = {}
        for box in sight.switches_from_lowest_tier:
            name, names = box.device.name, _addition_scope_names(box.device.platform, box.device.name)
            out = set().union(*(gone.get(group_name, set()) for group_name in names))
            own_extras = self.settings.get(name, ())
            kept_extras = tuple(one for one in own_extras if not {("tables", *one.path), ("paths", *one.path)} & out)
            for extra in own_extras:
                if extra not in kept_extras:
                    if name in self.unlike:
                        counted[box.was] = counted.get(box.was, 0) + 1
                        continue
                    by_setting.setdefault(_render_extra(extra), []).append(box.was)
            settings[name] = kept_extras
            own_lines = self.lines.get(name, ())
            refused_lines = _lines_at_positions(box.device.platform, own_lines, out)
            lines[name] = tuple(line for line in own_lines if line not in refused_lines)
            for line in own_lines if refused_lines else ():
                if line in refused_lines and name in self.unlike:
                    counted[box.was] = counted.get(box.was, 0) + 1
                elif line in refused_lines:
                    by_setting.setdefault(f"the routing daemon's `{line.text}`", []).append(box.was)
        remarks = (
            f"{format_name_list(names)}: {text}; nothing of an intent says it" for text, names in by_setting.items()
        )
        count_remarks = (
            f"{was}: {number} {'settings of its files that go' if number > 1 else 'setting of its files that goes'} "
            "with the settings above"
            for was, number in counted.items()
        )
        return PossibleAdditions(
            settings=settings, lines=lines, left=(*self.left, *remarks, *count_remarks), unlike=self.unlike
        )

    def tree(self, sight: TierView) -> KeyTree:
        """Return the key `extra` of an intent."""
        return _build_additions_tree(self, sight)

    @property
    def first_remaining_settings(self) -> tuple[str, ...]:
        """Return the rest that is left; of a long list the beginning."""
        remainder = len(self.left) - _MAX_LISTED_SETTINGS
        return (
            *self.left[:_MAX_LISTED_SETTINGS],
            *([f"and {remainder} more settings of files"] if remainder > 0 else []),
        )


def _addition_scope_names(platform: str, device: str) -> tuple[str, str, str]:
    """Return the names under which a switch is given additions, the most general first."""
    return platforms.writable_platform_for(platform), device.rstrip("0123456789"), device


def _lines_at_positions(
    platform: str, lines: Sequence[RoutingLine], refused: Iterable[tuple[str, ...]]
) -> frozenset[RoutingLine]:
    """Return the lines that `refused` keys of the intent mean, by their places among those written, or all of them."""
    keys_of_lines = [keys for keys in refused if keys[:1] == ("lines",)]
    if any(len(keys) == 1 for keys in keys_of_lines):
        return frozenset(lines)
    written = platforms.additions_of_platform(platform).format_routing_lines(lines) if keys_of_lines else ()
    return frozenset[RoutingLine]().union(*(written[int(place)][1] for _, place in keys_of_lines))


def find_additions(
    tier_view: TierView, files: SwitchFilesAndSecrets, built: Mapping[str, DeviceFiles]
) -> PossibleAdditions:
    """Return the content of switches' files that the built ones do not have; for a foreign platform nothing can be
    added.
    """
    settings: dict[str, tuple[Extra, ...]] = {}
    lines: dict[str, tuple[RoutingLine, ...]] = {}
    remarks: list[str] = []
    for box in tier_view.switches_from_lowest_tier:
        own_files, platform = files.bundles.get(box.was, {}), box.device.platform
        if platform not in platforms.writable_platforms() or box.device.name not in built:
            continue
        addition, built_files = platforms.additions_of_platform(platform), built[box.device.name]
        if _has_same_files(own_files, built_files):
            continue
        built_keys = {setting.path for setting in addition.read_file_settings(built_files)}
        further_extras = [
            setting
            for setting in addition.read_file_settings(own_files)
            if setting.path not in built_keys and all(setting.path)
        ]
        secret = files.secret.get(box.was, ())
        hidden = [extra for extra in further_extras if _may_hold_secret(platform, extra, secret)]
        if hidden:
            paths = format_name_list(sorted({_redact_path(platform, extra) for extra in hidden}))
            remarks.append(f"{box.was}: {paths}, which hold secrets")
        further_extras = [extra for extra in further_extras if extra not in hidden]
        if len(further_extras) > MAX_TRIED_SETTINGS:
            remarks.append(f"{box.was}: {len(further_extras)} settings that are written otherwise, or that no key says")
            further_extras = []
        settings[box.device.name] = tuple(further_extras)
        further_lines = _find_further_lines(tier_view, platform, own_files, built_files)
        if len(further_lines) > MAX_TRIED_SETTINGS:
            remarks.append(f"{box.was}: {len(further_lines)} lines of its routing daemon that are written otherwise")
            further_lines = ()
        lines[box.device.name] = tuple(
            line
            for line in addition.select_lines_beside_model(own_files, further_lines)
            if not looks_like_secret(line.text) and not any(line.text in one for one in secret)
        )
    return PossibleAdditions(settings=settings, lines=lines, left=tuple(remarks))


def _find_further_lines(
    tier_view: TierView, platform: str, own_files: DeviceFiles, built_files: DeviceFiles
) -> tuple[RoutingLine, ...]:
    """Return the routing daemon's lines of a switch that its built files do not have in the same block."""
    addition = platforms.additions_of_platform(platform)
    built_lines = {
        RoutingLine(tuple(map(spell, line.blocks)), spell(line.text))
        for line in addition.routing_daemon_lines(built_files)
        for spell in (str, tier_view.restore_names)
    }
    return tuple(line for line in addition.routing_daemon_lines(own_files) if line not in built_lines)


def describe_file_differences(
    tier_view: TierView,
    files: SwitchFilesAndSecrets,
    built: Mapping[str, DeviceFiles],
    alike: Iterable[str],
    added: PossibleAdditions,
) -> tuple[str, ...]:
    """Return, in words, how the files of switches that are `alike` by the model differ from the built ones."""
    by_remark: dict[str, list[str]] = {}
    chosen = set(alike)
    for box in tier_view.switches_from_lowest_tier:
        name, platform = box.device.name, box.device.platform
        if name not in chosen or platform not in platforms.writable_platforms() or name not in built:
            continue
        addition, own_files = platforms.additions_of_platform(platform), files.bundles.get(box.was, {})
        if _has_same_files(own_files, built[name]):
            continue
        other_extras = {setting.path: setting for setting in addition.read_file_settings(own_files)}
        own_extras = {setting.path: setting for setting in addition.read_file_settings(built[name])}
        carried = {carried_extra.path for carried_extra in added.settings.get(name, ())}
        for path, extra in own_extras.items():
            actual = other_extras.get(path)
            if (
                actual == extra
                or path in carried
                or (actual and actual.value == _restore_value_names(extra, tier_view))
            ):
                continue
            hidden = actual is not None and _may_hold_secret(platform, actual, files.secret.get(box.was, ()))
            has = "missing" if actual is None else "a secret" if hidden else _format_value(actual)
            by_remark.setdefault(f"{' '.join(path)} is {has}, this intent gives {_format_value(extra)}", []).append(
                box.was
            )
    return tuple(f"{format_name_list(names)}: {remark}" for remark, names in sorted(by_remark.items()))


def _restore_value_names(extra: Extra, tier_view: TierView) -> str | tuple[str, ...] | None:
    """Return the value of a setting with the names that switches have in their files."""
    return (
        tuple(map(tier_view.restore_names, extra.value))
        if isinstance(extra.value, tuple)
        else extra.value and tier_view.restore_names(extra.value)
    )


def _format_value(extra: Extra) -> str:
    return extra.value if isinstance(extra.value, str) else ", ".join(extra.value or ()) or "there"


def _has_same_files(own_bundle: DeviceFiles, bundle: DeviceFiles) -> bool:
    """Whether files are those that are built, byte for byte."""
    return bool(own_bundle) and all(bundle.get(name) == raw for name, raw in own_bundle.items())


def _may_hold_secret(platform: str, extra: Extra, secret: tuple[str, ...]) -> bool:
    """Whether a setting holds a secret, or looks as if it did: by its path, by its key, or by the line it stands on."""
    if _secret_word_indexes(platform, extra) or looks_like_secret(extra.path[-1]):
        return True
    values = extra.value if isinstance(extra.value, tuple) else (extra.value or extra.path[-1],)
    return any(value in line for value in values for line in secret)


def _secret_word_indexes(platform: str, extra: Extra) -> frozenset[int]:
    """Return which words of a path are secrets; the place behind them where the value is one."""
    means = platforms.find_settings_reader(platform)
    if means is None:
        return frozenset()
    words = frozenset(at for at in range(len(extra.path)) if means.is_secret_word(extra.path, at))
    return words | {len(extra.path)} if means.is_secret_shown_masked(extra.path) else words


def _redact_path(platform: str, extra: Extra) -> str:
    hidden = _secret_word_indexes(platform, extra)
    return " ".join("…" if at in hidden else word for at, word in enumerate(extra.path))


def _build_additions_tree(added: PossibleAdditions, tier_view: TierView) -> KeyTree:
    """Return additions where they hold: what all switches of a platform have, else all of a role, else one."""
    tree: KeyTree = {}
    groups: dict[str, list[str]] = {}
    rank: dict[str, int] = {}
    for box in tier_view.switches_from_lowest_tier:
        for place, name in enumerate(_addition_scope_names(box.device.platform, box.device.name)):
            groups.setdefault(name, []).append(box.device.name)
            rank[name] = place
    settings = {name: dict.fromkeys(own_settings) for name, own_settings in added.settings.items()}
    lines = {name: own_lines for name, own_lines in added.lines.items() if own_lines}
    platform_of = {
        box.device.name: platforms.writable_platform_for(box.device.platform)
        for box in tier_view.switches_from_lowest_tier
    }
    for group in sorted(groups, key=lambda name: (rank[name], natural_sort_key(name))):
        members = groups[group]
        shared = [one for one in settings.get(members[0], {}) if all(one in settings.get(name, {}) for name in members)]
        for extra in shared:
            kind = "tables" if "tables" in _kinds_of_additions(platform_of[members[0]]) else "paths"
            add_setting_to_tree(tree.setdefault(group, {}).setdefault(kind, {}), extra)
            for name in members:
                settings[name].pop(extra)
        same = {lines.get(name) for name in members}
        if len(same) == 1 and (shared_lines := same.pop()):
            written = platforms.additions_of_platform(platform_of[members[0]]).format_routing_lines(shared_lines)
            tree.setdefault(group, {})["lines"] = [text for text, _ in written]
            for name in members:
                lines.pop(name)
    return tree


def _kinds_of_additions(platform: str) -> frozenset[str]:
    return traits_of_platform(platform).additions


def add_setting_to_tree(tree: KeyTree, extra: Extra) -> None:
    """Add a setting to a tree of keys."""
    *outer, last = extra.path
    for key in outer:
        inside = tree.setdefault(key, {})
        tree = inside if isinstance(inside, dict) else {}
    tree[last] = {} if extra.value is None else list(extra.value) if isinstance(extra.value, tuple) else extra.value


def _paths_of_tree(tree: object, above: tuple[str, ...] = ()) -> Iterable[tuple[str, ...]]:
    """Yield the path of every key and of every entry of a list."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield (*above, key)
            yield from _paths_of_tree(value, (*above, key))
    elif isinstance(tree, list):
        yield from ((*above, str(place)) for place in range(len(tree)))


def _render_extra(extra: Extra) -> str:
    value = extra.value if isinstance(extra.value, str) else ", ".join(extra.value or ())
    return " ".join(extra.path) + (f" = {value}" if value else "")
