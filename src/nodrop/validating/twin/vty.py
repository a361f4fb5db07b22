"""Questions to a daemon of FRR over the socket that vtysh uses, which takes a millisecond where a vtysh takes thirty.

A command goes out with a zero byte behind it; the answer ends with three of them and the command's return code (FRR,
vtysh/vtysh.c, vtysh_client_run).
"""

import socket
import threading
from pathlib import Path

_ANSWER_END_BYTES = b"\0\0\0"
_ANSWER_TIMEOUT_S = 30


class DaemonSilent(Exception):
    """A daemon that does not answer: it is gone, stopped, or too busy for as long as anybody waits."""


class VtyConnection:
    """A connection to one daemon, opened when first asked and again when it was lost; threads take turns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._socket: socket.socket | None = None
        self._turn = threading.Lock()

    def ask(self, command: str) -> str:
        """Return its answer; Silent if it does not answer."""
        with self._turn:
            return self._ask_daemon(command)

    def _ask_daemon(self, command: str) -> str:
        try:
            if self._socket is None:
                self._socket = socket.socket(socket.AF_UNIX)
                self._socket.settimeout(_ANSWER_TIMEOUT_S)
                self._socket.connect(str(self._path))
                self._exchange_command("enable")
            return self._exchange_command(command)
        except OSError as error:
            self.close()
            raise DaemonSilent(f"{self._path.stem} does not answer: {error}") from error

    def close(self) -> None:
        """Give the connection up; the next question opens another."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _exchange_command(self, command: str) -> str:
        assert self._socket is not None
        self._socket.sendall(command.encode() + b"\0")
        buffer = bytearray()
        while len(buffer) < len(_ANSWER_END_BYTES) + 1 or buffer[-len(_ANSWER_END_BYTES) - 1 : -1] != _ANSWER_END_BYTES:
            chunk = self._socket.recv(1 << 16)
            if not chunk:
                raise ConnectionError("it closed the connection")
            buffer += chunk
        return bytes(buffer[: -len(_ANSWER_END_BYTES) - 1]).decode(errors="replace")
