"""Buffers of switches that do not compute their headroom: the traditional model, headroom by tables.

A lossless port gets the values in `hardware/tables.py`: the row of its HWSKU for its speed and the next cable length,
or the values that the rows of its model's other HWSKUs ask for. All are written out, so the switch has the designed
values with the table of any release.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from nodrop.design.adapting import PlatformAdaptation
from nodrop.design.boxes import PlannedSwitches
from nodrop.design.buffers import (
    EGRESS_LOSSLESS,
    EGRESS_LOSSY,
    EXPONENT_BY_ALPHA,
    INGRESS_LOSSLESS,
    INGRESS_LOSSY,
    LosslessGroupFromTables,
    TierBuffers,
)
from nodrop.design.faults import KeyFault
from nodrop.design.hwskus import hwsku_of, notes_on_ports_without_hwsku
from nodrop.design.kinds import LinkKind, link_kinds_of
from nodrop.design.modes import has_pfc
from nodrop.design.reserves import lossy_queue_reserve
from nodrop.design.topology import TierSwitchGroup, Topology, topology_of
from nodrop.hardware import asic
from nodrop.hardware.schema import SwitchModel
from nodrop.hardware.tables import cell_bytes, table_headroom
from nodrop.hardware.thresholds import (
    least_oversubscription_ratio,
    memory_left_by_shared_headroom_bytes,
    unlimited_threshold_bytes,
)
from nodrop.intent.schema import MAX_HEADROOM_OVERSUBSCRIPTION, Buffers, Intent, TrafficClass
from nodrop.model.buffers import BufferPool, BufferProfile, Headroom
from nodrop.units import show_bytes, show_speed

LOSSY_DYNAMIC_TH = 1


def has_static_headroom(switch_model: SwitchModel) -> bool:
    """Whether a switch has its headroom from tables: its ASIC works none out by a formula that is known."""
    facts = asic(switch_model.asic)
    return "dynamic" not in facts.buffer_models or not facts.has_headroom_terms


def static_headroom_faults(intent: Intent, switches: PlannedSwitches) -> Iterator[KeyFault]:
    """Yield lengths whose headroom fills the memory of switches that have it from tables."""
    for group, nodes in switches.groups.items():
        if has_pfc(intent.mode) and has_static_headroom(nodes[0].model):
            yield from _headroom_faults_of_group(intent, group, nodes[0].model)


def _headroom_faults_of_group(intent: Intent, group: TierSwitchGroup, switch_model: SwitchModel) -> Iterator[KeyFault]:
    topology = topology_of(intent)
    links, hwsku = link_kinds_of(topology, group, switch_model), hwsku_of(topology, group, switch_model)
    speeds = sorted(switch_model.sonic.headroom_speeds_mbps)
    if lacking := [kind for kind in links if kind.speed_mbps not in speeds]:
        for kind in lacking:
            lost = f"no HWSKU of {switch_model.name} has a headroom row for {show_speed(kind.speed_mbps)}"
            fault = f"{lost} in its pg_profile_lookup.ini"
            yield KeyFault((*kind.keys, "speed"), fault, ", ".join(map(show_speed, speeds)))
        return
    plan = _StaticBufferPlan(intent.classes, intent.mtu, intent.buffers, switch_model, hwsku, links)
    yield from _shared_headroom_faults(intent.buffers, group, switch_model, plan)
    if plan.free_bytes > 0:
        return
    longest = max(links, key=lambda kind: kind.length_m)

    def fills(length_m: int) -> bool:
        cut = tuple(kind._replace(length_m=min(kind.length_m, length_m)) for kind in links)
        return _StaticBufferPlan(intent.classes, intent.mtu, intent.buffers, switch_model, hwsku, cut).free_bytes <= 0

    fits = bisect_left(range(1, longest.length_m), True, key=fills)
    memory = show_bytes(switch_model.buffer_bytes or 0)
    fault = f"the headroom of {group.label}' ports at {longest.length_m}m fills the {memory}"
    expected = f"at most {fits}m" if fits else "fewer lossless ports"
    ratio = least_oversubscription_ratio(asic(switch_model.asic), plan.whole_bytes, plan.needed_bytes)
    shares = plan.most_bytes and ratio <= min(plan.needed_bytes // plan.most_bytes, MAX_HEADROOM_OVERSUBSCRIPTION)
    hint = f"or buffers.shared_headroom: {ratio}" if shares else ""
    yield KeyFault((*longest.keys, "length"), f"{fault} of {switch_model.name}", expected, hint)


def _shared_headroom_faults(
    buffers: Buffers, group: TierSwitchGroup, model: SwitchModel, plan: "_StaticBufferPlan"
) -> Iterator[KeyFault]:
    """Yield a ratio with too little shared headroom for the needs of one port, or that shares nothing."""
    ratio, keys = buffers.headroom_over_subscription, ("buffers", "shared_headroom")
    if ratio is not None and not plan.most_bytes:
        fault = f"the table of {plan.hwsku} has all headroom in each port's own"
        yield KeyFault(keys, fault, "off")
    elif ratio is not None and plan.headroom_bytes < plan.most_bytes:
        least = show_bytes(plan.most_bytes)
        fault = f"{ratio} leaves the {group.label} less than the {least} that one of their ports needs"
        yield KeyFault(keys, fault, f"at most {plan.needed_bytes // plan.most_bytes}")


def design_static_buffers(intent: Intent, group: TierSwitchGroup, switch_model: SwitchModel) -> TierBuffers:
    """Return the buffers of a tier whose switches have a traditional model; `static_headroom_faults` has found none."""
    assert switch_model.buffer_bytes is not None
    topology = topology_of(intent)
    links = link_kinds_of(topology, group, switch_model)
    if not has_pfc(intent.mode):
        return _buffers_without_pfc(
            switch_model, switch_model.buffer_bytes, _queue_reserves_bytes(intent.classes, switch_model, links)
        )
    hwsku = hwsku_of(topology, group, switch_model)
    plan = _StaticBufferPlan(intent.classes, intent.mtu, intent.buffers, switch_model, hwsku, links)
    memory = switch_model.buffer_bytes
    unlimited = unlimited_threshold_bytes(asic(switch_model.asic), memory, memory - plan.whole_bytes)
    lossy = plan.round_down_to_cell(plan.shared_bytes * (100 - intent.buffers.lossless_pool) / 100)
    pools = (
        BufferPool(name=EGRESS_LOSSLESS, direction="egress", mode="static", size_bytes=memory),
        BufferPool(name=EGRESS_LOSSY, direction="egress", mode="dynamic", size_bytes=lossy),
        BufferPool(
            name=INGRESS_LOSSLESS,
            direction="ingress",
            mode="dynamic",
            size_bytes=plan.pool_bytes,
            shared_headroom_bytes=plan.headroom_bytes or None,
        ),
    )
    return TierBuffers(
        model="traditional",
        pools=pools,
        dynamic=None,
        lossy_group=BufferProfile(pool=INGRESS_LOSSLESS, size_bytes=0, static_th_bytes=unlimited),
        lossless_queue=BufferProfile(pool=EGRESS_LOSSLESS, size_bytes=0, static_th_bytes=unlimited),
        lossy_queue=_lossy_queue_buffer(switch_model),
        reserved_queue=_lossy_queue_buffer(switch_model),
        fits=plan.fits,
        maps_pause_to_groups=_maps_pause_to_groups(switch_model),
    )


def _buffers_without_pfc(switch_model: SwitchModel, memory: int, reserved_bytes: int) -> TierBuffers:
    unlimited = unlimited_threshold_bytes(asic(switch_model.asic), memory, reserved_bytes)
    return TierBuffers(
        model="traditional",
        pools=(
            BufferPool(name=EGRESS_LOSSY, direction="egress", mode="dynamic", size_bytes=memory),
            BufferPool(name=INGRESS_LOSSY, direction="ingress", mode="dynamic", size_bytes=memory),
        ),
        dynamic=None,
        lossy_group=BufferProfile(pool=INGRESS_LOSSY, size_bytes=0, static_th_bytes=unlimited),
        lossy_queue=_lossy_queue_buffer(switch_model),
        reserved_queue=_lossy_queue_buffer(switch_model),
        maps_pause_to_groups=_maps_pause_to_groups(switch_model),
    )


def _queue_reserves_bytes(classes: Mapping[str, TrafficClass], model: SwitchModel, links: Sequence[LinkKind]) -> int:
    """Return what the lossy queues of all ports of a switch reserve, in bytes."""
    lossy_classes = sum(not traffic_class.lossless for traffic_class in classes.values())
    return sum(link.ports for link in links) * lossy_classes * lossy_queue_reserve(model, static=True).size_bytes


def _lossy_queue_buffer(model: SwitchModel) -> BufferProfile:
    reserve = lossy_queue_reserve(model, static=True)
    return BufferProfile(pool=EGRESS_LOSSY, size_bytes=reserve.size_bytes, dynamic_th=LOSSY_DYNAMIC_TH)


def _maps_pause_to_groups(switch_model: SwitchModel) -> bool:
    """Whether the chip takes a separate map from pause to priority groups (qos_config.j2)."""
    return asic(switch_model.asic).sonic_type in ("mellanox", "barefoot")


class _StaticBufferPlan:
    """The memory that the ports of a tier's switches need."""

    def __init__(
        self,
        classes: Mapping[str, TrafficClass],
        mtu_bytes: int,
        buffers: Buffers,
        model: SwitchModel,
        hwsku: str | None,
        links: tuple[LinkKind, ...],
    ) -> None:
        self.hwsku = hwsku or model.sonic.hwsku
        self._cell = cell_bytes(model)
        lossless = [traffic_class for traffic_class in classes.values() if traffic_class.lossless]
        self.fits = {
            (link.speed_mbps, link.length_m): self._fit_static_buffer(mtu_bytes, buffers, model, link) for link in links
        }
        ports = [(link.ports * len(lossless), self.fits[link.speed_mbps, link.length_m]) for link in links]
        self.needed_bytes = sum(count * fit.shared_bytes for count, fit in ports)
        """The headroom of all ports at once, that within their own reserves left out."""
        self.most_bytes = max(len(lossless) * fit.shared_bytes for _, fit in ports)
        """That of a port that needs most."""
        self.headroom_bytes = self._round_up_to_cell(self.needed_bytes / (buffers.headroom_over_subscription or 1))
        reserved = sum(count * fit.reserved_bytes for count, fit in ports)
        reserved += _queue_reserves_bytes(classes, model, links)
        self.whole_bytes = self.round_down_to_cell((model.buffer_bytes or 0) - reserved)
        self.shared_bytes = self.whole_bytes - self.headroom_bytes
        """What queues can share."""
        chip = asic(model.asic)
        self.free_bytes = memory_left_by_shared_headroom_bytes(chip, self.whole_bytes, self.headroom_bytes)
        """What thresholds of priority groups count from."""
        self.pool_bytes = self.shared_bytes if chip.headroom_beside_pool else self.whole_bytes
        """The ingress pool, the shared headroom within where the chip counts it so."""

    def round_down_to_cell(self, count: float) -> int:
        """Return bytes rounded down to whole cells."""
        return int(count // self._cell) * self._cell

    def _round_up_to_cell(self, count: float) -> int:
        return math.ceil(count / self._cell) * self._cell

    def _fit_static_buffer(
        self, mtu_bytes: int, buffers: Buffers, model: SwitchModel, kind: LinkKind
    ) -> LosslessGroupFromTables:
        new_table_headroom = table_headroom(
            model, self.hwsku, speed_mbps=kind.speed_mbps, length_m=kind.length_m, mtu_bytes=mtu_bytes
        )
        assert new_table_headroom is not None
        like, xoff = new_table_headroom.row, new_table_headroom.xoff_bytes
        headroom = Headroom(
            xoff_bytes=xoff, xon_bytes=like.xon_bytes, xon_offset_bytes=like.xon_offset_bytes, computed=False
        )
        holds_xoff = like.size_bytes >= like.xoff_bytes
        size = like.size_bytes + (xoff - like.xoff_bytes if holds_xoff else 0)
        buffer = BufferProfile(
            pool=INGRESS_LOSSLESS,
            size_bytes=size,
            dynamic_th=None if new_table_headroom.static else EXPONENT_BY_ALPHA[buffers.alpha],
            static_th_bytes=like.threshold if new_table_headroom.static else None,
            headroom=headroom,
        )
        return LosslessGroupFromTables(buffer, new_table_headroom, size, 0 if holds_xoff else xoff)


def static_headroom_notes(
    topology: Topology, group: TierSwitchGroup, switch_model: SwitchModel, buffers: TierBuffers
) -> Iterator[PlatformAdaptation]:
    """Yield the substitutes for true cables, headroom and ports that no table or HWSKU of the model has."""
    yield from notes_on_ports_without_hwsku(topology, group, switch_model)
    if not buffers.fits:
        return
    table = f"the table of {hwsku_of(topology, group, switch_model) or switch_model.sonic.hwsku}"
    rounded = sorted((length, fit.cable_m) for (_, length), fit in buffers.fits.items() if length != fit.cable_m)
    if rounded:
        true_lengths, adapted_text = (", ".join(dict.fromkeys(f"{pair[at]} m" for pair in rounded)) for at in (0, 1))
        reason = f"the traditional buffer model knows the cables of {table}; the true ones stay in the fabric"
        yield PlatformAdaptation(f"{group.name}*/*/cable_length_m", true_lengths, adapted_text, reason)
    for (speed, length), fit in sorted(buffers.fits.items(), key=lambda item: item[0]):
        if not fit.of.derived:
            continue
        row = f"row of {fit.of.hwsku} for {fit.of.row.cable_m} m"
        reason = f"{table} has no row for {show_speed(speed)} and {length} m: derived from the {row}, and no less than "
        reason += "any row of the model at that speed and length, or lower ones"
        adapted_text = f"{fit.xoff_bytes} bytes"
        yield PlatformAdaptation(
            f"{group.name}*/*/qos/priority_groups/*/buffer", "a row of the table", adapted_text, reason
        )
