"""The two ends of every cable, read and not read: shared by the analyses of links."""

from collections.abc import Iterator

from nodrop.analyses import UndecidedSubject
from nodrop.model.fabric import End, HostPort, Interface, Link
from nodrop.model.index import Index
from nodrop.model.states import is_known_off

UNREAD_LINK_END_FACT = "the other end of a link"

LinkWithPorts = tuple[Link, Interface | HostPort, Interface | HostPort]


class CableEndPorts:
    """The cables of a fabric; after all are processed, `unread` yields the ends whose switches were not read."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._unread: dict[str, set[str]] = {}

    def links_in_use(self) -> Iterator[LinkWithPorts]:
        """Yield each cable with its two ports where neither is shut; nothing runs where one is."""
        index = self._index
        for link in index.fabric.links:
            a, b = index.port_at_end(link.a), index.port_at_end(link.b)
            if a is not None and b is not None:
                if not (_is_port_shut(a) or _is_port_shut(b)):
                    yield link, a, b
                continue
            for end, far_end, near in ((link.a, link.b, a), (link.b, link.a, b)):
                is_unread = far_end.node not in index.hosts and far_end.node not in index.external_nodes
                if near is not None and end.node in index.devices and is_unread:
                    self._unread.setdefault(end.node, set()).add(far_end.node)

    def devices_with_unread_neighbors(self) -> Iterator[UndecidedSubject]:
        """Yield a missing fact for each device with cables to switches that were not read."""
        for device, unread_switches in self._unread.items():
            yield UndecidedSubject(subject=(device,), missing=UNREAD_LINK_END_FACT, others=frozenset(unread_switches))


def are_no_cable_ends_shut(index: Index, *ends: End) -> bool:
    """Whether no end of a cable is a port that is surely off."""
    return not any(port is not None and _is_port_shut(port) for port in map(index.port_at_end, ends))


def _is_port_shut(port: Interface | HostPort) -> bool:
    return isinstance(port, Interface) and is_known_off(port.enabled)
