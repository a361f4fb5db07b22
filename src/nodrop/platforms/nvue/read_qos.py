"""Traffic handling of a file's ports: the global profiles, and those that ports are bound to instead."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

from nodrop.identity import IdentityKey
from nodrop.model.qos import NumberMap, PfcWatchdog, QosProfile, Queue, Scheduler, Trust
from nodrop.model.reading import Remedy
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject
from nodrop.model.values import replace_fields
from nodrop.platforms.nvue import conditions, effects
from nodrop.platforms.nvue.corrections import ProfileBindingsOfPorts
from nodrop.platforms.nvue.read_macro import (
    DEFAULT_WATCHDOG_POLLING_MS,
    DEFAULT_WATCHDOG_RECOVERY_POLLINGS,
    DEFAULT_WATCHDOG_ROBUSTNESS,
    IDENTITY_PRIORITY_MAP,
    PFC_PROFILE_CABLE_M,
    QOS_PROFILE_DEFAULTS,
    ROCE_DEFAULTS_BY_MODE,
    ROCE_MODES,
    SWITCH_QOS_DEFAULTS,
    ClassCongestionControl,
    NvueQosDefaults,
    SchedulerShare,
)
from nodrop.platforms.nvue.read_marking import read_traffic_class_marking, wred_of_marking
from nodrop.platforms.nvue.read_pools import (
    read_buffer_limits,
    read_stated_headroom,
    remark_lossy_limits_of_lossless_queues,
)
from nodrop.platforms.nvue.read_shared import SharedHeadroom
from nodrop.platforms.nvue.read_values import ConfigNodeView, NvueConfigFile
from nodrop.platforms.nvue.releases import has_feature
from nodrop.platforms.nvue.traits import RECOVERY_POLLINGS_RANGE

_T = TypeVar("_T")

GLOBAL_PROFILE = "default-global"
PORT_PROFILE_KINDS = (
    "mapping",
    "remark",
    "pfc",
    "link-pause",
    "congestion-control",
    "egress-scheduler",
    "egress-shaper",
)
MAX_SHAPER_RATE_KBPS = 2_147_483_647
SMALL_PACKETS_KEY = "small-packet-probability"
BYTES_PER_KBIT = 125
_TRUST_WORDS = {"l2": "l2", "l3": "l3", "port": "port", "both": "both"}
_TRUST_BY_WORD: Mapping[str, Trust | None] = {"l2": "pcp", "l3": "dscp", "both": "both", "port": None}
_SCHEDULER_MODE_BY_WORD: Mapping[str, Literal["dwrr", "strict"]] = {"dwrr": "dwrr", "strict": "strict"}
_REWRITES_DSCP_BY_WORD = {"l2": False, "l3": True, "both": True}


@dataclass(frozen=True, slots=True)
class PortQos:
    """The QoS that results from a port's bindings; `derived_subjects` has the parts that rest on a default."""

    profile: QosProfile
    cable_length_m: int | None
    link_pause: bool | None
    derived: tuple[tuple[Subject, str], ...]


@dataclass(frozen=True, slots=True)
class PfcProfile:
    """A PFC profile; `cable_length_m` counts where there are priorities."""

    priorities: tuple[int, ...]
    tx: bool
    rx: bool
    cable_length_m: int
    stated: effects.StatedHeadroom | None
    small_percent: int
    """The share of small packets that headroom is worked out with."""


