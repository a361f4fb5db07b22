"""What came of fixing, for a person: what was fixed where, what is left and why, and what to type by hand."""

from collections import Counter
from collections.abc import Iterable, Sequence

from nodrop.fabric import subject
from nodrop.lint.finding import SEVERITIES, Finding, Located
from nodrop.report.block import Page
from nodrop.report.fixed import WHYS, Fixed, Left, Why
from nodrop.report.names import count, label, listing, name

_WHAT: dict[Why, str] = {
    "unsafe": "--unsafe makes it",
    "refused": "refused",
    "by hand": "by hand",
    "generated": "not changed",
    "no fix": "no fix",
}
_TOTALS: dict[Why, str] = {
    "unsafe": "need --unsafe",
    "refused": "refused",
    "by hand": "by hand",
    "generated": "in files of a build",
    "no fix": "without a fix",
}


def render(fixed: Sequence[Fixed], *, written: bool, color: bool = False, verbose: bool = False) -> str:
    """Write what was fixed, or would be where nothing is `written`, and what is left.

    Findings that are left stand together by rule and reason, the first with its place; `verbose` lists each.
    """
    page = Page(color=color, verbose=verbose, width=100, line=lambda _file, _line: None)
    left = [each for one in fixed for each in one.left]
    parts = [
        [line for one in fixed for line in _made(one, page, written=written)],
        [page.said("strong", "by hand", _typed(each)) for each in left if each.why == "by hand"],
        [line for group in _groups(left) for line in _group(group, page)],
        [page.said("error", "error", str(problem)) for one in fixed for problem in one.outcome.problems],
        [page.paint("strong", totals(fixed, written=written))],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def totals(fixed: Sequence[Fixed], *, written: bool) -> str:
    """The last line: how many findings are gone, in how many files, and how many are left for which reasons."""
    made, files = sum(len(one.made) for one in fixed), sum(len(one.rewritten) for one in fixed)
    left = Counter(each.why for one in fixed for each in one.left)
    verb = "fixed" if written else "would be fixed"
    head = f"{count(made, 'finding')} {verb} in {count(files, 'file')}" if made or files else "nothing to fix"
    if not left:
        return head
    reasons = ", ".join(f"{left[why]} {_TOTALS[why]}" for why in WHYS if left[why])
    return f"{head}, {sum(left.values())} left: {reasons}"


def _made(one: Fixed, page: Page, *, written: bool) -> Iterable[str]:
    """What became of each switch or intent: its files, and which findings are gone."""
    devices: dict[str, list[str]] = {}
    for file in one.rewritten:
        devices.setdefault(file.device, []).append(file.display)
    disruptions = {patch.device: patch.disruption for patch in one.patches}
    for device, files in devices.items():
        here = [finding for finding in one.made if not device or finding.device == device]
        rules = Counter(finding.rule for finding in here)
        said = ", ".join(rule if number == 1 else f"{rule} ({number})" for rule, number in sorted(rules.items()))
        worst = disruptions.get(device, "none")
        on = f"; on a switch that runs: {worst}" if worst != "none" else ""
        yield page.said("strong", "fixed" if written else "would fix", f"{listing(files)}: {said or 'as asked'}{on}")
    elsewhere = [finding for finding in one.made if devices.keys().isdisjoint({"", finding.device or ""})]
    if elsewhere and devices:
        rules = Counter(finding.rule for finding in elsewhere)
        said = ", ".join(rule if number == 1 else f"{rule} ({number})" for rule, number in sorted(rules.items()))
        yield page.said("strong", "gone with that", said)


def _typed(left: Left) -> str:
    """What to do by hand, after the line that it is about."""
    return f"{place}: {left.text}" if (place := _place(left.finding.located)) else left.text


def _groups(left: Iterable[Left]) -> list[list[Left]]:
    together: dict[tuple[int, int, str, str], list[Left]] = {}
    for each in left:
        finding = each.finding
        key = (SEVERITIES.index(finding.severity), WHYS.index(each.why), finding.rule, finding.group)
        together.setdefault(key, []).append(each)
    return [together[key] for key in sorted(together)]


def _group(group: Sequence[Left], page: Page) -> list[str]:
    """Findings of one cause that are left for one reason."""
    first = group[0].finding
    head = page.paint(first.severity, f"{first.severity}[{first.rule}]")
    lines = [f"{head}: {page.paint('strong', first.message)}"]
    lines.append(f"  --> {page.paint('', _place(first.located) or subject.text(first.subject))}")
    why, text = group[0].why, " ".join(group[0].text.split())
    reason = _WHAT[why] if why in ("unsafe", "by hand") else f"{_WHAT[why]}: {text}"
    lines.append(f"  = {page.paint('', reason)}")
    if len(group) > 1 and not page.verbose:
        lines.append(f"  = {page.paint('', _others([each.finding for each in group[1:]]))}")
    elif page.verbose:
        lines += [f"  = {page.paint('', _each(each.finding))}" for each in group[1:]]
    return lines


def _others(findings: Sequence[Finding]) -> str:
    devices = {name(each.device) for each in findings if each.device}
    if len(devices) == 1:
        return f"{len(findings)} more on {listing(devices)}: {listing(label(each.subject) for each in findings)}"
    return f"{len(findings)} more on {listing(devices)}" if devices else f"{len(findings)} more"


def _each(finding: Finding) -> str:
    return f"{_place(finding.located) or subject.text(finding.subject)}: {finding.message}"


def _place(located: Located | None) -> str:
    if located is None:
        return ""
    return f"{located.file}:{located.span.line}:{located.span.column}" if located.span else located.file
