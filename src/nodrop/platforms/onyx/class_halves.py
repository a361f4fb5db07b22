"""What to type on Onyx for a lossless class of which one half is set: PFC, or the buffer of a lossless pool."""

from collections.abc import Iterator, Set

from nodrop.model.change import CommandsForCase
from nodrop.model.reading import NO_REMEDY, Remedy
from nodrop.platforms.onyx.gathered import StatedNonRoutingSettings

_PRIORITY = "dcb priority-flow-control priority"
_TURN_ON = "dcb priority-flow-control enable force"


def remedies_for_halves(
    settings: StatedNonRoutingSettings, without_pfc: Set[int], without_buffer: Set[int]
) -> tuple[Remedy, Remedy]:
    """Return what to type for priorities without PFC, and for those without a lossless buffer.

    One of each is one class with a slip in a priority. The queue with ECN shows which is meant. If that is the one with
    PFC, the slip is in the pool, and how to take a priority from a pool is not known.
    """
    if len(without_pfc) == len(without_buffer) == 1:
        return (_remedy_for_slip(settings, *without_pfc, *without_buffer),) * 2
    turn_on = (*(() if settings.pfc else (_TURN_ON,)), *(f"{_PRIORITY} {number} enable" for number in without_pfc))
    return (
        _remedy_of_cases({"if the class is to be lossless": turn_on}),
        _remedy_of_cases(
            {
                "if the class is to be lossless": tuple(_pool_lines(settings, without_buffer)),
                "if the class is to be lossy": tuple(_lines_without_pfc(settings, without_buffer)),
            }
        ),
    )


def _remedy_of_cases(lines_by_case: dict[str, tuple[str, ...]]) -> Remedy:
    return Remedy(
        choices=tuple(
            CommandsForCase(condition=condition, language="onyx", lines=lines)
            for condition, lines in lines_by_case.items()
            if lines
        )
    )


def _remedy_for_slip(settings: StatedNonRoutingSettings, buffered: int, paused: int) -> Remedy:
    marked = {queue for qos in settings.qos.values() for queue, marking in qos.ecn.items() if marking is not None}
    if paused in marked and buffered not in marked:
        return NO_REMEDY
    lines = (f"{_PRIORITY} {buffered} enable", f"no {_PRIORITY} {paused} enable")
    is_shown = buffered in marked and paused not in marked
    return _remedy_of_cases({"" if is_shown else f"if the class of priority {buffered} is the lossless one": lines})


def _pool_lines(settings: StatedNonRoutingSettings, priorities: Set[int]) -> Iterator[str]:
    """Yield the lines that make the pools of priorities lossless, or put them into the lossless pool without any."""
    empty = [name for name, pool in settings.traffic_pools.items() if pool.lossless and not pool.priorities]
    for number in sorted(priorities):
        own = [name for name, pool in settings.traffic_pools.items() if number in pool.priorities]
        if own:
            yield f"traffic pool {own[0]} type lossless"
        elif len(empty) == 1:
            yield f"traffic pool {empty[0]} map switch-priority {number}"


def _lines_without_pfc(settings: StatedNonRoutingSettings, priorities: Set[int]) -> Iterator[str]:
    """Yield the lines that turn PFC off for priorities, where others keep it: ports without any need more changes."""
    if priorities < {number for number, on in settings.pfc_priorities.items() if on}:
        yield from (f"no {_PRIORITY} {number} enable" for number in sorted(priorities))
