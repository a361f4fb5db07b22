"""From an intent to a fabric, in pure steps: switches, cables, addresses, classes, watchdogs, buffers, ports, routing.

Every step collects its problems; a design that cannot work is refused with all of them and the smallest fix.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypedDict

from nodrop.design.adapting import PlatformAdaptation, compare_adapted_devices
from nodrop.design.additions import addition_conflict_faults, addition_scope_and_kind_faults
from nodrop.design.addressing import AddressPlan, plan_addresses
from nodrop.design.asns import asns_by_device
from nodrop.design.balancing import balancing_faults
from nodrop.design.bonds import bond_faults
from nodrop.design.boxes import PlannedSwitch, resolve_switches, stated_settings, switch_identities
from nodrop.design.cabling import HostCable
from nodrop.design.class_faults import class_faults
from nodrop.design.classes import ClassesAndQosMaps, resolve_classes
from nodrop.design.delivery import bgp_config_table_faults
from nodrop.design.devices import DeviceBuilder
from nodrop.design.external import external_neighbors, external_routing_faults
from nodrop.design.faults import IntentFault, KeyFault, raise_if_faults
from nodrop.design.high_frequency import stream_lane_and_rate_faults
from nodrop.design.host_settings import (
    host_cnp_dscp,
    host_pfc_priorities,
    host_tos,
    hosts_use_dcqcn,
    nccl_fifo_tos,
    nic_setting_faults,
)
from nodrop.design.hwskus import hwsku_faults
from nodrop.design.layout import FabricLayout, lay_out
from nodrop.design.memory import memory_faults
from nodrop.design.modes import has_pfc, mode_faults
from nodrop.design.naming import name_faults, naming_of
from nodrop.design.ports import PortCables, cables_by_port, host_port_name, platform_port_name
from nodrop.design.rails import rails_policy
from nodrop.design.settings import settings_faults
from nodrop.design.splits import SplitPort
from nodrop.design.static_buffers import static_headroom_faults
from nodrop.design.styles import style_faults
from nodrop.design.topology import Topology, topology_of
from nodrop.design.topology_faults import topology_faults
from nodrop.design.vlans import vlan_faults
from nodrop.design.watchdog import FabricWatchdogTimers, derive_watchdog_timers, watchdog_faults
from nodrop.hardware import switch, switches
from nodrop.hardware.shares import lossless_pool_share_percent
from nodrop.intent.hosts import HostNicSettings
from nodrop.intent.schema import Buffers, EndpointGroup, Intent
from nodrop.intent.topology import Switches
from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Link, Mode, Policy
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.traits import traits_of_platform

HOST_BOND_NAME = "bond0"
"""What a host's bond is called, as Linux calls the first."""


class _SharedHostFields(TypedDict):
    """What all hosts have, as fields of `Host`."""

    tos: int
    fifo_tos: int | Unknown
    cnp_dscp: int
    pfc_priorities: tuple[int, ...]
    dcqcn: bool


class _FabricDesign(NamedTuple):
    """A design that can work, before its switches are made."""

    layout: FabricLayout
    plan: AddressPlan
    timers: FabricWatchdogTimers | None
    classes: ClassesAndQosMaps
    cables: Mapping[str, PortCables]
    make: DeviceBuilder


