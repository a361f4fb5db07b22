"""Whole sites of SN5600 switches, in pods of 96 as one intent each, through one `nodrop build` of all of them.

Each size is a command of its own, and everything that it starts is counted: CPU of the whole tree of processes, and
their memory together (what they share counted once). The cost of a switch should not grow with the site. Where NVUE is
written, half of the pods have SONiC leaves below NVUE spines, and half the reverse.

    python benchmarks/site.py [--sizes 96 960 9984] [--leaves 64] [--spines 32] [--jobs N] [--json FILE]
"""

import argparse
import json
import os
import sys
import tempfile
from itertools import cycle
from pathlib import Path

from intents import pod, written
from processes import run


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[96, 960, 9984], help="switches in each site")
    parser.add_argument("--leaves", type=int, default=64)
    parser.add_argument("--spines", type=int, default=32)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    jobs = ["--jobs", str(options.jobs)] if options.jobs else []
    report = []
    print(f"platforms: {', '.join(written())}; {len(os.sched_getaffinity(0))} processors", flush=True)
    for switches in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            report.append(measure(Path(folder), switches, options.leaves, options.spines, jobs))
        print(line(report[-1]), flush=True)
    first, last = report[0], report[-1]
    growth = last["cpu_s"] / last["switches"] / (first["cpu_s"] / first["switches"])
    print(f"a switch of the last site takes {growth:.2f} times the CPU of one of the first")
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


def measure(folder: Path, switches: int, leaves: int, spines: int, jobs: list[str]) -> dict[str, float]:
    """Build one site and say what it took."""
    pairs = cycle(zip(written(), reversed(written()), strict=True))
    intents = []
    for number in range(switches // (leaves + spines)):
        leaf, spine = next(pairs)
        intents.append(f"pod{number:04}.yaml")
        text = pod(f"pod{number:04}", number=number, leaves=leaves, spines=spines, leaf=leaf, spine=spine)
        (folder / intents[-1]).write_text(text)
    done = run(folder, "build", *intents, "-o", "build", *jobs)
    if done.code or "no findings" not in done.out:
        sys.exit(f"the site does not build clean; the figures would mean nothing\n{done.out}{done.err}")
    size = sum(path.stat().st_size for path in (folder / "build").rglob("*") if path.is_file())
    return {"switches": switches, **done.figures, "megabytes": size / 1e6}


def line(site: dict[str, float]) -> str:
    """Return the figures of a site as a person reads them."""
    each = site["cpu_s"] / site["switches"] * 1000
    return (
        f"{site['switches']:6.0f} switches, {site['megabytes']:7.1f} MB: {site['seconds']:6.1f} s, "
        f"{site['cpu_s']:6.1f} s CPU ({site['system_s']:.1f} s in the system), {each:5.2f} ms CPU a switch, "
        f"{site['peak_mib']:5.0f} MiB at most"
    )


if __name__ == "__main__":
    main()
