"""Buffers: pools, profiles and the headroom that absorbs the bytes still on the wire after a pause."""

from typing import Literal, NamedTuple

from nodrop.model.states import Unknown, require_fact
from nodrop.model.values import model_dataclass


@model_dataclass
class Headroom:
    """The thresholds of a lossless priority group, in bytes.

    `xoff_bytes` is the amount that may still arrive after the pause is sent; `size_bytes` is the amount that the port
    reserves for it (xoff + xon without a shared headroom pool). `computed` means that the switch computes them itself.
    """

    xoff_bytes: int | Unknown
    xon_bytes: int | None | Unknown
    xon_offset_bytes: int | None = None
    computed: bool = False


@model_dataclass
class BufferProfile:
    """The share of a pool that a priority group, a queue or a port may use.

    The limit is `static_th_bytes`, or 2 ** `dynamic_th` times the free pool (SAI `saibuffer.h`; on NVIDIA ASICs 7 means
    without limit and -8 means none). `headroom` is None for a lossy profile.
    """

    pool: str | None
    size_bytes: int | Unknown
    dynamic_th: int | None = None
    static_th_bytes: int | None = None
    headroom: Headroom | None | Unknown = None
    discard: Literal["drop", "trim"] | None = None

    @property
    def lossless(self) -> bool:
        """Whether the profile has a pause threshold (SONiC: a profile is lossless if it has `xoff`)."""
        return require_fact(self.headroom, "priority_group.buffer.headroom") is not None


class HeadroomRow(NamedTuple):
    """A row of pg_profile_lookup.ini; the threshold is an exponent, or bytes where the pool has static thresholds."""

    speed_mbps: int
    cable_m: int
    size_bytes: int
    xon_bytes: int
    xoff_bytes: int
    threshold: int = 0
    xon_offset_bytes: int | None = None


@model_dataclass
class BufferPool:
    """A pool of the switch's packet memory; pools are counters, so their sizes may add up to more than the chip has.

    `shared_headroom_bytes` is the part of `size_bytes` set aside as shared headroom (SONiC's pool `xoff`).
    `percentage` is the share of the available memory where the switch computes the size (`computed`).
    """

    name: str
    direction: Literal["ingress", "egress", "both"]
    mode: Literal["static", "dynamic"]
    size_bytes: int | None | Unknown = None
    shared_headroom_bytes: int | None = None
    percentage: int | None = None
    computed: bool = False


@model_dataclass
class DynamicBuffers:
    """The inputs of the dynamic buffer model's headroom computation, per switch.

    `pattern_mtu_bytes` and `small_packet_percent` describe the lossless traffic (SONiC LOSSLESS_TRAFFIC_PATTERN);
    `dynamic_th` is the threshold of every computed profile; `over_subscribe_ratio` shares headroom between ports.
    """

    dynamic_th: int
    pattern_mtu_bytes: int | None
    small_packet_percent: int | None
    over_subscribe_ratio: int | None = None
