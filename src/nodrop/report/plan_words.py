"""Facts of a plan in the field's words: their names, and their old and new values, with units."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nodrop.limits import MAX_POWER_OF_TWO_EXPONENT
from nodrop.model.fabric import End
from nodrop.model.fields import entry_label, label_of, names_of_fields_with_columns, number_map_words_by_field, unit_of
from nodrop.model.qos import COLORS, QosProfile
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject, ends_of_cable_key
from nodrop.model.types import ROW_KEY_ATTRIBUTES
from nodrop.plan.fact_groups import ANY_KEY, entry_kind, is_row_change, path_template, row_attributes
from nodrop.plan.model import ChangedFact, DifferingEntry
from nodrop.report.names import escape_or_quote_name, format_name_list
from nodrop.units import show_ids, show_speed


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceWording:
    """Words for the differences between the two sides of a plan; `{}` are the old and the new value."""

    change: str
    added: str
    removed: str
    without: str
    having: str
    """What of a list goes and comes."""


PLAN_WORDING = DifferenceWording(
    change="{} -> {}", added="added", removed="removed", without="without {}", having="with {}"
)
"""Of a plan: what is done."""
DRIFT_WORDING = DifferenceWording(
    change="{}, wanted {}", added="missing", removed="not wanted", without="not wanted {}", having="lacks {}"
)
"""Of what runs otherwise than is wanted."""
_NONE_TEXT_BY_FIELD = {"advertised_speeds_mbps": "all", "hwsku": "the base one of the model"}
"""What None means for a field, if it is not none."""
_MAX_VALUE_CHARACTERS = 160
_MAX_SHOWN_VALUES = 8


def format_fact_lines(fact: ChangedFact, wording: DifferenceWording = PLAN_WORDING) -> Iterator[str]:
    """Yield a fact as lines, nearly always one: its name, its old value, and its new value."""
    entry = fact.entries[0]
    called = fact_name(fact)
    if is_row_change(entry):
        yield f"{called}: {_format_row_added_or_removed(fact, wording)}"
    elif (
        entry.path[-1] in number_map_words_by_field() and isinstance(entry.old, tuple) and isinstance(entry.new, tuple)
    ):
        yield from _format_map_changes(called, entry, wording)
    elif _is_unordered_list(entry):
        yield f"{called}: {_format_list_change(entry.old, entry.new, wording)}"
    else:
        old, new = _format_sides(entry)
        if old == new == "":
            old, new = "none", "none"
        yield f"{called}: {wording.change.format(old, new)}"


def _format_sides(entry: DifferingEntry) -> tuple[str, str]:
    """Return the old and the new value in words: sizes both in KiB or MiB, or both in kB or MB."""
    old, new = (format_value(entry.path[-1], side) for side in (entry.old, entry.new))
    binary = [text.endswith("iB") for text in (old, new) if text.endswith(("iB", "kB", "MB"))]
    if isinstance(entry.old, int) and isinstance(entry.new, int) and len(set(binary)) > 1:
        return format_exact_bytes(entry.old, binary=False), format_exact_bytes(entry.new, binary=False)
    return old, new


def _is_unordered_list(entry: DifferingEntry) -> bool:
    """Return whether an entry is a list of plain values without an order: only those that come and go are listed."""
    sides = (entry.old, entry.new)
    if entry.path[-1] not in names_of_fields_with_columns(unordered=True) or not all(
        isinstance(side, tuple) for side in sides
    ):
        return False
    return not any(isinstance(value, tuple) for side in sides for value in side)


def fact_name(fact: ChangedFact) -> str:
    """Return the name of a fact: `queue 3: ECN minimum`."""
    paths = [entry.path for entry in fact.entries]
    shape = path_template(paths[0])
    labels: list[str] = []
    colors: list[str] = []
    for at, field in enumerate(shape):
        keys = list(dict.fromkeys(path[at] for path in paths))
        before = shape[at - 1] if at else ""
        if field == ANY_KEY and before in row_attributes():
            noun = entry_label(before)
            which = _format_cables(keys) if before == "links" else format_name_list(map(escape_or_quote_name, keys))
            labels.append(f"{noun if len(keys) == 1 else _pluralize_noun(noun)} {which}")
        elif field == ANY_KEY:
            colors = keys
        elif at + 1 < len(shape) and (field in row_attributes() or field in names_of_fields_with_columns(heading=True)):
            continue
        else:
            labels.append(_format_wred_color_field(field) if colors else label_of(field))
    text = ": ".join(_join_buffer_parts(labels))
    return text if not colors or set(colors) == set(COLORS) else f"{text} ({', '.join(colors)})"


def _join_buffer_parts(labels: Sequence[str]) -> Iterator[str]:
    """Yield the parts of a name, a buffer together with the label after it."""
    for before, label in zip(("", *labels), labels, strict=False):
        if label == "buffer" and label != labels[-1]:
            continue
        yield f"{before} {label}" if before == "buffer" else label


def _format_cables(keys: Sequence[str]) -> str:
    """Return cables by their end nodes: `leaf3 -- spine1 (2)`; a single one with its ports."""
    if len(keys) == 1:
        return escape_or_quote_name(" -- ".join(map(str, ends_of_cable_key(keys[0]))) or keys[0])
    nodes = Counter(tuple(end.node for end in ends_of_cable_key(key)) for key in keys)
    shown = [f"{' -- '.join(map(escape_or_quote_name, pair))} ({number})" for pair, number in nodes.items()]
    return ", ".join(shown[:_MAX_SHOWN_VALUES]) + (
        f" and {sum(list(nodes.values())[_MAX_SHOWN_VALUES:])} more" if len(shown) > _MAX_SHOWN_VALUES else ""
    )


def _format_wred_color_field(field: str) -> str:
    return "WRED drops" if field == "enabled" else label_of(field)


def format_value(field: str, count: object) -> str:
    """Return a value in words, with the unit that its attribute's name has."""
    match count:
        case Unknown():
            return "unknown"
        case None:
            return _NONE_TEXT_BY_FIELD.get(field, "none")
        case bool():
            return "on" if count else "off"
        case int() | float():
            return _format_number(field, count)
        case tuple():
            return _format_tuple(field, count)
        case QosProfile():
            return "set"
        case frozenset():
            return ", ".join(sorted(format_value(field, member) for member in count)) or "none"
        case _ if dataclasses.is_dataclass(count):
            return _shorten_value(_format_record(count))
    return str(count) or "none"


