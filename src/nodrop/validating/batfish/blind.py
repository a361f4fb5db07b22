"""Where Batfish's answer cannot be a switch's behavior: commands that it skips, or reads and does not follow.

The routing is computed twice, from the switches' configuration and from the part that Batfish accepts. An item that
differs the second time depends on a part that Batfish ignores, and is unseen by it; every other one is seen.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple

from nodrop.analyses._computed import compute_observation
from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.routing import AsPathList, Bgp, BgpNeighbor
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key
from nodrop.model.values import replace_fields
from nodrop.platforms import frr
from nodrop.platforms.frr.text_reader import FrrRouting
from nodrop.routing.observation import ObservationCheck, ValidatorObservation
from nodrop.routing.prefixes import Address, parse_address
from nodrop.validating.batfish.lines import SkippedLines, why_line_is_harmless
from nodrop.validating.batfish.names import ExportedSnapshot, NodeNames

_IGNORED_BGP_FIELDS: Final[tuple[tuple[str, str, int | bool], ...]] = (
    ("Batfish follows all equal paths, whatever maximum-paths says", "maximum_paths", 1 << 16),
    ("Batfish does not model ebgp-requires-policy", "requires_policy", False),
    ("Batfish announces networks that no route leads to", "import_check", False),
    ("Batfish compares MEDs of different neighboring ASes", "always_compare_med", True),
)
"""What it reads and does not follow: what is said of it, the field of BGP, and what it takes that for."""
IPV6_UNSEEN_REASON: Final = "Batfish drops addresses, sessions and routes of IPv6"
NEIGHBOR_UNSEEN_REASON: Final = "Batfish has ports without an address as neighbors only where both have BGP over them"
ARRIVAL_ORDER_REASON: Final = "which of equally good routes is used hangs on which came first"
_MAX_IPV4_NUMBER: Final = (1 << 32) - 1
_RECOMPUTED_CHECKS: Final[tuple[ObservationCheck, ...]] = ("sessions", "routes", "reach")
_POLICY_FIELDS: Final = ("import_policy", "export_policy")
_MAX_SINGLE_TRIALS: Final = 12
"""So many things that it lacks are tried one by one, to say which of them it is; the others are named together."""
_FRR_START_TEXT: Final = "frr "


class FrrPart(NamedTuple):
    """FRR's part of a file of a snapshot: its text, and how many lines of the file stand above it."""

    text: str
    above: int


def frr_part_and_lines_above(text: str) -> FrrPart:
    """Return what FRR reads of a file; all of it, but for one that has the interfaces before it."""
    lines = text.splitlines(keepends=True)
    above = next((number for number, line in enumerate(lines) if line.startswith(_FRR_START_TEXT)), 0)
    return FrrPart("".join(lines[above:]), above)


@lru_cache(maxsize=1024)
def _read_routing(text: str) -> FrrRouting:
    return frr.read_frr(text)


class LineReadCheck:
    """Lines that nodrop reads, which shows what depends on them."""

    def __init__(self, exported: ExportedSnapshot) -> None:
        self._exported = exported
        self._unread: dict[str, frozenset[int]] = {}

    def __call__(self, file: str, line: int) -> bool:
        """Whether a line of a file of the snapshot is among FRR's, and nodrop reads it."""
        frr_part = frr_part_and_lines_above(self._exported.files[file])
        if line <= frr_part.above:
            return False
        if file not in self._unread:
            unread = _read_routing(frr_part.text).not_understood
            self._unread[file] = frozenset(statement.line + frr_part.above for statement in unread)
        return line not in self._unread[file]


