"""A summary of a control plane, in a few lines."""

from collections.abc import Iterator

from nodrop.analyses import _plane
from nodrop.model.addresses import AddressFamily
from nodrop.model.index import Index
from nodrop.model.routing import TITLE_BY_ADDRESS_FAMILY
from nodrop.report.names import format_count
from nodrop.routing import ControlPlane


def summarize_control_plane(index: Index) -> Iterator[str]:
    """Yield a fabric's computed facts: its sessions, and by family the announced routes and how many are used."""
    plane = _plane.control_plane_of(index)
    external = sum(down.facts.get("node") in index.external_nodes for down in plane.down if down.reason == "unread")
    outside = sum(
        plane.routers[session.a.router].is_stand_in or plane.routers[session.b.router].is_stand_in
        for session in plane.sessions
    )
    unread = sum(down.reason == "unread" for down in plane.down) - external
    doubtful = sum(down.reason == "may-be-filtered" for down in plane.down)
    words = [f"BGP sessions: {len(plane.sessions)} up"]
    if outside:
        words.append(f"{outside} of them with neighbors outside the fabric")
    if len(plane.down) > external + unread + doubtful:
        words.append(
            f"{format_count(len(plane.down) - external - unread - doubtful, 'neighbor statement')} without one"
        )
    if doubtful:
        words.append(f"{doubtful} that access lists may drop")
    if unread:
        words.append(f"{unread} towards what was not read")
    if external:
        words.append(f"{external} towards neighbors outside the fabric whose routes are not stated")
    yield ", ".join(words)
    for family in plane.families:
        yield _summarize_family(plane, family)


def _summarize_family(plane: ControlPlane, family: AddressFamily) -> str:
    routes = plane.of(family)
    prefixes = len(routes.world.destinations.prefixes)
    tables = map(routes.state.table, routes.world.speakers)
    hops = [len(entry.hops) for table in tables for entry in table.entries]
    most = f", reached over up to {format_count(max(hops), 'next hop')}" if hops else ""
    return f"{TITLE_BY_ADDRESS_FAMILY[family]}: {format_count(prefixes, 'prefix')} announced{most}"