def _format_number(field: str, number: float) -> str:
    if isinstance(number, int) or field.endswith("_mbps"):
        for ending, spell in _NUMBER_FORMAT_BY_FIELD_END:
            if field.endswith(ending):
                return spell(int(number))
    unit = unit_of(field)
    return f"{number}%" if unit == "percent" else f"{number} {unit}" if unit else str(number)


def _format_tuple(field: str, members: tuple[object, ...]) -> str:
    if isinstance(members, End):
        return str(members)
    if field in number_map_words_by_field():
        return "a map"
    if hasattr(members, "_fields"):
        return "/".join(format_value("", member) for member in members)
    listed = ", ".join(format_value(field, member) for member in members)
    if field.endswith("_mbps"):
        return listed
    numbers = [number for number in members if type(number) is int]
    if members and len(numbers) == len(members) == len(set(numbers)):
        return show_ids(numbers)
    return _shorten_value(listed) or "none"


def format_exact_bytes(count: int, *, binary: bool = True) -> str:
    """Return bytes exactly: `200 kB`, `1.5 MB`, `152.577 kB`, `999 B`, and `149 KiB` and `2 MiB` where `binary`."""
    for power, unit in ((20, "MiB"), (10, "KiB")):
        if binary and count and count % 2**power == 0 and count % 10**3:
            return f"{count >> power} {unit}"
    if count >= 10**6:
        return f"{_format_scaled_integer(count, 6)} MB"
    return f"{_format_scaled_integer(count, 3)} kB" if count >= 10**3 else f"{count} B"


