"""The leaves where the ports of a host end, compared with the spread that its owner states."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from nodrop.analyses import AnalysisHit
from nodrop.analyses._hosts import CabledHostPort, hosts_with_cabled_ports
from nodrop.model.fabric import End, Host
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC_HEAD
from nodrop.model.subject import link_subject as subject_of_link

RESTS_ON = frozenset({"cables", "hosts"})

LeafPattern = tuple[tuple[int, str], ...]
"""The leaf of each port of a host by the port's number."""


def find(index: Index, *, what: str) -> Iterator[AnalysisHit]:
    """Yield hosts with all ports on one leaf (`what: one-leaf`), or their ports on the leaf of another rail (`rails`).

    A bond is one port, which is on one leaf unless leaves share it.
    """
    spread = {"one-leaf": ("leaves", "rails"), "rails": ("rails",)}[what]
    hosts = [(host, ports) for host, ports in hosts_with_cabled_ports(index) if _is_spread_stated_as(host, spread)]
    if what == "one-leaf":
        yield from (_single_leaf_hit(host, ports) for host, ports in hosts if _are_on_one_leaf(ports))
        return
    groups: defaultdict[str, list[tuple[Host, Sequence[CabledHostPort]]]] = defaultdict(list)
    for host, ports in hosts:
        if ports and not _are_on_one_leaf(ports):
            groups[host.group].append((host, ports))
    for group in groups.values():
        yield from _miscabled_host_hits(group)


def _is_spread_stated_as(host: Host, spread: tuple[str, ...]) -> bool:
    return not isinstance(host.spread, Unknown) and host.spread in spread


def _are_on_one_leaf(ports: Sequence[CabledHostPort]) -> bool:
    return (
        len({(port.port.bond or port.port.name) for port in ports}) > 1 and len({port.far.node for port in ports}) == 1
    )


def _single_leaf_hit(host: Host, ports: Sequence[CabledHostPort]) -> AnalysisHit:
    first_port, *other_ports = ports
    return AnalysisHit(
        subject=(FABRIC_HEAD, "hosts", host.name),
        at=tuple(first_port.far),
        facts={"host": host.name, "ports": len(ports), "leaf": first_port.far.node},
        related=tuple((tuple(other_port.far), "another port of it") for other_port in other_ports),
    )


def _miscabled_host_hits(hosts: list[tuple[Host, Sequence[CabledHostPort]]]) -> Iterator[AnalysisHit]:
    """Yield the cables that make a host of a group unlike most of the hosts that it shares leaves with."""
    patterns = [tuple((cabled_port.number, cabled_port.far.node) for cabled_port in ports) for _, ports in hosts]
    usual: dict[LeafPattern, dict[int, str]] = {}
    taken: set[str] = set()
    for pattern, _ in Counter(patterns).most_common():
        own_leaves = {leaf for _, leaf in pattern}
        if own_leaves.isdisjoint(taken):
            usual[pattern] = dict(pattern)
            taken |= own_leaves
    for (host, ports), pattern in zip(hosts, patterns, strict=True):
        if pattern in usual:
            continue
        expected_leaves = max(usual.values(), key=lambda leaf_by_rail: _similarity_to_pattern(leaf_by_rail, pattern))
        for port in ports:
            expected = expected_leaves.get(port.number)
            if expected is not None and expected != port.far.node:
                yield AnalysisHit(
                    subject=subject_of_link(End(host.name, port.port.name), port.far),
                    at=tuple(port.far),
                    facts={
                        "host": host.name,
                        "port": port.port.name,
                        "rail": port.number + 1,
                        "leaf": port.far.node,
                        "expected": expected,
                    },
                )


def _similarity_to_pattern(most_common_leaf_by_number: dict[int, str], pattern: LeafPattern) -> tuple[int, int]:
    """How much a host is like others: by the ports that lie as theirs do, else by the leaves that it shares."""
    alike = sum(most_common_leaf_by_number.get(number) == leaf for number, leaf in pattern)
    return alike, len({leaf for _, leaf in pattern}.intersection(most_common_leaf_by_number.values()))
