"""The rule book: docs/rules/ is what the rules make of it, and no text of a rule turns into markup.

`make golden` writes docs/rules/ anew; read the difference before committing it.
"""

import re
from dataclasses import replace
from functools import cache

import pytest

from nodrop import platforms
from nodrop.engine.areas import rule_area_names
from nodrop.engine.rule import Rule, RuleExample, RuleOption
from nodrop.engine.rules import shipped_rules
from nodrop.report.escape import fence_code_block, format_nodrop_text_as_markdown
from nodrop.report.rule_book import INDEX_FILE, KnownProblem, render_rule_book
from nodrop.report.rule_on import CONFIGURATIONS_TITLE, render_configurations_section
from nodrop.report.rules import advice_of_rule, message_of_rule, platforms_with_fault, render_rule_page
from nodrop.syntax.yaml import parse_yaml
from support.command import nodrop
from support.places import ROOT

BOOK = ROOT / "docs/rules"
PLATFORMS = sorted(platforms.writable_platforms())
RULES = {rule.name: rule for rule in shipped_rules()}


@cache
def catalogue() -> tuple[KnownProblem, ...]:
    path = ROOT / "tests/rules/catalogue/table.yaml"
    rows = [row for part in parse_yaml(path.read_bytes(), path.name).data.values() for row in part]
    return tuple(
        KnownProblem(
            id=row["id"], says=row["says"], rules=tuple(row.get("rules", ())), undecided=row.get("undecided", "")
        )
        for row in rows
    )


@cache
def made() -> dict[str, str]:
    return render_rule_book(shipped_rules(), catalogue(), committed_configurations)


def committed_configurations(rule: Rule) -> list[str]:
    """The section of a committed page with configurations, which take long to make; one test per area makes them."""
    path = BOOK / f"{rule.name}.md"
    text = path.read_text() if path.exists() else ""
    found = re.search(rf"\n({CONFIGURATIONS_TITLE}\n.*?)\n(?=## )", text, re.DOTALL)
    return ["", *found[1].rstrip("\n").split("\n")] if found else []


def test_the_pages_in_docs_are_those_of_the_rules(update_golden: bool) -> None:
    if update_golden:
        for path in BOOK.glob("*.md"):
            if path.name not in made():
                path.unlink()
        stale = {
            name for name, text in made().items() if not (BOOK / name).exists() or (BOOK / name).read_text() != text
        }
        _write_pages({name.removesuffix(".md") for name in stale})
        made.cache_clear()
    there = {path.name: path.read_text() for path in BOOK.iterdir()}
    assert sorted(there) == sorted(made()), "make golden"
    stale = [name for name, text in made().items() if there[name] != text]
    assert not stale, "make golden"


def _write_pages(names: set[str]) -> None:
    """Write pages of the book with new configurations."""
    written = render_rule_book(
        shipped_rules(), catalogue(), lambda rule: render_configurations_section(rule) if rule.name in names else ()
    )
    for name in names:
        (BOOK / f"{name}.md").write_text(written[f"{name}.md"])


@pytest.mark.slow
@pytest.mark.parametrize("area", rule_area_names())
def test_pages_have_the_configurations_that_examples_make(area: str, update_golden: bool) -> None:
    of_area = [rule for rule in shipped_rules() if rule.area == area]
    fresh = {rule.name: render_configurations_section(rule) for rule in of_area}
    if update_golden:
        _write_pages({name for name in fresh if committed_configurations(RULES[name]) != fresh[name]})
    stale = [rule.name for rule in of_area if committed_configurations(rule) != fresh[rule.name]]
    assert not stale, "make golden"


def test_half_of_the_pages_and_more_have_configurations_of_each_platform() -> None:
    """The rest has examples that are given as files, or is about what files of one platform alone can have."""
    shown = {
        platform: sum(f"\nOn {platform}, reported at" in text for text in made().values()) for platform in PLATFORMS
    }
    assert min(shown.values()) > len(RULES) / 4, shown


def test_there_is_a_page_for_each_rule_and_all_links_lead_somewhere() -> None:
    assert made().keys() == {INDEX_FILE, *(f"{name}.md" for name in RULES)}
    anchors = _anchors(made()[INDEX_FILE])
    for name, text in made().items():
        for link in re.findall(r"\]\(([^)]+)\)", text):
            file, _, anchor = link.partition("#")
            assert not file or file in made() or (BOOK / file).exists(), f"{name}: {link}"
            if anchor:
                titled = anchors if file in ("", INDEX_FILE) else _anchors((BOOK / file).read_text())
                assert anchor in titled, f"{name}: {link}"


