"""Tables of the keys of a YAML file that users write, generated from its JSON Schema and from shipped intents."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nodrop import units
from nodrop.report.escape import format_nodrop_text_as_markdown
from nodrop.resources import resource_folder
from nodrop.schemas import json_schema
from nodrop.syntax.yaml import parse_yaml

_Json = dict[str, Any]

QUANTITIES: Mapping[str, tuple[str, str]] = {
    units.SIZE_REGEX: ("size, in B, kB, MB, KiB or MiB", "150kB"),
    units.SPEED_REGEX: ("speed, in M, G or T (bits per second)", "400G"),
    units.LENGTH_REGEX: ("length, in m", "20m"),
    units.PERCENT_REGEX: ("share, in %", "60%"),
    units.TIME_REGEX: ("time, in ms or s", "200ms"),
    units.SHORT_TIME_REGEX: ("time, in us, ms or s", "10ms"),
    units.ID_LIST_REGEX: ("numbers", "1-16, 20"),
    units.NUMBER_REGEX: ("number", "1.5"),
    units.INTEGER_REGEX: ("whole number", ""),
    r"[0-9]{1,10}\+?": ("AS number", "64700+"),
    r"[0-9.]+/[0-9]{1,2}": ("network", "192.168.100.0/24"),
    r"[0-9A-Fa-f.:]+/[0-9]{1,3}": ("network", "10.0.0.0/16"),
    r"[0-9A-Fa-f.:]+": ("address", "192.0.2.10"),
    r"[0-9A-Fa-f.:\[\]]+:[0-9]{1,5}": ("address and port", "192.0.2.30:4317"),
}
"""What a pattern of the schema reads, with its units, and an example."""

EXAMPLES: Mapping[str, str] = {
    "topology.leaves.ports.dead": "31, 32",
    "buffers.pattern_mtu": "1024",
    "hosts.tos": "106",
    "hosts.cnp_dscp": "48",
    "hosts.fifo_class": "cnp",
    "hosts.pfc": "3",
    "services.snmp.location": "hall 2, row 12",
    "services.snmp.contact": "network team",
    "extra.NAME.tables": "{BANNER_MESSAGE: {global: {motd: hall 2}}}",
    "extra.NAME.paths": "{system: {timezone: Europe/Zurich}}",
    "extra.NAME.lines": "[service password-encryption]",
    "devices.NAME.drained": "true",
}
"""Examples for keys of an intent that no shipped intent states and whose values differ from key to key."""


UNSTATED = "–"
"""Shown as default of a key without a fixed one."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a file: its path, the values that it takes, its default, an example and its meaning."""

    path: tuple[str, ...]
    value: str
    default: str
    example: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping of a file: its path, which is empty at the top, its kind, its meaning and its keys.

    `kind` is what the key `kind` says there or above, where a place takes mappings of several kinds; else it is empty.
    """

    path: tuple[str, ...]
    kind: str
    meaning: str
    keys: tuple[Key, ...]


def sections(kind: str) -> list[Section]:
    """Return the mappings of a kind of file, outermost first; KeyError where there is no such kind."""
    root = json_schema(kind)
    examples = {**EXAMPLES, **dict(_shipped_values())} if kind == "intent" else {}
    return list(_sections(root, root, (), "", examples))


def render(kind: str) -> str:
    """Return the tables of all keys of a kind of file as Markdown, a heading for each mapping."""
    lines: list[str] = []
    for section in sections(kind):
        if section.path:
            kind = f", `kind: {section.kind}`" if section.kind else ""
            lines += [f"## `{'.'.join(section.path).replace(f'.{ENTRY}', ENTRY)}`{kind}", ""]
            lines += [format_nodrop_text_as_markdown(section.meaning), ""] if section.meaning else []
        lines += ["| key | value | default | example | meaning |", "|---|---|---|---|---|"]
        for key in section.keys:
            value, meaning = (format_nodrop_text_as_markdown(text, cell=True) for text in (key.value, key.meaning))
            example = f"`{key.example}`" if key.example else ""
            lines.append(f"| `{key.path[-1]}` | {value} | {key.default} | {example} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def _sections(
    root: _Json, node: _Json, path: tuple[str, ...], kind: str, examples: Mapping[str, str]
) -> Iterator[Section]:
    required = node.get("required", ())
    specs = {(*path, name): spec for name, spec in node.get("properties", {}).items()}
    keys = (_key(root, spec, below, below[-1] in required, examples) for below, spec in specs.items())
    kind = node.get("properties", {}).get("kind", {}).get("const", kind)
    yield Section(path, kind, node.get("description", ""), tuple(keys))
    for below, spec in specs.items():
        for mapping, step in _mappings_of(root, spec):
            yield from _sections(root, mapping, (*below, *step), kind, examples)


def _mappings_of(root: _Json, spec: _Json) -> Iterator[tuple[_Json, tuple[str, ...]]]:
    """Yield the schema of each kind of mapping that a key holds, and the step from the key to it."""
    for option in _options(root, spec):
        if "properties" in option:
            yield option, ()
        named = (*option.get("patternProperties", {}).values(), option.get("additionalProperties"))
        for inside, step in (*((each, NAME) for each in named), (option.get("items"), ENTRY)):
            if isinstance(inside, dict) and "properties" in (mapping := _resolved(root, inside)):
                yield mapping, (step,)


def _options(root: _Json, spec: _Json) -> list[_Json]:
    spec = _resolved(root, spec)
    options = spec.get("anyOf") or spec.get("oneOf")
    return [each for option in options for each in _options(root, option)] if options else [spec]


def _resolved(root: _Json, spec: _Json) -> _Json:
    if "$ref" not in spec:
        return spec
    name = spec["$ref"].rpartition("/")[2]
    resolved: _Json = root["$defs"][name]
    return resolved


def _key(root: _Json, spec: _Json, path: tuple[str, ...], needed: bool, examples: Mapping[str, str]) -> Key:
    options = [option for option in _options(root, spec) if option.get("type") != "null"]
    value, usual = _value(root, options)
    meaning = spec.get("description") or next((option.get("description", "") for option in options), "")
    described = re.search(r"[;,] default: (.*)", meaning)
    literal = _literal(spec.get("default"))
    if needed:
        default = "required"
    elif described:
        default = format_nodrop_text_as_markdown(described[1], cell=True)
    else:
        default = f"`{literal}`" if literal else UNSTATED
    such_as = re.search(r"such as ([\w.:/+%*-]*[\w+%*])(?:$|[,;])", meaning)
    example = examples.get(".".join(path)) or (such_as[1] if such_as else "") or usual or literal
    if value == "mapping" or "const" in options[0]:
        example = usual
    if value.startswith("list of ") and example and not example.startswith("["):
        example = f"[{example}]"
    return Key(path, value, default, example, re.sub(r"[;,] default: .*", "", meaning))


def _literal(default: Any) -> str:
    """Return a default as a file states it; nothing for one that is empty."""
    return "" if default is None or default in ([], "") or isinstance(default, dict) else _stated(default)


def _stated(value: Any) -> str:
    """Return a scalar or a list as YAML in one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(_stated, value))}]"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f'"{text}"' if text.startswith("*") or "{" in text else text


def _value(root: _Json, options: list[_Json]) -> tuple[str, str]:
    """Return what a key takes in words, and an example where its type has one."""
    words: list[str] = []
    example = ""
    for option in options:
        text, usual = _one_value(root, option)
        example = example or usual
        if text and text not in words:
            words.append(text)
    several = [word for word in words if word.startswith("list of ") and word.removeprefix("list of ") in words]
    for word in several:
        words.remove(word)
        at = words.index(word.removeprefix("list of "))
        words[at] += ", or a list"
    return " or ".join(words), example


def _one_value(root: _Json, option: _Json) -> tuple[str, str]:
    if "enum" in option or "const" in option:
        choices = list(dict.fromkeys(str(one) for one in option.get("enum", [option.get("const")])))
        return ", ".join(f"`{choice}`" for choice in choices), choices[0]
    if option.get("type") == "boolean":
        return "`true`, `false`", "true"
    if option.get("type") == "array":
        inside, usual = _value(root, _options(root, option.get("items", {})))
        return f"list of {inside}" if inside else "list", usual
    if option.get("type") == "object" or "properties" in option:
        return "mapping", ""
    pattern, band, _ = option.get("pattern", "").removeprefix("^(").removesuffix(")$").partition(")( +to +(")
    by_type = ("whole number" if option.get("type") == "integer" else "text", "")
    name, usual = QUANTITIES.get(pattern, by_type)
    if band:
        return f"{name}; or the least, `to` and the greatest", usual
    low, high = option.get("minimum"), option.get("maximum")
    if low is not None and high is not None:
        name = name if name == "AS number" else f"{name}, {low} to {high}"
    return name, usual


def _shipped_values() -> Iterator[tuple[str, str]]:
    """Yield a value of each key that shipped intents state, by the key's path; the later ones count less."""
    seen: set[str] = set()
    for file in sorted(
        resource_folder("intents").glob("*.yaml"), key=lambda file: (file.name not in _USUAL, file.name)
    ):
        for path, value in _values(parse_yaml(file.read_bytes(), file.name).data, ()):
            if (key := ".".join(path)) not in seen and "\n" not in value:
                seen.add(key)
                yield key, value


_USUAL = ("reference-256.yaml", "two-by-two.yaml")
"""Intents whose values are what most fabrics have."""
NAME = "NAME"
"""Stands in a path for a name that the author of the file chooses."""
ENTRY = "[]"
"""Stands in a path for each entry of a list."""
NAMED = (
    ("endpoints",), ("classes",), ("devices",), ("extra",), ("topology", "groups"),
    ("names", "template"), ("names", "hosts"), ("names", "racks"), ("names", "devices"),
)  # fmt: skip
"""The mappings of an intent with such names."""


def _values(data: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield from _values(value, (*path, NAME if path in NAMED else str(name)))
    elif isinstance(data, list):
        yield path, _stated(data)
    else:
        yield path, _stated(data)
