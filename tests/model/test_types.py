"""What the model's annotations say, and what its properties look at."""

import ast
import inspect
import textwrap

import pytest

from nodrop.model.buffers import BufferProfile
from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Port
from nodrop.model.qos import PfcWatchdog, PriorityGroup, QosProfile, Queue
from nodrop.model.routing import BgpNeighbor, RouteMapRule
from nodrop.model.types import (
    ANY_TYPE,
    RecordType,
    ValueType,
    attributes_of,
    did_you_mean_hint,
    fields_of,
    is_property,
    join_types,
    key_of,
    known_word_hint,
    source_fields_of,
    type_of,
)


def owners() -> list[type]:
    """All classes of the model, found from the fabric down."""
    found: dict[type, None] = {}
    left: list[ValueType] = [type_of(Fabric)]
    while left:
        kind = left.pop()
        for owner in kind.owners:
            assert isinstance(owner, type)
            if owner not in found:
                found[owner] = None
                left += attributes_of(owner).values()
        left += [kind.element] if kind.element else []
    return list(found)


def test_the_whole_model_has_types_that_rules_can_use() -> None:
    assert {owner.__name__ for owner in owners()} >= {
        "Device",
        "QosProfile",
        "Headroom",
        "BgpNeighbor",
        "Port",
        "Policy",
    }
    for owner in owners():
        for name, kind in attributes_of(owner).items():
            assert kind.kinds, f"{owner.__name__}.{name}"
            assert not name.startswith("_")


def test_a_property_looks_at_nothing_but_attributes_of_itself() -> None:
    """Rules share work by the fields that a property names; one that hands itself on would hide what it looks at."""
    properties = [(owner, name) for owner in owners() for name in attributes_of(owner) if is_property(owner, name)]
    assert len(properties) >= 6
    for owner, name in properties:
        assert source_fields_of(owner, name), f"{owner.__name__}.{name} names no field"
        tree = ast.parse(textwrap.dedent(inspect.getsource(vars(owner)[name].fget)))
        uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "self"]
        read = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.value in uses]
        assert len(uses) == len(read), f"{owner.__name__}.{name} hands itself on"


def test_fields_and_properties() -> None:
    assert "lane_mbps" in attributes_of(Interface)
    assert "lane_mbps" not in fields_of(Interface)
    assert is_property(Interface, "lane_mbps")
    assert not is_property(Interface, "lanes")
    assert "device" not in attributes_of(Fabric)
    assert source_fields_of(Interface, "lane_mbps") == {"speed_mbps", "lanes"}
    assert source_fields_of(Interface, "mtu_bytes") == {"mtu_bytes"}
    assert source_fields_of(QosProfile, "pfc_priorities") == {"pfc_rx_priorities"}
    assert source_fields_of(Device, "neighbors") == {"bgp"}
    assert source_fields_of(PriorityGroup, "lossless") == {"buffer"}
    assert set(attributes_of(Port)) == {"panel", "split"}
    record = RecordType("options", (("limit", type_of(int)),))
    assert attributes_of(record) == {"limit": type_of(int)}


@pytest.mark.parametrize(
    ("owner", "name", "described", "unknown", "plain"),
    [
        (Interface, "name", "text", False, True),
        (Interface, "mtu_bytes", "a number or none", True, True),
        (Interface, "enabled", "true or false", True, True),
        (Interface, "fec", "one of auto, fc, none, rs or none", True, True),
        (Interface, "qos", "QosProfile or none", True, False),
        (Interface, "addresses", "a list of text", True, False),
        (QosProfile, "dscp_to_tc", "a list of (a number or none) or none", True, False),
        (QosProfile, "queues", "a list of Queue", True, False),
        (BgpNeighbor, "remote_asn", "a number or text or none", False, True),
        (RouteMapRule, "sets", "a list of a list of text", False, False),
        (Device, "neighbors", "a list of BgpNeighbor", True, False),
        (Link, "a", "End", False, False),
    ],
)
def test_types_in_words(owner: type, name: str, described: str, unknown: bool, plain: bool) -> None:
    kind = attributes_of(owner)[name]
    assert (kind.describe(), kind.unknown, kind.is_scalar) == (described, unknown, plain)


def test_joined_types_are_either() -> None:
    assert join_types(type_of(int | None), type_of(str)).describe() == "a number or text or none"
    assert join_types(type_of(tuple[int, ...]), type_of(tuple[str, ...])).describe() == "a list of (a number or text)"
    assert type_of(int).is_number
    assert not type_of(int | str).is_number
    assert not type_of(bool).is_number
    assert type_of(object) == ANY_TYPE
    assert not ANY_TYPE.is_scalar
    with pytest.raises(TypeError, match="the model does not hold"):
        type_of(dict[str, int])


def test_rows_are_called_by_their_key() -> None:
    assert key_of(Queue(index=3), 0) == "3"
    assert key_of(BgpNeighbor(interface="Ethernet8"), 0) == "Ethernet8"
    assert key_of(Link(a=End("spine1", "x"), b=End("leaf1", "y")), 0) == "leaf1:y--spine1:x"
    assert key_of(BufferProfile(pool="p", size_bytes=0), 2) == "2"
    assert key_of(PfcWatchdog(priorities=(), detection_ms=None, restoration_ms=None, action=None), 1) == "1"
    assert key_of(("a", "b"), 4) == "4"
    assert key_of("text", 5) == "5"


def test_hints_name_the_nearest_word_or_those_there_are() -> None:
    assert known_word_hint("watchdg", ["pfc_watchdog", "queues"]) == "did you mean `pfc_watchdog`?"
    assert known_word_hint("x", ["b", "a"]) == "known: a, b"
    assert known_word_hint("x", []) == ""
    assert known_word_hint("x" * 9, [f"word{number:02}" for number in range(25)]).endswith("word23, …")
    assert did_you_mean_hint("x", ["b"]) == ""
