"""From an intent to a fabric, in pure steps: layout, addresses, classes, watchdogs, buffers, ports, routing.

Every step collects its problems; a design that cannot work is refused with all of them and the smallest fix.
"""

from collections.abc import Mapping

from nodrop.design.addressing import Plan, asn, check_asns, dotted, plan_addresses
from nodrop.design.buffers import Buffers, design_buffers
from nodrop.design.classes import Classes, resolve_classes
from nodrop.design.layout import LEAF, SPINE, Layout, Node, lay_out
from nodrop.design.ports import Profiles, Wire, host_port_name, interfaces, name_of, wires
from nodrop.design.routing import bgp, static_routes
from nodrop.design.watchdog import Timers, derive
from nodrop.errors import InputProblems, Problem
from nodrop.fabric.fabric import (
    Counter,
    Device,
    End,
    Fabric,
    Host,
    HostPort,
    Link,
    Loopback,
    Management,
    Policy,
    Port,
)
from nodrop.fabric.intern import Interner
from nodrop.fabric.subject import natural
from nodrop.hardware.dynamic import resolve
from nodrop.intent.schema import Intent

RELEASES = ("202505",)
"""Releases of SONiC that this release of nodrop writes."""

HASH_SEED = {LEAF: 0, SPINE: 10}
"""One seed per tier, so that no two tiers hash alike (sonic-buildimage dockers/docker-orchagent/switch.json.j2)."""

COUNTERS = (
    "BUFFER_POOL_WATERMARK",
    "PFCWD",
    "PG_DROP",
    "PG_WATERMARK",
    "PORT",
    "PORT_BUFFER_DROP",
    "QUEUE",
    "QUEUE_WATERMARK",
    "RIF",
)
"""What makes a pause storm visible; the groups that SONiC's init_cfg.json.j2 turns on."""


def build(intent: Intent) -> Fabric:
    """Return the fabric that an intent describes; InputProblems holds every reason why it cannot be."""
    problems: list[Problem] = []
    _check_releases(intent, problems)
    layout = lay_out(intent, problems)
    classes = resolve_classes(intent, problems)
    _stop(problems)
    plan = plan_addresses(intent, layout, problems)
    asns = {node.name: asn(intent, node, problems) for node in layout.nodes}
    check_asns(intent, asns, problems)
    ports = max(len(node.model.panels) for node in layout.nodes)
    timers = derive(intent, ports, classes.lossless, problems)
    _stop(problems)
    cables = wires(layout, plan)
    designs = Designs(intent, classes, timers)
    interner = Interner()
    devices = [
        interner.device(resolve(_device(intent, layout, plan, node, asns, designs, cables[node.name])))
        for node in layout.nodes
    ]
    return Fabric(
        name=intent.fabric,
        mode=intent.mode,
        devices=tuple(sorted(devices, key=lambda device: natural(device.name))),
        links=_links(layout),
        hosts=_hosts(intent, layout, plan),
        classes=classes.declared,
        policy=Policy(host_watchdog=timers.hosts, fabric_watchdog=timers.fabric, rdma_mtu_bytes=intent.hosts.rdma_mtu),
    )


class Designs:
    """Works out buffers and profiles once per distinct kind of switch."""

    def __init__(self, intent: Intent, classes: Classes, timers: Timers) -> None:
        self.intent, self.classes, self.timers = intent, classes, timers
        self._made: dict[object, tuple[Buffers, Profiles]] = {}

    def of(self, node: Node, cables: Mapping[Port, Wire]) -> tuple[Buffers, Profiles]:
        """Return buffers and profiles of a switch by its model and the speeds and lengths of its links."""
        links = frozenset(
            (wire.cabling.speed_mbps, group.lanes, wire.cabling.length_m)
            for wire in cables.values()
            if (group := node.model.group(wire.port.panel)) is not None
        )
        key = (node.model.name, links)
        if key not in self._made:
            buffers = design_buffers(self.intent, node.model, sorted(links))
            self._made[key] = buffers, Profiles(self.intent, self.classes, self.timers, buffers)
        return self._made[key]


