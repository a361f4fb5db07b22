"""Conditions of sessions that make failures harmless: compared with trying failures, and each obstacle by hand."""

from random import Random

import pytest

from clos import three_tier, two_tier
from nodrop.model.fabric import Device, End, Fabric
from nodrop.model.index import Index
from nodrop.model.routing import Aggregate, Bgp, BgpNeighbor, StaticRoute
from nodrop.model.states import known_rows
from nodrop.model.values import replace_fields
from nodrop.proofs.deadlock import check_deadlock
from nodrop.proofs.failures import search_failures_with_circle
from nodrop.proofs.harmless import HarmlessFailureCheck
from nodrop.proofs.invariants import DeadlockFreedomConditions, check_any_failure_conditions
from nodrop.proofs.proving import prove_deadlock
from nodrop.routing import compute_control_plane
from support.lossless_fabrics import ends_of, fat_tree, lossless, ring, sampled_failures, seeds


def conditions(fabric: Fabric) -> DeadlockFreedomConditions:
    return check_any_failure_conditions(check_deadlock(compute_control_plane(Index(fabric))).traffic.forwarding)


def obstacles(fabric: Fabric) -> set[str]:
    found = conditions(fabric)
    names = [router.name for router in compute_control_plane(Index(fabric)).routers]
    return {
        " ".join([one.reason, *(names[number] for number in one[1:] if number is not None)]) for one in found.obstacles
    }


def changed(fabric: Fabric, name: str, **more: object) -> Fabric:
    """A fabric in which the BGP process of a switch says more."""

    def redone(device: Device) -> Device:
        return replace_fields(device, bgp=replace_fields(device.bgp, **more)) if device.name == name else device

    return replace_fields(fabric, devices=tuple(map(redone, fabric.devices)))


def with_session(fabric: Fabric, name: str, **more: object) -> Fabric:
    """A fabric in which every session of a switch says more."""
    (device,) = (one for one in fabric.devices if one.name == name)
    sessions: tuple[BgpNeighbor, ...] = known_rows(device.neighbors)
    return changed(fabric, name, neighbors=tuple(replace_fields(one, **more) for one in sessions))


@pytest.mark.parametrize(
    "fabric",
    [
        two_tier(4, 2, shared=True, filtered=False),
        two_tier(4, 2, shared=False, filtered=True),
        three_tier(2, 3, 2, 2),
        fat_tree(4, shared=True),
    ],
    ids=["one number above", "own prefixes only", "three tiers", "fat tree"],
)
def test_designs_whose_failures_are_harmless(fabric: Fabric) -> None:
    assert conditions(fabric).hold


def test_spines_with_numbers_of_their_own() -> None:
    assert obstacles(two_tier(2, 2, shared=False, filtered=False)) == {
        "passes l1 s1 s2", "passes l1 s2 s1", "passes l2 s1 s2", "passes l2 s2 s1",
    }  # fmt: skip


def test_a_spine_that_takes_its_own_number_again() -> None:
    fabric = with_session(two_tier(2, 2, filtered=False), "s1", allowas_in=1)
    assert obstacles(fabric) == {"passes l1 s1 s1", "passes l2 s1 s1"}


def test_a_leaf_that_removes_numbers_from_paths() -> None:
    fabric = with_session(two_tier(2, 2, filtered=False), "l1", private_asns="remove-all")
    assert {text for text in obstacles(fabric) if " l1 " in text} == {"passes l1 s1 s1", "passes l1 s2 s1"}


def test_a_leaf_with_an_aggregate_of_all_leaves() -> None:
    fabric = changed(fat_tree(4, shared=True), "edge0-0", aggregates=(Aggregate(prefix="10.8.0.0/16"),))
    assert obstacles(fabric) == {"outer edge0-0 aggr0-0", "outer edge0-0 aggr0-1"}


def test_an_aggregate_that_policies_do_not_pass_is_harmless() -> None:
    fabric = changed(two_tier(2, 2, filtered=False), "l1", aggregates=(Aggregate(prefix="10.128.0.0/9"),))
    assert obstacles(fabric) == set()


def test_a_leaf_that_announces_a_default_route() -> None:
    assert {"default l1 s1", "default l1 s2"} <= obstacles(with_session(two_tier(2, 2), "l1", default_originate=True))


