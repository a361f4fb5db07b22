"""The out-of-band network inside the fabric: on ports, on loopbacks, announced, or on the way."""

import pytest

from nodrop.model.states import UNKNOWN
from support.analysis_results import look

BLACKHOLE = {"prefix": "10.2.1.0/24", "next_hop": "blackhole"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {}),
        (
            {"spine1/Ethernet64/addresses": ["192.168.100.9/30"]},
            {"spine1/Ethernet64": "Ethernet64 has 192.168.100.9/30"},
        ),
        ({"spine1/Ethernet64/addresses": ["192.168.100.9/30"], "spine1/Ethernet64/vrf": "mgmt"}, {}),
        (
            {"leaf1/@loopbacks/Loopback0/addresses": ["192.168.100.50/32"]},
            {"leaf1/@loopbacks/Loopback0": "Loopback0 has 192.168.100.50/32"},
        ),
        ({"leaf1/@bgp/networks": ["192.168.0.0/16"]}, {"leaf1/@bgp": "BGP announces 192.168.0.0/16"}),
        ({"leaf1/@bgp/networks": ["192.168.101.0/24"]}, {}),
        (
            {"leaf1/@static_routes": [BLACKHOLE, {"prefix": "0.0.0.0/0", "next_hop": "192.168.100.254"}]},
            {"leaf1/@static_routes": "a static route leads to 0.0.0.0/0 by 192.168.100.254"},
        ),
        (
            {"leaf1/@static_routes": [BLACKHOLE, {"prefix": "172.16.0.0/12", "next_hop": "eth0"}]},
            {"leaf1/@static_routes": "a static route leads to 172.16.0.0/12 by eth0"},
        ),
        (
            {"leaf1/@static_routes": [{"prefix": "0.0.0.0/0", "next_hop": "192.168.100.254", "vrf": "mgmt"}]},
            {},
        ),
        ({"leaf1/@static_routes": [{"prefix": "0.0.0.0/0", "next_hop": "10.1.1.225"}]}, {}),
        ({"leaf2/@management": UNKNOWN}, {"leaf2": "device.management"}),
    ],
)
def test_what_is_found(changes: dict[str, object], expected: dict[str, str]) -> None:
    found = look("out_of_band", changes)
    assert {key: each if isinstance(each, str) else each["what"] for key, each in found.items()} == expected


def test_a_network_of_another_family_is_none_of_it() -> None:
    changes = {
        "leaf1/@management/addresses": ["192.168.100.1/24", "fd00:99::1/64"],
        "spine2/Ethernet64/addresses": ["fd00:99::7/127", "fd00:98::7/127"],
    }
    found = look("out_of_band", changes)
    assert {key: each["subnet"] for key, each in found.items()} == {"spine2/Ethernet64": "fd00:99::/64"}


def test_nothing_is_out_of_band_where_no_switch_has_such_a_port() -> None:
    changes: dict[str, object] = {f"{name}/@management": None for name in ("leaf1", "leaf2", "spine1", "spine2")}
    assert look("out_of_band", {**changes, "leaf1/Ethernet64/addresses": ["192.168.100.9/30"]}) == {}
