"""The links between leaves and spines: how many, on which ports; what does not fit is refused with what does."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from nodrop.design.blocks import Peers
from nodrop.design.boxes import KEYS, LEAF, SPINE, Boxes, lanes_by_speed
from nodrop.design.cabling import Cabling, FabricCable, LinkEnd, cabling
from nodrop.design.closing import closing
from nodrop.design.joining import Choice, ways_to_fit, ways_to_widen
from nodrop.errors import Problem
from nodrop.fabric.fabric import Port
from nodrop.intent.schema import Intent
from nodrop.units import show_speed

_KEYS = ("topology", "uplinks")


def fabric_cables(
    intent: Intent, switches: Boxes, down_mbps: Mapping[str, int], problems: list[Problem]
) -> tuple[FabricCable, ...]:
    """Return the links between the tiers; `down_mbps` is the bandwidth to hosts of every leaf that has any."""
    ends = [LinkEnd(tier[0].model.name, lanes_by_speed(tier[0].model)) for tier in (switches.leaves, switches.spines)]
    link = cabling(intent, _KEYS, intent.topology.uplinks, ends, problems)
    choice = Choice.of(intent, switches, max(down_mbps.values(), default=0))
    faults = _port_faults(intent, switches, choice)
    if not (problems or faults):
        faults += _bandwidth_faults(intent, choice, down_mbps)
    problems += faults
    return () if link is None or faults else tuple(_cables(switches, choice, link))


def holds(intent: Intent, switches: Boxes, leaf_ids: Iterable[int]) -> bool:
    """Whether the spines have ports for these leaves."""
    leaves = replace(Choice.of(intent, switches, 0).leaves, ids=tuple(sorted(leaf_ids)))
    return not leaves.clash(intent.topology.uplinks.per_spine)


def _port_faults(intent: Intent, switches: Boxes, choice: Choice) -> list[Problem]:
    """Return what is wrong with the ports, each with changes that put all of it right."""
    said = [*_port_words(choice.spines, LEAF, choice.per_spine), *_port_words(choice.leaves, SPINE, choice.per_spine)]
    if not said:
        return []
    hint = ways_to_fit(choice) or closing(intent, switches) or "a model with more ports, or fewer switches"
    return [intent.problem((*_KEYS, "per_spine"), found, expected, hint) for found, expected in said]


def _port_words(peers: Peers, near: str, each: int) -> Iterator[tuple[str, str]]:
    """Yield what was found and expected where the switches of a role have too few ports for their peers."""
    needed, there, clash = each * len(peers.ids), len(peers.ports), peers.clash(each)
    if needed > there:
        found = f"{len(peers.ids)} {KEYS[peers.role]} × {each} uplinks are {needed} ports of every {near}"
        yield found, f"at most its {there} {'uplink ports' if near == LEAF else 'ports'}"
    elif clash:
        yield f"on every {near}, {clash}", ""


def _bandwidth_faults(intent: Intent, choice: Choice, down_mbps: Mapping[str, int]) -> Iterator[Problem]:
    if choice.oversubscribed:
        leaf = max(down_mbps, key=down_mbps.__getitem__)
        down, up = choice.down_mbps, choice.up_mbps
        found = f"{leaf} is {down / up:.4g}:1 oversubscribed, {show_speed(down)} down and {show_speed(up)} up"
        expected = f"at most {choice.limit:g}:1"
        keys = ("topology", "max_oversubscription")
        yield intent.problem(keys, found, expected, ways_to_widen(choice))


def _cables(switches: Boxes, choice: Choice, link: Cabling) -> Iterator[FabricCable]:
    each = choice.per_spine
    up = {leaf.id: choice.leaves.block(leaf.id, each) for leaf in switches.leaves}
    down = {spine.id: choice.spines.block(spine.id, each) for spine in switches.spines}
    for leaf in switches.leaves:
        for spine in switches.spines:
            for lower, upper in zip(down[spine.id], up[leaf.id], strict=True):
                yield FabricCable(lower=leaf, lower_port=Port(lower), upper=spine, upper_port=Port(upper), cabling=link)
