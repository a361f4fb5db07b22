"""The policies of a control plane under an exchange of routers: which become which, and whether that changes any.

A policy of an exchanged router becomes that of the router in its place. Both must be equal but for the prefixes in
their lists, and these must be those of the exchanged destinations.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self

from nodrop.model.addresses import ADDRESS_FAMILIES, AddressFamily
from nodrop.proofs.forwarding import Forwarding, bit_positions
from nodrop.routing.policy import CompiledPolicy
from nodrop.routing.speakers import SpeakerLink


class SessionPolicies(NamedTuple):
    """The policies of both ends of a session in one family, seen from one end."""

    own_inbound: CompiledPolicy
    own_outbound: CompiledPolicy
    far_inbound: CompiledPolicy
    far_outbound: CompiledPolicy

    @classmethod
    def of(cls, own: SpeakerLink, far: SpeakerLink) -> Self:
        """Return the policies of the two ends."""
        return cls(own.inbound, own.outbound, far.inbound, far.outbound)


class CablePolicyExchange(NamedTuple):
    """The policies of a cable, and of the one that takes its place in an exchange."""

    before: tuple[SessionPolicies, ...]
    after: tuple[SessionPolicies, ...]
    is_far_exchanged: bool
    """Whether the far router is exchanged too, which has its own row then."""


class _PolicyListEntry(NamedTuple):
    """That a list of a policy has a destination; or, if `inverted`, that it alone of most has it not."""

    policy: CompiledPolicy
    place: int
    inverted: bool


class PolicyUses:
    """The policies of all sessions, how often each is used, and which destinations are in their lists."""

    def __init__(self, forwarding: Forwarding) -> None:
        plane = forwarding.plane
        self.first: dict[AddressFamily, int] = {}
        """The number of the first destination of each family."""
        self._uses: Counter[CompiledPolicy] = Counter()
        self._every: dict[CompiledPolicy, tuple[int, int]] = {}
        self._outlines: dict[object, int] = {}
        self._outline_of: dict[CompiledPolicy, int] = {}
        self._entries: defaultdict[int, list[_PolicyListEntry]] = defaultdict(list)
        self._ranks: dict[int, tuple[object, ...]] = {}
        self._hosts = forwarding.every
        first = 0
        for family in ADDRESS_FAMILIES:
            world = plane.of(family).world
            self.first[family] = first
            for speaker in world.speakers.values():
                for link in speaker.links:
                    for policy in (link.inbound, link.outbound):
                        self._uses[policy] += 1
                        self._every[policy] = world.all_class_bits, first
            first += world.destinations.count
        for policy in self._uses:
            self._index_list_destinations(policy)

    def _index_list_destinations(self, policy: CompiledPolicy) -> None:
        """Note the destinations in the lists of a policy, or those that are not where these are fewer."""
        every, first = self._every[policy]
        shapes: list[object] = []
        for place, bits in enumerate(policy.destination_bits_of_lists):
            inside = every if bits is None else bits & every
            inverted = 2 * inside.bit_count() > every.bit_count()
            few = every ^ inside if inverted else inside
            shapes.append((inverted, few.bit_count()))
            for position in bit_positions(few):
                self._entries[first + position].append(_PolicyListEntry(policy, place, inverted))
        key = policy.policy_without_prefixes, tuple(shapes)
        self._outline_of[policy] = self._outlines.setdefault(key, len(self._outlines))

    def keys_ignoring_list_prefixes(self, policies: SessionPolicies) -> tuple[int, ...]:
        """Return numbers that are equal for policies that are, but for the prefixes of their lists."""
        return tuple(self._outline_of[policy] for policy in policies)

    def distinguishing_key_of_destination(self, place: int) -> tuple[object, ...]:
        """Return what distinguishes the destinations of one router: their hosts, and the lists that contain them."""
        if place not in self._ranks:
            entries = sorted((self._outline_of[one.policy], one.place, one.inverted) for one in self._entries[place])
            self._ranks[place] = (self._hosts >> place & 1, tuple(entries))
        return self._ranks[place]

    def are_policies_same_after_exchange(
        self, changes: Iterable[CablePolicyExchange], places: Mapping[int, int]
    ) -> bool:
        """Whether all policies are the same after an exchange of sessions and, by `places`, of destinations."""
        becomes: dict[CompiledPolicy, CompiledPolicy] = {}
        seen: Counter[CompiledPolicy] = Counter()
        for before, after, is_far_exchanged in changes:
            for olds, news in zip(before, after, strict=True):
                for old, new in zip(olds, news, strict=True):
                    if becomes.setdefault(old, new) is not new:
                        return False
                counted = olds[:2] if is_far_exchanged else olds
                for policy in counted:
                    seen[policy] += 1
        moved = 0
        for place in places:
            moved |= 1 << place
        for old, new in becomes.items():
            if old is not new and not (
                seen[old] == self._uses[old] and self._is_equal_but_for_exchanged(old, new, moved)
            ):
                return False
        for place, other in places.items():
            entries = {one._replace(policy=becomes.get(one.policy, one.policy)) for one in self._entries[place]}
            if entries != set(self._entries[other]):
                return False
        return True

    def _is_equal_but_for_exchanged(self, old: CompiledPolicy, new: CompiledPolicy, moved: int) -> bool:
        """Whether the lists of two policies have the same destinations, but for those that are exchanged."""
        every, first = self._every[old]
        compared = every & ~(moved >> first)
        return not any(
            (every if one is None else one) & compared != (every if other is None else other) & compared
            for one, other in zip(old.destination_bits_of_lists, new.destination_bits_of_lists, strict=True)
        )