def find_items_batfish_misreads(
    reading: Reading,
    observation: ValidatorObservation,
    snapshot: ExportedSnapshot,
    lines: SkippedLines,
    followed: Callable[[str, int], bool],
) -> Mapping[ObservationCheck, Mapping[Subject, str]]:
    """Return the items that differ when computed from the configurations as Batfish takes them, with the reasons."""
    changes = dict(_device_changes_batfish_ignores(reading, snapshot, lines, followed))
    later = changes.pop(ARRIVAL_ORDER_REASON)
    reasons: dict[ObservationCheck, dict[Subject, str]] = {check: {} for check in _RECOMPUTED_CHECKS}
    for group in ([later], changes.values(), (*changes.values(), later)):
        _add_first_reasons(reasons, _differing_items(observation, _apply_changes(reading.fabric, group)), "")
    if any(reasons.values()):
        for reason, change in (*list(changes.items())[:_MAX_SINGLE_TRIALS], (ARRIVAL_ORDER_REASON, later)):
            _add_first_reasons(reasons, _differing_items(observation, _apply_changes(reading.fabric, [change])), reason)
    remainder = _join_reasons((*list(changes)[_MAX_SINGLE_TRIALS:],) or (*changes, ARRIVAL_ORDER_REASON))
    return {check: {item: text or remainder for item, text in items.items()} for check, items in reasons.items()}


def _add_first_reasons(
    reasons: dict[ObservationCheck, dict[Subject, str]],
    additions: Mapping[ObservationCheck, Iterable[Subject]],
    reason: str,
) -> None:
    """Add items with a reason, which one that has none yet takes."""
    for check, items in additions.items():
        for item in items:
            reasons[check][item] = reasons[check].get(item) or reason


def find_items_outside_snapshot(
    snapshot: ExportedSnapshot, observation: ValidatorObservation
) -> Mapping[ObservationCheck, Mapping[Subject, str]]:
    """Return the items missing in the snapshot; all routes if a device or its BGP is missing: they may lead there."""
    reasons: dict[ObservationCheck, dict[Subject, str]] = {check: {} for check in observation.seen}
    for subject, reason in snapshot.unseen.items():
        for check, items in reasons.items():
            seen_items = observation.seen[check]
            if subject in seen_items:
                items[subject] = reason
            elif len(subject) == 1 or subject[1:] == ("@bgp",):
                if check in ("routes", "reach", "failures"):
                    items[()] = f"{subject[0]}: {reason}"
                elif check == "sessions" or len(subject) == 1:
                    items.update(
                        (item, reason)
                        for item in seen_items
                        if item[0] == subject[0] or _is_link_of_device(item, *subject)
                    )
            elif check == "packets" and subject[-1] == "mtu_bytes":
                items.update((item, reason) for item in seen_items if subject[:2] in ends_of_cable_key(item[-1]))
    return reasons


def _is_link_of_device(item: Subject, device: str, *_: str) -> bool:
    """Whether an item is a link of a device."""
    return item[:2] == (FABRIC_HEAD, "links") and any(end.node == device for end in ends_of_cable_key(item[-1]))


_ChangeByDevice = Mapping[str, Callable[[Device], Device]]
"""What Batfish lacks of devices, by their names."""


