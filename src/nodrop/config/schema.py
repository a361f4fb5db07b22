"""The schema of nodrop.yaml, and of [tool.nodrop] in a pyproject.toml; every key may be left out."""

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from nodrop.context import FabricFile
from nodrop.engine.rule import Strictness
from nodrop.intent.types import Text, scalar_of_words
from nodrop.limits import MAX_DECLARED_LINE_CHARACTERS
from nodrop.units import MalformedText

FailOn = Literal["error", "warning", "note", "unknown", "never"]
_DATE_PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _parse_date(value: object) -> object:
    """Return a day; TOML has a type for it."""
    if isinstance(value, date):
        return value
    try:
        if isinstance(value, str) and _DATE_PATTERN.fullmatch(value):
            return date.fromisoformat(value)
    except ValueError:
        pass
    raise MalformedText("a day, such as 2027-06-30", "")


Day = Annotated[
    date,
    BeforeValidator(_parse_date),
    WithJsonSchema({"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}),
]


def _normalize_line_pattern(value: Any) -> object:
    """Return the words of a pattern, one blank between two; MalformedText where it is none."""
    words = value.split() if isinstance(value, str) else []
    if (
        not words
        or len(value) > MAX_DECLARED_LINE_CHARACTERS
        or any(mark in words[0] for mark in "*?")
        or "**" in words[:-1]
    ):
        expected = (
            f"words in at most {MAX_DECLARED_LINE_CHARACTERS} characters, the first without `*`, `**` only as the last"
        )
        raise MalformedText(expected, "")
    return " ".join(words)


LinePattern = Annotated[
    Text,
    BeforeValidator(_normalize_line_pattern),
    WithJsonSchema(
        {
            "type": "string",
            "maxLength": MAX_DECLARED_LINE_CHARACTERS,
            "pattern": "^ *[^\\x00-\\x20*?\\x7f]+( [^\\x00-\\x1f\\x7f]*)?$",
        }
    ),
]


MAX_RULE_PAGES_URL_CHARACTERS = 500
_RULE_PAGES_URL_REGEX = (
    r"https?://[A-Za-z0-9._~:\[\]-]+/[A-Za-z0-9._~:/?#@!$&+,;=%-]*\{rule\}[A-Za-z0-9._~:/?#@!$&+,;=%-]*"
)


def _require_rule_page_url(value: object) -> object:
    """Return the address of rule pages; MalformedText where it is none, or could end the link around it."""
    if (
        isinstance(value, str)
        and len(value) <= MAX_RULE_PAGES_URL_CHARACTERS
        and re.fullmatch(_RULE_PAGES_URL_REGEX, value, re.ASCII)
    ):
        return value
    raise MalformedText("an address with `{rule}` where the name goes: https://docs.example.net/rules/{rule}.html", "")


RulePagesUrl = Annotated[
    str,
    BeforeValidator(_require_rule_page_url),
    WithJsonSchema(
        {"type": "string", "maxLength": MAX_RULE_PAGES_URL_CHARACTERS, "pattern": f"^{_RULE_PAGES_URL_REGEX}$"}
    ),
]


class SchemaMapping(BaseModel):
    """A mapping of the file: closed, and frozen once read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SuppressedFindings(SchemaMapping):
    """Accepted findings."""

    rule: Text = Field(description="name of the rule")
    at: Text = Field(description="subjects, with `*` inside a part and `**` for all that follows: leaf*/Ethernet0/**")
    reason: Text = Field(description="why the finding may stay, for later readers")
    until: Day | None = Field(None, description="last day on which it holds: 2027-06-30; default: no end")


class HarmlessUnknownLine(SchemaMapping):
    """Lines that nodrop does not know, and that the site knows to change nothing in its checks."""

    line: LinePattern = Field(
        description="words of the line, the first without `*`; `*`: anything in a word, a last `**`: all that follows"
    )
    at: Text = Field("*", description="names of switches, with `*`: leaf*; default: every one")
    reason: Text = Field(description="why the line is harmless, for who meets it later")
    until: Day | None = Field(None, description="last day on which it holds: 2027-06-30; default: no end")


class ConfigFile(SchemaMapping):
    """How nodrop judges the configurations below the folder that this file lies in."""

    version: Annotated[str, scalar_of_words("1")] = Field("1", description="version of this file's format")
    rules: tuple[Text, ...] = Field((), description="folders of rules of your own, beside this file")
    strictness: Strictness | None = Field(None, description="regular, pedantic or auditor")
    fail_on: FailOn | None = Field(None, description="severity from which on the exit code is 1")
    severity: dict[Text, Literal["error", "warning", "note", "off"]] = Field(
        {}, description="by rule: the severity that it has here; off: it is not run"
    )
    options: dict[Text, dict[Text, Any]] = Field({}, description="by rule: its options, as `nodrop explain` lists them")
    profile: Text | None = Field(None, description="bands for thresholds, timers and shares: a vendor's, or a file")
    fabric: FabricFile = Field(
        FabricFile(), description="what no switch file can say; a fabric.yaml says it with more weight"
    )
    suppress: tuple[SuppressedFindings, ...] = Field((), description="findings that may stay, with the reason")
    harmless: tuple[HarmlessUnknownLine, ...] = Field(
        (), description="lines unknown to nodrop that change nothing it checks"
    )
    baseline: Text | None = Field(None, description="file of findings that were there before, beside this file")
    exclude: tuple[Text, ...] = Field(
        (), description="files and folders that are not looked into: a name, or a path from this file's folder"
    )
    rule_pages: RulePagesUrl | None = Field(
        None, description="address of the rule pages that findings link to, with `{rule}` for the name"
    )
