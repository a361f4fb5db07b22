"""How FRR of a switch gets its configuration: the mode of the bgp container, and the script that loads the files.

Modes (sonic-buildimage dockers/docker-fpm-frr/docker_init.sh, frr/supervisord): `split-unified` keeps the frr.conf
that is there; `unified` makes frr.conf of the tables, and `vtysh -b` loads it. From 202605 on `separated` makes a
frr.conf of the tables too (pull request 27547), but nothing loads it: `vtysh -b` runs in the two other modes only.
"""

from collections.abc import Iterator

from nodrop.model.fabric import Device
from nodrop.platforms.kit.artifact import FirstApply
from nodrop.platforms.kit.rendering import template
from nodrop.platforms.sonic.releases import SAME_AS
from nodrop.platforms.sonic.starting import migrated_from

_RELOAD = "all services restart, traffic stops"
"""What `config reload` does to a switch."""


def routing_mode(*, tables: bool) -> str:
    """Return the mode of the bgp container that makes FRR run the tables, or nodrop's frr.conf."""
    return "unified" if tables else "split-unified"


def apply_script(release: str, *, tables: bool = False) -> str:
    """Return the script for switches of a release; all facts about one switch are in the switch's files.

    With `tables`, BGP is in config_db.json, and there is no frr.conf to load. `migrated_from` are the files that
    db_migrator takes the routing mode from.
    """
    return template("sonic/apply.sh.j2").render(
        releases=[release, *(branch for branch, same in SAME_AS.items() if same == release)],
        migrated_from=migrated_from(release),
        mode=routing_mode(tables=tables),
        tables=tables,
        files="config_db.json" if tables else "config_db.json and frr.conf",
        reloading=_RELOAD,
        keeps="runs the tables of BGP" if tables else "keeps frr.conf",
    )


def first_apply(device: Device) -> Iterator[FirstApply]:
    """Yield the effects of `config reload`, which apply.sh uses to load the files; nothing without apply.sh."""
    if device.bgp is not None:
        source = "sonic-utilities config/main.py, reload (_stop_services, _restart_services)"
        yield FirstApply("config reload", _RELOAD, source)
