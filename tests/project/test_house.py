"""The house rules that a machine can check (docs/design.md, 9.19 and 9.21)."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from nodrop.engine.areas import rule_area_names
from nodrop.engine.rules import shipped_rules
from nodrop.resources import resource_folder
from support.places import ROOT, TESTS

SOURCE = ROOT / "src" / "nodrop"
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))

LAYERS = (
    {"__main__"},
    {"cli", "lsp"},
    {"fixing", "explaining", "importing", "checking"},
    {"outcome_cache"},
    {
        "fabric_readings",
        "judging",
        "schemas",
        "accepted_findings",
        "advice_order",
        "advising",
        "correction_trials",
        "fix_commands",
        "folding",
        "shared_identifiers",
    },
    {"report", "validating"},
    {"results"},
    {"export", "sizing"},
    {"plan", "locate", "config", "rule_tests"},
    {"engine"},
    {"design"},
    {"built_cache", "context", "collect", "inputs", "intent", "opening", "paths", "reading_cache", "revisions"},
    {"analyses", "proofs", "routing"},
    {"platforms"},
    {"hardware"},
    {"model"},
    {"cache", "syntax", "publish", "parallel", "units"},
    {"errors", "identity", "limits", "resources"},
)
"""From the top: a module imports from its own layer and those below. The package root ties the verbs together."""

ONLY_IN = {
    "pydantic": ("intent", "hardware", "engine/rule_file", "engine/rule_loader", "context", "config", "schema"),
    "jinja2": ("platforms/kit/rendering", "engine/expression", "engine/expression_types"),
    "click": ("cli",),
    "orjson": ("syntax", "report"),
    "netaddr": ("intent", "design"),
    "ruamel": ("syntax",),
    "_ruamel_yaml": ("syntax",),
    "pygls": ("lsp/server", "lsp/texts"),
    "lsprotocol": ("lsp",),
    "pybatfish": ("validating/batfish/service",),
    "requests": ("validating/batfish/service",),
    "urllib3": ("validating/batfish/service",),
    "pandas": (),
}

VENDOR_WORDS = {
    "sonic": ("config_db", "BUFFER_PG", "PORT_QOS_MAP", "PFC_WD", "WRED_PROFILE", "buffermgrd", "orchagent", "pfcwd"),
}
"""Words of a platform, that its own folder and the facts about hardware may use in code, and nobody else.

