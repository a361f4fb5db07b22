"""nodrop: a compiler and linter for RoCEv2 GPU-cluster fabrics.

The public functions; each is pure where it can be:

    load(path) -> Intent                  the intent that a user wrote
    build(intent) -> Fabric               the fabric that it describes
    write(fabric) -> Iterator[Artifact]   the configurations of that fabric
    rack(fabric) -> Iterator[Artifact]    its cables, addresses and hosts, for people
    host_files(fabric) -> Iterator        the files that set the NICs of its hosts
    read(sources) -> Reading              the fabric that configurations describe, from any author
    lint(reading) -> FabricVerdict        its faults
    fix(sources) -> FixedFabric           the same configurations without faults, as far as rules can fix them
    validate(reading) -> FabricVerdict    the behavior of its control plane, and the faults in that
    plan(old, new) -> Plan                the differences of two fabrics, and their impact on running switches
    drift(running, wanted) -> Drift       the differences of running switches from the intended fabric
    check(sources, base) -> CheckedChange the impact of changed files, and the findings that they add
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

# A package has the name of the verb `plan`; loaded before it, for one that is loaded later would take the name away.
from nodrop import plan as _plan  # noqa: F401

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from pathlib import Path

    from nodrop.engine.finding import FabricVerdict
    from nodrop.engine.rule import Rule
    from nodrop.intent.schema import Intent
    from nodrop.model.declared import DeclaredFacts
    from nodrop.model.fabric import Fabric
    from nodrop.model.reading import Reading
    from nodrop.plan.model import Drift, Plan
    from nodrop.platforms.kit.artifact import Artifact
    from nodrop.results.checked import CheckedChange
    from nodrop.results.fixed import FixedFabric

__all__ = [
    "build",
    "check",
    "drift",
    "fix",
    "host_files",
    "lint",
    "load",
    "plan",
    "rack",
    "read",
    "read_back",
    "validate",
    "write",
]


def load(path: "Path") -> "Intent":
    """Read an intent; `errors.InputProblems` holds every fault of its text and schema."""
    from nodrop.intent.load import load

    return load(path)


def build(intent: "Intent") -> "Fabric":
    """Return the fabric that an intent describes; `errors.InputProblems` holds every reason why it cannot be."""
    from nodrop.design import build

    return build(intent)


def write(fabric: "Fabric") -> Iterator["Artifact"]:
    """Yield every file of every device, and last fabric.yaml (of no device), with the facts that no other holds."""
    from nodrop import context, platforms
    from nodrop.model.index import Index
    from nodrop.platforms.kit.artifact import Artifact

    index = Index(fabric)
    for device in fabric.devices:
        yield from platforms.writer_of_platform(device.platform).write(device, index)
    yield Artifact(device="", path=context.FABRIC_FILE, text=context.format_fabric_file(fabric))


def rack(fabric: "Fabric") -> Iterator["Artifact"]:
    """Yield the files that people carry to the rack: plan/cabling.csv, plan/addresses.csv, plan/hosts.csv."""
    from nodrop.report.rack import cabling_address_host_csvs

    return cabling_address_host_csvs(fabric)


def host_files(fabric: "Fabric") -> Iterator["Artifact"]:
    """Yield what sets the NICs of a fabric's hosts: scripts, templates and environments in hosts/, by NIC model."""
    from nodrop.platforms.hosts.spelling import write_host_files

    return write_host_files(fabric)


def read(
    sources: Sequence[str],
    *,
    declared: "DeclaredFacts | None" = None,
    platform: str | None = None,
    executor: "Executor | None" = None,
) -> "Reading":
    """Read files and folders as one fabric; what cannot be read is in the reading's `problems`.

    With an executor (any of `concurrent.futures`), 50 devices at a time are read wherever it works.
    InputProblems where the sources are several fabrics, each with a fabric.yaml: those are read one by one.
    """
    from nodrop import collect, inputs
    from nodrop.model.declared import DeclaredFacts

    return collect.read_inputs(
        inputs.find_inputs(sources, platform).require_single_fabric(), declared or DeclaredFacts(), executor
    )


def read_back(artifacts: Sequence["Artifact"], fabric: "Fabric", below: str = "") -> "Reading":
    """Read what `write` made, as it would be read from the folder `below`; nothing touches a disk."""
    from nodrop.collect import read_build

    return read_build(artifacts, {device.name: device.platform for device in fabric.devices}, below)


def lint(reading: "Reading", *, rules: "Sequence[Rule] | None" = None) -> "FabricVerdict":
    """Judge a reading by the shipped rules, or by `rules`."""
    from nodrop.engine.rules import select_lint_rules, shipped_rules
    from nodrop.engine.verdicts import judge

    return judge(reading, select_lint_rules(shipped_rules()) if rules is None else rules)


def fix(sources: "Sequence[str]", *, unsafe: bool = False, platform: str | None = None) -> "FixedFabric":
    """Return files and folders, read as one fabric, with all fixable faults fixed; write nothing.

    Apply only safe fixes, unless `unsafe`. Raise `errors.InputProblems` as `read` does.
    """
    from nodrop.fixing import fix
    from nodrop.inputs import find_inputs
    from nodrop.judging import CheckSettings

    return fix(find_inputs(sources, platform).require_single_fabric(), CheckSettings(), unsafe=unsafe)


def validate(reading: "Reading", *, rules: "Sequence[Rule] | None" = None) -> "FabricVerdict":
    """Compute the control plane of a reading and check its behavior, by the shipped rules of routing or by `rules`."""
    from nodrop.engine.rules import select_validate_rules, shipped_rules
    from nodrop.engine.verdicts import judge

    return judge(reading, select_validate_rules(shipped_rules()) if rules is None else rules)


def plan(old: "Reading", new: "Reading") -> "Plan":
    """Return the differences of two fabrics as they were read or built: none if the model does not change.

    A value absent on one side is no change. The old switches' own files show the impact of a change on them.
    """
    from nodrop.plan.planning import plan

    return plan(old, new)


def drift(running: "Reading", intended_reading: "Reading") -> "Drift":
    """Return where the running fabric differs from the intended one, ignoring lines that switches write by themselves.

    A value absent on one side is no drift. `nodrop drift` reads the running files with the intended facts added to
    them.
    """
    from nodrop.plan.drifting import drift

    return drift(running, intended_reading)


def check(sources: Sequence[str], base: str, *, exact: bool = False) -> "CheckedChange":
    """Return the changes of files and folders since a base, fabric by fabric: plans, new findings, routing.

    The base is a folder that holds the earlier files under the same paths (`./before`, `before/`, `/before`), or
    a revision of the git repository of the working directory: the commit where HEAD left it, unless `exact`. No
    nodrop.yaml is read; comments that allow findings, and the wishes in a fabric.yaml, count as the base has them.
    Raise InputProblems if there is no such base, or a source is not in that repository.
    """
    from nodrop.checking.check import check
    from nodrop.judging import CheckSettings
    from nodrop.revisions import open_base_state

    with open_base_state(sources, base, exact=exact) as (former, name):
        return check(sources, CheckSettings(), former, name)[0]
