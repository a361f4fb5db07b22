"""Whether switches are in the subnets of the hosts that are cabled to them, and route for them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._hosts import hosts_with_cabled_ports
from nodrop.model.fabric import Device, End
from nodrop.model.index import Index
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown, known_rows
from nodrop.routing.legs import RoutedInterface, routed_interfaces, unknown_leg_fact
from nodrop.routing.prefixes import Address, parse_address

RESTS_ON = frozenset({"cables", "hosts"})
LOOKS_AT = frozenset({"addresses", "vrf", "port_channels", "vlans", "bgp", "vrf_bgp"})


class _PortLeg(NamedTuple):
    """A leg that a port belongs to; `tagged` is whether its frames carry the tag of the leg's VLAN there."""

    leg: RoutedInterface
    tagged: bool


class _HostPortAttachment(NamedTuple):
    """A port of a host: its name, the switch's port, and its routing there of the first address that is not routed.

    `leg` has the subnet of all addresses; if it is None, `lacking` is an address in none of the subnets.
    """

    host: str
    nic: str
    end: End
    leg: RoutedInterface | None
    lacking: Address | None
    ways: Sequence[_PortLeg]


def find(index: Index, *, what: str) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield ports of switches that are not in the `subnet` of their host, or in a `vrf` that runs no BGP.

    Both are reported if other hosts' ports differ. A VLAN without an address on any switch is not
    routed by these switches, and frames with a tag are left to hosts if every port of that VLAN is tagged.
    """
    rows, unknown = _attached_host_ports(index)
    yield from (UndecidedSubject(subject=(device,), missing=path) for device, path in unknown.items())
    if what == "vrf":
        yield from _non_bgp_vrf_hits(index, rows)
    elif any(row.leg is not None for row in rows):
        yield from _address_outside_subnet_hits(index, rows)


def _attached_host_ports(index: Index) -> tuple[Sequence[_HostPortAttachment], Mapping[str, str]]:
    """Return the ports of hosts at switches, and the unknown facts by switch; the same to every rule."""
    return index.compute_once("attached", lambda: _collect_host_attachments(index))


def _collect_host_attachments(index: Index) -> tuple[Sequence[_HostPortAttachment], Mapping[str, str]]:
    legs_by_device: dict[str, Mapping[str, Sequence[_PortLeg]]] = {}
    missing: dict[str, str] = {}
    unknown: dict[str, str] = {}
    rows: list[_HostPortAttachment] = []
    for host, ports in hosts_with_cabled_ports(index):
        for port in ports:
            device = index.devices[port.far.node]
            if device.name not in legs_by_device:
                legs_by_device[device.name], missing[device.name] = _legs_by_port(device), unknown_leg_fact(device)
            port_legs = legs_by_device[device.name].get(port.far.port, ())
            addresses = [
                known_address for text in port.port.addresses if (known_address := parse_address(text)) is not None
            ]
            if addresses and missing[device.name]:
                unknown[device.name] = missing[device.name]
            elif addresses:
                leg, lacking = _leg_or_unmatched_address(port_legs, addresses)
                rows.append(_HostPortAttachment(host.name, port.port.name, port.far, leg, lacking, port_legs))
    return rows, unknown


def _legs_by_port(device: Device) -> Mapping[str, Sequence[_PortLeg]]:
    """Return the legs of every port of a device."""
    members = {channel.name: channel.members for channel in known_rows(device.port_channels)}
    tagged = {
        (f"VLAN {vlan.id}", port)
        for vlan in known_rows(device.vlans)
        for member in vlan.members
        if member.tagged
        for port in members.get(member.interface, (member.interface,))
    }
    legs_by_port: defaultdict[str, list[_PortLeg]] = defaultdict(list)
    for leg in routed_interfaces(device):
        for port in leg.ports:
            legs_by_port[port].append(_PortLeg(leg, (leg.name, port) in tagged))
    return legs_by_port


def _leg_or_unmatched_address(
    port_legs: Sequence[_PortLeg], addresses: Sequence[Address]
) -> tuple[RoutedInterface | None, Address | None]:
    """Return the leg of the first address, or the first address that is in the subnet of no leg without a tag."""
    first_leg: RoutedInterface | None = None
    for host_address in addresses:
        legs_of = (
            port_leg.leg
            for port_leg in port_legs
            if not port_leg.tagged and any(subnet.contains_address(host_address) for subnet in port_leg.leg.subnets)
        )
        if (leg := next(legs_of, None)) is None:
            return None, host_address
        first_leg = first_leg or leg
    return first_leg, None


def _address_outside_subnet_hits(index: Index, rows: Sequence[_HostPortAttachment]) -> Iterator[AnalysisHit]:
    routed = {vlan.id for device in index.devices.values() for vlan in known_rows(device.vlans) if vlan.all_addresses}
    untagged = {
        port_leg.leg.name for row in rows for port_leg in row.ways if row.leg is not None and not port_leg.tagged
    }
    for row in rows:
        if row.leg is not None or row.lacking is None:
            continue
        vlans = {port_leg.leg.name: port_leg.tagged for port_leg in row.ways if port_leg.leg.subject[1] == "@vlans"}
        if vlans and not any(f"VLAN {vlan_id}" in vlans for vlan_id in routed):
            continue  # bridged only
        if vlans and all(vlans.values()) and not vlans.keys() & untagged:
            continue  # its hosts may send frames with the tag
        yield _build_hit(row, {"address": str(row.lacking), "has": _describe_port_subnets(row.ways)})


def _describe_port_subnets(port_legs: Sequence[_PortLeg]) -> str:
    """Return the subnets that a port is in instead, as the end of a sentence."""
    subnets = [str(subnet) for port_leg in port_legs if not port_leg.tagged for subnet in port_leg.leg.addresses]
    tagged = [port_leg.leg.name for port_leg in port_legs if port_leg.tagged]
    if subnets:
        return f"has {', '.join(subnets)} there"
    if tagged:
        return f"is in {', '.join(tagged)} with a tag only"
    return "has no address there"


def _non_bgp_vrf_hits(index: Index, rows: Sequence[_HostPortAttachment]) -> Iterator[AnalysisHit]:
    """Yield ports in a VRF without BGP, of devices that run it in another, where other hosts are in one with it."""
    processes = {name: _vrfs_with_possible_bgp(device) for name, device in index.devices.items()}
    placed = [(row, row.leg.vrf) for row in rows if row.leg is not None]
    spoken = any(vrf in processes[row.end.node] for row, vrf in placed)
    for row, vrf in placed if spoken else ():
        if vrf not in processes[row.end.node] and processes[row.end.node]:
            yield _build_hit(row, {"vrf": vrf or "default"})


def _vrfs_with_possible_bgp(device: Device) -> set[str | None]:
    """Return the VRFs of a device that may run BGP."""
    if isinstance(device.vrf_bgp, Unknown):
        return {None, *(leg.vrf for leg in routed_interfaces(device))}
    every: list[Bgp | None | Unknown] = [device.bgp, *device.vrf_bgp]
    return {None if isinstance(bgp, Unknown) else bgp.vrf for bgp in every if bgp is not None}


def _build_hit(row: _HostPortAttachment, facts: Mapping[str, str]) -> AnalysisHit:
    node, port = row.end
    return AnalysisHit(
        subject=(node, port),
        at=row.leg.subject if row.leg is not None else (node, port, "addresses"),
        facts={"port": port, "host": row.host, "nic": row.nic, **facts},
        related=((("@fabric", "hosts", row.host), "the host"),),
    )
