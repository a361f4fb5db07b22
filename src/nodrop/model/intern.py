"""Equal QoS profiles and pools become one object; memory, comparison and rules scale with the number of designs."""

from operator import is_

from nodrop.model.access import AccessEntry, AccessList
from nodrop.model.buffers import BufferPool
from nodrop.model.fabric import Device, Interface
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown
from nodrop.model.values import replace_fields


class Interner:
    """Remembers values seen before; two devices passed through the same interner share equal profiles and pools."""

    def __init__(self) -> None:
        self._by_content: dict[QosProfile, QosProfile] = {}
        self._entries: dict[tuple[AccessEntry, ...], tuple[AccessEntry, ...]] = {}
        self._pools: dict[tuple[BufferPool, ...], tuple[BufferPool, ...]] = {}

    def profile(self, qos: QosProfile) -> QosProfile:
        """Return the one object that stands for the content of a profile."""
        return self._by_content.setdefault(qos, qos)

    def pools(self, pools: tuple[BufferPool, ...] | Unknown) -> tuple[BufferPool, ...] | Unknown:
        """Return the one object that stands for the content of these pools."""
        return pools if isinstance(pools, Unknown) else self._pools.setdefault(pools, pools)

    def lists(self, lists: tuple[AccessList, ...] | Unknown) -> tuple[AccessList, ...] | Unknown:
        """Return access lists with the one object that stands for the content of their entries."""
        if isinstance(lists, Unknown) or all(
            self._intern_entries(access_list.entries) is access_list.entries for access_list in lists
        ):
            return lists
        return tuple(
            replace_fields(access_list, entries=self._intern_entries(access_list.entries)) for access_list in lists
        )

    def _intern_entries(self, entries: tuple[AccessEntry, ...] | Unknown) -> tuple[AccessEntry, ...] | Unknown:
        return entries if isinstance(entries, Unknown) else self._entries.setdefault(entries, entries)

    def device(self, device: Device) -> Device:
        """Return the device with every profile, and its pools, replaced by the one object for that content."""
        ports = tuple(map(self._port, device.interfaces))
        pools, lists = self.pools(device.buffer_pools), self.lists(device.access_lists)
        same = pools is device.buffer_pools and lists is device.access_lists
        if same and all(map(is_, ports, device.interfaces)):
            return device
        return replace_fields(device, interfaces=ports, buffer_pools=pools, access_lists=lists)

    def _port(self, port: Interface) -> Interface:
        only = self.profile(port.qos) if isinstance(port.qos, QosProfile) else port.qos
        return port if only is port.qos else replace_fields(port, qos=only)
