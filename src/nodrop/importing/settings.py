"""What holds for all switches and hosts: watchdogs, buffers, trimming, NICs, services, drained switches."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nodrop.design.buffers import EXPONENT_BY_ALPHA
from nodrop.design.host_settings import ect_tos_of_dscp
from nodrop.design.routing import SET_BANDWIDTH_BY_PATH_COUNT
from nodrop.design.topology import ROLES_BY_TIER
from nodrop.hardware.shares import lossless_pool_share_percent
from nodrop.importing.classes import format_size, stated_or_inferred_classes
from nodrop.importing.parts import DerivedIntentPart, KeyPath, KeyTree, MissingIntentKey, facts_not_none
from nodrop.importing.tier_view import CableLookup, SwitchGroup, TierView, are_switches_unlinked, most_common_value
from nodrop.importing.tiers import names_of_inferred_unread_groups
from nodrop.model.addresses import address_of
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers
from nodrop.model.fabric import CounterStream, Device, Host, Interface, PortSide, Trimming
from nodrop.model.modes import PFC_MODES
from nodrop.model.nics import ROCE_HEADERS_BYTES
from nodrop.model.qos import PfcWatchdog, QosProfile, WatchdogConditions
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown, UnknownFact, known_rows
from nodrop.platforms.kit.traits import newest_traits
from nodrop.units import show_us

_ALPHA_BY_EXPONENT = {exponent: int(text) if text.isdecimal() else text for text, exponent in EXPONENT_BY_ALPHA.items()}
_RDMA_MTUS = (4096, 2048, 1024, 512, 256)


def derive_name_mode_and_mtu(sight: TierView) -> DerivedIntentPart:
    """Return the fabric's name, mode and MTU."""
    mtu = most_common_value(_values_of_active_ports(sight, "mtu_bytes"))
    mode = sight.fabric.mode
    plain = not any(
        isinstance(port.qos, QosProfile) for box in sight.switches_from_lowest_tier for port in box.device.interfaces
    )
    why = "no port has QoS, so that nothing pauses" if plain else sight.guessed_mode
    return DerivedIntentPart(
        guessed={("mode",): why} if why else {},
        keys=facts_not_none(
            nodrop=1,
            fabric=sight.fabric.name,
            mode=None if mode == "lossless" else mode,
            mtu=None if mtu in (None, 9216) else mtu,
        ),
    )


def derive_watchdog(tier_view: TierView, cables: CableLookup) -> DerivedIntentPart:
    """Return all timers of the watchdogs as they are stated, else as most ports of a side have them."""
    profiles = (port.qos for box in tier_view.switches_from_lowest_tier for port in box.device.interfaces)
    if tier_view.fabric.mode not in PFC_MODES or not any(isinstance(profile, QosProfile) for profile in profiles):
        return DerivedIntentPart()
    policy = tier_view.fabric.policy
    sides: KeyTree = {}
    alone = are_switches_unlinked(tier_view, cables)
    wanted_of: dict[str, tuple[PortSide, PfcWatchdog | None | Unknown]] = {
        "hosts": ("host", policy.host_watchdog),
        "fabric": ("fabric", policy.fabric_watchdog),
    }
    for key, (side, wanted_pfc_watchdog) in wanted_of.items():
        if alone and side == "fabric":
            continue
        if isinstance(wanted_pfc_watchdog, Unknown) and not any(_qos_profiles_of_side(tier_view, cables, side)):
            continue
        watched = (
            _most_common_watchdog_of_side(tier_view, cables, side)
            if isinstance(wanted_pfc_watchdog, Unknown)
            else wanted_pfc_watchdog
        )
        if watched is None:
            sides[key] = "off" if key == "fabric" else {}
            continue
        sides[key] = facts_not_none(
            detection=_format_ms(watched.detection_ms),
            restoration=_format_ms(watched.restoration_ms),
            action=_text_or_none(watched.action),
        )
    pollings = {
        box.device.watchdog_polling_ms
        for box in tier_view.switches_from_lowest_tier
        if isinstance(box.device.watchdog_polling_ms, int)
    }
    polling = f"{min(pollings)}ms" if len(pollings) == 1 else None
    watchdog_conditions = most_common_value(
        box.device.watchdog_conditions for box in tier_view.switches_from_lowest_tier
    )
    keys = facts_not_none(
        **sides,
        polling=polling,
        stuck=_stuck_queue_conditions(watchdog_conditions)
        if isinstance(watchdog_conditions, WatchdogConditions)
        else None,
    )
    return DerivedIntentPart(keys={"pfc": {"watchdog": keys}})


