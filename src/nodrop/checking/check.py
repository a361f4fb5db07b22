"""`nodrop check`: compares a tree with its earlier state, fabric by fabric."""

from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from nodrop import judging
from nodrop.checking.blocking_findings import build_hazard_findings, locate_findings, risk_findings
from nodrop.checking.blocking_findings import build_outdated_build_finding as unfit_told
from nodrop.checking.both_policies import apply_base_policy, find_newly_passing_findings, parts_near_changes
from nodrop.checking.builds import find_build_counterparts, find_deleted_builds, intent_by_build_folder, match_builds
from nodrop.checking.comparing import add_newly_shared_identifier_findings
from nodrop.checking.finding_comparison import compare_findings
from nodrop.checking.lost_facts import find_lost_facts, find_truncated_fault_lists
from nodrop.checking.missing_switches import find_no_longer_checked_switches
from nodrop.checking.moved_switches import add_back_switches_moved_to_other_fabrics
from nodrop.checking.policy import PolicyPair, same_policy_for_both_states
from nodrop.checking.policy_changes import policy_verdicts
from nodrop.checking.reach import compute_blast_radius_of_plan
from nodrop.checking.rerouting import MAX_DEVICES_FOR_ROUTING, find_routing_changes, may_reroute
from nodrop.checking.rollout import order_rollout
from nodrop.checking.run import CheckRequest, CheckRun, ReportProgress
from nodrop.checking.two_states import (
    ComparedFabrics,
    FabricSource,
    FabricSourcePair,
    fabric_source_name,
    find_both_states,
    remove_switches,
)
from nodrop.checking.unloaded_parts import find_facts_moved_out_of_startup_file
from nodrop.engine.finding import FileLocation, Finding
from nodrop.identity import IdentitySet
from nodrop.inputs import FabricInputs, FileText
from nodrop.judging import CheckSettings
from nodrop.model.index import Index
from nodrop.model.modes import keep_former_modes
from nodrop.model.reading import Reading
from nodrop.plan.model import Plan
from nodrop.plan.planning import plan
from nodrop.proofs.claims import DeadlockAndPauseClaims, prove_claims
from nodrop.results.checked import ChangedFabric, CheckedChange, OutdatedBuild, RoutingChanges
from nodrop.results.merged import merge_outcomes
from nodrop.results.outcome import FabricOutcome
from nodrop.revisions import FormerTree

ExecutorFactory = Callable[[int], AbstractContextManager[Executor | None]]


def check(
    paths: Sequence[str],
    settings: CheckSettings,
    former_tree: FormerTree,
    base: str,
    ask: CheckRequest | None = None,
    *,
    policies: PolicyPair | None = None,
    workers: ExecutorFactory = lambda _: nullcontext(),
    progress: ReportProgress = lambda _: None,
) -> tuple[CheckedChange, list[tuple[Plan, Reading, Reading]]]:
    """Hold what lies at the paths against the former state, and return also what patches are made of.

    Both states are checked by the `policies`, which name the `settings`; without them, by the settings alone.
    `workers` gives the executor for so many switches.
    """
    run = CheckRun(
        policies=policies or same_policy_for_both_states(settings), ask=ask or CheckRequest(), progress=progress
    )
    both_sides = find_both_states(
        paths, run.policies, former_tree, platform=run.ask.platform, devices=run.switch_names_of_source
    )
    run.fabrics = max(1, sum(not pair.same for pair in both_sides.pairs))
    changed = (pair.new for pair in both_sides.pairs if not pair.same and isinstance(pair.new, FabricInputs))
    with workers(sum(len(inputs.bundles) for inputs in changed)) as executor:
        run.executor = executor
        return _check_both_sides(both_sides, run, former_tree, base, paths)


