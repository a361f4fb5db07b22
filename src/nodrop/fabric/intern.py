"""Equal QoS profiles become one object, so that memory, comparison and rules follow the number of designs."""

from nodrop.fabric.fabric import Device
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.values import changed


class Interner:
    """Remembers the profiles seen; two devices passed through the same interner share equal profiles."""

    def __init__(self) -> None:
        self._by_content: dict[QosProfile, QosProfile] = {}

    def device(self, device: Device) -> Device:
        """Return the device with every profile replaced by the one object that stands for its content."""
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
        return changed(device, interfaces=tuple(interfaces)) if differs else device
