"""Values of a few known classes as bytes and back: JSON, column by column; the reader can build nothing else.

A million ports have a thousand different values between them: a column that is the same all the way down is stored
once, equal objects stay one object, and a port of 20 fields comes back in about a microsecond. Nothing is called by
name and nothing is looked up but the classes and the named objects of the `PackerOfClasses`; a text with anything
unforeseen is `UnreadablePackedBytes`.
"""

import dataclasses
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise, repeat
from operator import attrgetter
from types import MappingProxyType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import orjson

from nodrop.identity import IdentityMap

MAX_UNPACKED_VALUES = 100_000_000
"""The most values of an unpacked document, shared ones counted at each of their places.

A few bytes can say a billion laughs. Fifty switches of 64 ports come to three million.
"""

_MAX_COLUMN_DEPTH = 60
"""How many columns may lie in each other; those of a finding, the deepest, are 20."""

_PLAIN_TYPES = frozenset({str, int, bool, type(None)})
_SCALAR_TYPES = _PLAIN_TYPES | {float}


_ColumnAndSizes = tuple[Sequence[object], int, int]
"""Values, the most values that the largest of them can contain, and the most that all can."""


class UnreadablePackedBytes(ValueError):
    """The bytes were not made by `pack` with this table."""


class CannotPackValue(Exception):
    """A value holds something that has no form here: a class that is not in the table, a number beyond 64 bits."""


