"""The links between leaves and spines: how many, on which ports; what does not fit is refused with what does."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice

from nodrop.design.blocks import Peers
from nodrop.design.boxes import LEAF, SPINE, TIER_KEYS, Boxes
from nodrop.design.cabling import Cabling, FabricCable, LinkEnd, cabling, joining_splits
from nodrop.design.closing import suggest_smallest_fabric
from nodrop.design.joining import Choice, ways_to_fit, ways_to_widen
from nodrop.design.splits import spine_panels, spine_split_factor
from nodrop.errors import Problem
from nodrop.intent.schema import Intent
from nodrop.units import show_speed

_KEYS = ("topology", "uplinks")


def fabric_cables(
    intent: Intent, switches: Boxes, down_mbps: Mapping[str, int], problems: list[Problem]
) -> tuple[FabricCable, ...]:
    """Return the links between the tiers.

    `down_mbps` is the bandwidth to hosts of every leaf that has any; empty where it is not known.
    """
    splits = (intent.topology.uplinks.split, spine_split_factor(intent))
    models = (switches.leaves[0].model, switches.spines[0].model)
    panels = (intent.topology.leaves.ports.uplinks, spine_panels(intent, models[1]))
    ends = [LinkEnd.of(*end, intent.topology.uplinks.lanes) for end in zip(models, splits, panels, strict=True)]
    choice = Choice.of(intent, switches, max(down_mbps.values(), default=0))
    split = partial(_has_enough_ports, intent, switches, choice.down_mbps)
    link = cabling(intent, _KEYS, intent.topology.uplinks, ends, problems, split)
    faults = _port_faults(intent, switches, choice, filter(split, joining_splits(intent.topology.uplinks, ends)))
    if down_mbps and not faults:
        faults += _bandwidth_faults(intent, choice, down_mbps, _ways(intent, switches, choice, problems))
    problems += faults
    return () if link is None or faults else tuple(_fabric_cables(switches, choice, link))


def can_spines_hold(intent: Intent, switches: Boxes, leaf_ids: Iterable[int]) -> bool:
    """Whether the spines have ports for these leaves."""
    leaves = replace(Choice.of(intent, switches, 0).leaves, ids=tuple(sorted(leaf_ids)))
    return not leaves.explain_clash(intent.topology.uplinks.per_spine)


def _has_enough_ports(intent: Intent, switches: Boxes, down_mbps: int, split_count: int) -> bool:
    """Whether there are ports enough for the uplinks, and these are enough, when both tiers' are split into so many."""
    uplinks = intent.topology.uplinks.model_copy(update={"split": split_count})
    topology = intent.topology.model_copy(update={"uplinks": uplinks})
    choice = Choice.of(intent.model_copy(update={"topology": topology}), switches, down_mbps)
    return uplinks.spine_split is None and choice.fits and not choice.exceeds_ratio


def _port_faults(intent: Intent, switches: Boxes, choice: Choice, splits: Iterable[int]) -> list[Problem]:
    """Return the faults of the ports, each with changes that fix all of them; `splits` are those that do."""
    port_words = [
        *_port_shortage_texts(choice.spines, LEAF, choice.per_spine),
        *_port_shortage_texts(choice.leaves, SPINE, choice.per_spine),
    ]
    if not port_words:
        return []
    changes = filter(None, (*(f"split: {into}" for into in islice(splits, 1)), ways_to_fit(choice)))
    hint = (
        ", or ".join(changes)
        or suggest_smallest_fabric(intent, switches)
        or "a model with more ports, or fewer switches"
    )
    return [intent.problem((*_KEYS, "per_spine"), fault, expected, hint) for fault, expected in port_words]


def _port_shortage_texts(peers: Peers, near: str, per_spine: int) -> Iterator[tuple[str, str]]:
    """Yield the found and expected values if the switches of a role have too few ports for their peers."""
    needed, port_count, clash = per_spine * len(peers.ids), len(peers.ports), peers.explain_clash(per_spine)
    if needed > port_count:
        fault = f"{len(peers.ids)} {TIER_KEYS[peers.role]} × {per_spine} uplinks are {needed} ports of every {near}"
        yield fault, f"at most its {port_count} {'uplink ports' if near == LEAF else 'ports'}"
    elif clash:
        yield f"on every {near}, {clash}", ""


def _ways(intent: Intent, switches: Boxes, choice: Choice, problems: list[Problem]) -> str:
    """Return the changes that widen the uplinks; with other problems, another fabric, which is reported once."""
    if not problems:
        return ways_to_widen(choice)
    closed = suggest_smallest_fabric(intent, switches)
    return "" if any(problem.hint == closed for problem in problems) else closed


def _bandwidth_faults(intent: Intent, choice: Choice, down_mbps: Mapping[str, int], hint: str) -> Iterator[Problem]:
    """Yield a fault if a leaf has too little uplink bandwidth, with the bandwidth between two halves of the leaves."""
    if choice.exceeds_ratio:
        leaf = max(down_mbps, key=down_mbps.__getitem__)
        down, up = choice.down_mbps, choice.up_mbps
        fault = f"{leaf} is {down / up:.4g}:1 oversubscribed, {show_speed(down)} down and {show_speed(up)} up"
        total = up * len(choice.leaves.ids)
        if total < sum(down_mbps.values()):
            count = total // choice.speed_mbps
            half = f"half of the {show_speed(total)} that all {count} uplinks sum to"
            fault = f"{fault}; one-way bisection is {show_speed(total // 2)}, {half}"
        expected = f"at most {choice.limit:g}:1"
        keys = ("topology", "max_oversubscription")
        yield intent.problem(keys, fault, expected, hint)


def _fabric_cables(switches: Boxes, choice: Choice, link: Cabling) -> Iterator[FabricCable]:
    per_spine = choice.per_spine
    up = {leaf.id: choice.leaves.block(leaf.id, per_spine) for leaf in switches.leaves}
    down = {spine.id: choice.spines.block(spine.id, per_spine) for spine in switches.spines}
    for leaf in switches.leaves:
        for spine in switches.spines:
            for lower, upper in zip(down[spine.id], up[leaf.id], strict=True):
                yield FabricCable(lower=leaf, lower_port=lower, upper=spine, upper_port=upper, cabling=link)
