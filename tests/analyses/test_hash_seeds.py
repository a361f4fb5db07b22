"""Tiers that hash alike: who is named, and where it does not matter."""

from nodrop.model.fabric import Fabric
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields
from support.analysis_results import look, say, with_changes

LIKE_LEAVES: dict[str, object] = {"spine*/@hash_seed": 0}


def test_the_upper_tier_is_named_where_all_have_one_seed() -> None:
    assert look("hash_seeds", {}) == {}
    found = look("hash_seeds", LIKE_LEAVES)
    assert found.keys() == {"spine1", "spine2"}
    assert found["spine1"] == {"device": "spine1", "seed": 0, "role": "spine", "other_role": "leaf", "other": "leaf1"}


def test_the_odd_one_is_named_where_its_tier_has_another_seed() -> None:
    assert look("hash_seeds", {"spine2/@hash_seed": 0}).keys() == {"spine2"}
    assert look("hash_seeds", {"leaf2/@hash_seed": 10}).keys() == {"leaf2"}


def test_a_seed_of_the_switch_s_own_polarizes_nothing() -> None:
    assert look("hash_seeds", {"spine*/@hash_seed": None, "leaf*/@hash_seed": None}) == {}


def test_other_chips_hash_otherwise() -> None:
    assert look("hash_seeds", {**LIKE_LEAVES, "spine*/@model": "SN5600"}) == {}
    assert look("hash_seeds", {**LIKE_LEAVES, "spine1/@model": UNKNOWN}).keys() == {"spine1", "spine2"}


def test_a_spine_with_one_link_to_each_leaf_has_nothing_to_choose() -> None:
    assert say("hash_seeds", _thinned(with_changes(LIKE_LEAVES))) == {}


def _thinned(fabric: Fabric) -> Fabric:
    """The fabric with one of two links between each leaf and spine."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for link in fabric.links:
        pair = (link.a.node, link.b.node)
        if pair not in seen or not pair[1].startswith("spine"):
            kept.append(link)
        seen.add(pair)
    return replace_fields(fabric, links=tuple(kept))


def test_a_seed_that_is_not_known() -> None:
    assert look("hash_seeds", {"spine1/@hash_seed": UNKNOWN}) == {"spine1": "device.hash_seed"}
