"""`nodrop check`: a tree is held against what it was, fabric by fabric."""

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from nodrop import build, judging
from nodrop.checking.builds import builds, counterparts, deleted, of_intents
from nodrop.checking.rerouting import MOST_DEVICES, may_reroute, rerouted
from nodrop.checking.rollout import rolled_out
from nodrop.checking.settling import settled
from nodrop.checking.sides import Pair, Sides, What, name_of, sides, without
from nodrop.checking.stopping import hazards, placed, risks
from nodrop.checking.stopping import unfit as unfit_told
from nodrop.errors import InputProblems, Problem
from nodrop.fabric.assemble import Shared
from nodrop.fabric.index import Index
from nodrop.fabric.reading import DeviceReading, Reading
from nodrop.former import Former
from nodrop.inputs import Bundle, Inputs, Text
from nodrop.judging import Settings
from nodrop.lint.engine import hits, options_of
from nodrop.lint.finding import Finding, Located
from nodrop.lint.nearby import Part, nearby
from nodrop.lint.rule import Rule
from nodrop.plan.model import Plan, Risk
from nodrop.plan.planning import plan
from nodrop.report.checked import Changed, Checked, Routing, Unfit
from nodrop.report.merged import merged
from nodrop.report.outcome import Outcome
from nodrop.rereading import Runs

