"""nodrop.yaml and [tool.nodrop] from their text: values, places, paths, and which file counts."""

from pathlib import Path

import pytest

from nodrop.config import find_config_file, load, loads
from nodrop.config.toml import parse_nodrop_table
from nodrop.engine.rules import shipped_rules
from nodrop.errors import InputProblems

TOML = """\
[project]
name = "site"

[tool.nodrop]
strictness = "auditor"
severity = {path-mtu-below-hosts = "off"}

[[tool.nodrop.suppress]]
rule = "pfc-one-sided"
at = "leaf1/*"
reason = "known"
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "site" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "site")
    return tmp_path / "site"


def problems(text: str, path: str = "nodrop.yaml") -> list[str]:
    with pytest.raises(InputProblems) as caught:
        loads(text.encode(), Path(path)).check_severity_and_options(shipped_rules())
    return [str(problem) for problem in caught.value.problems]


def test_an_empty_file_says_nothing(site: Path) -> None:
    config = loads(b"", Path("nodrop.yaml"))
    assert (config.strictness, config.fail_on, config.severity, config.suppress) == (None, None, {}, ())
    assert config.excludes is None


def test_yaml_and_toml_say_the_same(site: Path) -> None:
    yaml = (
        "strictness: auditor\nseverity: {path-mtu-below-hosts: off}\n"
        "suppress:\n  - {rule: pfc-one-sided, at: leaf1/*, reason: known}\n"
    )
    one, other = loads(yaml.encode(), Path("nodrop.yaml")), loads(TOML.encode(), Path("pyproject.toml"))
    assert one.strictness == other.strictness == "auditor"
    assert one.severity == other.severity == {"path-mtu-below-hosts": "off"}
    said = [[(each.rule, each.at, each.reason) for each in config.suppress] for config in (one, other)]
    assert said[0] == said[1] == [("pfc-one-sided", "leaf1/*", "known")]
    assert [(each.line, each.column) for each in one.suppress] == [(4, 12)]
    assert other.suppress[0].line == 9


def test_places_of_toml_are_those_of_keys() -> None:
    found = parse_nodrop_table(TOML.encode(), "pyproject.toml")
    assert found is not None
    assert found.line_and_column(("strictness",)) == (5, 1)
    assert found.line_and_column(("severity", "path-mtu-below-hosts"))[0] == 6
    assert found.line_and_column(("suppress", 0, "rule")) == (9, 1)
    assert found.line_and_column(("nowhere",)) == (4, 1)


@pytest.mark.parametrize("text", ["[tool]\nother = 1\n", "[project]\nname = 'x'\n", ""])
def test_a_pyproject_without_the_table_is_no_configuration(text: str) -> None:
    assert parse_nodrop_table(text.encode(), "pyproject.toml") is None


def test_toml_with_a_fault_is_refused_at_its_place() -> None:
    with pytest.raises(InputProblems) as caught:
        parse_nodrop_table(b"[tool.nodrop]\nstrictness = \n", "pyproject.toml")
    (problem,) = caught.value.problems
    assert (problem.path, problem.line, problem.expected) == ("pyproject.toml", 2, "TOML")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("severity: {pfc-one-side: off}\n", "nodrop.yaml:1:12: severity.pfc-one-side: no rule `pfc-one-side`"),
        ("options: {pfc-one-sided: {most: 3}}\n", "nodrop.yaml:1:27: options.pfc-one-sided.most: no option `most`"),
    ],
)
def test_rules_and_options_that_do_not_exist(site: Path, text: str, found: str) -> None:
    (said,) = problems(text)
    assert said.startswith(found)


@pytest.mark.parametrize("key", ["rules: [{}]", "baseline: {}", "profile: {}"])
@pytest.mark.parametrize(("name", "found"), [("/etc", "an absolute path"), ("../other", "leads out of the repository")])
def test_a_file_outside_the_repository_is_refused(site: Path, key: str, name: str, found: str) -> None:
    (said,) = problems(key.format(name))
    assert found in said


@pytest.mark.parametrize(
    ("pattern", "path", "excluded"),
    [
        ("old", "old", True),
        ("old", "pod/old", True),
        ("old", "older", False),
        ("spine*", "pod/spine1", True),
        ("pod/old", "pod/old", True),
        ("pod/old", "old", False),
        ("a/*/b", "a/x/y/b", False),
        ("./old/", "old", True),
    ],
)
def test_what_a_pattern_excludes(site: Path, pattern: str, path: str, excluded: bool) -> None:
    config = loads(f"exclude: ['{pattern}']\n".encode(), Path("nodrop.yaml"))
    assert config.excludes is not None
    assert config.excludes(Path(path)) is excluded


def test_the_nearest_file_counts_and_none_above_the_repository(site: Path) -> None:
    (site / "pod" / "build").mkdir(parents=True)
    (site.parent / "nodrop.yaml").write_text("strictness: auditor\n")
    assert find_config_file(["pod/build"]) is None
    (site / "pyproject.toml").write_text("[project]\nname = 'nodrop'\n")
    assert find_config_file(["pod/build"]) is None
    (site / "pyproject.toml").write_text(TOML)
    assert find_config_file(["pod/build"]) == Path("pyproject.toml")
    (site / "nodrop.yaml").write_text("")
    assert find_config_file(["pod/build"]) == Path("nodrop.yaml")
    (site / "pod" / "nodrop.yaml").write_text("nodrop: 1\nfabric: an-intent\n")
    assert find_config_file(["pod/build"]) == Path("nodrop.yaml")
    (site / "pod" / "nodrop.yaml").write_text("fail_on: warning\n")
    found = find_config_file(["pod/build"])
    assert found == Path("pod/nodrop.yaml")
    assert load(found).fail_on == "warning"
    assert find_config_file(["pod/build", "other"]) == Path("nodrop.yaml")
