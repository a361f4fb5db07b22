"""The opcodes of RoCE's base transport header (BTH): those of data and acknowledgements, and that of CNPs.

An opcode has the transport in its upper three bits and the operation below (InfiniBand Architecture Specification,
volume 1, table "OpCode field"). The transports of verbs are RC, UC, UD and XRC (rdma-core, `ibv_qp_type`); none has RD.
"""

from collections.abc import Iterator
from typing import Final

from nodrop.model.access import Bits

CNP_OPCODE: Final = 0x81
"""IBTA, annex A17, congestion notification packet."""
RC_RDMA_WRITE_ONLY_OPCODE: Final = 0x0A
"""RC RDMA WRITE Only, a whole message of data in one packet."""
_RC_OPCODES: Final = frozenset({*range(0x15), 0x16, 0x17})
"""Send, RDMA write, RDMA read, acknowledge, atomics, send with invalidate."""
_UC_OPCODES: Final = frozenset(range(0x20, 0x2C))
_UD_OPCODES: Final = frozenset({0x64, 0x65})
"""Datagrams, by which the connection manager works."""
_XRC_OPCODES: Final = frozenset({*range(0xA0, 0xB5), 0xB6, 0xB7})
_FLUSH_OPCODES: Final = frozenset({0x1C, 0x1D})
"""Flush and atomic write (IBTA, memory placement extensions)."""
_VENDOR_OPCODES: Final = frozenset(range(0xC0, 0x100))
OPTIONAL_DATA_OPCODES: Final = _UC_OPCODES | _XRC_OPCODES | _FLUSH_OPCODES | _VENDOR_OPCODES
"""Opcodes of data that hosts may use or not."""
DATA_OPCODES: Final = _RC_OPCODES | _UD_OPCODES | OPTIONAL_DATA_OPCODES
"""Opcodes of data, acknowledgements included."""


def opcodes_matching(condition: Bits) -> frozenset[int]:
    """Return the opcodes that agree with a number in the bits of its mask."""
    wanted = condition.number & condition.mask
    return frozenset(opcode for opcode in range(256) if opcode & condition.mask == wanted)


def format_opcodes(opcodes: frozenset[int]) -> str:
    """Return opcodes as ranges, `0x11` or `0x06-0x0b, 0x11`."""
    return ", ".join(_opcode_ranges(opcodes))


def _opcode_ranges(opcodes: frozenset[int]) -> Iterator[str]:
    for first in sorted(opcode for opcode in opcodes if opcode - 1 not in opcodes):
        last = next(opcode for opcode in range(first, 257) if opcode + 1 not in opcodes)
        yield f"{first:#04x}" if first == last else f"{first:#04x}-{last:#04x}"
