"""`nodrop show`: numbers against hand-made ones, on a page of 100 columns and as JSON.

The hand-made numbers follow from the intents' own words. reference-256: 32 servers of 2 × 400G on 4 leaves of 16 host
ports and 16 uplinks. two-by-two: 2 servers of 2 × 400G, 2 storage nodes of 1 × 400G; each leaf has 3 host ports and
4 uplinks.
"""

import json
import re
from functools import cache
from typing import Any, get_args, get_origin

import pytest

from nodrop.design.boxes import groups_by_switch
from nodrop.design.defaults import applied_defaults
from nodrop.design.naming import naming_of
from nodrop.design.topology import topology_of
from nodrop.intent.schema import Intent
from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Interface, Link
from nodrop.model.values import replace_fields
from nodrop.report.bandwidth import FabricBandwidth
from nodrop.report.fabric import fabric_facts
from nodrop.report.table import format_table
from support.command import nodrop
from support.designs import build, changed, load, shipped
from support.pages import text_of_fabric

G = 1_000
Data = dict[str, Any]


@cache
def shown(name: str) -> Data:
    data = shipped(name)
    return fabric_facts(
        build(data),
        applied_defaults(load(data)),
        groups=groups_by_switch(topology_of(load(data)), naming_of(load(data))),
    )


def changed_facts(changes: Data) -> Data:
    data = shipped("two-by-two", changes)
    return fabric_facts(build(data), applied_defaults(load(data)))


