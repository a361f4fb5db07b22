"""Random topologies that grow by a pod, a group or a tier: existing switches change where they get cables, else not.

Compared is the model, fact by fact, on both platforms; what files say of it is in `test_stability.py`.
"""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nodrop.design.boxes import switches_of
from nodrop.errors import InputProblems
from nodrop.model.compare import differences
from nodrop.model.fabric import Device, Fabric, Link, Port
from nodrop.model.states import known_rows
from support.designs import Data, build, changed, load
from support.random_topologies import pods, several_groups
from support.tiered_intents import group, hosts, intent, links

pytestmark = pytest.mark.slow

HOSTS_OF_LEAF = 8
COMPUTED = ("size_bytes", "shared_headroom_bytes")
"""Of a pool, what the switch computes from all its cables."""
_WATCHDOG = ("pfc_watchdog", "watchdog_polling_ms", "watchdog_conditions")


def growing_by_a_pod(data: Data) -> Data:
    """Return an intent of pods without its last one; hosts are on leaves by id, eight on each."""
    groups = data["topology"]["groups"]
    leaves, spines = int(groups["leaf"]["per_pod"]), int(groups["spine"]["per_pod"])
    pod_count = int(groups["spine"]["ids"].split("-")[1]) // spines
    kept = leaves * (pod_count - 1)
    ids = [number for number in data["endpoints"]["gpu"]["ids"] if int(number) <= HOSTS_OF_LEAF * kept]
    assume(ids)
    return changed(
        data,
        {
            "topology.groups.leaf.ids": f"1-{kept}",
            "topology.groups.spine.ids": f"1-{spines * (pod_count - 1)}",
            "endpoints.gpu.ids": ids,
        },
    )


def growing_by_a_group(data: Data) -> Data:
    """Return an intent of several groups next to hosts without the last one and its hosts."""
    lowest = [name for name, facts in data["topology"]["groups"].items() if int(facts["tier"]) == 1]
    assume(len(lowest) > 1)
    (of_group,) = (name for name, facts in data["endpoints"].items() if facts["leaves"] == lowest[-1])
    return without_group(data, lowest[-1], of_group)


def without_group(data: Data, switches: str, servers: str) -> Data:
    """Return an intent without a group of switches and the hosts on them."""
    return changed(
        data, dict.fromkeys((f"topology.groups.{switches}", f"routing.asn.{switches}", f"endpoints.{servers}"))
    )


def growing_by_a_tier(data: Data) -> Data:
    """Return an intent of pods without the tier above them."""
    return changed(data, dict.fromkeys(("topology.groups.core", "topology.groups.spine.uplinks", "routing.asn.core")))


def built(data: Data) -> Fabric:
    try:
        return build(data)
    except InputProblems:
        assume(False)
        raise


def rounds(data: Data) -> int:
    """Return how many times 32 ports a switch may have links on: watchdog times are multiples of 200 ms times that."""
    return (switches_of(load(data)).max_ports_of_switch - 1) // 32 + 1


def cabled(cables: set[Link], device: Device) -> set[str]:
    """Return the ports of a switch with some cables, and all parts of the same panel ports."""
    ends = {end.port for link in cables for end in (link.a, link.b) if end.node == device.name}
    panels = {one.port.panel for one in device.interfaces if one.name in ends and isinstance(one.port, Port)}
    return {one.name for one in device.interfaces if isinstance(one.port, Port) and one.port.panel in panels}


def sessions(cables: set[Link], name: str, *fabrics: Fabric) -> set[str]:
    """Return how a switch calls its neighbors over some cables."""
    keys: set[str] = set()
    for link in cables:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            for fabric in fabrics if near.node == name else ():
                keys.add(near.port)
                if far.node in {device.name for device in fabric.devices}:
                    ports = {port.name: port for port in fabric.device(far.node).interfaces}
                    keys |= {str(one).partition("/")[0] for one in ports[far.port].addresses}  # type: ignore[union-attr]
    return keys


def changes_beside_cables(old: Fabric, new: Fabric, name: str) -> set[tuple[str, ...]]:
    """Return the facts of a switch that changed, except those of ports and sessions of its new cables."""
    added = set(new.links) - set(old.links)
    before, after = old.device(name), new.device(name)
    ports = cabled(added, before) | cabled(added, after)
    neighbors = sessions(added, name, new)
    found: set[tuple[str, ...]] = set()
    for one in differences(before, after):
        path = tuple(map(str, one.path))
        if path[0] == "interfaces" and path[1] in ports:
            continue
        if path[:2] == ("bgp", "neighbors") and len(path) > 2 and path[2] in neighbors:
            continue
        if ports and path[0] == "buffer_pools" and path[-1] in COMPUTED:
            continue
        found.add(path)
    return found