def test_a_static_route_to_another_switch() -> None:
    fabric = ring(4)
    first = replace_fields(fabric.devices[0], static_routes=(StaticRoute(prefix="10.8.2.0/24", next_hop="10.1.0.1"),))
    assert "static r1" in obstacles(replace_fields(fabric, devices=(first, *fabric.devices[1:])))


def test_a_ring_has_no_levels() -> None:
    assert {text.split()[0] for text in obstacles(ring(5))} == {"level"}


def test_no_failure_makes_a_circle_where_conditions_hold() -> None:
    fabric = lossless(two_tier(5, 3, shared=True, filtered=False))
    assert conditions(fabric).hold
    for chance in seeds(40):
        failed = sampled_failures(fabric, 0.3, chance)
        assert check_deadlock(compute_control_plane(Index(fabric), failed)).is_free


def test_the_least_failures_are_found() -> None:
    index = Index(lossless(two_tier(6, 2, shared=False, filtered=False)))
    proof = prove_deadlock(index, 2)
    assert proof.verdict == "possible-after-failures"
    assert proof.search is not None
    assert [failure.name for failure in proof.search.failures] == ["l1:e0 to s1:e0", "l2:e1 to s2:e1"]
    assert proof.change is not None
    assert (proof.change.shared_asn, proof.change.classes) == (("s1", "s2"), 2)
    assert prove_deadlock(index, 1).verdict == "free"


def test_parallel_cables_fail_together() -> None:
    plane = compute_control_plane(Index(lossless(two_tier(4, 2, parallel=3, shared=False, filtered=False))))
    check = check_deadlock(plane)
    invariants = check_any_failure_conditions(check.traffic.forwarding)
    search = search_failures_with_circle(plane, check, invariants, 6)
    assert [failure.name for failure in search.failures] == ["3 cables from l1 to s1", "3 cables from l2 to s2"]
    assert search_failures_with_circle(plane, check, invariants, 5).check is None


def test_a_ring_needs_a_second_class_or_two_turns_less() -> None:
    proof = prove_deadlock(Index(ring(5)))
    assert proof.change is not None
    assert [tuple(turn) for turn in proof.change.turns] == [("r1", "r2", "r5"), ("r1", "r5", "r2")]
    assert (proof.change.shared_asn, proof.change.classes) == ((), 2)


def test_harmless_failures_make_no_circle() -> None:
    """Each cable and switch, in fabrics without one cable: no circle forms where it is harmless, and some do else."""
    harmless_count = circles = 0
    for chance in seeds(12):
        fabric = lossless(two_tier(chance.randint(4, 5), 2, shared=False, filtered=False))
        failed = ends_of((chance.choice(fabric.links),))
        plane = compute_control_plane(Index(fabric), failed)
        check = check_deadlock(plane)
        assert check.is_free
        harmless = HarmlessFailureCheck(
            check.traffic.forwarding, check_any_failure_conditions(check.traffic.forwarding)
        )
        for link in fabric.links:
            free = check_deadlock(compute_control_plane(plane.index, failed | ends_of((link,)))).is_free
            known = harmless.is_harmless(harmless.outcomes_without_links([link]))
            assert free or not known
            harmless_count, circles = harmless_count + known, circles + (not free)
        for device in fabric.devices:
            ends = frozenset(End(device.name, port.name) for port in device.interfaces)
            assert harmless.is_harmless(harmless.outcomes_without_device(device.name))
            assert check_deadlock(compute_control_plane(plane.index, failed | ends)).is_free
    assert harmless_count > 40
    assert circles > 20


