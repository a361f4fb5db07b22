"""What an intent left out, what was taken instead, and why: printed by `nodrop show`."""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.design.buffers import DEFAULT_PATTERN_MTU_BYTES
from nodrop.design.watchdog import BASE_DETECTION_MS, derive, scale
from nodrop.hardware import switch
from nodrop.intent.schema import Intent


class Default(NamedTuple):
    """A key of the intent that was left out, the value that holds, and where the value comes from."""

    key: str
    value: str
    source: str


def defaulted(intent: Intent) -> tuple[Default, ...]:
    """Return every default that holds for an intent that builds."""
    return tuple((*_plain(intent), *_watchdog(intent), *_derived(intent)))


_PLAIN = (
    ("", "mode", "lossless (PFC and ECN) is what most RoCEv2 fabrics run"),
    ("", "mtu", "the largest MTU of SONiC and NVUE ports"),
    ("topology", "max_oversubscription", "training traffic fills what it has: 1:1"),
    ("buffers", "alpha", "SONiC's default_dynamic_th 0 (buffers_config.j2)"),
    ("buffers", "shared_headroom", "own headroom for every port needs no estimate of simultaneous pauses"),
    ("hosts", "tos", "DSCP 26, ECN-capable: NVIDIA's convention for RoCE"),
    ("hosts", "cnp_dscp", "NVIDIA NICs send CNPs with DSCP 48"),
    ("hosts", "trust", "PCP does not survive routing (Guo et al., SIGCOMM 2016)"),
    ("hosts", "dcqcn", "the switches mark, so the NICs must listen"),
    ("hosts", "rdma_mtu", "the largest RoCE MTU"),
    ("routing", "protocol", "RFC 7938, use of BGP for routing in large-scale data centers"),
    ("routing", "balancing", "ECMP is what every platform has"),
)


def _plain(intent: Intent) -> Iterator[Default]:
    for section, key, source in _PLAIN:
        part = getattr(intent, section) if section else intent
        if key not in part.model_fields_set:
            value = getattr(part, key)
            shown = (
                {True: "on", False: "off"}[value]
                if isinstance(value, bool)
                else f"{value:g}"
                if isinstance(value, float)
                else str(value)
            )
            yield Default(f"{section}.{key}".lstrip("."), shown, source)
    if "lossless_pool" not in intent.buffers.model_fields_set:
        source = "lossy classes need little where RDMA is the load"
        yield Default("buffers.lossless_pool", f"{intent.buffers.lossless_pool}%", source)
    if "pfc" not in intent.hosts.model_fields_set:
        yield Default("hosts.pfc", str(list(intent.hosts.pfc)), "NVIDIA's convention: RoCE on priority 3")


def _watchdog(intent: Intent) -> Iterator[Default]:
    ports = max(len(switch(tier.model).panels) for tier in (intent.topology.leaves, intent.topology.spines))
    timers = derive(intent, ports, (), [])
    wanted = intent.pfc.watchdog
    base = f"{BASE_DETECTION_MS} ms × {scale(ports)} for {ports} ports (sonic-utilities pfcwd start_default)"
    if wanted.hosts.detection is None:
        yield Default("pfc.watchdog.hosts.detection", f"{timers.hosts.detection_ms}ms", base)
    if wanted.hosts.restoration is None:
        yield Default(
            "pfc.watchdog.hosts.restoration", f"{timers.hosts.restoration_ms}ms", "2 × detection (pfcwd start)"
        )
    if timers.fabric is not None and not isinstance(wanted.fabric, str):
        later = "3 × hosts, so that the nearest hop acts first"
        if wanted.fabric.detection is None:
            yield Default("pfc.watchdog.fabric.detection", f"{timers.fabric.detection_ms}ms", later)
        if wanted.fabric.restoration is None:
            value = f"{timers.fabric.restoration_ms}ms"
            yield Default("pfc.watchdog.fabric.restoration", value, "2 × detection (pfcwd start)")
    if wanted.polling is None:
        yield Default("pfc.watchdog.polling", f"{timers.polling_ms}ms", "half the smallest detection")


def _derived(intent: Intent) -> Iterator[Default]:
    if intent.buffers.pattern_mtu is None:
        source = f"{DEFAULT_PATTERN_MTU_BYTES} (SONiC) or the RoCE MTU, whichever needs more headroom"
        yield Default("buffers.pattern_mtu", "per switch, shown above", source)
    if intent.topology.slots_per_device is None:
        yield Default("topology.slots_per_device", "per tier", "the next power of two above the model's ports × splits")
    yield Default("addressing.oob gateway", "the last usable address", "not stated in the intent")
