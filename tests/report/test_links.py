"""Links from rules and places: where they lead, on which terminals they are, and that no name can break out of them."""

import json
import re
import socket
from pathlib import Path
from unittest.mock import patch
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.cli import output
from nodrop.config.reading import loads
from nodrop.engine.finding import Finding, UnknownVerdict
from nodrop.engine.rules import shipped_rules
from nodrop.errors import InputProblems, Problem
from nodrop.report import links
from nodrop.report.links import RulePageUrls, TerminalLinks, format_link
from nodrop.report.text import render
from nodrop.resources import resource_folder
from support.command import nodrop, on_terminal
from support.report_samples import at, finding, outcome, related

LINK = re.compile(r"\x1b]8;;([^\x1b]*)\x1b\\(.*?)\x1b]8;;\x1b\\")
HERE = socket.gethostname()


def written(path: Path, text: str = "one\ntwo\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_rule_leads_to_its_page_else_to_its_own_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rules = shipped_rules()
    page = resource_folder("rules").parent / "docs" / "rules" / "pfc-without-watchdog.md"
    assert TerminalLinks(rules).address_of_rule_page("pfc-without-watchdog") == f"file://{HERE}{page}"
    assert TerminalLinks(rules).address_of_rule_page("no-such-rule") is None
    monkeypatch.setattr(links, "resource_folder", lambda name: tmp_path / name)
    (rule,) = (one for one in rules if one.name == "pfc-without-watchdog")
    assert TerminalLinks([rule]).address_of_rule_page(rule.name) == f"file://{HERE}{rule.path}"


def test_a_place_leads_to_its_file_and_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "a b;%\u202e.json")
    address = f"file://{HERE}{tmp_path}/a%20b%3B%25%E2%80%AE.json"
    assert TerminalLinks(()).address_of_file_line("a b;%\u202e.json", 7) == f"{address}#7"
    assert TerminalLinks(()).address_of_file_line("a b;%\u202e.json") == address
    assert TerminalLinks(()).address_of_file_line("missing.json", 7) is None
    assert TerminalLinks(()).address_of_file_line(str(tmp_path), 7) is None
    assert TerminalLinks(()).address_of_file_line("a\0b") is None


def test_what_terminals_would_cut_is_not_linked(tmp_path: Path) -> None:
    deep = tmp_path
    for _ in range(8):
        deep = deep / ("é" * 100)
    assert TerminalLinks(()).address_of_file_line(str(written(deep / "x.json"))) is None