def test_a_search_computes_no_graph_for_harmless_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tiers whose superspines have a number each: no single failure needs routes or a separate graph."""
    fabric = lossless(with_own_numbers(three_tier(2, 3, 2, 2), "super"))
    plane = compute_control_plane(Index(fabric))
    check = check_deadlock(plane)
    invariants = check_any_failure_conditions(check.traffic.forwarding)
    assert {obstacle.reason for obstacle in invariants.obstacles} == {"passes"}
    monkeypatch.setattr("nodrop.proofs.failures.compute_control_plane", lambda *_: pytest.fail("a state was computed"))
    search = search_failures_with_circle(plane, check, invariants, 1)
    assert (search.complete, search.check) == (True, None)
    assert search.states == search.classes == 5, "cables of two joins, and switches of three tiers"


@pytest.mark.parametrize(
    "changed_fabric",
    [
        replace_fields(two_tier(4, 2, shared=False, filtered=False), devices=tuple(
            replace_fields(device, role="") for device in two_tier(4, 2, shared=False, filtered=False).devices
        )),
        changed(two_tier(4, 2, shared=False, filtered=False), "l1", aggregates=(Aggregate(prefix="10.128.0.0/9"),)),
        with_session(two_tier(4, 2, shared=False, filtered=False), "l1", default_originate=True),
        ring(5),
    ],
    ids=["no roles", "an aggregate", "a default route", "no tiers"],
)  # fmt: skip
def test_no_failure_is_known_to_be_harmless(changed_fabric: Fabric) -> None:
    forwarding = check_deadlock(compute_control_plane(Index(lossless(changed_fabric)))).traffic.forwarding
    harmless = HarmlessFailureCheck(forwarding, check_any_failure_conditions(forwarding))
    assert not any(harmless.is_harmless(harmless.outcomes_without_links([link])) for link in changed_fabric.links)


def with_own_numbers(given: Fabric, prefix: str) -> Fabric:
    """A fabric whose switches with names of a prefix have an AS number each."""
    names = [device.name for device in given.devices if device.name.startswith(prefix)]
    asns = {name: 4200200000 + number for number, name in enumerate(names)}
    far = {(link.a.node, link.a.port): link.b.node for link in given.links}
    far |= {(link.b.node, link.b.port): link.a.node for link in given.links}

    def renumber(device: Device) -> Device:
        bgp = device.bgp
        assert isinstance(bgp, Bgp)
        sessions = tuple(
            replace_fields(one, remote_asn=asns.get(far[device.name, str(one.interface)], one.remote_asn))
            for one in known_rows(bgp.neighbors)
        )
        return replace_fields(device, bgp=replace_fields(bgp, asn=asns.get(device.name, bgp.asn), neighbors=sessions))

    return replace_fields(given, devices=tuple(map(renumber, given.devices)))


@pytest.mark.slow
def test_random_failures_of_random_designs() -> None:
    """Wherever conditions hold, no sampled failure makes a circle; some designs of the samples do not hold."""
    held = 0
    for seed in range(60):
        chance = Random(seed)
        fabric = lossless(
            two_tier(
                chance.randint(2, 6), chance.randint(2, 4), shared=chance.random() < 0.5, filtered=chance.random() < 0.5
            )
        )
        if conditions(fabric).hold:
            held += 1
            for _ in range(10):
                assert check_deadlock(
                    compute_control_plane(Index(fabric), sampled_failures(fabric, 0.4, chance))
                ).is_free
    assert 20 < held < 60


@pytest.mark.nightly
@pytest.mark.parametrize("tenth", range(10))
def test_conditions_against_the_failure_of_each_cable_and_switch(tenth: int) -> None:
    """300 fabrics, 30 each: where conditions hold, no single failure makes a circle, nor do five random ones together.

    Each tenth has one fabric of 100 to 500 switches, of which 20 cables and switches are tried.
    """
    for number in range(30):
        chance = Random(1000 * tenth + number)
        fabric = lossless(large_design(chance) if number == 0 else small_design(chance))
        plane = compute_control_plane(Index(fabric))
        check = check_deadlock(plane)
        assert check.is_free
        if not check_any_failure_conditions(check.traffic.forwarding).hold:
            continue
        failures = [ends_of((link,)) for link in fabric.links]
        failures += [frozenset(End(one.name, port.name) for port in one.interfaces) for one in fabric.devices]
        if number == 0:
            failures = chance.sample(failures, 20)
        failures += [frozenset().union(*chance.sample(failures, 5))]
        assert all(check_deadlock(compute_control_plane(plane.index, failed)).is_free for failed in failures)


def small_design(chance: Random) -> Fabric:
    shared = chance.random() < 0.7
    if chance.random() < 0.5:
        return two_tier(
            chance.randint(3, 6),
            chance.randint(2, 3),
            parallel=chance.randint(1, 2),
            shared=shared,
            filtered=chance.random() < 0.5,
        )
    fabric = three_tier(chance.randint(2, 3), chance.randint(2, 3), 2, chance.randint(1, 2))
    return fabric if shared else with_own_numbers(fabric, "super")


def large_design(chance: Random) -> Fabric:
    return three_tier(chance.randint(4, 10), chance.randint(20, 40), chance.randint(2, 8), chance.randint(1, 4))
