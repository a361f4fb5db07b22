"""A cache of earlier results, in files of the user's own cache folder: bytes by a key, or nothing, and never an error.

A key names all that an answer depends on, so nothing here ever goes stale. Any fault of an entry (cut short,
altered, of another version, of another owner, no file at all) makes the entry absent. Processes
share the folder without a lock: an entry appears whole under its name, and the second writer writes the same again.

Every entry is sealed with a secret of the user, so nobody else can write one: a checkout belongs to the user too,
but its files may come from anybody. For the same reason, neither the folder nor the secret may be in a git work
tree, or in, above or at a path that is checked.
"""

import hashlib
import hmac
import os
import secrets
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TypeVar

from nodrop.errors import describe_os_failure
from nodrop.resources import resource_folder

MAX_CACHE_BYTES = 256 << 20
"""How much all entries together may hold; the oldest go first. Readings of 10,000 switches are 8 MB (measured)."""

MAX_ENTRY_BYTES = 64 << 20
"""How much one entry may hold, compressed, and eight times as much when it is not."""

_CACHE_FORMAT_HEADER = b"nodrop 2"
_DIGEST_BYTES = 32
_KEY_FILE = "cache.key"
_SECRET_BYTES = 32
_UNFINISHED_FILE_START = ".new-"
_UNFINISHED_FILE_AGE_S = 3600.0
"""After how long a file that a process began and did not finish is taken away."""
_USE_MARK_INTERVAL_S = 3600.0
"""How often an entry is marked as used, at most, so that the oldest are those of which nobody makes use."""
_VERSIONED_LIBRARIES = ("jinja2", "netaddr", "orjson", "pydantic", "ruamel.yaml")


