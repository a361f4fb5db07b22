"""Common parts of the drift reports: the verdict, switches on one side alone, settings that switches wrote."""

from collections import Counter
from collections.abc import Iterator, Mapping

from nodrop.engine.finding import SEVERITIES
from nodrop.plan.model import Kind
from nodrop.report.names import count, listing, name
from nodrop.report.plan_page import harm
from nodrop.report.plan_words import DIFFERING, lines
from nodrop.results.drifted import Drifted

VERBS: Mapping[Kind, str] = {
    "added": "not collected",
    "removed": "not wanted",
    "replaced": "under another operating system",
    "changed": "not as wanted",
}
KEYS: Mapping[str, str] = {"removed": "not wanted", "changed": "not as wanted", "added": "missing"}
"""What is said of settings outside the model."""
SIDES = ("the running files do not say", "what is wanted does not say")
UNSAID = "not said by one side, so no drift"
OWN = "written by the switches themselves, so no drift"
ORDER = "order of the way back"
WAY = "on the way back"


def sides(drifted: Drifted) -> Iterator[str]:
    """Yield which switches are on one side alone."""
    drift = drifted.drift
    if drift.uncollected:
        yield f"not collected, so nothing is known of: {listing(map(name, drift.uncollected))}"
    if drift.foreign:
        yield f"not in {drifted.wanted}: {listing(map(name, drift.foreign))}"


def own(drifted: Drifted) -> Iterator[str]:
    """Yield what switches wrote by themselves, each once, with where; tables that are no facts, all of a switch's."""
    where: dict[str, set[str]] = {}
    for block in drifted.drift.own:
        for fact in block.facts:
            for line in lines(fact, DIFFERING):
                label = line.rpartition(": ")[0]
                where.setdefault(label, set()).update(block.devices)
    for label, devices in sorted(where.items()):
        yield f"{label}: {listing(map(name, sorted(devices)))}"
    devices_by_table: dict[str, set[str]] = {}
    for outside_table in drifted.drift.own_outside:
        devices_by_table.setdefault(" ".join(outside_table.at[1:]), set()).update(outside_table.devices)
    alike: dict[tuple[str, ...], list[str]] = {}
    for label, devices in sorted(devices_by_table.items()):
        alike.setdefault(tuple(sorted(devices)), []).append(label)
    for names, labels in alike.items():
        yield f"{', '.join(labels)}: {listing(map(name, names))}"


def summary(drifted: Drifted) -> str:
    """Return in one line how many switches differ or are on one side alone, the effect of going back, and findings."""
    drift = drifted.drift
    differing = len(drift.plan.devices)
    phrases = [
        f"{count(number, noun)} {verb}"
        for number, noun, verb in (
            (differing, "switch", "differs" if differing == 1 else "differ"),
            (len(drift.uncollected), "switch", "not collected"),
            (len(drift.foreign), "switch", "not wanted"),
        )
        if number
    ]
    if not differing and drift.plan.told:
        phrases.append("cables or NICs differ")
    severity_counts = Counter(finding.severity for finding in drifted.outcome.findings)
    findings = [count(severity_counts[severity], severity) for severity in SEVERITIES if severity_counts[severity]]
    phrases += [f"{' and '.join(findings)} that {drifted.wanted} does not have"] if findings else []
    if drift.empty:
        alike = f"{count(drifted.switches, 'switch')} as {drifted.wanted} has it"
        return "; ".join([f"no drift: {alike}", *phrases])
    back = f"; way back: {harm(drift.plan)}" if drift.plan.risk != "none" else ""
    if drift.plan.rollout and drift.plan.rollout.hazards:
        back += f"; {count(len(drift.plan.rollout.hazards), 'hazard')} on the way"
    return f"{', '.join(phrases)}{back}"
