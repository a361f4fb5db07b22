"""From the text of an intent to its schema; every fault names file, line, column, the found and the expected text."""

import difflib
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from nodrop import platforms
from nodrop.errors import InputProblems, Problem
from nodrop.intent.direct import DirectNetworkIntent, find_reasons_not_to_build, is_dragonfly_or_torus_intent
from nodrop.intent.part import SchemaMapping
from nodrop.intent.schema import Intent, WrittenIntent
from nodrop.intent.sheet_file import YAML_ENDINGS, CableSheetFile, OpenSheetFile
from nodrop.intent.topology import CableList, Cables, CableSheetFileName, CableSheetTopology
from nodrop.limits import MAX_DETAILED_SCHEMA_CHECKS, MAX_REMARKS_PER_SWITCH, MAX_TEXT_BYTES
from nodrop.syntax.places import sanitize_for_message
from nodrop.syntax.yaml import DocumentWithPlaces, parse_yaml
from nodrop.units import MalformedText

MAX_INTENT_BYTES = MAX_TEXT_BYTES

UNSUPPORTED_VALUES_BY_KEY: Mapping[str, Sequence[str]] = {
    "platform": tuple(name for name in platforms.platform_names() if name not in platforms.writable_platforms()),
    "protocol": ("ebgp-unnumbered",),
    "balancing": ("dlb",),
}
"""Values of the design that this release refuses by name."""

_EXPECTED_BY_PYDANTIC_ERROR = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "too_short": "at least one entry",
    "tuple_type": "a list",
}
"""What pydantic's other kinds of error ask for, in plain words."""

_Model = TypeVar("_Model", bound=BaseModel)
_ProblemTexts = tuple[str, str, str]
"""Found, expected, hint."""


def load(path: Path, display: str | None = None) -> Intent:
    """Read the intent at `path`; InputProblems holds every fault of its text and schema."""
    from nodrop.inputs import DiskWithHeldTexts

    text = DiskWithHeldTexts().intent(path, display)
    return loads(text.read_bytes(MAX_INTENT_BYTES), text.display, text.open_named_file)


def loads(file_content: bytes, path: str, open_file: OpenSheetFile | None = None) -> Intent:
    """Read an intent from its text; `path` is how problems name it. One of a dragonfly or torus is only refused.

    `open_file` opens the file that it names; without it, an intent that names one cannot be built.
    """
    document = parse_yaml(file_content, path)
    if is_dragonfly_or_torus_intent(document.data):
        direct = validate_document(document, DirectNetworkIntent)
        direct.attach_source_document(document)
        _attach_sheet(direct, direct.topology.cables, open_file)
        raise InputProblems(find_reasons_not_to_build(direct))
    intent = validate_document(document, Intent)
    intent.attach_source_document(document)
    if isinstance(intent.topology, CableSheetTopology):
        _attach_sheet(intent, intent.topology.cables, open_file)
    return intent


def _attach_sheet(intent: WrittenIntent, cables: Cables | None, open_file: OpenSheetFile | None) -> None:
    """Read the sheet of an intent that names a file; a file that cannot be opened is a problem at its key."""
    if not isinstance(cables, CableSheetFileName) or open_file is None:
        return
    try:
        path, content = open_file(cables.file)
    except InputProblems as error:
        name, keys = sanitize_for_message(cables.file), ("topology", "cables", "file")
        raise InputProblems(
            intent.problem(
                keys,
                problem.found if problem.found.startswith(name) else f"{name}: {problem.found}",
                problem.expected,
                problem.hint,
            )
            for problem in error.problems
        ) from None
    if path.lower().endswith(YAML_ENDINGS):
        intent.attach_sheet(
            CableSheetFile.of_yaml(path, content, lambda document: validate_document(document, CableList).cables)
        )
    else:
        intent.attach_sheet(CableSheetFile.of_csv(path, content))


def validate_document(document: DocumentWithPlaces, schema: type[_Model]) -> _Model:
    """Return the content of a document by a schema; an empty document is empty content, where no key is required."""
    required = any(field.is_required() for field in schema.model_fields.values())
    try:
        return schema.model_validate({} if document.data is None and not required else document.data)
    except ValidationError as error:
        raise InputProblems(problems_of_validation_error(document, error, schema)) from None


