"""The switch's buffers as far as they are said: pools, and how much of them groups and queues may take."""

import re
from collections.abc import Iterable
from typing import Literal

from nodrop.fabric.buffers import BufferPool, BufferProfile, DynamicBuffers
from nodrop.fabric.fabric import Interface
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import UNKNOWN, Unknown
from nodrop.formats.places import shown
from nodrop.hardware import switch
from nodrop.platforms.nvue.read_macro import (
    LOSSLESS_EXPONENT,
    LOSSY_EXPONENT,
    UNLIMITED_EXPONENT,
    Defaults,
)
from nodrop.platforms.nvue.read_values import View

PATTERN_MTU_BYTES = 1024
SMALL_PACKET_PERCENT = 100
"""Small-packet probability up to Spectrum-5 (Quality of Service, 5.19)."""

_ALPHA = re.compile(r"alpha_(?:(0|infinity)|1_(2|4|8|16|32|64|128)|(1|2|4|8|16|32|64))")


class Limits:
    """How much of the free pool may be taken, as exponents of two; advanced buffer settings change them."""

    def __init__(self, node: View) -> None:
        self._node = node
        self.ingress_lossless = self._alpha("ingress-lossless-buffer", default=LOSSLESS_EXPONENT)
        self.ingress_lossy = self._alpha("ingress-lossy-buffer", "priority-group", "bulk", default=LOSSY_EXPONENT)
        self._egress_lossless = self._alpha("egress-lossless-buffer", default=UNLIMITED_EXPONENT)
        self._egress_lossy = {
            tc: self._alpha_of(inside, LOSSY_EXPONENT)
            for tc, inside in node.below("egress-lossy-buffer").numbered("traffic-class", 15)
        }

    def queue(self, tc: int, lossless: bool, trimmed: bool) -> BufferProfile:
        """Return what a traffic class's queue may take, and whether a packet that does not fit is trimmed."""
        pool = "egress_lossless" if lossless else "egress_lossy"
        limit = self._egress_lossless if lossless else self._egress_lossy.get(tc, LOSSY_EXPONENT)
        return BufferProfile(pool=pool, size_bytes=0, dynamic_th=limit, discard="trim" if trimmed else None)

    def _alpha(self, *keys: str, default: int) -> int:
        return self._alpha_of(self._node.below(*keys), default)

    def _alpha_of(self, node: View, default: int) -> int:
        text = node.text("shared-alpha")
        if text is None:
            return default
        found = _ALPHA.fullmatch(text)
        if not found:
            node.config.malformed((*node.path, "shared-alpha"), shown(text), "alpha_1, alpha_1_2, alpha_8 and the like")
            return default
        if found[1]:
            return -8 if found[1] == "0" else UNLIMITED_EXPONENT
        return -(int(found[2]).bit_length() - 1) if found[2] else int(found[3]).bit_length() - 1


def pools(qos: View, defaults: Defaults, model: str | Unknown) -> tuple[tuple[BufferPool, ...], tuple[str, ...]]:
    """Return the pools, sorted by name, and the names of those whose share is a default."""
    node = qos.below("traffic-pool")
    stated = {
        name: node.below(name).integer("memory-percent", 1, 100, "percent")
        for name in ("default-lossy", "default-lossless", "roce-lossless")
    }
    lossless = stated["roce-lossless"] or stated["default-lossless"] or defaults.lossless_percent
    lossy = stated["default-lossy"] or defaults.lossy_percent
    has_lossless = bool(lossless) or defaults.one_ingress_pool
    derived = []
    found = [_computed("ingress_lossy", "ingress", lossy), _computed("egress_lossy", "egress", lossy)]
    if not stated["default-lossy"]:
        derived += ["ingress_lossy", "egress_lossy"]
    if lossless:
        found.append(_computed("ingress_lossless", "ingress", lossless))
        if not (stated["roce-lossless"] or stated["default-lossless"]):
            derived.append("ingress_lossless")
    if has_lossless:
        size = UNKNOWN if isinstance(model, Unknown) else switch(model).buffer_bytes
        found.append(BufferPool(name="egress_lossless", direction="egress", mode="dynamic", size_bytes=size))
    return tuple(sorted(found, key=lambda pool: pool.name)), tuple(derived)


def _computed(name: str, direction: Literal["ingress", "egress"], percent: int | None) -> BufferPool:
    return BufferPool(
        name=name, direction=direction, mode="dynamic", size_bytes=UNKNOWN, percentage=percent, computed=True
    )


def dynamic_buffers(ports: Iterable[Interface], limits: Limits) -> DynamicBuffers | None:
    """Return what headroom is computed from; None where no port has PFC."""
    seen: set[int] = set()
    for port in ports:
        qos = port.qos
        if not isinstance(qos, QosProfile) or id(qos) in seen:
            continue
        seen.add(id(qos))
        if qos.pfc_rx_priorities or qos.pfc_tx_priorities:
            return DynamicBuffers(
                dynamic_th=limits.ingress_lossless,
                pattern_mtu_bytes=PATTERN_MTU_BYTES,
                small_packet_percent=SMALL_PACKET_PERCENT,
            )
    return None
