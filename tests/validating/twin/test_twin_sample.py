"""A sample of a fabric that is too large for a twin: which devices it has, and what is claimed of the whole from it."""

import pytest

import nodrop
from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Link
from nodrop.model.index import Index
from nodrop.routing.observation import ValidatorObservation
from nodrop.validating import compute_observation
from nodrop.validating.twin import TwinOptions, observe_in_twin, sampling
from nodrop.validating.twin.sampling import (
    SampledFabric,
    compute_sample_observation,
    limit_observation_to_sample,
    sample_fabric,
)
from nodrop.validating.twin.work import PartialObservation
from support.designs import build, shipped
from support.twin_runs import needed


def three_tiers(pods: int, leaves: int, spines: int, tops: int, hosts: int = 0) -> Fabric:
    """Pods of leaves and spines below superspines; every pair of neighbors in the tiers has a cable."""
    roles: dict[str, str] = {f"top{n}": "superspine" for n in range(1, tops + 1)}
    links = []
    made: list[Host] = []

    def cable(a: str, b: str) -> None:
        links.append(Link(a=End(a, f"to-{b}"), b=End(b, f"to-{a}")))

    for pod in range(1, pods + 1):
        names = [f"leaf{pod}-{n}" for n in range(1, leaves + 1)]
        upper = [f"spine{pod}-{n}" for n in range(1, spines + 1)]
        roles |= dict.fromkeys(names, "leaf") | dict.fromkeys(upper, "spine")
        for spine in upper:
            for name in names:
                cable(name, spine)
            for top in range(1, tops + 1):
                cable(spine, f"top{top}")
        for name in names:
            for number in range(1, hosts + 1):
                host = f"gpu-{name}-{number}"
                port = HostPort(name=f"to-{name}", speed_mbps=400_000, lanes=4)
                made.append(Host(name=host, group="gpu", gpus=8, nic="ConnectX-7", ports=(port,)))
                cable(host, name)
    devices = tuple(Device(name=name, platform="sonic", role=role) for name, role in sorted(roles.items()))
    return Fabric(name="pods", mode="lossless", devices=devices, links=tuple(links), hosts=tuple(made))


def names(taken: SampledFabric) -> set[str]:
    return {device.name for device in taken.fabric.devices}


def test_what_fits_runs_whole() -> None:
    fabric = three_tiers(2, 2, 2, 2)
    taken = sample_fabric(Index(fabric), 10)
    assert taken.is_whole
    assert taken.fabric == fabric


def test_leaves_of_two_pods_are_taken_with_all_that_is_above_them() -> None:
    taken = sample_fabric(Index(three_tiers(4, 8, 2, 2)), 10)
    assert names(taken) == {
        *("leaf1-1", "leaf1-2", "leaf2-1", "leaf2-2", "spine1-1", "spine1-2", "spine2-1", "spine2-2", "top1", "top2")
    }
    assert {f"{link.a.node}--{link.b.node}" for link in taken.fabric.links} == {
        *(f"leaf{pod}-{leaf}--spine{pod}-{spine}" for pod in (1, 2) for leaf in (1, 2) for spine in (1, 2)),
        *(f"spine{pod}-{spine}--top{top}" for pod in (1, 2) for spine in (1, 2) for top in (1, 2)),
    }
    assert taken.sample_note == "the twin ran a sample of 10 of 42 devices"


def test_room_that_is_left_goes_to_more_leaves_of_the_first_pod() -> None:
    assert names(sample_fabric(Index(three_tiers(4, 8, 2, 2)), 12)) - names(
        sample_fabric(Index(three_tiers(4, 8, 2, 2)), 10)
    ) == {
        "leaf1-3",
        "leaf1-4",
    }


def test_where_even_one_leaf_has_too_much_above_it_some_of_that_runs() -> None:
    assert names(sample_fabric(Index(three_tiers(1, 2, 8, 0)), 4)) == {"leaf1-1", "spine1-1", "spine1-2", "spine1-3"}


