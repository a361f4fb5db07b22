"""BGP sessions between two switches whose AS numbers are not what the sessions expect, so that they never come up.

Where a session leads, the address of the far end says, or the cable where it goes over an interface. One that leads to
no switch that was read, or to an address that several have, is not looked at: nothing says what the far end has.
"""

from collections.abc import Iterator, Mapping

from nodrop.analyses import Hit
from nodrop.fabric.fabric import Device, Interface, Loopback
from nodrop.fabric.index import Index
from nodrop.fabric.routing import BgpNeighbor
from nodrop.fabric.states import Unknown, those_known

RESTS_ON = frozenset({"cables"})

Speaker = tuple[str, int]
"""A switch that speaks BGP, and its AS number."""


def find(index: Index) -> Iterator[Hit]:
    """Yield, for each pair of switches, the first session with such a fault; of two external ends with one AS, one."""
    speakers = dict(_speakers(index))
    owners = _owners(index, speakers)
    told: set[tuple[str, str, str]] = set()
    for device in index.fabric.devices:
        if isinstance(device.bgp, Unknown) or device.bgp is None:
            continue
        own = device.bgp.asn
        for session in those_known(device.bgp.neighbors):
            address = session.address
            far = owners.get(address) if address is not None else _over(index, speakers, device, session)
            if far is None or far[1] == session.remote_asn or not session.enabled:
                continue
            expected = _expected(session, own, far[1])
            first, second = sorted((device.name, far[0])) if expected == "another" else (device.name, far[0])
            if expected and (first, second, expected) not in told:
                told.add((first, second, expected))
                yield Hit(
                    subject=(device.name, "@neighbors", session.key),
                    at=(device.name, "@neighbors", session.key, "remote_asn"),
                    facts={
                        "session": session.key,
                        "device": device.name,
                        "own": own,
                        "far": far[0],
                        "found": far[1],
                        "expected": expected,
                    },
                    related=(((far[0], "@bgp", "asn"), f"AS {far[1]}"),),
                )


def _speakers(index: Index) -> Iterator[tuple[str, Speaker]]:
    for device in index.fabric.devices:
        if not isinstance(device.bgp, Unknown) and device.bgp is not None:
            yield device.name, (device.name, device.bgp.asn)


def _owners(index: Index, speakers: Mapping[str, Speaker]) -> dict[str, Speaker | None]:
    """Return who has an address, of those of ports and loopbacks; None where several switches have it."""
    found: dict[str, Speaker | None] = {}
    for device in index.fabric.devices:
        speaker = speakers.get(device.name)
        holders: tuple[Interface | Loopback, ...] = (*device.interfaces, *those_known(device.loopbacks))
        for holder in holders:
            for text in those_known(holder.addresses) if holder.vrf is None else ():
                address = text.partition("/")[0]
                found[address] = speaker if found.get(address, speaker) is speaker else None
    return found


def _over(index: Index, speakers: Mapping[str, Speaker], device: Device, session: BgpNeighbor) -> Speaker | None:
    """Return who is at the other end of the cable that a session goes over."""
    end = index.far_end(device.name, session.interface or "")
    return None if end is None else speakers.get(end.node)


def _expected(session: BgpNeighbor, own: int, far: int) -> str:
    """Return which AS number a session wants at the far end, in words; nothing where it finds that."""
    wanted = session.remote_asn
    if wanted == "external":
        return "another" if own == far else ""
    if wanted == "internal":
        return "the same" if own != far else ""
    return "" if wanted is None else f"AS {wanted}"
