"""The handling of traffic by one port: classification, queues, pause, marking and the watchdog.

A `QosProfile` holds effects, not intentions: it can describe every wrong port. Names of maps and profiles are notation
and are kept in the text of a configuration, not here.
"""

from typing import Literal

from nodrop.model.buffers import BufferProfile
from nodrop.model.states import Unknown, require_fact
from nodrop.model.values import ValueWithKeptHash, model_dataclass

NumberMap = tuple[int | None, ...]
"""Index to target; None where the index is not mapped."""

Color = Literal["green", "yellow", "red"]
Trust = Literal["dscp", "pcp", "both"]
COLORS: tuple[Color, ...] = ("green", "yellow", "red")


@model_dataclass
class PfcWatchdog:
    """A port's PFC watchdog: it frees a queue that has been paused for `detection_ms`.

    It is None on a port only where nothing is written. `priorities` is the watchdog's own mask and may differ from
    the port's PFC, and may stand where the source does not reach; a missing time is None.
    """

    priorities: tuple[int, ...] | Unknown
    detection_ms: int | None | Unknown
    restoration_ms: int | None | Unknown
    action: Literal["drop", "forward", "alert"] | None | Unknown
    history: bool | None | Unknown = None
    """Whether the switch estimates since when and for how long each priority was paused."""

    @property
    def taken_action(self) -> Literal["drop", "forward", "alert"] | Unknown:
        """Return what the watchdog does with a stuck queue: it drops where nothing is stated.

        SONiC drops by default (sonic-swss orchagent/pfcwdorch.cpp), and NVUE always: it discards what comes for the
        queue and obeys no pause until a polling brings none (Cumulus Linux, Quality of Service, PFC Watchdog).
        """
        return "drop" if self.action is None else self.action


@model_dataclass
class WatchdogConditions:
    """What must hold of a queue in each polling until its switch takes it for stuck: all that is not None.

    They are a switch's own (NVUE since 5.19). `pause_ten_thousandths` is the share of the polling that pauses have to
    last longer than, `sent_frames` the most that the queue may have sent, `queue_percent` the fill that it must be
    above. A queue is free again after pollings with no more than `recovery_pause_frames` received.
    """

    pause_ten_thousandths: int | None
    sent_frames: int | None
    queue_percent: int | None
    recovery_pause_frames: int


@model_dataclass
class Scheduler:
    """How a queue gets bandwidth: strict priority, or a weight among the others, and rates in bytes per second."""

    type: Literal["strict", "dwrr", "wrr"]
    weight: int | None = None
    guaranteed_bytes_per_s: int | None = None
    guaranteed_burst_bytes: int | None = None
    peak_bytes_per_s: int | None = None
    peak_burst_bytes: int | None = None


@model_dataclass
class WredColor:
    """Marking or early drop of one color: from `min_bytes` of queue depth, up to `probability_percent` at `max_bytes`.

    `enabled` governs the dropping of packets that are not ECN-capable (SONiC `wred_<color>_enable`); None is a missing
    flag, which by SAI is off for marking too (inc/saiwred.h). A switch may mark by a queue's share of its current
    maximum: then `min_percent` and `max_percent` of that are set, and no bytes.
    """

    min_bytes: int | None = None
    max_bytes: int | None = None
    min_percent: int | None = None
    max_percent: int | None = None
    probability_percent: int | None = None
    enabled: bool | None = None


@model_dataclass
class WredProfile:
    """WRED and ECN of a queue, per color; `ecn_colors` are those whose ECN-capable packets are marked, not dropped."""

    ecn_colors: tuple[Color, ...]
    green: WredColor
    yellow: WredColor
    red: WredColor


@model_dataclass
class Queue:
    """An egress queue of a port: None where the source has no such row for it."""

    index: int
    scheduler: Scheduler | None | Unknown = None
    wred: WredProfile | None | Unknown = None
    buffer: BufferProfile | None | Unknown = None


@model_dataclass
class PriorityGroup:
    """An ingress priority group of a port and the buffer that it may use."""

    index: int
    buffer: BufferProfile | None | Unknown = None

    @property
    def lossless(self) -> bool:
        """Whether its buffer has headroom."""
        buffer = require_fact(self.buffer, "priority_group.buffer")
        return buffer is not None and buffer.lossless


@model_dataclass
class QosProfile(ValueWithKeptHash):
    """Everything that one port does with traffic classes; equal profiles are one object.

    Maps are tuples indexed by DSCP (64), PCP (8), traffic class (16) or PFC priority (8), or None where the port has
    no such map. `queues` and `priority_groups` hold the configured ones, sorted by index.
    """

    trust: Trust | None | Unknown
    dscp_to_tc: NumberMap | None | Unknown = None
    pcp_to_tc: NumberMap | None | Unknown = None
    tc_to_queue: NumberMap | None | Unknown = None
    tc_to_priority_group: NumberMap | None | Unknown = None
    pfc_to_queue: NumberMap | None | Unknown = None
    pfc_to_priority_group: NumberMap | None | Unknown = None
    tc_to_dscp: NumberMap | None | Unknown = None
    pfc_rx_priorities: tuple[int, ...] | Unknown = ()
    pfc_tx_priorities: tuple[int, ...] | Unknown = ()
    pfc_watchdog: PfcWatchdog | None | Unknown = None
    priority_groups: tuple[PriorityGroup, ...] | Unknown = ()
    queues: tuple[Queue, ...] | Unknown = ()
    ingress_buffers: tuple[BufferProfile, ...] | Unknown = ()
    egress_buffers: tuple[BufferProfile, ...] | Unknown = ()

    @property
    def pfc_priorities(self) -> tuple[int, ...] | Unknown:
        """The priorities on which the port obeys pause frames: what rules read."""
        return self.pfc_rx_priorities
