"""What switches and hosts are named: templates over the parts of their identity, and exceptions."""

import difflib
import re
from typing import Annotated, Literal, NamedTuple

from pydantic import Discriminator, Field, Tag

from nodrop.intent.part import SchemaMapping
from nodrop.intent.types import Name, ScalarAnnotation
from nodrop.units import MalformedText

FieldName = Literal["site", "pod", "plane", "role", "group", "id", "rack"]
TEMPLATE_FIELDS: tuple[FieldName, ...] = ("site", "pod", "plane", "role", "group", "id", "rack")
"""The parts of an identity that a template may hold."""
NUMERIC_FIELDS: tuple[FieldName, ...] = ("pod", "plane", "id", "rack")
"""Those that may be filled up with zeros; a rack only where it is a number."""

_MOST_TEMPLATE_CHARACTERS = 200
_TEMPLATE_PIECE_PATTERN = re.compile(r"\{([^{}]*)\}|([^{}]+)")
_LITERAL_PATTERN = r"[A-Za-z0-9._-]+"
_ZERO_PADDING_PATTERN = r"0[1-9]"
_TEMPLATE_SYNTAX_TEXT = "letters, digits, dots, dashes, underscores and fields in braces, such as {role}{id:02}"


class TemplateField(NamedTuple):
    """A field of a template, and the digits that its number has at least; 0 takes it as it is."""

    field: FieldName
    width: int


NameTemplate = tuple[str | TemplateField, ...]
"""Texts and fields in turn."""


def read_template(template: object) -> NameTemplate:
    """Read `r{rack}-{role}{id:02}`; a field is a word of `TEMPLATE_FIELDS`, so a template runs nothing."""
    if not isinstance(template, str) or not template or len(template) > _MOST_TEMPLATE_CHARACTERS:
        raise MalformedText(f"a template of 1 to {_MOST_TEMPLATE_CHARACTERS} characters, such as {{role}}{{id:02}}")
    pieces: list[str | TemplateField] = []
    at = 0
    for match in _TEMPLATE_PIECE_PATTERN.finditer(template):
        if match.start() != at:
            break
        field, literal = match.groups()
        if literal is not None and not re.fullmatch(_LITERAL_PATTERN, literal):
            raise MalformedText(_TEMPLATE_SYNTAX_TEXT, template)
        pieces.append(_parse_template_field(field) if literal is None else literal)
        at = match.end()
    if at != len(template):
        raise MalformedText(_TEMPLATE_SYNTAX_TEXT, f"{template}, with a single brace")
    return tuple(pieces)


def _parse_template_field(words: str) -> TemplateField:
    name, colon, width = words.partition(":")
    field = next((field for field in TEMPLATE_FIELDS if field == name), None)
    if field is None:
        close = difflib.get_close_matches(name, TEMPLATE_FIELDS, n=1)
        raise MalformedText(
            f"a field: {', '.join(TEMPLATE_FIELDS)}", f"{{{words}}}", f"did you mean {{{close[0]}}}?" if close else ""
        )
    if not colon:
        return TemplateField(field, 0)
    if field not in NUMERIC_FIELDS:
        raise MalformedText(f"{{{field}}}", f"{{{words}}}", f"only numbers have a width: {', '.join(NUMERIC_FIELDS)}")
    if not re.fullmatch(_ZERO_PADDING_PATTERN, width):
        raise MalformedText(f"a zero and the number of digits, 1 to 9, such as {{{field}:02}}", f"{{{words}}}")
    return TemplateField(field, int(width))


def format_template(template: NameTemplate) -> str:
    """Return the text that `read_template` reads."""
    return "".join(
        piece
        if isinstance(piece, str)
        else f"{{{piece.field}:0{piece.width}}}"
        if piece.width
        else f"{{{piece.field}}}"
        for piece in template
    )


Template = Annotated[
    NameTemplate,
    ScalarAnnotation(
        read_template,
        {
            "type": "string",
            "maxLength": _MOST_TEMPLATE_CHARACTERS,
            "pattern": rf"^([A-Za-z0-9._-]|\{{({'|'.join(TEMPLATE_FIELDS)})\}}"
            rf"|\{{({'|'.join(NUMERIC_FIELDS)}):{_ZERO_PADDING_PATTERN}\}})+$",
        },
    ),
]


def _template_form_tag(value: object) -> str | None:
    return "mapping" if isinstance(value, dict) else "text" if isinstance(value, str | tuple) else None


Templates = Annotated[
    Annotated[Template, Tag("text")] | Annotated[dict[Name, Template], Tag("mapping")],
    Discriminator(
        _template_form_tag,
        custom_error_type="neither",
        custom_error_message="expected a template, or a mapping of templates",
    ),
]


def _validate_rack_name(value: object) -> str:
    if (
        not isinstance(value, str)
        or not re.fullmatch(_LITERAL_PATTERN, value)
        or len(value) > _MOST_TEMPLATE_CHARACTERS
    ):
        raise MalformedText("a rack of letters, digits, dots, dashes and underscores")
    return value


Rack = Annotated[
    str, ScalarAnnotation(_validate_rack_name, {"type": ["integer", "string"], "pattern": rf"^{_LITERAL_PATTERN}$"})
]


class SwitchAndHostNames(SchemaMapping):
    """What switches and hosts are named. Names decide nothing else: a rename changes names only."""

    template: Templates | None = Field(
        None,
        description="how switches are named, or this by role: texts with the fields site, pod, plane, role, group, id "
        "and rack in braces; {id:02} has leading zeros; default: {role}{id} for leaves and spines, {group}{id} "
        "for tiers",
    )
    hosts: Templates | None = Field(
        None, description="how hosts are named, or this by group of endpoints; default: {group}{id}"
    )
    site: Name | None = Field(None, description="the field site; default: the name of the fabric")
    racks: dict[Name, Rack] = Field(
        default_factory=dict, description="the field rack by identity, such as leaf1: r12; needed where it is used"
    )
    devices: dict[Name, Name] = Field(
        default_factory=dict, description="names of single switches and hosts by identity, such as leaf1: r12-tor1"
    )
