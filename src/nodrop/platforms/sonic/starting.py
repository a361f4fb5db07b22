"""How a SONiC switch starts FRR: the mode of the bgp container, and what happens to each file of FRR in it.

The mode is DEVICE_METADATA.docker_routing_config_mode. At each start and after each reload, db_migrator sets it to that
of minigraph.xml, overridden by golden_config_db.json, if they exist (sonic-utilities scripts/db_migrator.py,
migrate_routing_config_mode and generate_config_src). The effects of the modes: sonic-buildimage
dockers/docker-fpm-frr/docker_init.sh.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nodrop.platforms.frr.files import BGPD_FILE, FRR_FILE, STATICD_FILE, ZEBRA_FILE
from nodrop.platforms.sonic.database import DatabaseVersion
from nodrop.platforms.sonic.document import (
    CONFIG_DB_FILE,
    GOLDEN_FILE,
    LOCALHOST_PATH,
    ROUTING_MODE_FIELD,
    TablesDocument,
    merge_documents,
)
from nodrop.platforms.sonic.releases import DATABASE_VERSION_BY_RELEASE, has_feature
from nodrop.platforms.sonic.schema import release_of_database_version
from nodrop.syntax.shapes import mapping_at, value_at

DAEMON_FILES = (ZEBRA_FILE, STATICD_FILE, BGPD_FILE)
"""A file for each daemon, in the order in which they are read here as one text."""
FRR_FILES = (FRR_FILE, *DAEMON_FILES)
MINIGRAPH_FILE = "minigraph.xml"
MODE_MIGRATION_FILES = (MINIGRAPH_FILE, GOLDEN_FILE)
"""The files from which db_migrator takes the mode, the later over the earlier."""

DELETED, OVERWRITTEN = "deletes it", "writes it from the tables"
_MINIGRAPH_MODE_PATTERN = re.compile(r"<(?:\w{1,40}:)?DockerRoutingConfigMode>\s*([\w-]{1,40})\s*<")
_DEFAULT_MINIGRAPH_MODE = "separated"
"""The mode of a minigraph that states none (sonic-buildimage src/sonic-config-engine/minigraph.py, parse_xml)."""
_TABLE_DRIVEN_MODES = ("", "separated")


@dataclass(frozen=True, slots=True)
class BgpContainerStart:
    """The mode that the bgp container starts in, empty if none is set, and the file that it is taken from."""

    mode: str
    taken_from: str
    fates: Mapping[str, str]
    """What the container does with each file of FRR that it does not keep."""


def routing_mode_source_files(release: str) -> list[str]:
    """Return the files that db_migrator of a release takes the mode from, the later over the earlier."""
    return [
        name
        for name in MODE_MIGRATION_FILES
        if name != GOLDEN_FILE or has_feature(release, "modes of a golden configuration")
    ]


def bgp_container_start_of(documents: Sequence[TablesDocument], minigraph: str | None) -> BgpContainerStart | None:
    """Return how the bgp container starts; None if no table states the kind of switch, as in a part of a file.

    The same applies to a database older than the modes (sonic-buildimage pull request 7307, 2021) or of another
    distribution. A release that no table names is taken for the newest.
    """
    tables = merge_documents(documents)
    row = value_at(tables, *LOCALHOST_PATH)
    if not isinstance(row, Mapping) or DatabaseVersion(tables).reason_unmodelled:
        return None
    release = release_of_database_version(value_at(tables, "VERSIONS", "DATABASE", "VERSION")) or max(
        DATABASE_VERSION_BY_RELEASE
    )
    stated_mode = str(row.get(ROUTING_MODE_FIELD) or "")
    mode, taken_from = stated_mode, CONFIG_DB_FILE
    tables_of = {document.name: document.tables for document in documents}
    golden = mapping_at(tables_of.get(GOLDEN_FILE), *LOCALHOST_PATH) if CONFIG_DB_FILE in tables_of else {}
    for name in routing_mode_source_files(release):
        if name == MINIGRAPH_FILE and minigraph is not None:
            stated = _MINIGRAPH_MODE_PATTERN.search(minigraph)
            mode, taken_from = stated[1] if stated else _DEFAULT_MINIGRAPH_MODE, name
        elif name == GOLDEN_FILE and golden:
            mode, taken_from = str(golden.get(ROUTING_MODE_FIELD) or ""), name
    if mode == stated_mode:
        taken_from = CONFIG_DB_FILE
    framework = row.get("frr_mgmt_framework_config") == "true"
    return BgpContainerStart(
        mode,
        taken_from,
        _fate_by_unkept_file(mode, whole=framework and has_feature(release, "separated routing in frr.conf")),
    )


def _fate_by_unkept_file(mode: str, *, whole: bool) -> Mapping[str, str]:
    """Return what becomes of the files that are not kept; in `separated` frr.conf is written where that is `whole`."""
    if mode == "split":
        return {FRR_FILE: DELETED}
    if mode == "split-unified":
        return dict.fromkeys(DAEMON_FILES, DELETED)
    if mode == "unified" or (mode in _TABLE_DRIVEN_MODES and whole):
        return {FRR_FILE: OVERWRITTEN, **dict.fromkeys(DAEMON_FILES, DELETED)}
    return {FRR_FILE: DELETED, **dict.fromkeys(DAEMON_FILES, OVERWRITTEN)} if mode in _TABLE_DRIVEN_MODES else {}
