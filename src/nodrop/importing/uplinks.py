"""The links between groups: how many, on which ports, and the rule that assigns ports."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from nodrop.design.blocks import PeerPortBlocks
from nodrop.design.splits import SplitPort, split_ports
from nodrop.design.topology import ROLES_BY_TIER
from nodrop.hardware import media, medium, switch
from nodrop.hardware.schema import SwitchModel
from nodrop.importing.parts import (
    DerivedIntentPart,
    KeyPath,
    KeyTree,
    MissingIntentKey,
    facts_not_none,
    format_number_ranges,
    merge_parts,
)
from nodrop.importing.pods import find_pods_per_upper_pod
from nodrop.importing.tier_view import (
    ASSUMED_PORT_SPEED_MBPS,
    CableLookup,
    GroupCable,
    GroupedSwitch,
    SwitchGroup,
    TierView,
    are_switches_unlinked,
    is_port_facing,
    most_common_value,
)
from nodrop.importing.tiers import likely_model
from nodrop.model.fabric import Interface, Link, Port
from nodrop.model.routing import Bgp
from nodrop.platforms.kit.traits import newest_traits
from nodrop.units import show_speed

_ASSUMED_CABLE_LENGTH_M = 30
"""The length of a cable of which no file says one."""


UNSTATED_VALUE_REASON = "no file says so"
NO_PORT_ASSIGNMENT_RULE_REASON = (
    "which port goes to which switch: no rule of an intent gives out ports as they are cabled"
)


class PortSharingRule(NamedTuple):
    """By which rule the ports of a tier go to its peers: the panel ports and the number of slots, None by halving."""

    panels: tuple[int, ...]
    slots: int | None
    fits: bool = True


def derive_uplinks(tier_view: TierView, cables: CableLookup) -> DerivedIntentPart:
    """Return the links between the groups, and the ports for them."""
    pairs = [
        (lower, upper)
        for lower in tier_view.groups
        for upper in tier_view.groups
        if cables.cables_between_groups(lower, upper)
    ]
    if not pairs:
        return (
            DerivedIntentPart()
            if are_switches_unlinked(tier_view, cables)
            else _uplinks_without_cables(tier_view, cables)
        )
    return merge_parts(
        _derive_links_between_two_groups(CabledGroupPair.of(tier_view, cables, lower, upper)) for lower, upper in pairs
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CabledGroupPair:
    """Two groups with the cables between them."""

    tier_view: TierView
    cables: CableLookup
    lower: SwitchGroup
    upper: SwitchGroup
    runs: tuple[GroupCable, ...]
    pods: int
    """Pods of the lower group for each of the upper one."""
    lower_has_other_links: bool
    upper_has_other_links: bool

    @classmethod
    def of(cls, tier_view: TierView, cables: CableLookup, lower: SwitchGroup, upper: SwitchGroup) -> "CabledGroupPair":
        """Return two groups with their cables, and whether either has other links."""
        of_lower, of_upper = (
            sum(group.name in pair for pair in cables.cabled_group_pairs) > 1 for group in (lower, upper)
        )
        runs = cables.cables_between_groups(lower, upper)
        of_pods = {(lower.pod_of_switch_id(run.lower) - 1, upper.pod_of_switch_id(run.upper) - 1) for run in runs}
        pods = find_pods_per_upper_pod(of_pods) if lower.per_pod and upper.per_pod else None
        return cls(
            tier_view=tier_view,
            cables=cables,
            lower=lower,
            upper=upper,
            runs=runs,
            pods=pods or 1,
            lower_has_other_links=of_lower,
            upper_has_other_links=of_upper,
        )

    @property
    def stays_in_pod(self) -> bool:
        """Whether links stay in a pod."""
        return self.lower.per_pod is not None and self.upper.per_pod is not None

    def lower_position(self, number: int) -> int:
        """Return the place of a lower switch among those that an upper switch has links to."""
        per_pod = self.lower.per_pod
        return number if per_pod is None or not self.stays_in_pod else (number - 1) % (per_pod * self.pods) + 1

    def upper_position(self, number: int) -> int:
        """Return the place of an upper switch among those that a lower switch has links to."""
        return self.upper.position_in_pod_of_id(number) if self.stays_in_pod else number

    @property
    def uncabled_lower_positions(self) -> set[int]:
        """Return the places of lower switches without any cable to a switch."""
        return {self.lower_position(box.id) for box in self.lower.boxes if not self._is_cabled(box)}

    @property
    def uncabled_upper_positions(self) -> set[int]:
        """Return the places of upper switches without any cable to a switch."""
        return {self.upper_position(box.id) for box in self.upper.boxes if not self._is_cabled(box)}

    def _is_cabled(self, box: GroupedSwitch) -> bool:
        return bool(self.cables.ends_of_switch(box.device.name))

    def panels_with_other_use(self, group: SwitchGroup) -> frozenset[int]:
        """Return the panel ports of a group that lead to hosts, or to groups other than these two."""
        panels = {
            port.port.panel
            for box in group.boxes
            for port in box.device.interfaces
            if isinstance(port.port, Port) and is_port_facing(port, "host")
        }
        for lower in self.tier_view.groups:
            for upper in self.tier_view.groups:
                if (lower, upper) != (self.lower, self.upper):
                    for run in self.cables.cables_between_groups(lower, upper):
                        panels |= {run.lower_port.panel} if lower is group else set()
                        panels |= {run.upper_port.panel} if upper is group else set()
        return frozenset(panels)


def _derive_links_between_two_groups(joined: CabledGroupPair) -> DerivedIntentPart:
    """Return the links between two groups, and the ports of the lower one for them."""
    tier_view, cables, runs = joined.tier_view, joined.cables, joined.runs
    lower, upper = joined.lower.boxes, joined.upper.boxes
    at: KeyPath = (*joined.lower.intent_key_path, "uplinks", joined.upper.name)
    links = most_common_value(_count_links_per_switch_pair(runs).values()) or 1
    ports = [cables.port(end) for run in runs for end in (run.link.a, run.link.b)]
    speed = most_common_value(port.speed_mbps for port in ports if port and isinstance(port.speed_mbps, int))
    split = _find_most_common_split(lower, ((run.lower, run.lower_port) for run in runs))
    peer_split = _find_most_common_split(upper, ((run.upper, run.upper_port) for run in runs))
    model = _most_common_model(lower)
    lower_share = lower_port_sharing(likely_model(lower), joined, split, links)
    upper_model = likely_model(upper)
    upper_share = upper_port_sharing(upper_model, joined, peer_split, links, speed or ASSUMED_PORT_SPEED_MBPS)
    by_model = upper_model.panels_splittable_at_once(peer_split, speed or ASSUMED_PORT_SPEED_MBPS)
    has_peer_ports = joined.upper_has_other_links or upper_share.panels != by_model
    fewer = [box.reduced_lanes_of_port(port) for box, port in _ports_at_cable_ends(tier_view, runs, cables)]
    lanes = most_common_value(lane_count for lane_count in fewer if lane_count is not None) if any(fewer) else None
    no_speed = speed is None
    if speed is None:
        port_group = model.group(lower_share.panels[0]) if model and lower_share.panels else None
        speed = port_group.speeds[0] if port_group else ASSUMED_PORT_SPEED_MBPS
    length, media_name, guessed = derive_cable_length_and_medium(
        links_of_group_cables(runs), ports, speed, at, copper=are_on_copper(lower, ports)
    )
    remarks = []
    if not lower_share.fits or not upper_share.fits:
        remarks.append(NO_PORT_ASSIGNMENT_RULE_REASON)
    if no_speed:
        guessed[(*at, "speed")] = UNSTATED_VALUE_REASON
    keys = facts_not_none(
        ports=format_number_ranges(lower_share.panels),
        peer_ports=format_number_ranges(upper_share.panels) if has_peer_ports else None,
        links=links,
        speed=show_speed(speed),
        media=media_name,
        length=f"{length}m",
        pods=joined.pods if joined.pods > 1 else None,
        split=split if split > 1 else None,
        lanes=lanes,
        peer_split=peer_split if peer_split != split else None,
        peer_slots=lower_share.slots,
        slots=upper_share.slots,
    )
    return DerivedIntentPart(keys=_wrap_tree_at(at, keys), guessed=guessed, left=tuple(remarks))


def _wrap_tree_at(at: KeyPath, keys: KeyTree) -> KeyTree:
    """Return keys below a path of keys."""
    for key in reversed(at):
        keys = {key: keys}
    return keys


def _host_side_group_and_linked_names(tier_view: TierView) -> tuple[SwitchGroup | None, str, str]:
    """Return the first group next to hosts, where one was read, and the names of groups that have links in any case."""
    lower, upper = tier_view.groups_of_tier(0)[:1], tier_view.groups_of_tier(1)[:1]
    names = [groups[0].name if groups else ROLES_BY_TIER[tier] for tier, groups in enumerate((lower, upper))]
    return lower[0] if lower else None, names[0], names[1]


def _uplinks_without_cables(tier_view: TierView, cables: CableLookup) -> DerivedIntentPart:
    """Return the links that sessions over ports show, and the keys that a person has to add."""
    if uplink := _find_unnumbered_uplinks(tier_view, cables):
        return uplink
    _, lower, upper = _host_side_group_and_linked_names(tier_view)
    why = f"no address, neighbor table or stated cable joins a {lower} to a {upper}"
    panels = _find_panels_to_unread_switches(tier_view, cables)
    at: KeyPath = ("topology", "groups", lower, "uplinks", upper)
    ports = {"ports": format_number_ranges(panels) if panels else "17-32"}
    return DerivedIntentPart(lacking={at: MissingIntentKey(why, ports | _make_example_uplinks(tier_view, panels))})


def _find_panels_to_unread_switches(tier_view: TierView, cables: CableLookup) -> frozenset[int]:
    """Return the panel ports over which switches next to hosts have sessions with switches that were not read."""
    return frozenset(
        port.port.panel
        for box in tier_view.host_facing_switches
        for name in cables.find_ports_to_unread_bgp_peers(box.device.name)
        if (port := box.port(name)) and isinstance(port.port, Port)
    )


def _make_example_uplinks(sight: TierView, panels: frozenset[int]) -> KeyTree:
    """Return links as they may be, of the speed of those panel ports, else of all."""
    ports = [port for box in sight.switches_from_lowest_tier for port in box.device.interfaces]
    ports = [port for port in ports if isinstance(port.port, Port) and port.port.panel in panels] or ports
    speed = (
        most_common_value(port.speed_mbps for port in ports if isinstance(port.speed_mbps, int))
        or ASSUMED_PORT_SPEED_MBPS
    )
    return {
        "links": 1 if panels else 2,
        "speed": show_speed(speed),
        "media": find_fitting_medium(speed, _ASSUMED_CABLE_LENGTH_M),
        "length": f"{_ASSUMED_CABLE_LENGTH_M}m",
    }


def _find_unnumbered_uplinks(sight: TierView, cables: CableLookup) -> DerivedIntentPart | None:
    """Return the ports with sessions over interfaces as links upwards; None where there are none."""
    group, _, upper = _host_side_group_and_linked_names(sight)
    boxes = group.boxes if group else ()
    ports = [
        port
        for box in boxes
        for name in sorted(cables.find_bgp_unnumbered_ports(box.device.name))
        if (port := box.port(name)) and isinstance(port.port, Port)
    ]
    uppers = [box for each in sight.groups_of_tier(1) for box in each.boxes]
    if not ports or not uppers or group is None:
        return None
    at: KeyPath = (*group.intent_key_path, "uplinks", upper)
    panels = {port.port.panel for port in ports if isinstance(port.port, Port)}
    split = most_common_value(box.split_count_of_panel(panel) for box in boxes for panel in sorted(panels)) or 1
    speed = most_common_value(port.speed_mbps for port in ports if isinstance(port.speed_mbps, int))
    length, media_name, guessed = derive_cable_length_and_medium(
        (), ports, speed or ASSUMED_PORT_SPEED_MBPS, at, copper=are_on_copper(boxes, ports)
    )
    guessed[(*at, "links")] = "ports with sessions over interfaces; no file says which of them leads where"
    if speed is None:
        guessed[(*at, "speed")] = UNSTATED_VALUE_REASON
    keys = {
        "ports": format_number_ranges(panels),
        "links": max(len(panels) * split // len(uppers), 1),
        "split": split if split > 1 else None,
        "speed": show_speed(speed or ASSUMED_PORT_SPEED_MBPS),
        "media": media_name,
        "length": f"{length}m",
    }
    return DerivedIntentPart(keys=_wrap_tree_at(at, facts_not_none(**keys)), guessed=guessed)


def _count_links_per_switch_pair(port_runs: Iterable[GroupCable]) -> dict[tuple[int, int], int]:
    counts: dict[tuple[int, int], int] = {}
    for run in port_runs:
        counts[run.lower, run.upper] = counts.get((run.lower, run.upper), 0) + 1
    return counts


def links_of_group_cables(port_runs: Iterable[GroupCable]) -> tuple[Link, ...]:
    """Return the cables of runs."""
    return tuple(run.link for run in port_runs)


def _ports_at_cable_ends(
    sight: TierView, runs: Iterable[GroupCable], cables: CableLookup
) -> Iterator[tuple[GroupedSwitch, Interface]]:
    """Yield the switch and the port at each end of runs."""
    boxes = {box.device.name: box for box in sight.switches_from_lowest_tier}
    for run in runs:
        for end in (run.link.a, run.link.b):
            port = cables.port(end)
            if port is not None and end.node in boxes:
                yield boxes[end.node], port


def _find_most_common_split(own_boxes: tuple[GroupedSwitch, ...], ports: Iterable[tuple[int, Port]]) -> int:
    boxes = {box.id: box for box in own_boxes}
    splits: dict[tuple[int, int], int] = {}
    counted = []
    for number, port in ports:
        if (number, port.panel) not in splits:
            splits[number, port.panel] = boxes[number].split_count_of_panel(port.panel)
        counted.append(splits[number, port.panel])
    return most_common_value(counted) or 1


def _most_common_model(own_boxes: tuple[GroupedSwitch, ...]) -> SwitchModel | None:
    name = most_common_value(model.name for box in own_boxes if (model := box.model))
    return None if name is None else switch(name)


def lower_port_sharing(model: SwitchModel | None, joined: CabledGroupPair, split: int, links: int) -> PortSharingRule:
    """Return the lower switches' panel ports towards upper ones and how they are shared out."""
    used = {run.lower_port.panel for run in joined.runs}
    blocks: dict[int, set[Port]] = {}
    for run in joined.runs:
        blocks.setdefault(joined.upper_position(run.upper), set()).add(run.lower_port)
    ids = tuple(sorted(blocks.keys() | joined.uncabled_upper_positions))
    others = joined.panels_with_other_use(joined.lower)
    free = [panel for panel in (model.panels if model else ()) if panel not in others]
    candidates = list(_candidate_panel_lists(used, free))
    paths = None if joined.lower_has_other_links else _most_common_maximum_paths(joined.lower.boxes)
    if model and paths and paths > len(model.panels):
        wide = [panels for panels in candidates if len(panels) * split == paths]
        share = _find_shared_panels(blocks, ids, wide, split, links, joined.upper.name)
        if share.fits:
            return share
    return _find_shared_panels(blocks, ids, candidates, split, links, joined.upper.name)


