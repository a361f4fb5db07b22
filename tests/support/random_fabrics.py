"""Random devices that SONiC can be told to be, sensible or not: what the round trip is tried with."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, cast, get_args

from hypothesis import strategies as st

from nodrop.hardware import switch
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.model.bridging import PortChannel, Vlan, VlanMember
from nodrop.model.buffers import BufferPool, BufferProfile, DynamicBuffers, Headroom
from nodrop.model.fabric import (
    HASH_FIELDS,
    MODES,
    Counter,
    CounterStream,
    Device,
    Fabric,
    Interface,
    Loopback,
    Management,
    Port,
    SampledCounters,
    SampledKind,
    TrafficClass,
    Trimming,
)
from nodrop.model.qos import COLORS, PfcWatchdog, PriorityGroup, QosProfile, Queue, Scheduler, WredColor, WredProfile
from nodrop.model.routing import Bgp
from nodrop.model.states import UNKNOWN
from nodrop.model.subject import natural_sort_key
from nodrop.platforms import port_name
from nodrop.platforms.sonic.releases import DATABASE_VERSION_BY_RELEASE, has_feature
from support.random_routing import bgps, static_routes, vrf_bgps
from support.random_tables import in_tables

told = st.sampled_from(['row 4, "left"', "noc <noc@example.net>", "é\\u0041", "}},"])


def _in_order(chosen: set[Any]) -> tuple[Any, ...]:
    return tuple(field for field in HASH_FIELDS if field in chosen)


ALL = tuple(range(8))
SEEDS = {"leaf": 0, "spine": 10, "superspine": 25}
POOLS = ("egress_lossless", "egress_lossy", "ingress_lossless", "ingress_lossy")
COUNTERS = ("BUFFER_POOL_WATERMARK", "PFCWD", "PG_DROP", "PORT", "QUEUE", "RIF", "WRED_ECN_QUEUE")
free_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        '",\n    }',
        "\\",
        '"',
        "\\u0041",
        '",\n',
        "}},\n{{",
        "{% raw %}",
        "{{ x }}",
        "é\u2028𝄞",
        "",
        "  a  b ",
        "a,\n        }",
    ]
)
bytes_ = st.sampled_from([0, 1, 1024, 9216, 38912, 2**31]) | st.integers(0, 10**9)
priorities = st.sets(st.integers(0, 7), max_size=4).map(lambda found: tuple(sorted(found)))


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def ascending(numbers: set[int]) -> tuple[int, ...]:
    """Return numbers in their order."""
    return tuple(sorted(numbers))


def maps(size: int, targets: int) -> st.SearchStrategy[Any]:
    """Maps that are missing, partial, or whole; most releases refuse one without an entry."""

    def spread(chosen: dict[int, int], rest: int | None) -> tuple[int | None, ...]:
        return tuple(chosen.get(index, rest) for index in range(size))

    indexes, numbers = st.integers(0, size - 1), st.integers(0, targets - 1)
    some = st.dictionaries(indexes, numbers, min_size=1, max_size=4)
    return maybe(st.builds(spread, some, st.none()) | st.builds(spread, st.just({}) | some, numbers))


schedulers = st.builds(
    Scheduler,
    type=st.sampled_from(["strict", "dwrr", "wrr"]),
    weight=maybe(st.integers(1, 100)),
    guaranteed_bytes_per_s=maybe(bytes_),
    guaranteed_burst_bytes=maybe(bytes_),
    peak_bytes_per_s=maybe(bytes_),
    peak_burst_bytes=maybe(bytes_),
)
colors = st.builds(
    WredColor,
    min_bytes=maybe(bytes_),
    max_bytes=maybe(bytes_),
    probability_percent=maybe(st.integers(0, 100)),
    enabled=maybe(st.booleans()),
)
wreds = st.builds(
    WredProfile,
    ecn_colors=st.sets(st.sampled_from(COLORS)).map(lambda found: tuple(one for one in COLORS if one in found)),
    green=colors,
    yellow=colors,
    red=colors,
)
watchdogs = st.builds(
    PfcWatchdog,
    priorities=priorities,
    detection_ms=maybe(st.integers(100, 5000)),
    restoration_ms=maybe(st.integers(100, 60000)),
    action=maybe(st.sampled_from(["drop", "forward", "alert"])),
    history=maybe(st.booleans()),
)


def buffers(pools: Sequence[str], lossless: bool) -> st.SearchStrategy[BufferProfile]:
    """Buffer profiles of some pools, both kinds of threshold, also both at once or none."""
    headroom = st.builds(Headroom, xoff_bytes=bytes_, xon_bytes=maybe(bytes_), xon_offset_bytes=maybe(bytes_))
    return st.builds(
        BufferProfile,
        pool=maybe(st.sampled_from(pools)) if pools else st.none(),
        size_bytes=bytes_,
        dynamic_th=maybe(st.integers(-8, 7)),
        static_th_bytes=maybe(bytes_),
        headroom=headroom if lossless else st.none(),
        discard=maybe(st.sampled_from(["drop", "trim"])),
    )


@st.composite
def queues(draw: st.DrawFn, pools: Sequence[str]) -> tuple[Queue, ...]:
    """Queues 0 to 9 with any of their parts missing, though not all."""
    made = []
    for index in sorted(draw(st.sets(st.integers(0, 9), max_size=4))):
        parts = draw(st.sampled_from(["s", "w", "b", "sw", "sb", "wb", "swb"]))
        made.append(
            Queue(
                index=index,
                scheduler=draw(schedulers) if "s" in parts else None,
                wred=draw(wreds) if "w" in parts else None,
                buffer=draw(buffers(pools, lossless=False)) if "b" in parts else None,
            )
        )
    return tuple(made)


def computed(dynamic_th: int) -> BufferProfile:
    """A lossless profile whose headroom the switch will work out."""
    headroom = Headroom(xoff_bytes=UNKNOWN, xon_bytes=UNKNOWN, computed=True)
    return BufferProfile(pool="ingress_lossless", size_bytes=UNKNOWN, dynamic_th=dynamic_th, headroom=headroom)


@st.composite
def profiles(draw: st.DrawFn, pools: Sequence[str], dynamic: DynamicBuffers | None, computes: bool) -> QosProfile:
    """What a port does, sense or nonsense."""
    of_group = buffers(pools, lossless=True) | buffers(pools, lossless=False)
    if computes and dynamic is not None:
        of_group |= st.just(computed(dynamic.dynamic_th))
    made = {name: draw(maps(*shape)) for name, shape in SHAPES.items()}
    sent = draw(priorities)
    by_dscp, by_pcp = made["dscp_to_tc"] is not None, made["pcp_to_tc"] is not None
    return QosProfile(
        trust="both" if by_dscp and by_pcp else "dscp" if by_dscp else "pcp" if by_pcp else None,
        **made,
        pfc_rx_priorities=draw(st.sampled_from([sent, ALL])),
        pfc_tx_priorities=sent,
        pfc_watchdog=draw(maybe(watchdogs)),
        priority_groups=tuple(
            PriorityGroup(index=index, buffer=draw(of_group))
            for index in sorted(draw(st.sets(st.integers(0, 7), max_size=3)))
        ),
        queues=draw(queues(pools)),
        ingress_buffers=tuple(draw(st.lists(buffers(pools, lossless=False), max_size=2, unique=True))),
        egress_buffers=tuple(draw(st.lists(buffers(pools, lossless=False), max_size=2, unique=True))),
    )


SHAPES = {
    "dscp_to_tc": (64, 16),
    "pcp_to_tc": (8, 16),
    "tc_to_queue": (16, 10),
    "tc_to_priority_group": (16, 8),
    "pfc_to_queue": (8, 8),
    "pfc_to_priority_group": (8, 8),
    "tc_to_dscp": (16, 64),
}


@st.composite
def pools(draw: st.DrawFn, computes: bool) -> tuple[BufferPool, ...]:
    """Pools with and without sizes, shares and shared headroom; a pool without a size is the switch's to size."""
    made = []
    for name in sorted(draw(st.sets(st.sampled_from(POOLS) | st.sampled_from(["a", "x_pool", "B-2"]), max_size=5))):
        size = draw(maybe(bytes_))
        made.append(
            BufferPool(
                name=name,
                direction=draw(st.sampled_from(["ingress", "egress", "both"])),
                mode=draw(st.sampled_from(["static", "dynamic"])),
                size_bytes=UNKNOWN if size is None and computes else size,
                shared_headroom_bytes=draw(maybe(bytes_)),
                percentage=draw(maybe(st.integers(0, 100))),
                computed=size is None and computes,
            )
        )
    return tuple(made)


