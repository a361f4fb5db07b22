"""The acceptance list of BGP lines in real FRR: `python -m support.faults_in_frr FILE COUNT`.

It runs the first COUNT cases of each family in the twin, harmless changes included, and compares sessions and routes
with the build without the change: what FRR loses by it. FILE gets one line of JSON per case, with whether `lint
--fail-on unknown` finds it; cases that it has already are not run again.
"""

import argparse
import json
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

from nodrop.model.reading import Reading
from nodrop.validating.twin.starting import prepare_start_configurations
from support.listed_faults import cases, changed, is_found
from support.running_faults import read
from support.single_faults import Fault, reading_of, written
from support.twin_runs import Tables, tables_of_boots

LIST = "data/acceptance/bgp_lines.yaml"
_PATIENCE_S = 20.0
"""For how long switches may take to be as without the change."""
_ONE_AT_A_TIME = Lock()
"""For what is computed in this process: only daemons run side by side."""


def losses(clean: Tables, seen: Tables) -> list[str]:
    """Return the sessions, routes and equal paths that are there without a change and not with it."""
    lost = []
    for name, table in clean.items():
        for prefix, (kind, hops) in table.items():
            found = seen.get(name, {}).get(prefix)
            if kind == "session":
                lost += [f"{name} {prefix}"] if "up" in hops and (found is None or "up" not in found[1]) else []
            elif found is None:
                lost.append(f"no route at {name} {prefix}")
            elif len(found[1]) < len(hops) or ("discard" in found[1] and "discard" not in hops):
                lost.append(f"{name} {prefix} paths {len(found[1] - {'discard'})}")
    return lost


def _of(reading: Reading, expected: Tables | None) -> Tables:
    with _ONE_AT_A_TIME:
        boots = dict(prepare_start_configurations(reading).boots)
    return tables_of_boots(reading.fabric, boots, expected, _PATIENCE_S)


@cache
def _clean(case: Fault) -> Reading:
    return reading_of(case, written(case.fabric))


def trial(case: Fault, known: dict[str, Tables], guard: Lock) -> dict[str, Any]:
    """Return what FRR loses by a case, and whether lint finds it."""
    with _ONE_AT_A_TIME:
        key = repr([case.row.get(word) for word in ("intent", "release", "overlay")])
        clean, faulty = _clean(case), read(case)
        found, new = is_found(case), sorted(changed(case).lines)
    with guard:
        if key not in known:
            known[key] = _of(clean, None)
    lost = losses(known[key], _of(faulty, known[key]))
    return {
        "case": case.name,
        "of": case.row["of"],
        "lost": lost[:4],
        "losses": len(lost),
        "found": found,
        "new": new[:2],
    }


def chosen_cases(count: int, of: str | None) -> list[Fault]:
    """Return the first cases of each family, or of one, that are of files with an frr.conf."""
    families: defaultdict[str, list[Fault]] = defaultdict(list)
    for case in cases(LIST):
        if case.platform == "sonic" and of in (None, case.row["of"]):
            families[case.row["of"]].append(case)
    return [case for rows in families.values() for case in rows[:count]]


def main() -> None:
    """Run cases until the file has them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--of", metavar="FAMILY", help="one family only, such as harmless")
    parser.add_argument("--at-a-time", type=int, default=3)
    chosen = parser.parse_args()
    rows = chosen.file.read_text().splitlines() if chosen.file.exists() else []
    done = {json.loads(row)["case"] for row in rows}
    wanted = [case for case in chosen_cases(chosen.count, chosen.of) if case.name not in done]
    run = partial(trial, known={}, guard=Lock())
    with ThreadPoolExecutor(chosen.at_a_time) as threads, chosen.file.open("a") as file:
        for row in threads.map(run, wanted):
            file.write(json.dumps(row) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
