"""What the reports of a check have in common: the verdict, findings that come and go, and what becomes of routing."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence

from nodrop.fabric.subject import text
from nodrop.lint.finding import SEVERITIES, Finding
from nodrop.plan.model import worst
from nodrop.report.checked import Changed, Checked, Rerouted, Routing, Unfit
from nodrop.report.names import count, listing, name
from nodrop.report.plan_page import RISK_SAID
from nodrop.routing.observation import Flow

_SHOWN = 5
"""Differences of a build, and packets, that are told one by one."""
_STATES = {"up": "comes up", "down": "goes down"}


def summary(checked: Checked) -> str:
    """Return in one line what a check comes to."""
    changed = [one for one in checked.fabrics if not one.plan.empty]
    said = []
    if changed:
        switches = len({(one.name, device.name) for one in changed for device in one.plan.devices})
        risk = worst(one.plan.risk for one in changed)
        of = f"{count(switches, 'switch')} of {count(len(changed), 'fabric')}" if len(changed) > 1 else ""
        said.append(f"{of or count(switches, 'switch')}: {RISK_SAID[risk] if switches else 'facts of the fabric'}")
    else:
        said.append("nothing changes")
    said.append(findings_said(checked))
    if checked.unfit:
        said.append(f"{count(len(checked.unfit), 'build')} not as the intent has it")
    if losing := sum(_is_loss(one) for fabric in checked.fabrics for one in fabric.routing.changes):
        said.append(f"routing: {count(losing, 'loss')}")
    if checked.same:
        said.append(f"{count(len(checked.same), 'fabric')} as before")
    return f"since {checked.base}: {'; '.join(said)}"


def findings_said(checked: Checked) -> str:
    """Return how many findings have come, gone and stayed."""
    new = Counter(one.severity for one in checked.outcome.findings)
    every = [one.findings for one in checked.fabrics]
    said = [count(new[severity], f"new {severity}") for severity in SEVERITIES if new[severity]]
    said = said or ["no new finding"]
    for number, words in (
        (sum(len(one.fixed) for one in every), "fixed"),
        (sum(len(one.silenced) for one in every), "suppressed now"),
        (sum(one.unchanged for one in every), "as before"),
    ):
        said += [f"{number} {words}"] if number else []
    return ", ".join(said)


def by_rule(findings: Iterable[Finding]) -> Iterator[str]:
    """Yield a line for findings of each rule: on which switches, how many."""
    rules: dict[tuple[int, str], list[Finding]] = {}
    for one in findings:
        rules.setdefault((SEVERITIES.index(one.severity), one.rule), []).append(one)
    for (rank, rule), own in sorted(rules.items(), key=lambda item: item[0]):
        devices = listing(name(one) for one in dict.fromkeys(one.device for one in own if one.device))
        where = f" on {devices}" if devices else ""
        yield f"{SEVERITIES[rank]}[{rule}]: {count(len(own), 'finding')}{where}"


def routing(one: Routing) -> Iterator[str]:
    """Yield what becomes of routing, changes that are alike in one line; nothing where it was not worked out."""
    together: dict[tuple[str, str], list[Rerouted]] = {}
    for change in one.changes:
        together.setdefault((change.check, _said(change)), []).append(change)
    for (check, said), alike in together.items():
        if check in ("routes", "reach"):
            devices = listing(name(device) for device in dict.fromkeys(change.item[0] for change in alike))
            prefixes = list(dict.fromkeys(change.item[-1] for change in alike))
            to = prefixes[0] if len(prefixes) == 1 else count(len(prefixes), "prefix")
            yield f"{'routes' if check == 'routes' else 'packets'} of {devices} to {to}: {said}"
        else:
            items = listing(dict.fromkeys(_item(change) for change in alike))
            yield f"{_SINGULAR[check]} {items}: {said}"
    yield from (_flow(flow) for flow in one.flows[:_SHOWN])
    if len(one.flows) > _SHOWN:
        yield f"{count(len(one.flows) - _SHOWN, 'more flow')} that only one of the two delivers"
    yield from one.told


_SINGULAR = {"links": "cable", "sessions": "session", "failures": "failure of"}


def _item(change: Rerouted) -> str:
    if change.check == "sessions":
        return f"{change.item[0]} with {change.item[-1]}"
    return change.item[-1]


def _said(change: Rerouted) -> str:
    old, new = change.old, change.new
    match change.check:
        case "routes":
            return _paths_said(_paths(old), _paths(new))
        case "failures":
            was, now = _size(old), _size(new)
            return f"loses {count(now or 0, 'destination')} of leaves, {was or 0} before"
        case "reach":
            before = "not wanted" if old is None else str(old)
            return f"{'not wanted any more' if new is None else new}, {before} before"
        case _ if new is None:
            return f"is no more, {old} before"
        case _ if old is None:
            return f"is new, and {new}"
        case _:
            return _STATES.get(str(new), str(new))


def _paths_said(old: frozenset[str], new: frozenset[str]) -> str:
    if not old or not new:
        return f"{'gone' if old else 'new'}, over {count(len(old or new), 'path')}{' before' if old else ''}"
    if len(old) == len(new):
        return f"over other ports, {count(len(new), 'path')} as before"
    return f"over {count(len(new), 'path')}, {len(old)} before"


def _paths(value: Hashable) -> frozenset[str]:
    return value if isinstance(value, frozenset) else frozenset()


def _size(value: Hashable) -> int | None:
    return len(value) if isinstance(value, frozenset) else None


def _is_loss(change: Rerouted) -> bool:
    """Whether something that worked does not any more."""
    match change.check:
        case "reach":
            return change.old == "delivered" and change.new not in ("delivered", None)
        case "sessions" | "links":
            return change.old == "up" and change.new == "down"
        case "failures":
            return (_size(change.new) or 0) > (_size(change.old) or 0) and change.old is not None
        case _:
            return False


def _flow(flow: Flow) -> str:
    which = "are lost" if flow.lost else "are delivered now"
    return f"packets of {flow.start} to {flow.to} {which} (Batfish: {flow.before} before, {flow.after} now)"


def unfit(one: Unfit) -> Iterator[str]:
    """Yield what is not as the intent has it: the build, and the first places."""
    yield f"{one.build} is not what {one.intent} comes to; `nodrop build` makes it so"
    paths = [text(each.path) for each in one.differences]
    yield from (f"differs: {path}" for path in paths[:_SHOWN])
    if len(paths) > _SHOWN:
        yield "and more"


def heads(checked: Checked) -> Sequence[tuple[Changed, str]]:
    """Return the fabrics with what each is headed by; one that is alone under its own name needs no head."""
    found = []
    for one in checked.fabrics:
        was = f", {one.was} before" if one.was not in (None, one.name) else ""
        kind = "; gone" if one.gone else "; new" if one.was is None else ""
        told_by = f"; its build in {', '.join(one.told_by)} says the same" if one.told_by else ""
        found.append((one, f"{one.name}{was}{kind}{told_by}"))
    return found
