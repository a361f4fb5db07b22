"""Changes of BGP sessions, made where a file states the setting: at the session, or at its peer group."""

from collections.abc import Iterator, Mapping

from nodrop.platforms.frr.words import is_neighbor_address
from nodrop.platforms.nvue.edit_draft import has_path
from nodrop.platforms.nvue.names import expand_names
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.tree import Path

_PROCESS_PATH_LENGTH = 4
"""The length of `vrf default router bgp`."""


def settings_adjusted_for_peer_groups(
    root_view: ConfigNodeView, settings: Mapping[Path, str | None]
) -> Iterator[tuple[Path, str | None]]:
    """Yield settings with their values, those of groups included; None takes one away.

    What changes for all sessions of a group alike changes at the group. A value of one session overrides that of its
    group; a setting that it loses moves from the group to the other sessions.
    """
    of_groups: dict[tuple[Path, str, Path], dict[str, str | None]] = {}
    for path, value in settings.items():
        process, remaining_paths = path[:_PROCESS_PATH_LENGTH], path[_PROCESS_PATH_LENGTH + 2 :]
        group = _peer_group_of_path(root_view, path) if remaining_paths else None
        if (
            group is None
            or has_path(root_view.node, path)
            or not has_path(root_view.node, (*process, "peer-group", group, *remaining_paths))
        ):
            yield path, value
        else:
            of_groups.setdefault((process, group, remaining_paths), {})[path[_PROCESS_PATH_LENGTH + 1]] = value
    for (process, group, remaining_paths), values in of_groups.items():
        members = [
            key
            for key in _sessions_of_peer_group(root_view, process, group)
            if not has_path(root_view.node, (*process, "neighbor", key, *remaining_paths))
        ]
        stated = (*process, "peer-group", group, *remaining_paths)
        if len(values) == len(members) and len(set(values.values())) == 1:
            yield stated, next(iter(values.values()))
            continue
        kept_text = root_view.below(*stated[:-1]).text(stated[-1])
        if None in values.values():
            yield stated, None
            values = {**dict.fromkeys(members, kept_text), **values}
        yield from (
            ((*process, "neighbor", key, *remaining_paths), value) for key, value in values.items() if value is not None
        )


def _peer_group_of_path(root_view: ConfigNodeView, path: Path) -> str | None:
    """Return the peer group of the session that a path is in."""
    if path[_PROCESS_PATH_LENGTH : _PROCESS_PATH_LENGTH + 1] != ("neighbor",):
        return None
    return next(
        (
            group
            for key, group in _sessions_with_groups(root_view, path[:_PROCESS_PATH_LENGTH])
            if key == path[_PROCESS_PATH_LENGTH + 1]
        ),
        None,
    )


def _sessions_of_peer_group(top: ConfigNodeView, process: Path, group: str) -> list[str]:
    return [key for key, peer_group in _sessions_with_groups(top, process) if peer_group == group]


def _sessions_with_groups(top: ConfigNodeView, process: Path) -> Iterator[tuple[str, str | None]]:
    """Yield (session, its peer group) of a process."""
    for spelt, node in top.below(*process, "neighbor").items():
        for key in expand_names(spelt) if not is_neighbor_address(spelt) else (spelt,):
            yield key, node.text("peer-group")
