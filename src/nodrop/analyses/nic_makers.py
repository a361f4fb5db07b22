"""Hosts whose NICs slow down for congestion by another maker's implementation of DCQCN than most."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._hosts import cabled_host_ports
from nodrop.hardware import nic, nics
from nodrop.model.fabric import Host
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC_HEAD

RESTS_ON = frozenset({"hosts"})


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the hosts that slow down for CNPs and have NICs of another maker than most of these have."""
    new_hosts: dict[str, list[Host]] = {}
    for host in index.fabric.hosts:
        if host.dcqcn is True and not isinstance(host.nic, Unknown) and host.nic in nics():
            new_hosts.setdefault(nic(host.nic).vendor, []).append(host)
    usual = max(new_hosts.values(), key=len, default=[])
    for maker, hosts in new_hosts.items():
        for host in hosts if hosts is not usual else ():
            facts = {
                "host": host.name,
                "nic": f"{maker} {host.nic}",
                "others": f"{nic(str(usual[0].nic)).vendor} {usual[0].nic}",
            }
            port = next(cabled_host_ports(index, host), None)
            yield AnalysisHit(
                subject=(FABRIC_HEAD, "hosts", host.name), at=tuple(port.far) if port else None, facts=facts
            )
