"""Packets that are sent in the namespaces of a twin, and where each of them is seen.

They look like RoCEv2: UDP to port 4791, of DSCP 26 or another that is asked for, an RDMA write or a CNP, ECN-capable,
never to be fragmented; source ports vary. One process has sockets in all namespaces, so that none is started for a
packet.
"""

import ctypes
import errno
import selectors
import socket
import struct
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from nodrop.model.effects import DEFAULT_RDMA_DSCP
from nodrop.routing.prefixes import Address
from nodrop.routing.roce_opcodes import RC_RDMA_WRITE_ONLY_OPCODE
from nodrop.routing.roce_packets import ROCE_PORT
from nodrop.validating.twin.entering import thread_in_namespace
from nodrop.validating.twin.kernel import NamespaceKernel
from nodrop.validating.twin.plan import NamespaceKey, TwinPlan

ECT0_CODEPOINT: Final = 2
"""ECT(0) of RFC 3168."""
IP_UDP_BYTES_BY_FAMILY: Final = {"ipv4": 28, "ipv6": 48}
"""IP without options, and UDP."""
MAX_HOPS: Final = 32
_PACKET_BODY_MARK: Final = b"nodrop\x00\x01"
_BTH_FORMAT: Final = struct.Struct(">B11x")
"""RoCE's base transport header, of which only the opcode counts here."""
_PACKET_BODY_FORMAT: Final = struct.Struct(">8sI")
_MAX_PACKETS_IN_FLIGHT: Final = 128
_RETRY_WAITS_S: Final = (0.15, 0.5, 1.0)
"""How long each try to get a packet through waits after the last that was seen of any."""
_ETH_P_ALL, _PACKET_IGNORE_OUTGOING, _SOL_PACKET = 3, 23, 263
_SO_ATTACH_FILTER, _SO_RCVBUFFORCE = 26, 33
_IP_PKTINFO, _IP_MTU_DISCOVER, _IPV6_MTU_DISCOVER, _IPV6_DONTFRAG, _IPV6_TCLASS, _PROBE = 8, 10, 23, 62, 67, 3
_ANY_IPV4_ADDRESS: Final = "0.0.0.0"  # noqa: S104 -- in a namespace that nobody else can reach
_MAX_CAPTURED_BYTES: Final = 128
_HOP_LIMIT_OFFSET_BY_VERSION: Final = {4: 8, 6: 7}
"""Where a header has how many hops are left, by the version of IP (RFC 791, RFC 8200)."""
_ETHERTYPE_BY_FAMILY: Final = {"ipv4": 0x0800, "ipv6": 0x86DD}
_ROCE_BPF_PROGRAM: Final = (
    *((0x30, 0, 0, 0), (0x54, 0, 0, 0xF0), (0x15, 0, 7, 0x40)),  # the version of IP
    *((0x30, 0, 0, 9), (0x15, 0, 11, 17), (0x28, 0, 0, 6), (0x45, 9, 0, 0x1FFF)),  # UDP, the first fragment
    *((0xB1, 0, 0, 0), (0x48, 0, 0, 2), (0x15, 5, 6, ROCE_PORT)),  # its port, behind the options
    *((0x15, 0, 5, 0x60), (0x30, 0, 0, 6), (0x15, 0, 3, 17), (0x28, 0, 0, 42), (0x15, 0, 1, ROCE_PORT)),  # IPv6
    *((0x06, 0, 0, _MAX_CAPTURED_BYTES), (0x06, 0, 0, 0)),
)
"""A program for the kernel (BPF, as of linux/filter.h) that lets RoCEv2 pass, cut to what has to be looked at."""


PortLocation = tuple[NamespaceKey, str]
"""An interface: its namespace, and what the kernel calls it."""


FIRST_SOURCE_PORT: Final = 61440
"""Of the UDP ports that RoCEv2 sends from, the last 4096: bfdd binds one for each session, from 49152 (bfdd/bfd.h)."""


