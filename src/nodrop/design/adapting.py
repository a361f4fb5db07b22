"""Platform deviations: values that a platform cannot have, replaced with supported ones, and noted with the reason.

A switch is designed alike for every platform and then adapted; the notes are the differences between the two, so none
can be forgotten. Sizes that depend on an adapted value (of a pool, of a headroom) are noted too.
"""

from collections import Counter as Counted
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from typing import Any, NamedTuple, cast

from nodrop.design.delivery import fit_bgp_to_config_tables
from nodrop.design.high_frequency import supported_sampling
from nodrop.design.policies import SET_PREFER_GLOBAL_NEXT_HOP
from nodrop.design.topology import TierSwitchGroup
from nodrop.design.watchdog import FabricWatchdogTimers
from nodrop.hardware import switch
from nodrop.hardware.schema import SwitchModel
from nodrop.model.buffers import BufferProfile, DynamicBuffers
from nodrop.model.compare import differences
from nodrop.model.fabric import Counter, Device, Interface, Port, PortSide, Trimming
from nodrop.model.qos import PfcWatchdog, QosProfile, Queue, Scheduler, WatchdogConditions, WredProfile
from nodrop.model.routing import Bgp, RouteMap
from nodrop.model.states import require_fact
from nodrop.model.subject import Subject, matches, natural_sort_key
from nodrop.model.types import ROW_KEY_ATTRIBUTES
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.traits import PlatformTraits, traits_of_platform


class PlatformAdaptation(NamedTuple):
    """A deviation of the switches of a group: the wanted value, the substitute, and the reason.

    `path` is a glob of subjects: `leaf*/*/qos/pfc_watchdog` is that of every port of every leaf.
    """

    path: str
    wanted: str
    made: str
    reason: str


