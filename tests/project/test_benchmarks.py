"""Run the benchmarks by night; what they measure is for people to read."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.places import ROOT

pytestmark = pytest.mark.nightly

BENCHMARKS = ROOT / "benchmarks"
SMALL = ("--leaves", "8", "--spines", "4")


def figures(script: str, report: Path, *options: str) -> Any:
    """Run a benchmark and return what it writes for machines."""
    command = [sys.executable, BENCHMARKS / script, *SMALL, *options, "--json", report]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(report.read_text())


def test_a_pod_is_measured_stage_by_stage(tmp_path: Path) -> None:
    report = figures("pod.py", tmp_path / "pod.json")
    assert (report["switches"], report["ports"]) == (12, 12 * 65)
    assert set(report["stages"]) >= {"design", "render", "read back", "assemble", "lint", "publish"}
    assert all(stage["cpu"] > 0 for stage in report["stages"].values())


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_every_stage_is_compared_with_a_commit(tmp_path: Path) -> None:
    if subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, check=False).returncode:
        pytest.skip("the sources are no repository of git")
    report = figures("against.py", tmp_path / "against.json", "HEAD", "--pairs", "1")
    assert list(report) == [
        *("start", "show", "build", "build, 6 switches", "lint", "lint, cached"),
        *("validate", "check", "plan", "drift", "fix", "import"),
    ]
    assert all(stage["before_cpu_s"] > 0 and stage["after_cpu_s"] > 0 for stage in report.values())


def test_routing_is_measured_with_failures(tmp_path: Path) -> None:
    command = [sys.executable, BENCHMARKS / "routing.py", "--sizes", "192", "--failures", "192"]
    report_file = tmp_path / "routing.json"
    done = subprocess.run([*command, "--json", report_file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done
    report = json.loads(report_file.read_text())
    (size,) = report["sizes"]
    assert (size["switches"], size["sessions"]) == (192, 768)
    assert report["reference"]["failures"] == 64 + 6
    assert report["failures"]["failures"] == 768


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_three_tiers_are_compared_with_two(tmp_path: Path) -> None:
    report_file = tmp_path / "tiers.json"
    command = [sys.executable, BENCHMARKS / "tiers.py", "--pods", "2", "--json", report_file]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done
    (row,) = json.loads(report_file.read_text())
    assert (row["three"]["switches"], row["two"]["switches"]) == (160, 192)
    assert row["two"]["ports"] / 192 == row["three"]["ports"] / 160 == 65
    assert all(ratio > 0 for ratio in row["ratios"].values())


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_sites_are_measured_with_all_their_processes(tmp_path: Path) -> None:
    one, many = figures("site.py", tmp_path / "site.json", "--sizes", "12", "108")
    assert (one["switches"], many["switches"]) == (12, 108)
    for site in (one, many):
        assert 0 < site["system_s"] < site["cpu_s"] < 120
        assert 20 < site["peak_mib"] < 2000
    assert many["megabytes"] > 5 * one["megabytes"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_linting_a_site_with_faults_is_measured(tmp_path: Path) -> None:
    one, many, whole = figures("lint.py", tmp_path / "lint.json", "--pods", "1", "9", "--instances", "1")
    assert (one["switches"], many["switches"]) == (12, 108)
    assert (one["faults"], many["faults"]) == (5, 5)
    assert one["lines"] < 60
    assert many["lines"] <= one["lines"]
    assert (whole["switches"], whole["fabrics"]) == (108, 1)
    for site in (one, many, whole):
        assert 0 < site["parsing_cpu_s"] < site["cpu_s"] < 120
        assert 0 < site["warm_cpu_s"] < 60
        assert 0 < site["changed_cpu_s"] < 120


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_the_report_of_a_site_grows_by_one_line_for_each_fault_that_other_fabrics_have_too(tmp_path: Path) -> None:
    """The line is `the same in pod[0001-0004] (4 other fabrics, 4 devices, 4 ports)`."""
    one, many, _ = figures("lint.py", tmp_path / "lint.json", "--pods", "1", "7", "--instances", "5")
    assert (one["faults"], many["faults"]) == (8, 25)
    assert many["lines"] <= one["lines"] + 5


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_checking_one_changed_line_is_measured(tmp_path: Path) -> None:
    pods, whole, *classes = figures("change.py", tmp_path / "change.json", "--pods", "1", "--jobs", "1")
    assert len(classes) == 2
    assert all(0 < site["cpu_s"] < 120 for site in classes)
    assert [(site["switches"], site["fabrics"]) for site in (pods, whole)] == [(12, 1), (12, 1)]
    for site in (pods, whole):
        assert 0 < site["warm_cpu_s"] < 60
        assert 0 < site["lint_cpu_s"] < 120


def test_an_editor_is_measured_on_a_large_file(tmp_path: Path) -> None:
    pytest.importorskip("pygls", reason="the extra `lsp` is not installed")
    command = [sys.executable, BENCHMARKS / "editor.py", "--changes", "2", "--json", tmp_path / "editor.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done
    report = json.loads((tmp_path / "editor.json").read_text())
    assert report["kilobytes"] > 250
    assert report["times_parsing"] > 1
