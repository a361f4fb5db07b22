"""The script that loads a switch's two files, `apply/apply.sh`, and what it needs to know of the release."""

from nodrop.platforms.rendering import template
from nodrop.platforms.sonic.releases import SAME_AS

_READS_GOLDEN_SINCE = "202311"
"""The first release whose db_migrator reads golden_config_db.json."""


def apply_script(release: str) -> str:
    """Return the script for switches of a release; all that it needs to know of one switch is in the switch's files.

    `migrated_from` are the files from which db_migrator takes the routing mode (sonic-utilities scripts/db_migrator.py,
    migrate_routing_config_mode and generate_config_src), the later over the earlier.
    """
    golden = ["golden_config_db.json"] if release >= _READS_GOLDEN_SINCE else []
    return template("sonic/apply.sh.j2").render(
        releases=[release, *(branch for branch, same in SAME_AS.items() if same == release)],
        migrated_from=["minigraph.xml", *golden],
    )
