"""The shape of a rule file: its keys and their values. The content of the expressions is checked later."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from nodrop import platforms
from nodrop.engine.evidence import EvidenceTopic
from nodrop.engine.finding import Confidence, Severity
from nodrop.engine.rule import ANY_PLATFORM, Strictness
from nodrop.errors import Problem
from nodrop.model.fabric import MODES, Mode
from nodrop.model.types import did_you_mean_hint, known_word_hint
from nodrop.routing.observation import ObservationCheck
from nodrop.syntax.yaml import DocumentWithPlaces

FixSafety = Literal["safe", "unsafe"]
FactType = Literal["str", "int", "float", "bool"]
ScopeName = Literal[
    "fabric", "device", "interface", "link", "traffic_class", "queue", "priority_group", "neighbor", "buffer_pool"
]

_NAME_PATTERN = r"^[a-z][a-z0-9_]{0,62}$"
_RULE_NAME_PATTERN = r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"
_Text = Annotated[str, Field(min_length=1)]
_Name = Annotated[str, Field(pattern=_NAME_PATTERN)]


def _normalize_fact_types(facts: object) -> object:
    """Take a list of facts as one of texts."""
    return {name: "str" for name in facts if isinstance(name, str)} if isinstance(facts, list) else facts


def _normalize_assumed_topics(assumed: object) -> object:
    """Take the name of a topic as one without an exception."""
    return {assumed: None} if isinstance(assumed, str) else assumed


_EXPECTED_BY_ERROR_TYPE = {
    "string_type": "text",
    "string_too_short": "text",
    "string_pattern_mismatch": "a name in lower case",
    "too_short": "at least one entry",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
"""By pydantic's kind of error, what it should have been."""


_FACTS_SCHEMA = WithJsonSchema(
    {
        "anyOf": [
            {"type": "array", "items": {"type": "string", "pattern": _NAME_PATTERN}},
            {
                "type": "object",
                "propertyNames": {"pattern": _NAME_PATTERN},
                "additionalProperties": {"enum": list(get_args(FactType))},
            },
        ]
    }
)

_ASSUMED_SCHEMA = WithJsonSchema(
    {
        "anyOf": [
            {"enum": list(get_args(EvidenceTopic))},
            {
                "type": "object",
                "propertyNames": {"enum": list(get_args(EvidenceTopic))},
                "additionalProperties": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]},
            },
        ]
    }
)


class _SchemaMapping(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OptionEntry(_SchemaMapping):
    """An option and its default, which also gives it its type."""

    default: Any
    description: _Text


_REASONS_SCHEMA = WithJsonSchema(
    {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}},
        ]
    }
)


def _check_artifact_files(artifact: object) -> Any:
    """By platform and file: its whole text, or texts of it that are replaced."""
    for platform, files in artifact.items() if isinstance(artifact, dict) else ():
        if platform not in (*platforms.platform_names(), platforms.HOSTS_PLATFORM):
            raise ValueError(f"no platform {platform}; expected one of {', '.join(platforms.platform_names())}, hosts")
        if not isinstance(files, dict):
            raise ValueError(f"{platform} without files; expected a mapping of files")
        for name, edits in files.items():
            alone = (
                isinstance(edits, str)
                and platform in platforms.platform_names()
                and platform not in platforms.writable_platforms()
            )
            if not alone and not (isinstance(edits, list) and all(map(_is_text_edit, edits))):
                raise ValueError(f"another change of {name}; expected text, or a list of {{replace: text, with: text}}")
    return artifact


def _is_text_edit(edit: object) -> bool:
    return (
        isinstance(edit, dict)
        and edit.keys() == {"replace", "with"}
        and all(isinstance(edit_text, str) for edit_text in edit.values())
    )


def _check_command_languages(commands: object) -> object:
    """Take commands by language: a platform, `frr` or `hosts`."""
    for language in commands if isinstance(commands, dict) else ():
        if language not in platforms.command_languages():
            raise ValueError(f"no language {language}; expected one of {', '.join(platforms.command_languages())}")
    return commands


_Commands = Annotated[
    dict[_Text, tuple[_Text | Annotated[tuple[_Text, ...], Field(min_length=2)], ...]],
    BeforeValidator(_check_command_languages),
]
"""Commands by language: lines, or lists of lines that a value of several keys repeats together."""


def _normalize_reasons(reasons: object) -> object:
    """Take a text as the reason on all platforms."""
    return {ANY_PLATFORM: reasons} if isinstance(reasons, str) else reasons


