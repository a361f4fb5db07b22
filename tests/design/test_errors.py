"""What nodrop says of intents that it refuses, word for word: `errors/<name>.yaml` and, beside it, `errors/<name>.txt`.

What the words offer must work: it is done, and the intent must build.
"""

import re

import pytest

from nodrop.cli.main import WRONG, run
from nodrop.errors import InputProblems
from support.designs import build, changed, data_of
from support.places import TESTS
from support.platform_mixes import on

NAMES = sorted(path.stem for path in (TESTS / "design" / "errors").glob("*.yaml"))

TWO_TIERS = data_of((TESTS / "design" / "errors" / "later-platform.yaml").read_text())["topology"] | {
    "spines": {"ids": "1-2", "model": "SN4700", "platform": "sonic", "version": "202505"}
}
LIMIT = "topology.max_oversubscription"
PER_SPINE = "topology.uplinks.per_spine"
OFFERED = {
    "asn-of-a-spine": [{"routing.asn.spines": "4199999998"}],
    "asn-of-all-leaves": [{"routing.asn.leaves": "4200000000+"}],
    "asn-past-the-last": [{"routing.asn.leaves": "4294967292+"}],
    "devices-spare-too-many": [{LIMIT: "1.5"}],
    "devices-spare-with-a-host": [{"endpoints.gpu.ids": "1", "endpoints.storage.ids": "1"}],
    "endpoints-collide": [{"endpoints.storage.leaf_ports": "3"}],
    "endpoints-not-split": [{"endpoints.gpu.split": "2"}, {"endpoints.gpu.ids": "1-16"}],
    "endpoints-without-leaf-ports": [{"endpoints.gpu.leaf_ports": "1-2", "endpoints.storage.leaf_ports": "3"}],
    "leaf-group-of-one-leaf": [{"endpoints.gpu.leaf_group": "1"}, {"endpoints.gpu.ids": "1"}],
    "leaf-group-too-large": [{"endpoints.gpu.leaf_group": "16"}, {"endpoints.gpu.ids": "1-16"}],
    "leaf-missing": [{"endpoints.gpu.ids": "1-32"}],
    "leaf-missing-on-roomy-spines": [{"topology.leaves.ids": "1-4"}, {"endpoints.gpu.ids": "1-4"}],
    "oversubscribed": [{PER_SPINE: "8"}, {LIMIT: "2"}],
    "oversubscribed-slightly": [{PER_SPINE: "2"}, {LIMIT: "1.5"}],
    "oversubscribed-without-room": [{LIMIT: "2.67"}],
    "per-spine-too-large": [{PER_SPINE: "8"}],
    "rdma-mtu-too-large": [{"mtu": "4192"}, {"hosts.rdma_mtu": "1024"}],
    "ports-per-leaf-of-one-leaf": [{"endpoints.gpu.ports_per_leaf": "1"}],
    "ports-per-leaf-of-all": [{"endpoints.gpu.ports_per_leaf": "1", "endpoints.gpu.spread": "one-leaf"}],
    "ports-per-leaf-uneven": [{"endpoints.gpu.ports_per_leaf": "2"}],
    "rails-of-one-port": [{"endpoints.storage.spread": "one-leaf"}],
    "rails-of-two-kinds": [{"endpoints.storage.ports": "2"}, {"endpoints.storage.spread": "leaves"}],
    "rails-with-a-leaf-to-spare": [{"topology.leaves.ids": "1-2"}],
    "rails-on-fewer-leaves": [
        {"topology.leaves.ids": "1-4"},
        {"endpoints.gpu.ports_per_leaf": "2"},
        {"endpoints.gpu.ports": "2"},
    ],
    "rails-without-leaves": [{"topology.leaves.ids": "1-4"}, {"endpoints.gpu.ports": "2"}],
    "shared-headroom-of-a-port": [{"topology.uplinks.length": "1762m"}, {"buffers.shared_headroom": "off"}],
    "shared-headroom-of-many": [{"buffers.shared_headroom": "4"}],
    "shares-not-100": [{"classes.default.share": "25%"}],
    "speed-not-on-half-a-port": [{"endpoints.gpu.split": "1"}],
    "speed-not-on-the-split": [{"topology.uplinks.split": "1"}],
    "spines-full": [{PER_SPINE: "4", LIMIT: "2"}],
    "split-not-there": [{"topology.uplinks.split": "1"}],
    "split-too-few": [
        {"endpoints.gpu.leaf_ports": "1-2, 4"},
        {"endpoints.gpu.leaf_group": "4", "topology.leaves.ids": "1-4"},
        {"endpoints.gpu.ids": "1-4"},
    ],
    "splits-that-differ": [{"endpoints.storage.leaf_ports": "3"}],
    "uplinks-not-split": [{"topology.uplinks.split": "2"}, {PER_SPINE: "8", LIMIT: "2"}],
    "uplinks-of-a-gap": [{PER_SPINE: "4", LIMIT: "2"}],
    "uplinks-of-three-spines": [
        {"topology.uplinks.spine_slots": "3", LIMIT: "1.07"},
        {PER_SPINE: "4", LIMIT: "1.34"},
    ],
    "uplinks-past-the-slots": [{"topology.uplinks.spine_slots": "3", LIMIT: "2.67"}],
}
"""What the words of an error offer, each of which puts all of the intent right."""

