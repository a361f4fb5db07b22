"""Random devices that NVUE can be told to be, sensible or not, of any release: what the round trip is tried with."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from hypothesis import strategies as st

from nodrop.hardware import buildable_models, switch
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.fabric import (
    HASH_FIELDS,
    Collector,
    Device,
    Fabric,
    HashField,
    Interface,
    Loopback,
    Management,
    Port,
    Trimming,
)
from nodrop.model.qos import (
    COLORS,
    PfcWatchdog,
    QosProfile,
    Queue,
    Scheduler,
    WatchdogConditions,
    WredColor,
    WredProfile,
)
from nodrop.model.routing import (
    Aggregate,
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    LocalAsnMode,
    PrefixList,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.subject import natural_sort_key
from nodrop.model.types import fields_of
from nodrop.platforms.kit.bindings import bound_fields
from nodrop.platforms.nvue import conditions, effects, hashing
from nodrop.platforms.nvue.bindings_bgp import (
    NUMBERED_SESSION_BINDINGS,
    PROCESS_BINDINGS,
    SESSION_BINDINGS,
    SESSION_FAMILY_BINDINGS,
)
from nodrop.platforms.nvue.bindings_switch import SWITCH_BINDINGS
from nodrop.platforms.nvue.releases import RELEASES, has_feature, is_same_or_earlier
from nodrop.platforms.nvue.traits import TRAITS
from support.random_bindings import scalars
from support.random_routing import LISTS, SHARED, alike, as_path_lists, asns, maybe, prefix_rules, redistributions, rows

OF_MEANING = frozenset({"prefix-list-of-other-family", "lossless-half-configured", "shares-exceed-whole"})
"""Kinds of remarks about what settings come to, which those of switches that nobody would design may."""
PRIORITIES = st.integers(0, 7)
REST = (None,) * 8
V4 = ("10.0.0.0/31", "10.0.0.2/31", "192.0.2.1/24")
V6 = ("2001:db8::1/127", "fe80::1/10")
SERVERS = ("192.0.2.10", "192.0.2.9", "2001:db8::7", "ntp.example")
words = st.lists(
    st.text(
        st.characters(codec="ascii", exclude_categories=["Cc", "Z"], exclude_characters="'"), min_size=1, max_size=8
    )
    | st.sampled_from(["on", "1", "~", "=", "#", "a:", "'", '"', "{}", "$x", "`x`", "\\", "!", "11:11", "-", "?"]),
    min_size=1,
    max_size=4,
).map(lambda found: " ".join(found).replace("'", "."))
"""Text as NVUE takes it for a description, with what YAML and a shell would trip over."""


def some(choices: Sequence[str], most: int, least: int = 0) -> st.SearchStrategy[tuple[str, ...]]:
    """Some of the choices, each once, in any order."""
    return st.permutations(choices).flatmap(
        lambda found: st.integers(least, min(most, len(choices))).map(lambda count: tuple(found[:count]))
    )


def _hashed_by(fields: set[HashField]) -> tuple[HashField, ...]:
    return tuple(one for one in HASH_FIELDS if one in fields)


def ordered(found: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(found))


def address_of(collector: Collector) -> str:
    return collector.address


def by_address(found: list[Collector]) -> tuple[Collector, ...]:
    return tuple(sorted(found, key=address_of))


def addresses(version: str) -> st.SearchStrategy[tuple[str, ...]]:
    """Addresses: in any order before 5.15, IPv4 first since."""
    found = some((*V4, *V6), 3)
    if not has_feature(version, "enabled instead of on"):
        return found
    return found.map(lambda all_: tuple(sorted(all_, key=lambda one: ":" in one)))


def spread(size: int, target: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[int, ...]]:
    """A map with a target for every index, most of them the same."""
    chosen = st.dictionaries(st.integers(0, size - 1), target, max_size=5)
    return st.builds(lambda few, rest: tuple(few.get(index, rest) for index in range(size)), chosen, target)


rates = maybe(st.integers(0, 2**31 - 1).map(lambda kbps: kbps * 125))
colors = st.builds(
    WredColor,
    min_bytes=st.integers(0, 2**32 - 1),
    max_bytes=st.integers(0, 2**32 - 1),
    probability_percent=st.integers(0, 100),
    enabled=st.booleans(),
)


relative_colors = st.builds(
    WredColor,
    min_percent=st.integers(0, 100),
    max_percent=st.integers(0, 100),
    probability_percent=st.integers(0, 100),
    enabled=st.booleans(),
)


@st.composite
def wreds(draw: st.DrawFn, relative: bool) -> WredProfile:
    """Marking of all colors alike, by what a queue may take where `relative`."""
    color = draw(colors | relative_colors if relative else colors)
    marked = COLORS if not color.enabled or draw(st.booleans()) else ()
    return WredProfile(ecn_colors=marked, green=color, yellow=color, red=color)


@st.composite
def queues(draw: st.DrawFn, lossless: frozenset[int], trims: bool, relative: bool) -> tuple[Queue, ...]:
    """Queues with scheduler, rates and marking, any of them missing though not all; shares of no more than 100 %."""
    made, left = [], 100
    for index in sorted(draw(st.sets(PRIORITIES, max_size=8))):
        parts = draw(st.sampled_from(["s", "r", "w", "sr", "sw", "rw", "srw"]))
        scheduler = None
        if "s" in parts or "r" in parts:
            weight = draw(st.integers(0, min(left, 30))) if "s" in parts else None
            strict = weight is not None and draw(st.booleans())
            low, high = (draw(rates), draw(rates)) if "r" in parts else (None, None)
            if weight is None and low is None and high is None:
                high = 0
            left -= 0 if strict else weight or 0
            scheduler = Scheduler(
                type="strict" if strict else "dwrr",
                weight=None if strict else weight,
                guaranteed_bytes_per_s=low,
                peak_bytes_per_s=high,
            )
        buffer = effects.queue_buffer(index in lossless)
        if trims and draw(st.booleans()):
            buffer = replace(buffer, discard="trim")
        wred = draw(wreds(relative)) if "w" in parts else None
        made.append(Queue(index=index, scheduler=scheduler, wred=wred, buffer=buffer))
    return tuple(made)


@st.composite
def headrooms(draw: st.DrawFn) -> effects.StatedHeadroom:
    """Thresholds of a PFC profile, each within the next."""
    size = draw(st.integers(0, 500_000))
    xoff = draw(st.integers(0, size))
    return effects.StatedHeadroom(
        port_buffer_bytes=size, xoff_threshold_bytes=xoff, xon_threshold_bytes=draw(st.integers(0, xoff))
    )


@st.composite
def profiles(
    draw: st.DrawFn,
    classes: tuple[int, ...],
    dynamic_th: int,
    times_ms: Sequence[int | None],
    trims: bool,
    relative: bool,
) -> QosProfile:
    """What a port does, of what NVUE can say."""
    pausing = tuple(sorted(draw(st.sets(PRIORITIES, max_size=2) | st.just({3}) | st.just(set()))))
    ways = draw(st.sampled_from(["both", "rx", "tx"]))
    rx, tx = (() if ways == "tx" else pausing), (() if ways == "rx" else pausing)
    trust = draw(st.sampled_from(["dscp", "pcp", "both", None]))
    detection_ms, restoration_ms = times_ms
    watches = detection_ms is not None and rx and draw(st.booleans())
    stated = draw(maybe(headrooms()))
    return QosProfile(
        trust=trust,
        dscp_to_tc=draw(spread(64, PRIORITIES)) if trust in ("dscp", "both") else None,
        pcp_to_tc=draw(spread(8, PRIORITIES)) if trust in ("pcp", "both") else None,
        tc_to_queue=(*classes, *REST),
        tc_to_priority_group=effects.tc_to_priority_group(pausing),
        pfc_to_queue=classes,
        pfc_to_priority_group=effects.pfc_to_priority_group(pausing),
        tc_to_dscp=draw(maybe(spread(8, st.integers(0, 63)).map(lambda found: (*found, *REST)))),
        pfc_rx_priorities=rx,
        pfc_tx_priorities=tx,
        pfc_watchdog=PfcWatchdog(priorities=rx, detection_ms=detection_ms, restoration_ms=restoration_ms, action=None)
        if watches
        else None,
        priority_groups=effects.priority_groups(pausing, dynamic_th, stated_headroom=stated),
        queues=draw(queues(effects.lossless_queues(pausing, classes), trims, relative)),
    )


@st.composite
def interfaces(draw: st.DrawFn, model: str, version: str, designs: Sequence[QosProfile]) -> tuple[Interface, ...]:
    """Some of a model's ports, whole and broken out, a few kinds, each of several ports."""
    facts = switch(model)
    balances = draw(st.booleans())
    made = []
    panels = [panel for group in facts.ports for panel in group.panels]
    near = st.integers(1, 12).map(lambda place: panels[place % len(panels)])
    chosen = draw(st.sets(near | st.sampled_from(panels), min_size=1, max_size=6))
    for panel in sorted(chosen):
        group = facts.group(panel)
        assert group is not None
        alone = panel % 2 == 1 and panel + 1 not in chosen
        splits = draw(st.sampled_from([1, 1, *(way.into for way in group.splits if alone or not way.blocks_next)]))
        lanes = group.lanes if splits == 1 else draw(st.sampled_from([1, group.lanes // splits]))
        speed, mtu = draw(st.sampled_from(group.speeds)), draw(st.sampled_from([9216, 552, 1500]))
        for part in range(splits):
            qos = draw(st.sampled_from(designs))
            pausing = qos.pfc_rx_priorities or qos.pfc_tx_priorities
            pause = [None, False] if pausing else [None, False, True]
            made.append(
                Interface(
                    name=f"swp{panel}s{part}" if splits > 1 else f"swp{panel}",
                    port=Port(panel, part),
                    enabled=draw(st.booleans()),
                    speed_mbps=speed,
                    lanes=lanes,
                    fec=draw(st.sampled_from(["rs", "fc", "none", "auto"])),
                    autoneg=draw(st.booleans()),
                    mtu_bytes=mtu,
                    addresses=draw(addresses(version)),
                    vrf=draw(st.sampled_from([None, None, "RED"])),
                    description=draw(maybe(words)),
                    link_pause=draw(st.sampled_from(pause)),
                    cable_length_m=draw(st.sampled_from([3, 30, 100_000])) if pausing else None,
                    adaptive_routing=balances and draw(st.booleans()),
                    utilization_threshold_percent=draw(maybe(st.integers(1, 100))) if balances else None,
                    qos=qos,
                )
            )
    return tuple(made)


@st.composite
def bridging(
    draw: st.DrawFn, ports: tuple[Interface, ...], version: str
) -> tuple[tuple[PortChannel, ...], tuple[Vlan, ...]]:
    """Bonds of some ports, and VLANs of some ports and bonds, a few with an interface of the switch's own."""
    left = [port.name for port in ports]
    bonds = []
    for name in draw(some(("bond1", "bond2", "bondA"), 2).map(ordered)):
        members = draw(some(left, 3, 1)) if left else ()
        if members:
            left = [one for one in left if one not in members]
            link = draw(links(version))
            flags = {one: draw(st.booleans()) for one in ("fast_rate", "fallback")}
            bonds.append(PortChannel(name=name, members=tuple(sorted(members, key=natural_sort_key)), **flags, **link))
    there = [*(port.name for port in ports), *(bond.name for bond in bonds)]
    untagged: set[str] = set()
    vlans = []
    for number in sorted(draw(st.sets(st.integers(1, 4094), max_size=3))):
        members = tuple(
            VlanMember(interface=name, tagged=name in untagged or draw(st.booleans()))
            for name in sorted(draw(some(there, 4)), key=natural_sort_key)
        )
        untagged |= {member.interface for member in members if not member.tagged}
        own = draw(links(version)) if draw(st.booleans()) else {}
        vlans.append(Vlan(id=number, members=members, **own))
    return tuple(bonds), tuple(vlans)


@st.composite
def links(draw: st.DrawFn, version: str) -> dict[str, Any]:
    """What a bond, or the switch's interface in a VLAN, has of a port."""
    return {
        "enabled": draw(st.booleans()),
        "mtu_bytes": draw(st.sampled_from([9216, 1500])),
        "addresses": draw(addresses(version)),
        "vrf": draw(st.sampled_from([None, "RED"])),
        "description": draw(maybe(words)),
    }


@st.composite
def route_maps(
    draw: st.DrawFn,
    prefixes: Sequence[PrefixList],
    communities: Sequence[CommunityList],
    paths: Sequence[AsPathList],
) -> Any:
    matches: dict[str, Sequence[str]] = {
        "as-path": [one.name for one in paths],
        "community": [one.name for one in communities],
        "interface": ("lo", "swp1"),
        "ip next-hop prefix-list": [one.name for one in prefixes if one.family == "ipv4"],
        "ip address prefix-list": [one.name for one in prefixes if one.family == "ipv4"],
        "ipv6 address prefix-list": [one.name for one in prefixes if one.family == "ipv6"],
        "tag": ("7",),
    }
    sets: dict[str, Sequence[str]] = {
        "as-path prepend": ("65000",),
        "community": ("65000:1 no-export", "graceful-shutdown"),
        "extcommunity bandwidth": ("num-multipaths", "cumulative non-transitive", "400"),
        "ip next-hop": ("10.0.0.1",),
        "local-preference": ("0",),
        "origin": ("igp",),
        "tag": ("9",),
        "weight": ("5",),
    }
    made = []
    for name in rows(draw, ("IN", "OUT", "a-b"), 2):
        rules = []
        for sequence in sorted(draw(st.sets(st.integers(1, 65535), min_size=1, max_size=2))):
            chosen = {kind: draw(maybe(st.sampled_from(values))) for kind, values in matches.items() if values}
            if chosen.get("ip address prefix-list"):
                chosen.pop("ipv6 address prefix-list", None)
            own = {kind: draw(maybe(st.sampled_from(values))) for kind, values in sets.items()}
            rules.append(
                RouteMapRule(
                    sequence=sequence,
                    action=draw(st.sampled_from(["permit", "deny"])),
                    matches=tuple((kind, value) for kind, value in chosen.items() if value),
                    sets=tuple((kind, value) for kind, value in own.items() if value),
                )
            )
        made.append(RouteMap(name=name, rules=tuple(rules)))
    return tuple(made)


@st.composite
def prefix_lists(draw: st.DrawFn) -> tuple[PrefixList, ...]:
    made = []
    for name in sorted(draw(some(LISTS, 3))):
        family = draw(st.sampled_from(["ipv4", "ipv6"]))
        prefixes, most = (V4_PREFIXES, 32) if family == "ipv4" else (("2001:db8::/32", "::/0"), 128)
        made.append(PrefixList(name=name, family=family, rules=tuple(draw(prefix_rules(prefixes, most)))))
    return tuple(sorted(made, key=lambda one: (one.family, one.name)))


V4_PREFIXES = ("10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24", "0.0.0.0/0")
V6_PREFIXES = ("2001:db8::/32", "fd00::1/128", "::/0")
communities = some(["graceful-shutdown", "65000:1", "no-export"], 2, 1)
community_rules = st.lists(st.tuples(st.sampled_from(["permit", "deny"]), communities), min_size=1, max_size=2)


_UNWRITTEN = frozenset({"password", "evpn", "private_asns", "next_hop_forced", "local_asn_of_group"})
"""Fields of sessions that NVUE is not told, as their rows say: at their defaults on every device that is drawn."""


@st.composite
def families(
    draw: st.DrawFn, policies: Sequence[RouteMap], prefixes: Sequence[PrefixList], paths: Sequence[AsPathList]
) -> dict[str, Any]:
    """What a session does in an address family, of what NVUE can say."""
    policy = maybe(st.sampled_from([one.name for one in policies])) if policies else st.none()
    listed = maybe(st.sampled_from([one.name for one in prefixes])) if prefixes else st.none()
    path_list = maybe(st.sampled_from([one.name for one in paths])) if paths else st.none()
    own = scalars(SESSION_FAMILY_BINDINGS, Ipv6Unicast) | {
        "import_policy": policy,
        "export_policy": policy,
        "import_prefix_list": listed,
        "export_prefix_list": listed,
        "import_path_list": path_list,
        "export_path_list": path_list,
        "default_policy": policy,
    }
    assert own.keys() == fields_of(Ipv6Unicast).keys() - _UNWRITTEN, "a field that is never drawn"
    made = draw(st.fixed_dictionaries(own))
    return made if made["default_originate"] else made | {"default_policy": None}


@st.composite
def neighbors(
    draw: st.DrawFn, policies: Sequence[RouteMap], prefixes: Sequence[PrefixList], paths: Sequence[AsPathList]
) -> tuple[BgpNeighbor, ...]:
    ends = draw(some(["10.1.0.1", "10.1.0.3", "2001:db8::1", "swp1", "swp3s1"], 4))
    family = families(policies, prefixes, paths)
    own = scalars(SESSION_BINDINGS, BgpNeighbor)
    own |= {
        "remote_asn": asns | st.sampled_from(["external", "internal"]),
        "description": maybe(words),
        "update_source": maybe(st.sampled_from(["10.0.0.1", "2001:db8::9", "lo"])),
        "local_asn_mode": st.sampled_from(get_args(LocalAsnMode)),
        "ipv6": family.map(lambda said: Ipv6Unicast(**said)),
    }
    drawn = {"address", "interface"} | own.keys() | (fields_of(Ipv6Unicast).keys() - _UNWRITTEN)
    assert drawn == fields_of(BgpNeighbor).keys() - _UNWRITTEN, "a field that is never drawn"
    unnumbered = {
        field: strategy for field, strategy in own.items() if field not in bound_fields(NUMBERED_SESSION_BINDINGS)
    }
    made = tuple(
        BgpNeighbor(interface=end, **draw(st.fixed_dictionaries(unnumbered)), **draw(family))
        if end.startswith("swp")
        else BgpNeighbor(address=end, **draw(st.fixed_dictionaries(own)), **draw(family))
        for end in sorted(ends, key=natural_sort_key)
    )
    made = tuple(one if one.local_asn is not None else replace(one, local_asn_mode="prepend") for one in made)
    return tuple(one if draw(st.booleans()) else alike(one, made[0]) for one in made)


def aggregates(prefixes: Sequence[str]) -> st.SearchStrategy[tuple[Aggregate, ...]]:
    """Up to two aggregates, sorted by prefix."""
    made = st.builds(Aggregate, prefix=st.sampled_from(prefixes), summary_only=st.booleans(), as_set=st.booleans())
    return st.lists(made, max_size=2, unique_by=lambda one: one.prefix).map(
        lambda found: tuple(sorted(found, key=lambda one: one.prefix))
    )


_OF_SWITCH = ("suppress_fib_pending", "graceful_restart", "restart_s", "select_defer_s")
"""What NVUE has below `router bgp`, for the processes of all VRFs."""


@st.composite
def bgps(draw: st.DrawFn) -> Bgp:
    prefixes, paths = draw(prefix_lists()), draw(as_path_lists())
    lists = tuple(CommunityList(name=name, rules=tuple(draw(community_rules))) for name in sorted(draw(some(LISTS, 2))))
    shared = {
        "session_dscp": None,
        "prefix_lists": prefixes,
        "community_lists": lists,
        "as_path_lists": paths,
        "route_maps": draw(route_maps(prefixes, lists, paths)),
        "suppress_fib_pending": draw(st.booleans()),
        "graceful_restart": draw(st.booleans()),
        "restart_s": draw(maybe(st.integers(1, 3600))),
        "select_defer_s": draw(maybe(st.integers(0, 3600))),
    }
    return draw(processes(None, draw(maybe(st.just("10.0.0.1"))), draw(st.booleans()), shared))


@st.composite
def processes(draw: st.DrawFn, vrf: str | None, router_id: str | None, drained: bool, shared: dict[str, Any]) -> Bgp:
    """The process of a VRF with what those of all VRFs share."""
    return Bgp(
        asn=draw(asns),
        vrf=vrf,
        router_id=router_id,
        networks=(*draw(some(V4_PREFIXES, 2).map(ordered)), *draw(some(V6_PREFIXES, 2).map(ordered))),
        redistributions=draw(redistributions(shared["route_maps"])),
        **draw(st.fixed_dictionaries(scalars(PROCESS_BINDINGS, Bgp))),
        graceful_shutdown=drained,
        aggregates=(*draw(aggregates(V4_PREFIXES)), *draw(aggregates(V6_PREFIXES))),
        neighbors=draw(neighbors(shared["route_maps"], shared["prefix_lists"], shared["as_path_lists"])),
        **shared,
    )


@st.composite
def vrf_bgps(draw: st.DrawFn, bgp: Bgp | None) -> tuple[Bgp, ...]:
    """Processes of other VRFs than that of `bgp`, with its lists and maps; none without it."""
    if bgp is None:
        return ()
    shared = {name: getattr(bgp, name) for name in (*SHARED, *_OF_SWITCH)}
    return tuple(
        draw(processes(vrf, bgp.router_id and "10.0.0.7", bgp.graceful_shutdown, shared))
        for vrf in sorted(draw(some(["BLUE", "RED", "x-1"], 2)), key=natural_sort_key)
    )


@st.composite
def static_routes(draw: st.DrawFn) -> tuple[StaticRoute, ...]:
    made = []
    for vrf in draw(st.sampled_from([(), (None,), ("RED",), ("RED", None), ("BLUE", None, "x-1")])):
        for prefix in draw(some(["10.2.0.0/24", "2001:db8:1::/48", "192.0.2.0/25"], 2)):
            v4 = ["10.0.0.9", "10.0.0.11"]
            hops = ["blackhole", "swp1", *(["2001:db8::9"] if ":" in prefix else v4)]
            made += [
                StaticRoute(prefix=prefix, next_hop=hop, vrf=vrf, distance=distance)
                for hop in draw(some(hops, 2, 1))
                for distance in draw(st.sampled_from([(1,), (1,), (250,), (1, 255)]))
            ]
    return tuple(
        sorted(made, key=lambda one: (one.prefix, one.next_hop, one.distance, natural_sort_key(one.vrf or "default")))
    )


@st.composite
def managements(draw: st.DrawFn, version: str) -> Management:
    return Management(
        interface="eth0",
        addresses=draw(addresses(version)),
        gateway=draw(maybe(st.sampled_from(["192.0.2.254", "2001:db8::fe"]))),
        own_vrf=draw(st.booleans()),
    )


def release_of(model: str, version: str) -> bool:
    """Whether a release knows a model."""
    return is_same_or_earlier(switch(model).since.get("nvue", RELEASES[0]), version)


@st.composite
def trimmings(draw: st.DrawFn, classes: Sequence[int]) -> Trimming:
    """Packet trimming: what is trimmed leaves by the queue of its switch priority."""
    size, dscp, tc = 4 * draw(st.integers(64, 256)), draw(st.integers(0, 63)), draw(PRIORITIES)
    return Trimming(size_bytes=size, dscp=dscp, tc=tc, queue=classes[tc])


stuck = st.builds(
    WatchdogConditions,
    pause_ten_thousandths=maybe(st.integers(1, 9999)),
    sent_frames=maybe(st.integers(0, 100_000)),
    queue_percent=maybe(st.integers(0, 100)),
    recovery_pause_frames=st.integers(0, 100_000),
)
collectors = st.builds(Collector, address=st.sampled_from(["192.0.2.30", "2001:db8::3"]), port=st.integers(1, 65535))


@st.composite
def devices(draw: st.DrawFn, version: str | None = None, name: str = "leaf1") -> Device:
    """A device that NVUE can be told to be, with what the switch computes by itself worked out."""
    version = version or draw(st.sampled_from(RELEASES))
    model = draw(st.sampled_from([one for one in buildable_models("nvue") if release_of(one, version)]))
    polling = draw(maybe(st.integers(100, 5000)))
    restores = has_feature(version, "a time of restoration")
    times = [polling * draw(st.integers(1, 1000)) if polling and wanted else None for wanted in (True, restores)]
    classes, dynamic_th = draw(spread(8, PRIORITIES)), draw(st.sampled_from([0, 0, -8, -1, 3, 7]))
    trimming = (
        draw(maybe(trimmings(classes)))
        if switch(model).asic in TRAITS.trimming.asics and has_feature(version, "packet trimming")
        else None
    )
    relative = switch(model).asic == "spectrum-4" and has_feature(version, "relative marking")
    made = profiles(classes, dynamic_th, times, trimming is not None, relative)
    ports = draw(interfaces(model, version, draw(st.lists(made, min_size=1, max_size=3))))
    bonds, vlans = draw(bridging(ports, version))
    pausing = any(port.cable_length_m for port in ports)
    small = effects.default_small_packet_percent(model)
    if has_feature(version, "a share of small packets"):
        small = draw(st.just(small) | st.integers(0, 100))
    lossy = draw(st.integers(1, 99))
    lossless = draw(st.integers(1, 100 - lossy)) if pausing else None
    own_bgp = draw(maybe(bgps()))
    gnmi = draw(maybe(st.integers(1, 65535))) if has_feature(version, "a gNMI server") else None
    exports = gnmi is None and has_feature(version, "export by OTLP") and switch(model).asic not in TRAITS.without_otlp
    device = Device(
        name=name,
        platform="nvue",
        version=version,
        model=model,
        role="leaf",
        interfaces=ports,
        port_channels=bonds,
        vlans=vlans,
        loopbacks=draw(st.just(()) | st.tuples(st.builds(Loopback, name=st.just("lo"), addresses=addresses(version)))),
        management=draw(maybe(managements(version))),
        bgp=own_bgp,
        vrf_bgp=draw(vrf_bgps(own_bgp)),
        static_routes=draw(static_routes()),
        qos_style=draw(st.sampled_from(list(TRAITS.styles))),
        buffer_model="dynamic",
        dynamic_buffers=effects.dynamic_buffers(dynamic_th, small) if pausing else None,
        buffer_pools=effects.buffer_pools(lossy, lossless, switch(model).buffer_bytes),
        watchdog_polling_ms=polling,
        watchdog_conditions=draw(st.just(conditions.DEFAULT_WATCHDOG_CONDITIONS) | stuck)
        if has_feature(version, conditions.WATCHDOG_CONDITIONS_FEATURE)
        else None,
        trimming=trimming,
        hash_fields=draw(
            maybe(st.sets(st.sampled_from(sorted(hashing.NVUE_FLAG_BY_FIELD)), min_size=1).map(_hashed_by))
        ),
        mac_ageing_s=draw(maybe(st.integers(0, 65_535))),
        **draw(st.fixed_dictionaries(scalars(SWITCH_BINDINGS, Device))),
        adaptive_routing=draw(st.booleans()),
        weighs_utilization=draw(st.booleans()),
        ntp_servers=draw(some(SERVERS, 3).map(ordered)),
        syslog_servers=draw(some(SERVERS, 3).map(ordered)),
        dns_servers=draw(some(SERVERS[:-1], 3).map(ordered)),
        snmp_location=draw(maybe(words)),
        snmp_contact=draw(maybe(words)),
        gnmi_port=gnmi,
        otlp_collectors=draw(st.lists(collectors, max_size=2, unique_by=address_of).map(by_address)) if exports else (),
    )
    return fill_in_computed_buffer_sizes(device)


def alone(device: Device) -> Fabric:
    """A fabric of one device, as a writer is given it."""
    return Fabric(name="alone", mode="lossless", devices=(device,))
