"""The switches as the model has them: ports, addresses, routing, buffers, watchdogs and services put together."""

from collections.abc import Mapping

from nodrop.design.adapting import PlatformAdaptation, PlatformAdapter
from nodrop.design.additions import additions_of_switch, extra_frr_lines
from nodrop.design.addressing import AddressPlan, format_ipv4_address
from nodrop.design.balancing import has_adaptive_routing, is_weighted
from nodrop.design.bonds import port_channels
from nodrop.design.boxes import PlannedSwitch, PlannedSwitches, stated_settings, traits_of
from nodrop.design.buffers import TierBuffers, design_dynamic_buffers
from nodrop.design.classes import ClassesAndQosMaps
from nodrop.design.delivery import keeps_bgp_in_config_tables
from nodrop.design.high_frequency import design_streams
from nodrop.design.hwskus import hwsku_of, splits_of_hwsku, stated_hwsku
from nodrop.design.kinds import panel_uses
from nodrop.design.modes import build_trimming, trimming_of
from nodrop.design.ports import PortCables, QosProfileCache, design_interfaces
from nodrop.design.routing import design_bgp, design_blackhole_routes
from nodrop.design.settings import (
    ecmp_hash_fields,
    gnmi_port,
    otlp_collectors,
    stuck_queue_conditions,
)
from nodrop.design.static_buffers import design_static_buffers, has_static_headroom, static_headroom_notes
from nodrop.design.styles import qos_style
from nodrop.design.topology import TierSwitchGroup, topology_of
from nodrop.design.vlans import design_vlans
from nodrop.design.watchdog import FabricWatchdogTimers, supports_pause_history
from nodrop.hardware.dynamic import ResolvedProfiles, fill_in_computed_buffer_sizes
from nodrop.hardware.schema import SwitchModel
from nodrop.intent.schema import Intent
from nodrop.model.fabric import POLLED_COUNTER_GROUPS, Counter, Device, Loopback, Management
from nodrop.model.intern import Interner
from nodrop.model.qos import QosProfile
from nodrop.platforms.kit.traits import canonical_release

HASH_SEED_BY_TIER = (0, 10, 25, 40, 55)
"""One seed per tier from the hosts up, so that no two tiers hash alike; the first three are SONiC's (sonic-buildimage
dockers/docker-orchagent/switch.json.j2)."""

LOOPBACK_NAME = "Loopback0"
"""The name of the loopback, on platforms that do not prescribe one."""


def _build_buffers(intent: Intent, group: TierSwitchGroup, switch_model: SwitchModel) -> TierBuffers:
    if has_static_headroom(switch_model):
        return design_static_buffers(intent, group, switch_model)
    return design_dynamic_buffers(intent, group, switch_model)