MEANT = {
    "cable-too-long": {"topology.uplinks.media": "DR4", "endpoints.gpu.media": "FR4"},
    "cable-too-long-for-copper": {"topology.uplinks.length": "2m"},
    "cap-on-a-share": {"classes.rdma.max_rate": None, "classes.default.max_rate": None},
    "devices-hwsku": {"devices.leaf2.hwsku": "Mellanox-SN4700-O32", "devices.spine1": None},
    "devices-named": {"names.devices.leaf2": "tor2", "extra.leaf2.tables": {}, "devices": None},
    "devices-spare-all-uplinks": {"devices.leaf2.spare": "29, 31", LIMIT: "1.5"},
    "devices-spare-not-there": {"devices.leaf2.spare": "31-32", LIMIT: "1.5"},
    "dscp-of-two-classes": {"classes.storage.dscp": ["10", "24-25"]},
    "ecn-backwards": {"classes.rdma.ecn.max": "1501kB"},
    "endpoints-without-ports": {"endpoints.gpu.leaf_ports": "1, 4"},
    "headroom-fills-the-memory": {"topology.uplinks.length": "2636m"},
    "external-links": {
        "external.wan.links": {"leaf1": {"19": "192.0.2.0/31"}},
        "external.taken.links": {"leaf1": {"20": "192.0.2.4/31"}},
        "external.gpu1": None,
    },
    "external-addresses": {"external.wan.links": {"leaf1": {"20": "192.0.2.0/31"}}},
    "external-address-forms": {
        "external.wan.links": {"leaf1": {"20": "192.0.2.1/31", "21": "192.0.2.5/30"}},
        "external.wan.accept": ["0.0.0.0/0", "10.64.0.0/16 le 24"],
        "external.wan.announce": "endpoints",
    },
    "external-routes": {
        "external.wan.asn": "65001",
        "external.wan.accept": "10.0.0.0/8",
        "external.wan.announce": ["endpoints", "10.2.1.0/24"],
    },
    "hosts-named-alike": {"endpoints.gpu1.ids": "5-6", "endpoints.gpu1.leaf_group": "4"},
    "hosts-set-otherwise": {"hosts": {"cnp_dscp": "48", "pfc": ["3"], "tos": "106"}},
    "later-platform": {"topology.spines.platform": "sonic", "topology.spines.version": "202505"},
    "dragonfly": {"topology": TWO_TIERS},
    "dragonfly-too-many-groups": {"topology": TWO_TIERS},
    "torus": {"topology": TWO_TIERS},
    "torus-open-ring": {"topology": TWO_TIERS},
    "lossless-and-strict": {
        "classes.rdma.strict": None,
        "classes.rdma.share": "60%",
        "classes.storage.share": "20%",
        "classes.default.share": "20%",
    },
    "medium-passive": {"endpoints.gpu.media": "AOC"},
    "medium-without-the-speed": {"topology.uplinks.media": "FR4"},
    "mode-lossy-without-ecn": {"classes.rdma.ecn": {"min": "150kB", "max": "1500kB", "probability": "5%"}},
    "mode-trim": {
        "topology.leaves.model": "SN5600",
        "topology.spines.model": "SN5600",
        "trimming.size": "256B",
        "trimming.into": "cut",
        "classes.cut": {"dscp": "11", "priority": "5", "strict": True},
    },
    "mode-trim-into-rdma": {"trimming": None, "classes.trimmed": {"dscp": "11", "priority": "5", "strict": True}},
    "mode-trim-into-the-rest": {"trimming.into": "storage"},
    "mode-without-ecn": {"classes.rdma.ecn": None},
    "mode-without-pfc": {
        "pfc": None,
        "buffers": None,
        "trimming": None,
        "hosts": {"pfc": []},
        "classes.rdma.lossless": False,
    },
    "pools-of-ipv6": {
        "addressing.loopbacks": "fd00::/48",
        "addressing.links": "fd00:1::/48",
        "addressing.oob": "192.168.100.0/24",
        "addressing.endpoints": "fd00:2::/62",
    },
    "pools-of-ipv6-too-small": {
        "addressing.loopbacks": "fd00::/124",
        "addressing.links": "fd00:1::/60",
        "addressing.endpoints": "fd00:2::/62",
    },
    "pools-of-links-missing": {"routing.sessions": "unnumbered"},
    "pools-of-links-of-one-family": {"addressing.links": ["10.1.0.0/16", "fd00:1::/48"]},
    "pools-overlap": {"addressing.links": "10.1.0.0/17", "addressing.oob": "10.3.255.0/24"},
    "pools-too-small": {
        "addressing.loopbacks": "10.0.0.0/28",
        "addressing.links": "10.0.16.0/20",
        "addressing.endpoints": "10.0.4.0/22",
        "addressing.oob": "10.0.0.16/28",
    },
    "port-in-two-lists": {"topology.leaves.ports.uplinks": "5-32", "topology.leaves.ports.dead": []},
    "priority-of-two-classes": {"classes.storage.priority": "5"},
    "rdma-lossy": {
        "classes.rdma.lossless": True,
        "classes.rdma.ecn": {"min": "150kB", "max": "1.5MB", "probability": "100%"},
        "hosts": None,
    },
    "reference-read-literally": {
        "topology.leaves.ids": "1-4",
        "topology.leaves.ports": {"endpoints": "1-16", "uplinks": "17-32"},
        "topology.uplinks.per_spine": "8",
        "topology.uplinks.speed": "400G",
        "endpoints.gpu.leaf_group": "8",
    },
    "rest-nowhere": {"classes.default.dscp": "rest"},
    "rest-twice": {"classes.storage.dscp": "10"},
    "slots-not-a-power-of-two": {"topology.slots_per_device": "128"},
    "slots-too-few": {"topology.slots_per_device": "128"},
    "speed-not-on-the-nic": {"endpoints.gpu.speed": "200G", "endpoints.gpu.media": "FR4"},
    "speed-not-on-the-switch": {"topology.uplinks.speed": "400G", "topology.uplinks.media": "DR4"},
    "strict-and-share": {"classes.control.share": None, "classes.storage.share": "5%"},
    "uplinks-of-too-many-spines": {
        "topology.leaves.ports": {"endpoints": "1-3", "uplinks": "4-8"},
        "topology.uplinks.per_spine": "1",
        "topology.uplinks.spine_slots": "5",
    },
    "watchdog-counts-too-far": {
        "pfc.watchdog.hosts.detection": "400ms",
        "pfc.watchdog.fabric.detection": "200000ms",
    },
    "watchdog-not-whole": {"pfc.watchdog.hosts.detection": "300ms", "pfc.watchdog.fabric.detection": "700ms"},
    "watchdog-of-no-polling": {"pfc.watchdog.hosts.detection": "212ms", "pfc.watchdog.fabric.detection": "1008ms"},
    "watchdog-below-two-pollings": {"pfc.watchdog.hosts.detection": "400ms"},
    "watchdog-fabric-too-early": {"pfc.watchdog.fabric.detection": "601ms"},
}
"""What an engineer would do who has read the words."""


