"""Rule files: where they lie, what they must say, and how each mistake in one is told."""

import json
import pickle
from pathlib import Path
from textwrap import dedent
from typing import Any

import jsonschema
import pytest

from nodrop import analyses
from nodrop.engine.nodes import Node, model_path_of
from nodrop.engine.nodes import format_node as spelt
from nodrop.engine.rule import OptionArgument, Rule, RuleExample
from nodrop.engine.rule_file import RuleFile
from nodrop.engine.rule_loader import parse_rule
from nodrop.engine.rules import load_rules
from nodrop.errors import InputProblems
from nodrop.model.fabric import MODES
from nodrop.syntax.yaml import parse_yaml as parse_yaml
from support.small_fabrics import rule, text

WHOLE = """\
severity: error                   # error | warning | note
confidence: likely
strictness: pedantic
modes: [lossless, pfc-only]
scope: interface
when: interface.qos.pfc_priorities
assert: >-
  interface.qos.pfc_watchdog.detection_ms and
  interface.qos.pfc_watchdog.detection_ms >= options.minimum_ms
at: qos.pfc_watchdog
message: "{{ interface.name }} waits {{ interface.qos.pfc_watchdog.detection_ms | ms }}"
why: |
  It hurts.
fix: mend it
references: [RFC 1149]
since: "0.1"
aliases: [watchdog-hasty]
options:
  minimum_ms: {default: 100, description: the least that lets bursts pass}
  roles: {default: [leaf, "5"], description: devices to look at}
  share: {default: "2.5", description: of the pool}
  loud: {default: true, description: whether to tell}
set:
  interface.qos.pfc_watchdog: fabric.policy.host_watchdog
intent_fix: {pfc.watchdog.hosts.detection: 200ms}
examples:
  bad:
    - model: {leaf1/Ethernet0/qos/pfc_watchdog: null}
      at: [leaf1/Ethernet0]
    - intent: {pfc: {watchdog: {hosts: {detection: 10ms}}}}
      at: [leaf1/Ethernet0, leaf2/Ethernet0]
  good:
    - model: {}
"""


def load(content: str, name: str = "pfc-watchdog-hasty") -> Rule:
    return parse_rule(dedent(content).encode(), f"rules/watchdog/{name}.yaml", name=name, area="watchdog")


def told(content: str) -> list[str]:
    """The problems of a rule file, without its name."""
    with pytest.raises(InputProblems) as refused:
        load(content)
    return [str(problem).removeprefix("rules/watchdog/pfc-watchdog-hasty.yaml:") for problem in refused.value.problems]


def changed(old: str, new: str) -> str:
    assert WHOLE.count(old) == 1
    return WHOLE.replace(old, new)


def test_a_rule_is_what_its_file_says() -> None:
    loaded = load(WHOLE)
    assert (loaded.name, loaded.area, loaded.path) == (
        "pfc-watchdog-hasty",
        "watchdog",
        "rules/watchdog/pfc-watchdog-hasty.yaml",
    )
    assert (loaded.severity, loaded.confidence, loaded.strictness, loaded.since) == (
        "error",
        "likely",
        "pedantic",
        "0.1",
    )
    assert loaded.modes == {"lossless", "pfc-only"}
    assert loaded.scope.name == "interface"
    assert (loaded.why, loaded.fix, loaded.references) == ("It hurts.", ("mend it",), ("RFC 1149",))
    assert loaded.aliases == ("watchdog-hasty",)
    assert [(option.name, option.default, option.type.describe()) for option in loaded.options] == [
        ("minimum_ms", 100, "a number"),
        ("roles", ("leaf", 5), "a list of (a number or text)"),
        ("share", 2.5, "a number"),
        ("loud", True, "true or false"),
    ]
    assert loaded.pointed_path == ("interface", "qos", "pfc_watchdog")
    assert [piece if isinstance(piece, str) else spelt(piece) for piece in loaded.message] == [
        "interface.name",
        " waits ",
        "interface.qos.pfc_watchdog.detection_ms | ms",
    ]
    assert [(model_path_of(target), model_path_of(new)) for target, new in loaded.changes] == [
        (("interface", "qos", "pfc_watchdog"), ("fabric", "policy", "host_watchdog"))
    ]
    assert loaded.intent_fix == {"pfc.watchdog.hosts.detection": "200ms"}
    assert loaded.examples == (
        RuleExample(name="bad[0]", model={"leaf1/Ethernet0/qos/pfc_watchdog": None}, at=("leaf1/Ethernet0",)),
        RuleExample(
            name="bad[1]",
            intent={"pfc": {"watchdog": {"hosts": {"detection": "10ms"}}}},
            at=("leaf1/Ethernet0", "leaf2/Ethernet0"),
        ),
        RuleExample(name="good[0]", model={}),
    )


