"""Routers that can change places: with any two of a class exchanged, a fabric is the same but for names.

Two routers are of one class if their cables lead to the same neighbors, over ports that are alike, and if their
exchange (of the destinations that end at each, and of their cables, one by one) leaves the forwarding of every router
as it is. All that follows from forwarding and ports is then the same for all routers of a class. Classes begin with
equal neighbors and are split until all exchanges hold; facts are compared, not hashes of them. Routers whose cables
have no certain order stay apart.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from nodrop.model.fabric import End
from nodrop.proofs.forwarding import Forwarding, ForwardingRow, unite_bits
from nodrop.proofs.traffic import TrafficAtRouters

MAX_REFINEMENT_ROUNDS = 20
"""How often classes are split at most; where that is not enough, each router is a class."""


class _CableOfRouter(NamedTuple):
    """A cable as one of its routers has it: the neighbor, its own port and that of the neighbor, and both channels."""

    far: int
    port: str
    far_port: str
    out: int | None
    back: int | None


class _CablePositions(NamedTuple):
    """The places of a channel's cable among those of its two routers."""

    near: int
    far: int


class EquivalentRouterClasses:
    """The classes of a fabric's routers: `kind_of` each router the number of its class, which has `members`.

    Ports for which `port_key` is different are not alike, nor are routers for which `router_key` is.
    """

    def __init__(
        self, traffic: TrafficAtRouters, port_key: Callable[[End], Hashable], router_key: Callable[[int], Hashable]
    ) -> None:
        """Find the classes of the routers of some traffic."""
        self._traffic, self._forwarding = traffic, traffic.forwarding
        once = self._shared = 0
        for bits in self._forwarding.own:
            self._shared |= once & bits
            once |= bits
        self._private = [tuple(_positions_of_few_bits(bits & ~self._shared)) for bits in self._forwarding.own]
        self.parallel: dict[int, int] = {}
        """The place of each channel among those that join the same two routers."""
        self._places: dict[int, _CablePositions] = {}
        self._cables = [self._cables_of(number, found) for number, found in enumerate(self._pair_channels_by_cable())]
        alone = self._number_cables_and_find_ambiguous()
        self.kind_of = _number_keys_by_equality(
            number if number in alone else (router_key(number), *self._initial_class_key_parts(number, port_key))
            for number in range(len(self._cables))
        )
        self._split_classes_until_stable()
        self.members: Mapping[int, tuple[int, ...]] = _members_by_class(self.kind_of)

    def channel_after_router_exchange(self, channel: int, router: int, other: int) -> int:
        """Return the channel that is in the place of another one if two routers of a class are exchanged."""
        near, _, far, _ = self._forwarding.channels[channel]
        exchange = {router: other, other: router} if router != other else {}
        if near in exchange:
            found = self._cables[exchange[near]][self._places[channel].near].out
        elif far in exchange:
            found = self._cables[exchange[far]][self._places[channel].far].back
        else:
            return channel
        assert found is not None, "routers of a class have the same channels"
        return found

    def _pair_channels_by_cable(self) -> list[dict[tuple[str, int, str], list[int | None]]]:
        """Return for each router its cables, each by both ports and the neighbor, with its channels out and back."""
        found: list[dict[tuple[str, int, str], list[int | None]]] = [{} for _ in self._forwarding.rows]
        for channel, (near, port, far, far_port) in enumerate(self._forwarding.channels):
            found[near].setdefault((port, far, far_port), [None, None])[0] = channel
            found[far].setdefault((far_port, near, port), [None, None])[1] = channel
        return found

    def _cables_of(
        self, number: int, found: Mapping[tuple[str, int, str], Sequence[int | None]]
    ) -> list[_CableOfRouter]:
        """Return the cables of a router in order: by neighbor, and then by port as the switch lists them."""
        ports = self._forwarding.plane.routers[number].device.interfaces
        order = {port.name: place for place, port in enumerate(ports)} if len(found) > 1 else {}
        cables = [_CableOfRouter(far, port, far_port, *channels) for (port, far, far_port), channels in found.items()]
        return sorted(cables, key=lambda cable: (cable.far, order.get(cable.port, -1), cable.port, cable.far_port))

    def _number_cables_and_find_ambiguous(self) -> set[int]:
        """Count cables in order; return routers at a port with several cables, or with parallel ones in two orders."""
        alone: set[int] = set()
        near: dict[int, int] = {}
        far: dict[int, int] = {}
        for number, row in enumerate(self._cables):
            count: Counter[int] = Counter()
            several = {port for port, times in Counter(cable.port for cable in row).items() if times > 1}
            for place, cable in enumerate(row):
                if cable.port in several:
                    alone |= {number, cable.far}
                for channel, places in ((cable.out, near), (cable.back, far)):
                    if channel is not None:
                        places[channel] = place
                        if self.parallel.setdefault(channel, count[cable.far]) != count[cable.far]:
                            alone |= {number, cable.far}
                count[cable.far] += 1
        self._places = {channel: _CablePositions(near[channel], far[channel]) for channel in near}
        return alone

    def _initial_class_key_parts(self, number: int, port_key: Callable[[End], Hashable]) -> Iterator[Hashable]:
        """Yield all that routers of a class have in common but for their forwarding."""
        traffic, routers = self._traffic, self._forwarding.plane.routers
        entered = traffic.entries.get(number)
        yield None if entered is None else frozenset(entered)
        yield self._forwarding.own[number] & self._shared
        yield len(self._private[number])
        for cable in self._cables[number]:
            yield cable.far
            for channel in (cable.out, cable.back):
                yield None if channel is None else (traffic.left[channel], traffic.entered[channel])
            yield port_key(End(routers[number].device.name, cable.port))
            yield port_key(End(routers[cable.far].device.name, cable.far_port))

    def _split_classes_until_stable(self) -> None:
        """Split classes until no exchange within one changes the forwarding of any router."""
        for _ in range(MAX_REFINEMENT_ROUNDS):
            several = {kind: numbers for kind, numbers in _members_by_class(self.kind_of).items() if len(numbers) > 1}
            keys = _MemberDifferences(self._forwarding, self.kind_of, several, self._private, self._places).keys
            split = _number_keys_by_equality(
                (kind, frozenset(keys[number].items()) if kind in several else None)
                for number, kind in enumerate(self.kind_of)
            )
            if max(split, default=0) == max(self.kind_of, default=0):
                return
            self.kind_of = split
        self.kind_of = list(range(len(self.kind_of)))


