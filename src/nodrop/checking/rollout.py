"""The states between, judged as both ends are: whether a plan breaks something on its way, and which order does not."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from nodrop import judging
from nodrop.accepted_findings import apply_suppressions
from nodrop.checking.rerouting import MAX_DEVICES_FOR_ROUTING, may_reroute
from nodrop.checking.switch_steps import StatesWithinSwitches, StateWithinSwitch, extract_neighborhood, replace_device
from nodrop.engine.finding import FabricVerdict, Finding
from nodrop.engine.nearby import find_rules_unaffected_by_change
from nodrop.engine.rule import Rule
from nodrop.engine.verdicts import NOTHING_JUDGED, JudgedRules, judge, rule_severity
from nodrop.errors import Problem
from nodrop.identity import IdentityKey, IdentityMap
from nodrop.judging import CheckSettings
from nodrop.model.fabric import Device, Host
from nodrop.model.reading import Reading
from nodrop.model.subject import subject_sort_key
from nodrop.plan.model import HazardTime, Plan, RolloutCheckResult, RolloutHazard, RolloutStage
from nodrop.plan.order import RolloutOrder, possible_orders
from nodrop.plan.shares import ChangesByScope
from nodrop.plan.states import (
    DoneScopesBySwitch,
    RolloutMoment,
    RolloutStates,
    StatedSide,
    rollout_moments,
    scopes_done_after,
)
from nodrop.report.names import escape_or_quote_name, format_name_list

_MIN_JUDGED_SWITCHES = 2_000
"""Switches that are judged on the way of plans, however small their fabrics are."""
_JUDGED_SWITCHES_PER_FABRIC_SWITCH = 6
"""How often as many switches as a fabric has are judged on its way; by errors alone, in half the time of all rules."""
_ALL_RULES_COST_IN_SWITCHES = 10
"""What it costs to judge a state with all rules, in switches."""
ReportProgress = Callable[[str], None]
ErrorsByFingerprint = dict[str, Finding]
"""Errors by fingerprint: the same fault with other facts is the same."""
_StateKey = tuple[frozenset[tuple[str, object]], StatedSide]
_StatedSideAndHosts = tuple[StatedSide, tuple[IdentityKey[Host], ...]]


def order_rollout(
    plan: Plan,
    old_reading: Reading,
    new_reading: Reading,
    settings: CheckSettings,
    *,
    routing: bool,
    fabrics: int = 1,
    progress: ReportProgress = lambda _: None,
) -> Plan:
    """Return a plan in the order with the least hazards during rollout, and with the remaining hazards.

    `fabrics` is the number of fabrics with plans, which share the available time.

    A hazard is an error of an intermediate state that neither end has. Two cases are no hazard: a part that comes or
    goes as a whole is not whole yet, and the two ends of a cable or session that change at the same time differ for a
    moment.
    """
    if not plan.order:
        return plan
    staying = [device for device in plan.devices if device.old is not None and device.new is not None]
    if not any(device_change.parts or device_change.kind != "changed" for device_change in staying):
        return replace(plan, rollout=RolloutCheckResult())
    search = _RolloutSearch(
        plan,
        old_reading,
        new_reading,
        settings,
        routing=routing,
        least=_MIN_JUDGED_SWITCHES // fabrics,
        progress=progress,
    )
    best: tuple[RolloutOrder, RolloutCheckResult] | None = None
    avoided: RolloutHazard | None = None
    for order in search.candidate_rollout_orders():
        new_rollout = search.find_hazards_of_order(
            order, hazard_limit=None if best is None else _count_hazard_rules(best[1])
        )
        if new_rollout is None:
            continue
        best = order, new_rollout
        if not new_rollout.hazards:
            break
        avoided = avoided or new_rollout.hazards[0]
    assert best is not None
    order, new_rollout = best
    rollout = replace(new_rollout, why=order.why, avoided=avoided if order.why else None)
    return replace(plan, order=order.stages, rollout=rollout, problems=(*plan.problems, *search.problems))


def _count_hazard_rules(rollout: RolloutCheckResult) -> int:
    """Return how many different faults there are: where one begins later, or on fewer ports, no order is better."""
    return len({hazard.rule for hazard in rollout.hazards})


def should_compute_routing(plan: Plan, old_reading: Reading, new_reading: Reading) -> bool:
    """Whether routing matters to a plan, and is cheap enough to compute unasked."""
    sides = [reading.fabric.devices for reading in (old_reading, new_reading)]
    return all(sides) and max(map(len, sides)) <= MAX_DEVICES_FOR_ROUTING and may_reroute(plan)


class _RolloutSearch:
    """A plan, and the known facts of its intermediate states."""

    def __init__(
        self,
        plan: Plan,
        old: Reading,
        new: Reading,
        settings: CheckSettings,
        *,
        routing: bool,
        least: int = _MIN_JUDGED_SWITCHES,
        progress: ReportProgress = lambda _: None,
    ) -> None:
        self._plan, self._new = plan, new
        self._added = frozenset(change.name for change in plan.devices if change.kind == "added")
        self._shares = ChangesByScope(plan.devices, old.fabric, new.fabric)
        self._states = RolloutStates(plan.devices, old, new, self._shares, near=not routing)
        self._restated = any(
            getattr(old.fabric, field) != getattr(new.fabric, field)
            for field in ("mode", "classes", "hosts", "nics", "policy")
        )
        self._insides = StatesWithinSwitches(plan, old, self._shares)
        self._remoded = old.fabric.mode != new.fabric.mode
        self._settings = settings
        self._rules = _error_rules(settings, routing=routing)
        guessed = bool(old.assumed or new.assumed)
        own = {rule.name for rule in self._rules if rule.decides_from_switch_alone and not (guessed and rule.assumed)}
        self._own_rules = [rule for rule in self._rules if rule.name in own]
        self._other_rules = [rule for rule in self._rules if rule.name not in own]
        self._still_rules = find_rules_unaffected_by_change((old, new), self._other_rules)
        self._progress = progress
        self._left = max(
            least, _JUDGED_SWITCHES_PER_FABRIC_SWITCH * max(len(reading.fabric.devices) for reading in (old, new))
        )
        self.problems: dict[Problem, None] = {}
        """Rules that failed at a state, once each."""
        self._known: dict[_StateKey, ErrorsByFingerprint] = {}
        self._known_around: dict[tuple[object, ...], tuple[Reading, Set[str]]] = {}
        self._known_of_still_rules: dict[StatedSide, Sequence[Finding]] = {}
        self._known_of_switch: dict[_StatedSideAndHosts, IdentityMap[Device, Sequence[Finding]]] = {}

    def candidate_rollout_orders(self) -> Iterator[RolloutOrder]:
        """Yield the orders that come into question, the usual one first."""
        return possible_orders(self._plan.devices, self._shares, self._new.fabric, restated=self._restated)

    def find_hazards_of_order(
        self, order: RolloutOrder, *, hazard_limit: int | None = None
    ) -> RolloutCheckResult | None:
        """Return the hazards of an order, as far as there is time.

        With `hazard_limit`, return None unless all of it was tried and it has fewer kinds of faults.
        """
        found_moments, alike = rollout_moments(order.stages, self._added)
        every: Iterable[RolloutMoment | StateWithinSwitch] = chain(
            found_moments, self._insides.states_within_switches_of_order(order)
        )
        stated: StatedSide = "old" if order.stated == "last" else "new"
        met: dict[str, _TransientFault] = {}
        tried = untried_count = 0
        for moment in every:
            if not self._has_time_for_state(moment, stated):
                if hazard_limit is not None:
                    return None
                untried_count += 1
                continue
            tried += 1
            moment_text = _render_moment(moment, order.stages)
            for finding in self._hazards_at_moment(moment, order.stages, stated):
                met.setdefault(finding.fingerprint, _TransientFault(moment.when, moment.stage, moment_text, finding))
            if hazard_limit is not None and len({fault.finding.rule for fault in met.values()}) >= hazard_limit:
                return None
        hazards = sorted(_group_hazards(met.values()), key=lambda hazard: (hazard.stage, hazard.rule))
        return RolloutCheckResult(
            hazards=tuple(hazards),
            states_checked=tried,
            states_not_checked=untried_count + alike + self._insides.untried,
        )

    def _hazards_at_moment(
        self, moment: RolloutMoment | StateWithinSwitch, stages: Sequence[RolloutStage], stated: StatedSide
    ) -> Iterator[Finding]:
        if isinstance(moment, StateWithinSwitch):
            sides: tuple[StatedSide, ...] = ("old", "new") if self._remoded else (stated,)
            yield from (finding for side in sides for finding in self._hazards_during_change(moment, stages, side))
            return
        going = stages[moment.stage - 1].devices if moment.when == "within stage" else ()
        found = self._find_state_errors(moment.done, stated)
        known = self._faults_of_end_states(stated) if found else frozenset()
        for state_error in found.values():
            fault_paths = (state_error.subject, state_error.at)
            if state_error.fingerprint in known or any(map(self._states.comes_or_goes_whole, fault_paths)):
                continue
            if not any(self._states.joins_switches(subjects, going) for subjects in fault_paths):
                yield state_error

    def _hazards_during_change(
        self, moment: StateWithinSwitch, stages: Sequence[RolloutStage], stated: StatedSide
    ) -> Iterator[Finding]:
        """Yield the faults of a switch that is being changed which neither the stage before nor that after has."""
        before, end_faults = self._judge_around_switch(moment.name, stages[: moment.stage], stated)
        reading = replace_device(before, moment.device)
        self._left -= len(reading.fabric.devices) + _ALL_RULES_COST_IN_SWITCHES
        for finding in self._find_reading_errors(reading, stated).values():
            passing = any(map(self._states.comes_or_goes_whole, (finding.subject, finding.at)))
            if finding.subject[0] == moment.name and finding.fingerprint not in end_faults and not passing:
                yield finding

    def _judge_around_switch(
        self, name: str, stages: Sequence[RolloutStage], stated: StatedSide
    ) -> tuple[Reading, Set[str]]:
        """Return a switch and its neighbors before the last of `stages`, and the faults of these before and after."""
        moments = [scopes_done_after(stages[:-1]), scopes_done_after(stages)]
        key = name, *(self._cache_key_of_state(done, stated) for done in moments)
        if key not in self._known_around:
            before, after = (
                extract_neighborhood(self._states.reading_after_changes(done, stated), name) for done in moments
            )
            self._left -= len(before.fabric.devices) + len(after.fabric.devices)
            faults = self._find_reading_errors(before, stated).keys() | self._find_reading_errors(after, stated).keys()
            self._known_around[key] = before, faults
        return self._known_around[key]

    def _faults_of_end_states(self, stated: StatedSide) -> Set[str]:
        """Return the faults of both ends.

        If the mode changes, the faults of either mode on the other's switches count too: a switch that was lossy before
        or will be need not be lossless.
        """
        every = self._states.all_changes_done
        end_faults = self._find_state_errors({}, "old").keys() | self._find_state_errors(every, "new").keys()
        if self._remoded:
            end_faults |= self._find_state_errors({}, stated).keys() | self._find_state_errors(every, stated).keys()
        return end_faults

    def _has_time_for_state(self, moment: RolloutMoment | StateWithinSwitch, stated: StatedSide) -> bool:
        """Whether there is time to judge a state; the ends that it is held against are judged in any case."""
        if isinstance(moment, StateWithinSwitch):
            return self._left > 0
        return (
            self._cache_key_of_state(moment.done, stated) in self._known
            or self._left >= self._states.max_switch_count + _ALL_RULES_COST_IN_SWITCHES
        )

    def _cache_key_of_state(self, done: DoneScopesBySwitch, stated: StatedSide) -> _StateKey:
        return frozenset(done.items()), stated

    def _find_state_errors(self, done: DoneScopesBySwitch, stated_side: StatedSide) -> ErrorsByFingerprint:
        """Return the errors of a state."""
        key = self._cache_key_of_state(done, stated_side)
        if key not in self._known:
            self._progress(f"checking intermediate states, {len(self._known) + 1}")
            reading = self._states.reading_after_changes(done, stated_side)
            self._left -= len(reading.fabric.devices) + _ALL_RULES_COST_IN_SWITCHES
            self._known[key] = self._find_reading_errors(reading, stated_side, self._still_rules)
        return self._known[key]

    def _find_reading_errors(
        self, reading: Reading, stated: StatedSide, still_rules: Sequence[Rule] = ()
    ) -> ErrorsByFingerprint:
        """Return the errors of a reading; of a state of the whole fabric, those of `still_rules` are found once."""
        own = self._findings_of_single_switch_rules(reading, stated)
        still: Sequence[Finding] = ()
        if still_rules:
            if stated not in self._known_of_still_rules:
                self._known_of_still_rules[stated] = self._judge(reading, still_rules).findings
            still = self._known_of_still_rules[stated]
        names = {rule.name for rule in still_rules}
        rules = [rule for rule in self._other_rules if rule.name not in names]
        verdict = self._judge(reading, rules, JudgedRules([*self._own_rules, *still_rules], [*own, *still]))
        findings = verdict.findings
        if self._settings.suppressing:
            findings, _ = apply_suppressions(
                verdict, reading, judging.build_suppression_context(self._rules, self._settings)
            )
        return {
            finding.fingerprint: finding for finding in findings if not finding.hidden and finding.severity == "error"
        }

    def _findings_of_single_switch_rules(self, reading: Reading, stated: StatedSide) -> list[Finding]:
        """Return the findings of rules that need no other switch; most states have a switch as one of its ends."""
        devices, hosts = reading.fabric.devices, tuple(map(IdentityKey, reading.fabric.hosts))
        known = self._known_of_switch.setdefault((stated, hosts), IdentityMap())
        new = [device for device in devices if device not in known]
        if new:
            derived = {
                at: why for device in new for at, why in self._states.documented_defaults_of_switch(device.name).items()
            }
            alone = replace(reading, fabric=replace(reading.fabric, devices=tuple(new), links=()), derived=derived)
            errors: dict[str, list[Finding]] = {device.name: [] for device in new}
            for finding in self._judge(alone, self._own_rules).findings:
                errors[finding.subject[0]].append(finding)
            for device in new:
                known[device] = errors[device.name]
        return list(chain.from_iterable(known[device] for device in devices))

    def _judge(self, reading: Reading, rules: Sequence[Rule], judged: JudgedRules = NOTHING_JUDGED) -> FabricVerdict:
        config = self._settings.config
        verdict = judge(
            reading,
            rules,
            strictness=self._settings.strictness,
            severity_overrides=config.severity,
            options=config.options,
            judged=judged,
            brief=True,
        )
        self.problems.update(dict.fromkeys(verdict.problems))
        return verdict


def _error_rules(settings: CheckSettings, *, routing: bool) -> tuple[Rule, ...]:
    """Return the rules whose findings are errors; an end already has the faults of a text alone.

    Include those that need the control plane only if the change matters to `routing`: else states are parts of the
    fabric.
    """
    every = judging.chosen_rules(settings, failures=routing)
    rules = (rule for rule in every if routing or not rule.routed)
    overrides = settings.config.severity
    return tuple(rule for rule in rules if rule_severity(rule, overrides) == "error" and not rule.remark)


class _TransientFault(NamedTuple):
    """A fault of a state between, and when it is met first."""

    when: HazardTime
    stage: int
    moment: str
    finding: Finding


def _group_hazards(faults: Iterable[_TransientFault]) -> Iterator[RolloutHazard]:
    """Yield hazards, those of one rule as one, which begins with the first."""
    together: dict[tuple[HazardTime, str], list[_TransientFault]] = {}
    for fault in faults:
        together.setdefault((fault.when, fault.finding.rule), []).append(fault)
    for (when, rule), alike in together.items():
        _, stage, moment, first_finding = min(
            alike, key=lambda row: (row.stage, subject_sort_key(row.finding.subject), row.finding.message)
        )
        yield RolloutHazard(
            when=when,
            stage=stage,
            moment=moment,
            rule=rule,
            severity=first_finding.severity,
            subject=first_finding.subject,
            message=first_finding.message,
            subjects_count=len(alike),
        )


def _render_moment(moment: RolloutMoment | StateWithinSwitch, stages: Sequence[RolloutStage]) -> str:
    if isinstance(moment, StateWithinSwitch):
        return f"while {escape_or_quote_name(moment.name)} changes, after {moment.after}"
    stage_names = [_render_stage(stage) for stage in stages[moment.stage - 1 : moment.stage + 1]]
    return f"while {stage_names[0]} change" if moment.when == "within stage" else f"between {' and '.join(stage_names)}"


def _render_stage(stage: RolloutStage) -> str:
    shares = dict.fromkeys(str(share) for share in stage.scopes if share.kind != "all")
    share_text = f" ({'; '.join(shares)})" if shares else ""
    return f"{format_name_list(map(escape_or_quote_name, stage.devices))}{share_text}"
