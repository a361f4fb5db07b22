"""The switches of an imported fabric under other names, with numbered ports named as the written platform does."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from nodrop import platforms
from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Port
from nodrop.model.states import Unknown
from nodrop.model.subject import natural_sort_key


def rename_switches(fabric: Fabric, new_names: Mapping[str, str]) -> Fabric:
    """Return a fabric with other names for its switches, and for ports where their platform is not written."""
    ports: dict[End, str] = {}
    devices = []
    for device in map(_assign_port_numbers, fabric.devices):
        if device.name not in new_names:
            continue
        platform = platforms.writable_platform_for(device.platform)
        interfaces, new_ports = [], {}
        for port in device.interfaces:
            new = _port_name_on_platform(device, platform, port)
            new_ports[port.name] = new
            interfaces.append(port if new == port.name else replace(port, name=new))
        ports |= {End(device.name, old): new for old, new in new_ports.items() if old != new}
        devices.append(replace(device, name=new_names[device.name], interfaces=tuple(interfaces)))

    def end(cable_end: End) -> End:
        return End(new_names.get(cable_end.node, cable_end.node), ports.get(cable_end, cable_end.port))

    drained = sorted((new_names.get(name, name) for name in fabric.policy.drained), key=natural_sort_key)
    return replace(
        fabric,
        policy=replace(fabric.policy, drained=tuple(drained)),
        devices=tuple(sorted(devices, key=lambda renamed_device: natural_sort_key(renamed_device.name))),
        links=replace_ends(fabric.links, end),
    )


def replace_ends(links: Iterable[Link], end: Callable[[End], End]) -> tuple[Link, ...]:
    """Return links with other ends, each with its lower end first, in the order of their ends."""
    renamed = (replace(link, a=min(end(link.a), end(link.b)), b=max(end(link.a), end(link.b))) for link in links)
    return tuple(sorted(renamed, key=lambda link: (link.a, link.b)))


def _assign_port_numbers(device: Device) -> Device:
    """Return a switch whose ports have numbers: those of its model where all have some, else in their order."""
    if not all(isinstance(interface.port, Unknown) for interface in device.interfaces):
        return device
    ordered = sorted(device.interfaces, key=lambda interface: natural_sort_key(interface.name))
    ports = _ports_from_model(device, [interface.name for interface in ordered]) or [
        Port(n) for n in range(1, len(ordered) + 1)
    ]
    numbered = tuple(replace(interface, port=port) for interface, port in zip(ordered, ports, strict=True))
    return replace(device, interfaces=numbered)


def _ports_from_model(device: Device, names: list[str]) -> list[Port] | None:
    """Return the ports of these names on a stated model; None if it does not have all of them."""
    port_of = platforms.find_port_parser_by_model(platforms.writable_platform_for(device.platform))
    if isinstance(device.model, Unknown) or port_of is None:
        return None
    model = device.model
    whole_ports = [port_of(model, name, 1) for name in names]
    counts = Counter(port.panel for port in whole_ports if port)
    ports = [port_of(model, name, counts[port.panel]) for name, port in zip(names, whole_ports, strict=True) if port]
    return [port for port in ports if port] if len(ports) == len(names) else None


def _port_name_on_platform(device: Device, platform: str, port: Interface) -> str:
    if platform == device.platform or isinstance(device.model, Unknown) or not isinstance(port.port, Port):
        return port.name
    splits = sum(
        isinstance(interface.port, Port) and interface.port.panel == port.port.panel for interface in device.interfaces
    )
    return platforms.port_name(platform, device.model, port.port, splits)
