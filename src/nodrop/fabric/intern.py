"""Equal QoS profiles and pools become one object, so that memory, comparison and rules follow the number of designs."""

from nodrop.fabric.buffers import BufferPool
from nodrop.fabric.fabric import Device
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import Unknown
from nodrop.fabric.values import changed


class Interner:
    """Remembers what was seen; two devices passed through the same interner share equal profiles and pools."""

    def __init__(self) -> None:
        self._by_content: dict[QosProfile, QosProfile] = {}
        self._pools: dict[tuple[BufferPool, ...], tuple[BufferPool, ...]] = {}

    def device(self, device: Device) -> Device:
        """Return the device with every profile, and its pools, replaced by the one object for that content."""
        by_id: dict[int, QosProfile] = {}
        differs = False
        interfaces = []
        for interface in device.interfaces:
            qos = interface.qos
            if isinstance(qos, QosProfile):
                only = by_id.get(id(qos))
                if only is None:
                    only = by_id[id(qos)] = self._by_content.setdefault(qos, qos)
                if only is not qos:
                    interface = changed(interface, qos=only)
                    differs = True
            interfaces.append(interface)
        pools = device.buffer_pools
        if not isinstance(pools, Unknown):
            pools = self._pools.setdefault(pools, pools)
        if pools is not device.buffer_pools:
            device = changed(device, buffer_pools=pools)
        return changed(device, interfaces=tuple(interfaces)) if differs else device
