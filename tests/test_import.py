"""An intent from configurations: builds come back equal, what an intent cannot say is told, guesses are said to be."""

import json
import shutil
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given

import nodrop
from command import nodrop as run
from designs import build, load, shipped
from nodrop.errors import InputProblems, Unsupported
from nodrop.fabric.compare import differences, project
from nodrop.fabric.fabric import Device, Fabric, Interface
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import UNKNOWN
from nodrop.importing import Imported, derive, files_of
from nodrop.importing.trying import spelt
from nodrop.intent.load import loads
from nodrop.resources import home
from random_intents import texts
from test_mixed import INTENTS as BOTH
from test_mixed import MIXES, on

HERE = Path(__file__).parent / "imported"
INTENTS = sorted(path.stem for path in home("intents").glob("*.yaml"))


def imported(fabric: Fabric) -> Imported:
    """What a build of a fabric is imported as."""
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    return derive(reading.fabric, source="build", files=files_of(reading))


@cache
def bare(name: str) -> Fabric:
    """A shipped fabric as its switches' files alone have it, and nothing stated beside them."""
    from nodrop.collect import read_artifacts
    from nodrop.fabric.assemble import assemble
    from nodrop.fabric.declared import Declared

    fabric = nodrop.build(nodrop.load(home("intents") / f"{name}.yaml"))
    artifacts = [one for one in nodrop.write(fabric) if one.device]
    readings = list(read_artifacts(artifacts, {one.name: one.platform for one in fabric.devices}, ""))
    return assemble(readings, Declared()).fabric


def assert_comes_back(fabric: Fabric) -> Imported:
    """Import a build, and build that: nothing is lost, and nothing is guessed."""
    found = imported(fabric)
    assert (found.left, found.lacking, found.problems, found.guessed) == ((), (), (), ())
    assert found.equal
    assert found.intent is not None
    assert list(differences(fabric, nodrop.build(found.intent))) == []
    return found


@pytest.mark.parametrize("name", INTENTS)
def test_the_build_of_a_shipped_intent_comes_back_equal(name: str) -> None:
    assert_comes_back(nodrop.build(nodrop.load(home("intents") / f"{name}.yaml")))


@pytest.mark.parametrize(("leaves", "spines"), MIXES[1:])
@pytest.mark.parametrize("name", BOTH)
def test_the_build_of_an_intent_on_other_platforms_comes_back_equal(name: str, leaves: str, spines: str) -> None:
    if name.startswith("reference"):
        pytest.skip("as large as rail-256, and of the same shape")
    try:
        fabric = build(on(name, leaves, spines))
    except InputProblems as error:
        pytest.skip(f"refused: {error.problems[0].found}")
    assert_comes_back(fabric)


@given(texts())
def test_builds_of_random_intents_come_back_equal(text: str) -> None:
    try:
        fabric = nodrop.build(loads(text.encode(), "random.yaml"))
        found = imported(fabric)
    except (InputProblems, Unsupported):
        assume(False)
        raise
    assert (found.left, found.lacking, found.problems) == ((), (), ())
    assert found.intent is not None
    assert list(differences(fabric, nodrop.build(found.intent))) == []


OF_TWO_BY_TWO: dict[str, dict[str, Any]] = {
    "named": {"fabric": "hall-2"},
    "smaller-mtu": {"mtu": "4300"},
    "alpha": {"buffers.alpha": "1/8", "buffers.lossless_pool": "75%"},
    "sharing": {"buffers.shared_headroom": "4"},
    "pattern": {"buffers.pattern_mtu": "4096"},
    "timers": {"pfc.watchdog.hosts.detection": "300ms", "pfc.watchdog.fabric.action": "forward"},
    "unwatched": {"pfc.watchdog.fabric": "off"},
    "polling": {"pfc.watchdog.polling": "150ms", "pfc.watchdog.hosts.detection": "450ms"},
    "services": {
        "services.ntp": ["192.0.2.9"], "services.dns": ["192.0.2.53"], "services.snmp.location": 'row "4", rack 2',
        "services.telemetry.gnmi": True,
    },
    "hash": {"routing.hash": ["src-ip", "dst-ip"]},
    "bfd": {"routing.bfd": True},
    "asns": {"routing.asn.spines": "65000+", "routing.asn.leaves": "65100+"},
    "hosts": {"hosts.rdma_mtu": "1024", "hosts.dcqcn": False},
    "drained": {"devices.leaf2.drained": True},
    "slots": {"topology.slots_per_device": "512", "addressing.links": "10.16.0.0/14"},
    "shared-out": {"topology.uplinks.leaf_slots": "4"},
    "few-leaves": {"topology.leaves.ids": "1, 3", "topology.spines.ids": "2"},
    "over": {"topology.max_oversubscription": "3.5"},
    "ipv6": {"addressing.loopbacks": ["10.0.0.0/16", "fd00::/48"], "addressing.links": ["10.1.0.0/16", "fd00:1::/48"]},
}  # fmt: skip
"""What else an intent may state, one kind at a time."""


