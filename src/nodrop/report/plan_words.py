"""Facts of a plan in the field's words: what they are called, and what they were and become, with units."""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from nodrop.limits import MAX_POWER
from nodrop.model.fabric import End
from nodrop.model.fields import entry_label, label_of, named, numbers, unit_of
from nodrop.model.qos import COLORS, QosProfile
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject, cable_ends
from nodrop.model.types import KEYS
from nodrop.plan.model import Entry, Fact
from nodrop.plan.telling import ANY, is_row, kind_of, rows, template
from nodrop.report.names import listing, name
from nodrop.units import show_ids, show_speed


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """How what stands on the two sides of a plan is told; `{}` are the old and the new value."""

    change: str
    added: str
    removed: str
    without: str
    having: str
    """What of a list goes and comes."""


CHANGING = Wording(change="{} -> {}", added="added", removed="removed", without="without {}", having="with {}")
"""Of a plan: what is done."""
DIFFERING = Wording(
    change="{}, wanted {}", added="missing", removed="not wanted", without="not wanted {}", having="lacks {}"
)
"""Of what runs otherwise than is wanted."""
_NONE = {"advertised_speeds_mbps": "all", "hwsku": "the base one of the model"}
"""What None means for a field, if it is not none."""
_LONGEST = 160
_SHOWN = 8


def lines(fact: Fact, wording: Wording = CHANGING) -> Iterator[str]:
    """Yield a fact as lines, nearly always one: what it is, what it was, and what it becomes."""
    one = fact.entries[0]
    called = what(fact)
    if is_row(one):
        yield f"{called}: {_row_said(fact, wording)}"
    elif one.path[-1] in numbers() and isinstance(one.old, tuple) and isinstance(one.new, tuple):
        yield from _map_lines(called, one, wording)
    elif _is_set(one):
        yield f"{called}: {_list_said(one.old, one.new, wording)}"
    else:
        old, new = (value(one.path[-1], each) for each in (one.old, one.new))
        if old == new == "":
            old, new = "none", "none"
        yield f"{called}: {wording.change.format(old, new)}"


def _is_set(entry: Entry) -> bool:
    """Return whether an entry is a list of plain values without an order: only those that come and go are listed."""
    both = (entry.old, entry.new)
    if entry.path[-1] not in named(unordered=True) or not all(isinstance(one, tuple) for one in both):
        return False
    return not any(isinstance(value, tuple) for one in both for value in one)


def what(fact: Fact) -> str:
    """Return what a fact is called: `queue 3: ECN minimum`."""
    paths = [entry.path for entry in fact.entries]
    shape = template(paths[0])
    said: list[str] = []
    colors: list[str] = []
    for at, part in enumerate(shape):
        keys = list(dict.fromkeys(path[at] for path in paths))
        before = shape[at - 1] if at else ""
        if part == ANY and before in rows():
            noun = entry_label(before)
            which = _pairs(keys) if before == "links" else listing(map(name, keys))
            said.append(f"{noun if len(keys) == 1 else _plural(noun)} {which}")
        elif part == ANY:
            colors = keys
        elif at + 1 < len(shape) and (part in rows() or part in named(heading=True)):
            continue
        else:
            said.append(_color_flag(part) if colors else label_of(part))
    text = ": ".join(_joined(said))
    return text if not colors or set(colors) == set(COLORS) else f"{text} ({', '.join(colors)})"


def _joined(said: Sequence[str]) -> Iterator[str]:
    """Yield the parts of a name, a buffer together with what is said of it."""
    for before, part in zip(("", *said), said, strict=False):
        if part == "buffer" and part != said[-1]:
            continue
        yield f"{before} {part}" if before == "buffer" else part


def _pairs(keys: Sequence[str]) -> str:
    """Return cables by what they lie between: `leaf3 -- spine1 (2)`; a single one with its ports."""
    if len(keys) == 1:
        return name(" -- ".join(map(str, cable_ends(keys[0]))) or keys[0])
    nodes = Counter(tuple(end.node for end in cable_ends(key)) for key in keys)
    shown = [f"{' -- '.join(map(name, pair))} ({number})" for pair, number in nodes.items()]
    return ", ".join(shown[:_SHOWN]) + (
        f" and {sum(list(nodes.values())[_SHOWN:])} more" if len(shown) > _SHOWN else ""
    )


def _color_flag(part: str) -> str:
    return "WRED drops" if part == "enabled" else label_of(part)


