"""`nodrop lint` of whole sites of SN5600 switches under SONiC: pods of 96, with instances of five faults strewn in.

Every pod is the build of one intent in a folder of its own. What a switch takes is compared with parsing the same JSON,
and what it takes in the largest site with the smallest; the lines of the report should not grow with the site. Each
site is linted with an empty cache, again with nothing changed, and again with one switch changed; the largest also as
one fabric, without a fabric.yaml, where what changes with one switch is judged among all switches.

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
from processes import Run, run

Config = dict[str, Any]


def main() -> None:
    """Run the benchmark and print it."""
    parser = of_pods(__doc__, [1, 10, 105])
    parser.add_argument("--instances", type=int, default=100, help="of each fault in a site")
    options = parser.parse_args()
    jobs = ["--jobs", str(options.jobs)] if options.jobs else []
    report = []
    print(f"{len(os.sched_getaffinity(0))} processors", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        os.environ["XDG_CACHE_HOME"] = str(here / "cache")
        os.environ["XDG_STATE_HOME"] = str(here / "state")
        for pods in options.pods:
            site = in_pods(here, pods, options.leaves, options.spines)
            strewn = strew(site, pods, options.instances, options.leaves)
            report.append({"fabrics": pods, "faults": strewn, **measure(site, jobs)})
            print(lines(report[-1]), flush=True)
        one = {
            "fabrics": 1,
            "faults": len(FAULTS),
            **measure(in_one(here, options.pods[-1], options.leaves, options.spines), jobs),
        }
        print(lines(one), flush=True)
    each = [site["cpu_s"] / site["switches"] for site in report]
    print(f"a switch of the last site takes {each[-1] / each[0]:.2f} times the CPU of one of the first")
    if options.json:
        Path(options.json).write_text(json.dumps([*report, one], indent=2) + "\n")


def of_pods(doc: str | None, pods: list[int]) -> argparse.ArgumentParser:
    """Return the options of a benchmark of sites of pods."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, nargs="+", default=pods, help="pods in each site")
    parser.add_argument("--leaves", type=int, default=64)
    parser.add_argument("--spines", type=int, default=32)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--json", metavar="FILE")
    return parser


def in_pods(here: Path, pods: int, leaves: int, spines: int) -> Path:
    """Return a folder with the builds of so many pods, each a fabric of its own."""
    site, intents = here / f"site{pods}", []
    for number in range(pods):
        intents.append(f"pod{number:04}.yaml")
        (here / intents[-1]).write_text(pod(f"pod{number:04}", number=number, leaves=leaves, spines=spines))
    built = run(here, "build", *intents, "-o", str(site / "pod0000" if pods == 1 else site))
    if built.code:
        sys.exit(f"the pods do not build clean; the figures would mean nothing\n{built.out}{built.err}")
    return site


def in_one(here: Path, pods: int, leaves: int, spines: int) -> Path:
    """Return a folder with the switches of so many pods as one fabric, without a fabric.yaml."""
    built, site = in_pods(here, pods, leaves, spines), here / f"one{pods}"
    for device in sorted(built.glob("pod*/*[0-9]")):
        for file in device.glob("*.*"):
            new = site / device.name / file.name
            new.parent.mkdir(parents=True, exist_ok=True)
            file.rename(new)
    shutil.rmtree(built)
    for fault, file in zip(FAULTS, sorted(site.glob("leaf*/config_db.json")), strict=False):
        edit(file, fault)
    return site


def measure(site: Path, jobs: list[str]) -> dict[str, float]:
    """Lint a site with an empty cache, with all kept, and with one switch changed, and say what each took."""
    parsing = parse_all(site)
    files = sorted(site.glob("**/config_db.json"))
    cold = linted(site, jobs)
    warm = linted(site, jobs)
    if warm.out != cold.out:
        sys.exit("the second report is another one; the figures would mean nothing")
    edit(files[-1], small_mtu)
    changed = linted(site, jobs)
    if changed.out == cold.out:
        sys.exit("the fault is not told; the figures would mean nothing")
    shutil.rmtree(site)
    return {
        "switches": len(files),
        "lines": len(cold.out.splitlines()),
        "parsing_cpu_s": parsing,
        **cold.figures,
        **{f"warm_{name}": value for name, value in warm.figures.items()},
        **{f"changed_{name}": value for name, value in changed.figures.items()},
    }


def linted(site: Path, jobs: list[str]) -> Run:
    """Lint a site, which has faults."""
    done = run(site, "lint", ".", *jobs)
    if done.code != 1 or done.err:
        sys.exit(f"the site is not found at fault; the figures would mean nothing\n{done.out}{done.err}")
    return done


def strew(site: Path, pods: int, instances: int, leaves: int) -> int:
    """Put as many instances of each fault into the site as it has leaves for, each into a leaf of its own."""
    places = ((number, leaf) for leaf in range(1, leaves + 1) for number in range(pods))
    strewn = 0
    for _ in range(instances):
        for fault, (number, leaf) in zip(FAULTS, places, strict=False):
            edit(site / f"pod{number:04}/leaf{number * leaves + leaf}/config_db.json", fault)
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
    for path in site.glob("**/config_db.json"):
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


def lines(site: dict[str, float]) -> str:
    """Return the figures of a site as a person reads them."""
    each = site["cpu_s"] / site["switches"] * 1000
    return (
        f"{site['switches']:6.0f} switches in {site['fabrics']:.0f} fabrics, {site['faults']:4.0f} faults: "
        f"{site['lines']:3.0f} lines, {site['seconds']:6.1f} s, {site['cpu_s']:6.1f} s CPU, {each:5.2f} ms a switch, "
        f"{site['cpu_s'] / site['parsing_cpu_s']:.1f} times parsing, {site['peak_mib']:5.0f} MiB at most\n"
        f"       again with nothing changed: {site['warm_seconds']:6.1f} s, {site['warm_cpu_s']:6.1f} s CPU; "
        f"with one switch changed: {site['changed_seconds']:6.1f} s, {site['changed_cpu_s']:6.1f} s CPU"
    )


if __name__ == "__main__":
    main()
