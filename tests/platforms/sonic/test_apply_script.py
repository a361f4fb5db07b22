"""apply.sh on a switch of stand-ins: whichever step fails, hangs or is interrupted, both files end as they were."""

import fcntl
import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import nodrop
from nodrop.platforms.kit.artifact import Artifact
from nodrop.platforms.sonic.delivery import apply_script
from nodrop.platforms.sonic.releases import DATABASE_VERSION_BY_RELEASE
from support.golden_outputs import fabric_of
from support.marked import nightly, slow
from support.sonic_switch import ADDED, SWITCH_PROGRAMS, SonicSwitch


@cache
def build() -> tuple[Artifact, ...]:
    return tuple(one for one in nodrop.write(fabric_of("two-by-two")) if one.device == "leaf1")


@pytest.fixture
def switch(tmp_path: Path) -> SonicSwitch:
    return SonicSwitch(tmp_path / "switch", build())


@pytest.fixture
def fresh(tmp_path: Path) -> SonicSwitch:
    return SonicSwitch(tmp_path / "switch", build(), fresh=True)


FACTS = "python3 -I -S RUN/facts.py"
NO_ANSWER = "after 0 s: the switch does not answer"
SILENT = "the switch does not tell which ports and BGP sessions are up"
NO_MODE = "docker_routing_config_mode is not set in CONFIG_DB, and only split-unified keeps frr.conf"
LOST = "the bgp container deleted or rewrote frr.conf"

CHECKS: list[tuple[str, str]] = [
    ("id -u", "this needs root: sudo sh leaf1/apply/apply.sh"),
    ("dirname leaf1/apply/apply.sh", "the folder of leaf1/apply/apply.sh cannot be read"),
    ("mkdir -p /etc/sonic/nodrop", "/etc/sonic/nodrop cannot be made"),
    ("touch /etc/sonic/nodrop/lock", "/etc/sonic/nodrop cannot be written"),
    ("flock -n 9", "another apply.sh is running"),
    ("date +%Y%m%d-%H%M%S", "the time is unknown"),
    ("mkdir -m 700 RUN", "RUN cannot be made"),
    ("mkdir RUN/new RUN/old", "RUN cannot be written"),
    ("cat", "RUN cannot be written"),
    ("cp config_db.json frr.conf RUN/new/", "config_db.json and frr.conf are not both in leaf1"),
    (f"{FACTS} metadata RUN/new/config_db.json", "config_db.json is not a configuration of SONiC"),
    (f"{FACTS} release /etc/sonic/sonic_version.yml", "/etc/sonic/sonic_version.yml cannot be read"),
    ("sonic-cfggen -H -v DEVICE_METADATA.localhost.platform", "the platform of the switch is unknown"),
    ("sonic-cfggen -k ACS-MSN4700 --print-data", "the ports of HWSKU ACS-MSN4700 cannot be read"),
    (f"{FACTS} ports RUN/new/config_db.json RUN/hwsku.json", "the ports cannot be compared"),
    ("sonic-db-cli CONFIG_DB HGET DEVICE_METADATA|localhost hwsku", "CONFIG_DB cannot be read"),
    ("sonic-cfggen -j RUN/new/config_db.json --print-data", "sonic-cfggen refuses config_db.json"),
    ("vtysh -C -f RUN/new/frr.conf", "FRR refuses frr.conf"),
    ("cp -p /etc/sonic/config_db.json RUN/old/", "config_db.json cannot be saved"),
    ("cp -Rp /etc/sonic/frr RUN/old/frr", "/etc/sonic/frr cannot be saved"),
    ("config save -y RUN/old/running.json", "CONFIG_DB cannot be saved"),
    (f"{FACTS} metadata RUN/old/running.json", "CONFIG_DB cannot be saved"),
    ("show interfaces status", SILENT),
    ("vtysh -c show bgp vrf all summary json", SILENT),
    (f"{FACTS} look RUN/status RUN/bgp.json RUN/new/config_db.json RUN/new/frr.conf", SILENT),
    ("touch RUN/old/complete", "RUN/old cannot be written"),
    ("sync", "RUN/old cannot be written"),
    ("systemctl show --property=StateChangeTimestampMonotonic sonic.target", "the state of sonic.target is unknown"),
    ("chmod 640 RUN/new/frr.conf", "RUN cannot be written"),
]
"""The steps before anything is changed, each with what is said where it fails."""

