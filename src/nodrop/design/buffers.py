"""Pools, thresholds and headroom: on NVIDIA ASICs SONiC's dynamic model, with true cable lengths."""

from dataclasses import dataclass
from typing import Literal

from nodrop.design.boxes import LEAF, lanes_by_speed
from nodrop.design.modes import has_pfc
from nodrop.design.splits import spine_split
from nodrop.fabric.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.fabric.qos import PriorityGroup
from nodrop.fabric.states import UNKNOWN
from nodrop.hardware import asic
from nodrop.hardware.dynamic import is_early
from nodrop.hardware.headroom import computed
from nodrop.hardware.schema import Switch
from nodrop.intent.schema import Intent
from nodrop.platforms.traits import traits

ALPHA_EXPONENT = {"1/8": -3, "1/4": -2, "1/2": -1, "1": 0, "2": 1, "4": 2, "8": 3}
DEFAULT_PATTERN_MTU_BYTES = 1024
"""SONiC's own pattern (sonic-buildimage files/build_templates/buffers_config.j2)."""

SMALL_PACKET_PERCENT = traits("sonic").small_packet_percent
"""A design is made in SONiC's terms, and then adapted to what a platform holds."""

WITHOUT_LIMIT = 7
"""`dynamic_th` by which a queue may take the whole pool on NVIDIA ASICs: lossless traffic bypasses egress admission."""
LOSSY_THRESHOLD = 3
EGRESS_LOSSY_RESERVE_BYTES = 9216
"""The thresholds and reserve of the vendor's defaults (device/mellanox/.../buffers_defaults_objects.j2)."""

INGRESS_LOSSLESS, INGRESS_LOSSY = "ingress_lossless", "ingress_lossy"
EGRESS_LOSSLESS, EGRESS_LOSSY = "egress_lossless", "egress_lossy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffers:
    """The buffers of a tier's switches: per switch, and what its ports and queues use."""

    pools: tuple[BufferPool, ...]
    dynamic: DynamicBuffers | None
    """None where nothing is lossless, so that no headroom is worked out."""
    lossless_group: BufferProfile
    ingress: tuple[BufferProfile, ...]
    egress: tuple[BufferProfile, ...]

    def groups(self, lossless: tuple[int, ...]) -> tuple[PriorityGroup, ...]:
        """Return a port's priority groups: 0 for all lossy traffic, and one for each lossless priority."""
        lossy = PriorityGroup(index=0, buffer=_lossy(INGRESS_LOSSY, 0, LOSSY_THRESHOLD))
        return (lossy, *(PriorityGroup(index=index, buffer=self.lossless_group) for index in lossless))

    def queue(self, lossless: bool, *, trimmed: bool) -> BufferProfile:
        """Return the buffer of an egress queue; of one that is trimmed, packets that do not fit are cut."""
        if lossless:
            return _lossy(EGRESS_LOSSLESS, 0, WITHOUT_LIMIT)
        return _lossy(EGRESS_LOSSY, 0, LOSSY_THRESHOLD, "trim" if trimmed else None)


def _lossy(pool: str, size_bytes: int, dynamic_th: int, discard: Literal["trim"] | None = None) -> BufferProfile:
    return BufferProfile(pool=pool, size_bytes=size_bytes, dynamic_th=dynamic_th, discard=discard)


def design_buffers(intent: Intent, role: str, model: Switch) -> Buffers:
    """Return the buffers of a tier; they follow from what the intent declares, not from who is cabled to what."""
    exponent = ALPHA_EXPONENT[intent.buffers.alpha]
    lossless = BufferProfile(
        pool=INGRESS_LOSSLESS,
        size_bytes=UNKNOWN,
        dynamic_th=exponent,
        headroom=Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True),
    )
    ingress = (_lossy(INGRESS_LOSSY, 0, LOSSY_THRESHOLD),)
    egress = (_lossy(EGRESS_LOSSY, EGRESS_LOSSY_RESERVE_BYTES, WITHOUT_LIMIT),)
    if not has_pfc(intent):
        return Buffers(
            pools=(_pool(EGRESS_LOSSY, "egress", 100), _pool(INGRESS_LOSSY, "ingress", 100)),
            dynamic=None,
            lossless_group=lossless,
            ingress=ingress,
            egress=egress,
        )
    share = intent.buffers.lossless_pool
    return Buffers(
        pools=(
            BufferPool(name=EGRESS_LOSSLESS, direction="egress", mode="dynamic", size_bytes=_memory(model)),
            _pool(EGRESS_LOSSY, "egress", 100 - share),
            _pool(INGRESS_LOSSLESS, "ingress", share),
            _pool(INGRESS_LOSSY, "ingress", 100 - share),
        ),
        dynamic=DynamicBuffers(
            dynamic_th=exponent,
            pattern_mtu_bytes=pattern_mtu(intent, role, model),
            small_packet_percent=SMALL_PACKET_PERCENT,
            over_subscribe_ratio=intent.buffers.over_subscription,
        ),
        lossless_group=lossless,
        ingress=(_lossy(INGRESS_LOSSLESS, 0, WITHOUT_LIMIT), *ingress),
        egress=(_lossy(EGRESS_LOSSLESS, 0, WITHOUT_LIMIT), *egress),
    )


def _memory(model: Switch) -> int:
    assert model.buffer_bytes is not None
    return model.buffer_bytes


def _pool(name: str, direction: Literal["ingress", "egress"], percentage: int) -> BufferPool:
    return BufferPool(
        name=name, direction=direction, mode="dynamic", size_bytes=UNKNOWN, percentage=percentage, computed=True
    )


def pattern_mtu(intent: Intent, role: str, model: Switch) -> int:
    """Return the stated pattern MTU, else 1024 or the RoCE MTU, whichever gives a tier's kinds of links more xoff.

    A larger pattern MTU is a longer packet under way, but means fewer small packets by bytes, and so less waste in
    cells; which of the two wins depends on speed and cable.
    """
    if intent.buffers.pattern_mtu is not None:
        return intent.buffers.pattern_mtu
    uplinks, groups = intent.topology.uplinks, intent.endpoints.values() if role == LEAF else ()
    up = uplinks.split if role == LEAF else spine_split(intent)
    kinds = [(uplinks.speed, up, uplinks.length), *((one.speed, one.split, one.length) for one in groups)]
    links = {(speed, lanes_by_speed(model, into)[speed], length) for speed, into, length in kinds}

    version = (intent.topology.leaves if role == LEAF else intent.topology.spines).version

    def total(mtu: int) -> int:
        return sum(
            computed(
                asic(model.asic),
                speed_mbps=speed,
                lanes=lanes,
                mtu_bytes=intent.mtu,
                cable_length_m=length,
                pattern_mtu_bytes=mtu,
                small_packet_percent=SMALL_PACKET_PERCENT,
                shared=False,
                compensated=False,
                early=is_early(version),
            ).xoff
            for speed, lanes, length in links
        )

    return max((DEFAULT_PATTERN_MTU_BYTES, intent.hosts.rdma_mtu), key=total)