class QosReader:
    """Reads each profile and each combination of profiles once."""

    def __init__(
        self, config: NvueConfigFile, release: str | Unknown = UNKNOWN, model: str | Unknown = UNKNOWN
    ) -> None:
        """`release` is that of the file, such as 5.16, and `model` the switch's, if the file states it."""
        self.config, self._release = config, release
        self.top = config.top.below("qos")
        self.roce = self._roce_macro_mode()
        self.defaults = SWITCH_QOS_DEFAULTS if self.roce is None else ROCE_DEFAULTS_BY_MODE[self.roce]
        self.limits = read_buffer_limits(self.top.below("advance-buffer-config", GLOBAL_PROFILE))
        self.watched = False
        self._bindings: dict[str, ProfileBindingsOfPorts] = {}
        timers = self.top.below("pfc-watchdog")
        self.polling_ms = timers.integer("polling-interval", 100, 5000, "ms")
        self.robustness = timers.integer("robustness", 1, 1000)
        self.recovery = timers.integer("recovery-interval", *RECOVERY_POLLINGS_RANGE)
        self.conditions, self.conditions_stated = conditions.read_watchdog_conditions(timers, release, self.polling_ms)
        self._profiles: dict[tuple[str, str], tuple[object, dict[Subject, str]]] = {}
        self._by_node: dict[tuple[IdentityKey[object], tuple[int, ...]], PortQos] = {}
        self._by_content: dict[tuple[str, tuple[int, ...]], PortQos] = {}
        cable = self.top.below("roce").integer("cable-length", 1, 100_000, "m")
        self._cable_m = self.defaults.cable_length_m if cable is None else cable
        self._cable_stated = cable is not None
        self._usual_small = effects.default_small_packet_percent(model)
        self.queue_of, self._queues_derived = self._traffic_classes_of_switch_priorities()
        self.shared = SharedHeadroom(self.top)
        self.small_percent: int = self._read_profile("pfc", GLOBAL_PROFILE)[0].small_percent

    def read_unbound_profiles(self) -> None:
        """Read the profiles that no port is bound to, to report their problems and that no port is bound to them.

        A file without ports may be one part of a configuration, and another part binds them.
        """
        unread = [(kind, name) for kind in PORT_PROFILE_KINDS for name in self.top.below(kind).node]
        unread = [profile_key for profile_key in unread if profile_key not in self._profiles]
        unbound = {profile_key for profile_key in unread if profile_key[1] != GLOBAL_PROFILE}
        ports = self.config.top.below("interface")
        if unbound and ports:
            bindings = (port.below("qos") for _, port in ports.items())
            unbound -= {
                (kind, name) for qos in bindings for kind in qos.node if (name := qos.below(kind).text("profile"))
            }
            for kind, name in sorted(unbound):
                facts = {"kind": f"{kind} profile", "name": name, "reason": "no port is bound to it"}
                self.config.remark("unused-profile", (), ("qos", kind, name), **facts)
        for kind, name in unread:
            self._read_profile(kind, name)
        priorities: tuple[int, ...] = self._read_profile("pfc", GLOBAL_PROFILE)[0].priorities
        lossless = effects.lossless_queues(priorities, (*self.queue_of, *(None,) * 8))
        remark_lossy_limits_of_lossless_queues(self.top.below("advance-buffer-config", GLOBAL_PROFILE), lossless)

    def _roce_macro_mode(self) -> str | None:
        """Return the macro's mode; None where it is off."""
        roce = self.top.below("roce")
        if not self.top.has("roce"):
            return None
        enable_keys = dict.fromkeys(("enable", "state"))
        stated = [roce.flag(key) for key in enable_keys if roce.has(key)]
        if False in stated:
            return None
        mode: str | None = roce.meaning_of_word("mode", {mode: mode for mode in ROCE_MODES})
        return mode or "lossless"

    def read_port_qos(self, name: str, bound: ConfigNodeView, trimmed: tuple[int, ...] = ()) -> PortQos:
        """Return a port's QoS, from the node `qos` of its interface and the queues whose packets are trimmed."""
        key = IdentityKey[object](bound.node), trimmed
        qos = self._by_node.get(key)
        if qos is None:
            content = repr(bound.node), trimmed
            qos = self._by_content.get(content)
            if qos is None:
                qos = self._by_content[content] = self._build_port_qos(name, bound, trimmed)
            self._by_node[key] = qos
        return qos

    def _resolve_profile(self, port: str, bound: ConfigNodeView, kind: str) -> str:
        """Return the name of the profile that holds for a port: the global one, unless it is bound to another."""
        name = bound.below(kind).text("profile")
        if name is None or name == GLOBAL_PROFILE:
            return GLOBAL_PROFILE
        if not self.top.below(kind).has(name):
            path = (*bound.path, kind, "profile")
            facts = {"kind": f"{kind} profile", "name": name, "field": "profile"}
            self.config.remark(
                "dangling-reference",
                (port, "qos"),
                path,
                partial(self._remedy_binding_as_other_ports, kind, name),
                **facts,
            )
            return GLOBAL_PROFILE
        return name

    def _remedy_binding_as_other_ports(self, kind: str, name: str) -> Remedy:
        """Return the corrections of bindings to a missing profile, where all other ports have the same profile."""
        if kind not in self._bindings:
            self._bindings[kind] = ProfileBindingsOfPorts(self.config.top, kind, GLOBAL_PROFILE)
        return self._bindings[kind].remedy(name)

    def _read_profile(self, kind: str, name: str) -> tuple[Any, dict[Subject, str]]:
        """Return the settings of a profile, and which of them are defaults; each profile is read once."""
        key = kind, name
        if key not in self._profiles:
            make = getattr(self, f"_{kind.replace('-', '_')}")
            defaults = self.defaults if name == GLOBAL_PROFILE else QOS_PROFILE_DEFAULTS
            derived: dict[Subject, str] = {}
            self._profiles[key] = make(self.top.below(kind, name), defaults, derived), derived
        return self._profiles[key]

    def _build_port_qos(self, port: str, bound: ConfigNodeView, trimmed: tuple[int, ...]) -> PortQos:
        profiles = {
            kind: self._read_profile(kind, self._resolve_profile(port, bound, kind)) for kind in PORT_PROFILE_KINDS
        }
        derived = {subject: reason for _, reasons in profiles.values() for subject, reason in reasons.items()}
        derived |= self._queues_derived
        trust, dscp, pcp = profiles["mapping"][0]
        pfc: PfcProfile = profiles["pfc"][0]
        rx = pfc.priorities if pfc.rx else ()
        tx = pfc.priorities if pfc.tx else ()
        paused = tuple(sorted({*rx, *tx}))
        if trust == "l2" or trust == "port":
            derived.pop(("qos", "dscp_to_tc"), None)
        if trust == "l3" or trust == "port":
            derived.pop(("qos", "pcp_to_tc"), None)
        if not paused:
            derived.pop(("cable_length_m",), None)
        pool = "ingress_lossy" if self.defaults.one_ingress_pool else "ingress_lossless"
        groups = effects.priority_groups(
            paused,
            self.limits.ingress_lossless,
            lossy_th=self.limits.ingress_lossy,
            pool=pool,
            stated_headroom=self._stated_headroom(bound, pfc),
            quotas=self.limits.quotas,
        )
        queues = (*self.queue_of, *(None,) * 8)
        watchdog = self._read_port_watchdog(bound, rx, derived)
        profile = QosProfile(
            trust=_TRUST_BY_WORD[trust],
            dscp_to_tc=dscp if trust in ("l3", "both") else None,
            pcp_to_tc=pcp if trust in ("l2", "both") else None,
            tc_to_queue=queues,
            tc_to_priority_group=effects.tc_to_priority_group(paused),
            pfc_to_queue=effects.pfc_to_queue(queues),
            pfc_to_priority_group=effects.pfc_to_priority_group(paused),
            tc_to_dscp=profiles["remark"][0],
            pfc_rx_priorities=rx,
            pfc_tx_priorities=tx,
            pfc_watchdog=watchdog,
            priority_groups=groups,
            queues=self._queues(profiles, effects.lossless_queues(paused, queues), trimmed),
        )
        pause = profiles["link-pause"][0]
        return PortQos(profile, pfc.cable_length_m if paused else None, pause, tuple(derived.items()))

    def _stated_headroom(self, bound: ConfigNodeView, pfc: PfcProfile) -> effects.StatedHeadroom | None:
        """Return the stated headroom of a port; unknown if the switch computes headroom in another way."""
        small = bound.integer(SMALL_PACKETS_KEY, 0, 100, "percent")
        if bound.flag("shared-headroom-pool"):
            return self.shared.headroom_of_sharing_port()
        if pfc.stated is None and (pfc.small_percent if small is None else small) != self.small_percent:
            return effects.UNKNOWN_HEADROOM
        return pfc.stated

    def _traffic_classes_of_switch_priorities(self) -> tuple[tuple[int, ...], dict[Subject, str]]:
        """Return switch priority to traffic class; the only profile there is holds for every port."""
        classes = list(self.defaults.traffic_classes)
        stated = set()
        for priority, node in self.top.below("egress-queue-mapping", GLOBAL_PROFILE).items_by_number(
            "switch-priority", 7
        ):
            target = node.integer("traffic-class", 0, 7)
            if target is not None:
                classes[priority] = target
                stated.add(priority)
        fields = ("tc_to_queue", "pfc_to_queue")
        derived = _unstated_map_entries(fields, range(8), stated, self.defaults.reason)
        return tuple(classes), derived

    def _mapping(
        self, node: ConfigNodeView, defaults: NvueQosDefaults, derived_subjects: dict[Subject, str]
    ) -> tuple[str, NumberMap, NumberMap]:
        trust = node.meaning_of_word("trust", _TRUST_WORDS)
        if trust is None:
            trust = defaults.trust
            derived_subjects["qos", "trust"] = defaults.reason
        maps = []
        for key, field, usual in (("dscp", "dscp_to_tc", defaults.dscp), ("pcp", "pcp_to_tc", IDENTITY_PRIORITY_MAP)):
            targets, stated = list(usual), set()
            for index, inside in node.items_by_number(key, len(usual) - 1):
                priority = inside.integer("switch-priority", 0, 7)
                if priority is not None:
                    targets[index] = priority
                    stated.add(index)
            derived_subjects |= _unstated_map_entries((field,), range(len(usual)), stated, defaults.reason)
            maps.append(tuple(targets))
        return trust, maps[0], maps[1]

    def _remark(
        self, node: ConfigNodeView, defaults: NvueQosDefaults, derived_subjects: dict[Subject, str]
    ) -> NumberMap | None:
        """Return switch priority to DSCP where DSCP is rewritten, else None."""
        rewrite = node.meaning_of_word("rewrite", _REWRITES_DSCP_BY_WORD)
        stated = {}
        for priority, inside in node.items_by_number("switch-priority", 7):
            dscp = inside.integer("dscp", 0, 63)
            if dscp is not None:
                stated[priority] = dscp
        if not rewrite:
            return None
        derived_subjects |= _unstated_map_entries(
            ("tc_to_dscp",), range(8), set(stated), "the rewriting that the chip begins with"
        )
        return (*(stated.get(priority, 8 * priority) for priority in range(8)), *(None,) * 8)

    def _pfc(self, node: ConfigNodeView, defaults: NvueQosDefaults, derived: dict[Subject, str]) -> PfcProfile:
        priorities = tuple(sorted({priority for priority, _ in node.items_by_number("switch-priority", 7)}))
        if not node.has("switch-priority"):
            priorities = defaults.pfc_priorities
            derived["qos", "pfc_rx_priorities"] = derived["qos", "pfc_tx_priorities"] = defaults.reason
        enabled_by_direction = {}
        for direction in ("tx", "rx"):
            stated = node.flag(direction)
            enabled_by_direction[direction] = stated is not False
            if stated is None and priorities:
                derived["qos", f"pfc_{direction}_priorities"] = defaults.reason
        cable = node.integer("cable-length", 1, 100_000, "m")
        if cable is None:
            is_global = node.path[-1] == GLOBAL_PROFILE
            cable = self._cable_m if is_global else PFC_PROFILE_CABLE_M
            if not (is_global and self._cable_stated):
                derived["cable_length_m",] = defaults.reason
        small = node.integer(SMALL_PACKETS_KEY, 0, 100, "percent")
        return PfcProfile(
            priorities=priorities,
            tx=enabled_by_direction["tx"],
            rx=enabled_by_direction["rx"],
            cable_length_m=cable,
            stated=read_stated_headroom(node),
            small_percent=self._usual_small if small is None else small,
        )

    def _link_pause(
        self, node: ConfigNodeView, _defaults: NvueQosDefaults, derived_subjects: dict[Subject, str]
    ) -> bool | None:
        if not self.top.below("link-pause").has(node.path[-1]):
            return None
        stated = [node.flag(direction) for direction in ("tx", "rx")]
        if None in stated:
            derived_subjects["link_pause",] = "a link pause profile sends and obeys pauses by default"
        return stated != [False, False]

    def _congestion_control(
        self, node: ConfigNodeView, defaults: NvueQosDefaults, derived_subjects: dict[Subject, str]
    ) -> Mapping[int, ClassCongestionControl]:
        markings = self._defaults_in_use(defaults.markings)
        stated = set()
        for tc, inside in node.items_by_number("traffic-class", 7):
            markings[tc], is_stated = read_traffic_class_marking(
                inside, markings.get(tc, defaults.markings.get(tc, ClassCongestionControl()))
            )
            stated |= {tc} if is_stated else set()
        for tc in markings.keys() - stated:
            derived_subjects["qos", "queues", str(tc), "wred"] = defaults.reason
        return markings

    def _egress_scheduler(
        self, node: ConfigNodeView, defaults: NvueQosDefaults, derived_subjects: dict[Subject, str]
    ) -> Mapping[int, SchedulerShare]:
        shares = self._defaults_in_use(defaults.shares)
        stated = set()
        for tc, inside in node.items_by_number("traffic-class", 7):
            old = shares.get(tc, defaults.shares.get(tc, SchedulerShare()))
            mode = inside.meaning_of_word("mode", _SCHEDULER_MODE_BY_WORD) or old.mode
            percent = inside.integer("bw-percent", 0, 100, "percent")
            usual = old.percent if old.mode == mode else None
            shares[tc] = SchedulerShare(mode, None if mode == "strict" else usual if percent is None else percent)
            stated |= {tc} if inside.has("mode") else set()
        for tc in shares.keys() - stated:
            derived_subjects["qos", "queues", str(tc), "scheduler"] = defaults.reason
        return shares

    def _defaults_in_use(self, defaults: Mapping[int, _T]) -> dict[int, _T]:
        """Return what holds by default of the traffic classes that anything leaves by; nobody set up the others."""
        return {tc: setting for tc, setting in defaults.items() if tc in self.queue_of}

    def _egress_shaper(
        self, node: ConfigNodeView, _defaults: NvueQosDefaults, _derived: dict[Subject, str]
    ) -> Mapping[int, tuple[int | None, ...]]:
        node.integer("port-max-rate", 0, MAX_SHAPER_RATE_KBPS, "kb/s")
        rates = {}
        for tc, inside in node.items_by_number("traffic-class", 7):
            integers = [inside.integer(key, 0, MAX_SHAPER_RATE_KBPS, "kb/s") for key in ("min-rate", "max-rate")]
            rates[tc] = tuple(rate and rate * BYTES_PER_KBIT for rate in integers)
        return rates

    def _queues(
        self, profiles: Mapping[str, tuple[Any, Any]], lossless: frozenset[int], trimmed: tuple[int, ...]
    ) -> tuple[Queue, ...]:
        """Return a row for every traffic class that has a place in the scheduler, a rate, marking or trimming."""
        shares, rates = profiles["egress-scheduler"][0], profiles["egress-shaper"][0]
        markings = {
            tc: wred_of_marking(class_marking) for tc, class_marking in profiles["congestion-control"][0].items()
        }
        marked = {tc for tc, wred_profile in markings.items() if wred_profile is not None}
        return tuple(
            Queue(
                index=tc,
                scheduler=_build_scheduler(shares.get(tc), rates.get(tc)),
                wred=markings.get(tc),
                buffer=replace_fields(
                    effects.queue_buffer(tc in lossless, tc, self.limits), discard="trim" if tc in trimmed else None
                ),
            )
            for tc in sorted({*shares, *rates, *marked, *trimmed})
        )

    def _read_port_watchdog(
        self, bound: ConfigNodeView, rx: tuple[int, ...], derived: dict[Subject, str]
    ) -> PfcWatchdog | None:
        if not bound.has("pfc-watchdog") or bound.below("pfc-watchdog").flag("state") is False:
            return None
        self.watched = True
        if self.polling_ms is None or self.robustness is None:
            reason = f"polling every {DEFAULT_WATCHDOG_POLLING_MS} ms, {DEFAULT_WATCHDOG_ROBUSTNESS} times, by default"
            derived["qos", "pfc_watchdog", "detection_ms"] = reason
        polling = self.polling_ms or DEFAULT_WATCHDOG_POLLING_MS
        restores = isinstance(self._release, str) and has_feature(self._release, "a time of restoration")
        recovery = self.recovery or (DEFAULT_WATCHDOG_RECOVERY_POLLINGS if restores else None)
        if recovery and (self.polling_ms is None or self.recovery is None):
            times = f"{DEFAULT_WATCHDOG_RECOVERY_POLLINGS} pollings of {DEFAULT_WATCHDOG_POLLING_MS} ms"
            reason = f"{times} without pause, by default"
            derived["qos", "pfc_watchdog", "restoration_ms"] = reason
        return PfcWatchdog(
            priorities=rx,
            detection_ms=polling * (self.robustness or DEFAULT_WATCHDOG_ROBUSTNESS),
            restoration_ms=polling * recovery if recovery else None,
            action=None,
        )


def _unstated_map_entries(fields: tuple[str, ...], indexes: range, stated: set[int], reason: str) -> dict[Subject, str]:
    """Return the entries of maps that were not stated: each, or the whole map where none was."""
    if not stated:
        return {("qos", field): reason for field in fields}
    return {("qos", field, str(index)): reason for field in fields for index in indexes if index not in stated}


def _build_scheduler(share: SchedulerShare | None, rates: tuple[int | None, int | None] | None) -> Scheduler | None:
    if share is None and rates is None:
        return None
    mode, percent = (share.mode, share.percent) if share else ("dwrr", None)
    low, high = rates or (None, None)
    return Scheduler(type=mode, weight=percent, guaranteed_bytes_per_s=low, peak_bytes_per_s=high)
