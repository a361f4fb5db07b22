"""Random fabrics with random lines of BGP, computed and run in real FRR: `python -m support.routed_trials FILE COUNT`.

FILE has one line of JSON per seed; seeds that it has already are not run again, so that a run can be stopped at any
time. `--again` runs those again that were not alike.
"""

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.routing import ControlPlane, compute_control_plane
from support.random_far import looped
from support.random_hops import hopped
from support.random_lines import lined
from support.random_routed import routed
from support.routed_runs import compare, ends, failing, settles

_PATIENCE_S = 75.0
"""How long a fabric may take to come to what is computed; most take 10 s."""
_COMPUTED = ("valleys", "a next hop of a route map that is not reached")
"""Gaps of verdicts about routes that are computed nevertheless."""


def drawn(seed: int, *, far: bool = False, hops: bool = False) -> Fabric:
    """Return the fabric of a seed: with random lines, or with sessions between loopbacks and lines in every second."""
    fabric = routed(Random(seed), preferences=seed % 2 == 0)
    if not far or seed % 2:
        fabric = lined(fabric, Random(f"lines {seed}"))
    if hops:
        fabric = hopped(fabric, Random(f"hops {seed}"))
    return looped(fabric, Random(f"far {seed}")) if far else fabric


def trial(seed: int, *, far: bool = False, hops: bool = False) -> dict[str, Any]:
    """Return what becomes of a seed: `alike`, `different` with the differences, or why it is not compared."""
    fabric = drawn(seed, far=far, hops=hops)
    before, after = failing(fabric, seed)
    index, dead = Index(fabric), ends((*before, *after))
    first, then = compute_control_plane(index, ends(before)), compute_control_plane(index, dead)
    gaps = sorted({gap.what for plane in (first, then) for gap in plane.gaps if not gap.what.startswith(_COMPUTED)})
    if gaps:
        return {"seed": seed, "result": "gap", "said": gaps}
    if not settles(fabric, ends(before)) or (after and not settles(fabric, ends((*before, *after)))):
        return {"seed": seed, "result": "several outcomes"}
    if not down(first, "limit") <= down(then):
        return {"seed": seed, "result": "several outcomes", "said": ["a session over its limit stays down after that"]}
    begun = time.monotonic()
    try:
        compare(fabric, before, after, _PATIENCE_S)
    except AssertionError as error:
        return {"seed": seed, "result": "different", "said": str(error)[:4000]}
    failures = len(before) + len(after)
    return {"seed": seed, "result": "alike", "failures": failures, "s": round(time.monotonic() - begun)}


def down(plane: ControlPlane, reason: str = "") -> set[tuple[str, str]]:
    """Return the neighbor statements without a session, of one reason or all.

    A session over its maximum of prefixes (`limit`) FRR keeps down until it is cleared.
    """
    return {(end.router.name, end.neighbor.key) for end in plane.down if reason in ("", end.reason)}


def main() -> None:
    """Run seeds until the file has so many that were compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="the first seed of the count")
    parser.add_argument("--at-a-time", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--far", action="store_true", help="with sessions between loopbacks")
    parser.add_argument("--hops", action="store_true", help="with next hops that route maps set")
    chosen = parser.parse_args()
    rows = [json.loads(line) for line in chosen.file.read_text().splitlines()] if chosen.file.exists() else []
    done = {row["seed"]: row for row in rows}
    wanted = range(chosen.first, chosen.first + chosen.count)
    if chosen.again:
        wanted = [seed for seed, row in done.items() if row["result"] == "different"]  # type: ignore[assignment]
    else:
        wanted = [seed for seed in wanted if seed not in done]  # type: ignore[assignment]
    with ThreadPoolExecutor(chosen.at_a_time) as threads, chosen.file.open("a") as file:
        for row in threads.map(partial(trial, far=chosen.far, hops=chosen.hops), wanted):
            file.write(json.dumps(row) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
