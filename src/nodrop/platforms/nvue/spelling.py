"""Words, ranges and names that an NVUE configuration is written with.

A port's QoS falls into parts, and NVUE has a kind of profile for each. The QoS of most ports is the profile
`default-global`. Ports that differ are bound to profiles named after their settings, to keep the names that other
ports use when a port is added.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nodrop.identity import IdentityKey
from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import QosProfile, Queue
from nodrop.model.states import require_fact
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.nvue.effects import StatedHeadroom, stated_headroom
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.read_macro import ROCE_DEFAULTS_BY_MODE, SWITCH_QOS_DEFAULTS
from nodrop.platforms.nvue.releases import has_feature

GLOBAL_PROFILE = "default-global"
KINDS_WITH_GLOBAL_DEFAULTS = ("congestion-control", "egress-scheduler", "mapping", "pfc")
"""Kinds of which `default-global` says something unless another value is stated."""
PROFILE_KINDS = ("congestion-control", "egress-scheduler", "egress-shaper", "link-pause", "mapping", "pfc", "remark")
"""Of each there are profiles that ports are bound to, in the order of a file."""
NVUE_WORD_BY_FEC = {"rs": "rs", "fc": "baser", "none": "off", "auto": "auto"}
BYTES_PER_KBIT = 125

_NVUE_WORD_BY_TRUST = {"dscp": "l3", "pcp": "l2", "both": "both", None: "port"}
_RATE_UNITS = ((1_000_000, "G"), (1_000, "M"), (1, "k"))


@dataclass(frozen=True, slots=True)
class DialectWords:
    """The words of a release that changed with 5.15: `enabled` is key and value of a feature, `on` that of a flag."""

    old: bool
    enabled: str
    disabled: str
    on: str
    off: str


_OLD_DIALECT = DialectWords(old=True, enabled="enable = on", disabled="enable = off", on="on", off="off")
_NEW_DIALECT = DialectWords(
    old=False, enabled="state = enabled", disabled="state = disabled", on="enabled", off="disabled"
)


def dialect_of_release(version: object) -> DialectWords:
    """Return the dialect of a release that is written."""
    return _NEW_DIALECT if has_feature(version, "enabled instead of on") else _OLD_DIALECT


def format_numbers(indexes: Iterable[int]) -> str:
    """Spell numbers as one key: 0, 1, 2, 5 are `0-2,5`."""
    spans: list[list[int]] = []
    for index in sorted(indexes):
        if spans and index == spans[-1][1] + 1:
            spans[-1][1] = index
        else:
            spans.append([index, index])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)


def format_port_key(object_names: Iterable[str]) -> str:
    """Spell ports as one key: `swp1-4,9` for whole ports, `swp17s0-1,swp18s0-1` for parts."""
    whole_indexes: list[int] = []
    splits: dict[int, list[int]] = {}
    for name in object_names:
        port = nvue_port(name)
        assert port is not None
        if port.part:
            splits.setdefault(port.port.panel, []).append(port.port.split)
        else:
            whole_indexes.append(port.port.panel)
    spans = [f"swp{format_numbers(whole_indexes)}"] if whole_indexes else []
    return ",".join([*spans, *(f"swp{panel}s{format_numbers(indexes)}" for panel, indexes in sorted(splits.items()))])


def group_numbers_by_value(rows: Iterable[tuple[int, Hashable]]) -> list[tuple[str, Any]]:
    """Return (key of all numbers that have a value, the value), by the first number."""
    indexes_by_value: dict[Hashable, list[int]] = {}
    for index, value in rows:
        indexes_by_value.setdefault(value, []).append(index)
    return [(format_numbers(indexes), value) for value, indexes in indexes_by_value.items()]


QueueRows = tuple[tuple[int, Any], ...]
"""(queue, what is said of it)."""


@dataclass(frozen=True, slots=True)
class PfcProfileContent:
    """Priorities with pause, and the length of the cable that headroom is computed for, in metres."""

    rx: tuple[int, ...]
    tx: tuple[int, ...]
    cable_length_m: int | None
    stated: StatedHeadroom | None
    """None where the switch works headroom out."""

    @property
    def priorities(self) -> tuple[int, ...]:
        """The priorities with pause, in either direction."""
        return self.rx or self.tx


@dataclass(frozen=True, slots=True)
class PortClassification:
    """How a port classifies packets: DSCPs and PCPs to switch priorities, None if the port reads neither."""

    trust: str
    dscp: tuple[int, ...] | None
    pcp: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class QueueCongestionControl:
    """Congestion control of a queue: thresholds in bytes of its depth, or in percent of its limit."""

    ecn: bool
    red: bool
    min_bytes: int | None
    max_bytes: int | None
    min_percent: int | None
    max_percent: int | None
    probability_percent: int | None


@dataclass(frozen=True, slots=True)
class PortQosProfiles:
    """A port's QoS in parts: a profile of each kind, None if it needs none, and the settings of the port itself."""

    profiles: tuple[Any, ...]
    watched: bool
    trimmed: tuple[int, ...]
    """Queues whose packets are trimmed rather than dropped."""

    def __getitem__(self, kind: str) -> Any:
        return self.profiles[PROFILE_KINDS.index(kind)]