def _most_common_watchdog_of_side(sight: TierView, cables: CableLookup, side: PortSide) -> PfcWatchdog | None:
    """Return the watchdog of most ports of a side, counting those with the most stated values."""
    pfc_watchdogs = [
        profile.pfc_watchdog
        for profile in _qos_profiles_of_side(sight, cables, side)
        if isinstance(profile.pfc_watchdog, PfcWatchdog)
    ]
    whole_pfc_watchdogs = [
        pfc_watchdog
        for pfc_watchdog in pfc_watchdogs
        if isinstance(pfc_watchdog.restoration_ms, int) and pfc_watchdog.action is not None
    ]
    return most_common_value(whole_pfc_watchdogs or pfc_watchdogs)


def _qos_profiles_of_side(sight: TierView, cables: CableLookup, side: PortSide) -> Iterator[QosProfile]:
    """Yield the known QoS profiles of the ports of a side."""
    for group in sight.groups:
        usually = "fabric" if group.tier else "host"
        for box in group.boxes:
            beyond = cables.find_ports_to_unread_bgp_peers(box.device.name)
            for port in box.device.interfaces:
                if isinstance(port.qos, QosProfile) and _side_of_port(port, beyond, usually) == side:
                    yield port.qos


def _side_of_port(port: Interface, ports_to_unread_devices: frozenset[str], side_of_tier: str) -> str | None:
    """Return a port's side; if nobody states it, that of sessions with unread devices, else its tier's usual side."""
    if not isinstance(port.side, Unknown):
        return port.side
    return "fabric" if port.name in ports_to_unread_devices else side_of_tier


def _format_ms(value: object) -> str | None:
    return f"{value}ms" if isinstance(value, int) else None


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _stuck_queue_conditions(watchdog_conditions: WatchdogConditions) -> KeyTree:
    paused, sent, fill = (
        watchdog_conditions.pause_ten_thousandths,
        watchdog_conditions.sent_frames,
        watchdog_conditions.queue_percent,
    )
    return facts_not_none(
        paused=None if paused is None or paused % 100 else f"{paused // 100}%",
        sent=sent,
        fill=None if fill is None else f"{fill}%",
    )


def derive_buffers(tier_view: TierView) -> DerivedIntentPart:
    """Return the share of the lossless pool, the threshold, whether headroom is shared, and the traffic's pattern."""
    if tier_view.fabric.mode not in PFC_MODES:
        return DerivedIntentPart()
    wanted_lossless_pool_percent = tier_view.fabric.policy.lossless_pool_percent
    pools = [
        box.device.buffer_pools
        for box in tier_view.switches_from_lowest_tier
        if isinstance(box.device.buffer_pools, tuple)
    ]
    shares = [share for own_pools in pools if 0 < (share := _lossless_pool_percent(own_pools)) < 100]
    planned = (
        wanted_lossless_pool_percent if isinstance(wanted_lossless_pool_percent, int) else max(shares, default=None)
    )
    facts = (box.device.dynamic_buffers for box in tier_view.switches_from_lowest_tier)
    dynamic = [fact for fact in facts if isinstance(fact, DynamicBuffers)]
    exponent = most_common_value(
        [*(dynamic_buffers.dynamic_th for dynamic_buffers in dynamic)] or _lossless_thresholds(tier_view)
    )
    ratio = max((dynamic_buffers.over_subscribe_ratio or 0 for dynamic_buffers in dynamic), default=0)
    patterns = {
        box.device.dynamic_buffers.pattern_mtu_bytes
        for box in tier_view.switches_from_lowest_tier
        if isinstance(box.device.dynamic_buffers, DynamicBuffers) and _can_set_traffic_pattern(box.device.platform)
    }
    keys = facts_not_none(
        lossless_pool=None if planned in (None, 90) else f"{planned}%",
        alpha=None if exponent in (None, 0) else _ALPHA_BY_EXPONENT.get(exponent),
        shared_headroom=None if not ratio else "on" if ratio == 1 else ratio,
        pattern_mtu=patterns.pop() if len(patterns) == 1 else None,
    )
    return DerivedIntentPart(keys={"buffers": keys} if keys else {})


