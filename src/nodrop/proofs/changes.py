"""The least change that takes a circle of buffers away, tried before it is named."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

from nodrop.model.fabric import Device, Fabric
from nodrop.model.index import Index
from nodrop.model.states import Unknown, known_rows
from nodrop.model.values import replace_fields
from nodrop.proofs.circles import components_with_circles
from nodrop.proofs.deadlock import DeadlockCheckResult, check_deadlock, find_circles_in_traffic
from nodrop.proofs.dependencies import Buffer, DependencyGraph
from nodrop.proofs.floods import FloodedVlan
from nodrop.proofs.forwarding import Forwarding
from nodrop.proofs.invariants import DeadlockFreedomConditions
from nodrop.proofs.traffic import TrafficAtRouters
from nodrop.routing import compute_control_plane

MAX_DROPPED_TURNS = 100
"""How many turns a change may take away; a circle that needs more has no change that is worth a name."""
MOST_CHANNELS_FOR_CHANGE_SEARCH = 20_000
"""In how large a fabric, by the directions of its cables, turns are looked for: they are pairs of ports."""


class DroppedTurn(NamedTuple):
    """A turn that no packet takes any more: from one neighbor of a switch to another."""

    device: str
    before: str
    after: str


class FloodingVlan(NamedTuple):
    """A VLAN in which a switch floods packets of a circle to other switches."""

    device: str
    vlan: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastDeadlockRemedy:
    """What takes all circles away: one AS number for some switches, if that does, and turns to give up.

    `classes` is how many lossless classes do instead, if packets change to the next one at each of these turns; None
    where that is not known, as with tunnels, which have separate maps, and with floods, which follow no route.
    """

    shared_asn: tuple[str, ...] = ()
    """Switches to give one AS number, so that those below are no transit."""
    vlans: tuple[FloodingVlan, ...] = ()
    """VLANs to take off ports to other switches, if that does."""
    turns: tuple[DroppedTurn, ...] = ()
    classes: int | None = None


def find_least_deadlock_remedy(
    check: DeadlockCheckResult, invariants: DeadlockFreedomConditions
) -> LeastDeadlockRemedy:
    """Return the least change that takes the circles of a check away."""
    dropped, turns = _choose_dropped_turns(check)
    return LeastDeadlockRemedy(
        shared_asn=_switches_to_share_asn(check, invariants),
        vlans=_vlans_to_keep_from_switches(check),
        turns=turns,
        classes=_count_classes_needed_if_changed_at_turns(check, dropped)
        if turns and not check.traffic.tunnels and not check.traffic.floods.all
        else None,
    )


def _choose_dropped_turns(check: DeadlockCheckResult) -> tuple[set[tuple[int, int]], tuple[DroppedTurn, ...]]:
    """Return pairs of channels, and the turns that they are, without which no circle is left.

    One after another, the turn is taken that most of the edges on circles go through.
    """
    traffic, forwarding = check.traffic, check.traffic.forwarding
    if len(forwarding.channels) > MOST_CHANNELS_FOR_CHANGE_SEARCH:
        return set(), ()
    graph = DependencyGraph(traffic, exact=True)
    after = {buffer: graph.awaited_by(buffer) for buffer in graph.used_buffers()}
    numbers = {buffer: number for number, buffer in enumerate(after)}
    buffers = list(after)
    edges: dict[int, tuple[int, ...]] = {
        numbers[buffer]: tuple(numbers[far] for far in awaited) for buffer, awaited in after.items()
    }
    dropped: set[tuple[int, int]] = set()
    turns: list[DroppedTurn] = []
    while components := components_with_circles(edges):
        if len(turns) == MAX_DROPPED_TURNS:
            return set(), ()
        inside = {node: place for place, nodes in enumerate(components) for node in nodes}
        counts = Counter(
            _dropped_turn_of_buffers(forwarding, buffers[node], buffers[far])
            for node in inside
            for far in edges[node]
            if inside.get(far) == inside[node]
        )
        turn = min(counts, key=lambda one: (-counts[one], one))
        turns.append(turn)
        for node, nodes in edges.items():
            kept = []
            for far in nodes:
                if _dropped_turn_of_buffers(forwarding, buffers[node], buffers[far]) == turn:
                    dropped.add((buffers[node].channel, buffers[far].channel))
                else:
                    kept.append(far)
            edges[node] = tuple(kept)
    return dropped, tuple(turns)


def _dropped_turn_of_buffers(forwarding: Forwarding, held: Buffer, awaited: Buffer) -> DroppedTurn:
    routers = forwarding.plane.routers
    first, second = forwarding.channels[held.channel], forwarding.channels[awaited.channel]
    near, at, far = (routers[number].device.name for number in (first.near, first.far, second.far))
    return DroppedTurn(at, near, far)


def _count_classes_needed_if_changed_at_turns(check: DeadlockCheckResult, dropped: set[tuple[int, int]]) -> int | None:
    """Return how many classes do if packets change to the next one at each dropped turn; None for packets in a loop."""
    forwarding, traffic = check.traffic.forwarding, check.traffic
    rounds = 1
    carried: Mapping[int, int] = {}
    for held, _ in dropped:
        number = forwarding.channels[held].near
        present = 0
        for bits in traffic.present[number].values():
            present |= bits
        carried = {
            **carried,
            held: _destination_bits_over_channel(forwarding, number, held) & present & ~forwarding.own[number],
        }
    while carried:
        passed = dict(_destinations_past_dropped_turns(forwarding, carried, dropped))
        if not passed:
            return rounds
        rounds += 1
        if rounds > len(forwarding.rows):
            return None
        reached = _destinations_by_reached_channel(forwarding, passed)
        carried = {held: bits for held, _ in dropped if (bits := reached.get(held, 0))}
    return rounds


def _destination_bits_over_channel(forwarding: Forwarding, number: int, channel: int) -> int:
    bits = 0
    for row in forwarding.rows[number]:
        if channel in row.channels:
            bits |= row.bits
    return bits


def _destinations_past_dropped_turns(
    forwarding: Forwarding, carried: Mapping[int, int], dropped: set[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the channels behind dropped turns, with the destinations that take these turns."""
    found: dict[int, int] = {}
    for held, awaited in dropped:
        number = forwarding.channels[held].far
        bits = (
            carried.get(held, 0) & _destination_bits_over_channel(forwarding, number, awaited) & ~forwarding.own[number]
        )
        if bits:
            found[awaited] = found.get(awaited, 0) | bits
    yield from found.items()