Docstrings and comments may name a source; a string or name in the code may not.
"""

MAY_SPEAK = ("platforms", "hardware")


TIER_NAMES = re.compile(r"(?<![a-z])(super)?spines?(?![a-z])|(?<![a-z])leaf(?![a-z])", re.IGNORECASE)
"""What people call the tiers of a fabric of two or three; code that works for any number of tiers has no such word."""

TIER_KEYS = re.compile(r"\bleaf_(?:ports|group)\b|\bports_per_leaf\b|\bone-leaf\b")
"""Keys and values of hosts in any intent, whatever its topology."""

SHORT_FORM_HOMES = ("design/topology", "importing/short_form")
"""The modules that translate between `kind: leaf-spine` and groups in tiers."""

FORMATS_OF_REPORTS = {
    "a terminal": ("document_text", "table", "block", "quote", "difference"),
    "comments": ("document_markdown",),
    "the pages of rules": ("rules", "rule_book", "rule_words", "rule_on"),
    "machines": ("concise", "github", "gitlab", "json", "junit", "rack", "rule_tests", "sarif"),
    "names, which all formats quote alike": ("names",),
}
"""The modules of report/ that write a format, by what it is for; all others say what a report has, without one."""

MARKUP = re.compile(r"<(?:t[dhr]|table|details|br|sub)\b|-{3}\s*\||\*\*|\x1b\[")
"""What only a format has."""


def layer_of(part: str) -> int:
    return next(number for number, names in enumerate(LAYERS) if part in names)


@cache
def text_of(path: Path) -> str:
    return (SOURCE / path).read_text()


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(parsed(path)))


def nodes_naming(path: Path, names: set[str]) -> tuple[ast.AST, ...]:
    """The nodes of a module that has any of some names; of others none."""
    return nodes_of(path) if any(name in text_of(path) for name in names) else ()


def imports_of(path: Path) -> Iterator[tuple[str, int]]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def test_the_picture_of_the_packages_in_the_design_has_their_layers() -> None:
    text = (ROOT / "docs" / "design.md").read_text()
    picture = text.split("```layers\n")[1].split("```")[0]
    layers = [set(re.split(r" {3,}", line)[0].split()) for line in picture.splitlines()]
    assert layers == [layer - {"__main__"} for layer in LAYERS if layer != {"__main__"}]


def test_imports_go_down() -> None:
    wrong = []
    for path in MODULES:
        part = path.parts[0].removesuffix(".py")
        for name, line in imports_of(path) if part != "__init__" else ():
            pieces = name.split(".")
            if pieces[0] != "nodrop" or len(pieces) < 2:
                continue
            known = any(pieces[1] in names for names in LAYERS)
            if known and layer_of(pieces[1]) < layer_of(part):
                wrong.append(f"{path}:{line}: {part} imports {name}, which is above it")
    assert not wrong, wrong


def test_libraries_stay_where_they_belong() -> None:
    wrong = [
        f"{path}:{line}: {name}"
        for path in MODULES
        for name, line in imports_of(path)
        for library, places in ONLY_IN.items()
        if name.split(".")[0] == library and not path.as_posix().removesuffix(".py").startswith(places)
    ]
    assert not wrong, wrong


def test_only_formats_of_reports_escape_and_have_markup() -> None:
    formats = {f"report/{name}.py" for names in FORMATS_OF_REPORTS.values() for name in names}
    reports = [
        path for path in MODULES if path.parts[0] == "report" and path.name not in ("escape.py", "paint.py", "links.py")
    ]
    escaping = {
        path.as_posix() for path in reports if any(name == "nodrop.report.escape" for name, _ in imports_of(path))
    }
    assert escaping == formats, escaping ^ formats
    texts = [(path.as_posix(), line, text) for path in reports for line, text in said(path)]
    wrong = [f"{path}:{line}" for path, line, text in texts if path not in formats and MARKUP.search(text)]
    assert not wrong, wrong
    assert {path for path, _, text in texts if re.search(r"-{3}\s*\|", text)} == {"report/document_markdown.py"}


def test_vendor_words_stay_in_their_platform() -> None:
    wrong = [
        f"{path}:{line}: {word}"
        for path in MODULES
        if path.parts[0] not in MAY_SPEAK
        for line, text in said(path)
        for words in VENDOR_WORDS.values()
        for word in words
        if word in text and (path.as_posix(), word) not in SPOKEN
    ]
    assert not wrong, wrong


def said(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are no docstrings, each with its line."""
    free = {id(node.value) for node in nodes_of(path) if isinstance(node, ast.Expr)}
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in free:
            yield node.lineno, node.value


SPOKEN = {
    ("design/defaults.py", "pfcwd"),  # the source of a default, shown to the user
}


def words_of_code(source: str) -> Iterator[tuple[int, str]]:
    """Names and texts of a module with their lines, docstrings left out."""
    tree = ast.parse(source)
    docstrings = {
        id(after.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        for after in node.body
        if isinstance(after, ast.Expr)
    }
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield line, node.value
        for name in ("id", "attr", "name", "arg"):
            if isinstance(word := getattr(node, name, None), str):
                yield line, word


def tier_names(source: str) -> list[str]:
    return [
        f"{line}: {word}"
        for line, word in words_of_code(source)
        if TIER_NAMES.search(TIER_KEYS.sub("", word).replace("_", " ").replace("leaves ", ""))
    ]


def test_design_and_importing_know_no_names_of_tiers() -> None:
    found = [
        f"{path}:{word}"
        for path in MODULES
        if path.parts[0] in ("design", "importing") and str(path.with_suffix("")) not in SHORT_FORM_HOMES
        for word in tier_names((SOURCE / path).read_text())
    ]
    assert found == []


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("leaf = 1", True),
        ("def count_leaf_slots(): pass", True),
        ("x = f'{n} superspine{s}'", True),
        ("x.spine_slots", True),
        ("group.leaf_ports", False),
        ("x = 'one-leaf'", False),
        ("x = f'{ratio} leaves too little'", False),
        ('def leaflet(): """Return a leaf."""', False),
    ],
)
def test_names_of_tiers_are_found_in_code(line: str, is_found: bool) -> None:
    assert bool(tier_names(line)) is is_found


