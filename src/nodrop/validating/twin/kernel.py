"""State of the kernel in one network namespace, read by netlink (RFC 3549): ports, addresses, routes.

A socket stays in the namespace that it was opened in, so one process can ask, send and listen in all of them.
"""

import os
import socket
import struct
import sys
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from nodrop.model.addresses import ADDRESS_BITS, AddressFamily
from nodrop.routing.prefixes import Address, Prefix, network_address

_GETLINK, _GETADDR, _GETROUTE = 18, 22, 26
_REQUEST, _DUMP = 0x1, 0x300
_ERROR, _DONE = 2, 3
_FAMILY_BY_SOCKET_FAMILY: Final[Mapping[int, AddressFamily]] = {socket.AF_INET: "ipv4", socket.AF_INET6: "ipv6"}
_MAIN, _LOCAL = 254, 255
_UNICAST, _HERE, _DROPPED = 1, 2, (6, 7, 8)
_CLONED_ROUTE_FLAG: Final = 0x200
"""A route that the kernel has learned from one packet (RTM_F_CLONED)."""
_IFF_UP, _IFF_LOWER_UP = 0x1, 0x10000
_DEAD_HOP_FLAG: Final = 0x1
_ATTRIBUTE_TYPE_MASK: Final = 0x3FFF
BGP_ROUTE_PROTOCOL: Final = 186
"""The protocol number that zebra gives its routes of BGP (`RTPROT_BGP` of linux/rtnetlink.h)."""
_SOURCE_BY_ROUTE_PROTOCOL: Final = {2: "connected", BGP_ROUTE_PROTOCOL: "bgp", 196: "static"}


class NetworkDevice(NamedTuple):
    """A network device of a namespace. `number` is its index; `master` that of its bridge, 0 where it has none."""

    number: int
    name: str
    mac: bytes
    mtu_bytes: int
    enabled: bool
    carrier: bool
    master: int = 0


class KernelRoute(NamedTuple):
    """A route of the kernel: the names of the devices that it leaves by, none of one that drops."""

    prefix: Prefix
    source: str
    hops: tuple[str, ...]
    here: bool = False
    """Whether its packets have arrived."""


class NamespaceKernel:
    """The kernel as one network namespace sees it; made within it, asked from anywhere."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.NETLINK_ROUTE)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self._socket.bind((0, 0))
        self._number = 0

    def close(self) -> None:
        """Let go of it."""
        self._socket.close()

    def devices(self) -> dict[str, NetworkDevice]:
        """Its network devices by name."""
        device: dict[str, NetworkDevice] = {}
        for body in self._ask_kernel(_GETLINK, struct.pack("=BxHiII", 0, 0, 0, 0, 0)):
            index, flags = struct.unpack_from("=iI", body, 4)
            attributes = dict(_read_attributes(body, 16))
            name = attributes[3].rstrip(b"\0").decode()
            device[name] = NetworkDevice(
                index,
                name,
                attributes.get(1, b""),
                _native_integer(attributes.get(4)),
                bool(flags & _IFF_UP),
                bool(flags & _IFF_UP and flags & _IFF_LOWER_UP),
                _native_integer(attributes.get(10)),
            )
        return device

    def addresses(self) -> Iterator[tuple[int, Address, int]]:
        """Yield the addresses of this namespace: the index of its device, and the length of its subnet's prefix."""
        for body in self._ask_kernel(_GETADDR, struct.pack("=BBBBi", 0, 0, 0, 0, 0)):
            family, length, _, _, index = struct.unpack_from("=BBBBi", body)
            attributes = dict(_read_attributes(body, 8))
            raw = attributes.get(2) or attributes.get(1)
            if family in _FAMILY_BY_SOCKET_FAMILY and raw:
                yield index, Address(_FAMILY_BY_SOCKET_FAMILY[family], int.from_bytes(raw, "big")), length

    def routes(self) -> "KernelRoutes":
        """Return its routes; if there are several to one prefix, the one that counts.

        Next hops are those that it sends to: also by a device that has no carrier, until it gets other routes.
        """
        devices = {device.number: device for device in self.devices().values()}
        best_by_prefix: dict[Prefix, tuple[tuple[int, int], KernelRoute]] = {}
        for number, family in _FAMILY_BY_SOCKET_FAMILY.items():
            for body in self._ask_kernel(_GETROUTE, struct.pack("=BBBBBBBBI", number, *([0] * 8))):
                read = _parse_route(body, family, devices)
                if read is not None:
                    order, row = read
                    if row.prefix not in best_by_prefix or order < best_by_prefix[row.prefix][0]:
                        best_by_prefix[row.prefix] = order, row
        return KernelRoutes({prefix: row for prefix, (_, row) in best_by_prefix.items()})

    def _ask_kernel(self, kind: int, body: bytes) -> Iterator[bytes]:
        """Yield the bodies of all answers to a question; OSError is the kernel's error answer."""
        self._number += 1
        head = struct.pack("=IHHII", 16 + len(body), kind, _DUMP | _REQUEST, self._number, 0)
        self._socket.send(head + body)
        while True:
            data = self._socket.recv(1 << 18)
            place = 0
            while place < len(data):
                length, message_type, _, number, _ = struct.unpack_from("=IHHII", data, place)
                if number == self._number:
                    if message_type == _DONE:
                        return
                    if message_type == _ERROR:
                        (code,) = struct.unpack_from("=i", data, place + 16)
                        if code:
                            raise OSError(-code, os.strerror(-code))
                        return
                    yield data[place + 16 : place + length]
                place += (length + 3) & ~3


