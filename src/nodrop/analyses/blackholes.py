"""Static routes that drop packets to hosts of another switch, and subnets of hosts that two switches have."""

from bisect import bisect_left
from collections.abc import Iterator

from nodrop.analyses import Hit
from nodrop.analyses._drops import Reach, reaches
from nodrop.analyses._targets import Target
from nodrop.fabric.index import Index
from nodrop.fabric.states import those_known
from nodrop.routing.prefixes import BITS, Prefix, prefix

RESTS_ON = frozenset({"cables", "hosts"})
ROUTED = True

_VLAN = "VLAN "


def find(index: Index, *, twice: bool) -> Iterator[Hit]:
    """Yield subnets of hosts at two switches (`twice`), or the routes that drop packets to another switch's hosts."""
    for reach in reaches(index):
        hosts = sorted((one for one in reach.targets if one.kind == "hosts"), key=lambda one: one.prefix)
        yield from _twice(reach, hosts) if twice else _dropped(reach, hosts)


def _twice(reach: Reach, hosts: list[Target]) -> Iterator[Hit]:
    first: dict[tuple[str | None, Prefix], Target] = {}
    routers = reach.plane.routers
    for one in hosts:
        earlier = first.setdefault((routers[one.router].vrf, one.prefix), one)
        if earlier.router == one.router or not set(earlier.leg.addresses).isdisjoint(one.leg.addresses):
            continue
        if earlier.leg.name.startswith(_VLAN) and one.leg.name.startswith(_VLAN):
            continue
        yield Hit(
            subject=one.leg.subject,
            at=(*one.leg.subject, "addresses"),
            facts={
                "device": routers[one.router].name,
                "leg": one.leg.name,
                "prefix": str(one.prefix),
                "other": routers[earlier.router].name,
                "there": earlier.leg.name,
            },
            related=(((*earlier.leg.subject, "addresses"), "the same subnet"),),
        )


def _dropped(reach: Reach, hosts: list[Target]) -> Iterator[Hit]:
    firsts = [one.prefix.first for one in hosts]
    for router in reach.plane.routers:
        own = reach.routes.own(router.number)
        for found, route in own.items():
            if not route.discard or router.bgp is None:
                continue
            end = bisect_left(firsts, found.first + (1 << (BITS[found.family] - found.length)))
            inside = hosts[bisect_left(firsts, found.first) : end]
            gone = [one for one in inside if _loses(reach, router.number, found, one)]
            if gone:
                where = reach.plane.routers[gone[0].router]
                more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
                announces = " and announces it" if found in reach.announced.of.get(router.number, ()) else ""
                rows = enumerate(those_known(router.device.static_routes))
                position = next(at for at, row in rows if row.vrf == router.vrf and prefix(row.prefix) == found)
                yield Hit(
                    subject=(router.device.name, "@static_routes", str(position)),
                    facts={
                        "device": router.name,
                        "prefix": str(found),
                        "announces": announces,
                        "hosts": str(gone[0].prefix) + more,
                        "owner": where.name,
                    },
                    related=((gone[0].leg.subject, "where they are"),),
                    discriminator=str(found),
                )


def _loses(reach: Reach, number: int, dropped: Prefix, target: Target) -> bool:
    """Whether a router drops packets to a subnet of another, having no route to it that is longer."""
    routers = reach.plane.routers
    if target.router == number or routers[target.router].vrf != routers[number].vrf:
        return False
    if not dropped.covers(target.prefix):
        return False
    longer = [one for one in reach.routes.own(number) if one.length > dropped.length and one.covers(target.prefix)]
    for one in (*longer, *reach.announced.around(target.prefix)):
        if one.length > dropped.length:
            route = reach.routes.route(number, one)
            if route is not None and not route.discard:
                return False
    return True
