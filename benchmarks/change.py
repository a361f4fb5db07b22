"""`nodrop check` of changes in a repository of git: of one line in whole sites of SN5600 switches under SONiC.

A site is pods of 96 switches, each a fabric of its own; the largest also comes as one fabric. A port at a switch gets
a small MTU, and the change is checked with an empty cache and again. What that takes is compared with `nodrop lint` of
the same site with nothing kept, which a pipeline without a base would run, and the largest site with the smallest:
where pods are fabrics, the pods that do not change should cost next to nothing.

Then, on each platform, the DSCP of RDMA changes in the intent of 12 switches with 1,536 ports, and so in their builds
and on the way from one state to the other; the cache is that of a pipeline that has checked the base.

    python benchmarks/change.py [--pods 1 10 104] [--leaves 64] [--spines 32] [--jobs N] [--json FILE]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from intents import split_ports, written
from lint import Config, edit, in_one, in_pods, of_pods, small_mtu
from processes import Run, run


def main() -> None:
    """Run the benchmark and print it."""
    options = of_pods(__doc__, [1, 10, 104]).parse_args()
    jobs = ["--jobs", str(options.jobs)] if options.jobs else []
    report, size = [], (options.leaves, options.spines)
    print(f"{len(os.sched_getaffinity(0))} processors", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        for pods in options.pods:
            report.append({"fabrics": pods, **measure(in_pods(here, pods, *size), jobs)})
            print(lines(report[-1]), flush=True)
        one = {"fabrics": 1, **measure(in_one(here, options.pods[-1], *size), jobs)}
        print(lines(one), flush=True)
        growth = report[-1]["warm_cpu_s"] / report[0]["warm_cpu_s"]
        print(f"a change in the last site of pods takes {growth:.2f} times the CPU of one in the first", flush=True)
        classes = [measure_class(here, platform) for platform in written()]
    for platform, figures in zip(written(), classes, strict=True):
        print(f"a class of 12 switches under {platform}: {figures['seconds']:.1f} s, {figures['cpu_s']:.1f} s CPU")
    if options.json:
        Path(options.json).write_text(json.dumps([*report, one, *classes], indent=2) + "\n")


def measure(site: Path, jobs: list[str]) -> dict[str, float]:
    """Check one changed line of a site with an empty cache and again, and lint the site with an empty one."""
    files = sorted(site.glob("**/config_db.json"))
    change_one_line(site, files[-1])
    emptied(site)
    cold = checked(site, jobs)
    warm = checked(site, jobs)
    if warm.out != cold.out:
        sys.exit("the second report is another one; the figures would mean nothing")
    emptied(site)
    linted = run(site, "lint", ".", *jobs)
    shutil.rmtree(site)
    return {
        "switches": len(files),
        **cold.figures,
        **{f"warm_{name}": value for name, value in warm.figures.items()},
        **{f"lint_{name}": value for name, value in linted.figures.items()},
    }


def measure_class(here: Path, platform: str) -> dict[str, float]:
    """Check a site whose 12 switches get another DSCP of RDMA, after the base was checked."""
    site = here / f"classes-{platform}"
    site.mkdir()
    _build_split(site, platform, rdma_dscp=26)
    make_repository(site)
    emptied(site)
    before = run(site, "check", ".", "--base", "HEAD")
    _build_split(site, platform, rdma_dscp=28)
    done = run(site, "check", ".", "--base", "HEAD")
    if before.code or done.err or "12 switches changed; 1 rollout hazard" not in done.out:
        sys.exit(f"the report does not name the change, so its figures would mean nothing\n{done.out}{done.err}")
    return dict(done.figures)


def _build_split(site: Path, platform: str, rdma_dscp: int) -> None:
    """Write an intent, and its build beside it."""
    (site / "intent.yaml").write_text(split_ports(platform, rdma_dscp=rdma_dscp))
    built = run(site, "build", "intent.yaml", "-o", "build")
    if built.code:
        sys.exit(f"the intent does not build clean; the figures would mean nothing\n{built.out}{built.err}")


def change_one_line(site: Path, file: Path) -> None:
    """Make a site a repository, and give a port of one file a small MTU."""
    edit(file, _as_it_is)  # in the layout of the next edit, so that the change is of one line
    make_repository(site)
    edit(file, small_mtu)


def make_repository(site: Path) -> None:
    """Make a site a repository of git with one commit of all files."""
    names = {f"GIT_{who}_{what}": "benchmark" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "as it was")):
        subprocess.run(["git", "-c", "gc.auto=0", *words], cwd=site, env={**os.environ, **names}, check=True)


def _as_it_is(_: Config) -> None:
    """Nothing changes but the layout of the file."""


def emptied(site: Path) -> None:
    """Begin with an empty cache beside the site."""
    cache = site.parent / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    os.environ["XDG_CACHE_HOME"] = str(cache)
    os.environ["XDG_STATE_HOME"] = str(site.parent / "state")


def checked(site: Path, jobs: list[str]) -> Run:
    """Check a site, in which one fault is new."""
    done = run(site, "check", ".", "--base", "HEAD", *jobs)
    if done.code != 1 or done.err:
        sys.exit(f"the fault is not told; the figures would mean nothing\n{done.out}{done.err}")
    return done


def lines(site: dict[str, float]) -> str:
    """Return the figures of a site as a person reads them."""
    return (
        f"{site['switches']:6.0f} switches in {site['fabrics']:.0f} fabrics: {site['seconds']:6.1f} s, "
        f"{site['cpu_s']:6.1f} s CPU, {site['cpu_s'] / site['lint_cpu_s']:.2f} times linting, "
        f"{site['peak_mib']:5.0f} MiB at most\n"
        f"       again with all kept: {site['warm_seconds']:6.1f} s, {site['warm_cpu_s']:6.1f} s CPU, "
        f"{site['warm_cpu_s'] / site['lint_cpu_s']:.2f} times linting"
    )


if __name__ == "__main__":
    main()
