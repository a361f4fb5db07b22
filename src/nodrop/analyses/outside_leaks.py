"""Prefixes that switches announce to neighbors outside the fabric, and that these must not receive."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._drops import RoutePropagation, bits_of_adverts, route_propagations_of
from nodrop.analyses._naming import names_left_out
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.routing.speakers import BgpSpeaker
from nodrop.routing.stand_ins import receives_prefix

RESTS_ON = frozenset({"cables"})
NEEDS_ROUTING = True


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the sessions over which more is announced than a neighbor outside may receive, by its statement."""
    stated = {row.name for row in index.fabric.external if not isinstance(row.receives, Unknown)}
    for reach in route_propagations_of(index):
        for speaker in reach.world.speakers.values():
            if speaker.router.is_stand_in and speaker.router.device.name in stated:
                yield from _leak_hits(reach, speaker)


def _leak_hits(reach: RoutePropagation, speaker: BgpSpeaker) -> Iterator[AnalysisHit]:
    fabric, name, destinations = reach.plane.index.fabric, speaker.router.device.name, reach.world.destinations
    barred = destinations.class_bits_of_prefixes(
        prefix for prefix in destinations.prefixes if not receives_prefix(fabric, name, prefix)
    )
    for link, whom in zip(speaker.links, speaker.hears, strict=True):
        sent = reach.prefixes(bits_of_adverts(reach.state.sent_adverts(*whom)) & barred)
        leaked = [prefix for prefix in sent if not receives_prefix(fabric, name, prefix)]
        if not leaked:
            continue
        router, neighbor = reach.plane.routers[link.far], reach.plane.side(link.far, link.session).neighbor
        yield AnalysisHit(
            subject=router.subject_of_neighbor(neighbor),
            facts={
                "device": router.name,
                "neighbor": neighbor.key,
                "outside": name,
                "prefix": str(leaked[0]) + (f" and {len(leaked) - 1} more" if len(leaked) > 1 else ""),
            },
            discriminator=reach.routes.family,
            left_out=names_left_out(leaked),
        )