def _device_changes_batfish_ignores(
    reading: Reading, exported: ExportedSnapshot, lines: SkippedLines, followed: Callable[[str, int], bool]
) -> Iterator[tuple[str, _ChangeByDevice]]:
    """Yield the parts that Batfish ignores, by the reason, if they change the facts about a device."""
    names = NodeNames(exported)
    devices = {device.name: device for device in reading.fabric.devices}
    skips: dict[str, dict[str, tuple[FrrPart, list[int]]]] = {}
    for file, comments in lines.items():
        name, _ = names.device_and_place_of_line(file, None)
        for line in sorted(comments) if name in devices else ():
            text = " ".join(names.line(file, line).split())
            if name is not None and followed(file, line) and not why_line_is_harmless(text):
                skipped_lines = skips.setdefault(text, {}).setdefault(
                    name, (frr_part_and_lines_above(exported.files[file]), [])
                )
                skipped_lines[1].append(line)
    for text, rows in skips.items():
        change = {
            name: partial(_without_frr_lines, found=frr_part, lines=reported_lines)
            for name, (frr_part, reported_lines) in rows.items()
        }
        change = {
            name: new_partial for name, new_partial in change.items() if new_partial(devices[name]) is not devices[name]
        }
        if change:
            whose = next(iter(change)) if len(change) == 1 else f"{len(change)} devices"
            yield f"Batfish skips `{text}` of {whose}", change
    undefined = {
        name: _without_undefined_route_maps
        for name, device in devices.items()
        if _without_undefined_route_maps(device) is not device
    }
    if undefined:
        yield "Batfish lets everything pass where a route map is not there", undefined
    if numbered := {
        name: _without_ipv6_sessions for name, device in devices.items() if _without_ipv6_sessions(device) is not device
    }:
        yield IPV6_UNSEEN_REASON, numbered
    if literal := {
        name: _without_underscore_as_path_rules
        for name, device in devices.items()
        if _without_underscore_as_path_rules(device) is not device
    }:
        yield "Batfish takes _ in an AS path's regular expression for that very character", literal
    yield from _removals_of_unexported_access_lists(devices, exported)
    yield ARRIVAL_ORDER_REASON, dict.fromkeys(devices, _invert_router_id_order)
    for reason, field, value in _IGNORED_BGP_FIELDS:
        taken = partial(_set_stated_bgp_field, field=field, value=value)
        if any_of := {name: taken for name, device in devices.items() if taken(device) is not device}:
            yield reason, any_of


def _removals_of_unexported_access_lists(
    devices: Mapping[str, Device], exported: ExportedSnapshot
) -> Iterator[tuple[str, _ChangeByDevice]]:
    """Yield the access lists that are missing in the snapshot, by the reason."""
    hidden: dict[str, dict[str, set[str]]] = {}
    for subject, reason in exported.unseen.items():
        if subject[1:2] == ("@access_lists",) and subject[0] in devices:
            hidden.setdefault(reason, {}).setdefault(subject[0], set()).add(subject[2])
    for reason, rows in hidden.items():
        yield reason, {name: partial(_without_access_lists, names=names) for name, names in rows.items()}


def _without_access_lists(device: Device, names: set[str]) -> Device:
    """Return a device without some of its access lists."""
    return replace_fields(
        device,
        access_lists=tuple(
            access_list for access_list in known_rows(device.access_lists) if access_list.name not in names
        ),
    )


def _apply_changes(fabric: Fabric, changes: Iterable[_ChangeByDevice]) -> Fabric:
    devices = {device.name: device for device in fabric.devices}
    for change in changes:
        devices |= {name: apply_change(devices[name]) for name, apply_change in change.items()}
    return replace_fields(fabric, devices=tuple(devices.values()))


def _join_reasons(reasons: Iterable[str]) -> str:
    """Return the reasons as one: the first few, each once."""
    once = list(dict.fromkeys(reasons))
    count_suffix = f", and {len(once) - 3} more" if len(once) > 3 else ""
    return "; ".join(once[:3]) + count_suffix


def _without_frr_lines(device: Device, found: FrrPart, lines: Iterable[int]) -> Device:
    """Return a device without some lines of FRR's configuration: their fields are taken from it, one by one."""
    texts = found.text.splitlines()
    for line in lines:
        texts[line - found.above - 1] = "!"
    before, after = _read_routing(found.text), _read_routing("\n".join(texts) + "\n")
    changes: dict[str, object] = {}
    if before.static_routes != after.static_routes and not isinstance(device.static_routes, Unknown):
        gone = set(before.static_routes) - set(after.static_routes)
        left_over = (None if static_route in gone else static_route for static_route in device.static_routes)
        changes |= _replaced_rows_if_changed("static_routes", device.static_routes, left_over)
    if isinstance(device.bgp, Bgp) and before.bgp is not None:
        changes |= _replaced_field_if_changed(
            "bgp", device.bgp, _apply_bgp_difference(device.bgp, before.bgp, after.bgp)
        )
    if not isinstance(device.vrf_bgp, Unknown):
        read = {bgp.vrf: bgp for bgp in before.vrf_bgp}
        remaining_bgps = {bgp.vrf: bgp for bgp in after.vrf_bgp}
        merged = (
            bgp if bgp.vrf not in read else _apply_bgp_difference(bgp, read[bgp.vrf], remaining_bgps.get(bgp.vrf))
            for bgp in device.vrf_bgp
        )
        changes |= _replaced_rows_if_changed("vrf_bgp", device.vrf_bgp, merged)
    return replace_fields(device, **changes) if changes else device