CHANGES: list[tuple[str, str | None]] = [
    ("cp -p RUN/new/frr.conf /etc/sonic/frr/frr.conf.nodrop", "frr.conf cannot be written"),
    ("mv -f /etc/sonic/frr/frr.conf.nodrop /etc/sonic/frr/frr.conf", "frr.conf cannot be written"),
    ("config reload -y RUN/new/config_db.json", "config reload did not load config_db.json (exit code 1)"),
    ("systemctl show --property=StateChangeTimestampMonotonic sonic.target", None),
    ("cmp -s RUN/started RUN/restarted", None),
    ("sonic-db-cli CONFIG_DB HGET DEVICE_METADATA|localhost docker_routing_config_mode", NO_MODE),
    ("date +%s", None),
    ("show interfaces status", NO_ANSWER),
    ("vtysh -c show bgp vrf all summary json", NO_ANSWER),
    (f"{FACTS} look RUN/status RUN/bgp.json RUN/new/config_db.json RUN/new/frr.conf", NO_ANSWER),
    (f"{FACTS} lacking RUN/now RUN/before", NO_ANSWER),
    ("sonic-db-cli CONFIG_DB HGET DEVICE_METADATA|localhost docker_routing_config_mode", NO_MODE),
    ("wc -c", LOST),
    ("cmp -s -n {size} RUN/new/frr.conf /etc/sonic/frr/frr.conf", LOST),
    ("config save -y", "the new CONFIG_DB cannot be saved"),
    (f"{FACTS} metadata /etc/sonic/config_db.json", "config save did not write config_db.json"),
    ("sync", "the new files cannot be written"),
]
"""The steps from the first change on; None where the run does not depend on the step, which only asks."""

SIGNALS = [*slow("INT"), *nightly("TERM")]
"""Signals that stop a run; one function of the script takes both."""

LAST = f"{FACTS} report RUN/now"
CALLS = [call for call, _ in (*CHECKS, *CHANGES)]
WHOLE = "config_db.json and frr.conf as they were"


def numbered(*programs: str, first: int = 1, last: int = len(CALLS)) -> list[Any]:
    """Steps by their number, with what is said where one fails: all of them, or the calls of some programs."""
    steps = list(enumerate((*CHECKS, *CHANGES), 1))[first - 1 : last]
    found = [(number, call, why) for number, (call, why) in steps if not programs or call.split()[0] in programs]
    return [pytest.param(number, why, id=f"{number} {call[:40]}") for number, call, why in found]


def assert_restored(switch: SonicSwitch, was: Any, database: object, run: Any, why: str) -> None:
    assert run.code == 3, run.error
    assert f"apply.sh: {why}; restored {WHOLE}; log: RUN/log\n" in run.error
    assert switch.files() == was
    assert switch.database() == database
    if "config reload -y -f /dev/stdin" in run.calls:
        assert switch.started_with() == was["frr/frr.conf"]


def assert_refused(switch: SonicSwitch, was: Any, database: object, run: Any, why: str) -> None:
    assert (run.code, run.error.splitlines()[-1]) == (1, f"apply.sh: {why}; nothing was changed")
    assert (switch.files(), switch.database()) == (was, database)
    assert [path.name for path in (switch.sonic / "nodrop").glob("*")] in ([], ["lock"])


def test_these_are_all_the_steps(switch: SonicSwitch) -> None:
    size = len((switch.build / "frr.conf").read_bytes())
    assert list(switch.apply().calls) == [*(call.format(size=size) for call in CALLS), LAST]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "why"), numbered(last=len(CHECKS)))
def test_a_check_that_fails_changes_nothing(switch: SonicSwitch, number: int, why: str) -> None:
    was, database = switch.files(), switch.database()
    assert_refused(switch, was, database, switch.apply(at=number, how="fail"), why)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "why"), numbered(*SWITCH_PROGRAMS, last=len(CHECKS)))
