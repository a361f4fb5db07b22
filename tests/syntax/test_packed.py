"""Values as columns of JSON and back: the same to the last type, and nothing but values comes of what others wrote."""

import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodrop.model.fabric import Device, Fabric, Interface, Port
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.reading_cache import MODEL_CLASSES
from nodrop.syntax.packed import CannotPackValue, PackerOfClasses, UnreadablePackedBytes
from support.random_fabrics import fabrics

TABLE = PackerOfClasses(MODEL_CLASSES, (UNKNOWN,), {"class Port": Port})


class Pair(NamedTuple):
    first: Any
    second: Any


ANYTHING = PackerOfClasses((*MODEL_CLASSES, Pair), (UNKNOWN,))

plain = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.builds(Unknown)
)
trees = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner).map(tuple)
        | st.frozensets(st.integers(0, 9), max_size=1)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
        | st.builds(Pair, inner, inner)
    ),
)


@given(trees)
def test_whatever_is_packed_comes_back_to_the_last_type(value: Any) -> None:
    assert repr(ANYTHING.unpack(ANYTHING.pack(value))) == repr(value)


@pytest.mark.slow
@settings(max_examples=15)
@given(fabrics())
def test_fabrics_come_back_whole_and_equal_parts_stay_one_object(fabric: Fabric) -> None:
    back = TABLE.unpack(TABLE.pack(fabric))
    assert back == fabric
    assert repr(back) == repr(fabric)
    before = {id(port.qos) for device in fabric.devices for port in device.interfaces}
    after = {id(port.qos) for device in back.devices for port in device.interfaces}
    assert len(after) <= len(before)


def test_what_repeats_itself_is_stored_once() -> None:
    def device(ports: int) -> Device:
        rows = (Interface(name=f"p{number}", description="to the host", speed_mbps=400_000) for number in range(ports))
        return Device(name="leaf1", platform="sonic", interfaces=tuple(rows))

    few, many = (len(TABLE.pack(device(ports))) for ports in (10, 1000))
    assert (many - few) / 990 < 12  # the name of a port, quoted, and little more


