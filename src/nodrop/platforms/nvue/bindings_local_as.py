"""How NVUE states the AS number that a session shows instead of that of its process: `local-as`."""

from nodrop.limits import MAX_UINT32
from nodrop.model.routing import LocalAsnMode
from nodrop.platforms.kit.bindings import FieldBinding, NumberRangeCheck, refuse_unless_default
from nodrop.platforms.nvue.bindings import (
    IS,
    NodeStatement,
    NodeStatements,
    NvueBinding,
    feature_state_statement,
    first_value_decoder,
)
from nodrop.platforms.nvue.read_values import ConfigNodeView, is_on
from nodrop.platforms.nvue.spelling import DialectWords

_LOCAL_AS_PATH = ("local-as",)


def _local_asn(node: ConfigNodeView) -> int | None:
    inside = node.below(*_LOCAL_AS_PATH)
    return inside.integer("asn", 1, MAX_UINT32) if is_on(inside) else None


def _local_asn_mode(node: ConfigNodeView) -> LocalAsnMode | None:
    inside = node.below(*_LOCAL_AS_PATH)
    if not is_on(inside):
        return None
    if inside.flag("replace"):
        return "replace-as"
    return "no-prepend" if inside.flag("prepend") is False else "prepend"


def _encode_local_asn_mode(mode: LocalAsnMode, spoken: DialectWords) -> NodeStatements:
    option_values = {"prepend": (), "no-prepend": (("prepend", spoken.off),)}.get(
        mode, (("prepend", spoken.off), ("replace", spoken.on))
    )
    return tuple(NodeStatement((*_LOCAL_AS_PATH, word), IS, value) for word, value in option_values)


LOCAL_AS_BINDINGS: tuple[NvueBinding, ...] = (
    FieldBinding(
        field="local_asn",
        where=((*_LOCAL_AS_PATH, "asn"), *((*_LOCAL_AS_PATH, word) for word in ("state", "enable"))),
        decode=first_value_decoder(_local_asn),
        encode=lambda value, spoken: (
            feature_state_statement(_LOCAL_AS_PATH, spoken),
            NodeStatement((*_LOCAL_AS_PATH, "asn"), IS, value),
        ),
        refuses=(NumberRangeCheck(1, MAX_UINT32),),
    ),
    FieldBinding(
        field="local_asn_mode",
        where=((*_LOCAL_AS_PATH, "prepend"), (*_LOCAL_AS_PATH, "replace")),
        decode=first_value_decoder(_local_asn_mode),
        encode=_encode_local_asn_mode,
    ),
    FieldBinding(
        field="local_asn_of_group",
        refuses=(
            refuse_unless_default(
                "the local AS number of a peer group that a session may not have is not written", default=False
            ),
        ),
    ),
)
"""Rows of a session."""
