"""What of BGP one line of an frr.conf says, changed in that line: AS numbers, the router id, equal paths, BFD.

All else of a routing daemon's file is made of lines that belong together, and is left to be done by hand.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields

from nodrop.formats.frr import Statement, parse
from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import Unknown
from nodrop.platforms.editing import same

BY_HAND = (
    "the routing daemon's own file says it, which is not edited: change frr.conf, then type the same in vtysh, or "
    "restart bgp (`vtysh -b` only adds)"
)

_FAMILY = {"maximum_paths": "ipv4", "maximum_paths_ipv6": "ipv6"}
_OF_PROCESS = frozenset({"asn", "router_id", "multipath_relax", "neighbors", *_FAMILY})
_OF_NEIGHBOR = frozenset({"remote_asn", "bfd"})


def change_frr(raw: bytes | None, old: Device, new: Device) -> bytes | None:
    """The text of an frr.conf that says the BGP of `new` where it says that of `old`; ValueError where no line does."""
    if same(old.bgp, new.bgp) and same(old.vrf_bgp, new.vrf_bgp) and same(old.static_routes, new.static_routes):
        return raw
    a, b = old.bgp, new.bgp
    if raw is None or not isinstance(a, Bgp) or not isinstance(b, Bgp) or _moved(a, b) - _OF_PROCESS:
        raise ValueError(BY_HAND)
    if not same(old.vrf_bgp, new.vrf_bgp) or not same(old.static_routes, new.static_routes):
        raise ValueError(BY_HAND)
    text = raw.decode()
    blocks = [one for one in parse(text) if one.starts("router", "bgp") and len(one.words) == 3]
    if len(blocks) != 1:
        raise ValueError(BY_HAND)
    lines = _Lines(text)
    _process(lines, blocks[0], a, b)
    return lines.text.encode()


class _Lines:
    """The lines of a text, as they are changed; one that is added comes behind the one that it belongs to."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._ended = "\r" if self._lines[0].endswith("\r") else ""
        self._added: dict[int, list[str]] = {}
        self._gone: set[int] = set()

    @property
    def text(self) -> str:
        """The text, as it is now."""
        lines = ((at, [line] if at not in self._gone else []) for at, line in enumerate(self._lines, 1))
        return "\n".join(each for at, own in lines for each in (*own, *self._added.get(at, ())))

    def swap(self, statement: Statement, *words: str) -> None:
        """Let a command say other words."""
        line = self._lines[statement.line - 1]
        end = statement.column - 1 + statement.length
        self._lines[statement.line - 1] = line[: statement.column - 1] + " ".join(words) + line[end:]

    def drop(self, statement: Statement) -> None:
        """Take a command out, with its line."""
        self._gone.add(statement.line)

    def add(self, behind: Statement, indent: int, *words: str) -> None:
        """Put a command behind another."""
        self._added.setdefault(behind.line, []).append(" " * indent + " ".join(words) + self._ended)


def _moved(a: Bgp | BgpNeighbor, b: Bgp | BgpNeighbor) -> set[str]:
    return {one.name for one in fields(a) if not same(getattr(a, one.name), getattr(b, one.name))}


def _process(lines: _Lines, block: Statement, a: Bgp, b: Bgp) -> None:
    moved = _moved(a, b)
    if "asn" in moved:
        lines.swap(block, "router", "bgp", str(b.asn))
    if "router_id" in moved:
        _say(lines, block, ("bgp", "router-id"), None if b.router_id is None else str(b.router_id))
    if "multipath_relax" in moved:
        relax = ("bgp", "bestpath", "as-path", "multipath-relax")
        _say(lines, block, relax, "" if b.multipath_relax else None)
    for attribute, family in _FAMILY.items():
        if attribute in moved:
            inner = next((one for one in block.children if one.starts("address-family", family, "unicast")), None)
            if inner is None:
                raise ValueError(BY_HAND)
            paths = getattr(b, attribute)
            _say(lines, inner, ("maximum-paths",), None if paths is None else str(paths))
    if "neighbors" in moved:
        for key, before, after in _pairs(a, b):
            if _moved(before, after) - _OF_NEIGHBOR:
                raise ValueError(BY_HAND)
            _neighbor(lines, block, key, before, after)


def _pairs(a: Bgp, b: Bgp) -> Iterator[tuple[str, BgpNeighbor, BgpNeighbor]]:
    """Yield the neighbors that are other than they were, by key."""
    if isinstance(a.neighbors, Unknown) or isinstance(b.neighbors, Unknown):
        raise ValueError(BY_HAND)
    old: Mapping[str, BgpNeighbor] = {one.key: one for one in a.neighbors}
    new: Mapping[str, BgpNeighbor] = {one.key: one for one in b.neighbors}
    if old.keys() != new.keys():
        raise ValueError(BY_HAND)
    yield from ((key, old[key], one) for key, one in new.items() if not same(old[key], one))


def _neighbor(lines: _Lines, block: Statement, key: str, before: BgpNeighbor, after: BgpNeighbor) -> None:
    own = [one for one in block.children if one.starts("neighbor", key)]
    if not own:
        raise ValueError(BY_HAND)
    if not same(before.remote_asn, after.remote_asn):
        stated = next((one for one in own if "remote-as" in one.words), None)
        if stated is None or after.remote_asn is None:
            raise ValueError(BY_HAND)
        lines.swap(stated, *stated.words[: stated.words.index("remote-as") + 1], str(after.remote_asn))
    if not same(before.bfd, after.bfd):
        watch = [one for one in own if one.words[2:3] == ("bfd",)]
        if after.bfd and not watch:
            lines.add(own[-1], own[-1].column - 1, "neighbor", key, "bfd")
        for one in watch if not after.bfd else ():
            lines.drop(one)


def _say(lines: _Lines, block: Statement, words: tuple[str, ...], value: str | None) -> None:
    """Let a block say words with a value behind them, or not at all."""
    stated = next((one for one in block.children if one.starts(*words)), None)
    said = (*words, *([value] if value else []))
    if stated is not None and value is not None:
        lines.swap(stated, *said)
    elif stated is not None:
        lines.drop(stated)
    elif value is not None:
        first = block.children[0] if block.children else block
        lines.add(block, first.column - 1 if block.children else block.column, *said)
