"""How a switch spreads traffic over its uplinks: in equal shares, unless load or link bandwidths decide otherwise.

ECMP gives each of several equal paths the same share of the flows, independent of its speed. Adaptive routing chooses
by load. BGP's link bandwidth (RFC 10005) weighs paths; FRR does so only if all of them have one.
"""

from collections.abc import Iterator, Sequence

from nodrop.analyses._tiers import port_addresses_without_length
from nodrop.model.addresses import ADDRESS_FAMILIES
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.policy_values import BANDWIDTH_BY_PATH_COUNT, LINK_BANDWIDTH
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import Unknown
from nodrop.routing.words import neighbor_family_statement
from nodrop.units import parse_whole_number


def usable_mbps(index: Index, device: Device, uplinks: Sequence[Interface]) -> int | None:
    """Return what the uplinks of a switch carry before the slowest of them is full, Mb/s; None if a speed is unknown.

    In equal shares, each carries as much as the slowest one.
    """
    speeds = [port.speed_mbps for port in uplinks]
    known = [speed for speed in speeds if isinstance(speed, int) and speed > 0]
    if len(known) < len(speeds):
        return None
    if len(set(known)) < 2 or do_shares_follow_speeds(index, device, uplinks):
        return sum(known)
    return len(known) * min(known)


def do_shares_follow_speeds(index: Index, device: Device, uplinks: Sequence[Interface]) -> bool:
    """Whether faster uplinks of a switch get more: by adaptive routing, or link bandwidths in ratio to the speeds."""
    if device.adaptive_routing is True and all(port.adaptive_routing is True for port in uplinks):
        return True
    ratios = set[float]()
    for port in uplinks:
        weights = _link_bandwidths_over_port(index, device, port)
        weight = parse_whole_number(next(iter(weights)) or "") if len(weights) == 1 else None
        if not weight or not isinstance(port.speed_mbps, int):
            return False
        ratios.add(weight / port.speed_mbps)
    return bool(ratios) and max(ratios) <= 1.05 * min(ratios)


def are_paths_weighed_by_count(index: Index, upper: Device, lowers: frozenset[str]) -> bool:
    """Whether a switch sends the number of its paths with all routes to switches below it."""
    weights = set[str | None]()
    for neighbor, port in _sessions_over_ports(index, upper):
        far = index.far_end(upper.name, port.name)
        if far is not None and far.node in lowers and isinstance(upper.bgp, Bgp):
            weights |= _link_bandwidths_of_policies(upper.bgp, neighbor, "export_policy")
    return weights == {BANDWIDTH_BY_PATH_COUNT}


def _sessions_over_ports(index: Index, device: Device) -> Iterator[tuple[BgpNeighbor, Interface]]:
    """Yield the sessions of a switch in the default VRF over its cables, each with its port."""
    neighbors = device.neighbors
    if isinstance(neighbors, Unknown):
        return
    by_key = {neighbor.key: neighbor for neighbor in neighbors if neighbor.enabled}
    for port in device.interfaces:
        end = index.far_end(device.name, port.name)
        far_port = None if end is None else index.interface(*end)
        keys = (port.name, *(() if far_port is None else port_addresses_without_length(far_port)))
        for key in keys:
            if key in by_key:
                yield by_key[key], port


def _link_bandwidths_over_port(index: Index, device: Device, port: Interface) -> set[str | None]:
    """Return the link bandwidths that routes over a port get: by its import policy, else by the far export policy."""
    found = set[str | None]()
    end = index.far_end(device.name, port.name)
    far = None if end is None else index.devices.get(end.node)
    for neighbor, own_port in _sessions_over_ports(index, device):
        if own_port.name == port.name and isinstance(device.bgp, Bgp):
            found |= _link_bandwidths_of_policies(device.bgp, neighbor, "import_policy")
    if found != {None} or far is None or end is None or not isinstance(far.bgp, Bgp):
        return found
    sent = set[str | None]()
    for neighbor, far_port in _sessions_over_ports(index, far):
        if far_port.name == end.port:
            sent |= _link_bandwidths_of_policies(far.bgp, neighbor, "export_policy")
    return sent


def _link_bandwidths_of_policies(bgp: Bgp, neighbor: BgpNeighbor, direction: str) -> set[str | None]:
    """Return the link bandwidths that the policies of a session set, of all active families; None is a route without.

    A route that the owner drains has no traffic, so its rule counts for nothing.
    """
    rules = {route_map.name: route_map.rules for route_map in bgp.route_maps}
    found = set[str | None]()
    for family in ADDRESS_FAMILIES:
        statement = neighbor_family_statement(neighbor, family)
        if not statement.active:
            continue
        policy: str | None = getattr(statement, direction)
        permits = [rule for rule in rules.get(policy or "", ()) if rule.action == "permit"]
        found |= {
            next((value.split()[0] for kind, value in rule.sets if kind == LINK_BANDWIDTH), None)
            for rule in permits
            if ("local-preference", "0") not in rule.sets
        } or {None}
    return found