@pytest.mark.parametrize(
    "value",
    [
        object(),
        {1, 2},
        b"bytes",
        math.nan,
        math.inf,
        (1.5, math.inf),
        2**64,
        "\udc80",
        Pair(1, 2),
        bytearray(1),
        print,
        Pair,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_form_is_refused_and_not_bent(value: object) -> None:
    with pytest.raises(CannotPackValue):
        TABLE.pack(value)


@dataclass(frozen=True)
class Open:
    """A class without slots, whose further attributes are not packed."""

    first: object
    second: object = None


def test_classes_without_slots_and_named_objects_come_back() -> None:
    table = PackerOfClasses((Open,), (), {"class Open": Open, "class Port": Port})
    values = (Open(first=(Port, Open, Port)), Open(first=1, second=Open))
    values[0].__dict__["computed"] = 7
    back = table.unpack(table.pack(values))
    assert back == values
    assert back[0].first == (Port, Open, Port)
    assert back[0].__dict__.keys() == {"first", "second"}


def test_values_that_differ_in_size_are_not_taken_for_a_billion() -> None:
    """One long row beside others in each of many levels says little, though the longest of all levels say a lot."""
    value: Any = "x"
    for _ in range(12):
        value = (value, *["y"] * 100)
    assert TABLE.unpack(TABLE.pack(value)) == value


def nested(form: str, depth: int) -> Any:
    column: Any = ["plain", [1]]
    for _ in range(depth):
        column = [form, [1], column] if form == "tuples" else [form, column]
    return column


def laughs(levels: int, each: int) -> Any:
    """A tuple of equal tuples of equal tuples: few bytes that say a great many values."""
    column: Any = ["plain", ["ha"]]
    for _ in range(levels):
        column = ["tuples", [each], ["same", column]]
    return column


HOSTILE = {
    "nothing": b"",
    "no JSON": b"[",
    "a pickle": b"cos\nsystem\n(S'touch /tmp/x'\ntR.",
    "a number": b"1",
    "a word": b'["plain"]',
    "no form": b'["system", "true"]',
    "an attribute": b'["__class__", []]',
    "a class of Python": b'["objects", "Popen", [["plain", ["true"]]]]',
    "a class of nodrop that is not of the model": b'["objects", "Text", [["plain", ["x"]]]]',
    "too few fields": b'["objects", "Port", [["plain", [1]]]]',
    "too many values": b'["plain", [1, 2]]',
    "values that are lists": b'["plain", [[1]]]',
    "a length that is none": b'["tuples", [-1], ["plain", []]]',
    "a set of what has no hash": b'["frozensets", [1], ["maps", [0], ["plain", []], ["plain", []]]]',
    "a length that is a text": b'["tuples", ["1"], ["plain", [1]]]',
    "a length beyond everything": b'["tuples", [18446744073709551615], ["same", ["plain", [1]]]]',
    "many lengths": b'["tuples", [200000000], ["same", ["plain", [1]]]]',
    "an unknown constant": b'["constant", 7]',
    "a constant from behind": b'["constant", -1]',
    "an unknown name": b'["named", ["class Popen"], [0]]',
    "a name from behind": b'["named", ["class Port"], [-1]]',
    "a name that is a list": b'["named", [["class Port"]], [0]]',
    "too few named": b'["named", ["class Port"], []]',
    "a number of no value": b'["shared", 1, [5], ["plain", [1]]]',
    "more of a kind than there are": b'["mixed", [0, 0], [[1, ["plain", [1]]], [1, ["plain", [1]]]]]',
    "an unhashable key": b'["maps", [1], ["maps", [0], ["plain", []], ["plain", []]], ["plain", [1]]]',
    "depth for JSON": b"[" * 100_000,
    "depth for Python": orjson.dumps(nested("tuples", 200)),
    "sameness for ever": orjson.dumps(nested("same", 200)),
    "a billion laughs": orjson.dumps(laughs(9, 1000)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_others_wrote_is_unreadable_and_costs_little(name: str) -> None:
    begun = time.process_time()
    with pytest.raises(UnreadablePackedBytes):
        TABLE.unpack(HOSTILE[name])
    assert time.process_time() - begun < 1


TWO = Interface(name="p", addresses=("a", "b"))
MISFITS = {
    "another class": (b'["objects", "Port", [["plain", [1]], ["plain", [0]]]]', Interface),
    "no text": (b'["plain", [1]]', str),
    "a number in place of a text": (TABLE.pack(Interface(name="p")).replace(b'["p"]', b"[1]"), Interface),
    "a text in place of a number": (TABLE.pack(Port(panel=77)).replace(b"77", b'"77"'), Port),
    "a text in place of texts": (
        TABLE.pack(TWO).replace(b'["tuples",[2],["plain",["a","b"]]]', b'["plain",["a"]]'),
        Interface,
    ),
    "a number among texts": (
        TABLE.pack(TWO).replace(b'["a","b"]', b'["a",2]'),
        Interface,
    ),
    "an UNKNOWN that cannot be": (b'["objects", "Port", [["constant", 0], ["plain", [0]]]]', Port),
    "a class in place of a text": (b'["named", ["class Port"], [0]]', str),
    "a text in place of a class": (b'["plain", ["class Port"]]', type[Any]),
    "a key that is no text": (b'["maps", [1], ["plain", [1]], ["plain", ["x"]]]', dict[str, str]),
    "what is behind a key": (b'["maps", [1], ["plain", ["x"]], ["plain", [1]]]', dict[str, str]),
}  # fmt: skip


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_its_annotation_is_unreadable(name: str) -> None:
    data, of = MISFITS[name]
    with pytest.raises(UnreadablePackedBytes):
        TABLE.unpack(data, of)


@given(st.data())
def test_bytes_that_were_altered_are_unreadable_or_plain_values(data: st.DataObject) -> None:
    packed = bytearray(TABLE.pack(Device(name="leaf1", platform="sonic", interfaces=(Interface(name="p"),))))
    for _ in range(data.draw(st.integers(1, 3))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    try:
        value = TABLE.unpack(bytes(packed))
    except UnreadablePackedBytes:
        return
    assert isinstance(value, (*MODEL_CLASSES, str, int, float, tuple, dict, Unknown, type(None)))