def problems_of_validation_error(
    document: DocumentWithPlaces, error: ValidationError, schema: type[BaseModel]
) -> Iterator[Problem]:
    """Yield the first `MAX_REMARKS` faults that pydantic found, in plain words and with places; then how many more."""
    count = error.error_count()
    details = (
        error.errors(include_url=False)
        if count <= MAX_DETAILED_SCHEMA_CHECKS
        else _first_validation_errors(document.data, schema)
    )
    kept = _drop_key_faults_where_kind_is_wrong(details)
    details, count = kept, count - len(details) + len(kept)
    listed = details[:MAX_REMARKS_PER_SWITCH]
    yield from (_problem_from_detail(document, detail, schema) for detail in listed)
    if count > len(listed):
        fault_text = f"{count - len(listed):,} {'more ' if listed else ''}faults"
        yield Problem(path=document.path, found=fault_text, hint="correct the listed ones first" if listed else "")


def _drop_key_faults_where_kind_is_wrong(details: Sequence[Any]) -> list[Any]:
    """Return faults without unknown and missing keys of mappings whose kind, which decides their keys, is wrong."""
    wrong = [detail["loc"] for detail in details if detail["type"] in ("missing", "literal_error")]
    unclear = {loc[:-1] for loc in wrong if loc[-1:] == ("kind",)}
    return [
        detail
        for detail in details
        if detail["type"] not in ("missing", "extra_forbidden")
        or detail["loc"][-1:] == ("kind",)
        or detail["loc"][:-1] not in unclear
    ]


def _first_validation_errors(data: object, schema: type[BaseModel]) -> list[Any]:
    """Return the faults of the first values of a document, where the details of all would take too much memory."""
    try:
        schema.model_validate(_truncate_data(data, iter(range(MAX_DETAILED_SCHEMA_CHECKS))))
    except ValidationError as error:
        return [row for row in error.errors(include_url=False) if row["type"] != "missing"]  # it may have been cut off
    return []


def _truncate_data(data: object, budget: Iterator[int]) -> Any:
    """Return the first values of a document in their order, as many as `budget` yields."""
    if isinstance(data, dict):
        return {key: _truncate_data(value, budget) for key, value in data.items() if next(budget, None) is not None}
    if isinstance(data, list):
        return [_truncate_data(value, budget) for value in data if next(budget, None) is not None]
    return data


def _problem_from_detail(document: DocumentWithPlaces, detail: Any, schema: type[BaseModel]) -> Problem:
    keys = _keys_of_location(document.data, detail["loc"])
    of_key = detail["type"] == "extra_forbidden" or detail["loc"][-1:] == ("[key]",)
    return document.problem(keys, *_problem_texts_of(detail, schema), of="key" if of_key else "value")


def _keys_of_location(data: Any, loc: Sequence[Any]) -> list[Any]:
    """Return the steps of a pydantic location that the document has; tags of unions and missing keys drop out."""
    keys: list[Any] = []
    for step in loc:
        if (isinstance(data, dict) and step in data) or (
            isinstance(data, list) and isinstance(step, int) and step < len(data)
        ):
            keys.append(step)
            data = data[step]
    return keys


def _problem_texts_of(detail: Any, schema: type[BaseModel]) -> _ProblemTexts:
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    last = sanitize_for_message(str(detail["loc"][-1])) if detail["loc"] else ""
    if kind == "missing":
        return _describe_missing_key(last, _model_at(schema, detail["loc"][:-1]))
    if kind == "extra_forbidden":
        return _describe_unknown_key(last, _model_at(schema, detail["loc"][:-1]))
    if kind == "literal_error":
        kinds = _discriminator_words_at(schema, detail["loc"][:-2]) if last == "kind" else ()
        return _describe_wrong_value(
            last, _describe_value_for_message(value), _join_words_with_or(kinds) or context["expected"].replace("'", "")
        )
    if kind == "value_error" and isinstance(context["error"], MalformedText):
        wrong = context["error"]
        return sanitize_for_message(wrong.found) or _describe_value_for_message(value), wrong.expected, wrong.hint
    expected = _EXPECTED_BY_PYDANTIC_ERROR.get(kind) or detail["msg"].removeprefix("Value error, ").removeprefix(
        "expected "
    )
    return _describe_value_for_message(value), expected, _format_known_keys(_model_at(schema, detail["loc"]))


