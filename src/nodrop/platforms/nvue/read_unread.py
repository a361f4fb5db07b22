"""Settings of BGP that change which routes there are and are not in the model, each noted where it stands.

What merely changes how fast or how safely a session comes up (timers, passwords, graceful restart) is left aside.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from nodrop.model.routing import SOURCES
from nodrop.platforms.nvue.read_values import View
from nodrop.platforms.nvue.tree import Path

_Unread = Mapping[str, Any]
"""By key, `*` for any other: what below it is not read, or None where nothing of it is."""

_OFF = frozenset({"off", "disabled", "none", "auto", "no", "{}"})
_REDISTRIBUTED = {source: {"metric": None} for source in SOURCES}
_FAMILY: _Unread = {
    "redistribute": {**_REDISTRIBUTED, "*": None},
    "network": {"*": {"route-map": None}},
    "multipaths": {"ibgp": None},
    "route-import": {"from-vrf": None},
    **dict.fromkeys(("aggregate-route", "admin-distance", "rib-filter", "advertise-origin", "nhg-per-origin"), None),
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
    "aspath": {"allow-my-asn": {"origin": None, "route-map": None}, "replace-peer-as": None, "private-as": None},
    "policy": {"inbound": {"aspath-list": None}, "outbound": {"aspath-list": None, "unsuppress-map": None}},
    **dict.fromkeys(("attribute-mod", "conditional-advertise", "default-route-origination", "prefix-limits"), None),
    **dict.fromkeys(("route-reflector-client", "route-server-client", "add-path-tx", "weight"), None),
}
SESSION: _Unread = {
    "address-family": {"ipv4-unicast": _SESSION_FAMILY, "ipv6-unicast": _SESSION_FAMILY},
    **dict.fromkeys(("local-as", "passive-mode", "nexthop-connected-check", "ttl-security", "graceful-shutdown"), None),
}
"""What is not read of a session or a peer group."""


def unread(node: View, known: _Unread) -> Iterator[Path]:
    """Yield the paths of settings below a node that are not read, unless they are off."""
    for key in node.node:
        inside = known.get(key, known.get("*", _ABSENT))
        if inside is None:
            if not _off(node, key):
                yield (*node.path, key)
        elif inside:
            yield from unread(node.below(key), inside)


_ABSENT: _Unread = {}


def _off(node: View, key: str) -> bool:
    said = node.node[key]
    if isinstance(said, dict):
        words = next((said[word] for word in ("enable", "state") if word in said), None)
        said = next(iter(words or said), "") if isinstance(words, dict) or words is None else words
    return said is False or (isinstance(said, str) and said in _OFF)
