"""The two dialects of NVUE: up to 5.14, and from 5.15 on, which refuses the words of the other.

Only settings of which the release notes say what they were and what they became (5.15, New and Changed NVUE Commands).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from nodrop.fabric.states import Unknown
from nodrop.platforms.nvue.read_values import Config, said
from nodrop.platforms.nvue.tree import Node, Path

Dialect = Literal["old", "new"]
NEW_SINCE = (5, 15)
_RELEASES: Mapping[Dialect, str] = {"old": "5.14 and earlier", "new": "5.15 and later"}

_VRF_BGP: Path = ("vrf", "*", "router", "bgp")
_SWITCHED: tuple[Path, ...] = (
    ("evpn",),
    ("evpn", "multihoming"),
    ("mlag",),
    ("qos", "roce"),
    ("router", "adaptive-routing"),
    ("router", "bgp"),
    ("router", "vrr"),
    ("interface", "*", "router", "adaptive-routing"),
    ("system", "telemetry"),
    ("system", "wjh"),
    _VRF_BGP,
    (*_VRF_BGP, "address-family", "*"),
    (*_VRF_BGP, "address-family", "*", "redistribute", "*"),
    (*_VRF_BGP, "neighbor", "*", "address-family", "*"),
    (*_VRF_BGP, "peer-group", "*", "address-family", "*"),
)
"""What was turned on by `enable on` and is now by `state enabled`."""
_FLAGS: tuple[Path, ...] = (
    ("interface", "*", "link", "auto-negotiate"),
    ("router", "bgp", "graceful-shutdown"),
    ("system", "forwarding", "ecmp-hash", "*"),
    (*_VRF_BGP, "path-selection", "multipath", "aspath-ignore"),
)
"""What was `on` or `off` and is now `enabled` or `disabled`."""
_MOVED: tuple[tuple[Path, Path], ...] = (
    (("interface", "*", "ip", "address"), ("interface", "*", "ipv6", "address")),
    (("interface", "*", "ip", "address"), ("interface", "*", "ipv4", "address")),
    (("interface", "*", "ip", "gateway"), ("interface", "*", "ipv4", "gateway")),
    (("interface", "*", "ip", "vrf"), ("interface", "*", "vrf")),
    (("interface", "*", "ip", "vrr"), ("interface", "*", "ipv4", "vrr")),
    (("service", "ntp"), ("system", "ntp")),
    (("service", "dns"), ("system", "dns")),
)
"""What stands elsewhere now."""
_WORDS: Mapping[str, tuple[Dialect, str]] = {
    "on": ("old", "enabled"),
    "off": ("old", "disabled"),
    "enabled": ("new", "on"),
    "disabled": ("new", "off"),
}


def remark_mixture(config: Config, version: str | None | Unknown) -> None:
    """Remark each setting in the words of the dialect that the file is not of, once for each kind of setting.

    A file is of the dialect of the release that its header names, else of the one most of its settings speak.
    """
    found = list(_found(config.tree.root)) if config.tree else []
    stated = _of_release(version) if isinstance(version, str) else None
    dialect = stated or _most(own for own, _, _ in found)
    because = f"the file is of {version}" if stated else f"the rest of the file speaks as {_RELEASES[dialect]} do"
    for own, path, instead in found:
        if own != dialect:
            facts = {"path": said(path), "releases": _RELEASES[own], "because": because, "instead": instead}
            config.remark("mixed-dialect", (), path, **facts)


def spoken(root: Node, version: str | None | Unknown) -> Dialect:
    """Return the dialect of what a file sets, whose header names a release or none."""
    stated = _of_release(version) if isinstance(version, str) else None
    return stated or _most(own for own, _, _ in _found(root))


def _most(found: Iterable[Dialect]) -> Dialect:
    counts = Counter(found)
    return "new" if counts["new"] >= counts["old"] else "old"


def _of_release(version: str) -> Dialect | None:
    major, _, minor = version.partition(".")
    return "new" if (int(major), int(minor)) >= NEW_SINCE else "old"


def _found(root: Node) -> Iterator[tuple[Dialect, Path, str]]:
    """Yield (dialect, first path, what the other says) for every kind of setting that tells a dialect."""
    there: dict[Path, list[tuple[Path, Any]]] = {}
    _match(_PATTERNS, root, (), there)
    for pattern in _SWITCHED:
        if found := there.get((*pattern, "enable")):
            yield "old", found[0][0], "state enabled"
        if found := there.get((*pattern, "state")):
            yield "new", found[0][0], "enable on"
    for pattern in _FLAGS:
        seen: set[Dialect] = set()
        for path, value in there.get(pattern, ()):
            word = next(reversed(value), "") if isinstance(value, dict) and value else value
            if isinstance(word, str) and word in _WORDS and _WORDS[word][0] not in seen:
                seen.add(_WORDS[word][0])
                yield _WORDS[word][0], path, _WORDS[word][1]
    olds, news = dict(_MOVED), {new: old for old, new in _MOVED}
    for old, new in olds.items():
        if found := there.get(old):
            yield "old", found[0][0], _elsewhere(new)
    for new, old in news.items():
        if found := there.get(new):
            yield "new", found[0][0], _elsewhere(old)


def _elsewhere(path: Path) -> str:
    return said(path[2:] if path[0] == "interface" else path)


def _steps(patterns: Iterable[Path]) -> Node:
    """Return patterns as a tree of their steps; below the last one stands, under "", the pattern itself."""
    top: Node = {}
    for pattern in patterns:
        at = top
        for step in pattern:
            at = at.setdefault(step, {})
        at[""] = pattern
    return top


_PATTERNS = _steps(
    (
        *((*pattern, word) for pattern in _SWITCHED for word in ("enable", "state")),
        *_FLAGS,
        *(path for moved in _MOVED for path in moved),
    )
)


def _match(steps: Node, node: Any, above: Path, found: dict[Path, list[tuple[Path, Any]]]) -> None:
    """Add, by pattern, the paths that fit it, as the file spells them, and what stands there: in one walk for all."""
    for step, further in steps.items():
        if not step:
            found.setdefault(further, []).append((above, node))
        elif not isinstance(node, dict):
            continue
        elif step == "*":
            for key, below in node.items():
                _match(further, below, (*above, key), found)
        elif step in node:
            _match(further, node[step], (*above, step), found)
