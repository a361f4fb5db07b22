"""The kinds of links that a group's switches may have, as the intent declares them, with any cabling."""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.design.boxes import lanes_by_speed
from nodrop.design.splits import panels_of_endpoints
from nodrop.design.topology import TierSwitchGroup, Topology, endpoints_of_group
from nodrop.hardware.schema import SwitchModel
from nodrop.intent.schema import EndpointGroup
from nodrop.intent.topology import GroupUplinks, Uplinks


class LinkKind(NamedTuple):
    """Ports of a switch whose links are alike."""

    speed_mbps: int
    lanes: int
    length_m: int
    ports: int
    """How many of a switch's ports may be of it."""
    keys: tuple[str, ...]
    """The keys of the intent that declare it."""


class PanelUse(NamedTuple):
    """Panel ports of a switch for links that are alike, and into how many ports each is split."""

    links: Uplinks | GroupUplinks | EndpointGroup
    into: int
    panels: tuple[int, ...]
    keys: tuple[str, ...]


def panel_uses(topology: Topology, group: TierSwitchGroup, switch_model: SwitchModel) -> Iterator[PanelUse]:
    """Yield the uses of the panel ports of a group's switches: links up, links down, and those to hosts."""
    for join in topology.joins_above(group):
        yield PanelUse(join.wanted, join.split, join.lower_ports, join.keys)
    for join in topology.joins_below(group):
        yield PanelUse(join.wanted, join.upper_split_factor, join.upper_panels(switch_model), join.keys)
    for name in endpoints_of_group(topology, group):
        wanted = topology.endpoints[name]
        yield PanelUse(wanted, wanted.split, panels_of_endpoints(topology, name), ("endpoints", name))


def link_kinds_of(topology: Topology, group: TierSwitchGroup, switch_model: SwitchModel) -> tuple[LinkKind, ...]:
    """Return the kinds of links of a group: those to other groups and those to every group of endpoints."""
    return tuple(
        LinkKind(
            links.speed,
            lanes_by_speed(switch_model, into, facing, links.lanes)[links.speed],
            links.length,
            len(facing) * into,
            keys,
        )
        for links, into, facing, keys in panel_uses(topology, group, switch_model)
    )
