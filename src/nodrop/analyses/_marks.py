"""Routes that go no further for a well-known community, and who gave it to them.

A route with no-export, no-advertise or local-AS goes to no other AS, so a router that hears it keeps it to itself.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.analyses._drops import RoutePropagation
from nodrop.model.subject import Subject
from nodrop.routing.adverts import NOT_EXPORTED_COMMUNITIES, PathAttributes, may_be_exported
from nodrop.routing.words import neighbor_family_statement


class CommunityMark(NamedTuple):
    """The destinations that one `policy` of a router marks: `what` in the words of a message, and its subject."""

    router: int
    policy: str
    what: str
    at: Subject
    way: str
    related: Subject
    bits: int


def find_blocking_community_marks(
    route_reach: RoutePropagation, router_number: int, destination_bits: int
) -> Iterator[CommunityMark]:
    """Yield the policies that mark some destinations of a router to keep them from any other AS."""
    for local_part in route_reach.state.originated_parts(router_number):
        if (marked_bits := local_part.bits & destination_bits) and not may_be_exported(local_part.attributes):
            yield _mark_from_redistribution(route_reach, router_number, local_part.attributes, marked_bits)
    for entry in route_reach.state.table(router_number).entries:
        if (marked_bits := entry.bits & destination_bits) and not may_be_exported(entry.attributes):
            yield _mark_from_policy(route_reach, router_number, entry.hops[0], entry.attributes, marked_bits)


def _mark_from_redistribution(
    reach: RoutePropagation, number: int, attributes: PathAttributes, bits: int
) -> CommunityMark:
    router, family = reach.plane.routers[number], reach.routes.family
    rows = () if router.bgp is None else router.bgp.redistributions
    row = next(
        redistribution
        for redistribution in rows
        if redistribution.family == family and redistribution.policy is not None
    )
    policy_text = f"route map {row.policy} sets community {_render_blocking_communities(attributes)}"
    return CommunityMark(
        number,
        f"route map {row.policy}",
        policy_text,
        (*router.bgp_subject, "route_maps", str(row.policy)),
        "export",
        router.bgp_subject,
        bits,
    )


def _mark_from_policy(
    reach: RoutePropagation, number: int, position: int, attributes: PathAttributes, bits: int
) -> CommunityMark:
    """Return the mark of a route that is heard over a link: by the policy of imports here, or of exports there."""
    speaker = reach.world.speakers[number]
    link = speaker.links[position]
    adverts = reach.state.sent_adverts(*speaker.hears[position])
    path_attributes = [route.attributes for advert in adverts for route in advert.parts if route.bits & bits]
    inbound = all(may_be_exported(part_attributes) for part_attributes in path_attributes)
    holder = number if inbound else link.far
    router, neighbor = reach.plane.routers[holder], reach.plane.side(holder, link.session).neighbor
    family_config = neighbor_family_statement(neighbor, reach.routes.family)
    policy = family_config.import_policy if inbound else family_config.export_policy
    policy_text = f"route map {policy} sets community {_render_blocking_communities(attributes)}"
    at = (*router.bgp_subject, "route_maps", str(policy))
    way = "import" if inbound else "export"
    return CommunityMark(
        holder, f"route map {policy}", policy_text, at, way, router.subject_of_neighbor(neighbor), bits
    )


def _render_blocking_communities(attributes: PathAttributes) -> str:
    return " and ".join(sorted(attributes.communities & NOT_EXPORTED_COMMUNITIES))