class PlatformAdapter:
    """Makes of the switches of one group what their platform can hold; equal profiles stay one object."""

    def __init__(
        self,
        held: PlatformTraits,
        group: TierSwitchGroup,
        timers: FabricWatchdogTimers | None,
        spare: Callable[[int | None], QosProfile],
        length_m: int,
    ) -> None:
        """`spare` gives the QoS of a port without a cable by its speed, `length_m` is the length of its cable to be."""
        self._held, self._group, self._timers = held, group, timers
        self._spare, self._length_m = spare, length_m
        self._made: dict[tuple[QosProfile, PortSide | None, bool], QosProfile] = {}

    def adapt_device(self, device: Device) -> Device:
        """Return a device as its platform can hold it, without its headroom and pools, which are computed later."""
        held, bgp, dynamic = self._held, device.bgp, device.dynamic_buffers
        assert isinstance(device.loopbacks, tuple)
        loopbacks = tuple(
            replace_fields(loopback, name=held.loopback or loopback.name) for loopback in device.loopbacks
        )
        ports = device.interfaces
        if isinstance(device.trimming, Trimming) and held.trimming.by_service_port:
            ports = self._enable_last_service_port(ports, switch(str(device.model)))
        changes: dict[str, object] = {
            "loopbacks": loopbacks,
            "counters": tuple(Counter(group=group, enabled=True) for group in held.counters),
            "interfaces": self._adapt_ports(ports),
            "watchdog_conditions": _merge_watchdog_conditions(held.watchdog.conditions, device.watchdog_conditions),
        }
        if isinstance(bgp, Bgp):
            dscp = bgp.session_dscp if held.session_dscp else None
            waits = bgp.suppress_fib_pending and held.announces_installed
            paths = {name: getattr(bgp, name) for name in ("maximum_paths", "maximum_paths_ipv6")}
            if held.most_paths is not None:
                paths = {name: count and min(count, held.most_paths) for name, count in paths.items()}
            maps = bgp.route_maps if held.global_next_hops else tuple(map(_remove_prefer_global, bgp.route_maps))
            bgp = changes["bgp"] = replace_fields(
                bgp, session_dscp=dscp, route_maps=maps, suppress_fib_pending=waits, **paths
            )
        if isinstance(bgp, Bgp) and device.routing_tables and held.routing_tables is not None:
            changes["bgp"] = fit_bgp_to_config_tables(bgp, held.routing_tables)
        if isinstance(dynamic, DynamicBuffers) and held.pattern_mtu_bytes is not None:
            dynamic = changes["dynamic_buffers"] = replace_fields(
                dynamic, pattern_mtu_bytes=held.pattern_mtu_bytes, small_packet_percent=held.small_packet_percent
            )
        if isinstance(dynamic, DynamicBuffers) and not held.shared_headroom:
            dynamic = changes["dynamic_buffers"] = replace_fields(dynamic, over_subscribe_ratio=None)
        if isinstance(device.buffer_pools, tuple) and not held.pool_shares:
            changes["buffer_pools"] = tuple(replace_fields(pool, percentage=None) for pool in device.buffer_pools)
        if isinstance(device.trimming, Trimming) and held.trimming.by_priority:
            changes["trimming"] = replace_fields(device.trimming, tc=device.trimming.queue)
        if device.hash_fields and not held.hash_fields.issuperset(require_fact(device.hash_fields) or ()):
            changes["hash_fields"] = None
        if held.own_hash_seed:
            changes["hash_seed"] = None
        if device.otlp_collectors and (not held.otlp or switch(str(device.model)).asic in held.without_otlp):
            changes["otlp_collectors"] = ()
        elif device.otlp_collectors and not held.gnmi_beside_otlp:
            changes["gnmi_port"] = None
        if device.high_frequency and supported_sampling(held, str(device.model)) is None:
            changes["high_frequency"] = ()
        if not held.gnmi:
            changes["gnmi_port"] = None
        if self._timers is not None:
            changes["watchdog_polling_ms"] = self._timers.polling_ms[self._group]
        return replace_fields(device, **changes)

    def _adapt_ports(self, ports: tuple[Interface, ...]) -> tuple[Interface, ...]:
        """Return ports; shut ones without QoS have that of most others where every port has one, but for rates."""
        used = Counted(port.qos for port in ports if isinstance(port.qos, QosProfile))
        usual = max(used, key=used.__getitem__, default=None)
        first_interface = None if usual is None else next(port for port in ports if port.qos is usual)
        return tuple(self._adapt_port(port, first_interface) for port in ports)

    def _adapt_port(self, port: Interface, most_common_port: Interface | None) -> Interface:
        held = self._held
        changes: dict[str, object] = {}
        if port.autoneg is None and held.autoneg is not None:
            changes["autoneg"] = held.autoneg
        if port.fec is None and held.fec is not None:
            changes["fec"] = held.fec
        qos, length = port.qos, port.cable_length_m
        if qos is None and held.qos_on_every_port:
            qos, length = self._uncabled_qos_and_length(port, most_common_port)
        elif isinstance(qos, QosProfile):
            qos = self._adapt_qos_profile(qos, cast("PortSide | None", port.side))
        if not held.lossy_cable_length and isinstance(qos, QosProfile) and not qos.pfc_rx_priorities:
            length = None
        if qos is not port.qos or length != port.cable_length_m:
            changes |= {"qos": qos, "cable_length_m": length}
        return replace_fields(port, **changes) if changes else port

    def _uncabled_qos_and_length(self, port: Interface, most_common_port: Interface | None) -> tuple[QosProfile, Any]:
        """Return QoS and cable length of a port that no cable leads to; one that is up has the rates of its speed."""
        if port.enabled:
            return self._adapt_qos_profile(self._spare(cast("int", port.speed_mbps)), None), self._length_m
        if most_common_port is None:
            return self._adapt_qos_profile(self._spare(None), None, rates=False), self._length_m
        return self._adapt_qos_profile(
            cast("QosProfile", most_common_port.qos), None, rates=False
        ), most_common_port.cable_length_m

    def _enable_last_service_port(self, ports: tuple[Interface, ...], model: SwitchModel) -> tuple[Interface, ...]:
        """Return ports with the last service port up, at its fastest speed."""
        ends = {max(group.panels): max(group.speeds) for group in model.ports if group.service}
        last = max(ends, default=None)
        return tuple(
            replace_fields(port, enabled=True, speed_mbps=ends[last])
            if last is not None and isinstance(port.port, Port) and port.port.panel == last
            else port
            for port in ports
        )

    def _adapt_qos_profile(self, qos: QosProfile, side: PortSide | None, *, rates: bool = True) -> QosProfile:
        """Return the profile of a port towards `side`, None for one without a cable; `rates` if its speed is known."""
        key = (qos, side, rates)
        if key not in self._made:
            self._made[key] = self._build_adapted_profile(qos, side, rates=rates)
        return self._made[key]

    def _build_adapted_profile(self, qos: QosProfile, side: PortSide | None, *, rates: bool) -> QosProfile:
        held = self._held
        changes: dict[str, object] = {}
        watchdog = self._adapt_watchdog(qos, side)
        if watchdog is not qos.pfc_watchdog:
            changes["pfc_watchdog"] = watchdog
        if not held.port_buffers:
            changes |= {"ingress_buffers": (), "egress_buffers": ()}
        if not rates and isinstance(qos.queues, tuple):
            qos = replace_fields(qos, queues=tuple(map(_clear_queue_rates, qos.queues)))
        if not held.queue_reserves and isinstance(qos.queues, tuple):
            qos = replace_fields(qos, queues=tuple(map(_clear_queue_reserve, qos.queues)))
        if not held.red_marks and isinstance(qos.queues, tuple):
            changes["queues"] = tuple(
                map(_disable_wred_flags, qos.queues if side else map(_clear_queue_trimming, qos.queues))
            )
        return replace_fields(qos, **changes) if changes else qos

    def _adapt_watchdog(self, qos: QosProfile, side: PortSide | None) -> PfcWatchdog | None:
        watchdog = qos.pfc_watchdog
        if side is None or not isinstance(watchdog, PfcWatchdog):
            return None
        watchdog_traits = self._held.watchdog
        if watchdog_traits.robustness and self._group.tier == 0 and side != "host":
            return None
        return replace_fields(
            watchdog,
            restoration_ms=watchdog.restoration_ms if watchdog_traits.restoration_ms else None,
            action=watchdog.action if watchdog_traits.actions else None,
        )


