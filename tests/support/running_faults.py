"""The acceptance list of what runs and of routing: single faults and harmless changes, each put into a clean build."""

from functools import cache

from nodrop.model.reading import Reading
from support.single_faults import RELEASES, Fault, inject, read_faults, reading_of

LIST = "data/acceptance/running.yaml"


@cache
def cases() -> tuple[Fault, ...]:
    """Return every case of the list."""
    return tuple(Fault(row, platform, LIST) for row in read_faults(LIST) for platform in RELEASES if platform in row)


def read(case: Fault) -> Reading:
    """Return the reading of the build with the change of a case in it."""
    return reading_of(case, inject(case))
