"""Which findings of two states are the same: by fingerprint and facts, as a baseline knows them."""

from collections import Counter
from collections.abc import Iterable

from nodrop.engine.baseline import Key, keys
from nodrop.engine.finding import Finding
from nodrop.results.checked import Settled
from nodrop.results.outcome import Outcome


def compare_findings(old: Outcome, new: Outcome, *, whole: bool = True) -> Settled:
    """Return how findings change between states that were checked as a `whole` or near the changes.

    A finding with other facts, such as a worse value, is new, and the former is not reported as fixed.
    """
    before = Counter(next(keys(old_finding)) for old_finding in old.findings)
    added, met = [], Counter[Key]()
    for finding in new.findings:
        key = next((key for key in keys(finding) if met[key] < before[key]), None)
        if key is None:
            added.append(finding)
        else:
            met[key] += 1
    new_keys = {key[0] for new_finding in new.findings for key in keys(new_finding)}
    hidden = {key[0] for hidden_finding in new.hidden for key in keys(hidden_finding)}
    remaining_findings = list(_find_unmatched_findings(old.findings, met))
    return Settled(
        new=tuple(added),
        fixed=tuple(
            old_finding for old_finding in remaining_findings if old_finding.fingerprint not in new_keys | hidden
        ),
        silenced=tuple(
            old_finding for old_finding in remaining_findings if old_finding.fingerprint in hidden - new_keys
        ),
        unchanged=met.total() if whole else None,
    )


def _find_unmatched_findings(findings: Iterable[Finding], met: Counter[Key]) -> Iterable[Finding]:
    """Yield the findings that occur more often than they were met again."""
    seen = Counter[Key]()
    for finding in findings:
        key = next(keys(finding))
        seen[key] += 1
        if seen[key] > met[key]:
            yield finding
