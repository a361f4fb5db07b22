"""The words for values in schema.yaml, made into checks: `uint8 0..100`, `ref PORT or enum GLOBAL`, `list of ip`."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from ipaddress import AddressValueError, IPv6Address, NetmaskValueError

from nodrop.syntax.places import quote_text

TextTest = Callable[[str], bool]
NumberParser = Callable[[str], int | None]

_MAX_CACHED_VERDICTS = 4096
_RANGE_BY_INTEGER_TYPE = {
    **{f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    **{f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
}
_OCTET_REGEX = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4_REGEX = rf"{_OCTET_REGEX}(?:\.{_OCTET_REGEX}){{3}}"
_MAC_REGEX = "[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}"
_ADDRESS_ZONE_REGEX = r"(?:%\w+)?"
_IPV4_LENGTH_REGEX = "(?:[0-9]|[12][0-9]|3[0-2])"
_IPV6_LENGTH_REGEX = "(?:[0-9]{1,2}|1[01][0-9]|12[0-8])"
_PREFIX_RULE_REGEX = "(?: (?:le|ge) {})?"
_DESCRIPTION_BY_VALUE_TYPE = {
    "ip": "an address",
    "ip4": "an IPv4 address",
    "ip6": "an IPv6 address",
    "prefix": "an address with the length of its prefix",
    "prefix4": "an IPv4 address with the length of its prefix",
    "prefix6": "an IPv6 address with the length of its prefix",
    "mac": "a MAC address",
    "text": "text",
}
_VALUE_TYPE_PATTERN = re.compile(
    r"enum (?P<enum>.+)|ref (?P<ref>[A-Z0-9_]+)(?:\.(?P<of>\S+))?"
    r"|text(?: (?P<length>[0-9]+\.\.[0-9]+))?(?: /(?P<pattern>.*)/)?"
    r"|(?P<base>u?int[0-9]+|decimal[0-9]*)(?: (?P<range>[-0-9.|]+))?|(?P<word>[a-z0-9-]+)"
)
_DECIMAL_PATTERN = re.compile(r"[ \t\n\r]*[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?[ \t\n\r]*")
_WHOLE_NUMBER_PATTERN = re.compile(
    r"[ \t\n\r]*([+-]?)(?:0[xX]([0-9a-fA-F]{1,99})|(0[0-7]{0,99})|([1-9][0-9]{0,99}))[ \t\n\r]*"
)
"""A whole number of YANG (RFC 7950, section 9.2.1): hexadecimal, octal or decimal."""
_WHOLE_NUMBER_BASES = (16, 8, 10)
_FIELD_SPEC_PATTERN = re.compile(
    r"(required )?(?:default (\"[^\"]*\"|\S+) )?(?:(filled list|list|commas|semicolons) of )?(.+)"
)


@dataclass(slots=True)
class ValueKind:
    """The allowed form of one value: accepted by a test, or the name of a row somewhere."""

    tests: tuple[TextTest, ...]
    targets: tuple[tuple[str, str | None], ...]
    """Tables, each with the field or part of the key that is named; None for the whole key."""
    expected: str
    is_number: bool
    """Whether a number that is not accepted is out of range, and nothing else."""
    takes_all: bool = False
    """Whether it is text of any length, whatever it says."""
    number: NumberParser | None = None
    """What makes a number of a text, where all values are whole numbers."""
    _known: dict[str, bool] = field(default_factory=dict)

    def accepts(self, text: str) -> bool:
        """Whether the text is such a value by itself; what names a row is for others to look up."""
        if not self.tests or self.takes_all:
            return self.takes_all
        is_accepted = self._known.get(text)
        if is_accepted is None:
            if len(self._known) >= _MAX_CACHED_VERDICTS:
                self._known.clear()
            first_test, *other_tests = self.tests
            is_accepted = self._known[text] = first_test(text) or any(test(text) for test in other_tests)
        return is_accepted

    def canonical(self, value_text: str) -> str:
        """Return a text as the models compare it: a whole number without zeros before it and without spaces."""
        parsed_number = self.number(value_text) if self.number else None
        return value_text if parsed_number is None else str(parsed_number)

    def is_out_of_range(self, value_text: str) -> bool:
        """Whether a text that is not accepted is a number, only too small or too large."""
        return self.is_number and bool(_DECIMAL_PATTERN.fullmatch(value_text))


@dataclass(frozen=True, slots=True)
class FieldSchema:
    """A field of a row: its kind, and how it stands in the file."""

    kind: ValueKind
    required: bool = False
    default: str | None = None
    many: str = ""
    """How several values are written: `list`, `filled list`, `commas`, `semicolons`; empty for one value."""

    @property
    def has_unusable_default(self) -> bool:
        """Whether the default is no name of a row, as `0` of a buffer profile: YANG refuses a row without the field."""
        return self.default is not None and self.default.isdecimal() and bool(self.kind.targets)

    def values(self, value: object) -> tuple[str, ...] | None:
        """Return the values in the file's content; None if that has another shape.

        SONiC ignores empty texts in a list since 202605, except in a filled list (sonic_yang_ext.py,
        `_findYangTypedValue`).
        """
        if not self.many:
            return None if isinstance(value, dict) else (str(value),)
        texts = self._list_texts(value)
        return texts if texts is None or self.many == "filled list" else tuple(filter(None, texts))

    def has_refused_empty_text(self, value: object) -> bool:
        """Whether a list has an empty text, which releases that do not ignore it refuse."""
        return bool(self.many) and "" in (self._list_texts(value) or ()) and not self.kind.accepts("")

    def _list_texts(self, value: object) -> tuple[str, ...] | None:
        """Return the values of a list, the empty ones too; None for content of another shape."""
        if isinstance(value, list) and not any(isinstance(member, list | dict) for member in value):
            return tuple(str(member) for member in value)
        if not isinstance(value, str):
            return None
        if self.many in ("commas", "semicolons"):
            return tuple(word.strip() for word in value.split("," if self.many == "commas" else ";"))
        return None if value else ()

    def condition_value(self, value: object) -> str | tuple[str, ...] | None:
        """Return a value as conditions see it; None for a list without values, which is no list."""
        values = self.values(value)
        if values is None:
            return str(value)
        texts = tuple(map(self.kind.canonical, values))
        return (texts or None) if self.many else texts[0]


def merge_fields(fields: list[FieldSchema]) -> FieldSchema:
    """Return the field that takes what any of these takes: one field of several releases."""
    first_field = fields[0]
    if len(fields) == 1:
        return first_field
    kinds = [variant.kind for variant in fields]
    words = [word for kind in kinds for word in kind.expected.split(" or ")]
    together = ValueKind(
        tests=tuple(test for kind in kinds for test in kind.tests),
        targets=tuple(dict.fromkeys(target for kind in kinds for target in kind.targets)),
        expected=" or ".join(dict.fromkeys(words)),
        is_number=all(kind.is_number for kind in kinds),
        takes_all=any(kind.takes_all for kind in kinds),
        number=kinds[-1].number if all(kind.number for kind in kinds) else None,
    )
    required = all(variant.required for variant in fields)
    return FieldSchema(kind=together, required=required, default=first_field.default, many=fields[-1].many)


@cache
def parse_field(value_text: str, *, is_part: bool = False) -> FieldSchema:
    """Return the field that a line of schema.yaml describes, without its releases.

    `is_part` is for a part of a key and for the values that a row maps: YANG reads numbers in them, elsewhere SONiC's
    loader does.
    """
    match = _FIELD_SPEC_PATTERN.fullmatch(value_text)
    if match is None:
        raise ValueError(value_text)
    default = match[2] and match[2].removeprefix('"').removesuffix('"')
    return FieldSchema(
        kind=parse_value_kind(match[4], is_part=is_part), required=bool(match[1]), default=default, many=match[3] or ""
    )


@cache
def parse_value_kind(text: str, *, is_part: bool = False) -> ValueKind:
    """Return the kind that words describe, with `or` between them; ValueError where they describe none."""
    tests: list[TextTest] = []
    targets = []
    expected = []
    is_number = True
    alternatives = _split_alternatives(text)
    is_loaded = len(alternatives) == 1 and text.startswith("uint") and not is_part
    number = _parse_python_int if is_loaded else _parse_yang_int
    for alternative in alternatives:
        match = _VALUE_TYPE_PATTERN.fullmatch(alternative)
        if match is None:
            raise ValueError(alternative)
        is_number &= match["base"] is not None
        if match["ref"]:
            targets.append((match["ref"], match["of"]))
            expected.append(f"the name of a row of {match['ref']}")
        else:
            tests.append(_make_type_test(match, number))
            expected.append(_describe_alternative(match, alternative))
    return ValueKind(
        tests=tuple(tests),
        targets=tuple(targets),
        expected=" or ".join(expected),
        is_number=is_number,
        takes_all="text" in alternatives,
        number=number if len(alternatives) == 1 and text.startswith(("uint", "int")) else None,
    )


def _split_alternatives(text: str) -> list[str]:
    """Split at ` or `, though not within a pattern."""
    alternatives: list[str] = []
    for fragment in text.split(" or "):
        if alternatives and alternatives[-1].count(" /") and not alternatives[-1].endswith("/"):
            alternatives[-1] += f" or {fragment}"
        else:
            alternatives.append(fragment)
    return alternatives


def _describe_alternative(match: re.Match[str], alternative: str) -> str:
    if match["enum"]:
        return " or ".join(match["enum"].split(" "))
    if match["base"]:
        low, high = _RANGE_BY_INTEGER_TYPE.get(match["base"], (None, None))
        limits = match["range"] or (f"{low}..{high}" if low is not None else "")
        digits = match["base"].removeprefix("decimal") if match["base"].startswith("decimal") else ""
        return "a number" + (f" in {limits}" if limits else "") + (f" of at most {digits} decimals" if digits else "")
    if match["pattern"] is not None:
        return f"what matches {quote_text(match['pattern'])}" if match["pattern"] else "nothing"
    if match["length"]:
        return f"{match['length']} characters"
    return _DESCRIPTION_BY_VALUE_TYPE.get(alternative, alternative)


def _make_type_test(match: re.Match[str], number: NumberParser) -> TextTest:
    if match["enum"]:
        return frozenset(match["enum"].split(" ")).__contains__
    if match["base"]:
        if match["base"].startswith("decimal"):
            return _make_decimal_test(match["base"].removeprefix("decimal"), match["range"])
        return _make_whole_number_test(number, match["base"], match["range"])
    if match["word"]:
        return _make_address_test(match["word"])
    low, _, high = (match["length"] or "0..1000000").partition("..")
    least, most = int(low), int(high)
    if match["pattern"] is None:
        return lambda text: least <= len(text) <= most
    matches = re.compile(match["pattern"], re.ASCII).fullmatch
    return lambda text: least <= len(text) <= most and matches(text) is not None


def _make_whole_number_test(number: NumberParser, base: str, stated: str | None) -> TextTest:
    ranges = [(int(low), int(high)) for low, high in _range_ends(stated)] or [_RANGE_BY_INTEGER_TYPE[base]]
    return lambda text: (value := number(text)) is not None and any(low <= value <= high for low, high in ranges)


def _make_decimal_test(digits: str, stated: str | None) -> TextTest:
    ranges = [(float(low), float(high)) for low, high in _range_ends(stated)] or [(float("-inf"), float("inf"))]
    most = int(digits) if digits else None

    def accepts(text: str) -> bool:
        if not _DECIMAL_PATTERN.fullmatch(text):
            return False
        if most is not None and len(text.strip().partition(".")[2].rstrip("0")) > most:
            return False
        return any(low <= float(text) <= high for low, high in ranges)

    return accepts


def _range_ends(stated: str | None) -> list[tuple[str, str]]:
    """Return the first and last numbers of each range."""
    ends = [range_text.partition("..") for range_text in stated.split("|")] if stated else []
    return [(low, high if dots else low) for low, dots, high in ends]


def _parse_python_int(text: str) -> int | None:
    """Return the number that SONiC's loader makes of the text of an unsigned type, which is Python's."""
    try:
        return int(text)
    except ValueError:
        return None


def _parse_yang_int(text: str) -> int | None:
    match = _WHOLE_NUMBER_PATTERN.fullmatch(text)
    if match is None:
        return None
    sign, *digits = match.groups()
    value = next(int(digit, base) for digit, base in zip(digits, _WHOLE_NUMBER_BASES, strict=True) if digit is not None)
    return -value if sign == "-" else value


def _make_address_test(word: str) -> TextTest:
    four = {
        "ip4": _IPV4_REGEX + _ADDRESS_ZONE_REGEX,
        "prefix4": f"{_IPV4_REGEX}/{_IPV4_LENGTH_REGEX}",
        "prefix4-rule": f"{_IPV4_REGEX}/{_IPV4_LENGTH_REGEX}{_PREFIX_RULE_REGEX.format(_IPV4_LENGTH_REGEX)}",
        "ip4-list": f"{_IPV4_REGEX}{_ADDRESS_ZONE_REGEX}(?:,{_IPV4_REGEX}{_ADDRESS_ZONE_REGEX})*",
        "ip4-range": f"{_IPV4_REGEX}(?:-{_IPV4_REGEX})?",
        "mac": _MAC_REGEX,
    }
    six = {
        "ip6": f"([^%,/ ]+){_ADDRESS_ZONE_REGEX}",
        "prefix6": f"([^%,/ ]+)/{_IPV6_LENGTH_REGEX}",
        "prefix6-rule": f"([^%,/ ]+)/{_IPV6_LENGTH_REGEX}{_PREFIX_RULE_REGEX.format(_IPV6_LENGTH_REGEX)}",
        "ip6-list": f"([^%,/ ]+){_ADDRESS_ZONE_REGEX}(?:,[^%,/ ]+{_ADDRESS_ZONE_REGEX})*",
    }
    if word in ("ip", "prefix"):
        is_four, is_six = _make_address_test(f"{word}4"), _make_address_test(f"{word}6")
        return lambda text: is_four(text) or is_six(text)
    if word in four:
        matches = re.compile(four[word]).fullmatch
        return lambda text: matches(text) is not None
    shape = re.compile(six[word]).fullmatch
    return lambda text: (match := shape(text)) is not None and _is_ip6(match[1])


def _is_ip6(value_text: str) -> bool:
    try:
        IPv6Address(value_text)
    except (AddressValueError, NetmaskValueError):
        return False
    return True
