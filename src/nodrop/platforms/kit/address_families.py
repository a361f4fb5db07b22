"""The address families of a BGP process and of its sessions."""

from collections.abc import Iterable

from nodrop.model.addresses import AddressFamily
from nodrop.model.routing import Bgp, BgpNeighbor

_IPV6_NOT_CARRIED = BgpNeighbor().ipv6
"""The settings of a session that does not carry IPv6. Most sessions have this very object, which is compared first."""


def has_ipv6_settings(session: BgpNeighbor) -> bool:
    """Return whether a session states anything in the address family of IPv6."""
    return session.ipv6 is not _IPV6_NOT_CARRIED and session.ipv6 != _IPV6_NOT_CARRIED


def stated_families(bgp: Bgp, sessions: Iterable[BgpNeighbor]) -> tuple[AddressFamily, ...]:
    """Return the address families that a process states: IPv4, and IPv6 where the process does anything with it."""
    with_ipv6 = (
        bgp.maximum_paths_ipv6 is not None
        or bgp.maximum_paths_internal_ipv6 is not None
        or bgp.distances_ipv6 is not None
        or any(":" in aggregate.prefix for aggregate in bgp.aggregates)
        or any(":" in network for network in bgp.networks)
        or any(redistribution.family == "ipv6" for redistribution in bgp.redistributions)
        or any(map(has_ipv6_settings, sessions))
    )
    return ("ipv4", "ipv6") if with_ipv6 else ("ipv4",)
