"""The new state of a fabric by the policy of the base, and by that of the change where they differ."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from nodrop import judging
from nodrop.checking.comments import allowed_before
from nodrop.checking.policy import PolicyChange, fabric_change, wanted_keys
from nodrop.checking.policy_changes import Passing, left_by, passing
from nodrop.checking.rerouting import MOST_DEVICES
from nodrop.checking.run import Run
from nodrop.checking.two_states import Pair, Sides, without
from nodrop.engine.nearby import Part, nearby
from nodrop.engine.rule import Rule
from nodrop.engine.verdicts import hits, options_of
from nodrop.inputs import Inputs
from nodrop.judging import Settings
from nodrop.model.declared import Declared
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.results.checked import Settled
from nodrop.results.outcome import Outcome

Progress = Callable[[str], None]
Workers = Callable[[int], AbstractContextManager[Executor | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Governed:
    """The new state of a fabric as its plan has it, as it is checked, and as the change would have it checked."""

    after: Reading
    checked: Reading
    proposed: Reading | None = None
    """None where the policy stays as it is."""
    changes: tuple[PolicyChange, ...] = ()


def governed_by(pair: Pair, sides: Sides, before: Reading, after: Reading, run: Run) -> Governed:
    """Return the new state with comments and a fabric.yaml that count as far as the base has them."""
    policies = run.policies
    if policies.work or pair.new is None:
        return Governed(after=after, checked=after)
    allowed = allowed_before(after, before if pair.old is not None else None)
    was = pair.old if isinstance(pair.old, Inputs) else left_by(pair.new, sides)
    changes, beside = allowed.changes, None
    if isinstance(pair.new, Inputs) and was is not None:
        declared_context, former_context = (
            run.read_declared_context(pair.new) or Declared(),
            run.read_declared_context(was) or Declared(),
        )
        if keys := wanted_keys(former_context, declared_context):
            beside = declared_context.with_policy_of(former_context)
            changes += (fabric_change(keys, pair.new, was, sides.former),)
    if not changes and policies.proposed is None:
        return Governed(after=after, checked=after)
    kept_reading = allowed.reading
    checked = kept_reading
    if beside is not None:
        reading = run.again(pair.new, after, policies.reading(old=False), beside)
        checked = replace(without(reading, run.unread(pair.new)), allowed=kept_reading.allowed)
    proposed = after
    if policies.proposed is not None:
        proposed = without(run.again(pair.new, after, policies.proposed.settings, None), run.unread(pair.new))
    return Governed(after=kept_reading, checked=checked, proposed=proposed, changes=changes)


def passing_by(
    governed: Governed,
    check_results: tuple[Reading, Outcome, Settled],
    rules: Sequence[Rule],
    first_index: Index,
    run: Run,
) -> Passing:
    """Check a new state by the policy of the change too, and return what passes by that alone."""
    before, outcome, findings = check_results
    policy, proposed, reading = run.policies.held, run.policies.proposed or run.policies.held, governed.proposed
    assert reading is not None
    failures = any(rule.failures for rule in rules)
    other_rules = judging.chosen_rules(proposed.settings, failures=failures)
    index = Index(reading.fabric, first_index)
    near = near_changes((before, reading), (first_index, index), other_rules, proposed.settings)
    would = judging.run_rules(reading, other_rules, proposed.settings, index=index, near=near[1], progress=run.progress)
    return passing(policy, outcome, findings, proposed, would, rules, run.policies.changes, governed.changes)


def near_changes(
    readings: tuple[Reading, Reading], indices: tuple[Index, Index], rules: Sequence[Rule], settings: Settings
) -> tuple[Part | None, Part | None]:
    """Return the parts of both states where findings can differ, for fabrics that are too large to check twice."""
    if max(len(reading.fabric.devices) for reading in readings) <= MOST_DEVICES:
        return None, None
    options = settings.config.options
    return nearby(readings, indices, rules, lambda rule, index: hits(rule, index, options_of(rule, options))) or (
        None,
        None,
    )
