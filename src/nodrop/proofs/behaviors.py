"""The effect of a port on lossless traffic: the queue of a DSCP, and the traffic that a pause stops."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from nodrop.model import effects
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, UnknownFact, require_fact
from nodrop.proofs.tunnels import TunnelWay

DSCP_COUNT = 64
TRAFFIC_CLASS_COUNT = 16
PRIORITY_GROUP_COUNT = 8
"""Priority groups and PFC priorities of a port (IEEE 802.1Q)."""


class PortBehavior(NamedTuple):
    """What a port does: `tc` by DSCP and `group` by traffic class as packets enter, the rest as they leave.

    `dscp` is the DSCP that is written by traffic class, None where it is kept. `pauses` has the PFC priorities that a
    full priority group pauses, `stops` the queue that a received pause of a priority stops.
    """

    tc: tuple[int, ...]
    group: tuple[int, ...]
    queue: tuple[int, ...]
    dscp: tuple[int | None, ...]
    pauses: Mapping[int, tuple[int, ...]]
    stops: Mapping[int, int]

    def priority_group_of_dscp(self, dscp: int) -> int:
        """Return the priority group that packets of a DSCP enter."""
        return self.group[self.tc[dscp]]

    def is_lossless(self, dscp: int) -> bool:
        """Whether packets of a DSCP enter a group that pauses its sender when it is full."""
        return self.priority_group_of_dscp(dscp) in self.pauses

    def outgoing_dscp(self, tc: int, dscp: int) -> int:
        """Return the DSCP with which packets of a traffic class leave."""
        written = self.dscp[tc]
        return dscp if written is None else written


LOSSY_BEHAVIOR = PortBehavior(
    (0,) * DSCP_COUNT, (0,) * TRAFFIC_CLASS_COUNT, (0,) * TRAFFIC_CLASS_COUNT, (None,) * TRAFFIC_CLASS_COUNT, {}, {}
)
"""A port without QoS: no priority group pauses anybody."""


def lossless_behavior_of_profile(qos: QosProfile | None | Unknown) -> PortBehavior:
    """Return the behavior of a QoS profile; UnknownFact names a fact that is missing."""
    profile = require_fact(qos, "interface.qos")
    if profile is None:
        return LOSSY_BEHAVIOR
    if require_fact(profile.trust, "interface.qos.trust") == "pcp":
        raise UnknownFact("the PCP of packets")
    written = require_fact(profile.tc_to_dscp, "interface.qos.tc_to_dscp")
    return PortBehavior(
        tuple(effects.tc_of_dscp(profile, dscp) for dscp in range(DSCP_COUNT)),
        tuple(effects.priority_group_of_tc(profile, tc) for tc in range(TRAFFIC_CLASS_COUNT)),
        tuple(effects.queue_of_tc(profile, tc) for tc in range(TRAFFIC_CLASS_COUNT)),
        tuple(None if written is None else effects.map_entry(written, tc) for tc in range(TRAFFIC_CLASS_COUNT)),
        {
            group: paused
            for group in range(PRIORITY_GROUP_COUNT)
            if (paused := effects.pausing_priorities_of_priority_group(profile, group))
        },
        dict(_queues_stopped_by_pause(profile)),
    )


def _queues_stopped_by_pause(profile: QosProfile) -> Iterator[tuple[int, int]]:
    """Yield the priorities whose pause the port obeys, each with the queue that it stops."""
    table = require_fact(profile.pfc_to_queue, "interface.qos.pfc_to_queue")
    for priority in require_fact(profile.pfc_rx_priorities, "interface.qos.pfc_rx_priorities"):
        queue = priority if table is None else effects.map_entry(table, priority)
        if queue is not None:
            yield priority, queue


class DistinctPortBehaviors:
    """The distinct behaviors of a fabric's ports, numbered; equal ones are one, and profiles are read once."""

    def __init__(self) -> None:
        self.all: list[PortBehavior] = []
        self._number_of: dict[tuple[object, ...], int] = {}
        self.number = cache(self._index_or_missing_fact)
        """Returns the number of a profile's behavior, or the model path of the fact that leaves it unknown."""
        self._waits: dict[tuple[int, int, int], tuple[int, ...]] = {}

    def _index_or_missing_fact(self, qos: QosProfile | None | Unknown) -> int | str:
        try:
            return self.index_of_behavior(lossless_behavior_of_profile(qos))
        except UnknownFact as error:
            return str(error)

    def index_of_behavior(self, behavior: PortBehavior) -> int:
        """Return the number of a behavior."""
        key = (*behavior[:4], tuple(behavior.pauses.items()), tuple(behavior.stops.items()))
        if key not in self._number_of:
            self._number_of[key] = len(self.all)
            self.all.append(behavior)
        return self._number_of[key]

    def representative_dscps(self, tunnels: Sequence[TunnelWay] = ()) -> tuple[int, ...]:
        """Return one DSCP of each set that all ports treat alike, of those that can enter a lossless group.

        Where any port or tunnel writes DSCPs, every one of them can become another, and all that are written stay
        apart.
        """
        rows = (*(behavior.dscp for behavior in self.all), *(tunnel.outside for tunnel in tunnels))
        written = {dscp for row in rows for dscp in row if dscp is not None}
        kinds: dict[tuple[object, ...], int] = {}
        for dscp in range(DSCP_COUNT):
            maps = (*(behavior.tc[dscp] for behavior in self.all), *(tunnel.tc[dscp] for tunnel in tunnels))
            kinds.setdefault((maps, dscp if dscp in written else None), dscp)
        if written or tunnels:
            return tuple(kinds.values())
        return tuple(dscp for dscp in kinds.values() if any(behavior.is_lossless(dscp) for behavior in self.all))

    @property
    def is_any_dscp_rewritten(self) -> bool:
        """Whether any port writes another DSCP into packets."""
        return any(dscp is not None for behavior in self.all for dscp in behavior.dscp)

    def awaited_groups(self, entered: int, dscp: int, left: int, next_entered: int) -> tuple[int, ...]:
        """Return the priority groups of the next port that packets of a DSCP can wait for.

        The packets enter by a port of behavior `entered`, leave by one of behavior `left`, and enter the next switch by
        one of behavior `next_entered`. They wait for each group there that pauses the queue that they leave by.
        """
        return self.groups_stopping_queue(self.all[left].queue[self.all[entered].tc[dscp]], left, next_entered)

    def groups_stopping_queue(self, queue: int, left: int, next_entered: int) -> tuple[int, ...]:
        """Return the priority groups of the next port that pause a queue of a port of behavior `left`."""
        key = (queue, left, next_entered)
        if key not in self._waits:
            stopping = {priority for priority, stopped in self.all[left].stops.items() if stopped == queue}
            groups = self.all[next_entered].pauses.items()
            self._waits[key] = tuple(group for group, paused in groups if not stopping.isdisjoint(paused))
        return self._waits[key]