def test_a_check_that_hangs_changes_nothing(switch: SonicSwitch, number: int, why: str) -> None:
    was, database = switch.files(), switch.database()
    assert_refused(switch, was, database, switch.apply(at=number, how="hang"), why)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "why"), numbered(first=len(CHECKS) + 1))
def test_a_step_that_fails_is_taken_back(switch: SonicSwitch, number: int, why: str | None) -> None:
    was, database = switch.files(), switch.database()
    run = switch.apply("--timeout", "0", at=number, how="fail")
    if why is None:
        assert (run.code, switch.files() != was) == (0, True)
    else:
        assert_restored(switch, was, database, run, why)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "why"), numbered("config", "cp", first=len(CHECKS) + 1))
def test_a_step_that_fails_half_way_is_taken_back(switch: SonicSwitch, number: int, why: str) -> None:
    was, database = switch.files(), switch.database()
    run = switch.apply(at=number, how="half")
    assert_restored(switch, was, database, run, why.replace("did not load config_db.json", "failed"))


@pytest.mark.slow
@pytest.mark.parametrize(("number", "why"), numbered(*SWITCH_PROGRAMS, first=len(CHECKS) + 1))
def test_a_step_that_hangs_is_taken_back(switch: SonicSwitch, number: int, why: str | None) -> None:
    was, database = switch.files(), switch.database()
    run = switch.apply("--timeout", "0", at=number, how="hang")
    if why is None:
        assert (run.code, switch.files() != was) == (0, True)
    else:
        changed = "did not load config_db.json (exit code 1)"
        assert_restored(switch, was, database, run, why.replace(changed, "took longer than 900 s"))


@pytest.mark.parametrize("signal", SIGNALS)
@pytest.mark.parametrize(("number", "_"), numbered(last=len(CHECKS)))
def test_a_signal_during_a_check_changes_nothing(switch: SonicSwitch, signal: str, number: int, _: str) -> None:
    was, database = switch.files(), switch.database()
    assert_refused(switch, was, database, switch.apply(at=number, how=signal), f"stopped by SIG{signal}")


@pytest.mark.parametrize("signal", SIGNALS)
@pytest.mark.parametrize(("number", "_"), numbered(first=len(CHECKS) + 1))
def test_a_signal_after_a_change_takes_it_back(switch: SonicSwitch, signal: str, number: int, _: str | None) -> None:
    was, database = switch.files(), switch.database()
    run = switch.apply(at=number, how=signal)
    assert_restored(switch, was, database, run, f"stopped by SIG{signal}")


def test_a_signal_does_not_break_config_reload_off(switch: SonicSwitch) -> None:
    number = CALLS.index("config reload -y RUN/new/config_db.json") + 1
    run = switch.apply(at=number, how="INT")
    assert "SIGINT: waiting for config reload to end, then restoring" in run.said
    assert [call for call in run.calls if call.startswith("config")][-2:] == [
        "config reload -y RUN/new/config_db.json",
        "config reload -y -f /dev/stdin",
    ]


@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash"])
def test_both_files_are_loaded_and_saved(switch: SonicSwitch, shell: str) -> None:
    was = switch.files()
    run = switch.apply(shell=shell)
    assert (run.code, run.error) == (0, "")
    assert run.said.splitlines() == [
        "apply.sh: config_db.json and frr.conf fit this switch: x86_64-mlnx_msn4700-r0, ACS-MSN4700, release 202505",
        "apply.sh: saved config_db.json, frr.conf and CONFIG_DB in RUN/old",
        "apply.sh: config reload: all services restart, traffic stops",
        "apply.sh: waiting up to 600 s for ports and BGP sessions",
        "apply.sh: up: 6 ports, 4 of 4 BGP sessions",
        "apply.sh: done: saved for the next boot",
        "apply.sh: the way back: sudo sh leaf1/apply/apply.sh --restore RUN/old",
    ]
    frr = (switch.build / "frr.conf").read_bytes() + ADDED.encode()
    config = (switch.build / "config_db.json").read_bytes()
    assert switch.files() == {"frr/frr.conf": frr, "config_db.json": config}
    assert was != switch.files()


