"""Routing without a server: sessions, routes and failures of three-tier Clos fabrics, per switch.

Each size is a process of its own. Seconds are those of the CPU; the ratio says how much more a switch of the largest
fabric takes than one of the smallest. The failures of all single cables, each once of those that are alike but for
names, are computed in as many processes as there are processors; the tables that are decided per switch say how much of
the work is done once for all that are alike.

    python benchmarks/routing.py [--sizes 200 2000 20000] [--failures 2000] [--jobs N] [--json FILE]
"""

import argparse
import gc
import json
import multiprocessing
import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import nodrop
from clos import sized
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.parallel import map_chunks
from nodrop.resources import resource_folder
from nodrop.routing import ControlPlane, compute_control_plane
from nodrop.routing.failures import FailureAnalysis, FailureOutcome

_found: dict[str, FailureAnalysis] = {}


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 2000, 20000], help="switches in each fabric")
    parser.add_argument("--failures", type=int, default=2000, help="size of the fabric whose cables fail; 0 is none")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    report: dict[str, Any] = {"sizes": []}
    for switches in options.sizes:
        report["sizes"].append(apart(fabric_figures, switches))
        print(line(report["sizes"][-1]), flush=True)
    first, last = report["sizes"][0], report["sizes"][-1]
    if len(options.sizes) > 1:
        growth = _each(last) / _each(first)
        print(f"a switch of the last fabric takes {growth:.2f} times the CPU of one of the first")
    report["reference"] = apart(reference_figures, "reference-256")
    print("reference-256: {failures} failures of one cable or switch in {seconds:.2f} s".format(**report["reference"]))
    if options.failures:
        report["failures"] = failure_figures(options.failures, options.jobs)
        print(
            "{switches} switches: {failures} failures of one cable ({distinct} but for names) in {seconds:.1f} s "
            "with {jobs} processes, "
            "{cpu_s:.1f} s CPU, {each_ms:.1f} ms each".format(**report["failures"])
        )
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


def apart(figures: Callable[[Any], dict[str, float]], what: object) -> dict[str, float]:
    """Return figures measured in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        return executor.submit(figures, what).result()


def planned(fabric: Fabric) -> tuple[ControlPlane, float, float]:
    """Return the plane of a fabric, with the CPU seconds of its sessions and of its routes."""
    index = Index(fabric)
    gc.collect()
    gc.freeze()
    begun = time.process_time()
    plane = compute_control_plane(index)
    between = time.process_time()
    unstable = plane.ipv4.state.unstable
    if plane.down or unstable:
        sys.exit("the fabric does not come up; the figures would mean nothing")
    return plane, between - begun, time.process_time() - between


def fabric_figures(switches: int) -> dict[str, float]:
    """Measure the control plane of a fabric of about so many switches."""
    fabric = sized(switches)
    plane, sessions, routes = planned(fabric)
    return {
        "switches": len(fabric.devices),
        "sessions": len(plane.sessions),
        "sessions_s": sessions,
        "routes_s": routes,
        "tables": plane.ipv4.state.makers.table_count,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def reference_figures(intent: str) -> dict[str, float]:
    """Measure all failures of one cable or switch of a shipped intent, with its control plane."""
    fabric = nodrop.build(nodrop.load(resource_folder("intents") / f"{intent}.yaml"))
    begun = time.perf_counter()
    plane = compute_control_plane(Index(fabric))
    count = 0
    for family in plane.families:
        failures = FailureAnalysis(plane, plane.of(family))
        outcomes = [failures.outcome_without_links(link) for link in failures.links]
        outcomes += [failures.outcome_without_device(device.name) for device in fabric.devices]
        count += len(outcomes)
    return {"failures": count, "seconds": time.perf_counter() - begun}


def failure_figures(switches: int, jobs: int) -> dict[str, float]:
    """Measure the failures of all cables of a fabric, one by one, in several processes."""
    failures_of(switches)
    context = multiprocessing.get_context("fork")
    begun, before = time.perf_counter(), _cpu()
    groups = list(failures_of(switches).equivalent_links.values())
    links = sum(map(len, groups))
    with ProcessPoolExecutor(jobs, mp_context=context) as executor:
        outcomes = map_chunks(_fail, [(switches, number) for number in range(len(groups))], executor=executor)
        lost = sum(len(group) for group, loses in zip(groups, outcomes, strict=True) if loses)
    seconds, cpu = time.perf_counter() - begun, _cpu() - before
    return {
        "switches": switches,
        "failures": links,
        "distinct": len(groups),
        "seconds": seconds,
        "cpu_s": cpu,
        "each_ms": cpu / links * 1000,
        "jobs": jobs,
        "with_loss": lost,
    }


def failures_of(switches: int) -> FailureAnalysis:
    """Return the failures of a fabric; a process that is forked behind it has them too."""
    if not _found:
        plane, _, _ = planned(sized(switches))
        _found["all"] = FailureAnalysis(plane, plane.ipv4)
        _ = _found["all"].links
    return _found["all"]


def _fail(what: tuple[int, int]) -> bool:
    switches, number = what
    failures = failures_of(switches)
    outcome: FailureOutcome = failures.outcome_without_links(list(failures.equivalent_links)[number])
    return bool(outcome.unreachable)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _each(figures: dict[str, float]) -> float:
    return (figures["sessions_s"] + figures["routes_s"]) / figures["switches"]


def line(figures: dict[str, float]) -> str:
    """Return the figures of a fabric as a person reads them."""
    return (
        f"{figures['switches']:6.0f} switches, {figures['sessions']:7.0f} sessions: {figures['sessions_s']:6.2f} s CPU "
        f"for sessions, {figures['routes_s']:6.2f} s for routes, {_each(figures) * 1000:5.2f} ms a switch, "
        f"{figures['tables']:5.0f} tables decided, {figures['peak_mib']:5.0f} MiB at most"
    )


if __name__ == "__main__":
    main()