def _join_words_with_or(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _describe_missing_key(key: str, model: type[BaseModel] | None) -> _ProblemTexts:
    field = model.model_fields[key] if model else None
    inner = _model_at(model, [key]) if model else None
    return f"{key} is missing", "", (field and field.description) or _format_known_keys(inner)


def _describe_unknown_key(key: str, model: type[BaseModel] | None) -> _ProblemTexts:
    if model and issubclass(model, SchemaMapping) and key in model.KEYS_ELSEWHERE:
        return f"unknown key {key}", "", f"use {model.KEYS_ELSEWHERE[key]}"
    return f"unknown key {key}", "", _suggest_nearest_word(key, list(model.model_fields) if model else [], "known keys")


def _describe_wrong_value(key: str, actual_word: str, expected: str) -> _ProblemTexts:
    if actual_word in UNSUPPORTED_VALUES_BY_KEY.get(key, ()):
        return f"{actual_word} is not built by this release", expected, ""
    words = expected.replace(" or ", ", ").split(", ")
    return actual_word, expected, _suggest_nearest_word(actual_word, words, "") if words[1:] else ""


def _suggest_nearest_word(word: str, known_words: Sequence[str], all_of_them: str) -> str:
    """Return a hint naming the nearest known word, else all of them where they have a name."""
    alike = [candidate for candidate in known_words if candidate.casefold() == word.casefold()]
    close = alike or difflib.get_close_matches(word, known_words, n=1)
    if close:
        return f"did you mean {close[0]}?"
    return f"{all_of_them}: {', '.join(known_words)}" if all_of_them and known_words else ""


def _model_at(schema: type[BaseModel], loc: Sequence[object]) -> type[BaseModel] | None:
    """Return the model of the mapping at a location, None where the schema has something else there."""
    annotation: object = schema
    for step in loc:
        annotation = _annotation_of_step(annotation, step)
    return next((member_type for member_type in _union_members(annotation) if _is_model(member_type)), None)


def _annotation_of_step(annotation: object, step: object) -> Any:
    """Return the type of the value at a key; the tag of a union leads nowhere."""
    for member_type in _union_members(annotation):
        if get_origin(member_type) is dict:
            return get_args(member_type)[1]
        if get_origin(member_type) is tuple and isinstance(step, int):
            return get_args(member_type)[0]
        if _is_model(member_type) and _has_discriminator_word(member_type, step):
            return member_type
        if _is_model(member_type) and step in member_type.model_fields:
            return member_type.model_fields[step].annotation
    return annotation


def _has_discriminator_word(model: type[BaseModel], word: object) -> bool:
    """Whether a model is that of a discriminator word of a union."""
    return "kind" in model.model_fields and word in get_args(model.model_fields["kind"].annotation)


def _discriminator_words_at(schema: type[BaseModel], loc: Sequence[object]) -> list[str]:
    """Return the discriminator words of a union at a location."""
    annotation: object = schema
    for step in loc:
        annotation = _annotation_of_step(annotation, step)
    models = [member_type for member_type in _union_members(annotation) if _is_model(member_type)]
    return [word for model in models for word in get_args(model.model_fields["kind"].annotation)]


def _union_members(annotation: object) -> Iterator[Any]:
    """Yield a type, or the types of a union, without their `Annotated` metadata."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _union_members(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for member_type in get_args(annotation):
            yield from _union_members(member_type)
    else:
        yield annotation


def _is_model(member_type: object) -> bool:
    return isinstance(member_type, type) and issubclass(member_type, BaseModel)


def _format_known_keys(model: type[BaseModel] | None) -> str:
    return f"keys: {', '.join(model.model_fields)}" if model else ""


def _describe_value_for_message(value: object) -> str:
    """Return a value of a document as a message may hold it."""
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "nothing" if value is None else sanitize_for_message(str(value))
