"""Scalars of an intent: text that the YAML loader left unchanged, read by the rules of the schema.

Every type reads text and describes to editors, as JSON Schema, the text that it reads.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Annotated, Any, Literal

import netaddr
from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, StrictBool
from pydantic_core import CoreSchema, core_schema

from nodrop import units
from nodrop.model.fabric import HASH_FIELDS
from nodrop.syntax.places import sanitize_for_message
from nodrop.units import MalformedText, parse_whole_number

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
MAX_ASN = 4294967294
_CONTROL_CHARACTER_PATTERN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_JsonSchema = dict[str, Any]


class ScalarAnnotation:
    """The description of a type for pydantic: how its value is read, and its JSON Schema."""

    def __init__(self, read: Callable[[object], object], schema: _JsonSchema) -> None:
        self._read, self._schema = read, schema

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> _JsonSchema:
        return dict(self._schema)  # pydantic adds to it what belongs to one field


class ListOrOnlyEntry:
    """The description for pydantic of a list, each entry once, that may be written as its only entry."""

    def __init__(self, *, empty: bool = False) -> None:
        self._empty = empty

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._entries_without_duplicates, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> _JsonSchema:
        several = handler(schema) | {"minItems": 0 if self._empty else 1, "uniqueItems": True}
        return {"anyOf": [several["items"], several]}

    def _entries_without_duplicates(self, value: object) -> list[object]:
        entries = value if isinstance(value, list) else [value]
        texts = [entry for entry in entries if isinstance(entry, str)]
        twice = [text for index, text in enumerate(texts) if text in texts[:index]]
        if twice:
            raise MalformedText("each once", f"{twice[0]} twice")
        if not entries and not self._empty:
            raise MalformedText("at least one", "an empty list")
        return entries


def _text_scalar(
    read: Callable[[str], object], pattern: str, *, numeric: str | None = None, **bounds: float
) -> ScalarAnnotation:
    """Return a type that is text of this pattern; `numeric` is what YAML makes of it where it looks like one."""
    read = lru_cache(maxsize=1024)(read)
    kind = [numeric, "string"] if numeric else "string"
    schema: _JsonSchema = {"type": kind, "pattern": f"^({pattern})$"} | bounds
    return ScalarAnnotation(lambda value: read(value if isinstance(value, str) else ""), schema)


def scalar_of_parsed_text(
    read: Callable[[str], object], pattern: str, *, numeric: str | None = None
) -> ScalarAnnotation:
    """Return the type of text of a pattern that a function parses; it raises MalformedText."""
    return _text_scalar(read, pattern, numeric=numeric)


def _make_bounded_reader(
    read: Callable[[str], float], low: float, high: float, quantity_name: str, unit: str = ""
) -> Callable[[str], float]:
    def read_in_range(intent_text: str) -> float:
        try:
            value = read(intent_text)
            if low <= value <= high:
                return value
        except MalformedText:
            pass
        raise MalformedText(f"{quantity_name} from {low}{unit} to {high}{unit}")

    return read_in_range


def scalar_of_whole(low: int, high: int) -> ScalarAnnotation:
    """Return the type of a whole number within bounds."""
    read = _make_bounded_reader(units.parse_integer, low, high, "a whole number")
    return _text_scalar(read, units.INTEGER_REGEX, numeric="integer", minimum=low, maximum=high)


def scalar_of_grid_sizes(most_dimensions: int, high: int) -> ScalarAnnotation:
    """Return the type of the sizes of a grid: `6x6`, each from 2 to `high`."""

    def read_sizes(intent_text: str) -> tuple[int, ...]:
        parts = [parse_whole_number(part) for part in intent_text.split("x")]
        if len(parts) <= most_dimensions and all(part and 2 <= part <= high for part in parts):
            return tuple(part for part in parts if part)
        raise MalformedText(f"1 to {most_dimensions} numbers from 2 to {high}, such as 6x6")

    return _text_scalar(read_sizes, r"[0-9]+(x[0-9]+)*", numeric="integer")


def scalar_of_number(low: float, high: float) -> ScalarAnnotation:
    """Return the type of a number within bounds."""
    read = _make_bounded_reader(units.parse_number, low, high, "a number")
    return _text_scalar(read, units.NUMBER_REGEX, numeric="number", minimum=low, maximum=high)


def scalar_of_whole_or_word(low: int, high: int, *key_words: str) -> ScalarAnnotation:
    """Return the type of a whole number within bounds, or one of these words."""
    bounded = _make_bounded_reader(units.parse_integer, low, high, f"{', '.join(key_words)} or a whole number")

    def read_word_or_number(value: object) -> object:
        return value if value in key_words else bounded(value if isinstance(value, str) else "")

    return ScalarAnnotation(
        read_word_or_number, {"anyOf": [{"enum": [*key_words]}, {"type": "integer", "minimum": low, "maximum": high}]}
    )


def scalar_of_percentage(low: int, high: int) -> ScalarAnnotation:
    """Return the type of a percentage within bounds."""
    return _text_scalar(_make_bounded_reader(units.parse_percent, low, high, "a percentage", "%"), units.PERCENT_REGEX)


def scalar_of_cable_length(low: int, high: int) -> ScalarAnnotation:
    """Return the type of a length within bounds."""
    read_in_range = _make_bounded_reader(units.parse_length_m, low, high, "a length", "m")

    def read_length(intent_text: str) -> float:
        try:
            return read_in_range(intent_text)
        except MalformedText as wrong:
            metres = parse_whole_number(intent_text)
            if metres is None or not low <= metres <= high:
                raise
            raise MalformedText(wrong.expected, hint=f"did you mean {metres}m?") from None

    return _text_scalar(read_length, units.LENGTH_REGEX)


def scalar_of_words(*texts: str, read: Callable[[str], object] = str) -> ScalarAnnotation:
    """Return the type of one of these words; editors may take `1` for a number, which is the same here."""

    def read_choice(value: object) -> object:
        if value not in texts:
            raise MalformedText(" or ".join((", ".join(texts[:-1]), texts[-1])) if texts[1:] else texts[0])
        return read(value)

    return ScalarAnnotation(
        read_choice, {"enum": [*texts, *(number for text in texts if (number := parse_whole_number(text)) is not None)]}
    )


def scalar_of_numbers(
    low: int, high: int | None = None, *, empty: bool = False, word: str | None = None
) -> ScalarAnnotation:
    """Return the type of a set of numbers: `1-16, 20`, a list of such, or `word`; `empty` allows an empty list."""

    def read_numbers(value: object) -> tuple[int, ...] | str:
        if word is not None and value == word:
            return word
        if empty and value == []:
            return ()
        raw_numbers = value if isinstance(value, list) else [value]
        ids = units.parse_ids(
            ", ".join(raw_number if isinstance(raw_number, str) else "?" for raw_number in raw_numbers)
        )
        outside = tuple(candidate for candidate in ids if candidate < low or (high is not None and candidate > high))
        if outside:
            raise MalformedText(
                f"numbers from {low}" + ("" if high is None else f" to {high}"), units.show_ids(outside)
            )
        return ids

    bounds = {"minimum": low} if high is None else {"minimum": low, "maximum": high}
    single_schema = {"type": ["integer", "string"], "pattern": f"^({units.ID_LIST_REGEX})$"} | bounds
    several = {"type": "array", "items": single_schema, "minItems": 0 if empty else 1}
    return ScalarAnnotation(read_numbers, {"anyOf": [single_schema, several, *([{"const": word}] if word else [])]})


def _parse_name(intent_text: str) -> str:
    if not re.fullmatch(NAME_PATTERN, intent_text):
        raise MalformedText(
            "a name of letters, digits, dots, dashes and underscores, 63 at most, the first a letter or digit"
        )
    return intent_text


def _read_printable_text(intent_text: str) -> str:
    if not intent_text or _CONTROL_CHARACTER_PATTERN.search(intent_text):
        raise MalformedText("text without control characters")
    return intent_text


def _parse_ipv4_network(text: str) -> str:
    network = _parse_ip_network(text)
    if ":" in network:
        raise MalformedText("an IPv4 network", hint="the out-of-band network is IPv4")
    return network


def _parse_ip_network(intent_text: str) -> str:
    try:
        network = netaddr.IPNetwork(intent_text)
    except (netaddr.AddrFormatError, ValueError):
        raise MalformedText("a network such as 10.0.0.0/16") from None
    if not re.search("/[0-9]{1,3}$", intent_text):
        raise MalformedText("a network with its prefix length, such as 10.0.0.0/16")
    if network.ip != network.network:
        raise MalformedText(str(network.cidr), f"{intent_text} has host bits set")
    if network.version == 6:
        if network.first >> 125 != 0b001 and network.first >> 121 != 0b1111110:
            raise MalformedText("a network of unicast addresses of IPv6, of 2000::/3 or fc00::/7, such as fd00::/48")
        return str(network.cidr)
    if network.first >> 24 in (0, 127) or network.first >> 28 >= 0b1110:
        raise MalformedText("a network of unicast addresses, such as 10.0.0.0/16")
    return str(network.cidr)


def _parse_address(text: str) -> str:
    try:
        return str(netaddr.IPAddress(text, flags=netaddr.INET_PTON))
    except (netaddr.AddrFormatError, ValueError):
        raise MalformedText("an address such as 192.0.2.10") from None


def _parse_collector(text: str) -> tuple[str, int]:
    address, _, port = text.rpartition(":")
    number = parse_whole_number(port, 65535)
    if address.startswith("[") == (":" in address) and number:
        return _parse_address(address.strip("[]")), number
    raise MalformedText("an address and a port, such as 192.0.2.30:4317 or [2001:db8::30]:4317")


def _parse_asn_rule(text: str) -> tuple[int, str]:
    match = re.fullmatch(r"([0-9]{1,10})(|\+|\+pod)", text)
    if not match or not 1 <= int(match[1]) <= MAX_ASN:
        expected = "an AS number, or one with + to which each device's id is added"
        raise MalformedText(expected, hint="or one with +pod for each pod" if "+" in text else "")
    return int(match[1]), {"": "", "+": "id", "+pod": "pod"}[match[2]]


PlatformSettings = tuple[tuple[tuple[str, ...], str | tuple[str, ...] | None], ...]
"""Values of a platform's own by their paths; None is a path without a value."""