def assert_grows(before: Data, after: Data) -> tuple[Fabric, Fabric]:
    """Both are built, and what is in both is alike except at new cables, and watchdogs where these have other times."""
    old, new = built(before), built(after)
    names = {device.name for device in old.devices}
    assert names < {device.name for device in new.devices}
    assert set(old.links) < set(new.links)
    assert set(old.hosts) <= set(new.hosts)
    same_times = rounds(before) == rounds(after)
    for name in sorted(names):
        left = changes_beside_cables(old, new, name)
        times = {path for path in left if any(word in path for word in _WATCHDOG)}
        assert left == (set() if same_times else times), name
    return old, new


@given(pods())
def test_a_pod_reaches_existing_switches_at_the_cores_alone(data: Data) -> None:
    old, new = assert_grows(growing_by_a_pod(data), data)
    touched = {name for name in names_of(old) if old.device(name) != new.device(name)}
    assert touched == {name for name in names_of(old) if name.startswith("core")}


@given(several_groups())
def test_a_group_reaches_existing_switches_at_the_spines_alone(data: Data) -> None:
    """That is so where addresses set aside for a switch are stated: by default they follow from the largest model."""
    data = changed(data, {"topology.slots_per_device": "256"})
    before = growing_by_a_group(data)
    old, new = assert_grows(before, data)
    touched = {name for name in names_of(old) if old.device(name) != new.device(name)}
    spines = {name for name in names_of(old) if name.startswith("spine")}
    assert touched == (spines if rounds(before) == rounds(data) else names_of(old))


@pytest.mark.parametrize(
    ("model", "slots", "before", "after"),
    [
        ("SN4700", None, ("10.32.1.0/31", "10.64.1.128/31"), ("10.32.1.0/31", "10.64.1.128/31")),
        ("SN5600", None, ("10.32.1.0/31", "10.64.1.128/31"), ("10.32.2.0/31", "10.64.2.128/31")),
        ("SN5600", "256", ("10.32.2.0/31", "10.64.2.128/31"), ("10.32.2.0/31", "10.64.2.128/31")),
    ],
)
def test_a_group_of_a_model_with_more_ports_moves_addresses_unless_slots_are_stated(
    model: str, slots: str | None, before: tuple[str, str], after: tuple[str, str]
) -> None:
    parts = {"split": "2", "peer_split": "1"} if model == "SN5600" else {}
    ports, ends = {"endpoints": "1-8"}, {"ids": "1", "ports": "1", "leaf_group": "8"}
    groups = {
        "leaf": group(1, "1", ports=ports, uplinks={"spine": links("17-24", 1, peer_ports="1-10")}),
        "store": group(
            1, "1", model, ports=ports, offset="100", uplinks={"spine": links("17-24", 1, peer_ports="11-20") | parts}
        ),
        "spine": group(2, "1"),
    }
    servers = {
        "gpu": hosts(leaves="leaf", **ends),
        "disk": hosts(leaves="store", split=parts.get("split", "1"), **ends),
    }
    data = intent(
        groups,
        servers,
        {"leaf": "4200100000+", "store": "4200100000+", "spine": "4200000000"},
        **{
            "topology.slots_per_device": slots,
            "topology.max_oversubscription": "1000",
            "addressing.links": "10.64.0.0/12",
            "addressing.endpoints": "10.32.0.0/13",
        },
    )
    found = [build(one).device("leaf1").interfaces for one in (without_group(data, "store", "disk"), data)]
    assert [tuple(str(*known_rows(port.addresses)) for port in ports if port.enabled) for ports in found] == [
        before,
        after,
    ]


@given(pods())
def test_a_tier_above_reaches_existing_switches_at_the_former_top_alone(data: Data) -> None:
    old, new = assert_grows(growing_by_a_tier(data), data)
    touched = {name for name in names_of(old) if old.device(name) != new.device(name)}
    assert touched == {name for name in names_of(old) if name.startswith("spine")}


def names_of(fabric: Fabric) -> set[str]:
    return {device.name for device in fabric.devices}


@given(several_groups(), st.data())
def test_the_order_of_growth_is_nothing(data: Data, chosen: st.DataObject) -> None:
    """An intent says nothing about what was first: the keys of groups in another order build the same fabric."""
    groups: dict[str, Any] = data["topology"]["groups"]
    order = chosen.draw(st.permutations(sorted(groups)))
    other = changed(data, {"topology.groups": {name: groups[name] for name in order}})
    assert built(other) == built(data)
