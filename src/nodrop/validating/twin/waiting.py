"""How long a twin is waited for: until what it tells of itself stands still, never for a time of the clock alone."""

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple

from nodrop.model.subject import Subject
from nodrop.validating.twin import looking
from nodrop.validating.twin.lab import Lab
from nodrop.validating.twin.vty import Silent

QUIET_S: Final = 1.0
"""For how long nothing may change at the end: a change takes milliseconds from router to router, as eBGP of FRR waits
for nothing before it tells of one (bgpd/bgpd.h, BGP_DEFAULT_EBGP_ROUTEADV 0)."""
COALESCE_S: Final = (1.0, 0.05, 10.0)
"""How long bgpd waits before it tells a new session anything: so long, so much more for each session that it has, and
no longer than so long (FRR, bgpd/bgp_updgrp.h, BGP_DEFAULT_SUBGROUP_COALESCE_TIME and those beside it)."""
FIRST_S: Final = 10.0
"""By when a session comes up that is not expected to: FRR's own take 4 s after they start (measured)."""
_LEAST_S, _MOST_S = 0.1, 1.0
"""Between two looks."""


def settle(
    lab: Lab, wanted: Collection[Subject], *, patience_s: float, told: Callable[[int], None] | None = None
) -> bool:
    """Wait until the wanted sessions are up, all others had their time, and no route changes any more.

    Return whether they are; False after `patience_s` in which nothing changed and one was not. `told` gets the number
    of those that are up, whenever it is another.
    """
    begun = changed = moved = time.monotonic()
    before: Look | None = None
    count, pause = -1, _LEAST_S
    stated = {name: looking.stated(lab, name) for name in lab.devices}
    while True:
        lab.hold_neighbors()
        now = look(lab, wanted, stated)
        at = time.monotonic()
        if now != before:
            before, changed, pause = now, at, _LEAST_S
        if now.up != count:
            moved = at
            if told is not None:
                told(now.up)
        count, whole = now.up, now.up == len(wanted)
        early = (now.others and at - begun < FIRST_S) or at - moved < now.coalesce_s + QUIET_S
        if whole and not now.queued and not early and at - changed >= QUIET_S:
            return True
        if at - changed >= (max(FIRST_S, QUIET_S) if whole else patience_s):
            return whole
        time.sleep(pause)
        pause = min(pause * 1.3, _MOST_S)


class Look(NamedTuple):
    """How far a twin is: how many of the wanted sessions are up, how many others are not, and how much is not yet sent.

    `pulse` is what changes while routes do.
    """

    up: int
    others: int
    queued: int
    pulse: tuple[Any, ...]
    coalesce_s: float
    """How long the daemon with most sessions waits before it tells a new one anything."""


def look(lab: Lab, wanted: Collection[Subject], stated: Mapping[str, looking.Stated]) -> Look:
    """Ask every bgpd once; one that does not answer has no sessions."""
    up, others, queued, sessions = 0, 0, 0, 0
    pulses = []

    def one(name: str) -> looking.Pulse:
        try:
            return looking.pulse(lab, name)
        except Silent:
            return {}

    asked = [name for name in lab.devices if lab.runs(name, "bgpd")]
    for name, pulse in zip(asked, lab.each(one, asked), strict=True):
        own = looking.names(lab, name)
        states: dict[Subject, bool] = {}
        for (vrf, _, peer), row in pulse.items():
            if peer:
                key = None if vrf == "default" else vrf, own.get(peer, peer)
                states[stated[name].get(key, (name, vrf, peer))] = row[0] == looking.UP
                queued += (row[3] or 0) + (row[4] or 0)
        sessions = max(sessions, len(states))
        up += sum(state for item, state in states.items() if item in wanted)
        others += sum(not state for item, state in states.items() if item not in wanted)
        pulses.append(tuple(sorted(pulse.items())))
    first, each, most = COALESCE_S
    return Look(up, others, queued, tuple(pulses), min(first + each * sessions, most))
