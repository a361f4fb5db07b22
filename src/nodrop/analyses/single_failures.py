"""Cables and switches without which hosts are not reached, or only over a way that goes down and up again."""

from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._drops import dropped_routes_of
from nodrop.analyses._failed import FailureCase, harmful_failure_cases
from nodrop.analyses._naming import names_left_out
from nodrop.analyses._plane import control_plane_of, undecided_subjects_of_gaps
from nodrop.model.index import Index
from nodrop.model.subject import link_subject as subject_of
from nodrop.routing.failures import AffectedDestinations

RESTS_ON = frozenset({"cables", "hosts", "roles"})
NEEDS_ROUTING = True
NEEDS_FAILURES = True


def find(index: Index, *, what: str) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield each cable or switch once, with an example of a loss (`lost`) or of a `valley`.

    The prefixes that a switch announces itself are not missed when it fails. A loss of hosts does not count if the
    router, or the hosts' own router, has lost sessions or routes already: that is reported separately.
    """
    yield from undecided_subjects_of_gaps(control_plane_of(index))
    reported_failures = set()
    hurt = {
        down.router.number
        for down in control_plane_of(index).down
        if down.facts.get("node") not in index.external_nodes
    }
    hurt |= {number for _, drop in dropped_routes_of(index) for number in (drop.router, drop.link.far)}
    for failure in harmful_failure_cases(index):
        rows = (
            failure.valleys
            if what == "valley"
            else [row for row in failure.lost if not _is_loss_already_reported(failure, row, hurt)]
        )
        near, far = (failure.link.a, failure.link.b) if failure.link else (None, None)
        if near and near.node in index.external_nodes:
            near, far = far, near
        failed = f"the cable from {near} to {far}" if near else failure.device
        if not rows or failed in reported_failures:
            continue
        reported_failures.add(failed)
        bits = 0
        for row in rows:
            bits |= row.bits
        prefixes = failure.reach.prefixes(bits)
        routers = [failure.reach.plane.routers[row.router] for row in rows]
        yield AnalysisHit(
            subject=subject_of(failure.link.a, failure.link.b) if failure.link else (failure.device,),
            at=tuple(near) if near else None,
            facts={
                "failed": failed,
                "device": routers[0].name + (f" and {len(rows) - 1} more" if len(rows) > 1 else ""),
                "prefix": str(failure.reach.prefixes(rows[0].bits)[0])
                + (f" and {len(prefixes) - 1} more" if len(prefixes) > 1 else ""),
            },
            left_out=(*names_left_out([router.name for router in routers]), *names_left_out(prefixes)),
        )


def _is_loss_already_reported(case: FailureCase, row: AffectedDestinations, hurt: set[int]) -> bool:
    """Whether a router, or all of those whose hosts it loses, are hurt already."""
    if row.router in hurt:
        return True
    origins = case.reach.world.origins
    return all(number in hurt for prefix in case.reach.prefixes(row.bits) for number, *_ in origins[prefix])
