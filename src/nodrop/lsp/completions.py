"""The possible input at a place, and its meaning: from the schemas, and from nodrop's other knowledge."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from nodrop import analyses, hardware, platforms, schemas, units
from nodrop.context.profile import shipped_profile_names as profiles
from nodrop.engine.rule import Rule
from nodrop.lsp.cursor import PathStep, YamlKeyOrValueSpot
from nodrop.lsp.text_kinds import TextKind
from nodrop.model.fabric import PURPOSES
from nodrop.platforms.kit.traits import traits_of_platform
from nodrop.report.rules import format_first_reason_sentence

JsonSchema = Mapping[str, Any]

_MEANING_BY_SCHEMA_PATTERN: Mapping[str, str] = {
    units.SPEED_REGEX: "a speed, such as 400G",
    units.SIZE_REGEX: "bytes with their unit, such as 150kB or 1MiB",
    units.TIME_REGEX: "a time with its unit, such as 200ms or 2s",
    units.LENGTH_REGEX: "a length with its unit, such as 30m",
    units.PERCENT_REGEX: "a percentage, such as 60%",
    units.ID_LIST_REGEX: "numbers, such as 1-16, 20",
}
"""By pattern, what a text of it says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionOffer:
    """A key or a value that may be written, in short and at length (Markdown)."""

    word: str
    is_key: bool = False
    short: str = ""
    about: str = ""
    needed: bool = False
    """Whether the file is not whole without it."""


def find_offers(kind: TextKind, spot: YamlKeyOrValueSpot, rules: Sequence[Rule]) -> list[CompletionOffer]:
    """Return the possible input at a place, required entries first; of keys, none that the mapping already has."""
    catalog_offers = _find_catalog_offers(kind, spot, rules)
    nodes = list(_schemas_at_path(kind, spot.path))
    if spot.is_key:
        catalog_offers = [*catalog_offers, *_key_offers(_load_schema(kind), nodes)]
        catalog_offers = [catalog_offer for catalog_offer in catalog_offers if catalog_offer.word not in spot.beside]
    else:
        catalog_offers = [
            *catalog_offers,
            *(CompletionOffer(word=word) for node in nodes for word in _allowed_words(node)),
        ]
    return sorted(
        {catalog_offer.word: catalog_offer for catalog_offer in reversed(catalog_offers)}.values(),
        key=lambda offer: not offer.needed,
    )


def explain_key(kind: TextKind, spot: YamlKeyOrValueSpot, rules: Sequence[Rule]) -> str | None:
    """Return the meaning of a key, or of the key of a value, as Markdown; None where nothing is known."""
    path = (*spot.path, spot.word) if spot.is_key else spot.path
    known_offers = {catalog_offer.word: catalog_offer for catalog_offer in _find_catalog_offers(kind, spot, rules)}
    if spot.word in known_offers and known_offers[spot.word].about:
        return known_offers[spot.word].about
    named_paths = [step for step in path if isinstance(step, str)]
    about = next((text for node in _schemas_at_path(kind, path) if (text := _describe_schema(node))), None)
    return None if about is None or not named_paths else f"**{'.'.join(named_paths)}**\n\n{about}"


@cache
def _load_schema(kind: TextKind) -> JsonSchema:
    return schemas.json_schema(kind)


def _schemas_at_path(kind: TextKind, path: Sequence[PathStep]) -> Iterator[JsonSchema]:
    """Yield the parts of the schema allowed at a path, each alternative separately."""
    root_schema = _load_schema(kind)
    nodes = list(_alternatives_of_schema(root_schema, root_schema))
    for step in path:
        nodes = [inner for node in nodes for inner in _child_schemas(root_schema, node, step)]
    yield from nodes


def _alternatives_of_schema(whole_schema: JsonSchema, node: object, depth: int = 0) -> Iterator[JsonSchema]:
    """Yield a node, or each of its alternatives, with the description and default around it."""
    if not isinstance(node, Mapping) or depth > 16:
        return
    around = {key: value for key, value in node.items() if key in ("description", "default")}
    if "$ref" in node:
        target = whole_schema["$defs"][node["$ref"].rpartition("/")[2]]
        yield from (
            dict(alternative) | around for alternative in _alternatives_of_schema(whole_schema, target, depth + 1)
        )
        return
    several = [*node.get("anyOf", ()), *node.get("oneOf", ())]
    for branch in several:
        yield from (
            dict(alternative) | around for alternative in _alternatives_of_schema(whole_schema, branch, depth + 1)
        )
    if not several:
        yield node


def _child_schemas(whole_schema: JsonSchema, node: JsonSchema, step: PathStep) -> Iterator[JsonSchema]:
    if isinstance(step, int):
        inner = [node.get("items")]
    elif step in node.get("properties", {}):
        inner = [node["properties"][step]]
    else:
        inner = [node.get("additionalProperties"), *node.get("patternProperties", {}).values()]
    for branch in inner:
        yield from _alternatives_of_schema(whole_schema, branch)


def _key_offers(whole_schema: JsonSchema, nodes: Iterable[JsonSchema]) -> Iterator[CompletionOffer]:
    for node in nodes:
        needed = node.get("required", ())
        for name, key_schema in node.get("properties", {}).items():
            about = next(
                (
                    text
                    for option in _alternatives_of_schema(whole_schema, key_schema)
                    if (text := _describe_schema(option))
                ),
                "",
            )
            yield CompletionOffer(
                word=name, is_key=True, short=_format_default(key_schema), about=about, needed=name in needed
            )


