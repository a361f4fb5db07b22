"""The processes that a command works in."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from nodrop import cache
from nodrop.cli.options import Choices
from nodrop.cli.output import calm_collector, tell
from nodrop.parallel import processes

_PRELOADED = ("nodrop.collect", "nodrop.design", "nodrop.judging", "nodrop.lint.engine", "nodrop.locate")
"""What every process of a pool needs."""


@contextmanager
def working(devices: int, choices: Choices) -> Iterator[Executor | None]:
    """Give the executor that so many devices, and --jobs, ask for."""
    with processes(devices, jobs=choices.jobs, preload=_PRELOADED, begin=calm_collector) as executor:
        yield executor


@contextmanager
def keeping(choices: Choices, *, nothing: bool) -> Iterator[cache.Store | None]:
    """Give the store of what was worked out before, unless it is to be `nothing`; in the end, make it small."""
    store = None if nothing else cache.opened()
    if store is None and not nothing and choices.verbose:
        tell(cache.why_not())
    yield store
    if store is not None:
        store.prune()
