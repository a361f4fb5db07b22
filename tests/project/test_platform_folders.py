"""A platform is its folder, and an area of rules is its folder: nothing outside names them, so a new one is found."""

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nodrop import platforms
from support.places import ROOT

SOURCE = ROOT / "src" / "nodrop"
NAMES = "|".join(sorted(path.parent.name for path in SOURCE.glob("platforms/*/reader.py")))
WORD = re.compile(rf"(?<![\w-])({NAMES})(?![\w-])")
PACKAGE = re.compile(rf"nodrop\.platforms\.({NAMES})(\.|$)")

NAMED = {
    ("platforms/kit/translating.py", "nvue"),  # reads older forms of Cumulus Linux, for cumulus and nclu
}
"""Modules outside the folder of a platform that name it, each with the reason."""


def named(path: Path) -> Iterator[str]:
    """Yield the platforms that a module names, in texts that are no docstrings and in imports."""
    tree = ast.parse(path.read_text())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield from WORD.findall(node.value)
        elif isinstance(node, ast.ImportFrom):
            modules = (node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names))
            yield from (found[1] for module in modules if (found := PACKAGE.match(module)))
        elif isinstance(node, ast.Import):
            yield from (found[1] for alias in node.names if (found := PACKAGE.match(alias.name)))


def test_a_platform_is_named_in_its_folder_only() -> None:
    others = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.py")]
    folders = {f"platforms/{name}" for name in (*platforms.platform_names(), platforms.HOSTS_PLATFORM)}
    others = [path for path in others if folders.isdisjoint(map(Path.as_posix, path.parents))]
    assert {(path.as_posix(), name) for path in others for name in named(SOURCE / path)} == NAMED


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('PLATFORMS = ("sonic", "nvue")', ["sonic", "nvue"]),
        ('f"or switches whose platform is nvue: {hint}"', ["nvue"]),
        ("from nodrop.platforms.onyx import reader", ["onyx", "onyx"]),
        ("from nodrop.platforms import nclu", ["nclu"]),
        ("import nodrop.platforms.cumulus.reader", ["cumulus"]),
        ('"""Read sonic."""', []),
        ('PROFILE = "sonic-lossy"', []),
    ],
)
def test_names_are_found(text: str, found: list[str], tmp_path: Path) -> None:
    path = tmp_path / "one.py"
    path.write_text(text)
    assert list(named(path)) == found


def test_one_platform_is_the_default() -> None:
    marked = [
        name
        for name in platforms.platform_names()
        if "\nDEFAULT = " in (SOURCE / f"platforms/{name}/__init__.py").read_text()
    ]
    assert marked == ["sonic"] == [platforms.default_platform()]
    assert platforms.platforms_default_first() == ("sonic", "nvue")


STUB = {
    "madeup/__init__.py": """
        from nodrop.platforms.nvue import COMMENTS
        WRITES = ("madeup.conf",)
        EXAMPLE = {tier: {"platform": "madeup", "version": "5.16"} for tier in ("spines", "leaves")}
        """,
    "madeup/reader.py": """
        CANONICAL_FILES, COMPANION_FILES, USUAL_SUFFIXES = ("madeup.conf",), (), ()
        def detect(name, head):
            return name == "madeup.conf"
        """,
    "madeup/naming.py": """
        def port_name(model, port, splits):
            return f"port{port.panel}"
        """,
    "madeup/traits.py": """
        from dataclasses import replace
        from nodrop.platforms.nvue.traits import TRAITS as OTHER
        TRAITS = replace(OTHER, title="Made-up OS")
        """,
    "madeup/writer.py": """
        from nodrop.platforms.kit.artifact import Artifact
        def write(device, index):
            return (Artifact(device=device.name, path="madeup.conf", text=f"hostname {device.name}"),)
        """,
    "madeup/additions.py": "",
    "madeup/not_carried.yaml": "{}",
    "onlyread/__init__.py": """
        from nodrop.platforms.nvue import COMMENTS
        """,
    "onlyread/reader.py": """
        CANONICAL_FILES, COMPANION_FILES, USUAL_SUFFIXES = ("onlyread.conf",), (), ()
        WRITTEN_AS = "madeup"
        def detect(name, head):
            return name == "onlyread.conf"
        """,
}
"""A platform that is written and one that is only read, by the files of their folders."""