def value(part: str, given: Any) -> str:
    """Return a value in words, with the unit that its attribute's name has."""
    match given:
        case Unknown():
            return "unknown"
        case None:
            return _NONE.get(part, "none")
        case bool():
            return "on" if given else "off"
        case int() | float() if part.endswith("_mbps"):
            return show_speed(int(given))
        case int() if part.endswith("_bytes_per_s"):
            return f"{given * 8 / 10**9:.6g} Gb/s"
        case int() if part.endswith("mtu_bytes"):
            return f"{given} B"
        case int() if part.endswith("_bytes"):
            return size(given)
        case int() if part == "dynamic_th":
            return str(2**given) if 0 <= given <= MAX_POWER else f"2^{given}"
        case int() | float() if unit_of(part):
            return f"{given}%" if unit_of(part) == "percent" else f"{given} {unit_of(part)}"
        case End():
            return str(given)
        case tuple() if part in numbers():
            return "a map"
        case QosProfile():
            return "set"
        case frozenset():
            return ", ".join(sorted(value(part, each) for each in given)) or "none"
        case tuple() if hasattr(given, "_fields"):
            return "/".join(value("", each) for each in given)
        case tuple() if part.endswith("_mbps"):
            return ", ".join(value(part, each) for each in given)
        case tuple() if given and all(type(each) is int for each in given) and len(set(given)) == len(given):
            return show_ids(given)
        case tuple():
            return _short(", ".join(value(part, each) for each in given)) or "none"
        case _ if dataclasses.is_dataclass(given):
            return _short(_record(given))
    return str(given) or "none"


def size(count: int) -> str:
    """Return bytes exactly: `200 kB`, `1.5 MB`, `149 KiB`, `2 MiB`, `152.577 kB`, `999 B`."""
    for power, unit in ((20, "MiB"), (10, "KiB")):
        if count and count % 2**power == 0 and count % 10**3:
            return f"{count >> power} {unit}"
    if count >= 10**6:
        return f"{_exact(count, 6)} MB"
    return f"{_exact(count, 3)} kB" if count >= 10**3 else f"{count} B"


def _exact(count: int, digits: int) -> str:
    whole, rest = divmod(count, 10**digits)
    return f"{whole}.{rest:0{digits}d}".rstrip("0").rstrip(".")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 4] + " ..."


def _record(given: Any) -> str:
    """Return a row in words without what names it, what is not there and what is as it always is."""
    shown = []
    for field in dataclasses.fields(given):
        each = getattr(given, field.name)
        if (
            field.name in (*KEYS, "a", "b")
            or each is None
            or isinstance(each, Unknown)
            or each == ()
            or each is field.default
        ):
            continue
        if not isinstance(field.default, Unknown) and each == field.default and not isinstance(each, bool | str):
            continue
        shown.append(f"{label_of(field.name)} {value(field.name, each)}")
    return ", ".join(shown) or "there"


def _row_said(fact: Fact, wording: Wording) -> str:
    """Return that rows come or go, and what is said of a single one."""
    one = fact.entries[0]
    verb = wording.added if kind_of(one) == "added" else wording.removed
    row = one.new if one.old is None else one.old
    if len(fact.entries) > 1 or not dataclasses.is_dataclass(row):
        return verb
    said = _record(row)
    return verb if said == "there" else f"{verb} ({said})"


def _map_lines(called: str, entry: Entry, wording: Wording) -> Iterator[str]:
    """Yield what becomes of the entries of a map, those that go the same way together."""
    words = numbers()[entry.path[-1]]
    prefix = called.removesuffix(label_of(entry.path[-1]))
    alike: dict[tuple[Any, Any], list[int]] = {}
    for at, (old, new) in enumerate(zip(entry.old, entry.new, strict=False)):
        if old != new:
            alike.setdefault((old, new), []).append(at)
    for (old, new), indexes in alike.items():
        said = wording.change.format(value("", old), value("", new))
        yield f"{prefix}{words.source} {show_ids(indexes)}: {words.target} {said}"


def _list_said(old: Sequence[Any], new: Sequence[Any], wording: Wording) -> str:
    gone, come = [each for each in old if each not in new], [each for each in new if each not in old]
    if len(gone) == len(come) == 1 or (not gone and not come):
        return wording.change.format(value("", tuple(gone) or tuple(old)), value("", tuple(come) or tuple(new)))
    both = ((wording.without, gone), (wording.having, come))
    said = [verb.format(value("", tuple(each))) for verb, each in both if each]
    return ", ".join(said)


def _plural(noun: str) -> str:
    if noun.endswith("y"):
        return noun.removesuffix("y") + "ies"
    return noun if noun.endswith("s") and not noun.endswith("ss") else noun + ("es" if noun.endswith("s") else "s")


def path_said(path: Subject) -> str:
    """Return what a part is called of which one side says nothing."""
    return what(Fact(entries=(Entry(path, None, None),)))
