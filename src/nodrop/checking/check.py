"""`nodrop check`: a tree is held against what it was, fabric by fabric."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice

from nodrop import build, judging
from nodrop.checking.rerouting import MOST_DEVICES, may_reroute, rerouted
from nodrop.checking.settling import settled
from nodrop.checking.sides import Pair, Sides, What, name_of, sides
from nodrop.errors import InputProblems, Problem
from nodrop.fabric.compare import Difference, differences, project
from nodrop.fabric.index import Index
from nodrop.fabric.reading import Reading
from nodrop.fabric.subject import natural
from nodrop.former import Former
from nodrop.inputs import Inputs, Text
from nodrop.judging import Settings
from nodrop.lint.rule import Rule
from nodrop.plan.model import Plan
from nodrop.plan.planning import plan
from nodrop.platforms import not_carried
from nodrop.report.checked import Changed, Checked, Routing, Unfit
from nodrop.report.merged import merged
from nodrop.report.outcome import Outcome

_SHOWN = 20
"""How many places are told at which a build is not what its intent comes to."""
Progress = Callable[[str], None]
Workers = Callable[[int], AbstractContextManager[Executor | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is asked for beyond plans and findings; `routing` is None where it is worked out as far as it matters."""

    routing: bool | None = None
    batfish: str | None = None
    platform: str | None = None


@dataclass(slots=True, kw_only=True)
class _Checking:
    """One run: readings are made once for both what pairs fabrics and what compares them."""

    settings: Settings
    ask: Ask
    progress: Progress
    before: Settings
    executor: Executor | None = None
    problems: list[Problem] = field(default_factory=list)
    """Of the state of before."""
    wrong: list[Problem] = field(default_factory=list)
    """Of the present state."""
    _readings: dict[int, Reading | None] = field(default_factory=dict)
    _whats: list[What] = field(default_factory=list)
    """What was read, so that no other object gets its identity."""

    def reading(self, what: What | None, *, old: bool) -> Reading | None:
        """Return what a fabric says; None where there is none, or it cannot be read at all."""
        if what is None:
            return None
        if id(what) not in self._readings:
            self.progress(f"reading {name_of(what)}")
            self._whats.append(what)
            try:
                made = judging.read(what, self.before if old else self.settings, self.executor)
            except InputProblems as error:
                (self.problems if old else self.wrong).extend(error.problems)
                self._readings[id(what)] = None
            else:
                self._readings[id(what)] = made
        return self._readings[id(what)]

    def devices(self, what: What) -> frozenset[str]:
        """Return the names of a fabric's switches."""
        if isinstance(what, Inputs):
            return frozenset(bundle.name for bundle in what.bundles)
        try:
            return frozenset(device.name for device in build(judging.intent_of(what)[1]).devices)
        except InputProblems:
            return frozenset()


def check(
    paths: Sequence[str],
    settings: Settings,
    former: Former,
    base: str,
    ask: Ask | None = None,
    *,
    workers: Workers = lambda _: nullcontext(),
    progress: Progress = lambda _: None,
) -> tuple[Checked, list[tuple[Plan, Reading, Reading]]]:
    """Hold what lies at the paths against the former state, and return also what patches are made of.

    `workers` gives the executor for so many switches.
    """
    run = _Checking(settings=settings, ask=ask or Ask(), progress=progress, before=settings)
    both = sides(paths, settings, former, platform=run.ask.platform, devices=run.devices)
    run.before = both.before
    changed = (pair.new for pair in both.pairs if not pair.same and isinstance(pair.new, Inputs))
    with workers(sum(len(one.bundles) for one in changed)) as executor:
        run.executor = executor
        return _checked(both, run, former, base)


def _checked(
    both: Sides, run: _Checking, former: Former, base: str
) -> tuple[Checked, list[tuple[Plan, Reading, Reading]]]:
    builds, unfit = _builds(both, run)
    aside = {*builds.values(), *_known_otherwise(both, run)}
    fabrics, outcomes, planned = [], [], []
    for pair in both.pairs:
        if pair.same or id(pair.new if pair.new is not None else pair.old) in aside:
            continue
        made = _changed(pair, run)
        if made is None:
            continue
        changed, outcome, readings = made
        told_by = tuple(name_of(one.new) for one in both.pairs if id(one.new) == builds.get(id(pair.new)))
        fabrics.append(replace(changed, told_by=told_by))
        outcomes.append(outcome)
        planned.append((changed.plan, *readings))
    same = tuple(pair.name for pair in both.pairs if pair.same and not _bare(pair.new))
    missing = {one.path for one in former.problems}
    problems = (*both.problems, *former.problems, *(one for one in run.problems if one.path not in missing))
    outcome = merged(outcomes)
    outcome = replace(outcome, notes=(*outcome.notes, *both.notes), problems=(*outcome.problems, *run.wrong))
    return (
        Checked(
            base=base,
            fabrics=tuple(one for one in fabrics if one.gone or not _nothing(one)),
            same=same,
            unfit=tuple(unfit),
            outcome=outcome,
            notes=both.notes,
            problems=tuple(dict.fromkeys(problems)),
        ),
        planned,
    )


def _bare(what: What | None) -> bool:
    return isinstance(what, Inputs) and not what.bundles and not what.hosts


def _nothing(one: Changed) -> bool:
    findings = one.findings
    return one.plan.empty and not (findings.new or findings.fixed or findings.silenced or one.routing.changes)


