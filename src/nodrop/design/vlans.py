"""VLANs of host groups: on each of its switches a group's ports share one, and the switch is their gateway there.

Routed traffic stays the switch's alone: a VLAN ends at its switch, and the same number elsewhere is another subnet.
"""

from collections.abc import Iterator, Mapping

from nodrop.design.addressing import AddressPlan
from nodrop.design.boxes import PlannedSwitch
from nodrop.design.faults import KeyFault
from nodrop.design.ports import PortCables, platform_port_name
from nodrop.design.splits import SplitPort
from nodrop.intent.schema import EndpointGroup
from nodrop.model.bridging import Vlan, VlanMember
from nodrop.model.subject import natural_sort_key


def design_vlans(
    endpoints: Mapping[str, EndpointGroup],
    mtu_bytes: int,
    address_plan: AddressPlan,
    node: PlannedSwitch,
    cables: PortCables,
) -> tuple[Vlan, ...]:
    """Return the VLANs of a switch, those of groups that have ports on it, sorted by number."""
    members: dict[str, set[str]] = {}
    for wire in cables.values():
        if wire.group in address_plan.vlans:
            port = wire.bond.name if wire.bond else platform_port_name(node, SplitPort(*wire.port, wire.splits))
            members.setdefault(wire.group, set()).add(port)
    new_vlans = []
    for group, ports in members.items():
        wanted_vlan_access = endpoints[group].vlan
        assert wanted_vlan_access is not None
        new_vlans.append(
            Vlan(
                id=wanted_vlan_access.id,
                members=tuple(VlanMember(interface=port, tagged=False) for port in sorted(ports, key=natural_sort_key)),
                mtu_bytes=mtu_bytes,
                addresses=address_plan.gateway_addresses(group, node),
                description=group,
            )
        )
    return tuple(sorted(new_vlans, key=lambda vlan: vlan.id))


def vlan_faults(endpoints: Mapping[str, EndpointGroup]) -> Iterator[KeyFault]:
    """Yield numbers of VLANs that two groups have."""
    owner: dict[int, str] = {}
    for name, group in endpoints.items():
        if group.vlan is None:
            continue
        keys = ("endpoints", name, "vlan")
        holder = owner.setdefault(group.vlan.id, name)
        if holder != name:
            yield KeyFault((*keys, "id"), f"VLAN {group.vlan.id}, which {holder} has too", "a unique number")
