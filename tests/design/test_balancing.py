"""Adaptive routing and weighted paths: which ports and switches an intent gives them to, and what refuses them."""

import pytest

import nodrop
from nodrop.design.balancing import supports_adaptive_routing_at
from nodrop.engine.rules import shipped_rules as rules
from nodrop.engine.verdicts import judge
from nodrop.errors import InputProblems
from nodrop.hardware import asic, buildable_models, switch
from nodrop.model.fabric import Fabric
from nodrop.model.policy_values import is_route_map_clause_computable
from support.designs import Data, build, load, shipped

TIERS = ("leaves", "spines")


def everywhere(**fields: str) -> Data:
    return {f"topology.{tier}.{field}": value for tier in TIERS for field, value in fields.items()}


def adaptive(name: str = "adaptive", **changes: object) -> Data:
    return shipped(name, {"routing.balancing": "adaptive"} | changes)


def having(fabric: Fabric) -> dict[str, list[str]]:
    """The ports that have it, by switch, those of switches that have it themselves."""
    return {
        device.name: [port.description or "" for port in device.interfaces if port.adaptive_routing]
        for device in fabric.devices
        if device.adaptive_routing
    }


@pytest.mark.parametrize("release", ["5.9", "5.12", "5.13", "5.14", "5.15", "5.19"])
def test_all_ports_between_switches_have_it_and_are_clean_when_read_back(release: str) -> None:
    fabric = build(adaptive(**everywhere(version=release)))
    found = having(fabric)
    assert {name: {far.partition(":")[0] for far in ports} for name, ports in found.items()} == {
        "leaf1": {"spine1", "spine2"},
        "leaf2": {"spine1", "spine2"},
        "spine1": {"leaf1", "leaf2"},
        "spine2": {"leaf1", "leaf2"},
    }
    assert {len(ports) for ports in found.values()} == {8}
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    assert having(reading.fabric) == found
    assert (reading.problems, reading.remarks, reading.notes) == ((), (), ())
    verdict = judge(reading, rules())
    assert (list(verdict.findings), list(verdict.unknown)) == ([], [])


def test_without_it_no_port_and_no_switch_has_it() -> None:
    fabric = build(adaptive(**{"routing.balancing": "ecmp"}))
    assert having(fabric) == {}
    assert not any("adaptive" in one.text for one in nodrop.write(fabric) if one.path == "startup.yaml")


def refused(data: Data) -> list[tuple[str, str, str, str]]:
    with pytest.raises(InputProblems) as raised:
        build(data)
    assert all(problem.line is not None for problem in raised.value.problems)
    return [(one.where, one.found, one.expected, one.hint) for one in raised.value.problems]


ABLE = sorted({chip for model in buildable_models("nvue") if asic(chip := switch(model).asic).adaptive_routing})
OR_ECMP = "or routing.balancing: ecmp"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            adaptive("two-by-two"),
            [
                (
                    "routing.balancing",
                    "adaptive, which SONiC does not have",
                    "ecmp",
                    "or switches whose platform is nvue",
                )
            ],
        ),
        (
            adaptive(**{"topology.spines.platform": "sonic", "topology.spines.version": "202505"}),
            [
                (
                    "routing.balancing",
                    "adaptive, which SONiC does not have",
                    "ecmp",
                    "or switches whose platform is nvue",
                )
            ],
        ),
        (
            adaptive("two-by-two", **everywhere(platform="nvue", version="5.16")),
            [
                (
                    f"topology.{tier}.model",
                    "spectrum-3 of SN4700 has no adaptive routing",
                    f"a model with {' or '.join(ABLE)}",
                    OR_ECMP,
                )
                for tier in reversed(TIERS)
            ],
        ),
        (
            adaptive(
                **{"topology.uplinks": {"per_spine": 2, "speed": "800G", "media": "DR8", "length": "30m"}},
            ),
            [
                (
                    "topology.uplinks.speed",
                    "800G, at which spectrum-4 of SN5600 has no adaptive routing",
                    "400G or 200G",
                    OR_ECMP,
                )
            ],
        ),
    ],
    ids=["sonic", "one tier on sonic", "spectrum-3", "800G"],
)
def test_what_has_none_is_refused_with_its_line(data: Data, expected: list[tuple[str, str, str, str]]) -> None:
    assert refused(data) == expected


