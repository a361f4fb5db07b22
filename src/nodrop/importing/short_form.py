"""The short form of a topology, `kind: leaf-spine`: a group in each of two tiers. The inverse is in `design`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from nodrop.design.topology import ROLES_BY_TIER
from nodrop.importing.parts import DerivedIntentPart, KeyPath, KeyTree

_LOWER, _UPPER = ROLES_BY_TIER[:2]
_GROUPS_KEY_PATH: KeyPath = ("topology", "groups")
_SHORT_KEY_BY_GROUP = {_LOWER: "leaves", _UPPER: "spines"}
_UPLINKS_KEY_PATH: KeyPath = (*_GROUPS_KEY_PATH, _LOWER, "uplinks", _UPPER)
_SHORT_KEY_BY_LINK_KEY = {
    "links": "per_spine",
    "peer_split": "spine_split",
    "peer_slots": "spine_slots",
    "slots": "leaf_slots",
}
_GROUPS_FORM_ONLY_KEYS = {"offset", "per_pod", "max_oversubscription"}

KEY_ORDER_BY_PATH: Mapping[KeyPath, tuple[str, ...]] = {
    ("topology",): (
        "kind",
        "groups",
        "spines",
        "leaves",
        "uplinks",
        "max_oversubscription",
        "slots_per_device",
        "speed",
        "media",
        "length",
        "cables",
    ),
    ("topology", "spines"): ("ids", "model", "platform", "version"),
    ("topology", "leaves"): ("ids", "model", "platform", "version", "ports"),
    ("topology", "leaves", "ports"): ("endpoints", "uplinks", "dead"),
    ("routing", "asn"): ("spines", "leaves"),
}
"""The order of its keys in a text."""

_T = TypeVar("_T")


def shorten_topology(draft: DerivedIntentPart) -> DerivedIntentPart:
    """Return a draft of groups in tiers in the short form, if it can express two groups; else the draft."""
    if draft.keys["topology"]["kind"] != "tiers":
        return draft
    groups = {at[2]: {} for at in draft.lacking if at[:2] == _GROUPS_KEY_PATH} | draft.keys["topology"]["groups"]
    links = groups.get(_LOWER, {}).get("uplinks", {})
    plain = groups.keys() == {_LOWER, _UPPER} and not any(
        _GROUPS_FORM_ONLY_KEYS & group.keys() for group in groups.values()
    )
    if not plain or groups[_LOWER].get("tier", 1) != 1 or any("peer_ports" in each for each in links.values()):
        return draft
    tree: KeyTree = {}
    topology = draft.keys["topology"]
    _put_value(tree, ("topology", "kind"), "leaf-spine")
    for at, value in _leaves_of_tree(topology["groups"], _GROUPS_KEY_PATH):
        if moved := _short_key_path(at):
            _put_value(tree, moved, value)
    others = {key: value for key, value in topology.items() if key not in ("kind", "groups")}
    tree["topology"] |= others
    keys = draft.keys | tree
    if asn := keys.get("routing", {}).get("asn"):
        keys["routing"] = keys["routing"] | {
            "asn": {_SHORT_KEY_BY_GROUP.get(name, name): rule for name, rule in asn.items()}
        }
    lacking = dict(draft.lacking)
    if no_links := lacking.pop(_UPLINKS_KEY_PATH, None):
        lacking |= {(*_UPLINKS_KEY_PATH, "ports"): no_links._replace(example=no_links.example["ports"])}
        words = {
            _SHORT_KEY_BY_LINK_KEY.get(key, key): value for key, value in no_links.example.items() if key != "ports"
        }
        lacking |= {_UPLINKS_KEY_PATH: no_links._replace(example=words)}
    return replace(draft, keys=keys, guessed=_shorten_keys(draft.guessed), lacking=_shorten_keys(lacking))


def _shorten_keys(by_keys: Mapping[KeyPath, _T]) -> dict[KeyPath, _T]:
    """Return values by the keys of the short form."""
    return {moved: value for at, value in by_keys.items() if (moved := _short_key_path(at))}


def _short_key_path(at: KeyPath) -> KeyPath:
    """Return the keys of the short form for those of a group; none for what the short form need not say."""
    if at[:-1] == ("routing", "asn"):
        return (*at[:-1], _SHORT_KEY_BY_GROUP.get(at[-1], at[-1]))
    if at[:2] != _GROUPS_KEY_PATH or len(at) < 3:
        return at
    if at[: len(_UPLINKS_KEY_PATH)] == _UPLINKS_KEY_PATH:
        rest = at[len(_UPLINKS_KEY_PATH) :]
        if rest == ("ports",):
            return ("topology", _SHORT_KEY_BY_GROUP[_LOWER], "ports", "uplinks")
        return ("topology", "uplinks", *(_SHORT_KEY_BY_LINK_KEY.get(key, key) for key in rest))
    return () if at[3:] == ("tier",) else ("topology", _SHORT_KEY_BY_GROUP[at[2]], *at[3:])


def _leaves_of_tree(tree: KeyTree, above: KeyPath) -> list[tuple[KeyPath, object]]:
    """Return the values of a tree with their keys."""
    found: list[tuple[KeyPath, object]] = []
    for key, value in tree.items():
        found += _leaves_of_tree(value, (*above, key)) if isinstance(value, dict) else [((*above, key), value)]
    return found


def _put_value(tree: KeyTree, at: KeyPath, value: object) -> None:
    for key in at[:-1]:
        tree = tree.setdefault(key, {})
    tree[at[-1]] = value
