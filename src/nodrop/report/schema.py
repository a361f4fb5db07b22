"""The JSON Schema of the JSON report, for those who read it: every key is always there, and no other."""

from typing import Any

from nodrop.lint.finding import SEVERITIES
from nodrop.report.json import VERSION
from nodrop.routing.observation import CHECKS

_Schema = dict[str, Any]

_TEXT: _Schema = {"type": "string"}
_TEXT_OR_NULL: _Schema = {"type": ["string", "null"]}
_FLAG: _Schema = {"type": "boolean"}
_COUNT: _Schema = {"type": "integer", "minimum": 0}
_POSITION: _Schema = {"type": ["integer", "null"], "minimum": 1}
_COUNTED = ("devices", "interfaces", "rules", *SEVERITIES, "unknown", "suppressed", "baseline")


def findings_schema() -> dict[str, Any]:
    """A new copy of the schema, draft 2020-12."""
    document = _object(
        version={"const": VERSION},
        findings=_list(_finding()),
        unknown=_list(_unknown()),
        notes=_list(_note()),
        problems=_list(_problem()),
        assumed=_list(_object(fact=_TEXT, value=_TEXT, because=_TEXT)),
        validations=_or_null(_list(_validation())),
        statistics=_or_null(_list(_statistic())),
        summary=_object(**dict.fromkeys(_COUNTED, _COUNT)),
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What nodrop found",
        "description": "Lines and columns count from 1, columns in code points; ends are exclusive; null is no place.",
        **document,
    }


def _validation() -> _Schema:
    seen = dict.fromkeys(("sound", "seen", "unseen", "differs"), _COUNT)
    column = _object(validator=_TEXT, **seen, because=_list(_TEXT))
    row = _object(check={"enum": list(CHECKS)}, items=_COUNT, columns=_list(column))
    return _object(name=_TEXT, rows=_list(row), told=_list(_TEXT))


def _finding() -> _Schema:
    return _object(
        rule=_TEXT,
        severity={"enum": list(SEVERITIES)},
        confidence={"enum": ["certain", "likely", "possible"]},
        message=_TEXT,
        subject=_said("The part of the fabric that is at fault: identity, suppression and baseline go by it."),
        at=_said("The part that the place belongs to, or the nearest part around it that has a place."),
        device=_TEXT_OR_NULL,
        file=_TEXT_OR_NULL,
        line=_POSITION,
        column=_POSITION,
        end_line=_POSITION,
        end_column=_POSITION,
        facts={"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}},
        related=_list(_object(subject=_TEXT, message=_TEXT, file=_TEXT_OR_NULL, line=_POSITION, column=_POSITION)),
        fix=_or_null(_object(safe=_FLAG, text=_TEXT, changes=_list(_change()))),
        group=_said("Equal for findings with the same cause."),
        fingerprint=_said("Equal for the same fault in another run, whatever its line, file or figures."),
        suppressed=_or_null(
            _object(
                reason=_TEXT,
                until=_or_null({"type": "string", "format": "date"}),
                by=_said("Where it is written: file and line."),
            )
        ),
        baselined={"type": "boolean", "description": "Whether the baseline has it, with the same facts."},
    )


def _change() -> _Schema:
    value = {"description": 'A value of the model; null is known to be absent, {"unknown": true} is not known.'}
    return _object(subject=_TEXT, old=value, new=value)


def _unknown() -> _Schema:
    return _object(rule=_TEXT, missing=_TEXT, subjects_count=_COUNT, devices=_list(_TEXT), settled_by=_TEXT)


def _statistic() -> _Schema:
    return _object(rule=_TEXT, findings=_COUNT, evaluations=_COUNT, seconds={"type": "number", "minimum": 0})


def _note() -> _Schema:
    return _object(kind=_TEXT, message=_TEXT, device=_TEXT_OR_NULL, file=_TEXT_OR_NULL, line=_POSITION)


def _problem() -> _Schema:
    return _object(file=_TEXT, line=_POSITION, column=_POSITION, path=_TEXT_OR_NULL, message=_TEXT, hint=_TEXT_OR_NULL)


def _object(**properties: _Schema) -> _Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: _Schema) -> _Schema:
    return {"type": "array", "items": items}


def _or_null(schema: _Schema) -> _Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _said(description: str) -> _Schema:
    return {"type": "string", "description": description}
