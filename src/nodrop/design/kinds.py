"""The kinds of links that a tier's switches may have, as the intent declares them, with any cabling."""

from typing import NamedTuple

from nodrop.design.boxes import LEAF, lanes_by_speed
from nodrop.design.splits import group_panels, spine_panels, spine_split_factor
from nodrop.hardware.schema import Switch
from nodrop.intent.schema import Intent


class LinkKind(NamedTuple):
    """Ports of a switch whose links are alike."""

    speed_mbps: int
    lanes: int
    length_m: int
    ports: int
    """How many of a switch's ports may be of it."""
    keys: tuple[str, ...]
    """The keys of the intent that declare it."""


def kinds(intent: Intent, role: str, switch_model: Switch) -> tuple[LinkKind, ...]:
    """Return the kinds of links of a tier: of leaves those up and those to every group of endpoints."""
    uplinks, endpoints = intent.topology.uplinks, intent.endpoints if role == LEAF else {}
    up = uplinks.split if role == LEAF else spine_split_factor(intent)
    panels = intent.topology.leaves.ports.uplinks if role == LEAF else spine_panels(intent, switch_model)
    link_kinds = [(uplinks.speed, up, uplinks.lanes, uplinks.length, panels, ("topology", "uplinks"))]
    for name, group in endpoints.items():
        facing = group_panels(intent, name)
        link_kinds.append((group.speed, group.split, group.lanes, group.length, facing, ("endpoints", name)))
    return tuple(
        LinkKind(speed, lanes_by_speed(switch_model, into, facing, lanes)[speed], length, len(facing) * into, keys)
        for speed, into, lanes, length, facing, keys in link_kinds
    )