def _most_common_maximum_paths(boxes: tuple[GroupedSwitch, ...]) -> int | None:
    """Return how many equal paths switches may use: more than panel ports are as many as uplinks."""
    processes = (box.device.bgp for box in boxes)
    return most_common_value(
        process.maximum_paths or process.maximum_paths_ipv6 for process in processes if isinstance(process, Bgp)
    )


def upper_port_sharing(
    model: SwitchModel | None, joined: CabledGroupPair, split: int, links: int, speed: int | None
) -> PortSharingRule:
    """Return how the upper switches' ports are shared out among lower ones.

    Which ports those are follows from the model, unless the upper switches have other links too, or others are stated.
    """
    blocks: dict[int, set[Port]] = {}
    for run in joined.runs:
        blocks.setdefault(joined.lower_position(run.lower), set()).add(run.upper_port)
    used = {run.upper_port.panel for run in joined.runs}
    panels = model.panels_splittable_at_once(split, speed) if model and speed else tuple(sorted(used))
    ids = tuple(sorted(blocks.keys() | joined.uncabled_lower_positions))
    by_model = _find_shared_panels(blocks, ids, [panels], split, links, joined.lower.name)
    if by_model.fits and not joined.upper_has_other_links:
        return by_model
    others = joined.panels_with_other_use(joined.upper)
    candidates = _candidate_panel_lists(used, [panel for panel in panels if panel not in others])
    stated = _find_shared_panels(blocks, ids, candidates, split, links, joined.lower.name)
    return stated if stated.fits or joined.upper_has_other_links else by_model


