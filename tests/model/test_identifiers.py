"""Which fabrics have an identifier in common, and which of them cables join."""

import pytest

from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Management
from nodrop.model.identifiers import FabricIdentifiers, find_shared_identifiers, identifiers_of, is_same_fabric
from nodrop.model.routing import Bgp
from nodrop.model.states import UNKNOWN


def identifiers(*devices: str, fabric: str = "", **others: tuple[str, ...]) -> FabricIdentifiers:
    return FabricIdentifiers(fabric=fabric, devices=devices, **others)  # type: ignore[arg-type]


def test_what_is_adjacent_is_one_range_and_what_means_something_on_one_link_is_left_out() -> None:
    port = Interface(
        port=UNKNOWN,
        name="Ethernet0",
        addresses=("10.0.0.2/31", "10.0.0.1/31", "10.0.1.9/20", "169.254.0.1/31", "fe80::1/64", "x"),
    )
    other = Interface(port=UNKNOWN, name="Ethernet4", addresses=("fd00::1/127",), vrf="RED")
    host = Interface(port=UNKNOWN, name="Ethernet8", addresses=("fd00:2::1/127",), side="host")
    management = Management(interface="eth0", addresses=("192.0.2.1/24", "FD00:9::1/64"), gateway=None, own_vrf=True)
    device = Device(
        name="leaf1",
        platform="sonic",
        interfaces=(port, other, host),
        management=management,
        bgp=Bgp(asn=65001),
    )
    cable = Link(a=End("gpu1", "nic1"), b=End("leaf1", "Ethernet8"))
    made = identifiers_of(Fabric(name="fabric", mode="lossless", devices=(device,), links=(cable,)))
    assert made == FabricIdentifiers(
        fabric="",
        devices=("leaf1",),
        management=("192.0.2.1", "fd00:9::1"),
        nodes=("gpu1",),
        numbers=(
            ("AS numbers", "0:0000fde9", "0:0000fde9"),
            ("host prefixes", "6:fd000002000000000000000000000000", "6:fd00000200000000ffffffffffffffff"),
            ("link prefixes", "4:0a000000", "4:0a000fff"),
        ),
    )


@pytest.mark.parametrize(
    ("one", "other", "an_intent", "same"),
    [
        (identifiers("leaf1", fabric="pod"), identifiers("leaf2", fabric="pod"), True, True),
        (identifiers("leaf1", fabric="pod"), identifiers("leaf1", fabric="pod2"), True, False),
        (identifiers("leaf1", fabric="pod"), identifiers("leaf1", fabric="pod"), False, False),
        (identifiers("leaf1"), identifiers("leaf1", "leaf2", fabric="pod"), False, True),
        (identifiers("leaf1", management=("192.0.2.1",)), identifiers("leaf1", fabric="pod"), False, False),
        (identifiers("leaf3"), identifiers("leaf1", "leaf2", fabric="pod"), False, False),
        (identifiers(), identifiers("leaf1", fabric="pod"), False, False),
        (identifiers("leaf1"), identifiers("leaf1"), False, False),
        (identifiers("leaf1"), identifiers("leaf1", "leaf2", fabric="pod"), True, True),
        (identifiers("leaf3"), identifiers("leaf1", "leaf2", fabric="pod"), True, False),
    ],
)
def test_states_of_one_fabric_are_not_two(
    one: FabricIdentifiers, other: FabricIdentifiers, an_intent: bool, same: bool
) -> None:
    assert is_same_fabric(one, other, an_intent=an_intent) is same
    assert is_same_fabric(other, one, an_intent=an_intent) is same


def test_of_several_fabrics_with_one_thing_each_later_one_is_paired_with_the_first() -> None:
    three = [identifiers(f"leaf{at}", management=("192.0.2.1",)) for at in range(3)]
    assert find_shared_identifiers(three, one_site=False).pairs == {1: (0,), 2: (0,)}
    rows = [(("AS numbers", "0:1", "0:5"),), (("AS numbers", "0:7", "0:9"),), (("AS numbers", "0:4", "0:7"),)]
    ranges = [identifiers(f"leaf{at}", numbers=row) for at, row in enumerate(rows)]  # type: ignore[arg-type]
    assert find_shared_identifiers(ranges, one_site=False).pairs == {2: (0, 1)}
    kinds = [("loopback addresses", "4:1", "4:5"), ("link prefixes", "4:1", "4:5")]
    other = [identifiers(f"leaf{at}", numbers=(row,)) for at, row in enumerate(kinds)]  # type: ignore[arg-type]
    assert find_shared_identifiers(other, one_site=True).pairs == {}


def test_names_are_compared_in_one_site_and_hosts_where_no_switch_has_the_same_name() -> None:
    named = [identifiers("leaf1"), identifiers("leaf1")]
    assert find_shared_identifiers(named, one_site=True).pairs == {1: (0,)}
    assert find_shared_identifiers(named, one_site=False).pairs == {}
    hosts = [identifiers("leaf1", nodes=("gpu1",)), identifiers("leaf2", nodes=("gpu1",))]
    assert find_shared_identifiers(hosts, one_site=False).pairs == {1: (0,)}
    both = [identifiers("leaf1", nodes=("gpu1",)), identifiers("leaf1", nodes=("gpu1",))]
    assert find_shared_identifiers(both, one_site=False).pairs == {}


def test_cables_to_switches_of_others_join_fabrics_one_after_the_other() -> None:
    four = [
        identifiers("a", nodes=("b", "gpu1")),
        identifiers("b"),
        identifiers("c", nodes=("b",)),
        identifiers("d", nodes=("gpu1",)),
    ]
    found = find_shared_identifiers(four, one_site=True)
    assert found.joined[0] == found.joined[1] == found.joined[2] != found.joined[3]
    assert found.pairs == {1: (0,), 2: (0, 1), 3: (0,)}, "two fabrics may have a cable to one port of b"
