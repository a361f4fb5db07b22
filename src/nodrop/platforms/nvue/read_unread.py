"""Settings of BGP that change which routes there are and are not in the model.

Those that change only how fast or how safely a session comes up (timers, passwords, graceful restart) are left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.model.routing import ROUTE_SOURCE_BY_NAME
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.tree import Path

_UnreadSettings = Mapping[str, Any]
"""By key, `*` for any other: what below it is not read, or None where nothing of it is."""

_KEYS_BEFORE_NAMES = frozenset(
    {"vrf", "interface", "neighbor", "peer-group", "network", "rule", "route-map", "prefix-list", "as-path-list"}
    | {"community-list", "aggregate-route"}
)
"""Words of a path that a name follows."""
_OFF_WORDS = frozenset({"off", "disabled", "none", "auto", "no", "{}"})
_UNREAD_REDISTRIBUTE_SETTINGS = {source: {"metric": None} for source in ROUTE_SOURCE_BY_NAME}
_UNREAD_FAMILY_SETTINGS: _UnreadSettings = {
    "redistribute": {**_UNREAD_REDISTRIBUTE_SETTINGS, "*": None},
    "network": {"*": {"route-map": None}},
    "route-import": {"from-vrf": None},
    "aggregate-route": {"*": {"route-map": None}},
    **dict.fromkeys(("admin-distance", "rib-filter", "advertise-origin", "nhg-per-origin"), None),
    **dict.fromkeys(("conditional-disaggregation", "advertise"), None),
}
UNREAD_PROCESS_SETTINGS: _UnreadSettings = {
    "address-family": {"ipv4-unicast": _UNREAD_FAMILY_SETTINGS, "ipv6-unicast": _UNREAD_FAMILY_SETTINGS},
    "path-selection": {
        "aspath": {"compare-confed": None},
        "med": {"compare-confed": None, "missing-as-max": None},
        "multipath": {"generate-asset": None, "bandwidth": None},
        "use-imported-attributes": None,
    },
    **dict.fromkeys(("route-reflection", "confederation", "dynamic-neighbor"), None),
}
"""What is not read of a process."""
_UNREAD_SESSION_FAMILY_SETTINGS: _UnreadSettings = {
    "aspath": {"allow-my-asn": {"origin": None, "route-map": None}, "private-as": None},
    "policy": {"outbound": {"unsuppress-map": None}},
    "prefix-limits": {"inbound": {"reestablish-wait": None}},
    **dict.fromkeys(("attribute-mod", "conditional-advertise"), None),
    **dict.fromkeys(("route-server-client", "add-path-tx"), None),
}
UNREAD_SESSION_SETTINGS: _UnreadSettings = {
    "address-family": {
        "ipv4-unicast": _UNREAD_SESSION_FAMILY_SETTINGS,
        "ipv6-unicast": _UNREAD_SESSION_FAMILY_SETTINGS,
    },
    "graceful-shutdown": None,
}
"""What is not read of a session or a peer group."""


def find_unread_settings(node: ConfigNodeView, known_words: _UnreadSettings) -> Iterator[Path]:
    """Yield the paths of settings below a node that are not read, unless they are off."""
    for key in node.node:
        inside = known_words.get(key, known_words.get("*", _NO_UNREAD_SETTINGS))
        if inside is None:
            if not is_off(node.node[key]):
                yield (*node.path, key)
        elif inside:
            yield from find_unread_settings(node.below(key), inside)


_NO_UNREAD_SETTINGS: _UnreadSettings = {}


def is_off(setting_value: object) -> bool:
    """Return whether the value of a setting turns it off, in the words of either dialect, or sets nothing."""
    if setting_value == {}:
        return True
    if isinstance(setting_value, dict):
        words = next((setting_value[word] for word in ("enable", "state") if word in setting_value), None)
        setting_value = next(iter(words or setting_value), "") if isinstance(words, dict) or words is None else words
    return setting_value is False or (isinstance(setting_value, str) and setting_value in _OFF_WORDS)


def generalize_names(path: Path) -> Path:
    """Return a path with `...` for each name that an owner chose."""
    return tuple("..." if above in _KEYS_BEFORE_NAMES else key for above, key in zip(("", *path), path, strict=False))
