"""How a SONiC switch starts FRR: the mode of the bgp container, and what happens to each file of FRR in it.

The mode is DEVICE_METADATA.docker_routing_config_mode. At each start and after each reload, db_migrator sets it to that
of minigraph.xml, overridden by golden_config_db.json, if they exist (sonic-utilities scripts/db_migrator.py,
migrate_routing_config_mode and generate_config_src). The effects of the modes: sonic-buildimage
dockers/docker-fpm-frr/docker_init.sh.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nodrop.platforms.sonic.database import DatabaseVersion
from nodrop.platforms.sonic.document import FILE, GOLDEN_FILE, LOCALHOST, MODE, Document, merge_documents
from nodrop.platforms.sonic.releases import RELEASES, knows
from nodrop.platforms.sonic.schema import release_of
from nodrop.syntax.shapes import mapping_at, value_at

FRR_FILE = "frr.conf"
DAEMON_FILES = ("zebra.conf", "staticd.conf", "bgpd.conf")
"""A file for each daemon, in the order in which they are read here as one text."""
FRR_FILES = (FRR_FILE, *DAEMON_FILES)
MINIGRAPH = "minigraph.xml"
MIGRATED_FROM = (MINIGRAPH, GOLDEN_FILE)
"""The files from which db_migrator takes the mode, the later over the earlier."""

DELETED, OVERWRITTEN = "deletes it", "writes it from the tables"
_OF_MINIGRAPH = re.compile(r"<(?:\w{1,40}:)?DockerRoutingConfigMode>\s*([\w-]{1,40})\s*<")
_MODE_OF_MINIGRAPH = "separated"
"""The mode of a minigraph that states none (sonic-buildimage src/sonic-config-engine/minigraph.py, parse_xml)."""
_FROM_TABLES = ("", "separated")


@dataclass(frozen=True, slots=True)
class Start:
    """The mode that the bgp container starts in, empty if none is set, and the file that it is taken from."""

    mode: str
    taken_from: str
    fates: Mapping[str, str]
    """What the container does with each file of FRR that it does not keep."""


def migrated_from(release: str) -> list[str]:
    """Return the files that db_migrator of a release takes the mode from, the later over the earlier."""
    return [name for name in MIGRATED_FROM if name != GOLDEN_FILE or knows(release, "modes of a golden configuration")]


def start_of(documents: Sequence[Document], minigraph: str | None) -> Start | None:
    """Return how the bgp container starts; None if no table states the kind of switch, as in a part of a file.

    The same applies to a database older than the modes (sonic-buildimage pull request 7307, 2021) or of another
    distribution. A release that no table names is taken for the newest.
    """
    tables = merge_documents(documents)
    row = value_at(tables, *LOCALHOST)
    if not isinstance(row, Mapping) or DatabaseVersion(tables).unmodelled:
        return None
    release = release_of(value_at(tables, "VERSIONS", "DATABASE", "VERSION")) or max(RELEASES)
    stated_mode = str(row.get(MODE) or "")
    mode, taken_from = stated_mode, FILE
    tables_of = {document.name: document.tables for document in documents}
    golden = mapping_at(tables_of.get(GOLDEN_FILE), *LOCALHOST) if FILE in tables_of else {}
    for name in migrated_from(release):
        if name == MINIGRAPH and minigraph is not None:
            stated = _OF_MINIGRAPH.search(minigraph)
            mode, taken_from = stated[1] if stated else _MODE_OF_MINIGRAPH, name
        elif name == GOLDEN_FILE and golden:
            mode, taken_from = str(golden.get(MODE) or ""), name
    if mode == stated_mode:
        taken_from = FILE
    framework = row.get("frr_mgmt_framework_config") == "true"
    return Start(
        mode, taken_from, _fate_by_file(mode, whole=framework and knows(release, "separated routing in frr.conf"))
    )


def _fate_by_file(mode: str, *, whole: bool) -> Mapping[str, str]:
    """Return what becomes of the files that are not kept; in `separated` frr.conf is written where that is `whole`."""
    if mode == "split":
        return {FRR_FILE: DELETED}
    if mode == "split-unified":
        return dict.fromkeys(DAEMON_FILES, DELETED)
    if mode == "unified" or (mode in _FROM_TABLES and whole):
        return {FRR_FILE: OVERWRITTEN, **dict.fromkeys(DAEMON_FILES, DELETED)}
    return {FRR_FILE: DELETED, **dict.fromkeys(DAEMON_FILES, OVERWRITTEN)} if mode in _FROM_TABLES else {}
