"""Routes that go no further for a well-known community, and who gave it to them.

A route with no-export, no-advertise or local-AS goes to no other AS, so a router that hears it keeps it to itself.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.analyses._drops import Reach
from nodrop.model.subject import Subject
from nodrop.routing.adverts import NOT_PASSED_ON, Attributes, passed_on
from nodrop.routing.words import of_family


class Mark(NamedTuple):
    """The destinations that one policy of a router marks: `what` in the words of a message, and its subject."""

    router: int
    what: str
    at: Subject
    way: str
    related: Subject
    bits: int


def marks(reach: Reach, number: int, bits: int) -> Iterator[Mark]:
    """Yield the policies that mark some destinations of a router to keep them from any other AS."""
    for local_part in reach.state.local(number):
        if (marked_bits := local_part.bits & bits) and not passed_on(local_part.attributes):
            yield _mark_from_redistribution(reach, number, local_part.attributes, marked_bits)
    for entry in reach.state.table(number).entries:
        if (marked_bits := entry.bits & bits) and not passed_on(entry.attributes):
            yield _mark_from_policy(reach, number, entry.hops[0], entry.attributes, marked_bits)


def _mark_from_redistribution(reach: Reach, number: int, attributes: Attributes, bits: int) -> Mark:
    router, family = reach.plane.routers[number], reach.routes.family
    rows = () if router.bgp is None else router.bgp.redistributions
    row = next(
        redistribution
        for redistribution in rows
        if redistribution.family == family and redistribution.policy is not None
    )
    policy_text = f"route map {row.policy}, which sets {_render_blocking_communities(attributes)},"
    return Mark(number, policy_text, (*router.subject, "route_maps", str(row.policy)), "export", router.subject, bits)


def _mark_from_policy(reach: Reach, number: int, position: int, attributes: Attributes, bits: int) -> Mark:
    """Return the mark of a route that is heard over a link: by the policy of imports here, or of exports there."""
    speaker = reach.world.speakers[number]
    link = speaker.links[position]
    adverts = reach.state.tells(*speaker.hears[position])
    path_attributes = [route.attributes for advert in adverts for route in advert.parts if route.bits & bits]
    inbound = all(passed_on(part_attributes) for part_attributes in path_attributes)
    holder = number if inbound else link.far
    router, neighbor = reach.plane.routers[holder], reach.plane.side(holder, link.session).neighbor
    family_config = of_family(neighbor, reach.routes.family)
    policy = family_config.import_policy if inbound else family_config.export_policy
    policy_text = f"route map {policy}, which sets {_render_blocking_communities(attributes)},"
    at = (*router.subject, "route_maps", str(policy))
    return Mark(holder, policy_text, at, "import" if inbound else "export", router.at(neighbor), bits)


def _render_blocking_communities(attributes: Attributes) -> str:
    return " and ".join(sorted(attributes.communities & NOT_PASSED_ON))
