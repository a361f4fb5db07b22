"""The root of a twin's process tree: programs of the system and Python's modules, read-only, and empty folders.

Nothing else of the host has a name there: no home, no checkout, no socket, no other process. It is made by the first
process of the tree, before a second user namespace is: the kernel lets nobody in that one change or lift a mount.
"""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from nodrop.errors import ServiceUnavailable
from nodrop.validating.twin import syscalls

HOME: Final = Path("/run/nodrop")
"""Where daemons have their files and sockets."""
FILES_BYTES: Final = 512 << 20
"""How much all that is written may come to: sockets, logs and files of daemons take 0.2 MB for each device."""
_INODES: Final = 100_000

_SYSTEM: Final = (
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32"),
    *("/usr/lib64", "/usr/libx32", "/usr/libexec", "/usr/local/bin", "/usr/local/sbin", "/usr/local/lib"),
    *("/usr/share/yang", "/etc/ld.so.cache"),
)
"""Where programs and libraries are, of FRR, of `ip`, of Python; FRR looks for its models in the last folder."""
_NODES: Final = ("null", "zero", "random", "urandom")
_OLD: Final = "/.host"
"""Where the former root is while the new one is made."""
_WRITABLE: Final = ("/run", "/tmp")  # noqa: S108 -- in a root of its own
_LINKS: Final = {"/var/run": "/run", "/var/tmp": "/tmp", "/dev/fd": "/proc/self/fd"}  # noqa: S108
"""Names that programs have for these (`ip netns`; FRR, lib/zlog_5424.c and lib/zlog.c: /var/tmp/frr)."""
_SETTINGS: Final = ("/proc/sys/net", "/proc/sys/user")
"""Of the kernel's settings, those that are of the tree's own namespaces alone."""
_FILES: Final = {
    "/etc/passwd": "root:x:0:0:root:/:/bin/sh\n",
    # FRR asks that whoever it runs as be in the group of its sockets (lib/privs.c, zprivs_init); here all is root's.
    "/etc/group": "root:x:0:\nfrr:x:0:\nfrrvty:x:0:\n",
    # Without it vtysh ends before it reads anything, and with 0 (vtysh/vtysh_user.c, vtysh_pam).
    "/etc/pam.d/frr": "auth sufficient pam_rootok.so\naccount sufficient pam_rootok.so\n",
}
_NEVER: Final = frozenset({"/", "/dev", "/etc", "/home", "/proc", "/root", "/run", "/sys", "/var", *_WRITABLE})
"""Folders that are not shown even if Python imports from them; a module that lies there is not found."""
_DATA: Final = syscalls.READ_ONLY | syscalls.NO_SET_USER | syscalls.NO_DEVICES
_OWN: Final = syscalls.NO_SET_USER | syscalls.NO_DEVICES | syscalls.NO_PROGRAMS


def enter_own_root(owner: int) -> None:
    """Make the root and enter it; files written there belong to a user of this namespace, by number.

    It needs a separate mount and process namespace. ServiceUnavailable if the kernel refuses a part.
    """
    try:
        _enter_own_root(owner)
    except OSError as error:
        raise ServiceUnavailable(f"the kernel refuses a separate root folder for the twin: {error}; {_HINT}") from None


_HINT: Final = "it takes Linux 5.12 or later, and a container that allows mounts"


def _enter_own_root(owner: int) -> None:
    shown = [(path, os.path.realpath(path)) for path in (*_SYSTEM, *python_import_paths()) if os.path.exists(path)]  # noqa: PTH110
    syscalls.keep_private()
    syscalls.mount("tmpfs", "/proc", _OWN, "size=4m,mode=755")  # any folder would do: it is moved to the root at once
    os.mkdir(f"/proc{_OLD}")  # noqa: PTH102
    syscalls.change_root("/proc", f"/proc{_OLD}")
    os.chdir("/")
    for folder in ("/etc/frr", "/var", "/dev", "/proc", *_WRITABLE):
        Path(folder).mkdir(parents=True)
    for folder in _WRITABLE:
        data = f"size={FILES_BYTES // len(_WRITABLE)},nr_inodes={_INODES},mode=755,uid={owner},gid={owner}"
        syscalls.mount("tmpfs", folder, _OWN, data)
    for name, target in _LINKS.items():
        Path(name).symlink_to(target)
    for file, text in _FILES.items():
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text(text)
    for path in _outermost_paths(real for _, real in shown):
        _bind_host_path(path, _DATA)
    for path, real in sorted(shown):
        if not os.path.lexists(path):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).symlink_to(real)
    for node in _NODES:
        _bind_host_path(f"/dev/{node}", _DATA & ~syscalls.NO_DEVICES)
    syscalls.mount("proc", "/proc", _OWN)
    for settings in _SETTINGS:
        syscalls.bind_mount(settings, settings, _OWN)
    syscalls.bind_mount("/proc/sys", "/proc/sys", _OWN | syscalls.READ_ONLY, recursive=False)
    syscalls.unmount_tree(_OLD)
    os.rmdir(_OLD)  # noqa: PTH106
    syscalls.set_mount_flags("/", syscalls.READ_ONLY)


def python_import_paths() -> list[str]:
    """Return the folders and files that Python imports from, and the libraries that its modules are linked with."""
    return [*filter(os.path.isabs, sys.path), os.path.join(sys.base_prefix, "lib")]  # noqa: PTH118


def _outermost_paths(paths: Iterable[str]) -> list[str]:
    """Return paths without those that lie in another, and without any that would show the host's own state."""
    outermosts: list[str] = []
    never = {*_NEVER, os.path.realpath(os.environ.get("HOME", "/"))}
    for path in sorted(set(paths) - never, key=lambda path: path.count("/")):
        if not any(path.startswith(f"{outermost}/") for outermost in outermosts):
            outermosts.append(path)
    return outermosts


def _bind_host_path(path: str, flags: int) -> None:
    """Show a file or folder of the former root under its own name."""
    source, target = Path(f"{_OLD}{path}"), Path(path)
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    syscalls.bind_mount(str(source), path, flags)
