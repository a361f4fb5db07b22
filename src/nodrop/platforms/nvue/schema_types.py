"""Allowed values of NVUE settings, from the texts of schema.yaml; its head describes how they are written."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Literal

from nodrop.units import parse_whole_number

Release = tuple[int, int]
ChipGenerations = tuple[int, int]
"""The first and the last generation of Spectrum."""
Dialect = Literal["old", "new"]
"""`old` is up to 5.14, `new` from 5.15 on: either refuses the words of the other."""
ValueVerdict = tuple["SettingAvailability", ...] | Literal["unit", "value"] | None
"""None: taken by every release; spans: taken by some; `unit`: a number with a unit; `value`: taken by none."""

_RELEASE_SPAN_PATTERN = re.compile(
    r"(?:since (?P<since>[0-9.]+) ?)?(?:until (?P<until>[0-9.]+) ?)?"
    r"(?:on (?P<oldest>[1-9])\.\.(?P<newest>[1-9])? ?)?(?P<rest>.*)"
)
FUTURE_CHIP_GENERATION = 9
"""Stands for chips yet to come."""
_REPLACEMENT_PATTERN = re.compile(r"(?P<rest>.*?),? ?\b(?:now|was) (?P<instead>.*)")
_NUMBER_RANGE_PATTERN = re.compile(r"(?P<unit>\S+) (?P<low>[0-9]+)\.\.(?P<high>[0-9]+)")
NUMBER_WITH_UNIT_PATTERN = re.compile(r"[0-9]+(?:\.[0-9]+)?\s*(?:%|[A-Za-z]{1,4}(?:/s)?)")
_SPEED_PATTERN = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,3})?[MGT]")
_IPV4_PATTERN = re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(?:\.(?!$)|$)){4}")
_MAX_CACHED_VERDICTS = 4096

OLD, NEW = (5, 14), (5, 15)
"""The last release of the old dialect and the first of the new one."""
_ON_OFF_WORD_PAIRS = (("on", "enabled"), ("off", "disabled"))
_YAML_BOOLEANS = ("true", "false")
"""What `on` and `off` become where a program reads YAML 1.1 and writes it again."""


@dataclass(frozen=True, slots=True)
class SettingAvailability:
    """First and last release with a setting, its chips, and the equivalent in the other dialect.

    Both ends are included.
    """

    since: Release | None = None
    until: Release | None = None
    instead: str = ""
    chips: ChipGenerations | None = None
    """None are all."""

    def has_release(self, release: Release | None) -> bool:
        """Whether a release is in the span; one that is not known always is."""
        return release is None or (
            (self.since is None or self.since <= release) and (self.until is None or release <= self.until)
        )

    def has_chip(self, chip: int | None) -> bool:
        """Whether a generation of Spectrum has it; one that is not known always does."""
        return chip is None or self.chips is None or self.chips[0] <= chip <= self.chips[1]

    @property
    def dialect(self) -> Dialect | None:
        """The dialect whose words these are, None where the other has no words for it."""
        if not self.instead:
            return None
        return "old" if self.until == OLD else "new" if self.since == NEW else None

    @property
    def has_limits(self) -> bool:
        """Whether there is a release or a chip that is not in it."""
        return self.since is not None or self.until is not None or self.chips is not None


UNLIMITED_SPAN = SettingAvailability()


@dataclass(frozen=True, slots=True)
class ValueAlternative:
    """One thing that a value may be."""

    span: SettingAvailability
    takes: Callable[[str], bool]
    said: str
    unit: str | None
    """Of a number, its unit; None where the value is no number."""


@dataclass(frozen=True, eq=False)
class SettingLeaf:
    """A setting with a value."""

    span: SettingAvailability
    choices: tuple[ValueAlternative, ...]
    _seen: dict[str, ValueVerdict]

    def verdict(self, text: str) -> ValueVerdict:
        """Return the verdict on a value; each value is checked once."""
        if text in self._seen:
            return self._seen[text]
        if len(self._seen) >= _MAX_CACHED_VERDICTS:
            self._seen.clear()
        found_verdict = self._seen[text] = self._check_value(text)
        return found_verdict

    def _check_value(self, text: str) -> ValueVerdict:
        spans = tuple(choice.span for choice in self.choices if choice.takes(text))
        if any(not span.has_limits for span in spans):
            return None
        if spans:
            return spans
        return "unit" if self.unit and NUMBER_WITH_UNIT_PATTERN.fullmatch(text) else "value"

    @cached_property
    def unit(self) -> str:
        """The unit of the numbers it takes; empty where it takes none."""
        return next((choice.unit for choice in self.choices if choice.unit), "")

    def expected(self, release: Release | None) -> str:
        """Return the values that a release takes, in words."""
        words = [choice.said for choice in self.choices if choice.said and choice.span.has_release(release)]
        return " or ".join(dict.fromkeys(words))


def parse_setting_leaf(key: str, spec: str | list[str]) -> SettingLeaf:
    """Return the setting `key` that a text, or a list of them, describes."""
    if isinstance(spec, str):
        span, remainder = parse_release_span(spec)
        if remainder == "switch":
            span = (
                SettingAvailability(until=OLD, instead="state enabled")
                if key == "enable"
                else SettingAvailability(NEW, instead="enable on")
            )
        return SettingLeaf(span, _choices_of(key, remainder), {})
    rows = map(parse_release_span, spec)
    choices = [replace(choice, span=span) for span, choice_text in rows for choice in _choices_of(key, choice_text)]
    return SettingLeaf(UNLIMITED_SPAN, tuple(choices), {})


@cache
def parse_release_span(spec: str) -> tuple[SettingAvailability, str]:
    """Return since when, until when and on which chips, and the rest of a text."""
    instead = _REPLACEMENT_PATTERN.fullmatch(spec)
    match = _RELEASE_SPAN_PATTERN.fullmatch(instead["rest"] if instead else spec)
    assert match is not None
    chips = (int(match["oldest"]), int(match["newest"] or FUTURE_CHIP_GENERATION)) if match["oldest"] else None
    since, until = (parse_release(text) if (text := match[end]) else None for end in ("since", "until"))
    span = SettingAvailability(since, until, instead["instead"] if instead else "", chips)
    return UNLIMITED_SPAN if span == UNLIMITED_SPAN else span, match["rest"]


def parse_release(config_text: str) -> Release:
    """Return the release that a text such as `5.16` names."""
    major, _, minor = config_text.partition(".")
    return int(major), int(minor)


@cache
def _choices_of(key: str, spec: str) -> tuple[ValueAlternative, ...]:
    """Return the allowed values; a few hundred texts describe all settings."""
    return tuple(_parse_choices(key, spec))


def _parse_choices(key: str, spec: str) -> Iterator[ValueAlternative]:
    kind, _, words = spec.partition(" or ") if not spec.startswith("one of ") else ("", "", spec[len("one of ") :])
    if kind in ("flag", "switch"):
        for old, new in _ON_OFF_WORD_PAIRS:
            if kind == "flag" or key == "enable":
                yield _word_choice(
                    old, SettingAvailability(until=OLD, instead=new) if kind == "flag" else UNLIMITED_SPAN
                )
            if kind == "flag" or key != "enable":
                yield _word_choice(new, SettingAvailability(NEW, instead=old) if kind == "flag" else UNLIMITED_SPAN)
        yield from (_word_choice(word, said="") for word in _YAML_BOOLEANS)
    elif kind == "able":
        yield from map(_word_choice, ("enable", "disable"))
        yield from (_word_choice(word, said="") for word in ("enabled", "disabled"))
    elif number := _NUMBER_RANGE_PATTERN.fullmatch(kind):
        yield _number_choice(number)
    elif kind in _PATTERN_BY_VALUE_KIND:
        pattern, name = _PATTERN_BY_VALUE_KIND[kind]
        yield ValueAlternative(UNLIMITED_SPAN, lambda text: pattern.fullmatch(text) is not None, name, None)
    elif kind:
        assert kind == "text", spec
        yield ValueAlternative(UNLIMITED_SPAN, lambda _: True, "a text", None)
    yield from map(_word_choice, words.split())


_PATTERN_BY_VALUE_KIND: Mapping[str, tuple[re.Pattern[str], str]] = {
    "speed": (_SPEED_PATTERN, "a speed such as 400G"),
    "ip4": (_IPV4_PATTERN, "an IPv4 address"),
}


def _word_choice(word: str, span: SettingAvailability = UNLIMITED_SPAN, said: str | None = None) -> ValueAlternative:
    return ValueAlternative(span, word.__eq__, word if said is None else said, None)


def _number_choice(match: re.Match[str]) -> ValueAlternative:
    low, high, unit = int(match["low"]), int(match["high"]), match["unit"]

    def takes(text: str) -> bool:
        number = parse_whole_number(text, high)
        return number is not None and number >= low

    of_unit = "" if unit == "number" else f" of {unit}"
    return ValueAlternative(
        UNLIMITED_SPAN, takes, f"a whole number{of_unit} from {low} to {high}", unit if of_unit else "none"
    )
