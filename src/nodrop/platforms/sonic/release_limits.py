"""Features that the models of a device's release do not have, but later ones do: refused with the first that has."""

from collections.abc import Iterator

from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import NumberMap, QosProfile
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown, require_fact
from nodrop.platforms.kit.expressible import unsupported_error
from nodrop.platforms.sonic.releases import (
    FIRST_RELEASE_BY_FEATURE,
    MAP_WITHOUT_ENTRY_FEATURE,
    WAITING_ANNOUNCEMENTS_FEATURE,
    has_feature,
)
from nodrop.platforms.sonic.tables import TABLE_BY_MAP_ATTRIBUTE
from nodrop.platforms.sonic.traits import TRAITS

_MOST_MBPS = 800_000
_LAST_QUEUE = 7

_NeededFeature = tuple[str, tuple[str, ...]]
"""What is needed of a release, a key of `SINCE`, and the part of the device that needs it."""


def require_features_in_release(device: Device) -> None:
    """Raise UnsupportedByPlatform if a device has a feature that its release, which is written, cannot express."""
    release = str(device.version)
    if all(has_feature(release, feature_name) for feature_name in FIRST_RELEASE_BY_FEATURE):
        return
    for feature, path in _needed_features(device):
        if not has_feature(release, feature):
            raise unsupported_error(
                path, f"{TRAITS.title} has {feature} since {FIRST_RELEASE_BY_FEATURE[feature]}, and this is {release}"
            )


def _needed_features(device: Device) -> Iterator[_NeededFeature]:
    if device.trimming is not None:
        yield "packet trimming", ("trimming",)
    if require_fact(device.routing_tables):
        yield "routing in tables", ("routing_tables",)
    for bgp in (device.bgp, *require_fact(device.vrf_bgp)):
        if isinstance(bgp, Bgp) and bgp.suppress_fib_pending is True:
            yield (
                WAITING_ANNOUNCEMENTS_FEATURE,
                ("bgp" if bgp.vrf is None else f"vrf_bgp/{bgp.vrf}", "suppress_fib_pending"),
            )
    if require_fact(device.dns_servers):
        yield "name servers", ("dns_servers",)
    if (fields := require_fact(device.hash_fields)) is not None:
        yield "fields of the hash", ("hash_fields",)
        if "ipv6-flow-label" in fields:
            yield "hashes of the IPv6 flow label", ("hash_fields",)
    if require_fact(device.high_frequency):
        yield "high-frequency telemetry", ("high_frequency",)
    for pool in require_fact(device.buffer_pools):
        if pool.percentage is not None:
            yield "a pool's percentage", ("buffer_pools", pool.name, "percentage")
        if pool.direction == "both":
            yield "a pool of both directions", ("buffer_pools", pool.name, "direction")
    if _is_without_entry(device.switch_dscp_to_tc):
        yield MAP_WITHOUT_ENTRY_FEATURE, ("switch_dscp_to_tc",)
    seen: set[QosProfile] = set()
    for port in device.interfaces:
        yield from _features_needed_by_port(port)
        if isinstance(port.qos, QosProfile) and port.qos not in seen:
            seen.add(port.qos)
            yield from _features_needed_by_qos(port.qos, ("interfaces", port.name, "qos"))


def _is_without_entry(table: NumberMap | None | Unknown) -> bool:
    """Whether a map has no entry, which makes a row without fields."""
    return not isinstance(table, Unknown) and table is not None and all(entry is None for entry in table)


def _features_needed_by_port(port: Interface) -> Iterator[_NeededFeature]:
    if port.fec == "auto":
        yield "FEC mode auto", ("interfaces", port.name, "fec")
    if (require_fact(port.speed_mbps) or 0) > _MOST_MBPS:
        yield "speeds above 800G", ("interfaces", port.name, "speed_mbps")
    advertised = require_fact(port.advertised_speeds_mbps)
    if advertised and max(advertised) > _MOST_MBPS:
        yield "speeds above 800G", ("interfaces", port.name, "advertised_speeds_mbps")


def _features_needed_by_qos(qos: QosProfile, path: tuple[str, ...]) -> Iterator[_NeededFeature]:
    watchdog = require_fact(qos.pfc_watchdog)
    if watchdog is not None and require_fact(watchdog.history) is not None:
        yield "a history of pauses", (*path, "pfc_watchdog", "history")
    for name in TABLE_BY_MAP_ATTRIBUTE:
        if _is_without_entry(getattr(qos, name)):
            yield MAP_WITHOUT_ENTRY_FEATURE, (*path, name)
    if qos.tc_to_dscp is not None:
        yield "a map of traffic classes to DSCPs", (*path, "tc_to_dscp")
    for name in ("tc_to_queue", "pfc_to_queue"):
        if any((queue or 0) > _LAST_QUEUE for queue in require_fact(getattr(qos, name)) or ()):
            yield "queues 8 and 9", (*path, name)
    queues = [
        (("queues", str(queue.index), "buffer"), require_fact(queue.buffer)) for queue in require_fact(qos.queues)
    ]
    groups = [
        (("priority_groups", str(priority_group.index), "buffer"), require_fact(priority_group.buffer))
        for priority_group in require_fact(qos.priority_groups)
    ]
    lists = [
        ((name, str(position)), buffer)
        for name in ("ingress_buffers", "egress_buffers")
        for position, buffer in enumerate(require_fact(getattr(qos, name)))
    ]
    for where, buffer in (*queues, *groups, *lists):
        if buffer is not None and buffer.discard is not None:
            yield "a packet's discard action", (*path, *where, "discard")
