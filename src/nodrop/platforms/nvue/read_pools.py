"""The switch's buffers as far as they are stated: pools, and the share that groups and queues may take."""

import re
from collections.abc import Collection, Iterable, Mapping

from nodrop.hardware import switch
from nodrop.limits import MAX_UINT32
from nodrop.model.buffers import BufferPool, DynamicBuffers
from nodrop.model.fabric import Interface
from nodrop.model.qos import QosProfile
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.platforms.nvue import effects
from nodrop.platforms.nvue.read_macro import NvueQosDefaults
from nodrop.platforms.nvue.read_values import ConfigNodeView, render_path
from nodrop.syntax.places import quote_text

_LAST_SERVICE_POOL_NUMBER = 15

_ALPHA_PATTERN = re.compile(r"alpha_(?:(0|infinity)|1_(2|4|8|16|32|64|128)|(1|2|4|8|16|32|64))")


def read_buffer_limits(node: ConfigNodeView) -> effects.BufferLimits:
    """Return how much of the free pools may be taken, according to the advanced buffer settings."""
    usual = effects.DEFAULT_LIMITS
    lossy = dict(node.below("egress-lossy-buffer").items_by_number("traffic-class", 15))
    lossless = node.below("egress-lossless-buffer")
    bulk = node.below("ingress-lossy-buffer", "priority-group", "bulk")
    static = _static_pools(node)
    return effects.BufferLimits(
        ingress_lossless=_alpha_exponent(node.below("ingress-lossless-buffer"), usual.ingress_lossless),
        ingress_lossy=_alpha_exponent(bulk, usual.ingress_lossy),
        egress_lossless=_alpha_exponent(lossless, usual.egress_lossless),
        egress_lossy={tc: _alpha_exponent(inside, effects.LOSSY_DYNAMIC_TH) for tc, inside in lossy.items()},
        lossless_reserved_bytes=_reserved_bytes(lossless),
        lossy_reserved_bytes={tc: _reserved_bytes(inside) for tc, inside in lossy.items()},
        quotas=_read_quotas(node, static),
        static_pools=frozenset(f"{direction}_lossy" for direction, numbers in static.items() if 0 in numbers),
    )


def _static_pools(node: ConfigNodeView) -> dict[str, frozenset[int]]:
    """Return the numbers of the service pools that are static, by direction; a mode without a share is remarked."""
    static_pools: dict[str, frozenset[int]] = {}
    for direction in ("ingress", "egress"):
        numbers = set()
        for key in (f"{direction}-pool", f"{direction}-service-pool"):
            for number, pool in node.items_by_number(key, _LAST_SERVICE_POOL_NUMBER):
                mode = pool.meaning_of_word("mode", {"static": True, "dynamic": False})
                numbers |= {number} if mode else set()
                if mode is not None and not pool.has("memory-percent"):
                    facts = {"pool": f"{key} {number}", "mode": "static" if mode else "dynamic"}
                    node.config.remark("pool-without-memory", (), (*pool.path, "mode"), **facts)
        static_pools[direction] = frozenset(numbers)
    return static_pools


def _read_quotas(node: ConfigNodeView, static: Mapping[str, frozenset[int]]) -> effects.StaticPoolQuotas:
    """Return what may be taken in bytes; a quota that no static pool is behind is remarked, as it is not programmed."""
    groups = node.below("ingress-lossy-buffer", "priority-group")
    lossy = {name: _read_quota(inside, static["ingress"], 0) for name, inside in groups.items()}
    classes = node.below("egress-lossy-buffer").items_by_number("traffic-class", 15)
    queues = {tc: _read_quota(inside, static["egress"], 0) for tc, inside in classes}
    lossless = node.below("egress-lossless-buffer")
    return effects.StaticPoolQuotas(
        ingress_lossless=_read_quota(node.below("ingress-lossless-buffer"), static["ingress"], None),
        ingress_lossy=lossy.get("bulk"),
        egress_lossless=_read_quota(lossless, static["egress"], None),
        egress_lossy={tc: quota for tc, quota in queues.items() if quota is not None},
        lossless_pool="egress_lossy" if lossless.text("service-pool") == "0" else "egress_lossless",
    )