def _lossless_pool_percent(pools: tuple[BufferPool, ...]) -> int:
    """Return the share of the lossless pool in percent; 0 where sizes are not known."""
    try:
        return lossless_pool_share_percent(pools)
    except UnknownFact:
        return 0


def _can_set_traffic_pattern(platform: str) -> bool:
    """Whether a platform's traffic pattern can be set."""
    traits = newest_traits(platform)
    return traits is not None and traits.pattern_mtu_bytes is None


def _values_of_active_ports(sight: TierView, name: str) -> Iterator[int]:
    """Yield a number that ports have, for every port that is not shut and is known to have one."""
    for box in sight.switches_from_lowest_tier:
        for port in box.device.interfaces:
            if port.enabled is not False and isinstance(value := getattr(port, name), int):
                yield value


def _lossless_thresholds(sight: TierView) -> Iterator[int]:
    """Yield the thresholds of lossless priority groups."""
    for box in sight.switches_from_lowest_tier:
        for port in box.device.interfaces:
            if isinstance(port.qos, QosProfile):
                for group in known_rows(port.qos.priority_groups):
                    buffer = group.buffer
                    if isinstance(buffer, BufferProfile) and buffer.headroom and buffer.dynamic_th is not None:
                        yield buffer.dynamic_th


def derive_trimming(tier_view: TierView) -> DerivedIntentPart:
    """Return the size that packets are cut to, and the class that cut packets travel in."""
    if tier_view.fabric.mode not in ("trim", "uec"):
        return DerivedIntentPart()
    device_trimming = most_common_value(
        box.device.trimming for box in tier_view.switches_from_lowest_tier if isinstance(box.device.trimming, Trimming)
    )
    if device_trimming is None:
        return DerivedIntentPart()
    into = next(
        (
            traffic_class.name
            for traffic_class in stated_or_inferred_classes(tier_view)[0]
            if isinstance(traffic_class.tc, int) and traffic_class.tc in (device_trimming.queue, device_trimming.tc)
        ),
        None,
    )
    implied = (None,) if tier_view.fabric.mode == "uec" else (None, 256)  # in mode uec, the key turns trimming on
    bytes_kept = None if device_trimming.size_bytes in implied else format_size(device_trimming.size_bytes)
    keys = facts_not_none(size=bytes_kept, into=None if into == "trimmed" else into)
    return DerivedIntentPart(keys={"trimming": keys} if keys else {})


def derive_nic_settings(tier_view: TierView) -> DerivedIntentPart:
    """Return how the NICs are set, as most hosts are stated to be."""
    known_hosts = tier_view.fabric.hosts

    def most(name: str) -> Any:
        fact = most_common_value(getattr(host, name) for host in known_hosts)
        return None if isinstance(fact, Unknown) else fact

    if not known_hosts:
        mtu = most_common_value(_values_of_active_ports(tier_view, "mtu_bytes")) or 9216
        fits = next((rdma_mtu for rdma_mtu in _RDMA_MTUS if rdma_mtu + ROCE_HEADERS_BYTES <= mtu), _RDMA_MTUS[-1])
        keys = {} if fits == _RDMA_MTUS[0] else {"rdma_mtu": fits}
        why = "no file says how NICs are set; as the switches expect it"
        return DerivedIntentPart(keys={"hosts": keys} if keys else {}, guessed={("hosts",): why} if keys else {})
    mode = tier_view.fabric.mode
    pfc, dcqcn, unlike_hosts = most("pfc_priorities"), most("dcqcn"), list(_differing_host_settings(known_hosts))
    fifo = most("fifo_tos")
    fifo_class = _class_of_tos(tier_view, fifo) if fifo is not None else None
    if fifo is not None and fifo_class is None:
        unlike_hosts.append(f"control messages of NCCL with ToS {fifo}, which is not the first of a class")
    keys = facts_not_none(
        tos=most("tos"),
        cnp_dscp=most("cnp_dscp"),
        fifo_class=fifo_class,
        trust=_none_if_default(most("trust"), "dscp"),
        pfc=None if pfc is None else [*pfc],
        dcqcn=_none_if_default(dcqcn, mode not in ("pfc-only", "uec")),
        rdma_mtu=_none_if_default(most("rdma_mtu_bytes"), 4096),
        queue_pairs=most("queue_pairs"),
        out_of_order=most("out_of_order"),
    )
    return DerivedIntentPart(keys={"hosts": keys} if keys else {}, left=tuple(unlike_hosts))


