"""NICs of one host that have addresses in one subnet."""

from collections.abc import Iterator
from functools import lru_cache

from nodrop.analyses import AnalysisHit
from nodrop.analyses._hosts import cabled_host_ports
from nodrop.model.addresses import interface_of
from nodrop.model.fabric import Host
from nodrop.model.index import Index
from nodrop.model.subject import FABRIC_HEAD

RESTS_ON = frozenset({"hosts"})
_LAST_OCTET_PREFIX_LENGTHS = frozenset(map(str, range(24, 33)))
"""Lengths of IPv4 prefixes that hold the first three numbers of an address."""


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield each host with two NICs, not of one bond, in one subnet: once, with all that share the first subnet."""
    for host in index.fabric.hosts:
        for subnet, ports in (_nics_by_subnet(host) if _may_share_subnet(host) else {}).items():
            if len(ports) < 2:
                continue
            ends = [
                cable.far
                for cable in cabled_host_ports(index, host)
                if cable.port.name in ports or cable.port.bond in ports
            ]
            yield AnalysisHit(
                subject=(FABRIC_HEAD, "hosts", host.name),
                at=tuple(ends[0]) if ends else None,
                facts={"host": host.name, "ports": " and ".join(ports), "subnet": subnet},
                related=tuple((tuple(end), "another port of it") for end in ends[1:]),
            )
            break


def _may_share_subnet(host: Host) -> bool:
    """Whether two NICs can share a subnet, by the texts: not in IPv4 if the first three numbers differ."""
    owners: dict[str, str] = {}
    for port in host.ports:
        for text in port.addresses:
            address, _, length = text.partition("/")
            start, dot, _ = address.rpartition(".")
            if not dot or length not in _LAST_OCTET_PREFIX_LENGTHS or owners.setdefault(start, port.name) != port.name:
                return True
    return False


def _nics_by_subnet(host: Host) -> dict[str, list[str]]:
    """Return the NICs, or bonds, of a host by the subnets of their addresses."""
    subnets: dict[str, list[str]] = {}
    for port in host.ports:
        for text in port.addresses:
            subnet, name = _subnet_of_address(text), port.bond or port.name
            if subnet is not None and name not in subnets.setdefault(subnet, []):
                subnets[subnet].append(name)
    return subnets


@lru_cache(maxsize=4096)
def _subnet_of_address(address: str) -> str | None:
    """Return the subnet of an address; None where it is none, or one of a single address or of one link."""
    interface = interface_of(address)
    if interface is None or interface.network.is_link_local or interface.network.num_addresses == 1:
        return None
    return str(interface.network)
