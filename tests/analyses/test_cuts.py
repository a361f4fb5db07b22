"""Failures that are left out because no leaf needs what fails hit nobody: compared with trying every one."""

import random

import pytest

from clos import three_tier, two_tier
from nodrop.analyses._drops import route_propagations_of
from nodrop.analyses._failed import FailureCase, failure_case_if_harmful, harmful_failure_cases
from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.states import known_rows
from nodrop.model.values import replace_fields
from nodrop.routing.failures import FailureAnalysis

Hit = tuple[object, ...]


def _with_hosts(fabric: Fabric) -> Fabric:
    """The fabric with a port for a host at each leaf, in the leaf's block."""
    return replace_fields(fabric, devices=tuple(map(_with_host, fabric.devices)))


def _with_host(device: Device) -> Device:
    if device.role != "leaf":
        return device
    (block,) = (route.prefix for route in known_rows(device.static_routes))
    port = replace_fields(device.interfaces[0], name="hosts", addresses=(block.replace(".0/24", ".1/31"),))
    return replace_fields(device, interfaces=(*device.interfaces, port))


def _without_cables(fabric: Fabric, count: int, seed: int) -> Fabric:
    """The fabric with some ports shut, so that sessions are missing."""
    chosen = {(link.a.node, link.a.port) for link in random.Random(seed).sample(fabric.links, count)}
    return replace_fields(
        fabric,
        devices=tuple(
            replace_fields(
                device,
                interfaces=tuple(
                    replace_fields(port, enabled=False) if (device.name, port.name) in chosen else port
                    for port in device.interfaces
                ),
            )
            for device in fabric.devices
        ),
    )


def _of(one: FailureCase) -> Hit:
    return one.link, one.device, one.lost, one.valleys


def _all(index: Index) -> list[Hit]:
    found = []
    for reach in route_propagations_of(index):
        failures = FailureAnalysis(reach.plane, reach.routes)
        for link in failures.links:
            found += [_of(one) for one in failure_case_if_harmful(reach, failures.outcome_without_links(link), link)]
        for device in dict.fromkeys(one.router.device.name for one in reach.world.speakers.values()):
            found += [
                _of(one)
                for one in failure_case_if_harmful(reach, failures.outcome_without_device(device), None, device)
            ]
    return found


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("shared", [True, False], ids=["shared", "unique"])
def test_what_is_left_out_of_leaves_and_spines_hits_nobody(seed: int, *, shared: bool) -> None:
    fabric = _with_hosts(two_tier(5, 2 + seed % 2, parallel=1 + seed % 3 // 2, shared=shared, filtered=False))
    index = Index(_without_cables(fabric, seed % 4, seed))
    assert route_propagations_of(index)[0].hosts
    assert {_of(one) for one in harmful_failure_cases(index)} == set(_all(index))


@pytest.mark.parametrize("seed", range(6))
def test_what_is_left_out_of_three_tiers_hits_nobody(seed: int) -> None:
    index = Index(_without_cables(_with_hosts(three_tier(3, 2, 2, 2)), seed, seed))
    assert {_of(one) for one in harmful_failure_cases(index)} == set(_all(index))


def test_a_sound_fabric_needs_no_failure_tried() -> None:
    assert (
        harmful_failure_cases(Index(_with_hosts(two_tier(6, 2))))
        == harmful_failure_cases(Index(_with_hosts(three_tier(2, 2, 2, 2))))
        == []
    )
