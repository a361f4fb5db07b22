"""Equal paths of which policies prefer some, so that the others carry nothing.

What a drained switch asks of its neighbors is no fault, and neither is a longer way around something that is down.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from nodrop.analyses import Hit
from nodrop.analyses._drops import Reach, reaches
from nodrop.model.index import Index
from nodrop.model.subject import Subject
from nodrop.routing.adverts import DEFAULT_PREFERENCE, Attributes
from nodrop.routing.policy import GRACEFUL_SHUTDOWN
from nodrop.routing.prefixes import Prefix
from nodrop.routing.words import of_family

RESTS_ON = frozenset({"cables", "roles"})
ROUTED = True


class _Offer(NamedTuple):
    """What one link offers: destinations, with the attributes as they were told and as they were taken."""

    told: Attributes
    taken: Attributes
    bits: int


def find(index: Index) -> Iterator[Hit]:
    """Yield the policies that prefer some of equal paths, once each, with the example that has the most."""
    found: dict[Subject, tuple[int, Hit]] = {}
    for reach in reaches(index):
        taken = _Taken(reach)
        for number, speaker in reach.world.speakers.items():
            bent = 0
            for position in range(len(speaker.links)):
                bent |= taken.bent(number, position)
            if not speaker.bgp.graceful_shutdown and (bent := bent & reach.wanted & ~reach.own(number)):
                for paths, hit in _hits(reach, taken, number, bent):
                    if hit.subject not in found or found[hit.subject][0] < paths:
                        found[hit.subject] = paths, hit
    yield from (hit for _, hit in found.values())


class _Taken:
    """What is made of what is told on each link; the same words about the same advert are looked at once."""

    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        self._known: dict[tuple[int, int], tuple[list[_Offer], int]] = {}

    def bent(self, number: int, position: int) -> int:
        """The destinations of which a policy has changed how good they are."""
        bits = 0
        for _, bent in self._of(number, position):
            bits |= bent
        return bits

    def offers(self, number: int, position: int) -> Iterator[_Offer]:
        """Yield what a link offers."""
        for offers, _ in self._of(number, position):
            yield from offers

    def _of(self, number: int, position: int) -> Iterator[tuple[list[_Offer], int]]:
        speaker = self._reach.world.speakers[number]
        link = speaker.links[position]
        for advert in self._reach.state.tells(*speaker.hears[position]):
            key = (advert.number, link.inbound.number)
            if key not in self._known:
                offers = [
                    _Offer(part.attributes, taken, bits)
                    for part in advert.parts
                    for taken, bits in link.inbound.parts((part,), part.bits)
                ]
                bits = 0
                for one in offers:
                    bits |= one.bits if _is_bent(one.taken) else 0
                self._known[key] = offers, bits
            yield self._known[key]


def _is_bent(one: Attributes) -> bool:
    given = one.weight or one.med is not None or one.preference != DEFAULT_PREFERENCE
    return bool(given) or _plain(one) != len(one.path)


def _plain(one: Attributes) -> int:
    """The length of a path without repeated numbers."""
    return sum(1 for _ in groupby(one.path))


def _hits(reach: Reach, taken: _Taken, number: int, bent: int) -> Iterator[tuple[int, Hit]]:
    links = reach.world.speakers[number].links
    for entry in reach.state.table(number).entries:
        bits = entry.bits & bent
        if not bits or not entry.hops:
            continue
        used = next((one for one in taken.offers(number, entry.hops[0]) if one.bits & bits), None)
        found: list[tuple[_Cause, int, int]] = []
        for position, link in enumerate(links):
            if position in entry.hops or used is None or reach.world.speakers[link.far].bgp.graceful_shutdown:
                continue
            proper = bits & reach.should(link.far, number, 0)
            for one in taken.offers(number, position) if proper else ():
                cause = _cause(used, one) if one.bits & proper else None
                if cause is not None:
                    found.append((cause, entry.hops[0] if cause.used else position, one.bits & proper))
                    break
        for cause, position, left in found:
            paths = len(entry.hops) + len(found)
            yield paths, _hit(reach, number, cause, position, reach.prefixes(left)[0], (len(entry.hops), paths))


class _Cause(NamedTuple):
    """By what one path is better than another, and whether the import of the `used` one says so or the other's."""

    what: str
    used: bool
    inbound: bool


def _cause(used: _Offer, other: _Offer) -> _Cause | None:
    """Return why one offer is used and the other not, though its path is no longer; None where no policy is why."""
    a, b = used.taken, other.taken
    if GRACEFUL_SHUTDOWN in other.told.communities or _plain(b) > _plain(a):
        return None
    if a.weight != b.weight:
        return _Cause(f"weight {a.weight} against {b.weight}", a.weight != 0, inbound=True)
    if a.preference != b.preference:
        what = f"local preference {a.preference} against {b.preference}"
        return _Cause(what, a.preference != DEFAULT_PREFERENCE, inbound=True)
    if len(a.path) != len(b.path):
        what = f"a path of {len(a.path)} AS numbers against {len(b.path)}"
        return _Cause(what, used=False, inbound=len(b.path) > len(other.told.path))
    if (a.med or 0) != (b.med or 0):
        return _Cause(f"MED {a.med or 0} against {b.med or 0}", used=False, inbound=b.med != other.told.med)
    return None


def _hit(reach: Reach, number: int, cause: _Cause, position: int, example: Prefix, paths: tuple[int, int]) -> Hit:
    plane = reach.plane
    link = reach.world.speakers[number].links[position]
    own = number if cause.inbound else link.far
    side = plane.side(own, link.session)
    said = of_family(side.neighbor, reach.routes.family)
    policy = said.import_policy if cause.inbound else said.export_policy
    router = plane.routers[own]
    subject = (*router.subject, "route_maps", policy or "")
    return Hit(
        subject=subject,
        facts={
            "device": router.name,
            "policy": policy or "",
            "chooser": plane.routers[number].name,
            "what": cause.what,
            "used": paths[0],
            "paths": paths[1],
            "prefix": str(example),
        },
        related=((router.at(side.neighbor), "a session that it is for"),),
        discriminator="import" if cause.inbound else "export",
    )