def test_without_tiers_the_devices_around_the_first_run() -> None:
    ring = tuple(Link(a=End(f"s{n}", "a"), b=End(f"s{n % 6 + 1}", "b")) for n in range(1, 7))
    devices = tuple(Device(name=f"s{n}", platform="sonic", role="switch") for n in range(1, 7))
    taken = sample_fabric(Index(Fabric(name="ring", mode="lossless", devices=devices, links=ring)), 3)
    assert names(taken) == {"s1", "s2", "s6"}


def test_of_very_many_hosts_every_leaf_keeps_some() -> None:
    fabric = three_tiers(1, 4, 2, 0, hosts=60)
    taken = sample_fabric(Index(fabric), 100)
    assert len(taken.fabric.hosts) == sampling.MAX_HOSTS
    assert {f"gpu-leaf1-{leaf}-{number}" for leaf in range(1, 5) for number in (1, 60)} <= {
        host.name for host in taken.fabric.hosts
    }
    assert {link.a.node for link in taken.fabric.links if link.a.node.startswith("gpu")} == {
        host.name for host in taken.fabric.hosts
    }


def test_only_what_is_computed_alike_is_claimed_of_the_whole() -> None:
    fabric = build(shipped("reference-256"))
    whole = compute_observation(Index(fabric))
    taken = sample_fabric(Index(fabric), 4)
    own = compute_sample_observation(taken, whole)
    assert names(taken) == {"leaf1", "leaf2", "spine1", "spine2"}
    part = PartialObservation(seen={check: dict(items) for check, items in own.seen.items()}, unseen={})
    found = limit_observation_to_sample(part, taken, own, whole)
    wanted = ("leaf1", "@routes", "", "10.0.0.2/32")
    assert found.seen["routes"][wanted] == whole.seen["routes"][wanted]
    assert ("leaf1", "@routes", "", "10.0.0.3/32") not in found.seen["routes"]
    assert found.unseen["routes"]["leaf1", "@routes", "", "10.0.0.3/32"] == taken.sample_note
    assert found.unseen["configuration"]["leaf4",] == taken.sample_note
    for check, items in whole.seen.items():
        assert {item for item in items if item not in found.seen[check]} == found.unseen[check].keys(), check
        assert {item: items[item] for item in found.seen[check]} == found.seen[check], check
    assert (
        found.notes[0]
        == f"{taken.sample_note}: 2 leaf (leaf1 to leaf2), 2 spine (spine1 to spine2); 2 more were not started"
    )


def test_a_sample_that_does_what_is_not_computed_of_it_is_told() -> None:
    fabric = build(shipped("reference-256"))
    whole = compute_observation(Index(fabric))
    taken = sample_fabric(Index(fabric), 4)
    own = compute_sample_observation(taken, whole)
    item = ("leaf1", "@routes", "", "10.0.0.2/32")
    part = PartialObservation(seen={"routes": {**own.seen["routes"], item: frozenset({"Ethernet128"})}}, unseen={})
    assert limit_observation_to_sample(part, taken, own, whole).seen["routes"][item] == frozenset({"Ethernet128"})


def test_room_is_at_least_for_two() -> None:
    assert sampling.max_devices_of_machine() >= 2


@pytest.mark.slow
def test_a_sample_runs_and_says_so() -> None:
    needed()
    fabric = build(shipped("two-by-two"))
    reading = nodrop.read_back(list(nodrop.write(fabric)), fabric)
    index = Index(reading.fabric)
    whole = compute_observation(index)
    lines: list[str] = []
    seen: ValidatorObservation = observe_in_twin(reading, index, options=TwinOptions(devices=3), progress=lines.append)
    why = "the twin ran a sample of 3 of 4 devices"
    assert lines[0] == why
    assert seen.notes[1].startswith(why)
    for check, items in whole.seen.items():
        found = {item: value for item, value in seen.seen[check].items() if item in items}
        assert found == {item: items[item] for item in found}, check
        assert {item for item in items if item not in found} == {
            item for item in items if seen.reason_unseen(check, item) == why
        }, check
    assert set(seen.seen["configuration"]) == {("leaf1",), ("spine1",), ("spine2",)}
