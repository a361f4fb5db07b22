"""Parts of the reports' JSON Schemas: every key is always present, and no other."""

from typing import Any

from nodrop.engine.finding import SEVERITIES

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
VALUE: Schema = {"description": 'A value of the model; null is known to be absent, {"unknown": true} is not known.'}
POSITION: Schema = {"type": ["integer", "null"], "minimum": 1}


def finding() -> Schema:
    """Return the schema of a finding (contract 9.13)."""
    return object_of(
        rule=TEXT,
        severity={"enum": list(SEVERITIES)},
        confidence={"enum": ["certain", "likely", "possible"]},
        message=TEXT,
        subject=described_text("The part of the fabric that is at fault: identity, suppression and baseline go by it."),
        at=described_text("The part that the place belongs to, or the nearest part around it that has a place."),
        device=TEXT_OR_NULL,
        file=TEXT_OR_NULL,
        line=POSITION,
        column=POSITION,
        end_line=POSITION,
        end_column=POSITION,
        facts={"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}},
        related=list_of(object_of(subject=TEXT, message=TEXT, file=TEXT_OR_NULL, line=POSITION, column=POSITION)),
        fix=or_null(
            object_of(safe=FLAG, text=TEXT, changes=list_of(_change_schema()), commands=list_of(_commands_schema()))
        ),
        group=described_text("Equal for findings with the same cause."),
        fingerprint=described_text("Equal for the same fault in another run, whatever its line, file or figures."),
        suppressed=or_null(
            object_of(
                reason=TEXT,
                until=or_null({"type": "string", "format": "date"}),
                by=described_text("Where it is written: file and line."),
            )
        ),
        baselined={"type": "boolean", "description": "Whether the baseline has it, with the same facts."},
    )


def _change_schema() -> Schema:
    return object_of(subject=TEXT, old=VALUE, new=VALUE)


def _commands_schema() -> Schema:
    return object_of(
        device=TEXT,
        language=described_text("What takes the lines: a platform, `frr` (vtysh) or `hosts`."),
        lines=list_of(TEXT),
    )


def note() -> Schema:
    """Return the schema of a note."""
    return object_of(kind=TEXT, message=TEXT, device=TEXT_OR_NULL, file=TEXT_OR_NULL, line=POSITION)


def problem() -> Schema:
    """Return the schema of a problem with the input."""
    return object_of(file=TEXT, line=POSITION, column=POSITION, path=TEXT_OR_NULL, message=TEXT, hint=TEXT_OR_NULL)


def object_of(**properties: Schema) -> Schema:
    """Return the schema of an object with these keys, all of them, and no other."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def list_of(items: Schema) -> Schema:
    """Return the schema of an array."""
    return {"type": "array", "items": items}


def or_null(schema: Schema) -> Schema:
    """Return a schema that takes null too."""
    return {"anyOf": [schema, {"type": "null"}]}


def described_text(description: str) -> Schema:
    """Return the schema of a text that has a description."""
    return {"type": "string", "description": description}


def report(title: str, **properties: Schema) -> Schema:
    """Return the schema of a whole report with these keys."""
    return {
        "title": title,
        "description": "Lines and columns count from 1, columns in code points; ends are exclusive; null is no place.",
        **object_of(**properties),
    }
