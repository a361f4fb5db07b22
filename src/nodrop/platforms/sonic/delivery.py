"""How FRR of a switch gets its configuration: the mode of the bgp container, and the script that loads the files.

Modes (sonic-buildimage dockers/docker-fpm-frr/docker_init.sh, frr/supervisord): `split-unified` keeps the frr.conf
that is there; `unified` makes frr.conf of the tables, and `vtysh -b` loads it. From 202605 on `separated` makes a
frr.conf of the tables too (pull request 27547), but nothing loads it: `vtysh -b` runs in the two other modes only.
"""

from collections.abc import Iterator

from nodrop.model.fabric import Device
from nodrop.platforms.kit.artifact import FirstApplyDisruption
from nodrop.platforms.kit.rendering import load_template
from nodrop.platforms.sonic.releases import RELEASE_BY_BRANCH
from nodrop.platforms.sonic.starting import routing_mode_source_files

_CONFIG_RELOAD_EFFECT = "all services restart, traffic stops"
"""What `config reload` does to a switch."""


def routing_mode(*, tables: bool) -> str:
    """Return the mode of the bgp container that makes FRR run the tables, or nodrop's frr.conf."""
    return "unified" if tables else "split-unified"


def apply_script(release: str, *, tables: bool = False) -> str:
    """Return the script for switches of a release; all facts about one switch are in the switch's files.

    With `tables`, BGP is in config_db.json, and there is no frr.conf to load. `migrated_from` are the files that
    db_migrator takes the routing mode from.
    """
    return load_template("sonic/apply.sh.j2").render(
        releases=[release, *(branch for branch, same in RELEASE_BY_BRANCH.items() if same == release)],
        migrated_from=routing_mode_source_files(release),
        mode=routing_mode(tables=tables),
        tables=tables,
        files="config_db.json" if tables else "config_db.json and frr.conf",
        reloading=_CONFIG_RELOAD_EFFECT,
        keeps="runs the tables of BGP" if tables else "keeps frr.conf",
    )


def first_apply_disruptions(device: Device) -> Iterator[FirstApplyDisruption]:
    """Yield the effects of `config reload`, which apply.sh uses to load the files; nothing without apply.sh."""
    if device.bgp is not None:
        source = "sonic-utilities config/main.py, reload (_stop_services, _restart_services)"
        yield FirstApplyDisruption("config reload", _CONFIG_RELOAD_EFFECT, source)