def _stop(problems: list[Problem]) -> None:
    if problems:
        raise InputProblems(problems)


def _check_releases(intent: Intent, problems: list[Problem]) -> None:
    for key, tier in (("leaves", intent.topology.leaves), ("spines", intent.topology.spines)):
        if tier.version not in RELEASES:
            keys = ("topology", key, "version")
            problems.append(
                intent.problem(keys, tier.version, f"a SONiC release that is written: {', '.join(RELEASES)}")
            )


def _device(
    intent: Intent,
    layout: Layout,
    plan: Plan,
    node: Node,
    asns: dict[str, int],
    designs: Designs,
    cables: Mapping[Port, Wire],
) -> Device:
    buffers, profiles = designs.of(node, cables)
    return Device(
        name=node.name,
        platform=node.tier.platform,
        version=node.tier.version,
        model=node.model.name,
        role=node.role,
        interfaces=interfaces(intent, node, cables, profiles),
        loopbacks=(Loopback(name="Loopback0", addresses=(f"{dotted(plan.loopback(node))}/32",)),),
        management=Management(
            interface="eth0",
            addresses=(f"{dotted(plan.management(node))}/{plan.oob_prefix}",),
            gateway=dotted(plan.gateway),
            own_vrf=True,
        ),
        bgp=bgp(intent, layout, plan, node, asns, designs.classes.control_dscp),
        static_routes=static_routes(plan, node),
        buffer_model="dynamic",
        dynamic_buffers=buffers.dynamic,
        buffer_pools=buffers.pools,
        watchdog_polling_ms=designs.timers.polling_ms,
        counters=tuple(Counter(group=group, enabled=True) for group in COUNTERS),
        hash_seed=HASH_SEED[node.role],
        ntp_servers=tuple(sorted(intent.services.ntp)),
        syslog_servers=tuple(sorted(intent.services.syslog)),
    )


def _links(layout: Layout) -> tuple[Link, ...]:
    links = []
    for cable in layout.fabric_cables:
        ends = (
            End(cable.lower.name, name_of(cable.lower, cable.lower_port)),
            End(cable.upper.name, name_of(cable.upper, cable.upper_port)),
        )
        links.append((ends, cable.cabling))
    for host_cable in layout.host_cables:
        ends = (
            End(host_cable.leaf.name, name_of(host_cable.leaf, host_cable.leaf_port)),
            End(host_cable.host, host_port_name(host_cable)),
        )
        links.append((ends, host_cable.cabling))
    made = [Link(a=min(ends), b=max(ends), length_m=of.length_m, media=of.media.name) for ends, of in links]
    return tuple(sorted(made, key=lambda link: (link.a, link.b)))


def _hosts(intent: Intent, layout: Layout, plan: Plan) -> tuple[Host, ...]:
    ports: dict[str, list[HostPort]] = {}
    groups: dict[str, str] = {}
    for cable in layout.host_cables:
        groups[cable.host] = cable.group
        ports.setdefault(cable.host, []).append(
            HostPort(
                name=host_port_name(cable),
                speed_mbps=cable.cabling.speed_mbps,
                lanes=layout.nics[cable.group].lanes[cable.cabling.speed_mbps],
                addresses=(f"{dotted(plan.endpoint(cable) + 1)}/31",),
            )
        )
    settings = intent.hosts
    return tuple(
        Host(
            name=name,
            group=groups[name],
            gpus=intent.endpoints[groups[name]].gpus,
            nic=intent.endpoints[groups[name]].nic,
            ports=tuple(sorted(own, key=lambda port: natural(port.name))),
            tos=settings.tos,
            cnp_dscp=settings.cnp_dscp,
            trust=settings.trust,
            pfc_priorities=settings.pfc,
            dcqcn=settings.dcqcn,
            rdma_mtu_bytes=settings.rdma_mtu,
        )
        for name, own in sorted(ports.items(), key=lambda item: natural(item[0]))
    )
