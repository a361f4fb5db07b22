"""The time to wait for a twin: until its reports stop changing, or cannot be expected to any more."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple

from nodrop.model.subject import Subject
from nodrop.validating.twin import looking
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.vty import DaemonSilent

QUIET_PERIOD_S: Final = 1.0
"""For how long nothing may change at the end: a change takes milliseconds from router to router, as eBGP of FRR waits
for nothing before it tells of one (bgpd/bgpd.h, BGP_DEFAULT_EBGP_ROUTEADV 0)."""
COALESCE_TIME_TERMS_S: Final = (1.0, 0.05, 10.0)
"""How long bgpd waits before it tells a new session anything: so long, so much more for each session that it has, and
no longer than so long (FRR, bgpd/bgp_updgrp.h, BGP_DEFAULT_SUBGROUP_COALESCE_TIME and those beside it)."""
UNEXPECTED_SESSION_TIMEOUT_S: Final = 10.0
"""By when a session comes up that is not expected to: FRR's own take 4 s after they start (measured)."""
MAX_SESSION_DROPS: Final = 3
"""How often a session goes down before it counts as one that never settles."""
MAX_PATIENCE_FACTOR: Final = 5
"""How many times the patience something may change without a session that comes up."""
_LEAST_S, _MOST_S = 0.1, 1.0
"""Between two looks."""


class SettledState(NamedTuple):
    """How a twin came to rest: `whole` if all wanted sessions are up.

    `unsteady` are sessions that went down `MAX_SESSION_DROPS` times or more while it did not, with how often; `moving`
    is whether something still changed when it was no longer waited for.
    """

    whole: bool
    unsteady: Mapping[Subject, int]
    moving: bool


def wait_until_settled(
    twin_lab: TwinLab,
    wanted_subjects: Collection[Subject],
    *,
    patience_s: float,
    report_up: Callable[[int], None] | None = None,
) -> SettledState:
    """Wait until the wanted sessions are up, all others had their time, and no route changes any more.

    Waiting ends after `patience_s` without any change while one was not up, or without a further session up while
    others went up and down; and in any case after `MAX_PATIENCE_FACTOR` times as long without a further session.
    `report_up` gets the number of sessions that are up, at each change.
    """
    begun = changed = moved = came = time.monotonic()
    before: ConvergenceSnapshot | None = None
    count, pause = -1, _LEAST_S
    once_up: set[Subject] = set()
    drops: Counter[Subject] = Counter()
    stated = {name: looking.stated_sessions_of_device(twin_lab, name) for name in twin_lab.running_devices}
    while True:
        twin_lab.pin_neighbor_entries()
        current_look = snapshot_every_bgpd(twin_lab, wanted_subjects, stated)
        at = time.monotonic()
        if current_look != before:
            if before is not None:
                drops.update(
                    item for item, up in before.states.items() if up and current_look.states.get(item) is False
                )
            before, changed, pause = current_look, at, _LEAST_S
        if any(up and item not in once_up for item, up in current_look.states.items()):
            came = at
            once_up.update(item for item, up in current_look.states.items() if up)
        if current_look.up != count:
            moved = at
            if report_up is not None:
                report_up(current_look.up)
        count, all_up = current_look.up, current_look.up == len(wanted_subjects)
        early = (
            current_look.others and at - begun < UNEXPECTED_SESSION_TIMEOUT_S
        ) or at - moved < current_look.coalesce_s + QUIET_PERIOD_S
        if all_up and not current_look.queued and not early and at - changed >= QUIET_PERIOD_S:
            return SettledState(all_up, {}, moving=False)
        if at - changed >= (max(UNEXPECTED_SESSION_TIMEOUT_S, QUIET_PERIOD_S) if all_up else patience_s):
            return SettledState(all_up, {}, moving=False)
        unsteady = {item: times for item, times in drops.items() if times >= MAX_SESSION_DROPS}
        if at - came >= patience_s * (1 if unsteady else MAX_PATIENCE_FACTOR):
            return SettledState(all_up, unsteady, moving=True)
        time.sleep(pause)
        pause = min(pause * 1.3, _MOST_S)


class ConvergenceSnapshot(NamedTuple):
    """Progress of a twin: how many wanted sessions are up, how many others are not, and how much is not yet sent.

    `states` gives for each session whether it is up; `read_pulse` is the data that changes while routes do.
    """

    up: int
    others: int
    queued: int
    states: Mapping[Subject, bool]
    pulse: tuple[Any, ...]
    coalesce_s: float
    """How long the daemon with most sessions waits before it tells a new one anything."""


def snapshot_every_bgpd(
    twin_lab: TwinLab,
    wanted_subjects: Collection[Subject],
    stated_sessions: Mapping[str, looking.SessionItemByVrfAndNeighbor],
) -> ConvergenceSnapshot:
    """Ask every bgpd once; one that does not answer has no sessions."""
    queued, sessions = 0, 0
    every: dict[Subject, bool] = {}
    pulses = []

    def one(name: str) -> looking.SessionStatesAndMessageCounts:
        try:
            return looking.read_session_states_and_counts(twin_lab, name)
        except DaemonSilent:
            return {}

    asked = [name for name in twin_lab.running_devices if twin_lab.has_daemon(name, "bgpd")]
    for name, pulse in zip(asked, twin_lab.map_concurrently(one, asked), strict=True):
        own_names = looking.model_name_by_kernel_name(twin_lab, name)
        states: dict[Subject, bool] = {}
        for (vrf, _, peer), row in pulse.items():
            if peer:
                key = None if vrf == "default" else vrf, own_names.get(peer, peer)
                states[stated_sessions[name].get(key, (name, vrf, peer))] = row[0] == looking.ESTABLISHED_STATE
                queued += (row[3] or 0) + (row[4] or 0)
        sessions = max(sessions, len(states))
        every |= states
        pulses.append(
            tuple(sorted((key, _session_state_without_retries(row) if key[-1] else row) for key, row in pulse.items()))
        )
    up = sum(state for item, state in every.items() if item in wanted_subjects)
    down_count = sum(not state for item, state in every.items() if item not in wanted_subjects)
    base_s, per_session_s, most = COALESCE_TIME_TERMS_S
    return ConvergenceSnapshot(
        up, down_count, queued, every, tuple(pulses), min(base_s + per_session_s * sessions, most)
    )


def _session_state_without_retries(row: tuple[object, ...]) -> tuple[object, ...]:
    """Return what counts as a change of a session: one that tries in vain goes from state to state for ever."""
    return row[0] == looking.ESTABLISHED_STATE, *row[1:]
