"""Settings of BGP that change which routes there are and are not in the model.

Those that change only how fast or how safely a session comes up (timers, passwords, graceful restart) are left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.model.routing import SOURCES
from nodrop.platforms.nvue.read_values import View
from nodrop.platforms.nvue.tree import Path

_Unread = Mapping[str, Any]
"""By key, `*` for any other: what below it is not read, or None where nothing of it is."""

_NAMED = frozenset(
    {"vrf", "interface", "neighbor", "peer-group", "network", "rule", "route-map", "prefix-list", "as-path-list"}
    | {"community-list", "aggregate-route"}
)
"""Words of a path that a name follows."""
_OFF = frozenset({"off", "disabled", "none", "auto", "no", "{}"})
_REDISTRIBUTED = {source: {"metric": None} for source in SOURCES}
_FAMILY: _Unread = {
    "redistribute": {**_REDISTRIBUTED, "*": None},
    "network": {"*": {"route-map": None}},
    "route-import": {"from-vrf": None},
    "aggregate-route": {"*": {"route-map": None}},
    **dict.fromkeys(("admin-distance", "rib-filter", "advertise-origin", "nhg-per-origin"), None),
    **dict.fromkeys(("conditional-disaggregation", "advertise"), None),
}
PROCESS: _Unread = {
    "address-family": {"ipv4-unicast": _FAMILY, "ipv6-unicast": _FAMILY},
    "path-selection": {
        "aspath": {"compare-confed": None},
        "med": {"compare-confed": None, "missing-as-max": None},
        "multipath": {"generate-asset": None, "bandwidth": None},
        "use-imported-attributes": None,
    },
    **dict.fromkeys(("route-reflection", "confederation", "dynamic-neighbor"), None),
}
"""What is not read of a process."""
_SESSION_FAMILY: _Unread = {
    "aspath": {"allow-my-asn": {"origin": None, "route-map": None}, "private-as": None},
    "policy": {"outbound": {"unsuppress-map": None}},
    "prefix-limits": {"inbound": {"reestablish-wait": None}},
    **dict.fromkeys(("attribute-mod", "conditional-advertise"), None),
    **dict.fromkeys(("route-server-client", "add-path-tx"), None),
}
SESSION: _Unread = {
    "address-family": {"ipv4-unicast": _SESSION_FAMILY, "ipv6-unicast": _SESSION_FAMILY},
    "graceful-shutdown": None,
}
"""What is not read of a session or a peer group."""


def unread(node: View, known_words: _Unread) -> Iterator[Path]:
    """Yield the paths of settings below a node that are not read, unless they are off."""
    for key in node.node:
        inside = known_words.get(key, known_words.get("*", _ABSENT))
        if inside is None:
            if not is_off(node.node[key]):
                yield (*node.path, key)
        elif inside:
            yield from unread(node.below(key), inside)


_ABSENT: _Unread = {}


def is_off(setting_value: object) -> bool:
    """Return whether the value of a setting turns it off, in the words of either dialect, or sets nothing."""
    if setting_value == {}:
        return True
    if isinstance(setting_value, dict):
        words = next((setting_value[word] for word in ("enable", "state") if word in setting_value), None)
        setting_value = next(iter(words or setting_value), "") if isinstance(words, dict) or words is None else words
    return setting_value is False or (isinstance(setting_value, str) and setting_value in _OFF)


def generalized(path: Path) -> Path:
    """Return a path with `...` for each name that an owner chose."""
    return tuple("..." if above in _NAMED else key for above, key in zip(("", *path), path, strict=False))
