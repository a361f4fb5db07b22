"""Traffic handling of ports, from the settings of the port and the switch, and from the effect of `roce` on either.

Sources: NVIDIA Onyx User Manual 3.10.4606 LTS, RoCE Commands (`roce`, `show roce`); Mellanox community, Lossless RoCE
Configuration for MLNX-OS Switches in DSCP-Based QoS Mode, basic and advanced; the shares of an untouched scheduler as
the tests of ansible-collections/mellanox.onyx have them.
"""

from typing import Any, NamedTuple

from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.model.qos import COLORS, PfcWatchdog, PriorityGroup, QosProfile, Queue, Scheduler, WredColor, WredProfile
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject
from nodrop.platforms.onyx.gathered import StatedNonRoutingSettings, StatedPortQos
from nodrop.platforms.onyx.read_values import KIBIBYTE_BYTES

ALL_SWITCH_PRIORITIES = range(8)
_UNMAPPED_CLASSES_8_TO_15 = (None,) * 8
_CLASS_SELECTOR_PRIORITY_BY_DSCP = tuple(dscp // 8 for dscp in range(64))
_ROCE_CLASS_BY_PRIORITY = {priority: {3: 3, 6: 6}.get(priority, 0) for priority in ALL_SWITCH_PRIORITIES}
_ROCE_ETS_BY_CLASS: dict[int, tuple[str, int | None]] = {0: ("wrr", 50), 3: ("wrr", 50), 6: ("strict", None)}
_ROCE_ECN_SETTING = ("ecn", {"min_bytes": 150 * KIBIBYTE_BYTES, "max_bytes": 1500 * KIBIBYTE_BYTES})
_ROCE_REASON = "`roce` makes it so"
_FACTORY_DEFAULT_REASON = "what Onyx begins with"
_LOSSY_BUFFER_PROFILE = BufferProfile(pool=None, size_bytes=UNKNOWN)
_COMPUTED_HEADROOM = Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True)


class PortQos(NamedTuple):
    """The QoS of a port; `derived` holds the parts that rest on a default, and the reason."""

    profile: QosProfile
    link_pause: bool | None
    derived: dict[Subject, str]


