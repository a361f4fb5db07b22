"""Ethernet frames as access lists meet them, made of single facts."""

import struct
from typing import NamedTuple

from nodrop.routing.prefixes import Address

TYPES = {"ipv4": 0x0800, "ipv6": 0x86DD}


class Frame(NamedTuple):
    """A frame of IP: `offset` is that of a fragment, in units of 8 bytes; `options` are words of IPv4's header."""

    source: Address
    destination: Address
    protocol: int = 17
    source_port: int = 49152
    destination_port: int = 4791
    dscp: int = 26
    flags: int = 0
    offset: int = 0
    options: int = 0
    ecn: int = 2
    opcode: int = 0x0A

    def raw(self) -> bytes:
        """Return its bytes."""
        family = self.source.family
        body = struct.pack(">HH", self.source_port, self.destination_port)
        if self.protocol == 6:
            body += struct.pack(">IIBBHHH", 1, 2, 5 << 4, self.flags, 512, 0, 0)
        elif self.protocol == 17:
            body += struct.pack(">HHB", 20, 0, self.opcode)
        body = body.ljust(40, b"\0")
        if family == "ipv6":
            head = struct.pack(
                ">IHBB", 6 << 28 | self.dscp << 22 | self.ecn << 20 | 0x12345, len(body), self.protocol, 64
            )
            head += self.source.number.to_bytes(16, "big") + self.destination.number.to_bytes(16, "big")
        else:
            words = 5 + self.options
            head = struct.pack(
                ">BBHHHBBH", 4 << 4 | words, self.dscp << 2 | self.ecn, 4 * words + len(body), 7, self.offset, 64,
                self.protocol, 0,
            )  # fmt: skip
            head += self.source.number.to_bytes(4, "big") + self.destination.number.to_bytes(4, "big")
            head += b"\x07" * (4 * self.options)
        return b"\x02" * 12 + struct.pack(">H", TYPES[family]) + head + body
