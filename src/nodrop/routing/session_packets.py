"""The packets of a BGP session and of its BFD: addresses, protocol and ports.

They are not ECN-capable: Linux asks for ECN on no connection that it opens (ip-sysctl, tcp_ecn=2).
"""

from typing import Final

from nodrop.model.access import PortRange
from nodrop.model.addresses import ADDRESS_BITS
from nodrop.routing.filtering import AddressRange, PacketSet
from nodrop.routing.prefixes import Address, Prefix

BGP_PORT, BFD_PORT, BFD_MULTIHOP_PORT = 179, 3784, 4784
"""RFC 4271; RFC 5881 and RFC 5883."""
_UDP, _TCP, _ICMPV6 = 17, 6, 58
_BGP_PORTS: Final = (PortRange(BGP_PORT, BGP_PORT),)
_EPHEMERAL_PORTS: Final = (PortRange(1024, 65_535),)
_BFD_SOURCE_PORTS: Final = (PortRange(49_152, 65_535),)
"""RFC 5881, section 4."""
_NON_ECT_CODEPOINTS: Final = frozenset({0})
IPV6_LINK_LOCAL_RANGE: Final = AddressRange(Prefix("ipv6", 0xFE80 << 112, 10))
"""The address of an end that a session over an interface finds by router advertisements."""
_LINK_MULTICAST_RANGE: Final = AddressRange(Prefix("ipv6", 0xFF02 << 112, 16))
"""Groups of one link, to which neighbors are asked for and routers announce themselves (RFC 4861)."""


def single_address_range(own_address: Address) -> AddressRange:
    """Return one address as what packets come from or go to."""
    return AddressRange(Prefix(own_address.family, own_address.number, ADDRESS_BITS[own_address.family]))


def bgp_packets(source: AddressRange, destination: AddressRange, *, reply: bool) -> PacketSet:
    """Return the packets of the end that opens a session of BGP, or of the other end (`reply`), from port 179."""
    ports = (_BGP_PORTS, _EPHEMERAL_PORTS) if reply else (_EPHEMERAL_PORTS, _BGP_PORTS)
    return PacketSet(source.prefix.family, _TCP, (source,), (destination,), *ports, ecns=_NON_ECT_CODEPOINTS)


def bfd_packets(source: AddressRange, destination: AddressRange, hops: int) -> PacketSet:
    """Return the packets of BFD for a session over at most so many hops."""
    number = BFD_MULTIHOP_PORT if hops > 1 else BFD_PORT
    ports = (_BFD_SOURCE_PORTS, (PortRange(number, number),))
    return PacketSet(source.prefix.family, _UDP, (source,), (destination,), *ports, ecns=_NON_ECT_CODEPOINTS)


def nd_packets(source: AddressRange, destination: AddressRange) -> PacketSet:
    """Return the neighbor discovery packets that one end of a link needs to be found by the other (RFC 4861)."""
    return PacketSet(
        "ipv6",
        _ICMPV6,
        (source, IPV6_LINK_LOCAL_RANGE),
        (destination, IPV6_LINK_LOCAL_RANGE, _LINK_MULTICAST_RANGE),
        ecns=_NON_ECT_CODEPOINTS,
    )
