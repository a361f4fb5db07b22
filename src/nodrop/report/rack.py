"""Lists for people at the rack: every cable, every address, and the settings of every host, as CSV.

A fact that is not known is an empty cell. Rows are sorted by name, which makes a change of the fabric change only its
own rows.
"""

import csv
import io
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

from nodrop.model.addresses import other_address_of_pair
from nodrop.model.bridging import PortChannel, Vlan
from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Interface, Management, Port
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.artifact import Artifact
from nodrop.report.bandwidth import FabricBandwidth
from nodrop.report.escape import escape_csv_cell
from nodrop.units import show_speed

RACK_FOLDER = "plan"
RACK_FILE_PATHS = tuple(f"{RACK_FOLDER}/{name}.csv" for name in ("cabling", "addresses", "hosts"))
"""The names of the files."""

_CABLING_COLUMNS = ("a_device", "a_port", "a_panel", "b_device", "b_port", "b_panel", "speed", "media", "length_m")
_ADDRESS_COLUMNS = ("device", "interface", "address", "peer_device", "peer_interface", "peer_address")
_HOST_COLUMNS = (
    "host",
    "group",
    "nic",
    "port",
    "bond",
    "speed",
    "address",
    "gateway",
    "mtu",
    "switch",
    "switch_port",
    "tos",
    "dscp",
    "cnp_dscp",
    "trust",
    "pfc",
    "dcqcn",
    "rdma_mtu",
)

_Row = Sequence[Hashable]


def cabling_address_host_csvs(fabric: Fabric) -> Iterator[Artifact]:
    """Yield cabling.csv, addresses.csv and hosts.csv of a fabric; they are of no device."""
    rack = _RackLists(fabric)
    tables = {
        "cabling": (_CABLING_COLUMNS, rack.cabling()),
        "addresses": (_ADDRESS_COLUMNS, rack.addresses()),
        "hosts": (_HOST_COLUMNS, rack.hosts()),
    }
    for name, (head, rows) in tables.items():
        yield Artifact(device="", path=f"{RACK_FOLDER}/{name}.csv", text=_render_csv(head, rows))


