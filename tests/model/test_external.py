"""Statements about neighbors outside the fabric: in order, and what two of them have in common."""

from nodrop.model.external import ExternalNeighbor, ExternalPort, common_statements, sort_addresses
from nodrop.model.states import UNKNOWN, Unknown

WAN = ExternalNeighbor(
    name="wan",
    asn=65001,
    ports=(ExternalPort(name="p1", addresses=("192.0.2.1/31",)),),
    announces=("0.0.0.0/0", "::/0"),
    receives=("10.2.0.0/16 le 24",),
)


def test_addresses_are_in_order_of_family_and_number() -> None:
    assert sort_addresses(["::/0", "10.64.0.0/16 le 24", "10.2.0.0/16", "10.64.0.0/16 le 24"]) == (
        "10.2.0.0/16",
        "10.64.0.0/16 le 24",
        "::/0",
    )


def test_what_only_one_side_states_is_not_stated_in_between() -> None:
    now = ExternalNeighbor(name="wan", asn=65001, ports=WAN.ports, announces=("0.0.0.0/0",), receives=())
    (both,) = common_statements((WAN,), (now,))
    assert (both.announces, both.receives, both.ports) == (("0.0.0.0/0",), (), WAN.ports)
    assert common_statements((WAN,), (WAN,)) == (WAN,)


def test_of_a_new_neighbor_or_number_the_name_is_left() -> None:
    other = ExternalNeighbor(name="wan", asn=65009, ports=WAN.ports, announces=WAN.announces, receives=WAN.receives)
    assert common_statements((), (WAN,)) == common_statements((WAN,), (other,)) == (ExternalNeighbor(name="wan"),)
    unstated = ExternalNeighbor(name="wan", asn=65001, announces=UNKNOWN)
    (both,) = common_statements((WAN,), (unstated,))
    assert isinstance(both.announces, Unknown)
