"""Ways of packets that no route states, and no file either: claims without a circle rest on them.

Flooded packets (of a VLAN over several switches) and tunnels between two leaves of the same servers are in the graph,
except where a fact about them is unknown (proofs/floods.py, proofs/tunnels.py). GPUs of one host that use its NICs can
make these wait for one another: what stays in a NIC drains over PCIe, and what goes between two NICs is routed and in
the graph, but no file states whether a NIC pauses the network meanwhile (Guo et al., SIGCOMM 2016, section 4.2; Bai
et al., NSDI 2023, section 8.3).
"""

import itertools
from collections.abc import Iterator

from nodrop.model.fabric import Device
from nodrop.model.nics import value_or_none
from nodrop.model.states import UNKNOWN, is_known_off, known_rows
from nodrop.proofs.floods import can_far_end_stop_port
from nodrop.proofs.traffic import MissingFact, TrafficAtRouters


def unknown_side_path_facts(traffic: TrafficAtRouters) -> Iterator[MissingFact]:
    """Yield the unknown facts about lossless packets that follow no route; nothing in a fabric that pauses nobody."""
    if not any(behavior.pauses for behavior in traffic.behaviors.all):
        return
    fabric = traffic.forwarding.index.fabric
    yield from (MissingFact((gap.device,), gap.what) for gap in traffic.forwarding.fabric_tunnels.gaps)
    for device in fabric.devices:
        yield from _unknown_flooding_facts(traffic, device)
    for nic in fabric.nics:
        if value_or_none(nic, "loopback") and value_or_none(nic, "link_layer") != "infiniband":
            yield MissingFact((nic.host,), "which NICs pause while GPUs of one host use them to talk to each other")


def _unknown_flooding_facts(traffic: TrafficAtRouters, device: Device) -> Iterator[MissingFact]:
    """Yield the VLANs that flood packets over a port to another switch that can stop them there.

    A packet is not flooded back over the port or bundle by which it came, so a VLAN needs two of these.
    """
    index = traffic.forwarding.index
    channels = {channel.name: channel.members for channel in known_rows(device.port_channels)}
    for vlan in known_rows(device.vlans):
        if (device.name, vlan.id) in traffic.forwarding.fabric_floods.decided:
            continue
        members = [channels.get(member.interface, (member.interface,)) for member in vlan.members]
        for port in itertools.chain(*members) if len(members) > 1 else ():
            far, interface = index.far_end(device.name, port), index.interface(device.name, port)
            if far is None or far.node not in index.devices or interface is None or is_known_off(interface.enabled):
                continue
            far_interface = index.interface(far.node, far.port)
            if far_interface is not None and is_known_off(far_interface.enabled):
                continue
            far_qos = UNKNOWN if far_interface is None else far_interface.qos
            if can_far_end_stop_port(interface.qos, far_qos):
                yield MissingFact((device.name,), f"where VLAN {vlan.id} floods packets over {port}")
                break
