"""Exchanges of switches that leave a control plane as it is: failures there have equal effects.

An exchange takes the place of some switches by others and back: two leaves, two pods, two planes. It begins with two
switches and goes on to neighbors that the two do not share. It counts only if everything that decides forwarding is the
same afterwards: sessions and what both ends do, originated destinations, policies, QoS of the ports, and where hosts
are. AS numbers are exchanged too, so that only their equality matters. Nothing is taken from names or roles.

The order in which neighbors win ties is not compared; `tie_order.py` decides where it has no effect.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nodrop.model.addresses import AddressFamily
from nodrop.model.fabric import End
from nodrop.proofs.behaviors import DistinctPortBehaviors
from nodrop.proofs.exchange_policies import CablePolicyExchange, PolicyUses, SessionPolicies
from nodrop.proofs.forwarding import Forwarding, bit_positions
from nodrop.proofs.traffic import TrafficAtRouters
from nodrop.routing.routers import SessionSide
from nodrop.routing.speakers import BgpSpeaker, SpeakerLink

MOST_WORK_PER_CABLE = 100
"""How many cables are compared at most for each cable of a fabric; with more, those left stay apart."""
MOST_FIRST = 8
"""With how many cables that are not alike another one is compared, of those with equal neighborhoods."""
MOST_ROUNDS = 8
"""How far neighborhoods are compared before exchanges are tried."""


class _SessionCable(NamedTuple):
    """A cable with a session as one of its routers has it; `kind` has all but what belongs to the two routers."""

    kind: int
    far: int
    number: int
    """The same for both ends of a cable."""
    policies: tuple[SessionPolicies, ...]
    """The policies of both ends in each family."""


class AlikeCables:
    """The cables and switches of a fabric that exchanges take to one another, by numbers of their classes.

    `cables` has only those with one session each, between switches with one router; `switches` has all routers.
    """

    def __init__(self, traffic: TrafficAtRouters, fixed: frozenset[int]) -> None:
        """Find the exchanges of a fabric's routers but the `fixed` ones."""
        self._traffic, self._forwarding = traffic, traffic.forwarding
        self._behaviors = DistinctPortBehaviors()
        self._kinds: dict[Hashable, int] = {}
        self._fixed = set(fixed)
        self._numbers: dict[frozenset[End], int] = {}
        self._cables: list[list[_SessionCable]] = [[] for _ in self._forwarding.rows]
        self._policies = PolicyUses(self._forwarding)
        self._index_session_cables()
        self._asns = [0 if router.bgp is None else router.bgp.asn for router in self._forwarding.plane.routers]
        self._holders = Counter(self._asns)
        self._owners, self._slots = self._find_destination_owners()
        self.colors = self._refine_router_colors(
            [self._initial_color_of_router(number) for number in range(len(self._cables))]
        )
        for row in self._cables:
            row.sort(key=lambda cable: (cable.kind, cable.far, cable.number))
        self._work = MOST_WORK_PER_CABLE * (1 + sum(map(len, self._cables)))
        count = len(self._numbers)
        self._first = list(range(count + len(self._cables)))
        """A union-find of cables, and behind them of routers."""
        self._join_parallel_cables()
        self._join_cables_by_exchanges()

    def class_of_cable(self, ends: frozenset[End]) -> int | None:
        """Return the class of a cable by its two ends; None for one that is in no class."""
        number = self._numbers.get(ends)
        return None if number is None else self._find_class_representative(number)

    def class_of_router(self, number: int) -> int:
        """Return the class of a router; no cable has its number."""
        return self._find_class_representative(len(self._numbers) + number)

    def _find_class_representative(self, number: int) -> int:
        first = self._first
        while first[number] != number:
            first[number] = first[first[number]]
            number = first[number]
        return number

    def _merge_classes(self, one: int, other: int) -> None:
        one, other = self._find_class_representative(one), self._find_class_representative(other)
        self._first[max(one, other)] = min(one, other)

    def _intern_kind_number(self, key: Hashable) -> int:
        return self._kinds.setdefault(key, len(self._kinds))

    def _index_session_cables(self) -> None:
        """Take the cables with one session each; routers with other sessions or cables stay where they are."""
        plane, index = self._forwarding.plane, self._forwarding.index
        families = [(family, plane.of(family).world.speakers) for family in plane.families]
        links: defaultdict[tuple[int, int], list[tuple[AddressFamily, SpeakerLink]]] = defaultdict(list)
        by_name: defaultdict[str, set[int]] = defaultdict(set)
        for family, speakers in families:
            for number, speaker in speakers.items():
                by_name[plane.routers[number].device.name].add(number)
                for link in speaker.links:
                    links[number, link.session].append((family, link))
        several = {number for numbers in by_name.values() if len(numbers) > 1 for number in numbers}
        ends = [[self._port_of_session_side(side) for side in (session.a, session.b)] for session in plane.sessions]
        used = Counter(end for pair in ends for end in pair)
        for number, (session, (end, far_end)) in enumerate(zip(plane.sessions, ends, strict=True)):
            numbers = session.a.router, session.b.router
            single = end is not None and far_end is not None and used[end] == used[far_end] == 1
            if end is None or far_end is None or not single or index.far_end(*end) != far_end or several & {*numbers}:
                self._fixed.update(numbers)
                continue
            cable = self._numbers.setdefault(frozenset((end, far_end)), len(self._numbers))
            rows = [links[router, number] for router in numbers]
            ports = [self._port_behavior_number(one) for one in (end, far_end)]
            for near, far in ((0, 1), (1, 0)):
                self._add_session_cable(
                    numbers[near], numbers[far], cable, (rows[near], rows[far]), (ports[near], ports[far])
                )
        for wire in index.fabric.links:
            if frozenset((wire.a, wire.b)) not in self._numbers and {wire.a.node, wire.b.node} <= index.devices.keys():
                self._fixed |= by_name[wire.a.node] | by_name[wire.b.node]

    def _port_of_session_side(self, side: SessionSide) -> End | None:
        """Return the port of one end of a session; None where it has none, or several."""
        ports = side.leg.ports
        return End(self._forwarding.plane.routers[side.router].device.name, ports[0]) if len(ports) == 1 else None

    def _add_session_cable(
        self,
        near: int,
        far: int,
        cable: int,
        links: tuple[Sequence[tuple[AddressFamily, SpeakerLink]], Sequence[tuple[AddressFamily, SpeakerLink]]],
        ports: Hashable,
    ) -> None:
        """Take a cable as one of its routers has it; `links` are its sessions at both ends, by family."""
        both = [(family, own, other) for (family, own), (_, other) in zip(*links, strict=True)]
        policies = tuple(SessionPolicies.of(own, other) for _, own, other in both)
        facts = tuple((family, own.repeats, other.repeats) for family, own, other in both)
        kind = self._intern_kind_number(
            ("cable", ports, facts, tuple(map(self._policies.keys_ignoring_list_prefixes, policies)))
        )
        self._cables[near].append(_SessionCable(kind, far, cable, policies))

    def _port_behavior_number(self, end: End) -> Hashable:
        interface = self._forwarding.index.interface(*end)
        return None if interface is None else self._behaviors.number(interface.qos)

    def _find_destination_owners(self) -> tuple[Mapping[int, tuple[int, ...]], list[tuple[tuple[int, ...], ...]]]:
        """Return who has each destination; and for each router what it originates, by attributes, in order.

        Routers that originate what another one does too stay where they are.
        """
        forwarding, plane = self._forwarding, self._forwarding.plane
        owners: defaultdict[int, list[int]] = defaultdict(list)
        for number, bits in enumerate(forwarding.own):
            for place in bit_positions(bits):
                owners[place].append(number)
        parts: list[list[tuple[Hashable, int]]] = [[] for _ in self._cables]
        once = twice = 0
        for family, first in self._policies.first.items():
            for number, speaker in plane.of(family).world.speakers.items():
                for attributes, bits in speaker.local:
                    moved = bits << first
                    twice |= once & moved
                    once |= moved
                    parts[number].append(((family, attributes), moved))
        slots: list[tuple[tuple[int, ...], ...]] = []
        self._originated: list[Hashable] = []
        for number, rows in enumerate(parts):
            every = 0
            for _, bits in rows:
                every |= bits
            if every & twice or every.bit_count() < sum(bits.bit_count() for _, bits in rows):
                self._fixed.add(number)
            found = []
            for _, bits in sorted(rows, key=lambda row: repr(row[0])):
                places = bit_positions(bits)
                found.append(
                    tuple(
                        sorted(
                            places, key=lambda place: (self._policies.distinguishing_key_of_destination(place), place)
                        )
                    )
                )
            slots.append(tuple(found))
            self._originated.append(tuple(sorted((repr(key), bits.bit_count()) for key, bits in rows)))
        return {place: tuple(numbers) for place, numbers in owners.items()}, slots

    def _initial_color_of_router(self, number: int) -> int:
        if number in self._fixed:
            return self._intern_kind_number(("fixed", number))
        plane, traffic = self._forwarding.plane, self._traffic
        entered = traffic.entries.get(number)
        speakers: list[BgpSpeaker] = [
            world.speakers[number]
            for world in (plane.of(family).world for family in plane.families)
            if number in world.speakers
        ]
        behaviors = None if entered is None else frozenset(entered)
        drained = tuple(speaker.bgp.graceful_shutdown for speaker in speakers)
        own = self._forwarding.own[number].bit_count()
        return self._intern_kind_number(("router", behaviors, drained, own, self._originated[number], bool(speakers)))

    def _refine_router_colors(self, colors: list[int]) -> list[int]:
        """Return colors of routers that differ where neighborhoods do."""
        count = len(set(colors))
        for _ in range(MOST_ROUNDS):
            known: dict[Hashable, int] = {}
            colors = [
                known.setdefault(
                    (color, frozenset(Counter((cable.kind, colors[cable.far]) for cable in row).items())), len(known)
                )
                for color, row in zip(colors, self._cables, strict=True)
            ]
            if len(known) == count:
                break
            count = len(known)
        return colors

    def _join_parallel_cables(self) -> None:
        """Join cables between the same two routers that both treat the same way."""
        for number, row in enumerate(self._cables):
            same: dict[Hashable, int] = {}
            for cable in row:
                if number < cable.far:
                    key = (cable.far, cable.kind, cable.policies)
                    self._merge_classes(cable.number, same.setdefault(key, cable.number))

    def _join_cables_by_exchanges(self) -> None:
        """Try exchanges until cables with equal neighborhoods are joined, or are known to differ."""
        groups: defaultdict[Hashable, list[tuple[int, int, int]]] = defaultdict(list)
        for number, row in enumerate(self._cables):
            for cable in row:
                color, far_color = self.colors[number], self.colors[cable.far]
                if (color, number) < (far_color, cable.far):
                    groups[color, far_color, cable.kind].append((number, cable.far, cable.number))
        for cables in groups.values():
            firsts: list[tuple[int, int, int]] = []
            for near, far, number in cables:
                if self._work < 0:
                    return
                if any(
                    self._find_class_representative(first[2]) == self._find_class_representative(number)
                    for first in firsts
                ):
                    continue
                if any(self._try_exchange(first, (near, far, number)) for first in firsts):
                    continue
                if len(firsts) < MOST_FIRST:
                    firsts.append((near, far, number))

    def _try_exchange(self, cable: tuple[int, int, int], other_cable: tuple[int, int, int]) -> bool:
        """Whether an exchange takes a cable to another one; what it takes to one another is joined then."""
        exchange = self._complete_exchange(zip(cable[:2], other_cable[:2], strict=True))
        pairs = None if exchange is None else self._pair_cables(exchange)
        if exchange is None or pairs is None or not self._preserves_asns_destinations_and_policies(exchange, pairs):
            return False
        count = len(self._numbers)
        for one, other in exchange.items():
            self._merge_classes(count + one, count + other)
        for own, others in pairs:
            self._merge_classes(own.number, others.number)
        return self._find_class_representative(cable[2]) == self._find_class_representative(other_cable[2])

    def _complete_exchange(self, seeds: Iterable[tuple[int, int]]) -> dict[int, int] | None:
        """Return the exchange that follows from some pairs: neighbors that two do not share change places too."""
        exchange: dict[int, int] = {}
        waiting = [pair for pair in seeds if pair[0] != pair[1]]
        while waiting:
            one, other = waiting.pop()
            if exchange.get(one, other) != other or exchange.get(other, one) != one:
                return None
            if one in exchange:
                continue
            if self.colors[one] != self.colors[other] or {one, other} & self._fixed:
                return None
            exchange[one], exchange[other] = other, one
            self._work -= len(self._cables[one]) + len(self._cables[other])
            if self._work < 0:
                return None
            fars = [self._neighbors_by_kind(number) for number in (one, other)]
            for kind, near in fars[0].items():
                pairs = _match_neighbors(near, fars[1].get(kind, ()), exchange)
                if pairs is None:
                    return None
                waiting += pairs
        return exchange

    def _neighbors_by_kind(self, number: int) -> Mapping[Hashable, list[int]]:
        found: defaultdict[Hashable, list[int]] = defaultdict(list)
        for cable in self._cables[number]:
            found[cable.kind, self.colors[cable.far]].append(cable.far)
        return found

    def _pair_cables(self, exchange: Mapping[int, int]) -> list[tuple[_SessionCable, _SessionCable]] | None:
        """Return each cable of the exchanged routers with the one that takes its place; None if one has none."""
        pairs: list[tuple[_SessionCable, _SessionCable]] = []
        for one, other in exchange.items():
            there: defaultdict[tuple[int, int], list[_SessionCable]] = defaultdict(list)
            for cable in self._cables[other]:
                there[cable.kind, cable.far].append(cable)
            here: defaultdict[tuple[int, int], list[_SessionCable]] = defaultdict(list)
            for cable in self._cables[one]:
                here[cable.kind, exchange.get(cable.far, cable.far)].append(cable)
            if here.keys() != there.keys():
                return None
            for key, cables in here.items():
                if len(cables) != len(there[key]):
                    return None
                pairs += zip(cables, there[key], strict=True)
        self._work -= len(pairs)
        return pairs

    def _preserves_asns_destinations_and_policies(
        self, exchange: Mapping[int, int], pairs: Sequence[tuple[_SessionCable, _SessionCable]]
    ) -> bool:
        """Whether AS numbers, destinations and policies are the same after an exchange."""
        asns: dict[int, int] = {}
        moved = Counter(self._asns[one] for one in exchange)
        for one, other in exchange.items():
            if asns.setdefault(self._asns[one], self._asns[other]) != self._asns[other]:
                return False
        if any(asn != other and moved[asn] != self._holders[asn] for asn, other in asns.items()):
            return False
        places: dict[int, int] = {}
        for one, other in exchange.items():
            for own, others in zip(self._slots[one], self._slots[other], strict=True):
                if len(own) != len(others):
                    return False
                places.update(zip(own, others, strict=True))
        return self._preserves_destination_ends(exchange, places) and self._policies.are_policies_same_after_exchange(
            (CablePolicyExchange(one.policies, other.policies, one.far in exchange) for one, other in pairs), places
        )

    def _preserves_destination_ends(self, exchange: Mapping[int, int], places: Mapping[int, int]) -> bool:
        """Whether destinations of hosts stay such, and end where they did, after an exchange."""
        forwarding: Forwarding = self._forwarding
        moved = 0
        for place, other in places.items():
            moved |= 1 << place
            if (forwarding.every >> place ^ forwarding.every >> other) & 1:
                return False
            owners = {exchange.get(owner, owner) for owner in self._owners.get(place, ())}
            if owners != set(self._owners.get(other, ())):
                return False
        own = forwarding.own
        return all((own[one] ^ own[other]) & ~moved == 0 for one, other in exchange.items())


def _match_neighbors(
    near: Sequence[int], there: Sequence[int], exchange: Mapping[int, int]
) -> Iterable[tuple[int, int]] | None:
    """Return which neighbors have to change places, in order, but for shared ones; None if their numbers differ."""
    if len(near) != len(there):
        return None
    wanted = Counter(there)
    left = []
    for far in near:
        image = exchange.get(far)
        if image is not None:
            if not wanted[image]:
                return None
            wanted[image] -= 1
        else:
            left.append(far)
    apart = []
    for far in left:
        if wanted[far]:
            wanted[far] -= 1
        else:
            apart.append(far)
    return list(_pair_in_order_without_repeats(apart, list(wanted.elements())))


def _pair_in_order_without_repeats(one: Sequence[int], other: Sequence[int]) -> Iterator[tuple[int, int]]:
    yield from dict.fromkeys(zip(sorted(one), sorted(other), strict=True))
