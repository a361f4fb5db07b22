"""The switch's buffers as far as they are said: pools, and how much of them groups and queues may take."""

import re
from collections.abc import Iterable

from nodrop.fabric.buffers import BufferPool, DynamicBuffers
from nodrop.fabric.fabric import Interface
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import UNKNOWN, Unknown
from nodrop.formats.places import shown
from nodrop.hardware import switch
from nodrop.platforms.nvue import effects
from nodrop.platforms.nvue.read_macro import Defaults
from nodrop.platforms.nvue.read_values import View

MAX_BYTES = 2**32 - 1

_ALPHA = re.compile(r"alpha_(?:(0|infinity)|1_(2|4|8|16|32|64|128)|(1|2|4|8|16|32|64))")


def limits(node: View) -> effects.Limits:
    """Return how much of the free pools may be taken, as advanced buffer settings say it."""
    usual = effects.USUAL
    lossy = dict(node.below("egress-lossy-buffer").numbered("traffic-class", 15))
    lossless = node.below("egress-lossless-buffer")
    bulk = node.below("ingress-lossy-buffer", "priority-group", "bulk")
    return effects.Limits(
        ingress_lossless=_alpha(node.below("ingress-lossless-buffer"), usual.ingress_lossless),
        ingress_lossy=_alpha(bulk, usual.ingress_lossy),
        egress_lossless=_alpha(lossless, usual.egress_lossless),
        egress_lossy={tc: _alpha(inside, effects.LOSSY_TH) for tc, inside in lossy.items()},
        lossless_reserved_bytes=_reserved(lossless),
        lossy_reserved_bytes={tc: _reserved(inside) for tc, inside in lossy.items()},
    )


def _reserved(node: View) -> int:
    return node.integer("reserved", 0, MAX_BYTES, "bytes") or 0


def _alpha(node: View, default: int) -> int:
    text = node.text("shared-alpha")
    if text is None:
        return default
    found = _ALPHA.fullmatch(text)
    if not found:
        node.config.malformed((*node.path, "shared-alpha"), shown(text), "alpha_1, alpha_1_2, alpha_8 and the like")
        return default
    if found[1]:
        return -8 if found[1] == "0" else effects.INFINITE_TH
    return -(int(found[2]).bit_length() - 1) if found[2] else int(found[3]).bit_length() - 1


def pools(qos: View, defaults: Defaults, model: str | Unknown) -> tuple[tuple[BufferPool, ...], tuple[str, ...]]:
    """Return the pools, sorted by name, and the names of those whose share is a default."""
    node = qos.below("traffic-pool")
    stated = {
        name: node.below(name).integer("memory-percent", 1, 100, "percent")
        for name in ("default-lossy", "default-lossless", "roce-lossless")
    }
    of_lossless = stated["roce-lossless"] or stated["default-lossless"]
    lossless = of_lossless or defaults.lossless_percent
    lossy = stated["default-lossy"] or defaults.lossy_percent
    derived = [] if stated["default-lossy"] else ["ingress_lossy", "egress_lossy"]
    if lossless and not of_lossless:
        derived.append("ingress_lossless")
    memory = None if isinstance(model, Unknown) else switch(model).buffer_bytes
    found = effects.buffer_pools(
        lossy, lossless, UNKNOWN if memory is None else memory, one_ingress=defaults.one_ingress_pool
    )
    return found, tuple(derived)


def dynamic_buffers(ports: Iterable[Interface], limits: effects.Limits) -> DynamicBuffers | None:
    """Return what headroom is computed from; None where no port has PFC."""
    profiles = {id(port.qos): port.qos for port in ports if isinstance(port.qos, QosProfile)}
    paused = any(qos.pfc_rx_priorities or qos.pfc_tx_priorities for qos in profiles.values())
    return effects.dynamic_buffers(limits.ingress_lossless) if paused else None


def stated_headroom(profile: View) -> effects.StatedHeadroom | None:
    """Return what a PFC profile states of headroom; None where it leaves all of it to the switch."""
    buffer = profile.integer("port-buffer", 0, MAX_BYTES, "bytes")
    xoff = profile.integer("xoff-threshold", 0, MAX_BYTES, "bytes")
    xon = profile.integer("xon-threshold", 0, MAX_BYTES, "bytes")
    xoff = _at_most(profile, "xoff-threshold", xoff, buffer, "port-buffer")
    xon = _at_most(profile, "xon-threshold", xon, xoff, "xoff-threshold")
    if buffer is None and xoff is None and xon is None:
        return None
    return effects.StatedHeadroom(port_buffer_bytes=buffer, xoff_threshold_bytes=xoff, xon_threshold_bytes=xon)


def _at_most(node: View, key: str, value: int | None, most: int | None, of: str) -> int | None:
    """Return a part of a whole; None, with a remark, where it is more than that."""
    if value is None or most is None or value <= most:
        return value
    node.config.malformed((*node.path, key), str(value), f"no more than {of}, {most}")
    return None