def test_what_was_before_is_restored_on_request(switch: SonicSwitch) -> None:
    was, database = switch.files(), switch.database()
    assert switch.apply().code == 0
    switch.set("down", "Ethernet8\n")
    run = switch.apply("--restore", run=2)
    assert (run.code, run.error) == (0, "")
    assert (
        "apply.sh: restored config_db.json, frr.conf and CONFIG_DB from /etc/sonic/nodrop/20261123-1/old\n" in run.said
    )
    assert (switch.files(), switch.database()) == (was, database)


def test_the_latest_run_is_restored_unless_another_is_named(switch: SonicSwitch) -> None:
    was = switch.files()
    assert [switch.apply(run=number).code for number in (1, 2)] == [0, 0]
    second = switch.files()
    assert switch.apply("--restore", run=3).code == 0
    assert switch.files() == second != was
    assert switch.apply("--restore", str(switch.sonic / "nodrop" / "20261123-1" / "old"), run=4).code == 0
    assert switch.files() == was


def test_nothing_is_restored_where_nothing_was_saved(switch: SonicSwitch) -> None:
    was, database = switch.files(), switch.database()
    run = switch.apply("--restore")
    assert_refused(switch, was, database, run, "no earlier run is saved in /etc/sonic/nodrop")


def test_a_fresh_switch_gets_frr_conf(fresh: SonicSwitch) -> None:
    run = fresh.apply()
    assert (run.code, run.error) == (0, "")
    assert fresh.files()["frr/frr.conf"] == (fresh.build / "frr.conf").read_bytes() + ADDED.encode()
    assert not (fresh.sonic / "frr" / "bgpd.conf").exists()


def test_a_fresh_switch_has_no_frr_conf_again(fresh: SonicSwitch) -> None:
    daemon = (fresh.sonic / "frr" / "bgpd.conf").read_bytes()
    was, database = fresh.files(), fresh.database()
    assert was["frr/frr.conf"] is None
    run = fresh.apply(at=CALLS.index("config save -y") + 1, how="fail")
    assert_restored(fresh, was, database, run, "the new CONFIG_DB cannot be saved")
    assert (fresh.sonic / "frr" / "bgpd.conf").read_bytes() == daemon


def edited(switch: SonicSwitch, name: str, old: str, new: str) -> None:
    path = switch.build / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


MODE = '"docker_routing_config_mode": "split-unified"'


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("frr.conf", "router bgp", "nonsense\nrouter bgp", "FRR refuses frr.conf"),
        ("config_db.json", "{", "", "config_db.json is not a configuration of SONiC"),
        (
            "config_db.json",
            '"ACS-MSN4700"',
            '"ACS-MSN4800"',
            "x86_64-mlnx_msn4700-r0 has no HWSKU ACS-MSN4800 on this release",
        ),
        (
            "config_db.json",
            "msn4700-r0",
            "msn4600-r0",
            "the switch is a x86_64-mlnx_msn4700-r0, the files are for x86_64-mlnx_msn4600-r0",
        ),
        ("config_db.json", '"0,1,2,3,4,5,6,7"', '"600,601"', "HWSKU ACS-MSN4700 lacks the lanes of Ethernet0"),
        (
            "config_db.json",
            MODE,
            MODE.replace("split-unified", "separated"),
            "docker_routing_config_mode is separated in config_db.json, and only split-unified keeps frr.conf",
        ),
    ],
)
def test_files_of_another_switch_are_refused(switch: SonicSwitch, name: str, old: str, new: str, why: str) -> None:
    edited(switch, name, old, new)
    was, database = switch.files(), switch.database()
    assert_refused(switch, was, database, switch.apply(), why)


@pytest.mark.parametrize(
    ("stated", "release"),
    [
        ("build_version: 'SONiC.202411.7-ab'\nbranch: 'HEAD'\nrelease: 'none'\n", "202411"),
        ("build_version: 'SONiC.x.20250501'\nbranch: 'master'\nrelease: 'none'\n", "master"),
        ("build_version: 'SONiC.202505.1'\nrelease: '202511'\n", "202511"),
    ],
)
def test_another_release_is_refused_unless_allowed(switch: SonicSwitch, stated: str, release: str) -> None:
    (switch.sonic / "sonic_version.yml").write_text(stated)
    was, database = switch.files(), switch.database()
    why = f"the switch runs release {release}, the files are for 202505 (--any-release loads them all the same)"
    assert_refused(switch, was, database, switch.apply(), why)
    assert switch.apply("--any-release", run=2).code == 0


