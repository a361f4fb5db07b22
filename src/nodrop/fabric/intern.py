"""Equal QoS profiles become one object, so that memory, comparison and rules follow the number of designs."""

from dataclasses import replace

from nodrop.fabric.fabric import Device
from nodrop.fabric.qos import QosProfile


class Interner:
    """Remembers the profiles seen; two devices passed through the same interner share equal profiles."""

    def __init__(self) -> None:
        self._by_content: dict[QosProfile, QosProfile] = {}

    def device(self, device: Device) -> Device:
        """Return the device with every profile replaced by the one object that stands for its content."""
        by_id: dict[int, QosProfile] = {}
        changed = False
        interfaces = []
        for interface in device.interfaces:
            qos = interface.qos
            if isinstance(qos, QosProfile):
                only = by_id.get(id(qos))
                if only is None:
                    only = by_id[id(qos)] = self._by_content.setdefault(qos, qos)
                if only is not qos:
                    interface = replace(interface, qos=only)  # noqa: PLW2901
                    changed = True
            interfaces.append(interface)
        return replace(device, interfaces=tuple(interfaces)) if changed else device
