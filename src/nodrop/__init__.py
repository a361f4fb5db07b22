"""nodrop: a compiler and linter for RoCEv2 GPU-cluster fabrics.

The public verbs; each is a pure function where it can be:

    load(path) -> Intent                what a user wrote
    build(intent) -> Fabric             what it means
    write(fabric) -> Iterator[Artifact] the configurations that say so
    rack(fabric) -> Iterator[Artifact]  its cables, addresses and hosts, for people
    host_files(fabric) -> Iterator      what sets the NICs of its hosts
    read(sources) -> Reading            the fabric that configurations say, whoever wrote them
    lint(reading) -> Verdict            what is wrong with it
    fix(sources) -> Fixed               the same configurations without it, as far as rules know how
    validate(reading) -> Verdict        what its control plane will do, and what of that is wrong
    plan(old, new) -> Plan              what lies between two fabrics, and what it does to switches that run
    drift(running, wanted) -> Drift     where switches run otherwise than is wanted of them
    check(sources, base) -> Checked     what a change of files does, and which findings it brings
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

# A package has the name of the verb `plan`; loaded before it, for one that is loaded later would take the name away.
from nodrop import plan as _plan  # noqa: F401

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from pathlib import Path

    from nodrop.engine.finding import Verdict
    from nodrop.engine.rule import Rule
    from nodrop.intent.schema import Intent
    from nodrop.model.declared import Declared
    from nodrop.model.fabric import Fabric
    from nodrop.model.reading import Reading
    from nodrop.plan.model import Drift, Plan
    from nodrop.platforms.kit.artifact import Artifact
    from nodrop.report.checked import Checked
    from nodrop.report.fixed import Fixed

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
    """Yield every file of every device, and last fabric.yaml (of no device), which says what the others cannot."""
    from nodrop import context, platforms
    from nodrop.model.index import Index
    from nodrop.platforms.kit.artifact import Artifact

    index = Index(fabric)
    for device in fabric.devices:
        yield from platforms.writer(device.platform).write(device, index)
    yield Artifact(device="", path=context.FILE, text=context.spell(fabric))


def rack(fabric: "Fabric") -> Iterator["Artifact"]:
    """Yield the files that people carry to the rack: plan/cabling.csv, plan/addresses.csv, plan/hosts.csv."""
    from nodrop.report.rack import files

    return files(fabric)


def host_files(fabric: "Fabric") -> Iterator["Artifact"]:
    """Yield what sets the NICs of a fabric's hosts: scripts, templates and environments in hosts/, by NIC model."""
    from nodrop.platforms.hosts.spelling import files

    return files(fabric)


def read(
    sources: Sequence[str],
    *,
    declared: "Declared | None" = None,
    platform: str | None = None,
    executor: "Executor | None" = None,
) -> "Reading":
    """Read files and folders as one fabric; what cannot be read is in the reading's `problems`.

    With an executor (any of `concurrent.futures`), 50 devices at a time are read wherever it works.
    InputProblems where the sources are several fabrics, each with a fabric.yaml: those are read one by one.
    """
    from nodrop import collect, inputs
    from nodrop.model.declared import Declared

    return collect.read_inputs(inputs.find(sources, platform).only(), declared or Declared(), executor)


def read_back(artifacts: Sequence["Artifact"], fabric: "Fabric", below: str = "") -> "Reading":
    """Read what `write` made, as it would be read from the folder `below`; nothing touches a disk."""
    from nodrop import collect, context
    from nodrop.model.assemble import assemble

    platform_of = {device.name: device.platform for device in fabric.devices}
    devices = [artifact for artifact in artifacts if artifact.device]
    readings = list(collect.read_artifacts(devices, platform_of, below))
    text = next(artifact.text for artifact in artifacts if artifact.path == context.FILE)
    declared = context.loads(text.encode(), context.FILE)
    return assemble(readings, declared, collect.host_artifacts(artifacts, below))


def lint(reading: "Reading", *, rules: "Sequence[Rule] | None" = None) -> "Verdict":
    """Judge a reading by the shipped rules, or by `rules`."""
    from nodrop.engine.rules import of_files, shipped
    from nodrop.engine.verdicts import judge

    return judge(reading, of_files(shipped()) if rules is None else rules)


def fix(sources: "Sequence[str]", *, unsafe: bool = False, platform: str | None = None) -> "Fixed":
    """Return what becomes of files and folders, as one fabric, when what can be fixed is; nothing is written.

    Only what is safe, unless `unsafe`. `errors.InputProblems` as `read` has it.
    """
    from nodrop.fixing import fix
    from nodrop.inputs import find
    from nodrop.judging import Settings

    return fix(find(sources, platform).only(), Settings(), unsafe=unsafe)


def validate(reading: "Reading", *, rules: "Sequence[Rule] | None" = None) -> "Verdict":
    """Compute the control plane of a reading and judge what it does, by the shipped rules of routing or by `rules`."""
    from nodrop.engine.rules import of_routing, shipped
    from nodrop.engine.verdicts import judge

    return judge(reading, of_routing(shipped()) if rules is None else rules)


def plan(old: "Reading", new: "Reading") -> "Plan":
    """Return what lies between two fabrics as they were read or built: nothing where nothing of the model changes.

    What one side does not say is no change. The old switches' own files tell what a change does to them.
    """
    from nodrop.plan.planning import plan

    return plan(old, new)


def drift(running: "Reading", intended_reading: "Reading") -> "Drift":
    """Return where what runs is not as it is wanted: nothing where it is, but for what switches write by themselves.

    What one side does not say is no drift. `nodrop drift` reads the running files with what is wanted stated of them.
    """
    from nodrop.plan.drifting import drift

    return drift(running, intended_reading)


def check(sources: Sequence[str], base: str, *, exact: bool = False) -> "Checked":
    """Return what changes of files and folders since a base do: plans, new findings, routing, fabric by fabric.

    The base is a folder that holds the files as they were, under the same paths (`./before`, `before/`, `/before`), or
    a revision of the git repository of the working directory: the commit where HEAD left it, unless `exact`. No
    nodrop.yaml is read; comments that allow findings, and what a fabric.yaml wants, count as the base has them.
    InputProblems where there is no such base, or a source is not in that repository.
    """
    from nodrop.checking.check import check
    from nodrop.judging import Settings
    from nodrop.revisions import at_base

    with at_base(sources, base, exact=exact) as (former, name):
        return check(sources, Settings(), former, name)[0]