class ProbePacket(NamedTuple):
    """A packet to send from a namespace: to an address, or out of a device to any node at the other end of its cable.

    `source` None leaves its address to the kernel; `device` makes it leave there, as one of the next hops. A `frame`
    goes to that MAC address without a decision by the node's IP.
    """

    space: NamespaceKey
    target: Address
    source: Address | None = None
    device: str = ""
    port: int = FIRST_SOURCE_PORT
    size_bytes: int = 64
    frame: bytes = b""
    dscp: int = DEFAULT_RDMA_DSCP
    opcode: int = RC_RDMA_WRITE_ONLY_OPCODE

    @property
    def tos_byte(self) -> int:
        """The byte of IP's header that has DSCP and ECN."""
        return self.dscp << 2 | ECT0_CODEPOINT


@dataclass(slots=True)
class PacketFlight:
    """What became of a packet: the ports at which it came in, in order, and who has it in the end."""

    arrivals: list[PortLocation] = field(default_factory=list)
    taken_by: NamespaceKey | None = None
    """Where it was for the node itself."""
    refused: str = ""
    """Why the sender's kernel did not take it."""
    _hops_left: list[int] = field(default_factory=list)

    def add_arrival(self, at: PortLocation, hops_left: int) -> None:
        """Add a port at which it came in, in the order of its hops: sockets are not read in that order."""
        place = bisect_right(self._hops_left, -hops_left)
        self._hops_left.insert(place, -hops_left)
        self.arrivals.insert(place, at)

    @property
    def has_loop(self) -> bool:
        """Whether it came in by one port twice."""
        return len(set(self.arrivals)) < len(self.arrivals)


class NamespaceSockets:
    """The sockets of one namespace: one sees every packet that comes in, others receive those that are for the node."""

    def __init__(self, space: str) -> None:
        self._space = space
        with thread_in_namespace(space):
            self.kernel, self.tap, self.inboxes = (
                NamespaceKernel(),
                _open_packet_tap(),
                tuple(_open_receiving_sockets()),
            )
        self.devices = self.kernel.devices()

    def close(self) -> None:
        """Close all of it."""
        self.kernel.close()
        for inbox in (self.tap, *self.inboxes):
            inbox.close()

    def send_and_return_refused(self, rows: Sequence[tuple[int, ProbePacket]]) -> list[tuple[int, str]]:
        """Send packets under their numbers; return those that the kernel refuses, and why."""
        senders: dict[tuple[object, ...], socket.socket] = {}
        refused = []
        with thread_in_namespace(self._space):
            for number, packet in rows:
                try:
                    self._send_packet(number, packet, senders)
                except OSError as error:
                    if error.errno != errno.ENOBUFS:  # so a device says that its frame got lost, too
                        refused.append((number, error.strerror or str(error)))
        for sender in senders.values():
            sender.close()
        return refused

    def _send_packet(self, number: int, packet: ProbePacket, senders: dict[tuple[object, ...], socket.socket]) -> None:
        family = packet.target.family
        body = _BTH_FORMAT.pack(packet.opcode) + _PACKET_BODY_FORMAT.pack(_PACKET_BODY_MARK, number)
        if packet.frame:
            key: tuple[object, ...] = ("frame",)
            if key not in senders:
                senders[key] = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
            datagram = _build_ip_udp_packet(packet, body)
            senders[key].sendto(datagram, (packet.device, _ETHERTYPE_BY_FAMILY[family], 0, 0, packet.frame))
            return
        key = (family, packet.port, packet.device, packet.dscp)
        if key not in senders:
            senders[key] = _open_sending_socket(packet)
        index = self.devices[packet.device].number if packet.device else 0
        body = body.ljust(packet.size_bytes - IP_UDP_BYTES_BY_FAMILY[family], b"\0")
        if family == "ipv4":
            source = _encode_address(packet.source) if packet.source else bytes(4)
            control_message = (socket.IPPROTO_IP, _IP_PKTINFO, struct.pack("=i4s4s", index, source, bytes(4)))
            senders[key].sendmsg([body], [control_message], 0, (str(packet.target), ROCE_PORT))
        else:
            source = _encode_address(packet.source) if packet.source else bytes(16)
            control_message = (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, struct.pack("=16si", source, index))
            scope = index if packet.target.is_link_local else 0
            senders[key].sendmsg([body], [control_message], 0, (str(packet.target), ROCE_PORT, 0, scope))


