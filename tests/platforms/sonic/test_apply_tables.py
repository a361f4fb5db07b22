"""apply.sh of a build with BGP in tables, on a switch of stand-ins that had a frr.conf before."""

from functools import cache
from pathlib import Path

import pytest

import nodrop
from nodrop.platforms.kit.artifact import Artifact
from support.designs import build, shipped
from support.sonic_switch import SonicSwitch

pytestmark = pytest.mark.slow
VERSIONS = {f"topology.{tier}.version": "202511" for tier in ("leaves", "spines")}


@cache
def files(delivery: str) -> tuple[Artifact, ...]:
    fabric = build(shipped("two-by-two", VERSIONS | {"routing.delivery": delivery}))
    return tuple(one for one in nodrop.write(fabric) if one.device == "leaf1")


@pytest.fixture
def switch(tmp_path: Path) -> SonicSwitch:
    """A switch with the files of a build with tables, which runs the same design from frr.conf."""
    one = SonicSwitch(tmp_path / "switch", files("frr.conf"))
    (one.sonic / "sonic_version.yml").write_text("build_version: 'SONiC.202511.1-a'\nrelease: '202511'\n")
    one.copy(files("tables"))
    return one


def test_tables_are_loaded_without_a_file_for_frr(switch: SonicSwitch) -> None:
    run = switch.apply()
    assert run.code == 0, run.error
    assert "4 of 4 BGP sessions" in run.said
    database = switch.database()
    assert isinstance(database, dict)
    assert database["DEVICE_METADATA"]["localhost"]["docker_routing_config_mode"] == "unified"
    assert (switch.started_with() or b"").startswith(b"neighbor 10.1.1.225 remote-as 4200000000\n")
    assert not [call for call in run.calls if call.startswith("vtysh -C") or "new/frr.conf" in call]


def test_a_check_changes_nothing(switch: SonicSwitch) -> None:
    was = switch.files()
    run = switch.apply("--check")
    assert run.code == 0, run.error
    assert "apply.sh: config_db.json fits this switch" in run.said
    assert switch.files() == was


def test_a_switch_whose_mode_would_be_changed_is_left_as_it_is(switch: SonicSwitch) -> None:
    was = switch.files()
    (switch.sonic / "minigraph.xml").write_text("<DeviceMiniGraph/>")
    run = switch.apply()
    said = "db_migrator would set docker_routing_config_mode to separated, and only unified runs the tables of BGP"
    assert (run.code, run.error.splitlines()[-1]) == (1, f"apply.sh: {said}; nothing was changed")
    assert switch.files() == was


@pytest.mark.parametrize(
    ("fact", "text", "why"),
    [
        (
            "migrated",
            "",
            "docker_routing_config_mode is separated in CONFIG_DB, and only unified runs the tables of BGP",
        ),
        ("down-after", "10.1.1.225\n", "after 0 s: sessions stay down: 10.1.1.225"),
        ("no-bgpd", "", "after 0 s: the switch does not answer"),
        ("invalid", "", "config reload did not load config_db.json (exit code 1)"),
    ],
)
def test_what_goes_wrong_puts_both_files_back(switch: SonicSwitch, fact: str, text: str, why: str) -> None:
    was, database = switch.files(), switch.database()
    if fact == "no-bgpd":
        run = switch.apply("--timeout", "0", at=_call(switch, "vtysh -c"), how="fail")
    else:
        switch.set(fact, text)
        run = switch.apply("--timeout", "0")
    assert run.code == 3, run.error
    assert f"apply.sh: {why}; restored config_db.json and frr.conf as they were" in run.error
    assert switch.files() == was
    assert switch.database() == database or fact == "migrated"


def _call(switch: SonicSwitch, program: str) -> int:
    """The number of the second call of a program, which is after loading."""
    other = SonicSwitch(switch.build.parent / "other", files("frr.conf"))
    (other.sonic / "sonic_version.yml").write_text((switch.sonic / "sonic_version.yml").read_text())
    other.copy(files("tables"))
    calls = other.apply().calls
    return [number for number, call in enumerate(calls, 1) if call.startswith(program)][1]