def test_pods_below_a_third_tier_have_figures_of_their_own() -> None:
    """uneven-pods: a leaf has 4 servers with a port on each of two leaves; a spine has 2 cores with 4 links to each."""
    pods = shown("uneven-pods")["pods"]
    assert [(pod["switches"], pod["hosts"], pod["gpus"]) for pod in pods] == [
        (["leaf1", "leaf2", "leaf3", "leaf4", "spine1", "spine2"], 8, 64),
        (["leaf5", "leaf6", "spine3", "spine4"], 4, 32),
    ]
    assert [(pod["injection_mbps"], pod["up_mbps"], pod["oversubscription"]) for pod in pods] == [
        (8 * 2 * 400 * G, 2 * 2 * 4 * 400 * G, 1.0),
        (4 * 2 * 400 * G, 2 * 2 * 4 * 400 * G, 0.5),
    ]
    assert [pod["bisection_mbps"] for pod in pods] == [8 * 2 * 400 * G // 2, 4 * 2 * 400 * G // 2]
    assert pods[0]["fullest"] == {"name": "spine1", "ports_used": 16, "ports": 32}
    assert pods[1]["fullest"] == {"name": "spine3", "ports_used": 12, "ports": 32}


def test_three_tiers_have_a_bisection_at_each() -> None:
    """Six leaves with two spines each, and four spines with two cores each; a spine has 4 links to each core."""
    tiers = shown("uneven-pods")["bandwidth"]["tiers"]
    assert [(tier["bisection_mbps"] or 0) * 2 for tier in tiers] == [tier["up_mbps"] for tier in tiers]
    assert tiers[1]["bisection_mbps"] == 4 * 2 * 4 * 400 * G // 2
    lines = text_of_fabric(shown("uneven-pods")).splitlines()
    assert [line.partition(" one way")[2].lstrip(", ") for line in lines if line.startswith("  bisection")] == [
        "over the uplinks of leaf",
        "over the uplinks of spine",
        "from one half of the fabric to the other",
    ]


@pytest.mark.parametrize("name", ["reference-256", "rail-only", "single-switch"])
def test_two_tiers_and_fewer_have_no_pods(name: str) -> None:
    assert shown(name)["pods"] == []


def test_bandwidth_of_the_reference() -> None:
    wide = shown("reference-256")["bandwidth"]
    both_ways = {"down_mbps": 25_600 * G, "up_mbps": 25_600 * G, "usable_up_mbps": 25_600 * G}
    leaves = {"devices": 4, **both_ways, "oversubscription": 1.0}
    spines = {"devices": 2, "down_mbps": 25_600 * G, "up_mbps": 0, "usable_up_mbps": 0, "oversubscription": None}
    assert wide == {
        "hosts": 32,
        "gpus": 256,
        "injection_mbps": 64 * 400 * G,
        "tiers": [
            # 4 leaves × 16 ports × 400G = 25.6T each way
            {
                "level": 1,
                "roles": ["leaf"],
                **leaves,
                "bisection_mbps": 12_800 * G,
                "groups": [{"group": "leaf", **leaves}],
            },
            {
                "level": 2,
                "roles": ["spine"],
                **spines,
                "bisection_mbps": None,
                "groups": [{"group": "spine", **spines}],
            },
        ],
        "bisection_mbps": 12_800 * G,
        "parts": 1,
        "hosts_apart": False,
    }


def test_bandwidth_of_two_by_two() -> None:
    wide = shown("two-by-two")["bandwidth"]
    leaf, spine = wide["tiers"]
    assert (wide["injection_mbps"], wide["gpus"], wide["bisection_mbps"]) == (2_400 * G, 16, 1_200 * G)
    assert (leaf["down_mbps"], leaf["up_mbps"], leaf["oversubscription"]) == (2_400 * G, 3_200 * G, 0.75)
    assert (spine["down_mbps"], spine["up_mbps"], spine["oversubscription"]) == (3_200 * G, 0, None)


def test_hosts_by_group() -> None:
    gpu = {
        "group": "gpu",
        "hosts": 2,
        "nics": ["ConnectX-7"],
        "ports_per_host": 2,
        "port_mbps": [400 * G],
        "leaves_per_host": 2,
        "injection_mbps": 1_600 * G,
        "gpus": 16,
        "per_gpu_mbps": 100 * G,
    }
    storage = gpu | {
        "group": "storage",
        "ports_per_host": 1,
        "leaves_per_host": 1,
        "injection_mbps": 800 * G,
        "gpus": 0,
        "per_gpu_mbps": None,
    }
    assert shown("two-by-two")["endpoints"] == [gpu, storage]
    assert shown("reference-256")["endpoints"] == [gpu | {"hosts": 32, "injection_mbps": 25_600 * G, "gpus": 256}]


def test_oversubscription_is_that_of_the_worst_leaf() -> None:
    """One uplink to each of two spines: 3 × 400G down over 2 × 400G up."""
    wide = changed_facts({"topology.uplinks.per_spine": "1", "topology.max_oversubscription": "1.5"})["bandwidth"]
    assert wide["tiers"][0]["oversubscription"] == 1.5
    assert wide["bisection_mbps"] == 800 * G  # half of 4 uplinks of 400G, below half of the injection


def test_ports_used_of_ports_there() -> None:
    ports = {row["name"]: (row["ports_used"], row["ports"]) for row in shown("two-by-two")["devices"]}
    assert ports == {"leaf1": (7, 32), "leaf2": (7, 32), "spine1": (4, 32), "spine2": (4, 32)}
    assert {(row["ports_used"], row["ports"]) for row in shown("reference-256")["devices"]} == {(32, 32)}


def test_links_go_up_from_the_hosts() -> None:
    assert shown("two-by-two")["links"] == [
        {"lower": "gpu", "upper": "leaf", "count": 4, "speed_mbps": 400 * G, "media": "DR4", "length_m": 3},
        {"lower": "storage", "upper": "leaf", "count": 2, "speed_mbps": 400 * G, "media": "DR4", "length_m": 3},
        {"lower": "leaf", "upper": "spine", "count": 8, "speed_mbps": 400 * G, "media": "DR4", "length_m": 30},
    ]


def test_headroom_and_its_terms() -> None:
    """By hand, for 400G on Spectrum-3: 6 m and 60 m of fiber at 198,000 km/s and 50 bytes a ns are 1515 and 15152
    bytes; 905 quanta of 512 bits are 57920 bytes; MAC and PHY 0.8 KiB; cells of 144 bytes hold packets of 64 bytes
    and of 1024 bytes in the ratio of the pattern."""
    rows = {(row["role"], row["facing"]): row for row in shown("reference-256")["headroom"]}
    assert {key: (row["ports"], row["length_m"]) for key, row in rows.items()} == {
        ("leaf", "gpu"): (64, 3),
        ("leaf", "spine"): (64, 30),
        ("spine", "leaf"): (64, 30),
    }
    for key, cable in (("leaf", "gpu"), 1515), (("leaf", "spine"), 15152), (("spine", "leaf"), 15152):
        parts = rows[key]["parts"]
        terms = {name: parts[name] for name in ("port_mtu", "cable", "mac_phy", "peer_response", "tile", "pattern_mtu")}
        assert terms == {
            "port_mtu": 9216,
            "cable": cable,
            "mac_phy": 819,
            "peer_response": 57920,
            "tile": 0,
            "pattern_mtu": 1024,
        }
    assert rows["leaf", "gpu"]["xoff"] == 85 * 1024
    assert rows["leaf", "spine"]["xoff"] == 102 * 1024
    assert {row["xon"] for row in rows.values()} == {38 * 1024}
    assert {key: row["size"] for key, row in rows.items()} == {
        ("leaf", "gpu"): (85 + 38 + 9) * 1024,  # a port of 8 lanes holds one more packet of the port's MTU
        ("leaf", "spine"): (102 + 38 + 9) * 1024,
        ("spine", "leaf"): (102 + 38 + 9) * 1024,
    }


@pytest.mark.parametrize("name", ["rail-256", "reference-256", "two-by-two"])
def test_the_terms_add_up_to_xoff(name: str) -> None:
    for row in shown(name)["headroom"]:
        parts = row["parts"]
        arriving = sum(parts[key] for key in ("port_mtu", "cable", "mac_phy", "peer_response", "tile"))
        total = arriving * parts["cell_occupancy"] + parts["pattern_mtu"] + parts["rounding"]
        assert total == pytest.approx(row["xoff"], abs=5)  # the factor is shown to four digits


def test_marking_is_that_of_the_intent() -> None:
    for row in shown("reference-256")["marking"]:
        assert (row["queue"], row["ecn"]) == (3, {"min": 150_000, "max": 1_500_000, "probability_percent": 100})
        assert row["pause_threshold"] > 1_500_000


def test_marking_is_shown_for_each_lossless_class() -> None:
    ecn = {"min": "300kB", "max": "2MB", "probability": "20%"}
    nvme = {"dscp": "28", "priority": "4", "lossless": True, "share": "20%", "ecn": ecn}
    changes = {"classes.storage": None, "classes.nvme": nvme, "hosts.pfc": ["3", "4"]}
    rows = fabric_facts(build(shipped("two-by-two", changes)), [])["marking"]
    assert [(row["role"], row["queue"], row["ecn"]["max"]) for row in rows] == [
        ("leaf", 3, 1_500_000),
        ("leaf", 4, 2_000_000),
        ("spine", 3, 1_500_000),
        ("spine", 4, 2_000_000),
    ]


def test_equal_watchdogs_of_ports_of_several_speeds_are_shown_once() -> None:
    changes = {"endpoints.storage.speed": "200G", "endpoints.storage.media": "AOC"}
    rows = fabric_facts(build(shipped("two-by-two", changes)), [])["watchdogs"]
    assert [(row["role"], row["side"]) for row in rows] == [("leaf", "host"), ("leaf", "fabric"), ("spine", "fabric")]


def test_watchdogs_are_those_of_the_ports() -> None:
    rows = {(row["role"], row["side"]): row for row in shown("reference-256")["watchdogs"]}
    hosts = {"priorities": [3], "detection_ms": 200, "restoration_ms": 400, "action": "drop"}
    fabric = {"priorities": [3], "detection_ms": 600, "restoration_ms": 1200, "action": "drop"}
    assert {key: row["watchdog"] for key, row in rows.items()} == {
        ("leaf", "host"): hosts,
        ("leaf", "fabric"): fabric,
        ("spine", "fabric"): fabric,
    }
    assert {row["polling_ms"] for row in rows.values()} == {100}


def test_a_switch_that_polls_at_another_interval_has_rows_of_its_own() -> None:
    fabric = build(shipped("two-by-two"))
    devices = (replace_fields(fabric.devices[0], watchdog_polling_ms=50), *fabric.devices[1:])
    rows = fabric_facts(replace_fields(fabric, devices=devices), [])["watchdogs"]
    assert [(row["side"], row["polling_ms"]) for row in rows if row["role"] == "leaf"] == [
        ("host", 50), ("fabric", 50), ("host", 100), ("fabric", 100),
    ]  # fmt: skip


def test_a_side_that_is_not_watched_is_off() -> None:
    rows = changed_facts({"pfc": {"watchdog": {"fabric": "off"}}})["watchdogs"]
    assert {(row["role"], row["side"]): row["watchdog"] is None for row in rows} == {
        ("leaf", "host"): False,
        ("leaf", "fabric"): True,
        ("spine", "fabric"): True,
    }


def test_drained_switches_stand_at_the_top() -> None:
    of = changed_facts({"devices": {"leaf2": {"drained": True}}})
    assert [row["name"] for row in of["devices"] if row["drained"]] == ["leaf2"]
    assert text_of_fabric(of).splitlines()[1] == "drained, routed around by all others: leaf2"
    assert "drained" not in text_of_fabric(shown("two-by-two"))


def test_every_default_is_told_with_its_source() -> None:
    told = {row["key"]: (row["value"], row["source"]) for row in shown("two-by-two")["defaults"]}
    assert told["mtu"][0] == "9216"
    assert all(value and source for value, source in told.values())
    assert "mtu" not in {row["key"] for row in shown("reference-256")["defaults"]}


@pytest.mark.parametrize("name", ["rail-256", "reference-256", "two-by-two"])
def test_the_page_fits_100_columns(name: str) -> None:
    lines = text_of_fabric(shown(name)).splitlines()
    assert max(map(len, lines)) <= 100
    assert not any(line != line.rstrip() for line in lines)


def test_the_page_says_the_numbers() -> None:
    page = text_of_fabric(shown("reference-256"))
    for said in (
        "injection         25.6Tb/s, the sum of 64 host ports",
        "per GPU           100Gb/s for 256 GPUs of gpu",
        "oversubscription  1:1 at leaf (25.6T down, 25.6T up",
        "bisection         12.8Tb/s one way",
        "leaf   gpu    3 m     9216      1515   819      57920  × 1.2353  1024     200       87040",
    ):
        assert said in page


def test_the_page_says_what_is_not_known_of_links() -> None:
    of = shown("two-by-two")
    stated, other = of["links"][:2]
    page = text_of_fabric({**of, "links": [stated, other | {"speed_mbps": None, "media": None, "length_m": None}]})
    head, first, second = page.partition("\nLinks\n")[2].splitlines()[:3]
    assert head.split() == ["from", "to", "count", "speed", "medium", "length"]
    assert first.split() == ["gpu", "leaf", "4", "400G", "DR4", "3", "m"]
    assert second.split() == ["storage", "leaf", "2", "unknown", "unknown", "unknown"]


def test_what_a_platform_has_otherwise_is_told() -> None:
    adapted = [("leaf*/@watchdog_polling_ms", "100", "50", "its watchdog counts pollings")]
    of = fabric_facts(build(shipped("two-by-two")), (), adapted)
    (row,) = of["deviations"]
    assert row == {
        "path": "leaf*/@watchdog_polling_ms",
        "intended": "100",
        "actual": "50",
        "reason": "its watchdog counts pollings",
    }
    assert "  leaf*/@watchdog_polling_ms: 50 instead of 100\n    = its watchdog counts pollings\n" in text_of_fabric(of)


def test_json_and_page_are_of_the_same_facts(tmp_path: Any) -> None:
    path = tmp_path / "intent.yaml"
    path.write_text(json.dumps(changed(shipped("two-by-two"), {})))
    done = nodrop("show", str(path), "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == json.loads(json.dumps(shown("two-by-two")))
    assert nodrop("show", str(path)).out == text_of_fabric(shown("two-by-two"))


def _switch(name: str, role: str, *ports: int) -> Device:
    interfaces = tuple(Interface(name=f"p{number}", speed_mbps=speed) for number, speed in enumerate(ports, 1))
    return Device(name=name, platform="any", role=role, interfaces=interfaces)


def _host(name: str, group: str, gpus: int, *ports: int) -> Host:
    made = tuple(HostPort(name=f"n{number}", speed_mbps=speed, lanes=4) for number, speed in enumerate(ports, 1))
    return Host(name=name, group=group, gpus=gpus, nic="x", ports=made)


def _link(a: str, b: str) -> Link:
    ends = sorted(End(*end.split(":")) for end in (a, b))
    return Link(a=ends[0], b=ends[1])


def test_three_tiers_and_links_of_unlike_speed() -> None:
    """Two leaves, an aggregation, a core: the least tier bounds the bisection, the lower end bounds a link."""
    fabric = Fabric(
        name="f",
        mode="lossless",
        devices=(
            _switch("agg1", "agg", 400 * G, 400 * G, 800 * G),
            _switch("core1", "core", 200 * G),
            _switch("leaf1", "leaf", 400 * G, 400 * G, 400 * G),
            _switch("leaf2", "leaf", 400 * G, 400 * G),
            _switch("spare1", "leaf", 400 * G),
        ),
        hosts=(_host("a1", "a", 4, 400 * G, 400 * G), _host("b1", "b", 0, 400 * G)),
        links=tuple(
            _link(*one.split())
            for one in ("a1:n1 leaf1:p1", "a1:n2 leaf1:p2", "b1:n1 leaf2:p1", "leaf1:p3 agg1:p1", "leaf2:p2 agg1:p2",
                        "agg1:p3 core1:p1")
        ),
    )  # fmt: skip
    capacity = FabricBandwidth(fabric)
    assert capacity.level == {"leaf1": 1, "leaf2": 1, "agg1": 2, "core1": 3}
    tiers = {
        tuple(row["roles"]): (row["down_mbps"], row["up_mbps"], row["oversubscription"])
        for row in capacity.tier_capacity_facts()
    }
    assert tiers == {
        ("leaf",): (1_200 * G, 800 * G, 2.0),
        ("agg",): (800 * G, 200 * G, 4.0),
        ("core",): (200 * G, 0, None),
    }
    assert capacity.injection_mbps() == 1_200 * G
    assert capacity.bisection_mbps() == 100 * G
    assert {row["group"]: row["per_gpu_mbps"] for row in capacity.host_group_facts()} == {"a": 200 * G, "b": None}


def test_leaves_that_nothing_joins_have_no_bisection() -> None:
    hosts = (_host("a1", "a", 4, 400 * G), _host("a2", "a", 4, 400 * G))
    devices = (_switch("leaf1", "leaf", 400 * G), _switch("leaf2", "leaf", 400 * G))
    links = (_link("a1:n1", "leaf1:p1"), _link("a2:n1", "leaf2:p1"))
    apart = Fabric(name="f", mode="lossless", devices=devices, hosts=hosts, links=links)
    assert FabricBandwidth(apart).bisection_mbps() == 0
    one = Fabric(name="f", mode="lossless", devices=devices[:1], hosts=hosts[:1], links=links[:1])
    assert FabricBandwidth(one).bisection_mbps() == 200 * G


def test_tables_wrap_cells_of_words_and_nothing_else() -> None:
    rows = [("a" * 60, "many words " * 20), ("b", "\x1b[31mred")]
    lines = list(format_table("Title", ("one", "two"), rows))
    assert lines[0] == "Title"
    assert max(len(line.rstrip()) for line in lines) <= 100
    assert (
        " ".join(part for line in lines[2:] for part in line.split() if part in ("many", "words"))
        == ("many words " * 20).strip()
    )
    assert "\x1b" not in "".join(lines)
    assert list(format_table("Nothing", ("one",), [])) == []


def test_rails_and_split_ports() -> None:
    """rail-256: 32 servers of 8 × 400G on 8 leaves, 32 × 400G up from each; two ports of 400G on a panel port."""
    of = shown("rail-256")
    wide = of["bandwidth"]
    assert (wide["injection_mbps"], wide["bisection_mbps"], wide["gpus"]) == (102_400 * G, 51_200 * G, 256)
    assert [row["oversubscription"] for row in wide["tiers"]] == [1.0, None]
    (gpu,) = of["endpoints"]
    assert (gpu["leaves_per_host"], gpu["ports_per_host"], gpu["per_gpu_mbps"]) == (8, 8, 400 * G)
    ports = {row["role"]: (row["ports_used"], row["ports"], row["interfaces_used"]) for row in of["devices"]}
    assert ports == {"leaf": (32, 64, 64), "spine": (64, 64, 128)}


def test_every_default_of_the_schema_is_told_or_means_nothing() -> None:
    """Keys that may be left out and then have a value: each is told, or listed here because it says "none of it"."""
    none_of_it = {
        "classes.*": "a class is lossy, shares, has no cap and its name's purpose",
        "addressing.links": "no pool, where sessions are unnumbered",
        "devices": "no switch is drained",
        "endpoints.*.bond": "ports of their own",
        "endpoints.*.gpus": "no GPUs",
        "endpoints.*.leaves": "the only group next to hosts",
        "names": "a name is group and number",
        "endpoints.*.lanes": "all lanes of the port",
        "endpoints.*.ports_per_leaf": "no two ports of a host share a leaf, or all do",
        "endpoints.*.split": "not broken out",
        "external": "no neighbors outside",
        "extra": "nothing is added",
        "hosts.fifo_class": "control messages of NCCL have the class of its data",
        "hosts.queue_pairs": "not stated; the environment of a job says it",
        "hosts.out_of_order": "not stated, and nothing is held against it",
        "pfc.watchdog.stuck": "what the switch has",
        "routing.hash": "what the switch has",
        "services": "no servers, no telemetry",
        "topology.leaves.ports.dead": "no dead ports",
        "topology.leaves.style": "SONiC has one way to state QoS",
        "topology.spines.style": "SONiC has one way to state QoS",
        "topology.uplinks.lanes": "all lanes of the port",
        "topology.uplinks.split": "not broken out",
        "trimming": "trimmed in the mode trim alone",
        "policy": "cables join all hosts and ports",
    }
    told = {re.sub(r"^endpoints\.[^.]+", "endpoints.*", row["key"]) for row in shown("two-by-two")["defaults"]}
    wanting = {
        path
        for path in _defaults(Intent)
        if path not in told and not any(path == one or path.startswith(f"{one}.") for one in none_of_it)
    }
    assert wanting <= {
        "topology.uplinks.spine_slots",
        "topology.uplinks.leaf_slots",
        "topology.uplinks.spine_split",
        "endpoints.*.leaf_ports",
    }


def _defaults(part: Any, path: str = "") -> set[str]:
    """The keys of a part of the schema that may be left out, with those of the parts that it holds."""
    found: set[str] = set()
    for name, field in part.model_fields.items():
        inner = next((one for one in _models(field.annotation)), None)
        here = f"{path}{name}" + (".*" if get_origin(field.annotation) is dict else "")
        if inner is not None:
            found |= _defaults(inner, f"{here}.")
        elif not field.is_required():
            found.add(here)
    return found


def _models(annotation: Any) -> list[Any]:
    if isinstance(annotation, type) and hasattr(annotation, "model_fields"):
        return [annotation]
    return [one for part in get_args(annotation) for one in _models(part)]


def test_what_restarts_at_the_first_apply_is_named_with_its_source() -> None:
    def on(release: str) -> list[Data]:
        tiers: Data = {f"topology.{tier}.version": release for tier in ("leaves", "spines")}
        found: list[Data] = fabric_facts(build(shipped("adaptive", tiers)), ())["first_apply"]
        return found

    every = ["leaf1", "leaf2", "spine1", "spine2"]
    (row,) = on("5.12")
    assert (row["devices"], row["platform"], row["version"]) == (every, "nvue", "5.12")
    assert row["setting"] == "adaptive routing (up to 5.12)"
    assert row["reason"] == "switchd restarts, and all ports go down and come back"
    assert row["source"] == "Cumulus Linux 5.12, Equal Cost Multipath, Adaptive Routing"
    assert on("5.13") == []
    (row,) = shown("two-by-two")["first_apply"]
    assert (row["devices"], row["setting"]) == (every, "config reload")
    page = text_of_fabric(shown("two-by-two"))
    assert "  leaf1, leaf2, spine1, spine2 (sonic 202505): config reload: all services restart, traffic stops\n" in page
