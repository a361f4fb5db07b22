"""Pools, thresholds and headroom: on NVIDIA ASICs SONiC's dynamic model, with true cable lengths."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from nodrop.design.kinds import link_kinds_of
from nodrop.design.modes import has_pfc
from nodrop.design.reserves import PORT_RESERVE_BYTES, lossy_queue_reserve
from nodrop.design.topology import TierSwitchGroup, topology_of
from nodrop.hardware import asic
from nodrop.hardware.formulas import headroom_formula_of
from nodrop.hardware.headroom import compute_headroom
from nodrop.hardware.schema import SwitchModel
from nodrop.hardware.tables import TableHeadroom
from nodrop.intent.schema import Intent
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.model.qos import PriorityGroup
from nodrop.model.states import UNKNOWN
from nodrop.model.values import replace_fields

EXPONENT_BY_ALPHA = {"1/8": -3, "1/4": -2, "1/2": -1, "1": 0, "2": 1, "4": 2, "8": 3}
DEFAULT_PATTERN_MTU_BYTES = 1024
"""SONiC's own pattern (sonic-buildimage files/build_templates/buffers_config.j2)."""

DEFAULT_SMALL_PACKET_PERCENT = 50
"""The share of small packets in the same pattern."""

UNLIMITED_DYNAMIC_TH = 7
"""`dynamic_th` by which a queue may take the whole pool on NVIDIA ASICs: lossless traffic bypasses egress admission."""
LOSSY_DYNAMIC_TH = 3
"""The thresholds of the vendor's defaults (device/mellanox/.../buffers_defaults_objects.j2)."""

INGRESS_LOSSLESS, INGRESS_LOSSY = "ingress_lossless", "ingress_lossy"
EGRESS_LOSSLESS, EGRESS_LOSSY = "egress_lossless", "egress_lossy"


class LosslessGroupFromTables(NamedTuple):
    """The lossless priority group of a kind of links where headroom comes from tables."""

    buffer: BufferProfile
    of: TableHeadroom
    reserved_bytes: int
    """What it has of its own; with all of its headroom, where a table's sizes hold that."""
    shared_bytes: int
    """What it takes of the shared headroom."""

    @property
    def xoff_bytes(self) -> int:
        """Return the headroom."""
        return self.of.xoff_bytes

    @property
    def cable_m(self) -> int:
        """Return the length that the switch is configured with."""
        return self.of.cable_m


@dataclass(frozen=True, slots=True, kw_only=True)
class TierBuffers:
    """The buffers of a tier's switches: per switch, and what its ports and queues use."""

    model: Literal["dynamic", "traditional"] = "dynamic"
    pools: tuple[BufferPool, ...]
    dynamic: DynamicBuffers | None
    """None where nothing is lossless, or the switch works no headroom out."""
    lossy_group: BufferProfile
    lossless_group: BufferProfile | None = None
    """Of every kind of links; None where `fits` has one for each."""
    lossless_queue: BufferProfile | None = None
    lossy_queue: BufferProfile
    reserved_queue: BufferProfile
    """Of a lossy queue with a reserve."""
    ingress: tuple[BufferProfile, ...] = ()
    egress: tuple[BufferProfile, ...] = ()
    fits: Mapping[tuple[int, int], LosslessGroupFromTables] = field(default_factory=dict)
    """By speed (Mb/s) and true length (m) of a link."""
    maps_pause_to_groups: bool = True
    """Whether ports have a map from the priority of a pause to priority groups."""

    def priority_groups_of_port(
        self, lossless: tuple[int, ...], speed_mbps: int, length_m: int
    ) -> tuple[PriorityGroup, ...]:
        """Return a port's priority groups: 0 for all lossy traffic, and one for each lossless priority."""
        fit = self.fits.get((speed_mbps, length_m))
        buffer = fit.buffer if fit else self.lossless_group
        lossy = PriorityGroup(index=0, buffer=self.lossy_group)
        return (lossy, *(PriorityGroup(index=index, buffer=buffer) for index in lossless))

    def configured_cable_m(self, speed_mbps: int, length_m: int) -> int:
        """Return the length of a cable in the switch's configuration."""
        fit = self.fits.get((speed_mbps, length_m))
        return fit.cable_m if fit else length_m

    def egress_queue_buffer(self, lossless: bool, *, trimmed: bool, reserved: bool) -> BufferProfile | None:
        """Return the buffer of an egress queue; of one that is trimmed, packets that do not fit are cut."""
        if lossless:
            return self.lossless_queue
        if reserved:
            return self.reserved_queue
        return replace_fields(self.lossy_queue, discard="trim") if trimmed else self.lossy_queue


def _make_lossy_profile(pool: str, size_bytes: int, dynamic_th: int) -> BufferProfile:
    return BufferProfile(pool=pool, size_bytes=size_bytes, dynamic_th=dynamic_th)


