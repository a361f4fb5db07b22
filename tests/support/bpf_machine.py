"""Programs of classic BPF run on packets: by the rules of linux/filter.h, and by this machine's kernel."""

import ctypes
import socket
import struct
from collections.abc import Sequence

from nodrop.validating.twin.bpf import BpfInstruction

_SO_ATTACH_FILTER = 26
_SIZES = {0x00: 4, 0x08: 2, 0x10: 1}


def interpreted(rows: Sequence[BpfInstruction], packet: bytes) -> int:
    """Return what a program ends with on a packet: 0 where it loads what is beyond the end (RFC 9669, classic BPF)."""
    accumulator = index = at = 0
    while True:
        row = rows[at]
        at += 1
        kind, mode = row.code & 0x07, row.code & 0xE0
        if kind == 0x00:
            place = row.value + (index if mode == 0x40 else 0)
            assert mode in (0x20, 0x40)
            size = _SIZES[row.code & 0x18]
            if place + size > len(packet):
                return 0
            accumulator = int.from_bytes(packet[place : place + size], "big")
        elif row.code == 0xB1:
            if row.value >= len(packet):
                return 0
            index = 4 * (packet[row.value] & 0x0F)
        elif row.code == 0x54:
            accumulator &= row.value
        elif row.code == 0x05:
            at += row.value
        elif kind == 0x05:
            number = row.value
            holds = {
                0x15: accumulator == number,
                0x25: accumulator > number,
                0x35: accumulator >= number,
                0x45: bool(accumulator & number),
            }[row.code]
            at += row.if_so if holds else row.if_not
        else:
            assert row.code == 0x06, hex(row.code)
            return row.value


def run_by_kernel(rows: Sequence[BpfInstruction], packets: Sequence[bytes]) -> list[int]:
    """Return the same of the kernel: how many bytes of each packet its filter of sockets keeps, 0 for none."""
    sender, receiver = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with sender, receiver:
        program = b"".join(struct.pack("=HBBI", *row) for row in rows)
        kept = ctypes.create_string_buffer(program, len(program))
        given = struct.pack("@HP", len(rows), ctypes.addressof(kept))
        receiver.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, given)
        receiver.setblocking(False)
        found = []
        for packet in packets:
            try:
                sender.send(packet)
                found.append(len(receiver.recv(1 << 16)))
            except (PermissionError, BlockingIOError):
                found.append(0)
        return found
