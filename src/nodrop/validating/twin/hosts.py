"""The hosts of a twin: which way packets leave them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from nodrop.model.addresses import ADDRESS_FAMILIES, DEFAULT_ROUTE_BY_FAMILY
from nodrop.model.fabric import Fabric
from nodrop.routing.prefixes import Address, Prefix, parse_address, parse_prefix
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.plan import NamespaceKey, TwinInterface, TwinPlan


def set_host_routes_and_neighbors(twin_lab: TwinLab) -> None:
    """Give every host of a lab its default routes, and set MAC addresses of hosts and their switches for each other.

    Neighbors that are set do not count towards the kernel's limit of neighbors for all of its namespaces.
    """
    lines: defaultdict[NamespaceKey, list[str]] = defaultdict(list)
    for space, rows in default_route_commands(twin_lab.fabric, twin_lab.plan).items():
        lines[space] += rows
    for space, row in _neighbor_commands(twin_lab):
        lines[space].append(row)
    for _ in twin_lab.map_concurrently(
        lambda space: twin_lab.run_ip_batch(space.node, lines[space], vrf=space.vrf), lines
    ):
        continue


def _neighbor_commands(lab: TwinLab) -> Iterator[tuple[NamespaceKey, str]]:
    """Yield commands that set the ends of hosts' cables as each other's neighbors."""
    hosts = {host.name for host in lab.fabric.hosts}
    wires = [wire for wire in lab.plan.wires if wire.b and {wire.a.space.node, wire.b.space.node} & hosts]
    spaces = {nic.space for wire in wires for nic in (wire.a, wire.b) if nic is not None}
    rows = lab.map_concurrently(lambda space: (space, lab.interfaces_with_addresses(space.node, space.vrf)), spaces)
    mac = {(space, row["ifname"]): row.get("address", "") for space, address_rows in rows for row in address_rows}
    for wire in wires:
        if wire.b is not None and not (wire.a.bridge or wire.b.bridge):
            for near_nic, far_nic in ((wire.a, wire.b), (wire.b, wire.a)):
                for _, far in _subnets_with_addresses(far_nic):
                    neighbor_words = f"lladdr {mac[far_nic.space, far_nic.name]} dev {near_nic.name} nud permanent"
                    yield near_nic.space, f"neighbor replace {far} {neighbor_words}"


def default_route_commands(fabric: Fabric, plan: TwinPlan) -> Mapping[NamespaceKey, tuple[str, ...]]:
    """Return what gives each host its default routes, as the words for `ip`.

    The gateway of a port is the address that a switch has in the port's subnet; of several ports all are equal paths.
    """
    hosts = {host.name for host in fabric.hosts}
    address_by_prefix: dict[Prefix, Address] = {}
    for nic in plan.nics:
        if nic.space.node not in hosts:
            for subnet, own_address in _subnets_with_addresses(nic):
                address_by_prefix.setdefault(subnet, own_address)
    hops_by_space: dict[NamespaceKey, dict[str, list[str]]] = {}
    for nic in plan.nics:
        if nic.space.node in hosts:
            for subnet, host_address in _subnets_with_addresses(nic):
                gateway = address_by_prefix.get(subnet)
                if gateway is not None and gateway != host_address:
                    hops = hops_by_space.setdefault(nic.space, {}).setdefault(subnet.family, [])
                    hops.append(f"nexthop via {gateway} dev {nic.name}")
    return {
        space: tuple(
            f"route replace {DEFAULT_ROUTE_BY_FAMILY[family]} {' '.join(hops[family])}"
            for family in ADDRESS_FAMILIES
            if family in hops
        )
        for space, hops in hops_by_space.items()
    }


def _subnets_with_addresses(nic: TwinInterface) -> Iterator[tuple[Prefix, Address]]:
    for text in nic.addresses:
        subnet, own_address = parse_prefix(text), parse_address(text)
        if subnet is not None and own_address is not None:
            yield subnet, own_address