class _RackLists:
    def __init__(self, fabric: Fabric) -> None:
        self._fabric, self._capacity = fabric, FabricBandwidth(fabric)
        self._index = self._capacity.index
        self._vlan_of = {
            End(device.name, member.interface): vlan
            for device in fabric.devices
            for vlan in known_rows(device.vlans)
            for member in vlan.members
            if not member.tagged
        }
        self._split = {
            (device.name, port.port.panel)
            for device in fabric.devices
            for port in device.interfaces
            if isinstance(port.port, Port) and port.port.split
        }
        self._channel_of = {
            End(device.name, member): channel
            for device in fabric.devices
            for channel in known_rows(device.port_channels)
            for member in channel.members
        }

    def cabling(self) -> Iterable[_Row]:
        """Every cable once, the end nearer to the hosts first; a panel port that is split has its parts from 1."""
        rows = []
        for link in self._fabric.links:
            a, b = sorted((link.a, link.b), key=self._end_sort_key)
            speed = self._capacity.speed_mbps(link)
            of_cable = ("" if speed is None else show_speed(speed), link.media, link.length_m)
            rows.append((*a, self._panel_port_label(a), *b, self._panel_port_label(b), *of_cable))
        return sorted(rows, key=_make_column_sort_key(0, 1, 3, 4))

    def addresses(self) -> Iterable[_Row]:
        """Every address of every switch and who has the link's other end; a management port's peer is its gateway."""
        rows = [row for device in self._fabric.devices for row in self._device_address_rows(device)]
        return sorted(rows, key=_make_column_sort_key(0, 1, 2))

    def hosts(self) -> Iterable[_Row]:
        """Return every port of every host by address: its far end, its gateway, and the RoCE settings that it needs."""
        rows = [row for host in self._fabric.hosts for port in host.ports for row in self._host_port_rows(host, port)]
        return sorted(rows, key=_make_column_sort_key(0, 3, 6))

    def _end_sort_key(self, end: End) -> Any:
        return self._capacity.level.get(end.node, 0), natural_sort_key(end.node), natural_sort_key(end.port)

    def _panel_port_label(self, end: End) -> str:
        port = self._index.port_at_end(end)
        if not isinstance(port, Interface) or not isinstance(port.port, Port):
            return ""
        panel, split = port.port
        return f"{panel}/{split + 1}" if (end.node, panel) in self._split else str(panel)

    def _device_address_rows(self, device: Device) -> Iterator[_Row]:
        for loopback in known_rows(device.loopbacks):
            yield from ((device.name, loopback.name, address, "", "", "") for address in loopback.addresses)
        if isinstance(management := device.management, Management):
            yield from (
                (device.name, management.interface, address, "", "", management.gateway)
                for address in management.addresses
            )
        for vlan in known_rows(device.vlans):
            yield from ((device.name, f"vlan{vlan.id}", address, "", "", "") for address in vlan.addresses)
        for channel in known_rows(device.port_channels):
            far, bond = self._far_end_and_bond(device, channel)
            for address in channel.addresses:
                yield (
                    device.name,
                    channel.name,
                    address,
                    *bond,
                    _far_address_of_same_family(self._index.port_at_end(far), address) if far else "",
                )
        for port in device.interfaces:
            far = self._index.far_end(device.name, port.name)
            is_external = far is not None and far.node in self._index.external_nodes
            for address in _addresses_or_empty(port):
                peer = _far_address_of_same_family(self._index.port_at_end(far), address) if far else ""
                peer = (other_address_of_pair(address) or "") if is_external else peer
                yield (device.name, port.name, address, *(far or ("", "")), peer)

    def _far_end_and_bond(self, device: Device, channel: PortChannel) -> tuple[End | None, tuple[str, str]]:
        """Return the far end of a port channel's first member, and the bond that it is part of there."""
        far = self._index.far_end(device.name, channel.members[0]) if channel.members else None
        port = self._index.port_at_end(far) if far else None
        return far, (far.node, port.bond or "") if far and isinstance(port, HostPort) else ("", "")

    def _host_port_rows(self, host: Host, port: HostPort) -> Iterator[_Row]:
        far = self._index.far_end(host.name, port.name)
        switch = self._index.port_at_end(far) if far else None
        mtu = switch.mtu_bytes if isinstance(switch, Interface) else ""
        dscp = host.tos >> 2 if isinstance(host.tos, int) else ""
        speed = show_speed(port.speed_mbps) if isinstance(port.speed_mbps, int) else ""
        roce = (host.tos, dscp, host.cnp_dscp, host.trust, host.pfc_priorities, host.dcqcn, host.rdma_mtu_bytes)
        channel = self._channel_of.get(far) if far else None
        inside = End(far.node, channel.name) if far and channel else far
        holders = (switch, channel, self._vlan_of.get(inside) if inside else None)
        for address in port.addresses or ("",):
            facing = next(
                (far_address for holder in holders if (far_address := _far_address_of_same_family(holder, address))), ""
            )
            gateway = facing.partition("/")[0]
            at = (host.name, host.group, host.nic, port.name, port.bond, speed, address, gateway, mtu)
            yield (*at, *(far or ("", "")), *roce)


def _addresses_or_empty(port: Interface | HostPort | PortChannel | Vlan | None) -> tuple[str, ...]:
    return port.addresses if port is not None and isinstance(port.addresses, tuple) else ()


def _far_address_of_same_family(far: Interface | HostPort | PortChannel | Vlan | None, address: str) -> str:
    """Return the far end's first address of the same family."""
    return next((candidate for candidate in _addresses_or_empty(far) if (":" in candidate) == (":" in address)), "")


def _make_column_sort_key(*columns: int) -> Any:
    cells = itemgetter(*columns)
    return lambda row: [*map(natural_sort_key, cells(row))]


def _render_csv(column_heads: Sequence[str], rows: Iterable[_Row]) -> str:
    with io.StringIO() as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(column_heads)
        writer.writerows(map(_format_cell, row) for row in rows)
        return text.getvalue()


@lru_cache(maxsize=65_536, typed=True)
def _format_cell(value: Hashable) -> str:
    return escape_csv_cell(_format_value(value))


def _format_value(value: object) -> str:
    if type(value) is str:
        return value
    if value is None or isinstance(value, Unknown):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