_Decoded = TypeVar("_Decoded")


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of entries, the digest of the code that makes them and the secret; it travels between processes."""

    folder: Path
    code: bytes
    seal: bytes = field(repr=False)

    def entry_name(self, kind: str, *chunks: bytes) -> str:
        """Return the name of the entry of a kind that depends on these parts, in this order, and on the code."""
        return digest_of(_CACHE_FORMAT_HEADER, self.code, kind.encode(), *chunks).hex()

    def authentication_code(self, key: str, data: bytes) -> bytes:
        """Return the code that proves that the user wrote an entry, whole, under this key."""
        return _hash_chunks(hashlib.blake2b(digest_size=_DIGEST_BYTES, key=self.seal), (key.encode(), data))

    def get(self, key: str) -> bytes | None:
        """Return the data kept under a key; None if there is none, or none that can be trusted."""
        raw = _read_cache_entry(self.folder, key)
        if raw is None or not raw.startswith(_CACHE_FORMAT_HEADER):
            return None
        head = len(_CACHE_FORMAT_HEADER) + _DIGEST_BYTES
        if not hmac.compare_digest(raw[len(_CACHE_FORMAT_HEADER) : head], self.authentication_code(key, raw[head:])):
            return None
        unpacking = zlib.decompressobj()
        try:
            data = unpacking.decompress(raw[head:], 8 * MAX_ENTRY_BYTES)
        except (zlib.error, MemoryError):
            return None
        return data if unpacking.eof else None

    def recall(self, key: str, decode: Callable[[bytes], _Decoded]) -> _Decoded | None:
        """Return what the data under a key decodes to; None if there is none.

        Data that cannot be decoded (ValueError, TypeError, LookupError, AttributeError) is removed and counts as none.
        """
        data = self.get(key)
        try:
            return None if data is None else decode(data)
        except (ValueError, TypeError, LookupError, AttributeError):
            self.drop(key)
            return None

    def has(self, key: str) -> bool:
        """Whether there is an entry under a key, trusted or not."""
        descriptor = _open_cache_folder(self.folder)
        try:
            return descriptor is not None and stat.S_ISREG(
                os.stat(key, dir_fd=descriptor, follow_symlinks=False).st_mode
            )
        except OSError:
            return False

    def put(self, key: str, data: bytes) -> None:
        """Keep bytes under a key; where that is not to be had, nothing is kept."""
        squeezed = zlib.compress(data, 1)
        descriptor = _open_cache_folder(self.folder)
        if descriptor is None or len(squeezed) > MAX_ENTRY_BYTES or len(data) > 8 * MAX_ENTRY_BYTES:
            return
        new = f"{_UNFINISHED_FILE_START}{secrets.token_hex(8)}"
        try:
            file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=descriptor)
            try:
                with os.fdopen(file, "wb") as writing:
                    writing.write(_CACHE_FORMAT_HEADER + self.authentication_code(key, squeezed) + squeezed)
                os.rename(new, key, src_dir_fd=descriptor, dst_dir_fd=descriptor)
            except OSError:
                os.unlink(new, dir_fd=descriptor)
        except OSError:  # no room, no right, or the folder is gone
            return

    def drop(self, key: str) -> None:
        """Remove the data kept under a key to have it computed again."""
        descriptor = _open_cache_folder(self.folder)
        try:
            if descriptor is not None:
                os.unlink(key, dir_fd=descriptor)
        except OSError:
            return

    def prune(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        """Take away the entries that were used longest ago until no more than `max_bytes` bytes are left."""
        entries = sorted(_cache_entries(self.folder), key=lambda entry: (-entry[0], entry[2]))
        begun_before, total_bytes = time.time() - _UNFINISHED_FILE_AGE_S, 0
        for used, size, name in entries:
            unfinished = name.startswith(_UNFINISHED_FILE_START)
            total_bytes += size
            if total_bytes > max_bytes or (unfinished and used < begun_before):
                self.drop(name)


def digest_of(*chunks: bytes) -> bytes:
    """Return the digest of some texts, each separated from the next by its length."""
    return _hash_chunks(hashlib.blake2b(digest_size=_DIGEST_BYTES), chunks)


def _hash_chunks(begun: hashlib.blake2b, chunks: Iterable[bytes]) -> bytes:
    for chunk in chunks:
        begun.update(len(chunk).to_bytes(8))
        begun.update(chunk)
    return begun.digest()


def open_user_store(checked_paths: Iterable[str | Path]) -> Store | None:
    """Return the user's own store; None where there can be none, which `why_no_user_store` explains.

    `checked_paths` are the paths that the command reads.
    """
    store = _find_store_or_fault(checked_paths)
    return store if isinstance(store, Store) else None


def why_no_user_store(checked_paths: Iterable[str | Path]) -> str:
    """Return why nothing is kept, in words for the user."""
    return f"nothing is kept for the next run: {_find_store_or_fault(checked_paths)}"


def _find_store_or_fault(checked: Iterable[str | Path]) -> Store | str:
    """Return the store, or why there is none."""
    folder, home_of_secret = _xdg_folder("XDG_CACHE_HOME", ".cache"), _xdg_folder("XDG_STATE_HOME", ".local/state")
    if folder is None or home_of_secret is None:
        return "no home folder to keep it in"
    paths = list(checked)
    for place in (folder, home_of_secret):
        if why := _why_folder_exposed(place, paths):
            return f"{place} {why}"
    if _open_cache_folder(folder) is None:
        return _describe_folder_fault(folder)
    seal = _load_or_create_secret(home_of_secret)
    return Store(folder, code_digest(), seal) if isinstance(seal, bytes) else seal


def _why_folder_exposed(folder: Path, checked: Iterable[str | Path]) -> str | None:
    """Return why what somebody else wrote may lie in a folder; None where that is not so."""
    try:
        real = folder.resolve()
        if any(os.path.lexists(above / ".git") for above in (real, *real.parents)):
            return "is inside a git work tree"
        for path in checked:
            other_path = Path(path).resolve()
            if other_path == real or other_path in real.parents or real in other_path.parents:
                return f"lies in, above or at {path}, a path that is checked"
    except (OSError, RuntimeError, ValueError) as error:  # a link that leads to itself, or a name that is none
        return f"cannot be found: {error}"
    return None


@cache
def _load_or_create_secret(folder: Path) -> bytes | str:
    """Return the user's secret, created if there was none; else its fault, in words."""
    descriptor, file = _open_cache_folder(folder), folder / _KEY_FILE
    if descriptor is None:
        return _describe_folder_fault(folder)
    try:
        try:
            return _read_secret(descriptor, file)
        except FileNotFoundError:
            _create_secret_file(descriptor)
            return _read_secret(descriptor, file)
    except OSError as error:
        return f"{file}: {describe_os_failure(error)}".lower()


