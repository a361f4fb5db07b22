"""The order of the ports at which a packet came in, which is that of its hops."""

from nodrop.routing.prefixes import Address
from nodrop.validating.twin.packets import PacketFlight, ProbePacket
from nodrop.validating.twin.plan import NamespaceKey

HERE, NEXT, LAST = ((NamespaceKey(node), "p1") for node in ("a", "b", "c"))


def test_ports_go_by_the_hops_that_are_left() -> None:
    flight = PacketFlight()
    for at, hops_left in ((LAST, 30), (HERE, 32), (NEXT, 31)):
        flight.add_arrival(at, hops_left)
    assert flight.arrivals == [HERE, NEXT, LAST]
    assert not flight.has_loop


def test_ports_of_one_hop_go_by_when_they_were_seen() -> None:
    flight = PacketFlight()
    flight.add_arrival(NEXT, 32)
    flight.add_arrival(HERE, 32)
    assert flight.arrivals == [NEXT, HERE]


def test_a_packet_that_comes_again_loops() -> None:
    flight = PacketFlight()
    flight.add_arrival(HERE, 32)
    flight.add_arrival(HERE, 30)
    assert flight.has_loop


def test_a_packet_has_its_dscp_and_is_ecn_capable() -> None:
    to = Address("ipv4", 1)
    assert ProbePacket(NamespaceKey("a"), to).tos_byte == 26 << 2 | 2
    assert ProbePacket(NamespaceKey("a"), to, dscp=48).tos_byte == 48 << 2 | 2
