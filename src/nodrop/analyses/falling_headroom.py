"""Headroom that falls with the cable: at one speed, each group on a shorter cable has more than any on a longer one.

One of the two is then wrong: the shorter cable takes memory for nothing, or the longer one drops.
"""

from collections.abc import Iterator
from itertools import pairwise

from nodrop.analyses import AnalysisHit, HitFact
from nodrop.analyses._headroom_points import NOTABLE_HEADROOM_SHARE, headroom_points_by_speed
from nodrop.model.index import Index

READS_NEARBY_FACTS = True

RESTS_ON: frozenset[str] = frozenset()


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the switches whose headroom falls from one cable length to the next longer one, once for each speed."""
    for device in index.fabric.devices:
        for speed, points in sorted(headroom_points_by_speed(device).items()):
            lengths = sorted({metres for metres, _, _ in points})
            for short, long in pairwise(lengths):
                least, _ = min((xoff, at) for metres, xoff, at in points if metres == short)
                most, at = max((xoff, at) for metres, xoff, at in points if metres == long)
                if least > most * (1 + NOTABLE_HEADROOM_SHARE):
                    facts: dict[str, HitFact] = {"device": device.name, "speed": speed, "short": short, "long": long}
                    yield AnalysisHit(
                        subject=(device.name,),
                        at=at,
                        facts={**facts, "xoff_short": least, "xoff_long": most},
                        discriminator=str(speed),
                    )
                    break
