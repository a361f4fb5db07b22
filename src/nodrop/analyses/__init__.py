"""Graph and arithmetic that a one-line expression cannot hold: what is wrong between parts of a fabric.

An analysis is a module here with a function of this shape, found by its name; a rule names it (`analysis: module`),
gives it arguments (`with:`), and has the words.

    RESTS_ON = frozenset({"classes"})       # where it takes the owner's statements for true
    def find(index: Index, *, tolerance_bytes: int = 0) -> Iterator[Hit | Unsettled]: ...

One that sets `REPAIRS = True`, or the arguments with which that is so, says of its hits, where it can, what would end
them (`Hit.changes`).
One that sets `NEAR = True` says of a switch, or of a cable, what follows from that and what is cabled to it, and from
what the owner states: `nodrop check` then asks it only about what is near a change (`engine/nearby.py`).
One that sets `LOOKS_AT = frozenset({"mtu_bytes", …})` looks at these attributes of switches and ports alone, besides
names, cables and what the owner states: `nodrop check` does not ask it where none of them changes.
One that sets `ROUTED = True` needs the control plane (`_plane.of`): besides `LOOKS_AT`, it reads every field that
routing depends on (`Field.routing`).
One that sets `FAILURES = True` computes failures of cables or switches, which `nodrop validate` does.
One that sets `BESIDE = True` compares the fabric with others of the same command (`_beside.beside`), if there are any.
One that sets `OBSERVED = True` looks at what other validators saw (`Index.kept[OBSERVATIONS]`), where any were asked.

It yields in an order that does not change from run to run, and raises nothing for a fabric that is merely wrong.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType

from nodrop.model.reading import Place
from nodrop.model.subject import Subject

Fact = str | int | float | bool | None
OBSERVATIONS = "observations"
"""Under which name an index keeps what validators saw: a tuple of `routing.observation.Observation`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A fault. `facts` fill the rule's message; `related` are other parts that it speaks of, and why.

    `at` is the part to point at, the subject itself if left out. A `discriminator` tells apart two faults of one
    subject and holds nothing that changes while the fault remains.
    """

    subject: Subject
    at: Subject | None = None
    facts: Mapping[str, Fact] = field(default_factory=dict)
    related: tuple[tuple[Subject, str], ...] = ()
    also: tuple[Subject, ...] = ()
    """Other parts with the same fault, such as the other ports of a map: no rule reports it there again."""
    discriminator: str = ""
    place: Place | None = None
    """Where the fault stands in the files of the subject's device, if that is no place of a part."""
    changes: tuple[tuple[Subject, object], ...] = ()
    """What would end the fault: parts of the fabric, and what each is to become."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsettled:
    """A subject that could not be decided, for want of the fact `missing`, a path such as `link.length_m`.

    `others` are devices whose configurations would tell.
    """

    subject: Subject
    missing: str
    others: frozenset[str] = frozenset()


Find = Callable[..., Iterator[Hit | Unsettled]]


def names() -> tuple[str, ...]:
    """Return the analyses that there are."""
    return _names(tuple(__path__))


@cache
def _names(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(module.name for module in pkgutil.iter_modules(folders) if not module.name.startswith("_")))


def module(name: str) -> ModuleType:
    """Return the module of an analysis; KeyError where there is none of that name."""
    if name not in names():
        raise KeyError(name)
    return importlib.import_module(f"{__name__}.{name}")