def _class_of_tos(sight: TierView, tos: int) -> str | None:
    """Return the class whose first DSCP makes a ToS byte."""
    classes = (traffic_class for traffic_class in stated_or_inferred_classes(sight)[0] if traffic_class.dscp)
    return next(
        (traffic_class.name for traffic_class in classes if ect_tos_of_dscp(min(traffic_class.dscp)) == tos), None
    )


def _none_if_default(value: object, default: object) -> Any:
    return None if value == default else value


def _differing_host_settings(known_hosts: tuple[Host, ...]) -> Iterable[str]:
    once = ("tos", "fifo_tos", "cnp_dscp", "trust", "pfc_priorities", "dcqcn", "rdma_mtu_bytes", "queue_pairs")
    for name in (*once, "out_of_order"):
        values = {str(getattr(host, name)) for host in known_hosts}
        if len(values) > 1:
            yield f"hosts have several values of {name}: {', '.join(sorted(values))}; an intent has one"


def derive_services_and_drained(tier_view: TierView) -> DerivedIntentPart:
    """Return the services, and the switches that are drained."""
    devices = [box.device for box in tier_view.switches_from_lowest_tier]

    def every(name: str) -> list[Any]:
        facts = (getattr(device, name) for device in devices)
        return [fact for fact in facts if not isinstance(fact, Unknown)]

    remarks: list[str] = []

    def list_servers(name: str) -> list[str] | None:
        most = most_common_value(every(name)) or ()
        if names := [server for server in most if not address_of(server)]:
            remarks.append(f"{name}: {', '.join(names)}; an intent has addresses")
        return [server for server in most if address_of(server)] or None

    snmp = facts_not_none(
        location=most_common_value(every("snmp_location")), contact=most_common_value(every("snmp_contact"))
    )
    collectors = most_common_value(rows for rows in every("otlp_collectors") if rows)
    stream = most_common_value(rows for rows in every("high_frequency") if rows)
    telemetry = facts_not_none(
        high_frequency=_high_frequency_settings(stream or ()),
        gnmi=True if any(every("gnmi_port")) else None,
        otlp=[collector.key for collector in collectors] if collectors else None,
    )
    keys = facts_not_none(
        ntp=list_servers("ntp_servers"), syslog=list_servers("syslog_servers"), dns=list_servers("dns_servers"),
        snmp=snmp or None, telemetry=telemetry or None,
    )  # fmt: skip
    tree: KeyTree = {"services": keys} if keys else {}
    drained = {device.name: {"drained": True} for device in devices if _is_switch_drained(device)}
    return DerivedIntentPart(keys=tree | ({"devices": drained} if drained else {}), left=tuple(remarks))


def _high_frequency_settings(streams: tuple[CounterStream, ...]) -> KeyTree | None:
    """Return the key of the only stream of a switch, if it has one that is on and has one kind of objects."""
    if len(streams) != 1 or not streams[0].enabled or len(streams[0].samples) != 1 or not streams[0].interval_us:
        return None
    return {"interval": show_us(streams[0].interval_us), "objects": streams[0].samples[0].kind}


def _is_switch_drained(device: Device) -> bool:
    return isinstance(device.bgp, Bgp) and device.bgp.graceful_shutdown