def _check_platforms(reasons: Mapping[str, str]) -> Mapping[str, str]:
    for platform in reasons.keys() - {ANY_PLATFORM, *platforms.platform_names()}:
        raise ValueError(f"no platform {platform}; expected one of {', '.join(platforms.platform_names())}")
    return reasons


class RefusedLine(_SchemaMapping):
    """A line that a validator rejects, and the validator's message about it."""

    device: _Text
    text: _Text
    said: _Text


class LostFlow(_SchemaMapping):
    """Packets that the old build delivers, and their fate in the new one."""

    source: _Text
    prefix: _Text
    old: _Text
    new: _Text


class ValidatorObservationEntry(_SchemaMapping):
    """The facts that a validator sees differently from nodrop's computation."""

    model: dict[str, Any] = {}
    refused: tuple[RefusedLine, ...] = ()
    lost: tuple[LostFlow, ...] = ()
    values: dict[ObservationCheck, dict[_Text, str]] = {}


class OtherFabricEntry(_SchemaMapping):
    """The other fabric of an example: changes of the same intent, and how both belong together."""

    intent: dict[str, Any] = {}
    model: dict[str, Any] = {}
    one_site: bool = True
    cables: tuple[tuple[_Text, _Text], ...] = ()
    """Cables that the example states beside its own, such as one to a switch of the other fabric."""


class ExampleEntry(_SchemaMapping):
    """What to change in the example fabric: the intent, the model after the build, or the artifacts of a platform."""

    intent: dict[str, Any] | None = None
    model: dict[str, Any] | None = None
    artifact: Annotated[dict[str, Any] | None, BeforeValidator(_check_artifact_files)] = None
    beside: OtherFabricEntry | None = None
    seen: ValidatorObservationEntry | None = None
    at: tuple[_Text, ...] = ()

    @model_validator(mode="after")
    def _check_example_keys(self) -> "ExampleEntry":
        if self.artifact is None and self.intent is None and self.model is None:
            raise ValueError("expected intent, model or artifact")
        if self.artifact is not None and self.model is not None:
            raise ValueError("model and artifact; expected one of them, beside an intent or not")
        if self.beside is not None and self.artifact is not None:
            raise ValueError("beside and artifact; expected beside with intent or model")
        if self.seen is not None and self.artifact is not None:
            raise ValueError("seen beside artifact; expected it beside intent or model")
        return self


