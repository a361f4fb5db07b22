"""Graph and arithmetic checks that a one-line expression cannot hold: faults between parts of a fabric.

An analysis is a module here with a function of this shape, found by its name; a rule names it (`analysis: module`),
gives it arguments (`with:`), and has the words.

    RESTS_ON = frozenset({"classes"})       # where it takes the owner's statements for true
    def find(index: Index, *, tolerance_bytes: int = 0) -> Iterator[Hit | Unsettled]: ...

An analysis that takes a statement for true only with some arguments names these: `RESTS_ON_WITH = {"classes":
frozenset({"tos"})}`, in addition to `RESTS_ON`.

An analysis that sets `GIVES_CHANGES = True`, or the arguments that make it so, adds to its hits, where it can, the
changes that would end them (`Hit.changes`).
An analysis that sets `READS_NEARBY_FACTS = True` finds the faults of a switch, or of a cable, that follow from it,
from the parts cabled to it, and from the owner's statements: `nodrop check` then runs it only near a change
(`engine/nearby.py`). An analysis that sets `LOOKS_AT = frozenset({"mtu_bytes", …})` reads only these attributes of
switches and ports, in addition to names, cables and the owner's statements: `nodrop check` skips it where none of them
changes. An analysis that sets `NEEDS_ROUTING = True` needs the control plane (`_plane.of`): in addition to `LOOKS_AT`,
it reads every field that routing depends on (`Field.routing`).
An analysis that sets `NEEDS_FAILURES = True` computes failures of cables or switches, as `nodrop validate` does.
An analysis that sets `NEEDS_OTHER_FABRICS = True` compares the fabric with others of the same command
(`_beside.beside`), if any. An analysis that sets `NEEDS_OBSERVATIONS = True` reads what other validators observed, if
they were asked (`routing.observation.OBSERVATIONS`).
One that needs the control plane gets an index with stand-ins for the neighbors outside; a hit at one is no finding,
unless the analysis sets `REPORTS_STAND_INS = True`.

An analysis yields in an order that does not change from run to run, and raises nothing for a merely faulty fabric.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType

from nodrop.model.reading import FilePlace
from nodrop.model.subject import Subject

HitFact = str | int | float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisHit:
    """A fault. `facts` fill the rule's message; `related` are other parts that it names, and why.

    `at` is the part to point at; the default is the subject itself. A `discriminator` distinguishes two faults of one
    subject and holds nothing that changes while the fault remains.
    """

    subject: Subject
    at: Subject | None = None
    facts: Mapping[str, HitFact] = field(default_factory=dict)
    related: tuple[tuple[Subject, str], ...] = ()
    also: tuple[Subject, ...] = ()
    """Other parts with the same fault, such as the other ports of a map: no rule reports it there again."""
    discriminator: str = ""
    place: FilePlace | None = None
    """Where the fault stands in the files of the subject's device, if that is no place of a part."""
    changes: tuple[tuple[Subject, object], ...] = ()
    """What would end the fault: parts of the fabric, and what each is to become."""
    left_out: tuple[str, ...] = ()
    """The names that the message counts as "and N more", as far as a report lists them (`_naming.left_out_of`)."""
    doubt: str = ""
    """Why this fault is likely and not certain, where its rule is certain of others; empty where it is certain too."""
    names: tuple[str, ...] = ()
    """Words of the message that only name a part, such as a port: hits that differ in these alone have one cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecidedSubject:
    """A subject that could not be decided because the fact `missing` is unknown, a path such as `link.length_m`.

    `others` are devices whose configurations would decide it.
    """

    subject: Subject
    missing: str
    others: frozenset[str] = frozenset()


FindFunction = Callable[..., Iterator[AnalysisHit | UndecidedSubject]]


def analysis_names() -> tuple[str, ...]:
    """Return the names of all analyses."""
    return _public_module_names(tuple(__path__))


@cache
def _public_module_names(folders: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(module.name for module in pkgutil.iter_modules(folders) if not module.name.startswith("_")))


def analysis_module(name: str) -> ModuleType:
    """Return the module of an analysis; KeyError where there is none of that name."""
    if name not in analysis_names():
        raise KeyError(name)
    return importlib.import_module(f"{__name__}.{name}")
