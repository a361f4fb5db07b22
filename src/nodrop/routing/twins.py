"""Routers that can change places: a failure at one has the same effect at the other, with the two names exchanged.

Two routers are twins if exchanging them, and the routes that they originate, maps the sessions, policies and AS numbers
of a world onto themselves. It is enough that they hear the same neighbors over links in one order and treat them alike,
that the neighbors treat them alike, that both announce the same onward, or only routes that they originate, and that no
policy of others distinguishes their destinations.
"""

from collections import Counter
from collections.abc import Mapping

from nodrop.routing.adverts import destinations_of_parts
from nodrop.routing.policy import CompiledPolicy
from nodrop.routing.speakers import BgpSpeaker, FamilySpeakers
from nodrop.routing.tiers import tier_of_device


class InterchangeableRouters:
    """The twins of a world: of each router in `like` the first of those that it can change places with."""

    def __init__(self, world: FamilySpeakers, bound: frozenset[int]) -> None:
        """Find them; what routers in `bound` originate depends on their ports, and they are nobody's twins."""
        self._world = world
        self._own = {number: destinations_of_parts(speaker.local) for number, speaker in world.speakers.items()}
        self._several = self._anycast_destinations()
        self._holders = Counter(speaker.bgp.asn for speaker in world.speakers.values())
        self._alone: dict[tuple[int, int], bool] = {}
        self._policies = self._shared_policies()
        number_by_key: dict[object, int] = {}
        self.like: Mapping[int, int] = {
            number: number if number in bound else number_by_key.setdefault(self._twin_key(number, speaker), number)
            for number, speaker in sorted(world.speakers.items())
        }

    def representative_session(self, number: int, position: int) -> int:
        """Return the session that stands for the one at a router's position, and for all that fail alike."""
        speakers = self._world.speakers
        link = speakers[self.like[number]].links[position]
        return speakers[self.like[link.far]].links[link.far_position].session

    def _anycast_destinations(self) -> int:
        """Return the destinations that several routers originate."""
        once = twice = 0
        for own_bits in self._own.values():
            twice |= once & own_bits
            once |= own_bits
        return twice

    def _permits_only_own_routes(self, policy: CompiledPolicy, number: int) -> bool:
        """Whether a policy denies all that a router does not originate itself."""
        key = (policy.number, number)
        if key not in self._alone:
            self._alone[key] = policy.matched_destinations & ~self._own[number] == 0
        return self._alone[key]

    def _shared_policies(self) -> tuple[CompiledPolicy, ...]:
        """Return the policies that are about more than one router's originated routes, or that several routers have."""
        having: dict[int, set[int]] = {}
        policies: dict[int, CompiledPolicy] = {}
        for number, speaker in self._world.speakers.items():
            for policy in {link_policy for link in speaker.links for link_policy in (link.inbound, link.outbound)}:
                policies[policy.number] = policy
                having.setdefault(policy.number, set()).add(number)
        return tuple(
            policy
            for number, policy in policies.items()
            if len(having[number]) > 1 or not self._permits_only_own_routes(policy, next(iter(having[number])))
        )

    def _twin_key(self, number: int, speaker: BgpSpeaker) -> object:
        """Return the key that a router shares with its twins alone; itself where it cannot have any."""
        own_bits, asn = self._own[number], speaker.bgp.asn
        silent = own_bits == speaker.unnamed and all(
            self._permits_only_own_routes(link.outbound, number) for link in speaker.links
        )
        if own_bits & self._several or (self._holders[asn] == 1 and not silent):
            return number
        classes = _split_bits(own_bits)
        links = []
        for link in speaker.links:
            back, out = self._world.speakers[link.far].links[link.far_position], link.outbound
            export_key: object = out.number
            if self._permits_only_own_routes(out, number):
                export_key = (
                    out.policy_without_prefixes,
                    tuple(out.list_membership(traffic_class) for traffic_class in classes),
                )
            links.append((link.far, back.inbound.number, back.outbound.number, back.repeats, export_key))
        return (
            speaker.shape,
            speaker.bgp.graceful_shutdown,
            None if silent else asn,
            tier_of_device(speaker.router.device),
            tuple(links),
            tuple(
                (
                    attributes,
                    tuple(
                        tuple(policy.list_membership(traffic_class) for policy in self._policies)
                        for traffic_class in _split_bits(bits)
                    ),
                )
                for attributes, bits in speaker.local
            ),
        )


def _split_bits(destination_bits: int) -> tuple[int, ...]:
    """Return the classes of a set, each as a separate set."""
    classes = []
    while destination_bits:
        low = destination_bits & -destination_bits
        classes.append(low)
        destination_bits ^= low
    return tuple(classes)
