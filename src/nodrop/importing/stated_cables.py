"""The cables between switches one by one, as a cabling sheet in the intent: where no rule gives out their ports."""

from collections.abc import Iterable, Mapping

from nodrop.hardware import medium
from nodrop.importing.parts import DerivedIntentPart, KeyTree, facts_not_none
from nodrop.importing.tier_view import CableLookup, GroupedSwitch, TierView, most_common_value
from nodrop.importing.uplinks import (
    are_on_copper,
    derive_cable_length_and_medium,
    find_fitting_medium,
    links_of_group_cables,
)
from nodrop.model.fabric import End, Link, Port
from nodrop.units import show_speed


def derive_cable_sheet(tier_view: TierView, cables: CableLookup) -> DerivedIntentPart | None:
    """Return the topology of a sheet without its groups; None where a port's speed or number is not known."""
    pairs = [(lower, upper) for lower in tier_view.groups for upper in tier_view.groups]
    runs = [run for pair in pairs for run in cables.cables_between_groups(*pair)]
    ends = [end for run in runs for end in (run.link.a, run.link.b)]
    ports = [cables.port(end) for end in ends]
    speeds = [port.speed_mbps for port in ports if port and isinstance(port.speed_mbps, int)]
    boxes = {box.device.name: box for box in tier_view.switches_from_lowest_tier}
    if not runs or len(speeds) < len(ends) or set(ends) != cables.switch_link_ends:
        return None
    speed = most_common_value(speeds)
    at = ("topology",)
    length, media, guessed = derive_cable_length_and_medium(
        links_of_group_cables(runs), ports, speed, at, copper=are_on_copper(boxes.values(), ports)
    )
    usual_facts = {"speed": show_speed(speed or 0), "media": media, "length": f"{length}m"}
    tiers = {name: group.tier for name, group in tier_view.group_of_switch.items()}
    rows = [
        _format_cable_row(
            run.link, sorted((run.link.a, run.link.b), key=lambda end: tiers[end.node]), boxes, cables, usual_facts
        )
        for run in runs
    ]
    return DerivedIntentPart(keys={"topology": {"kind": "cabling", **usual_facts, "cables": rows}}, guessed=guessed)


def _format_cable_row(
    link: Link, ends: Iterable[End], boxes: Mapping[str, GroupedSwitch], cables: CableLookup, usual_facts: KeyTree
) -> str:
    """Return the text of a cable: its ends, and what differs from most cables, as their medium may for its speed."""
    port = cables.port(link.a)
    length = link.length_m if isinstance(link.length_m, int) else port.cable_length_m if port else None
    speed = port.speed_mbps if port and isinstance(port.speed_mbps, int) else None
    usual = medium(usual_facts["media"])
    media = link.media if isinstance(link.media, str) else None
    if media is None and speed is not None and usual is not None and speed not in usual.speeds:
        media = find_fitting_medium(speed, length if isinstance(length, int) else 1)
    facts = facts_not_none(
        length=f"{length}m" if isinstance(length, int) else None,
        media=media,
        speed=None if speed is None else show_speed(speed),
    )
    words = [str(value) for key, value in facts.items() if value != usual_facts[key]]
    return " ".join(("--".join(f"{end.node}:{_sheet_port_name(boxes[end.node], end, cables)}" for end in ends), *words))


def _sheet_port_name(box: GroupedSwitch, end: End, cables: CableLookup) -> str:
    """Return a port as a sheet names it: a whole panel port by its name, a part by numbers, which leave no doubt."""
    port = cables.port(end)
    if port is None or not isinstance(port.port, Port) or box.split_count_of_panel(port.port.panel) == 1:
        return end.port
    return f"{port.port.panel}/{port.port.split + 1}"