def _replaced_field_if_changed(name: str, old_value: object, new_value: object) -> dict[str, object]:
    """Return a change of a field, where there is one."""
    return {} if new_value is old_value else {name: new_value}


def _replaced_rows_if_changed(name: str, old_rows: tuple[object, ...], new_rows: Iterable[object]) -> dict[str, object]:
    """Return a change of a field of several rows; some of the rows may be gone."""
    rows = tuple(new_row for new_row in new_rows if new_row is not None)
    alike = len(rows) == len(old_rows) and all(row is old_row for row, old_row in zip(rows, old_rows, strict=True))
    return {} if alike else {name: rows}


def _apply_bgp_difference(own_bgp: Bgp, bgp_before: Bgp, bgp_after: Bgp | None) -> Bgp | None:
    """Return a process that takes the differences between two readings of its text from the second."""
    if bgp_after is None:
        return None
    changes = _changed_fields(bgp_before, bgp_after, without=("neighbors",))
    read = {bgp_neighbor.key: bgp_neighbor for bgp_neighbor in known_rows(bgp_before.neighbors)}
    remaining_neighbors = {bgp_neighbor.key: bgp_neighbor for bgp_neighbor in known_rows(bgp_after.neighbors)}
    neighbors: list[BgpNeighbor] = []
    for neighbor in known_rows(own_bgp.neighbors):
        if neighbor.key not in read:
            neighbors.append(neighbor)
        elif neighbor.key in remaining_neighbors:
            other_differences = _changed_fields(read[neighbor.key], remaining_neighbors[neighbor.key])
            neighbors.append(replace_fields(neighbor, **other_differences) if other_differences else neighbor)
    changes |= (
        {}
        if isinstance(own_bgp.neighbors, Unknown)
        else _replaced_rows_if_changed("neighbors", own_bgp.neighbors, neighbors)
    )
    return replace_fields(own_bgp, **changes) if changes else own_bgp


def _changed_fields(before: Any, after: Any, without: tuple[str, ...] = ()) -> dict[str, object]:
    names = (field.name for field in dataclasses.fields(before) if field.name not in without)
    return {
        name: getattr(after, name) for name in names if not _is_same_value(getattr(before, name), getattr(after, name))
    }


def _is_same_value(old_value: object, new_value: object) -> bool:
    return old_value is new_value or (
        not isinstance(old_value, Unknown) and not isinstance(new_value, Unknown) and old_value == new_value
    )


def _without_undefined_route_maps(device: Device) -> Device:
    """Return a device whose sessions have none of the route maps that are not there."""

    def process(bgp: Bgp) -> Bgp:
        names = {route_map.name for route_map in bgp.route_maps}

        def session(neighbor: BgpNeighbor) -> BgpNeighbor:
            absent = [
                side
                for side in _POLICY_FIELDS
                if getattr(neighbor, side) is not None and getattr(neighbor, side) not in names
            ]
            return replace_fields(neighbor, **dict.fromkeys(absent)) if absent else neighbor

        redistributions = (
            replace_fields(redistribution, policy=None)
            if redistribution.policy not in (None, *names)
            else redistribution
            for redistribution in bgp.redistributions
        )
        changes = _replaced_rows_if_changed("redistributions", bgp.redistributions, redistributions)
        if not isinstance(bgp.neighbors, Unknown):
            changes |= _replaced_rows_if_changed("neighbors", bgp.neighbors, map(session, bgp.neighbors))
        return replace_fields(bgp, **changes) if changes else bgp

    return _map_bgp_processes(device, process)


