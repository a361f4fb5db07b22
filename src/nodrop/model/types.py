"""The types of the model's parts as its own annotations state them: values of attributes, names of rows.

Rules are checked against them when they are loaded, and they determine how values laid over a model are read.
"""

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from itertools import islice
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from nodrop.limits import MAX_GUESSED_WORD_CHARACTERS, MAX_SIMILAR_NAMES_COMPARED
from nodrop.model.fabric import Link
from nodrop.model.states import Unknown
from nodrop.model.subject import link_subject

ROW_KEY_ATTRIBUTES = ("name", "index", "key", "sequence", "group", "prefix")
"""The attributes by which a row of the model may be named in a subject; the first that it has counts."""

_F = TypeVar("_F", bound=Callable[..., object])
_LABEL_BY_SCALAR_TYPE: Mapping[type, str] = {int: "a number", float: "a number", str: "text", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record that is not of the model, such as the options of a rule."""

    name: str
    fields: tuple[tuple[str, "ValueType"], ...]


AttributeOwner = type[object] | RecordType


@dataclass(frozen=True, slots=True)
class ValueType:
    """The allowed kinds of a value: any of the alternatives that are given here.

    `owners` have attributes; `words` are the texts and numbers of a Literal; `element` is the type of a tuple's items.
    """

    owners: tuple[AttributeOwner, ...] = ()
    scalars: frozenset[type] = frozenset()
    words: frozenset[str | int] = frozenset()
    element: "ValueType | None" = None
    none: bool = False
    unknown: bool = False
    anything: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it is a number and nothing else, save None and UNKNOWN."""
        return self.kinds == {"a number"}

    @property
    def is_scalar(self) -> bool:
        """Whether values of it can be compared and hashed by content, cheaply: scalars, words, None and UNKNOWN."""
        return not self.owners and self.element is None and not self.anything

    @property
    def kinds(self) -> frozenset[str]:
        """The alternatives in words, without None and UNKNOWN; only what shares one of them can ever be equal."""
        words = {_LABEL_BY_SCALAR_TYPE[type(word)] for word in self.words}
        lists = {"a list"} if self.element else set()
        return frozenset(
            {_LABEL_BY_SCALAR_TYPE[scalar] for scalar in self.scalars}
            | words
            | lists
            | set(map(owner_label, self.owners))
        )

    def describe(self) -> str:
        """Say a type in the words of a message: `a number or none`, `one of rs, fc, none, auto`."""
        kinds = sorted(kind for kind in self.kinds if kind != "a list")
        if self.words and not self.scalars:
            kinds = [
                f"one of {', '.join(sorted(map(str, self.words)))}",
                *(owner_label(owner) for owner in self.owners),
            ]
        if self.element is not None:
            inside = self.element.describe() if self.element.kinds else ""
            kinds.append(f"a list of ({inside})" if " or " in inside else f"a list of {inside}" if inside else "a list")
        return " or ".join([*kinds, *(["none"] if self.none else [])]) or "none"


def _cache_by_arguments(function: _F) -> _F:
    """Cache by arguments; typed as the function itself, since mypy holds classes to be unhashable."""
    return cast("_F", cache(function))


NUMBER_TYPE = ValueType(scalars=frozenset({int, float}))
TEXT_TYPE = ValueType(scalars=frozenset({str}))
BOOLEAN_TYPE = ValueType(scalars=frozenset({bool}))
NONE_TYPE = ValueType(none=True)
ANY_TYPE = ValueType(anything=True, none=True)


def owner_label(owner: AttributeOwner) -> str:
    """Name an owner of attributes as messages do."""
    return owner.name if isinstance(owner, RecordType) else owner.__name__


def join_types(left_type: ValueType, right_type: ValueType) -> ValueType:
    """Join two types into a type that allows either."""
    elements = [side.element for side in (left_type, right_type) if side.element is not None]
    return ValueType(
        owners=tuple(dict.fromkeys(left_type.owners + right_type.owners)),
        scalars=left_type.scalars | right_type.scalars,
        words=left_type.words | right_type.words,
        element=reduce(join_types, elements) if elements else None,
        none=left_type.none or right_type.none,
        unknown=left_type.unknown or right_type.unknown,
        anything=left_type.anything or right_type.anything,
    )


@_cache_by_arguments
def type_of(annotation: Any) -> ValueType:
    """Return the type that an annotation of the model states; TypeError where the model may not hold such a thing."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in (None, NoneType):
        return NONE_TYPE
    if annotation is Unknown:
        return ValueType(unknown=True)
    if annotation in (object, Any):
        return ANY_TYPE
    if origin in (Union, UnionType):
        return reduce(join_types, map(type_of, arguments))
    if origin is Literal:
        return ValueType(words=frozenset(arguments))
    if origin is tuple:
        return ValueType(
            element=reduce(join_types, (type_of(argument) for argument in arguments if argument is not ...))
        )
    if annotation in _LABEL_BY_SCALAR_TYPE:
        return ValueType(scalars=frozenset({annotation}))
    if isinstance(annotation, type) and (dataclasses.is_dataclass(annotation) or hasattr(annotation, "_fields")):
        return ValueType(owners=(annotation,))
    raise TypeError(f"the model does not hold {annotation}")


@_cache_by_arguments
def fields_of(owner: AttributeOwner) -> Mapping[str, ValueType]:
    """Return the fields that an owner stores, and their types."""
    if isinstance(owner, RecordType):
        return dict(owner.fields)
    return {name: type_of(hint) for name, hint in get_type_hints(owner).items() if not name.startswith("_")}


@_cache_by_arguments
def attributes_of(owner: AttributeOwner) -> Mapping[str, ValueType]:
    """All that can be read of an owner: its fields and its properties; methods are not among them."""
    return dict(fields_of(owner)) | {
        name: type_of(get_type_hints(getter)["return"]) for name, getter in _public_properties(owner).items()
    }


@_cache_by_arguments
def is_property(owner: AttributeOwner, name: str) -> bool:
    """Whether an attribute is computed when it is read, and so may raise for UNKNOWN."""
    return name in _public_properties(owner)


@_cache_by_arguments
def source_fields_of(owner: AttributeOwner, name: str) -> frozenset[str]:
    """Return the fields that getting an attribute reads; for a property, those that its code names."""
    getters = _public_properties(owner)
    if name not in getters:
        return frozenset({name})
    attribute_names = getters[name].__code__.co_names
    looked_at = {field for field in attribute_names if field in fields_of(owner)}
    return frozenset(
        looked_at.union(
            *(
                source_fields_of(owner, other_co_name)
                for other_co_name in attribute_names
                if other_co_name in getters and other_co_name != name
            )
        )
    )


@_cache_by_arguments
def _public_properties(owner: AttributeOwner) -> Mapping[str, Any]:
    if isinstance(owner, RecordType):
        return {}
    properties = {name: kind.fget for name, kind in vars(owner).items() if isinstance(kind, property)}
    return {name: getter for name, getter in properties.items() if not name.startswith("_")}


def key_of(row: Any, position: int) -> str:
    """Name a row as a subject does: by the first of KEYS that it has, a link by its ends, else by its position."""
    if isinstance(row, Link):
        return link_subject(row.a, row.b)[-1]
    key = row_key_attribute_of(row.__class__)
    return str(position) if key is None else str(getattr(row, key))


@cache
def row_key_attribute_of(value_type: type[object]) -> str | None:
    """Return the field or property that names the rows of a class; None where that is their position."""
    if not dataclasses.is_dataclass(value_type):
        return None
    names = {field.name for field in dataclasses.fields(value_type)}
    return next((key for key in ROW_KEY_ATTRIBUTES if key in names or hasattr(value_type, key)), None)


def known_word_hint(word: str, known_words: Iterable[str], similarity: float = 0.6, *, listed_by: str = "") -> str:
    """Return a hint that names the known word nearest to `word`, else all known words.

    `similarity` is the required similarity, as difflib counts. `listed_by` is the command that lists the known words,
    which is named in their place.
    """
    words = sorted(known_words)
    if listed_by:
        return did_you_mean_hint(word, words, similarity) or f"`{listed_by}` lists all"
    shown = ", ".join(words[:24]) + (", …" if len(words) > 24 else "")
    return did_you_mean_hint(word, words, similarity) or (f"known: {shown}" if words else "")


def did_you_mean_hint(word: str, known_words: Iterable[str], similarity: float = 0.6) -> str:
    """Name in a hint the known words nearest to `word`, however they are capitalised; nothing where none is near."""
    if len(word) > MAX_GUESSED_WORD_CHARACTERS:
        return ""
    words = sorted(known_words)
    same = [candidate for candidate in words if candidate.casefold() == word.casefold()]
    close = same or _nearest_words(word, words, similarity)
    return f"did you mean {' or '.join(f'`{candidate}`' for candidate in close)}?" if close else ""


def only_near_name(name: str, names: Iterable[str], similarity: float = 0.7) -> str | None:
    """Return the only one of a few names that a name may be a slip of; None where none is near, or several are."""
    few = sorted(islice(names, MAX_SIMILAR_NAMES_COMPARED + 1))
    if len(name) > MAX_GUESSED_WORD_CHARACTERS or len(few) > MAX_SIMILAR_NAMES_COMPARED:
        return None
    close = difflib.get_close_matches(name, few, n=2, cutoff=similarity)
    return close[0] if len(close) == 1 else None


def _nearest_words(word: str, words: Sequence[str], similarity: float) -> list[str]:
    """Return the words of the highest similarity, up to three, in their order."""
    close = difflib.get_close_matches(word, words, n=3, cutoff=similarity)
    ratios = {candidate: difflib.SequenceMatcher(None, candidate, word).ratio() for candidate in close}
    return sorted(candidate for candidate in close if ratios[candidate] == ratios[close[0]])
