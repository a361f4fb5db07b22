"""What to type on Onyx for a lossless class of which one half is set: PFC, or the buffer of a lossless pool.

Source: NVIDIA Onyx User Manual 3.10.4606 LTS, Shared Buffer Commands (`map switch-priority` and its `no` form).
"""

from collections.abc import Iterator, Set

from nodrop.model.change import CommandsForCase
from nodrop.model.reading import Remedy
from nodrop.platforms.onyx.gathered import StatedNonRoutingSettings

_PRIORITY = "dcb priority-flow-control priority"
_TURN_ON = "dcb priority-flow-control enable force"


def remedies_for_halves(
    settings: StatedNonRoutingSettings, without_pfc: Set[int], without_buffer: Set[int]
) -> tuple[Remedy, Remedy]:
    """Return what to type for priorities without PFC, and for those without a lossless buffer.

    One of each is one class with a slip in a priority. The queue with ECN shows which is meant, and so whether the slip
    is in PFC or in the map of the pool; else that is for the owner to say.
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
    lines_by_priority = {
        buffered: (f"{_PRIORITY} {buffered} enable", f"no {_PRIORITY} {paused} enable"),
        paused: tuple(_lines_moving_pool(settings, buffered, paused)),
    }
    if len(meant := marked & {buffered, paused}) == 1:
        return _remedy_of_cases({"": lines_by_priority[meant.pop()]})
    return _remedy_of_cases(
        {f"if the class of priority {number} is the lossless one": lines for number, lines in lines_by_priority.items()}
    )


def _lines_moving_pool(settings: StatedNonRoutingSettings, old: int, new: int) -> Iterator[str]:
    """Yield the lines that make the lossless pool of one priority that of another, which no other pool keeps."""
    pools = settings.traffic_pools
    lossless = [name for name, pool in pools.items() if pool.lossless and old in pool.priorities]
    if len(lossless) == 1:
        keeping = [name for name, pool in pools.items() if new in pool.priorities]
        yield from (f"no traffic pool {name} map switch-priority {new}" for name in keeping)
        yield f"traffic pool {lossless[0]} map switch-priority {new}"
        yield f"no traffic pool {lossless[0]} map switch-priority {old}"


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