def _candidate_panel_lists(used: set[int], free: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield lists of panel ports that hold those in use, the most likely first: themselves, then longer runs."""
    yield tuple(sorted(used))
    low, high = min(used), max(used)
    around = [panel for panel in free if panel >= low], [panel for panel in free if panel <= high]
    runs = {
        tuple(panel for panel in free if first_panel <= panel <= last)
        for first_panel in [panel for panel in around[1] if panel <= low]
        for last in [panel for panel in around[0] if panel >= high]
    }
    yield from sorted(runs, key=lambda panels: (len(panels), panels))


def _find_shared_panels(
    blocks: Mapping[int, set[Port]],
    ids: tuple[int, ...],
    candidates: Iterable[tuple[int, ...]],
    split: int,
    link_count: int,
    role: str,
) -> PortSharingRule:
    """Return the first panel ports and slots that give every peer the ports that it has; else the ports in use.

    `ids` are those of `blocks`, and of peers without cables.
    """
    first_panels: tuple[int, ...] = ()
    tried = []
    for panels in candidates:
        first_panels = first_panels or panels
        ports = split_ports(panels, split)
        if {port.panel for block in blocks.values() for port in block} <= set(panels):
            tried.append((panels, ports))
    for panels, ports in tried:
        if _gives_same_blocks(blocks, PeerPortBlocks(role=role, ids=ids, ports=ports, slots=None), link_count):
            return PortSharingRule(panels, None)
    for panels, ports in tried:
        if (slots := _find_slot_count(blocks, ids, ports, link_count, role)) is not None:
            return PortSharingRule(panels, slots)
    return (
        PortSharingRule(first_panels, max(ids), fits=False)
        if max(ids) * link_count <= len(first_panels) * split
        else PortSharingRule(first_panels, None, False)
    )


def _find_slot_count(
    blocks: Mapping[int, set[Port]], ids: tuple[int, ...], ports: tuple[SplitPort, ...], link_count: int, role: str
) -> int | None:
    """Return the number of slots that gives each peer, placed by its number, its ports; None if there is none."""
    at = {jack.port: place for place, jack in enumerate(ports)}
    last = max(blocks)
    if not blocks[last] <= at.keys():
        return None
    start = min(at[port] for port in blocks[last])
    widths = {start // (last - 1)} if last > 1 else {link_count, *range(link_count, len(ports) + 1)}
    slot_counts = {len(ports) // width for width in widths if width}
    near = {count + step for count in slot_counts for step in (0, 1)} | set(range(last, min(len(ports), 512) + 1))
    tried: list[int] = [count for count in (*sorted(slot_counts), *sorted(near - slot_counts)) if last <= count <= 512]
    tried += range(len(ids), min(last, 513))  # where the ids begin after those of another fabric
    for slots in tried:
        if _gives_same_blocks(blocks, PeerPortBlocks(role=role, ids=ids, ports=ports, slots=slots), link_count):
            return slots
    return None


def _gives_same_blocks(blocks: Mapping[int, set[Port]], peers: PeerPortBlocks, size: int) -> bool:
    if peers.explain_clash(size):
        return False
    return all({jack.port for jack in peers.block(number, size)} == own_blocks for number, own_blocks in blocks.items())


def are_on_copper(boxes: Iterable[GroupedSwitch], ports: Iterable[Interface | None]) -> bool:
    """Return whether ports of switches autonegotiate where the platform does not by itself: passive copper needs it."""
    traits = [newest_traits(box.device.platform) for box in boxes]
    chosen = all(os_traits is not None and os_traits.autoneg is None for os_traits in traits)
    return (
        chosen and most_common_value(port.autoneg for port in ports if port and isinstance(port.autoneg, bool)) is True
    )


def derive_cable_length_and_medium(
    links: Iterable[Link],
    ports: Iterable[Interface | None],
    speed: int | None,
    key_path: KeyPath,
    *,
    copper: bool = False,
) -> tuple[int, str, dict[KeyPath, str]]:
    """Return the length and the medium of a group of cables, and which of the two is guessed."""
    guessed: dict[KeyPath, str] = {}
    links = tuple(links)
    length = most_common_value(link.length_m for link in links if isinstance(link.length_m, int))
    if length is None:
        lengths_m = [port.cable_length_m for port in ports if port and isinstance(port.cable_length_m, int)]
        length = max(lengths_m, default=None)
        if length is not None:
            guessed[(*key_path, "length")] = "the longest length that ports state; no file states cable lengths"
    if length is None:
        length = _ASSUMED_CABLE_LENGTH_M
        guessed[(*key_path, "length")] = UNSTATED_VALUE_REASON
    name = most_common_value(link.media for link in links if isinstance(link.media, str))
    if name is None or medium(name) is None:
        unsaid = "ports autonegotiate, as on passive copper" if copper else UNSTATED_VALUE_REASON
        guessed[(*key_path, "media")] = unsaid if name is None else f"{name} is not known"
        name = find_fitting_medium(speed, length, copper=copper)
    return length, name, guessed


def find_fitting_medium(speed: int | None, length_m: int, *, copper: bool = False) -> str:
    """Return a medium of a speed that reaches a length.

    It is passive copper if `copper`, else DR optics; where neither reaches, the one that reaches the least beyond.
    """
    able = [one for one in media().values() if (speed is None or speed in one.speeds) and one.max_length_m >= length_m]
    passive = [one for one in able if one.passive and copper]
    optical = [one for one in able if one.name.startswith("DR")]
    found_medium = min(
        passive or optical or able or media().values(), key=lambda one: (one.passive, one.max_length_m, one.name)
    )
    return found_medium.name