def _format_scaled_integer(count: int, digits: int) -> str:
    integer, fraction = divmod(count, 10**digits)
    return f"{integer}.{fraction:0{digits}d}".rstrip("0").rstrip(".")


def _format_threshold(exponent: int) -> str:
    return str(2**exponent) if 0 <= exponent <= MAX_POWER_OF_TWO_EXPONENT else f"2^{exponent}"


_NUMBER_FORMAT_BY_FIELD_END: Sequence[tuple[str, Callable[[int], str]]] = (
    ("_mbps", show_speed),
    ("_bytes_per_s", lambda rate: f"{rate * 8 / 10**9:.6g} Gb/s"),
    ("mtu_bytes", "{} B".format),
    ("_bytes", format_exact_bytes),
    ("dynamic_th", _format_threshold),
)
"""How the whole numbers of a field are shown whose name ends so; the first that fits holds."""


def _shorten_value(text: str) -> str:
    return text if len(text) <= _MAX_VALUE_CHARACTERS else text[: _MAX_VALUE_CHARACTERS - 4] + " ..."


def _format_record(row: Any) -> str:
    """Return a row in words without its keys, missing values and defaults."""
    shown = []
    for field in dataclasses.fields(row):
        cell = getattr(row, field.name)
        if (
            field.name in (*ROW_KEY_ATTRIBUTES, "a", "b")
            or cell is None
            or isinstance(cell, Unknown)
            or cell == ()
            or cell is field.default
        ):
            continue
        if not isinstance(field.default, Unknown) and cell == field.default and not isinstance(cell, bool | str):
            continue
        shown.append(f"{label_of(field.name)} {format_value(field.name, cell)}")
    return ", ".join(shown) or "there"


def _format_row_added_or_removed(fact: ChangedFact, wording: DifferenceWording) -> str:
    """Return that rows are added or removed, with the values of a single one."""
    entry = fact.entries[0]
    verb = wording.added if entry_kind(entry) == "added" else wording.removed
    row = entry.new if entry.old is None else entry.old
    if len(fact.entries) > 1 or not dataclasses.is_dataclass(row):
        return verb
    record = _format_record(row)
    return verb if record == "there" else f"{verb} ({record})"


def _format_map_changes(called: str, entry: DifferingEntry, wording: DifferenceWording) -> Iterator[str]:
    """Yield what becomes of the entries of a map, those that go the same way together."""
    words = number_map_words_by_field()[entry.path[-1]]
    prefix = called.removesuffix(label_of(entry.path[-1]))
    alike: dict[tuple[Any, Any], list[int]] = {}
    for at, (old, new) in enumerate(zip(entry.old, entry.new, strict=False)):
        if old != new:
            alike.setdefault((old, new), []).append(at)
    for (old, new), indexes in alike.items():
        change_text = wording.change.format(format_value("", old), format_value("", new))
        yield f"{prefix}{words.source} {show_ids(indexes)}: {words.target} {change_text}"


def _format_list_change(old: Sequence[object], new: Sequence[object], wording: DifferenceWording) -> str:
    gone, come = [member for member in old if member not in new], [member for member in new if member not in old]
    if len(gone) == len(come) == 1 or (not gone and not come):
        return wording.change.format(
            format_value("", tuple(gone) or tuple(old)), format_value("", tuple(come) or tuple(new))
        )
    verb_values = ((wording.without, gone), (wording.having, come))
    phrases = [verb.format(format_value("", tuple(members))) for verb, members in verb_values if members]
    return ", ".join(phrases)


def _pluralize_noun(noun: str) -> str:
    if noun.endswith("y"):
        return noun.removesuffix("y") + "ies"
    return noun if noun.endswith("s") and not noun.endswith("ss") else noun + ("es" if noun.endswith("s") else "s")


def format_part_path(path: Subject) -> str:
    """Return the name of a part that one side does not state."""
    return fact_name(ChangedFact(entries=(DifferingEntry(path, None, None),)))
