"""The links between the tiers: how many, on which ports, and the rule that assigns ports."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from nodrop.design.blocks import Peers
from nodrop.design.splits import SplitPort, split_ports
from nodrop.hardware import media, medium, switch
from nodrop.hardware.schema import Switch
from nodrop.importing.parts import Found, Keys, Lack, Tree, collect_facts, numbers
from nodrop.importing.tier_view import LEAF, SPEED_MBPS, SPINE, Box, Cables, Run, TierView, faces, usual
from nodrop.importing.tiers import likely_model
from nodrop.model.fabric import Interface, Link, Port
from nodrop.model.routing import Bgp
from nodrop.platforms.kit.traits import known_traits
from nodrop.units import show_speed

_AT: Keys = ("topology", "uplinks")
_PORTS: Keys = ("topology", "leaves", "ports")


_LENGTH_M = 30
"""The length of a cable of which no file says one."""


UNSAID = "no file says so"


class Sharing(NamedTuple):
    """By which rule the ports of a tier go to its peers: the panel ports and the number of slots, None by halving."""

    panels: tuple[int, ...]
    slots: int | None
    fits: bool = True


def uplinks(tier_view: TierView, cables: Cables) -> Found:
    """Return the links between the tiers, and the leaves' ports for them."""
    runs = cables.runs
    if not runs or not tier_view.leaves or not tier_view.spines:
        if uplink := _find_unnumbered_uplinks(tier_view, cables):
            return uplink
        why = "no address, neighbor table or stated cable joins a leaf to a spine"
        panels = _find_external_panels(tier_view, cables)
        own_example = numbers(panels) if panels else "17-32"
        return Found(
            lacking={
                _AT: Lack(why, _make_example_uplinks(tier_view, panels)),
                (*_PORTS, "uplinks"): Lack(why, own_example),
            }
        )
    per_spine = usual(_counts(runs).values()) or 1
    ports = [cables.port(end) for run in runs for end in (run.link.a, run.link.b)]
    speed = usual(port.speed_mbps for port in ports if port and isinstance(port.speed_mbps, int))
    split, spine_split = (_find_usual_split(tier_view.tier(role), runs, role) for role in (LEAF, SPINE))
    leaf = _usual_model(tier_view.tier(LEAF))
    lower, upper = map(likely_model, (tier_view.leaves, tier_view.spines))
    leaf_share = leaf_sharing(lower, tier_view, runs, split, per_spine, _host_panel_ports(tier_view))
    spine_share = spine_sharing(upper, runs, spine_split, per_spine, speed or SPEED_MBPS)
    fewer = [box.fewer_lanes(port) for box, port in _ports_at_run_ends(tier_view, runs, cables)]
    lanes = usual(lane_count for lane_count in fewer if lane_count is not None) if any(fewer) else None
    no_speed = speed is None
    if speed is None:
        group = leaf.group(leaf_share.panels[0]) if leaf and leaf_share.panels else None
        speed = group.speeds[0] if group else SPEED_MBPS
    length, media_name, guessed = cable(runs_links(runs), ports, speed, _AT, copper=on_copper(tier_view, ports))
    remarks = []
    if not leaf_share.fits or not spine_share.fits:
        remarks.append("which port goes to which switch: no rule of an intent gives out ports as they are cabled")
    if no_speed:
        guessed[(*_AT, "speed")] = UNSAID
    keys = collect_facts(
        per_spine=per_spine,
        speed=show_speed(speed),
        media=media_name,
        length=f"{length}m",
        split=split if split > 1 else None,
        lanes=lanes,
        spine_split=spine_split if spine_split != split else None,
        spine_slots=leaf_share.slots,
        leaf_slots=spine_share.slots,
    )
    topology = {"leaves": {"ports": {"uplinks": numbers(leaf_share.panels)}}, "uplinks": keys}
    return Found(keys={"topology": topology}, guessed=guessed, left=tuple(remarks))


def _find_external_panels(tier_view: TierView, cables: Cables) -> frozenset[int]:
    """Return the leaves' panel ports over which they have sessions with switches that were not read."""
    return frozenset(
        port.port.panel
        for box in tier_view.leaves
        for name in cables.find_external_ports(box.device.name)
        if (port := box.port(name)) and isinstance(port.port, Port)
    )


def _make_example_uplinks(sight: TierView, panels: frozenset[int]) -> Tree:
    """Return links as they may be, of the speed of those panel ports, else of all."""
    ports = [port for box in sight.boxes for port in box.device.interfaces]
    ports = [port for port in ports if isinstance(port.port, Port) and port.port.panel in panels] or ports
    speed = usual(port.speed_mbps for port in ports if isinstance(port.speed_mbps, int)) or SPEED_MBPS
    return {
        "per_spine": 1 if panels else 2,
        "speed": show_speed(speed),
        "media": fitting(speed, _LENGTH_M),
        "length": f"{_LENGTH_M}m",
    }


