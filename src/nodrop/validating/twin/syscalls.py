"""Calls of the Linux kernel that Python's standard library does not have; each raises OSError if the kernel refuses."""

import ctypes
import os
import platform
from collections.abc import Collection
from pathlib import Path
from typing import Final

CLONE_NEW_MOUNT: Final = 0x00020000
CLONE_NEW_CGROUP: Final = 0x02000000
CLONE_NEW_UTS: Final = 0x04000000
CLONE_NEW_IPC: Final = 0x08000000
CLONE_NEW_USER: Final = 0x10000000
CLONE_NEW_NETWORK: Final = 0x40000000
"""Kinds of namespaces, CLONE_NEW* (linux/sched.h)."""

MOUNT_READ_ONLY: Final = 0x1
MOUNT_NO_SUID: Final = 0x2
MOUNT_NO_DEVICES: Final = 0x4
MOUNT_NO_EXEC: Final = 0x8
"""What a mount does not allow (linux/mount.h; MS_* and MOUNT_ATTR_* are the same numbers for these)."""

CAP_NET_BIND_SERVICE: Final = 10
CAP_NET_ADMIN: Final = 12
CAP_NET_RAW: Final = 13
CAP_SYS_ADMIN: Final = 21
"""Capabilities (linux/capability.h)."""

_BIND, _RECURSIVE, _DETACH = 0x1000, 0x4000, 0x2
_MOUNT_PRIVATE_FLAG = 1 << 18
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_SET_DUMPABLE, _DROP_BOUNDING, _NO_NEW_PRIVILEGES, _AMBIENT, _CLEAR_ALL = 4, 24, 38, 47, 4
_CAPABILITY_VERSION = 0x20080522
_JOIN_SESSION_KEYRING = 1
_KEYCTL_NUMBER_BY_MACHINE: Final = {"x86_64": 250, "aarch64": 219, "riscv64": 219, "ppc64le": 271, "s390x": 280}
"""The number of keyctl, for which the C library has no function (arch/*/syscalls of Linux)."""

_C_LIBRARY = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user"))


def _raise_on_syscall_error(return_code: int, operation: str) -> None:
    if return_code < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), operation)


def mount_file_system(kind: str, target: str, flags: int = 0, data: str = "") -> None:
    """Mount a file system that needs no device, such as `tmpfs`."""
    _raise_on_syscall_error(
        _C_LIBRARY.mount(b"nodrop", os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), data.encode()),
        f"mount {kind} at {target}",
    )


def bind_mount(source: str, target: str, flags: int, *, recursive: bool = True) -> None:
    """Show a file or folder, and all mounts below it, at another place; `flags` are for all of it or for itself.

    Linux before 5.12 cannot set flags of all mounts at once, and returns ENOSYS.
    """
    words = (os.fsencode(source), os.fsencode(target), None, ctypes.c_ulong(_BIND | _RECURSIVE), None)
    _raise_on_syscall_error(_C_LIBRARY.mount(*words), f"bind {source} to {target}")
    set_mount_flags(target, flags, recursive=recursive)


def set_mount_flags(target: str, flags: int, *, recursive: bool = False) -> None:
    """Set flags of a mount, and of all below it if that is asked."""
    attributes = _MountAttributes(set=flags)
    words = (os.fsencode(target), _AT_RECURSIVE if recursive else 0, ctypes.byref(attributes), ctypes.c_size_t(32))
    _raise_on_syscall_error(_C_LIBRARY.mount_setattr(_AT_FDCWD, *words), f"mount_setattr {target}")


def make_mounts_private() -> None:
    """Have no mount from here on be seen in the namespace that this one was copied from, nor the other way round."""
    _raise_on_syscall_error(
        _C_LIBRARY.mount(None, b"/", None, ctypes.c_ulong(_MOUNT_PRIVATE_FLAG | _RECURSIVE), None),
        "make mounts private",
    )


def pivot_mount_root(new_text: str, old_text: str) -> None:
    """Make a mount the root, and have the former one at `old`, a folder in it."""
    _raise_on_syscall_error(
        _C_LIBRARY.pivot_root(os.fsencode(new_text), os.fsencode(old_text)), f"pivot_root {new_text}"
    )


def unmount_tree(target: str) -> None:
    """Take a mount away, with all below it."""
    _raise_on_syscall_error(_C_LIBRARY.umount2(os.fsencode(target), _DETACH), f"umount {target}")


def enter_new_namespaces(kinds: int) -> None:
    """Leave namespaces for new ones of these kinds."""
    _raise_on_syscall_error(_C_LIBRARY.unshare(kinds), "unshare")


def enter_namespace_of(descriptor: int, kind: int) -> None:
    """Enter a namespace of a kind, by its descriptor."""
    _raise_on_syscall_error(_C_LIBRARY.setns(descriptor, kind), "setns")


def join_empty_keyring() -> None:
    """Have an empty keyring in place of the session's; where the kernel has or allows no keys, none is needed."""
    number = _KEYCTL_NUMBER_BY_MACHINE.get(platform.machine())
    if number is None:
        raise OSError(0, f"keyctl has no known number on {platform.machine()}")
    if _C_LIBRARY.syscall(ctypes.c_long(number), ctypes.c_long(_JOIN_SESSION_KEYRING), None) < 0:
        error = ctypes.get_errno()
        if error not in (1, 38):  # EPERM: a filter refuses it to whoever runs here; ENOSYS
            raise OSError(error, os.strerror(error), "keyctl")


def keep_only_capabilities(capabilities: Collection[int]) -> None:
    """Give up all other capabilities for good: no program that is run gets them back, regardless of its file."""
    last = int(Path("/proc/sys/kernel/cap_last_cap").read_text())
    for capability in set(range(last + 1)) - set(capabilities):
        _raise_on_syscall_error(
            _C_LIBRARY.prctl(_DROP_BOUNDING, ctypes.c_ulong(capability), 0, 0, 0), "drop a capability"
        )
    _raise_on_syscall_error(
        _C_LIBRARY.prctl(_AMBIENT, ctypes.c_ulong(_CLEAR_ALL), 0, 0, 0), "clear ambient capabilities"
    )
    bits = sum(1 << kept_capability for kept_capability in capabilities)
    head = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    low, high = bits & 0xFFFFFFFF, bits >> 32
    _raise_on_syscall_error(_C_LIBRARY.capset(head, (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)), "capset")
    _raise_on_syscall_error(_C_LIBRARY.prctl(_NO_NEW_PRIVILEGES, ctypes.c_ulong(1), 0, 0, 0), "no_new_privs")


def make_process_undumpable() -> None:
    """Keep other processes of the same user out of this one's memory and descriptors (`/proc/<pid>`, ptrace)."""
    _raise_on_syscall_error(_C_LIBRARY.prctl(_SET_DUMPABLE, ctypes.c_ulong(0), 0, 0, 0), "prctl")
