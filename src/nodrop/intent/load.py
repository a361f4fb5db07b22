"""From the text of an intent to its schema; every fault names file, line, column, what was found and expected."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from nodrop.errors import InputProblems, Problem
from nodrop.formats.places import read_limited
from nodrop.formats.yaml import Document, parse
from nodrop.intent.schema import Intent

MAX_BYTES = 8_000_000

LATER: Mapping[str, str] = {
    "extra": "raw tables and lines of one's own",
    "devices": "settings per device, such as drained",
    "telemetry": "telemetry exporters",
    "bfd": "BFD; SONiC starts its daemon only under the management framework",
    "out_of_order": "out-of-order NICs",
}
"""Keys of the design that this release refuses by name, and what they are."""

LATER_VALUES: Mapping[str, Sequence[str]] = {
    "mode": ("pfc-only", "lossy", "trim"),
    "kind": ("three-tier", "dragonfly", "torus", "cabling"),
    "platform": ("nvue", "cumulus", "onyx"),
    "spread": ("rails",),
    "protocol": ("ebgp-unnumbered",),
    "balancing": ("adaptive", "dlb"),
}
"""Values of the design that this release refuses by name."""


def load(path: Path, display: str | None = None) -> Intent:
    """Read the intent at `path`; InputProblems holds every fault of its text and schema."""
    shown = display or str(path)
    return loads(read_limited(path, shown, MAX_BYTES), shown)


def loads(raw: bytes, path: str) -> Intent:
    """Read an intent from its text; `path` is how problems name it."""
    document = parse(raw, path)
    if not isinstance(document.data, dict):
        raise InputProblems([Problem(path=path, line=1, column=1, found="no mapping", expected="an intent")])
    try:
        intent = Intent.model_validate(document.data)
    except ValidationError as error:
        raise InputProblems(problems_of(document, error, Intent)) from None
    intent.attach(document)
    return intent


def problems_of(document: Document, error: ValidationError, schema: type[BaseModel]) -> Iterator[Problem]:
    """Yield what pydantic found wrong with a document, in plain words and with places."""
    return (_problem(document, detail, schema) for detail in error.errors())


def _problem(document: Document, detail: Any, schema: type[BaseModel]) -> Problem:
    loc = _keys(document.data, detail["loc"])
    last = str(detail["loc"][-1]) if detail["loc"] else ""
    kind = detail["type"]
    of = "key" if kind == "extra_forbidden" else "value"
    line, column = document.place(loc, of=of)
    found, expected, hint = _words(kind, last, detail, _siblings(detail["loc"], schema))
    return Problem(
        path=document.path,
        line=line,
        column=column,
        where=".".join(str(key) for key in loc),
        found=found,
        expected=expected,
        hint=hint,
    )


def _keys(data: Any, loc: Sequence[Any]) -> list[Any]:
    """Return the steps of a pydantic location that the document has, and a missing last key; union tags drop out."""
    keys: list[Any] = []
    for step in loc:
        if (isinstance(data, dict) and step in data) or (
            isinstance(data, list) and isinstance(step, int) and step < len(data)
        ):
            keys.append(step)
            data = data[step]
    return keys


def _siblings(loc: Sequence[Any], schema: type[BaseModel]) -> list[str]:
    """Return the keys that the schema knows beside the last step of a location."""
    model: Any = schema
    for step in loc[:-1]:
        model = _inner(model, step)
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _inner(model: Any, step: Any) -> Any:
    if isinstance(model, type) and issubclass(model, BaseModel) and step in model.model_fields:
        model = model.model_fields[step].annotation
        for option in getattr(model, "__args__", ()):
            if isinstance(option, type) and issubclass(option, BaseModel):
                return model if getattr(model, "__origin__", None) is dict else option
        return model
    if getattr(model, "__origin__", None) is dict:
        return model.__args__[1]
    return model


def _words(kind: str, last: str, detail: Any, siblings: list[str]) -> tuple[str, str, str]:
    value = detail["input"]
    if kind == "missing":
        return f"no {last}", f"the key {last}", ""
    if kind == "extra_forbidden":
        if last in LATER:
            return f"{last} ({LATER[last]}) is not built by this release", "", "remove it"
        close = difflib.get_close_matches(last, siblings, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known keys: {', '.join(siblings)}" if siblings else ""
        return f"unknown key {last}", "", hint
    found = _show(value)
    if kind == "literal_error":
        expected = detail["ctx"]["expected"].replace("'", "")
        if value in LATER_VALUES.get(last, ()):
            return f"{found} is not built by this release", expected, ""
        close = difflib.get_close_matches(str(value), expected.replace(" or ", ", ").split(", "), n=1)
        return found, expected, f"did you mean {close[0]}?" if close else ""
    message = detail["msg"].removeprefix("Value error, ")
    head, said, expected = message.partition("expected ")
    if said:
        return f"{found}{' ' + head.rstrip('; ') if head else ''}", expected, ""
    return found, message[:1].lower() + message[1:], ""


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(value))
    return text if len(text) <= 60 else text[:57] + "..."