def _allowed_words(node: JsonSchema) -> Iterator[str]:
    """Yield the words that a value may be."""
    if node.get("type") == "boolean":
        yield from ("true", "false")
    for word in (*node.get("enum", ()), *((node["const"],) if "const" in node else ())):
        yield str(word) if word not in ("on", "off", "yes", "no") else f'"{word}"'


def _describe_schema(node: JsonSchema) -> str:
    """Return the schema's description of a value, as Markdown."""
    lines = [str(node["description"])] if "description" in node else []
    kind = node.get("type")
    pattern = str(node.get("pattern", "")).removeprefix("^(").removesuffix(")$")
    if pattern in _MEANING_BY_SCHEMA_PATTERN:
        lines.append(_MEANING_BY_SCHEMA_PATTERN[pattern])
    if "minimum" in node and "maximum" in node:
        lines.append(f"from {node['minimum']} to {node['maximum']}")
    if words := [*_allowed_words(node)]:
        lines.append(" | ".join(f"`{word}`" for word in words))
    elif kind == "boolean":
        lines.append("`true` | `false`")
    if default := _format_default(node):
        lines.append(f"{default}")
    return "\n\n".join(lines)


def _format_default(node: JsonSchema) -> str:
    value = node.get("default")
    return (
        ""
        if value is None or value in ({}, [], "")
        else f"default: {str(value).lower() if isinstance(value, bool) else value}"
    )


def _find_catalog_offers(kind: TextKind, spot: YamlKeyOrValueSpot, rules: Sequence[Rule]) -> list[CompletionOffer]:
    """Return what no schema lists: models, releases, rules and their options, profiles, analyses."""
    path = tuple("*" if isinstance(step, int) else step for step in spot.path)
    if kind == "config" and path[:1] == ("fabric",):
        kind, path = "fabric", path[1:]
    for pattern, is_key, list_offers in _COMPLETION_LISTERS_BY_TEXT_KIND.get(kind, ()):
        if is_key == spot.is_key and re.fullmatch(pattern, "/".join(path)):
            return list(list_offers(spot, rules))
    return []


CompletionLister = Callable[[YamlKeyOrValueSpot, Sequence[Rule]], Iterable[CompletionOffer]]


def _make_offer_lister(words: Callable[[], Iterable[str]], *, is_key: bool = False) -> CompletionLister:
    return lambda spot, rules: (CompletionOffer(word=word, is_key=is_key) for word in words())


def _release_offers(spot: YamlKeyOrValueSpot, rules: Sequence[Rule]) -> Iterator[CompletionOffer]:
    """Return the releases of the platform named in the same file, in quotes, as they are texts."""
    platform = spot.beside.get("platform", "")
    for name in [platform] if platform in platforms.writable_platforms() else platforms.writable_platforms():
        quote = "" if spot.word.startswith(("'", '"')) else '"'
        yield from (
            CompletionOffer(word=f"{quote}{release}{quote}", short=name)
            for release in reversed(traits_of_platform(name).releases)
        )


def _rule_name_offers(spot: YamlKeyOrValueSpot, rules: Sequence[Rule]) -> Iterator[CompletionOffer]:
    for rule in rules:
        yield CompletionOffer(
            word=rule.name, is_key=spot.is_key, short=rule.severity, about=format_first_reason_sentence(rule)
        )


def _option_offers(spot: YamlKeyOrValueSpot, rules: Sequence[Rule]) -> Iterator[CompletionOffer]:
    named_rules = [rule for rule in rules if spot.path[-1] in (rule.name, *rule.aliases)]
    for option in (option for rule in named_rules for option in rule.options):
        short = f"default: {option.default}"
        yield CompletionOffer(word=option.name, is_key=True, short=short, about=f"{option.description}\n\n{short}")


def _offer_rules_that_have_options(spot: YamlKeyOrValueSpot, rules: Sequence[Rule]) -> Iterator[CompletionOffer]:
    return _rule_name_offers(spot, [rule for rule in rules if rule.options])


_MODEL, _NIC, _MEDIA = (
    _make_offer_lister(hardware.switches),
    _make_offer_lister(hardware.nics),
    _make_offer_lister(lambda: hardware.media()),
)
_COMPLETION_LISTERS_BY_TEXT_KIND: Mapping[TextKind, Sequence[tuple[str, bool, CompletionLister]]] = {
    "intent": (
        ("topology/(spines|leaves|groups/[^/]+)/model", False, _MODEL),
        ("topology/(spines|leaves|groups/[^/]+)/version", False, _release_offers),
        ("(topology/uplinks|topology/groups/[^/]+/uplinks/[^/]+|endpoints/[^/]+)/media", False, _MEDIA),
        ("endpoints/[^/]+/nic", False, _NIC),
        ("classes/[^/]+/dscp", False, _make_offer_lister(lambda: ("rest",))),
        ("classes", True, _make_offer_lister(lambda: PURPOSES[:-1], is_key=True)),
        ("extra", True, _make_offer_lister(platforms.writable_platforms, is_key=True)),
    ),
    "fabric": (
        ("models/[^/]+", False, _MODEL),
        ("hosts/[^/]+/nic", False, _NIC),
        ("classes", True, _make_offer_lister(lambda: PURPOSES[:-1], is_key=True)),
        ("roles/[^/]+", False, _make_offer_lister(lambda: ("leaf", "spine"))),
    ),
    "config": (
        ("severity", True, _rule_name_offers),
        ("options", True, _offer_rules_that_have_options),
        ("options/[^/]+", True, _option_offers),
        (r"suppress/\*/rule", False, _rule_name_offers),
        ("profile", False, _make_offer_lister(profiles)),
    ),
    "rule": (("analysis", False, _make_offer_lister(analyses.analysis_names)),),
}
"""By kind: the path as a pattern, whether keys or values are meant, and the words allowed there."""
