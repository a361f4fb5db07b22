"""An intent from configurations: builds come back equal, and others read as they are kept in imported/."""

import shutil
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nodrop
from nodrop.design.topology import topology_of
from nodrop.errors import InputProblems, UnsupportedByPlatform
from nodrop.importing import ImportResult, derive_intent, measure_intent_coverage
from nodrop.intent.load import loads
from nodrop.model.compare import differences
from nodrop.model.fabric import Fabric
from nodrop.model.routing import Bgp
from nodrop.resources import resource_folder
from support.designs import build, changed, data_of, load, shipped
from support.imported_fabrics import as_read, bare, fragments, imported, odd, without_names
from support.places import TESTS
from support.platform_mixes import INTENTS as BOTH
from support.platform_mixes import MIXES, on
from support.random_intents import texts
from support.random_names import names

HERE = TESTS / "importing" / "imported"
INTENTS = sorted(path.stem for path in resource_folder("intents").glob("*.yaml"))


def assert_comes_back(fabric: Fabric) -> ImportResult:
    """Import a build, and build that: nothing is lost, and nothing is guessed."""
    found = imported(fabric)
    assert (found.left, found.lacking, found.problems, found.guessed) == ((), (), (), ())
    assert found.rebuilds_same_fabric
    assert found.intent is not None
    assert list(differences(fabric, nodrop.build(found.intent))) == []
    return found


@pytest.mark.parametrize("name", INTENTS)
def test_the_build_of_a_shipped_intent_comes_back_equal(name: str) -> None:
    assert_comes_back(nodrop.build(nodrop.load(resource_folder("intents") / f"{name}.yaml")))


def test_several_rails_on_a_leaf_come_back_as_ports_per_leaf() -> None:
    changes = {"ids": "1-16", "leaf_group": "16", "ports_per_leaf": "2"}
    data = shipped(
        "rail-256", {"topology.leaves.ids": "1-4"} | {f"endpoints.gpu.{key}": text for key, text in changes.items()}
    )
    intent = assert_comes_back(build(data)).intent
    assert intent is not None
    gpu = intent.endpoints["gpu"]
    assert (gpu.spread, gpu.ports_per_leaf, gpu.leaf_group) == ("rails", 2, 16)


@pytest.mark.parametrize("name", INTENTS)
def test_an_intent_holds_its_build(name: str) -> None:
    intent = nodrop.load(resource_folder("intents") / f"{name}.yaml")
    fabric = nodrop.build(intent)
    read = nodrop.read_back(list(nodrop.write(fabric)), fabric).fabric
    held = measure_intent_coverage(read, intent)
    assert (held.names, held.left) == ((), ())


@pytest.mark.parametrize("name", ["storage-leaves", "uneven-pods"])
def test_an_intent_of_several_groups_does_not_hold_another_mtu(name: str) -> None:
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / f"{name}.yaml"))
    read = nodrop.read_back(list(nodrop.write(fabric)), fabric).fabric
    assert measure_intent_coverage(read, load(changed(shipped(name), {"mtu": "9000"}))).left


@pytest.mark.parametrize("name", ["two-by-two", "storage-leaves", "uneven-pods", "rail-only", "single-switch"])
def test_tiers_are_found_by_cables_where_names_and_roles_say_nothing(name: str) -> None:
    found = without_names(shipped(name))
    assert (found.left, found.lacking, found.problems) == ((), (), ())
    wanted = {(one.tier, one.offset, one.per_pod, one.wanted.ids) for one in topology_of(load(shipped(name))).groups}
    assert found.intent is not None
    assert {(one.tier, one.offset, one.per_pod, one.wanted.ids) for one in topology_of(found.intent).groups} == wanted


@pytest.mark.parametrize(("leaves", "spines"), MIXES[1:])
@pytest.mark.parametrize("name", BOTH)
@pytest.mark.nightly
def test_the_build_of_an_intent_on_other_platforms_comes_back_equal(name: str, leaves: str, spines: str) -> None:
    if name.startswith("reference"):
        pytest.skip("as large as rail-256, and of the same shape")
    try:
        fabric = build(on(name, leaves, spines))
    except InputProblems as error:
        pytest.skip(f"refused: {error.problems[0].found}")
    assert_comes_back(fabric)


@given(texts())
@pytest.mark.nightly
def test_builds_of_random_intents_come_back_equal(text: str) -> None:
    try:
        fabric = nodrop.build(loads(text.encode(), "random.yaml"))
        found = imported(fabric)
    except (InputProblems, UnsupportedByPlatform):
        assume(False)
        raise
    assert (found.left, found.lacking, found.problems) == ((), (), ())
    assert found.intent is not None
    assert list(differences(fabric, nodrop.build(found.intent))) == []


