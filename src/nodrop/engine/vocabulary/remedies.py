"""Words for fixes: the value that a part ought to have, from owner statements, cables, hardware and the port itself.

An unknown value is UNKNOWN, and no change.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.headroom import headroom_chosen_by_switch_bytes, headroom_needed_bytes, takes_table_row
from nodrop.engine.vocabulary.qos import (
    paused_priorities,
    policy_watchdog,
    priorities_sent_but_not_obeyed,
    unintended_priorities,
)
from nodrop.engine.vocabulary.sides import priorities_to_map_to_group
from nodrop.engine.vocabulary.watchdog import MIN_POLLINGS_TO_DETECT, WATCHDOG_COUNTER_GROUP
from nodrop.model import effects
from nodrop.model.buffers import BufferProfile
from nodrop.model.fabric import HASH_FIELDS, Counter, Device, Fabric, HashField, HostPort, Interface
from nodrop.model.index import Index
from nodrop.model.overlays import Tunnel
from nodrop.model.qos import NumberMap, PfcWatchdog, PriorityGroup, QosProfile, WatchdogConditions, WredProfile
from nodrop.model.states import UNKNOWN, Unknown, UnknownFact, require_fact
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.traits import newest_traits, traits_of_platform


@declare_word("function", rests_on=("policy", "cables"))
def policy_watchdog_of_port(
    fabric: Fabric, platform: str, interfaces: tuple[Interface, ...], side: str | None | Unknown
) -> PfcWatchdog | None | Unknown:
    """Return the watchdog that the owner wants at a port of that side, where each port has separate timers.

    Where a switch has one set of timers for all of its ports, it is what any other port of it has. UNKNOWN where no
    policy is stated, and where there is no such port.
    """
    platform_traits = newest_traits(platform)
    if platform_traits is None or platform_traits.watchdog is None or platform_traits.watchdog.robustness is None:
        return policy_watchdog(fabric, side)
    return next(_find_watchdogs(interfaces), UNKNOWN)


@declare_word("function")
def platform_default_watchdog(device: Device, qos: QosProfile | None) -> PfcWatchdog | None | Unknown:
    """Return the watchdog that a platform documents as its default, of the priorities that a port pauses.

    Where a switch states only that a watchdog is on, its times are unknown.
    """
    if qos is None:
        return UNKNOWN
    paused = paused_priorities(qos)
    if newest_traits(device.platform) is None:
        return PfcWatchdog(priorities=paused, detection_ms=UNKNOWN, restoration_ms=UNKNOWN, action=UNKNOWN)
    known = isinstance(device.version, str)
    usual = traits_of_platform(
        device.platform, device.version if isinstance(device.version, str) else None
    ).watchdog.usual
    if usual is None:
        return UNKNOWN
    restores = known or traits_of_platform(device.platform).watchdog.robustness is None
    return replace_fields(usual, priorities=paused, restoration_ms=usual.restoration_ms if restores else None)


@declare_word("function", rests_on=("cables",))
def stated_cable_length_m(device: Device, interface: Interface, *, index: Index) -> int | Unknown:
    """Return the stated length of a port's cable, m; UNKNOWN where no cable or no length is stated."""
    link = index.link(device.name, interface.name)
    return UNKNOWN if link is None or link.length_m is None else link.length_m


@declare_word("function", rests_on=("cables",))
def far_port_speed_mbps(device: Device, interface: Interface, *, index: Index) -> int | Unknown:
    """Return the speed of the port at the other end of a port's cable, Mb/s."""
    far = index.far_port(device.name, interface.name)
    if not isinstance(far, Interface | HostPort) or far.speed_mbps is None:
        return UNKNOWN
    return far.speed_mbps


@declare_word("function", rests_on=("cables",))
def buffer_with_enough_headroom(
    device: Device, interface: Interface, buffer: BufferProfile, *, index: Index
) -> BufferProfile | Unknown:
    """Return a buffer with headroom enough for the port's cable, the rest of it as it is.

    UNKNOWN where the switch computes it. Its reserve grows by as much as its headroom.
    """
    headroom = require_fact(buffer.headroom, "priority_group.buffer.headroom")
    if headroom is None or headroom.computed or isinstance(headroom.xoff_bytes, Unknown):
        return UNKNOWN
    needed = headroom_needed_bytes(device, interface, index=index)
    if takes_table_row(device, interface, index=index):
        needed = max(needed, headroom_chosen_by_switch_bytes(device, interface, index=index))
    growth_bytes = needed - headroom.xoff_bytes
    if growth_bytes <= 0:
        return UNKNOWN
    size = buffer.size_bytes if isinstance(buffer.size_bytes, Unknown) else buffer.size_bytes + growth_bytes
    return replace_fields(
        buffer, size_bytes=size, headroom=replace_fields(headroom, xoff_bytes=headroom.xoff_bytes + growth_bytes)
    )


