"""A thread of nodrop's own inside a namespace, to open sockets there; programs are run there by `Lab.run`."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_NEW_NET = 0x40000000
"""CLONE_NEWNET (linux/sched.h)."""
_LIBC = ctypes.CDLL(None, use_errno=True)


@contextmanager
def within(space: str) -> Iterator[None]:
    """Have the calling thread in the namespace of that name for a while; sockets opened there stay there.

    OSError where there is no such namespace.
    """
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        there = os.open(f"/run/netns/{space}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(there)
        finally:
            os.close(there)
        try:
            yield
        finally:
            _enter(home)
    finally:
        os.close(home)


def _enter(descriptor: int) -> None:
    if _LIBC.setns(descriptor, _NEW_NET):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
