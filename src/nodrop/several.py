"""Findings over all fabrics of a command: what several fabrics have in common and must not, or may.

Each fabric is checked by itself first. Of each, its outcome keeps the identifiers (`model/identifiers.py`). Only
fabrics with an identifier in common are read again, and checked by the rules that compare fabrics
(`Rule.beside`, `analyses/_beside.py`); so a set without anything in common costs a comparison of names and numbers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from nodrop import platforms
from nodrop.analyses._beside import KEPT, OTHER, Beside
from nodrop.judging import Settings, judged
from nodrop.lint.engine import severity_of
from nodrop.lint.finding import Finding, Located, Related
from nodrop.lint.rule import Rule
from nodrop.locate import locate
from nodrop.model.identifiers import Identifiers, Sharing, same_fabric, sharing
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.subject import Subject
from nodrop.report.merged import work_of_all
from nodrop.report.outcome import Outcome, heads, openable
from nodrop.settling import known

_HELD = 4
"""How many fabrics are held in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One fabric of a command: where its files lie, what it may not share, and how to read it."""

    name: str
    identifiers: Identifiers
    read: Callable[[], Reading]
    an_intent: bool = False


def with_others(
    outcomes: Sequence[Outcome],
    reads: Sequence[Callable[[], Reading]],
    rules: Callable[[], Sequence[Rule]],
    settings: Settings,
    *,
    one_site: bool,
) -> list[Outcome]:
    """Return the outcomes of all fabrics of a command, with findings about what they have in common.

    `reads` reads each fabric again, and `rules` loads the rules, of which those that compare fabrics count; both are
    called only where fabrics have something in common. A fabric without identifiers, such as one that cannot be read,
    is compared with none.
    """
    made = list(outcomes)
    members = {
        at: Member(name=one.name, identifiers=one.identifiers, read=read, an_intent=one.an_intent)
        for at, (one, read) in enumerate(zip(outcomes, reads, strict=True))
        if one.identifiers is not None
    }
    found = compared(list(members.values()), rules, settings, one_site=one_site)
    for at, more in zip(members, found, strict=True):
        if more is not None:
            made[at] = _with(made[at], more)
    return made


def compared(
    members: Sequence[Member], rules: Callable[[], Sequence[Rule]], settings: Settings, *, one_site: bool
) -> list[Outcome | None]:
    """Return for each fabric what the rules that compare fabrics find in it; None where there is nothing to compare."""
    found: list[Outcome | None] = [None] * len(members)
    chosen = list(_single(members))
    if len(chosen) < 2:
        return found
    shared = sharing([members[at].identifiers for at in chosen], one_site=one_site)
    if not shared.pairs:
        return found
    severity = settings.config.severity
    comparing = [rule for rule in rules() if rule.beside and severity_of(rule, severity) != "off"]
    if not comparing:
        return found
    shelf = _Shelf([members[at] for at in chosen])
    for later in shared.pairs:
        reading = shelf.reading(later)
        index = Index(reading.fabric)
        index.kept[KEPT] = tuple(shelf.beside(later, shared, one_site=one_site))
        found[chosen[later]] = judged(reading, comparing, settings, index=index)
    _place(found, shelf, settings)
    return found


def _single(members: Sequence[Member]) -> Iterable[int]:
    """Yield each fabric of which no earlier one is another state."""
    kept: list[int] = []
    for at, one in enumerate(members):
        of_name = (members[other] for other in kept)
        states = (
            same_fabric(one.identifiers, other.identifiers, an_intent=one.an_intent != other.an_intent)
            for other in of_name
        )
        if not any(states):
            kept.append(at)
    return kept


@dataclass(slots=True)
class _Shelf:
    """Fabrics that are read again, a few of which are held."""

    members: Sequence[Member]
    _held: dict[int, Reading] = field(default_factory=dict)

    def reading(self, at: int) -> Reading:
        """Return a fabric, read again unless it is still held."""
        reading = self._held.pop(at, None) or self.members[at].read()
        self._held[at] = reading
        if len(self._held) > _HELD:
            del self._held[next(iter(self._held))]
        return reading

    def beside(self, later: int, shared: Sharing, *, one_site: bool) -> Iterable[Beside]:
        """Yield the earlier fabrics that have something in common with a later one."""
        names = self.names
        for earlier in shared.pairs[later]:
            yield Beside(
                name=names[earlier],
                index=Index(self.reading(earlier).fabric),
                one_site=one_site,
                joined=shared.joined[earlier] == shared.joined[later],
            )

    @property
    def names(self) -> list[str]:
        """What messages call each fabric: the name that it states, else where its files lie."""
        called = Counter(one.identifiers.fabric for one in self.members)
        return [
            one.identifiers.fabric if one.identifiers.fabric and called[one.identifiers.fabric] == 1 else one.name
            for one in self.members
        ]


def _place(found: list[Outcome | None], shelf: _Shelf, settings: Settings) -> None:
    """Fill in where the parts of other fabrics stand: of all findings, or of those that a short report shows."""
    every = [one for made in found if made is not None for one in made.every]
    shown = every if settings.whole else heads(one for one in every if not one.hidden)
    wanted: dict[str, dict[Subject, Finding]] = {}
    for one in shown:
        for related in one.related:
            if related.subject[0] == OTHER:
                wanted.setdefault(related.subject[1], {})[related.subject] = one
    places: dict[Subject, Located] = {}
    lines: dict[tuple[str, int], str] = {}
    for name, parts in wanted.items():
        reading = shelf.reading(shelf.names.index(name))
        aimed = [
            replace(one, subject=part[2:], at=part[2:], device=part[2], related=(), located=None, fix=None)
            for part, one in parts.items()
        ]
        pointed = locate(aimed, reading, platforms.where)
        for part, one in zip(parts, pointed.findings, strict=True):
            if (place := openable(one)) is None:
                continue
            places[part] = place
            if place.span is not None and (text := pointed.line(place.file, place.span.line)) is not None:
                lines[place.file, place.span.line] = text

    def placed(one: Finding) -> Finding:
        if not any(related.subject in places for related in one.related):
            return one
        return replace(one, related=tuple(_located(related, places) for related in one.related))

    for at, made in enumerate(found):
        if made is not None:
            found[at] = replace(
                made,
                findings=tuple(map(placed, made.findings)),
                hidden=tuple(map(placed, made.hidden)),
                line=known(lines, made.line),
            )


def _located(related: Related, places: dict[Subject, Located]) -> Related:
    return replace(related, located=places.get(related.subject, related.located))


def _with(outcome: Outcome, more: Outcome) -> Outcome:
    """Return the outcome of a fabric with what comparing it has brought."""

    def line(file: str, number: int) -> str | None:
        text = outcome.line(file, number)
        return more.line(file, number) if text is None else text

    return replace(
        outcome,
        findings=(*outcome.findings, *more.findings),
        hidden=(*outcome.hidden, *more.hidden),
        suppressed=outcome.suppressed + more.suppressed,
        baseline=outcome.baseline + more.baseline,
        problems=(*outcome.problems, *(one for one in more.problems if one not in outcome.problems)),
        notes=tuple(dict.fromkeys((*outcome.notes, *more.notes))),
        settled=(*outcome.settled, *more.settled),
        crashed=outcome.crashed or more.crashed,
        work=work_of_all((outcome, more)),
        line=line,
    )
