"""Whether both ends of a cable are each other's next router: by router advertisements, or because ARP and ND say so."""

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nodrop.model.subject import Subject
from nodrop.model.subject import link as link_subject
from nodrop.routing.prefixes import Address
from nodrop.validating.twin import neighbors
from nodrop.validating.twin.lab import Lab
from nodrop.validating.twin.plan import Nic, Space
from nodrop.validating.twin.vty import Silent
from nodrop.validating.twin.work import Part

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
    link = Part(seen={"links": {}}, unseen={"links": {}})
    asked: defaultdict[Space, list[tuple[Subject, Nic, Nic]]] = defaultdict(list)
    for item in items:
        wire = wires.get(item)
        if wire is None or wire.b is None:
            link.unseen["links"][item] = "the twin has no such cable"
        else:
            asked[wire.a.space].append((item, wire.a, wire.b))
    spaces = {nic.space for rows in asked.values() for _, *nics in rows for nic in nics}
    seen = dict(zip(spaces, lab.each(lambda space: _see(lab, space), spaces), strict=True))
    for found in lab.each(lambda space: dict(_ends(lab, space, asked[space], seen)), asked):
        link.seen["links"].update({item: "up" if said else "down" for item, said in found.items()})
        link.said.update({("links", item): said or "neither end finds the other" for item, said in found.items()})
    return link


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
            wanted[item] = a.name, there.mac.get(b.name, ""), tuple(neighbors.neighbor_addresses(a, b))
    probe_far_ends = _probe_far_ends(lab, space, wanted)
    yield from ((item, probe_far_ends.get(item, "")) for item in wanted)


def _heard(here: _Seen, at: Nic, there: _Seen, far: Nic) -> bool:
    return bool(here.advertised.get(at.name, frozenset()) & there.local.get(far.name, frozenset()))


def _probe_far_ends(
    lab: Lab, space: Space, wanted: Mapping[Subject, tuple[str, str, tuple[Address, ...]]]
) -> dict[Subject, str]:
    """Return of which far ends the right MAC address is found, and how."""
    left = {item for item, (_, _, far) in wanted.items() if far}
    probe_far_ends: dict[Subject, str] = {}
    for _ in range(_LOOKS):
        if not left:
            break
        name = lab.plan.spaces[space]
        neighbors.knock(name, ((wanted[item][0], address) for item in left for address in wanted[item][2]))
        known = {(neighbor.port, neighbor.address, neighbor.mac) for neighbor in neighbors.read_neighbors(name)}
        for item in tuple(left):
            port, mac, far = wanted[item]
            if any((port, str(address), mac) in known for address in far):
                probe_far_ends[item] = "ARP" if far[0].family == "ipv4" else "ND"
                left.discard(item)
        if left:
            time.sleep(_PAUSE_S)
    return probe_far_ends
