"""Access lists that keep a BGP session from opening.

A session opens if one end's connection gets through: its packets to TCP port 179 leave it and enter the other end, and
so do the answers from that port. Between addresses of IPv6 on one link, neighbor discovery has to find each end first;
the model has no types of ICMPv6, which means that only a list that drops all of it counts. Dropped BFD takes no session
down: bgpd ends a session only after BFD was up (FRR, bgpd/bgp_bfd.c, bfd_session_status_update). A switch with unknown
lists counts as one without.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from nodrop.model.access import (
    ENTERING_STAGES,
    FORWARDING_STAGES,
    SWITCH_ITSELF_STAGES,
    AccessEntry,
    AccessList,
    Binding,
)
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject
from nodrop.routing.filtering import AddressRange, PacketSet, decide_packets
from nodrop.routing.legs import RoutedInterface
from nodrop.routing.routers import SessionDownReason
from nodrop.routing.session_packets import bgp_packets, nd_packets


class BlockingAccessList(NamedTuple):
    """An access list that drops packets of a session; not `sure` where it may also let them pass."""

    device: str
    rules: AccessList
    entry: AccessEntry | None
    sure: bool
    what: str = "BGP"
    """The packets that it drops."""

    @property
    def subject(self) -> Subject:
        """The list's subject."""
        return (self.device, "@access_lists", self.rules.name)

    @property
    def reason(self) -> SessionDownReason:
        """Why the session is not up."""
        return "filtered" if self.sure else "may-be-filtered"


class SessionPacketEnd(NamedTuple):
    """One end of a session: where its packets leave and enter, its address, and whether it opens connections.

    `legs` are the interfaces where packets may come in, by any of them.
    """

    device: Device
    legs: tuple[RoutedInterface, ...]
    address: AddressRange
    opens: bool


def find_blocking_list(
    index: Index, first_end: SessionPacketEnd, second_end: SessionPacketEnd, *, across: bool = False
) -> BlockingAccessList | None:
    """Return the access list that keeps a session from opening; one that is not sure where another end may open it.

    A session `across` other switches passes their lists too, by ways that are not known here.
    """
    if not any(
        has_bound_lists(device)
        for device in (index.fabric.devices if across else (first_end.device, second_end.device))
    ):
        return None
    if not across and first_end.address.prefix.family == "ipv6":
        for sender, receiver in ((first_end, second_end), (second_end, first_end)):
            for stop in _blocking_lists_at_ends(index, sender, receiver, nd_packets(sender.address, receiver.address)):
                if stop.sure:
                    return stop._replace(what="neighbor discovery")
    tried = [
        _find_list_blocking_opener(index, *halves, across=across)
        for halves in ((first_end, second_end), (second_end, first_end))
        if halves[0].opens
    ]
    if not tried or None in tried:
        return None
    stops = [session_stop for session_stop in tried if session_stop is not None]
    return next((session_stop for session_stop in stops if not session_stop.sure), stops[0])


def _find_list_blocking_opener(
    index: Index, opener: SessionPacketEnd, other_half: SessionPacketEnd, *, across: bool
) -> BlockingAccessList | None:
    """Return the list that stops a connection which one end opens."""
    unsure: BlockingAccessList | None = None
    for sender, receiver, reply in ((opener, other_half, False), (other_half, opener, True)):
        packets = bgp_packets(sender.address, receiver.address, reply=reply)
        for stop in _blocking_lists_at_ends(index, sender, receiver, packets):
            if stop.sure:
                return stop
            unsure = unsure or stop
        if across and unsure is None:
            unsure = next(_possible_blocking_lists_between(index, (sender.device, receiver.device), packets), None)
    return unsure


def _blocking_lists_at_ends(
    index: Index, sender: SessionPacketEnd, receiver: SessionPacketEnd, packets: PacketSet
) -> Iterator[BlockingAccessList]:
    """Yield the lists that drop packets where they leave one end and enter the other."""
    leaves = _find_blocking_list_at_end(index, sender, receiver, packets, enters=False)
    enters = _find_blocking_list_at_end(index, receiver, sender, packets, enters=True)
    yield from (stop for stop in (leaves, enters) if stop is not None)


