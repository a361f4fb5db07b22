"""Whether both ends of a cable are each other's next router: by router advertisements, or because ARP and ND say so."""

import contextlib
import socket
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from nodrop.fabric.subject import Subject
from nodrop.fabric.subject import link as link_subject
from nodrop.formats.json import parse
from nodrop.routing.prefixes import Address, address, prefix
from nodrop.validate.twin.entering import within
from nodrop.validate.twin.lab import Lab
from nodrop.validate.twin.plan import Nic, Space
from nodrop.validate.twin.vty import Silent
from nodrop.validate.twin.work import Part

_DISCARD: Final = 9
"""UDP port to which what is sent is for nobody (RFC 863); what counts is that the far end has to be found for it."""
_LOOKS, _PAUSE_S = 20, 0.1
"""How often it is looked for an answer: ARP and ND ask three times, a second apart."""


class _Seen(NamedTuple):
    """What a namespace knows of its neighbors: of each interface its MAC, its addresses of one link, its neighbors."""

    mac: Mapping[str, str]
    local: Mapping[str, frozenset[str]]
    advertised: Mapping[str, frozenset[str]]


def links(lab: Lab, items: Iterable[Subject]) -> Part:
    """See the cables of these items: `up` or `down`; others are not between two routing ports of the twin."""
    wires = {link_subject(one.a, one.b): wire for wire in lab.plan.wires for one in wire.links if wire.b}
    part = Part(seen={"links": {}}, unseen={"links": {}})
    asked: defaultdict[Space, list[tuple[Subject, Nic, Nic]]] = defaultdict(list)
    for item in items:
        wire = wires.get(item)
        if wire is None or wire.b is None:
            part.unseen["links"][item] = "the twin has no such cable"
        else:
            asked[wire.a.space].append((item, wire.a, wire.b))
    spaces = {nic.space for rows in asked.values() for _, *both in rows for nic in both}
    seen = dict(zip(spaces, lab.each(lambda space: _see(lab, space), spaces), strict=True))
    for found in lab.each(lambda space: dict(_ends(lab, space, asked[space], seen)), asked):
        part.seen["links"].update({item: "up" if said else "down" for item, said in found.items()})
        part.said.update({("links", item): said or "neither end finds the other" for item, said in found.items()})
    return part


def _see(lab: Lab, space: Space) -> _Seen:
    rows = lab.addresses(space.node, space.vrf)
    mac = {row["ifname"]: row.get("address", "") for row in rows}
    local = {
        row["ifname"]: frozenset(one["local"] for one in row.get("addr_info", ()) if one.get("scope") == "link")
        for row in rows
    }
    found: dict[str, Any] = {}
    if lab.runs(space.node, "zebra"):
        with contextlib.suppress(Silent):
            found = lab.json(space.node, f"show interface vrf {space.vrf or 'default'}", "zebra")
    heard = {
        name: frozenset(one.partition("/")[0] for one in row.get("neighborIpAddresses", ()))
        for name, row in found.items()
        if isinstance(row, dict)
    }
    return _Seen(mac, local, heard)


def _ends(
    lab: Lab, space: Space, rows: list[tuple[Subject, Nic, Nic]], seen: Mapping[Space, _Seen]
) -> Iterator[tuple[Subject, str]]:
    """Yield of each cable how its far end was found, or nothing."""
    wanted: dict[Subject, tuple[str, str, tuple[Address, ...]]] = {}
    for item, a, b in rows:
        here, there = seen[a.space], seen[b.space]
        if _heard(here, a, there, b) and _heard(there, b, here, a):
            yield item, "router advertisements"
        else:
            wanted[item] = a.name, there.mac.get(b.name, ""), tuple(_beside(a, b))
    found = _asked(lab, space, wanted)
    yield from ((item, found.get(item, "")) for item in wanted)


def _heard(here: _Seen, at: Nic, there: _Seen, far: Nic) -> bool:
    return bool(here.advertised.get(at.name, frozenset()) & there.local.get(far.name, frozenset()))


def _beside(a: Nic, b: Nic) -> Iterator[Address]:
    """Yield the addresses of one end that are in a subnet of the other."""
    own = {one for text in a.addresses if (one := address(text)) is not None}
    subnets = [found for text in a.addresses if (found := prefix(text)) is not None]
    for text in b.addresses:
        far = address(text)
        if far is not None and far not in own and any(subnet.has(far) for subnet in subnets):
            yield far


def _asked(
    lab: Lab, space: Space, wanted: Mapping[Subject, tuple[str, str, tuple[Address, ...]]]
) -> dict[Subject, str]:
    """Return of which far ends the right MAC address is found, and how."""
    left = {item for item, (_, _, far) in wanted.items() if far}
    found: dict[Subject, str] = {}
    for _ in range(_LOOKS):
        if not left:
            break
        _knock(lab, space, (wanted[item] for item in left))
        known = {
            (row["dev"], str(address(row["dst"])), row.get("lladdr", ""))
            for row in parse(lab.ip(space.node, "-json", "neighbor", vrf=space.vrf).encode() or b"[]", "ip neighbor")
        }
        for item in tuple(left):
            name, mac, far = wanted[item]
            if any((name, str(one), mac) in known for one in far):
                found[item] = "ARP" if far[0].family == "ipv4" else "ND"
                left.discard(item)
        if left:
            time.sleep(_PAUSE_S)
    return found


def _knock(lab: Lab, space: Space, rows: Iterable[tuple[str, str, tuple[Address, ...]]]) -> None:
    """Send each far end a datagram, so that the kernel has to find it."""
    with within(lab.plan.spaces[space]):
        for name, _, far in rows:
            for one in far:
                family = socket.AF_INET if one.family == "ipv4" else socket.AF_INET6
                with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as out:
                    out.setblocking(False)
                    out.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name.encode())
                    out.sendto(b"", (str(one), _DISCARD))
