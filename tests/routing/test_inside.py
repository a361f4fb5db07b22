"""Routes inside an AS: what routers of one AS tell one another, and which of their routes they use."""

import pytest

from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.routing import compute_control_plane
from nodrop.routing.failures import FailureAnalysis
from nodrop.routing.prefixes import parse_prefix
from support.inside_as import BLOCK, SELF, cases, pair
from support.routed_runs import compare
from support.twin_runs import needed

CASES = cases()
Routes = dict[tuple[str, str], set[str] | None]


def used(made: Fabric, wanted: Routes) -> Routes:
    """Return the legs over which routers send packets, of those that are asked for."""
    plane = compute_control_plane(Index(made))
    numbers = {router.name: router.number for router in plane.routers}
    found: Routes = {}
    for name, text in wanted:
        to = parse_prefix(text)
        assert to is not None
        route = plane.ipv4.route(numbers[name], to)
        found[name, text] = None if route is None else {"discard"} if route.discard else {hop.leg for hop in route.hops}
    return found


@pytest.mark.parametrize(("made", "wanted"), CASES.values(), ids=CASES)
def test_routes_inside_an_as(made: Fabric, wanted: Routes) -> None:
    assert used(made, wanted) == wanted


@pytest.mark.nightly
@pytest.mark.parametrize(("made", "wanted"), CASES.values(), ids=CASES)
def test_they_are_those_of_frr(made: Fabric, wanted: Routes) -> None:
    needed()
    assert wanted
    compare(made, patience_s=60.0)


@pytest.mark.parametrize("peer", [SELF, {}], ids=["next hops of the leaves", "kept next hops"])
def test_a_failed_uplink_leaves_the_way_over_the_other_leaf(peer: dict[str, bool]) -> None:
    announced = {"networks": ("10.1.2.0/31", "10.8.1.0/24")}
    made = pair(peer, peer2=peer, bgp2={"networks": ("10.1.2.0/31",)}, bgp=announced)
    plane = compute_control_plane(Index(made))
    failures = FailureAnalysis(plane, plane.ipv4)
    links = {f"{link.a.node}-{link.b.node}": link for link in failures.links}
    assert failures.outcome_without_links(links["r1-r3"]).unreachable == ()
    lost = failures.outcome_without_links(links["r1-r3"], links["r2-r3"]).unreachable
    to = parse_prefix(BLOCK)
    assert to is not None
    bit = 1 << plane.ipv4.world.destinations.class_of[to]
    assert [plane.routers[loss.router].name for loss in lost if loss.bits & bit] == ["r1", "r2"]
