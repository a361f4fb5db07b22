"""`nodrop explain RULE --at SUBJECT PATH`: what a rule saw, what decided, where that came from, and what to change."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodrop.engine.rules import select_lint_rules, shipped_rules
from nodrop.resources import resource_folder
from support.command import built, nodrop

INTENT = resource_folder("intents") / "two-by-two.yaml"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a sound build, and a copy with faults on leaf1."""
    here = tmp_path_factory.mktemp("site")
    built(INTENT, here / "good")
    built(INTENT, here / "bad")

    def faults(config: dict[str, Any]) -> None:
        config["PFC_WD"] = {"GLOBAL": config["PFC_WD"]["GLOBAL"]}
        config["PORT"]["Ethernet224"]["mtu"] = "1500"
        config["NO_SUCH_TABLE"] = {"a": {"b": "c"}}

    edit(here / "bad/leaf1/config_db.json", faults)
    return here


@pytest.fixture(autouse=True)
def in_site(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a config_db.json as parsed."""
    config = json.loads(path.read_text())
    change(config)
    path.write_text(json.dumps(config, indent=4))


def explained(*words: str | Path) -> list[str]:
    """Return the page's lines."""
    done = nodrop("explain", *words)
    assert (done.code, done.err) == (0, ""), done
    return done.out.splitlines()


def block(page: list[str], head: str) -> list[str]:
    """Return the lines below a heading, up to an empty line."""
    start = next(at for at, line in enumerate(page) if line.startswith(head)) + 1
    end = page.index("", start) if "" in page[start:] else len(page)
    return page[start:end]


def line_of(path: str, text: str, after: str) -> int:
    """Return the number of the first line with `text` after the first with `after`."""
    lines = Path(path).read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if after in line)
    return next(number for number, line in enumerate(lines) if number >= start and text in line) + 1


def test_a_finding_has_its_values_their_lines_and_the_text_to_change() -> None:
    file = "bad/leaf1/config_db.json"
    page = explained("pfc-without-watchdog", "--at", "leaf1/Ethernet0/qos", "bad")
    obeyed = line_of(file, '"pfc_enable"', '"PORT_QOS_MAP"')
    assert page[:4] == [
        "pfc-without-watchdog at leaf1/Ethernet0: found (error, certain)",
        "",
        "  Ethernet0 obeys pause on priority 3 but has no PFC watchdog",
        f"    --> {file}:{obeyed}:27",
    ]
    assert block(page, "when, which says where the rule is asked: true") == [
        "  interface.enabled is in_use   true",
        "  interface.qos.pfc_priorities  [3]",
    ]
    asserted = [line.split() for line in block(page, "assert, which must be true there: false")]
    assert asserted[:2] == [["one", "of", "false"], ["interface.qos.pfc_watchdog", "none"]]
    seen = block(page, "What it saw")
    assert seen[2:4] == ["  interface.qos.pfc_priorities = [3]", f'    stated: {file}:{obeyed}:27  "pfc_enable": "3",']
    watchdog = seen.index("  interface.qos.pfc_watchdog = none")
    assert seen[watchdog + 1].startswith("    absent: nothing states it")
    change = block(page, "What to change")
    assert "    +++ bad/leaf1/config_db.json" in change
    assert [line for line in change if line.startswith("    +  ")] == [
        "    +        },",
        '    +        "Ethernet0": {',
        '    +            "action": "drop",',
        '    +            "detection_time": "200",',
        '    +            "restoration_time": "400"',
    ]


def test_the_operand_that_decided_is_marked_and_later_ones_were_not_looked_at() -> None:
    page = explained("pfc-without-watchdog", "--at", "leaf1/Ethernet24", "bad")
    assert page[0] == "pfc-without-watchdog at leaf1/Ethernet24: nothing to ask, `when` does not hold"
    assert block(page, "when, which says where the rule is asked: false") == [
        "  interface.enabled is in_use   false  <- decides",
        "  interface.qos.pfc_priorities  not checked",
    ]
    assert not any(line.startswith(("assert", "What to change")) for line in page)


