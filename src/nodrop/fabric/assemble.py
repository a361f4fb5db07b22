"""From devices as they were read to one fabric: what is stated is folded in, the rest is inferred and said so.

Evidence for a link, best first: stated cables, two ends in one /31 or /30 (IPv6: /127 or /126), a neighbor table.
A port that no source names has an UNKNOWN side: it is neither a host's nor the fabric's.
"""

import ipaddress
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from socket import AF_INET, inet_pton
from typing import NamedTuple, TypeVar

from nodrop.fabric import neighbors
from nodrop.fabric.declared import Declared
from nodrop.fabric.fabric import Device, End, Fabric, Interface, Link, Mode, Policy, Side, TrafficClass
from nodrop.fabric.intern import Interner
from nodrop.fabric.names import misnamed
from nodrop.fabric.nics import stated
from nodrop.fabric.qos import PriorityGroup, QosProfile
from nodrop.fabric.reading import Assumption, DeviceReading, HostReading, Note, Reading
from nodrop.fabric.states import UNKNOWN, Unknown, UnknownFact, those_known
from nodrop.fabric.subject import natural
from nodrop.fabric.values import changed

_T = TypeVar("_T")

UNNAMED = "fabric"
"""What a fabric is called of which nobody states a name."""

RDMA_DSCP = 26
"""NVIDIA's convention for RoCE (Cumulus Linux user guide, RDMA over Converged Ethernet; ToS 106)."""


class Shared:
    """What states of one fabric have in common: of a switch that was read once and faces the same, there is one object.

    So who holds one state against another need not look into it.
    """

    def __init__(self) -> None:
        self._interner = Interner()
        self._made: dict[int, _Made] = {}
        self._networks: dict[int, tuple[Device, list[tuple[object, str]]]] = {}
        self._links: dict[Link, Link] = {}

    def device(
        self, read: Device, declared: Declared, sides: Mapping[tuple[str, str], Side], *, all_cables: bool
    ) -> Device:
        """Return a device as it was read with what is stated, profiles and pools shared, and every port's side.

        Where `all_cables` of the device are stated, the ports without one have no side.
        """
        rest = None if all_cables else UNKNOWN
        facing = [sides.get((read.name, port.name), rest) for port in read.interfaces]
        stated = declared.roles.get(read.name), declared.models.get(read.name)
        made = self._made.get(id(read))
        if made is None or made.stated != stated or not all(map(is_, made.facing, facing)):
            device = _completed(_stated(read, *stated), facing, self._interner)
            made = self._made[id(read)] = _Made(read, stated, facing, device)
        return made.device

    def networks(self, device: Device) -> list[tuple[object, str]]:
        """Return the networks of two ports that a device has addresses in, each with the port."""
        found = self._networks.get(id(device))
        if found is None:
            found = self._networks[id(device)] = (device, list(_networks(device)))
        return found[1]

    def links(self, links: Iterable[Link]) -> list[Link]:
        """Return the one object that stands for each cable."""
        return [self._links.setdefault(link, link) for link in links]


class _Made(NamedTuple):
    """A device as it was read, held so that no other gets its id, and what was made of it with what."""

    read: Device
    stated: tuple[str | None, str | None]
    facing: list[Side | None | Unknown]
    device: Device


def assemble(
    readings: Sequence[DeviceReading],
    declared: Declared,
    hosts_read: Sequence[HostReading] = (),
    shared: Shared | None = None,
) -> Reading:
    """Return all readings as one fabric; two devices of one name are told apart by a number, with a note.

    What is `shared` with other states is made once.
    """
    shared = shared or Shared()
    named = readings
    readings, notes = _distinct(readings)
    hosts_read = _apart(hosts_read, {reading.device.name for reading in readings})
    everything: list[DeviceReading | HostReading] = [*readings, *hosts_read]
    links = shared.links(_links(readings, declared, shared))
    hosts = declared.hosts or ()
    known = {reading.device.name for reading in readings}
    sides = _sides(known, links, {host.name for host in hosts}, declared.roles.keys())
    stated = _named_devices(declared)
    devices = [shared.device(one.device, declared, sides, all_cables=one.device.name in stated) for one in readings]
    assumed: list[Assumption] = []
    mode = declared.mode or _mode(devices, assumed, paused=_have_pfc(hosts_read))
    plain = declared.mode is None and not hosts_read and not _profiles(devices)
    classes = declared.classes if declared.classes is not None else _classes(devices, mode, assumed, plain=plain)
    fabric = Fabric(
        name=declared.name or UNNAMED,
        mode=mode,
        devices=tuple(sorted(devices, key=lambda device: natural(device.name))),
        links=tuple(sorted(links, key=lambda link: (link.a, link.b))),
        hosts=tuple(sorted(hosts, key=lambda host: natural(host.name))),
        nics=tuple(nic for one in hosts_read for nic in one.nics),
        classes=tuple(sorted(classes, key=lambda one: one.name)),
        policy=declared.policy or Policy(),
        profile=declared.profile,
    )
    return Reading(
        fabric=fabric,
        sources={reading.device.name: reading.sources for reading in readings}
        | {one.name: one.sources for one in hosts_read},
        remarks=(
            *(remark for reading in everything for remark in reading.remarks),
            *neighbors.unlike(readings, links, hosts),
            *misnamed(named, readings),
        ),
        notes=(*notes, *(note for reading in readings for note in reading.notes)),
        problems=tuple(problem for reading in everything for problem in reading.problems),
        derived={subject: reason for reading in everything for subject, reason in reading.derived.items()},
        assumed=tuple(assumed),
        allowed={reading.device.name: reading.allowed for reading in readings if reading.allowed}
        | {one.name: one.allowed for one in hosts_read if one.allowed},
    )