class QosReader:
    """Makes each distinct profile once."""

    def __init__(self, settings: StatedNonRoutingSettings) -> None:
        self._settings = settings
        self._made: dict[str, PortQos] = {}
        self._roce = settings.roce
        self._lossless_pools = [pool for pool in settings.traffic_pools.values() if pool.lossless]

    def read_port_qos(self, qos: StatedPortQos) -> PortQos:
        """Return the QoS of a port with these settings."""
        content = repr(qos)
        port_qos = self._made.get(content)
        if port_qos is None:
            port_qos = self._made[content] = self._build_port_qos(qos)
        return port_qos

    def pools(self) -> tuple[BufferPool, ...] | Unknown:
        """Return the stated pools, by name; UNKNOWN if the switch creates pools by itself."""
        if self._settings.pools:
            return tuple(sorted(self._settings.pools.values(), key=lambda pool: pool.name))
        if not self._settings.traffic_pools:
            return UNKNOWN
        return tuple(
            BufferPool(
                name=name,
                direction="both",
                mode="dynamic",
                size_bytes=UNKNOWN,
                percentage=None if pool.percent is None else round(pool.percent),
                computed=True,
            )
            for name, pool in sorted(self._settings.traffic_pools.items())
        )

    def _build_port_qos(self, qos: StatedPortQos) -> PortQos:
        derived: dict[Subject, str] = {}
        reason = _ROCE_REASON if self._roce else _FACTORY_DEFAULT_REASON
        trust = qos.trust
        if trust is None:
            trust = "dscp" if self._roce else "pcp"
            derived["qos", "trust"] = reason
        dscp = tuple(qos.dscp.get(index, _CLASS_SELECTOR_PRIORITY_BY_DSCP[index]) for index in range(64))
        pcp = tuple(qos.pcp.get(index, index) for index in ALL_SWITCH_PRIORITIES)
        if not qos.dscp:
            derived["qos", "dscp_to_tc"] = "whole class selectors, as Onyx begins with"
        usual = _ROCE_CLASS_BY_PRIORITY if self._roce else {priority: priority for priority in ALL_SWITCH_PRIORITIES}
        classes = tuple((usual | qos.traffic_class)[priority] for priority in ALL_SWITCH_PRIORITIES)
        if not qos.traffic_class:
            derived["qos", "tc_to_queue"] = derived["qos", "pfc_to_queue"] = reason
        rx, tx = self._pfc_rx_and_tx_priorities(qos, derived)
        groups, group_of = self._groups_and_group_by_priority(qos, rx, tx)
        profile = QosProfile(
            trust={"dscp": "dscp", "pcp": "pcp", "both": "both"}.get(trust),  # type: ignore[arg-type]
            dscp_to_tc=dscp if trust in ("dscp", "both") else None,
            pcp_to_tc=pcp if trust in ("pcp", "both") else None,
            tc_to_queue=(*classes, *_UNMAPPED_CLASSES_8_TO_15),
            tc_to_priority_group=group_of and (*group_of, *_UNMAPPED_CLASSES_8_TO_15),
            pfc_to_queue=classes,
            pfc_to_priority_group=_groups_that_pause(qos, group_of),
            tc_to_dscp=UNKNOWN if qos.rewrite else None,
            pfc_rx_priorities=rx,
            pfc_tx_priorities=tx,
            pfc_watchdog=self._read_port_watchdog(qos, rx),
            priority_groups=groups,
            queues=tuple(self._build_queue(qos, tc, derived) for tc in ALL_SWITCH_PRIORITIES),
        )
        return PortQos(profile, any(qos.pause.values()) if qos.pause else None, derived)

    def _pfc_rx_and_tx_priorities(self, qos: StatedPortQos, derived: dict[Subject, str]) -> tuple[Any, Any]:
        """Return the priorities whose pauses a port obeys, and those that it sends pauses on.

        If a pool is lossless and PFC of the port is not stated, no source states whether the port pauses.
        """
        settings = self._settings
        if self._roce is not None and qos.pfc is None:
            derived["qos", "pfc_rx_priorities"] = derived["qos", "pfc_tx_priorities"] = _ROCE_REASON
            return {"lossless": ((3,), (3,)), "semi-lossless": ((3,), ())}.get(self._roce, ((), ()))
        on = tuple(sorted(priority for priority, enabled in settings.pfc_priorities.items() if enabled))
        is_stated = settings.pfc or bool(settings.pfc_priorities)
        if isinstance(qos.pfc, Unknown) and settings.pfc and on:
            return UNKNOWN, UNKNOWN
        if qos.pfc is None and self._lossless_pools and (on or not is_stated):
            return UNKNOWN, UNKNOWN
        return (on, on) if settings.pfc and qos.pfc is True else ((), ())

    def _groups_and_group_by_priority(self, qos: StatedPortQos, rx: Any, tx: Any) -> tuple[Any, Any]:
        """Return the port's priority groups, and the group of each priority."""
        if qos.groups:
            indexes = sorted({0, *qos.groups})
            groups = tuple(PriorityGroup(index=index, buffer=qos.groups.get(index, UNKNOWN)) for index in indexes)
            return groups, tuple(qos.group_of.get(priority, 0) for priority in ALL_SWITCH_PRIORITIES)
        buffer_profiles: dict[int, BufferProfile | Unknown] = {0: _LOSSY_BUFFER_PROFILE}
        if not isinstance(tx, Unknown):
            buffer_profiles |= dict.fromkeys({*rx, *tx}, UNKNOWN)
        if self._roce == "lossless":
            buffer_profiles[3] = BufferProfile(pool=None, size_bytes=UNKNOWN, headroom=_COMPUTED_HEADROOM)
        for name, pool in self._settings.traffic_pools.items():
            if pool.lossless:
                lossless = BufferProfile(pool=name, size_bytes=UNKNOWN, headroom=_COMPUTED_HEADROOM)
                buffer_profiles |= dict.fromkeys(pool.priorities, lossless)
        group_of = tuple(priority if priority in buffer_profiles else 0 for priority in ALL_SWITCH_PRIORITIES)
        return tuple(
            PriorityGroup(index=index, buffer=buffer_profiles[index]) for index in sorted(buffer_profiles)
        ), group_of

    def _read_port_watchdog(self, qos: StatedPortQos, rx: Any) -> PfcWatchdog | None:
        """Return the port's watchdog: a running-config states that the port has one, and none of its times."""
        if not qos.watchdog:
            return None
        return PfcWatchdog(priorities=rx, detection_ms=UNKNOWN, restoration_ms=UNKNOWN, action=UNKNOWN)

    def _build_queue(self, qos: StatedPortQos, tc: int, derived: dict[Subject, str]) -> Queue:
        usual = (
            _ROCE_ETS_BY_CLASS
            if self._roce
            else {priority: ("wrr", 12 + priority % 2) for priority in ALL_SWITCH_PRIORITIES}
        )
        share = qos.ets.get(tc, usual.get(tc))
        if tc not in qos.ets:
            derived["qos", "queues", str(tc), "scheduler"] = _ROCE_REASON if self._roce else _FACTORY_DEFAULT_REASON
        marking = qos.ecn.get(tc, _ROCE_ECN_SETTING if self._roce and tc == 3 else None)
        if tc not in qos.ecn:
            derived["qos", "queues", str(tc), "wred"] = _ROCE_REASON if self._roce else _FACTORY_DEFAULT_REASON
        return Queue(
            index=tc,
            scheduler=None if share is None else _build_scheduler(*share),
            wred=_build_wred_profile(marking),
            buffer=qos.queues.get(tc, UNKNOWN),
        )


def _groups_that_pause(qos: StatedPortQos, group_of: Any) -> Any:
    """Return the group that makes each priority pause its sender: none where only group 0 of the switch takes it.

    Unless its buffer is stated, that group is lossy: when it is full, it drops packets.
    """
    if not qos.groups or 0 in qos.groups:
        return group_of
    return tuple(group or None for group in group_of)


def _build_scheduler(mode: str, weight: int | None) -> Scheduler:
    return Scheduler(type="strict" if mode == "strict" else "wrr", weight=weight)


def _build_wred_profile(marking: Any) -> WredProfile | None | Unknown:
    if marking is None or isinstance(marking, Unknown):
        return marking
    kind, thresholds = marking
    color = WredColor(**thresholds, probability_percent=100, enabled=kind != "ecn")
    return WredProfile(ecn_colors=() if kind == "red" else COLORS, green=color, yellow=color, red=color)
