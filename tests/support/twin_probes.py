"""What code that has taken over a process of a twin would try, each a function that says what it got; "" for nothing.

They run inside the tree of `box`; `box.call` finds them by name.
"""

import ctypes
import errno
import os
import platform
import resource
import socket
import struct
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Final

from nodrop.validating.twin import box
from support.patience import END_S

_LIBC = ctypes.CDLL(None, use_errno=True)
_REMOUNT, _BIND, _MOVE, _RDONLY = 32, 4096, 8192, 1
_NEW_USER = 0x10000000
_KEY_CALLS: Final = {"x86_64": (248, 250), "aarch64": (217, 219)}
"""The numbers of add_key and keyctl."""


def run(guard: str) -> dict[str, str]:
    """Try everything beside a caller that has a socket, shared memory and a secret; return what each got."""
    canary, name, key = f"{guard}/canary", f"twin-{uuid.uuid4().hex}", os.getpid() << 8 | 1
    os.environ["CI_JOB_TOKEN"] = "secret"
    memory = _LIBC.shmget(key, 4096, 0o1666)
    add, control = _KEY_CALLS.get(platform.machine(), (0, 0))
    if add:  # a key in a session's keyring, which those that the session starts have too
        _LIBC.syscall(control, 1, None)
        _LIBC.syscall(add, b"user", name.encode(), b"secret", 6, -3)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{name}")
        listening.listen()
        try:
            return box.call_in_sandbox(probes, canary, os.getpid(), name, key) | box.call_in_sandbox(
                as_programs, canary
            )
        finally:
            _LIBC.shmctl(memory, 0, None)


def probes(tell: box.ReportProgress, canary: str, caller: int, name: str, key: int) -> dict[str, str]:
    """Try everything; return what each got.

    `canary` is a file of the host that says "precious", `caller` the process that asked for the tree, `name` that of
    an abstract socket it listens at, `key` that of its shared memory.
    """
    found = {}
    for probe in (*_files(canary), *_KERNEL, *_others(caller, name, key)):
        try:
            found[probe.__name__] = str(probe() or "")
        except (OSError, subprocess.CalledProcessError, ctypes.ArgumentError, ValueError):
            found[probe.__name__] = ""
    return found


def as_programs(tell: box.ReportProgress, canary: str) -> dict[str, str]:
    """Try what a program can that is started in the tree, as daemons are; return what each script printed."""
    found = {}
    for name, script in _SCRIPTS.items():
        words = ["sh", "-c", script.replace("CANARY", canary)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=END_S)
        found[name] = done.stdout.strip()
    return found


_SCRIPTS: Final = {
    "descriptors": "for one in /proc/self/fd/*; do readlink $one; done | grep -v -e ^/dev/null -e ^pipe: -e ^/proc/",
    "environment": "env | grep -i -e token -e secret",
    "first process": "cat /proc/1/environ 2>/dev/null; readlink /proc/1/fd/* /proc/1/cwd /proc/1/exe",
    "first root": "ls /proc/1/root/ 2>/dev/null",
    "worker's descriptors": "readlink /proc/2/fd/* /proc/2/exe; (echo x > /proc/2/fd/3) 2>/dev/null && echo wrote",
    "worker's memory": "(: > /proc/2/mem) 2>/dev/null && echo opened",
    "canary": "cat CANARY 2>/dev/null; (echo x >> CANARY) 2>/dev/null && echo wrote",
    "mounted over": "for one in / /usr/bin /usr/lib; do mount -o remount,rw,bind $one 2>/dev/null && echo $one; done",
    "revealed": "umount -l /proc 2>/dev/null && echo proc; umount -l /usr/bin 2>/dev/null && echo usr",
    "users": "unshare --user true 2>/dev/null && echo user",
    "devices": "mknod /tmp/block b 8 0 2>/dev/null && echo block; mknod /tmp/char c 1 1 2>/dev/null && echo char",
    "larger": "for one in /run /tmp; do mount -o remount,size=9g $one 2>/dev/null && echo $one; done",
}


