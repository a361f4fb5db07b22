"""Static routes that drop packets to hosts of another switch, and subnets of hosts that two switches have."""

from bisect import bisect_left
from collections.abc import Iterator

from nodrop.analyses import Hit
from nodrop.analyses._drops import Reach, reaches
from nodrop.analyses._targets import Target
from nodrop.model.index import Index
from nodrop.model.states import those_known
from nodrop.routing.prefixes import BITS, Prefix, cut, prefix

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
        if router.bgp is None:
            continue
        positions: dict[Prefix | None, int] = {}
        for at, row in enumerate(those_known(router.device.static_routes)):
            if row.vrf == router.vrf:
                positions.setdefault(prefix(row.prefix), at)
        for found, route in reach.routes.own(router.number).items():
            if not route.discard:
                continue
            end = bisect_left(firsts, found.first + (1 << (BITS[found.family] - found.length)))
            inside = hosts[bisect_left(firsts, found.first) : end]
            gone = [one for one in inside if _loses(reach, router.number, found, one)]
            if gone:
                where = reach.plane.routers[gone[0].router]
                more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
                announces = " and announces it" if found in reach.announced.of.get(router.number, ()) else ""
                yield Hit(
                    subject=(router.device.name, "@static_routes", str(positions[found])),
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
    around, own = target.prefix, reach.routes.own(number)
    lengths = [length for length in reach.routes.own_lengths(number) if dropped.length < length <= around.length]
    wider = [Prefix(around.family, cut(around.family, around.first, length), length) for length in lengths]
    for one in (*(one for one in wider if one in own), *reach.announced.around(around)):
        if one.length > dropped.length:
            route = reach.routes.route(number, one)
            if route is not None and not route.discard:
                return False
    return True