def _anchors(text: str) -> set[str]:
    return {re.sub(r"[^a-z -]", "", title.lower()).replace(" ", "-") for title in _titles(text)}


def _titles(text: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", text, re.MULTILINE)


def _under(title: str, level: int) -> str:
    """The part of the index below a title."""
    rest = made()[INDEX_FILE].partition(f"\n{'#' * level} {title}\n")[2]
    return re.split(rf"^#{{1,{level}}} ", rest, flags=re.MULTILINE)[0]


def _linked(text: str) -> list[str]:
    return re.findall(r"\[`([\w-]+)`\]\(\1\.md\)", text)


def _of_key(part: str, key: str) -> list[str]:
    return _linked(re.split(r"^\*\*", _under(part, 2).partition(f"**{key}**")[2], flags=re.MULTILINE)[0])


def test_the_index_has_every_rule_where_it_belongs() -> None:
    assert [name for name in rule_area_names() if _under(name, 3)] == [
        area for area in rule_area_names() if any(rule.area == area for rule in shipped_rules())
    ]
    for area in rule_area_names():
        assert _linked(_under(area, 3)) == [name for name, rule in RULES.items() if rule.area == area]
    for severity in ("error", "warning", "note"):
        assert _of_key("By severity", severity) == [name for name, one in RULES.items() if one.severity == severity]
    assert "name-not-known-to-tools" in _of_key("By strictness", "pedantic")
    assert "pfc-without-watchdog" in _of_key("By strictness", "regular")
    every = [name for key in ("regular", "pedantic", "auditor") for name in _of_key("By strictness", key)]
    assert sorted(every) == list(RULES)
    assert "unit-suffix" in _of_key("By platform", "nvue")
    assert "unit-suffix" not in _of_key("By platform", "sonic")
    assert "unknown-command" in _of_key("By platform", "nclu")
    assert "nic-tos-not-rdma" in _of_key("By platform", "hosts")


def test_the_index_lists_rules_of_some_modes_by_mode() -> None:
    assert "pfc-in-lossy-fabric" in _of_key("By fabric mode", "lossy")
    assert "pfc-in-lossy-fabric" not in _of_key("By fabric mode", "lossless")
    assert "link-pause-with-pfc" not in _linked(_under("By fabric mode", 2)), "it applies in every mode"


@pytest.mark.parametrize("name", [next(iter(RULES)), "watchdog-tier-order", next(reversed(RULES))])
def test_a_new_rule_adds_lines_to_the_index_and_changes_none(name: str) -> None:
    """Two branches that each add a rule then merge without a conflict."""
    after = iter(render_rule_book(shipped_rules())[INDEX_FILE].splitlines())
    before = render_rule_book([rule for rule in shipped_rules() if rule.name != name])[INDEX_FILE].splitlines()
    assert all(line in after for line in before)


def test_the_index_has_every_row_of_what_is_known_to_go_wrong() -> None:
    rows = dict(re.findall(r"^\| (\w+\d+) \|.*\| (.*) \|$", _under("By known problems", 2), re.MULTILINE))
    assert rows.keys() == {row.id for row in catalogue()}
    for row in catalogue():
        assert _linked(rows[row.id]) == [name for name in row.rules if name in RULES]
        assert not row.undecided or format_nodrop_text_as_markdown(row.undecided, cell=True) == rows[row.id]


def test_a_page_says_all_there_is_to_say() -> None:
    text = made()["watchdog-slower-than-rdma-timeout.md"]
    rule = RULES["watchdog-slower-than-rdma-timeout"]
    assert _titles(text) == [
        "watchdog-slower-than-rdma-timeout",
        "Why",
        "What to do",
        "Options",
        "As configurations",
        "Reported after these changes to the fabric of intents/two-by-two.yaml",
        "Not reported after these changes to the fabric of intents/two-by-two.yaml",
        "References",
        "What it belongs to",
    ]
    assert "\nthe watchdog of [port] [exceeded rdma timeout]\n".replace("[", r"\[").replace("]", r"\]") in text
    for fact in (
        "severity | warning",
        "confidence | likely",
        "fabric modes | lossless, pfc-only",
        "checks | each port",
    ):
        assert f"| {fact} |" in text
    assert "| tested on | cumulus, nvue, sonic |" in text
    assert "| [words] | in brackets are values of the finding |" in text
    assert format_nodrop_text_as_markdown(rule.why) in text
    assert "\n* timeout_ms = 4294: timeout after which a QP" in text
    bad = "```text\nset spine1/Ethernet0/qos/pfc_watchdog/detection_ms to 4194\n```\n\nreported at `spine1/Ethernet0`\n"
    assert bad in text
    assert "\n* [WDG005](README.md#by-known-problems): it acts before RDMA gives up\n" in text
    assert text.endswith("\n[Other rules of the area watchdog](README.md#watchdog)\n")
    assert nodrop("explain", rule.name).out.endswith("\nOther rules of this area: nodrop rules watchdog\n")
    assert "[watchdog/watchdog-slower-than-rdma-timeout.yaml](../../rules/watchdog/" in text


def test_a_page_says_where_a_fault_cannot_be() -> None:
    assert "| not on sonic | SONiC keeps its settings in one file |" in made()["file-beside-startup.md"]
    assert "  not on sonic  SONiC keeps its settings in one file\n" in nodrop("explain", "file-beside-startup").out


def test_the_terminal_has_the_same_words() -> None:
    for name in ("pfc-without-watchdog", "valley-path", "nic-tos-not-rdma", "unknown-command"):
        text = " ".join(nodrop("explain", name).out.split())
        rule = RULES[name]
        for words in (
            message_of_rule(rule),
            rule.why,
            advice_of_rule(rule),
            *rule.references,
            *(one.description for one in rule.options),
        ):
            assert " ".join(words.split()) in text
        for example in rule.examples:
            for at in example.at:
                assert at in text
    assert "checked by nodrop validate" in " ".join(nodrop("explain", "valley-after-one-failure").out.split())


def test_what_a_rule_finds_names_what_will_stand_there() -> None:
    assert (
        message_of_rule(RULES["pfc-without-watchdog"])
        == "[port] obeys pause on [pfc priorities] but has no PFC watchdog"
    )
    assert message_of_rule(RULES["unknown-field"]) == "[path] does not exist in [release][hint]"


def test_seen_on_is_what_the_examples_can_be_written_on() -> None:
    assert platforms_with_fault(RULES["pfc-without-watchdog"]) == ("cumulus", "nvue", "onyx", "sonic")
    assert platforms_with_fault(RULES["unit-suffix"]) == ("nvue",)
    assert platforms_with_fault(RULES["nic-tos-not-rdma"]) == (platforms.HOSTS_PLATFORM,)
    assert {"nclu", "onyx", "sonic"} & set(platforms_with_fault(RULES["unknown-command"])) == {"nclu", "onyx", "sonic"}


HOSTILE = "# x <b>&amp; [l](http://a.example/b_c) *e* _f_ a_b ~~g~~ $h$ `i|<j>` k|l \x1b[31m\u202e \\` m\n\n- n ``"
SAFE = (
    r"\# x \<b\>\&amp; \[l\](<http://a.example/b_c>) \*e\* \_f\_ a_b \~\~g\~\~ \$h\$ `i|<j>` k"
    r"\|l \\x1b\[31m\\u202e \\\` m - n \`\`"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HOSTILE, SAFE),
        ("1. a", r"1\. a"),
        ("12) a", r"12\) a"),
        ("1.5 MB", "1.5 MB"),
        ("- a - b", r"\- a - b"),
        ("+ a", r"\+ a"),
        ("> a > b", r"\> a \> b"),
        ("== a", r"\== a"),
        ("a `b` and `` c", r"a `b` and \`\` c"),
        ("`", r"\`"),
        ("see https://a.example/x?y=1&z=2.", "see <https://a.example/x?y=1&z=2>."),
        ("", ""),
    ],
)
def test_prose_stays_prose(text: str, expected: str) -> None:
    assert format_nodrop_text_as_markdown(text) == expected