def scalar_of_settings_tree(depth: int | None = None) -> ScalarAnnotation:
    """Return the type of a tree of mappings that is passed on as it stands, `depth` levels at most."""
    expected = "mappings of names to texts, lists of texts or {}" + (f", {depth} levels at most" if depth else "")

    def read_tree(value: object) -> PlatformSettings:
        if not isinstance(value, dict):
            raise MalformedText(expected)
        return tuple(leaves(value, ())) if value else ()

    def leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str | tuple[str, ...] | None]]:
        if isinstance(value, dict) and value and len(path) < (depth or _MAX_SETTINGS_TREE_DEPTH):
            for key, inside in value.items():
                yield from leaves(inside, (*path, _require_plain_text(key, expected)))
        elif isinstance(value, list) and value:
            yield path, tuple(_require_plain_text(leaf, expected) for leaf in value)
        else:
            yield path, None if value == {} else _require_plain_text(value, expected)

    return ScalarAnnotation(read_tree, {"type": "object"})


_MAX_SETTINGS_TREE_DEPTH = 24


def _require_plain_text(value: object, expected: str) -> str:
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else value
    if not isinstance(text, str) or not text or _CONTROL_CHARACTER_PATTERN.search(text):
        raise MalformedText(
            expected, "" if text is None or isinstance(text, dict | list) else sanitize_for_message(str(text))
        )
    return text


