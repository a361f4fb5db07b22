"""The words that rules may use beyond the model: filters, tests and functions, each a documented Python function.

A word is declared by a decorator in any module of this package, which is enough for it to be found; its annotations are
its types. Words are pure: the same arguments give the same answer, so equal ports are checked once.

    @word("filter")
    def speed(mbps: int | None) -> str:     # {{ interface.speed_mbps | speed }}

A parameter that may be UNKNOWN declares it (`T | Unknown`), else meeting UNKNOWN settles the verdict before the call. A
word that cannot answer raises `UnknownFact(path)`, where the path is the missing fact (`link.length_m`), or returns
UNKNOWN if it declares that. A keyword parameter `index` is given the fabric's `Index`.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_type_hints

from nodrop.model.index import IndexChannel
from nodrop.model.types import ValueType, type_of

WordKind = Literal["filter", "test", "function"]
Topic = Literal["mode", "classes", "roles", "cables", "models", "hosts", "policy"]
"""What an owner may state and nodrop may have to assume: the keys of `fabric:` in nodrop.yaml."""

ReportedRules = dict[tuple[str, ...], set[tuple[str, str, str]]]
"""Area, name and severity of the rules that found something, by device and port or cable."""
REPORTED_RULES_KEY = IndexChannel[ReportedRules]("reported")

_F = TypeVar("_F", bound=Callable[..., object])
_WORD_ATTRIBUTE = "nodrop_word"


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyWord:
    """One word: its name, parameters and result, and the function that computes it; words differ in kind or name."""

    kind: WordKind
    name: str
    parameters: tuple[tuple[str, ValueType], ...] = field(compare=False)
    required: int = field(compare=False)
    """How many of the parameters, from the first, have no default."""
    result: ValueType = field(compare=False)
    indexed: bool = field(compare=False)
    """Whether it is given the fabric's index."""
    rests_on: frozenset[Topic] = field(compare=False)
    """What it takes from the owner's statements: findings are likely at most where those were assumed."""
    whole: bool = field(compare=False)
    """Whether it reads the whole fabric, and not only its arguments and their cabled neighbors."""
    last: bool = field(compare=False)
    """Whether it reads findings of other rules, so that a rule with it runs after those."""
    naming: bool = field(compare=False)
    """Whether it only names what its arguments lead to: messages that differ in it alone have one cause."""
    fields_read: Mapping[str, tuple[str, ...]] = field(compare=False)
    """The only fields that it reads of parameters that are parts of the model; all where a parameter is not here."""
    doc: str = field(compare=False)
    function: Callable[..., object] = field(compare=False)


def declare_word(
    word_kind: WordKind,
    *,
    rests_on: Iterable[Topic] = (),
    whole: bool = False,
    last: bool = False,
    naming: bool = False,
    fields_read: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Callable[[_F], _F]:
    """Declare a function to be a word, called as the function is, without a `_` at the end (`bytes_` is `bytes`).

    A `naming` word only names what its arguments lead to: in a message it does not distinguish causes. For parameters
    in `fields_read`, it reads no other fields, so that ports which are equal in these are checked once.
    """

    def declare(function: _F) -> _F:
        hints, signature = get_type_hints(function), inspect.signature(function)
        positional = [
            parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.KEYWORD_ONLY
        ]
        new_word = VocabularyWord(
            kind=word_kind,
            name=function.__name__.removesuffix("_"),
            parameters=tuple((parameter.name, type_of(hints[parameter.name])) for parameter in positional),
            required=sum(parameter.default is parameter.empty for parameter in positional),
            result=type_of(hints["return"]),
            indexed="index" in signature.parameters,
            rests_on=frozenset(rests_on),
            whole=whole,
            last=last,
            naming=naming,
            fields_read=dict(fields_read),
            doc=inspect.getdoc(function) or "",
            function=function,
        )
        setattr(function, _WORD_ATTRIBUTE, new_word)
        return function

    return declare


@cache
def vocabulary() -> Mapping[tuple[WordKind, str], VocabularyWord]:
    """All words by kind and name; two words of one kind with one name are a bug."""
    words: dict[tuple[WordKind, str], VocabularyWord] = {}
    for module in pkgutil.iter_modules(__path__):
        for declared_word in words_declared_in(importlib.import_module(f"{__name__}.{module.name}")):
            if words.setdefault((declared_word.kind, declared_word.name), declared_word) is not declared_word:
                raise TypeError(f"two {declared_word.kind}s are called {declared_word.name}")
    return words


def words_declared_in(module: Any) -> list[VocabularyWord]:
    """Return the words that a module declares itself."""
    members = [
        module_member
        for module_member in vars(module).values()
        if getattr(module_member, "__module__", "") == module.__name__
    ]
    return [getattr(member, _WORD_ATTRIBUTE) for member in members if hasattr(member, _WORD_ATTRIBUTE)]
