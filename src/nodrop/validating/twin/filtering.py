"""A filter of system calls (seccomp) for gaps in namespaces and capabilities: kinds of sockets, rare calls.

Sockets of AF_VSOCK reach the hypervisor from every network namespace, and modules of the kernel are loaded for others.
It is made for the architectures below; on others there is none. It does not limit mounts: a worker can mount further
tmpfs.
"""

import ctypes
import errno
import os
import platform
import socket
import struct
from typing import Final, NamedTuple


class SyscallNumbers(NamedTuple):
    """An architecture by its number in audit records, and numbers of its system calls."""

    audit: int
    sockets: tuple[int, ...]
    refused: tuple[int, ...]


ALLOWED_SOCKET_FAMILIES: Final = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET)
"""The sockets that FRR, `ip` and the twin's own probes open."""
SYSCALL_NUMBERS: Final = {
    "x86_64": SyscallNumbers(
        0xC000003E, (41, 53), (175, 313, 246, 320, 248, 249, 250, 298, 304, 321, 323, 425, 426, 427)
    ),
    "aarch64": SyscallNumbers(
        0xC00000B7, (198, 199), (105, 273, 104, 294, 217, 218, 219, 241, 265, 280, 282, 425, 426, 427)
    ),
}
"""socket and socketpair; then init_module, finit_module, kexec_load, kexec_file_load, add_key, request_key, keyctl,
perf_event_open, open_by_handle_at, bpf, userfaultfd, io_uring_setup, io_uring_enter, io_uring_register
(Linux, arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h).
"""
_FIRST_X32_SYSCALL: Final = 0x40000000
"""From here on calls of x86_64 are those of another binary interface, with numbers of their own."""
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER_AT, _AUDIT_AT, _FIRST_AT = 0, 4, 16
"""Where the data of a call have its number, its architecture and the low half of its first word (linux/seccomp.h)."""
_SET_SECCOMP, _FILTER = 22, 2


class _SeccompProgram(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("rows", ctypes.c_char_p))


def install_syscall_filter() -> None:
    """Refuse these calls from here on to this thread and all that it starts; OSError where the kernel has no filters.

    Needs `no_new_privs`. Calls of other binary interfaces than the machine's own end with ENOSYS.
    """
    numbers = SYSCALL_NUMBERS.get(platform.machine())
    if numbers is None:
        return
    rows = _filter_instructions(numbers)
    program = _SeccompProgram(len(rows), b"".join(rows))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_SECCOMP, ctypes.c_ulong(_FILTER), ctypes.byref(program), 0, 0) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "seccomp")


def _filter_instructions(numbers: SyscallNumbers) -> list[bytes]:
    """Return the filter: each comparison goes on with the row behind it or jumps over one."""
    return [
        _pack_instruction(_LOAD, _AUDIT_AT),
        _pack_instruction(_EQUAL, numbers.audit, 1, 0),
        _pack_instruction(_RETURN, _ERROR | errno.ENOSYS),
        _pack_instruction(_LOAD, _NUMBER_AT),
        _pack_instruction(_AT_LEAST, _FIRST_X32_SYSCALL, 0, 1),
        _pack_instruction(_RETURN, _ERROR | errno.ENOSYS),
        *(
            row
            for call in numbers.refused
            for row in (_pack_instruction(_EQUAL, call, 0, 1), _pack_instruction(_RETURN, _ERROR | errno.EPERM))
        ),
        _pack_instruction(_EQUAL, numbers.sockets[0], 2, 0),
        _pack_instruction(_EQUAL, numbers.sockets[1], 1, 0),
        _pack_instruction(_RETURN, _ALLOW),
        _pack_instruction(_LOAD, _FIRST_AT),
        *(
            row
            for family in ALLOWED_SOCKET_FAMILIES
            for row in (_pack_instruction(_EQUAL, family, 0, 1), _pack_instruction(_RETURN, _ALLOW))
        ),
        _pack_instruction(_RETURN, _ERROR | errno.EAFNOSUPPORT),
    ]


def _pack_instruction(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)
