"""Cables: what joins which ports, and whether the medium that an intent names can."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

from nodrop.design.boxes import PlannedSwitch, lanes_by_speed
from nodrop.design.faults import IntentFault, KeyFault
from nodrop.design.splits import SplitPort
from nodrop.hardware import media, nearest_word_hint, switch
from nodrop.hardware.lanes import (
    PlugLanes,
    pluggable_lanes_of_nic,
    pluggable_lanes_of_switch_ports,
    possible_lane_counts,
)
from nodrop.hardware.ports import PortSplit
from nodrop.hardware.schema import Medium, MediumLink, NicModel, SwitchModel
from nodrop.intent.external import ExternalNeighbor
from nodrop.intent.schema import EndpointGroup
from nodrop.intent.topology import GroupUplinks, Uplinks
from nodrop.units import show_speed

LinkGroup = Uplinks | GroupUplinks | EndpointGroup | ExternalNeighbor
"""What an intent states of links that are alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CableProperties:
    """The properties that a group of links shares, and the intent's path to it."""

    speed_mbps: int
    media: Medium
    length_m: int
    keys: tuple[str, ...]
    port_lanes: int | None = None
    """Of a switch's port, where the intent states them; None is all that the port has."""
    lanes: int | None = None
    """In use, where the medium is passive; None where each end has its own."""

    def fec_required_by_standard(self, plugs: PlugLanes) -> Literal["rs", "fc", "none"] | None:
        """Return the FEC that the standard asks of a port that takes these plugs; None where it asks for nothing."""
        lanes = possible_lane_counts(plugs) if self.lanes is None else {self.lanes}
        link = self.media.find_link_reaching_length(self.speed_mbps, lanes, self.length_m)
        return link.fec if link else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricCable:
    """A link between two switches; the lower one owns its addresses."""

    lower: PlannedSwitch
    lower_port: SplitPort
    upper: PlannedSwitch
    upper_port: SplitPort
    cabling: CableProperties


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCable:
    """A link from a switch to a port (numbered from 1) of a host."""

    switch: PlannedSwitch
    switch_port: SplitPort
    host: str
    host_port: int
    host_lanes: int
    bond: SplitPort | None
    """The switch's port of the host's first, where all of them are one bond."""
    group: str
    cabling: CableProperties

    @property
    def address_port(self) -> SplitPort:
        """Return the switch's port that carries the addresses of the link."""
        return self.bond or self.switch_port


class LinkEndKind(NamedTuple):
    """A kind of device at one end of a group of links: its model, and the lanes of its ports by speed."""

    model: str
    lanes: Mapping[int, int]
    asic: str = ""
    into: int = 1
    """Into how many ports its panel ports are split."""
    ways: tuple[PortSplit, ...] = ()
    """How else they can be split; none are a host's."""
    panels: tuple[int, ...] = ()

    @classmethod
    def of(cls, model: SwitchModel, into: int, panels: tuple[int, ...], used: int | None = None) -> "LinkEndKind":
        """Return the end at some panel ports of a switch, with so many lanes in use; None is all."""
        lanes = lanes_by_speed(model, into, panels, used)
        return cls(model.name, lanes, model.asic.title(), into, model.breakout_options(panels), panels)

    @classmethod
    def of_nic(cls, model: NicModel) -> "LinkEndKind":
        """Return the end at a port of a host."""
        return cls(model.name, {speed: lanes[0] for speed, lanes in model.lanes.items()})

    def pluggable_lanes_at_speed(self, speed: int) -> PlugLanes:
        """Return what can be plugged into its ports at a speed that they have."""
        return (
            pluggable_lanes_of_switch_ports(self.model, self.panels, self.lanes[speed], speed)
            if self.ways
            else pluggable_lanes_of_nic(self.model, speed)
        )

    def split_panels(self, split_count: int) -> "LinkEndKind":
        """Return the end with its panel ports split into so many, which leaves a host's as they are."""
        breakout = next((candidate for candidate in self.ways if candidate.into == split_count), None)
        lanes = dict.fromkeys(breakout.speeds, breakout.lanes) if breakout else {}
        return self._replace(into=split_count, lanes=lanes) if self.ways else self

    def with_lanes_used(self, lanes: int) -> "LinkEndKind":
        """Return the end with so many lanes of each port in use; a host's stays as it is."""
        by_speed = lanes_by_speed(switch(self.model), self.into, self.panels, lanes) if self.ways else self.lanes
        return self._replace(lanes=by_speed)

    def explain_missing_speed(self, speed: int) -> str:
        """Return that it has no port of a speed, in words."""
        chip = f" ({self.asic})" if self.asic else ""
        split = f", split into {self.into}," if self.into > 1 else ""
        return f"{self.model}{chip}{split} has no {show_speed(speed)} port"


class _CableMisfit(NamedTuple):
    key: str
    found: str
    expected: str = ""