def test_what_a_rule_leaves_out() -> None:
    loaded = rule(claim="interface.enabled")
    assert (loaded.confidence, loaded.strictness, loaded.modes) == ("certain", "regular", frozenset(MODES))
    assert (loaded.when, loaded.at, loaded.options, loaded.changes, loaded.facts) == (None, None, (), (), ())


def test_a_rule_says_which_platforms_cannot_have_its_fault() -> None:
    assert load(changed("\nexamples:", "\nunseen: {nvue: NVUE has none}\nexamples:")).unseen == {
        "nvue": "NVUE has none"
    }
    assert load(WHOLE).unseen == {}


def test_a_rule_travels_between_processes() -> None:
    loaded = load(WHOLE)
    assert loaded.check_function([], None, None, index=None) == []
    again = pickle.loads(pickle.dumps(loaded))
    assert again == loaded
    assert again.scope is loaded.scope


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("severity: error ", "severity: eror ",
         "1:11: severity: `eror`; expected error, warning or note (did you mean `error`?)"),
        ("confidence: likely", "confidense: likely",
         "2:1: confidense: unknown key confidense (did you mean `confidence`?)"),
        ("modes: [lossless, ", "modes: [losless, ",
         "4:9: modes.0: `losless`; expected lossless, pfc-only, lossy, trim or uec (did you mean `lossless`?)"),
        ("modes: [lossless, pfc-only]", "modes: []", "4:8: modes: nothing in it; expected at least one entry"),
        ("scope: interface", "scope: port",
         "5:8: scope: `port`; expected fabric, device, interface, link, traffic_class, queue, priority_group, neighbor "
         "or buffer_pool"),
        ("fix: mend it\n", "", "1:1: fix: no fix; expected the key fix"),
        ("fix: mend it", "fix:", "14:5: fix: nothing; expected text"),
        ("references: [RFC 1149]", "references: RFC 1149", "15:13: references: `RFC 1149`; expected a list"),
        ("aliases: [watchdog-hasty]", "aliases: [Watchdog]",
         "17:11: aliases.0: `Watchdog`; expected a name in lower case"),
        ("interface.qos.pfc_priorities", "interface.qos.pfc_prioritys",
         "6:21: when: QosProfile has no `pfc_prioritys` (did you mean `pfc_priorities`?)"),
        (">= options.minimum_ms", ">= options.minimum_s",
         "7:9: assert: options has no `minimum_s` (did you mean `minimum_ms`?)"),
        ("at: qos.pfc_watchdog", "at: qos.pfc_watchdg",
         "10:9: at: QosProfile has no `pfc_watchdg` (did you mean `pfc_watchdog`?)"),
        ("{{ interface.name }} waits", "{{ interface.nme }} waits",
         "11:24: message: Interface has no `nme` (did you mean `name`?)"),
        ("default: 100,", "", "19:15: options.minimum_ms.default: no default; expected the key default"),
        ("default: 100", "default: null",
         "19:25: options.minimum_ms.default: no plain value; "
         "expected a number, a text, true or false, or a list of them"),
        ("default: 100", "defualt: 1, default: 100",
         "19:16: options.minimum_ms.defualt: unknown key defualt (did you mean `default`?)"),
        ("interface.qos.pfc_watchdog: fabric", "interface.qos.pfc_watchdg: fabric",
         "24:17: set.interface.qos.pfc_watchdg: QosProfile has no `pfc_watchdg` (did you mean `pfc_watchdog`?)"),
        ("fabric.policy.host_watchdog", "fabric.policy.rdma_mtu_bytes",
         "24:31: set.interface.qos.pfc_watchdog: `interface.qos.pfc_watchdog` set to a number; "
         "expected PfcWatchdog or none"),
        ("    - model: {}", "    - model: {}\n      at: [leaf1]",
         "27:3: examples: a good example with subjects; expected none, for it has no fault"),
        ("      at: [leaf1/Ethernet0]\n", "",
         "27:3: examples: a bad example without subjects; expected at: and the subjects where the fault is"),
        ("    - model: {}", "    - {}",
         "33:7: examples.good.0: another count; expected intent, model or artifact"),
        ("    - model: {}", "    - modell: {}",
         "33:7: examples.good.0.modell: unknown key modell (did you mean `model`?)"),
        ("\nexamples:", "\nunseen: {nvu: it has no such thing}\nexamples:",
         "26:10: unseen.nvu: no platform `nvu` (did you mean `nvue`?)"),
        ("\nexamples:", "\nunseen: {nvue: }\nexamples:", "26:16: unseen.nvue: nothing; expected text"),
        ("\nintent_fix", "\nfacts: [x]\nintent_fix", "1:1: facts beside assert; expected it left out"),
        ("\nintent_fix", "\nremark: syntax\nintent_fix",
         "1:1: assert and remark; expected one of assert, analysis, remark"),
    ],
)  # fmt: skip
def test_each_mistake_is_told_at_its_place(old: str, new: str, expected: str) -> None:
    assert told(changed(old, new)) == [expected]


