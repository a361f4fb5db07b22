"""Tunnels between two leaves of the same servers: the standby leaf sends up again what came down to it.

It puts each packet for a server into a packet to the other leaf, which takes it out and sends it to the server (SONiC,
doc/qos/tunnel_dscp_remapping.md; sonic-swss, orchagent/muxorch.cpp and tunneldecaporch.cpp). Which leaf is the standby
changes at any time, and buffers can hold packets from before and after: either can be, unless a file says which is.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from nodrop.model.addresses import ADDRESS_BITS
from nodrop.model.fabric import Device
from nodrop.model.overlays import Tunnel
from nodrop.model.qos import NumberMap, QosProfile
from nodrop.model.states import Unknown, known_rows
from nodrop.routing import ControlPlane
from nodrop.routing.prefixes import Address, Prefix, parse_address, parse_prefix

HostPrefixes = Mapping[int, tuple[Prefix, ...]]
"""The prefixes of hosts by the number of their destination."""
_DSCP_COUNT, _CLASS_COUNT = 64, 16
_NOT_MAPPED = 0
"""The class, queue, group and DSCP of what a map leaves out, and the DSCP outside in mode pipe (SAI, saitunnel.h)."""


class TunnelGap(NamedTuple):
    """An unknown fact about a switch's tunnel."""

    device: str
    what: str


class TunnelEnds(NamedTuple):
    """A tunnel whose two routers are known: the one that sends, the address of the other, and servers it sends for."""

    tunnel: Tunnel
    near: int
    far: int
    address: Prefix
    servers: tuple[Prefix, ...]


class TunnelWay(NamedTuple):
    """A tunnel in the graph: packets of router `near` to destinations `servers` (bits) become packets to `to`.

    They come out at router `far`, and wherever else `to` ends.

    `outside` and `queue` have the DSCP outside and the queue by traffic class, None where those of the port apply.
    Where a packet comes out, `tc` has its traffic class by the DSCP inside or, unless `reads_inside`, outside, and
    `group` its priority group; None where the map of the port applies.
    """

    name: str
    near: int
    far: int
    to: int
    servers: int
    outside: tuple[int | None, ...]
    queue: tuple[int | None, ...]
    reads_inside: bool
    tc: tuple[int | None, ...]
    group: tuple[int | None, ...]