def test_a_subject_above_lists_what_the_rule_looks_at_there() -> None:
    page = explained("pfc-without-watchdog", "--at", "leaf1", "bad")
    assert page[0] == "pfc-without-watchdog checks 32 parts at leaf1"
    assert "found: leaf1/Ethernet0, leaf1/Ethernet8, leaf1/Ethernet16" in page
    assert any(re.match(r"nothing to ask, .*: leaf1/Ethernet24, ", line) for line in page)


def test_an_end_of_a_link_is_the_link() -> None:
    page = explained("mtu-mismatch", "--at", "leaf1/Ethernet224", "bad")
    link = "@fabric/links/leaf1:Ethernet224--spine1:Ethernet0"
    assert page[0] == f"mtu-mismatch at {link}: found (error, certain)"
    assert explained("mtu-mismatch", "--at", link, "bad") == page
    here = line_of("bad/leaf1/config_db.json", '"mtu"', '"Ethernet224": {')
    there = line_of("bad/spine1/config_db.json", '"mtu"', '"Ethernet0": {')
    assert block(page, "What it saw") == [
        "  a.mtu_bytes = 1500",
        f'    stated: bad/leaf1/config_db.json:{here}:20  "mtu": "1500",',
        "  b.mtu_bytes = 9216",
        f'    stated: bad/spine1/config_db.json:{there}:20  "mtu": "9216",',
    ]


def test_a_word_is_told_with_what_it_was_given_and_who_states_that() -> None:
    page = explained("red-drops-rdma", "--at", "leaf1/Ethernet0/qos/queues/3", "good")
    assert block(page, "assert, which must be true there: true")[:3] == [
        "  one of                                                                    true",
        "    all of                                                                  true  <- decides",
        "      marking_needs_wred(device.platform)                                   true",
    ]
    seen = block(page, "What it saw")
    classes = line_of("good/fabric.yaml", "classes:", "")
    mode = line_of("good/fabric.yaml", "mode:", "")
    assert f"    from the fabric's classes; stated: good/fabric.yaml:{classes}:1" in seen
    assert seen[seen.index("  fabric.mode = lossless") + 1] == f"    stated: good/fabric.yaml:{mode}:1"


def test_what_is_assumed_and_what_is_unknown_is_said(tmp_path: Path) -> None:
    alone = tmp_path / "config_db.json"
    alone.write_bytes(Path("bad/leaf1/config_db.json").read_bytes())
    page = explained("rdma-dscp-in-lossy-class", "--at", "leaf1/Ethernet0", alone)
    said = " ".join(" ".join(page).split())
    assert "from the fabric's classes; assumed: RDMA is DSCP 26, because: NVIDIA's convention" in said
    assert "from interface.side = unknown (interface.side); unknown: in no file; supply " in said
    page = explained("mtu-mismatch", "--at", "leaf1", alone)
    assert page[0] == "mtu-mismatch at leaf1: cannot be decided"
    assert page[1].startswith("unknown: needs the other end of a link on leaf1; supply the configurations")
    page = explained("pfc-one-sided", "--at", "leaf1/Ethernet0", alone)
    assert page[0] == "pfc-one-sided at leaf1/Ethernet0: undecided: missing the other end of a link"


def test_an_intent_is_told_by_its_keys() -> None:
    page = explained("pfc-without-watchdog", "--at", "leaf1/Ethernet0", INTENT)
    assert page[0] == "pfc-without-watchdog at leaf1/Ethernet0: nothing found"
    seen = block(page, "What it saw")
    line = next(n for n, text in enumerate(INTENT.read_text().splitlines(), 1) if "lossless: true" in text)
    assert re.fullmatch(rf"    decided here: classes\.rdma\.lossless \(.*two-by-two\.yaml:{line}:\d+\)", seen[3])


