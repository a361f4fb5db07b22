"""One fabric of three tiers against as many switches in fabrics of two: `nodrop build`, which reads back and lints.

The fabric is a full fat tree of SN5600: 80 switches for each pod. The fabrics of two tiers are pods whose switches have
as many cabled ports on average: 64 up to 64 pods, and 86.4 above, where links to cores are split; 76.8 of these lead to
other switches, as there. What a switch and what a port takes of each is compared; more than 1.1 times is too much. A
port without a cable is counted, too: above 64 pods a switch of two tiers has 103 interfaces, and one of three 91.

    python benchmarks/tiers.py [--pods 8 32 64 128] [--platform sonic] [--jobs N] [--json FILE]
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

from intents import PORTS, pod, three_tiers, written
from processes import run

_POD: dict[str, int] = {"leaves": 64, "spines": 32, "to_hosts": 32}
_SPLIT_POD: dict[str, int] = {"leaves": 96, "spines": 64, "to_hosts": 16}
"""As 128 pods of three tiers: 4,096 leaves with 56 ports, 4,096 spines with 96 and 2,048 cores with 128."""


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pods", type=int, nargs="+", default=[8, 32, 64, 128], help="pods of three tiers")
    parser.add_argument("--platform", choices=written(), default="sonic")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    jobs = ["--jobs", str(options.jobs)] if options.jobs else []
    report = []
    for pods in options.pods:
        three = measure({"tiers": three_tiers(pods, options.platform)}, jobs)
        sizes = _POD if pods <= PORTS else _SPLIT_POD
        texts = {
            f"pod{number:04}": pod(
                f"pod{number:04}", number=number, leaf=options.platform, spine=options.platform, **sizes
            )
            for number in range(max(1, round(three["switches"] / (sizes["leaves"] + sizes["spines"]))))
        }
        two = measure(texts, jobs)
        ratios = {
            unit: three["cpu_s"] / three[counted] / (two["cpu_s"] / two[counted])
            for unit, counted in (("switch", "switches"), ("port", "ports"))
        }
        report.append({"three": three, "two": two, "ratios": ratios})
        print(
            line("three", three),
            line("two", two),
            f"of three tiers a switch takes {ratios['switch']:.2f} times, a port {ratios['port']:.2f} times",
            sep="\n",
            flush=True,
        )
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


def measure(intents: dict[str, str], jobs: list[str]) -> dict[str, float]:
    """Build intents, by name, in one command; return their switches and what it took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for fabric, text in intents.items():
            (folder / f"{fabric}.yaml").write_text(text)
        done = run(folder, "build", *(f"{fabric}.yaml" for fabric in intents), "-o", "build", *jobs)
        if done.code or "no findings" not in done.out:
            sys.exit(f"the fabrics do not build clean; the figures would mean nothing\n{done.out}{done.err}")
        read = re.search(r"in (?P<switches>\d+) devices, (?P<ports>\d+) interfaces", done.out)
        assert read is not None, done.out
        return {**{count: int(text) for count, text in read.groupdict().items()}, **done.figures}


def line(tiers: str, fabrics: dict[str, float]) -> str:
    """Return the figures of a build as a person reads them."""
    return (
        f"{tiers:5} tiers: {fabrics['switches']:6.0f} switches, {fabrics['ports']:7.0f} ports, "
        f"{fabrics['seconds']:6.1f} s, {fabrics['cpu_s']:6.1f} s CPU, "
        f"{fabrics['cpu_s'] / fabrics['ports'] * 1000:5.3f} ms a port, {fabrics['peak_mib']:5.0f} MiB at most"
    )


if __name__ == "__main__":
    main()
