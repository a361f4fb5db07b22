"""Turns of packets in a twin: by which port a packet enters a switch, and by which it enters the next one."""

from collections.abc import Sequence
from contextlib import closing
from ipaddress import ip_network
from itertools import islice
from typing import NamedTuple

from nodrop.model.fabric import End, Fabric
from nodrop.model.reading import Reading
from nodrop.routing.prefixes import parse_address
from nodrop.validating.twin import box
from nodrop.validating.twin.daemons import BootConfiguration
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.packets import PacketFlight, PortLocation, ProbePacket, TwinSockets
from nodrop.validating.twin.plan import NamespaceKey
from nodrop.validating.twin.starting import prepare_start_configurations
from support.twin_runs import until_equal

FLOWS = 32
"""To how many addresses of a prefix packets are sent for each turn: equal paths are chosen by addresses."""


class TwinTurn(NamedTuple):
    """Packets from a switch to a prefix, and the ports by which they enter two switches, one after the other."""

    source: str
    prefix: str
    dscp: int
    first: End
    second: End


def turns_taken(fabric: Fabric, failed: frozenset[End], turns: Sequence[TwinTurn]) -> list[bool]:
    """Whether a packet takes each turn, once all do or at the end of all patience."""
    boots = prepare_start_configurations(Reading(fabric=fabric)).boots
    return box.call_in_sandbox(_take_turns, fabric, dict(boots), failed, tuple(turns))


def _take_turns(
    _tell: box.ReportProgress,
    fabric: Fabric,
    boots: dict[str, BootConfiguration],
    failed: frozenset[End],
    turns: tuple[TwinTurn, ...],
) -> list[bool]:
    lab = TwinLab(fabric, boots, failed)
    lab.start()
    with closing(TwinSockets(lab.plan)) as sockets:
        return until_equal([True] * len(turns), lambda: [_is_taken(lab, sockets, turn) for turn in turns])


def _is_taken(lab: TwinLab, sockets: TwinSockets, turn: TwinTurn) -> bool:
    first, second = _location(lab, turn.first), _location(lab, turn.second)
    targets = [parse_address(str(one)) for one in islice(ip_network(turn.prefix).hosts(), FLOWS)]
    packets = [ProbePacket(NamespaceKey(turn.source), one, dscp=turn.dscp) for one in targets if one is not None]
    flights = sockets.send_and_trace(packets, expected_ports=dict.fromkeys(range(FLOWS), second))
    return any(_passes(flight, first, second) for flight in flights)


def _location(lab: TwinLab, end: End) -> PortLocation:
    (nic,) = lab.plan.nics_by_port[end]
    return nic.space, nic.name


def _passes(flight: PacketFlight, first: PortLocation, second: PortLocation) -> bool:
    return (first, second) in zip(flight.arrivals, flight.arrivals[1:], strict=False)
