"""Rails that no switch joins: a NIC reaches those of other rails only if GPUs of its host forward (NVLink).

NCCL uses NCCL_CROSS_NIC=0 as the statement that rails cannot reach each other, and PXN to forward; it does not
guarantee that no connection crosses rails (NVIDIA/nccl issues 836, 2193 and 2345).
"""

from collections.abc import Iterator, Mapping, Sequence

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._facing import host_file_targets_of
from nodrop.analyses._hosts import CabledHostPort, hosts_with_cabled_ports
from nodrop.analyses._pairs import UNREAD_LINK_END_FACT, are_no_cable_ends_shut
from nodrop.model.fabric import Host, Interface
from nodrop.model.index import Index
from nodrop.model.modes import find_connected_components
from nodrop.model.nics import value_or_none
from nodrop.model.states import Unknown, is_known_off
from nodrop.model.subject import FABRIC_HEAD, Subject

RESTS_ON = frozenset({"cables", "hosts"})


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield hosts without cables in service that join the leaves of two rails, once, with the first such two.

    Facts: rail, leaf, other_rail, other_leaf and forwarding, the statement of the host's files about it. Hosts with a
    file that states NCCL_CROSS_NIC=0, and with none that turns PXN off, forward themselves. Unread switches, and ports
    without a known cable, may join them.
    """
    hosts = [(host, ports) for host, ports in hosts_with_cabled_ports(index) if _is_spread_over_rails(host)]
    if not hosts:
        return
    groups, without_pxn, forwards = (
        _switch_group_by_name(index),
        _hosts_with_nccl_setting_off(index, "pxn"),
        _hosts_with_nccl_setting_off(index, "cross_nic"),
    )
    unsettled: set[Subject] = set()
    for host, ports in hosts:
        parted = _ports_on_unjoined_leaves(ports, groups)
        if parted is None or (host.name in forwards - without_pxn):
            continue
        first_port, other_port = parted
        if doubt := _find_possible_join(index, groups, parted):
            if doubt.subject not in unsettled:
                unsettled.add(doubt.subject)
                yield doubt
            continue
        yield AnalysisHit(
            subject=(FABRIC_HEAD, "hosts", host.name),
            at=tuple(first_port.far),
            facts={
                "rail": first_port.number + 1,
                "leaf": first_port.far.node,
                "other_rail": other_port.number + 1,
                "other_leaf": other_port.far.node,
                "forwarding": "off" if host.name in without_pxn else "not stated",
            },
            related=((tuple(other_port.far), "the other rail"),),
        )


def _is_spread_over_rails(host: Host) -> bool:
    return not isinstance(host.spread, Unknown) and host.spread == "rails"


def _switch_group_by_name(index: Index) -> Mapping[str, str]:
    """Return for each switch one of all that cables in service join to it, those that were not read included."""
    hosts = index.hosts.keys()
    links = [link for link in index.fabric.links if not (link.a.node in hosts or link.b.node in hosts)]
    names = [*index.devices, *(end.node for link in links for end in (link.a, link.b))]
    return find_connected_components(
        dict.fromkeys(names), [link for link in links if are_no_cable_ends_shut(index, link.a, link.b)]
    )


def _ports_on_unjoined_leaves(
    ports: Sequence[CabledHostPort], groups: Mapping[str, str]
) -> tuple[CabledHostPort, CabledHostPort] | None:
    """Return the first two ports of a host whose leaves are not joined."""
    for port in ports[1:]:
        if groups[port.far.node] != groups[ports[0].far.node]:
            return ports[0], port
    return None


def _hosts_with_nccl_setting_off(index: Index, field: str) -> set[str]:
    """Return the hosts with a file that turns a setting of NCCL off."""
    hosts = host_file_targets_of(index)
    files = [nic for nic in index.fabric.nics if value_or_none(nic, field) is False]
    return {host.name for nic in files for host in hosts.hosts_of_file(nic)}


def _find_possible_join(
    index: Index, groups: Mapping[str, str], parted: tuple[CabledHostPort, CabledHostPort]
) -> UndecidedSubject | None:
    """Return the possible joints of two leaves: switches that were not read, or ports without a known cable."""
    first_leaf, other_leaf = (cabled_port.far.node for cabled_port in parted)
    switch_names = [name for name, group in groups.items() if group in (groups[first_leaf], groups[other_leaf])]
    if unread := frozenset(switch_names) - index.devices.keys():
        return UndecidedSubject(subject=(first_leaf,), missing=UNREAD_LINK_END_FACT, others=unread)
    unknown = next((name for name in switch_names if _has_unknown_cable(index, name)), None)
    return None if unknown is None else UndecidedSubject(subject=(unknown,), missing="interface.side")


def _has_unknown_cable(index: Index, name: str) -> bool:
    """Whether a port of a switch may lead to a switch that no known cable names."""
    return any(
        _may_be_fabric_port(port) and index.far_end(name, port.name) is None for port in index.devices[name].interfaces
    )


def _may_be_fabric_port(port: Interface) -> bool:
    return (isinstance(port.side, Unknown) or port.side == "fabric") and not is_known_off(port.enabled)