def split_port_qos(port: Interface) -> PortQosProfiles:
    """Take a port's QoS apart; `limits` has found that NVUE has a word for each part."""
    qos = port.qos
    assert isinstance(qos, QosProfile)
    queues: tuple[Queue, ...] = require_fact(qos.queues)
    schedulers = [(queue.index, require_fact(queue.scheduler)) for queue in queues]
    placed = [(index, scheduler) for index, scheduler in schedulers if scheduler is not None]
    weights = tuple(
        (index, scheduler.weight)
        for index, scheduler in placed
        if scheduler.type == "strict" or scheduler.weight is not None
    )
    rates = [(index, (scheduler.guaranteed_bytes_per_s, scheduler.peak_bytes_per_s)) for index, scheduler in placed]
    shaper = tuple((index, tuple(map(_kbps_from_bytes, pair))) for index, pair in rates if pair != (None, None))
    wreds = [(queue.index, require_fact(queue.wred)) for queue in queues]
    marked = tuple((index, _build_marking(wred)) for index, wred in wreds if wred is not None)
    rewritten, buffers = require_fact(qos.tc_to_dscp), [(queue.index, require_fact(queue.buffer)) for queue in queues]
    profiles = {
        "congestion-control": marked,
        "egress-scheduler": weights,
        "egress-shaper": shaper or None,
        "link-pause": require_fact(port.link_pause),
        "mapping": PortClassification(
            _NVUE_WORD_BY_TRUST[require_fact(qos.trust)], _known_numbers(qos.dscp_to_tc), _known_numbers(qos.pcp_to_tc)
        ),
        "pfc": PfcProfileContent(
            require_fact(qos.pfc_rx_priorities),
            require_fact(qos.pfc_tx_priorities),
            require_fact(port.cable_length_m),
            stated_headroom(require_fact(qos.priority_groups)),
        ),
        "remark": None if rewritten is None else rewritten[:8],
    }
    return PortQosProfiles(
        profiles=tuple(profiles[kind] for kind in PROFILE_KINDS),
        watched=require_fact(qos.pfc_watchdog) is not None,
        trimmed=tuple(index for index, buffer in buffers if buffer is not None and buffer.discard == "trim"),
    )


def _known_numbers(values: object) -> Any:
    return require_fact(values)


def _kbps_from_bytes(bytes_per_s: int | None) -> int | None:
    return None if bytes_per_s is None else bytes_per_s // BYTES_PER_KBIT


def _build_marking(wred: Any) -> QueueCongestionControl:
    color = wred.green
    return QueueCongestionControl(
        ecn=bool(wred.ecn_colors),
        red=color.enabled,
        min_bytes=color.min_bytes,
        max_bytes=color.max_bytes,
        min_percent=color.min_percent,
        max_percent=color.max_percent,
        probability_percent=color.probability_percent,
    )