def _find_blocking_list_at_end(
    index: Index, end: SessionPacketEnd, far: SessionPacketEnd, packets: PacketSet, *, enters: bool
) -> BlockingAccessList | None:
    """Return the list that drops packets at one end: a sure one if it does at every port that they may pass."""
    if not has_bound_lists(end.device):
        return None
    found_stops = [
        _find_blocking_list_at_port(end.device, leg, port, packets, enters=enters)
        for leg in end.legs
        for port in _ports_to_far_end(index, end.device, leg, far.device)
    ]
    stops = [stop for stop in found_stops if stop is not None]
    if not stops:
        return None
    sure = len(stops) == len(found_stops) and all(stop.sure for stop in stops)
    first_stop: BlockingAccessList = next((stop for stop in stops if not stop.sure), stops[0])
    return BlockingAccessList(first_stop.device, first_stop.rules, first_stop.entry, sure)


def _find_blocking_list_at_port(
    device: Device, leg: RoutedInterface, port: str, packets: PacketSet, *, enters: bool
) -> BlockingAccessList | None:
    stops = []
    for rules in known_rows(device.access_lists):
        for binding in rules.bindings:
            if _acts_on_own_bgp(binding, enters=enters) and binding.interface in (None, port, leg.name):
                stop = _blocking_effect_of_list(device, rules, binding.interface or port, packets)
                if stop is not None and binding.stage == "egress" and rules.own_packets is not True:
                    stop = stop._replace(sure=False) if isinstance(rules.own_packets, Unknown) else None
                stops += [stop] if stop is not None else []
    return next((port_stop for port_stop in stops if port_stop.sure), next(iter(stops), None))


def _acts_on_own_bgp(binding: Binding, *, enters: bool) -> bool:
    """Whether a list acts on BGP of the switch itself; control plane lists of services let it pass."""
    return (
        binding.stage in SWITCH_ITSELF_STAGES
        and binding.stage != "services"
        and (binding.stage in ENTERING_STAGES) == enters
    )


def _blocking_effect_of_list(
    device: Device, rules: AccessList, at: str, packets: PacketSet
) -> BlockingAccessList | None:
    """Return the effect of a list on packets if it drops any of them, or sends them elsewhere."""
    decisions = list(decide_packets(rules, at, packets))
    lost = [decision for decision in decisions if decision.action != "permit" or decision.marks.redirects is not None]
    if not lost:
        return None
    is_sure = len(lost) == len(decisions) and all(decision.sure and decision.action == "deny" for decision in lost)
    return BlockingAccessList(device.name, rules, lost[0].entry, is_sure)


def _ports_to_far_end(
    index: Index, device: Device, routed_interface: RoutedInterface, far_device: Device
) -> Sequence[str]:
    """Return the ports of a leg at whose cables the other end is; all of them where that is none."""
    towards = [
        port
        for port in routed_interface.ports
        if (end := index.far_end(device.name, port)) is not None and end.node == far_device.name
    ]
    return towards or routed_interface.ports


def _possible_blocking_lists_between(
    index: Index, ends: Iterable[Device], packets: PacketSet
) -> Iterator[BlockingAccessList]:
    """Yield lists of other switches that may drop packets if these pass there."""
    own_names = {device.name for device in ends}
    for device in index.fabric.devices:
        for rules in known_rows(device.access_lists) if device.name not in own_names else ():
            for binding in rules.bindings:
                stop = (
                    _blocking_effect_of_list(device, rules, binding.interface or "", packets)
                    if binding.stage in FORWARDING_STAGES
                    else None
                )
                if stop is not None:
                    yield stop._replace(sure=False)


def has_bound_lists(device: Device) -> bool:
    """Return whether any access list of a device is bound to anything, as far as its lists are known."""
    return any(access_list.bindings for access_list in known_rows(device.access_lists))