class GoodAndBadExamples(_SchemaMapping):
    """At least one fabric where the rule finds its fault, and one where it does not."""

    bad: Annotated[tuple[ExampleEntry, ...], Field(min_length=1)]
    good: Annotated[tuple[ExampleEntry, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_example_subjects(self) -> "GoodAndBadExamples":
        if not all(example.at for example in self.bad):
            raise ValueError("a bad example without subjects; expected at: and the subjects where the fault is")
        if any(example.at for example in self.good):
            raise ValueError("a good example with subjects; expected none, for it has no fault")
        return self


class RuleFile(_SchemaMapping):
    """A rule: a fault, how to detect it, and its message."""

    severity: Severity
    severity_if_stated: Severity | None = None
    stated: _Text | None = None
    severity_if_assumed: Severity | None = None
    assumed: Annotated[
        dict[EvidenceTopic, _Text | None], BeforeValidator(_normalize_assumed_topics), _ASSUMED_SCHEMA
    ] = {}
    confidence: Confidence = "certain"
    because: _Text | None = None
    strictness: Strictness = "regular"
    modes: Annotated[tuple[Mode, ...], Field(min_length=1)] = MODES
    scope: ScopeName
    when: _Text | None = None
    claim: Annotated[_Text | None, Field(alias="assert")] = None
    analysis: _Text | None = None
    arguments: Annotated[dict[_Name, object], Field(alias="with")] = {}
    remark: _Text | None = None
    facts: Annotated[dict[_Name, FactType], BeforeValidator(_normalize_fact_types), _FACTS_SCHEMA] = {}
    at: _Text | None = None
    message: _Text
    why: _Text
    fix: _Text
    commands: _Commands = {}
    condition: _Text | None = None
    check_first: _Commands = {}
    otherwise: _Commands = {}
    after: tuple[Annotated[str, Field(pattern=_RULE_NAME_PATTERN)], ...] = ()
    no_commands: Annotated[
        dict[str, _Text], BeforeValidator(_normalize_reasons), AfterValidator(_check_platforms), _REASONS_SCHEMA
    ] = {}
    options: dict[_Name, OptionEntry] = {}
    set: dict[_Text, _Text] = {}
    as_siblings: tuple[_Text, ...] = ()
    as_siblings_if: _Text | None = None
    corrected: bool = False
    set_default: dict[_Text, _Text] = {}
    default_safe_if: _Text | None = None
    fix_safety: FixSafety = "unsafe"
    intent_fix: dict[_Text, object] = {}
    references: Annotated[tuple[_Text, ...], Field(min_length=1)]
    since: _Text
    aliases: tuple[Annotated[str, Field(pattern=_RULE_NAME_PATTERN)], ...] = ()
    unseen: dict[_Text, _Text] = {}
    examples: GoodAndBadExamples

    @model_validator(mode="after")
    def _check_rule_keys(self) -> "RuleFile":
        checks = {"assert": self.claim, "analysis": self.analysis, "remark": self.remark}
        chosen = [name for name, check in checks.items() if check is not None]
        if len(chosen) != 1:
            raise ValueError(
                f"{' and '.join(chosen) or 'no way to see the fault'}; expected one of {', '.join(checks)}"
            )
        keys: dict[str, object] = {"with": self.arguments, "facts": self.facts, "at": self.at, "set": self.set}
        keys |= {"as_siblings": self.as_siblings, "set_default": self.set_default}
        keys |= {"corrected": self.corrected, "default_safe_if": self.default_safe_if}
        keys |= {"as_siblings_if": self.as_siblings_if}
        allowed = {
            "assert": {"at", "set", "as_siblings", "as_siblings_if", "set_default", "default_safe_if"},
            "analysis": {"with", "facts", "as_siblings"},
            "remark": {"facts", "as_siblings", "corrected"},
        }[chosen[0]]
        if extra := [key for key, setting in keys.items() if setting and key not in allowed]:
            raise ValueError(f"{extra[0]} beside {chosen[0]}; expected it left out")
        if self.because is not None and self.confidence == "certain":
            raise ValueError("because with confidence certain; expected it left out, or confidence likely or possible")
        if self.condition is None and (self.check_first or self.otherwise):
            raise ValueError("check_first or otherwise without condition; expected the case that the commands are for")
        if self.default_safe_if is not None and not self.set_default:
            raise ValueError("default_safe_if without set_default; expected both, or set_default alone")
        if self.as_siblings_if is not None and not self.as_siblings:
            raise ValueError("as_siblings_if without as_siblings; expected both, or as_siblings alone")
        if (self.severity_if_assumed is None) != (not self.assumed):
            raise ValueError("one key of two; expected severity_if_assumed and assumed, or neither")
        return self


def rule_file_problems(document: DocumentWithPlaces, error: ValidationError) -> list[Problem]:
    """Return what pydantic found, each with its place in the file and our words."""
    return [
        _build_problem(document, detail)
        for detail in error.errors()
        if detail["type"] != "too_short" or not detail["input"]
    ]


def _build_problem(document: DocumentWithPlaces, detail: Any) -> Problem:
    loc, kind = detail["loc"], detail["type"]
    of_key = kind == "extra_forbidden" or loc[-1:] == ("[key]",)
    keys = tuple(step for step in loc if step != "[key]")
    words = _problem_texts_of(detail, str(loc[-1]) if loc else "", kind)
    return document.problem(keys, *words, of="key" if of_key else "value")


def _problem_texts_of(detail: Any, last: str, kind: str) -> tuple[str, str, str]:
    """Return the found value, the expected value, and a hint."""
    if kind == "missing":
        return f"no {last}", f"the key {last}", ""
    if kind == "extra_forbidden":
        return f"unknown key {last}", "", known_word_hint(last, _known_keys(detail["loc"][:-1]))
    if kind == "value_error":
        found_text, _, expected = str(detail["ctx"]["error"]).rpartition("expected ")
        return found_text.rstrip("; ") or "another count", expected, ""
    found_text = _describe_value(detail["input"])
    if kind == "literal_error":
        expected = detail["ctx"]["expected"].replace("'", "")
        return found_text, expected, did_you_mean_hint(str(detail["input"]), expected.replace(" or ", ", ").split(", "))
    return found_text, _EXPECTED_BY_ERROR_TYPE.get(kind, detail["msg"].lower()), ""


def _describe_value(value: object) -> str:
    if isinstance(value, dict | list | tuple):
        return ("a mapping" if isinstance(value, dict) else "a list") if value else "nothing in it"
    return "nothing" if value in (None, "") else f"`{str(value)[:60]}`"


def _known_keys(loc: tuple[object, ...]) -> list[str]:
    """Return the keys that the schema knows at a place."""
    model: type[BaseModel] = RuleFile
    for name, inner in (("options", OptionEntry), ("examples", GoodAndBadExamples)):
        if loc[:1] == (name,):
            model = inner if name == "options" or len(loc) == 1 else ExampleEntry
    return [field.alias or name for name, field in model.model_fields.items()]
