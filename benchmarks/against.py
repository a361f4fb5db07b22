"""Every stage of nodrop, compared with a commit: medians of CPU and memory over interleaved runs.

Each command runs first with the sources of that commit and then with these, or the other way round in turn, in folders
that only one of the two uses. Both use the installed dependencies. The first run of a command is not counted.

    python benchmarks/against.py COMMIT [--pairs 11] [--leaves 16] [--spines 8] [--stages build lint] [--json FILE]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from change import change_one_line
from intents import pod
from processes import Run, run

ROOT = Path(__file__).parents[1]
SLOWER = 1.05
"""A ratio above this is marked."""


@dataclass(frozen=True)
class Stage:
    """A command, what prepares its folder before each run, and the exit codes that it may have."""

    words: tuple[str, ...]
    prepare: Callable[[Path], None] | None = None
    codes: tuple[int, ...] = (0,)


def commit(folder: Path) -> None:
    """Make the build of the pod a repository, and change one line of it."""
    if (folder / "site" / ".git").exists():
        return
    site = folder / "site"
    shutil.copytree(folder / "build", site)
    change_one_line(site, max(site.glob("**/config_db.json")))


STAGES = {
    "start": Stage(("--version",)),
    "show": Stage(("show", "pod.yaml")),
    "build": Stage(("build", "pod.yaml", "-o", "build")),
    "build, 6 switches": Stage(("build", str(ROOT / "intents" / "reference-256.yaml"), "-o", "small")),
    "lint": Stage(("lint", "build", "--no-cache"), codes=(0, 1)),
    "lint, cached": Stage(("lint", "build"), codes=(0, 1)),
    "validate": Stage(("validate", "build"), codes=(0, 1)),
    "check": Stage(("check", "--base", "HEAD", "site", "--no-cache"), commit, codes=(0, 1, 2)),
    "plan": Stage(("plan", "build", "site"), commit, codes=(0, 1)),
    "drift": Stage(("drift", "site", "pod.yaml"), commit, codes=(0, 1)),
    "fix": Stage(("fix", "site", "--diff"), commit, codes=(0, 1)),
    "import": Stage(("import", "build"), codes=(0, 1, 2)),
}


@contextmanager
def tree(revision: str, folder: Path) -> Iterator[Path]:
    """Give the sources of a commit in a work tree that lasts as long as the block."""
    there = folder / "tree"
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(there), revision], check=True)
    try:
        yield there
    finally:
        subprocess.run([*git, "remove", "--force", str(there)], check=True)


def measured(stage: Stage, source: Path, folder: Path) -> Run:
    """Run a stage with some sources; end with its words where it fails."""
    if stage.prepare is not None:
        stage.prepare(folder)
    os.environ.update({"PYTHONPATH": str(source / "src"), "PYTHONDONTWRITEBYTECODE": ""})  # both keep their bytecode
    os.environ.update({name: str(folder / ".home") for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME")})
    where, words = folder, stage.words
    if "--base" in words:
        where, words = folder / "site", tuple("." if word == "site" else word for word in words)
    done = run(where, *words)
    if done.code not in stage.codes:
        sys.exit(f"{' '.join(words)} ended with {done.code} in {where}:\n{done.err}{done.out}")
    return done


def compare(stage: Stage, sources: tuple[Path, Path], folders: tuple[Path, Path], pairs: int) -> dict[str, float]:
    """Return medians of a stage with the sources of the commit and with these, and the median ratio of pairs."""
    runs: list[dict[int, Run]] = []
    for pair in range(pairs + 1):
        order = (0, 1) if pair % 2 else (1, 0)
        runs.append({side: measured(stage, sources[side], folders[side]) for side in order})
    counted = runs[1:]
    cpu = [[one[side].figures["cpu_s"] for one in counted] for side in (0, 1)]
    memory = [[one[side].figures["peak_mib"] for one in counted] for side in (0, 1)]
    return {
        "before_cpu_s": median(cpu[0]),
        "after_cpu_s": median(cpu[1]),
        "ratio": median(after / before for before, after in zip(*cpu, strict=True)),
        "before_mib": median(memory[0]),
        "after_mib": median(memory[1]),
    }


def main() -> None:
    """Run the benchmark and print a line for each stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", help="the commit to compare with")
    parser.add_argument("--pairs", type=int, default=11, help="interleaved runs of each stage")
    parser.add_argument("--leaves", type=int, default=16)
    parser.add_argument("--spines", type=int, default=8)
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES), metavar="STAGE")
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file too")
    options = parser.parse_args()
    report = {}
    with tempfile.TemporaryDirectory() as folder, tree(options.commit, Path(folder)) as old:
        folders = (Path(folder) / "before", Path(folder) / "after")
        for source, one in zip((old, ROOT), folders, strict=True):
            one.mkdir()
            (one / "pod.yaml").write_text(pod("pod1", leaves=options.leaves, spines=options.spines))
            measured(STAGES["build"], source, one)  # what the other stages read
        print(
            f"{'stage':<20}{'before, s':>10}{'after, s':>10}{'ratio':>8}{'before, MiB':>13}{'after, MiB':>12}",
            flush=True,
        )
        for name in options.stages:
            cost = report[name] = compare(STAGES[name], (old, ROOT), folders, options.pairs)
            print(
                f"{name:<20}{cost['before_cpu_s']:>10.3f}{cost['after_cpu_s']:>10.3f}{cost['ratio']:>8.3f}"
                f"{cost['before_mib']:>13.0f}{cost['after_mib']:>12.0f}{'  slower' if cost['ratio'] > SLOWER else ''}",
                flush=True,
            )
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
