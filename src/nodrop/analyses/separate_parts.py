"""Hosts that no cables in service join: no port of one is in a part of the fabric that a port of the other is in."""

from collections import defaultdict
from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._hosts import CabledHostPort, hosts_with_cabled_ports
from nodrop.analyses._joins import find_possible_join, switch_group_by_name
from nodrop.model.fabric import Host
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC_HEAD, Subject

RESTS_ON = frozenset({"cables", "hosts", "policy"})


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the first host of each part that has no way to the hosts of an earlier part, once.

    Facts: hosts, how many there are, with host and leaf, the first and its leaf; and the same of the others. Unread
    switches, and ports without a known cable, may join the parts.
    """
    stated = index.fabric.policy.parts
    if not isinstance(stated, Unknown) and stated == "separate":
        return
    part_of = switch_group_by_name(index)
    hosts_of: defaultdict[frozenset[str], list[tuple[Host, CabledHostPort]]] = defaultdict(list)
    for host, ports in hosts_with_cabled_ports(index):
        if ports:
            hosts_of[frozenset(part_of[port.far.node] for port in ports)].append((host, ports[0]))
    unsettled: set[Subject] = set()
    earlier: list[frozenset[str]] = []
    for parts, own in hosts_of.items():
        apart = next((others for others in earlier if others.isdisjoint(parts)), None)
        earlier.append(parts)
        if apart is None:
            continue
        (host, port), (other_host, other_port) = own[0], hosts_of[apart][0]
        if doubt := find_possible_join(index, part_of, (other_port.far.node, port.far.node)):
            if doubt.subject not in unsettled:
                unsettled.add(doubt.subject)
                yield doubt
            continue
        yield AnalysisHit(
            subject=(FABRIC_HEAD, "hosts", host.name),
            at=tuple(port.far),
            facts={
                "host": host.name,
                "leaf": port.far.node,
                "other_host": other_host.name,
                "other_leaf": other_port.far.node,
            },
            related=((tuple(other_port.far), f"the port of {other_host.name}"),),
        )