def _changed(pair: Pair, run: _Checking) -> tuple[Changed, Outcome, tuple[Reading, Reading]] | None:
    new, old = run.reading(pair.new, old=False), run.reading(pair.old, old=True)
    if pair.new is not None and new is None:
        return None
    if new is None and old is None:
        return None
    before = old if old is not None else _nothing_of(new)
    after = new if new is not None else _nothing_of(old)
    run.problems.extend(before.problems)
    run.progress(f"comparing {pair.name}")
    made = replace(plan(replace(before, problems=()), after), problems=())
    indices = Index(before.fabric), Index(after.fabric)
    routing = _routing(made, before, after, indices, run)
    rules = _rules(run.settings, routing=not routing.not_computed)
    said = Outcome(name=pair.name)
    if after.fabric.devices or after.fabric.nics or after.problems:
        said = judging.judged(after, rules, run.settings, index=indices[1], progress=run.progress)
    was = Outcome()
    if before.fabric.devices or before.fabric.nics:
        was = judging.judged(before, rules, replace(run.settings, whole=False), index=indices[0], progress=run.progress)
    findings = settled(was, said)
    told = replace(said, name=pair.name, findings=findings.new)
    former_name = None if old is None else name_of(pair.old)
    changed = Changed(
        name=pair.name, was=former_name, plan=made, findings=findings, routing=routing, gone=pair.new is None
    )
    return changed, told, (before, after)


def _nothing_of(reading: Reading | None) -> Reading:
    """Return the reading of a fabric of which there is nothing yet, or nothing any more."""
    assert reading is not None
    return Reading(fabric=replace(reading.fabric, devices=(), links=(), hosts=(), nics=()))


def _rules(settings: Settings, *, routing: bool) -> tuple[Rule, ...]:
    rules = judging.chosen_rules(settings)
    if routing:
        rules = (*rules, *judging.chosen_rules(settings, routing=True))
    return tuple({rule.name: rule for rule in rules}.values())


def _routing(made: Plan, old: Reading, new: Reading, indices: tuple[Index, Index], run: _Checking) -> Routing:
    size = max(len(one.fabric.devices) for one in (old, new))
    asked = run.ask.routing
    if asked is False:
        return Routing(not_computed="not asked for", wanted=False)
    if not (old.fabric.devices and new.fabric.devices):
        return Routing(not_computed="" if size <= MOST_DEVICES else "the fabric is new, or gone", wanted=False)
    if asked is None and not may_reroute(made):
        return Routing(not_computed="nothing changes that it depends on", wanted=False)
    if asked is None and size > MOST_DEVICES:
        return Routing(not_computed=f"of more than {MOST_DEVICES} switches it is on request: --routing")
    run.progress(f"computing routes of {new.fabric.name}")
    changes = tuple(rerouted(*indices))
    if run.ask.batfish is None:
        return Routing(changes=changes)
    from nodrop.validating.batfish import difference

    found = difference(old, new, run.ask.batfish, progress=run.progress)
    return Routing(changes=changes, flows=found.flows, told=found.told)


def _builds(both: Sides, run: _Checking) -> tuple[dict[int, int], list[Unfit]]:
    """Return of each intent that has changed the build that says the same, and the builds that do not fit theirs.

    The build of an intent has the same switches: it is found by their names.
    """
    folders = [pair for pair in both.pairs if isinstance(pair.new, Inputs) and pair.new.bundles]
    found: dict[int, int] = {}
    unfit = []
    for pair in both.pairs:
        if not isinstance(pair.new, Text) or not folders:
            continue
        names: frozenset[str] | None = None
        for folder in folders:
            assert isinstance(folder.new, Inputs)
            if pair.same and folder.same:
                continue
            names = run.devices(pair.new) if names is None else names
            if frozenset(bundle.name for bundle in folder.new.bundles) != names:
                continue
            intent, files = run.reading(pair.new, old=False), run.reading(folder.new, old=False)
            if intent is None or files is None:
                continue
            differ = tuple(islice(_differing(intent, files), _SHOWN))
            if differ:
                unfit.append(Unfit(intent=pair.name, build=folder.name, differences=differ))
            elif not pair.same:
                found[id(pair.new)] = id(folder.new)
    return found, unfit


def _known_otherwise(both: Sides, run: _Checking) -> Iterator[int]:
    """Yield what comes or goes while its fabric stays: a first build of an intent, an intent whose build stays."""
    kept = [(pair.old, pair.new) for pair in both.pairs if pair.old is not None and pair.new is not None]
    for pair in both.pairs:
        one = pair.old if pair.new is None else pair.new if pair.old is None else None
        if one is not None and not _bare(one):
            others = [other[pair.new is not None] for other in kept]
            others = [other for other in others if isinstance(other, Text) != isinstance(one, Text)]
            if others and (names := run.devices(one)) and names in map(run.devices, others):
                yield id(one)


def _differing(intent: Reading, build: Reading) -> Iterator[Difference]:
    """Yield where a build is not what its intent comes to, in what files say."""
    ours, theirs = ({one.name: one for one in reading.fabric.devices} for reading in (intent, build))
    for name in sorted(ours.keys() & theirs.keys(), key=natural):
        both = [project(one, not_carried(one.platform)) for one in (ours[name], theirs[name])]
        yield from (one._replace(path=(name, *one.path)) for one in differences(*both, whole_lists=True))
