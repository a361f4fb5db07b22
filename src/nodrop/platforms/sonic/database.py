"""The grammar of a database by its version: what older releases of SONiC write in another way.

Sources: sonic-utilities scripts/db_migrator.py. Until 202211 a version was `version_3_0_5`, since 202305 it is
`version_202305_01`; a file that states none is taken for one of today.
"""

import re
from collections.abc import Mapping

from nodrop.syntax.shapes import value_at

_DATABASE_VERSION_PATTERN = re.compile(r"version_([0-9]{1,6})_([0-9]{1,3})(?:_([0-9]{1,3}))?")

FIRST_VERSION_BY_FEATURE = {
    "names without brackets": (3, 0, 3),
    "a mask of the watchdog": (3, 0, 5),
    "queues by host and ASIC": (202311,),
}
"""The first version that writes something: references as bare names (migrate_qos_fieldval_reference_format),
`pfcwd_sw_enable`, which is a copy of pfc_enable on a switch that comes from an older one (version_3_0_4), and keys of
QUEUE on a switch with virtual output queues (sonic-swss pull request 2855)."""

_OTHER_VERSIONS_BY_FEATURE = {
    "names without brackets": ((2, 0, 3), (2, 0, 4)),
    "queues by host and ASIC": ((4, 0, 4), (4, 0, 5)),
}
"""Further versions that write it: branch 202111 has the migration of version_3_0_2 as that of version_2_0_2, and
the main branch had version_4_0_4 and version_4_0_5 while it became 202311."""

_FIRST_RELEASE_NAMED_VERSION = 2023
"""What begins with more is the number of a release, as 202305."""

FIRST_MODELLED_DATABASE_VERSION = FIRST_VERSION_BY_FEATURE["names without brackets"]
"""Databases before it are of 202106 and older: no release whose YANG models are known takes their tables."""


class DatabaseVersion:
    """The version of a database: numbers that grow with time, or None where the tables state none."""

    def __init__(self, tables: Mapping[str, object]) -> None:
        stated = value_at(tables, "VERSIONS", "DATABASE", "VERSION")
        match = _DATABASE_VERSION_PATTERN.fullmatch(stated) if isinstance(stated, str) else None
        self.text = match[0] if match else None
        self._numbers = tuple(int(number_text) for number_text in match.groups() if number_text) if match else None

    def is_new_enough_for(self, feature: str) -> bool:
        """Whether the database is new enough for something in SINCE; KeyError for anything else."""
        numbers = self._numbers
        return (
            numbers is None
            or numbers >= FIRST_VERSION_BY_FEATURE[feature]
            or numbers in _OTHER_VERSIONS_BY_FEATURE.get(feature, ())
        )

    @property
    def is_before_first_known_release(self) -> bool:
        """Whether the database is older than 202305, the first release whose tables of headroom are known."""
        return self._numbers is not None and self._numbers[0] < _FIRST_RELEASE_NAMED_VERSION

    @property
    def features(self) -> frozenset[str]:
        """What of SINCE the database writes: equal tables of databases that differ in it are read differently."""
        return frozenset(filter(self.is_new_enough_for, FIRST_VERSION_BY_FEATURE))

    @property
    def reason_unmodelled(self) -> str | None:
        """Why the YANG models and start scripts of the community do not cover the database; None if they do.

        The community's db_migrator has no version whose second of three numbers is above 0; Broadcom's Enterprise SONiC
        has (version_3_1_2 of 3.1.2), and it has further tables.
        """
        if self._numbers is None or self._numbers[0] >= _FIRST_RELEASE_NAMED_VERSION:
            return None
        if self._numbers[1] > 0:
            return "is of another distribution than the community's"
        return "is older than all YANG models known" if self._numbers < FIRST_MODELLED_DATABASE_VERSION else None