def _files(canary: str) -> list[Callable[[], object]]:
    path = Path(canary)

    def read_canary() -> object:
        return path.read_text()

    def append_to_canary() -> object:
        with path.open("a") as file:
            return file.write("changed")

    def write_beside_canary() -> object:
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "beside").write_text("x")
        return (path.parent / "beside").exists() and os.statvfs(path.parent).f_blocks > 1 << 30

    def read_canary_by_first_process() -> object:
        return Path(f"/proc/1/root{canary}").read_text()

    def read_canary_by_folder_of_first_process() -> object:
        return Path("/proc/1/cwd").readlink()

    def read_canary_out_of_chroot() -> object:
        child = os.fork()
        if child == 0:
            try:
                Path("/tmp/jail").mkdir()
                os.chroot("/tmp/jail")
                os.chdir("../" * 40)
                os.chroot(".")
                os._exit(path.exists())
            except OSError:
                os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or ""

    def read_shadow() -> object:
        return Path("/etc/shadow").read_text()

    def read_homes() -> object:
        return [str(one) for home in ("/root", "/home") for one in Path(home).glob(".*") if one.is_file()] or ""

    def write_to_system() -> object:
        for folder in ("/", "/usr", "/usr/bin", "/usr/lib", "/etc", "/dev", "/var", "/proc/sys", "/lib", "/bin"):
            try:
                Path(folder, "twin-probe").write_text("x")
            except OSError:
                continue
            return folder
        return ""

    def write_to_modules() -> object:
        import nodrop

        with Path(nodrop.__file__).open("a") as file:
            return file.name

    def old_root() -> object:
        """Name what is in the root beside the system's folders and those on the way to Python and its modules."""
        system = {"bin", "sbin", "usr", "etc", "run", "tmp", "var", "proc", "dev"}
        own = {Path(one).parts[1] for one in (*sys.path, sys.base_prefix) if len(Path(one).parts) > 1}
        names = {one.name for one in Path("/").iterdir() if not one.name.startswith("lib")}
        return sorted(names - system - own) or ""

    return [one for one in locals().values() if callable(one)]


def _opened(path: str, flags: int) -> object:
    os.close(os.open(path, flags))
    return path


def core_pattern() -> object:
    return _opened("/proc/sys/kernel/core_pattern", os.O_WRONLY)


def modprobe_path() -> object:
    return _opened("/proc/sys/kernel/modprobe", os.O_WRONLY)


def settings() -> object:
    return "" if os.statvfs("/proc/sys/kernel").f_flag & os.ST_RDONLY else "may be written to by who they belong to"


def sysrq() -> object:
    return _opened("/proc/sysrq-trigger", os.O_WRONLY)


def memory_settings() -> object:
    return _opened("/proc/sys/vm/overcommit_memory", os.O_WRONLY)


def kernel_memory() -> object:
    return next((one for one in ("/dev/mem", "/dev/kmem", "/dev/kmsg", "/proc/kcore") if _readable(one)), "")


def _readable(path: str) -> bool:
    try:
        return bool(_opened(path, os.O_RDONLY))
    except OSError:
        return False


def device_nodes() -> object:
    allowed = {"null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr"}
    return sorted({one.name for one in Path("/dev").iterdir()} - allowed) or ""


def block_devices() -> object:
    os.mknod("/tmp/probe-block", 0o660 | 0o060000, os.makedev(8, 0))
    return "made"


def system_files() -> object:
    return [
        name for name in ("kernel", "fs", "class") if Path("/sys", name).exists() and os.access(f"/sys/{name}", 2)
    ] or ""


def remount() -> object:
    done = [path for path in ("/", "/usr/bin", "/usr/lib", "/proc/sys") if not _mount(path, _REMOUNT | _BIND)]
    return done or ""


def _mount(path: str, flags: int) -> int:
    return int(_LIBC.mount(b"none", path.encode(), None, ctypes.c_ulong(flags), None))


def unmount() -> object:
    return [
        path for path in ("/usr/bin", "/usr/lib", "/proc/sys", "/proc") if not _LIBC.umount2(path.encode(), 2)
    ] or ""


def new_users() -> object:
    child = os.fork()
    if child == 0:
        os._exit(0 if _LIBC.unshare(_NEW_USER) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) or ""


def namespaces_of_first_process() -> object:
    return [kind for kind in ("mnt", "user", "net") if _readable(f"/proc/1/ns/{kind}")] or ""


def trace_first_process() -> object:
    return "" if _LIBC.ptrace(16, 1, None, None) else "attached"


def file_handles() -> object:
    """Open a file of the host's disk by its handle, as `shocker` did."""
    handle = ctypes.create_string_buffer(struct.pack("=Ii", 8, 1) + struct.pack("=II", 2, 0))
    home = os.open("/usr/bin", os.O_RDONLY)
    return "" if _LIBC.open_by_handle_at(home, handle, 0) < 0 else "opened"


def modules() -> object:
    return "" if _LIBC.syscall(175, b"", 0, b"") and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS) else "allowed"


def time_of_day() -> object:
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME))
    return "set"


