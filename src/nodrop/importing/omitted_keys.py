"""The keys that an imported intent may omit: keys whose derived default is the stated value."""

from collections.abc import Callable, Iterator
from copy import deepcopy

from nodrop.design.boxes import PlannedSwitches, switches_of
from nodrop.design.buffers import pattern_mtu_for_headroom
from nodrop.design.host_settings import redundant_host_keys
from nodrop.design.static_buffers import has_static_headroom
from nodrop.design.topology import topology_of
from nodrop.design.watchdog import derive_watchdog_timers
from nodrop.errors import InputProblems
from nodrop.importing.parts import KeyPath, KeyTree, find_value
from nodrop.intent.load import loads
from nodrop.intent.schema import Intent

_TIMER_KEY_PATHS: tuple[KeyPath, ...] = tuple(
    ("pfc", "watchdog", *timer_keys)
    for timer_keys in (
        ("hosts", "action"), ("fabric", "action"), ("polling",), ("fabric", "restoration"), ("hosts", "restoration"),
        ("fabric", "detection"), ("hosts", "detection"), ("fabric",), ("polling",),
    )
)  # fmt: skip
_PATTERN_MTU_KEY_PATH: KeyPath = ("buffers", "pattern_mtu")
FormatIntentText = Callable[[KeyTree], str]


def without_defaults(key_tree: KeyTree, spell: FormatIntentText) -> KeyTree:
    """Return the keys of an intent without those that make no difference when they are left out.

    `spell` gives the text of keys; keys that cannot be loaded stay unchanged.
    """
    key_tree = deepcopy(key_tree)
    intent = _load_intent_or_none(key_tree, spell)
    if intent is None or not all(switches := switches_of(intent)):
        return _prune_empty_headings(key_tree)
    for at, same in ((timer, _have_same_timers) for timer in _TIMER_KEY_PATHS):
        key_tree = _drop_redundant_key(key_tree, at, spell, same, switches)
    key_tree = _drop_redundant_key(key_tree, _PATTERN_MTU_KEY_PATH, spell, _have_same_pattern_mtu, switches)
    for key in redundant_host_keys(intent):
        del key_tree["hosts"][key]
    return _prune_empty_headings(key_tree)


def _drop_redundant_key(
    keys: KeyTree,
    at: KeyPath,
    spell: FormatIntentText,
    same: Callable[[Intent, Intent, PlannedSwitches], bool],
    switches: PlannedSwitches,
) -> KeyTree:
    """Return the keys without one, where the intent is the same by a test."""
    if find_value(keys, at) is None:
        return keys
    fewer = deepcopy(keys)
    del find_value(fewer, at[:-1])[at[-1]]
    before, after = _load_intent_or_none(keys, spell), _load_intent_or_none(_prune_empty_headings(fewer), spell)
    return fewer if before is not None and after is not None and same(before, after, switches) else keys


def _have_same_timers(intent: Intent, other_intent: Intent, switches: PlannedSwitches) -> bool:
    before, after = (
        derive_watchdog_timers(topology_of(intent), intent.mode, intent.pfc, switches.max_ports_of_switch),
        derive_watchdog_timers(
            topology_of(other_intent), other_intent.mode, other_intent.pfc, switches.max_ports_of_switch
        ),
    )
    if before is None or after is None:
        return before is after
    return (before.hosts, before.fabric, before.polling_ms, before.unwatched) == (
        after.hosts, after.fabric, after.polling_ms, after.unwatched,
    )  # fmt: skip


def _have_same_pattern_mtu(intent: Intent, other_intent: Intent, switches: PlannedSwitches) -> bool:
    models = {
        group: nodes[0].model for group, nodes in switches.groups.items() if not has_static_headroom(nodes[0].model)
    }
    return all(
        pattern_mtu_for_headroom(intent, group, model) == pattern_mtu_for_headroom(other_intent, group, model)
        for group, model in models.items()
    )


def _load_intent_or_none(keys: KeyTree, spell: FormatIntentText) -> Intent | None:
    try:
        return loads(spell(keys).encode(), "")
    except InputProblems:
        return None


def _prune_empty_headings(keys: KeyTree) -> KeyTree:
    """Return a tree without headings that nothing stands under."""
    return dict(_prune_entries(keys))


def _prune_entries(key_tree: KeyTree) -> Iterator[tuple[str, object]]:
    for key, value in key_tree.items():
        if not isinstance(value, dict):
            yield key, value
        elif inside := _prune_empty_headings(value):
            yield key, inside
