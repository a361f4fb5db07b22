"""The two processes that `box` begins with: one that holds a twin's tree together, and the worker that it starts.

The first is PID 1 of its process namespace: it makes the root (`own_root`), starts the worker and ends with it or with
the pipe from the caller; the kernel then ends all others. The worker follows its orders in a separate user namespace,
as a user without any rights outside. Code that runs there is trusted as little as a configuration is.
"""

import os
import pickle
import resource
import select
import signal
import socket
import struct
import sys
import threading
import traceback
from fcntl import ioctl
from pathlib import Path
from typing import Final

from nodrop.errors import ServiceUnavailable
from nodrop.validating.twin import answers, syscalls
from nodrop.validating.twin.filtering import install_syscall_filter
from nodrop.validating.twin.own_root import DAEMONS_FOLDER, enter_private_root

NOBODY_UID: Final = 65534
"""The user of the host that root's twins run as: one who owns nothing."""
MAX_PROCESS_MEMORY_BYTES: Final = 8 << 30
"""Address space of one process. Of all processes the kernel ends those of a twin first when memory is short."""
_MAX_FILE_BYTES: Final = 64 << 20
"""The largest file: logs of daemons take some kB."""
_MAX_CORE_DUMP_BYTES: Final = 1
"""A limit of 1 has no core be written, nor the host's program for cores be started (Linux, fs/coredump.c)."""
_OOM_SCORE: Final = 1000
"""Ends first where memory is short (proc(5), oom_score_adj)."""
_KEPT_CAPABILITIES: Final = (
    syscalls.CAP_NET_BIND_SERVICE,
    syscalls.CAP_NET_ADMIN,
    syscalls.CAP_NET_RAW,
    syscalls.CAP_SYS_ADMIN,
)
"""What FRR asks for (bgpd/bgp_main.c and zebra/main.c, _caps_p), and `ip netns`."""
_NAMESPACE_FLAGS: Final = (
    *(syscalls.CLONE_NEW_USER, syscalls.CLONE_NEW_MOUNT, syscalls.CLONE_NEW_NETWORK, syscalls.CLONE_NEW_IPC),
    *(syscalls.CLONE_NEW_UTS, syscalls.CLONE_NEW_CGROUP),
)
_READY_MESSAGE: Final = b"ready"
_SET_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41
"""SIOCSIFFLAGS; IFF_UP and IFF_RUNNING (linux/sockios.h, linux/if.h)."""
_MAX_OUTPUT_BYTES: Final = 4096
"""How much of what programs printed is told where the worker is gone without an answer."""


def main() -> None:
    """Make the root, start the worker with the work that comes over standard input, and end with either of them."""
    work = answers.receive_message(sys.stdin.buffer, answers.WORK_KINDS, sys.maxsize)
    if work is None:
        os._exit(2)
    try:
        owner = _outer_uid_of_worker()
        Path("/proc/self/oom_score_adj").write_text(str(_OOM_SCORE))
        enter_private_root(owner)
        DAEMONS_FOLDER.mkdir()
        os.chown(DAEMONS_FOLDER, owner, owner)
        log_fd = os.open(DAEMONS_FOLDER / "said", os.O_RDWR | os.O_CREAT | os.O_EXCL)
        worker = _fork_worker_and_map_users(work[1], owner, log_fd)
        syscalls.keep_only_capabilities(())
        syscalls.make_process_undumpable()
    except ServiceUnavailable as error:
        answers.send_message(sys.stdout.buffer, "missing", str(error).encode())
    except OSError as error:
        answers.send_message(
            sys.stdout.buffer, "missing", f"the kernel refuses the twin a part of its box: {error}".encode()
        )
    else:
        os.close(1)
        _wait_for_caller_or_worker(worker, log_fd)
    os._exit(1)


def _outer_uid_of_worker() -> int:
    """Return the number here of the user that runs the worker outside its namespace."""
    rows = (map(int, line.split()) for line in Path("/proc/self/uid_map").read_text().splitlines())
    return NOBODY_UID if any(first_id <= NOBODY_UID < first_id + count for first_id, _, count in rows) else 0


