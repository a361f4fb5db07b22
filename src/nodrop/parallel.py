"""Work spread over processes: the one module that knows executors.

Data that crosses between processes is pickled, so units of work are chosen whose names and answers take few bytes: an
intent and its faults, rather than the thousands of ports between the two.
"""

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import TypeVar

from nodrop.errors import ServiceUnavailable

_T = TypeVar("_T")
_R = TypeVar("_R")

MIN_DEVICES_FOR_PROCESSES = 100
"""Below this, starting processes takes longer than the work: half a second, against 10 ms for a device (measured)."""

_CGROUP_CPU_LIMIT_FILE = Path("/sys/fs/cgroup/cpu.max")
"""Where a container is told how much of the machine it has: microseconds of each period of microseconds, or `max`."""


def map_chunks(
    fn: Callable[[_T], _R], items: Sequence[_T], *, executor: Executor | None, chunk: int = 50
) -> Iterator[_R]:
    """Yield `fn` of every item in the order of the items, `chunk` items per task; without an executor, one by one.

    Any executor of `concurrent.futures` will do; `fn` is a module-level function, because processes find it by name. An
    exception of `fn` is raised here when its item's turn has come, and tasks not begun by then never run. Raises
    ServiceUnavailable where a process was ended from outside.
    """
    if executor is None:
        yield from map(fn, items)
        return
    futures: deque[Future[list[_R]]] = deque()
    try:
        futures.extend(
            executor.submit(_run_each_item, fn, items[at : at + chunk]) for at in range(0, len(items), chunk)
        )
        while futures:
            yield from futures.popleft().result()
    except BrokenExecutor as error:
        hint = "the system does so where memory runs out, and --jobs 1 needs least"
        raise ServiceUnavailable(f"a process that did part of the work was ended from outside ({hint})") from error
    finally:
        for future in futures:
            future.cancel()


def _run_each_item(fn: Callable[[_T], _R], items: Sequence[_T]) -> list[_R]:
    """Run one task; convert an exception that cannot be pickled into a RuntimeError with its traceback as text."""
    try:
        return [fn(item) for item in items]
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001 -- whatever an exception's own pickling does
            raise RuntimeError("".join(traceback.format_exception(error))) from None
        raise


@contextmanager
def process_pool_for_devices(
    devices: int, *, jobs: int | None = None, preload: Sequence[str] = (), begin: Callable[[], None] | None = None
) -> Iterator[Executor | None]:
    """Provide an executor of `jobs` processes, one per processor unless stated; None where that is of no use.

    `preload` names modules that every process will need, which are then loaded once for all; each process calls
    `start_worker`
    first. Processes end with the block, in the middle of their work if it ends by an exception, and with this process,
    however that ends.
    """
    workers = jobs or count_processors()
    if workers < 2 or devices < MIN_DEVICES_FOR_PROCESSES:
        yield None
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *preload])
    alive, connection = context.Pipe(duplex=False)
    with alive, connection:
        pool = _open_process_pool(workers, context, alive, begin)
        if pool is None:
            yield None
            return
        try:
            yield pool
        except BaseException:
            connection.close()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _open_process_pool(
    workers: int, context: ForkServerContext, alive: Connection, start_worker: Callable[[], None] | None
) -> ProcessPoolExecutor | None:
    """Return a pool whose processes begin with `_begin_worker_process`; None in a sandbox without shared semaphores."""
    try:
        return ProcessPoolExecutor(
            workers,
            mp_context=context,
            initializer=_begin_worker_process,
            initargs=(alive, _current_folder(), start_worker),
        )
    except (ImportError, NotImplementedError, OSError):
        return None


def _current_folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return None


def _begin_worker_process(alive: Connection, path: str | None, begin: Callable[[], None] | None) -> None:
    """Begin a process of a pool: it ends when the other end of `alive` does, and leaves Ctrl-C to its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, args=(alive,), daemon=True).start()
    if path is not None:
        os.chdir(path)
    if begin is not None:
        begin()


def _exit_with_parent(alive: Connection) -> None:
    try:
        alive.recv_bytes()
    except (EOFError, OSError):
        os._exit(1)


def count_processors() -> int:
    """Return how many processors this process may use."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = map(int, _CGROUP_CPU_LIMIT_FILE.read_text("ascii").split())
    except (OSError, ValueError):
        return count
    return min(count, max(1, -(-quota // period)))