class DeviceQosProfiles:
    """All QoS profiles of one device and the ports that are bound to them."""

    def __init__(self, device: Device) -> None:
        of_design: dict[tuple[object, ...], PortQosProfiles] = {}
        self.of_port: dict[str, PortQosProfiles] = {}
        for port in device.interfaces:
            key = port.qos, require_fact(port.cable_length_m), require_fact(port.link_pause)
            if key not in of_design:
                of_design[key] = split_port_qos(port)
            self.of_port[port.name] = of_design[key]
        shut = {self.of_port[port.name] for port in device.interfaces if port.enabled is False}
        self.usual = _most_common_qos(self.of_port.values(), shut)
        pausing = {priority for port_qos in of_design.values() for priority in port_qos["pfc"].priorities}
        self.macro = device.qos_style == "macro"
        self.mode = "lossless" if pausing else "lossy"
        self.defaults = ROCE_DEFAULTS_BY_MODE[self.mode] if self.macro else SWITCH_QOS_DEFAULTS
        """The settings of `default-global` without a statement."""
        self._names: dict[str, dict[Any, str]] = {kind: {} for kind in PROFILE_KINDS}
        for kind in PROFILE_KINDS:
            self._name_profiles(kind)

    def _name_profiles(self, kind: str) -> None:
        names, taken = self._names[kind], set()
        if self._can_be_global(kind):
            names[self.usual[kind]] = GLOBAL_PROFILE
        for qos in self.of_port.values():
            value = qos[kind]
            if value is None or value in names:
                continue
            wanted_profile_name = name = self._propose_profile_name(kind, value)
            number = 2
            while name in taken:
                name, number = f"{wanted_profile_name}_{number}", number + 1
            taken.add(name)
            names[value] = name

    def _can_be_global(self, object_kind: str) -> bool:
        """Whether the QoS of most ports can be the global profile, which has more settings than those written."""
        value = self.usual[object_kind]
        if object_kind == "egress-scheduler":
            return self.defaults.shares.keys() <= {index for index, _ in value}
        return value is not None and object_kind not in ("egress-shaper", "link-pause", "remark")

    def profiles(self, kind: str) -> list[tuple[str, Any]]:
        """Return (name, settings) of the profiles of a kind, in the order of a file."""
        return sorted(
            ((name, value) for value, name in self._names[kind].items()), key=lambda row: natural_sort_key(row[0])
        )

    def bindings(self, qos: PortQosProfiles) -> Iterator[tuple[str, str]]:
        """Yield (kind, name) of the profiles that a port is bound to: none where the global one holds."""
        for kind, value in zip(PROFILE_KINDS, qos.profiles, strict=True):
            if value is not None and (name := self._names[kind][value]) != GLOBAL_PROFILE:
                yield kind, name

    def queues_to_exclude_from_marking(self, statement_rows: QueueRows) -> list[int]:
        """Return the queues that need an explicit setting not to mark, because `default-global` marks them."""
        stated = {index for index, _ in statement_rows}
        return [index for index in self.defaults.markings if index not in stated]

    def _propose_profile_name(self, object_kind: str, value: Any) -> str:
        if object_kind == "mapping":
            return f"trust-{value.trust}"
        if object_kind == "link-pause":
            return "pause" if value else "no-pause"
        if object_kind == "remark":
            return "rewrite"
        if object_kind == "pfc":
            return self._pfc_profile_name(value)
        if object_kind == "egress-scheduler":
            return _scheduler_profile_name(value)
        return _shaper_profile_name(value) if object_kind == "egress-shaper" else _congestion_profile_name(value)

    def _pfc_profile_name(self, pfc: PfcProfileContent) -> str:
        usual: PfcProfileContent = self.usual["pfc"]
        if not pfc.priorities:
            return "pfc-off"
        cable = f"cable-{pfc.cable_length_m}m"
        if pfc.stated:
            cable += f"-buffer-{pfc.stated.port_buffer_bytes}"
        if (pfc.rx, pfc.tx) == (usual.rx, usual.tx):
            return cable
        direction = "" if pfc.rx == pfc.tx else "rx-" if pfc.rx else "tx-"
        return f"pfc-{direction}{'-'.join(map(str, pfc.priorities))}-{cable}"


def _most_common_qos(ports: Iterable[PortQosProfiles], shut: Collection[PortQosProfiles]) -> PortQosProfiles:
    """Return what most ports do, of those with PFC if there are any: for the switch as a whole has it then.

    What ports that are `shut` do goes first: they state nothing then.
    """
    total = Counter[PortQosProfiles]()
    for key, count in Counter(map(IdentityKey, ports)).items():  # so that only different objects are hashed
        total[key.value] += count
    pausing = [qos for qos in total if qos["pfc"].priorities]
    able = pausing or [*total]
    return max([port_qos for port_qos in able if port_qos in shut] or able, key=total.__getitem__)


def _scheduler_profile_name(rows: QueueRows) -> str:
    weights = [f"{index}.{weight}" for index, weight in rows if weight is not None]
    strict = [str(index) for index, weight in rows if weight is None]
    return (
        "-".join([*(["dwrr", *weights] if weights else []), *(["strict", *strict] if strict else [])]) or "unscheduled"
    )


def _shaper_profile_name(rows: QueueRows) -> str:
    words = []
    for index, rates in rows:
        texts = (
            f"{word}-{_format_rate(rate)}" for word, rate in zip(("min", "max"), rates, strict=True) if rate is not None
        )
        words.append(f"tc{index}-{'-'.join(texts)}")
    return "-".join(words)


def _format_rate(kbps: int) -> str:
    size, unit = next((size, unit) for size, unit in _RATE_UNITS if kbps % size == 0)
    return f"{kbps // size}{unit}"


def _congestion_profile_name(rows: QueueRows) -> str:
    words = []
    for index, one in rows:
        kind = "ecn-red" if one.ecn and one.red else "ecn" if one.ecn else "red"
        curve = (
            f"{one.min_bytes}-{one.max_bytes}" if one.min_percent is None else f"of-{one.min_percent}-{one.max_percent}"
        )
        words.append(f"{kind}-{index}-{curve}-{one.probability_percent}")
    return "-".join(words) or "unmarked"
