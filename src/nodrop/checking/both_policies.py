"""The new state of a fabric by the policy of the base, and by that of the change where they differ."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from nodrop import judging
from nodrop.checking.comments import keep_only_former_allow_comments
from nodrop.checking.policy import PolicyFileChange, changed_wanted_keys, fabric_policy_change
from nodrop.checking.policy_changes import NewlyPassingFindings, compare_policies, find_previous_fabric
from nodrop.checking.rerouting import MAX_DEVICES_FOR_ROUTING
from nodrop.checking.run import CheckRun
from nodrop.checking.two_states import ComparedFabrics, FabricSourcePair, remove_switches
from nodrop.engine.nearby import AffectedPart, find_parts_to_recheck
from nodrop.engine.rule import Rule
from nodrop.engine.verdicts import analysis_hits, rule_options
from nodrop.inputs import FabricInputs
from nodrop.judging import CheckSettings
from nodrop.model.declared import DeclaredFacts
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.results.checked import FindingChanges
from nodrop.results.outcome import FabricOutcome

ReportProgress = Callable[[str], None]
ExecutorFactory = Callable[[int], AbstractContextManager[Executor | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStateByPolicy:
    """The new state of a fabric as its plan has it, as it is checked, and as the change would have it checked."""

    after: Reading
    checked: Reading
    proposed: Reading | None = None
    """None where the policy stays as it is."""
    changes: tuple[PolicyFileChange, ...] = ()


def apply_base_policy(
    pair: FabricSourcePair,
    both_states: ComparedFabrics,
    reading_before: Reading,
    reading_after: Reading,
    check_run: CheckRun,
) -> NewStateByPolicy:
    """Return the new state with comments and a fabric.yaml that count as far as the base has them."""
    policies = check_run.policies
    if policies.work or pair.new is None:
        return NewStateByPolicy(after=reading_after, checked=reading_after)
    allowed = keep_only_former_allow_comments(reading_after, reading_before if pair.old is not None else None)
    was = pair.old if isinstance(pair.old, FabricInputs) else find_previous_fabric(pair.new, both_states)
    changes, beside = allowed.changes, None
    if isinstance(pair.new, FabricInputs) and was is not None:
        declared_context, former_context = (
            check_run.read_facts_declared_beside_files(pair.new) or DeclaredFacts(),
            check_run.read_facts_declared_beside_files(was) or DeclaredFacts(),
        )
        if keys := changed_wanted_keys(former_context, declared_context):
            beside = declared_context.with_policy_of(former_context)
            changes += (fabric_policy_change(keys, pair.new, was, both_states.former),)
    if not changes and policies.proposed is None:
        return NewStateByPolicy(after=reading_after, checked=reading_after)
    kept_reading = allowed.reading
    checked = kept_reading
    if beside is not None:
        reading = check_run.reread_with_settings(
            pair.new, reading_after, policies.settings_for_state(old=False), beside
        )
        checked = replace(
            remove_switches(reading, check_run.unreadable_switches(pair.new)), allowed=kept_reading.allowed
        )
    proposed = reading_after
    if policies.proposed is not None:
        proposed = remove_switches(
            check_run.reread_with_settings(pair.new, reading_after, policies.proposed.settings, None),
            check_run.unreadable_switches(pair.new),
        )
    return NewStateByPolicy(after=kept_reading, checked=checked, proposed=proposed, changes=changes)


def find_newly_passing_findings(
    governed: NewStateByPolicy,
    check_results: tuple[Reading, FabricOutcome, FindingChanges],
    rules: Sequence[Rule],
    first_index: Index,
    check_run: CheckRun,
) -> NewlyPassingFindings:
    """Check a new state by the policy of the change too, and return what passes by that alone."""
    before, outcome, findings = check_results
    policy, proposed, reading = (
        check_run.policies.held,
        check_run.policies.proposed or check_run.policies.held,
        governed.proposed,
    )
    assert reading is not None
    failures = any(rule.failures for rule in rules)
    other_rules = judging.chosen_rules(proposed.settings, failures=failures)
    index = Index(reading.fabric, first_index)
    near = parts_near_changes((before, reading), (first_index, index), other_rules, proposed.settings)
    would = judging.run_rules(
        reading, other_rules, proposed.settings, index=index, rechecked_part=near[1], progress=check_run.progress
    )
    return compare_policies(
        policy, outcome, findings, proposed, would, rules, check_run.policies.changes, governed.changes
    )


def parts_near_changes(
    readings: tuple[Reading, Reading], indices: tuple[Index, Index], rules: Sequence[Rule], settings: CheckSettings
) -> tuple[AffectedPart | None, AffectedPart | None]:
    """Return the parts of both states where findings can differ, for fabrics that are too large to check twice."""
    if max(len(reading.fabric.devices) for reading in readings) <= MAX_DEVICES_FOR_ROUTING:
        return None, None
    options = settings.config.options
    return find_parts_to_recheck(
        readings, indices, rules, lambda rule, index: analysis_hits(rule, index, rule_options(rule, options))
    ) or (
        None,
        None,
    )