@st.composite
def dynamic_buffers(draw: st.DrawFn) -> DynamicBuffers:
    pattern = draw(st.booleans())
    return DynamicBuffers(
        dynamic_th=draw(st.integers(-8, 7)),
        pattern_mtu_bytes=draw(st.integers(64, 9216)) if pattern else None,
        small_packet_percent=draw(st.integers(0, 100)) if pattern else None,
        over_subscribe_ratio=draw(maybe(st.integers(0, 8))),
    )


@st.composite
def interfaces(draw: st.DrawFn, model: str, designs: Sequence[QosProfile], traditional: bool) -> tuple[Interface, ...]:
    """Some of a model's ports: a few kinds, each of several ports."""
    facts = switch(model)
    chosen = sorted(
        draw(st.sets(st.integers(1, max(max(group.panels) for group in facts.ports)), min_size=1, max_size=6))
    )
    lengths_m = [0, 1, 3, 5, 30, 299, 300]
    if traditional:  # where a HWSKU has a row for a length, buffermgrd names a lossless priority group by it
        tables = filter(None, map(facts.sonic.headroom_table_of_hwsku, (None, *facts.sonic.hwskus)))
        rows = {row.cable_m for table in tables for row in table.rows}
        lengths_m = [length for length in lengths_m if length not in rows]
    made = []
    for panel in chosen:
        group = facts.group(panel)
        assert group is not None
        way = draw(st.sampled_from([one for one in group.breakout_options if not one.platforms]))
        for part in sorted(draw(st.sets(st.integers(0, way.into - 1), min_size=1))):
            port = Port(panel, part)
            made.append(
                Interface(
                    name=port_name("sonic", model, port, way.into),
                    port=port,
                    enabled=draw(st.booleans()),
                    speed_mbps=draw(maybe(st.sampled_from(way.speeds))),
                    lanes=way.lanes,
                    fec=draw(st.sampled_from([None, "rs", "fc", "none", "auto"])),
                    autoneg=draw(maybe(st.booleans())),
                    advertised_speeds_mbps=draw(maybe(st.sets(st.sampled_from(way.speeds), min_size=1).map(ascending))),
                    link_training=draw(maybe(st.booleans())),
                    mtu_bytes=draw(st.integers(68, 9216)),
                    addresses=tuple(draw(st.lists(st.sampled_from(ADDRESSES), max_size=3, unique=True))),
                    link_local=draw(st.booleans()),
                    vrf=draw(vrfs),
                    description=draw(maybe(free_texts)),
                    link_pause=draw(st.sampled_from([None, True, False, UNKNOWN])),
                    cable_length_m=draw(maybe(st.sampled_from(lengths_m))),
                    qos=draw(st.none() | st.sampled_from(designs)) if designs else None,
                    side=draw(st.sampled_from([None, "host", "fabric", UNKNOWN])),
                )
            )
    return tuple(made)