@given(st.data())
@pytest.mark.nightly
def test_builds_of_random_intents_with_random_names_come_back_equal(drawn: st.DataObject) -> None:
    data = data_of(drawn.draw(texts()))
    data["names"] = drawn.draw(names(data))
    try:
        fabric = build(data)
        found = imported(fabric)
    except (InputProblems, UnsupportedByPlatform):
        assume(False)
        raise
    assert (found.left, found.lacking, found.problems) == ((), (), ())
    assert found.intent is not None
    assert list(differences(fabric, nodrop.build(found.intent))) == []


SPLIT_SN5600 = {
    "topology.leaves.model": "SN5600", "topology.spines.model": "SN5600",
    "topology.leaves.version": "202511", "topology.spines.version": "202511",
    "topology.uplinks.split": "2", "endpoints.gpu.split": "2", "endpoints.storage.split": "2",
    "endpoints.gpu.leaf_ports": "1",
}  # fmt: skip
"""Ports of four lanes, of which Spectrum-4 samples counters."""

OF_TWO_BY_TWO: dict[str, dict[str, Any]] = {
    "named": {"fabric": "hall-2"},
    "smaller-mtu": {"mtu": "4300"},
    "alpha": {"buffers.alpha": "1/8", "buffers.lossless_pool": "75%"},
    "sharing": {"buffers.shared_headroom": "4"},
    "pattern": {"buffers.pattern_mtu": "4096"},
    "timers": {"pfc.watchdog.hosts.detection": "300ms", "pfc.watchdog.fabric.action": "forward"},
    "unwatched": {"pfc.watchdog.fabric": "off"},
    "weighted": {"routing.balancing": "weighted"},
    "polling": {"pfc.watchdog.polling": "150ms", "pfc.watchdog.hosts.detection": "450ms"},
    "services": {
        "services.ntp": ["192.0.2.9"], "services.dns": ["192.0.2.53"], "services.snmp.location": 'row "4", rack 2',
        "services.telemetry.gnmi": True,
    },
    "high-frequency": SPLIT_SN5600 | {
        "services.telemetry.high_frequency.interval": "500us",
        "services.telemetry.high_frequency.objects": "priority-groups",
    },
    "hash": {"routing.hash": ["src-ip", "dst-ip"]},
    "bfd": {"routing.bfd": True},
    "tables": {
        "routing.delivery": "tables", "topology.leaves.version": "202511", "topology.spines.version": "202605",
    },
    "style": {
        "topology.leaves.platform": "nvue", "topology.leaves.version": "5.16", "topology.leaves.style": "explicit",
    },
    "asns": {"routing.asn.spines": "65000+", "routing.asn.leaves": "65100+"},
    "hosts": {"hosts.rdma_mtu": "1024", "hosts.dcqcn": False, "hosts.queue_pairs": "4"},
    "control-messages": {
        "classes.storage": {
            "dscp": ["21", "22"], "priority": "4", "lossless": True, "share": "20%",
            "ecn": {"min": "150kB", "max": "1500kB", "probability": "100%"},
        },
        "hosts.fifo_class": "storage",
    },
    "drained": {"devices.leaf2.drained": True},
    "asn": {"devices.spine2.asn": "4200000099", "devices.leaf1.asn": "4200100077"},
    "hwsku": {"devices.leaf2.hwsku": "Mellanox-SN4700-O32"},
    "spare": {"devices.leaf2.spare": ["29", "31"], "topology.max_oversubscription": "1.5"},
    "split-panel-port": {"devices.leaf1.spare": ["29"], "topology.max_oversubscription": "1.5", **SPLIT_SN5600},
    "reserve": {"devices.spine2.spare": "all", "topology.max_oversubscription": "1.5"},
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


@pytest.mark.parametrize(("style", "stated"), [("macro", False), ("explicit", True)])
def test_the_style_of_a_tier_is_stated_if_it_is_not_the_default(style: str, stated: bool) -> None:
    spines = {"platform": "nvue", "version": "5.16", "style": style}
    found = assert_comes_back(build(shipped("two-by-two", {f"topology.spines.{key}": spines[key] for key in spines})))
    assert ("style" in found.text) == stated


def test_ports_of_fewer_lanes_come_back() -> None:
    wanted = {"nic": "ConnectX-5", "speed": "100G", "media": "DAC", "lanes": "4"}
    data = shipped("broadcom", {f"endpoints.storage.{key}": value for key, value in wanted.items()})
    found = assert_comes_back(build(data))
    assert found.text.count("lanes: 4") == 1


@pytest.mark.parametrize("shared", ["off", "2", "5"])
def test_shared_headroom_of_switches_with_tables_comes_back(shared: str) -> None:
    found = assert_comes_back(build(shipped("broadcom", {"buffers.shared_headroom": shared})))
    assert ("shared_headroom" in found.text) == (shared != "off")


def test_ports_set_aside_that_only_tables_of_headroom_show_are_told() -> None:
    ports = {"topology.leaves.ports.endpoints": "1-8", "endpoints.gpu.leaf_ports": "1-6"}
    data = shipped("broadcom", ports | {"endpoints.storage.leaf_ports": "7-8"})
    found = imported(build(data))
    assert {one.path for one in found.unlike} == {"buffer_pools/size_bytes", "buffer_pools/shared_headroom_bytes"}


@pytest.mark.parametrize(("platform", "version", "media"), [("sonic", "202505", "DAC"), ("nvue", "5.14", "DR")])
@pytest.mark.slow
def test_ports_that_autonegotiate_on_sonic_are_taken_for_copper(platform: str, version: str, media: str) -> None:
    """NVUE negotiates on every port, so that nothing follows from it there."""
    tier = {"topology.leaves.platform": platform, "topology.leaves.version": version}
    cable = {"endpoints.storage.speed": "100G", "endpoints.storage.media": "DAC", "endpoints.storage.length": "2m"}
    built = build(shipped("two-by-two", tier | cable))
    found = derive_intent(as_read(built), source="build")
    assert found.intent is not None
    assert (found.intent.endpoints["gpu"].media, found.intent.endpoints["storage"].media) == ("DR4", media)


ADDED = {
    "sonic": {"tables": {"BANNER_MESSAGE": {"global": {"motd": "row 7"}}}, "lines": ["banner motd line row 7"]},
    "leaf": {"tables": {"GNMI": {"certs": {"ca_crt": "/etc/sonic/ca.cer"}}, "LOGGER": {"orchagent": {}}}},
    "spine2": {"tables": {"ACL_TABLE": {"A": {"ports": ["Ethernet0", "Ethernet8"], "type": "L3"}}}},
}


def test_what_is_beside_the_model_comes_back_where_it_was() -> None:
    found = assert_comes_back(build(shipped("two-by-two", {"extra": ADDED})))
    assert found.intent is not None
    assert set(found.intent.extra) == set(ADDED)


def test_added_lines_come_back_in_the_blocks_that_they_belong_to() -> None:
    head = "router bgp"
    own = [head, " neighbor 10.1.1.225 timers 3 9", "exit", "log facility local3"]
    text = assert_comes_back(build(shipped("two-by-two", {"extra": {"leaf1": {"lines": own}}}))).text
    assert f'lines: ["{head}", " neighbor 10.1.1.225 timers 3 9", exit, "log facility local3"]' in text


def test_lines_of_unknown_effect_come_back_with_what_has_to_be_declared() -> None:
    own = ["router bgp", " bgp dampening", "exit", "router ospf", " network 10.0.0.0/8 area 0", "exit"]
    found = assert_comes_back(build(shipped("two-by-two", {"extra": {"sonic": {"lines": own}}})))
    assert found.intent is not None
    assert [name for name, extra in found.intent.extra.items() if extra.lines] == ["sonic"]
    assert [line for line in found.declarations if "reason" not in line] == [
        "harmless:",
        "  - line: bgp dampening",
        "  - line: router ospf",
    ]
    assert "#     - line: router ospf\n" in found.text


def test_lines_that_say_otherwise_what_the_model_has_are_not_carried_in_extra() -> None:
    fabric = build(shipped("two-by-two"))
    devices = [
        replace(device, bgp=replace(device.bgp, router_id="10.0.64.9")) if device.name == "spine2" else device
        for device in fabric.devices
        if isinstance(device.bgp, Bgp)
    ]
    found = imported(replace(fabric, devices=tuple(devices)))
    assert "extra" not in found.text
    assert not found.rebuilds_same_fabric


def test_paths_of_the_other_platform_come_back_too() -> None:
    data = on("two-by-two", "nvue", "sonic")
    extra = {"nvue": {"paths": {"system": {"message": {"pre-login": "hands off"}}}}, "spine": ADDED["sonic"]}
    assert_comes_back(build(data | {"extra": extra}))


def golden() -> dict[str, ImportResult]:
    """The imports that are kept."""
    whole = {
        name: imported(nodrop.build(nodrop.load(resource_folder("intents") / f"{name}.yaml")))
        for name in ("adaptive", "broadcom", "storage-vlan", "trim", "uec", "unnumbered")
    }
    return whole | {
        "two-by-two-alone": derive_intent(bare("two-by-two"), source="build"),
        "unlike": derive_intent(odd(), source="site"),
        "fragments": derive_intent(fragments(), source="site"),
    }


def test_imports_read_as_they_are_kept(update_golden: bool) -> None:
    made = {f"{name}.yaml": one.text for name, one in golden().items()}
    if update_golden:
        shutil.rmtree(HERE, ignore_errors=True)
        HERE.mkdir()
        for name, text in made.items():
            (HERE / name).write_text(text)
    assert {path.name: path.read_text() for path in HERE.iterdir()} == made


def test_an_import_is_the_same_whatever_the_order_of_switches() -> None:
    fabric = bare("storage-vlan")
    turned = replace(fabric, devices=fabric.devices[::-1], links=fabric.links[::-1])
    assert derive_intent(turned, source="x").text == derive_intent(fabric, source="x").text


def test_an_import_of_an_intent_is_that_intent() -> None:
    data = shipped("two-by-two")
    assert_comes_back(nodrop.build(load(data)))
