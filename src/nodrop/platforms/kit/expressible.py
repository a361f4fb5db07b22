"""Limits of any configuration: known facts, words without blanks, numbers that every reader takes.

Writers ask this before they render a device, so a template never meets text that could end a string or a line. The
paths of `UnsupportedByPlatform` consist of attributes and the names of rows, from the device:
`interfaces/Ethernet0/qos/trust`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import attrgetter
from types import NoneType
from typing import Any

from nodrop.errors import UnsupportedByPlatform
from nodrop.model.addresses import address_of
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.fabric import Device
from nodrop.model.routing import BgpNeighbor
from nodrop.model.states import Unknown, require_fact
from nodrop.model.subject import Subject, subject_text
from nodrop.model.types import fields_of, key_of

_UNQUOTED_WORD_PATTERN = re.compile(r"[A-Za-z0-9._:/@+-]+")
_SURROGATE_PATTERN = re.compile(r"[\ud800-\udfff]")
_CONTROL_CHARACTER_PATTERN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_MAX_DIGITS = 18
"""Numbers of more digits are in no field of any switch, and readers refuse them."""
BGP_FIELDS_SHARED_BY_VRFS = ("session_dscp", "prefix_lists", "community_lists", "as_path_lists", "route_maps")
"""The parts of a BGP process that are configured once for the processes of all VRFs."""
UNKNOWN_FACT_REASON = "is unknown, and a configuration cannot say so"

InexpressiblePart = tuple[Subject, str]
"""Where a part of the model cannot be said, from that part on, and why."""


def unsupported_error(path: Iterable[object], reason: str) -> UnsupportedByPlatform:
    """Return the error for the part of a device at `path`."""
    return UnsupportedByPlatform(subject_text(tuple(map(str, path))), reason)


class ScalarCheck:
    """The check that every scalar of a part of the model, however deep, can be written in a configuration.

    Fields named in `skipped` are not checked. `free` names fields with more than a word, each with a function that
    returns the fault of a text, or None.
    """

    def __init__(self, *skipped: str, **free: Callable[[str], str | None]) -> None:
        self._skipped, self._free = skipped, free
        self._plans: dict[type[Any], tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]] = {}

    def check(self, model: object, *path: object) -> None:
        """Raise UnsupportedByPlatform where a scalar cannot; parts shared by value are checked once."""
        if fault := self._find_unwritable_value(model, set()):
            raise unsupported_error((*path, *fault[0]), fault[1])

    def _compared_fields(self, kind: type[object]) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
        """Return the fields of a kind of part that are read, and how to read them all at once."""
        if kind not in self._plans:
            names = tuple(name for name in fields_of(kind) if name not in self._skipped)
            self._plans[kind] = names, attrgetter(*names, "__class__")  # two names or more, so that it gives a tuple
        return self._plans[kind]

    def _find_unwritable_value(self, rows: object, seen: set[int]) -> InexpressiblePart | None:
        if type(rows) is tuple:
            return self._find_unwritable_in_rows(rows, seen)
        if id(rows) in seen:
            return None
        seen.add(id(rows))
        names, content = self._compared_fields(type(rows))
        for name, value in zip(names, content(rows), strict=False):
            kind = type(value)
            if kind is NoneType or kind is bool:
                continue
            if kind is int or kind is str:
                if reason := self._free.get(name, _unwritable_reason)(value):
                    return (name,), reason
            elif kind is Unknown:
                if not _is_computed_part(rows):
                    return (name,), UNKNOWN_FACT_REASON
            elif fault := self._find_unwritable_value(value, seen):
                return (name, *fault[0]), fault[1]
        return None

    def _find_unwritable_in_rows(self, rows: tuple[object, ...], seen: set[int]) -> InexpressiblePart | None:
        for position, row in enumerate(rows):
            kind = type(row)
            if kind is int or kind is str:
                if reason := _unwritable_reason(row):
                    return (str(position),), reason
            elif row is not None and (fault := self._find_unwritable_value(row, seen)):
                return (key_of(row, position), *fault[0]), fault[1]
        return None


@lru_cache(maxsize=65_536)
def _unwritable_reason(value: int | str) -> str | None:
    if isinstance(value, str):
        return (
            None
            if _UNQUOTED_WORD_PATTERN.fullmatch(value)
            else f"{value!r} is not a word that a configuration takes unquoted"
        )
    return None if -(10**_MAX_DIGITS) < value < 10**_MAX_DIGITS else f"has more than {_MAX_DIGITS} digits"


def _is_computed_part(model: object) -> bool:
    """Whether the switch computes the unknown values here."""
    if isinstance(model, BufferProfile):
        return isinstance(model.headroom, Headroom) and model.headroom.computed
    return isinstance(model, Headroom | BufferPool) and model.computed


def check_row_names_and_order(
    table_rows: Sequence[object], *path: object, order: Callable[[Any], Any] | None = None
) -> None:
    """Raise UnsupportedByPlatform where two rows have one name, or are not in the order of reading them back."""
    names = [row if isinstance(row, str) else key_of(row, position) for position, row in enumerate(table_rows)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise unsupported_error(path, f"{twice} is there twice")
    keys = names if order is None else [order(row) for row in table_rows]
    if keys != sorted(keys):
        raise unsupported_error(path, "are not in the order in which they would be read back")


def check_distinct(line_words: Sequence[str], *path: object) -> None:
    """Raise UnsupportedByPlatform where a word is there twice, because a table has one row of a name."""
    if len(set(line_words)) < len(line_words):
        raise unsupported_error(path, f"{max(line_words, key=line_words.count)} is there twice")


def check_range(value: int | None, low: int, high: int, *path: object) -> None:
    """Raise UnsupportedByPlatform where a number that is stated is below `low` or above `high`."""
    if value is not None and not low <= value <= high:
        raise unsupported_error(path, f"is not from {low} to {high}")


def check_without_unwritten_parts(device: Device) -> None:
    """Raise UnsupportedByPlatform where a device has what no writer writes: a second switch, tunnels, access lists."""
    for name in ("multi_chassis", "dual_tor", "mux_cables", "tunnels", "access_lists"):
        if getattr(device, name):
            raise unsupported_error([name], "is read for rules, and not written")
    for channel in require_fact(device.port_channels):
        if channel.segment is not None:
            raise unsupported_error(["port_channels", channel.name, "segment"], "is read for rules, and not written")
    for vlan in require_fact(device.vlans):
        if vlan.virtual_addresses:
            raise unsupported_error(["vlans", vlan.key, "virtual_addresses"], "are read for rules, and not written")


def check_session_far_end(neighbor: BgpNeighbor, *path: object) -> None:
    """Raise UnsupportedByPlatform where the other end of a BGP session is not stated, or stated twice."""
    if neighbor.remote_asn is None:
        raise unsupported_error((*path, "remote_asn"), "a neighbor is made by its AS")
    if (neighbor.address is None) == (neighbor.interface is None):
        raise unsupported_error(path, "a neighbor is an address or an interface, and not both")
    if neighbor.address is not None and address_of(neighbor.address) is None:
        raise unsupported_error((*path, "address"), f"{neighbor.address} is not an address")


def check_server_addresses(servers: Sequence[str], *path: object) -> None:
    """Raise UnsupportedByPlatform where a server has a name that nothing can look up before there is a name server."""
    for position, server in enumerate(servers):
        if address_of(server) is None:
            raise unsupported_error((*path, position), f"{server} is not an address")


def json_string_fault(text: str) -> str | None:
    """Return why a string of JSON cannot hold a text, which has half of a character; None if it can."""
    return "has half of a character, which no file can hold" if _SURROGATE_PATTERN.search(text) else None


def reason_unwritable_text(text: str) -> str | None:
    """Return why a command cannot end in a text; None if it can. Readers keep the words, one space apart."""
    if text != " ".join(text.split()) or not text or _CONTROL_CHARACTER_PATTERN.search(text):
        return f"{text!r} is not one line of words one space apart"
    return json_string_fault(text)
