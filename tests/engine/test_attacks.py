"""Hostile rules: whatever a rule file says, it can name nothing but the model and the vocabulary, and not for long.

Each attack is refused when the rule is loaded, with a line; what is told here is the place and what was found.
"""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodrop.engine import compiler
from nodrop.engine.expression import parse_expression
from nodrop.engine.located_text import ExpressionText
from nodrop.engine.rules import load_rules
from nodrop.engine.scopes import SCOPES, typed_names
from nodrop.errors import InputProblems
from nodrop.model.index import Index
from support.small_fabrics import device, fabric, port, rule, text

# By the key that holds it: line 9 is `assert`, line 3 `message`, line 10 what comes after `assert`.
ATTACKS: list[tuple[str, Any, str]] = [
    ("claim", "''.__class__", "9:13: `.__class__` of text"),
    ("claim", "interface.__class__", "9:20: Interface has no `__class__`"),
    ("claim", "interface.__class__.__mro__", "9:20: Interface has no `__class__`"),
    ("claim", "interface.qos.__init__.__globals__", "9:24: QosProfile has no `__init__`"),
    ("claim", "interface._name", "9:20: Interface has no `_name`"),
    ("claim", "fabric.__dict__", "9:17: Fabric has no `__dict__`"),
    ("claim", "options.__class__", "9:18: options has no `__class__`"),
    ("claim", "interface['name']", "9:10: a subscript"),
    ("claim", "interface.addresses[0]", "9:10: a subscript"),
    ("claim", "interface.addresses[0:1]", "9:10: a subscript"),
    ("claim", "interface.addresses.0", "9:10: a subscript"),
    ("claim", "'{0.__class__}'.format(interface)", "9:10: a call of something that is no name"),
    ("claim", "interface.name.format(fabric)", "9:10: a call of something that is no name"),
    ("claim", "interface.name.join(interface.addresses)", "9:10: a call of something that is no name"),
    ("claim", "''.join(interface.addresses)", "9:10: a call of something that is no name"),
    ("claim", "interface.name.upper()", "9:10: a call of something that is no name"),
    ("claim", "self", "9:10: no name `self` here"),
    ("claim", "self.__init__", "9:10: no name `self` here"),
    ("claim", "cycler", "9:10: no name `cycler` here"),
    ("claim", "cycler('a').__init__", "9:10: no function `cycler`"),
    ("claim", "namespace(a=1)", "9:10: an argument with a name or a star"),
    ("claim", "lipsum", "9:10: no name `lipsum` here"),
    ("claim", "lipsum.__globals__.os", "9:10: no name `lipsum` here"),
    ("claim", "range(9)", "9:10: no function `range`"),
    ("claim", "range(999999999)", "9:10: no function `range`"),
    ("claim", "dict(a=1)", "9:10: an argument with a name or a star"),
    ("claim", "joiner(',')", "9:10: no function `joiner`"),
    ("claim", "loop.index", "9:10: no name `loop` here"),
    ("claim", "super()", "9:10: no function `super`"),
    ("claim", "caller()", "9:10: no function `caller`"),
    ("claim", "_('x')", "9:10: no function `_`"),
    ("claim", "__import__('os')", "9:10: no function `__import__`"),
    ("claim", "eval('1')", "9:10: no function `eval`"),
    ("claim", "n_interface", "9:10: no name `n_interface` here"),
    ("claim", "UNKNOWN", "9:10: no name `UNKNOWN` here"),
    ("claim", "index", "9:10: no name `index` here"),
    ("claim", "w0(1)", "9:10: no function `w0`"),
    ("claim", "interface|attr('__class__')", "9:20: no filter `attr`"),
    ("claim", "interface.addresses|map('upper')", "9:30: no filter `map`"),
    ("claim", "'%s'|format(1)", "9:15: no filter `format`"),
    ("claim", "interface.addresses|join", "9:30: no filter `join`"),
    ("claim", "interface|pprint", "9:20: no filter `pprint`"),
    ("claim", "interface.addresses|map(attribute='x')", "9:10: an argument with a name or a star"),
    ("claim", "interface.name|safe", "9:25: no filter `safe`"),
    ("claim", "interface.name|e", "9:25: no filter `e`"),
    ("claim", "interface.addresses|first", "9:30: no filter `first`"),
    ("claim", "'1'|int", "9:14: no filter `int`"),
    ("claim", "interface is defined", "9:23: no test `defined`"),
    ("claim", "interface is sameas(interface)", "9:23: no test `sameas`"),
    ("claim", "interface.name is in('a')", "9:28: no test `in`"),
    ("claim", "interface is callable", "9:23: no test `callable`"),
    ("claim", "not (" * 33 + "true" + ")" * 33, "9:10: expressions in expressions"),
    ("claim", "(" * 200 + "1" + ")" * 200, "9:10: brackets in brackets"),
    ("claim", "-" * 40 + "1", "9:10: expressions in expressions"),
    ("claim", "(1," * 40 + ")" * 40, "9:10: expressions in expressions"),
    ("claim", "interface" + ".qos" * 40, "9:10: expressions in expressions"),
    ("claim", "9" * 30, "9:10: a huge number"),
    ("claim", "1e400", "9:10: a huge number"),
    ("claim", "0x" + "f" * 40, "9:10: a huge number"),
    ("claim", "9223372036854775809", "9:10: a huge number"),
    ("claim", "'" + "a" * 201 + "'", "9:10: a text of 201 characters"),
    ("claim", "1," * 201, "9:10: more than 200 names, values and signs"),
    ("claim", "1 +" * 150 + " 1", "9:10: expressions in expressions"),
    ("claim", "a" * 501, "9:10: 501 characters"),
    ("claim", "2 ** 9 ** 9", "9:10: `**`"),
    ("claim", "7 // 2", "9:10: `//`"),
    ("claim", "7 % 2", "9:10: `%`"),
    ("claim", "'a' * 99999", "9:10: `*` with text"),
    ("claim", "(1, 2) * 99999", "9:10: `*` with a list of a number"),
    ("claim", "+1", "9:10: a `+` before a number"),
    ("claim", "'a' ~ interface.name", "9:10: `~`"),
    ("claim", "'a' + 'b'", "9:10: `+` with text"),
    ("claim", "1 if interface.enabled else 2", "9:10: an inline `if`"),
    ("claim", "{'a': 1}", "9:10: a mapping"),
    ("claim", "{}", "9:10: a mapping"),
    ("claim", "{{ interface.name }}", "9:10: `{{`"),
    ("claim", "interface.name }}{{ fabric.name", "9:27: `{{`"),
    ("claim", "interface.name }}{% set x = 1 %}{{ x", "9:27: `{%`"),
    ("claim", "true }}{# hidden #}", "9:17: `{#`"),
    ("claim", "true {# hidden #}", "9:15: `{#`"),
    ("claim", "true }}", "9:15: `}}`"),
    ("claim", "true -}}", "9:16: `}}`"),
    ("claim", "{% raw %}true{% endraw %}", "9:10: `{%`"),
    ("claim", "true # comment", "9:10: no expression: unexpected char '#'"),
    ("claim", "true; false", "9:10: no expression: expected the end, got ';'"),
    ("claim", "x = 1", "9:10: no expression: expected the end, got '='"),
    ("claim", "(x := 1)", "9:10: no expression: expected ')', got ':'"),
    ("claim", "lambda: 1", "9:10: no expression: expected the end, got ':'"),
    ("claim", "[x for x in (1,)]", "9:10: no expression: expected ',', got 'for'"),
    ("claim", "interface.name, *interface.addresses", "9:10: no expression: unexpected '*'"),
    ("claim", "`id`", "9:10: no expression: unexpected char '`'"),
    ("claim", "$(id)", "9:10: no expression: unexpected char '$'"),
    ("claim", '"\\x41" \'', '9:9: no expression: unexpected char "\'"'),
    ("claim", "true\nfalse", "9:9: a line break or a character that cannot be seen"),
    ("claim", "true\r\nfalse", "9:9: a line break or a character that cannot be seen"),
    ("claim", "true\u2028false", "9:14: U+2028"),
    ("claim", "true\u0085", "9:14: U+0085"),
    ("claim", "true\x00", "9:9: a line break or a character that cannot be seen"),
    ("claim", "tr\u200bue", "9:10: a line break or a character that cannot be seen"),
    ("claim", "\u202einterface.name", "9:10: a line break or a character that cannot be seen"),
    ("claim", "", "9:9: nothing"),
    ("claim", " ", "9:10: no expression: expected an expression, got the end"),
    ("claim", "\u0456nterface.name", "9:10: no name `іnterface` here"),
    ("claim", "ｉnterface.name", "9:10: no name `ｉnterface` here"),
    ("claim", "interface.nаme", "9:20: Interface has no `nаme`"),
    ("claim", "interface.ｎame", "9:20: Interface has no `ｎame`"),
    ("claim", "fabric.device('leaf1')", "9:10: a call of something that is no name"),
    ("claim", "interface.qos.pfc_watchdog.replace(action='drop')", "9:10: an argument with a name or a star"),
    ("claim", "interface()", "9:10: no function `interface`"),
    ("claim", "count(rows=interface.addresses)", "9:10: an argument with a name or a star"),
    ("claim", "count(*interface.addresses)", "9:10: an argument with a name or a star"),
    ("claim", "count(**options)", "9:10: an argument with a name or a star"),
    ("claim", "count(interface.addresses)(1)", "9:10: a call of something that is no name"),
    ("claim", "count", "9:10: no name `count` here"),
    ("claim", "known(interface)", "9:10: no function `known`"),
    ("claim", "vocabulary()", "9:10: no function `vocabulary`"),
    ("claim", "interface.name | speed.__globals__", "9:27: no filter `speed.__globals__`"),
    ("claim", "interface is os.system", "9:23: no test `os.system`"),
    ("claim", "interface.name.panel", "9:25: `.panel` of text"),
    ("claim", "interface.port.count(1)", "9:10: a call of something that is no name"),
    ("claim", "interface.port._replace", "9:25: Port has no `_replace`"),
    ("claim", "interface.port._fields", "9:25: Port has no `_fields`"),
    ("claim", "interface.port.index", "9:25: Port has no `index`"),
    ("claim", "interface.addresses.count", "9:30: `.count` of a list of text"),
    ("claim", "request.application.__globals__", "9:10: no name `request` here"),
    ("claim", "config.items()", "9:10: a call of something that is no name"),
    ("claim", "config", "9:10: no name `config` here"),
    ("claim", "get_flashed_messages.__globals__.os", "9:10: no name `get_flashed_messages` here"),
    ("claim", "url_for.__globals__", "9:10: no name `url_for` here"),
    ("claim", "g.pop('x')", "9:10: a call of something that is no name"),
    ("claim", "environment", "9:10: no name `environment` here"),
    ("claim", "context", "9:10: no name `context` here"),
    ("claim", "template", "9:10: no name `template` here"),
    ("claim", "varargs", "9:10: no name `varargs` here"),
    ("claim", "kwargs", "9:10: no name `kwargs` here"),
    ("claim", "debugger()", "9:10: no function `debugger`"),
    ("claim", "interface|attr('\\x5f\\x5fclass\\x5f\\x5f')", "9:9: no filter `attr`"),
    ("claim", "interface|attr(attribute='name')", "9:10: an argument with a name or a star"),
    ("claim", "interface.addresses|select('callable')", "9:30: no filter `select`"),
    ("claim", "interface.addresses|reject", "9:30: no filter `reject`"),
    ("claim", "interface.addresses|groupby('name')", "9:30: no filter `groupby`"),
    ("claim", "interface.addresses|sort", "9:30: no filter `sort`"),
    ("claim", "interface.addresses|list", "9:30: no filter `list`"),
    ("claim", "interface.addresses|length", "9:10: a list of text as metres of `length`"),
    ("claim", "interface.addresses|last", "9:30: no filter `last`"),
    ("claim", "interface.addresses|random", "9:30: no filter `random`"),
    ("claim", "interface.name|replace('a', 'b')", "9:25: no filter `replace`"),
    ("claim", "interface.name|string", "9:25: no filter `string`"),
    ("claim", "interface|tojson", "9:20: no filter `tojson`"),
    ("claim", "interface|xmlattr", "9:20: no filter `xmlattr`"),
    ("claim", "interface.addresses|sum", "9:30: no filter `sum`"),
    ("claim", "interface.name|default('x')", "9:25: no filter `default`"),
    ("claim", "options|dictsort", "9:18: no filter `dictsort`"),
    ("claim", "options|items", "9:18: no filter `items`"),
    ("claim", "interface.name|list|batch(9999)", "9:30: no filter `batch`"),
    ("claim", "interface.name|center(99999999)", "9:25: no filter `center`"),
    ("claim", "interface.name|wordwrap(1)", "9:25: no filter `wordwrap`"),
    ("claim", "interface.name|indent(99999)", "9:25: no filter `indent`"),
    ("claim", "interface.name|urlize", "9:25: no filter `urlize`"),
    ("claim", "interface.name|filesizeformat", "9:25: no filter `filesizeformat`"),
    ("claim", "interface is iterable", "9:23: no test `iterable`"),
    ("claim", "interface is mapping", "9:23: no test `mapping`"),
    ("claim", "interface is string", "9:23: no test `string`"),
    ("claim", "interface is number", "9:23: no test `number`"),
    ("claim", "'attr' is filter", "9:20: no test `filter`"),
    ("claim", "interface.name is escaped", "9:28: no test `escaped`"),
    ("claim", "interface is eq(interface)", "9:23: no test `eq`"),
    ("claim", "interface.mtu_bytes is divisibleby(0)", "9:33: no test `divisibleby`"),
    ("claim", "exec('1')", "9:10: no function `exec`"),
    ("claim", "open('/etc/passwd')", "9:10: no function `open`"),
    ("claim", "getattr(interface, '__class__')", "9:10: no function `getattr`"),
    ("claim", "setattr(interface, 'name', 'x')", "9:10: no function `setattr`"),
    ("claim", "globals()", "9:10: no function `globals`"),
    ("claim", "compile('1', '', 'eval')", "9:10: no function `compile`"),
    ("claim", "breakpoint()", "9:10: no function `breakpoint`"),
    ("claim", "print(1)", "9:10: no function `print`"),
    ("claim", "exit()", "9:10: no function `exit`"),
    ("claim", "input()", "9:10: no function `input`"),
    ("claim", "type(interface)", "9:10: no function `type`"),
    ("claim", "vars(interface)", "9:10: no function `vars`"),
    ("claim", "dir()", "9:10: no function `dir`"),
    ("claim", "id(interface)", "9:10: no function `id`"),
    ("claim", "hash(interface)", "9:10: no function `hash`"),
    ("claim", "memoryview(1)", "9:10: no function `memoryview`"),
    ("claim", "help()", "9:10: no function `help`"),
    ("claim", "object()", "9:10: no function `object`"),
    ("claim", "interface.qos.pfc_watchdog.__reduce__", "9:37: PfcWatchdog has no `__reduce__`"),
    ("claim", "interface.qos.pfc_watchdog.__slots__", "9:37: PfcWatchdog has no `__slots__`"),
    ("claim", "interface.qos.__getattribute__", "9:24: QosProfile has no `__getattribute__`"),
    ("claim", "interface.__setattr__", "9:20: Interface has no `__setattr__`"),
    ("claim", "device.neighbors.__iter__", "9:27: `.__iter__` of a list of BgpNeighbor"),
    ("claim", "interface.port.__add__", "9:25: Port has no `__add__`"),
    ("claim", "true.__class__", "9:15: `.__class__` of true or false"),
    ("claim", "none.__class__", "9:15: `.__class__` of none"),
    ("claim", "(1).__class__", "9:10: `.__class__` of a number"),
    ("claim", "1.0.hex()", "9:10: a call of something that is no name"),
    ("claim", "(1, 2).__class__", "9:17: `.__class__` of a list of a number"),
    ("claim", "interface.name.encode('idna')", "9:10: a call of something that is no name"),
    ("claim", "interface.__weakref__", "9:20: Interface has no `__weakref__`"),
    ("claim", "interface.qos.__dataclass_fields__", "9:24: QosProfile has no `__dataclass_fields__`"),
    ("claim", "fabric.device", "9:17: Fabric has no `device`"),
    ("claim", "device.__module__", "9:17: Device has no `__module__`"),
    ("claim", "await interface", "9:10: no expression: expected the end, got 'interface'"),
    ("claim", "yield 1", "9:10: no expression: expected the end, got 'integer'"),
    ("claim", "import os", "9:10: no expression: expected the end, got 'os'"),
    ("claim", "del interface", "9:10: no expression: expected the end, got 'interface'"),
    ("claim", "assert false", "9:10: no expression: expected the end, got 'false'"),
    ("claim", "interface.name <> 'x'", "9:10: no expression: unexpected '>'"),
    ("claim", "interface.name === 'x'", "9:10: no expression: unexpected '='"),
    ("claim", "1 << 99", "9:10: no expression: unexpected '<'"),
    ("claim", "1 & 1", "9:10: no expression: unexpected char '&'"),
    ("claim", "interface.name @ 1", "9:10: no expression: unexpected char '@'"),
    ("claim", "!interface.enabled", "9:10: no expression: unexpected char '!'"),
    ("claim", "interface?.name", "9:10: no expression: unexpected char '?'"),
    ("claim", "interface->name", "9:10: no expression: unexpected '>'"),
    ("claim", "interface.name ? 1 : 2", "9:10: no expression: unexpected char '?'"),
    ("claim", "%s", "9:10: no expression: unexpected '%'"),
    ("claim", "\\x5f", "9:9: no expression: unexpected char '\\\\'"),
    ("claim", "\\u005f\\u005f", "9:9: no expression: unexpected char '\\\\'"),
    ("claim", "'\\N{LATIN SMALL LETTER A}'|attr('x')", "9:9: no filter `attr`"),
    ("message", "{% for x in range(9) %}x{% endfor %}", "3:11: `{%`"),
    ("message", "{% include '/etc/passwd' %}", "3:11: `{%`"),
    ("message", "{% import 'os' as os %}", "3:11: `{%`"),
    ("message", "{% macro m() %}{% endmacro %}", "3:11: `{%`"),
    ("message", "{{ ''.__class__.__mro__ }}", "3:17: `.__class__` of text"),
    ("message", "{# hidden #}", "3:11: `{#`"),
    ("message", "{{ interface.name", "3:11: no expression: unexpected end of template, expected the end"),
    ("message", "a\nb", "3:10: a line break or a character that cannot be seen"),
    ("message", "x" * 2001, "3:11: 2,001 characters"),
    ("message", "{{ interface.qos }}", "3:14: `interface.qos` in a message"),
    ("message", "{{ range(9) }}", "3:14: no function `range`"),
    ("message", "{{ interface.name.format() }}", "3:11: a call of something that is no name"),
    ("message", "{{ 'a' * 9 }}", "3:14: `*` with text"),
    ("message", "{%- raw -%}{{ x }}{%- endraw -%}", "3:11: `{%`"),
    ("message", "\x1b[31mred", "3:10: a line break or a character that cannot be seen"),
    ("message", "{{ 1 }}" * 201, "3:11: more than 200 names, values and signs"),
    ("when", "interface.__doc__", "10:18: Interface has no `__doc__`"),
    ("when", "interface['qos']", "10:8: a subscript"),
    ("at", "qos['x']", "10:6: a subscript"),
    ("at", "qos.__class__", "10:10: QosProfile has no `__class__`"),
    ("at", "qos.pfc_priorities | ranges", "10:6: `interface.qos.pfc_priorities | ranges`"),
    ("at", "name == 'x'", "10:6: `interface.name == 'x'`"),
    ("at", "qos; import os", "10:6: no expression: expected the end, got ';'"),
    ("set", {"interface.__class__": "1"}, "10:18: Interface has no `__class__`"),
    ("set", {"interface.qos": "__import__('os')"}, "10:25: no function `__import__`"),
    ("set", {"interface.qos.pfc_priorities": "(3,)"}, "10:8: `interface.qos.pfc_priorities`"),
    ("set", {"fabric.mode": "'lossy'"}, "10:8: `fabric.mode`"),
    ("set", {"interface.name | speed": "1"}, "10:8: text as mbps of `speed`"),
    ("set", {"interface.mtu_bytes": "'x'"}, "10:31: `interface.mtu_bytes` set to text"),
    ("set", {"options.x": "1"}, "10:16: options has no `x`"),
    ("set", {"interface.enabled": "none"}, "10:29: `interface.enabled` set to none"),
]