@pytest.mark.parametrize("name", NAMES)
def test_words(
    name: str, update_golden: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(TESTS / "design")
    assert run(["show", f"errors/{name}.yaml"]) == WRONG
    captured = capsys.readouterr()
    assert captured.out == ""
    quotes = re.compile(r"^ *[0-9]* \|.*\n?", re.MULTILINE)
    lines = quotes.sub("", captured.err).splitlines(keepends=True)
    assert all(line.startswith(f"error: errors/{name}.yaml:") for line in lines)
    said = "".join(line.removeprefix("error: ") for line in lines)
    golden = TESTS / "design" / "errors" / f"{name}.txt"
    if update_golden:
        golden.write_text(said)
    assert said == golden.read_text()


def test_every_text_has_its_intent() -> None:
    assert sorted(path.stem for path in (TESTS / "design" / "errors").glob("*.txt")) == NAMES
    assert len(NAMES) >= 45


@pytest.mark.parametrize("name", NAMES)
def test_every_line_names_its_place_and_reads_well(name: str) -> None:
    for line in (TESTS / "design" / "errors" / f"{name}.txt").read_text().splitlines():
        place, _, words = line.partition(": ")
        assert re.fullmatch(rf"errors/{name}\.yaml(:[0-9]+:[0-9]+)?", place)
        assert len(words) <= 260
        assert not words.endswith((".", "!", ":"))
        assert not re.search(r"None|Input|nan|Error|  |\(\)|; expected$|\{'", words)


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, offers in OFFERED.items() for number in range(len(offers))]
)
def test_what_is_offered_works(name: str, number: int) -> None:
    changes = OFFERED[name][number]
    said = (TESTS / "design" / "errors" / f"{name}.txt").read_text()
    for path, value in changes.items():
        key = path.rpartition(".")[2]
        assert f"{key}: {value}" in said or (f"{key}: " in said and f"expected at most {value}" in said)
    build(changed(data_of((TESTS / "design" / "errors" / f"{name}.yaml").read_text()), changes))


@pytest.mark.parametrize("name", MEANT)
def test_what_is_meant_works(name: str) -> None:
    build(changed(data_of((TESTS / "design" / "errors" / f"{name}.yaml").read_text()), MEANT[name]))


def test_a_fault_that_several_groups_of_switches_have_is_told_once() -> None:
    """NVUE's spines and cores both have no such detection time."""
    timers = {"detection": "301ms", "restoration": "602ms", "action": "drop"}
    data = on("uneven-pods", "nvue", "nvue") | {"pfc": {"watchdog": {"fabric": timers}}}
    with pytest.raises(InputProblems) as raised:
        build(data)
    assert len(raised.value.problems) == len(set(raised.value.problems)) > 0
