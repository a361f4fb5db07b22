"""A thread of nodrop's inside a namespace, to open sockets there; programs are run there by `TwinLab.run_in_node`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from nodrop.validating.twin import syscalls


def namespace_command_prefix(namespace_name: str) -> tuple[str, ...]:
    """Return the words to put before a program to run it in the namespace of that name.

    `ip -n` would mount a /sys, and a twin has none.
    """
    return "nsenter", f"--net=/run/netns/{namespace_name}", "--"


@contextmanager
def thread_in_namespace(space: str) -> Iterator[None]:
    """Have the calling thread in the namespace of that name for a while; sockets opened there stay there.

    OSError where there is no such namespace.
    """
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        descriptor = os.open(f"/run/netns/{space}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            syscalls.enter_namespace_of(descriptor, syscalls.CLONE_NEW_NETWORK)
        finally:
            os.close(descriptor)
        try:
            yield
        finally:
            syscalls.enter_namespace_of(home, syscalls.CLONE_NEW_NETWORK)
    finally:
        os.close(home)
