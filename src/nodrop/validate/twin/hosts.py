"""The hosts of a twin: which way packets leave them."""

from collections.abc import Iterator, Mapping

from nodrop.fabric.fabric import Fabric
from nodrop.routing.prefixes import FAMILIES, Address, Prefix, address, prefix
from nodrop.validate.twin.lab import Lab
from nodrop.validate.twin.plan import Nic, Plan, Space

_ALL = {"ipv4": "0.0.0.0/0", "ipv6": "::/0"}


def settle_hosts(lab: Lab) -> None:
    """Give every host of a lab its default routes."""
    lines = gateways(lab.fabric, lab.plan)
    for space, rows in lines.items():
        for row in rows:
            lab.ip(space.node, *row.split())


def gateways(fabric: Fabric, plan: Plan) -> Mapping[Space, tuple[str, ...]]:
    """Return what gives each host its default routes, as the words for `ip`.

    The gateway of a port is the address that a switch has in the port's subnet; of several ports all are equal paths.
    """
    hosts = {host.name for host in fabric.hosts}
    held: dict[Prefix, Address] = {}
    for nic in plan.nics:
        if nic.space.node not in hosts:
            for subnet, own in _subnets(nic):
                held.setdefault(subnet, own)
    found: dict[Space, dict[str, list[str]]] = {}
    for nic in plan.nics:
        if nic.space.node in hosts:
            for subnet, own in _subnets(nic):
                gateway = held.get(subnet)
                if gateway is not None and gateway != own:
                    hops = found.setdefault(nic.space, {}).setdefault(subnet.family, [])
                    hops.append(f"nexthop via {gateway} dev {nic.name}")
    return {
        space: tuple(f"route replace {_ALL[family]} {' '.join(hops[family])}" for family in FAMILIES if family in hops)
        for space, hops in found.items()
    }


def _subnets(nic: Nic) -> Iterator[tuple[Prefix, Address]]:
    for text in nic.addresses:
        subnet, own = prefix(text), address(text)
        if subnet is not None and own is not None:
            yield subnet, own
