"""Topologies of any shape: several groups in a tier, pods, tiers above tiers, rails without spines, one switch."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

import nodrop
from nodrop.design.topology import topology_of
from nodrop.errors import InputProblems
from nodrop.fabric_readings import build_and_read_back
from nodrop.model.states import Unknown
from nodrop.report.bandwidth import FabricBandwidth
from support.designs import Data, build, changed, load, shipped
from support.tiered_intents import bgp, group, hosts, intent, links, peers


def storage_leaves(platform: str = "sonic", storage_platform: str = "sonic") -> Data:
    """GPU leaves and storage leaves of other models below the same spines."""
    return intent(
        {
            "leaf": group(
                1, "1-2", "SN5600", platform, ports={"endpoints": "1-16"},
                uplinks={"spine": links("33-48", 16, split="2", peer_ports="1-16")},
            ),
            "store": group(
                1, "1-2", "SN4700", storage_platform, ports={"endpoints": "1-16"}, offset="100",
                uplinks={"spine": links("17-24", 4, peer_split="2", peer_ports="33-40")},
            ),
            "spine": group(2, "1-2", "SN5600", platform),
        },
        {
            "gpu": hosts(leaves="leaf", ids="1-16", split="2"),
            "disk": hosts(leaves="store", ids="1-8", gpus="0", leaf_group="8"),
        },
        {"leaf": "4200100000+", "store": "4200100000+", "spine": "4200000000"},
    )  # fmt: skip


def without_storage(data: Data) -> Data:
    """The same without the group of storage leaves."""
    return changed(data, {"topology.groups.store": None, "endpoints.disk": None, "routing.asn.store": None})


def three_tiers(pods: int = 2, spines: str = "1-4") -> Data:
    """Pods of two leaves and two spines, and cores above; ids of a pod are consecutive."""
    up = {"core": links("17-32", 4, peer_ports="1-32")}
    return intent(
        {
            "leaf": group(
                1, f"1-{2 * pods}", ports={"endpoints": "1-16"}, per_pod="2",
                uplinks={"spine": links("17-32", 8, peer_ports="1-16")},
            ),
            "spine": group(2, spines, per_pod="2", uplinks=up),
            "core": group(3, "1-4"),
        },
        {"gpu": hosts(ids=f"1-{16 * pods}")},
        {"leaf": "4200100000+", "spine": "4200200000+pod", "core": "4200000000"},
    )  # fmt: skip


def rails(platform: str = "sonic") -> Data:
    """Rails without spines."""
    return intent(
        {"rail": group(1, "1-4", platform=platform, ports={"endpoints": "1-32"})},
        {"gpu": hosts(ports="4", spread="rails", leaf_group="32")},
        {"rail": "4200100000+"},
        **{"addressing.links": None},
    )


def one_switch(platform: str = "sonic") -> Data:
    """A single switch."""
    return intent(
        {"tor": group(1, "1", platform=platform, ports={"endpoints": "1-32"})},
        {"gpu": hosts(ids="1-16", spread="one-leaf")},
        {"tor": "4200100001"},
        **{"addressing.links": None},
    )


SHAPES: Mapping[str, Data] = {
    "storage-leaves": storage_leaves(),
    "storage-leaves-nvue": storage_leaves("nvue", "nvue"),
    "storage-leaves-mixed": storage_leaves("sonic", "nvue"),
    "three-tiers": three_tiers(),
    "rails": rails(),
    "rails-nvue": rails("nvue"),
    "one-switch": one_switch(),
    "one-switch-nvue": one_switch("nvue"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_built_written_read_back_and_has_no_finding(shape: str) -> None:
    _, reading = build_and_read_back(load(SHAPES[shape]), "intent.yaml", "build")
    verdict = nodrop.lint(reading)
    assert [(finding.rule, finding.subject) for finding in verdict.findings] == []
    assert [(unknown.rule, unknown.missing) for unknown in verdict.unknown] == []


@pytest.mark.parametrize("shape", SHAPES)
def test_no_address_name_or_port_is_given_twice(shape: str) -> None:
    fabric = build(SHAPES[shape])
    names = [device.name for device in fabric.devices] + [host.name for host in fabric.hosts]
    addresses = [
        address for device in fabric.devices for port in device.interfaces for address in port.addresses
    ]  # fmt: skip
    addresses += [address for device in fabric.devices for loop in device.loopbacks for address in loop.addresses]
    addresses += [address for device in fabric.devices for address in device.management.addresses]
    ends = [end for link in fabric.links for end in (link.a, link.b)]
    for given in (names, addresses, ends):
        assert [one for one, count in Counter(given).items() if count > 1] == []


def test_two_tiers_are_the_short_form_of_tiers() -> None:
    short = shipped("reference-256")
    topology = short["topology"]
    uplinks = topology["uplinks"]
    leaf = {key: value for key, value in topology["leaves"].items() if key != "ports"}
    ports = topology["leaves"]["ports"]
    up = {key: uplinks[key] for key in ("speed", "media", "length")} | {"links": uplinks["per_spine"]}
    long = changed(short, {"topology": None, "routing.asn": None})
    long["topology"] = {
        "kind": "tiers",
        "groups": {
            "leaf": leaf | {
                "tier": "1", "ports": {"endpoints": ports["endpoints"]},
                "uplinks": {"spine": up | {"ports": ports["uplinks"]}},
            },
            "spine": topology["spines"] | {"tier": "2"},
        },
    }  # fmt: skip
    asn = short["routing"]["asn"]
    long["routing"]["asn"] = {"leaf": asn["leaves"], "spine": asn["spines"]}
    assert build(long) == build(short)


def test_storage_leaves_have_their_own_model_ports_and_links_to_the_same_spines() -> None:
    fabric = build(storage_leaves())
    assert {device.name: device.model for device in fabric.devices} == {
        "leaf1": "SN5600", "leaf2": "SN5600", "store1": "SN4700", "store2": "SN4700",
        "spine1": "SN5600", "spine2": "SN5600",
    }  # fmt: skip
    assert peers(fabric, "spine1") == {"leaf1": 16, "leaf2": 16, "store1": 4, "store2": 4}
    assert {far for far in peers(fabric, "store1") if not far.startswith("spine")} == {f"disk{n}" for n in range(1, 9)}
    assert {device.role for device in fabric.devices} == {"leaf", "spine"}
    assert [bgp(fabric, name).asn for name in ("leaf1", "store1", "spine1")] == [4200100001, 4200100101, 4200000000]


def test_each_pod_has_an_as_number_of_its_spines_and_links_stay_in_it() -> None:
    fabric = build(three_tiers())
    assert [bgp(fabric, f"spine{n}").asn for n in range(1, 5)] == [4200200001, 4200200001, 4200200002, 4200200002]
    assert {bgp(fabric, f"core{n}").asn for n in range(1, 5)} == {4200000000}
    assert {far for far in peers(fabric, "leaf3") if "gpu" not in far} == {"spine3", "spine4"}
    assert peers(fabric, "core1") == {f"spine{n}": 4 for n in range(1, 5)}
    assert {device.name[:-1]: (device.role, device.hash_seed) for device in fabric.devices} == {
        "leaf": ("leaf", 0), "spine": ("spine", 10), "core": ("superspine", 25),
    }  # fmt: skip


def test_rails_without_spines_are_isolated_and_have_no_sessions() -> None:
    fabric = build(rails())
    assert fabric.policy.rails == "isolated"
    assert fabric.policy.fabric_watchdog is None
    assert {bgp(fabric, device.name).neighbors for device in fabric.devices} == {()}
    assert isinstance(build(shipped("rail-256")).policy.rails, Unknown)


def ratios(capacity: FabricBandwidth) -> Mapping[str, float | None]:
    """The oversubscription of every level, by its roles."""
    return {" ".join(row["roles"]): row["oversubscription"] for row in capacity.tier_capacity_facts()}


def test_leaves_without_hosts_are_leaves_and_change_neither_oversubscription_nor_bisection() -> None:
    """16 servers of 2 × 400G on the leaves and 8 on the storage leaves are 19.2T; the third storage leaf is idle."""
    data = storage_leaves()
    capacity = FabricBandwidth(build(data))
    idle = FabricBandwidth(build(changed(data, {"topology.groups.store.ids": "1-3"})))
    assert idle.level["store3"] == 1
    assert ratios(idle) == ratios(capacity) == {"leaf": 1.0, "spine": None}
    assert idle.bisection_mbps() == capacity.bisection_mbps() == 9_600_000


def test_uplinks_of_a_pod_without_hosts_are_no_bisection() -> None:
    """Spines of 4 × 4 × 400G up to the cores: two in each pod, those of the first pod alone are below servers."""
    narrow = {"topology.groups.spine.uplinks.core.links": "2", "topology.max_oversubscription": "2"}
    both, first = (
        FabricBandwidth(build(changed(three_tiers(), narrow | more))) for more in ({}, {"endpoints.gpu.ids": "1-16"})
    )
    assert ratios(both) == ratios(first) == {"leaf": 1.0, "spine": 2.0, "superspine": None}
    assert (both.bisection_mbps(), first.bisection_mbps()) == (6_400_000, 3_200_000)


def test_the_bisection_of_rails_without_spines_is_half_of_what_each_rail_carries() -> None:
    """32 servers of 4 × 400G; every rail switch has a port of each. Servers on other rail switches are not reached."""
    assert FabricBandwidth(build(rails())).bisection_mbps() == 32 * 4 * 400_000 // 2
    apart = {"topology.groups.rail.ids": "1-8", "endpoints.gpu.leaf_group": "16"}
    assert FabricBandwidth(build(changed(rails(), apart))).bisection_mbps() == 0


@pytest.mark.parametrize(
    ("data", "name", "ratio"),
    [(storage_leaves(), "leaf", "0.5"), (storage_leaves(), "store", "1"), (three_tiers(), "spine", "1")],
)
def test_the_limit_of_oversubscription_holds_for_every_group(data: Data, name: str, ratio: str) -> None:
    with pytest.raises(InputProblems) as refused:
        build(changed(data, {f"topology.groups.{name}.max_oversubscription": "0.4"}))
    assert f"topology.groups.{name}.max_oversubscription: {name}1 is {ratio}:1 oversubscribed" in str(refused.value)


def written(data: Data) -> Mapping[str, Mapping[str, str]]:
    """The files of every switch."""
    files: dict[str, dict[str, str]] = {}
    for artifact in nodrop.write(build(data)):
        if artifact.device:
            files.setdefault(artifact.device, {})[artifact.path] = artifact.text
    return files


@pytest.mark.parametrize(
    ("before", "changes", "touched", "added"),
    [
        (
            three_tiers(2), three_tiers(3, "1-6"), {f"core{n}" for n in range(1, 5)},
            {"leaf5", "leaf6", "spine5", "spine6"},
        ),
        (
            storage_leaves(), changed(storage_leaves(), {"topology.groups.store.ids": "1-3"}), {"spine1", "spine2"},
            {"store3"},
        ),
        (
            without_storage(storage_leaves()), storage_leaves(), {"spine1", "spine2"}, {"store1", "store2"},
        ),
    ],
    ids=["a-pod", "a-switch-of-a-group", "a-group"],
)  # fmt: skip
def test_what_is_added_changes_only_the_switches_that_it_is_cabled_to(
    before: Data, changes: Data, touched: set[str], added: set[str]
) -> None:
    old, new = written(before), written(changes)
    assert new.keys() - old.keys() == added
    assert {name for name in old if old[name] != new[name]} == touched


def test_the_order_of_groups_decides_nothing() -> None:
    data = storage_leaves()
    turned = dict(reversed(data["topology"]["groups"].items()))
    assert build(changed(data, {"topology.groups": turned})) == build(data)


@pytest.mark.parametrize(
    ("data", "changes", "said"),
    [
        (storage_leaves(), {"topology.groups.store.offset": "0"},
         "store1 and leaf1 are both number 1 of their tier; expected numbers of no other group (offset: 2)"),
        (storage_leaves(), {"topology.groups.leaf.uplinks.spine.peer_ports": None},
         "spine has links to several groups; expected panel ports of spine for these"),
        (storage_leaves(), {"topology.groups.store.uplinks.spine.peer_ports": "16-20"},
         "port 16, in peer_ports of leaf too; expected one use for each port"),
        (storage_leaves(), {"endpoints.disk.leaves": None},
         "2 groups of switches are next to hosts; expected one of leaf, store"),
        (storage_leaves(), {"endpoints.disk.leaves": "stor"}, "no group stor; expected one of leaf, store"),
        (storage_leaves(), {"endpoints.disk.leaves": "spine"}, "spine is in tier 2; expected one of leaf, store"),
        (storage_leaves(), {"routing.asn.store": None}, "routing.asn: store is missing; expected a number with +"),
        (three_tiers(), {"topology.groups.core.ids": "13-16"},
         "on every spine, core16 would need ports past the last (peer_slots: 4, or links: 1"),
        (storage_leaves(), {"topology.groups.store.uplinks.spine.links": "5"},
         "2 spine switches × 5 uplinks are 10 ports of every store; expected at most its 8 uplink ports"),
        (storage_leaves(), {"topology.groups.spine.tier": "3"},
         "topology.groups.spine.tier: spine is in tier 3, and no group in tier 2; expected tiers without a gap "
         "(tier: 2)"),
        (storage_leaves(), {"routing.asn.spine": "4200000000+pod"},
         "routing.asn.spine: +pod, but spine switches have no pods; expected one number for all "
         "(spine: 4200000000)"),
        (shipped("two-by-two"), {"routing.asn.spines": "4200000000+pod"},
         "routing.asn.spines: +pod, but spines have no pods; expected one number for all (spines: 4200000000)"),
        (three_tiers(), {"endpoints.gpu.ports": "4", "endpoints.gpu.spread": "rails"},
         "topology.groups.leaf.per_pod: the 4 rails of a gpu are in pods 1-2; expected all rails of a host in one pod "
         "(per_pod: 4)"),
        (storage_leaves(), {"topology.groups.spine.tier": "1"}, "spine is in tier 1, and leaf in tier 1"),
        (three_tiers(), {"topology.groups.spine.ids": "1-2"},
         "pod 2 of leaf has no spine; expected a spine in every pod"),
        (three_tiers(), {"topology.groups.spine.per_pod": None}, "(topology.groups.spine.per_pod: 2, or links: 4)"),
        (three_tiers(), {"routing.asn.spine": "4200200000+pods"}, "(or one with +pod for each pod)"),
        (three_tiers(), {"topology.groups": {}}, "topology.groups: an empty mapping; expected at least one entry"),
        (storage_leaves(), {"topology.groups.store.ids": "3-4"}, "expected store 3-4 (ids: 9-16)"),
        (three_tiers(), {"routing.asn.spine": "4200200000"},
         "spine1 and spine3 would both be AS 4200200000"),
        (three_tiers(), {"topology.groups.spine.uplinks.core.links": "2"},
         "spine1 is 2:1 oversubscribed, 6.4T down and 3.2T up"),
        (three_tiers(), {"topology.groups.spine.uplinks": {"cor": links("17-32", 8)}}, "no group cor"),
        (rails(), {"addressing.links": "10.1.0.0/16"}, "10.1.0.0/16, where no switches are linked; expected no pool"),
        (rails(), {"pfc.watchdog.fabric": {"detection": "600ms"}}, "links between switches, which there are none of"),
    ],
)  # fmt: skip
def test_what_makes_no_topology_is_refused(data: Data, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputProblems) as refused:
        build(changed(data, changes))
    assert said in "\n".join(map(str, refused.value.problems))


@pytest.mark.parametrize("kind", ["tier", "mesh", None])
def test_a_kind_that_is_not_known_is_the_only_fault(kind: str | None) -> None:
    with pytest.raises(InputProblems) as refused:
        build(changed(three_tiers(), {"topology.kind": kind}))
    (problem,) = refused.value.problems
    assert "kind" in str(problem)


def test_a_copy_of_an_intent_with_other_hosts_has_its_own_topology() -> None:
    first = load(shipped("two-by-two"))
    assert topology_of(first) is topology_of(first)
    hosts_by_name = {name: group.model_copy(update={"ids": group.ids[:1]}) for name, group in first.endpoints.items()}
    copy = first.model_copy(update={"endpoints": hosts_by_name})
    assert topology_of(copy).endpoints == hosts_by_name
    assert topology_of(first.model_copy(update={"extra": {}})) is topology_of(first)
