"""`make fuzz`: try inputs for some seconds, or until every target has reached its goal, and say what was found."""

import argparse
import sys
import time
from pathlib import Path

from support.fuzzing.coverage import Coverage, load_all

NOT_REACHED = ("nodrop.lsp", "nodrop.validating.twin", "nodrop.validating.batfish.service")
"""What no input of a file reaches: editors, the twin and the Batfish service have their own tests."""


def main() -> int:
    """Run the fuzzer; return 1 where an input crashed in this run or one that it resumes."""
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to run; 0 is until the goals are reached")
    parser.add_argument("--inputs", type=int, help="how many inputs of each target to try, instead of seconds")
    parser.add_argument("--target", action="append", help="a target, all without one; may be repeated")
    parser.add_argument("--state", type=Path, default=Path(".fuzz"), help="folder that a later run resumes")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    coverage = Coverage("nodrop")
    coverage.install()
    load_all("nodrop", NOT_REACHED)
    from support.fuzzing.campaign import BATCH, Campaign, load_once
    from support.fuzzing.targets import TARGETS

    known = {target.name: target for target in TARGETS}
    if wrong := [name for name in given.target or () if name not in known]:
        parser.error(f"no target {wrong[0]!r}; expected one of {', '.join(known)}")
    state = given.state.absolute()
    load_once()
    campaigns = [Campaign(known[name], state, coverage, given.seed) for name in given.target or known]
    end = time.monotonic() + given.seconds
    if given.inputs is not None:
        for campaign in campaigns:
            campaign.run(given.inputs)
    elif given.seconds:
        for number, campaign in enumerate(campaigns):
            left = end - time.monotonic()
            campaign.run(1 << 40, time.monotonic() + left / (len(campaigns) - number))
    else:
        while behind := [one for one in campaigns if one.counts.accepted < one.target.goal]:
            least = min(behind, key=lambda one: one.counts.accepted / one.target.goal)
            least.run(BATCH)
            print(_row(least), flush=True)
    for campaign in campaigns:
        print(_row(campaign))
    every = 0
    for campaign in campaigns:
        every |= campaign.seen
    print(f"{every.bit_count()} of {coverage.blocks} blocks reached")
    crashes = [(one, key, count) for one in campaigns for key, count in one.counts.crashes.items()]
    for campaign, key, count in crashes:
        print(f"crash: {campaign.target.name}: {key} ({count}); see {campaign.folder / 'crashes'}")
    return 1 if crashes else 0


def _row(campaign) -> str:  # type: ignore[no-untyped-def]
    counts = campaign.counts
    return (
        f"{campaign.target.name:10} {counts.tried:7} inputs, {counts.accepted:6} of {campaign.target.goal} accepted, "
        f"{counts.judged:6} judged, {counts.commands:6} commands, {len(campaign.corpus):5} kept, "
        f"{campaign.seen.bit_count():6} blocks of {counts.begun} by seeds, "
        f"{counts.tried / max(counts.seconds, 0.001):5.0f}/s, slowest {counts.slowest_s:.1f} s, "
        f"{counts.peak_mb} MB, {sum(counts.crashes.values())} crashes of {len(counts.crashes)} causes"
    )


if __name__ == "__main__":
    sys.exit(main())
