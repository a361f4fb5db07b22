"""Cables with an end that sends pause frames on a priority that the other end does not obey, hosts included."""

from collections.abc import Iterator
from functools import cache

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.model import effects
from nodrop.model.fabric import End, Interface, Link
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import UnknownFact, is_known_off, require_fact
from nodrop.model.subject import link_subject as subject_of

RESTS_ON = frozenset({"cables", "hosts"})
READS_NEARBY_FACTS = True
UNREAD_LINK_END_FACT = "the other end of a link"


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the cables with such an end; the facts are sender and receiver, each with its port, and priorities."""
    search = _OneSidedPauseSearch(index)
    for link in index.fabric.links:
        yield from search.hits(link, link.a, link.b)
        yield from search.hits(link, link.b, link.a)
    for (device, missing), unread_nodes in search.missing.items():
        yield UndecidedSubject(subject=(device,), missing=missing, others=frozenset(unread_nodes))


class _OneSidedPauseSearch:
    """The priorities that ends send and obey, each QoS profile read once, and the unknown facts by device."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._sent = cache(lambda qos: frozenset(effects.pausing_priorities_in_use(qos)))
        self.missing: dict[tuple[str, str], set[str]] = {}

    def hits(self, link: Link, sender: End, receiver: End) -> Iterator[AnalysisHit]:
        """Yield the fault of a cable in one direction."""
        devices = self._index.devices
        known_end = receiver if receiver.node in devices else sender
        if known_end.node not in devices or not self._index.external_nodes.isdisjoint((sender.node, receiver.node)):
            return
        try:
            sent = self._sent_pause_priorities(sender)
            ignored = sent and sent - self._obeyed_pause_priorities(receiver, sender)
        except UnknownFact as unknown:
            unread_nodes = self.missing.setdefault((known_end.node, str(unknown)), set())
            unread_nodes |= {end.node for end in (sender, receiver) if str(unknown) == UNREAD_LINK_END_FACT} - {
                known_end.node
            }
            return
        if ignored:
            hears, says = (*receiver, "qos", "pfc_rx_priorities"), (*sender, "qos", "pfc_tx_priorities")
            at, far_place = (hears, says) if known_end == receiver else (says, hears)
            yield AnalysisHit(
                subject=subject_of(link.a, link.b),
                at=at,
                facts={
                    "sender": f"{sender.node} {sender.port}",
                    "receiver": f"{receiver.node} {receiver.port}",
                    "priorities": ", ".join(map(str, sorted(ignored))),
                },
                related=((far_place, "the other end"),) if far_place[0] in devices else (),
                discriminator=str(sender),
            )

    def _sent_pause_priorities(self, end: End) -> frozenset[int]:
        """Return the priorities that an end pauses; nothing from a port that is shut or has no QoS."""
        host = self._index.hosts.get(end.node)
        if host is not None and end.node not in self._index.devices:
            return frozenset(require_fact(host.pfc_priorities, "host.pfc_priorities"))
        qos = self._qos_of_end(end)
        if qos is None:
            return frozenset()
        return self._sent(qos)

    def _obeyed_pause_priorities(self, end: End, sender: End) -> frozenset[int]:
        """Return the priorities on which an end stops; all on a port that other rules report.

        Those are ports that are shut or have no QoS, and at a host those that do not pause it either.
        """
        host = self._index.hosts.get(end.node)
        if host is not None and end.node not in self._index.devices:
            return frozenset(require_fact(host.pfc_priorities, "host.pfc_priorities"))
        qos = self._qos_of_end(end)
        if qos is None or (sender.node not in self._index.devices and not self._sent_pause_priorities(end)):
            return frozenset(range(8))
        return frozenset(require_fact(qos.pfc_rx_priorities, "interface.qos.pfc_rx_priorities"))

    def _qos_of_end(self, end: End) -> QosProfile | None:
        port = self._index.port_at_end(end)
        if port is None and end.node not in self._index.devices:
            raise UnknownFact(UNREAD_LINK_END_FACT)
        if not isinstance(port, Interface) or is_known_off(port.enabled):
            return None
        return require_fact(port.qos, "interface.qos")