vrfs = st.sampled_from([None, None, "Vrf_storage", "Vrf1"])


def links() -> dict[str, st.SearchStrategy[Any]]:
    """What a port channel and a VLAN have alike."""
    return {
        "enabled": st.booleans(),
        "mtu_bytes": st.integers(68, 9216),
        "addresses": st.lists(st.sampled_from(ADDRESSES), max_size=2, unique=True).map(tuple),
        "vrf": vrfs,
        "description": maybe(free_texts.filter(bool)),
    }


def port_channels(ports: Sequence[str]) -> st.SearchStrategy[tuple[PortChannel, ...]]:
    """Port channels of any of the ports, also of the same ones."""

    def channel(number: int) -> st.SearchStrategy[PortChannel]:
        return st.builds(
            PortChannel,
            name=st.just(f"PortChannel{number}"),
            members=st.sets(st.sampled_from(ports)).map(lambda found: tuple(sorted(found, key=natural_sort_key))),
            min_links=maybe(st.integers(1, 1024)),
            fast_rate=st.booleans(),
            fallback=st.booleans(),
            **links(),
        )

    chosen = st.sets(st.sampled_from([1, 2, 10, 101]), max_size=2).map(sorted)
    return chosen.flatmap(lambda numbers: st.tuples(*map(channel, numbers)))


def vlans(ports: Sequence[str]) -> st.SearchStrategy[tuple[Vlan, ...]]:
    """VLANs with any of the ports and port channels in them."""

    def vlan(number: int) -> st.SearchStrategy[Vlan]:
        names = st.sets(st.sampled_from(ports)).map(lambda found: sorted(found, key=natural_sort_key))
        members = names.flatmap(
            lambda found: st.tuples(
                *(st.builds(VlanMember, interface=st.just(one), tagged=st.booleans()) for one in found)
            )
        )
        return st.builds(Vlan, id=st.just(number), members=members, **links())

    chosen = st.sets(st.sampled_from([2, 10, 100, 4094]), max_size=2).map(sorted)
    return chosen.flatmap(lambda numbers: st.tuples(*map(vlan, numbers)))