@declare_word("function", rests_on=("classes",))
def dscp_map_with_rdma(fabric: Fabric, qos: QosProfile | None) -> NumberMap | Unknown:
    """Return a port's map of DSCPs with those of RDMA in their stated traffic class, where the port pauses it.

    Where none is stated it is the only one that the port pauses.
    """
    table = UNKNOWN if qos is None else qos.dscp_to_tc
    if qos is None or isinstance(table, Unknown) or table is None:
        return UNKNOWN
    paused = [tc for tc in range(8) if effects.is_lossless(qos, tc)]
    tc_by_dscp = dict(enumerate(table))
    for roce_class in effects.roce_classes(fabric):
        tc = paused[0] if isinstance(roce_class.tc, Unknown) and len(paused) == 1 else roce_class.tc
        if require_fact(roce_class.lossless, "traffic_class.lossless") and not isinstance(tc, Unknown) and tc in paused:
            tc_by_dscp |= dict.fromkeys(roce_class.dscp, tc)
    return tuple(tc_by_dscp[dscp] for dscp in sorted(tc_by_dscp))


@declare_word("function")
def priorities_obeyed_or_sent(qos: QosProfile | None) -> tuple[int, ...] | Unknown:
    """Return the priorities whose pause a port obeys, with those on which it sends pause and does not obey it."""
    if qos is None:
        return UNKNOWN
    obeyed = require_fact(qos.pfc_rx_priorities, "interface.qos.pfc_rx_priorities")
    return tuple(sorted({*obeyed, *priorities_sent_but_not_obeyed(qos)}))


@declare_word("function", rests_on=("classes",))
def intended_priorities(fabric: Fabric, qos: QosProfile | None, priorities: tuple[int, ...] | None) -> tuple[int, ...]:
    """Those of priorities that lossless classes have."""
    astray = unintended_priorities(fabric, qos)
    return tuple(priority for priority in priorities or () if priority not in astray)


@declare_word("function", rests_on=("classes",))
def watchdog_of_lossless_classes_alone(fabric: Fabric, qos: QosProfile | None) -> PfcWatchdog | None | Unknown:
    """Return a port's watchdog, of the priorities alone that lossless classes have."""
    if qos is None or isinstance(qos.pfc_watchdog, Unknown) or qos.pfc_watchdog is None:
        return UNKNOWN
    remaining_intended_pauses = intended_priorities(fabric, qos, paused_priorities(qos))
    mask = qos.pfc_watchdog.priorities
    if isinstance(mask, Unknown):
        return UNKNOWN
    return (
        replace_fields(
            qos.pfc_watchdog, priorities=tuple(priority for priority in mask if priority in remaining_intended_pauses)
        )
        if remaining_intended_pauses
        else None
    )


@declare_word("function", rests_on=("classes",))
def intended_groups(fabric: Fabric, qos: QosProfile | None) -> tuple[PriorityGroup, ...] | Unknown:
    """Return a port's priority groups without lossless ones that only priorities without a lossless class fill."""
    if qos is None or isinstance(qos.priority_groups, Unknown):
        return UNKNOWN
    table = require_fact(qos.pfc_to_priority_group, "interface.qos.pfc_to_priority_group")
    groups = [
        {effects.map_entry(table, priority) if table else priority for priority in priorities}
        for priorities in _intended_and_unintended_priorities(fabric, qos)
    ]
    idle = groups[1] - groups[0]
    return tuple(
        priority_group
        for priority_group in qos.priority_groups
        if priority_group.index not in idle or not priority_group.lossless
    )


@declare_word("function")
def priority_groups_without_idle(qos: QosProfile | None, number: int) -> tuple[PriorityGroup, ...] | Unknown:
    """Return a port's priority groups without one that no traffic fills; UNKNOWN where some does or ought to."""
    if (
        qos is None
        or priorities_to_map_to_group(qos, number)
        or number in {effects.priority_group_of_tc(qos, tc) for tc in effects.used_tcs(qos)}
    ):
        return UNKNOWN
    return priority_groups_without(qos, number)


@declare_word("function")
def priority_groups_without(qos: QosProfile | None, number: int) -> tuple[PriorityGroup, ...] | Unknown:
    """Return a port's priority groups without one."""
    if qos is None or isinstance(qos.priority_groups, Unknown):
        return UNKNOWN
    return tuple(priority_group for priority_group in qos.priority_groups if priority_group.index != number)