def _read_quota(node: ConfigNodeView, static: frozenset[int], default_pool: int | None) -> int | None:
    """Return the bytes that a buffer may take where its service pool, or the default one, is static."""
    quota = node.integer("shared-bytes", 0, MAX_UINT32, "bytes")
    if quota is None:
        return None
    pool = (
        default_pool
        if node.text("service-pool") is None
        else node.integer("service-pool", 0, _LAST_SERVICE_POOL_NUMBER)
    )
    if pool in static:
        return quota
    facts = {"setting": render_path((*node.path[3:], "shared-bytes")), "value": str(quota)}
    node.config.remark("quota-not-programmed", (), (*node.path, "shared-bytes"), **facts)
    return None


def remark_lossy_limits_of_lossless_queues(node: ConfigNodeView, lossless: Collection[int]) -> None:
    """Report lossy-queue limits set for lossless queues, which use the lossless limits."""
    for tc, inside in node.below("egress-lossy-buffer").items_by_number("traffic-class", 15):
        if tc in lossless and inside:
            node.config.remark("lossy-limit-of-lossless-class", (), inside.path, tc=str(tc))


def _reserved_bytes(node: ConfigNodeView) -> int:
    return node.integer("reserved", 0, MAX_UINT32, "bytes") or 0


def _alpha_exponent(node: ConfigNodeView, default: int) -> int:
    text = node.text("shared-alpha")
    if text is None:
        return default
    match = _ALPHA_PATTERN.fullmatch(text)
    if not match:
        node.config.remark_malformed_value(
            (*node.path, "shared-alpha"), quote_text(text), "a power of two such as alpha_1, alpha_1_2 or alpha_8"
        )
        return default
    if match[1]:
        return -8 if match[1] == "0" else effects.UNLIMITED_DYNAMIC_TH
    return -(int(match[2]).bit_length() - 1) if match[2] else int(match[3]).bit_length() - 1


def read_traffic_pools(
    qos: ConfigNodeView, defaults: NvueQosDefaults, model_name: str | Unknown, static: Collection[str]
) -> tuple[tuple[BufferPool, ...], tuple[str, ...]]:
    """Return the pools, sorted by name, and the names of those whose share is a default; `static` are some names."""
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
    memory = None if isinstance(model_name, Unknown) else switch(model_name).buffer_bytes
    buffer_pools = effects.buffer_pools(
        lossy,
        lossless,
        UNKNOWN if memory is None else memory,
        one_ingress=defaults.one_ingress_pool,
        static=static,
    )
    return buffer_pools, tuple(derived)


def dynamic_buffers(
    ports: Iterable[Interface], limits: effects.BufferLimits, small_percent: int
) -> DynamicBuffers | None:
    """Return what headroom is computed from; None where no port has PFC."""
    profiles = dict.fromkeys(port.qos for port in ports if isinstance(port.qos, QosProfile))
    paused = any(qos.pfc_rx_priorities or qos.pfc_tx_priorities for qos in profiles)
    return effects.dynamic_buffers(limits.ingress_lossless, small_percent) if paused else None


def read_stated_headroom(profile: ConfigNodeView) -> effects.StatedHeadroom | None:
    """Return the headroom that a PFC profile states; None if it leaves all of it to the switch."""
    buffer = profile.integer("port-buffer", 0, MAX_UINT32, "bytes")
    xoff = profile.integer("xoff-threshold", 0, MAX_UINT32, "bytes")
    xon = profile.integer("xon-threshold", 0, MAX_UINT32, "bytes")
    xoff = _reject_above_limit(profile, "xoff-threshold", xoff, buffer, "port-buffer")
    xon = _reject_above_limit(profile, "xon-threshold", xon, xoff, "xoff-threshold")
    if buffer is None and xoff is None and xon is None:
        return None
    return effects.StatedHeadroom(port_buffer_bytes=buffer, xoff_threshold_bytes=xoff, xon_threshold_bytes=xon)


def _reject_above_limit(
    node: ConfigNodeView, key: str, value: int | None, most: int | None, limit_name: str
) -> int | None:
    """Return a part of a whole; None, with a remark, where it is more than that."""
    if value is None or most is None or value <= most:
        return value
    node.config.remark_malformed_value((*node.path, key), str(value), f"no more than {limit_name}, {most}")
    return None
