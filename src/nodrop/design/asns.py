"""AS numbers: one for all spines, one for each leaf, from the intent and a device's id."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from nodrop.design.boxes import LEAF, SPINE, TIER_KEYS, Boxes, Node
from nodrop.errors import Problem
from nodrop.intent.schema import Intent
from nodrop.intent.types import MAX_ASN


def as_numbers(intent: Intent, switches: Boxes, problems: list[Problem]) -> Mapping[str, int]:
    """Return every device's AS number; those that overflow or that a leaf shares with another device are problems."""
    leaves = _numbers(intent, LEAF, switches.leaves)
    spines = _numbers(intent, SPINE, switches.spines)
    faults = [*_asn_overflows(intent, LEAF, leaves), *_asn_overflows(intent, SPINE, spines)]
    problems += faults or _shared_asns(intent, switches, leaves, spines)
    return leaves | spines


def _numbers(intent: Intent, role: str, nodes: Sequence[Node]) -> dict[str, int]:
    base, counted = getattr(intent.routing.asn, TIER_KEYS[role])
    return {node.name: base + (node.id if counted else 0) for node in nodes}


def _asn_overflows(intent: Intent, role: str, numbers: Mapping[str, int]) -> Iterator[Problem]:
    name = max(numbers, key=lambda name: numbers[name])
    if numbers[name] > MAX_ASN:
        base, _ = getattr(intent.routing.asn, TIER_KEYS[role])
        fault = f"{name} would be AS {numbers[name]}"
        hint = f"{TIER_KEYS[role]}: {MAX_ASN - (numbers[name] - base)}+"
        yield intent.problem(("routing", "asn", TIER_KEYS[role]), fault, f"at most {MAX_ASN}", hint)


def _shared_asns(
    intent: Intent, switches: Boxes, leaves: Mapping[str, int], spines: Mapping[str, int]
) -> Iterator[Problem]:
    """Yield AS numbers that a leaf has in common with another device, with numbers that are free."""
    base, counted = intent.routing.asn.leaves
    taken = set(spines.values())
    if not counted and len(leaves) > 1:
        ids = [leaf.id for leaf in switches.leaves]
        starts = count(min(base, MAX_ASN - max(ids) - len(taken)))
        free = next(start for start in starts if not any(start + number in taken for number in ids))
        fault = f"all leaves would be AS {base}"
        yield intent.problem(("routing", "asn", "leaves"), fault, "a number for each leaf", f"leaves: {free}+")
        return
    for leaf, number in leaves.items():
        if number in taken:
            spine = next(name for name, other_spine in spines.items() if other_spine == number)
            fault = f"{leaf} and {spine} would both be AS {number}"
            hint = f"spines: {min(leaves.values()) - 1 or max(leaves.values()) + 1}"
            yield intent.problem(("routing", "asn", "spines"), fault, "a number that no leaf has", hint)
            return