def test_a_cell_stays_a_cell() -> None:
    assert (
        format_nodrop_text_as_markdown("a|b `c|d` https://e.example/f|g\nh", cell=True)
        == r"a\|b `c\|d` <https://e.example/f>\|g h"
    )


def test_no_line_ends_a_block_of_code() -> None:
    assert fence_code_block(["a", "```", "````` b", "\x1b[2J"], "text") == [
        "``````text",
        "a",
        "```",
        "````` b",
        r"\x1b[2J",
        "``````",
    ]


def hostile() -> Rule:
    rule = RULES["pfc-without-watchdog"]
    edits = {"sonic": {"leaf1/`x`.json": [{"replace": "```\n# a", "with": "```\n# b\x1b[2J"}], "w": "~~~\n```"}}
    return replace(
        rule,
        why=HOSTILE,
        fix=HOSTILE,
        references=(HOSTILE,),
        unseen={"nvue": HOSTILE},
        options=(replace_option(HOSTILE),),
        message=(HOSTILE,),
        examples=(
            RuleExample(name="bad[0]", model={HOSTILE: HOSTILE}, at=(HOSTILE,)),
            RuleExample(name="good[0]", artifact=edits),
        ),
    )


def replace_option(text: str) -> RuleOption:
    option = RULES["watchdog-slower-than-rdma-timeout"].options[0]
    return replace(option, default=text, description=text)


