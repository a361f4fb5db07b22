"""What to type where only the owner knows which case it is: the near name, the other case, and what shows it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import nodrop
from nodrop.advising import add_fix_commands
from nodrop.engine.finding import FixCommands
from support.command import nodrop as run

FRR = """frr version 8.4.3
frr defaults datacenter
hostname leaf1
ip prefix-list OWN seq 10 permit 10.0.0.0/16 le 32
route-map FABRIC-IN permit 10
 match ip address prefix-list OWNED
router bgp 65001
 bgp router-id 10.0.0.1
 neighbor 10.1.0.1 remote-as 65100
 address-family ipv4 unicast
  neighbor 10.1.0.1 route-map FABRIC-INN in
  neighbor 10.1.0.1 route-map OTHER out
 exit-address-family
"""
SPLIT = '{"DEVICE_METADATA": {"localhost": {"docker_routing_config_mode": "split-unified"}}}'
"""What makes a SONiC switch load an frr.conf."""
FEATURES = """pfc.port_group_list = [gpus]
pfc.gpus.port_set = swp1-4
pfc.gpus.cos_list = [3]
pfc.gpus.tx_enable = true
pfc.gpus.rx_enable = true
pfc_watchdog.port_group_list = [watch,hosts]
pfc_watchdog.watched.port_set = swp1-4
pfc_watchdog.hosts.port_set = swp5
"""
INTERFACES = "".join(f"auto swp{n}\niface swp{n}\n    address 10.2.0.{2 * n}/31\n" for n in range(1, 6))
ONYX = """##
## Running database "initial"
## Hostname: tor1
## Product release: 3.10.4100
##
dcb priority-flow-control enable force
dcb priority-flow-control priority 4 enable
interface ethernet 1/1 dcb priority-flow-control mode on force
interface ethernet 1/2 qos trust L3
"""


def _advice(folder: Path, files: Mapping[str, str], rule: str) -> list[FixCommands]:
    for name, text in files.items():
        (folder / name).write_text(text)
    reading = nodrop.read([str(folder)])
    findings = add_fix_commands(nodrop.lint(reading).findings, reading)
    return [each for finding in findings if finding.rule == rule and finding.fix for each in finding.fix.commands]


def test_a_missing_route_map_is_named_by_the_only_near_name_or_removed(tmp_path: Path) -> None:
    files = {"frr.conf": FRR, "interfaces": INTERFACES, "hostname": "leaf1\n"}
    told = {each.condition: each.lines[2:-2] for each in _advice(tmp_path, files, "dangling-reference")}
    within = ("router bgp 65001", "address-family ipv4 unicast")
    assert told["if FABRIC-IN is meant"] == (*within, "neighbor 10.1.0.1 route-map FABRIC-IN in")
    assert told["if OWN is meant"] == ("route-map FABRIC-IN permit 10", "match ip address prefix-list OWN")
    removal = "if no route map is meant (then the session passes all routes; `show route-map` lists those there are)"
    assert told[removal] == (*within, "no neighbor 10.1.0.1 route-map OTHER out")
    assert not any("permit 20" in line or "route-map OTHER permit" in line for lines in told.values() for line in lines)


def test_a_match_on_a_missing_list_is_never_removed(tmp_path: Path) -> None:
    files = {"frr.conf": FRR, "interfaces": INTERFACES, "hostname": "leaf1\n"}
    told = _advice(tmp_path, files, "dangling-reference")
    assert not any("no match" in line for each in told for line in each.lines)


def test_a_missing_port_group_is_named_by_the_only_near_name(tmp_path: Path) -> None:
    files = {"qos_features.conf": FEATURES, "interfaces": INTERFACES, "hostname": "leaf1\n"}
    told = _advice(tmp_path, files, "dangling-reference")
    none_meant = "if no group is meant (`grep port_set qos_features.conf` lists those there are)"
    assert {each.condition: each.lines[1] for each in told} == {
        "if watched is meant": "pfc_watchdog.port_group_list = [hosts,watched]",
        none_meant: "pfc_watchdog.port_group_list = [hosts]",
    }


def test_the_ports_of_a_watchdog_group_are_all_named(tmp_path: Path) -> None:
    text = FEATURES.replace("[watch,hosts]", "[hosts]").replace(
        "pfc.gpus.port_set = swp1-4", "pfc.gpus.port_set = swp1"
    )
    files = {"qos_features.conf": text, "interfaces": INTERFACES, "hostname": "leaf1\n"}
    (advised,) = _advice(tmp_path, files, "pfc-without-watchdog")
    assert advised.ports == ("swp1", "swp2", "swp3", "swp4")


def test_where_no_class_uses_the_queue_only_the_other_case_is_printed(tmp_path: Path) -> None:
    (commands,) = _advice(tmp_path, {"tor1.txt": ONYX}, "lossless-queue-without-ecn")
    assert commands.condition == "unless a class uses the queue and its hosts send ECN-capable packets"
    assert "no dcb priority-flow-control priority 4 enable" in commands.lines


def test_a_report_says_which_case_commands_are_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tor1.txt").write_text(ONYX)
    monkeypatch.chdir(tmp_path)
    out = run("lint", "tor1.txt").out
    assert "unless a class uses the queue and its hosts send ECN-capable packets, on tor1 (Onyx):" in out


@pytest.mark.parametrize(
    ("beside", "closing"),
    [({}, ()), ({"config_db.json": SPLIT}, ("sudo config save -y",))],
)
def test_an_frr_conf_alone_is_saved_by_frr_and_not_by_sonic(
    tmp_path: Path, beside: Mapping[str, str], closing: tuple[str, ...]
) -> None:
    shut = FRR.replace(
        " neighbor 10.1.0.1 remote-as 65100", " neighbor 10.1.0.1 remote-as 65100\n neighbor 10.1.0.1 shutdown"
    )
    files = {"frr.conf": shut, **beside}
    for rule in ("session-shut", "dangling-reference"):
        advised = _advice(tmp_path, files, rule)
        assert advised
        for commands in advised:
            assert all(
                line.endswith("-c 'write memory'") for line in commands.lines[: len(commands.lines) - len(closing)]
            )
            assert commands.lines[len(commands.lines) - len(closing) :] == closing