def test_rules_and_places_of_a_report_are_links(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    written(Path("leaf1.json"))
    one = finding(
        "leaf1/Ethernet0", at("leaf1.json", 2, 1, 3), related=(related("leaf2", "there", at("leaf2.json", 1, 1, 2)),)
    )
    other = finding("leaf1/Ethernet8", at("leaf1.json", 1, 1, 3))
    lacking = UnknownVerdict(rule="headroom-too-small", missing="x", subjects_count=1, devices=(), resolved_by="")
    whole = outcome(one, other, unknown=(lacking,), problems=(Problem(path="leaf1.json", line=2, found="x"),))
    for color in (False, True):
        text = render(whole, color=color, verbose=True, links=TerminalLinks(shipped_rules()))
        strip = re.compile(r"\x1b\[[0-9;]*m")
        found = [(strip.sub("", shown), urlsplit(address)) for address, shown in LINK.findall(text)]
        assert [shown for shown, _ in found] == [
            "pfc-without-watchdog",
            "leaf1.json:2:1",
            "leaf1.json:1:1",
            "headroom-too-small",
            "leaf1.json:2",
        ]
        assert [address.fragment for _, address in found] == ["", "2", "1", "", "2"]
        assert all(Path(unquote(address.path)).is_file() for _, address in found)
        plain = render(whole, verbose=True)
        assert strip.sub("", LINK.sub(r"\2", text)) == plain
        assert "\x1b]8" not in plain


NAMES = st.text(st.sampled_from("a/.;#%\x1b\\\n\r\x07\x9c ]8:\u202e\udcff`"), min_size=1, max_size=20)


@given(name=NAMES, rule=NAMES)
def test_no_name_breaks_out_of_a_link(name: str, rule: str) -> None:
    given_rule = (one for one in shipped_rules()[:1])
    made = TerminalLinks(given_rule)
    with patch.object(TerminalLinks, "_is_file", lambda *_: True):
        hostile: Finding = finding("leaf1/Ethernet0", at(name, 1, 1, 2), rule=rule)
        text = render(outcome(hostile), links=made)
    for address, _ in LINK.findall(text):
        assert re.fullmatch(r"file://[\w.%~-]*/[\w.%/~-]*(#\d+)?", address, re.ASCII)
    rest = LINK.sub(r"\2", text)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", rest)
    assert format_link(None, "x") == "x"


@pytest.mark.parametrize(
    ("environment", "terminal", "color", "wanted"),
    [
        ({"TERM": "xterm-256color"}, True, "auto", True),
        ({"TERM": "xterm"}, True, "never", False),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, "auto", True),
        ({"TERM": "xterm"}, False, "always", False),
        ({"TERM": "dumb"}, True, "auto", False),
        ({"TERM": "linux"}, True, "auto", False),
        ({}, True, "auto", False),
        ({"TERM": "xterm", "CI": "true"}, True, "auto", False),
        ({"TERM": "xterm", "NO_HYPERLINK": "1"}, True, "auto", False),
        ({"FORCE_HYPERLINK": "1"}, False, "auto", True),
        ({"FORCE_HYPERLINK": "1", "CI": "true"}, False, "auto", True),
        ({"FORCE_HYPERLINK": "1", "NO_HYPERLINK": "1"}, True, "auto", False),
        ({"TERM": "xterm", "FORCE_HYPERLINK": "0"}, True, "auto", False),
        ({"TERM": "xterm", "FORCE_HYPERLINK": ""}, True, "auto", True),
    ],
)  # fmt: skip
def test_who_gets_links(
    environment: dict[str, str], terminal: bool, color: str, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setattr(output.sys.stdout, "isatty", lambda: terminal)
    assert output.wants_links(color) == wanted


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    intent = (resource_folder("intents") / "two-by-two.yaml").read_text()
    written(Path("pod.yaml"), intent.replace("min: 150kB, max: 1500kB", "min: 1kB, max: 2kB"))
    return tmp_path


def test_a_terminal_gets_links_and_nothing_else_does(faulty: Path) -> None:
    said = on_terminal("lint", "pod.yaml", TERM="xterm", NO_COLOR="1").out
    assert [shown for _, shown in LINK.findall(said)][:2] == ["ecn-below-one-packet", "pod.yaml:15:80"]
    assert "\x1b]8" not in on_terminal("lint", "pod.yaml", TERM="xterm", CI="true").out
    assert "\x1b" not in nodrop("lint", "pod.yaml").out
    done = nodrop("lint", "pod.yaml", "--format", "text=report.txt", "--format", "json")
    assert "\x1b" not in done.out + Path("report.txt").read_text()


def test_forced_links_are_on_standard_output_alone(faulty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    assert "\x1b]8;;file://" in nodrop("lint", "pod.yaml").out
    for name in ("json", "sarif", "junit", "github", "gitlab", "concise"):
        assert "\x1b" not in nodrop("lint", "pod.yaml", "--format", name).out
    nodrop("lint", "pod.yaml", "--format", "text=report.txt")
    assert "\x1b" not in Path("report.txt").read_text()


def test_what_a_fix_leaves_is_linked_where_it_is_on_standard_output(
    faulty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = nodrop("fix", "pod.yaml").out
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    said = nodrop("fix", "pod.yaml", "--format", "text", "--format", "json=out.json").out
    assert "ecn-below-one-packet" in [shown for _, shown in LINK.findall(said)]
    assert LINK.sub(r"\2", said) == plain
    nodrop("fix", "pod.yaml", "--format", "text=report.txt")
    aside = nodrop("fix", "pod.yaml", "--diff").err
    assert "\x1b" not in Path("report.txt").read_text() + aside
    assert "ecn-below-one-packet" in aside


PAGES = "https://docs.example.net/nodrop/rules/{rule}.html?v=1"


def test_findings_link_to_the_pages_that_a_site_publishes(faulty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("nodrop.yaml").write_text(f'rule_pages: "{PAGES}"\n')
    address = PAGES.format(rule="ecn-below-one-packet")
    (run,) = json.loads(nodrop("lint", "pod.yaml", "--format", "sarif").out)["runs"]
    addresses = {rule["id"]: rule["helpUri"] for rule in run["tool"]["driver"]["rules"]}
    assert addresses["ecn-below-one-packet"] == address
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    assert (address, "ecn-below-one-packet") in LINK.findall(nodrop("lint", "pod.yaml").out)
    Path("nodrop.yaml").write_text("")
    assert "helpUri" not in nodrop("lint", "pod.yaml", "--format", "sarif").out


def test_only_shipped_rules_have_pages() -> None:
    pages = RulePageUrls(PAGES)
    assert pages.find_address("pfc-without-watchdog") == PAGES.format(rule="pfc-without-watchdog")
    assert pages.find_address("our-own-rule") is None
    assert RulePageUrls().find_address("pfc-without-watchdog") is None


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert({rule})",
        "https://docs.example.net/rules/",
        "https://docs.example.net/{rule}) [x](https://e.example/",
        "https://docs.example.net/{rule}\x1b\\",
        "https://docs.example.net/<b>{rule}",
        "https://user@docs.example.net/{rule}",
        "https://{rule}/",
        "https://docs.example.net/" + "a" * 500 + "{rule}",
    ],
)
def test_an_address_that_could_end_its_link_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(InputProblems) as caught:
        loads(json.dumps({"rule_pages": address}).encode(), tmp_path / "nodrop.yaml")
    (problem,) = caught.value.problems
    assert (problem.where, problem.line) == ("rule_pages", 1)
    assert "an address with `{rule}`" in problem.expected
