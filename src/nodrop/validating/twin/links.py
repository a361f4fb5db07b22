"""Whether both ends of a cable are each other's next router: by router advertisements, or by ARP and ND."""

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nodrop.model.subject import Subject
from nodrop.model.subject import link_subject as link_subject
from nodrop.routing.prefixes import Address
from nodrop.validating.twin import neighbors
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.plan import NamespaceKey, TwinInterface
from nodrop.validating.twin.vty import DaemonSilent
from nodrop.validating.twin.work import PartialObservation

_LOOKS, _PAUSE_S = 20, 0.1
"""How often it is looked for an answer: ARP and ND ask three times, a second apart."""


class _NamespaceNeighbors(NamedTuple):
    """A namespace's knowledge of neighbors: for each interface its MAC, its addresses of one link, its neighbors."""

    mac: Mapping[str, str]
    local: Mapping[str, frozenset[str]]
    advertised: Mapping[str, frozenset[str]]


def observe_links(twin_lab: TwinLab, checked_subjects: Iterable[Subject]) -> PartialObservation:
    """See the cables of these items: `up` or `down`; others are not between two routing ports of the twin."""
    wires = {link_subject(cable.a, cable.b): wire for wire in twin_lab.plan.wires for cable in wire.links if wire.b}
    link = PartialObservation(seen={"links": {}}, unseen={"links": {}})
    asked: defaultdict[NamespaceKey, list[tuple[Subject, TwinInterface, TwinInterface]]] = defaultdict(list)
    for item in checked_subjects:
        wire = wires.get(item)
        if wire is None or wire.b is None:
            link.unseen["links"][item] = "the twin has no such cable"
        else:
            asked[wire.a.space].append((item, wire.a, wire.b))
    spaces = {nic.space for rows in asked.values() for _, *nics in rows for nic in nics}
    seen = dict(
        zip(
            spaces,
            twin_lab.map_concurrently(lambda space: _read_macs_and_heard_routers(twin_lab, space), spaces),
            strict=True,
        )
    )
    for methods in twin_lab.map_concurrently(
        lambda space: dict(_far_end_evidence(twin_lab, space, asked[space], seen)), asked
    ):
        link.seen["links"].update({item: "up" if method else "down" for item, method in methods.items()})
        link.said.update({("links", item): method or "neither end finds the other" for item, method in methods.items()})
    return link


def _read_macs_and_heard_routers(lab: TwinLab, space: NamespaceKey) -> _NamespaceNeighbors:
    rows = lab.interfaces_with_addresses(space.node, space.vrf)
    mac = {row["ifname"]: row.get("address", "") for row in rows}
    local = {
        row["ifname"]: frozenset(addr["local"] for addr in row.get("addr_info", ()) if addr.get("scope") == "link")
        for row in rows
    }
    interfaces: dict[str, Any] = {}
    if lab.has_daemon(space.node, "zebra"):
        with contextlib.suppress(DaemonSilent):
            interfaces = lab.json_answer_of_daemon(space.node, f"show interface vrf {space.vrf or 'default'}", "zebra")
    heard = {
        name: frozenset(neighbor_address.partition("/")[0] for neighbor_address in row.get("neighborIpAddresses", ()))
        for name, row in interfaces.items()
        if isinstance(row, dict)
    }
    return _NamespaceNeighbors(mac, local, heard)


def _far_end_evidence(
    lab: TwinLab,
    space: NamespaceKey,
    rows: list[tuple[Subject, TwinInterface, TwinInterface]],
    seen: Mapping[NamespaceKey, _NamespaceNeighbors],
) -> Iterator[tuple[Subject, str]]:
    """Yield of each cable how its far end was found, or nothing."""
    probes: dict[Subject, tuple[str, str, tuple[Address, ...]]] = {}
    for item, a, b in rows:
        near_view, far_view = seen[a.space], seen[b.space]
        if _hears_advertisements_of_far_end(near_view, a, far_view, b) and _hears_advertisements_of_far_end(
            far_view, b, near_view, a
        ):
            yield item, "router advertisements"
        else:
            probes[item] = a.name, far_view.mac.get(b.name, ""), tuple(neighbors.neighbor_addresses(a, b))
    probe_far_ends = _probe_far_macs(lab, space, probes)
    yield from ((item, probe_far_ends.get(item, "")) for item in probes)


def _hears_advertisements_of_far_end(
    near_view: _NamespaceNeighbors, at: TwinInterface, far_view: _NamespaceNeighbors, far: TwinInterface
) -> bool:
    return bool(near_view.advertised.get(at.name, frozenset()) & far_view.local.get(far.name, frozenset()))


def _probe_far_macs(
    twin_lab: TwinLab, namespace: NamespaceKey, probes: Mapping[Subject, tuple[str, str, tuple[Address, ...]]]
) -> dict[Subject, str]:
    """Return the far ends whose right MAC address is found, and how."""
    pending_items = {item for item, (_, _, far) in probes.items() if far}
    probe_far_ends: dict[Subject, str] = {}
    for _ in range(_LOOKS):
        if not pending_items:
            break
        name = twin_lab.plan.spaces[namespace]
        neighbors.trigger_neighbor_resolution(
            name, ((probes[item][0], address) for item in pending_items for address in probes[item][2])
        )
        neighbor_keys = {(neighbor.port, neighbor.address, neighbor.mac) for neighbor in neighbors.read_neighbors(name)}
        for item in tuple(pending_items):
            port, mac, far = probes[item]
            if any((port, str(address), mac) in neighbor_keys for address in far):
                probe_far_ends[item] = "ARP" if far[0].family == "ipv4" else "ND"
                pending_items.discard(item)
        if pending_items:
            time.sleep(_PAUSE_S)
    return probe_far_ends