Progress = Callable[[str], None]
Workers = Callable[[int], AbstractContextManager[Executor | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is asked for beyond plans and findings; `routing` is None where it is worked out as far as it matters.

    `rollout` asks for the states between, whose hazards are to be let through unless they are a `gate`; `risk` is the
    least that is not let through.
    """

    routing: bool | None = None
    rollout: bool = True
    gate: bool = True
    risk: Risk | None = None
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
    fabrics: int = 1
    """How many are not as they were."""
    problems: list[Problem] = field(default_factory=list)
    """Of the state of before."""
    wrong: list[Problem] = field(default_factory=list)
    """Of the present state."""
    _readings: dict[int, Reading | None] = field(default_factory=dict)
    _shared: Shared = field(default_factory=Shared)
    _devices: dict[Bundle, DeviceReading] = field(default_factory=dict)
    """What files say that are the same on both sides, or were read for the other."""
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
                settings = self.before if old else self.settings
                held = self._held(what) if isinstance(what, Inputs) else None
                made = judging.read(what, settings, self.executor, held=held, shared=self._shared)
            except InputProblems as error:
                (self.problems if old else self.wrong).extend(error.problems)
                self._readings[id(what)] = None
            else:
                self._readings[id(what)] = made
        return self._readings[id(what)]

    def _held(self, what: Inputs) -> list[DeviceReading]:
        """Return what the files of each switch say; those that neither side has shown yet are read."""
        fresh = [bundle for bundle in what.bundles if bundle not in self._devices]
        read = Runs(fresh, self.executor, self.settings.store).all()
        self._devices.update(zip(fresh, read, strict=True))
        return [self._devices[bundle] for bundle in what.bundles]

    def unread(self, what: What | None) -> frozenset[str]:
        """Return the switches of a fabric that was read of which a file could not be."""
        bundles = what.bundles if isinstance(what, Inputs) else ()
        held = [(bundle.name, self._devices[bundle]) for bundle in bundles if bundle in self._devices]
        return frozenset(name for called, one in held if one.problems for name in (called, one.device.name))

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
    run.fabrics = max(1, sum(not pair.same for pair in both.pairs))
    changed = (pair.new for pair in both.pairs if not pair.same and isinstance(pair.new, Inputs))
    with workers(sum(len(one.bundles) for one in changed)) as executor:
        run.executor = executor
        return _checked(both, run, former, base)


def _checked(
    both: Sides, run: _Checking, former: Former, base: str
) -> tuple[Checked, list[tuple[Plan, Reading, Reading]]]:
    told_twice, unfit = builds(both, run.reading, run.devices, run.unread)
    unfit += deleted(both, run.reading, run.devices)
    otherwise = set(_known_otherwise(both, run))
    aside = otherwise | {build for intent, build in told_twice.items() if intent not in otherwise}
    aside -= {id(pair.new) for pair in both.pairs if run.unread(pair.new)}
    fabrics, outcomes, planned = [], [], []
    stops: list[Finding] = []
    for pair in both.pairs:
        if pair.same or id(pair.new if pair.new is not None else pair.old) in aside:
            continue
        if pair.new is None and _bare(pair.old):
            continue
        made = _changed(pair, run)
        if made is None:
            continue
        changed, outcome, readings = made
        told_by = tuple(name_of(one.new) for one in both.pairs if id(one.new) == told_twice.get(id(pair.new)))
        fabrics.append(replace(changed, told_by=told_by))
        outcomes.append(outcome)
        planned.append((changed.plan, *readings))
        stops += (replace(one, within=pair.name) for one in _stops(changed.plan, readings, run.ask))
    if len(outcomes) == 1:
        stops = [replace(one, within="") for one in stops]
    stops += (one for each in unfit for one in _of_build(each, both, run))
    alike = {one.name for one in fabrics if not one.gone and _nothing(one)}
    told = {one.name for one in fabrics} - alike
    same = tuple(pair.name for pair in _once(both, run, told) if pair.same or pair.name in alike)
    missing = {one.path for one in former.problems}
    problems = (*both.problems, *former.problems, *(one for one in run.problems if one.path not in missing))
    outcome = merged(outcomes)
    outcome = replace(outcome, notes=(*outcome.notes, *both.notes), problems=(*outcome.problems, *run.wrong))
    return (
        Checked(
            base=base,
            fabrics=tuple(one for one in fabrics if one.name not in alike),
            same=same,
            unfit=tuple(unfit),
            outcome=outcome,
            notes=both.notes,
            stops=tuple(stops),
            problems=tuple(dict.fromkeys(problems)),
        ),
        planned,
    )


def _stops(made: Plan, readings: tuple[Reading, Reading], ask: Ask) -> tuple[Finding, ...]:
    """Return what a change of a fabric does that is not let through, where its new files say so."""
    risky = () if ask.risk is None else risks(made, ask.risk)
    return placed((*hazards(made, gate=ask.gate), *risky), readings[1])


def _of_build(one: Unfit, both: Sides, run: _Checking) -> tuple[Finding, ...]:
    """Return the verdict on a build that does not fit, at its place in the build or, of what is missing, the intent."""
    new = {name_of(pair.new): pair.new for pair in both.pairs if pair.new is not None}
    build = run.reading(new.get(one.build), old=False)
    told = unfit_told(one, build)
    found = placed([told], build)[0] if build is not None else told
    return (found if found.located else replace(found, located=Located(file=one.intent, span=None)),)


def _once(both: Sides, run: _Checking, told: Collection[str]) -> Iterator[Pair]:
    """Yield each fabric of switches of which nothing is told, once: an intent stands for its builds."""
    intents = of_intents(both, run.devices)
    loud = {id(pair.new) for pair in both.pairs if pair.name in told}
    loud |= {intents[one] for one in loud & intents.keys()}
    for pair in both.pairs:
        if id(pair.new) not in loud | intents.keys() and (isinstance(pair.new, Text) or _switches(pair.new)):
            yield pair


def _switches(what: What | None) -> bool:
    return isinstance(what, Inputs) and bool(what.bundles)


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
    before, after = (without(one, run.unread(pair.new)) for one in (before, after))
    run.progress(f"comparing {pair.name}")
    made = replace(plan(replace(before, problems=()), after), problems=())
    indices = (first := Index(before.fabric)), Index(after.fabric, first)
    routing = _routing(made, before, after, indices, run)
    if run.ask.rollout:
        computed = not routing.not_computed and bool(before.fabric.devices and after.fabric.devices)
        made = rolled_out(
            made, before, after, run.settings, routing=computed, fabrics=run.fabrics, progress=run.progress
        )
    rules = judging.chosen_rules(run.settings, routing=not routing.not_computed)
    near = _near((before, after), indices, rules, run.settings)
    said = Outcome(name=pair.name)
    if after.fabric.devices or after.fabric.nics or after.problems:
        said = judging.judged(after, rules, run.settings, index=indices[1], near=near[1], progress=run.progress)
    was = Outcome()
    if before.fabric.devices or before.fabric.nics:
        briefly = replace(run.settings, whole=False)
        was = judging.judged(before, rules, briefly, index=indices[0], near=near[0], progress=run.progress)
    findings = settled(was, said, whole=near[1] is None)
    told = replace(said, name=pair.name, findings=findings.new)
    former_name = None if old is None else name_of(pair.old)
    changed = Changed(
        name=pair.name, was=former_name, plan=made, findings=findings, routing=routing, gone=pair.new is None
    )
    return changed, told, (before, after)


def _near(
    readings: tuple[Reading, Reading], indices: tuple[Index, Index], rules: Sequence[Rule], settings: Settings
) -> tuple[Part | None, Part | None]:
    """Return the parts of both states in which findings can differ, of fabrics that are too large to judge twice."""
    if max(len(one.fabric.devices) for one in readings) <= MOST_DEVICES:
        return None, None
    options = settings.config.options
    return nearby(readings, indices, rules, lambda rule, index: hits(rule, index, options_of(rule, options))) or (
        None,
        None,
    )


def _nothing_of(reading: Reading | None) -> Reading:
    """Return the reading of a fabric of which there is nothing yet, or nothing any more."""
    assert reading is not None
    return Reading(fabric=replace(reading.fabric, devices=(), links=(), hosts=(), nics=()))


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


def _known_otherwise(both: Sides, run: _Checking) -> Iterator[int]:
    """Yield what comes or goes while its fabric stays, or is told of by the intent that goes with it.

    While it stays: a first build of an intent, an intent whose build stays.
    """
    kept = [(pair.old, pair.new) for pair in both.pairs if pair.old is not None and pair.new is not None]
    going = [(pair.old, None) for pair in both.pairs if pair.new is None and isinstance(pair.old, Text)]
    for pair in both.pairs:
        one = pair.old if pair.new is None else pair.new if pair.old is None else None
        known = [other[pair.new is not None] for other in (*kept, *going)]
        if one is not None and not _bare(one) and counterparts(one, known, run.devices):
            yield id(one)