class PackerOfClasses:
    """The classes that may be packed: dataclasses and named tuples, each by its name, constants, and named objects."""

    def __init__(
        self,
        classes: Iterable[type[object]],
        constants: Sequence[object] = (),
        named_objects: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """Take classes with distinct names, and objects that stand for themselves, one of each kind.

        `named_objects` are packed as their names, and looked up: classes, functions, whatever cannot be taken apart.
        """
        self._ways = {traffic_class: _ClassCodec(traffic_class) for traffic_class in classes}
        self._named = {value_class.__name__: codec for value_class, codec in self._ways.items()}
        self._constants = {type(constant): (number, constant) for number, constant in enumerate(constants)}
        self._numbered = list(constants)
        self._object_by_name = dict(named_objects)
        self._name_by_object = IdentityMap((value, name) for name, value in named_objects.items())
        self._kinds_of_named_objects = frozenset(map(type, named_objects.values()))
        assert len(self._named) == len(self._ways)

    def pack(self, value: object) -> bytes:
        """Return the bytes of a value; raises Unpackable."""
        try:
            column = self._pack_column([value], 0)
            data = orjson.dumps(column)
        except (TypeError, RecursionError) as error:  # orjson's own errors are TypeErrors
            raise CannotPackValue(str(error)) from None
        return data

    def unpack(self, data: bytes, annotation: object = Any) -> Any:
        """Return the value that bytes encode; raises Unreadable, also if it does not match `annotation`.

        Fields hold values that match the annotations of their classes, down to the kind of every text and number.
        """
        try:
            (value,), _, _ = self._unpack_column(orjson.loads(data), 1, 0, _allowed_values_of_annotations(annotation))
        except (ValueError, TypeError, LookupError, RecursionError, MemoryError, OverflowError) as error:
            raise UnreadablePackedBytes(f"{type(error).__name__}: {error}") from None
        return value

    def _pack_column(self, values: Sequence[Any], nesting_depth: int) -> list[object]:
        """Return the column of some values: how they are stored, then what with."""
        if nesting_depth > _MAX_COLUMN_DEPTH:
            raise CannotPackValue("values lie too deep in each other")
        if len(values) > 1 and len(set(map(id, values))) == 1:
            return ["same", self._pack_column(values[:1], nesting_depth + 1)]
        kinds = set(map(type, values))
        if kinds <= _PLAIN_TYPES:
            return _text_column(values) if kinds == {str} else ["plain", values]
        if len(kinds) > 1:
            return self._pack_mixed_column(values, kinds, nesting_depth)
        (kind,) = kinds
        if kind in self._ways:
            return self._pack_objects(kind, values, nesting_depth)
        if kind is tuple or kind is list or kind is frozenset:
            return [
                f"{kind.__name__}s",
                list(map(len, values)),
                self._pack_column(list(chain.from_iterable(values)), nesting_depth + 1),
            ]
        if kind is dict or kind is MappingProxyType:
            keys, targets = list(chain.from_iterable(values)), list(chain.from_iterable(one.values() for one in values))
            return [
                "maps",
                list(map(len, values)),
                self._pack_column(keys, nesting_depth + 1),
                self._pack_column(targets, nesting_depth + 1),
            ]
        if kind in self._constants:
            return ["constant", self._constants[kind][0]]
        if kind in self._kinds_of_named_objects:
            return self._pack_named_objects(values)
        if kind is float and all(map(math.isfinite, values)):
            return ["plain", values]
        raise CannotPackValue(f"{kind.__name__} has no form")

    def _pack_mixed_column(
        self, values: Sequence[object], kinds: set[type[object]], nesting_depth: int
    ) -> list[object]:
        """Return the column of values of several kinds: the kind of each, and the columns of the kinds."""
        groups: dict[Any, list[Any]] = {}
        form_of_kind = {kind: "plain" if kind in _PLAIN_TYPES else kind for kind in kinds}
        for value in values:
            groups.setdefault(form_of_kind[type(value)], []).append(value)
        numbers = {kind: number for number, kind in enumerate(groups)}
        columns = [[len(group), self._pack_column(group, nesting_depth + 1)] for group in groups.values()]
        return ["mixed", [numbers[form_of_kind[type(value)]] for value in values], columns]

    def _pack_objects(self, kind: type[object], values: Sequence[object], depth: int) -> list[object]:
        distinct = {id(value): value for value in values}
        if len(distinct) < len(values):
            numbers = {key: number for number, key in enumerate(distinct)}
            inner = self._pack_column(list(distinct.values()), depth + 1)
            return ["shared", len(distinct), [numbers[id(value)] for value in values], inner]
        fields = self._ways[kind].fields
        return ["objects", kind.__name__, [self._pack_column(list(map(field, values)), depth + 1) for field in fields]]

    def _pack_named_objects(self, values: Sequence[object]) -> list[object]:
        if any(value not in self._name_by_object for value in values):
            raise CannotPackValue(f"a {type(values[0]).__name__} that has no name")
        names = [self._name_by_object[value] for value in values]
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        return ["named", list(numbers), [numbers[name] for name in names]]

    def _unpack_column(self, column: Any, count: int, depth: int, fit: "_AllowedValues") -> _ColumnAndSizes:
        """Return so many values of a column, and the most values that the largest, and all, of them can contain."""
        if depth > _MAX_COLUMN_DEPTH:
            raise UnreadablePackedBytes("columns lie too deep in each other")
        form, *arguments = column
        return _UNPACKER_BY_FORM[form](self, count, depth + 1, fit, *arguments)

    def _unpack_repeated_value(self, count: int, depth: int, fit: "_AllowedValues", column: object) -> _ColumnAndSizes:
        (value,), size, _ = self._unpack_column(column, 1, depth, fit)
        _check_value_count(count)
        return [value] * count, size, count * size

    def _unpack_plain_values(
        self, count: int, _depth: int, schema_match: "_AllowedValues", values: Any
    ) -> _ColumnAndSizes:
        _require_packed_form(type(values) is list and len(values) == count)
        _require_packed_form(
            all(kind in _SCALAR_TYPES and schema_match.allows_kind(kind) for kind in set(map(type, values)))
        )
        return values, 1, count

    def _unpack_constant(self, count: int, _depth: int, fit: "_AllowedValues", number: Any) -> _ColumnAndSizes:
        _require_packed_form(type(number) is int and number >= 0 and fit.allows_kind(type(self._numbered[number])))
        _check_value_count(count)
        return [self._numbered[number]] * count, 1, count

    def _unpack_named_objects(
        self, count: int, _depth: int, fit: "_AllowedValues", names: Any, numbers: Any
    ) -> _ColumnAndSizes:
        _require_packed_form(type(numbers) is list and len(numbers) == count and type(names) is list)
        _require_packed_form(not numbers or min(numbers) >= 0)
        objects = [self._object_by_name[name] for name in names]
        _require_packed_form(all(map(fit.allows_kind, map(type, objects))))
        return [objects[number] for number in numbers], 1, count

    def _unpack_tuples(
        self, count: int, depth: int, fit: "_AllowedValues", lengths: object, inner: object
    ) -> _ColumnAndSizes:
        _require_packed_form(fit.allows_kind(tuple))
        cut, (values,), most, together = self._unpack_ranges(count, depth, lengths, (inner, fit.allowed_elements))
        return [tuple(values[start:end]) for start, end in cut], most, together

    def _unpack_lists(
        self, count: int, depth: int, fit: "_AllowedValues", lengths: object, inner: object
    ) -> _ColumnAndSizes:
        _require_packed_form(fit.allows_kind(list))
        cut, (values,), most, together = self._unpack_ranges(count, depth, lengths, (inner, fit.allowed_elements))
        return [list(values[start:end]) for start, end in cut], most, together

    def _unpack_frozensets(
        self, count: int, depth: int, fit: "_AllowedValues", lengths: object, inner: object
    ) -> _ColumnAndSizes:
        _require_packed_form(fit.allows_kind(frozenset))
        cut, (values,), most, together = self._unpack_ranges(count, depth, lengths, (inner, fit.allowed_elements))
        return [frozenset(values[start:end]) for start, end in cut], most, together

    def _unpack_maps(
        self, count: int, depth: int, fit: "_AllowedValues", lengths: object, keys: object, values: object
    ) -> _ColumnAndSizes:
        _require_packed_form(fit.allows_kind(dict))
        cut, (names, targets), most, together = self._unpack_ranges(
            count, depth, lengths, (keys, fit.allowed_keys), (values, fit.allowed_elements)
        )
        return [dict(zip(names[start:end], targets[start:end], strict=True)) for start, end in cut], most, together

    def _unpack_ranges(
        self, count: int, nesting_depth: int, lengths: Any, *inner: "tuple[Any, _AllowedValues]"
    ) -> tuple[list[tuple[int, int]], list[Sequence[object]], int, int]:
        """Return where each of some tuples begins and ends in their columns, these columns, and their sizes."""
        _require_packed_form(
            type(lengths) is list and len(lengths) == count and all(type(number) is int for number in lengths)
        )
        _require_packed_form(not lengths or min(lengths) >= 0)
        total = _check_value_count(sum(lengths))
        columns = [self._unpack_column(column, total, nesting_depth, fit) for column, fit in inner]
        most = max(lengths, default=0) * sum(size for _, size, _ in columns)
        together = sum(size for _, _, size in columns)
        most = _check_value_count(1 + min(most, together))
        ends = [0]
        for length in lengths:
            ends.append(ends[-1] + length)
        return list(pairwise(ends)), [values for values, _, _ in columns], most, count + together

    def _unpack_mixed_kinds(
        self, count: int, depth: int, fit: "_AllowedValues", kinds: Any, columns: Any
    ) -> _ColumnAndSizes:
        _require_packed_form(
            type(kinds) is list
            and len(kinds) == count
            and _check_value_count(sum(held for held, _ in columns)) == count
        )
        groups = [self._unpack_column(column, group_size, depth, fit) for group_size, column in columns]
        following = [iter(values).__next__ for values, _, _ in groups]
        most, together = max((size for _, size, _ in groups), default=1), sum(size for _, _, size in groups)
        try:
            return [following[kind]() for kind in kinds], most, together
        except StopIteration:
            raise UnreadablePackedBytes("more values of a kind than there are") from None

    def _unpack_shared_values(
        self, count: int, depth: int, fit: "_AllowedValues", distinct: Any, numbers: Any, inner: Any
    ) -> _ColumnAndSizes:
        _require_packed_form(
            type(numbers) is list and len(numbers) == count and type(distinct) is int and distinct >= 0
        )
        values, size, _ = self._unpack_column(inner, _check_value_count(distinct), depth, fit)
        return [values[number] for number in numbers], size, count * size

    def _unpack_objects(
        self, count: int, depth: int, fit: "_AllowedValues", name: Any, columns: Any
    ) -> _ColumnAndSizes:
        codec = self._named[name]
        _require_packed_form(
            fit.allows_kind(codec.kind) and type(columns) is list and len(columns) == len(codec.fields)
        )
        _check_value_count(count * (1 + len(columns)))
        contents = [
            self._unpack_column(column, count, depth, fit)
            for column, fit in zip(columns, codec.allowed_values_by_field, strict=True)
        ]
        rows = zip(*(values for values, _, _ in contents), strict=True) if contents else repeat((), count)
        together = sum(size for _, _, size in contents)
        most = _check_value_count(1 + min(sum(size for _, size, _ in contents), together))
        return codec.make_objects(rows), most, count + together


_UNPACKER_BY_FORM: Mapping[str, Callable[..., _ColumnAndSizes]] = {
    "same": PackerOfClasses._unpack_repeated_value,
    "plain": PackerOfClasses._unpack_plain_values,
    "constant": PackerOfClasses._unpack_constant,
    "named": PackerOfClasses._unpack_named_objects,
    "tuples": PackerOfClasses._unpack_tuples,
    "lists": PackerOfClasses._unpack_lists,
    "frozensets": PackerOfClasses._unpack_frozensets,
    "maps": PackerOfClasses._unpack_maps,
    "mixed": PackerOfClasses._unpack_mixed_kinds,
    "shared": PackerOfClasses._unpack_shared_values,
    "objects": PackerOfClasses._unpack_objects,
}


@dataclasses.dataclass(frozen=True, slots=True)
class _AllowedValues:
    """Allowed values: of these kinds, with elements and keys of these fits; anything if there are no kinds."""

    kinds: frozenset[type[Any]] | None = None
    elements: "_AllowedValues | None" = None
    keys: "_AllowedValues | None" = None

    @property
    def allowed_elements(self) -> "_AllowedValues":
        """Return the allowed elements of a tuple or a mapping."""
        return self.elements or _ANY_VALUE_ALLOWED

    @property
    def allowed_keys(self) -> "_AllowedValues":
        """Return the allowed keys of a mapping."""
        return self.keys or _ANY_VALUE_ALLOWED

    def allows_kind(self, kind: type[object]) -> bool:
        """Whether a value may be of this kind."""
        return self.kinds is None or kind in self.kinds


_ANY_VALUE_ALLOWED = _AllowedValues()


def _allowed_values_of_annotations(*annotations: object) -> _AllowedValues:
    """Return what values of any of these annotations may be."""
    kinds: set[type[Any]] = set()
    elements: list[object] = []
    keys: list[Any] = []
    pending = list(annotations)
    while pending:
        annotation = pending.pop()
        origin, args = get_origin(annotation), get_args(annotation)
        if origin in (Union, UnionType):
            pending += args
        elif origin is Literal:
            kinds |= set(map(type, args))
        elif origin in (tuple, list, frozenset):
            kinds.add(origin)
            elements += [argument for argument in args if argument is not ...]
        elif origin is type:
            kinds.add(type)
        elif origin in (dict, Mapping):
            kinds.add(dict)
            keys.append(args[0])
            elements.append(args[1])
        elif isinstance(annotation, type) and annotation not in (Any, object, Hashable):
            kinds.add(annotation)
        else:
            return _ANY_VALUE_ALLOWED
    kinds |= {int} if float in kinds else set()
    kinds |= {bool} if int in kinds else set()
    return _AllowedValues(
        frozenset(kinds),
        *(_allowed_values_of_annotations(*hints) if hints else _ANY_VALUE_ALLOWED for hints in (elements, keys)),
    )


class _ClassCodec:
    """How objects of one class are taken apart and made."""

    def __init__(self, kind: type[Any]) -> None:
        self.kind = kind
        self._make: Callable[[object], object] | None = getattr(kind, "_make", None)
        names = getattr(kind, "_fields", ()) if self._make else [field.name for field in dataclasses.fields(kind)]
        self.fields = tuple(map(attrgetter, names))
        has_slots = "__dict__" not in dir(kind)
        self._fill = None if self._make else (_make_slot_filler if has_slots else _make_dict_filler)(kind, names)
        self._names = tuple(names)

    @cached_property
    def allowed_values_by_field(self) -> tuple["_AllowedValues", ...]:
        """Return the allowed values of each field."""
        hints = get_type_hints(self.kind)
        return tuple(_allowed_values_of_annotations(hints[name]) for name in self._names)

    def make_objects(self, rows: Iterator[tuple[object, ...]] | Iterable[tuple[object, ...]]) -> list[object]:
        """Return an object for each row of its fields."""
        if self._fill is None:
            return list(map(self._make or tuple, rows))
        kind, new, fill, objects = self.kind, object.__new__, self._fill, []
        for row in rows:
            instance = new(kind)
            fill(instance, row)
            objects.append(instance)
        return objects


def classes_of(annotations: Iterable[Any]) -> tuple[type[object], ...]:
    """Return all dataclasses and named tuples that annotations lead to."""
    classes: dict[type[Any], None] = {}
    pending = list(annotations)
    while pending:
        kind = pending.pop()
        pending += get_args(kind)
        is_known = not isinstance(kind, type) or kind in classes
        if not is_known and (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")):
            classes[kind] = None
            pending += get_type_hints(kind).values()
    return tuple(classes)


def _make_slot_filler(kind: type[object], names: Sequence[str]) -> Callable[[object, tuple[object, ...]], None]:
    """Return a function that sets the slots of a frozen object, written out, since a loop takes twice as long.

    Slots of the class are set directly: the packed value was an object, and its class has checked it before.
    """
    sets = "".join(f"    set_{name}(one, row[{number}])\n" for number, name in enumerate(names)) or "    pass\n"
    bound: dict[str, Any] = {f"set_{name}": getattr(kind, name).__set__ for name in names}
    exec(f"def fill(one, row):\n{sets}", bound)  # noqa: S102 -- the source is ours, made of names of fields
    fill: Callable[[object, tuple[object, ...]], None] = bound["fill"]
    return fill


def _make_dict_filler(_kind: type[object], names: Sequence[str]) -> Callable[[object, tuple[object, ...]], None]:
    """Return a function that sets the fields of a frozen object that has no slots, as they were."""

    def fill(one: object, row: tuple[object, ...]) -> None:
        one.__dict__.update(zip(names, row, strict=True))

    return fill


def _text_column(values: Sequence[str]) -> list[Any]:
    """Return a column of texts, each stored once where they repeat themselves."""
    distinct = {value: number for number, value in enumerate(dict.fromkeys(values))}
    if len(distinct) * 2 > len(values):
        return ["plain", values]
    return ["shared", len(distinct), [distinct[value] for value in values], ["plain", list(distinct)]]


def _require_packed_form(holds: bool) -> None:
    if not holds:
        raise UnreadablePackedBytes("a column of unknown kind")


def _check_value_count(count: int) -> int:
    if count > MAX_UNPACKED_VALUES:
        raise UnreadablePackedBytes("more values than anybody packs")
    return count
