"""Sizes of fabrics: the fewest switches by the closed forms, and by trying everything where radix is small."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.hardware import switch
from nodrop.sizing.counting import (
    AlikeHosts,
    CannotSize,
    FabricDemand,
    PanelPortsForSpeed,
    best_port_use_of_speed,
    find_smallest_fabric_shape,
)
from nodrop.sizing.fabric import MaxCableLengths
from nodrop.sizing.request import SizeRequest, StorageRequest, size_request
from support.sizes import CASES, name_of, request_of

RADIX = {"SN5600": 128, "Z9664F": 64, "SN4700": 32}


def _closed_form(case: dict[str, Any]) -> int:
    """The switches of a size by radix and ratio alone: nothing about pods, planes and even links."""
    radix, servers, ratio = RADIX[case["model"]], case["gpus"] // 8, case["ratio"]
    if case["gpus"] <= radix:
        return 1
    most_down = radix * ratio // (ratio + 1)
    if case["rails"]:
        sets = ceil(servers / most_down)
        leaves, down = 8 * sets, ceil(servers / sets)
    else:
        leaves = ceil(servers / (most_down // 8))
        down = 8 * ceil(servers / leaves)
    up = ceil(down / ratio)
    two_tiers = leaves <= radix and leaves * up <= radix * up
    spines = ceil(leaves * up / (radix if two_tiers else radix // 2))
    return leaves + spines + (0 if two_tiers else ceil(spines / 2))


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_the_number_of_switches_is_that_of_the_closed_form(case: dict[str, Any]) -> None:
    if "largest" in case:
        with pytest.raises(CannotSize, match=f"nearest: --gpus {case['largest']}$"):
            size_request(request_of(case))
        largest = size_request(request_of({**case, "gpus": case["largest"]}))
        assert largest.shape.switch_count == 5 * RADIX[case["model"]] ** 2 // 4
        return
    fabric = size_request(request_of(case))
    assert list(fabric.shape.switch_counts_by_tier) == case["switches"]
    assert fabric.shape.switch_count == _closed_form(case)
    assert sum(group.count for group in fabric.groups) == fabric.shape.switch_count


def _small_use(radix: int) -> PanelPortsForSpeed:
    return PanelPortsForSpeed(model=switch("SN4700"), speed_mbps=400_000, split=1, panels=tuple(range(1, radix + 1)))


def _every_two_tier_fabric(hosts: AlikeHosts, radix: int, ratio: Fraction) -> Iterator[int]:
    """The switches of every fabric of two tiers with equal sets of leaves and equal links, without any shortcut."""
    for sets in range(1, hosts.count + 1):
        down = ceil(hosts.count / sets) * (1 if hosts.apart else hosts.ports)
        leaves = sets * (hosts.ports if hosts.apart else 1)
        for spines in range(1, radix + 1):
            for links in range(1, radix + 1):
                enough = links * spines * ratio >= down
                if enough and down + links * spines <= radix and leaves * links <= radix:
                    yield leaves + spines


@given(
    radix=st.integers(4, 12),
    count=st.integers(1, 20),
    ports=st.integers(1, 4),
    apart=st.booleans(),
    ratio=st.sampled_from([Fraction(1), Fraction(2), Fraction(3, 2)]),
)
def test_no_fabric_of_two_tiers_has_fewer_switches(
    radix: int, count: int, ports: int, apart: bool, ratio: Fraction
) -> None:
    use = _small_use(radix)
    hosts = AlikeHosts(name="gpu", count=count, gpus=8, ports=ports, nic="ConnectX-7", apart=apart, down=use, up=use)
    fewest = 1 if count * ports <= radix else min(_every_two_tier_fabric(hosts, radix, ratio), default=None)
    try:
        shape = find_smallest_fabric_shape(FabricDemand(hosts=(hosts,), upper=use, ratio=ratio))
    except CannotSize:
        assert fewest is None
        return
    assert (len(shape.switch_counts_by_tier) == 3) == (fewest is None)
    assert fewest in (None, shape.switch_count)


REQUEST = SizeRequest(
    gpus=512, gpus_of_server=8, ports=8, rails=True, platform="sonic", leaf="SN5600", spine="SN5600",
    storage_leaf="SN5600", nic="ConnectX-7",
)  # fmt: skip


SN4700 = dict.fromkeys(("leaf", "spine", "storage_leaf"), "SN4700")


def test_storage_has_leaves_of_its_own_below_the_same_spines() -> None:
    fabric = size_request(replace(REQUEST, storage=StorageRequest(16, 2, 400_000), storage_leaf="SN4700"))
    groups = {group.name: (group.count, group.model.name, group.offset) for group in fabric.groups}
    assert groups == {"leaf": (8, "SN5600", 0), "storage-leaf": (2, "SN4700", 100), "spine": (8, "SN5600", 0)}
    assert {(links.lower, links.upper): links.count for links in fabric.links} == {
        ("leaf", "spine"): 512,
        ("storage-leaf", "spine"): 32,
    }


def test_storage_leaves_are_spread_over_pods() -> None:
    fabric = size_request(replace(REQUEST, gpus=16_384, storage=StorageRequest(400, 2, 400_000)))
    storage = next(group for group in fabric.groups if group.name == "storage-leaf")
    assert len(fabric.shape.switch_counts_by_tier) == 3
    assert storage.per_pod is not None
    assert ceil(storage.count / storage.per_pod) <= fabric.shape.pods
    assert storage.offset >= next(group.count for group in fabric.groups if group.name == "leaf")


def test_links_between_switches_are_as_fast_as_servers_ports_unless_faster_ones_save_switches() -> None:
    assert {links.speed_mbps for links in size_request(REQUEST).links} == {400_000}
    mixed = replace(REQUEST, leaf="SN2410", spine="SN2700", nic="ConnectX-5", ports=2, speed_mbps=25_000, rails=False)
    assert {links.speed_mbps for links in size_request(mixed).links} == {50_000}


def test_rails_that_share_leaves_save_switches_in_a_small_fabric() -> None:
    """32 servers of 8 x 400G on SN5600: 4 leaves of two rails, 64 ports down and up, and 2 spines; else 8 and 2."""
    small = replace(REQUEST, gpus=256)
    assert size_request(small).shape.switch_counts_by_tier == (8, 2)
    fabric = size_request(replace(small, rails_per_leaf=2))
    assert fabric.shape.switch_counts_by_tier == (4, 2)
    assert [(each.spread, each.leaf_group) for each in fabric.hosts] == [("rails", 32)]
    assert size_request(replace(small, rails_per_leaf=8)).hosts[0].spread == "one-leaf"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"gpus": 100}, "100 GPUs are no whole servers of 8; nearest: --gpus 96 or 104"),
        ({"gpus": 4}, "4 GPUs are no whole servers of 8; nearest: --gpus 8"),
        ({"rails_per_leaf": 3}, "8 rails are no whole leaves of 3; expected a divisor"),
        ({"speed_mbps": 800_000}, "--speed 800G: ConnectX-7 has no 800G port; expected 400G, 200G, 100G"),
        (
            {"leaf": "SN3700", "speed_mbps": 400_000},
            "--speed 400G: SN3700 has no 400G port with a known headroom; "
            "expected 1G, 10G, 25G, 40G, 50G, 100G, 200G",
        ),
        ({"leaf": "SN2201", "nic": "Pollara-400"}, "SN2201 has no port for Pollara-400"),
        ({"spine": "SN2700"}, "SN5600 and SN2700 have no common speed of 400G or more"),
        (
            {"ratio": Fraction(1, 100), "rails": False},
            "512 GPUs: three tiers of these switches do not carry them (SN5600); nearest: --gpus 128",
        ),
        (
            {"storage": StorageRequest(60_000, 2, 400_000)},
            "512 GPUs and 60000 storage nodes: three tiers of these switches do not carry them (SN5600)",
        ),
        (
            {"lengths": MaxCableLengths(hosts_m=50_000)},
            "no medium of the catalogue joins SN5600 and ConnectX-7 at 400G over 50000m",
        ),
        (
            {"storage": StorageRequest(2, 2, 25_000)},
            "--storage 2x2x25G: ConnectX-7 has no 25G port; expected 400G, 200G, 100G",
        ),
        (
            SN4700 | {"gpus": 16_384, "storage": StorageRequest(16, 2, 400_000)},
            "16384 GPUs: three tiers of these switches do not carry them (SN4700); nearest: --gpus 4096",
        ),
    ],
)  # fmt: skip
def test_a_refusal_says_why_and_what_works(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(CannotSize) as refused:
        size_request(replace(REQUEST, **changes))
    assert refused.value.reason == reason


def test_a_split_that_takes_the_next_port_is_not_used() -> None:
    use = best_port_use_of_speed(switch("SN5600"), "nvue", 100_000)
    assert use is not None
    assert (use.split, use.radix) == (4, 256)
    assert best_port_use_of_speed(switch("SN4700"), "sonic", 800_000) is None


def test_pools_hold_the_highest_numbers() -> None:
    assert size_request(replace(REQUEST, gpus=64)).address_pools() == {
        "loopbacks": "10.0.0.0/16", "endpoints": "10.1.0.0/16", "oob": "192.168.100.0/24",
    }  # fmt: skip
    assert size_request(replace(REQUEST, gpus=65_536)).address_pools() == {
        "loopbacks": "10.0.0.0/16", "links": "10.64.0.0/10", "endpoints": "10.128.0.0/12", "oob": "192.168.0.0/19",
    }  # fmt: skip