@pytest.mark.parametrize(
    ("key", "attack", "told"), ATTACKS, ids=[f"{number}-{key}" for number, (key, _, _) in enumerate(ATTACKS)]
)
def test_hostile_words_are_refused_at_their_place(key: str, attack: Any, told: str) -> None:
    keys = {"claim": "interface.enabled"} | {key: attack}
    with pytest.raises(InputProblems) as refused:
        rule(**keys)
    (problem,) = refused.value.problems
    assert (problem.path, f"{problem.line}:{problem.column}: {problem.found}") == ("rules/hygiene/fault.yaml", told)


def test_the_same_rule_without_an_attack_is_loaded() -> None:
    assert rule(claim="interface.enabled").claim is not None


BOMB = "a: &a [x, x]\n" + "".join(
    f"{b}: &{b} [*{a}, *{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
MANY = "".join(f"x{number}: *n\n" for number in range(101))
GOOD = text(claim="interface.enabled")

FILES = [
    ("hygiene/alias-bomb.yaml", BOMB + GOOD, "1:1: unknown key a"),
    ("hygiene/many-aliases.yaml", f"n: &n 1\n{MANY}", "102:7: alias number 101"),
    ("hygiene/large.yaml", GOOD + "#" * 65536, f"None:None: {len(GOOD) + 65536:,} bytes"),
    ("hygiene/twice.yaml", GOOD + "severity: note\n", "10:1: the key 'severity' again"),
    ("hygiene/merge.yaml", GOOD + "<<: {modes: [lossy]}\n", "10:1: a merge key"),
    ("hygiene/tag.yaml", GOOD + "at: !!python/object:os.system [id]\n", "10:5: the tag '!!python/object:os.system'"),
    ("hygiene/second.yaml", f"{GOOD}---\n{GOOD}", "10:1: a second document"),
    ("hygiene/list.yaml", "- severity: error\n", "1:1: a list"),
    ("hygiene/empty.yaml", "", "1:1: nothing"),
    ("hygiene/nul.yaml", GOOD.replace("it hurts", "it\0hurts"), "4:9: a NUL byte"),
    ("hygiene/latin.yaml", b"severity: \xff\n", "1:11: byte 0xff at offset 10"),
    ("hygiene/deep.yaml", "with: " + "[" * 65 + "]" * 65, "1:70: a list or mapping at level 65"),
    ("hygiene/unknown-key.yaml", GOOD + "exec: id\n", "10:1: unknown key exec"),
    ("hygiene/Upper.yaml", GOOD, "None:None: a rule called `Upper`"),
    ("hygiene/__init__.yaml", GOOD, "None:None: a rule called `__init__`"),
    ("hygiene/rule.yml", GOOD, "None:None: a file called `rule.yml`"),
    ("hygeine/misplaced.yaml", GOOD, "None:None: no area `hygeine`"),
    ("stray.yaml", GOOD, "None:None: a rule in no area"),
    ("hygiene/deeper/rule.yaml", GOOD, "None:None: a rule in no area"),
    ("hygiene/analysis.yaml", text(analysis="../../os", facts=["x"]), "9:12: no analysis `../../os`"),
    ("hygiene/dotted.yaml", text(analysis="os.path"), "9:12: no analysis `os.path`"),
    ("hygiene/two-ways.yaml", text(claim="true", remark="syntax"), "1:1: assert and remark"),
    ("hygiene/no-way.yaml", text(), "1:1: no way to see the fault"),
    ("hygiene/no-bad.yaml", text(claim="true", examples={"bad": [], "good": [{"model": {}}]}), "8:19: nothing in it"),
    ("hygiene/no-reference.yaml", text(claim="true", references=[]), "6:13: nothing in it"),
    (
        "hygiene/option.yaml",
        text(claim="true", options={"__class__": {"default": "1", "description": "x"}}),
        "10:11: `__class__`",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("path", "content", "told"), FILES, ids=[path for path, _, _ in FILES])
def test_hostile_files_are_refused_by_name(tmp_path: Path, path: str, content: str | bytes, told: str) -> None:
    target = tmp_path / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputProblems) as refused:
        load_rules([tmp_path])
    problem = refused.value.problems[0]
    assert (problem.path, f"{problem.line}:{problem.column}: {problem.found}") == (str(target), told)


def test_an_area_that_is_not_there_is_told_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "hygeine").mkdir()
    (tmp_path / "hygeine" / "pfc.yaml").write_text(GOOD)
    with pytest.raises(InputProblems, match=r"no area `hygeine` \(did you mean `hygiene`\?\)$"):
        load_rules([tmp_path])


