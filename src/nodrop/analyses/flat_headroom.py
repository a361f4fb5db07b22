"""Headroom that does not grow with the cable: short and long cables of one speed on one switch have the same.

The table of a switch's SKU may be so, or the profiles that somebody wrote. It may be a worst case for all lengths or a
copy of one row: no file shows which, and a hit is therefore no more than possible.
"""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit
from nodrop.analyses._headroom_points import HeadroomPoint, adds_notable_headroom, headroom_points_by_speed
from nodrop.model.index import Index

READS_NEARBY_FACTS = True

RESTS_ON: frozenset[str] = frozenset()


def find(index: Index) -> Iterator[AnalysisHit]:
    """Yield the switches whose headroom is the same for different lengths, once for each speed."""
    for device in index.fabric.devices:
        for speed, points in sorted(headroom_points_by_speed(device).items()):
            (short, least, _), (long, most, place) = (
                min(points, default=_NO_HEADROOM_POINT),
                max(points, default=_NO_HEADROOM_POINT),
            )
            if least == most and adds_notable_headroom(short, long, speed, most):
                yield AnalysisHit(
                    subject=(device.name,),
                    at=place,
                    facts={"device": device.name, "speed": speed, "short": short, "long": long, "xoff": most},
                    discriminator=str(speed),
                )


_NO_HEADROOM_POINT: HeadroomPoint = (0, 0, ())
