"""The processes of a command, the data that it keeps for the next command, and how it ends."""

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from typing import NoReturn

from nodrop import cache
from nodrop.cli.choices import CheckChoices
from nodrop.cli.main import relax_garbage_collection
from nodrop.cli.output import write_error_line
from nodrop.judging import CheckSettings
from nodrop.parallel import process_pool_for_devices

_PRELOADED_MODULES = (
    "nodrop.collect",
    "nodrop.design",
    "nodrop.fabric_readings",
    "nodrop.judging",
    "nodrop.engine.verdicts",
    "nodrop.locate",
)
"""What every process of a pool needs."""


@contextmanager
def open_executor(devices: int, jobs: int | None = None) -> Iterator[Executor | None]:
    """Give the executor that so many devices, and --jobs, ask for."""
    with process_pool_for_devices(
        devices, jobs=jobs, preload=_PRELOADED_MODULES, begin=relax_garbage_collection
    ) as executor:
        yield executor


@contextmanager
def open_result_cache(checked: Sequence[str], *, nothing: bool, verbose: bool = False) -> Iterator[cache.Store | None]:
    """Yield the store of earlier results, unless `nothing`; in the end, prune it.

    `checked` are the paths that the command reads. `verbose` reports why there is none.
    """
    store = None if nothing else cache.open_user_store(checked)
    if store is None and not nothing and verbose:
        write_error_line(cache.why_no_user_store(checked))
    yield store
    if store is not None:
        store.prune()


@contextmanager
def open_command_settings(choices: CheckChoices, checked: Sequence[str], *, no_cache: bool) -> Iterator[CheckSettings]:
    """Yield the settings of a command, with its store, and let its temporary files go away with it."""
    with handle_sigterm(), open_result_cache(checked, nothing=no_cache, verbose=choices.verbose) as store:
        yield replace(choices.settings, store=store)


@contextmanager
def handle_sigterm() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does: its temporary files are removed."""
    before = signal.signal(signal.SIGTERM, _raise_keyboard_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _raise_keyboard_interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt
