"""Expressions of rules: Jinja2's syntax, typed against the model when a rule is loaded. Nothing of Jinja2 runs.

Allowed are: names of the scope and their attributes, numbers, texts, lists, comparisons with `in` and `not in`, `and`,
`or`, `not`, `+ - * /` of numbers, `is none`, and words of the vocabulary. Anything else is rejected at its place.

None (known absent) travels along attributes: `interface.qos.pfc_watchdog.detection_ms` is none where there is no
watchdog. It counts as false and equals only none; it is neither a number nor a list. So sizes, arithmetic, `in` and
words reject at load an operand that may be none, unless the expression dealt with it to the left (`x and x > 3`,
`x is none or x > 3`) or `when` did: no rule passes or fails because a value happened to be absent.

UNKNOWN ends the evaluation where it is met, left to right, and names the path. Only a word that declares it receives
UNKNOWN.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from jinja2 import Environment, TemplateSyntaxError
from jinja2 import nodes as jinja

from nodrop.engine.expression_types import MAX_DEPTH, ExpressionTypeChecker
from nodrop.engine.located_text import ExpressionText
from nodrop.engine.nodes import Attribute, Name, Node
from nodrop.model.types import ValueType

MAX_EXPRESSION, MAX_MESSAGE = 500, 2000

_END, _PLACE = "'end of print statement'", re.compile(r" at \d+$")
_JINJA_DELIMITERS = ("{%", "%}", "{#", "#}", "{{", "}}")


def parse_expression(
    written: ExpressionText, names: Mapping[str, ValueType], surely: frozenset[Node] = frozenset()
) -> Node:
    """Return the typed tree of an expression over `types_by_name`; nodes in `not_none_nodes` are not None."""
    if found_brace := next((brace for brace in _JINJA_DELIMITERS if brace in written.text), ""):
        raise written.fault(f"`{found_brace}`", "an expression without braces around or in it", at=found_brace)
    (node,) = _parse_pieces(written, f"{{{{ {written.text} }}}}", MAX_EXPRESSION)
    return ExpressionTypeChecker(written, names).check(node, surely)


def parse_path(located_text: ExpressionText, types_by_name: Mapping[str, ValueType], scope: str) -> Attribute | Name:
    """Return a path of the model: from a name, or from the item of the scope (`qos.pfc_priorities`)."""
    if located_text.text.partition(".")[0] not in types_by_name:
        located_text = located_text.with_scope_prefix(scope)
    node = parse_expression(located_text, types_by_name)
    if not isinstance(node, Attribute | Name):
        raise located_text.fault(f"`{located_text.text}`", "a path of the model, such as `qos.pfc_priorities`")
    return node


def parse_message(
    located_text: ExpressionText, types_by_name: Mapping[str, ValueType], not_none_nodes: frozenset[Node] = frozenset()
) -> tuple[str | Node, ...]:
    """Return the pieces of a message: its text, and the expressions in `{{ }}` between."""
    if found_brace := next((brace for brace in _JINJA_DELIMITERS[:4] if brace in located_text.text), ""):
        raise located_text.fault(f"`{found_brace}`", "text, and expressions in `{{ }}`", at=found_brace)
    checker, found_pieces = (
        ExpressionTypeChecker(located_text, types_by_name),
        _parse_pieces(located_text, located_text.text, MAX_MESSAGE),
    )
    return tuple(
        piece.data if isinstance(piece, jinja.TemplateData) else checker.check_printable(piece, not_none_nodes)
        for piece in found_pieces
    )


def _parse_pieces(written: ExpressionText, source: str, longest: int) -> list[jinja.Node]:
    """Parse a text with Jinja2's parser into expressions and the text between them."""
    if len(written.text) > longest:
        raise written.fault(f"{len(written.text):,} characters", f"at most {longest:,}")
    if not written.text.isprintable():
        raise written.fault(
            "a line break or a character that cannot be seen", "one line", hint="fold a long one with `>-`"
        )
    try:
        body = _make_parser_environment().parse(source).body
    except TemplateSyntaxError as error:
        error_text = _PLACE.sub("", error.message or "").rstrip(".").replace(_END, "the end").replace("token ", "")
        raise written.fault(f"no expression: {error_text[:1].lower()}{error_text[1:]}", "Jinja2's syntax") from None
    except RecursionError:
        raise written.fault("brackets in brackets", f"at most {MAX_DEPTH} levels") from None
    return [piece for output in body for piece in output.iter_child_nodes()]


@lru_cache(maxsize=1)
def _make_parser_environment() -> Environment:
    """Its parser is all that is used."""
    return Environment(autoescape=True)
