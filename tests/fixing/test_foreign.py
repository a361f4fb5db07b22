"""Configurations as other people have them: what is found before `fix --unsafe`, what is fixed, what is left and why.

The texts of foreign/ are modelled on switches that nodrop was tried on: 1 to 8 by newcomers, 9 to 13 as the software or
a template leaves them. What is found after a fix was found before it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from nodrop.engine.finding import Finding
from nodrop.fixing import fix
from nodrop.inputs import find_inputs
from nodrop.judging import CheckSettings
from nodrop.results.fixed import FixedFabric
from support.places import TESTS

FOLDER = TESTS / "fixing" / "foreign"
SUFFIX = ".fixes"
CONFIGURATIONS = sorted(path for path in FOLDER.iterdir() if path.suffix != SUFFIX)


def _fix(path: Path) -> FixedFabric:
    (fabric,) = find_inputs([str(path)]).fabrics()
    return fix(fabric, CheckSettings(whole=False), unsafe=True)


def _count(findings: Iterable[Finding]) -> Iterator[str]:
    for (severity, rule), number in Counter((finding.severity, finding.rule) for finding in findings).items():
        yield f"  {number} {severity} {rule}\n"


def _report(fixed: FixedFabric) -> str:
    left = Counter((one.finding.rule, one.reason, one.text) for one in fixed.remaining)
    return "".join(
        [
            "before:\n",
            *_count([*fixed.made, *(one.finding for one in fixed.remaining)]),
            "fixed:\n",
            *_count(fixed.made),
            "left:\n",
            *(f"  {number} {rule}: {reason}: {text}\n" for (rule, reason, text), number in left.items()),
        ]
    )


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.stem)
def test_what_is_fixed_in_configurations_of_others(path: Path, update_golden: bool) -> None:
    golden = FOLDER / f"{path.stem}{SUFFIX}"
    report = _report(_fix(path))
    if update_golden:
        golden.write_text(report)
    assert golden.read_text() == report


@pytest.mark.parametrize("name", ["9-sonic-stock-dscp-26.json", "10-nvue-roce.nv", "12-nvue-reference-template.yaml"])
def test_a_missing_watchdog_of_a_stock_switch_is_added(name: str) -> None:
    fixed = _fix(FOLDER / name)
    assert "pfc-without-watchdog" in {finding.rule for finding in fixed.made}
    assert "pfc-without-watchdog" not in {one.finding.rule for one in fixed.remaining}
