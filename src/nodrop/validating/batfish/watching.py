"""The time of an operation of a service: progress while it goes on, and no connection of it after its end."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final
from weakref import WeakSet

PROGRESS_INTERVAL_S: Final = 10.0
"""How often progress says that an operation still goes on."""
_RECUT_DELAY_S: Final = 0.2
"""How soon after the end of its time an operation that has connected again is cut off again."""


class ConnectionWatch:
    """The connections of a service: those that it has noted are cut when an operation takes too long."""

    def __init__(self, progress: Callable[[str], None] | None = None) -> None:
        self.progress = progress
        self._sockets: WeakSet[socket.socket] = WeakSet()

    def remember_connection(self, connection: socket.socket) -> None:
        """Remember a connection as long as it is in use."""
        self._sockets.add(connection)

    @contextmanager
    def watch_operation(self, what: str, limit_s: float) -> Iterator[threading.Event]:
        """Report from time to time that an operation goes on, and cut its connections when its time is over.

        Yield the event that is set then.
        A service that sends a byte now and then is never silent, so a socket's timeout never ends it.
        """
        done, late = threading.Event(), threading.Event()

        def watch() -> None:
            waited = 0.0
            while not done.wait(
                step := min(PROGRESS_INTERVAL_S, limit_s - waited) if waited < limit_s else _RECUT_DELAY_S
            ):
                waited += step
                if waited >= limit_s:
                    late.set()
                    for open_socket in list(self._sockets):
                        with suppress(OSError):
                            open_socket.shutdown(socket.SHUT_RDWR)
                elif self.progress is not None:
                    self.progress(f"waiting for Batfish: {what}, {waited:.0f} s of at most {limit_s:.0f} s")

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield late
        finally:
            done.set()
            watcher.join()
