"""Speed and memory of the main job on one generated pod of 96 SN5600 (64 leaves, 32 spines), in one process.

Prints seconds, CPU and bytes per switch, the share of each stage, peak memory and swap, and in the same run the ratio
to the least that any tool must do: writing the same bytes to files, and parsing the same bytes as JSON or YAML with
the C parsers that there are. Ratios hold on any machine; seconds do not, and no test checks them.

    python benchmarks/pod.py [--platform sonic] [--leaves 64] [--spines 32] [--json FILE]
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import orjson
from intents import pod, written
from ruamel.yaml import YAML

import nodrop
from nodrop import collect
from nodrop.cli.main import relax_garbage_collection
from nodrop.context import FABRIC_FILE
from nodrop.context import loads as loads_stated
from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.engine.verdicts import judge
from nodrop.intent.load import loads
from nodrop.model.assemble import assemble_fabric
from nodrop.publish import publish

T = TypeVar("T")


class Stages:
    """Wall-clock and CPU seconds by stage, in order."""

    def __init__(self) -> None:
        self.seconds: dict[str, tuple[float, float]] = {}

    def run(self, name: str, work: Callable[[], T]) -> T:
        """Do the work and remember what it took."""
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        self.seconds[name] = (time.perf_counter() - wall, time.process_time() - cpu)
        return result


def swap_kib() -> int:
    """Return this process's swapped memory, KiB; 0 where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmSwap:")), 0)


def main() -> None:
    """Run the benchmark and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", choices=written(), default="sonic")
    parser.add_argument("--leaves", type=int, default=64)
    parser.add_argument("--spines", type=int, default=32)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    platform = options.platform
    text = pod("pod", leaves=options.leaves, spines=options.spines, leaf=platform, spine=platform)
    stages = Stages()
    relax_garbage_collection()
    with tempfile.TemporaryDirectory() as folder:
        report = measure(text, stages, Path(folder))
    print_report(report)
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


def measure(text: str, stages: Stages, folder: Path) -> dict[str, object]:
    """Run every stage of build, read back and lint once, then the two yardsticks."""
    rules = stages.run("load the rules", shipped_rules)
    intent = stages.run("load the intent", lambda: loads(text.encode(), "pod.yaml"))
    fabric = stages.run("design", lambda: nodrop.build(intent))
    artifacts = stages.run("render", lambda: list(nodrop.write(fabric)))
    platform_of = {device.name: device.platform for device in fabric.devices}
    devices = [artifact for artifact in artifacts if artifact.device]
    readings = stages.run("read back", lambda: list(collect.read_artifacts(devices, platform_of, "build")))
    declared_text = next(artifact.text for artifact in artifacts if artifact.path == FABRIC_FILE).encode()
    reading = stages.run("assemble", lambda: assemble_fabric(readings, loads_stated(declared_text, FABRIC_FILE)))
    verdict = stages.run("lint", lambda: judge(reading, select_lint_rules(rules)))
    if verdict.findings or verdict.unknown or verdict.problems:
        sys.exit("the pod does not lint clean; the figures would mean nothing")
    files = {f"{one.device}/{one.path}".lstrip("/"): one.text.encode() for one in artifacts}
    stages.run("publish", lambda: publish(folder / "build", files, files.__contains__, inputs={}, display="build"))
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yardsticks = Stages()
    yardsticks.run("write the same bytes", lambda: plain_write(folder / "plain", files))
    yardsticks.run("parse the same bytes", lambda: [plain_parse(name, data) for name, data in files.items()])
    return {
        "switches": len(fabric.devices),
        "ports": sum(len(device.interfaces) for device in fabric.devices),
        "bytes": sum(map(len, files.values())),
        "peak_mib": peak_kib / 1024,
        "swap_kib": swap_kib(),
        "stages": {name: {"seconds": wall, "cpu": cpu} for name, (wall, cpu) in stages.seconds.items()},
        "yardsticks": {name: {"seconds": wall, "cpu": cpu} for name, (wall, cpu) in yardsticks.seconds.items()},
    }


def plain_write(folder: Path, files: dict[str, bytes]) -> None:
    """Write files the plain way."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def plain_parse(name: str, data: bytes) -> object:
    """Parse a configuration the plain way; what is neither JSON nor YAML costs nothing."""
    if name.endswith(".json"):
        return orjson.loads(data)
    return YAML(typ="safe").load(data) if name.endswith("startup.yaml") else None


def print_report(report: dict) -> None:  # type: ignore[type-arg]
    """Print the figures as a person reads them."""
    switches, stages, yardsticks = report["switches"], report["stages"], report["yardsticks"]
    cpu = sum(stage["cpu"] for stage in stages.values())
    wall = sum(stage["seconds"] for stage in stages.values())
    print(f"{switches} switches, {report['ports']} ports, {report['bytes'] / 1e6:.1f} MB of configurations")
    print(f"{wall:.2f} s, {cpu:.2f} s CPU: {cpu / switches * 1000:.2f} ms of CPU a switch")
    print(
        f"{report['bytes'] / switches / 1000:.0f} kB a switch; peak memory {report['peak_mib']:.0f} MiB, "
        f"{report['peak_mib'] * 1024 / switches:.0f} KiB a switch; swap {report['swap_kib']} KiB"
    )
    print()
    for name, stage in stages.items():
        share = stage["cpu"] / cpu * 100
        print(f"  {name:18}{stage['cpu'] / switches * 1000:8.3f} ms a switch {share:6.1f} %   {stage['seconds']:.2f} s")
    print()
    for name, stage in yardsticks.items():
        ratio = cpu / max(stage["cpu"], 1e-9)
        print(f"  all of it takes {ratio:.0f} times the CPU that it takes to {name}")


if __name__ == "__main__":
    main()
