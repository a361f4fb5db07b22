"""Values of rules as the texts and plain facts of findings."""

import re
from collections.abc import Iterator

from nodrop.engine.finding import FindingFact
from nodrop.model.fabric import End
from nodrop.model.states import Unknown

_CONTROL_CHARACTER_PATTERN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Control characters and line breaks."""


def render_value(value: object) -> str:
    """Return a value as a message shows it."""
    if type(value) is str:
        return value
    if value is None or isinstance(value, Unknown):
        return "none" if value is None else "unknown"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(round(value, 3)).removesuffix(".0")
    if isinstance(value, tuple) and not isinstance(value, End):
        return ", ".join(map(render_value, value)) or "none"
    return str(value)


def escape_control_characters(value: str) -> str:
    r"""Return a value on one line, its line breaks and control characters written as `\n` or `\x1b`."""
    return _CONTROL_CHARACTER_PATTERN.sub(lambda match: match[0].encode("unicode_escape").decode(), value)


def plain_fact_or_nothing(value: object) -> Iterator[FindingFact]:
    """Yield a value as a fact, where it is a plain one: parts of the model are not."""
    if value is None or isinstance(value, str | int | float):
        yield value
    elif isinstance(value, Unknown | End) or (
        isinstance(value, tuple) and all(member is None or isinstance(member, str | int | float) for member in value)
    ):
        yield render_value(value)