def _find_unnumbered_uplinks(sight: TierView, cables: Cables) -> Found | None:
    """Return the ports of leaves with sessions over interfaces as links to spines; None where there are none."""
    ports = [
        port
        for box in sight.leaves
        for name in sorted(cables.find_unnumbered_ports(box.device.name))
        if (port := box.port(name)) and isinstance(port.port, Port)
    ]
    if not ports or not sight.spines:
        return None
    panels = {port.port.panel for port in ports if isinstance(port.port, Port)}
    speed = usual(port.speed_mbps for port in ports if isinstance(port.speed_mbps, int))
    length, media_name, guessed = cable((), ports, speed or SPEED_MBPS, _AT, copper=on_copper(sight, ports))
    guessed[(*_AT, "per_spine")] = "ports with sessions over interfaces; no file says which of them leads where"
    if speed is None:
        guessed[(*_AT, "speed")] = UNSAID
    keys = {
        "per_spine": max(len(panels) // len(sight.spines), 1),
        "speed": show_speed(speed or SPEED_MBPS),
        "media": media_name,
        "length": f"{length}m",
    }
    topology = {"leaves": {"ports": {"uplinks": numbers(panels)}}, "uplinks": keys}
    return Found(keys={"topology": topology}, guessed=guessed)


def _counts(port_runs: Iterable[Run]) -> dict[tuple[int, int], int]:
    counts: dict[tuple[int, int], int] = {}
    for run in port_runs:
        counts[run.leaf, run.spine] = counts.get((run.leaf, run.spine), 0) + 1
    return counts


def runs_links(port_runs: Iterable[Run]) -> tuple[Link, ...]:
    """Return the cables of runs."""
    return tuple(run.link for run in port_runs)


def _ports_at_run_ends(sight: TierView, runs: Iterable[Run], cables: Cables) -> Iterator[tuple[Box, Interface]]:
    """Yield the switch and the port at each end of runs."""
    boxes = {box.device.name: box for box in sight.boxes}
    for run in runs:
        for end in (run.link.a, run.link.b):
            port = cables.port(end)
            if port is not None and end.node in boxes:
                yield boxes[end.node], port


def _find_usual_split(own_boxes: tuple[Box, ...], port_runs: Iterable[Run], role: str) -> int:
    boxes = {box.id: box for box in own_boxes}
    return (
        usual(
            boxes[run.leaf if role == LEAF else run.spine].parts(
                (run.leaf_port if role == LEAF else run.spine_port).panel
            )
            for run in port_runs
        )
        or 1
    )


def _usual_model(own_boxes: tuple[Box, ...]) -> Switch | None:
    name = usual(model.name for box in own_boxes if (model := box.model))
    return None if name is None else switch(name)


def _host_panel_ports(sight: TierView) -> frozenset[int]:
    """Return the leaves' panel ports that face hosts."""
    return frozenset(
        port.port.panel
        for box in sight.leaves
        for port in box.device.interfaces
        if isinstance(port.port, Port) and faces(port, "host")
    )


def leaf_sharing(
    model: Switch | None, tier_view: TierView, port_runs: tuple[Run, ...], split: int, links: int, hosts: frozenset[int]
) -> Sharing:
    """Return the leaves' panel ports towards spines and how they are shared out."""
    used = {run.leaf_port.panel for run in port_runs}
    blocks: dict[int, set[Port]] = {}
    for run in port_runs:
        blocks.setdefault(run.spine, set()).add(run.leaf_port)
    free = [panel for panel in (model.panels if model else ()) if panel not in hosts]
    candidates = list(_panel_candidates(used, free))
    if model and (paths := _usual_path_count(tier_view)) and paths > len(model.panels):
        share = _find_shared_panels(
            blocks, [panels for panels in candidates if len(panels) * split == paths], split, links, SPINE
        )
        if share.fits:
            return share
    return _find_shared_panels(blocks, candidates, split, links, SPINE)


def _usual_path_count(sight: TierView) -> int | None:
    """Return how many equal paths leaves may use: more than panel ports are as many as uplinks."""
    processes = (box.device.bgp for box in sight.leaves)
    return usual(
        process.maximum_paths or process.maximum_paths_ipv6 for process in processes if isinstance(process, Bgp)
    )


def spine_sharing(
    model: Switch | None, port_runs: tuple[Run, ...], split: int, per_leaf: int, speed: int | None
) -> Sharing:
    """Return how the spines' ports are shared out among leaves; which those are follows from the model."""
    blocks: dict[int, set[Port]] = {}
    for run in port_runs:
        blocks.setdefault(run.leaf, set()).add(run.spine_port)
    used = tuple(sorted({run.spine_port.panel for run in port_runs}))
    panels = model.usable(split, speed) if model and speed else used
    return _find_shared_panels(blocks, [panels], split, per_leaf, LEAF)


def _panel_candidates(used: set[int], free: list[int]) -> Iterator[tuple[int, ...]]:
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
    blocks: Mapping[int, set[Port]], candidates: Iterable[tuple[int, ...]], split: int, link_count: int, role: str
) -> Sharing:
    """Return the first panel ports and slots that give every peer the ports that it has; else the ports in use."""
    ids = tuple(sorted(blocks))
    first_panels: tuple[int, ...] = ()
    tried = []
    for panels in candidates:
        first_panels = first_panels or panels
        ports = split_ports(panels, split)
        if {port.panel for block in blocks.values() for port in block} <= set(panels):
            tried.append((panels, ports))
    for panels, ports in tried:
        if _gives_same_blocks(blocks, Peers(role=role, ids=ids, ports=ports, slots=None), link_count):
            return Sharing(panels, None)
    for panels, ports in tried:
        if (slots := _find_slots(blocks, ids, ports, link_count, role)) is not None:
            return Sharing(panels, slots)
    return (
        Sharing(first_panels, max(ids), fits=False)
        if max(ids) * link_count <= len(first_panels) * split
        else Sharing(first_panels, None, False)
    )