def _destinations_by_reached_channel(forwarding: Forwarding, over: Mapping[int, int]) -> dict[int, int]:
    """Return the destinations over every channel, of packets that are on some channels already."""
    reached = dict(over)
    waiting = dict(over)
    while waiting:
        channel, bits = waiting.popitem()
        number = forwarding.channels[channel].far
        for row in forwarding.rows[number]:
            going = row.bits & bits & ~forwarding.own[number]
            for following in row.channels if going else ():
                if new := going & ~reached.get(following, 0):
                    reached[following] = reached.get(following, 0) | new
                    waiting[following] = waiting.get(following, 0) | new
    return reached


def _vlans_to_keep_from_switches(check: DeadlockCheckResult) -> tuple[FloodingVlan, ...]:
    """Return the VLANs whose floods make all circles: those of the shortest ones if these do, else all there are."""
    forwarding = check.traffic.forwarding
    vlans = forwarding.flooded_vlans
    on_circles = {turn.flood for circle in check.circles for turn in circle if turn.flood is not None}
    for places in (on_circles, set(range(len(vlans)))) if on_circles else ():
        changed = copy(forwarding)
        changed.flooded_vlans = tuple(
            vlan._replace(to=0, members=()) if place in places else _without_ways_into(vlan, places)
            for place, vlan in enumerate(vlans)
        )
        if find_circles_in_traffic(TrafficAtRouters(changed), ()).is_free:
            routers = forwarding.plane.routers
            return tuple(
                sorted(FloodingVlan(routers[vlans[place].router].device.name, vlans[place].vlan) for place in places)
            )
    return ()


def _without_ways_into(vlan: FloodedVlan, places: Container[int | None]) -> FloodedVlan:
    """Return a VLAN from which no packets go on into the VLANs at `places`."""
    members = (
        member._replace(out=tuple((channel, None if far in places else far) for channel, far in member.out))
        for member in vlan.members
    )
    return vlan._replace(members=tuple(members))


def _switches_to_share_asn(check: DeadlockCheckResult, invariants: DeadlockFreedomConditions) -> tuple[str, ...]:
    """Return the switches to give one AS number, if that takes all circles away: the neighbors above a valley."""
    forwarding = check.traffic.forwarding
    levels, routers = invariants.levels, forwarding.plane.routers
    above: set[int] = set()
    for circle in check.circles:
        for turn, following in zip(circle, (*circle[1:], circle[0]), strict=True):
            near, low = forwarding.channels[turn.buffer.channel].near, forwarding.channels[turn.buffer.channel].far
            far = forwarding.channels[following.buffer.channel].far
            if low in levels and levels[low] < min(levels.get(near, -1), levels.get(far, -1)):
                above |= {near, far}
    group = {number for number in levels if any(levels[number] == levels[one] for one in above)}
    names = tuple(sorted(routers[number].device.name for number in group))
    if not above or len(names) < 2 or any(routers[number].vrf for number in group):
        return ()
    plane = forwarding.plane
    changed = _with_shared_asn(plane.index.fabric, names)
    if changed is None or not check_deadlock(compute_control_plane(Index(changed), plane.failed)).is_free:
        return ()
    return names


def _with_shared_asn(fabric: Fabric, names: tuple[str, ...]) -> Fabric | None:
    """Return a fabric in which some switches have the AS number of the first of them; None where one has none."""
    asns: dict[str, int] = {}
    for device in fabric.devices:
        if device.name in names:
            if isinstance(device.bgp, Unknown) or device.bgp is None:
                return None
            asns[device.name] = device.bgp.asn
    shared, old = asns[names[0]], set(asns.values())

    def share_number(device: Device) -> Device:
        bgp = device.bgp
        if isinstance(bgp, Unknown) or bgp is None or isinstance(bgp.neighbors, Unknown):
            return device
        if device.name in asns:
            return replace_fields(device, bgp=replace_fields(bgp, asn=shared))
        sessions = tuple(
            replace_fields(one, remote_asn=shared) if one.remote_asn in old else one
            for one in known_rows(bgp.neighbors)
        )
        return replace_fields(device, bgp=replace_fields(bgp, neighbors=sessions))

    return replace_fields(fabric, devices=tuple(map(share_number, fabric.devices)))