ADDRESSES = ("10.0.0.0/31", "10.0.0.2/31", "192.0.2.1/24", "2001:db8::1/127", "fe80::1/10")
managements = st.builds(
    Management,
    interface=st.just("eth0"),
    addresses=st.lists(st.sampled_from(ADDRESSES), min_size=1, max_size=2, unique=True).map(tuple),
    gateway=maybe(st.sampled_from(["192.0.2.254", "2001:db8::fe"])),
    own_vrf=st.booleans(),
)
trimmings = st.builds(
    Trimming,
    size_bytes=maybe(st.integers(64, 9216)),
    dscp=maybe(st.integers(0, 63) | st.just("from-tc")),
    tc=maybe(st.integers(0, 15)),
    queue=st.integers(0, 9) | st.just("dynamic"),
)
servers = st.sets(st.sampled_from(["192.0.2.10", "192.0.2.9", "2001:db8::7", "ntp.example"]), max_size=3).map(
    lambda found: tuple(sorted(found))
)
loopbacks = st.sets(st.sampled_from(["Loopback0", "Loopback1", "Loopback10", "Loopback9"]), max_size=2).flatmap(
    lambda names: st.tuples(
        *(
            st.builds(
                Loopback,
                name=st.just(name),
                addresses=st.lists(st.sampled_from(ADDRESSES), max_size=2, unique=True).map(tuple),
                vrf=vrfs,
            )
            for name in sorted(names)
        )
    )
)
counters = st.sets(st.sampled_from(COUNTERS), max_size=3).flatmap(
    lambda groups: st.tuples(
        *(
            st.builds(
                Counter,
                group=st.just(group),
                enabled=st.booleans(),
                interval_ms=st.none() if group == "PFCWD" else maybe(st.integers(100, 60000)),
            )
            for group in sorted(groups)
        )
    )
)
OBJECTS = {
    "buffer-pools": ("egress_lossless", "ingress_lossless"),
    "ports": ("Ethernet0", "Ethernet8"),
    "priority-groups": ("Ethernet0/3", "Ethernet8/4"),
    "queues": ("Ethernet0/3", "Ethernet0/4", "Ethernet8/3"),
}
SAMPLED = ("PACKETS", "WATERMARK_CELLS", "WRED_ECN_MARKED_PACKETS")