class FabricTunnels:
    """The tunnels into which switches of a fabric send packets, and the unknown facts about these."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self.gaps: dict[TunnelGap, None] = {}
        self._routers = {router.device.name: router.number for router in plane.routers if not router.vrf}
        self.ends: tuple[TunnelEnds, ...] = tuple(
            end for device in plane.index.fabric.devices for end in self._ends_of_device(device)
        )

    def _ends_of_device(self, device: Device) -> Iterator[TunnelEnds]:
        tunnels = [one for one in known_rows(device.tunnels) if one.kind == "ip-in-ip" and one.far is not None]
        if device.dual_tor is True and not tunnels:
            self._record_gap(device, "the tunnel to the second leaf of its servers")
        for tunnel in tunnels:
            servers = tuple(self._standby_server_prefixes(device, tunnel))
            address = None if isinstance(tunnel.far, Unknown) else parse_address(tunnel.far or "")
            far = None if address is None else self._router_by_address.get(address)
            if address is None or isinstance(tunnel.far, Unknown):
                self._record_gap(device, f"the far end of tunnel {tunnel.name}")
            elif far is None:
                self._record_gap(device, f"the switch with address {tunnel.far}, the far end of tunnel {tunnel.name}")
            elif servers and device.name in self._routers:
                prefix = Prefix(address.family, address.number, ADDRESS_BITS[address.family])
                yield TunnelEnds(tunnel, self._routers[device.name], far, prefix, servers)

    def _standby_server_prefixes(self, device: Device, tunnel: Tunnel) -> Iterator[Prefix]:
        """Yield the prefixes of servers for which the switch can be the standby leaf."""
        if isinstance(device.mux_cables, Unknown):
            self._record_gap(device, f"the servers behind tunnel {tunnel.name}")
            return
        for cable in device.mux_cables:
            if not isinstance(cable.state, Unknown) and cable.state == "active":
                continue
            servers = [parse_prefix(text) for text in cable.servers]
            if not servers or None in servers:
                self._record_gap(
                    device, f"the addresses of the server at {cable.interface}, behind tunnel {tunnel.name}"
                )
            yield from (prefix for prefix in servers if prefix is not None)

    @cached_property
    def _router_by_address(self) -> Mapping[Address, int]:
        return {
            address: router.number
            for router in reversed(self._plane.routers)
            if not router.vrf
            for leg in router.legs
            for address in leg.addresses
        }

    def _record_gap(self, device: Device, what: str) -> None:
        self.gaps[TunnelGap(device.name, what)] = None

    def build_tunnel_way(
        self, ends: TunnelEnds, to: int | None, at_near: HostPrefixes, at_far: HostPrefixes
    ) -> TunnelWay | None:
        """Return a tunnel in the graph: `to` is the number of its far end, the others are what ends at both routers.

        None where the far end has no number, or no destination that ends at the near one has a server.
        """
        with_servers = [
            {number for number, prefixes in at_near.items() if any(_overlap(server, prefix) for prefix in prefixes)}
            for server in ends.servers
        ]
        servers = set().union(*with_servers)
        device, far = (self._plane.routers[number].device for number in (ends.near, ends.far))
        tunnel = ends.tunnel
        if not all(with_servers):
            self._record_gap(device, f"the prefixes of servers behind tunnel {tunnel.name}")
        if to is None:
            self._record_gap(device, f"a prefix that has {tunnel.far}, the far end of tunnel {tunnel.name}")
        if to is None or not servers:
            return None
        if not servers <= at_far.keys():
            self._record_gap(far, f"where packets go that come out of tunnel {tunnel.name} from {device.name}")
        end = self._find_receiving_tunnel(ends)
        if end is None:
            self._record_gap(far, f"a tunnel in which packets of {device.name} from tunnel {tunnel.name} come out")
        out = () if end is None else (end.dscp_to_tc, end.tc_to_priority_group)
        maps = (tunnel.tc_to_dscp, tunnel.tc_to_queue, *out)
        if any(isinstance(table, Unknown) for table in maps):
            self._record_gap(device, f"the maps of tunnel {tunnel.name}")
        if end is not None and end.dscp_to_tc is None and _switch_map_may_differ(far):
            self._record_gap(far, f"whether the DSCP map of the switch or of the port sorts what leaves {end.name}")
        is_pipe = not isinstance(tunnel.dscp_mode, Unknown) and tunnel.dscp_mode == "pipe"
        if tunnel.tc_to_dscp is not None and not is_pipe:
            self._record_gap(
                device, f"the DSCP outside of tunnel {tunnel.name}, which has a map and whose mode is not pipe"
            )
        outside = _entries(tunnel.tc_to_dscp, _CLASS_COUNT)
        if outside is None:
            outside = (_NOT_MAPPED if is_pipe else None,) * _CLASS_COUNT
        return TunnelWay(
            tunnel.name,
            ends.near,
            ends.far,
            to,
            sum(1 << number for number in servers),
            outside,
            _entries(tunnel.tc_to_queue, _CLASS_COUNT) or (None,) * _CLASS_COUNT,
            end is not None and not isinstance(end.dscp_mode, Unknown) and end.dscp_mode == "pipe",
            (None if end is None else _entries(end.dscp_to_tc, _DSCP_COUNT)) or (None,) * _DSCP_COUNT,
            (None if end is None else _entries(end.tc_to_priority_group, _CLASS_COUNT)) or (None,) * _CLASS_COUNT,
        )

    def _find_receiving_tunnel(self, ends: TunnelEnds) -> Tunnel | None:
        """Return the tunnel in which packets come out: one for their sender alone, else one for all senders."""
        device, near = self._plane.routers[ends.far].device, ends.tunnel.near
        address = None if isinstance(near, Unknown) else parse_address(near or "")
        found = [
            one
            for one in known_rows(device.tunnels)
            if one.kind == "ip-in-ip" and _does_text_equal_address(one.near, Address(*ends.address[:2]))
        ]
        own = (one for one in found if address is not None and _does_text_equal_address(one.sender, address))
        return next(own, next((one for one in found if one.sender is None), None))


def _switch_map_may_differ(device: Device) -> bool:
    """Whether a switch-wide DSCP map, which some ASICs apply to what comes out of tunnels, is unlike that of a port.

    sonic-swss pull request 2023: without the map of the switch, such packets have a class by default.
    """
    whole = device.switch_dscp_to_tc
    if whole is None:
        return False
    maps = (port.qos.dscp_to_tc for port in device.interfaces if isinstance(port.qos, QosProfile))
    return isinstance(whole, Unknown) or any(table is not None and table != whole for table in maps)


def _overlap(one: Prefix, other: Prefix) -> bool:
    return one.covers(other) or other.covers(one)


def _does_text_equal_address(text: str | None | Unknown, address: Address) -> bool:
    return not isinstance(text, Unknown) and text is not None and parse_address(text) == address


def _entries(table: NumberMap | None | Unknown, count: int) -> tuple[int | None, ...] | None:
    """Return all entries of a map; None where there is none, or it is not known."""
    if table is None or isinstance(table, Unknown):
        return None
    return tuple((table[place] if place < len(table) else None) or _NOT_MAPPED for place in range(count))