def _map_bgp_processes(device: Device, process: Callable[[Bgp], Bgp]) -> Device:
    """Return a device of whose known processes something is made."""
    changes = _replaced_field_if_changed("bgp", device.bgp, process(device.bgp)) if isinstance(device.bgp, Bgp) else {}
    if not isinstance(device.vrf_bgp, Unknown):
        changes |= _replaced_rows_if_changed("vrf_bgp", device.vrf_bgp, map(process, device.vrf_bgp))
    return replace_fields(device, **changes) if changes else device


def _without_ipv6_sessions(device: Device) -> Device:
    """Return a device without the sessions to addresses of IPv6, which may carry routes of IPv4."""

    def process(bgp: Bgp) -> Bgp:
        if isinstance(bgp.neighbors, Unknown):
            return bgp
        remaining_neighbors = (neighbor for neighbor in bgp.neighbors if ":" not in (neighbor.address or ""))
        changes = _replaced_rows_if_changed("neighbors", bgp.neighbors, remaining_neighbors)
        return replace_fields(bgp, **changes) if changes else bgp

    return _map_bgp_processes(device, process)


def _without_underscore_as_path_rules(device: Device) -> Device:
    """Return a device without the lines of AS path lists that keep a _ in the snapshot, which no AS path has."""

    def drop_underscore_rules(path_list: AsPathList) -> AsPathList:
        rules = tuple(rule for rule in path_list.rules if "_" not in rule[1] or "[" not in rule[1])
        return path_list if len(rules) == len(path_list.rules) else replace_fields(path_list, rules=rules)

    def process(bgp: Bgp) -> Bgp:
        changes = _replaced_rows_if_changed(
            "as_path_lists", bgp.as_path_lists, map(drop_underscore_rules, bgp.as_path_lists)
        )
        return replace_fields(bgp, **changes) if changes else bgp

    return _map_bgp_processes(device, process)


def _invert_router_id_order(device: Device) -> Device:
    """Return a device whose neighbors prefer others to it, as those do that heard of the others first."""

    def process(bgp: Bgp) -> Bgp:
        own_address = parse_address(bgp.router_id or "0.0.0.0")  # noqa: S104, a router id
        return (
            bgp
            if own_address is None
            else replace_fields(bgp, router_id=str(Address("ipv4", _MAX_IPV4_NUMBER - own_address.number)))
        )

    return _map_bgp_processes(device, process)


def _set_stated_bgp_field(device: Device, field: str, value: int | bool) -> Device:
    """Return a device whose BGP has a field set as Batfish takes it, where it is not left to the daemon."""

    def process(bgp: Bgp) -> Bgp:
        device_value = getattr(bgp, field)
        return (
            bgp
            if device_value is None or _is_same_value(device_value, value)
            else replace_fields(bgp, **{field: value})
        )

    return _map_bgp_processes(device, process)


def _differing_items(seen: ValidatorObservation, fabric: Fabric) -> Mapping[ObservationCheck, Sequence[Subject]]:
    """Return the items that differ in another fabric."""
    other_observation = compute_observation(Index(fabric))
    return {check: list(_unequal_items(seen, other_observation, check)) for check in _RECOMPUTED_CHECKS}


def _unequal_items(
    seen: ValidatorObservation, other_observation: ValidatorObservation, check: ObservationCheck
) -> Iterator[Subject]:
    seen_items, other_items = seen.seen.get(check, {}), other_observation.seen.get(check, {})
    return (item for item in {**seen_items, **other_items} if seen_items.get(item) != other_items.get(item))
