"""The processes that a command works in."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from nodrop.cli.options import Choices
from nodrop.cli.output import calm_collector
from nodrop.parallel import processes

_PRELOADED = ("nodrop.collect", "nodrop.design", "nodrop.judging", "nodrop.lint.engine", "nodrop.locate")
"""What every process of a pool needs."""


@contextmanager
def working(devices: int, choices: Choices) -> Iterator[Executor | None]:
    """Give the executor that so many devices, and --jobs, ask for."""
    with processes(devices, jobs=choices.jobs, preload=_PRELOADED, begin=calm_collector) as executor:
        yield executor
