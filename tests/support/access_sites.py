"""Whole fabrics with a switch of each system: two-by-two, of which leaf1 runs Cumulus Linux or Onyx.

Those systems are only read, so their files of leaf1 are written by hand (tests/data/acceptance/sites). They have the
addresses, neighbors and AS of the leaf1 that is built. The other three switches are those of the build.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import nodrop
from nodrop.context import FABRIC_FILE
from nodrop.model.reading import Reading
from support.places import DATA
from support.single_faults import RELEASES, Fault, clean, edited, inject, written

_SITES: Final = DATA / "acceptance" / "sites"
_PORTS: Final = {0: 1, 8: 2, 16: 3, 224: 29, 232: 30, 240: 31, 248: 32}
"""The numbers of leaf1's ports in SONiC's names, and on the panel."""
_NAMES: Final = {"cumulus": "swp{}", "onyx": "Eth1/{}"}
_STATED: Final[Mapping[str, Mapping[str, str]]] = {
    "cumulus": {},
    "onyx": {f'["10.2.1.{number}/31"]': f'["10.2.1.{number}/24"]' for number in (1, 9, 17)},
}
"""What is stated otherwise beside them: on Onyx the hosts of leaf1 are in one VLAN."""


@cache
def site(platform: str) -> Mapping[str, str]:
    """Return the clean files of the fabric whose leaf1 runs a system, by device and name."""
    files = written(clean("two-by-two", "sonic", RELEASES["sonic"], "{}"))
    files = {name: text for name, text in files.items() if not name.startswith("leaf1/")}
    for old, new in _STATED[platform].items():
        files[FABRIC_FILE] = files[FABRIC_FILE].replace(old, new)
    for old_number, number in _PORTS.items():
        for end in (" ", "--"):
            old = f"leaf1:Ethernet{old_number}{end}"
            files[FABRIC_FILE] = files[FABRIC_FILE].replace(old, f"leaf1:{_NAMES[platform].format(number)}{end}")
    folder = _SITES / platform
    return files | {
        path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()
    }


def files(case: Fault) -> Mapping[str, str]:
    """Return the files of a whole fabric with the change of a case in them."""
    return inject(case) if case.platform in RELEASES else edited(case, site(case.platform))


@contextmanager
def reading(files: Mapping[str, str]) -> Iterator[Reading]:
    """Read files as `nodrop validate` does; they are there until the end."""
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            if "/apply/" not in name:
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        yield nodrop.read([folder])
