"""The claims about a fabric in words: whether a deadlock can form, and how far a pause of one NIC spreads."""

from collections.abc import Iterator

from nodrop.proofs.claims import DeadlockAndPauseClaims
from nodrop.report.names import format_count

SEARCH_CUT_TEXT = "the search ended at its limit; more failures were not checked"
"""What every report says of a search over failures that was cut."""
_TEXT_BY_DEADLOCK_VERDICT = {
    "free": "not possible as cabled",
    "unknown": "not proved, facts are missing",
    "possible": "possible",
    "possible-after-failures": "possible after failures",
}


def describe_deadlock(claims: DeadlockAndPauseClaims) -> str:
    """Return whether a deadlock can form, in words, and whether the search over failures was cut."""
    if claims.any_failures:
        return "not possible, whatever fails"
    if claims.deadlock == "free" and claims.searched_failures:
        return f"not possible with up to {format_count(claims.searched_failures, 'failure')}"
    text = _TEXT_BY_DEADLOCK_VERDICT[claims.deadlock]
    return f"{text}; {SEARCH_CUT_TEXT}" if claims.search_cut else text


def describe_pause_reach(claims: DeadlockAndPauseClaims) -> str:
    """Return how far the pause of one NIC spreads, in words."""
    if not claims.frozen_host_ports:
        return "one NIC freezes no other host port"
    gpus = f", on hosts with {format_count(claims.frozen_gpus, 'GPU')}" if claims.frozen_gpus else ""
    return f"one NIC freezes at most {format_count(claims.frozen_host_ports, 'other host port')}{gpus}"


def describe_claim_changes(old: DeadlockAndPauseClaims, new: DeadlockAndPauseClaims) -> Iterator[str]:
    """Yield the effect of a change on each claim that it changes."""
    was, now = describe_deadlock(old), describe_deadlock(new)
    if was != now:
        yield f"deadlock: {now} (before: {was})"
    more = new.frozen_host_ports - old.frozen_host_ports
    if more:
        sides = f"({new.frozen_host_ports}, before: {old.frozen_host_ports})"
        ports = f"{abs(more)} {'more' if more > 0 else 'fewer'} host port{'' if abs(more) == 1 else 's'}"
        yield f"one NIC that pauses for ever freezes {ports} {sides}"
