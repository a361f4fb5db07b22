"""Words about adaptive routing: where the choice among equal paths by load cannot be, and where it is in part only."""

from nodrop.engine.vocabulary import declare_word
from nodrop.hardware import asic_of
from nodrop.model.fabric import Device, Fabric, Interface
from nodrop.model.index import Index
from nodrop.model.states import Unknown, UnknownFact, require_fact
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.traits import newest_traits
from nodrop.units import show_speed

_MAX_NAMED_PORTS = 4


@declare_word("function", rests_on=("models",))
def hashes_by_ingress_port(model: str | Unknown) -> bool:
    """Whether a switch model is known to choose among equal paths by the port that a packet came in at, too."""
    chip = asic_of(model)
    return chip is not None and "seed by port" in chip.faults


@declare_word("function", rests_on=("models",))
def why_no_adaptive_routing(
    platform: str, version: str | None | Unknown, model: str | Unknown, mbps: int | None | Unknown
) -> str:
    """Why a switch has no adaptive routing on links of a speed; nothing where it has, or in releases not known here."""
    chip = asic_of(model)
    if chip is None:
        raise UnknownFact("device.model")
    traits = newest_traits(platform)
    if traits is not None and traits.releases and isinstance(version, str) and version not in traits.releases:
        return ""
    if chip.adaptive_routing is None:
        raise UnknownFact("device.model")
    if not chip.adaptive_routing:
        return f"{chip.name} of {model} has none"
    if chip.adaptive_routing_speeds is None or mbps is None:
        return ""
    if isinstance(mbps, Unknown):
        raise UnknownFact("interface.speed_mbps")
    if mbps in chip.adaptive_routing_speeds:
        return ""
    speeds = " and ".join(map(show_speed, chip.adaptive_routing_speeds))
    return f"{chip.name} of {model} has it at {speeds}, and the port has {show_speed(mbps)}"


@declare_word("function")
def why_not_a_routed_port(device: Device, interface: Interface) -> str:
    """How a port is not one that routes by itself in the default VRF, as the end of a sentence; else nothing."""
    vrf = require_fact(interface.vrf, "interface.vrf")
    if vrf is not None:
        return f"is in VRF {vrf}"
    for channel in require_fact(device.port_channels, "device.port_channels"):
        if interface.name in channel.members:
            return f"is a member of {channel.name}"
    for vlan in require_fact(device.vlans, "device.vlans"):
        if any(member.interface == interface.name for member in vlan.members):
            return f"is in VLAN {vlan.id}"
    return ""


@declare_word("function")
def balances_adaptively(device: Device) -> bool:
    """Whether adaptive routing is on for a switch and for a port of it that routes by itself in the default VRF."""
    return require_fact(device.adaptive_routing, "device.adaptive_routing") and any(
        require_fact(port.adaptive_routing, "interface.adaptive_routing") and not why_not_a_routed_port(device, port)
        for port in device.interfaces
    )


@declare_word("function")
def adaptive_on_switch_or_ports_only(device: Device) -> str:
    """How adaptive routing is on for a switch and none of its ports, or the other way round; else nothing."""
    maybe = [port for port in device.interfaces if port.adaptive_routing is not False]
    ports = [port.name for port in maybe if require_fact(port.adaptive_routing, "interface.adaptive_routing")]
    on = require_fact(device.adaptive_routing, "device.adaptive_routing")
    if on == bool(ports):
        return ""
    if on:
        return "on for the switch, and none of its ports has it"
    extra_count = len(ports) - _MAX_NAMED_PORTS
    names = ", ".join(ports[:_MAX_NAMED_PORTS]) + (f" and {extra_count} more" if extra_count > 0 else "")
    return f"off for the switch, though {names} {'has' if len(ports) == 1 else 'have'} it"


@declare_word("function", rests_on=("cables", "roles"))
def adaptive_port_to_same_tier(device: Device, interface: Interface, *, index: Index) -> str:
    """Return a port with adaptive routing that leads to the same tier as one without; nothing where there is none."""
    role = _role_of_far_switch(device, interface, index)
    if role is None:
        return ""
    for port in device.interfaces:
        if (
            require_fact(port.adaptive_routing, "interface.adaptive_routing")
            and _role_of_far_switch(device, port, index) == role
        ):
            return port.name
    return ""


@declare_word("function", rests_on=("models", "cables", "roles"))
def can_balance_adaptively(device: Device, *, index: Index) -> bool:
    """Whether a port has adaptive routing where its chip and speed can: then the switch is to have it, too."""
    return bool(_ports_due_adaptive_routing(device, index))


@declare_word("function", rests_on=("models", "cables", "roles"))
def ports_with_consistent_adaptive_routing(device: Device, *, index: Index) -> tuple[Interface, ...]:
    """Return the ports with adaptive routing on those alone that share the load with a port that has it and can."""
    ports = _ports_due_adaptive_routing(device, index)
    return tuple(replace_fields(port, adaptive_routing=port.name in ports) for port in device.interfaces)


def _ports_due_adaptive_routing(device: Device, index: Index) -> set[str]:
    """Return the ports that have adaptive routing and can, with those to the same tier that can have it, too."""
    ports = {
        port.name
        for port in device.interfaces
        if require_fact(port.adaptive_routing, "interface.adaptive_routing") and _can_route_adaptively(device, port)
    }
    if not ports:
        return ports
    role_by_port = {port.name: _role_of_far_switch(device, port, index) for port in device.interfaces}
    roles = {role_by_port[name] for name in ports} - {None}
    beside = (port for port in device.interfaces if port.enabled and role_by_port[port.name] in roles)
    return ports | {port.name for port in beside if _can_route_adaptively(device, port)}


def _can_route_adaptively(device: Device, port: Interface) -> bool:
    obstacle = why_no_adaptive_routing(device.platform, device.version, device.model, port.speed_mbps)
    return not obstacle and not why_not_a_routed_port(device, port)


def _role_of_far_switch(device: Device, interface: Interface, index: Index) -> str | None:
    """Return the role of the switch that a port leads to; None where it leads to none that is known."""
    end = index.far_end(device.name, interface.name)
    far = index.devices.get(end.node) if end else None
    return None if far is None else require_fact(far.role, "device.role")


@declare_word("function", rests_on=("hosts",))
def hosts_requiring_packet_order(fabric: Fabric) -> str:
    """Return the hosts whose NICs are stated to take packets in order only, as a sentence names them; none: nothing."""
    names = [host.name for host in fabric.hosts if host.out_of_order is False]
    count_suffix = f" and {len(names) - _MAX_NAMED_PORTS} more" if len(names) > _MAX_NAMED_PORTS else ""
    return ", ".join(names[:_MAX_NAMED_PORTS]) + count_suffix
