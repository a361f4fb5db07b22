"""Paths of YANG models: where a path leads from a statement, and which table, row and field a leaf is."""

from typing import Any

from pyang.xpath_parser import parse

Node = Any
"""A statement of pyang, which has no types."""
Expression = Any
"""What pyang's parser of XPath returns: tuples, the first of which says what they are."""

_NO_DATA = ("choice", "case", "input", "output")


class Unsaid(Exception):
    """The notation of schema.yaml cannot say this; the text says what."""


def parsed(text: str) -> Expression:
    """Return an XPath expression or path as tuples; Unsaid where it is malformed."""
    try:
        found = parse(text)
    except (SyntaxError, AttributeError) as error:
        raise Unsaid(f"malformed: {error}") from error
    if found is None:
        raise Unsaid("malformed")
    return found


def parent_of(node: Node) -> Node:
    """Return the container or list around a statement; a choice is none, for no path names it."""
    parent = node.parent
    while parent is not None and parent.keyword in _NO_DATA:
        parent = parent.parent
    if parent is None or parent.keyword in ("module", "submodule"):
        raise Unsaid("a path above the tables")
    return parent


def child_of(node: Node, name: str) -> Node:
    """Return the child of a name, through choices and cases."""
    for child in node.i_children:
        if child.keyword in _NO_DATA:
            try:
                return child_of(child, name)
            except Unsaid:
                continue
        if child.arg == name:
            return child
    raise Unsaid(f"no {name} in {node.arg}")


def top_of(node: Node, name: str) -> Node:
    """Return the container of a name at the top of any module that was loaded with this one."""
    for module in node.i_module.i_ctx.modules.values():
        for child in getattr(module, "i_children", ()):
            if child.keyword == "container" and child.arg == name:
                return child
    raise Unsaid(f"no container {name}")


def place_of(leaf: Node) -> tuple[str, Node, str]:
    """Return the table of a leaf, its row (a list or container), and its name."""
    row = parent_of(leaf)
    table = parent_of(row)
    parent_of(table)
    return str(table.arg), row, str(leaf.arg)


def leaf_at(path: Expression, leaf: Node) -> Node:
    """Return the statement that the path of a reference leads to."""
    kind, steps = path
    if kind not in ("relative", "absolute"):
        raise Unsaid(f"a path that is {kind}")
    node = leaf
    for place, (_, axis, test, _predicates) in enumerate(steps):
        name = test[-1]
        if axis == "parent":
            node = parent_of(node)
        elif axis == "self":
            continue
        elif kind == "absolute" and not place:
            node = top_of(leaf, name)
        else:
            node = child_of(node, name)
    return node
