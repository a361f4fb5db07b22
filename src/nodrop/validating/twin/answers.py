"""What goes over the pipes between a twin's tree and its caller: work one way, answers the other.

An answer is text or a value in the form of `syntax.packed`, read by the annotation of the function. An attacker
who takes over a process of the tree can lie, and can do no more: no part of an answer is called or imported by name.
"""

import struct
from collections.abc import Callable, Collection
from typing import IO, Any, Final, Literal, get_args, get_type_hints

from nodrop.errors import ServiceUnavailable
from nodrop.syntax.packed import PackerOfClasses, UnreadablePackedBytes, classes_of

MessageKind = Literal["progress", "done", "failed", "missing", "work"]
"""A line about what is being done; the value returned; a traceback; why there is no such service; what is to be done.
"""
MESSAGE_KINDS: Final[tuple[MessageKind, ...]] = get_args(MessageKind)
ANSWER_KINDS: Final[tuple[MessageKind, ...]] = ("progress", "done", "failed", "missing")
WORK_KINDS: Final[tuple[MessageKind, ...]] = ("work",)
"""What the caller takes from a tree, and what goes the other way."""
MAX_ANSWER_BYTES: Final = 256 << 20
"""The longest answer: that of 200 switches takes 10 MB."""
MAX_PROGRESS_BYTES: Final = 16 << 20
"""How much a tree may tell in all about what it does; 200 switches take some kB."""
MESSAGE_HEADER: Final = struct.Struct(">BQ")


def send_message(pipe: IO[bytes], kind: MessageKind, body: bytes) -> None:
    """Write an answer, or work; nothing where nobody reads it any more, which shows when the answer is read."""
    try:
        pipe.write(MESSAGE_HEADER.pack(MESSAGE_KINDS.index(kind), len(body)) + body)
        pipe.flush()
    except BrokenPipeError:
        return


def receive_message(
    pipe: IO[bytes], kinds: Collection[MessageKind], max_bytes: int = MAX_ANSWER_BYTES
) -> tuple[MessageKind, bytes] | None:
    """Read a message of one of these kinds, of at most so many bytes; None at the end.

    ServiceUnavailable if it is of another kind or longer: nothing of it is read then.
    """
    head = pipe.read(MESSAGE_HEADER.size)
    if len(head) < MESSAGE_HEADER.size:
        return None
    kind, size = MESSAGE_HEADER.unpack(head)
    if kind >= len(MESSAGE_KINDS) or MESSAGE_KINDS[kind] not in kinds or size > max_bytes:
        raise ServiceUnavailable("what the twin answers is no answer")
    body = pipe.read(size)
    return (MESSAGE_KINDS[kind], body) if len(body) == size else None


def pack_result(function: Callable[..., object], value: object) -> bytes:
    """Return a function's result as bytes; Unpackable if it is not made of plain values and its classes."""
    _, table = _result_type_and_table(function)
    return table.pack(value)


def unpack_result(function: Callable[..., object], message_body: bytes) -> Any:
    """Return a function's result; ServiceUnavailable if the function cannot have returned it."""
    returned, table = _result_type_and_table(function)
    try:
        return table.unpack(message_body, returned)
    except UnreadablePackedBytes as error:
        raise ServiceUnavailable(f"what the twin answers is no answer: {error}") from None


def decode_text(body: bytes) -> str:
    """Return the text of an answer; the code that shows it escapes it, as all text of configurations."""
    return body.decode(errors="replace")


def _result_type_and_table(function: Callable[..., object]) -> tuple[Any, PackerOfClasses]:
    returned = get_type_hints(function)["return"]
    return returned, PackerOfClasses(classes_of([returned]))
