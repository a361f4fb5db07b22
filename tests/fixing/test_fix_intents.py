"""`nodrop fix` on intents: keys that rules name are set, and comments, layout and all other bytes stay."""

from pathlib import Path

import pytest

from nodrop.config import Config
from nodrop.fixing import fix
from nodrop.inputs import FileText
from nodrop.judging import CheckSettings
from nodrop.resources import resource_folder
from nodrop.results.fixed import FixedFabric
from support.command import nodrop

INTENT = (resource_folder("intents") / "two-by-two.yaml").read_text()
SLOW = "hosts:\n  dcqcn: false # off for now\n\ndevices: {leaf1: {drained: true}}  # until Friday\n"
BREAKS = """\
severity: warning
scope: interface
assert: interface.qos.pfc_watchdog.detection_ms != 200
message: "{{ interface.name }} is watched as it should"
why: it is here for a test
fix: do not
intent_fix: {KEYS}
references: [none]
since: "0.1"
examples:
  bad: [{model: {}, at: [leaf1/Ethernet0]}]
  good: [{model: {leaf1/Ethernet0/qos/pfc_watchdog: null}}]
"""


def fixed(text: str, *, unsafe: bool = True, settings: CheckSettings | None = None) -> FixedFabric:
    held = FileText(display="lab.yaml", held=text.encode())
    return fix(held, settings or CheckSettings(), unsafe=unsafe)


def test_the_intent_has_no_findings_and_is_left_alone() -> None:
    assert (fixed(INTENT).files, fixed(INTENT).remaining) == ({}, ())


def test_keys_are_set_and_everything_else_stays() -> None:
    assert "\nhosts:" not in INTENT
    text = INTENT + SLOW
    made = fixed(text)
    new = text.replace("dcqcn: false", "dcqcn: true").replace("drained: true", "drained: false")
    assert made.files == {"lab.yaml": new.encode()}
    assert {one.rule for one in made.made} == {"nic-does-not-slow-down", "switch-drained"}
    assert fixed(new).files == {}


def test_what_only_a_switch_file_could_say_is_left_with_the_words_of_the_rule() -> None:
    text = INTENT + "hosts: {tos: 104}\n"
    made = fixed(text)
    assert made.files == {}
    assert {(one.finding.rule, one.reason) for one in made.remaining} == {("nic-tos-without-ecn", "no fix")}


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("pfc.watchdog.hosts.detection: 300ms, hosts.tos: 104", "nic-tos-without-ecn would appear at "),
        ("pfc.watchdog.hosts.detection: 7", "there would be a problem: lab.yaml"),
        ("mtu: 9000", "it would still be found"),
    ],
)
def test_a_key_that_makes_it_worse_or_no_better_is_refused(tmp_path: Path, keys: str, why: str) -> None:
    (tmp_path / "watchdog").mkdir()
    (tmp_path / "watchdog" / "watched.yaml").write_text(BREAKS.replace("KEYS", keys))
    made = fixed(INTENT, settings=CheckSettings(config=Config(rules=(tmp_path,))))
    assert made.files == {}
    assert {one.finding.rule for one in made.remaining} == {"watched"}
    assert {one.reason for one in made.remaining} == {"refused"}
    assert made.remaining[0].text.startswith(why)


def test_the_command_writes_the_intent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lab.yaml").write_text(INTENT + SLOW)
    assert nodrop("fix", "lab.yaml", "--diff", "--unsafe").code == 1
    done = nodrop("fix", "lab.yaml", "--unsafe")
    assert done.code == 0
    assert done.out.startswith("fixed: lab.yaml: nic-does-not-slow-down")
    assert "dcqcn: true # off for now" in Path("lab.yaml").read_text()
    assert nodrop("lint", "lab.yaml").code == 0
    through = nodrop("fix", "-", "--unsafe", stdin=(INTENT + SLOW).encode())
    assert through.out == Path("lab.yaml").read_text()


def test_an_intent_that_cannot_be_built_is_told(tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(INTENT.replace("SN4700", "SN9"))
    done = nodrop("fix", tmp_path / "lab.yaml")
    assert done.code == 2
    assert "SN9" in done.out