def build(intent: Intent) -> Fabric:
    """Return the fabric that an intent describes; InputProblems holds every reason why it cannot be."""
    topology = topology_of(intent)
    layout, plan, timers, classes, cables, make = _check_and_plan_fabric(intent)
    devices = {node.name: make.build_device(node, cables[node.name]) for node in layout.switches.all}
    faults = [*memory_faults(intent.mode, intent.buffers, layout.switches, devices, cables)]
    raise_if_faults(intent, [*faults, *stream_lane_and_rate_faults(intent.services, layout.switches, devices)])
    links, hosts = _build_links(layout), _build_hosts(intent, layout, plan)
    fabric = Fabric(
        name=intent.fabric,
        mode=intent.mode,
        devices=tuple(sorted(devices.values(), key=lambda device: natural_sort_key(device.name))),
        links=links,
        hosts=hosts,
        external=external_neighbors(intent.external, plan, layout.external_cables),
        classes=classes.declared,
        policy=Policy(
            host_watchdog=timers.hosts.watchdog(classes.lossless) if timers else None,
            fabric_watchdog=timers.fabric.watchdog(classes.lossless) if timers and timers.fabric else None,
            fabric_unwatched_roles=timers.unwatched if timers else (),
            rdma_mtu_bytes=intent.hosts.rdma_mtu,
            max_oversubscription=max(group.limit for group in topology.host_groups),
            rails=rails_policy(topology, intent.policy.rails, hosts, links),
            parts=intent.policy.parts or UNKNOWN,
            lossless_pool_percent=_least_lossless_pool_percent(intent.mode, intent.buffers, devices.values()),
            drained=tuple(
                sorted(
                    (node.name for node in layout.switches.all if stated_settings(intent.devices, node)[1].drained),
                    key=natural_sort_key,
                )
            ),
        ),
    )
    raise_if_faults(intent, list(addition_conflict_faults(intent.extra, devices, fabric, layout.switches)))
    return fabric


def _least_lossless_pool_percent(mode: Mode, buffers: Buffers, devices: Iterable[Device]) -> int | Unknown:
    """Return the share of the memory that every switch must keep for lossless traffic, in percent.

    It is the planned share, or less if a platform cannot have that, with a note about it.
    """
    if not has_pfc(mode):
        return UNKNOWN
    return min(buffers.lossless_pool, *(lossless_pool_share_percent(device.buffer_pools) for device in devices))


def find_adaptations(intent: Intent) -> tuple[PlatformAdaptation, ...]:
    """Return the platform deviations of an intent that builds: the wanted value, the substitute, and the reason."""
    layout, _, _, _, cables, make = _check_and_plan_fabric(intent)
    adapted = compare_adapted_devices(
        (node.group.name, make.build_unadapted_device(node, wires), make.build_device(node, wires))
        for node in layout.switches.all
        for wires in (cables[node.name],)
    )
    return tuple(sorted((*adapted, *make.static_headroom_adaptations)))


def _check_and_plan_fabric(intent: Intent) -> _FabricDesign:
    topology, naming = topology_of(intent), naming_of(intent)
    problems: list[IntentFault] = [*_release_faults(topology), *mode_faults(intent)]
    problems += [*class_faults(intent.classes, intent.mode), *nic_setting_faults(intent)]
    unnamed = list(name_faults(naming, intent.endpoints, switch_identities(topology)))
    if unconnected := list(topology_faults(topology, intent.topology, with_sheet=not unnamed)):
        raise_if_faults(intent, [*problems, *unnamed, *unconnected])
    problems += unnamed
    switches = resolve_switches(topology, naming, problems)
    raise_if_faults(intent, problems)
    layout = lay_out(topology, naming, intent.devices, intent.external, switches, problems)
    plan = plan_addresses(intent, switches, problems)
    asns = asns_by_device(topology, intent.routing, intent.devices, switches, problems)
    problems += [
        *settings_faults(intent, switches),
        *addition_scope_and_kind_faults(intent.extra, switches),
        *vlan_faults(intent.endpoints),
        *external_routing_faults(intent.external, plan, switches, asns),
    ]
    problems += [
        *bond_faults(intent.endpoints),
        *balancing_faults(topology, intent.hosts, intent.routing),
        *bgp_config_table_faults(topology, intent.routing, intent.extra, switches),
        *style_faults(topology),
        *hwsku_faults(topology, intent.devices, switches),
    ]
    problems += () if problems else static_headroom_faults(intent, switches)
    timers = derive_watchdog_timers(topology, intent.mode, intent.pfc, switches.max_ports_of_switch)
    problems += watchdog_faults(topology, intent.pfc, timers)
    raise_if_faults(intent, problems)
    classes = resolve_classes(intent.classes)
    make = DeviceBuilder(intent, switches, plan, asns, classes, timers)
    return _FabricDesign(layout, plan, timers, classes, cables_by_port(layout, plan), make)