def _intended_and_unintended_priorities(fabric: Fabric, qos: QosProfile) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the priorities with PFC that lossless classes have, and those that none has."""
    paused = paused_priorities(qos)
    return intended_priorities(fabric, qos, paused), unintended_priorities(fabric, qos)


@declare_word("function")
def wred_without_early_drops(wred: WredProfile) -> WredProfile | None:
    """Return marking without early drops of packets that cannot be marked; nothing without marking."""
    return replace_fields(wred, green=replace_fields(wred.green, enabled=False)) if wred.ecn_colors else None


@declare_word("function")
def hash_fields_with_addresses_and_ports(fields: tuple[HashField, ...]) -> tuple[HashField, ...]:
    """Return the packet fields of the path hash, with addresses, protocol and both ports."""
    every = {*fields, "ip-protocol", "dst-ip", "src-ip", "l4-dst-port", "l4-src-port"}
    return tuple(field for field in HASH_FIELDS if field in every)


@declare_word("function")
def stronger_fec(fec_a: str | None, fec_b: str | None) -> Literal["rs", "fc"]:
    """Return the stronger of two FECs: RS corrects more than Fire code, and either more than none."""
    return "rs" if "rs" in (fec_a, fec_b) else "fc"


@declare_word("function")
def larger(a: int | None, b: int | None) -> int | Unknown:
    """Return the larger of two numbers; UNKNOWN where there is neither."""
    return max((number for number in (a, b) if number is not None), default=UNKNOWN)


@declare_word("function")
def default_watchdog_conditions(platform: str, version: str | None) -> WatchdogConditions | None | Unknown:
    """Return the default conditions of the watchdog of a platform's release; None where it has no setting for them."""
    if newest_traits(platform) is None:
        return UNKNOWN
    watchdog_traits = traits_of_platform(platform, version).watchdog
    return None if watchdog_traits is None else watchdog_traits.conditions


@declare_word("function")
def slowest_sufficient_polling_ms(device: Device, polling_ms: int) -> int | Unknown:
    """Return the slowest polling, ms, that every watchdog of a switch has two of within its detection.

    Detections are whole numbers of it where there is such a polling; UNKNOWN where it would be too fast for the switch.
    """
    platform_traits = newest_traits(device.platform)
    least = (
        platform_traits.watchdog.polling_ms[0]
        if platform_traits is not None and platform_traits.watchdog is not None
        else 1
    )
    times = {ms for watchdog in _find_watchdogs(device.interfaces) if isinstance(ms := watchdog.detection_ms, int)}
    times = {ms for ms in times if ms >= MIN_POLLINGS_TO_DETECT * least}
    most = min((polling_ms, *(ms // MIN_POLLINGS_TO_DETECT for ms in times)))
    if not times or most < least:
        return UNKNOWN
    return next((ms for ms in range(most, least - 1, -1) if not any(time % ms for time in times)), most)


def _find_watchdogs(interfaces: Iterable[Interface]) -> Iterator[PfcWatchdog]:
    for port in interfaces:
        watchdog = port.qos.pfc_watchdog if isinstance(port.qos, QosProfile) else None
        if isinstance(watchdog, PfcWatchdog):
            yield watchdog


@declare_word("function")
def counters_with_those_of_watchdog(counters: tuple[Counter, ...]) -> tuple[Counter, ...]:
    """Return the counters of a switch, with those on that its watchdog reads."""
    return tuple(
        replace_fields(counter, enabled=True) if counter.group == WATCHDOG_COUNTER_GROUP else counter
        for counter in counters
    )


@declare_word("function")
def map_with_all_entries_stated(table: NumberMap | None | Unknown) -> NumberMap | Unknown:
    """Return a map with all entries stated: a missing one goes to 0, as it did by default."""
    if isinstance(table, Unknown) or table is None:
        raise UnknownFact("interface.qos.dscp_to_tc")
    return tuple(target or 0 for target in table)


@declare_word("function")
def tunnels_carrying_dscp(tunnels: tuple[Tunnel, ...]) -> tuple[Tunnel, ...]:
    """Return the tunnels of a switch, set to copy the inner DSCP to the outer header and to keep the inner one."""
    return tuple(map(_keep_dscp_in_tunnel, tunnels))


def _keep_dscp_in_tunnel(tunnel: Tunnel) -> Tunnel:
    outer = "uniform" if tunnel.hides_dscp or tunnel.dscp_mode == "derived" else tunnel.dscp_mode
    return replace_fields(
        tunnel, dscp_mode=outer, dscp_after="kept" if tunnel.dscp_after == "derived" else tunnel.dscp_after
    )
