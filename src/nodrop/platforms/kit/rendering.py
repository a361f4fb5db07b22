"""Templates, rendered strictly: an undefined name is an error, text that could break out of a string is refused."""

import json
import re
from functools import cache, lru_cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from nodrop.errors import UnsupportedByPlatform
from nodrop.resources import resource_folder

_SAFE_TEXT_PATTERN = re.compile(r"[A-Za-z0-9 ._,:;|/+*=()\[\]@#-]*")
_CONTROL_CHARACTER_PATTERN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_EMPTY_TABLE_PATTERN = re.compile(r'^    "[A-Z0-9_]+": \{\n    \},\n', re.MULTILINE)


class EscapedText(str):
    """Text that is already written for its place."""

    __slots__ = ()


def quote_json_string(text: object) -> EscapedText:
    """Write a value as a JSON string, quotes included."""
    return EscapedText(json.dumps(str(text), ensure_ascii=False))


def checked_line_text(text: object) -> EscapedText:
    """Write free text for a line of a configuration; what would end the line is refused."""
    written = str(text)
    if _CONTROL_CHARACTER_PATTERN.search(written):
        raise UnsupportedByPlatform("text", f"{written!r} has control characters and would break a line")
    return EscapedText(written)


def _check_template_value(value: object) -> object:
    return _require_plain_text(value) if type(value) is str else value


@lru_cache(maxsize=65_536)
def _require_plain_text(text: str) -> str:
    if not _SAFE_TEXT_PATTERN.fullmatch(text):
        raise UnsupportedByPlatform("text", f"{text!r} cannot be written without quotes")
    return text


class _AttributeOnlyJinjaEnvironment(Environment):
    """Looks up `port.name` as an attribute and nothing else, by the interpreter's own function."""

    getattr = staticmethod(getattr)  # type: ignore[assignment]


@lru_cache(maxsize=1)
def _template_environment() -> Environment:
    environment = _AttributeOnlyJinjaEnvironment(
        loader=FileSystemLoader(resource_folder("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_check_template_value,
        autoescape=False,
        auto_reload=False,
    )
    environment.filters |= {"q": quote_json_string, "line": checked_line_text}
    return environment


@cache
def load_template(name: str) -> Template:
    """Return a template by its path below `templates/`."""
    return _template_environment().get_template(name)


def drop_trailing_commas(text: str) -> str:
    """Drop the comma before a closing bracket and tables without rows, so a template may write either.

    A string cannot be hit: a newline inside a JSON string is written as an escape.
    """
    if "{\n    },\n" in text:
        text = _EMPTY_TABLE_PATTERN.sub("", text)
    for indent in ("", "    ", "        ", "            "):
        text = text.replace(f",\n{indent}}}", f"\n{indent}}}")
    return text
