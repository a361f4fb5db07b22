"""Fabrics of four and five tiers, and pods of pods: by the same rules as fabrics of two and three tiers."""

from collections import Counter

import pytest

import nodrop
from nodrop.errors import InputProblems
from nodrop.fabric_readings import build_and_read_back
from support.designs import Data, build, changed, load
from support.tiered_intents import bgp, many_tiers, peers

ROLES = {"leaf": "leaf", "spine": "spine", "hub": "superspine", "core": "tier4", "apex": "tier5"}


SHAPES = {f"{count}-{lower}": many_tiers(count, lower) for count in (4, 5) for lower in ("nvue", "sonic")}


@pytest.mark.parametrize("shape", SHAPES)
def test_more_tiers_are_built_read_back_linted_and_validated_without_a_finding(shape: str) -> None:
    _, reading = build_and_read_back(load(SHAPES[shape]), "intent.yaml", "build")
    for verdict in (nodrop.lint(reading), nodrop.validate(reading)):
        assert [(finding.rule, finding.subject) for finding in verdict.findings if finding.severity != "note"] == []
        assert [(unknown.rule, unknown.missing) for unknown in verdict.unknown] == []


def test_a_pod_of_pods_has_its_own_switches_above() -> None:
    fabric = build(many_tiers(5))
    switches = {device.name for device in fabric.devices}
    near = {name: {far: count for far, count in peers(fabric, name).items() if far in switches} for name in switches}
    assert near["spine1"] == near["spine2"] == {"leaf1": 2, "leaf2": 2, "hub1": 2, "hub2": 2}
    assert near["spine5"] == {"leaf5": 2, "leaf6": 2, "hub3": 2, "hub4": 2}
    assert near["hub2"] == {**{f"spine{number}": 2 for number in range(1, 5)}, "core1": 4, "core2": 4}
    assert near["core1"] == {**{f"hub{number}": 4 for number in range(1, 5)}, "apex1": 8, "apex2": 8}


def test_as_numbers_of_more_tiers_are_of_each_leaf_of_each_pod_and_of_the_top() -> None:
    fabric = build(many_tiers(5))
    asns = {device.name: bgp(fabric, device.name).asn for device in fabric.devices}
    assert [asns[f"leaf{number}"] for number in (1, 8)] == [4200100001, 4200100008]
    assert [asns[f"spine{number}"] for number in range(1, 9)] == [4200200000 + pod for pod in (1, 1, 2, 2, 3, 3, 4, 4)]
    assert [asns[f"hub{number}"] for number in range(1, 5)] == [4200300001, 4200300001, 4200300002, 4200300002]
    assert {asns["core1"], asns["core2"]} == {4200400000}
    assert {asns["apex1"], asns["apex2"]} == {4200500000}


def test_tiers_differ_in_role_addresses_and_seed() -> None:
    fabric = build(many_tiers(5, "sonic"))
    firsts = {group: fabric.device(f"{group}1") for group in ROLES}
    assert {group: device.role for group, device in firsts.items()} == ROLES
    assert {group: device.loopbacks[0].addresses for group, device in firsts.items()} == {
        "leaf": ("10.0.0.1/32",), "spine": ("10.0.64.1/32",), "hub": ("10.0.128.1/32",), "core": ("10.0.192.1/32",),
        "apex": ("10.0.224.1/32",),
    }  # fmt: skip
    assert [device.hash_seed for device in firsts.values()] == [0, 10, 25, None, None]
    addresses = Counter(
        address for device in fabric.devices for port in device.interfaces for address in port.addresses
    )
    assert max(addresses.values()) == 1


@pytest.mark.parametrize("count", [4, 5])
def test_a_tier_above_changes_only_the_switches_below_it(count: int) -> None:
    """Of the tier that was the highest, it changes the ports upwards and their sessions."""
    more = many_tiers(count)
    top = list(more["topology"]["groups"])[-1]
    below = list(more["topology"]["groups"])[-2]
    fewer = changed(more, {f"topology.groups.{top}": None, f"routing.asn.{top}": None})
    del fewer["topology"]["groups"][below]["uplinks"]
    before, after = build(fewer), build(more)
    touched = {device.name for device in before.devices if device != after.device(device.name)}
    assert touched == {device.name for device in before.devices if device.name.startswith(below)}
    for name in touched:
        old = {port.name: port for port in before.device(name).interfaces}
        up = {port.name for port in after.device(name).interfaces if port != old[port.name]}
        assert up == {f"swp{number}" for number in (range(25, 33) if below == "hub" else range(17, 33))}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"topology.groups.core.tier": "6"}, "a whole number from 1 to 5"),
        ({"topology.groups.core.platform": "sonic", "topology.groups.core.version": "202505"},
         "topology.groups.core.platform: SONiC in tier 4; expected tier 1 to 3"),
        ({"topology.groups.hub.per_pod": None}, "pods, but spine or hub has no per_pod; expected per_pod for both"),
        ({"topology.groups.hub.ids": "1-2"}, "pod 4 of spine has no hub; expected a hub in every pod"),
        ({"addressing.loopbacks": "10.0.0.0/26", "topology.groups.core.ids": "9-10",
          "topology.groups.hub.uplinks.core.peer_slots": "2"},
         "core10 needs 11 addresses from the start of its tier's eighth of the pool, which has 8 (a /25 holds it)"),
    ],
)  # fmt: skip
def test_what_makes_no_fabric_of_four_tiers_is_refused(changes: Data, said: str) -> None:
    with pytest.raises(InputProblems) as refused:
        build(changed(many_tiers(4), changes))
    assert said in "\n".join(map(str, refused.value.problems))