def test_of_an_intent_the_text_to_change_is_its_own(tmp_path: Path) -> None:
    intent = tmp_path / "intent.yaml"
    before, _, after = INTENT.read_text().partition("routing: {")
    assert after
    intent.write_text(f"{before}routing: {{hash: [src-ip, dst-ip], {after}")
    page = explained("hash-without-source-port", "--at", "leaf1", intent)
    assert page[0] == "hash-without-source-port at leaf1: found (error, certain)"
    change = block(page, "What to change")
    assert f"    +++ {intent}" in change
    (gone,) = [line for line in change if line.startswith("    -r")]
    (come,) = [line for line in change if line.startswith("    +r")]
    assert gone.startswith("    -routing: {hash: [src-ip, dst-ip], ")
    assert come.startswith("    +routing: {hash: [ip-protocol, dst-ip, src-ip, l4-dst-port, l4-src-port], ")


def test_options_say_who_set_them(tmp_path: Path) -> None:
    config = tmp_path / "nodrop.yaml"
    config.write_text("options:\n  lossless-cable-past-300-m: {metres: 2}\n")
    words = ("lossless-cable-past-300-m", "--at", "leaf1/Ethernet0", "good")
    page = explained(*words)
    assert page[0].endswith(": nothing found")
    assert (
        block(page, "What it saw")[-2 - 2 :][0] == "  options.metres = 300" or "    the default of the option" in page
    )
    page = explained(*words, "-c", config)
    assert page[0] == "lossless-cable-past-300-m at leaf1/Ethernet0: found (warning, likely)"
    said = " ".join(" ".join(page).split())
    assert f"options.metres = 2 set in {config}:2:31" in said, "a long path stands on a line of its own"


def test_analyses_tell_their_facts_and_remarks_their_lines() -> None:
    page = explained("unknown-table", "--at", "leaf1", "bad")
    line = line_of("bad/leaf1/config_db.json", "NO_SUCH_TABLE", "")
    assert page[0] == "unknown-table at leaf1: found (error, certain)"
    assert f"    --> bad/leaf1/config_db.json:{line}:5" in page
    assert "  table = 'NO_SUCH_TABLE'" in block(page, "What it saw")
    page = explained("unknown-table", "--at", "leaf2", "bad")
    assert page[0] == "unknown-table at leaf2: nothing found"
    assert page[-1] == "  it finds something at leaf1"
    page = explained("speed-mismatch", "--at", "leaf1/Ethernet224", "bad")
    assert page[0] == "speed-mismatch at leaf1/Ethernet224: nothing found"
    assert block(page, "What ends was given") == ["  what = speed"]


def test_an_analysis_that_found_something_names_the_other_parts(tmp_path: Path) -> None:
    built(INTENT, tmp_path / "build")
    edit(
        tmp_path / "build/leaf1/config_db.json",
        lambda config: config["PORT"]["Ethernet224"].update(speed="200000"),
    )
    page = explained("speed-mismatch", "--at", "leaf1/Ethernet224", tmp_path / "build")
    assert page[0].startswith("speed-mismatch at @fabric/links/leaf1:Ethernet224--spine1:Ethernet0: found (")
    assert "  speed_a = 200000" in block(page, "What it saw")
    assert explained("speed-mismatch", "--at", "spine1", tmp_path / "build")[0] == page[0]


def test_a_rule_that_is_silent_or_off_says_so(tmp_path: Path) -> None:
    page = explained("pfc-in-lossy-fabric", "--at", "leaf1/Ethernet0", "good")
    assert " ".join(" ".join(page[:2]).split()) == (
        "pfc-in-lossy-fabric does not apply here: it checks lossy, trim, uec fabrics, and this one is lossless"
    )
    assert page[3] == "pfc-in-lossy-fabric at leaf1/Ethernet0: would be found"
    config = tmp_path / "nodrop.yaml"
    config.write_text("severity: {mtu-mismatch: 'off'}\n")
    said, _, rest = "\n".join(explained("mtu-mismatch", "--at", "leaf1/Ethernet224", "bad", "-c", config)).partition(
        "\n\n"
    )
    assert " ".join(said.split()) == f"mtu-mismatch is off: severity off in {config}"
    assert rest.splitlines()[0].endswith(": found (error, certain)")