def _distinct(readings: Sequence[DeviceReading]) -> tuple[list[DeviceReading], list[Note]]:
    taken: set[str] = set()
    result, notes = [], []
    for reading in readings:
        name, number = reading.device.name, 2
        while name in taken:
            name, number = f"{reading.device.name}.{number}", number + 1
        taken.add(name)
        if name != reading.device.name:
            shown = reading.sources[0].display if reading.sources else None
            message = f"a second device calls itself {reading.device.name}; it is {name} here"
            notes.append(Note(kind="renamed", message=message, device=name, file=shown))
            reading = _renamed(reading, name)
        result.append(reading)
    return result, notes


def _renamed(reading: DeviceReading, name: str) -> DeviceReading:
    return replace(
        reading,
        device=replace(reading.device, name=name),
        remarks=tuple(replace(remark, subject=(name, *remark.subject[1:])) for remark in reading.remarks),
        derived={(name, *subject[1:]): reason for subject, reason in reading.derived.items()},
    )


def _apart(readings: Sequence[HostReading], taken: Container[str]) -> list[HostReading]:
    """Return what hosts' files say, under names that no switch has."""
    return [_of_host(one, f"{one.name}.host") if one.name in taken else one for one in readings]


def _of_host(reading: HostReading, name: str) -> HostReading:
    return replace(
        reading,
        name=name,
        nics=tuple(changed(nic, host=name) for nic in reading.nics),
        remarks=tuple(replace(remark, subject=(name, *remark.subject[1:])) for remark in reading.remarks),
        derived={(name, *subject[1:]): reason for subject, reason in reading.derived.items()},
    )


def _stated(device: Device, role: str | None, model: str | None) -> Device:
    if role is not None and (isinstance(device.role, Unknown) or device.role != role):
        device = replace(device, role=role)
    if model is not None and isinstance(device.model, Unknown):
        device = replace(device, model=model)
    return device


def _links(readings: Sequence[DeviceReading], declared: Declared, shared: Shared) -> list[Link]:
    devices = [reading.device for reading in readings]
    links = list(declared.cables or ())
    taken = {end for link in links for end in (link.a, link.b)}
    for link in (*_by_subnet(devices, taken, shared), *_by_neighbor_table(readings)):
        if link.a not in taken and link.b not in taken:
            links.append(link)
            taken |= {link.a, link.b}
    return links


_OF_TWO = {"/31": 1, "/30": 2}
"""How the IPv4 addresses of a link between two ports end, and how many bits they may differ in."""
_OF_TWO_IPV6 = ("/127", "/126")


def _by_subnet(devices: Iterable[Device], cabled: Container[tuple[str, str]], shared: Shared) -> Iterator[Link]:
    """Yield a link for every two ports not `cabled`, and no third, with addresses in one /31 or /30, /127 or /126."""
    found: dict[object, list[End]] = {}
    for device in devices:
        for network, port in shared.networks(device):
            if (device.name, port) not in cabled:
                found.setdefault(network, []).append(End(device.name, port))
    for ends in found.values():
        if len(ends) == 2 and ends[0].node != ends[1].node:
            yield Link(a=min(ends), b=max(ends))


def _networks(device: Device) -> Iterator[tuple[object, str]]:
    for interface in device.interfaces:
        for text in () if isinstance(interface.addresses, Unknown) else interface.addresses:
            network = _network_of_two(text)
            if network is not None:
                yield network, interface.name


def _network_of_two(text: str) -> object:
    """Return what the network of two ports is known by; None where an address is in no such network, or is none."""
    bits = _OF_TWO.get(text[-3:])
    try:
        if bits is not None:  # a site has a million, and `ipaddress` takes twenty times as long
            return bits, int.from_bytes(inet_pton(AF_INET, text[:-3])) >> bits
        if text.endswith(_OF_TWO_IPV6):
            network = ipaddress.ip_interface(text).network
            return network if network.version == 6 and not network.is_link_local else None
    except (OSError, ValueError):
        pass
    return None


