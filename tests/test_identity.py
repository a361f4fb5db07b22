"""Objects as keys by identity: equal ones stay apart, and none gets the identity of one that was met before."""

import copy
import pickle
from dataclasses import dataclass

from nodrop.identity import IdentityKey, IdentityMap, IdentitySet


@dataclass
class Text:
    """Equal to others with the same words, and without a hash."""

    words: str


def test_equal_objects_are_keys_of_their_own() -> None:
    first, second = Text("a"), Text("a")
    numbers = IdentityMap([(first, 1), (second, 2)])
    assert (numbers[first], numbers[second], numbers.get(Text("a")), numbers.get(Text("a"), 3)) == (1, 2, None, 3)
    assert first in numbers
    assert Text("a") not in numbers
    numbers[first] = 4
    assert list(numbers.values()) == [4, 2]
    del numbers[first]
    assert (len(numbers), list(numbers)) == (1, [second])


def test_a_set_has_each_object_once_in_the_order_of_addition() -> None:
    first, second = Text("b"), Text("b")
    members = IdentitySet([first, second, first])
    assert [member is first for member in members] == [True, False]
    members |= IdentitySet([Text("c"), second])
    assert [member.words for member in members] == ["b", "b", "c"]
    members.discard(Text("b"))
    members.discard(first)
    assert len(members) == 2
    assert first not in members
    assert second in members


def test_no_object_gets_the_identity_of_one_that_was_met_before() -> None:
    numbers, members, keys = IdentityMap[Text, int](), IdentitySet[Text](), set[IdentityKey[Text]]()
    for number in range(100):  # nothing else holds these, so that without the map each would lie where the last one lay
        numbers[Text("a")] = number
        members.add(Text("a"))
        keys.add(IdentityKey(Text("a")))
    assert (len(numbers), len(members), len(keys)) == (100, 100, 100)


def test_a_key_equals_only_that_of_the_same_object() -> None:
    first, second = Text("a"), Text("a")
    assert {IdentityKey(first): 1}.get(IdentityKey(first)) == 1
    assert IdentityKey(first) != IdentityKey(second)
    assert IdentityKey(first) != first


def test_copies_are_keyed_by_the_objects_that_they_hold() -> None:
    """Another process gives the objects other identities."""
    first = Text("a")
    for copied in (pickle.loads(pickle.dumps(IdentityMap([(first, 1)]))), copy.deepcopy(IdentityMap([(first, 1)]))):
        (key,) = copied
        assert key is not first
        assert copied[key] == 1
    for members in (pickle.loads(pickle.dumps(IdentitySet([first]))), copy.deepcopy(IdentitySet([first]))):
        (member,) = members
        assert member in members
        assert first not in members