def _check_both_sides(
    both_sides: ComparedFabrics, run: CheckRun, former: FormerTree, base: str, paths: Sequence[str]
) -> tuple[CheckedChange, list[tuple[Plan, Reading, Reading]]]:
    told_twice, judged, unfit = match_builds(
        both_sides, run.reading, run.switch_names_of_source, run.unreadable_switches
    )
    unfit += find_deleted_builds(both_sides, run.reading, run.switch_names_of_source)
    otherwise = IdentitySet(_counterpart_sources(both_sides, run))
    aside = IdentitySet([*otherwise, *(build for intent, build in told_twice.items() if intent not in otherwise)])
    aside -= judged
    for pair in both_sides.pairs:
        if pair.new is not None and run.unreadable_switches(pair.new):
            aside.discard(pair.new)
    fabrics, outcomes, planned, of_pairs = [], [], [], []
    stops: list[Finding] = []
    for pair in both_sides.pairs:
        if pair.same or (pair.new if pair.new is not None else pair.old) in aside:
            continue
        if pair.new is None and _is_empty_source(pair.old):
            continue
        pair_check = _check_pair(pair, both_sides, run)
        if pair_check is None:
            continue
        changed, outcome, readings = pair_check
        build = told_twice.get(pair.new) if pair.new is not None else None
        told_by = () if build is None else (fabric_source_name(build),)
        fabrics.append(replace(changed, matching_builds=told_by))
        outcomes.append(outcome)
        planned.append((changed.plan, *readings))
        of_pairs.append((pair, changed.plan, *readings))
        stops += (
            replace(stop, within=pair.source_name) for stop in _blocking_findings(changed.plan, readings, run.ask)
        )
    states = [(pair, before, after) for pair, _, before, after in of_pairs]
    fabrics, outcomes = add_newly_shared_identifier_findings(fabrics, outcomes, states, both_sides, aside, run)
    if len(outcomes) == 1:
        stops = [replace(stop, within="") for stop in stops]
    stops += (finding for mismatch in unfit for finding in _unfit_build_findings(mismatch, both_sides, run))
    stops += policy_verdicts(run.policies, both_sides, paths, run.passed)
    missing_now = tuple(find_no_longer_checked_switches(both_sides, of_pairs, paths, run.settings.config.excludes))
    hidden = {finding.subject for finding in missing_now if finding.severity == "error"}
    stops += (*missing_now, *(finding for finding in find_lost_facts(states) if finding.subject not in hidden))
    stops += (*find_facts_moved_out_of_startup_file(states), *find_truncated_fault_lists(states))
    alike = {fabric.name for fabric in fabrics if not fabric.removed and _has_no_changes(fabric)}
    names = {fabric.name for fabric in fabrics} - alike
    same = tuple(
        pair.source_name
        for pair in _pairs_of_fabrics_without_report(both_sides, run, names)
        if pair.same or pair.source_name in alike
    )
    missing = {problem.path for problem in former.problems}
    problems = (
        *run.policies.problems,
        *former.problems,
        *(problem for problem in run.problems if problem.path not in missing),
    )
    outcome = merge_outcomes(outcomes)
    wrong = dict.fromkeys((*outcome.problems, *run.policies.wrong, *run.wrong))
    outcome = replace(outcome, notes=(*outcome.notes, *both_sides.notes), problems=tuple(wrong))
    return (
        CheckedChange(
            base=base,
            fabrics=tuple(fabric for fabric in fabrics if fabric.name not in alike),
            unchanged_fabrics=same,
            outdated_builds=tuple(unfit),
            outcome=outcome,
            notes=both_sides.notes,
            blockers=tuple(stops),
            base_problems=tuple(dict.fromkeys(problems)),
        ),
        planned,
    )


def _blocking_findings(new_plan: Plan, readings: tuple[Reading, Reading], ask: CheckRequest) -> tuple[Finding, ...]:
    """Return the blocked effects of a fabric's change, at their places in its new files."""
    risky = () if ask.risk is None else risk_findings(new_plan, ask.risk)
    return locate_findings((*build_hazard_findings(new_plan, gate=ask.gate), *risky), readings[1])


def _unfit_build_findings(unfit: OutdatedBuild, both_sides: ComparedFabrics, run: CheckRun) -> tuple[Finding, ...]:
    """Return the verdict on a build that does not fit, at its place in the build or, if missing there, the intent."""
    new = {fabric_source_name(pair.new): pair.new for pair in both_sides.pairs if pair.new is not None}
    build = run.reading(new.get(unfit.build), old=False)
    finding = unfit_told(unfit, build)
    found_finding = locate_findings([finding], build)[0] if build is not None else finding
    return (
        found_finding
        if found_finding.located
        else replace(found_finding, located=FileLocation(file=unfit.intent, span=None)),
    )