def test_the_message_may_measure_what_the_fault_leaves() -> None:
    assert rule(
        when="interface.speed_mbps",
        claim="interface.mtu_bytes is none or interface.mtu_bytes == 9216",
        message="{{ interface.mtu_bytes - 1 }} {{ interface.speed_mbps + 1 }}",
    )
    with pytest.raises(InputProblems, match=r"`-` with `interface\.mtu_bytes`, which may be none"):
        rule(claim="interface.mtu_bytes == 9216", message="{{ interface.mtu_bytes - 1 }}")


def test_the_port_of_a_queue_has_qos() -> None:
    assert rule(scope="queue", claim="queue.index in rdma_queues(fabric, interface.qos)", message="queue")
    assert rule(scope="priority_group", claim="interface.qos.pfc_rx_priorities is not none", message="group")
    with pytest.raises(InputProblems, match=r"`interface\.qos`, which may be none"):
        rule(scope="interface", claim="is_queue_used_by_any_tc(interface.qos, 3)", message="port")


def test_a_misspelt_key_is_told_beside_the_one_that_is_missing() -> None:
    assert told(changed("  good:", "  godo:")) == [
        "27:3: examples.good: no good; expected the key good",
        "32:3: examples.godo: unknown key godo (did you mean `good`?)",
    ]


def test_all_mistakes_of_a_file_are_told_at_once() -> None:
    content = changed("interface.qos.pfc_priorities", "interface.qs").replace("at: qos.pfc_watchdog", "at: qs")
    content = content.replace("{{ interface.name }}", "{{ name }}").replace("fabric.policy", "fabric.polcy")
    assert [line.partition(": ")[0] for line in told(content)] == ["6:17", "10:5", "11:14", "24:38"]


def test_what_only_follows_from_a_faulty_condition_is_not_told() -> None:
    content = changed("when: interface.qos.pfc_priorities", "when: interface.qs").replace(
        "detection_ms and\n", "detection_ms\n"
    )
    content = content.replace("  interface.qos.pfc_watchdog.detection_ms >=", "  >=")
    assert told(content) == ["6:17: when: Interface has no `qs` (did you mean `qos`?)"]
    guarded = content.replace("when: interface.qs", "when: interface.qos.pfc_watchdog.detection_ms")
    assert load(guarded).claim is not None
    unguarded = content.replace("when: interface.qs", "when: interface.qos")
    (problem,) = told(unguarded)
    assert problem.startswith("7:9: assert: `>=` with `interface.qos.pfc_watchdog.detection_ms`, which may be none")