@pytest.mark.parametrize("case", OF_TWO_BY_TWO)
def test_every_kind_of_key_comes_back(case: str) -> None:
    data = shipped("two-by-two", OF_TWO_BY_TWO[case])
    if case == "few-leaves":
        data["endpoints"] = {"storage": data["endpoints"]["storage"] | {"ids": "1, 3"}}
    found = assert_comes_back(build(data))
    for path in OF_TWO_BY_TWO[case]:
        assert path.rpartition(".")[2] in found.text


@pytest.mark.parametrize("shared", ["off", "2", "5"])
def test_shared_headroom_of_switches_with_tables_comes_back(shared: str) -> None:
    found = assert_comes_back(build(shipped("broadcom", {"buffers.shared_headroom": shared})))
    assert ("shared_headroom" in found.text) == (shared != "off")


def test_ports_set_aside_that_only_tables_of_headroom_show_are_told() -> None:
    ports = {"topology.leaves.ports.endpoints": "1-8", "endpoints.gpu.leaf_ports": "1-6"}
    data = shipped("broadcom", ports | {"endpoints.storage.leaf_ports": "7-8"})
    found = imported(build(data))
    assert {one.path for one in found.unlike} == {"buffer_pools/size_bytes", "buffer_pools/shared_headroom_bytes"}


ADDED = {
    "sonic": {"tables": {"BANNER_MESSAGE": {"global": {"motd": "row 7"}}}, "lines": ["banner motd line row 7"]},
    "leaf": {"tables": {"GNMI": {"certs": {"ca_crt": "/etc/sonic/ca.cer"}}, "LOGGER": {"orchagent": {}}}},
    "spine2": {"tables": {"ACL_TABLE": {"A": {"ports": ["Ethernet0", "Ethernet8"], "type": "L3"}}}},
}


def test_what_is_beside_the_model_comes_back_where_it_was() -> None:
    found = assert_comes_back(build(shipped("two-by-two", {"extra": ADDED})))
    assert found.intent is not None
    assert set(found.intent.extra) == set(ADDED)


def test_paths_of_the_other_platform_come_back_too() -> None:
    data = on("two-by-two", "nvue", "sonic")
    extra = {"nvue": {"paths": {"system": {"message": {"pre-login": "hands off"}}}}, "spine": ADDED["sonic"]}
    assert_comes_back(build(data | {"extra": extra}))