def _pairs_of_fabrics_without_report(
    both_sides: ComparedFabrics, run: CheckRun, reported_names: Collection[str]
) -> Iterator[FabricSourcePair]:
    """Yield each fabric of switches without a report, once: an intent represents its builds."""
    intents = intent_by_build_folder(both_sides, run.switch_names_of_source)
    named = (pair.new for pair in both_sides.pairs if pair.source_name in reported_names)
    loud = IdentitySet(source for source in named if source is not None)
    loud |= IdentitySet(intents[source] for source in loud if source in intents)
    for pair in both_sides.pairs:
        source = pair.new
        if source in loud or source in intents:
            continue
        if isinstance(source, FileText) or _has_switches(source):
            yield pair


def _has_switches(source: FabricSource | None) -> bool:
    return isinstance(source, FabricInputs) and bool(source.bundles)


def _is_empty_source(source: FabricSource | None) -> bool:
    return isinstance(source, FabricInputs) and not source.bundles and not source.hosts


def _has_no_changes(fabric: ChangedFabric) -> bool:
    findings = fabric.findings
    return fabric.plan.is_empty and not (
        findings.new or findings.fixed or findings.suppressed or fabric.routing.changes
    )


def _check_pair(
    pair: FabricSourcePair, both_sides: ComparedFabrics, check_run: CheckRun
) -> tuple[ChangedFabric, FabricOutcome, tuple[Reading, Reading]] | None:
    new, old = check_run.reading(pair.new, old=False), check_run.reading(pair.old, old=True)
    if pair.new is not None and new is None:
        return None
    if new is None and old is None:
        return None
    before = old if old is not None else _make_empty_reading(new)
    after = new if new is not None else _make_empty_reading(old)
    check_run.problems.extend(before.problems)
    before, after = (remove_switches(reading, check_run.unreadable_switches(pair.new)) for reading in (before, after))
    governed = apply_base_policy(pair, both_sides, before, after, check_run)
    after = keep_former_modes(governed.after, before)
    other_reading = (
        add_back_switches_moved_to_other_fabrics(pair, both_sides, before, after, check_run) or governed.checked
    )
    checked = after if other_reading is governed.after else keep_former_modes(other_reading, before)
    check_run.progress(f"comparing {pair.source_name}")
    new_plan = replace(plan(replace(before, problems=()), after), problems=())
    indices = (first_index := Index(before.fabric)), Index(after.fabric, first_index)
    own_indices = indices if checked is after else (first_index, Index(checked.fabric, first_index))
    routing = _compare_routing(new_plan, before, after, indices, check_run)
    if check_run.ask.rollout:
        computed = not routing.not_computed and bool(before.fabric.devices and after.fabric.devices)
        new_plan = order_rollout(
            new_plan,
            before,
            after,
            check_run.settings,
            routing=computed,
            fabrics=check_run.fabrics,
            progress=check_run.progress,
        )
    rules = judging.chosen_rules(check_run.settings, failures=not routing.not_computed)
    near = parts_near_changes((before, checked), own_indices, rules, check_run.settings)
    outcome = FabricOutcome(name=pair.source_name)
    if checked.fabric.devices or checked.fabric.nics or after.problems:
        outcome = judging.run_rules(
            checked,
            rules,
            check_run.settings,
            index=own_indices[1],
            rechecked_part=near[1],
            progress=check_run.progress,
        )
    was = FabricOutcome()
    if before.fabric.devices or before.fabric.nics:
        briefly = replace(check_run.settings, whole=False, advised=False)
        was = judging.run_rules(
            before, rules, briefly, index=indices[0], rechecked_part=near[0], progress=check_run.progress
        )
    findings = compare_findings(was, outcome, is_whole=near[1] is None)
    if governed.proposed is not None:
        check_run.passed.append(
            find_newly_passing_findings(governed, (before, outcome, findings), rules, first_index, check_run)
        )
    reported_outcome = replace(outcome, name=pair.source_name, findings=findings.new)
    former_name = None if old is None else fabric_source_name(pair.old)
    changed = ChangedFabric(
        name=pair.source_name,
        former_name=former_name,
        plan=new_plan,
        findings=findings,
        routing=routing,
        reach=compute_blast_radius_of_plan(new_plan, (before.fabric, after.fabric)),
        claims=_compare_claims(new_plan, before, after, indices, check_run),
        removed=pair.new is None,
    )
    return changed, reported_outcome, (before, after)


