"""What a switch model can be in a fabric: its ports by speed, the sizes that they allow, and media to each NIC."""

from collections.abc import Iterator
from typing import TypedDict

from nodrop.design.cabling import LinkEndKind, can_medium_link
from nodrop.hardware import asic, find_design_obstacle, media, nic, nics
from nodrop.hardware.schema import SwitchModel
from nodrop.intent.topology import GroupUplinks
from nodrop.platforms import platforms_default_first
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.sizing.counting import PanelPortsForSpeed, best_port_use_of_speed


class PortSpeedUse(TypedDict):
    """A speed of fabric ports: ports of a switch, and host ports that two and three tiers carry at 1:1."""

    speed_mbps: int
    split: int
    ports: int
    two_tiers: int
    three_tiers: int
    platforms: list[str]


class MediumReach(TypedDict):
    """How far a medium reaches, in meters."""

    name: str
    reach_m: int


class NicLink(TypedDict):
    """How a NIC at its fastest speed is linked."""

    nic: str
    speed_mbps: int
    split: int
    media: list[MediumReach]


def platforms_fabrics_are_written_for(model: SwitchModel) -> tuple[str, ...]:
    """Return the network OSes for which fabrics of a model can be designed and written."""
    return tuple(platform for platform in platforms_default_first() if find_design_obstacle(model, platform) is None)


def has_speed(model: SwitchModel, speed_mbps: int) -> bool:
    """Return whether a fabric port of a model, whole or a part, has a speed."""
    groups = [group for group in model.ports if not group.service]
    return any(speed_mbps in way.speeds for group in groups for way in (*group.breakout_options, *group.narrow))


def can_write_for_release(model: SwitchModel, platform: str, release: str) -> bool:
    """Return whether fabrics of a model can be written for a release of a network OS, which has this release."""
    releases, since = traits_of_platform(platform).releases, model.since.get(platform)
    supported = find_design_obstacle(model, platform) is None
    return supported and (since is None or releases.index(since) <= releases.index(release))


def fabric_sizes_by_speed(model: SwitchModel) -> list[PortSpeedUse]:
    """Return, for each speed of a fabric port, how many ports a switch has, and what two and three tiers carry at 1:1.

    Speeds without a known headroom are left out; `platforms` are those that have the split. Empty for a model for which
    no fabric can be designed.
    """
    uses: dict[int, dict[tuple[int, int], list[str]]] = {}
    for platform in platforms_fabrics_are_written_for(model):
        for use in _port_uses(model, platform):
            uses.setdefault(use.speed_mbps, {}).setdefault((use.split, use.radix), []).append(platform)
    return [
        {
            "speed_mbps": speed,
            "split": split,
            "ports": radix,
            "two_tiers": radix * radix // 2,
            "three_tiers": radix**3 // 4,
            "platforms": platforms,
        }
        for speed, ways in sorted(uses.items(), reverse=True)
        for (split, radix), platforms in ways.items()
    ]


def _port_uses(model: SwitchModel, platform: str) -> Iterator[PanelPortsForSpeed]:
    speeds = {speed for group in model.ports for way in group.breakout_options for speed in way.speeds}
    known = speeds if asic(model.asic).has_headroom_terms else speeds & model.sonic.headroom_speeds_mbps
    for speed in known:
        if use := best_port_use_of_speed(model, platform, speed):
            yield use


def nic_link_options(model: SwitchModel) -> list[NicLink]:
    """Return, for each NIC at its fastest speed that a model has, the split and the media with their reach."""
    rows: list[NicLink] = []
    uses = {
        use.speed_mbps: use
        for platform in platforms_fabrics_are_written_for(model)
        for use in _port_uses(model, platform)
    }
    for name in nics():
        common = sorted(uses.keys() & nic(name).lanes.keys())
        if common:
            use = uses[common[-1]]
            ends = (LinkEndKind.of(model, use.split, use.panels), LinkEndKind.of_nic(nic(name)))
            reaches = {medium: _reach_m(medium, use.speed_mbps, ends) for medium in media()}
            rows.append(
                {
                    "nic": name,
                    "speed_mbps": use.speed_mbps,
                    "split": use.split,
                    "media": [
                        {"name": medium, "reach_m": reach} for medium, reach in reaches.items() if reach is not None
                    ],
                }
            )
    return rows


def _reach_m(name: str, speed_mbps: int, ends: tuple[LinkEndKind, LinkEndKind]) -> int | None:
    """Return how long a medium between two ends can be at a speed; None where it cannot join them."""
    lengths = sorted({link.reach_m for link in media()[name].links if link.speed == speed_mbps}, reverse=True)
    for length_m in lengths:
        links = GroupUplinks.model_construct(ports=(), links=1, media=name, speed=speed_mbps, length=length_m)
        if can_medium_link(name, links, ends):
            return length_m
    return None
