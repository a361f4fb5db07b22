"""The twin as tests use it: fabrics run in real FRR daemons, and the routes that come of it."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from nodrop.errors import ServiceUnavailable
from nodrop.model.fabric import End, Fabric
from nodrop.model.reading import Reading
from nodrop.validating.twin import available, box, looking
from nodrop.validating.twin.lab import Lab
from nodrop.validating.twin.starting import start
from support.patience import END_S
from support.requirements import require

_CONNECTED = frozenset({"bgp", "static", "connected"})
Table = dict[str, tuple[str, frozenset[str]]]
"""The routes of a router: of each prefix the protocol and the ports of its next hops, `discard` for none."""
Tables = Mapping[str, Table]
_Seen = TypeVar("_Seen")


def needed() -> None:
    """Skip the test where no twin can be run, or fail it where NODROP_REQUIRE has `twin`."""
    try:
        available()
    except ServiceUnavailable as error:
        require("twin", available=False, reason=str(error))


def until_equal(expected: _Seen, look: Callable[[], _Seen], times: int = 1) -> _Seen:
    """What is seen once it is as expected, that many times one after the other, or at the end of all patience."""
    end, equal = time.monotonic() + END_S, 0
    while True:
        found = look()
        equal = equal + 1 if found == expected else 0
        if equal == times or time.monotonic() > end:
            return found
        time.sleep(0.7)


def tables(lab: Lab) -> Tables:
    """The routes that every switch uses, those of links themselves (fe80::/64) aside."""
    found: dict[str, Table] = {}
    for name in lab.devices:
        found[name] = {prefix: row for (*_, prefix), row in looking.routes(lab, name, _CONNECTED).items()}
    return found


def played(
    fabric: Fabric, failed: frozenset[End], expected: Tables, more: Iterable[End], later: Tables
) -> list[Tables]:
    """The routes of a fabric with some ports down, and those once more are; each as soon as they are as expected."""
    return box.call(_play, fabric, failed, expected, tuple(more), later)


def _play(
    _tell: box.Tell, fabric: Fabric, failed: frozenset[End], expected: Tables, more: tuple[End, ...], later: Tables
) -> list[Tables]:
    lab = Lab(fabric, start(Reading(fabric=fabric)).boots, failed)
    lab.start()
    seen = [until_equal(expected, lambda: tables(lab), times=2)]
    if more:
        lab.cut(*more)
        seen.append(until_equal(later, lambda: tables(lab), times=2))
    return seen