def _read_attributes(data: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    while place + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, place)
        if length < 4:
            return
        yield kind & _ATTRIBUTE_TYPE_MASK, data[place + 4 : place + length]
        place += (length + 3) & ~3


def _native_integer(file_content: bytes | None) -> int:
    return int.from_bytes(file_content[:4], sys.byteorder) if file_content else 0


def _parse_route(
    body: bytes, family: AddressFamily, devices: Mapping[int, NetworkDevice]
) -> tuple[tuple[int, int], KernelRoute] | None:
    """Parse a route of a dump and its rank of lookup; None where it leads no packet to another node."""
    _, length, _, _, table, protocol, _, kind, flags = struct.unpack_from("=BBBBBBBBI", body)
    if flags & _CLONED_ROUTE_FLAG or table not in (_MAIN, _LOCAL):
        return None
    attributes = dict(_read_attributes(body, 12))
    order = (table != _LOCAL, _native_integer(attributes.get(6)))
    source = _SOURCE_BY_ROUTE_PROTOCOL.get(protocol, str(protocol))
    prefix = Prefix(family, int.from_bytes(attributes.get(1, b""), "big"), length)
    if kind == _HERE:
        return order, KernelRoute(prefix, source, (), here=True)
    if kind in _DROPPED:
        return order, KernelRoute(prefix, source, ())
    if kind != _UNICAST:
        return None
    hops = list(_next_hop_devices(attributes[9])) if 9 in attributes else [(_native_integer(attributes.get(4)), flags)]
    alive = [devices[index].name for index, state in hops if index in devices and not state & _DEAD_HOP_FLAG]
    return (order, KernelRoute(prefix, source, tuple(alive))) if alive else None


def _next_hop_devices(raw: bytes) -> Iterator[tuple[int, int]]:
    """Yield the device of each next hop of RTA_MULTIPATH, and its flags."""
    place = 0
    while place + 8 <= len(raw):
        length, flags, _, index = struct.unpack_from("=HBBi", raw, place)
        yield index, flags
        place += (max(length, 8) + 3) & ~3


class KernelRoutes:
    """The routes of a namespace, to be looked up as the kernel does: the longest prefix counts."""

    def __init__(self, rows: Mapping[Prefix, KernelRoute]) -> None:
        self.rows = rows
        lengths = {family: {row.length for row in rows if row.family == family} for family in ADDRESS_BITS}
        self._lengths = {family: sorted(family_lengths, reverse=True) for family, family_lengths in lengths.items()}

    def route_towards(self, to: Address) -> KernelRoute | None:
        """Return the route that a packet to an address takes; None where there is none."""
        for length in self._lengths[to.family]:
            row = self.rows.get(Prefix(to.family, network_address(to.family, to.number, length), length))
            if row is not None:
                return row
        return None
