"""The files of a SONiC platform that a user downloaded: device/<vendor>/<platform> of sonic-buildimage."""

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_NAME = re.compile(r"[\w.+-]+")
_MOST_BYTES = 4_000_000


class Unusable(Exception):
    """The input is not what the tool expects; the text says what is wrong."""


class SkuFiles:
    """The platform folder; each file that is read is recorded with its SHA-256 digest."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise Unusable(f"{folder}: no such folder; expected device/<vendor>/<platform> of sonic-buildimage")
        self.folder = folder.resolve()
        self.digests: dict[str, str] = {}
        """By the path below the folder, in the order of reading."""
        self.broken: dict[str, str] = {}
        """Links that lead to a file which was not downloaded, and where they lead."""

    @property
    def platform(self) -> str:
        """SONiC's name of the platform, which is that of the folder."""
        return self.folder.name

    @property
    def shown(self) -> str:
        """The folder as sonic-buildimage has it, as far as the path says."""
        parts = self.folder.parts[-3:]
        return "/".join(parts if parts[0] == "device" else parts[-1:])

    def text(self, name: str) -> str | None:
        """Return the text of a file below the folder and record its digest; None if there is no such file."""
        path = self.folder / name
        if path.is_symlink() and not path.exists():
            self.broken[name] = str(path.readlink())
        if not path.is_file():
            return None
        if path.stat().st_size > _MOST_BYTES:
            raise Unusable(f"{name}: more than {_MOST_BYTES:,} bytes")
        raw = path.read_bytes()
        self.digests[name] = hashlib.sha256(raw).hexdigest()
        return raw.decode("utf-8", "replace")

    def document(self, name: str) -> dict[str, Any]:
        """Return the object that a JSON file holds; an empty one if there is no such file."""
        text = self.text(name)
        if text is None:
            return {}
        try:
            found = json.loads(text)
        except ValueError as error:
            raise Unusable(f"{name}: {error}; expected JSON") from None
        if not isinstance(found, dict):
            raise Unusable(f"{name}: expected a JSON object")
        return found

    def rows(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a port_config.ini by the columns of its last comment; none if there is no such file."""
        columns: list[str] = []
        found = []
        for line in (self.text(name) or "").splitlines():
            if line.startswith("#"):
                columns = line.lstrip("#").split() or columns
            elif line.strip():
                found.append(dict(zip(columns or ["name", "lanes", "alias"], line.split(), strict=False)))
        return found

    def hwskus(self) -> tuple[str, ...]:
        """Return the HWSKUs of the platform, sorted: the folders that name ports."""
        return tuple(sorted(path.name for path in self.folder.iterdir() if self._names_ports(path)))

    def config_names(self) -> Iterator[str]:
        """Yield the names of the ASIC's own configuration files, which often name the ASIC."""
        yield from sorted({path.name for path in (*self.folder.glob("*.bcm"), *self.folder.glob("*/*.bcm"))})

    @staticmethod
    def _names_ports(path: Path) -> bool:
        files = ("port_config.ini", "hwsku.json")
        return bool(_NAME.fullmatch(path.name)) and any((path / name).is_file() for name in files)
