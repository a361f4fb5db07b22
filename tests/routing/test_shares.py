"""Destinations of each tier by themselves come to what all of them come to together."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from clos import three_tier, two_tier
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.values import replace_fields
from nodrop.routing import compute_control_plane
from nodrop.routing.convergence import AdvertResultCache, ConvergedState
from support.random_routed import routed

ROLES = ("leaf", "spine", "superspine")


def assert_equal(fabric: Fabric) -> None:
    plane = compute_control_plane(Index(fabric))
    for family in plane.families:
        shares = plane.of(family).state
        world = shares.world
        whole = ConvergedState(AdvertResultCache(world)).converge_from(world.speakers)
        for number in world.speakers:
            for one in range(world.destinations.count):
                mine, other = shares.table(number).entry_of_class(one), whole.table(number).entry_of_class(one)
                assert (mine and (mine.attributes, mine.hops)) == (other and (other.attributes, other.hops))


def test_of_a_clos() -> None:
    assert_equal(two_tier(4, 3, shared=False, filtered=False))
    assert_equal(three_tier(3, 3, 2, 2))


@given(chance=st.randoms(use_true_random=False))
def test_of_a_random_fabric(chance: Random) -> None:
    fabric = routed(chance, preferences=False)
    devices = tuple(replace_fields(one, role=chance.choice(ROLES)) for one in fabric.devices)
    assert_equal(replace_fields(fabric, devices=devices))
