"""GIDs of another address family than the switch routes at the ports of a host.

The GID decides whether RoCE version 2 travels in IPv4 or IPv6 (NVIDIA, RDMA over Converged Ethernet, GID Table). NCCL
takes the GID that NCCL_IB_GID_INDEX numbers, else one of NCCL_IB_ADDR_FAMILY, which is AF_INET unless stated
(NVIDIA/nccl, src/transport/net_ib). Drivers list link-local GIDs first, as 0 and 1, then those of configured addresses.
"""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._facing import HostFileTargets, host_file_targets_of
from nodrop.analyses._hosts import cabled_host_ports
from nodrop.analyses._link_layers import is_nic_file_for_roce
from nodrop.model.addresses import AddressFamily
from nodrop.model.fabric import End, HostPort
from nodrop.model.index import Index
from nodrop.model.nics import Nic, value_or_none
from nodrop.model.routing import TITLE_BY_ADDRESS_FAMILY
from nodrop.model.states import known_rows
from nodrop.routing.legs import routed_interfaces_at, unknown_leg_fact
from nodrop.routing.prefixes import parse_address

RESTS_ON = frozenset({"cables", "hosts"})
_FIRST_CONFIGURED_GID_INDEX = 2


class _ChosenGidFamily(NamedTuple):
    """The family of a GID, and what chooses it: a field of the file, and its words."""

    family: AddressFamily
    field: str
    by: str


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the files that make NCCL use GIDs of a family that a switch does not route at a port of their hosts.

    Each file once, with the first such port. A switch without an address there routes the host elsewhere, and decides
    nothing. Facts: family, by, expected and port.
    """
    hosts, unsettled = host_file_targets_of(index), set[str]()
    for nic in index.fabric.nics:
        if is_nic_file_for_roce(index, nic) is False:
            continue
        by_default = _uses_default_gid(index, nic, hosts)
        for far, own_host_port in _switch_ports_of_nic(index, nic, hosts):
            chosen = _find_gid_family(nic, own_host_port, by_default=by_default)
            if chosen is None:
                continue
            if missing := unknown_leg_fact(index.devices[far.node]):
                if far.node not in unsettled:
                    unsettled.add(far.node)
                    yield UndecidedSubject(subject=(far.node,), missing=missing)
                continue
            routed = _routed_address_families_at_port(index, far)
            if routed and chosen.family not in routed:
                yield _build_hit(nic, chosen, routed, far)
                break


def _build_hit(nic: Nic, chosen: _ChosenGidFamily, routed: set[AddressFamily], far: End) -> AnalysisHit:
    return AnalysisHit(
        subject=nic.subject,
        at=(*nic.subject, chosen.field),
        facts={
            "family": TITLE_BY_ADDRESS_FAMILY[chosen.family],
            "by": chosen.by,
            "expected": " or ".join(TITLE_BY_ADDRESS_FAMILY[family] for family in sorted(routed)),
            "port": f"{far.node} {far.port}",
        },
        related=((tuple(far), "the switch port at the other end"),),
    )


def _find_gid_family(nic: Nic, own_host_port: HostPort | None, *, by_default: bool) -> _ChosenGidFamily | None:
    gid_index = value_or_none(nic, "gid_index")
    if gid_index is not None:
        families = {
            found_address.family
            for text in (own_host_port.addresses if own_host_port else ())
            if (found_address := parse_address(text)) is not None and not found_address.is_link_local
        }
        if gid_index < _FIRST_CONFIGURED_GID_INDEX or len(families) != 1:
            return None
        return _ChosenGidFamily(families.pop(), "gid_index", f"GID index {gid_index}")
    if (family := value_or_none(nic, "gid_family")) is not None:
        return _ChosenGidFamily(family, "gid_family", "NCCL_IB_ADDR_FAMILY")
    return _ChosenGidFamily("ipv4", "traffic_class", "NCCL's default") if by_default else None


def _uses_default_gid(index: Index, nic: Nic, hosts: HostFileTargets) -> bool:
    """Whether NCCL has RDMA by a file, and neither it nor another file for its hosts states which GID."""
    if value_or_none(nic, "traffic_class") is None:
        return False
    own_names = {host.name for host in hosts.hosts_of_file(nic)}
    other_nics = [
        other_nic
        for other_nic in index.fabric.nics
        if other_nic is nic or not own_names or own_names & {host.name for host in hosts.hosts_of_file(other_nic)}
    ]
    return all(
        value_or_none(other_nic, field) is None for other_nic in other_nics for field in ("gid_index", "gid_family")
    )


def _switch_ports_of_nic(index: Index, nic: Nic, hosts: HostFileTargets) -> Iterator[tuple[End, HostPort | None]]:
    """Yield the ports of switches that its NICs face, with the port of the host where that is known."""
    if not index.fabric.hosts:
        yield from ((End(*facing_port.subject), None) for facing_port in hosts.ports_facing_nics_of_file(nic))
    for host in hosts.hosts_of_file(nic):
        yield from ((cabled_port.far, cabled_port.port) for cabled_port in cabled_host_ports(index, host))


def _routed_address_families_at_port(index: Index, end: End) -> set[AddressFamily]:
    """Return the families of a switch's subnets at a port, link-local ones not counted.

    None of a port with a BGP session to the host, which may announce addresses of the other family.
    """
    device = index.devices[end.node]
    own_legs = routed_interfaces_at(index, end)
    subnets = {subnet for leg in own_legs for subnet in leg.subnets if not subnet.is_link_local}
    for process in device.known_bgp_processes:
        for neighbor in known_rows(process.neighbors):
            far = parse_address(neighbor.key)
            if neighbor.key in (end.port, *(leg.name for leg in own_legs)) or (
                far and any(subnet.contains_address(far) for subnet in subnets)
            ):
                return set()
    return {subnet.family for subnet in subnets}