def derive_routing(tier_view: TierView, cables: CableLookup) -> DerivedIntentPart:
    """Return AS numbers, how sessions go, and how flows are spread."""
    processes = {
        box.device.name: box.device.bgp
        for box in tier_view.switches_from_lowest_tier
        if isinstance(box.device.bgp, Bgp)
    }
    neighbors = [neighbor for bgp in processes.values() for neighbor in known_rows(bgp.neighbors)]
    asn: KeyTree = {}
    lacking: dict[KeyPath, MissingIntentKey] = {}
    guessed: dict[KeyPath, str] = {}
    rules = {group.name: (group.tier > 0, _infer_asn_rule(group, processes)) for group in reversed(tier_view.groups)}
    rules |= {name: (name != ROLES_BY_TIER[0], None) for name in names_of_inferred_unread_groups(tier_view, cables)}
    for name, (is_upper, found_asn) in rules.items():
        if found_asn is None:
            beyond = most_common_value(
                neighbor.remote_asn for neighbor in neighbors if isinstance(neighbor.remote_asn, int)
            )
            example: object = beyond or 4200000000 if is_upper else "4200100000+"
            lacking["routing", "asn", name] = MissingIntentKey("no file says AS numbers", example)
            continue
        asn[name], unlike = found_asn
        if 2 * len(unlike) > sum(group.name == name for group in tier_view.group_of_switch.values()):
            guessed["routing", "asn", name] = "no rule gives the numbers of most switches"
    fields = most_common_value(
        box.device.hash_fields
        for box in tier_view.switches_from_lowest_tier
        if isinstance(box.device.hash_fields, tuple)
    )
    unnumbered = bool(neighbors) and sum(neighbor.interface is not None for neighbor in neighbors) * 2 > len(neighbors)
    keys = facts_not_none(
        sessions="unnumbered" if unnumbered else None,
        asn=asn or None,
        delivery="tables"
        if any(box.device.routing_tables is True for box in tier_view.switches_from_lowest_tier)
        else None,
        balancing=_infer_balancing(tier_view),
        hash=[*fields] if fields else None,
        bfd=True if neighbors and sum(neighbor.bfd for neighbor in neighbors) * 2 > len(neighbors) else None,
    )
    return DerivedIntentPart(keys={"routing": keys}, guessed=guessed, lacking=lacking)


def derive_reach_policy(tier_view: TierView) -> DerivedIntentPart:
    """Return what the owner states of hosts and ports that do not reach each other, unless the design shows it."""
    policy, tiers = tier_view.fabric.policy, {group.tier for group in tier_view.groups}
    keys = {"rails": policy.rails, "parts": policy.parts}
    stated = {key: value for key, value in keys.items() if not isinstance(value, Unknown)}
    if stated.get("rails") == "isolated" and len(tiers) < 2 and _is_any_host_in_rails(tier_view.fabric.hosts):
        del stated["rails"]
    return DerivedIntentPart(keys={"policy": stated} if stated else {})


def _is_any_host_in_rails(hosts: Iterable[Host]) -> bool:
    """Whether the ports of some hosts are in rails."""
    return any(not isinstance(host.spread, Unknown) and host.spread == "rails" for host in hosts)


def _infer_balancing(tier_view: TierView) -> str | None:
    """Return how flows are spread over equal paths; None for the default."""
    if any(box.device.adaptive_routing is True for box in tier_view.switches_from_lowest_tier):
        return "adaptive"
    processes = [box.device.bgp for box in tier_view.switches_from_lowest_tier if isinstance(box.device.bgp, Bgp)]
    rules = (rule for process in processes for route_map in process.route_maps for rule in route_map.rules)
    return "weighted" if any(SET_BANDWIDTH_BY_PATH_COUNT in rule.sets for rule in rules) else None


def _infer_asn_rule(group: SwitchGroup, processes: Mapping[str, Bgp]) -> tuple[Any, list[str]] | None:
    """Return the rule of a group's AS numbers, and the names of the switches that have others; None where none has one.

    Above the hosts, one number for all comes before one for each pod, and this before one for each switch.
    """
    pairs = [(box, bgp.asn) for box in group.boxes if (bgp := processes.get(box.device.name))]
    if not pairs:
        return None
    ways: dict[str, list[int]] = {"+": [box.number_in_tier for box, _ in pairs]}
    if group.tier:
        pods = {"+pod": [group.pod_of_switch_id(box.id) for box, _ in pairs]} if group.per_pod else {}
        ways = {"": [0] * len(pairs), **pods, **ways}
    rules: list[tuple[object, list[str]]] = []
    for way, numbers in ways.items():
        base = most_common_value(asn - number for number, (_, asn) in zip(numbers, pairs, strict=True))
        assert base is not None
        others = [box.was for number, (box, asn) in zip(numbers, pairs, strict=True) if asn - number != base]
        if base >= 1:
            rules.append((base if not way else f"{base}{way}", others))
    same = most_common_value(asn for _, asn in pairs)
    rules.append((same, [box.was for box, asn in pairs if asn != same]))
    return min(rules[:-1] or rules, key=lambda rule: len(rule[1]))
