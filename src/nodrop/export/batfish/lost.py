"""Lines of a frr.conf at which Batfish gives up, and the whole device with them (Batfish 0.36, grammar/frr)."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nodrop.platforms.frr.words import is_neighbor_address
from nodrop.syntax.frr import FrrStatement, parse_frr

_STRAY_INTERFACE_LINE = re.compile(
    r"^(?!\s*+(?:[!#]|interface\s|match\s++interface\s|.*\bdescription\s)).*\sinterface(?:\s|$)"
)
_INTERFACE_NEIGHBOR_LINE = re.compile(r"^\s*neighbor\s+(\S+)\s+interface\s+\S")
WHY_STRAY_INTERFACE = "Batfish loses a device whose frr.conf has `interface` at an unexpected place"
WHY_UNDECLARED_NEIGHBOR = (
    "Batfish loses a device in whose frr.conf a neighbor has settings before it is declared in one line"
)
WHY_DUPLICATE_PEER_GROUP = "Batfish loses a device in whose frr.conf a peer group is declared twice"

_UNCHECKED_NEIGHBOR_SETTINGS = frozenset({"description", "peer-group", "remote-as", "ebgp-multihop"})
"""What of a neighbor it sets without looking whether there is one."""
_DECLARING_NEIGHBOR_SETTINGS = _UNCHECKED_NEIGHBOR_SETTINGS | {
    "advertisement-interval",
    "bfd",
    "local-as",
    "password",
    "timers",
    "update-source",
}
"""What behind `neighbor PORT interface` makes one there."""


_AS_PATH_LIST_LINE = re.compile(
    r"^([ \t]*bgp as-path access-list \S+(?: seq \S+)? (?:permit|deny) )([^\[\n]*)$", re.MULTILINE
)
_UNDERSCORE_IN_BATFISH = "(^|[^0-9]|$)"
"""What `_` stands for in a regular expression of AS paths (FRR, bgpd/bgp_regex.c); Batfish takes it literally."""


class FatalFrrLine(NamedTuple):
    """A line, from 1, its text, and why the device is lost at it."""

    line: int
    text: str
    why: str


def find_fatal_interface_lines(text: str) -> list[FatalFrrLine]:
    """Return lines that Batfish does not read in any case, and cannot pass over either."""
    found_strays = []
    for number, line in enumerate(text.split("\n"), 1):
        if "interface" not in line or not _STRAY_INTERFACE_LINE.match(line):
            continue
        neighbor = _INTERFACE_NEIGHBOR_LINE.match(line)
        if neighbor is None or is_neighbor_address(neighbor[1]):
            found_strays.append(FatalFrrLine(number, line.strip(), WHY_STRAY_INTERFACE))
    return found_strays


def comment_out_lines(text: str, lost: list[FatalFrrLine]) -> str:
    """Return a text with comments in place of the lost lines, to keep the number of every other line."""
    if not lost:
        return text
    lines = text.split("\n")
    for loss in lost:
        lines[loss.line - 1] = "!"
    return "\n".join(lines)


def spell_underscores_of_as_path_lists(text: str) -> str:
    """Return a text with FRR's `_` in AS path lists as Batfish reads it, which takes no blank in these lines.

    Lines with sets of characters stay.
    """
    return _AS_PATH_LIST_LINE.sub(lambda match: match[1] + match[2].replace("_", _UNDERSCORE_IN_BATFISH), text)


def find_first_fatal_bgp_line(text: str) -> FatalFrrLine | None:
    """Return the first line at which the device is lost and on which others build; None where there is none."""
    return next(
        (
            lost
            for statement in parse_frr(text)
            if statement.starts_with_words("router", "bgp")
            for lost in _fatal_lines_of_bgp(statement)
        ),
        None,
    )


def _fatal_lines_of_bgp(process: FrrStatement) -> Iterator[FatalFrrLine]:
    declared: set[str] = set()
    for statement in process.children:
        match statement.words:
            case ("neighbor", name, "peer-group") if not is_neighbor_address(name):
                if name in declared:
                    yield FatalFrrLine(statement.line, statement.text, WHY_DUPLICATE_PEER_GROUP)
                declared.add(name)
            case ("neighbor", name, "interface", setting, *_) if setting in _DECLARING_NEIGHBOR_SETTINGS:
                declared.add(name)
            case ("neighbor", name, setting, *_) if (
                setting in _UNCHECKED_NEIGHBOR_SETTINGS and name not in declared and not is_neighbor_address(name)
            ):
                yield FatalFrrLine(statement.line, statement.text, WHY_UNDECLARED_NEIGHBOR)