def _open_packet_tap() -> socket.socket:
    """Return a socket that sees what comes in by any interface, as far as the filter lets it pass."""
    new_socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ALL))
    program = b"".join(struct.pack("=HBBI", *step) for step in _ROCE_BPF_PROGRAM)
    kept_array = ctypes.create_string_buffer(program, len(program))
    new_socket.setsockopt(
        socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HP", len(_ROCE_BPF_PROGRAM), ctypes.addressof(kept_array))
    )
    new_socket.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
    return _make_nonblocking_with_large_buffer(new_socket)


def _open_receiving_sockets() -> Iterator[socket.socket]:
    """Yield sockets that receive packets for the node itself, one of each family."""
    for family, everywhere in ((socket.AF_INET, _ANY_IPV4_ADDRESS), (socket.AF_INET6, "::")):
        new_socket = socket.socket(family, socket.SOCK_DGRAM)
        if family == socket.AF_INET6:
            new_socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        new_socket.bind((everywhere, ROCE_PORT))
        yield _make_nonblocking_with_large_buffer(new_socket)


def _make_nonblocking_with_large_buffer(listener: socket.socket) -> socket.socket:
    _widen_buffer(listener)
    listener.setblocking(False)
    return listener


def _open_sending_socket(packet: ProbePacket) -> socket.socket:
    """Return a socket that sends from a port, with the marks of RoCEv2."""
    sender = socket.socket(socket.AF_INET if packet.target.family == "ipv4" else socket.AF_INET6, socket.SOCK_DGRAM)
    try:
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if packet.device:  # IPv6 takes a device for more than a wish of a socket that is bound to it
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, packet.device.encode())
        if packet.target.family == "ipv4":
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, packet.tos_byte)
            sender.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _PROBE)
            sender.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, MAX_HOPS)
            sender.bind((_ANY_IPV4_ADDRESS, packet.port))
        else:
            sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sender.setsockopt(socket.IPPROTO_IPV6, _IPV6_TCLASS, packet.tos_byte)
            sender.setsockopt(socket.IPPROTO_IPV6, _IPV6_MTU_DISCOVER, _PROBE)
            sender.setsockopt(socket.IPPROTO_IPV6, _IPV6_DONTFRAG, 1)
            sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, MAX_HOPS)
            sender.bind(("::", packet.port))
        _widen_buffer(sender)
    except OSError:
        sender.close()
        raise
    return sender


def _build_ip_udp_packet(packet: ProbePacket, body: bytes) -> bytes:
    """Return a packet with its headers, of the size that is asked for."""
    family = packet.target.family
    body = body.ljust(packet.size_bytes - IP_UDP_BYTES_BY_FAMILY[family], b"\0")
    datagram = struct.pack(">HHHH", packet.port, ROCE_PORT, 8 + len(body), 0) + body
    source = _encode_address(packet.source or packet.target)
    if family == "ipv6":
        head = struct.pack(">IHBB", 6 << 28 | packet.tos_byte << 20, len(datagram), 17, 1)
        return head + source + _encode_address(packet.target) + datagram
    head = struct.pack(">BBHHHBBH", 0x45, packet.tos_byte, packet.size_bytes, 0, 0x4000, 1, 17, 0)
    return head + source + _encode_address(packet.target) + datagram


def _encode_address(address: Address) -> bytes:
    return address.number.to_bytes(4 if address.family == "ipv4" else 16, "big")


def _widen_buffer(listener: socket.socket) -> None:
    """Let a socket hold many packets: more than the system's limit where the kernel lets root of a namespace."""
    for buffer_option in (_SO_RCVBUFFORCE, socket.SO_RCVBUF):
        try:
            listener.setsockopt(socket.SOL_SOCKET, buffer_option, 8 << 20)
        except PermissionError:
            continue
        return


