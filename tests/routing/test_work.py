"""What is alike is computed once: how many tables are decided, in fabrics of different sizes."""

from clos import three_tier, two_tier
from nodrop.model.index import Index
from nodrop.routing import compute
from nodrop.routing.convergence import State


def state(pods: int, leaves: int) -> State:
    return compute(Index(three_tier(pods=pods, leaves=leaves, spines=2, superspines=2))).ipv4.state


def test_leaves_of_a_pod_share_one_table() -> None:
    """More leaves in a pod are no more tables, neither in the end nor on the way there."""
    few, many = state(3, 2), state(3, 12)
    assert few.makers.decided == many.makers.decided
    for one, leaves in ((few, 2), (many, 12)):
        speakers = one.world.speakers.values()
        tables = {}
        for speaker in speakers:
            if speaker.router.device.role == "leaf":
                pod = speaker.router.name[:2]
                tables.setdefault(pod, []).append(id(one.table(speaker.router.number)))
        assert {pod: (len(found), len(set(found))) for pod, found in tables.items()} == dict.fromkeys(
            ("p0", "p1", "p2"), (leaves, 1)
        )


def test_tables_grow_with_pods_and_not_with_their_squares() -> None:
    first, second, third = (state(pods, 4).makers.decided for pods in (4, 8, 12))
    assert third - second == second - first


def test_switches_of_a_tier_share_one_table() -> None:
    """What a switch originates itself is no part of its table."""
    plane = compute(Index(two_tier(8, 4)))
    found = {
        role: {
            id(plane.ipv4.state.table(number))
            for number, speaker in plane.ipv4.world.speakers.items()
            if speaker.router.device.role == role
        }
        for role in ("leaf", "spine")
    }
    assert {role: len(tables) for role, tables in found.items()} == {"leaf": 1, "spine": 1}
