"""Ports of a host on leaves that no switch joins: they reach each other only if its GPUs forward (NVLink).

NCCL uses NCCL_CROSS_NIC=0 as the statement that rails cannot reach each other, and PXN to forward; it does not
guarantee that no connection crosses rails (NVIDIA/nccl issues 836, 2193 and 2345).
"""

from collections.abc import Iterator, Mapping, Sequence, Set

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._facing import host_file_targets_of
from nodrop.analyses._hosts import CabledHostPort, hosts_with_cabled_ports
from nodrop.analyses._joins import find_possible_join, switch_group_by_name
from nodrop.model.fabric import Host
from nodrop.model.index import Index
from nodrop.model.nics import value_or_none
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC_HEAD, Subject

RESTS_ON = frozenset({"cables", "hosts", "policy"})


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield hosts without cables in service that join the leaves of two ports, once, with the first such two.

    Facts: kind (rail or port), number, leaf, other_number, other_leaf and forwarding, the statement of the host's files
    about it. Hosts with a file that states NCCL_CROSS_NIC=0, and with none that turns PXN off, forward themselves; that
    is enough unless the owner expects joined leaves. Unread switches, and ports without a known cable, may join them.
    """
    hosts = [(host, ports) for host, ports in hosts_with_cabled_ports(index) if _is_spread_over_leaves(host)]
    if not hosts:
        return
    groups, without_pxn, forwards = (
        switch_group_by_name(index),
        _hosts_with_nccl_setting_off(index, "pxn"),
        _hosts_with_nccl_setting_off(index, "cross_nic"),
    )
    unsettled: set[Subject] = set()
    for host, ports in hosts:
        parted = _ports_on_unjoined_leaves(ports, groups)
        if parted is None or (host.name in forwards - without_pxn and not _are_joined_rails_expected(index)):
            continue
        first_port, other_port = parted
        if doubt := find_possible_join(index, groups, (first_port.far.node, other_port.far.node)):
            if doubt.subject not in unsettled:
                unsettled.add(doubt.subject)
                yield doubt
            continue
        yield AnalysisHit(
            subject=(FABRIC_HEAD, "hosts", host.name),
            at=tuple(first_port.far),
            facts={
                "kind": "rail" if host.spread == "rails" else "port",
                "number": first_port.number + 1,
                "leaf": first_port.far.node,
                "other_number": other_port.number + 1,
                "other_leaf": other_port.far.node,
                "forwarding": _forwarding_in_words(host.name, without_pxn, forwards),
            },
            related=((tuple(other_port.far), f"the other {'rail' if host.spread == 'rails' else 'port'}"),),
        )


def _is_spread_over_leaves(host: Host) -> bool:
    return not isinstance(host.spread, Unknown) and host.spread in ("rails", "leaves")


def _are_joined_rails_expected(index: Index) -> bool:
    rails = index.fabric.policy.rails
    return not isinstance(rails, Unknown) and rails == "joined"


def _forwarding_in_words(host: str, without_pxn: Set[str], forwards: Set[str]) -> str:
    if host in without_pxn:
        return "off"
    return "the only way (NCCL_CROSS_NIC=0)" if host in forwards else "not stated"


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
