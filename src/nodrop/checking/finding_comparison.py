"""Which findings of two states are the same: by fingerprint and facts, as a baseline knows them."""

from collections import Counter
from collections.abc import Iterable

from nodrop.engine.baseline import BaselineKey, baseline_keys_of
from nodrop.engine.finding import Finding
from nodrop.results.checked import FindingChanges
from nodrop.results.outcome import FabricOutcome


def compare_findings(
    old_outcome: FabricOutcome, new_outcome: FabricOutcome, *, is_whole: bool = True
) -> FindingChanges:
    """Return how findings change between states that were checked as a `is_whole` or near the changes.

    A finding with other facts, such as a worse value, is new, and the former is not reported as fixed.
    """
    before = Counter(next(baseline_keys_of(old_finding)) for old_finding in old_outcome.findings)
    added, met = [], Counter[BaselineKey]()
    for finding in new_outcome.findings:
        key = next((key for key in baseline_keys_of(finding) if met[key] < before[key]), None)
        if key is None:
            added.append(finding)
        else:
            met[key] += 1
    new_keys = {key[0] for new_finding in new_outcome.findings for key in baseline_keys_of(new_finding)}
    hidden = {key[0] for hidden_finding in new_outcome.hidden for key in baseline_keys_of(hidden_finding)}
    remaining_findings = list(_find_unmatched_findings(old_outcome.findings, met))
    return FindingChanges(
        new=tuple(added),
        fixed=tuple(
            old_finding for old_finding in remaining_findings if old_finding.fingerprint not in new_keys | hidden
        ),
        suppressed=tuple(
            old_finding for old_finding in remaining_findings if old_finding.fingerprint in hidden - new_keys
        ),
        unchanged=met.total() if is_whole else None,
    )


def _find_unmatched_findings(findings: Iterable[Finding], met_counts: Counter[BaselineKey]) -> Iterable[Finding]:
    """Yield the findings that occur more often than they were met again."""
    seen = Counter[BaselineKey]()
    for finding in findings:
        key = next(baseline_keys_of(finding))
        seen[key] += 1
        if seen[key] > met_counts[key]:
            yield finding
