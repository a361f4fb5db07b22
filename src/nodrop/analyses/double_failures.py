"""Pairs of leaves that lose their last common spine when two cables fail, and the effect on the routes.

A fabric of leaves and spines first loses a pair of leaves, or carries traffic between them down and up
again, when none of the spines that both had is left. Leaves with the same cables to the same spines are one kind.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import RoutePropagation, route_propagations_of
from nodrop.analyses._failed import failure_case_if_harmful
from nodrop.analyses._tiers import UplinkCable, uplink_cables
from nodrop.model.fabric import Link
from nodrop.model.index import Index
from nodrop.model.subject import link_subject as subject_of
from nodrop.routing.failures import FailureAnalysis
from nodrop.routing.tiers import tier_of_device

RESTS_ON = frozenset({"cables", "roles"})
NEEDS_ROUTING = True
NEEDS_FAILURES = True

_UplinkPattern = frozenset[tuple[str, int]]


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield one hit for the fabric: the first pair of cables, what their failure does, and how many pairs have such."""
    below: defaultdict[str, list[UplinkCable]] = defaultdict(list)
    for cable in uplink_cables(index):
        if tier_of_device(cable.lower) == 0:
            below[cable.lower.name].append(cable)
    kinds: defaultdict[_UplinkPattern, list[str]] = defaultdict(list)
    for name, cables in below.items():
        kinds[frozenset(Counter(cable.upper.name for cable in cables).items())].append(name)
    pairs, example = 0, None
    for kind, other_kind in combinations_with_replacement(kinds, 2):
        spines = _find_vulnerable_spine_pair(dict(kind), dict(other_kind))
        count = (
            len(kinds[kind]) * (len(kinds[kind]) - 1) // 2
            if kind == other_kind
            else len(kinds[kind]) * len(kinds[other_kind])
        )
        if spines and count:
            pairs += count
            example = example or (kinds[kind][0], kinds[other_kind][kind == other_kind], *spines)
    if example is not None:
        yield from _build_hits(index, below, example, pairs)


def _find_vulnerable_spine_pair(
    leaf_cables: Mapping[str, int], other_cables: Mapping[str, int]
) -> tuple[str, str] | None:
    """Return two common spines: one leaf has one cable to the first, the other leaf has one cable to the second."""
    common = sorted(leaf_cables.keys() & other_cables.keys())
    if len(common) != 2:
        return None
    first_spine, second_spine = common
    if leaf_cables[first_spine] == 1 and other_cables[second_spine] == 1:
        return first_spine, second_spine
    return (second_spine, first_spine) if leaf_cables[second_spine] == 1 and other_cables[first_spine] == 1 else None


def _build_hits(
    index: Index, below: Mapping[str, list[UplinkCable]], example: tuple[str, str, str, str], pairs: int
) -> Iterator[AnalysisHit]:
    leaf, other_leaf, first_spine, second_spine = example
    links = [
        _find_cable_to_spine(index, below[leaf], first_spine),
        _find_cable_to_spine(index, below[other_leaf], second_spine),
    ]
    if None in links:
        return
    cut = [link for link in links if link is not None]
    effects = list(
        dict.fromkeys(effect for reach in route_propagations_of(index) for effect in _failure_effects(reach, cut))
    )
    if effects:
        yield AnalysisHit(
            subject=subject_of(cut[0].a, cut[0].b),
            at=tuple(cut[0].a),
            facts={
                "leaf": leaf,
                "other": other_leaf,
                "a": f"{cut[0].a} to {cut[0].b}",
                "b": f"{cut[1].a} to {cut[1].b}",
                "pairs": pairs,
                "effect": " and ".join(effects),
            },
            related=((subject_of(cut[1].a, cut[1].b), "the other cable"),),
        )


def _find_cable_to_spine(index: Index, cables: list[UplinkCable], spine: str) -> Link | None:
    uplink = next(cable for cable in cables if cable.upper.name == spine)
    return index.link(uplink.lower.name, uplink.lower_port)


def _failure_effects(reach: RoutePropagation, links: list[Link]) -> Iterator[str]:
    """Describe the effect of the failure."""
    if reach.state.unstable:
        return
    outcome = FailureAnalysis(reach.plane, reach.routes).outcome_without_links(*links)
    for failure_case in failure_case_if_harmful(reach, outcome, links[0]):
        if failure_case.lost:
            yield "neither reaches the other's hosts"
        if failure_case.valleys:
            bottom = reach.plane.routers[failure_case.valleys[0].router].name
            yield f"traffic goes down to {bottom} and up again"
