"""Frozen configurations and recordings, made anew with a real service: what `make batfish-live RECORD=…` does."""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.validating.batfish import compare_builds, observe_in_batfish
from support.batfish_frozen import CASES, HERE, faults, faulty, freeze, read
from support.batfish_recordings import TEMPLATES, Stale, recorded, replayed

ANSWERS = HERE / "answers"
AGAINST = {"filter-against": "filter", "static-loop-against": "static-loop"}
"""Recordings of a sound build against one with a fault."""
REPAIRED = {"filter-repaired": "filter"}
"""The other way round."""


def record(service: str, *, everything: bool) -> list[str]:
    """Record what a service answers, where what is asked is not what was recorded; return the names of these.

    With `everything`, the frozen configurations are first built from the intents of today.
    """
    if everything:
        for path in (*ANSWERS.glob("*.json"), TEMPLATES):
            path.unlink(missing_ok=True)
        for name in CASES:
            freeze(name)
    ANSWERS.mkdir(exist_ok=True)
    made = []
    with TemporaryDirectory() as scratch:
        for name, converse in _conversations(service, Path(scratch)):
            path = ANSWERS / f"{name}.json"
            try:
                with replayed(path):
                    converse()
            except (FileNotFoundError, Stale):
                with recorded(path):
                    converse()
                made.append(name)
    return made


def _conversations(service: str, scratch: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what is asked of the service, by the name of its recording."""
    sound = {name: read(HERE / name) for name in CASES}
    broken = {fault.name: faulty(fault, scratch) for fault in faults()}
    for name, reading in (sound | broken).items():
        yield name, lambda reading=reading: _observe(reading, service)  # type: ignore[misc]
    build = sound["two-by-two"]
    pairs = {name: (build, broken[fault]) for name, fault in AGAINST.items()}
    pairs |= {name: (broken[fault], build) for name, fault in REPAIRED.items()}
    for name, (old, new) in pairs.items():
        yield name, lambda old=old, new=new: compare_builds(old, new, service)  # type: ignore[misc]


def _observe(reading: Reading, service: str) -> None:
    observe_in_batfish(reading, Index(reading.fabric), service)
