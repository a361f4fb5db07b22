"""Times of the processor, held to limits that mean the same on a machine that does other work."""

import gc
import time
from collections.abc import Callable
from functools import partial

_REFERENCE_S = 0.20
"""How long `_work` takes on an idle core of 2.6 GHz (AMD EPYC) with Python 3.11."""
_TRIES = 3


def _work() -> int:
    lines = {f"line {number}": str(number).split("1") for number in range(150_000)}
    return sum(len(parts) for _, parts in sorted(lines.items()))


def slowness() -> float:
    """Return how many times longer a fixed piece of work takes here and now than on an idle machine, at least 1."""
    return max(1.0, processor_seconds(_work) / _REFERENCE_S)


def processor_seconds(run: Callable[[], object]) -> float:
    """Return the seconds of processor time that a call takes in this process.

    The garbage collector leaves out what earlier tests left behind, now and later: a pass over it takes seconds.
    """
    gc.freeze()
    begun = time.process_time()
    run()
    return time.process_time() - begun


def faster_growth(run: Callable[[int], object], counts: tuple[int, int]) -> str:
    """Say how the time of a call grew faster than the number it is given, or return an empty text.

    Each number is tried up to three times and its least time counts, since other work of the machine only adds.
    """
    fewer, more = counts
    taken: dict[int, float] = {}
    for _ in range(_TRIES):
        for count in counts:
            seconds = processor_seconds(partial(run, count))
            taken[count] = min(seconds, taken.get(count, seconds))
        if taken[more] < more / fewer * taken[fewer] + 2:
            return ""
    return f"{fewer}: {taken[fewer]:.2f} s, {more}: {taken[more]:.2f} s"