def test_places_in_blocks_and_quotes() -> None:
    folded = changed("when: interface.qos.pfc_priorities", "when: >-\n  interface.qs")
    assert told(folded)[0].startswith("7:13: when: Interface has no `qs`")
    quoted = changed("when: interface.qos.pfc_priorities", "when: 'interface.qs'")
    assert told(quoted)[0].startswith("6:18: when: Interface has no `qs`")
    escaped = changed("when: interface.qos.pfc_priorities", 'when: "interface\\x2eqs"')
    assert told(escaped)[0].startswith("6:7: when: Interface has no `qs`")


def write(folder: Path, area: str, name: str, **keys: Any) -> Path:
    target = folder / area / f"{name}.yaml"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text(**keys))
    return target


def test_rules_are_found_by_where_they_lie_and_sorted_by_name(tmp_path: Path) -> None:
    write(tmp_path / "own", "pfc", "storm", claim="true")
    write(tmp_path / "own", "ecn", "late-marks", claim="true")
    write(tmp_path / "site", "ecn", "early-marks", claim="true")
    (tmp_path / "own" / "README.md").write_text("not a rule")
    loaded = load_rules([tmp_path / "own", tmp_path / "site"])
    assert [(each.name, each.area) for each in loaded] == [
        ("early-marks", "ecn"),
        ("late-marks", "ecn"),
        ("storm", "pfc"),
    ]
    assert loaded[0].path == str(tmp_path / "site" / "ecn" / "early-marks.yaml")


def test_a_name_means_one_rule_also_a_former_name(tmp_path: Path) -> None:
    first = write(tmp_path / "own", "pfc", "storm", claim="true", aliases=["flood"])
    second = write(tmp_path / "site", "ecn", "storm", claim="true")
    third = write(tmp_path / "site", "ecn", "flood", claim="true")
    with pytest.raises(InputProblems) as refused:
        load_rules([tmp_path / "own", tmp_path / "site"])
    assert [str(problem) for problem in refused.value.problems] == [
        f"{third}:1:1: a second rule `flood` (first in {first})",
        f"{second}:1:1: a second rule `storm` (first in {first})",
    ]


def test_a_folder_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(InputProblems, match="no such folder; expected a folder of rules"):
        load_rules([tmp_path / "rules"])


ANALYSIS = """\
RESTS_ON = frozenset({"classes"})


def find(index, *, tolerance_bytes=0, kinds=()):
    return iter(())
"""


