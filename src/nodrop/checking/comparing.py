"""What the fabrics of a change have in common with all others of the command, now and not before."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial

from nodrop import judging
from nodrop.checking.run import Run
from nodrop.checking.settling import settled
from nodrop.checking.sides import Pair, Sides, What, name_of
from nodrop.errors import InputProblems
from nodrop.inputs import Text
from nodrop.model.identifiers import Identifiers, identifiers_of, same_fabric
from nodrop.model.reading import Reading
from nodrop.report.checked import Changed, Settled
from nodrop.report.outcome import Outcome
from nodrop.several import Member, compared

States = Sequence[tuple[Pair, Reading, Reading]]
"""Each fabric that changes, before and after."""


def with_common(
    fabrics: Sequence[Changed],
    outcomes: Sequence[Outcome],
    states: States,
    both: Sides,
    aside: Collection[int],
    run: Run,
) -> tuple[list[Changed], list[Outcome]]:
    """Return what changes, and its outcomes, with what the fabrics then have in common and had not before.

    Fabrics that do not change are read only where an identifier of another one does; those `aside` are not.
    """
    told, found = list(fabrics), list(outcomes)
    own = [tuple(identifiers_of(one.fabric) for one in (before, after)) for _, before, after in states]
    if all(before == after or not after.devices for before, after in own):
        return told, found
    rules, settings = judging.chosen_rules(run.settings), run.settings
    one_site = settings.config.path is not None
    changing = {id(what) for pair, _, _ in states for what in (pair.old, pair.new)} | set(aside)
    others = list(
        _others(both, changing, [(pair.new, after) for (pair, _, _), (_, after) in zip(states, own, strict=True)], run)
    )
    run.progress("comparing all fabrics")

    def of_state(which: int) -> list[Outcome | None]:
        members = [
            Member(
                name=pair.name,
                identifiers=identifiers[which],
                read=partial(_given, readings[which]),
                an_intent=isinstance(pair.new, Text),
            )
            for (pair, *readings), identifiers in zip(states, own, strict=True)
        ]
        return compared([*others, *members], lambda: rules, settings, one_site=one_site)[len(others) :]

    was, now = of_state(0), of_state(1)
    for at, (before, after) in enumerate(zip(was, now, strict=True)):
        more = settled(before or Outcome(), after or Outcome())
        told[at] = replace(told[at], findings=_both(told[at].findings, more))
        if more.new and after is not None:
            kept = replace(after, findings=more.new, name=found[at].name)
            found[at] = _joined(found[at], kept)
    return told, found


def _given(reading: Reading) -> Reading:
    return reading


def _others(
    both: Sides, changing: Collection[int], own: Sequence[tuple[What | None, Identifiers]], run: Run
) -> Iterator[Member]:
    """Yield the fabrics that do not change, without other states of those that do."""
    for pair in both.pairs:
        what = pair.new
        if what is None or id(what) in changing:
            continue
        read = partial(judging.read, what, run.settings, run.executor)
        try:
            identifiers = identifiers_of(read().fabric)
        except InputProblems:
            continue
        an_intent = isinstance(what, Text)
        if not identifiers.devices or any(
            same_fabric(identifiers, other, an_intent=an_intent != isinstance(changed, Text)) for changed, other in own
        ):
            continue
        yield Member(name=name_of(what), identifiers=identifiers, read=read, an_intent=an_intent)


def _both(one: Settled, more: Settled) -> Settled:
    counts = (one.unchanged, more.unchanged)
    return Settled(
        new=(*one.new, *more.new),
        fixed=(*one.fixed, *more.fixed),
        silenced=(*one.silenced, *more.silenced),
        unchanged=None if None in counts else sum(count or 0 for count in counts),
    )


def _joined(outcome: Outcome, more: Outcome) -> Outcome:
    def line(file: str, number: int) -> str | None:
        text = outcome.line(file, number)
        return more.line(file, number) if text is None else text

    return replace(outcome, findings=(*outcome.findings, *more.findings), line=line)