def resolve_cabling(
    key_path: tuple[str, ...],
    group: LinkGroup,
    link_ends: Sequence[LinkEndKind],
    problems: list[IntentFault],
    holds: Callable[[int], bool],
) -> CableProperties | None:
    """Return the properties that a group of links shares; None if its medium or speed is a problem.

    `holds` returns whether the ports suffice when split into so many.
    """
    medium = media().get(group.media)
    if medium is None:
        hint = nearest_word_hint(group.media, tuple(media()))
        problems.append(KeyFault((*key_path, "media"), group.media, "a medium of the catalogue", hint))
    faults = _speed_faults(key_path, group, link_ends, holds)
    if group.lanes is not None and not all(end.lanes for end in link_ends):
        return None
    problems += faults
    if medium is None or faults:
        return None
    misfit = _find_medium_misfit(medium, group, link_ends)
    if misfit:
        hint = ", or ".join((*_split_or_lanes_hints(group, link_ends, holds), _hint_fitting_media(group, link_ends)))
        problems.append(KeyFault((*key_path, misfit.key), misfit.found, misfit.expected, hint))
    link = _link_over_passive_medium(medium, group, link_ends) if medium.passive else None
    lanes = link.lanes if link else None
    return CableProperties(
        speed_mbps=group.speed, media=medium, length_m=group.length, keys=key_path, port_lanes=group.lanes, lanes=lanes
    )


def can_medium_link(name: str, group: LinkGroup, link_ends: Sequence[LinkEndKind]) -> bool:
    """Return whether a medium can make links whose ends have ports of their speed."""
    return name in media() and _find_medium_misfit(media()[name], group, link_ends) is None


def _speed_faults(
    key_path: tuple[str, ...],
    group: LinkGroup,
    link_ends: Sequence[LinkEndKind],
    holds: Callable[[int], bool],
) -> list[IntentFault]:
    speed = group.speed
    common = sorted(set.intersection(*(set(end.lanes) for end in link_ends)), reverse=True)
    expected = f"a speed of both ends: {', '.join(map(show_speed, common)) or 'there is none'}"
    lacking = dict.fromkeys(end.explain_missing_speed(speed) for end in link_ends if speed not in end.lanes)
    hint = ", or ".join(_split_or_lanes_hints(group, link_ends, holds)) if lacking else ""
    return [KeyFault((*key_path, "speed"), fault, expected, hint) for fault in lacking]


def _split_or_lanes_hints(group: LinkGroup, ends: Sequence[LinkEndKind], holds: Callable[[int], bool]) -> list[str]:
    """Return the keys with which a medium can make the links: the first split that does, and the most lanes."""
    if group.lanes is not None:
        return []
    splits = (f"split: {into}" for into in splits_at_which_medium_fits(group, ends) if holds(into))
    lanes = (
        f"lanes: {count}" for count in (4, 2, 1) if _can_join_ends(group, [end.with_lanes_used(count) for end in ends])
    )
    return [*islice(splits, 1), *islice(lanes, 1)]


def _can_join_ends(group: LinkGroup, ends: Sequence[LinkEndKind]) -> bool:
    return all(group.speed in end.lanes for end in ends) and can_medium_link(group.media, group, ends)


def splits_at_which_medium_fits(group: LinkGroup, link_ends: Sequence[LinkEndKind]) -> list[int]:
    """Return the splits, one for all switches, at which a medium can make the links, fewest parts first."""
    every = sorted({breakout.into for end in link_ends for breakout in end.ways if not breakout.blocks_next})
    return [into for into in every if _can_join_ends(group, [end.split_panels(into) for end in link_ends])]


def _find_medium_misfit(medium: Medium, group: LinkGroup, ends: Sequence[LinkEndKind]) -> _CableMisfit | None:
    """Return why a medium cannot make the links; every end is known to have a port of their speed."""
    speed = show_speed(group.speed)
    if group.speed not in medium.speeds:
        return _CableMisfit("media", f"{medium.name} does not carry {speed}")
    possible = medium.links_at_speed_and_lanes(group.speed, _possible_lane_counts(medium, group, ends))
    if not possible:
        near_lanes, far_lanes = (f"{end.lanes[group.speed]} lanes of {end.model}" for end in ends)
        return _CableMisfit("media", f"{medium.name} is passive and cannot join {near_lanes} to {far_lanes} at {speed}")
    farthest = max(possible, key=lambda link: link.reach_m)
    if group.length > farthest.reach_m:
        rate = f" at {group.speed // farthest.lanes // 1000} Gb/s a lane" if farthest.lanes else ""
        return _CableMisfit("length", f"{group.length}m", f"at most {farthest.reach_m}m on {medium.name}{rate}")
    return None


def _possible_lane_counts(medium: Medium, group: LinkGroup, ends: Sequence[LinkEndKind]) -> frozenset[int]:
    """Return the numbers of lanes on which a medium may run: a passive one those that both ends have in one plug."""
    plugs = [end.pluggable_lanes_at_speed(group.speed) for end in ends]
    return possible_lane_counts(frozenset.intersection(*plugs) if medium.passive else frozenset.union(*plugs))


def _link_over_passive_medium(medium: Medium, group: LinkGroup, ends: Sequence[LinkEndKind]) -> MediumLink | None:
    """Return how a passive medium makes the links; None where it cannot."""
    return medium.find_link_reaching_length(group.speed, _possible_lane_counts(medium, group, ends), group.length)


def _hint_fitting_media(group: LinkGroup, ends: Sequence[LinkEndKind]) -> str:
    """Return a hint naming the media that can make the links."""
    names = [name for name in media() if can_medium_link(name, group, ends)]
    links = f"{show_speed(group.speed)} over {group.length}m"
    return f"for {links}: {', '.join(names)}" if names else f"no medium of the catalogue runs {links}"