def _find_slots(
    blocks: Mapping[int, set[Port]], ids: tuple[int, ...], ports: tuple[SplitPort, ...], link_count: int, role: str
) -> int | None:
    """Return the number of slots that gives each peer, placed by its number, its ports; None if there is none."""
    at = {jack.port: place for place, jack in enumerate(ports)}
    last = ids[-1]
    if not blocks[last] <= at.keys():
        return None
    start = min(at[port] for port in blocks[last])
    widths = {start // (last - 1)} if last > 1 else {link_count, *range(link_count, len(ports) + 1)}
    slot_counts = {len(ports) // width for width in widths if width}
    near = {count + step for count in slot_counts for step in (0, 1)} | set(range(last, min(len(ports), 512) + 1))
    tried: list[int] = [count for count in (*sorted(slot_counts), *sorted(near - slot_counts)) if last <= count <= 512]
    tried += range(len(ids), min(last, 513))  # where the ids begin after those of another fabric
    for slots in tried:
        if _gives_same_blocks(blocks, Peers(role=role, ids=ids, ports=ports, slots=slots), link_count):
            return slots
    return None


def _gives_same_blocks(blocks: Mapping[int, set[Port]], peers: Peers, size: int) -> bool:
    if peers.explain_clash(size):
        return False
    return all({jack.port for jack in peers.block(number, size)} == own_blocks for number, own_blocks in blocks.items())


def on_copper(tier_view: TierView, ports: Iterable[Interface | None]) -> bool:
    """Return whether ports of leaves autonegotiate where the platform does not by itself: passive copper needs it."""
    traits = [known_traits(box.device.platform) for box in tier_view.leaves]
    chosen = all(os_traits is not None and os_traits.autoneg is None for os_traits in traits)
    return chosen and usual(port.autoneg for port in ports if port and isinstance(port.autoneg, bool)) is True


def cable(
    links: Iterable[Link], ports: Iterable[Interface | None], speed: int | None, key_path: Keys, *, copper: bool = False
) -> tuple[int, str, dict[Keys, str]]:
    """Return the length and the medium of a group of cables, and which of the two is guessed."""
    guessed: dict[Keys, str] = {}
    links = tuple(links)
    length = usual(link.length_m for link in links if isinstance(link.length_m, int))
    if length is None:
        lengths_m = [port.cable_length_m for port in ports if port and isinstance(port.cable_length_m, int)]
        length = max(lengths_m, default=None)
        if length is not None:
            guessed[(*key_path, "length")] = "the longest length that ports state; no file states cable lengths"
    if length is None:
        length = _LENGTH_M
        guessed[(*key_path, "length")] = UNSAID
    name = usual(link.media for link in links if isinstance(link.media, str))
    if name is None or medium(name) is None:
        unsaid = "ports autonegotiate, as on passive copper" if copper else UNSAID
        guessed[(*key_path, "media")] = unsaid if name is None else f"{name} is not known"
        name = fitting(speed, length, copper=copper)
    return length, name, guessed


def fitting(speed: int | None, length_m: int, *, copper: bool = False) -> str:
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