class TwinSockets:
    """The sockets of all namespaces of a twin, and packets between them."""

    def __init__(self, plan: TwinPlan) -> None:
        self.posts = {space: NamespaceSockets(name) for space, name in plan.spaces.items()}
        self.watched: frozenset[PortLocation] = frozenset((nic.space, nic.name) for nic in plan.nics)
        """The interfaces at which it counts that a packet comes in."""
        self._selector = selectors.DefaultSelector()
        self._number = 0
        for space, post in self.posts.items():
            self._selector.register(post.tap, selectors.EVENT_READ, (space, True))
            for inbox in post.inboxes:
                self._selector.register(inbox, selectors.EVENT_READ, (space, False))

    def close(self) -> None:
        """Close all of them."""
        self._selector.close()
        for post in self.posts.values():
            post.close()

    def send_and_trace(
        self, packets: Sequence[ProbePacket], *, expected_ports: Mapping[int, PortLocation] | None = None
    ) -> list[PacketFlight]:
        """Send packets and follow them; one that does not get through is sent again, twice at most.

        A packet is through when a node takes it, or, of those that are in `to` by their place, when it comes in there.
        """
        flights, expected_ports = [PacketFlight() for _ in packets], expected_ports or {}
        pending_numbers = list(range(len(packets)))
        for patience_s in _RETRY_WAITS_S:
            for start in range(0, len(pending_numbers), _MAX_PACKETS_IN_FLIGHT):
                self._send_and_collect(
                    packets,
                    pending_numbers[start : start + _MAX_PACKETS_IN_FLIGHT],
                    flights,
                    expected_ports,
                    patience_s,
                )
            pending_numbers = [
                number
                for number in pending_numbers
                if not _has_arrived_or_been_received(flights[number], expected_ports.get(number))
            ]
            if not pending_numbers:
                break
        return flights

    def _send_and_collect(
        self,
        packets: Sequence[ProbePacket],
        which: Sequence[int],
        flights: list[PacketFlight],
        to: Mapping[int, PortLocation],
        patience_s: float,
    ) -> None:
        """Send some packets, and look until all are through, or none has come in anywhere for so long."""
        numbers = {self._number + place: number for place, number in enumerate(which)}
        self._number += len(which)
        by_space: dict[NamespaceKey, list[tuple[int, ProbePacket]]] = {}
        for mark, number in numbers.items():
            flights[number] = PacketFlight()
            by_space.setdefault(packets[number].space, []).append((mark, packets[number]))
        waiting = set(which)
        for space, rows in by_space.items():
            for mark, why in self.posts[space].send_and_return_refused(rows):
                flights[numbers[mark]].refused = why
                waiting.discard(numbers[mark])
        end = time.monotonic() + patience_s
        while True:
            events = self._selector.select(max(0.0, end - time.monotonic()) if waiting else 0.0)
            if not events:
                return
            for key, _ in events:
                space, seen_only = key.data
                for mark, device, hops_left in _receive_packet_numbers(key.fileobj, seen_only=seen_only):  # type: ignore[arg-type]
                    if mark not in numbers:
                        continue
                    number = numbers[mark]
                    end = time.monotonic() + patience_s
                    if not seen_only:
                        flights[number].taken_by = space
                    elif (space, device) in self.watched:
                        flights[number].add_arrival((space, device), hops_left)
                    if flights[number].has_loop or _has_arrived_or_been_received(flights[number], to.get(number)):
                        waiting.discard(number)


def _has_arrived_or_been_received(flight: PacketFlight, to: PortLocation | None) -> bool:
    return to in flight.arrivals if to is not None else flight.taken_by is not None


def _receive_packet_numbers(listener: socket.socket, *, seen_only: bool) -> Iterator[tuple[int, str, int]]:
    """Yield a socket's packets: the number in each, and, with `seen_only`, the device that it came by, and its TTL.

    Without `seen_only` the device is "" and the TTL is 0.
    """
    while True:
        try:
            data, where = listener.recvfrom(_MAX_CAPTURED_BYTES)
        except BlockingIOError:
            return
        except OSError:  # a packet of this port was refused by its receiver, or a device went down
            continue
        if seen_only and where[2] != socket.PACKET_HOST:
            continue
        place = data.find(_PACKET_BODY_MARK)
        if place >= 0 and len(data) >= place + _PACKET_BODY_FORMAT.size:
            mark = _PACKET_BODY_FORMAT.unpack_from(data, place)[1]
            yield (mark, where[0], data[_HOP_LIMIT_OFFSET_BY_VERSION[data[0] >> 4]]) if seen_only else (mark, "", 0)