def subsets(words: Sequence[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.sets(st.sampled_from(words)).map(lambda chosen: tuple(one for one in words if one in chosen))


streams = st.sets(st.sampled_from(["queues", "a.b-1"])).flatmap(
    lambda names: st.tuples(
        *(
            st.builds(
                CounterStream,
                name=st.just(name),
                enabled=st.booleans(),
                interval_us=st.integers(0, 2**32 - 1),
                samples=subsets(sorted(get_args(SampledKind))).flatmap(
                    lambda kinds: st.tuples(
                        *(
                            st.builds(
                                SampledCounters,
                                kind=st.just(kind),
                                objects=subsets(OBJECTS[kind]),
                                counters=subsets(SAMPLED),
                            )
                            for kind in kinds
                        )
                    )
                ),
            )
            for name in sorted(names)
        )
    )
)
name_servers = servers.map(lambda found: tuple(one for one in found if one != "ntp.example"))


@st.composite
def devices(draw: st.DrawFn, name: str = "leaf1") -> Device:
    """A device that SONiC can be told to be, with what the switch computes by itself worked out."""
    model = draw(st.sampled_from(["SN2201", "SN2410", "SN4410", "SN4700", "SN5600", "SN5640"]))
    facts = switch(model).sonic
    role = draw(st.sampled_from(sorted(SEEDS)))
    computes = draw(st.booleans())
    dynamic = draw(maybe(dynamic_buffers()))
    own_pools = draw(pools(computes))
    names = [pool.name for pool in own_pools]
    computed_groups = computes and "ingress_lossless" in names
    designs = draw(st.lists(profiles(names, dynamic, computed_groups), max_size=3))
    bgp = draw(maybe(bgps))
    ports = draw(interfaces(model, designs, not computes))
    names_of_ports = [port.name for port in ports]
    channels = draw(port_channels(names_of_ports))
    unmapped = any(isinstance(port.qos, QosProfile) and port.qos.dscp_to_tc is None for port in ports)
    device = Device(
        name=name,
        platform="sonic",
        version=draw(st.sampled_from([*DATABASE_VERSION_BY_RELEASE, list(DATABASE_VERSION_BY_RELEASE)[-1]])),
        model=model,
        hwsku=draw(st.sampled_from([None, *(one for one in facts.hwskus if one != facts.hwsku)])),
        role=role,
        mac=draw(maybe(st.just("00:11:22:33:44:55"))),
        interfaces=ports,
        loopbacks=draw(loopbacks),
        port_channels=channels,
        vlans=draw(vlans([*names_of_ports, *(channel.name for channel in channels)])),
        management=draw(maybe(managements)),
        bgp=bgp,
        vrf_bgp=draw(vrf_bgps(bgp)),
        static_routes=() if bgp is None else draw(static_routes),
        buffer_model="dynamic" if computes else "traditional",
        dynamic_buffers=dynamic,
        buffer_pools=own_pools,
        switch_dscp_to_tc=None if unmapped else draw(maps(64, 16)),
        watchdog_polling_ms=draw(maybe(st.integers(100, 1000))),
        counters=draw(counters),
        trimming=draw(maybe(trimmings)),
        hash_seed=SEEDS[role],
        ntp_servers=draw(servers),
        syslog_servers=draw(servers),
        dns_servers=draw(name_servers),
        snmp_location=draw(maybe(told)),
        snmp_contact=draw(maybe(told)),
        hash_fields=draw(maybe(st.sets(st.sampled_from(HASH_FIELDS), min_size=1).map(_in_order))),
        gnmi_port=draw(maybe(st.integers(1, 65535))),
        high_frequency=draw(streams),
    )
    if has_feature(str(device.version), "routing in tables") and bgp is not None and ports and draw(st.booleans()):
        device = in_tables(device)
    return fill_in_computed_buffer_sizes(
        device if device.version == list(DATABASE_VERSION_BY_RELEASE)[-1] else _older(device)
    )


def _older(device: Device) -> Device:
    """The device as the first release can have it; parts that were one object stay one."""
    made: dict[int, Any] = {}

    def older(part: Any) -> Any:
        if isinstance(part, tuple) and not hasattr(part, "_fields"):
            return tuple(map(older, part))
        if not is_dataclass(part) or isinstance(part, type):
            return part
        if id(part) not in made:
            made[id(part)] = (
                part,
                _first(replace(part, **{one.name: older(getattr(part, one.name)) for one in fields(part)})),
            )
        return made[id(part)][1]

    return cast("Device", older(device))


def _first(part: Any) -> Any:
    """A part of a device without what the first release lacks."""
    if isinstance(part, Device):
        return replace(part, trimming=None, dns_servers=(), hash_fields=None, high_frequency=())
    if isinstance(part, Bgp):
        return replace(part, suppress_fib_pending=False)
    if isinstance(part, Interface) and part.fec == "auto":
        return replace(part, fec="rs")
    if isinstance(part, BufferPool):
        return replace(part, percentage=None, direction="ingress" if part.direction == "both" else part.direction)
    if isinstance(part, BufferProfile):
        return replace(part, discard=None)
    if isinstance(part, PfcWatchdog):
        return replace(part, history=None)
    if isinstance(part, QosProfile):
        queues = part.tc_to_queue and tuple(None if queue is None else min(queue, 7) for queue in part.tc_to_queue)
        return replace(part, tc_to_dscp=None, tc_to_queue=queues)
    return part


@st.composite
def fabrics(draw: st.DrawFn) -> Fabric:
    """One to three such devices side by side, their addresses apart, so that nobody takes them for cabled."""
    count = draw(st.integers(1, 3))
    made = tuple(_apart(draw(devices(name=f"leaf{number}")), number) for number in range(1, count + 1))
    rdma = TrafficClass(name="rdma", purpose="rdma", dscp=(26,), tc=3, lossless=True)
    name = draw(st.sampled_from(["f", "pod-1.a_b"]))
    return Fabric(name=name, mode=draw(st.sampled_from(MODES)), devices=made, classes=(rdma,))


def _apart(device: Device, number: int) -> Device:
    ports = (
        replace(
            port,
            addresses=tuple(
                one.replace("10.0.", f"10.{number}.").replace("db8::", f"db8:{number}::") for one in port.addresses
            ),
        )
        for port in device.interfaces
    )
    return replace(device, interfaces=tuple(ports))


def alone(device: Device) -> Fabric:
    """A fabric of one device, as a writer is given it."""
    return Fabric(name="alone", mode="lossless", devices=(device,))
