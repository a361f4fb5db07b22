"""Ways of packets that no route states, not in the graph of buffers: claims without a circle rest on them.

Flooded packets (of a VLAN over several switches) follow no route, and GPUs of one host that use its NICs make these
wait for one another. Tunnels between two leaves of the same servers are in the graph, except where a fact about one is
unknown (Guo et al., SIGCOMM 2016, section 4.2; Bai et al., NSDI 2023, section 8.3; proofs/tunnels.py).
"""

from collections.abc import Iterator

from nodrop.model.fabric import Device
from nodrop.model.nics import value_or_none
from nodrop.model.states import known_rows, surely_off
from nodrop.proofs.dependencies import MissingFact, TrafficAtRouters


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
    """Yield the VLANs that flood packets over a port to another switch that pauses its sender."""
    index = traffic.forwarding.index
    channels = {channel.name: channel.members for channel in known_rows(device.port_channels)}
    for vlan in known_rows(device.vlans):
        ports = [name for member in vlan.members for name in channels.get(member.interface, (member.interface,))]
        for port in ports if len(ports) > 1 else ():
            far, interface = index.far_end(device.name, port), index.interface(device.name, port)
            if far is None or far.node not in index.devices or interface is None or surely_off(interface.enabled):
                continue
            behavior = traffic.behaviors.number(interface.qos)
            if isinstance(behavior, int) and traffic.behaviors.all[behavior].pauses:
                yield MissingFact((device.name,), f"where VLAN {vlan.id} floods packets over {port}")
                break