def test_one_hostile_file_does_not_hide_the_next(tmp_path: Path) -> None:
    for area, name, claim in (("pfc", "a", "interface.__class__"), ("ecn", "b", "range(9)"), ("ecn", "c", "true")):
        (tmp_path / area).mkdir(exist_ok=True)
        (tmp_path / area / f"{name}.yaml").write_text(text(claim=claim))
    with pytest.raises(InputProblems) as refused:
        load_rules([tmp_path])
    found = [(Path(problem.path).name, problem.line, problem.found) for problem in refused.value.problems]
    assert found == [("b.yaml", 9, "no function `range`"), ("a.yaml", 9, "Interface has no `__class__`")]


WORDS = st.sampled_from(
    [
        "interface", "device", "fabric", "options", ".qos", ".name", ".mtu_bytes", ".pfc_watchdog", ".detection_ms",
        ".__class__", "._x", "(", ")", "[", "]", ",", "'a'", "1", "2.5", "none", "true", " and ", " or ",
        " not ", " in ",
        " is ", " == ", " < ", " + ", " * ", " - ", "/", "|", "speed", "bytes", "known", "none", "count", "contains",
        "}}", "{{", "{%", "#}", " if ", " else ", "~", "**", "%", ":", "\n", "\\", '"', "é", "\u202e", "\x00",
    ]
)  # fmt: skip


@given(st.lists(WORDS, max_size=24).map("".join))
def test_any_text_is_refused_or_means_something_harmless(words: str) -> None:
    """Nothing but InputProblems comes out of loading, and what was loaded runs without a builtin at hand."""
    written = ExpressionText(text=words, path="x.yaml", where="assert", line=1, column=1)
    names = ("device", "interface", "fabric")
    try:
        node = parse_expression(written, typed_names(SCOPES["interface"].parts))
    except InputProblems:
        return
    function = compiler.compile_value(names, node)
    assert function.__globals__["__builtins__"] == {}
    owner = device("leaf1", port(0))
    try:
        function(owner, port(0), fabric(owner), index=Index(fabric(owner)))
    except ZeroDivisionError:
        assert "/" in words