def _make_empty_reading(reading: Reading | None) -> Reading:
    """Return the reading of a fabric without any part yet, or without any part left."""
    assert reading is not None
    return Reading(fabric=replace(reading.fabric, devices=(), links=(), hosts=(), nics=()))


def _compare_routing(
    new_plan: Plan, old: Reading, new: Reading, indices: tuple[Index, Index], run: CheckRun
) -> RoutingChanges:
    size = max(len(reading.fabric.devices) for reading in (old, new))
    asked = run.ask.routing
    if asked is False:
        return RoutingChanges(not_computed="not asked for", wanted=False)
    if not (old.fabric.devices and new.fabric.devices):
        return RoutingChanges(
            not_computed="" if size <= MAX_DEVICES_FOR_ROUTING else "the fabric is new, or gone", wanted=False
        )
    if asked is None and not may_reroute(new_plan):
        return RoutingChanges(not_computed="nothing changes that it depends on", wanted=False)
    if asked is None and size > MAX_DEVICES_FOR_ROUTING:
        return RoutingChanges(
            not_computed=f"of more than {MAX_DEVICES_FOR_ROUTING} switches it is on request: --routing"
        )
    run.progress(f"computing routes of {new.fabric.name}")
    changes = tuple(find_routing_changes(*indices))
    if run.ask.batfish is None:
        return RoutingChanges(changes=changes)
    from nodrop.validating.batfish import compare_builds

    found_difference = compare_builds(old, new, run.ask.batfish, progress=run.progress)
    return RoutingChanges(changes=changes, flows=found_difference.flows, notes=found_difference.notes)


def _compare_claims(
    new_plan: Plan, old: Reading, new: Reading, indices: tuple[Index, Index], run: CheckRun
) -> tuple[DeadlockAndPauseClaims, DeadlockAndPauseClaims] | None:
    """Return the claims about both states; None if no change affects them, or where routing is not computed."""
    fabrics = [reading.fabric for reading in (old, new)]
    sizes = [len(fabric.devices) for fabric in fabrics]
    if run.ask.routing is False or not min(sizes) or (run.ask.routing is None and max(sizes) > MAX_DEVICES_FOR_ROUTING):
        return None
    qos = [[port.qos for device in fabric.devices for port in device.interfaces] for fabric in fabrics]
    tunnels = [[(device.dual_tor, device.tunnels, device.mux_cables) for device in one.devices] for one in fabrics]
    same = qos[0] == qos[1] and tunnels[0] == tunnels[1] and fabrics[0].hosts == fabrics[1].hosts
    if same and not may_reroute(new_plan):
        return None
    return prove_claims(indices[0]), prove_claims(indices[1])


def _counterpart_sources(both_sides: ComparedFabrics, run: CheckRun) -> Iterator[FabricSource]:
    """Yield the sources that come or go while their fabric stays, or that the intent that goes with them reports.

    Their fabric stays for a first build of an intent, and for an intent whose build stays.
    """
    staying_pairs = [(pair.old, pair.new) for pair in both_sides.pairs if pair.old is not None and pair.new is not None]
    going = [(pair.old, None) for pair in both_sides.pairs if pair.new is None and isinstance(pair.old, FileText)]
    for pair in both_sides.pairs:
        source = pair.old if pair.new is None else pair.new if pair.old is None else None
        candidates = [states[pair.new is not None] for states in (*staying_pairs, *going)]
        if (
            source is not None
            and not _is_empty_source(source)
            and find_build_counterparts(source, candidates, run.switch_names_of_source)
        ):
            yield source
