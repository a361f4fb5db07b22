"""Distribution of flows over equal paths: by their hash, by weights, or by load, packet by packet, if switches can.

Adaptive routing is for the ports of all equal paths alike: traffic over a port without it is spread by its hash. Those
are the ports between switches; a host has one path from its switch.
"""

from collections.abc import Iterator

from nodrop.design.faults import KeyFault
from nodrop.design.topology import GroupJoin, Topology
from nodrop.hardware import asic, asic_of, buildable_models, switch
from nodrop.hardware.schema import Asic
from nodrop.intent.hosts import HostNicSettings
from nodrop.intent.network import Routing
from nodrop.intent.topology import Switches
from nodrop.model.fabric import PortSide
from nodrop.platforms import writable_platforms
from nodrop.platforms.kit.traits import first_release, traits_of_platform
from nodrop.units import show_speed

_BALANCING_KEY_PATH = ("routing", "balancing")
_ECMP_HINT = "or routing.balancing: ecmp"


def has_adaptive_routing(routing: Routing, port_side: PortSide | None = "fabric") -> bool:
    """Whether switches choose among equal paths by load, on ports towards `port_side`."""
    return routing.balancing == "adaptive" and port_side == "fabric"


def is_weighted(routing: Routing) -> bool:
    """Whether switches weigh equal paths by the paths that the next switch has on."""
    return routing.balancing == "weighted"


def balancing_faults(topology: Topology, hosts: HostNicSettings, routing: Routing) -> Iterator[KeyFault]:
    """Yield platforms, releases, models, speeds and NICs that cannot have adaptive routing or weights, if wanted."""
    if is_weighted(routing):
        yield from _weight_faults(topology, routing)
    if not has_adaptive_routing(routing):
        return
    groups = topology.groups
    unable = {
        traits_of_platform(group.wanted.platform).title
        for group in groups
        if not traits_of_platform(group.wanted.platform).adaptive_routing
    }
    if unable:
        fault = f"adaptive, which {' and '.join(sorted(unable))} does not have"
        able = " or ".join(
            platform for platform in writable_platforms() if traits_of_platform(platform).adaptive_routing
        )
        yield KeyFault(_BALANCING_KEY_PATH, fault, "ecmp", f"or switches whose platform is {able}")
        return
    if hosts.out_of_order is False:
        fault = "false, though adaptive routing delivers packets in any order"
        yield KeyFault(("hosts", "out_of_order"), fault, "true", _ECMP_HINT)
    reported_joins = set[GroupJoin]()
    for group in groups:
        tier = group.wanted
        chip = asic_of(tier.model)
        if chip is None:
            continue
        if not chip.adaptive_routing:
            expected = f"a model with {' or '.join(_adaptive_routing_chips_of_platform(tier))}"
            fault = f"{chip.name} of {tier.model} has no adaptive routing"
            yield KeyFault((*group.keys, "model"), fault, expected, _ECMP_HINT)
            continue
        for join in topology.joins:
            if group not in (join.lower, join.upper) or supports_adaptive_routing_at(chip, join.wanted.speed):
                continue
            if join not in reported_joins:
                reported_joins.add(join)
                speeds = " or ".join(map(show_speed, chip.adaptive_routing_speeds or ()))
                fault = f"{show_speed(join.wanted.speed)}, at which {chip.name} of {tier.model} has no adaptive routing"
                yield KeyFault((*join.keys, "speed"), fault, speeds, _ECMP_HINT)


def _weight_faults(topology: Topology, routing: Routing) -> Iterator[KeyFault]:
    """Yield releases whose switches do not weigh paths, and BGP in tables, which cannot state the weights."""
    if routing.delivery == "tables":
        fault = "weighted, which routing in tables cannot state"
        yield KeyFault(_BALANCING_KEY_PATH, fault, "ecmp", "or routing.delivery: frr.conf")
    for group in topology.groups:
        platform, version = group.wanted.platform, group.wanted.version
        if (
            version in traits_of_platform(platform).releases
            and not traits_of_platform(platform, version).weighted_paths
        ):
            since = first_release(platform, lambda held: held.weighted_paths)
            fault = f"{traits_of_platform(platform).title} {version}, which does not weigh paths"
            yield KeyFault((*group.keys, "version"), fault, f"{since} or later", _ECMP_HINT)


def supports_adaptive_routing_at(chip: Asic, speed_mbps: int) -> bool:
    """Whether an ASIC has adaptive routing on links of a speed."""
    return chip.adaptive_routing_speeds is None or speed_mbps in chip.adaptive_routing_speeds


def _adaptive_routing_chips_of_platform(tier: Switches) -> list[str]:
    chips = {switch(model).asic for model in buildable_models(tier.platform)}
    return sorted(name for name in chips if asic(name).adaptive_routing)