def _fork_worker_and_map_users(work: bytes, owner: int, log_fd: int) -> int:
    """Start the worker, and give it its users; return its number. ServiceUnavailable where the kernel refuses that."""
    local_socket, parent = socket.socketpair()
    worker = os.fork()
    if worker == 0:
        local_socket.close()
        try:
            _leave_caller_namespaces(parent, log_fd, drop_groups=owner != 0)
            _run_work_and_answer(work)
        finally:
            os._exit(1)
    parent.close()
    answer = local_socket.recv(4096)
    if answer != _READY_MESSAGE:
        raise ServiceUnavailable(f"the kernel refuses separate namespaces for the twin: {answer.decode()}")
    folder = Path("/proc", str(worker))
    for file in ("uid_map", "gid_map"):
        (folder / file).write_text(f"0 {owner} 1\n")
    local_socket.sendall(_READY_MESSAGE)
    local_socket.close()
    return worker


def _wait_for_caller_or_worker(worker: int, log_fd: int) -> None:
    """Wait until the caller or the worker is gone; what else ends meanwhile leaves nothing behind."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    waiting = select.poll()
    waiting.register(0, select.POLLHUP)
    waiting.register(os.pidfd_open(worker), select.POLLIN)
    while not waiting.poll():
        continue
    size = os.fstat(log_fd).st_size
    os.write(2, os.pread(log_fd, _MAX_OUTPUT_BYTES, max(0, size - _MAX_OUTPUT_BYTES)))


def _leave_caller_namespaces(parent: socket.socket, log_fd: int, *, drop_groups: bool) -> None:
    """Leave all that the caller has: descriptors, groups, namespaces. The parent sets its identity in the new ones."""
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.dup2(log_fd, 2)
    try:
        if drop_groups:
            os.setgroups([])
        syscalls.enter_new_namespaces(sum(_NAMESPACE_FLAGS))
    except OSError as error:
        parent.sendall(str(error).encode())
        os._exit(1)
    parent.sendall(_READY_MESSAGE)
    if parent.recv(len(_READY_MESSAGE)) != _READY_MESSAGE:
        os._exit(1)
    parent.close()


def _run_work_and_answer(work: bytes) -> None:
    """Do the work, and report its progress."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what programs print is no answer
    lock = threading.Lock()

    def answer(kind: answers.MessageKind, body: bytes) -> None:
        with lock:
            answers.send_message(pipe, kind, body)

    try:
        sys.path[:], processes, function, arguments = pickle.loads(work)
        _limit_resources(processes)
        _become_root_and_drop_rights()
        done = function(lambda line: answer("progress", line.encode()), *arguments)
        answer("done", answers.pack_result(function, done))
    except ServiceUnavailable as error:
        answer("missing", str(error).encode())
    except BaseException:  # noqa: BLE001 -- it is raised again at the other end of the pipe
        answer("failed", traceback.format_exc().encode())
    os._exit(0)


def _limit_resources(processes: int) -> None:
    """Limit the resources of the worker and all processes that it starts; none of them can raise a limit again."""
    limits = (
        (resource.RLIMIT_NPROC, processes),
        (resource.RLIMIT_AS, MAX_PROCESS_MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, _MAX_FILE_BYTES),
        (resource.RLIMIT_CORE, _MAX_CORE_DUMP_BYTES),
    )
    for kind, most in limits:
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, least))


def _become_root_and_drop_rights() -> None:
    """Become root of the new namespaces, have the network's `lo` up, and give up all that FRR does not need.

    ServiceUnavailable where the kernel refuses a part.
    """
    try:
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        Path("/proc/sys/user/max_user_namespaces").write_text("0\n")  # no way back to what is given up here
        syscalls.join_empty_keyring()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            ioctl(any_socket, _SET_FLAGS, struct.pack("=16sh14x", b"lo", _UP_AND_RUNNING))
        syscalls.keep_only_capabilities(_KEPT_CAPABILITIES)
        syscalls.make_process_undumpable()
        install_syscall_filter()
    except OSError as error:
        raise ServiceUnavailable(f"the kernel refuses the twin a part of its box: {error}") from None
    os.umask(0o022)
    os.environ["HOME"] = str(DAEMONS_FOLDER)  # where vtysh keeps a history
    Path("/run/netns").mkdir()


if __name__ == "__main__":
    main()
