"""Cables that fail alike: what one of them does, each of its group does with other names."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clos import sized, three_tier, two_tier
from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.routing import Bgp, PrefixList, PrefixRule
from nodrop.model.values import replace_fields
from nodrop.routing import compute_control_plane
from nodrop.routing.failures import FailureAnalysis, FailureOutcome
from support.random_routed import routed


def failures_of(fabric: Fabric) -> FailureAnalysis:
    plane = compute_control_plane(Index(fabric))
    return FailureAnalysis(plane, plane.ipv4)


def sizes(outcome: FailureOutcome) -> tuple[Any, ...]:
    """An outcome without names."""
    return (
        Counter(one.bits.bit_count() for one in outcome.unreachable),
        Counter(one.bits.bit_count() for one in outcome.valleys),
        Counter((one.hops, one.before, one.bits.bit_count()) for one in outcome.weaker),
    )


def assert_alike(fabric: Fabric) -> None:
    plane = compute_control_plane(Index(fabric))
    for family in plane.families:
        failures = FailureAnalysis(plane, plane.of(family))
        assert Counter(one for group in failures.equivalent_links.values() for one in group) == Counter(failures.links)
        for first, group in failures.equivalent_links.items():
            expected = sizes(failures.outcome_without_links(first))
            for link in group[1:]:
                assert sizes(failures.outcome_without_links(link)) == expected, (first, link)


@pytest.mark.parametrize(
    ("fabric", "groups"),
    [
        (two_tier(6, 4), 1),
        (two_tier(6, 4, shared=False), 4),
        (two_tier(4, 2, parallel=2), 2),
        (two_tier(5, 3, shared=False, filtered=False), 15),
        (three_tier(3, 3, 2, 2), 12),
        (sized(200), 64),
    ],
    ids=["shared", "unique", "parallel", "transit", "three tiers", "of 200"],
)
def test_the_cables_of_a_clos_fail_alike(fabric: Fabric, groups: int) -> None:
    assert len(failures_of(fabric).equivalent_links) == groups
    if len(fabric.devices) < 50:
        assert_alike(fabric)


@pytest.mark.nightly
@given(chance=st.randoms(use_true_random=False))
def test_what_fails_alike_in_a_random_fabric(chance: Random) -> None:
    assert_alike(routed(chance, preferences=False))


def without_twin(name: str, **parts: Any) -> Fabric:
    """A Clos of two tiers in which one device has other routing."""
    fabric = two_tier(6, 4)

    def with_parts(device: Device) -> Device:
        assert isinstance(device.bgp, Bgp)
        return replace_fields(device, bgp=replace_fields(device.bgp, **parts)) if device.name == name else device

    return replace_fields(fabric, devices=tuple(map(with_parts, fabric.devices)))


def prefix_list(name: str, *prefixes: str) -> PrefixList:
    rules = tuple(PrefixRule(sequence=n, action="permit", prefix=one) for n, one in enumerate(prefixes, 1))
    return PrefixList(name=name, family="ipv4", rules=rules)


@pytest.mark.parametrize(
    ("name", "parts", "groups"),
    [
        ("l3", {"multipath_relax": False}, 2),
        ("l3", {"maximum_paths": 2}, 2),
        ("l3", {"graceful_shutdown": True}, 2),
        ("l3", {"networks": ("10.0.0.3/32",)}, 1),
        ("s2", {"prefix_lists": (prefix_list("FABRIC", "10.0.0.1/32", "10.128.0.0/24", "10.128.1.0/24"),)}, 6),
    ],
    ids=["relax", "paths", "drained", "one class less, of the same kind", "a spine that knows some leaves"],
)
def test_who_is_treated_otherwise_is_nobodys_twin(name: str, parts: dict[str, Any], groups: int) -> None:
    fabric = without_twin(name, **parts)
    assert len(failures_of(fabric).equivalent_links) == groups
    assert_alike(fabric)
