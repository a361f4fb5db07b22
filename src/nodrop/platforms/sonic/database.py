"""The grammar of a database by its version: what older releases of SONiC write in another way.

Sources: sonic-utilities scripts/db_migrator.py. Until 202211 a version was `version_3_0_5`, since 202305 it is
`version_202305_01`; a file that states none is taken for one of today.
"""

import re
from collections.abc import Mapping

from nodrop.formats.shapes import value_at

_VERSION = re.compile(r"version_([0-9]{1,6})_([0-9]{1,3})(?:_([0-9]{1,3}))?")

SINCE = {
    "names without brackets": (3, 0, 3),
    "a mask of the watchdog": (3, 0, 5),
}
"""The first version that writes something: references as bare names (migrate_qos_fieldval_reference_format), and
`pfcwd_sw_enable`, which is a copy of pfc_enable on a switch that comes from an older one (version_3_0_4)."""

MODELLED_SINCE = SINCE["names without brackets"]
"""Databases before it are of 202106 and older: no release whose YANG models are known takes their tables."""


class Database:
    """The version of a database: numbers that grow with time, or None where the tables state none."""

    def __init__(self, tables: Mapping[str, object]) -> None:
        stated = value_at(tables, "VERSIONS", "DATABASE", "VERSION")
        found = _VERSION.fullmatch(stated) if isinstance(stated, str) else None
        self.text = found[0] if found else None
        self._numbers = tuple(int(part) for part in found.groups() if part) if found else None

    def writes(self, what: str) -> bool:
        """Whether the database is new enough for something in SINCE; KeyError for anything else."""
        return self._numbers is None or self._numbers >= SINCE[what]

    @property
    def is_modelled(self) -> bool:
        """Whether the YANG models that are known can be asked about the database."""
        return self._numbers is None or self._numbers >= MODELLED_SINCE