def test_a_suppressed_finding_is_explained_with_the_reason(tmp_path: Path) -> None:
    config = tmp_path / "nodrop.yaml"
    config.write_text(
        "suppress:\n- {rule: mtu-mismatch, at: '@fabric/links/leaf1:*', reason: a pilot, until: 2999-12-31}\n"
    )
    page = explained("mtu-mismatch", "--at", "leaf1/Ethernet224", "bad", "-c", config)
    assert page[0].endswith(": found (error, certain)")
    assert f" suppressed until 2999-12-31 by {config}:2: a pilot " in " ".join(" ".join(page).split())


def test_a_secret_beside_the_change_is_quoted_by_none(tmp_path: Path) -> None:
    built(INTENT, tmp_path / "build")
    path = tmp_path / "build/leaf1/config_db.json"
    config = json.loads(path.read_text())
    polling = config.pop("PFC_WD")["GLOBAL"]
    config["TACPLUS"] = {"global": {"passkey": "hunter2hunter2"}}
    config["PFC_WD"] = {"GLOBAL": polling}
    path.write_text(json.dumps(config, indent=4))
    page = explained("pfc-without-watchdog", "--at", "leaf1/Ethernet0", tmp_path / "build")
    assert '    +        "Ethernet0": {' in page
    assert not any("hunter2" in line for line in page)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["pfc-without-watchdg", "--at", "leaf1", "good"], "no rule 'pfc-without-watchdg'"),
        (["pfc", "--at", "leaf1", "good"], "pfc is an area; its rules: "),
        (["pfc-without-watchdog", "--at", "laef1", "good"], "there is no device `laef1` (did you mean `leaf1`?)"),
        (["pfc-without-watchdog", "--at", "leaf1/Ethernet3", "good"], "has no Ethernet3 (did you mean `Ethernet32`?)"),
        (["speed-mismatch", "--at", "laef1", "good"], "there is no device `laef1` (did you mean `leaf1`?)"),
        (["pfc-without-watchdog", "--at", "leaf1", "good", "more"], "3 words; expected RULE PATH, or PATH"),
        (["pfc-without-watchdog", "good"], "2 words; expected RULE"),
        (["pfc-without-watchdog", "--platform", "sonc"], "no platform 'sonc' (did you mean `sonic`?)"),
        (["pfc-without-watchdog", "--at", "leaf1", "nowhere"], "nowhere: no such file or folder"),
    ],
)
def test_what_is_not_there_is_said_with_the_nearest(words: list[str], told: str) -> None:
    done = nodrop("explain", *words)
    assert (done.code, done.out) == (2, "")
    assert told in done.err


@pytest.mark.slow
def test_every_rule_can_be_explained_at_a_switch() -> None:
    for rule in select_lint_rules(shipped_rules()):
        done = nodrop("explain", rule.name, "--at", "leaf1", "bad")
        assert done.code == 0 or (rule.scope.name == "traffic_class" and "nothing there" in done.err), (rule.name, done)
        assert "Traceback" not in done.err


def test_a_rule_on_a_platform_shows_the_lines_of_its_fault() -> None:
    page = explained("bracket-reference", "--platform", "sonic")
    assert page[0] == "bracket-reference on sonic"
    assert page[4:] == [
        "Found at leaf1/Ethernet0/qos/queues/0, where a sound fabric is changed so:",
        "  --- leaf1/config_db.json",
        "  +++ leaf1/config_db.json",
        *page[7:9],
        '  -            "scheduler": "scheduler.0"',
        '  +            "scheduler": "[SCHEDULER|scheduler.0]"',
        "           },",
    ]
    page = explained("bracket-reference", "--platform", "nvue")
    assert page[-1] == "No configuration of nvue has it: only SONiC had references in brackets"
    page = explained("mtu-mismatch", "--platform", "nvue")
    assert any(re.search(r"@fabric/links/leaf1:swp\d+--spine1:swp\d+", line) for line in page)
    assert any(re.fullmatch(r" +\+ +mtu: \d+", line) for line in page)
    page = explained("unknown-command", "--platform", "onyx")
    assert "    dcb priority-flow-control enable force" in page