def _read_secret(descriptor: int, file: Path) -> bytes | str:
    status = os.stat(_KEY_FILE, dir_fd=descriptor, follow_symlinks=False)
    if not stat.S_ISREG(status.st_mode):
        return f"{file} is not a file"
    opening = os.open(_KEY_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=descriptor)
    with os.fdopen(opening, "rb") as reading:
        status = os.fstat(opening)
        if not stat.S_ISREG(status.st_mode):
            return f"{file} is not a file"
        if status.st_uid != os.geteuid():
            return f"{file} belongs to another user"
        if status.st_mode & 0o077:
            return f"{file} can be read by others"
        secret = reading.read(_SECRET_BYTES + 1)
    return secret if len(secret) == _SECRET_BYTES else f"{file} is no key of nodrop"


def _create_secret_file(descriptor: int) -> None:
    """Make a secret, unless another process has made one in between: it appears whole under its name, once."""
    new = f"{_UNFINISHED_FILE_START}{secrets.token_hex(8)}"
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=descriptor)
    try:
        with os.fdopen(file, "wb") as writing:
            writing.write(secrets.token_bytes(_SECRET_BYTES))
        os.link(new, _KEY_FILE, src_dir_fd=descriptor, dst_dir_fd=descriptor, follow_symlinks=False)
    except FileExistsError:
        pass
    finally:
        os.unlink(new, dir_fd=descriptor)


def _xdg_folder(variable: str, otherwise: str) -> Path | None:
    """Return a folder of the XDG Base Directory Specification; a relative path in a variable is ignored."""
    stated = os.environ.get(variable, "")
    try:
        base = Path(stated) if Path(stated).is_absolute() else Path.home() / otherwise
    except RuntimeError:
        return None
    return base / "nodrop" if base.is_absolute() else None


@cache
def _open_cache_folder(folder: Path) -> int | None:
    """Return the folder, open, created if there was none; None if it is not safe, or not available.

    All work in it uses this descriptor, so putting another folder in its place gains nothing.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        if _why_folder_unsafe(os.fstat(descriptor)) is None:
            return descriptor
        os.close(descriptor)
    except (OSError, ValueError):
        pass
    return None


def _describe_folder_fault(folder: Path) -> str:
    """Return the fault of a folder, in words."""
    try:
        status = folder.lstat()
    except (OSError, ValueError) as error:
        return f"{folder}: {describe_os_failure(error)}".lower()
    return f"{folder} {_why_folder_unsafe(status) or 'cannot be opened'}"


def _why_folder_unsafe(status: os.stat_result) -> str | None:
    """Return why what lies in a folder is not to be believed; None where only the user can have put it there."""
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    if status.st_uid != os.geteuid():
        return "belongs to another user"
    return "can be written by others" if status.st_mode & 0o022 else None


def _read_cache_entry(folder: Path, name: str) -> bytes | None:
    """Return the bytes of an entry; None where it is no file of the user's own of a possible size."""
    descriptor = _open_cache_folder(folder)
    if descriptor is None:
        return None
    try:
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=descriptor)
        with os.fdopen(file, "rb") as reading:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_size > MAX_ENTRY_BYTES:
                return None
            if time.time() - status.st_mtime > _USE_MARK_INTERVAL_S:
                os.utime(file)
            return reading.read(MAX_ENTRY_BYTES)
    except (OSError, MemoryError):
        return None


def _cache_entries(folder: Path) -> Iterator[tuple[float, int, str]]:
    """Yield the time of use, the size and the name of each entry."""
    try:
        with os.scandir(folder) as scandir_iterator:
            for entry in scandir_iterator:
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:  # gone in between
                    continue
                yield status.st_mtime, status.st_size, entry.name
    except OSError:
        return


@cache
def code_digest() -> bytes:
    """Return a digest of everything that decides what comes of an input: nodrop's code and data, Python, libraries."""
    package = Path(__file__).parent
    chunks = [repr((sys.implementation.name, sys.version_info[:2])).encode()]
    chunks += [f"{name} {metadata.version(name)}".encode() for name in _VERSIONED_LIBRARIES]
    for top in map(str, (package, *map(resource_folder, ("rules", "profiles", "templates")))):
        for path in sorted(_find_code_files(top)):
            with open(path, "rb") as file:  # noqa: PTH123 -- seven hundred files, at every start
                chunks += [path[len(top) :].encode(), file.read()]
    return digest_of(*chunks)


def _find_code_files(top: str) -> Iterator[str]:
    """Yield the files of code and data below a folder, not what Python makes of them."""
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (f"{folder}/{name}" for name in names)
