"""Parts of the reports' JSON Schemas: every key is always present, and no other."""

from nodrop.engine.finding import SEVERITIES

JsonSchema = dict[str, object]

TEXT_SCHEMA: JsonSchema = {"type": "string"}
TEXT_LIST_SCHEMA: JsonSchema = {"type": "array", "items": TEXT_SCHEMA}
NULLABLE_TEXT_SCHEMA: JsonSchema = {"type": ["string", "null"]}
FLAG_SCHEMA: JsonSchema = {"type": "boolean"}
COUNT_SCHEMA: JsonSchema = {"type": "integer", "minimum": 0}
MODEL_VALUE_SCHEMA: JsonSchema = {
    "description": 'A value of the model; null: known to be absent; {"unknown": true}: not known.'
}
LINE_OR_COLUMN_SCHEMA: JsonSchema = {"type": ["integer", "null"], "minimum": 1}


def finding_schema() -> JsonSchema:
    """Return the schema of a finding (contract 9.13)."""
    return object_schema(
        rule=TEXT_SCHEMA,
        severity={"enum": list(SEVERITIES)},
        confidence={"enum": ["certain", "likely", "possible"]},
        message=TEXT_SCHEMA,
        subject=described_text_schema("The faulty part of the fabric; suppressions and the baseline match it."),
        at=described_text_schema("The part at the place, or the nearest part around it that has a place."),
        device=NULLABLE_TEXT_SCHEMA,
        file=NULLABLE_TEXT_SCHEMA,
        line=LINE_OR_COLUMN_SCHEMA,
        column=LINE_OR_COLUMN_SCHEMA,
        end_line=LINE_OR_COLUMN_SCHEMA,
        end_column=LINE_OR_COLUMN_SCHEMA,
        facts={"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}},
        related=list_schema(
            object_schema(
                subject=TEXT_SCHEMA,
                message=TEXT_SCHEMA,
                file=NULLABLE_TEXT_SCHEMA,
                line=LINE_OR_COLUMN_SCHEMA,
                column=LINE_OR_COLUMN_SCHEMA,
            )
        ),
        fix=nullable_schema(
            object_schema(
                safe=FLAG_SCHEMA,
                text=TEXT_SCHEMA,
                changes=list_schema(_change_schema()),
                commands=list_schema(_commands_schema()),
            )
        ),
        group=described_text_schema("Equal for findings with the same cause."),
        explained_by={
            **NULLABLE_TEXT_SCHEMA,
            "description": "The group of the findings whose correction ends this one too; null if there is none.",
        },
        fingerprint=described_text_schema(
            "Equal for the same fault in other runs: independent of file, line and numbers."
        ),
        suppressed=nullable_schema(
            object_schema(
                reason=TEXT_SCHEMA,
                until=nullable_schema({"type": "string", "format": "date"}),
                location=described_text_schema("File and line of the suppression."),
            )
        ),
        baselined={"type": "boolean", "description": "Whether the baseline has the finding with the same facts."},
    )


def _change_schema() -> JsonSchema:
    return object_schema(subject=TEXT_SCHEMA, old=MODEL_VALUE_SCHEMA, new=MODEL_VALUE_SCHEMA)


def _commands_schema() -> JsonSchema:
    always = {
        "device": TEXT_SCHEMA,
        "language": described_text_schema("Where to type the lines: a platform, `frr` (vtysh) or `hosts`."),
        "lines": list_schema(TEXT_SCHEMA),
        "impact": described_text_schema("What the lines disturb on a running switch; empty if nothing is known."),
        "ports": list_schema(TEXT_SCHEMA)
        | {"description": "The ports that change, if the lines do not name them all."},
    }
    condition = described_text_schema("The case that the lines are for, if they do not always end the finding.")
    at_times = {
        "condition": condition,
        "notes": list_schema(TEXT_SCHEMA) | {"description": "What the lines do not show, as keys that they split."},
        "outdated_files": list_schema(TEXT_SCHEMA)
        | {"description": "Files that lead to the same state, and are out of date afterwards."},
    }
    return object_schema(**always, **at_times) | {"required": list(always)}


def note_schema() -> JsonSchema:
    """Return the schema of a note."""
    return object_schema(
        kind=TEXT_SCHEMA,
        message=TEXT_SCHEMA,
        device=NULLABLE_TEXT_SCHEMA,
        file=NULLABLE_TEXT_SCHEMA,
        line=LINE_OR_COLUMN_SCHEMA,
    )


def problem_schema() -> JsonSchema:
    """Return the schema of a problem with the input."""
    return object_schema(
        file=TEXT_SCHEMA,
        line=LINE_OR_COLUMN_SCHEMA,
        column=LINE_OR_COLUMN_SCHEMA,
        path=NULLABLE_TEXT_SCHEMA,
        message=TEXT_SCHEMA,
        hint=NULLABLE_TEXT_SCHEMA,
    )


def object_schema(**properties: JsonSchema) -> JsonSchema:
    """Return the schema of an object with these keys, all of them, and no other."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def list_schema(items: JsonSchema) -> JsonSchema:
    """Return the schema of an array."""
    return {"type": "array", "items": items}


def nullable_schema(schema: JsonSchema) -> JsonSchema:
    """Return a schema that takes null too."""
    return {"anyOf": [schema, {"type": "null"}]}


def described_text_schema(description: str) -> JsonSchema:
    """Return the schema of a text that has a description."""
    return {"type": "string", "description": description}


def report_schema(title: str, **properties: JsonSchema) -> JsonSchema:
    """Return the schema of a whole report with these keys."""
    return {
        "title": title,
        "description": "Lines and columns count from 1, columns in code points; ends are exclusive; null is no place.",
        **object_schema(**properties),
    }
