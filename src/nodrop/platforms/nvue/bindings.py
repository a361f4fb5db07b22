"""The shapes of NVUE's rows: a number, a text, a flag or a name at one path, and the statements that are written of it.

A source is a sequence of nodes: that of the part itself and those that it inherits from, such as the peer group of a
session. The first node that states a field counts. Paths are below these nodes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nodrop.model.addresses import AddressFamily
from nodrop.platforms.frr.rows import LIST_KINDS_BY_COMMAND
from nodrop.platforms.kit.bindings import FieldBinding, NumberRangeCheck, RefusalCheck, encode_fields
from nodrop.platforms.kit.rendering import EscapedText, checked_line_text
from nodrop.platforms.nvue.names import reason_not_a_name
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.spelling import DialectWords
from nodrop.platforms.nvue.tree import Path

IS, READS = EscapedText(" = "), EscapedText(" ~ ")
"""Between a path and its value: a word or number, and a text, which is quoted where need be (`stages.py`)."""


_FAMILY_BY_NVUE_WORD: Mapping[str, AddressFamily] = {"ipv4-unicast": "ipv4", "ipv6-unicast": "ipv6"}
_PREFIX_LIST_KIND_BY_FAMILY = LIST_KINDS_BY_COMMAND["prefix-list"]
"""What a list of a family's prefixes is called; FRR, which NVUE configures, has separate names for each."""


class NodeStatement(NamedTuple):
    """A statement below the node of a part; templates join its words."""

    path: Path
    mark: str = ""
    value: str | int = ""


ConfigNodeViews = Sequence[ConfigNodeView]
NodeStatements = tuple[NodeStatement, ...]
NvueBinding = FieldBinding[Path, ConfigNodeViews, DialectWords, NodeStatements]


def statements_of_model_part(
    table_rows: Iterable[NvueBinding], model_part: object, dialect: DialectWords, parent_path: Path = ()
) -> Iterator[NodeStatement]:
    """Yield the statements of a part of the model, whose node is `parent_path` another, in the order of the rows."""
    for lines in encode_fields(table_rows, model_part, dialect):
        yield from (one._replace(path=(*parent_path, *one.path)) for one in lines) if parent_path else lines


def first_value_decoder(read: Callable[[ConfigNodeView], Any]) -> Callable[[ConfigNodeViews], Any]:
    """Return the decoder of a field that each node may state: the first value that `read` returns."""
    return lambda nodes: next((value for node in nodes if (value := read(node)) is not None), None)


def feature_state_statement(path: Path, dialect: DialectWords, *, is_enabled: bool = True) -> NodeStatement:
    """Return the statement that lets a feature be on or off: `state = enabled`, or `enable = on` before 5.15."""
    key, _, value = (dialect.enabled if is_enabled else dialect.disabled).partition(IS)
    return NodeStatement((*path, key), IS, value)


def number_binding(
    field: str,
    path: Path,
    low: int,
    high: int,
    unit: str = "",
    *,
    words: Mapping[str, int | None] = {},
    most: int | None = None,
    refuses: tuple[RefusalCheck, ...] = (),
) -> NvueBinding:
    """Return the row of a number; `words` are read instead of one, where None is as if nothing were stated.

    `most` is the highest number that is written, where higher ones are read.
    """
    spelt = {value: word for word, value in words.items() if value is not None}

    def read_number(node: ConfigNodeView) -> int | None:
        above, key = node.below(*path[:-1]), path[-1]
        found_text = (above.text(key) if words else None) or ""
        return words[found_text] if found_text in words else above.integer(key, low, high, unit)

    return FieldBinding(
        field=field,
        where=(path,),
        decode=first_value_decoder(read_number),
        encode=lambda value, _: (NodeStatement(path, IS, spelt.get(value, value)),),
        refuses=(*refuses, NumberRangeCheck(low, most or high, frozenset(spelt))),
    )


def text_binding(
    field: str, *paths: Path, absent: tuple[str, ...] = (), mark: str = IS, refuses: tuple[RefusalCheck, ...] = ()
) -> NvueBinding:
    """Return the row of a text at the first of some paths that states it; `absent` are words that state nothing."""

    def read_text(node: ConfigNodeView) -> str | None:
        texts = (node.below(*path[:-1]).text(path[-1]) for path in paths)
        return next((value for value in texts if value and value not in absent), None)

    return FieldBinding(
        field=field,
        where=paths,
        decode=first_value_decoder(read_text),
        encode=lambda value, _: (NodeStatement(paths[0], mark, checked_line_text(value) if mark is READS else value),),
        refuses=refuses,
    )


def flag_binding(
    field: str, path: Path, *, on: tuple[str, ...] = (), written: str = "", refuses: tuple[RefusalCheck, ...] = ()
) -> NvueBinding:
    """Return the row of a flag that is off unless it is stated, and is written only where it is on.

    With `on`, the value is one of these words if the flag is on, and any other if it is off. `written` is the word
    that is written; without it, that of the release.
    """

    def read_flag(node: ConfigNodeView) -> bool | None:
        above, key = node.below(*path[:-1]), path[-1]
        if not on:
            return above.flag(key)
        found_text = above.text(key)
        return None if found_text is None else found_text in on

    return FieldBinding(
        field=field,
        where=(path,),
        decode=first_value_decoder(read_flag),
        encode=lambda value, spoken: (NodeStatement(path, IS, written or spoken.on),) if value else (),
        refuses=refuses,
    )


def policy_name_binding(field: str, path: Path, object_kind: str = "") -> NvueBinding:
    """Return the row of a name of a route map or list of a `object_kind`, by default the last word of the path."""
    return FieldBinding(
        field=field,
        where=(path,),
        decode=first_value_decoder(lambda node: read_policy_name(node.below(*path[:-1]), path[-1], object_kind)),
        encode=lambda value, _: (NodeStatement(path, READS, value),),
        refuses=(lambda value, _: None if value is None else reason_not_a_name(value),),
    )


def read_policy_name(node: ConfigNodeView, key: str, object_kind: str = "") -> str | None:
    """Return the list or map that a node names, with a remark where there is none of that name and kind."""
    object_kind = object_kind or key
    name = node.text(key)
    if name == "none":
        return None
    if name is not None and not node.config.top.below("router", "policy", object_kind).has(name):
        remark_missing_object(node, object_kind, name, key)
    elif name is not None and object_kind == "prefix-list":
        families = [family for word, family in _FAMILY_BY_NVUE_WORD.items() if word in node.path]
        check_prefix_list_family(node, name, families[0] if families else None, key)
    return name


def check_prefix_list_family(node: ConfigNodeView, name: str, family: AddressFamily | None, key: str) -> None:
    """Remark that a node, for routes of a family, names a prefix list of the other one, which then is none."""
    stated = node.config.top.below("router", "policy", "prefix-list", name).text("type")
    own_family: AddressFamily = "ipv6" if stated == "ipv6" else "ipv4"
    if family is not None and family != own_family:
        path = (*node.path, key)
        facts = {
            "kind": _PREFIX_LIST_KIND_BY_FAMILY[family],
            "other_kind": _PREFIX_LIST_KIND_BY_FAMILY[own_family],
            "name": name,
            "field": key,
        }
        node.config.remark("prefix-list-of-other-family", ("@bgp",), path, **facts)


def remark_missing_object(node: ConfigNodeView, object_kind: str, name: str, *below: str) -> None:
    """Remark that a setting below a node names something that is missing."""
    path = (*node.path, *below)
    node.config.remark("dangling-reference", ("@bgp",), path, kind=object_kind, name=name, field=path[-1])