def test_settings_by_hand_are_carried_and_secrets_are_not(two_by_two: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(two_by_two, site)
    for name in ("leaf1", "leaf2"):
        at = site / name / "config_db.json"
        tables = json.loads(at.read_text())
        tables["TACPLUS"] = {"global": {"passkey": "open-sesame", "timeout": "5"}}
        tables["SNMP_AGENT_ADDRESS_CONFIG"] = {"192.0.2.7|161|": {}}
        at.write_text(json.dumps(tables, indent=4))
    done = run("import", site)
    assert "open-sesame" not in done.out
    assert "TACPLUS global passkey, which hold secrets" in done.out
    assert 'timeout: "5"' in done.out
    assert "192.0.2.7|161|" in done.out
    assert done.code == 1


def test_settings_that_no_fact_of_the_model_is_about_are_told(two_by_two: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(two_by_two, site)
    at = site / "leaf1" / "config_db.json"
    tables = json.loads(at.read_text())
    alias = tables["PORT"]["Ethernet0"]["alias"]
    tables["PORT"]["Ethernet0"]["alias"] = "first"
    at.write_text(json.dumps(tables, indent=4))
    done = run("import", site)
    assert f"#   leaf1: PORT Ethernet0 alias is first, this intent comes to {alias}\n" in done.out
    assert done.code == 1


def test_settings_that_go_with_facts_that_are_told_are_counted(two_by_two: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(two_by_two, site)
    shutil.rmtree(site / "leaf2")
    done = run("import", site)
    assert done.out.count("settings of its files that go with what is told above") == 2
    assert "PORT_QOS_MAP" not in done.out


def without(device: Device, port: str) -> Device:
    """A switch of which one port has no watchdog."""

    def unwatched(qos: Any) -> Any:
        return replace(qos, pfc_watchdog=None) if isinstance(qos, QosProfile) else qos

    changed = (replace(one, qos=unwatched(one.qos)) if one.name == port else one for one in device.interfaces)
    return replace(device, interfaces=tuple(changed))


def odd() -> Fabric:
    """Two by two with other names, a port that lost its watchdog, and a spine of an AS of its own."""
    fabric = bare("two-by-two")
    names = {"leaf1": "rack-a", "leaf2": "rack-b", "spine1": "core-sp1", "spine2": "core-sp2"}
    devices = []
    for one in fabric.devices:
        device = without(one, "Ethernet8") if one.name == "leaf2" else one
        if one.name == "spine2":
            device = replace(device, bgp=replace(device.bgp, asn=4200000002), ntp_servers=("192.0.2.1",))  # type: ignore[type-var]
        devices.append(replace(device, name=names[one.name], role=UNKNOWN))

    def end(one: Any) -> Any:
        return one._replace(node=names.get(one.node, one.node))

    links = tuple(replace(one, a=end(one.a), b=end(one.b)) for one in fabric.links)
    return replace(fabric, devices=tuple(devices), links=links)


def fragments() -> Fabric:
    """What is left where two switches are known by their ports alone."""
    fabric = bare("two-by-two")
    devices = []
    for one in fabric.devices[1:3]:
        ports = tuple(replace(port, qos=UNKNOWN, addresses=UNKNOWN) for port in one.interfaces)
        devices.append(Device(name=one.name, platform=one.platform, interfaces=ports))
    return replace(fabric, devices=tuple(devices), links=(), classes=())


def golden() -> dict[str, Imported]:
    """The imports that are kept."""
    whole = {
        name: imported(nodrop.build(nodrop.load(home("intents") / f"{name}.yaml")))
        for name in ("adaptive", "broadcom", "storage-vlan", "trim", "unnumbered")
    }
    return whole | {
        "two-by-two-alone": derive(bare("two-by-two"), source="build"),
        "unlike": derive(odd(), source="site"),
        "fragments": derive(fragments(), source="site"),
    }


def test_imports_read_as_they_are_kept(update_golden: bool) -> None:
    made = {f"{name}.yaml": one.text for name, one in golden().items()}
    if update_golden:
        shutil.rmtree(HERE, ignore_errors=True)
        HERE.mkdir()
        for name, text in made.items():
            (HERE / name).write_text(text)
    assert {path.name: path.read_text() for path in HERE.iterdir()} == made


def test_what_one_switch_has_otherwise_is_told_by_the_names_of_the_files() -> None:
    found = derive(odd(), source="site")
    assert not found.equal
    told = "\n".join(found.left)
    assert "routing.asn.spines: most have it, and not spine2" in found.guessed
    assert "rack-b Ethernet8: qos/pfc_watchdog is none, this intent comes to there" in told
    assert "core-sp2: ntp_servers is 192.0.2.1, this intent comes to none (services.ntp decides it)" in told


def test_without_stated_context_a_build_comes_back_with_guesses() -> None:
    found = derive(bare("two-by-two"), source="build")
    assert found.equal
    assert "endpoints: hosts were taken from descriptions and neighbor tables" in found.guessed
    assert "classes: no file says what traffic is for: names and purposes follow conventions" in found.guessed


def test_what_no_file_says_is_to_be_added() -> None:
    found = derive(fragments(), source="site")
    assert not found.equal
    assert {one.partition(":")[0] for one in found.lacking} >= {"classes", "routing.asn.leaves", "addressing.oob"}
    for one in found.lacking:
        assert f"# {one.partition(':')[0]} is to be added:" in found.text


FIELDS = sorted({field.name for field in fields(Device)} - {"name", "platform", "interfaces"})
PORT_FIELDS = sorted({field.name for field in fields(Interface)} - {"name"})


@pytest.mark.parametrize("name", [*FIELDS, *(f"interfaces/*/{one}" for one in PORT_FIELDS)])
def test_a_fact_that_no_file_says_is_no_difference(name: str) -> None:
    whole = bare("two-by-two")
    fabric = replace(whole, devices=tuple(project(device, [name]) for device in whole.devices))
    found = derive(fabric, source="site")
    assert name.rpartition("/")[2] not in {one.path for one in found.unlike}


def unnumbered_alone() -> Fabric:
    """A fabric whose cables no file names: sessions go over interfaces, and ports have no descriptions."""
    fabric = bare("unnumbered")
    devices = (
        replace(one, interfaces=tuple(replace(port, description=None, side=UNKNOWN) for port in one.interfaces))
        for one in fabric.devices
    )
    return replace(fabric, devices=tuple(devices), links=())


def test_ports_with_sessions_over_interfaces_are_uplinks_where_no_cable_is_known() -> None:
    found = derive(unnumbered_alone(), source="site")
    assert "uplinks: 29-32" in found.text
    assert "uplinks: {per_spine: 2, speed: 400G," in found.text
    assert found.intent is not None
    assert [one for one in found.unlike if one.path.startswith(("links", "bgp"))] == []


def test_spines_under_superspines_are_leaves_where_nothing_is_below_them() -> None:
    whole = bare("two-by-two")
    up = {"leaf": "spine", "spine": "superspine"}
    fabric = replace(whole, devices=tuple(replace(one, role=up[str(one.role)]) for one in whole.devices))
    found = derive(fabric, source="site")
    assert "ports: {endpoints: 1-3, uplinks: 29-32}}" in found.text
    assert any(
        one.startswith("topology.leaves.ids: which switches these are follows from roles") for one in found.guessed
    )
    assert {one.path for one in found.unlike} == {"role"}


def test_names_of_servers_are_left_and_told() -> None:
    whole = bare("two-by-two")
    fabric = replace(whole, devices=tuple(replace(one, ntp_servers=("pool.ntp.org",)) for one in whole.devices))
    found = derive(fabric, source="site")
    assert "ntp_servers: pool.ntp.org; an intent has addresses" in found.left


def test_an_import_is_the_same_whatever_the_order_of_switches() -> None:
    fabric = bare("storage-vlan")
    turned = replace(fabric, devices=fabric.devices[::-1], links=fabric.links[::-1])
    assert derive(turned, source="x").text == derive(fabric, source="x").text


def test_the_command_writes_a_file_that_builds_to_what_was_read(two_by_two: Path, tmp_path: Path) -> None:
    to = tmp_path / "made" / "intent.yaml"
    done = run("import", two_by_two, "-o", to)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"{to}: written; it comes to the fabric that was read\n"
    assert run("build", to, "-o", tmp_path / "again").code == 0
    for one in sorted(two_by_two.rglob("*")):
        if one.is_file() and one.name != ".nodrop.json":
            assert (tmp_path / "again" / one.relative_to(two_by_two)).read_bytes() == one.read_bytes(), one


def test_the_command_says_what_is_not_carried_and_never_writes_over_a_file(two_by_two: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    shutil.copytree(two_by_two, site)
    text = (site / "spine1" / "config_db.json").read_text()
    (site / "spine1" / "config_db.json").write_text(text.replace('"202505"', '"202505"').replace("1500000", "1400000"))
    done = run("import", site)
    assert done.code == 1
    assert "# Not carried:" in done.out
    assert "spine1" in done.out.partition("# Not carried:")[2]
    there = tmp_path / "there.yaml"
    there.write_text("mine")
    refused = run("import", site, "-o", there)
    assert (refused.code, there.read_text()) == (2, "mine")
    assert run("import", tmp_path / "nowhere").code == 2


def test_values_are_spelt_for_people() -> None:
    assert [spelt(one) for one in (None, True, (), (1, 2), UNKNOWN)] == ["none", "on", "none", "1, 2", "unknown"]


def test_an_import_of_an_intent_is_that_intent() -> None:
    data = shipped("two-by-two")
    assert_comes_back(nodrop.build(load(data)))