MINIGRAPH = '<DeviceMiniGraph xmlns="Microsoft.Search.Autopilot.Evolution"><Hostname>a</Hostname>{}</DeviceMiniGraph>'
STATED = "<DockerRoutingConfigMode>split-unified</DockerRoutingConfigMode>"
METADATA: dict[str, Any] = {"DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}}}
KEEPING = {"DEVICE_METADATA": {"localhost": {"docker_routing_config_mode": "split-unified"}}}


@pytest.mark.parametrize(
    ("minigraph", "golden", "other"),
    [
        ("", None, "separated"),
        (STATED, None, None),
        (None, METADATA, "none"),
        (None, KEEPING, None),
        (None, {"PORT": {}}, None),
        ("", KEEPING, None),
        (STATED, METADATA, "none"),
    ],
)
def test_files_from_which_db_migrator_takes_another_mode_are_refused(
    switch: SonicSwitch, minigraph: str | None, golden: Any, other: str | None
) -> None:
    if minigraph is not None:
        (switch.sonic / "minigraph.xml").write_text(MINIGRAPH.format(minigraph))
    if golden is not None:
        (switch.sonic / "golden_config_db.json").write_text(json.dumps(golden))
    was, database = switch.files(), switch.database()
    run = switch.apply("--check")
    if other is None:
        assert (run.code, run.error) == (0, "")
    else:
        why = f"db_migrator would set docker_routing_config_mode to {other}, and only split-unified keeps frr.conf"
        assert_refused(switch, was, database, run, why)
        named = {"minigraph.xml": minigraph, "golden_config_db.json": golden}
        assert run.said.splitlines() == [
            f"apply.sh: to mend: sudo mv /etc/sonic/{name} /etc/sonic/{name}.unused,"
            " or set docker_routing_config_mode to split-unified there"
            for name, text in named.items()
            if text is not None
        ]


def test_before_202311_db_migrator_does_not_read_a_golden_configuration() -> None:
    lines = {release: apply_script(release).splitlines() for release in DATABASE_VERSION_BY_RELEASE}
    golden = {name for name, text in lines.items() if "MIGRATED_FROM='minigraph.xml golden_config_db.json'" in text}
    assert golden == {*DATABASE_VERSION_BY_RELEASE} - {"202305"}
    assert "MIGRATED_FROM='minigraph.xml'" in lines["202305"]


def test_a_script_names_the_branches_whose_database_is_that_of_its_release() -> None:
    assert "RELEASES='202605 master'" in apply_script("202605").splitlines()
    assert "RELEASES='202511'" in apply_script("202511").splitlines()


def test_check_changes_nothing(switch: SonicSwitch) -> None:
    was, database = switch.files(), switch.database()
    run = switch.apply("--check")
    assert (run.code, run.said.splitlines()[-1]) == (0, "apply.sh: checks passed; nothing was changed")
    assert (switch.files(), switch.database()) == (was, database)
    assert list(run.calls) == [*(call for call, _ in CHECKS[:18]), "rm -rf RUN"]
    assert [path.name for path in (switch.sonic / "nodrop").glob("*")] == ["lock"]


def test_a_mode_that_db_migrator_sets_all_the_same_is_taken_back(switch: SonicSwitch) -> None:
    switch.set("migrated")
    was = switch.files()
    run = switch.apply()
    assert run.code == 3
    assert "docker_routing_config_mode is separated in CONFIG_DB, and only split-unified keeps frr.conf" in run.error
    assert switch.files() == was


def test_a_file_that_yang_refuses_restarts_nothing(switch: SonicSwitch) -> None:
    switch.set("invalid")
    was, database = switch.files(), switch.database()
    run = switch.apply()
    assert_restored(switch, was, database, run, "config reload did not load config_db.json (exit code 1)")
    assert "fails YANG validation" in run.error
    assert [call for call in run.calls if call.startswith("config reload")] == [
        "config reload -y RUN/new/config_db.json"
    ]


@pytest.mark.parametrize("keep", [False, True])
def test_ports_and_sessions_that_were_up_have_to_come_back(switch: SonicSwitch, *, keep: bool) -> None:
    down = [switch.sessions[0], "Ethernet0", "Ethernet8"]
    switch.set("down-after", "".join(f"{one}\n" for one in down))
    was, database = switch.files(), switch.database()
    run = switch.apply("--timeout", "0", *(["--keep"] if keep else []))
    if keep:
        assert run.code == 0
        assert f"apply.sh: BGP sessions that are not up: {down[0]}\n" in run.said
    else:
        assert_restored(switch, was, database, run, f"after 0 s: sessions stay down: {down[0]}")


def test_a_port_that_was_down_may_stay_down_and_one_that_was_up_may_not(switch: SonicSwitch) -> None:
    switch.set("down-after", "Ethernet0\nEthernet8\n")
    was, database = switch.files(), switch.database()
    assert_restored(switch, was, database, switch.apply("--timeout", "0"), "after 0 s: ports stay down: Ethernet8")


def test_a_session_that_bgpd_does_not_have_is_missed_even_if_it_was_not_up(fresh: SonicSwitch) -> None:
    edited(fresh, "frr.conf", " neighbor 10.", " neighbor  10.")  # the stand-in counts the words as bgpd does
    named = [line.split()[1] for line in (fresh.build / "frr.conf").read_text().splitlines() if " remote-as " in line]
    edited(fresh, "frr.conf", f"{named[1]} remote-as", f"{named[1]} peer-group NO\n neighbor {named[1]} remote")
    was, database = fresh.files(), fresh.database()
    run = fresh.apply("--timeout", "0")
    assert_restored(fresh, was, database, run, f"after 0 s: bgpd lacks sessions of frr.conf: {named[1]}")


def test_where_the_way_back_fails_it_is_said_how_to_go_it_by_hand(switch: SonicSwitch) -> None:
    switch.set("no-way-back")
    was = switch.files()
    run = switch.apply(at=CALLS.index("config save -y") + 1, how="fail")
    assert run.code == 4
    assert run.error.splitlines()[-2:] == [
        "apply.sh: config reload failed three times; NOT RESTORED",
        "apply.sh: by hand: sudo sh leaf1/apply/apply.sh --restore RUN/old, or copy config_db.json and frr/ from there"
        " to /etc/sonic and reboot",
    ]
    assert switch.files() == was
    assert run.calls.count("config reload -y -f /dev/stdin") == 3


def test_one_run_at_a_time(switch: SonicSwitch) -> None:
    was, database = switch.files(), switch.database()
    (switch.sonic / "nodrop").mkdir()
    with (switch.sonic / "nodrop" / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert_refused(switch, was, database, switch.apply(), "another apply.sh is running")


def test_only_root_can_apply(switch: SonicSwitch) -> None:
    was, database = switch.files(), switch.database()
    run = switch.apply(user=1000)
    assert_refused(switch, was, database, run, "this needs root: sudo sh leaf1/apply/apply.sh")


def test_elsewhere_than_on_a_switch_it_says_so(tmp_path: Path) -> None:
    script = tmp_path / "apply.sh"
    script.write_text(apply_script("202505"))
    done = subprocess.run(["/bin/sh", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("; nothing was changed\n")


@pytest.mark.parametrize("options", [["--tiemout", "5"], ["--timeout"], ["--timeout", "soon"], ["extra"]])
def test_wrong_usage_runs_nothing(switch: SonicSwitch, options: list[str]) -> None:
    run = switch.apply(*options)
    assert (run.code, run.calls) == (2, ("cat",))
    assert "Usage: sudo sh apply.sh" in run.error


def test_a_lost_terminal_stops_nothing(switch: SonicSwitch) -> None:
    run = switch.apply(closed=True)
    assert run.code == 0
    assert switch.files()["config_db.json"] == (switch.build / "config_db.json").read_bytes()
    assert "done: saved for the next boot" in (switch.sonic / "nodrop" / "20261123-1" / "log").read_text()


def test_the_script_holds_nothing_of_one_switch() -> None:
    texts = {one.device: one.text for one in nodrop.write(fabric_of("two-by-two")) if one.path == "apply/apply.sh"}
    assert texts == dict.fromkeys(("leaf1", "leaf2", "spine1", "spine2"), apply_script("202505"))
