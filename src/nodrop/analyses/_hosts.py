"""Hosts as they are stated, and the switch ports that their cables lead to."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nodrop.model.fabric import End, Host, HostPort
from nodrop.model.index import Index


class CabledHostPort(NamedTuple):
    """A port of a host: its number, from 0, the port itself, and the end of its cable at a switch."""

    number: int
    port: HostPort
    far: End


def hosts_with_cabled_ports(index: Index) -> Sequence[tuple[Host, Sequence[CabledHostPort]]]:
    """Return all hosts with their cabled ports, found once."""
    return index.compute_once(
        "cabled hosts", lambda: [(host, list(cabled_host_ports(index, host))) for host in index.fabric.hosts]
    )


def cabled_host_ports(index: Index, host: Host) -> Iterator[CabledHostPort]:
    """Yield the ports of a host that are cabled to switches that were read."""
    for number, port in enumerate(host.ports):
        far = index.far_end(host.name, port.name)
        if far is not None and far.node in index.devices:
            yield CabledHostPort(number, port, far)