ASKED = """
import json, sys
from pathlib import Path
import nodrop
from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.importing.tiers import find_smallest_model_with_ports
from nodrop.intent.load import loads
from nodrop.intent.schema import Intent
from nodrop.engine.areas import areas_checking_aspect, rule_area_names
from nodrop.engine.rules import shipped_rules
from nodrop.platforms.kit.examples import TIER_CHANGES_BY_PLATFORM
from nodrop.report.hardware import render_model_page
from nodrop.resources import resource_folder

text = (resource_folder("intents") / "two-by-two.yaml").read_text()
def on(word):
    return text.replace('platform: sonic, version: "202505"', f'platform: {word}, version: "5.16"').encode()
def problem(word):
    try:
        loads(on(word), "intent.yaml")
    except InputProblems as error:
        return str(error.problems[0])
fabric = nodrop.build(loads(on("madeup"), "intent.yaml"))
print(json.dumps({
    "written": platforms.platforms_default_first(),
    "written_as": platforms.writable_platform_for("onlyread"),
    "enum": Intent.model_json_schema()["$defs"]["SwitchGroup"]["properties"]["platform"]["enum"],
    "misspelt": problem("madup"),
    "only read": problem("onlyread"),
    "ports": [port.name for port in fabric.devices[0].interfaces][:2],
    "loopback": fabric.devices[0].loopbacks[0].name,
    "files": sorted({artifact.path for artifact in nodrop.write(fabric)}),
    "examples": list(TIER_CHANGES_BY_PLATFORM),
    "page": [line for line in render_model_page("SN4700", "text").splitlines() if line.startswith("  madeup")],
    "imported": find_smallest_model_with_ports((), "madeup"),
    "areas": rule_area_names(),
    "of": sorted(areas_checking_aspect("made-up aspect")),
    "rule": [rule.area for rule in shipped_rules() if rule.name == "made-up-rule"],
}))
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a copy of nodrop says once it has the folders of two platforms and of an area more, and nothing else."""
    top = tmp_path_factory.mktemp("checkout")
    package = top / "src" / "nodrop"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("templates", "intents", "profiles", "schemas"):
        (top / name).symlink_to(ROOT / name)
    for name, text in STUB.items():
        path = package / "platforms" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(line.removeprefix(" " * 8) for line in text.splitlines()) + "\n")
    model = package / "hardware" / "switches" / "SN4700.yaml"
    model.write_text(model.read_text().replace("\nplatforms: [", "\nplatforms: [madeup, ", 1))
    shutil.copytree(ROOT / "rules", top / "rules")
    area = top / "rules" / "madeup"
    area.mkdir()
    (area / "area.json").write_text('{"order": 15, "aspects": ["made-up aspect"]}')
    shutil.copy(ROOT / "rules" / "links" / "fec-mismatch.yaml", area / "made-up-rule.yaml")
    asked = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(package.parent)!r})\n{ASKED}"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=top)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("what", "answer"),
    [
        ("written", ["sonic", "madeup", "nvue"]),
        ("written_as", "madeup"),
        ("enum", ["sonic", "madeup", "nvue"]),
        (
            "misspelt",
            "intent.yaml:8:47: topology.spines.platform: madup; expected sonic, madeup or nvue (did you mean madeup?)",
        ),
        (
            "only read",
            "intent.yaml:8:47: topology.spines.platform: onlyread is not built by this release; "
            "expected sonic, madeup or nvue",
        ),
        ("ports", ["port1", "port2"]),
        ("loopback", "lo"),
        ("files", ["fabric.yaml", "madeup.conf"]),
        ("examples", ["sonic", "madeup", "nvue"]),
        ("page", ["  madeup          fabrics are designed and written"]),
        ("imported", "SN4700"),
        ("of", ["madeup"]),
        ("rule", ["madeup"]),
    ],
)
def test_a_new_folder_is_found(answers: dict[str, Any], what: str, answer: object) -> None:
    assert answers[what] == answer


def test_the_folder_of_an_area_says_where_it_stands(answers: dict[str, Any]) -> None:
    assert answers["areas"][:3] == ["pfc", "madeup", "watchdog"]