class _RowPattern(NamedTuple):
    """What a row has of one router: slots in which it is not as the others, and the places of its cables."""

    slots: tuple[int, ...]
    cables: tuple[int, ...]


class _MemberDifferences:
    """How routers treat single members of classes: `keys` are equal for those whose exchange changes no router.

    A slot is the first destination that ends at each member of a class, or the second of each, and so on. Of a row only
    the bits that differ between members count. A row that is an exception for one member needs one for each other; a
    row that is one for several sets these apart.
    """

    def __init__(
        self,
        forwarding: Forwarding,
        kind_of: Sequence[int],
        several: Mapping[int, Sequence[int]],
        private: Sequence[Sequence[int]],
        places: Mapping[int, "_CablePositions"],
    ) -> None:
        """Compare the rows of all routers for the members of classes with `several`."""
        self._forwarding, self._kind_of, self._several, self._places = forwarding, kind_of, several, places
        self._slots: list[int] = []
        self._slots_of: dict[int, range] = {}
        self._slot_at: dict[int, int] = {}
        self._router_at: dict[int, int] = {}
        for kind, numbers in several.items():
            begin = len(self._slots)
            self._slots_of[kind] = range(begin, begin + len(private[numbers[0]]))
            self._slots += [0] * len(private[numbers[0]])
            for number in numbers:
                for slot, place in zip(self._slots_of[kind], private[number], strict=True):
                    self._slots[slot] |= 1 << place
                    self._slot_at[place], self._router_at[place] = slot, number
        self._inside = {kind: unite_bits(self._slots[slot] for slot in slots) for kind, slots in self._slots_of.items()}
        self._all_inside = unite_bits(self._inside.values())
        self._known_partial: dict[int, tuple[int, ...]] = {}
        self.keys: defaultdict[int, Counter[Hashable]] = defaultdict(Counter)
        for number, rows in enumerate(forwarding.rows):
            if kind_of[number] in several:
                self.keys[number][self._member_rows_key(number, rows)] += 1
            for place, row in enumerate(rows):
                self._note_exceptions_of_row(number, place, row)

    def _member_rows_key(self, number: int, rows: Sequence[ForwardingRow]) -> Hashable:
        """Return the rows of a member as those of all others must be; its number where they differ between others."""
        own = self._forwarding.own[number]
        found: Counter[Hashable] = Counter()
        for row in rows:
            bits = row.bits & ~own
            for slot in self._slots_of[self._kind_of[number]]:
                inside = self._slots[slot]
                if bits & inside == inside & ~own:
                    bits |= inside
                elif bits & inside:
                    return number
            found[bits, tuple(sorted(self._places[channel].near for channel in row.channels))] += 1
        return frozenset(found.items())

    def _partial_slots(self, bits: int) -> tuple[int, ...]:
        """Return the slots that some bits belong to."""
        if bits not in self._known_partial:
            partial, rest = [], bits & self._all_inside
            while rest:
                slot = self._slot_at[(rest & -rest).bit_length() - 1]
                if rest & self._slots[slot] != self._slots[slot]:
                    partial.append(slot)
                rest &= ~self._slots[slot]
            self._known_partial[bits] = tuple(partial)
        return self._known_partial[bits]

    def _note_exceptions_of_row(self, number: int, place: int, row: ForwardingRow) -> None:
        """Note for whom a row of a router is an exception."""
        own, itself = self._forwarding.own[number], self._kind_of[number]
        bits = row.bits & ~own
        slots: defaultdict[int, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        mostly: set[int] = set()
        for slot in self._partial_slots(row.bits | own):
            inside = bits & self._slots[slot]
            if 2 * inside.bit_count() > self._slots[slot].bit_count():
                inside ^= self._slots[slot]
                mostly.add(slot)
            for position in _positions_of_few_bits(inside):
                router = self._router_at[position]
                if self._kind_of[router] != itself:
                    slots[self._kind_of[router]][router].append(slot)
        cables, usual = self._exceptions_and_most_common_places(row)
        for kind in slots.keys() | cables.keys():
            exceptions = slots.get(kind, {}).keys() | cables.get(kind, {}).keys()
            rest: Hashable = place
            if len(exceptions) == 1:
                status = tuple(
                    slot in mostly or bits & self._slots[slot] == self._slots[slot] for slot in self._slots_of[kind]
                )
                others = tuple(
                    sorted(one for one in row.channels if self._kind_of[self._forwarding.channels[one].far] != kind)
                )
                rest = (bits & ~self._inside[kind], status, others, usual.get(kind, ()))
            for router in exceptions:
                pattern = _RowPattern(
                    tuple(slots[kind][router]) if kind in slots else (),
                    cables.get(kind, {}).get(router, usual.get(kind, ())),
                )
                self.keys[router][number, rest, pattern] += 1

    def _exceptions_and_most_common_places(
        self, row: ForwardingRow
    ) -> tuple[dict[int, dict[int, tuple[int, ...]]], dict[int, tuple[int, ...]]]:
        """Return by class the exceptions among a row's channels, each with its own places, and the usual places."""
        found: dict[int, dict[int, list[int]]] = {}
        for channel in row.channels:
            far = self._forwarding.channels[channel].far
            if (kind := self._kind_of[far]) in self._several:
                found.setdefault(kind, {}).setdefault(far, []).append(self._places[channel].far)
        exceptions, usual = {}, {}
        for kind, lists in found.items():
            ways = {router: tuple(sorted(places)) for router, places in lists.items()}
            way, count = Counter(ways.values()).most_common(1)[0]
            others = self._several[kind]
            usual[kind] = way if 2 * count > len(others) else ()
            different = {router: ways.get(router, ()) for router in (others if usual[kind] else ways)}
            exceptions[kind] = {router: way for router, way in different.items() if way != usual[kind]}
        return exceptions, usual


def _number_keys_by_equality(keys: Iterable[Hashable]) -> list[int]:
    """Return the same number for equal keys, from 0 on."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _members_by_class(kind_of: Sequence[int]) -> dict[int, tuple[int, ...]]:
    members: defaultdict[int, list[int]] = defaultdict(list)
    for number, kind in enumerate(kind_of):
        members[kind].append(number)
    return {kind: tuple(numbers) for kind, numbers in members.items()}


def _positions_of_few_bits(bits: int) -> Iterator[int]:
    """Yield the positions of the bits of a number with few, the lowest first."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
