"""The packets of RoCEv2 between some addresses, as access lists see them: data, CNPs, or both of one DSCP."""

from collections.abc import Iterable
from typing import Final, Literal

from nodrop.model.access import PortRange
from nodrop.model.addresses import ADDRESS_BITS, AddressFamily
from nodrop.model.effects import cnp_dscps, roce_dscps
from nodrop.model.fabric import Fabric
from nodrop.model.states import Unknown
from nodrop.routing.filtering import EVERY_ECN, AddressRange, PacketSet
from nodrop.routing.prefixes import Address, Prefix
from nodrop.routing.roce_opcodes import CNP_OPCODE, DATA_OPCODES, OPTIONAL_DATA_OPCODES

ROCE_PORT: Final = 4791
"""UDP port of RoCEv2 (IBTA, annex A17)."""
_UDP_PROTOCOL: Final = 17
_ECN_CAPABLE, _CONGESTION_EXPERIENCED = 2, 3
"""RFC 3168: ECT(0), which hosts send unless a ToS is stated (ToS 106), and what switches make of it."""
RocePacketKind = Literal["data", "cnp"]


def roce_packets_of_dscp(fabric: Fabric, source: Address | None, to: Address, dscp: int) -> PacketSet:
    """Return the packets of RoCE with a DSCP, from any address where that is not known."""
    own_prefix = (
        Prefix(to.family, 0, 0) if source is None else Prefix(source.family, source.number, ADDRESS_BITS[source.family])
    )
    prefix = Prefix(to.family, to.number, ADDRESS_BITS[to.family])
    return roce_packets_of_kinds(
        fabric,
        to.family,
        (AddressRange(own_prefix),),
        (AddressRange(prefix),),
        (dscp,),
        roce_packet_kinds_of_dscp(fabric, dscp),
    )


def roce_packet_kinds_of_dscp(fabric: Fabric, dscp: int) -> tuple[RocePacketKind, ...]:
    """Return whether packets with a DSCP are CNPs or data; data, unless the classes state CNPs."""
    if dscp not in cnp_dscps(fabric):
        return ("data",)
    return ("data", "cnp") if dscp in roce_dscps(fabric) else ("cnp",)


def roce_packets_of_kinds(
    fabric: Fabric,
    family: AddressFamily,
    sources: tuple[AddressRange, ...],
    destinations: tuple[AddressRange, ...],
    dscps: Iterable[int],
    kinds: Iterable[RocePacketKind],
) -> PacketSet:
    """Return the packets of some kinds between addresses.

    IBTA does not state the ECN bits of CNPs: they may have any.
    """
    ecns, doubtful_ecns = (EVERY_ECN, EVERY_ECN) if "cnp" in kinds else _possible_and_unknown_data_ecns(fabric)
    opcodes = {"data": DATA_OPCODES, "cnp": frozenset({CNP_OPCODE})}
    return PacketSet(
        family,
        _UDP_PROTOCOL,
        sources,
        destinations,
        destination_ports=(PortRange(ROCE_PORT, ROCE_PORT),),
        dscps=frozenset(dscps),
        ecns=ecns,
        doubtful_ecns=doubtful_ecns,
        opcodes=frozenset().union(*(opcodes[kind] for kind in kinds)),
        doubtful_opcodes=OPTIONAL_DATA_OPCODES if "data" in kinds else frozenset(),
    )


def _possible_and_unknown_data_ecns(fabric: Fabric) -> tuple[frozenset[int], frozenset[int]]:
    """Return the possible ECN bits of data, and the unknown ones."""
    stated = {host.tos & 3 for host in fabric.hosts if not isinstance(host.tos, Unknown)}
    sure = stated or {_ECN_CAPABLE}
    sure |= {_CONGESTION_EXPERIENCED} if any(sure) else set()
    if stated and not any(isinstance(host.tos, Unknown) for host in fabric.hosts):
        return frozenset(sure), frozenset()
    return EVERY_ECN, EVERY_ECN - sure
