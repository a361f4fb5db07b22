"""`nodrop lint` of whole sites of SN5600 switches under SONiC: pods of 96, with instances of five faults strewn in.

Every pod is the build of one intent in a folder of its own. What a switch takes is compared with parsing the same JSON,
and what it takes in the largest site with the smallest; the lines of the report should not grow with the site.

    python benchmarks/lint.py [--pods 1 10 105] [--instances 100] [--leaves 64] [--spines 32] [--jobs N] [--json FILE]
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
from intents import pod
from processes import run

Config = dict[str, Any]


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, nargs="+", default=[1, 10, 105], help="pods in each site")
    parser.add_argument("--instances", type=int, default=100, help="of each fault in a site")
    parser.add_argument("--leaves", type=int, default=64)
    parser.add_argument("--spines", type=int, default=32)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    jobs = ["--jobs", str(options.jobs)] if options.jobs else []
    report = []
    print(f"{len(os.sched_getaffinity(0))} processors", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "pod.yaml").write_text(pod("pod", leaves=options.leaves, spines=options.spines))
        built = run(here, "build", "pod.yaml", "-o", "pod")
        if built.code:
            sys.exit(f"the pod does not build clean; the figures would mean nothing\n{built.out}{built.err}")
        for pods in options.pods:
            report.append(measure(here, pods, options.instances, options.leaves, jobs))
            print(line(report[-1]), flush=True)
    each = [site["cpu_s"] / site["switches"] for site in report]
    print(f"a switch of the last site takes {each[-1] / each[0]:.2f} times the CPU of one of the first")
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


def measure(here: Path, pods: int, instances: int, leaves: int, jobs: list[str]) -> dict[str, float]:
    """Lint a site of so many pods and say what it took."""
    site = here / f"site{pods}"
    for number in range(pods):
        shutil.copytree(here / "pod", site / f"pod{number:04}", copy_function=os.link)
    strewn = strew(site, pods, instances, leaves)
    parsing = parse_all(site)
    done = run(site, "lint", ".", *jobs)
    if done.code != 1 or done.err:
        sys.exit(f"the site is not found at fault; the figures would mean nothing\n{done.out}{done.err}")
    switches = sum(1 for _ in site.glob("pod*/*/config_db.json"))
    shutil.rmtree(site)
    lines = len(done.out.splitlines())
    return {"switches": switches, "faults": strewn, "lines": lines, "parsing_cpu_s": parsing, **done.figures}


def strew(site: Path, pods: int, instances: int, leaves: int) -> int:
    """Put as many instances of each fault into the site as it has leaves for, each into a leaf of its own."""
    places = ((number, leaf) for leaf in range(1, leaves + 1) for number in range(pods))
    strewn = 0
    for _ in range(instances):
        for fault, (number, leaf) in zip(FAULTS, places, strict=False):
            edit(site / f"pod{number:04}/leaf{leaf}/config_db.json", fault)
            strewn += 1
    return strewn


def edit(path: Path, fault: Callable[[Config], None]) -> None:
    """Change a configuration of its own, for the file is that of all pods."""
    config = json.loads(path.read_bytes())
    fault(config)
    path.unlink()
    path.write_text(json.dumps(config, indent=4))


def parse_all(site: Path) -> float:
    """Return the CPU that parsing all files of the site takes, in one process."""
    begun = time.process_time()
    for path in site.glob("pod*/*/config_db.json"):
        orjson.loads(path.read_bytes())
    return time.process_time() - begun


def ports(config: Config) -> Iterator[str]:
    """Yield the ports at hosts, then those at switches: both have watchdogs, and the first detect sooner."""
    timers = {port: int(row["detection_time"]) for port, row in config["PFC_WD"].items() if port != "GLOBAL"}
    yield from sorted(timers, key=lambda port: (timers[port], port))


def no_watchdog(config: Config) -> None:
    """A port at a host has no watchdog."""
    del config["PFC_WD"][next(ports(config))]


def misspelt(config: Config) -> None:
    """A field of a port has a name that no release knows."""
    config["PORT"][next(ports(config))]["mtuu"] = "9216"


def no_marks(config: Config) -> None:
    """No queue marks."""
    for profile in config["WRED_PROFILE"].values():
        profile["ecn"] = "ecn_none"


def small_mtu(config: Config) -> None:
    """A port at a switch has a small MTU."""
    config["PORT"][list(ports(config))[-1]]["mtu"] = "1500"


def no_fec(config: Config) -> None:
    """A port at a switch has no FEC."""
    config["PORT"][list(ports(config))[-1]]["fec"] = "none"


FAULTS = (no_watchdog, misspelt, no_marks, small_mtu, no_fec)


def line(site: dict[str, float]) -> str:
    """Return the figures of a site as a person reads them."""
    each = site["cpu_s"] / site["switches"] * 1000
    return (
        f"{site['switches']:6.0f} switches, {site['faults']:4.0f} faults: {site['lines']:3.0f} lines, "
        f"{site['seconds']:6.1f} s, {site['cpu_s']:6.1f} s CPU, {each:5.2f} ms a switch, "
        f"{site['cpu_s'] / site['parsing_cpu_s']:.1f} times parsing, {site['peak_mib']:5.0f} MiB at most"
    )


if __name__ == "__main__":
    main()
