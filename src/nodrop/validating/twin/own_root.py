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

DAEMONS_FOLDER: Final = Path("/run/nodrop")
"""Where daemons have their files and sockets."""
MAX_WRITTEN_BYTES: Final = 512 << 20
"""How much all that is written may come to: sockets, logs and files of daemons take 0.2 MB for each device."""
_MAX_INODES: Final = 100_000

_PROGRAM_AND_LIBRARY_FOLDERS: Final = (
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32"),
    *("/usr/lib64", "/usr/libx32", "/usr/libexec", "/usr/local/bin", "/usr/local/sbin", "/usr/local/lib"),
    *("/usr/share/yang", "/etc/ld.so.cache"),
)
"""Where programs and libraries are, of FRR, of `ip`, of Python; FRR looks for its models in the last folder."""
_DEVICE_NODES: Final = ("null", "zero", "random", "urandom")
_OLD_ROOT_PATH: Final = "/.host"
"""Where the former root is while the new one is made."""
_WRITABLE_FOLDERS: Final = ("/run", "/tmp")  # noqa: S108 -- in a root of its own
_LINK_TARGET_BY_PATH: Final = {"/var/run": "/run", "/var/tmp": "/tmp", "/dev/fd": "/proc/self/fd"}  # noqa: S108
"""Names that programs have for these (`ip netns`; FRR, lib/zlog_5424.c and lib/zlog.c: /var/tmp/frr)."""
_NAMESPACED_SYSCTL_FOLDERS: Final = ("/proc/sys/net", "/proc/sys/user")
"""Of the kernel's settings, those that are of the tree's own namespaces alone."""
_CONTENT_BY_ETC_FILE: Final = {
    "/etc/passwd": "root:x:0:0:root:/:/bin/sh\n",
    # FRR asks that whoever it runs as be in the group of its sockets (lib/privs.c, zprivs_init); here all is root's.
    "/etc/group": "root:x:0:\nfrr:x:0:\nfrrvty:x:0:\n",
    # Without it vtysh ends before it reads anything, and with 0 (vtysh/vtysh_user.c, vtysh_pam).
    "/etc/pam.d/frr": "auth sufficient pam_rootok.so\naccount sufficient pam_rootok.so\n",
}
_FOLDERS_NEVER_SHOWN: Final = frozenset(
    {"/", "/dev", "/etc", "/home", "/proc", "/root", "/run", "/sys", "/var", *_WRITABLE_FOLDERS}
)
"""Folders that are not shown even if Python imports from them; a module that lies there is not found."""
_READ_ONLY_MOUNT_FLAGS: Final = syscalls.MOUNT_READ_ONLY | syscalls.MOUNT_NO_SUID | syscalls.MOUNT_NO_DEVICES
_TMPFS_MOUNT_FLAGS: Final = syscalls.MOUNT_NO_SUID | syscalls.MOUNT_NO_DEVICES | syscalls.MOUNT_NO_EXEC


def enter_private_root(owner: int) -> None:
    """Make the root and enter it; files written there belong to a user of this namespace, by number.

    It needs a separate mount and process namespace. ServiceUnavailable if the kernel refuses a part.
    """
    try:
        _mount_private_root(owner)
    except OSError as error:
        raise ServiceUnavailable(
            f"the kernel refuses a separate root folder for the twin: {error}; {_KERNEL_REQUIREMENT_HINT}"
        ) from None


_KERNEL_REQUIREMENT_HINT: Final = "it takes Linux 5.12 or later, and a container that allows mounts"


def _mount_private_root(owner: int) -> None:
    folders = (*_PROGRAM_AND_LIBRARY_FOLDERS, *python_import_and_library_paths())
    shown = [(path, os.path.realpath(path)) for path in folders if os.path.exists(path)]  # noqa: PTH110
    syscalls.make_mounts_private()
    syscalls.mount_file_system(
        "tmpfs", "/proc", _TMPFS_MOUNT_FLAGS, "size=4m,mode=755"
    )  # any folder would do: it is moved to the root at once
    os.mkdir(f"/proc{_OLD_ROOT_PATH}")  # noqa: PTH102
    syscalls.pivot_mount_root("/proc", f"/proc{_OLD_ROOT_PATH}")
    os.chdir("/")
    for folder in ("/etc/frr", "/var", "/dev", "/proc", *_WRITABLE_FOLDERS):
        Path(folder).mkdir(parents=True)
    for folder in _WRITABLE_FOLDERS:
        size_bytes = MAX_WRITTEN_BYTES // len(_WRITABLE_FOLDERS)
        data = f"size={size_bytes},nr_inodes={_MAX_INODES},mode=755,uid={owner},gid={owner}"
        syscalls.mount_file_system("tmpfs", folder, _TMPFS_MOUNT_FLAGS, data)
    for name, target in _LINK_TARGET_BY_PATH.items():
        Path(name).symlink_to(target)
    for file, text in _CONTENT_BY_ETC_FILE.items():
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text(text)
    for path in _outermost_paths(real for _, real in shown):
        _bind_old_root_path(path, _READ_ONLY_MOUNT_FLAGS)
    for path, real in sorted(shown):
        if not os.path.lexists(path):
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).symlink_to(real)
    for node in _DEVICE_NODES:
        _bind_old_root_path(f"/dev/{node}", _READ_ONLY_MOUNT_FLAGS & ~syscalls.MOUNT_NO_DEVICES)
    syscalls.mount_file_system("proc", "/proc", _TMPFS_MOUNT_FLAGS)
    for settings in _NAMESPACED_SYSCTL_FOLDERS:
        syscalls.bind_mount(settings, settings, _TMPFS_MOUNT_FLAGS)
    syscalls.bind_mount("/proc/sys", "/proc/sys", _TMPFS_MOUNT_FLAGS | syscalls.MOUNT_READ_ONLY, recursive=False)
    syscalls.unmount_tree(_OLD_ROOT_PATH)
    os.rmdir(_OLD_ROOT_PATH)  # noqa: PTH106
    syscalls.set_mount_flags("/", syscalls.MOUNT_READ_ONLY)


def python_import_and_library_paths() -> list[str]:
    """Return the folders and files that Python imports from, and the libraries that its modules are linked with."""
    return [*filter(os.path.isabs, sys.path), os.path.join(sys.base_prefix, "lib")]  # noqa: PTH118


def _outermost_paths(paths: Iterable[str]) -> list[str]:
    """Return paths without those that lie in another, and without any that would show the host's own state."""
    outermosts: list[str] = []
    never = {*_FOLDERS_NEVER_SHOWN, os.path.realpath(os.environ.get("HOME", "/"))}
    for path in sorted(set(paths) - never, key=lambda path: path.count("/")):
        if not any(path.startswith(f"{outermost}/") for outermost in outermosts):
            outermosts.append(path)
    return outermosts


def _bind_old_root_path(path: str, flags: int) -> None:
    """Show a file or folder of the former root under its own name."""
    source, target = Path(f"{_OLD_ROOT_PATH}{path}"), Path(path)
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    syscalls.bind_mount(str(source), path, flags)
