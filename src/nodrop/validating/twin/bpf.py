"""Programs of classic BPF (linux/filter.h), assembled from operations, jumps and labels.

`tc` hands them to the kernel, which runs them on a packet from its Ethernet header on. A load beyond the packet's end
ends a program with 0.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

MAX_INSTRUCTIONS: Final = 2_000
"""Rows of a program: one message of `tc` holds 16 KiB, at 8 bytes a row (iproute2, tc/tc_filter.c, MAX_MSG)."""
LOAD_WORD, LOAD_HALF, LOAD_BYTE = 0x20, 0x28, 0x30
"""Load what is at a place of the packet into the accumulator."""
INDEXED_HALF, INDEXED_BYTE = 0x48, 0x50
"""The same, with the index register added to the place."""
LOAD_IPV4_HEADER_LENGTH: Final = 0xB1
"""Load into the index register four times the low half of a byte: how long an IPv4 header is."""
AND, RETURN, JUMP = 0x54, 0x06, 0x05
EQUAL, GREATER, AT_LEAST, ANY_BIT = 0x15, 0x25, 0x35, 0x45
"""Jumps that compare the accumulator with a number."""
_MAX_JUMP_ROWS: Final = 255
"""Over how many rows a comparison can jump; a plain jump has no such limit."""


class BpfInstruction(NamedTuple):
    """A row of a program, as the kernel has it."""

    code: int
    if_so: int
    if_not: int
    value: int


class JumpLabel:
    """A place in a program to jump to, put there by `BpfProgram.place_label`."""


class _Operation(NamedTuple):
    code: int
    value: int


class _Branch(NamedTuple):
    """A comparison; None goes on with the next row."""

    code: int
    value: int
    if_so: JumpLabel | None
    if_not: JumpLabel | None


class _Jump(NamedTuple):
    """A jump that is always made."""

    to: JumpLabel


class BpfProgram:
    """A program that is being written, from its first operation to its last."""

    def __init__(self) -> None:
        self._parts: list[_Operation | _Branch | _Jump | JumpLabel] = []

    def add_operation(self, code: int, value: int = 0) -> None:
        """Add an operation."""
        self._parts.append(_Operation(code, value))

    def branch(
        self, code: int, value: int, *, label_if_true: JumpLabel | None = None, label_if_false: JumpLabel | None = None
    ) -> None:
        """Add a comparison that jumps to a label if it holds, and to another if not."""
        self._parts.append(_Branch(code, value, label_if_true, label_if_false))

    def jump(self, target_label: JumpLabel) -> None:
        """Add a jump to a label."""
        self._parts.append(_Jump(target_label))

    def place_label(self, label: JumpLabel) -> None:
        """Put a label at the next row."""
        self._parts.append(label)

    def rows(self) -> tuple[BpfInstruction, ...]:
        """Return the rows; comparisons whose labels are far away jump over plain jumps."""
        long: set[int] = set()
        while True:
            starts, places = self._row_numbers_of_parts_and_labels(long)
            far_numbers = {
                number
                for number in range(len(self._parts))
                if number not in long and self._needs_long_jump(number, starts, places)
            }
            if not far_numbers:
                return tuple(self._rows(long, starts, places))
            long |= far_numbers

    def _row_numbers_of_parts_and_labels(self, long: set[int]) -> tuple[list[int], dict[JumpLabel, int]]:
        """Return the row at which each part begins, and those of labels."""
        at, starts, places = 0, [], {}
        for number, step in enumerate(self._parts):
            starts.append(at)
            if isinstance(step, JumpLabel):
                places[step] = at
            else:
                at += 3 if number in long else 1
        return starts, places

    def _needs_long_jump(self, number: int, starts: list[int], places: dict[JumpLabel, int]) -> bool:
        step = self._parts[number]
        if not isinstance(step, _Branch):
            return False
        labels = [label for label in (step.if_so, step.if_not) if label is not None]
        return any(places[label] - starts[number] - 1 > _MAX_JUMP_ROWS for label in labels)

    def _rows(self, long: set[int], starts: list[int], places: dict[JumpLabel, int]) -> Sequence[BpfInstruction]:
        rows: list[BpfInstruction] = []
        for number, step in enumerate(self._parts):
            if isinstance(step, _Operation):
                rows.append(BpfInstruction(step.code, 0, 0, step.value))
            elif isinstance(step, _Jump):
                rows.append(BpfInstruction(JUMP, 0, 0, places[step.to] - starts[number] - 1))
            elif isinstance(step, _Branch):
                after = starts[number] + (3 if number in long else 1)
                target_rows = [after if label is None else places[label] for label in (step.if_so, step.if_not)]
                if number not in long:
                    rows.append(BpfInstruction(step.code, target_rows[0] - after, target_rows[1] - after, step.value))
                else:
                    rows.append(BpfInstruction(step.code, 0, 1, step.value))
                    rows += [
                        BpfInstruction(JUMP, 0, 0, to - starts[number] - 2 - place)
                        for place, to in enumerate(target_rows)
                    ]
        return rows


def format_bytecode(rows: Sequence[BpfInstruction]) -> str:
    """Return a program as `tc` takes it."""
    return f"{len(rows)}," + "".join(f"{row.code} {row.if_so} {row.if_not} {row.value}," for row in rows)