def test_a_hostile_rule_has_a_page_like_any_other() -> None:
    files = render_rule_book(
        (hostile(),),
        (KnownProblem(id="X1", says=HOSTILE, rules=("pfc-without-watchdog",)), KnownProblem(id="X2", says=HOSTILE)),
    )
    text = files["pfc-without-watchdog.md"]
    outside = "".join(re.split(r"^(`{3,})\w*\n.*?\n\1$", text, flags=re.MULTILINE | re.DOTALL)[::2])
    assert _titles(outside) == [
        "pfc-without-watchdog",
        "Why",
        "What to do",
        "Options",
        "Reported after these changes to the fabric of intents/two-by-two.yaml",
        "Not reported after these changes to the fabric of intents/two-by-two.yaml",
        "References",
        "What it belongs to",
    ]
    for part in (text, files[INDEX_FILE], render_rule_page(hostile())):
        assert "\x1b" not in part
        assert "\u202e" not in part
    assert "<b>" not in re.sub(r"`[^`\n]+`", "", outside)
    for row in re.findall(r"^\|.*\|$", text + files[INDEX_FILE], re.MULTILINE):
        columns = len(re.findall(r"(?<!\\)\|", row)) - 1
        assert columns in (2, 3, 5), row


def test_a_page_promises_a_fix_without_unsafe_only_where_it_holds() -> None:
    page = made()["pfc-without-watchdog.md"]
    assert "`nodrop fix --unsafe` changes this; review the changes first: the intended value may differ." in page
    assert "Without --unsafe: only where policy, other ports or a cable known to reach a host" in page
    assert "`nodrop fix` changes this." not in page
    assert "`nodrop fix` changes this." in made()["watchdog-mask-differs.md"]


def test_a_page_names_the_value_that_a_fix_sets() -> None:
    """Where a remedy has two sides, the reader must know which of them `nodrop fix` takes."""
    assert "`nodrop fix` sets `interface.qos.pfc_watchdog` to none.\n" in made()["watchdog-without-pfc.md"]


def test_a_page_says_where_typed_lines_are_lost() -> None:
    assert "`write memory` (SONiC keeps this only with docker_routing_config_mode" in made()["switch-drained.md"]


def test_files_of_another_system_are_no_configuration_of_this_one() -> None:
    """The example is a file of Onyx: it is not what SONiC's files become."""
    assert "On sonic" not in "\n".join(render_configurations_section(RULES["shares-exceed-whole"]))


def test_configurations_show_the_finding_and_the_settings_that_differ() -> None:
    lines = render_configurations_section(RULES["watchdog-without-pfc"])
    at = lines.index("On sonic, reported at `leaf1/Ethernet0`")
    assert lines[at:] == [
        "On sonic, reported at `leaf1/Ethernet0`",
        "",
        "> Ethernet0 has a PFC watchdog, but PFC on no priority: there is nothing to watch",
        "",
        "```diff",
        "@@ leaf1/config_db.json",
        "- PORT_QOS_MAP Ethernet0 pfc_enable: 3",
        "+ PORT_QOS_MAP Ethernet0 pfc_enable",
        "```",
    ]


def test_a_remedy_that_differs_from_finding_to_finding_is_shown() -> None:
    assert "> Fix: permit the prefix there, before any entry that denies it" in render_configurations_section(
        RULES["route-to-hosts-filtered"]
    )


def test_a_fault_is_shown_beside_a_sound_fabric_of_the_same_intent() -> None:
    lines = render_configurations_section(RULES["session-without-link-local"])
    intent = "with `{routing: {sessions: unnumbered}, addressing: {links: null}}` in the intent"
    assert any(line.endswith(intent) for line in lines)
    assert "- INTERFACE Ethernet224 ipv6_use_link_local_only: enable" in lines
