"""Jobs whose connections have fewer flows than their leaf has equal paths, where a hash chooses the paths.

A queue pair has one UDP source port, so switches with ECMP keep its packets on one path. A connection of NCCL has one
queue pair unless NCCL_IB_QPS_PER_CONNECTION states more (NVIDIA/nccl, docs/userguide/source/env.rst).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._facing import host_file_targets_of
from nodrop.analyses._hosts import cabled_host_ports
from nodrop.analyses._link_layers import is_nic_file_for_roce
from nodrop.analyses._pairs import are_no_cable_ends_shut
from nodrop.analyses._tiers import uplink_cables
from nodrop.model.fabric import End, Host
from nodrop.model.index import Index
from nodrop.model.nics import value_or_none
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC_HEAD, Subject

RESTS_ON = frozenset({"cables", "hosts", "roles"})


class _StatedQueuePairs(NamedTuple):
    """A stated number of queue pairs: its subject, where it is stated, and the hosts that it is about."""

    subject: Subject
    at: Subject
    flows: int
    hosts: list[Host]


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the files and hosts that state fewer queue pairs for a connection than one of their leaves has equal paths.

    Facts: flows, paths and device, the leaf with the most paths. Leaves with adaptive routing are not counted.
    """
    paths = _uplinks_per_leaf(index)
    for flow_statement in _list_stated_flows(index):
        leaves = _leaves_of_hosts(index, flow_statement.hosts) if index.fabric.hosts else list(paths)
        most = max(leaves, key=lambda leaf: paths[leaf], default=None)
        if most is None or paths[most] <= flow_statement.flows:
            continue
        unknown = next((leaf for leaf in leaves if isinstance(index.devices[leaf].adaptive_routing, Unknown)), None)
        by_hash = [leaf for leaf in leaves if index.devices[leaf].adaptive_routing is False]
        most = max(by_hash, key=lambda leaf: paths[leaf], default=None)
        if most is not None and paths[most] > flow_statement.flows:
            yield AnalysisHit(
                subject=flow_statement.subject,
                at=flow_statement.at,
                facts={"flows": flow_statement.flows, "paths": paths[most], "device": most},
                related=(((most,), "the leaf"),),
            )
        elif unknown is not None:
            yield UndecidedSubject(subject=(unknown,), missing="device.adaptive_routing")


def _list_stated_flows(index: Index) -> Iterator[_StatedQueuePairs]:
    """Yield the flows stated in files of hosts, then those that the owner states of hosts without such a file."""
    hosts, by_file = host_file_targets_of(index), set[str]()
    for nic in index.fabric.nics:
        flows = value_or_none(nic, "queue_pairs")
        if flows is not None and is_nic_file_for_roce(index, nic) is not False:
            own_hosts = hosts.hosts_of_file(nic)
            by_file.update(host.name for host in own_hosts)
            yield _StatedQueuePairs(nic.subject, (*nic.subject, "queue_pairs"), flows, own_hosts)
    for host in index.fabric.hosts:
        if isinstance(host.queue_pairs, int) and host.name not in by_file:
            subject = (FABRIC_HEAD, "hosts", host.name)
            yield _StatedQueuePairs(subject, (*subject, "queue_pairs"), host.queue_pairs, [host])


def _uplinks_per_leaf(index: Index) -> Counter[str]:
    """Return the number of cables in service from each leaf to the tier above."""
    uplink_counts, above = Counter[str](), set[str]()
    for uplink in uplink_cables(index):
        above.add(uplink.upper.name)
        if are_no_cable_ends_shut(
            index, End(uplink.lower.name, uplink.lower_port), End(uplink.upper.name, uplink.upper_port)
        ):
            uplink_counts[uplink.lower.name] += 1
    return Counter({name: count for name, count in uplink_counts.items() if name not in above})


def _leaves_of_hosts(index: Index, hosts: Iterable[Host]) -> list[str]:
    """Return the leaves that hosts are cabled to, each once."""
    return list(dict.fromkeys(cabled_port.far.node for host in hosts for cabled_port in cabled_host_ports(index, host)))