def limits() -> object:
    raised = []
    for what in (resource.RLIMIT_NPROC, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        try:
            resource.setrlimit(what, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            raised.append(what)
        except (OSError, ValueError):
            continue
    return raised or ""


def core_files() -> object:
    """Whether a process that crashes is dumped: a limit of 1 stops the kernel's helper, too (fs/coredump.c)."""
    return "" if resource.getrlimit(resource.RLIMIT_CORE) == (1, 1) else "dumped"


def out_of_memory_score() -> object:
    score = Path("/proc/self/oom_score_adj")
    if int(score.read_text()) != 1000:
        return score.read_text()
    score.write_text("-1")
    return "lowered below what an ordinary user has"


def privileges() -> object:
    """Say what a process has that it needs for nothing."""
    rows = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    needed = 1 << 10 | 1 << 12 | 1 << 13 | 1 << 21
    more = [
        f"{name} {rows[name]}"
        for name in ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb")
        if int(rows[name], 16) & ~needed
    ]
    return more or ("" if rows["NoNewPrivs"].strip() == "1" else "may get new privileges")


def host_user() -> object:
    """Say which user of the host this is, where that is root or somebody with groups that can be left out."""
    return "root" if Path("/proc/self/uid_map").read_text().split()[:3] == ["0", "0", "4294967295"] else ""


def environment() -> object:
    return [name for name in os.environ if "TOKEN" in name or "SECRET" in name] or ""


_KERNEL: Final = (
    *(
        core_pattern,
        modprobe_path,
        settings,
        sysrq,
        memory_settings,
        kernel_memory,
        device_nodes,
        block_devices,
        system_files,
    ),
    *(remount, unmount, new_users, namespaces_of_first_process, trace_first_process, file_handles, modules),
    *(time_of_day, limits, core_files, out_of_memory_score, privileges, host_user, environment),
)


def _others(caller: int, name: str, key: int) -> list[Callable[[], object]]:
    def kill_caller() -> object:
        if caller <= 2:
            return ""
        os.kill(caller, 0)
        return "reached"

    def abstract_socket() -> object:
        with socket.socket(socket.AF_UNIX) as one:
            one.connect(f"\0{name}")
            return "connected"

    def path_sockets() -> object:
        there = ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd", "/dev/log")
        return [one for one in there if Path(one).exists()] or ""

    def shared_memory() -> object:
        return "" if _LIBC.shmget(key, 0, 0) < 0 else "found"

    def processes() -> object:
        return [one.name for one in Path("/proc").iterdir() if one.name.isdecimal() and int(one.name) > 200] or ""

    def interfaces() -> object:
        return [one for _, one in socket.if_nameindex() if one != "lo"] or ""

    def session_keys() -> object:
        """Read the caller's key; an ordinary user sees that there is one."""
        lines = Path("/proc/keys").read_text().splitlines() if Path("/proc/keys").exists() else []
        numbers = [int(line.split()[0], 16) for line in lines if name in line]
        _, control = _KEY_CALLS.get(platform.machine(), (0, 0))
        return [one for one in numbers if _LIBC.syscall(control, 11, one, ctypes.create_string_buffer(9), 9) > 0] or ""

    return [kill_caller, abstract_socket, path_sockets, shared_memory, processes, interfaces, session_keys]


def forks(tell: box.ReportProgress, most: int) -> int:
    """Start processes that do nothing until no more can be, or so many; return how many there were."""
    count = 0
    while count < most:
        try:
            child = os.fork()
        except BlockingIOError:
            break
        if child == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
    return count


def memory(tell: box.ReportProgress, size_bytes: int) -> bool:
    """Whether so much memory can be had, without touching it."""
    try:
        bytearray(size_bytes)
    except MemoryError:
        return False
    return True


def disk(tell: box.ReportProgress, size_bytes: int) -> int:
    """How many bytes can be had of the folders that are written to, in files of 32 MiB."""
    had = 0
    for folder in ("/run", "/tmp"):
        for number in range(size_bytes >> 25):
            try:
                with Path(folder, f"probe{number}").open("wb") as file:
                    os.posix_fallocate(file.fileno(), 0, 1 << 25)
            except OSError:
                break
            had += 1 << 25
    return had


def forged(tell: box.ReportProgress) -> str:
    """Answer with a pickle that would run a program of the caller, by every descriptor that can be written to."""
    text = b"cos\nsystem\n(S'touch forged'\ntR."
    _write_everywhere(struct.pack(">BQ", 1, len(text)) + text)
    return "done"


def families(tell: box.ReportProgress) -> list[int]:
    """The families of sockets that the kernel does not call unsupported for every type."""
    found = set()
    for family in range(64):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
            for call in (socket.socket, socket.socketpair):
                try:
                    call(family, kind)
                except OSError as error:
                    if error.errno == errno.EAFNOSUPPORT:
                        continue
                found.add(family)
    return sorted(found)


def refused_calls(tell: box.ReportProgress, numbers: list[int]) -> list[str]:
    """What the kernel says to calls of these numbers, each with words that none of them can do anything with."""
    said = []
    for number in numbers:
        ctypes.set_errno(0)
        _LIBC.syscall(*map(ctypes.c_long, (number, -1, -1, -1, -1, -1)))
        said.append(errno.errorcode.get(ctypes.get_errno(), ""))
    return said


def lied(tell: box.ReportProgress, kind: int, size: int) -> str:
    """Answer with the head of something of a kind, by its number, and a size that does not come."""
    _write_everywhere(struct.pack(">BQ", kind, size))
    return "done"


def talks(tell: box.ReportProgress, times: int) -> str:
    """Tell a line of 1 MB so many times."""
    for _ in range(times):
        tell("x" * (1 << 20))
    return "done"


def _write_everywhere(text: bytes) -> None:
    for number in range(3, 64):
        try:
            os.write(number, text)
        except OSError:
            continue
