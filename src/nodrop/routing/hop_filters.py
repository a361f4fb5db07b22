"""Which entries of access lists decide about a packet where it enters a router and where it leaves it."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from nodrop.model.access import ENTERING_STAGES, FORWARDING_STAGES, AccessEntry, AccessList, Binding
from nodrop.model.access import AccessListStage as ListStage
from nodrop.model.addresses import ADDRESS_BITS
from nodrop.model.states import known_rows
from nodrop.routing.control_plane import ControlPlane
from nodrop.routing.filtering import FilterDecision, PacketSet, decide_packets
from nodrop.routing.paths import PathWalk, RouterOnPath
from nodrop.routing.routers import VrfRouter

_INGRESS_STAGES: frozenset[ListStage] = FORWARDING_STAGES & ENTERING_STAGES
_EGRESS_STAGES: frozenset[ListStage] = FORWARDING_STAGES - ENTERING_STAGES
_STAGES_TO_SWITCH_ITSELF: frozenset[ListStage] = frozenset({"ingress"})
"""The stages that RoCE packets to a switch's own address pass, which stand for packets through it: no control plane."""


class FilterResult(NamedTuple):
    """Effect of an access list on a packet at an interface; `entry` is None if no entry matches."""

    interface: str
    stage: str
    rules: AccessList
    entry: AccessEntry | None
    decision: FilterDecision

    @property
    def action(self) -> str:
        """Whether the list lets the packet pass; `unknown` where that is not sure."""
        return self.decision.action if self.decision.sure else "unknown"


def access_list_results_at_router(
    plane: ControlPlane, stage: RouterOnPath, packet: PacketSet
) -> Iterator[FilterResult]:
    """Yield the effects of a router's access lists where a packet may enter and leave it."""
    yield from access_list_results_at_legs(plane, stage.router, "ingress", stage.arrive, packet, far_legs=stage.leave)
    yield from access_list_results_at_legs(plane, stage.router, "egress", stage.leave, packet, far_legs=stage.arrive)


def access_list_results_at_legs(
    plane: ControlPlane,
    router_number: int,
    stage: Literal["ingress", "egress"],
    legs: Sequence[str],
    packet: PacketSet,
    *,
    port: str = "",
    far_legs: Sequence[str] = (),
) -> Iterator[FilterResult]:
    """Yield the effects of a router's access lists on a packet at some of its legs; it passes one of their ports.

    Without a `port` it may be any. On the other side of the router it passes one of `far_legs`; any without these.
    """
    router = plane.routers[router_number]
    stages = _EGRESS_STAGES if stage == "egress" else _INGRESS_STAGES
    if stage == "ingress" and router.device.access_lists and _is_addressed_to_router(router, packet):
        stages = _STAGES_TO_SWITCH_ITSELF
    for rules in known_rows(router.device.access_lists):
        packets = _packets_by_far_port(router, rules, packet, far_legs)
        for name in dict.fromkeys(legs):
            leg = router.leg_by_name.get(name)
            ports = leg.ports if leg is not None else ()
            own_names = (name, *(leg_port for leg_port in ports if port in ("", leg_port)))
            for interface in _find_bound_interfaces(rules.bindings, stages, own_names):
                for packets_there in packets:
                    for decision in decide_packets(rules, interface, packets_there):
                        yield FilterResult(interface, stage, rules, decision.entry, decision)


def _packets_by_far_port(
    router: VrfRouter, rules: AccessList, packet: PacketSet, far_legs: Sequence[str]
) -> Sequence[PacketSet]:
    """Return a packet for each leg on the other side of a router, where a list depends on the port there."""
    far_interfaces = [entry.far_interfaces for entry in known_rows(rules.entries) if entry.far_interfaces]
    if not far_interfaces:
        return (packet,)
    far_ports = dict.fromkeys(_port_of_leg(router, name, far_interfaces) for name in far_legs)
    return [packet._replace(far_port=port) for port in far_ports] or (packet,)


def _port_of_leg(router: VrfRouter, name: str, far_interfaces: Sequence[tuple[str, ...]]) -> str | None:
    """Return a port of a leg; None where entries treat its ports differently, for packets may pass any of them."""
    leg = router.leg_by_name.get(name)
    ports = leg.ports if leg is not None and leg.ports else (name,)
    matches = {tuple(port in interfaces for interfaces in far_interfaces) for port in ports}
    return ports[0] if len(matches) == 1 else None


def find_dropping_access_list(plane: ControlPlane, walk: PathWalk, packet: PacketSet) -> FilterResult | None:
    """Return the first access list on the ways of a packet that surely drops it at one of its interfaces."""
    every = (
        filter_match for stage in walk.stages for filter_match in access_list_results_at_router(plane, stage, packet)
    )
    return next((filter_match for filter_match in every if filter_match.action == "deny"), None)


def _is_addressed_to_router(router: VrfRouter, packet: PacketSet) -> bool:
    """Whether packets are for a router itself."""
    own_addresses = {(one.family, one.number) for leg in router.legs for one in leg.addresses}
    prefixes = [atom.prefix for atom in packet.destinations]
    return all(one.length == ADDRESS_BITS[one.family] and (one.family, one.first) in own_addresses for one in prefixes)


def _find_bound_interfaces(
    bindings: Sequence[Binding], stages: frozenset[ListStage], names: Sequence[str]
) -> Iterator[str]:
    """Yield the interfaces among some at which a list acts at one of some stages."""
    for binding in bindings:
        if binding.stage in stages and (binding.interface is None or binding.interface in names):
            yield binding.interface or names[0]
