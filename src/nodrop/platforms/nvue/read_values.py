"""Access to the settings of a file: nodes and values of the expected shape, and a remark for every other one."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from nodrop.limits import MAX_REMARKS_PER_SWITCH
from nodrop.model.reading import NO_REMEDY, FilePlace, Remark, Remedy
from nodrop.model.subject import Subject
from nodrop.model.types import did_you_mean_hint
from nodrop.platforms.nvue.names import expand_numbers
from nodrop.platforms.nvue.schema_types import NUMBER_WITH_UNIT_PATTERN
from nodrop.platforms.nvue.tree import Node, NvueFileTree, Path
from nodrop.syntax.places import quote_text, sanitize_for_message
from nodrop.syntax.shapes import value_at
from nodrop.units import parse_whole_number

_T = TypeVar("_T")

STARTUP_FILE = "startup.yaml"
SERVICES_WITH_SECRETS = frozenset({"aaa", "snmp-server", "tacacs", "radius", "ntp", "ldap"})
"""What below `system` or `service` holds secrets: the value of a misspelled setting there may be one."""
_REMARK_KINDS_ABOUT_PATH_WORDS = ("unknown-setting",)
"""Remarks of a word of a path, whatever value it is given."""
BOOLEAN_BY_WORD: Mapping[str, bool] = {
    "on": True, "enabled": True, "enable": True, "true": True,
    "off": False, "disabled": False, "disable": False, "false": False,
}  # fmt: skip
"""Words of both dialects for yes and no; a quoted one means the same, and so does a YAML boolean."""

FindRemedy = Callable[[], Remedy]
"""Gives how to correct a fault; it is called where the fault is remarked."""


def no_remedy() -> Remedy:
    """Return the remedy of a fault that only its owner can correct."""
    return NO_REMEDY


class NvueConfigFile:
    """One file, opened: its settings, and the remarks that reading it gives."""

    def __init__(self, device: str, tree: NvueFileTree | None) -> None:
        """Without a tree, nothing is set."""
        self.device = device
        self.tree = tree
        self.remarks: list[Remark] = []
        self._remarked: set[tuple[object, ...]] = set()

    @property
    def top(self) -> "ConfigNodeView":
        """All that is set."""
        return ConfigNodeView(self, self.tree.root if self.tree else {}, ())

    def place(self, path: Path, *, key: bool = False, unset: bool = False) -> FilePlace | None:
        """Return where the nearest existing part of a path stands: its value, or with `key` its last word.

        With `unset`, it is the place where the path is taken back.
        """
        span = self.tree.span(path, key=key, unset=unset) if self.tree else None
        return FilePlace(STARTUP_FILE, span) if span else None

    def remark_malformed_value(self, path: Path, found_text: str, expected: str) -> None:
        """Remark that a value is not what its setting takes."""
        self.remark("malformed-value", (), path, path=render_path(path), found=found_text, expected=expected)

    @property
    def has_reached_fault_limit(self) -> bool:
        """Whether as many faults are listed as are listed of one switch: what else is wrong is not looked for."""
        return len(self.remarks) >= MAX_REMARKS_PER_SWITCH

    def remark(self, kind: str, subject: Subject, path: Path, correct: FindRemedy = no_remedy, /, **facts: str) -> None:
        """Remember something wrong in the text at `path`, once; `subject` is below the device.

        What is written once for many ports, in a list or a range, is wrong once. `correct` gives what ends it.
        """
        self._remember(kind, subject, path, facts, correct=correct)

    def remark_unset(self, object_kind: str, path: Path, /, **facts: str) -> None:
        """Record a problem where the text unsets the value at `path`, once."""
        self._remember(object_kind, (), path, facts, unset=True)

    def _remember(
        self,
        object_kind: str,
        subject: Subject,
        path: Path,
        facts: dict[str, str],
        *,
        unset: bool = False,
        correct: FindRemedy = no_remedy,
    ) -> None:
        fault = (object_kind, path, *facts.values())
        if not self.has_reached_fault_limit and fault not in self._remarked:
            self._remarked.add(fault)
            place = self.place(path, key=object_kind in _REMARK_KINDS_ABOUT_PATH_WORDS, unset=unset)
            placed_fault = (object_kind, place, *(fact for key, fact in facts.items() if key != "path"))
            if place is not None and placed_fault in self._remarked and "path" in facts:
                return
            self._remarked.add(placed_fault)
            self.remarks.append(
                Remark(
                    kind=object_kind,
                    subject=(self.device, *subject),
                    place=place,
                    facts=facts,
                    remedy=correct(),
                    secret=object_kind == "unknown-setting" and not SERVICES_WITH_SECRETS.isdisjoint(path[1:2]),
                )
            )


@dataclass(slots=True)
class ConfigNodeView:
    """A node of the tree and its path; a lookup of a missing key gives an empty node, or None."""

    config: NvueConfigFile
    node: Node
    path: Path

    def __bool__(self) -> bool:
        return bool(self.node)

    def has(self, key: str) -> bool:
        """Whether the node has a key, with any content below it."""
        return key in self.node

    def below(self, *keys: str) -> "ConfigNodeView":
        """Return the node below some keys; a text there counts as its only key."""
        content = value_at(self.node, *keys)
        node: Node = content if isinstance(content, dict) else {content: {}} if isinstance(content, str) else {}
        return ConfigNodeView(self.config, node, (*self.path, *keys))

    def items(self) -> "Iterator[tuple[str, ConfigNodeView]]":
        """Yield (key, node below it), keys as they are written."""
        return ((key, self.below(key)) for key in self.node)

    def text(self, key: str) -> str | None:
        """Return a value as text, None where there is none."""
        value = self.node.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, dict):
            return next(reversed(value), None)
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is not None:
            self.config.remark_malformed_value((*self.path, key), "a list", "one value")
        return None

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the keys below a key, or the one value there."""
        return tuple(self.below(key).node)

    def meaning_of_word(self, key: str, words: Mapping[str, _T]) -> _T | None:
        """Return the meaning of a value's word, None if it is absent or unknown (with a remark)."""
        text = self.text(key)
        if text is None:
            return None
        if text not in words:
            hint = did_you_mean_hint(text, words)
            expected = (
                " or ".join(words)
                if words is not BOOLEAN_BY_WORD
                else "on, enabled or enable, off, disabled or disable"
            )
            self.config.remark_malformed_value(
                (*self.path, key), quote_text(text), f"{expected} ({hint})" if hint else expected
            )
            return None
        return words[text]

    def flag(self, key: str) -> bool | None:
        """Return a yes or no, in the words of either dialect."""
        flag_value = self.meaning_of_word(key, BOOLEAN_BY_WORD)
        self._remark_extra_words(key)
        return flag_value

    def _remark_extra_words(self, key: str) -> None:
        """Remark words that go on after a value: a command sets one value."""
        value = self.node.get(key)
        if type(value) is dict and value and (next_node := next(reversed(value.values()))) and type(next_node) is dict:
            words = next(iter(next_node))
            self.config.remark_malformed_value(
                (*self.path, key), quote_text(f"{next(reversed(value))} {words} …"), "one value, and no more"
            )

    def integer(self, key: str, low: int, high: int, unit: str = "") -> int | None:
        """Return a number of `unit`; None where it is absent, not a number or out of range (with a remark).

        The schema check remarks a number with a unit.
        """
        text = self.node.get(key)
        if type(text) is not str:
            text = self.text(key)
            if text is None:
                return None
            self._remark_extra_words(key)
        number = parse_whole_number(text, high)
        if number is not None and number >= low:
            return number
        path = (*self.path, key)
        if not NUMBER_WITH_UNIT_PATTERN.fullmatch(text):
            of_unit = f" of {unit}" if unit else ""
            self.config.remark_malformed_value(path, quote_text(text), f"a whole number{of_unit} from {low} to {high}")
        return None

    def items_by_number(self, key: str, limit: int) -> "Iterator[tuple[int, ConfigNodeView]]":
        """Yield (number, node) for the keys below a key, lists written out.

        A key that is not a number up to `limit` is left out, with a remark.
        """
        inside = self.below(key)
        for spelt, node in inside.items():
            found_numbers = expand_numbers(spelt)
            if not found_numbers or found_numbers[-1] > limit or max(found_numbers) > limit:
                self.config.remark_malformed_value(
                    node.path, quote_text(spelt), f"numbers from 0 to {limit}, such as 0-2,4"
                )
            for number in found_numbers:
                if number <= limit:
                    yield number, node


def render_path(path: Path) -> str:
    """Return a path as one types it after `nv set`."""
    return " ".join(map(sanitize_for_message, path))


def is_on(node: ConfigNodeView) -> bool | None:
    """Return whether a setting is on, in the words of either dialect; None if it is not stated."""
    state = node.flag("state") if node.has("state") else None
    return node.flag("enable") if state is None and node.has("enable") else state