def _release_faults(topology: Topology) -> Iterator[KeyFault]:
    for group in topology.groups:
        tier = group.wanted
        os_traits = traits_of_platform(tier.platform)
        if os_traits.most_tiers is not None and group.tier >= os_traits.most_tiers:
            fault = f"{os_traits.title} in tier {group.tier + 1}"
            expected = f"tier 1 to {os_traits.most_tiers}, beyond which it has no type and hash seed for a switch"
            yield KeyFault((*group.keys, "platform"), fault, expected)
        if tier.version not in os_traits.releases:
            expected = f"a release of {os_traits.title} that is written: {', '.join(os_traits.releases)}"
            yield KeyFault((*group.keys, "version"), tier.version, expected)
        elif (since := _first_release_with_model(tier)) and os_traits.releases.index(
            tier.version
        ) < os_traits.releases.index(since):
            fault = f"{os_traits.title} {tier.version} does not know {tier.model}"
            yield KeyFault((*group.keys, "version"), fault, f"{since} or later")


def _first_release_with_model(tier: Switches) -> str | None:
    """Return the first release of a tier's network OS that knows its model, where not all do."""
    return switch(tier.model).since.get(tier.platform) if tier.model in switches() else None


def _build_links(layout: FabricLayout) -> tuple[Link, ...]:
    joined = [
        (
            _build_link_end(fabric_cable.lower, fabric_cable.lower_port),
            _build_link_end(fabric_cable.upper, fabric_cable.upper_port),
            fabric_cable.cabling,
        )
        for fabric_cable in layout.fabric_cables
    ]
    joined += [
        (
            _build_link_end(host_cable.switch, host_cable.switch_port),
            End(host_cable.host, host_port_name(host_cable)),
            host_cable.cabling,
        )
        for host_cable in layout.host_cables
    ]
    joined += [
        (
            _build_link_end(external_cable.switch, external_cable.switch_port),
            End(external_cable.neighbor, external_cable.far_port),
            external_cable.cabling,
        )
        for external_cable in layout.external_cables
    ]
    links = (
        Link(a=min(end, other_end), b=max(end, other_end), length_m=cabling.length_m, media=cabling.media.name)
        for end, other_end, cabling in joined
    )
    return tuple(sorted(links, key=lambda link: (link.a, link.b)))


def _build_link_end(node: PlannedSwitch, port: SplitPort) -> End:
    return End(node.name, platform_port_name(node, port))


def _build_hosts(intent: Intent, layout: FabricLayout, plan: AddressPlan) -> tuple[Host, ...]:
    cables: dict[str, list[HostCable]] = {}
    for cable in layout.host_cables:
        cables.setdefault(cable.host, []).append(cable)
    fifo = nccl_fifo_tos(intent.classes, intent.hosts)
    same = _SharedHostFields(
        tos=host_tos(intent.classes, intent.hosts),
        fifo_tos=UNKNOWN if fifo is None else fifo,
        cnp_dscp=host_cnp_dscp(intent.classes, intent.hosts),
        pfc_priorities=host_pfc_priorities(intent.classes, intent.mode, intent.hosts),
        dcqcn=hosts_use_dcqcn(intent.mode, intent.hosts),
    )
    return tuple(
        _build_host(intent.endpoints[cables[name][0].group], intent.hosts, cables[name], plan, same)
        for name in sorted(cables, key=natural_sort_key)
    )


def _build_host(
    wanted_endpoints: EndpointGroup,
    settings: HostNicSettings,
    cables: list[HostCable],
    plan: AddressPlan,
    same: _SharedHostFields,
) -> Host:
    """Return a host by its cables, which are in the order of its ports."""
    name, group = cables[0].host, cables[0].group
    ports = tuple(
        HostPort(
            name=host_port_name(cable),
            speed_mbps=cable.cabling.speed_mbps,
            lanes=cable.host_lanes,
            addresses=plan.host(cable),
            bond=HOST_BOND_NAME if cable.bond else None,
        )
        for cable in cables
    )
    return Host(
        name=name,
        group=group,
        gpus=wanted_endpoints.gpus,
        nic=wanted_endpoints.nic,
        ports=ports,
        spread=wanted_endpoints.spread,
        trust=settings.trust,
        **same,
        rdma_mtu_bytes=settings.rdma_mtu,
        queue_pairs=UNKNOWN if settings.queue_pairs is None else settings.queue_pairs,
        out_of_order=UNKNOWN if settings.out_of_order is None else settings.out_of_order,
    )
