"""Next hops that are not at the far end of a link: which of them a router can reach, by its routes and those of BGP.

A next hop is reached over the longest prefix that it is in, of a connected, static or BGP route that is installed, but
not over a default route (FRR, zebra/zebra_rnh.c, zebra_rnh_resolve_nexthop_entry). Its distance is the metric of that
route: 0, or the MED of a route of BGP (bgpd/bgp_zebra.c, bgp_zebra_announce).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.routing.adverts import AdvertPart, destinations_of_parts
from nodrop.routing.decision import LearnedTable, LearnedTableEntry
from nodrop.routing.destinations import DestinationClasses
from nodrop.routing.prefixes import Address, Prefix, network_address
from nodrop.routing.routers import VrfRouter
from nodrop.routing.static_routes import is_static_route_in_table, readable_static_routes


class NextHopResolver:
    """The routes of a router that lead to next hops."""

    def __init__(
        self,
        router: VrfRouter,
        family: AddressFamily,
        up: Mapping[str, bool],
        destinations: DestinationClasses,
        follows: Sequence[bool],
        near: frozenset[Address],
    ) -> None:
        """Take the routes of a router.

        `follows` gives for each of its links whether its routes follow others, `near` the addresses that no route of
        BGP leads to.
        """
        self._destinations, self._follows = destinations, follows
        self._near = near
        self._itself = {address for leg in router.legs if up[leg.name] for address in leg.addresses}
        self._subnets = {subnet for leg in router.legs if up[leg.name] for subnet in leg.subnets}
        self._own = self._subnets | {
            to for route, to in readable_static_routes(router, family) if is_static_route_in_table(router, route, up)
        }
        self._lengths = {
            ip_family: sorted(
                {prefix.length for prefix in (*self._own, *destinations.prefixes) if prefix.family == ip_family} - {0},
                reverse=True,
            )
            for ip_family in ADDRESS_FAMILIES
        }

    def next_hop_metrics(
        self,
        next_hops: Iterable[Address],
        learned_table: LearnedTable,
        local_parts: tuple[AdvertPart, ...],
        installed: Callable[[LearnedTableEntry], int],
        summed_bits: int,
    ) -> dict[Address, int]:
        """Return the metrics of those next hops that are reached with a table and with the aggregates in `summed_bits`.

        Its own addresses are none, as far as their interfaces are up (FRR, bgpd/bgp_zebra.c,
        bgp_interface_address_add).
        """
        own_bits = destinations_of_parts(local_parts)

        def entry_of(prefix: Prefix) -> LearnedTableEntry | None:
            number = self._destinations.class_of.get(prefix)
            found_entry = None if number is None or own_bits >> number & 1 else learned_table.entry_of_class(number)
            return (
                None
                if found_entry is None or number is None or not installed(found_entry) >> number & 1
                else found_entry
            )

        def metric(hop: Address, above: int = 0, *, learned: bool = True) -> int | None:
            for length in self._lengths[hop.family]:
                if length <= above:
                    return None
                prefix = Prefix(hop.family, network_address(hop.family, hop.number, length), length)
                if prefix in self._own:
                    return 0
                if learned and summed_bits & self._destinations.class_bits_of_prefixes((prefix,)):
                    return 0
                entry = entry_of(prefix) if learned else None
                if entry is not None and is_active(prefix, entry):
                    return entry.attributes.med or 0
            return None

        def is_active(prefix: Prefix, entry: LearnedTableEntry) -> bool:
            """Whether zebra uses a route: not one to its next hop (FRR, zebra/zebra_nhg.c, nexthop_active)."""
            if entry.vias and not self._follows[entry.hops[0]]:
                return any(via is None or any(one.contains_address(via) for one in self._subnets) for via in entry.vias)
            ways = (
                via is None or not prefix.contains_address(via) or metric(via, prefix.length) is not None
                for via in entry.vias
            )
            return not entry.vias or any(ways)

        hop_metrics = (
            (hop, metric(hop, learned=hop not in self._near)) for hop in next_hops if hop not in self._itself
        )
        return {hop: number for hop, number in hop_metrics if number is not None}
