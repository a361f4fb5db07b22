"""Which files of hosts are reported whose GIDs are of a family that the switch does not route there."""

from typing import Any

import pytest

from nodrop.model.fabric import End, Fabric
from nodrop.model.index import Index
from nodrop.model.nics import Nic
from nodrop.model.routing import BgpNeighbor
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from nodrop.routing import legs
from support.analysis_results import say, with_changes

V6 = "fd00:2::9/127"


def found(fabric: Fabric, **fields: Any) -> Any:
    """Return what is said of a file of gpu1 with these fields."""
    nic = Nic(host="gpu1", file="job.env", **fields)
    return say("gid_families", replace_fields(fabric, nics=(nic,)))


def fault(family: str, by: str, expected: str) -> Any:
    return {"gpu1/job.env": {"family": family, "by": by, "expected": expected, "port": "leaf1 Ethernet0"}}


def in_ipv6() -> Fabric:
    """Return two-by-two whose ports of gpu1 have IPv6 alone."""
    ports = {f"leaf{at}/Ethernet0/addresses": ["fd00:2::8/127"] for at in (1, 2)}
    return with_changes(ports | {f"@fabric/hosts/gpu1/ports/nic{at}/addresses": [V6] for at in (1, 2)})


def test_the_interfaces_at_a_port_are_those_that_have_it_and_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = {
        "leaf1/Ethernet0/addresses": [],
        "leaf1/@port_channels": [{"name": "PortChannel1", "members": ["Ethernet0", "Ethernet8"]}],
        "leaf1/@vlans": [
            {"id": 7, "members": [{"interface": "PortChannel1", "tagged": False}], "addresses": ["10.9.0.1/24"]}
        ],
    }
    index = Index(with_changes(changes))
    every = list(legs.routed_interfaces(index.devices["leaf1"]))
    monkeypatch.setattr(legs, "routed_interfaces", lambda _: iter(every))
    for port in [one.name for one in index.devices["leaf1"].interfaces]:
        at = legs.routed_interfaces_at(index, End("leaf1", port))
        assert list(at) == [leg for leg in every if port in leg.ports] != []
        monkeypatch.setattr(legs, "routed_interfaces", None)
    assert [leg.name for leg in legs.routed_interfaces_at(index, End("leaf1", "Ethernet0"))] == [
        "Ethernet0", "PortChannel1", "VLAN 7",
    ]  # fmt: skip
    assert legs.routed_interfaces_at(index, End("leaf1", "Ethernet4000")) == ()


def test_the_stated_family_is_compared_with_the_subnets_of_the_port() -> None:
    by = "NCCL_IB_ADDR_FAMILY"
    assert found(with_changes({}), gid_family="ipv6") == fault("IPv6", by, "IPv4")
    assert found(with_changes({}), gid_family="ipv4") == {}
    assert found(in_ipv6(), gid_family="ipv4") == fault("IPv4", by, "IPv6")
    assert found(in_ipv6(), gid_family="ipv6") == {}


def test_an_index_chooses_the_family_of_the_address_that_a_port_has() -> None:
    other = with_changes({f"@fabric/hosts/gpu1/ports/nic{at}/addresses": [V6] for at in (1, 2)})
    assert found(other, gid_index=3, gid_family="ipv4") == fault("IPv6", "GID index 3", "IPv4")
    assert found(with_changes({}), gid_index=3, gid_family="ipv6") == {}
    assert found(other, gid_index=1) == {}
    both = with_changes({f"@fabric/hosts/gpu1/ports/nic{at}/addresses": [V6, "10.2.0.1/31"] for at in (1, 2)})
    assert found(both, gid_index=5) == {}


def test_nccl_uses_ipv4_unless_a_file_of_the_host_states_more() -> None:
    assert found(in_ipv6(), traffic_class=106) == fault("IPv4", "NCCL's default", "IPv6")
    assert found(in_ipv6(), ucx_traffic_class=106) == {}
    job = Nic(host="gpu1", file="job.env", traffic_class=106)
    conf = Nic(host="gpu1", file="nccl.conf", gid_family="ipv6")
    assert say("gid_families", replace_fields(in_ipv6(), nics=(job, conf))) == {}
    assert say("gid_families", replace_fields(in_ipv6(), nics=(job, replace_fields(conf, host="gpu2")))) != {}


@pytest.mark.parametrize(
    "changes",
    [
        {"leaf1/Ethernet0/addresses": [], "leaf2/Ethernet0/addresses": []},
        {"leaf1/Ethernet0/addresses": ["fe80::1/64"], "leaf2/Ethernet0/addresses": ["fe80::2/64"]},
        {f"leaf{at}/Ethernet0/addresses": ["10.2.9.0/31", "fd00:9::/127"] for at in (1, 2)},
    ],
)
def test_a_port_without_an_address_or_with_both_families_decides_nothing(changes: dict[str, Any]) -> None:
    assert found(with_changes(changes), gid_family="ipv6") == {}


@pytest.mark.parametrize("key", [{"interface": "Ethernet0"}, {"address": "fd00:2::9"}])
def test_a_host_with_a_bgp_session_may_announce_the_other_family(key: dict[str, str]) -> None:
    fabric = in_ipv6()
    session = BgpNeighbor(**key, remote_asn=65001)
    devices = tuple(
        replace_fields(one, bgp=replace_fields(one.bgp, neighbors=(*one.bgp.neighbors, session)))
        if one.bgp is not None
        else one
        for one in fabric.devices
    )
    assert found(replace_fields(fabric, devices=devices), gid_family="ipv4") == {}


def test_addresses_that_are_not_known_are_unknown() -> None:
    assert found(with_changes({"leaf1/Ethernet8/addresses": UNKNOWN}), gid_family="ipv4") == {
        "leaf1": "interface.addresses"
    }


def test_without_stated_hosts_any_host_port_counts() -> None:
    fabric = replace_fields(with_changes({}), hosts=(), links=())
    assert set(found(fabric, gid_family="ipv6")) == {"gpu1/job.env"}
    assert found(fabric, gid_family="ipv4") == {}