@pytest.fixture
def loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An analysis called `loops`."""
    (tmp_path / "loops.py").write_text(ANALYSIS)
    monkeypatch.setattr(analyses, "__path__", [*analyses.__path__, str(tmp_path)])
    monkeypatch.delitem(__import__("sys").modules, "nodrop.analyses.loops", raising=False)
    return "loops"


def test_an_analysis_is_named_with_its_arguments_and_facts(loops: str) -> None:
    loaded = rule(
        scope="fabric",
        analysis=loops,
        arguments={"tolerance_bytes": "options.slack", "kinds": ["buffer", "2"]},
        facts={"cycle": "str", "needed": "int"},
        options={"slack": {"default": "10", "description": "x"}},
        when="facts.needed > options.slack",
        message="{{ facts.cycle }} needs {{ facts.needed | bytes }}",
    )
    assert (loaded.analysis, loaded.rests_on, loaded.topics) == ("loops", {"classes"}, {"classes"})
    assert loaded.arguments == {"tolerance_bytes": OptionArgument("slack"), "kinds": ("buffer", 2)}
    assert [(name, kind.describe()) for name, kind in loaded.facts] == [("cycle", "text"), ("needed", "a number")]
    assert isinstance(loaded.when, Node)


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"analysis": "loop"}, "9:12: analysis: no analysis `loop` (did you mean `loops`?)"),
        ({"arguments": {"tolerance_byte": "1"}},
         "10:9: with.tolerance_byte: no parameter `tolerance_byte` (did you mean `tolerance_bytes`?)"),
        ({"arguments": {"kinds": "options.slck"}, "options": {"slack": {"default": "1", "description": "x"}}},
         "10:18: with.kinds: no option `slck` (did you mean `slack`?)"),
        ({"facts": {"needed": "int"}, "message": "{{ facts.neded }}"},
         "3:20: message: facts has no `neded` (did you mean `needed`?)"),
        ({"message": "{{ interface.name }}"},
         "3:14: message: no name `interface` here (known: fabric, facts, options)"),
        ({"facts": {"needed": "number"}},
         "10:19: facts.needed: `number`; expected str, int, float or bool"),
        ({"at": "qos"}, "1:1: at beside analysis; expected it left out"),
    ],
)  # fmt: skip
def test_mistakes_about_an_analysis(loops: str, keys: dict[str, Any], expected: str) -> None:
    with pytest.raises(InputProblems) as refused:
        rule(**{"analysis": loops} | keys)
    assert [str(problem) for problem in refused.value.problems] == [f"rules/hygiene/fault.yaml:{expected}"]


def test_a_remark_brings_facts_that_are_texts() -> None:
    loaded = rule(
        remark="duplicate-key", facts=["key", "first"], message="{{ facts.key }} again, first {{ facts.first }}"
    )
    assert (loaded.remark, [name for name, _ in loaded.facts]) == ("duplicate-key", ["key", "first"])
    with pytest.raises(InputProblems, match="text as count of `bytes`"):
        rule(remark="duplicate-key", facts=["key"], message="{{ facts.key | bytes }}")


def test_the_schema_for_editors_takes_what_the_loader_takes() -> None:
    schema = RuleFile.model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    for keys in ({"claim": "true"}, {"remark": "x", "facts": ["a"]}, {"analysis": "x", "facts": {"a": "int"}}):
        assert list(check.iter_errors(parse_yaml(text(**keys), "x").data)) == []
    for wrong in ({"claim": "true", "facts": {"a": "number"}}, {"claim": "true", "severty": "note"}, {"remark": 3}):
        assert list(check.iter_errors(json.loads(json.dumps(parse_yaml(text(), "x").data | _as_written(wrong))))) != []


def _as_written(keys: dict[str, Any]) -> dict[str, Any]:
    return {{"claim": "assert"}.get(key, key): value for key, value in keys.items()}


def test_a_fix_may_take_what_siblings_have(loops: str) -> None:
    loaded = load(changed("intent_fix", "as_siblings: [interface.qos.pfc_watchdog]\nfix_safety: safe\nintent_fix"))
    assert (loaded.as_siblings, loaded.fix_safe, loaded.siblings_first) == (
        (("interface", "qos", "pfc_watchdog"),),
        True,
        False,
    )
    of_each_row = load(changed("intent_fix", "as_siblings: [interface.qos.queues.*.scheduler]\nintent_fix"))
    assert of_each_row.as_siblings == (("interface", "qos", "queues", "*", "scheduler"),)
    assert rule(analysis=loops, as_siblings=["at", "device.bgp.asn"]).as_siblings == ((), ("device", "bgp", "asn"))


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("as_siblings: [at]", "as_siblings.0"),
        ("as_siblings: [interface.qos.watchdog]", "no `watchdog`"),
        ("as_siblings: [interface]", "expected a field of a device, a port or a row of it"),
        ("as_siblings: [fabric.policy]", "as_siblings.0"),
        ("as_siblings: [interface.qos.queues.*.schedule]", "no field `schedule` of rows"),
        ("as_siblings: [interface.qos.trust.*.scheduler]", "no field `scheduler` of rows"),
        ("fix_safety: harmless", "`harmless`; expected safe or unsafe"),
    ],
)
def test_mistakes_about_siblings(keys: str, expected: str) -> None:
    (problem,) = told(changed("intent_fix", f"{keys}\nintent_fix"))
    assert expected in problem