def _parse_one_line_text(text: str) -> str:
    if not text.strip() or _CONTROL_CHARACTER_PATTERN.search(text) or text != text.rstrip():
        raise MalformedText("one line, without control characters or blanks at its end")
    return text


def scalar_of_texts() -> ScalarAnnotation:
    """Return the type of a text of any number of lines, or a list of texts."""

    def read_texts(value: object) -> object:
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(entry, str) for entry in value):
            return tuple(value)
        raise MalformedText("a text, or a list of texts")

    strings: _JsonSchema = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    return ScalarAnnotation(read_texts, {"anyOf": [{"type": "string"}, strings]})


OneLineText = Annotated[str, _text_scalar(_parse_one_line_text, "[^\\x00-\\x1f\\x7f]*[^\\x00-\\x20\\x7f]")]
Name = Annotated[str, _text_scalar(_parse_name, NAME_PATTERN)]
Text = Annotated[str, _text_scalar(_read_printable_text, "[^\\x00-\\x1f\\x7f]+")]
Bool = StrictBool
Integer = Annotated[int, _text_scalar(units.parse_integer, units.INTEGER_REGEX, numeric="integer")]
SpeedMbps = Annotated[int, _text_scalar(units.parse_speed_mbps, units.SPEED_REGEX)]
Bytes = Annotated[int, _text_scalar(units.parse_size_bytes, units.SIZE_REGEX)]
TimeMs = Annotated[int, _text_scalar(units.parse_time_ms, units.TIME_REGEX)]
TimeUs = Annotated[int, _text_scalar(units.parse_time_us, units.SHORT_TIME_REGEX)]
LengthM = Annotated[int, scalar_of_cable_length(1, 100_000)]
Percent = Annotated[int, scalar_of_percentage(1, 100)]
Ids = Annotated[tuple[int, ...], scalar_of_numbers(1)]
Dscps = Annotated[tuple[int, ...] | Literal["rest"], scalar_of_numbers(0, 63, empty=True, word="rest")]
Priorities = Annotated[tuple[int, ...], scalar_of_numbers(0, 7, empty=True)]
Ipv4Network = Annotated[str, _text_scalar(_parse_ipv4_network, r"[0-9.]+/[0-9]{1,2}")]
AddressPool = Annotated[str, _text_scalar(_parse_ip_network, r"[0-9A-Fa-f.:]+/[0-9]{1,3}")]
AddressPools = Annotated[tuple[AddressPool, ...], ListOrOnlyEntry()]
Address = Annotated[str, _text_scalar(_parse_address, r"[0-9A-Fa-f.:]+")]
Addresses = Annotated[tuple[Address, ...], ListOrOnlyEntry(empty=True)]
Collector = Annotated[tuple[str, int], _text_scalar(_parse_collector, r"[0-9A-Fa-f.:\[\]]+:[0-9]{1,5}")]
HashFields = Annotated[tuple[Annotated[str, scalar_of_words(*HASH_FIELDS)], ...], ListOrOnlyEntry(empty=True)]
Collectors = Annotated[tuple[Collector, ...], ListOrOnlyEntry(empty=True)]
Asn = Annotated[int, scalar_of_whole(1, MAX_ASN)]
AsnRule = Annotated[
    tuple[int, str],
    _text_scalar(_parse_asn_rule, r"[0-9]{1,10}(\+|\+pod)?", numeric="integer", minimum=1, maximum=MAX_ASN),
]