def test_few_functions_of_a_design_take_a_whole_intent() -> None:
    """They take the sections that they need, and the topology, so that what a value follows from can be seen."""
    functions = [
        node
        for path in MODULES
        if path.parts[0] == "design"
        for node in ast.walk(ast.parse((SOURCE / path).read_text()))
        if isinstance(node, ast.FunctionDef)
    ]
    taking = [
        function.name
        for function in functions
        for argument in (*function.args.args, *function.args.kwonlyargs)
        if argument.annotation is not None and re.search(r"\bIntent\b", ast.unparse(argument.annotation))
    ]
    assert len(taking) * 12 < len(functions), taking


def test_modules_are_short() -> None:
    lines = {path: len((SOURCE / path).read_text().splitlines()) for path in MODULES}
    assert {path: count for path, count in lines.items() if count > 500} == {}


def test_no_group_is_repeated_possessively() -> None:
    """`(…)*+` matches wrongly in Python before 3.11.5 (gh-106052), which Debian 12 has; `(?>(…)*)` does not."""
    texts = {path: re.sub(r"(?m)^ *#.*$", "", (SOURCE / path).read_text()) for path in MODULES}
    assert [path for path, text in texts.items() if re.search(r"\)[*+?]\+", text)] == []


_OWN_PATTERNS = {
    ("config/toml.py", "name"),  # escaped where it is assigned
    ("export/batfish/names.py", "any_of"),  # escaped where it is assigned
    ("model/subject.py", "between"),  # globs, escaped but for * and ?, without going back
    ("model/subject.py", "head"),
    ("model/subject.py", "tails"),
    ("engine/located_text.py", "before"),
    ("engine/located_text.py", "after"),
    ("lsp/completions.py", "pattern"),  # of a table of the module
    ("platforms/nvue/tree.py", "nvset"),  # a module with a pattern
    ("platforms/frr/changes.py", "pattern"),  # of a table of the module
    ("platforms/sonic/schema_types.py", "match"),  # of nodrop's own schema
    ("platforms/sonic/schema_types.py", "four"),
    ("platforms/hosts/template_schema.py", "pattern"),  # of a file of nodrop, nic_template.yaml
    ("platforms/sonic/schema_types.py", "six"),
    ("platforms/sonic/schema_types.py", "word"),
    ("units.py", "pattern"),  # constants of the module
    ("validating/batfish/lines.py", "harmless_line"),  # of a table of the module
    ("validating/twin/outward.py", "_command_regex"),  # words of the module, escaped
}
"""Names in the patterns of `re` that are no constants, and do not hold what somebody else wrote."""


def _patterns(path: Path) -> Iterator[str]:
    """Yield the names in patterns of `re` that are neither constants nor escaped."""
    for call in nodes_of(path) if "import re\n" in text_of(path) else ():
        if not isinstance(call, ast.Call) or not re.fullmatch(r"re\.(?!escape)\w+", ast.unparse(call.func)):
            continue
        inner = [one for one in ast.walk(call.args[0]) if isinstance(one, ast.Call)]
        escaped = {id(name) for one in inner if ast.unparse(one.func) == "re.escape" for name in ast.walk(one)}
        for name in ast.walk(call.args[0]):
            if isinstance(name, ast.Name) and id(name) not in escaped and not name.id.isupper() and name.id != "re":
                yield name.id


def test_no_text_of_a_configuration_is_a_pattern_of_re() -> None:
    """One such expression hangs the process: they are compiled by `syntax.posix`, in work linear in the text."""
    assert {(str(path), name) for path in MODULES for name in _patterns(path)} == _OWN_PATTERNS


