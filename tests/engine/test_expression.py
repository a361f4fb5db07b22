"""Expressions: what they mean, what None and UNKNOWN do in them, and how a mistake is told."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from nodrop.engine import compiler
from nodrop.engine.expression import parse_expression, parse_message, parse_path
from nodrop.engine.located_text import ExpressionText
from nodrop.engine.nodes import Node, facts_used_by, model_path_of, nodes_not_none, paths_read_by
from nodrop.engine.nodes import format_node as spelt
from nodrop.engine.scopes import SCOPES, typed_names
from nodrop.errors import InputProblems
from nodrop.model.fabric import Interface
from nodrop.model.index import Index
from nodrop.model.qos import PfcWatchdog
from nodrop.model.states import UNKNOWN, UnknownFact
from nodrop.model.types import RecordType, type_of
from support.small_fabrics import LOSSLESS, LOSSY, NO_WATCHDOG, WATCHDOG, WRED, device, fabric, port

OPTIONS = RecordType(
    "options", (("minimum_ms", type_of(int)), ("modes", type_of(tuple[str, ...])), ("class", type_of(str)))
)


OPTION_VALUES = {"minimum_ms": 200, "modes": ("lossless",), "class": "rdma"}


def written(text: str, column: int = 11) -> ExpressionText:
    return ExpressionText(text=text, path="rules/pfc/x.yaml", where="assert", line=7, column=column)


def checked(text: str, *, scope: str = "interface", when: str = "") -> Node:
    names = typed_names(SCOPES[scope].parts, OPTIONS)
    surely = nodes_not_none(parse_expression(written(when), names), holds=True) if when else frozenset()
    return parse_expression(written(text), names, surely)


def value(text: str, interface: Interface, **context: Any) -> Any:
    owner = device("leaf1", interface, **context)
    whole = fabric(owner)
    function = compiler.compile_value(("device", "interface", "fabric", "options"), checked(text))
    return function(owner, interface, whole, OPTION_VALUES, index=Index(whole))


def refusal(text: str, *, scope: str = "interface", when: str = "") -> str:
    """The one problem of an expression, from its column on."""
    with pytest.raises(InputProblems) as refused:
        checked(text, scope=scope, when=when)
    (problem,) = refused.value.problems
    assert (problem.path, problem.line, problem.where) == ("rules/pfc/x.yaml", 7, "assert")
    return f"{problem.column}: {problem.message}"


WITHOUT_QOS = port(0, qos=None)
SLOW = port(0, qos=replace(LOSSLESS, pfc_watchdog=replace(WATCHDOG, detection_ms=1000, restoration_ms=None)))


@pytest.mark.parametrize(
    ("text", "interface", "expected"),
    [
        ("interface.name", port(1), "Ethernet8"),
        ("interface.qos.pfc_priorities", port(0), (3,)),
        ("interface.qos and 3 in interface.qos.pfc_priorities", port(0, qos=LOSSLESS), True),
        ("interface.qos and 4 not in interface.qos.pfc_rx_priorities", port(0), True),
        ("interface.fec in ('rs', 'fc')", port(0, fec="rs"), True),
        ("interface.fec in ['rs', 'fc']", port(0, fec="none"), False),
        ("interface.mtu_bytes == 9216 and interface.side == 'host'", port(0), True),
        ("interface.mtu_bytes != 9216 or interface.side != 'host'", port(0), False),
        ("not interface.enabled", port(0, enabled=False), True),
        ("interface.speed_mbps and interface.speed_mbps / 1000 - 2 * 100 + 1", port(0), 201.0),
        ("interface.speed_mbps and -interface.speed_mbps", port(0), -400_000),
        ("interface.lanes and 1 < interface.lanes <= 8", port(0), True),
        ("interface.lanes and 1 < interface.lanes <= 8", port(0, lanes=16), False),
        ("interface.mtu_bytes or 1500", port(0, mtu_bytes=None), 1500),
        ("interface.lane_mbps", port(0), 50_000),
        ("interface.port.panel", port(4), 5),
        ("interface.qos.pfc_watchdog.action == 'drop'", port(0), True),
        ("interface.qos.pfc_rx_priorities == (3,)", port(0), True),
        ("interface.qos.pfc_rx_priorities == interface.qos.pfc_tx_priorities", port(0), True),
        ("options.minimum_ms + 1", port(0), 201),
        ("fabric.mode in options.modes", port(0), True),
        ("options.class == 'rdma'", port(0), True),
        ("interface.qos and count(interface.qos.queues)", port(0), 2),
        ("interface.speed_mbps | speed", port(0), "400G"),
        ("interface.qos and interface.qos.pfc_priorities is within((3, 4))", port(0), True),
        ("interface.qos and interface.qos.pfc_priorities is not within((4,))", port(0), True),
        ("contains(interface.description, 'up')", port(0, description="uplink"), True),
        ("contains(interface.description, 'up')", port(0, description=None), False),
        ("true and none", port(0), None),
        ("(1, 2.5, 'a', false)", port(0), (1, 2.5, "a", False)),
        ("device.role == 'leaf'", port(0), True),
        ("interface.qos.dscp_to_tc and count(interface.qos.dscp_to_tc)", port(0), 64),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_values(text: str, interface: Interface, expected: object) -> None:
    found = value(text, interface, role="leaf")
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("interface.qos.pfc_watchdog.detection_ms", None),
        ("interface.qos.pfc_watchdog", None),
        ("interface.qos is none", True),
        ("interface.qos.pfc_watchdog.action is not none", False),
        ("interface.qos.pfc_watchdog.action == 'drop'", False),
        ("interface.qos.pfc_watchdog.action != 'drop'", True),
        ("interface.qos.pfc_watchdog.action == none", True),
        ("interface.qos.pfc_watchdog.action in ('drop', 'forward')", False),
        ("not interface.qos.pfc_watchdog.detection_ms", True),
        ("interface.qos.pfc_watchdog.detection_ms is none or interface.qos.pfc_watchdog.detection_ms > 200", True),
        ("interface.qos.pfc_watchdog.detection_ms | ms", "none"),
    ],
)
def test_none_travels_along_attributes_and_is_no_number(text: str, expected: object) -> None:
    assert value(text, WITHOUT_QOS) is expected or value(text, WITHOUT_QOS) == expected
    assert value(text, port(0)) != expected


DETECTION = "interface.qos.pfc_watchdog.detection_ms"
RESTORATION = "interface.qos.pfc_watchdog.restoration_ms"


@pytest.mark.parametrize(
    ("text", "said", "sign", "column"),
    [
        (f"{DETECTION} > 200", DETECTION, ">", 11),
        (f"200 <= {DETECTION}", DETECTION, "<=", 18),
        (f"{DETECTION} + 1 == 201", DETECTION, "+", 11),
        (f"-{DETECTION} == 1", DETECTION, "-", 12),
        (f"{DETECTION} or {DETECTION} > 1", DETECTION, ">", 11),
        (f"{DETECTION} is none and {DETECTION} > 1", DETECTION, ">", 11),
        (f"{DETECTION} and {RESTORATION} > 1", RESTORATION, ">", 11 + len(DETECTION) + 5),
        (f"({DETECTION} or {RESTORATION}) and {RESTORATION} > 1", RESTORATION, ">", 12 + len(DETECTION) + 4),
        (f"{DETECTION} != 3 and {DETECTION} > 1", DETECTION, ">", 11),
        (f"{DETECTION} == {RESTORATION} and {DETECTION} > 1", DETECTION, ">", 11),
        (f"not {DETECTION} and {DETECTION} > 1", DETECTION, ">", 15),
        (f"{DETECTION} not in (1, 2) and {DETECTION} > 1", DETECTION, ">", 11),
        (f"not {DETECTION} in (1, 2) and {DETECTION} > 1", DETECTION, ">", 15),
        (f"{DETECTION} in (none, 1) and {DETECTION} > 1", DETECTION, ">", 11),
        (f"({DETECTION} and 3) > 1", f"({DETECTION} and 3)", ">", 11),
        (f"(3 and {DETECTION}) > 1", f"(3 and {DETECTION})", ">", 11),
        (f"({RESTORATION} or {DETECTION}) > 1", f"({RESTORATION} or {DETECTION})", ">", 11),
        ("1 in interface.qos.dscp_to_tc", "interface.qos.dscp_to_tc", "in", 16),
        ("count(interface.qos.queues)", "interface.qos.queues", "count", 17),
        ("interface.qos.pfc_priorities is within((3,))", "interface.qos.pfc_priorities", "within", 11),
    ],
)
def test_what_may_be_none_has_to_be_dealt_with_before_it_is_measured(
    text: str, said: str, sign: str, column: int
) -> None:
    hint = f"deal with that first: `{said} and …`, or in `when`"
    assert refusal(text) == f"{column}: `{sign}` with `{said}`, which may be none ({hint})"


@pytest.mark.parametrize(
    "text",
    [
        f"{DETECTION} and {DETECTION} > 500",
        f"{DETECTION} is not none and {DETECTION} > 500",
        f"{DETECTION} != none and 500 < {DETECTION}",
        f"not ({DETECTION} is none or {DETECTION} <= 500)",
        f"not (not {DETECTION} or {DETECTION} <= 500)",
        f"not ({DETECTION} == none or {DETECTION} <= 500)",
        f"{DETECTION} == 1000 and {DETECTION} > 500",
        f"{DETECTION} in (1000, 2000) and {DETECTION} > 500",
        f"{DETECTION} not in (1, 2) and not {DETECTION} == none and {DETECTION} > 500",
        f"interface.enabled and {DETECTION} and interface.name and {DETECTION} > 500",
        f"({DETECTION} and {RESTORATION} or {DETECTION}) and {DETECTION} > 500",
        f"({DETECTION} or 0) > 500",
        f"({DETECTION} and {DETECTION} + 1 or 0) > 500",
    ],
)
def test_what_was_dealt_with_can_be_measured(text: str) -> None:
    assert value(text, SLOW)
    assert not value(text, port(0))
    assert not value(text, WITHOUT_QOS)


def test_when_deals_with_none_for_what_follows() -> None:
    assert spelt(checked(f"{DETECTION} >= 200", when=DETECTION)) == f"({DETECTION} >= 200)"
    assert checked("count(interface.qos.queues)", when="interface.qos.pfc_priorities")
    assert "which may be none" in refusal(f"{DETECTION} >= 200", when="interface.qos.pfc_watchdog")


@pytest.mark.parametrize(
    ("text", "interface", "missing"),
    [
        ("interface.mtu_bytes", port(0, mtu_bytes=UNKNOWN), "interface.mtu_bytes"),
        ("interface.qos.pfc_watchdog.action", port(0, qos=UNKNOWN), "interface.qos"),
        (
            "interface.qos.pfc_watchdog.action",
            port(0, qos=replace(LOSSLESS, pfc_watchdog=UNKNOWN)),
            "interface.qos.pfc_watchdog",
        ),
        ("interface.mtu_bytes is none", port(0, mtu_bytes=UNKNOWN), "interface.mtu_bytes"),
        ("not interface.enabled", port(0, enabled=UNKNOWN), "interface.enabled"),
        ("interface.mtu_bytes == 9216", port(0, mtu_bytes=UNKNOWN), "interface.mtu_bytes"),
        ("interface.mtu_bytes in (1, 2)", port(0, mtu_bytes=UNKNOWN), "interface.mtu_bytes"),
        ("interface.enabled and interface.mtu_bytes", port(0, enabled=UNKNOWN, mtu_bytes=None), "interface.enabled"),
        ("interface.mtu_bytes or interface.lanes", port(0, mtu_bytes=None, lanes=UNKNOWN), "interface.lanes"),
        ("interface.lane_mbps", port(0, speed_mbps=UNKNOWN), "interface.lane_mbps"),
        ("interface.qos.pfc_priorities", port(0, qos=replace(LOSSLESS, pfc_rx_priorities=UNKNOWN)),
         "interface.qos.pfc_priorities"),
        ("device.role", port(0), "device.role"),
        ("contains(interface.description, 'x')", port(0, description=UNKNOWN), "interface.description"),
        ("fabric.policy.host_watchdog", port(0), "fabric.policy.host_watchdog"),
    ],
)  # fmt: skip
def test_unknown_ends_the_evaluation_and_names_its_path(text: str, interface: Interface, missing: str) -> None:
    with pytest.raises(UnknownFact) as unknown:
        value(text, interface)
    assert str(unknown.value) == missing


@pytest.mark.parametrize(
    ("text", "interface", "expected"),
    [
        ("interface.mtu_bytes or interface.lanes", port(0, lanes=UNKNOWN), 9216),
        ("interface.enabled and interface.mtu_bytes", port(0, enabled=False, mtu_bytes=UNKNOWN), False),
        ("interface.mtu_bytes is known", port(0, mtu_bytes=UNKNOWN), False),
        ("interface.mtu_bytes is known", port(0, mtu_bytes=None), True),
        ("interface.qos.pfc_watchdog is known", port(0, qos=UNKNOWN), False),
        ("interface.qos.pfc_watchdog.action is known", WITHOUT_QOS, True),
        ("interface.lane_mbps is known", port(0, lanes=UNKNOWN), False),
        ("interface.lane_mbps is known", port(0), True),
        ("interface.mtu_bytes is not known or interface.mtu_bytes == 1", port(0, mtu_bytes=UNKNOWN), True),
    ],
)
def test_only_what_is_looked_at_has_to_be_known(text: str, interface: Interface, expected: object) -> None:
    assert value(text, interface) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("interface.watchdg", "21: Interface has no `watchdg` (did you mean `qos.pfc_watchdog`?)"),
        ("interface.qos.pfc_watchdg", "25: QosProfile has no `pfc_watchdg` (did you mean `pfc_watchdog`?)"),
        ("interfce.qos", "11: no name `interfce` here (did you mean `interface`?)"),
        ("queue.index", "11: no name `queue` here (known: device, fabric, interface, options)"),
        ("interface.enabled and intrface.enabled", "33: no name `intrface` here (did you mean `interface`?)"),
        ("options.minimum", "19: options has no `minimum` (did you mean `minimum_ms`?)"),
        ("fabric.device('leaf1')", "11: a call of something that is no name; expected a function of the vocabulary"),
        ("fabric.device", "18: Fabric has no `device` (did you mean `devices`?)"),
        ("interface.name.upper", "26: `.upper` of text; expected an attribute of the model"),
        ("interface.qos.queues.wred", "32: `.wred` of a list of Queue; expected an attribute of the model"),
        ("device.bgp.neighbors.key", "32: `.key` of a list of BgpNeighbor; expected an attribute of the model"),
        ("interface.mtu_bytes | sped", "33: no filter `sped` (did you mean `speed`?)"),
        ("interface.qos | count", "27: no filter `count` (it is a function)"),
        ("interface.qos is knwn", "28: no test `knwn` (did you mean `known`?)"),
        ("cont(interface.qos)", "11: no function `cont` (did you mean `count`?)"),
        ("interface.fec == 'rss'", "29: `rss`; expected one of auto, fc, none, rs or none (did you mean `rs`?)"),
        ("fabric.mode in ('lossless', 'lossles')",
         "40: `lossles`; expected one of lossless, lossy, pfc-only, trim, uec (did you mean `lossless`?)"),
        ("interface.name == 3", "11: text `==` a number; expected things alike"),
        ("interface.enabled == 1", "11: true or false `==` a number; expected things alike"),
        ("interface.qos.pfc_priorities == 3", "11: a list of a number `==` a number; expected things alike"),
        ("'3' in interface.qos.pfc_rx_priorities",
         "18: `in` with `interface.qos.pfc_rx_priorities`, which may be none "
         "(deal with that first: `interface.qos.pfc_rx_priorities and …`, or in `when`)"),
        ("'a' in options.modes and 3 in options.modes", "36: a number `in` a list of text; expected things alike"),
        ("'a' in interface.name", "18: `in` text; expected a list"),
        ("interface.name < 'b'", "11: `<` with text; expected a number"),
        ("interface.name + 'b'", "11: `+` with text; expected a number"),
        ("interface.enabled + 1", "11: `+` with true or false; expected a number"),
        ("interface.qos.queues * 3", "11: `*` with a list of Queue; expected a number"),
        ("count(interface.name)", "17: text as rows of `count`; expected a list"),
        ("count()", "11: `count` of 0 things; expected rows"),
        ("interface.qos.queues is within(3, 4)",
         "35: `within` of 3 things; expected some and others (a list needs its own brackets: `((1, 2))`)"),
        ("interface.qos.dscp_to_tc | ranges",
         "11: a list of (a number or none) or none as numbers of `ranges`; "
         "expected a list of a number or none"),
        ("interface.qos.queues | ranges",
         "11: a list of Queue as numbers of `ranges`; expected a list of a number or none"),
    ],
)  # fmt: skip
def test_mistakes_are_told_at_their_place_with_the_nearest_word(text: str, told: str) -> None:
    assert refusal(text) == told


def test_what_reads_what() -> None:
    node = checked("interface.enabled and interface.qos.pfc_priorities == (3,) and interface.lane_mbps")
    assert paths_read_by(node) == {
        ("interface", "enabled"),
        ("interface", "qos", "pfc_priorities"),
        ("interface", "qos", "pfc_rx_priorities"),
        ("interface", "lane_mbps"),
        ("interface", "lanes"),
        ("interface", "speed_mbps"),
    }
    told = checked("count(device.interfaces) == 2 and interface.mtu_bytes | bytes == '9 kB'")
    assert [spelt(leaf) for leaf in facts_used_by(told)] == ["count(device.interfaces)", "interface.mtu_bytes"]


def test_an_expression_can_be_written_again() -> None:
    for text in (
        "not interface.enabled",
        "(interface.mtu_bytes == 9216)",
        "(interface.enabled and interface.name)",
        "((interface.enabled or false) and (interface.fec in ('rs', 'fc')))",
        "(count(device.interfaces) + -2)",
        "(0 < count(device.interfaces) <= 2)",
        "interface.qos is none",
        "options.modes is within(('a', 'b'))",
        "(none == interface.vrf)",
    ):
        assert spelt(checked(text)) == text


def test_a_path_begins_with_a_name_or_goes_on_from_the_scope() -> None:
    names = typed_names(SCOPES["link"].parts)
    assert model_path_of(parse_path(written("length_m"), names, "link")) == ("link", "length_m")
    assert model_path_of(parse_path(written("a.mtu_bytes"), names, "link")) == ("a", "mtu_bytes")
    assert model_path_of(parse_path(written("device_b.role"), names, "link")) == ("device_b", "role")
    with pytest.raises(InputProblems, match=r"^rules/pfc/x.yaml:7:11: assert: Link has no `lengt_m` \(did you mean"):
        parse_path(written("lengt_m"), names, "link")
    with pytest.raises(InputProblems, match="expected a path of the model"):
        parse_path(written("link.length_m == 3"), names, "link")


@pytest.fixture
def pieces() -> Iterator[Any]:
    names = typed_names(SCOPES["interface"].parts)
    return lambda text: [
        piece if isinstance(piece, str) else spelt(piece) for piece in parse_message(written(text), names, frozenset())
    ]  # type: ignore[return-value]


def test_messages_are_text_and_expressions(pieces: Any) -> None:
    assert pieces("{{ interface.name }} has {{interface.mtu_bytes|bytes}} of MTU, 50 % { of it }") == [
        "interface.name",
        " has ",
        "interface.mtu_bytes | bytes",
        " of MTU, 50 % { of it }",
    ]
    for text, told in (
        ("{{ interface.qos }}", "14: `interface.qos` in a message; expected a number, a text or a list of them"),
        ("{{ device.interfaces }}", "`device.interfaces` in a message"),
        ("{{ interface.nme }} is down", "24: Interface has no `nme` (did you mean `name`?)"),
        ("x {% if interface.name %}y{% endif %}", "13: `{%`; expected text, and expressions in `{{ }}`"),
        ("x {# no #}", "13: `{#`; expected text, and expressions in `{{ }}`"),
    ):
        with pytest.raises(InputProblems) as refused:
            pieces(text)
        assert told in f"{refused.value.problems[0].column}: {refused.value.problems[0].message}"


def test_limits_are_what_they_say() -> None:
    assert checked("interface.enabled or " + "(" * 10 + "1" + ")" * 10 + " " * 458)
    assert "501 characters" in refusal("interface.enabled" + " " * 484)
    names = typed_names(SCOPES["interface"].parts)
    assert parse_message(written("x" * 2000), names) == ("x" * 2000,)
    assert checked("not " * 31 + "true")
    assert "expressions in expressions" in refusal("not " * 32 + "true")
    assert checked("(" + "1, " * 150 + ")")
    assert "more than 200" in refusal("(" + "1," * 200 + ")")
    assert checked(f"'{'a' * 200}' and 9223372036854775808")
    assert "a huge number" in refusal("9223372036854775809")
    assert "a text of 201 characters" in refusal(f"'{'a' * 201}'")


def test_what_is_emitted_has_no_builtins_and_only_its_own_names() -> None:
    function = compiler.compile_value(("device", "interface", "fabric", "options"), checked(f"{DETECTION} | ms"))
    assert function.__globals__["__builtins__"] == {}
    assert set(function.__globals__) == {
        "__builtins__", "UNKNOWN", "Exception", "bool", "known", "property_of", "w6", "value",
    }  # fmt: skip


def test_judging_goes_on_after_what_is_unknown_and_after_a_crash() -> None:
    when, claim = checked("interface.enabled"), checked("1 / (interface.lanes or 0) > 0.2", when="interface.enabled")
    function = compiler.compile_check(("device", "interface"), ("fabric", "options"), when, claim)
    ports = [port(0), port(0, lanes=4), port(0, enabled=UNKNOWN), port(0, lanes=0), port(0, enabled=False), port(0)]
    found = function([(None, each) for each in ports], None, OPTION_VALUES, index=None)
    assert [type(each).__name__ for each in found] == [
        "bool",
        "bool",
        "UnknownFactAtPath",
        "ZeroDivisionError",
        "bool",
        "bool",
    ]
    assert [each for each in found if isinstance(each, bool)] == [True, False, False, True]
    assert str(found[2]) == "interface.enabled"


@pytest.mark.parametrize(
    "profile",
    [LOSSLESS, NO_WATCHDOG, LOSSY, replace(LOSSLESS, pfc_watchdog=PfcWatchdog(
        priorities=(), detection_ms=None, restoration_ms=None, action=None))],
    ids=["lossless", "without-watchdog", "lossy", "empty-watchdog"],
)  # fmt: skip
def test_emitted_code_means_what_python_would_say(profile: Any) -> None:
    """The same condition, spelt by hand."""
    text = f"interface.qos.pfc_priorities and (not {DETECTION} or {DETECTION} < 300 and {RESTORATION} != 400)"
    watchdog = profile.pfc_watchdog
    detection = watchdog.detection_ms if watchdog else None
    restoration = watchdog.restoration_ms if watchdog else None
    by_hand = profile.pfc_rx_priorities and (not detection or (detection < 300 and restoration != 400))
    assert value(text, port(0, qos=profile)) == by_hand


@pytest.mark.parametrize(
    "deep", ["-" * 31 + "1", "(1 + " * 31 + "1" + ")" * 31, "(1, " * 30 + "1" + ",)" * 30, "not " * 31 + "1"]
)
def test_the_deepest_expression_still_is_python(deep: str) -> None:
    function = compiler.compile_value((), checked(deep))
    assert function(index=None) is not None


def test_wred_of_a_queue_is_reached_by_its_names() -> None:
    names = typed_names(SCOPES["queue"].parts)
    function = compiler.compile_value(
        ("device", "interface", "queue"), parse_expression(written("queue.wred.green.min_bytes"), names)
    )
    queue = LOSSLESS.queues[1]  # type: ignore[index]
    assert function(None, port(0), queue, index=None) == WRED.green.min_bytes