def design_dynamic_buffers(intent: Intent, group: TierSwitchGroup, switch_model: SwitchModel) -> TierBuffers:
    """Return the buffers of a tier; they follow from the declarations of the intent, not from the cabling."""
    exponent = EXPONENT_BY_ALPHA[intent.buffers.alpha]
    lossy_group = _make_lossy_profile(INGRESS_LOSSY, 0, LOSSY_DYNAMIC_TH)
    lossy_queue = _make_lossy_profile(EGRESS_LOSSY, 0, LOSSY_DYNAMIC_TH)
    lossless = BufferProfile(
        pool=INGRESS_LOSSLESS,
        size_bytes=UNKNOWN,
        dynamic_th=exponent,
        headroom=Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True),
    )
    reserved_queue = _make_lossy_profile(
        EGRESS_LOSSY, lossy_queue_reserve(switch_model, static=False).size_bytes, LOSSY_DYNAMIC_TH
    )
    ingress = (lossy_group,)
    egress = (_make_lossy_profile(EGRESS_LOSSY, PORT_RESERVE_BYTES, UNLIMITED_DYNAMIC_TH),)
    if not has_pfc(intent.mode):
        return TierBuffers(
            pools=(
                _build_dynamic_pool(EGRESS_LOSSY, "egress", 100),
                _build_dynamic_pool(INGRESS_LOSSY, "ingress", 100),
            ),
            dynamic=None,
            lossy_group=lossy_group,
            lossy_queue=lossy_queue,
            reserved_queue=reserved_queue,
            ingress=ingress,
            egress=egress,
        )
    share = intent.buffers.lossless_pool
    return TierBuffers(
        pools=(
            BufferPool(
                name=EGRESS_LOSSLESS, direction="egress", mode="dynamic", size_bytes=_buffer_bytes_of(switch_model)
            ),
            _build_dynamic_pool(EGRESS_LOSSY, "egress", 100 - share),
            _build_dynamic_pool(INGRESS_LOSSLESS, "ingress", share),
            _build_dynamic_pool(INGRESS_LOSSY, "ingress", 100 - share),
        ),
        dynamic=DynamicBuffers(
            dynamic_th=exponent,
            pattern_mtu_bytes=pattern_mtu_for_headroom(intent, group, switch_model),
            small_packet_percent=DEFAULT_SMALL_PACKET_PERCENT,
            over_subscribe_ratio=intent.buffers.headroom_over_subscription,
        ),
        lossy_group=lossy_group,
        lossless_group=lossless,
        lossless_queue=_make_lossy_profile(EGRESS_LOSSLESS, 0, UNLIMITED_DYNAMIC_TH),
        lossy_queue=lossy_queue,
        reserved_queue=reserved_queue,
        ingress=(_make_lossy_profile(INGRESS_LOSSLESS, 0, UNLIMITED_DYNAMIC_TH), *ingress),
        egress=(_make_lossy_profile(EGRESS_LOSSLESS, 0, UNLIMITED_DYNAMIC_TH), *egress),
    )


def _buffer_bytes_of(switch_model: SwitchModel) -> int:
    assert switch_model.buffer_bytes is not None
    return switch_model.buffer_bytes


def _build_dynamic_pool(name: str, direction: Literal["ingress", "egress"], percentage: int) -> BufferPool:
    return BufferPool(
        name=name, direction=direction, mode="dynamic", size_bytes=UNKNOWN, percentage=percentage, computed=True
    )


def pattern_mtu_for_headroom(intent: Intent, group: TierSwitchGroup, switch_model: SwitchModel) -> int:
    """Return the stated pattern MTU, else 1024 or the RoCE MTU: the value that gives a tier's kinds of links more xoff.

    A larger pattern MTU is a longer packet in transit, but means fewer small packets by bytes, and so less waste in
    cells; speed and cable decide which of the two wins.
    """
    if intent.buffers.pattern_mtu is not None:
        return intent.buffers.pattern_mtu
    links = {
        (kind.speed_mbps, kind.lanes, kind.length_m) for kind in link_kinds_of(topology_of(intent), group, switch_model)
    }

    def total(mtu: int) -> int:
        return sum(
            compute_headroom(
                asic(switch_model.asic),
                speed_mbps=speed,
                lanes=lanes,
                mtu_bytes=intent.mtu,
                cable_length_m=length,
                pattern_mtu_bytes=mtu,
                small_packet_percent=DEFAULT_SMALL_PACKET_PERCENT,
                shared=False,
                compensated=False,
                early=headroom_formula_of(group.wanted.platform, group.wanted.version).early,
                gearbox_delay_ns=switch_model.gearbox_delay_ns,
            ).xoff
            for speed, lanes, length in links
        )

    return max((DEFAULT_PATTERN_MTU_BYTES, intent.hosts.rdma_mtu), key=total)