def _by_neighbor_table(readings: Sequence[DeviceReading]) -> Iterator[Link]:
    """Yield the links that neighbor tables name; a neighbor that was read must have a port of that name."""
    known = {reading.device.name for reading in readings}
    named = {cable.remote.node for reading in readings for cable in reading.cables}
    ports = {
        one.device.name: {port.name for port in one.device.interfaces} for one in readings if one.device.name in named
    }
    for reading in readings:
        for cable in reading.cables:
            near, far = End(reading.device.name, cable.local_port), cable.remote
            if far.node not in known or far.port in ports[far.node]:
                yield Link(a=min(near, far), b=max(near, far))


def _sides(read: set[str], links: Iterable[Link], hosts: set[str], roles: Iterable[str]) -> dict[tuple[str, str], Side]:
    """Return what is at the far end of cables: a switch, also one of which only a role is stated, or a host."""
    switches = read.union(roles)
    sides: dict[tuple[str, str], Side] = {}
    for link in links:
        for near, far in ((link.a, link.b), (link.b, link.a)):
            if near.node in read:
                if far.node in switches:
                    sides[near] = "fabric"
                elif far.node in hosts:
                    sides[near] = "host"
    return sides


def _named_devices(declared: Declared) -> set[str]:
    return {end.node for link in declared.cables or () for end in (link.a, link.b)}


def _completed(device: Device, facing: Iterable[Side | None | Unknown], interner: Interner) -> Device:
    """Return the device with profiles and pools shared, and every port's side, in one go over a million ports."""

    def completed(port: Interface, side: Side | None | Unknown) -> Interface:
        qos = interner.profile(port.qos) if isinstance(port.qos, QosProfile) else port.qos
        return port if side is port.side and qos is port.qos else changed(port, side=side, qos=qos)

    pools = interner.pools(device.buffer_pools)
    return changed(device, interfaces=tuple(map(completed, device.interfaces, facing)), buffer_pools=pools)


def _profiles(devices: Iterable[Device]) -> list[QosProfile]:
    seen = {
        id(interface.qos): interface.qos
        for device in devices
        for interface in device.interfaces
        if isinstance(interface.qos, QosProfile)
    }
    return list(seen.values())


def _mode(devices: list[Device], assumed: list[Assumption], *, paused: bool) -> Mode:
    """Return the mode that the files show, over all devices together; `pfc-only` is never inferred."""
    trims = [device.name for device in devices if not isinstance(device.trimming, Unknown) and device.trimming]
    mode: Mode = "lossy"
    because = "nothing pauses, and no priority group is lossless"
    if trims:
        mode, because = "trim", f"{trims[0]} trims packets"
    elif any(map(_pauses, _profiles(devices))):
        mode, because = "lossless", "ports have PFC, a lossless priority group or a PFC watchdog"
    elif not devices and paused:  # where switches were read, they decide
        mode, because = "lossless", "NICs have PFC"
    assumed.append(Assumption(fact="mode", value=mode, because=because))
    return mode


def _have_pfc(readings: Iterable[HostReading]) -> bool:
    """Whether a file of a host turns PFC on."""
    return any(bool(stated(nic, "pfc_priorities")) for one in readings for nic in one.nics)


def _pauses(qos: QosProfile) -> bool:
    """Whether anything that is known of a port is a trace of PFC."""
    priorities = [*those_known(qos.pfc_rx_priorities), *those_known(qos.pfc_tx_priorities)]
    watched = qos.pfc_watchdog is not None and not isinstance(qos.pfc_watchdog, Unknown)
    return bool(priorities) or watched or any(map(_is_lossless, those_known(qos.priority_groups)))


def _is_lossless(group: PriorityGroup) -> bool:
    try:
        return group.lossless
    except UnknownFact:
        return False


def _classes(devices: list[Device], mode: Mode, assumed: list[Assumption], *, plain: bool) -> tuple[TrafficClass, ...]:
    """Return the RDMA class: DSCP 26 unless the maps leave exactly one other candidate.

    Switches that are `plain`, without QoS on any port and with nobody who says what they are for, have none: it would
    be missed on every port of every network that is not one for RDMA.
    """
    if plain and devices:
        assumed.append(Assumption(fact="RDMA", value="none", because="no port has QoS"))
        return ()
    candidates: set[int] = set()
    for qos in _profiles(devices):
        if isinstance(qos.dscp_to_tc, Unknown) or isinstance(qos.pfc_rx_priorities, Unknown) or not qos.dscp_to_tc:
            continue
        candidates |= {dscp for dscp, tc in enumerate(qos.dscp_to_tc) if tc in qos.pfc_rx_priorities}
    dscp, because = RDMA_DSCP, "NVIDIA's convention"
    if len(candidates) == 1 and RDMA_DSCP not in candidates:
        (dscp,) = candidates
        because = "the only DSCP in a lossless class"
    assumed.append(Assumption(fact="RDMA", value=f"DSCP {dscp}", because=because))
    lossless = mode in ("lossless", "pfc-only")
    return (TrafficClass(name="rdma", purpose="rdma", dscp=(dscp,), tc=UNKNOWN, lossless=lossless),)