@pytest.mark.parametrize(
    ("chip", "able"),
    [("spectrum-4", {200_000, 400_000}), ("spectrum-5", {100_000, 200_000, 400_000, 800_000})],
)
def test_the_speeds_of_a_chip(chip: str, able: set[int]) -> None:
    assert {
        speed for speed in (100_000, 200_000, 400_000, 800_000) if supports_adaptive_routing_at(asic(chip), speed)
    } == able


def test_an_addition_in_its_way_names_the_key_that_decides() -> None:
    path = {"interface": {"swp61s0": {"router": {"adaptive-routing": {"state": "disabled"}}}}}
    ((where, _, _, hint),) = refused(adaptive(extra={"leaf1": {"paths": path}}))
    assert where.startswith("extra.leaf1.paths.interface.swp61s0")
    assert hint == "use routing.balancing"


def test_an_intent_that_says_nothing_has_ecmp() -> None:
    assert load(shipped("two-by-two")).routing.balancing == "ecmp"


WEIGHT = ("extcommunity bandwidth", "num-multipaths")


def weighing(fabric: Fabric) -> dict[str, list[str]]:
    """The route maps that set the number of paths, by switch."""
    return {
        device.name: [
            route_map.name
            for route_map in device.bgp.route_maps  # type: ignore[union-attr]
            for rule in route_map.rules
            if WEIGHT in rule.sets
        ]
        for device in fabric.devices
    }


@pytest.mark.parametrize("name", ["two-by-two", "dual-stack", "unnumbered", "uneven-pods", "cabling-sheet"])
@pytest.mark.parametrize("platform", ["sonic", "nvue"])
def test_switches_above_the_leaves_send_how_many_paths_they_have(name: str, platform: str) -> None:
    wanted = {"routing.balancing": "weighted"}
    groups = shipped(name)["topology"].get("groups")
    release = {"sonic": "202411", "nvue": "5.16"}[platform]
    for key in [f"topology.groups.{group}" for group in groups] if groups else [f"topology.{tier}" for tier in TIERS]:
        wanted |= {f"{key}.platform": platform, f"{key}.version": release}
    fabric = build(shipped(name, wanted))
    maps = ["FABRIC-OUT", "FABRIC6-OUT"] if name in ("dual-stack", "unnumbered") else ["FABRIC-OUT"]
    assert weighing(fabric) == {device.name: [] if device.role == "leaf" else maps for device in fabric.devices}
    artifacts = list(nodrop.write(fabric))
    line = {"sonic": " set extcommunity bandwidth num-multipaths\n", "nvue": "ext-community-bw: multipaths\n"}[platform]
    states = [one for one in artifacts if one.path in ("frr.conf", "startup.yaml")]
    assert {one.device: one.text.count(line) for one in states} == {
        name: len(own) for name, own in weighing(fabric).items()
    }
    reading = nodrop.read_back(artifacts, fabric)
    assert weighing(reading.fabric) == weighing(fabric)
    assert (reading.problems, reading.remarks, reading.notes) == ((), (), ())
    verdict = judge(reading, rules())
    assert (list(verdict.findings), list(verdict.unknown)) == ([], [])


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"topology.spines.version": "202405"}, [
            ("topology.spines.version", "SONiC 202405, which does not weigh paths", "202411 or later", OR_ECMP),
        ]),
        ({"routing.delivery": "tables", "topology.spines.version": "202511", "topology.leaves.version": "202511"}, [
            ("routing.balancing", "weighted, which routing in tables cannot state", "ecmp",
             "or routing.delivery: frr.conf"),
        ]),
    ],
)  # fmt: skip
def test_what_cannot_weigh_paths_is_refused(changes: Data, problems: list[tuple[str, str, str, str]]) -> None:
    assert refused(shipped("two-by-two", {"routing.balancing": "weighted"} | changes)) == problems


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        ("num-multipaths", True), ("cumulative non-transitive", True), ("1", True), ("25600 non-transitive", True),
        ("9999", True), ("10000", True), ("25601", False), ("0", False), ("30000", False), ("multipaths", False),
        ("cumulative transitive", False),
    ],
)  # fmt: skip
def test_values_of_link_bandwidth_are_those_of_frr(value: str, taken: bool) -> None:
    assert is_route_map_clause_computable("set", WEIGHT[0], value) is taken
