"""The twin as tests use it: fabrics run in real FRR daemons, and the routes that come of it."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from nodrop.errors import ServiceUnavailable
from nodrop.model.fabric import End, Fabric
from nodrop.model.reading import Reading
from nodrop.validating.twin import box, looking, require_twin_support
from nodrop.validating.twin.daemons import BootConfiguration
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.starting import prepare_start_configurations
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
        require_twin_support()
    except ServiceUnavailable as error:
        require("twin", available=False, reason=str(error))


def until_equal(expected: _Seen, look: Callable[[], _Seen], times: int = 1, patience_s: float = END_S) -> _Seen:
    """What is seen once it is as expected, that many times one after the other, or at the end of all patience."""
    end, equal = time.monotonic() + patience_s, 0
    while True:
        found = look()
        equal = equal + 1 if found == expected else 0
        if equal == times or time.monotonic() > end:
            return found
        time.sleep(0.7)


def tables(lab: TwinLab) -> Tables:
    """Return the routes that every switch uses, those of links themselves (fe80::/64) aside, and its sessions."""
    found: dict[str, Table] = {}
    for name in lab.running_devices:
        found[name] = {
            prefix: row for (*_, prefix), row in looking.installed_protocol_routes(lab, name, _CONNECTED).items()
        }
        for (*_, key), session in looking.bgpd_sessions(lab, name).items():
            state = "up" if session.state == looking.ESTABLISHED_STATE else "down"
            found[name][f"session {key}"] = ("session", frozenset({state}))
    return found


def played(
    fabric: Fabric,
    failed: frozenset[End],
    expected: Tables,
    more: Iterable[End],
    later: Tables,
    patience_s: float = END_S,
) -> list[Tables]:
    """The routes of a fabric with some ports down, and those once more are; each as soon as they are as expected."""
    boots = prepare_start_configurations(Reading(fabric=fabric)).boots
    return box.call_in_sandbox(_play, fabric, dict(boots), failed, expected, tuple(more), later, patience_s)


def _play(
    _tell: box.ReportProgress,
    fabric: Fabric,
    boots: dict[str, BootConfiguration],
    failed: frozenset[End],
    expected: Tables,
    more: tuple[End, ...],
    later: Tables,
    patience_s: float,
) -> list[Tables]:
    lab = TwinLab(fabric, boots, failed)
    lab.start()
    seen = [until_equal(expected, lambda: tables(lab), times=2, patience_s=patience_s)]
    if more:
        lab.cut_ports(*more)
        seen.append(until_equal(later, lambda: tables(lab), times=2, patience_s=patience_s))
    return seen


_FIRST_LOOK_S = 8.0
"""When switches are looked at first whose outcome is not known before: sessions that open do so by then."""


def tables_of_boots(
    fabric: Fabric, boots: Mapping[str, BootConfiguration], expected: Tables | None, patience_s: float = END_S
) -> Tables:
    """Return what switches come to that start with these files: as is expected, or at the end of all patience.

    Without anything expected, it is what they have once nothing changes any more.
    """
    return box.call_in_sandbox(_start_boots, fabric, dict(boots), expected, patience_s)


def _start_boots(
    _tell: box.ReportProgress,
    fabric: Fabric,
    boots: dict[str, BootConfiguration],
    expected: Tables | None,
    patience_s: float,
) -> Tables:
    lab = TwinLab(fabric, boots)
    lab.start()
    time.sleep(_FIRST_LOOK_S)
    if expected is not None:
        return until_equal(expected, lambda: tables(lab), times=3, patience_s=patience_s)
    before, now = None, tables(lab)
    while now != before:
        time.sleep(5)
        before, now = now, tables(lab)
    return now