class DeviceBuilder:
    """Makes switches: buffers and profiles once for each group, equal parts one object."""

    def __init__(
        self,
        intent: Intent,
        switches: PlannedSwitches,
        plan: AddressPlan,
        asns: Mapping[str, int],
        classes: ClassesAndQosMaps,
        timers: FabricWatchdogTimers | None,
    ) -> None:
        self._topology = topology = topology_of(intent)
        self._intent, self._plan, self._asns, self._classes, self._timers = intent, plan, asns, classes, timers
        self._interner, self._trimming = Interner(), trimming_of(intent)
        self._models = models = {group: nodes[0].model for group, nodes in switches.groups.items()}
        self._buffers = {group: _build_buffers(intent, group, model) for group, model in models.items()}
        self._hwskus = {group: hwsku_of(topology, group, model) for group, model in models.items()}
        self._shipped = {group: splits_of_hwsku(topology, group, model) for group, model in models.items()}
        self._profiles = {
            group: QosProfileCache(
                classes,
                timers,
                buffers,
                history=supports_pause_history(held, models[group]),
                held=held,
                trims=self._trimming is not None,
            )
            for group, buffers in self._buffers.items()
            for held in (traits_of(group),)
        }
        self._resolved: dict[TierSwitchGroup, ResolvedProfiles] = {group: {} for group in models}
        self._adapters = {group: self._make_adapter(nodes[0]) for group, nodes in switches.groups.items()}

    def build_device(self, node: PlannedSwitch, cables: PortCables) -> Device:
        """Return a switch as its platform can hold it, with the values that it will compute itself filled in."""
        adapted = self._adapters[node.group].adapt_device(self._design_device(node, cables))
        return self._interner.device(fill_in_computed_buffer_sizes(adapted, self._resolved[node.group]))

    def build_unadapted_device(self, node: PlannedSwitch, cables: PortCables) -> Device:
        """Return a switch as it would be if its platform held all that others do."""
        return fill_in_computed_buffer_sizes(self._design_device(node, cables))

    @property
    def static_headroom_adaptations(self) -> tuple[PlatformAdaptation, ...]:
        """Return the deviations from true cables and headroom caused by tables of switches without a dynamic model."""
        return tuple(
            note
            for group, model in self._models.items()
            for note in static_headroom_notes(self._topology, group, model, self._buffers[group])
        )

    def _make_adapter(self, node: PlannedSwitch) -> PlatformAdapter:
        profiles, length_m = self._profiles[node.group], self._length_of_spare_cables(node)
        os_traits = traits_of(node.group)

        def spare(speed_mbps: int | None) -> QosProfile:
            return profiles.profile_for_side_speed_and_cable(
                "fabric", speed_mbps or node.model.ports[0].speeds[0], length_m
            )

        return PlatformAdapter(os_traits, node.group, self._timers, spare, length_m)

    def _length_of_spare_cables(self, node: PlannedSwitch) -> int:
        """Return the length of a cable that a port without one may get: that of links to other switches, else hosts."""
        uses = panel_uses(self._topology, node.group, node.model)
        return next(uses).links.length

    def _design_device(self, node: PlannedSwitch, cables: PortCables) -> Device:
        plan, buffers, services = self._plan, self._buffers[node.group], self._intent.services
        ports = design_interfaces(
            self._intent.mtu, self._intent.routing, node, cables, self._profiles[node.group], self._shipped[node.group]
        )
        return Device(
            name=node.name,
            platform=node.declaration.platform,
            version=canonical_release(node.declaration.platform, node.declaration.version),
            model=node.model.name,
            hwsku=stated_hwsku(self._intent.devices, node, self._hwskus[node.group]),
            role=node.role,
            interfaces=ports,
            loopbacks=(Loopback(name=LOOPBACK_NAME, addresses=plan.loopback(node)),),
            port_channels=port_channels(self._intent.mtu, node, cables),
            vlans=design_vlans(self._intent.endpoints, self._intent.mtu, plan, node, cables),
            management=Management(
                interface="eth0",
                addresses=(f"{format_ipv4_address(plan.management(node))}/{plan.oob.prefix_length}",),
                gateway=format_ipv4_address(plan.management_gateway),
                own_vrf=True,
            ),
            bgp=design_bgp(
                plan,
                node,
                cables,
                self._asns,
                self._classes.control_dscp,
                external=self._intent.external,
                drained=stated_settings(self._intent.devices, node)[1].drained,
                weighted=is_weighted(self._intent.routing),
                bfd=self._intent.routing.bfd,
            ),
            static_routes=design_blackhole_routes(plan, node),
            routing_tables=keeps_bgp_in_config_tables(self._intent.routing, node.declaration),
            qos_style=qos_style(node.declaration, self._classes.lossless),
            buffer_model=buffers.model,
            dynamic_buffers=buffers.dynamic,
            buffer_pools=buffers.pools,
            watchdog_polling_ms=self._timers.wanted_polling_ms if self._timers else None,
            watchdog_conditions=stuck_queue_conditions(self._intent.pfc),
            trimming=build_trimming(self._intent.classes, self._trimming),
            counters=tuple(Counter(group=group, enabled=True) for group in POLLED_COUNTER_GROUPS),
            hash_seed=HASH_SEED_BY_TIER[node.tier],
            ntp_servers=tuple(sorted(services.ntp)),
            syslog_servers=tuple(sorted(services.syslog)),
            dns_servers=tuple(sorted(services.dns)),
            snmp_location=services.snmp.location,
            snmp_contact=services.snmp.contact,
            hash_fields=ecmp_hash_fields(self._intent.routing),
            adaptive_routing=has_adaptive_routing(self._intent.routing),
            gnmi_port=gnmi_port(self._intent.services),
            otlp_collectors=otlp_collectors(self._intent.services),
            high_frequency=design_streams(self._intent.services, self._classes, node.model, ports, buffers.pools),
            extra=additions_of_switch(self._intent.extra, node),
            extra_lines=extra_frr_lines(self._intent.extra, node),
        )
