"""Consoles of README.md and docs/ run as they are: files are written, commands run in order, outputs compared."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.certificates import claimed, nested, ring, sealed
from support.command import built
from support.documented_commands import blocks, run_page
from support.places import ROOT

PAGES = ("README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))))
RUN_ELSEWHERE = {
    "docs/importing.md": "test_importing_guide.py",
    "docs/own-rules.md": "test_own_rules_guide.py",
    "docs/validating.md": "test_validating_guide.py",
}
"""Pages whose consoles need more than a folder: the test modules that run them."""


def lab() -> None:
    """Write the intent of the first fabric."""
    text = next(block.text for block in blocks((ROOT / "docs/first-fabric.md").read_text()) if block.language == "yaml")
    Path("lab.yaml").write_text(text)


def built_lab() -> None:
    """Build the first fabric."""
    lab()
    built("lab.yaml", "build")


def stock_switch() -> None:
    """Have a switch with SONiC's default QoS."""
    shutil.copy(ROOT / "examples/stock-switch/config_db.json", "leaf7.json")


def certificates() -> None:
    """Have the checker, a certificate of a ring, and one whose cycle was changed."""
    shutil.copy(ROOT / "scripts/check_certificate.py", ".")
    document = claimed(ring())
    Path("ring.json").write_text(json.dumps(nested(document)))
    document["cycle"][0]["dscp"] = 0
    Path("changed.json").write_text(json.dumps(nested(sealed(document))))


def refused() -> None:
    """Have an intent that cannot work."""
    shutil.copy(ROOT / "intents/refused/reference-256-literal.yaml", ".")


PREPARED: dict[str, Callable[[], None] | None] = {
    "README.md": None,
    "docs/builds.md": lab,
    "docs/certificates.md": certificates,
    "docs/drift.md": built_lab,
    "docs/first-fabric.md": None,
    "docs/fixing.md": built_lab,
    "docs/intents.md": refused,
    "docs/linting.md": stock_switch,
    "docs/output.md": stock_switch,
    "docs/routing.md": built_lab,
    "docs/sizing.md": None,
}
"""Pages with consoles, and what the reader has before the first."""


@pytest.mark.parametrize("page", PREPARED)
def test_a_page_works_as_written(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if prepare := PREPARED[page]:
        prepare()
    printed = run_page(page)
    if page == "docs/output.md":
        assert "error pfc-without-watchdog r12-tor1 Ethernet0 " in printed


def test_every_page_with_a_console_is_run() -> None:
    with_console = {
        page for page in PAGES if any(block.language == "console" for block in blocks((ROOT / page).read_text()))
    }
    assert with_console == {*PREPARED, *RUN_ELSEWHERE}
    for page, module in RUN_ELSEWHERE.items():
        assert Path(page).name in (ROOT / "tests/project" / module).read_text()
