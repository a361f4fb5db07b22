"""The keys that an imported intent may omit: keys whose derived default is the stated value."""

from collections.abc import Callable, Iterator
from copy import deepcopy

from nodrop.design.boxes import Boxes, resolve_switches
from nodrop.design.buffers import pattern_mtu
from nodrop.design.host_settings import redundant_host_keys
from nodrop.design.static_buffers import is_static
from nodrop.design.watchdog import derive_timers
from nodrop.errors import InputProblems
from nodrop.importing.parts import Keys, Tree, find_value
from nodrop.intent.load import loads
from nodrop.intent.schema import Intent

_TIMERS: tuple[Keys, ...] = tuple(
    ("pfc", "watchdog", *timer_keys)
    for timer_keys in (
        ("hosts", "action"), ("fabric", "action"), ("polling",), ("fabric", "restoration"), ("hosts", "restoration"),
        ("fabric", "detection"), ("hosts", "detection"), ("fabric",), ("polling",),
    )
)  # fmt: skip
_PATTERN: Keys = ("buffers", "pattern_mtu")
Spell = Callable[[Tree], str]


def without_defaults(key_tree: Tree, spell: Spell) -> Tree:
    """Return the keys of an intent without those that make no difference when they are left out.

    `spell` gives the text of keys; keys that cannot be loaded stay unchanged.
    """
    key_tree = deepcopy(key_tree)
    intent = _load_intent_or_none(key_tree, spell)
    if intent is None or not all(switches := resolve_switches(intent, [])):
        return _prune_empty_headings(key_tree)
    for at, same in ((timer, _same_timers) for timer in _TIMERS):
        key_tree = _drop_redundant_key(key_tree, at, spell, same, switches)
    key_tree = _drop_redundant_key(key_tree, _PATTERN, spell, _same_pattern, switches)
    for key in redundant_host_keys(intent):
        del key_tree["hosts"][key]
    return _prune_empty_headings(key_tree)


def _drop_redundant_key(
    keys: Tree, at: Keys, spell: Spell, same: Callable[[Intent, Intent, Boxes], bool], switches: Boxes
) -> Tree:
    """Return the keys without one, where the intent is the same by a test."""
    if find_value(keys, at) is None:
        return keys
    fewer = deepcopy(keys)
    del find_value(fewer, at[:-1])[at[-1]]
    before, after = _load_intent_or_none(keys, spell), _load_intent_or_none(_prune_empty_headings(fewer), spell)
    return fewer if before is not None and after is not None and same(before, after, switches) else keys


def _same_timers(intent: Intent, other_intent: Intent, switches: Boxes) -> bool:
    before, after = derive_timers(intent, switches.most_ports), derive_timers(other_intent, switches.most_ports)
    if before is None or after is None:
        return before is after
    return (before.hosts, before.fabric, before.polling_ms, before.unwatched) == (
        after.hosts, after.fabric, after.polling_ms, after.unwatched,
    )  # fmt: skip


def _same_pattern(intent: Intent, other_intent: Intent, switches: Boxes) -> bool:
    models = {group: nodes[0].model for group, nodes in switches.groups.items() if not is_static(nodes[0].model)}
    return all(
        pattern_mtu(intent, group, model) == pattern_mtu(other_intent, group, model) for group, model in models.items()
    )


def _load_intent_or_none(keys: Tree, spell: Spell) -> Intent | None:
    try:
        return loads(spell(keys).encode(), "")
    except InputProblems:
        return None


def _prune_empty_headings(keys: Tree) -> Tree:
    """Return a tree without headings that nothing stands under."""
    return dict(_prune_entries(keys))


def _prune_entries(key_tree: Tree) -> Iterator[tuple[str, object]]:
    for key, value in key_tree.items():
        if not isinstance(value, dict):
            yield key, value
        elif inside := _prune_empty_headings(value):
            yield key, inside
