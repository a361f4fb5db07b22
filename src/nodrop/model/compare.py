"""Comparison of two values of the model: fields a platform cannot carry set to UNKNOWN, the differences, and a mix of
both.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import attrgetter, is_
from typing import Any, NamedTuple

from nodrop.model.fabric import Device, Link
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.subject import Subject, subject_text
from nodrop.model.types import key_of, row_key_attribute_of


class ModelDifference(NamedTuple):
    """One place where two values of the model are not the same, by its path from where the comparison began.

    A row that only one side has is None on the other.
    """

    path: Subject
    a: object
    b: object

    def __str__(self) -> str:
        return f"{subject_text(self.path)}: {self.a!r} is not {self.b!r}"


AcceptsDifference = Callable[[Subject, object, object], bool]
"""Whether one difference is made: by its path, the old value and the new one."""


def mask_unsupported_fields(device: Device, not_carried: Iterable[str]) -> Device:
    """Return the device with the paths that a platform's files cannot express set to UNKNOWN.

    A path consists of attributes and the names of rows, `*` being every row: `interfaces/*/link_pause`. A path that
    exists on some devices only (through a part that is None or UNKNOWN on this one) is left alone there; an attribute
    that the model does not have is an AttributeError, because a list with a misspelled path would promise more than it
    keeps.
    """
    for path in not_carried:
        device = _replace_with_unknown(device, path.split("/"))
    return device


def _replace_with_unknown(node: Any, path: Sequence[str]) -> Any:
    if not path:
        return UNKNOWN
    if node is None or isinstance(node, Unknown):
        return node
    head, *remaining_paths = path
    if isinstance(node, tuple) and not hasattr(node, "_fields"):
        keyed_rows = zip(node, map(key_of, node, range(len(node))), strict=True)
        return tuple(
            _replace_with_unknown(row, remaining_paths) if head in ("*", key) else row for row, key in keyed_rows
        )
    old = getattr(node, head)
    new = _replace_with_unknown(old, remaining_paths)
    return node if new is old else replace(node, **{head: new})


def differences(left_value: object, right_value: object, *, whole_lists: bool = False) -> Iterator[ModelDifference]:
    """Yield every place where two values of the model differ: none exactly where they are equal.

    It never raises: UNKNOWN equals only UNKNOWN. Rows are matched by the key that their path has (`interfaces`,
    `Ethernet8`), or by position where they have none; of rows that are the same but for their order, the order is the
    difference. A map of another length is one difference; with `whole_lists`, so is every list of plain values.
    """
    yield from _find_differences(left_value, right_value, (), whole_lists)


def _find_differences(a: Any, b: Any, path: Subject, whole_lists: bool) -> Iterator[ModelDifference]:
    if a is b:
        return
    if type(a) is not type(b):
        yield ModelDifference(path, a, b)
    elif isinstance(a, tuple) and not hasattr(a, "_fields"):
        if whole_lists and not any(map(is_dataclass, (*a, *b))):
            yield from () if a == b else (ModelDifference(path, a, b),)
        else:
            yield from _row_differences(a, b, path, whole_lists)
    elif known := _field_names_and_reader(a.__class__):
        names, content = known
        for name, old, new in zip(names, content(a), content(b), strict=True):
            if not _are_identical_or_equal_plain(old, new):
                yield from _find_differences(old, new, (*path, name), whole_lists)
    elif a != b:
        yield ModelDifference(path, a, b)


def apply_differences(old_value: object, new_value: object, takes: AcceptsDifference) -> Any:
    """Return the old value with the chosen differences from the new one made.

    Differences are those of `differences(old, new, whole_lists=True)`: with all of them it is the new value itself,
    with none the old one.
    """
    return _merge_values(old_value, new_value, (), takes)


def _merge_values(a: Any, b: Any, path: Subject, takes: AcceptsDifference) -> object:
    if a is b:
        return a
    rows = isinstance(a, tuple) and type(a) is type(b) and not hasattr(a, "_fields")
    if (
        rows
        and any(map(is_dataclass, (*a, *b)))
        and (_keys_of_rows(a) == _keys_of_rows(b) or all(map(_has_key, (*a, *b))))
    ):
        return _merge_rows(a, b, path, takes)
    if type(a) is not type(b) or not is_dataclass(a):
        alike = type(a) is type(b) and a == b
        return a if alike or not takes(path, a, b) else b
    known = _field_names_and_reader(a.__class__)
    if known is None:  # without fields, both are the same
        return b
    names, content = known
    olds, news = content(a), content(b)
    merged = [
        old if _are_identical_or_equal_plain(old, new) else _merge_values(old, new, (*path, name), takes)
        for name, old, new in zip(names, olds, news, strict=True)
    ]
    if all(map(is_, merged, news)):
        return b
    if all(map(is_, merged, olds)):
        return a
    changed: Any = a
    return replace(changed, **dict(zip(names, merged, strict=True)))


def _merge_rows(
    a: tuple[object, ...], b: tuple[object, ...], path: Subject, takes: AcceptsDifference
) -> tuple[object, ...]:
    """Return rows in the order of the new ones; old rows that stay but are missing in the new ones keep their place."""
    a_keys, right = _keys_of_rows(a), _keys_of_rows(b)
    if a_keys == right:
        output = [_merge_values(row, b_row, (*path, key), takes) for row, b_row, key in zip(a, b, a_keys, strict=True)]
        return _reuse_side_with_identical_rows(tuple(output), a, b)
    if not _has_distinct_keys(a_keys) or not _has_distinct_keys(right):
        return b if takes(path, a, b) else a
    rows, new_rows = dict(zip(a_keys, a, strict=True)), dict(zip(right, b, strict=True))
    common_keys = [[key for key in keys if key in rows and key in new_rows] for keys in (a_keys, right)]
    reordered = common_keys[0] == common_keys[1] or takes(path, tuple(common_keys[0]), tuple(common_keys[1]))
    main_keys, added_keys = (right, a_keys) if reordered else (a_keys, right)
    order = list(main_keys)
    for at, key in enumerate(added_keys):
        if key not in rows or key not in new_rows:
            before = next((earlier_key for earlier_key in reversed(added_keys[:at]) if earlier_key in order), None)
            order.insert(0 if before is None else order.index(before) + 1, key)
    output = []
    for key in order:
        if key in rows and key in new_rows:
            output.append(_merge_values(rows[key], new_rows[key], (*path, key), takes))
        elif takes((*path, key), rows.get(key), new_rows.get(key)) == (key in new_rows):
            output.append(rows.get(key, new_rows.get(key)))
    return _reuse_side_with_identical_rows(tuple(output), a, b)


def _reuse_side_with_identical_rows(rows: tuple[object, ...], *sides: tuple[object, ...]) -> tuple[object, ...]:
    """Return rows as the object that one of the sides has for them."""
    return next((side for side in reversed(sides) if len(side) == len(rows) and all(map(is_, rows, side))), rows)


def _are_equal_and_plain(a: tuple[object, ...], b: tuple[object, ...]) -> bool:
    """Whether two lists have the same plain values, such as the maps of 64 DSCPs that every port has."""
    kinds = list(map(type, a))
    return _SCALAR_TYPES.issuperset(kinds) and kinds == list(map(type, b)) and a == b


def _row_differences(
    a: tuple[object, ...], b: tuple[object, ...], path: Subject, whole_lists: bool
) -> Iterator[ModelDifference]:
    if _are_equal_and_plain(a, b):
        return
    a_keys, right = _keys_of_rows(a), _keys_of_rows(b)
    if a_keys == right:
        for row, b_side, key in zip(a, b, a_keys, strict=True):
            yield from _find_differences(row, b_side, (*path, key), whole_lists)
    elif all(map(_has_key, (*a, *b))) and _has_distinct_keys(a_keys) and _has_distinct_keys(right):
        rows, new_rows = dict(zip(a_keys, a, strict=True)), dict(zip(right, b, strict=True))
        for key in dict.fromkeys((*a_keys, *right)):
            yield from _find_differences(rows.get(key), new_rows.get(key), (*path, key), whole_lists)
        in_both = rows.keys() & new_rows.keys()
        if (order := [key for key in a_keys if key in in_both]) != (b_side := [key for key in right if key in in_both]):
            yield ModelDifference(path, tuple(order), tuple(b_side))
    else:
        yield ModelDifference(path, a, b)


def _keys_of_rows(rows: tuple[object, ...]) -> list[str]:
    return [key_of(row, position) for position, row in enumerate(rows)]


def _are_identical_or_equal_plain(old: object, new: object) -> bool:
    """Whether two values are one object or equal plain ones, which takes no look inside."""
    return old is new or (type(old) is type(new) and type(old) in _SCALAR_TYPES and old == new)


def _has_key(row: Any) -> bool:
    return isinstance(row, Link) or row_key_attribute_of(row.__class__) is not None


_SCALAR_TYPES = frozenset({bool, int, str})
"""Types of values that are compared at once: of a switch's thousands of values, nearly all are equal."""


@cache
def _field_names_and_reader(kind: Hashable) -> tuple[tuple[str, ...], Callable[[object], tuple[object, ...]]] | None:
    """Return the names of the fields of a kind of part, and how to read them all; None for other values."""
    names = tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
    if not names:
        return None
    return names, attrgetter(*names) if len(names) > 1 else lambda part: (getattr(part, names[0]),)


def _has_distinct_keys(keys: list[str]) -> bool:
    return len(set(keys)) == len(keys)
