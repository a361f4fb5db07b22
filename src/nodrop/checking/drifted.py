"""`nodrop drift`: reads the running fabric with the intended facts added to it, and checks both alike."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace

from nodrop import fabric_readings, judging
from nodrop.checking.finding_comparison import compare_findings
from nodrop.checking.rollout import order_rollout, should_compute_routing
from nodrop.checking.two_states import remove_switches
from nodrop.errors import InputProblems, Problem
from nodrop.inputs import FabricInputs
from nodrop.judging import CheckSettings
from nodrop.model.reading import Reading
from nodrop.model.subject import natural_sort_key
from nodrop.plan.drifting import declared_facts_of, drift
from nodrop.results.drifted import DriftResult


def compare_with_wanted(
    running_inputs: FabricInputs,
    wanted_inputs: FabricInputs,
    name: str,
    settings: CheckSettings,
    executor: Executor | None = None,
    *,
    running_name: str,
    rollout: bool = True,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[DriftResult, tuple[Reading, Reading]]:
    """Compare running files with the intended fabric, called by its `name`; return also the readings of both.

    The settings apply to the running fabric first, and the intended fabric states the rest: cables, classes, roles.
    It is checked as if switches that were not collected ran as intended; so are, if `rollout`, the intermediate states
    up to the intended one. Raise InputProblems if either is not one fabric, or is nothing; if that is the running one,
    under `running_name`.
    """
    progress(f"reading {name}")
    after = fabric_readings.require_one_fabric_reading(wanted_inputs, settings, name)
    progress("reading what runs")
    stated = settings.declared.completed_from(declared_facts_of(after.fabric))
    before = fabric_readings.read_fabric_or_intent(
        running_inputs.require_single_fabric(), replace(settings, declared=stated), executor
    )
    if not before.fabric.devices:
        expected = "the files of switches, as they run"
        nothing = Problem(path=running_name, found="no configuration", expected=expected)
        raise InputProblems(before.problems or [nothing])
    progress("comparing")
    new_drift = drift(before, after)
    rules = judging.chosen_rules(settings)
    whole_reading = _add_uncollected_switches(before, after)
    outcome = judging.run_rules(whole_reading, rules, settings, progress=progress)
    rule = judging.run_rules(after, rules, replace(settings, whole=False, advised=False), progress=progress)
    fared = compare_findings(rule, outcome)
    plan = replace(new_drift.plan, problems=())
    if rollout and not plan.is_empty:
        progress("checking intermediate states")
        start = remove_switches(whole_reading, new_drift.foreign)
        plan = order_rollout(plan, start, after, settings, routing=should_compute_routing(plan, start, after))
    problems = tuple(dict.fromkeys((*outcome.problems, *after.problems)))
    names = {device.name for device in after.fabric.devices}
    return (
        DriftResult(
            intended=name,
            switches=sum(device.name in names for device in before.fabric.devices),
            drift=replace(new_drift, plan=plan),
            outcome=replace(outcome, findings=fared.new, problems=problems),
            shared=fared.unchanged or 0,
        ),
        (before, after),
    )


def _add_uncollected_switches(running: Reading, wanted_reading: Reading) -> Reading:
    """Return what runs with the switches that were not collected, as they are wanted."""
    known_names = {device.name for device in running.fabric.devices}
    missing = [device for device in wanted_reading.fabric.devices if device.name not in known_names]
    devices = sorted((*running.fabric.devices, *missing), key=lambda device: natural_sort_key(device.name))
    sources = {device.name: wanted_reading.sources.get(device.name, ()) for device in missing}
    return replace(
        running,
        fabric=replace(running.fabric, devices=tuple(devices)),
        sources={**running.sources, **sources},
        derived={**{at: why for at, why in wanted_reading.derived.items() if at[0] in sources}, **running.derived},
    )