@pytest.mark.parametrize("path", sorted((ROOT / "templates").rglob("*.j2")), ids=lambda path: path.name)
def test_templates_are_short_and_do_not_decide(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 80
    assert "is defined" not in text


def test_platforms_import_neither_design_nor_intent() -> None:
    wrong = [
        (str(path), name)
        for path in MODULES
        if path.parts[0] in ("platforms", "hardware", "model")
        for name, _ in imports_of(path)
        if name.startswith(("nodrop.design", "nodrop.intent"))
    ]
    assert not wrong


def test_golden_files_are_small() -> None:
    assert sum(path.stat().st_size for path in (ROOT / "golden").rglob("*") if path.is_file()) <= 2_000_000


def test_every_rule_lies_in_an_area_and_has_examples() -> None:
    for rule in shipped_rules():
        assert rule.area in rule_area_names(), rule.name
        kinds = {example.kind for example in rule.examples}
        assert kinds == {"bad", "good"}, rule.name
        assert all(example.at for example in rule.examples if example.kind == "bad"), rule.name


def test_shipped_data_is_found() -> None:
    for name in ("templates", "rules", "intents", "profiles", "schemas"):
        assert any(resource_folder(name).iterdir())


def test_no_public_function_without_a_docstring() -> None:
    wrong = []
    for path in MODULES:
        for node in nodes_of(path):
            public = isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
            if public and "overload" in map(ast.unparse, node.decorator_list):
                continue
            if public and not ast.get_docstring(node) and not _inside_private(path, node):
                wrong.append(f"{path}:{node.lineno}: {node.name}")
    assert not wrong, wrong


def _inside_private(path: Path, node: ast.AST) -> bool:
    """Whether a definition is local to a function or to a private class."""
    for outer in nodes_of(path):
        private = isinstance(outer, ast.FunctionDef) or (isinstance(outer, ast.ClassDef) and outer.name.startswith("_"))
        if private and any(
            isinstance(inner, type(node)) and inner.lineno == node.lineno and inner is not outer
            for inner in ast.walk(outer)
        ):
            return True
    return False


def test_one_module_of_tests_knows_where_files_are() -> None:
    """Who asks `__file__` of a test has to change when the test moves: `support/places.py` is asked instead."""
    asked = {
        path.relative_to(TESTS).as_posix()
        for path in TESTS.rglob("*.py")
        if "__file__" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and node.id == "__file__"
    }
    assert asked == {"support/places.py"}


def test_helpers_of_tests_are_in_one_package() -> None:
    beside = [path.relative_to(TESTS) for path in TESTS.rglob("*.py") if not path.is_relative_to(TESTS / "support")]
    assert [path for path in beside if path.name != "conftest.py" and not path.name.startswith("test_")] == []


def test_tests_mirror_the_packages() -> None:
    """A folder with tests is named like the package that they test, or is one of `OF_NO_PACKAGE`."""
    folders = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")} - {"."}
    assert {name for name in folders if not (SOURCE / name).is_dir()} == OF_NO_PACKAGE


OF_NO_PACKAGE = {"fuzzing", "project", "rules", "tools"}
"""Folders of tests of nodrop as a whole, of the repository, and of the shipped rules."""


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from nodrop.cli.main import run; run(['--help'])\n"
        "heavy = {'pydantic', 'jinja2', 'orjson', 'ruamel', '_ruamel_yaml', 'netaddr', 'pybatfish', 'pandas'}\n"
        "heavy &= set(sys.modules)\n"
        "sys.exit(','.join(sorted(heavy)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


OF_A_FILE = {"data", "document", "root", "tree", "tables", "node"}
"""What platforms call parameters that hold what a file says."""
SHIPPED = {
    "hardware/__init__.py": 2,
    "platforms/hosts/template_schema.py": 1,
    "platforms/__init__.py": 1,
    "platforms/nvue/edit_steps.py": 1,
    "platforms/nvue/schema.py": 1,
    "platforms/kit/rows.py": 1,
    "platforms/sonic/gcu.py": 1,
    "platforms/nvue/published.py": 1,
    "platforms/sonic/schema.py": 1,
    "platforms/sonic/unknown_tables.py": 1,
    "validating/twin/neighbors.py": 1,
}
"""Modules that read a file of nodrop itself, or the output of a program, and how often."""


def parses(node: ast.AST) -> bool:
    return any(
        (isinstance(each, ast.Call) and re.search(r"\bparse(_json_text|_yaml)?$", ast.unparse(each.func)))
        or (isinstance(each, ast.Attribute) and ast.unparse(each) == "document.data")
        for each in ast.walk(node)
    )


def test_a_parser_returns_an_object() -> None:
    """What a file holds has no type until it is checked: then mypy refuses to index it or to call its methods."""
    from typing import get_type_hints

    from nodrop.platforms.kit import settings
    from nodrop.platforms.nvue import tree
    from nodrop.platforms.sonic import document
    from nodrop.syntax import json, yaml

    assert get_type_hints(json.parse_json_text)["return"] is object
    assert get_type_hints(yaml.DocumentWithPlaces.__init__)["data"] is object
    assert document.Tables == settings.SettingsTree == tree.Node == dict[str, object]


def test_nobody_takes_the_check_off_what_a_file_holds() -> None:
    found: dict[str, int] = {}
    for path in MODULES:
        for node in nodes_of(path):
            cast = isinstance(node, ast.Call) and ast.unparse(node.func) == "cast" and parses(node.args[1])
            stated = isinstance(node, ast.AnnAssign) and "Any" in ast.unparse(node.annotation)
            if cast or (stated and node.value is not None and parses(node.value)):
                found[path.as_posix()] = found.get(path.as_posix(), 0) + 1
    assert found == SHIPPED


def test_platforms_take_what_a_file_holds_as_an_object() -> None:
    wrong = [
        f"{path}:{one.lineno}: {one.arg}: Any"
        for path in MODULES
        if path.parts[0] == "platforms"
        for node in nodes_of(path)
        if isinstance(node, ast.arguments)
        for one in (*node.posonlyargs, *node.args, *node.kwonlyargs)
        if one.arg in OF_A_FILE and one.annotation is not None and "Any" in ast.unparse(one.annotation)
    ]
    assert not wrong, wrong


def test_a_text_becomes_a_number_in_one_place() -> None:
    """`int` of digits that nobody has counted raises ValueError beyond 4,300: `units.whole_number` counts them."""
    wrong = []
    tests_of_digits = {"isdecimal", "isdigit", "isnumeric"}
    for path in MODULES:
        for node in nodes_naming(path, tests_of_digits):
            if isinstance(node, ast.FunctionDef) and path.as_posix() != "units.py":
                called = {ast.unparse(one.func).split(".")[-1] for one in ast.walk(node) if isinstance(one, ast.Call)}
                if "int" in called and called & tests_of_digits:
                    wrong.append(f"{path}:{node.lineno}: {node.name}")
    assert not wrong, wrong


def test_a_text_becomes_an_address_in_one_place() -> None:
    """`ipaddress` raises ValueError of what is no address: `model/addresses.py` returns None."""
    may = ("model/addresses.py", "routing/prefixes.py", "validating/")
    parsers = {"ip_address", "ip_interface", "ip_network"}
    wrong = [
        f"{path}:{node.lineno}"
        for path in MODULES
        if not path.as_posix().startswith(may)
        for node in nodes_naming(path, parsers)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in parsers
    ]
    assert not wrong, wrong


IDENTITIES_OF_A_PASS = {"engine/cells.py", "platforms/kit/expressible.py", "syntax/packed.py"}
"""Modules that compare identities within one pass over objects that somebody else holds, where a map would be slow."""


def test_identities_are_keys_in_one_place() -> None:
    """`identity.py` holds the objects: an identity that is kept longer than its object belongs to the next one."""
    found = {
        str(path)
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.Name) and node.id == "id" and isinstance(node.ctx, ast.Load)
    }
    assert found == {"identity.py", *IDENTITIES_OF_A_PASS}
