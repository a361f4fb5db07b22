"""Drift: what switches show of themselves as they run is no drift, and one fact that differs is told as just that."""

import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nodrop
from nodrop import platforms
from nodrop.fabric_readings import build_and_read_back
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading, Source
from nodrop.plan.effects import switch_files_if_unchanged
from nodrop.plan.model import Plan
from nodrop.platforms.kit.own_additions import _parse_addition_row, is_added_by_switch, read_addition_rows
from nodrop.resources import resource_folder
from support.as_it_runs import as_it_runs
from support.designs import load, shipped
from support.places import TESTS
from support.plan_pairs import KNOBS, RELEASES, reading, reading_of
from support.random_intents import built as random_fabrics
from support.running_files import running

INTENTS = sorted(path.stem for path in resource_folder("intents").glob("*.yaml"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", INTENTS)
def test_what_switches_add_by_themselves_is_no_drift(name: str, seed: int) -> None:
    wanted = build_and_read_back(load(shipped(name)), "intent.yaml", "build")[1]
    found = nodrop.drift(running(wanted, seed), wanted)
    assert [(told.devices, told.ports, told.facts) for told in found.plan.changes] == []
    assert found.is_empty


def _read(files: dict[str, bytes], platform: str = "sonic") -> Reading:
    sources = [(Source(name=file, display=file, held=raw), raw) for file, raw in files.items()]
    found = platforms.reader(platform).read_device("leaf1", sources)
    return assemble_fabric([replace(found, sources=tuple(source for source, _ in sources))], DeclaredFacts())


def _tables(of: Reading, name: str) -> dict[str, Any]:
    tables: dict[str, Any] = json.loads((switch_files_if_unchanged(of, name) or {})["config_db.json"])
    return tables


ONLY_READ = {
    "onyx": {"running-config.txt": TESTS / "platforms" / "onyx" / "good.txt"},
    "nclu": {"nclu.txt": TESTS / "platforms" / "nclu" / "good.txt"},
    "cumulus": {path.name: path for path in (TESTS / "platforms" / "cumulus" / "good").iterdir()},
}


@pytest.mark.parametrize("platform", ONLY_READ)
def test_what_switches_that_are_only_read_add_is_no_drift(platform: str) -> None:
    files = {name: path.read_bytes() for name, path in ONLY_READ[platform].items()}
    shown = as_it_runs(platform, files, Random(1))
    assert shown != files
    wanted = _read(files, platform)
    assert wanted.fabric.devices[0].bgp
    assert _told(nodrop.drift(_read(shown, platform), wanted).plan) == set()
    less = {name: raw.replace(b"9216", b"9000") for name, raw in shown.items()}
    assert {one[2] for one in _told(nodrop.drift(_read(less, platform), wanted).plan)} == {("mtu_bytes",)}


BGPCFGD = """
frr version 10.3
frr defaults traditional
hostname leaf1
no service integrated-vtysh-config
ip prefix-list DEFAULT_IPV4 seq 5 permit 0.0.0.0/0
ip prefix-list PL_LoopbackV4 seq 5 permit 10.0.0.1/32
bgp community-list standard allow_list_default_community seq 5 permit no-export
route-map FROM_BGP_PEER_V4 permit 100
exit
route-map RM_SET_SRC permit 10
 set src 10.0.0.1
exit
route-map TO_BGP_PEER_V4 permit 100
exit
router bgp 4200100001
 bgp router-id 10.0.0.1
 no bgp ebgp-requires-policy
 no bgp default ipv4-unicast
 bgp suppress-fib-pending
 bgp graceful-restart restart-time 240
 bgp graceful-restart
 bgp graceful-restart preserve-fw-state
 bgp graceful-restart select-defer-time 45
 bgp bestpath as-path multipath-relax
 neighbor PEER_V4 peer-group
 neighbor 10.1.1.225 remote-as 4200000000
 neighbor 10.1.1.225 peer-group PEER_V4
 neighbor 10.1.1.225 description spine1
 neighbor 10.1.1.225 timers 3 10
 address-family ipv4 unicast
  network 10.0.0.1/32
  neighbor PEER_V4 allowas-in 1
  neighbor PEER_V4 route-map FROM_BGP_PEER_V4 in
  neighbor PEER_V4 route-map TO_BGP_PEER_V4 out
  neighbor 10.1.1.225 activate
  maximum-paths 514
 exit-address-family
 address-family ipv6 unicast
  maximum-paths 514
 exit-address-family
exit
ip protocol bgp route-map RM_SET_SRC
ipv6 protocol bgp route-map RM_SET_SRC6
"""
"""What FRR shows of one session of BGP_NEIGHBOR: the templates of bgpcfgd (sonic-buildimage), cut short."""


def test_policies_of_bgpcfgd_are_no_drift() -> None:
    tables = _tables(reading(), "leaf1")
    del tables["DEVICE_METADATA"]["localhost"]["docker_routing_config_mode"]
    tables["BGP_NEIGHBOR"] = {
        "10.1.1.225": {"asn": "4200000000", "local_addr": "10.1.1.224", "name": "spine1", "holdtime": "10"}
    }
    wanted = _read({"config_db.json": json.dumps(tables).encode()})
    found = nodrop.drift(_read({"config_db.json": json.dumps({**tables, "bgpraw": BGPCFGD}).encode()}), wanted)
    assert _told(found.plan) == set()
    other = BGPCFGD.replace(" neighbor PEER_V4 route-map FROM_BGP_PEER_V4 in", " neighbor PEER_V4 route-map MINE in")
    found = nodrop.drift(_read({"config_db.json": json.dumps({**tables, "bgpraw": other}).encode()}), wanted)
    assert _told(found.plan) == {("leaf1", None, ("bgp", "neighbors", "10.1.1.225", "import_policy"), "MINE", None)}
    other = BGPCFGD.replace("bgp route-map RM_SET_SRC6", "bgp route-map MINE")
    found = nodrop.drift(_read({"config_db.json": json.dumps({**tables, "bgpraw": other}).encode()}), wanted)
    assert _told(found.plan) == {("leaf1", None, ("bgp", "installed_policy_ipv6"), "MINE", None)}


def test_headroom_that_buffermgrd_derives_is_no_drift() -> None:
    """In the traditional model a switch writes the rows of its table for itself, where a configuration has none."""
    runs = _tables(build_and_read_back(load(shipped("broadcom")), "intent.yaml", "build")[1], "spine1")
    wants = dict(runs)
    groups = {row: fields for row, fields in runs["BUFFER_PG"].items() if "pg_lossless" not in fields["profile"]}
    profiles = {row: fields for row, fields in runs["BUFFER_PROFILE"].items() if "pg_lossless" not in row}
    assert groups != runs["BUFFER_PG"]
    assert profiles != runs["BUFFER_PROFILE"]
    wants |= {"BUFFER_PG": groups, "BUFFER_PROFILE": profiles}
    running, wanted = (_read({"config_db.json": json.dumps(one).encode()}) for one in (runs, wants))
    assert _told(nodrop.drift(running, wanted).plan) == set()


@settings(max_examples=6)
@given(fabric=random_fabrics(), seed=st.integers(0, 99))
def test_whatever_is_wanted_it_is_no_drift(fabric: Fabric, seed: int) -> None:
    wanted = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    assert nodrop.drift(running(wanted, seed), wanted).plan.changes == ()


@pytest.mark.parametrize("platform", RELEASES)
def test_what_is_not_told_is_kept(platform: str) -> None:
    wanted = reading(platform)
    found = nodrop.drift(running(wanted, 3), wanted)
    said = {entry.path[0] for told in found.automatic for fact in told.facts for entry in fact.entries}
    elsewhere = ("bgp", "snmp_location", "ntp_servers")
    assert said == {path[0] for row in read_addition_rows(platform) for path in row.paths if path[0] not in elsewhere}


def test_a_row_without_a_source_is_none() -> None:
    with pytest.raises(ValueError, match="mac"):
        _parse_addition_row({"paths": ["mac"], "reason": "it is in the EEPROM", "source": ""})


def test_what_somebody_has_set_is_not_the_switches_own() -> None:
    """A group of counters that is off, one that no image turns on, and another MAC address are drift."""
    counter = nodrop.drift(running(reading(), 3), reading()).automatic[0].facts[-1].entries[0].old
    assert is_added_by_switch("sonic", ("counters", "ACL"), False, counter, None)
    assert not is_added_by_switch("sonic", ("counters", "ACL"), False, replace(counter, enabled=False), None)
    assert not is_added_by_switch("sonic", ("counters", "WRED_ECN_QUEUE"), False, counter, None)
    assert not is_added_by_switch("sonic", ("mac",), False, "02:00:5e:10:00:01", "02:00:5e:10:00:02")
    assert not is_added_by_switch("sonic", ("mac",), True, "02:00:5e:10:00:01", None)


QUICK = ("mtu", "services", "devices", "topology.uplinks.length")
CASES = [
    (platform, knob, value)
    for platform in RELEASES
    for knob, values in KNOBS.items()
    for value in values
    if not knob.endswith("ids") and (platform == "sonic" or knob in QUICK)
]


def _told(plan: Plan) -> set[Any]:
    """Every place that differs: a switch, a port or none, the path from there, and the two values."""
    return {
        (device, port, one.path, one.old, one.new)
        for told in plan.changes
        for device in told.devices
        for port in told.ports or (None,)
        for fact in told.facts
        for one in fact.entries
    }


@pytest.mark.parametrize(("platform", "knob", "value"), CASES, ids=lambda one: str(one)[:40])
def test_what_differs_is_told_exactly(platform: str, knob: str, value: Any) -> None:
    """Switches that run another intent differ in just what a plan from that one has, as they show it."""
    wanted, other = reading(platform), reading_of(platform, {knob: value})
    expected = _told(nodrop.plan(other, wanted))
    found = nodrop.drift(running(other, 4, wanted.fabric), wanted)
    silent = {one.path for told in found.plan.not_compared for fact in told.facts for one in fact.entries}
    assert {one for one in _told(found.plan) if one[2] not in silent} == {
        one for one in expected if one[0] is not None and one[2] not in silent
    }
    assert _told(found.plan)


def test_switches_on_one_side_alone() -> None:
    wanted = reading()
    more = reading_of("sonic", {"topology.leaves.ids": "1-3"})
    found = nodrop.drift(running(wanted, 5, without=("leaf2",)), wanted)
    assert (found.uncollected, found.foreign, found.plan.changes, found.is_empty) == (("leaf2",), (), (), False)
    found = nodrop.drift(running(more, 5, wanted.fabric, without=("spine1", "spine2")), wanted)
    assert (found.uncollected, found.foreign, found.is_empty) == (("spine1", "spine2"), ("leaf3",), False)
    assert {one.name for one in found.plan.devices} == set()


def test_files_of_hosts_of_one_side_say_nothing_of_the_other() -> None:
    """A build sets NICs by their model; what was collected are outputs of tools on hosts: other files, no drift."""
    wanted = reading()
    nic = wanted.fabric.nics[0]
    runs = running(wanted, 6)
    other = replace(runs, fabric=replace(runs.fabric, nics=(replace(nic, host="gpu1"),)))
    assert nodrop.drift(other, wanted).is_empty
    changed = replace(runs, fabric=replace(runs.fabric, nics=(replace(nic, tos=1),)))
    assert {one.path[-1] for told in nodrop.drift(changed, wanted).plan.changes for one in told.facts[0].entries} == {
        "tos"
    }