def _merge_watchdog_conditions(
    usual_conditions: WatchdogConditions | None, intended_conditions: object
) -> WatchdogConditions | None:
    """Return the conditions of a watchdog: the wanted values, else the defaults of an unconfigured switch."""
    if usual_conditions is None or not isinstance(intended_conditions, WatchdogConditions):
        return usual_conditions
    names = ("pause_ten_thousandths", "sent_frames", "queue_percent")
    stated = {name: value for name in names if (value := getattr(intended_conditions, name)) is not None}
    return replace_fields(usual_conditions, **stated)


def _remove_prefer_global(policy: RouteMap) -> RouteMap:
    """Return a policy that leaves the choice between a neighbor's addresses to the switch."""
    rules = tuple(
        replace_fields(rule, sets=tuple(one for one in rule.sets if one != SET_PREFER_GLOBAL_NEXT_HOP))
        for rule in policy.rules
    )
    return replace_fields(policy, rules=rules)


def _disable_wred_flags(queue: Queue) -> Queue:
    wred = queue.wred
    if not isinstance(wred, WredProfile):
        return queue
    green, yellow, red = (replace_fields(color, enabled=False) for color in (wred.green, wred.yellow, wred.red))
    return replace_fields(queue, wred=replace_fields(wred, green=green, yellow=yellow, red=red))


def _clear_queue_rates(queue: Queue) -> Queue:
    """Return a queue of a port that is shut, which has no rate before its speed is known."""
    scheduler = queue.scheduler
    if not isinstance(scheduler, Scheduler):
        return queue
    rates = dict.fromkeys(("guaranteed_bytes_per_s", "guaranteed_burst_bytes", "peak_bytes_per_s", "peak_burst_bytes"))
    return replace_fields(queue, scheduler=replace_fields(scheduler, **rates))


def _clear_queue_reserve(queue: Queue) -> Queue:
    """Return a queue that has nothing of its pool for itself."""
    buffer = queue.buffer
    return (
        replace_fields(queue, buffer=replace_fields(buffer, size_bytes=0))
        if isinstance(buffer, BufferProfile)
        else queue
    )


def _clear_queue_trimming(queue: Queue) -> Queue:
    """Return a queue of a shut port without packet trimming, because trimming is a setting of the port."""
    trims = isinstance(queue.buffer, BufferProfile) and queue.buffer.discard
    return replace_fields(queue, buffer=replace_fields(queue.buffer, discard=None)) if trims else queue


def compare_adapted_devices(made: Iterable[tuple[str, Device, Device]]) -> tuple[PlatformAdaptation, ...]:
    """Return what differs between the switches of groups as they were wanted and as they were made, each kind once."""
    values_of_path: dict[tuple[str, str], tuple[set[str], set[str]]] = {}
    for group, wanted_device, device in made:
        reasons = traits_of_platform(device.platform).reasons
        for difference in differences(wanted_device, device):
            path = _find_covering_path(reasons, subject_of_attribute_path(difference.path))
            was, new_values = values_of_path.setdefault((f"{group}*/{path}", reasons[path]), (set(), set()))
            is_row = is_dataclass(difference.a) or is_dataclass(difference.b)
            for values, value in ((was, difference.a), (new_values, difference.b)):
                values |= set() if is_row and value is None else {_format_value(value)}
    return tuple(
        PlatformAdaptation(path, _render_values(was), _render_values(device_values), reason)
        for (path, reason), (was, device_values) in sorted(values_of_path.items())
    )


def subject_of_attribute_path(path: Subject) -> Subject:
    """Return the subject, below its device, of a path of attributes: `interfaces/swp1/mtu_bytes`."""
    return path[1:] if path[0] == "interfaces" else (f"@{path[0]}", *path[1:])


def _find_covering_path(reasons: Mapping[str, str], subject: Subject) -> str:
    """Return the first path that a platform has a reason for and that covers a subject."""
    return next(path for path in reasons if matches((*path.split("/"), "**"), subject))


def _render_values(values: set[str]) -> str:
    return ", ".join(sorted(values, key=natural_sort_key)) or "none"


def _format_value(value: object) -> str:
    """Spell a value of the model for people."""
    if isinstance(value, QosProfile):
        return "QoS"
    if isinstance(value, PfcWatchdog):
        return f"{value.detection_ms} ms"
    if isinstance(value, WatchdogConditions):
        paused, sent, fill = value.pause_ten_thousandths, value.sent_frames, value.queue_percent
        condition_texts = (
            None if paused is None else f"paused for {paused / 100:g} %",
            None if sent is None else f"up to {sent} frames sent",
            None if fill is None else f"more than {fill} % full",
        )
        return " and ".join(filter(None, condition_texts))
    if isinstance(value, BufferProfile):
        return str(value.pool)
    if isinstance(value, tuple):
        return ", ".join(map(_format_value, value)) or "none"
    if is_dataclass(value):
        return next(str(getattr(value, key)) for key in ROW_KEY_ATTRIBUTES if hasattr(value, key))
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)
