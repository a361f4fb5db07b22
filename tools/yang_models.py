"""The tables of one release, from its YANG models: rows by key, fields and conditions, in the words of schema.yaml."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from sysconfig import get_path

from pyang.context import Context
from pyang.error import err_level, err_to_str, is_error
from pyang.repository import FileRepository

from yang_conditions import condition
from yang_paths import Node, Unsaid
from yang_sources import Sources, Unusable
from yang_types import Types, Words, default_of

_RESERVED = frozenset({"row", "must", "each"})
"""Names that the notation uses beside the fields of a row."""


@dataclass
class Row:
    """A row by its key: what each field is, and what has to hold."""

    most: int | None = None
    fields: dict[str, str] = field(default_factory=dict)
    must: list[str] = field(default_factory=list)


@dataclass
class Model:
    """What one release has."""

    tables: dict[str, dict[str, Row]] = field(default_factory=dict)
    """Rows by table and key."""
    unsaid: list[tuple[str, str]] = field(default_factory=list)
    """What the notation does not say: where, and what."""
    conditions: int = 0
    """How many must and when statements there are, those of choices among them."""


def model_of(sources: Sources, words: Words) -> Model:
    """Return the tables of a release; Unusable where the models have errors."""
    return _Reader(sources, words).model


class _Reader:
    def __init__(self, sources: Sources, words: Words) -> None:
        self.model = Model()
        self._sources = sources
        self._types = Types(words, self._report)
        for module in _modules(sources):
            for top in module.i_children:
                if top.keyword == "container" and top.arg == module.arg:
                    for table in top.i_children:
                        if table.keyword == "container":
                            self._table(table)

    def _report(self, node: Node, what: str) -> None:
        self.model.unsaid.append((_path(node), what))

    def _table(self, table: Node) -> None:
        lists = [each for each in table.i_children if each.keyword == "list"]
        containers = [each for each in table.i_children if each.keyword == "container"]
        if not lists and not containers:
            self._report(table, "no rows: an event, not a table")
            return
        for each in table.i_children:
            if each not in lists and each not in containers:
                self._report(each, f"a {each.keyword} beside the rows")
        if len(lists) == 1 and lists[0].arg != f"{table.arg}_LIST":
            self._report(lists[0], f"not read by SONiC, for its name is not {table.arg}_LIST")
            lists = []
        rows = self.model.tables.setdefault(table.arg, {})
        for each in (*lists, *containers):
            rows[_key(each)] = self._row(table, each)

    def _row(self, table: Node, stated: Node) -> Row:
        row = Row()
        most = stated.search_one("max-elements")
        row.most = int(most.arg) if most is not None and most.arg != "unbounded" else None
        for kind in ("min-elements", "unique"):
            if (one := stated.search_one(kind)) is not None:
                self._report(stated, f"{kind} {one.arg}")
        for holder in (table, stated):
            row.must += self._conditions(holder, holder, ["row"])
        keys = list(stated.i_key) if stated.keyword == "list" else []
        for child in (*keys, *(each for each in stated.i_children if each not in keys)):
            self._child(table, stated, child, row)
        return row

    def _child(self, table: Node, stated: Node, child: Node, row: Row) -> None:
        if child.keyword in ("leaf", "leaf-list"):
            if child.arg in _RESERVED:
                raise Unusable(f"{_path(child)}: the notation uses this name")
            row.fields[child.arg] = self._field(table.arg, child)
            row.must += self._conditions(child, child, [child.arg])
            row.must += self._numbers(child)
        elif child.keyword == "choice":
            self._choice(table, stated, child, row)
        elif child.keyword == "list" and stated.arg in self._sources.maps:
            names = [key.arg for key in child.i_key]
            values = [each for each in child.i_children if each.arg not in names]
            row.fields["each"] = f"{self._types.said(child.i_key[0])} to {self._types.said(values[0])}"
        else:
            self._report(child, f"a {child.keyword} within a row")

    def _choice(self, table: Node, stated: Node, choice: Node, row: Row) -> None:
        """Add the fields of all cases, of which a row has those of one."""
        cases = []
        for case in choice.i_children:
            names = [leaf.arg for leaf in case.i_children if leaf.keyword in ("leaf", "leaf-list")]
            cases.append(_either(names))
            for child in case.i_children:
                self._child(table, stated, child, row)
            row.must += self._conditions(case, stated, names)
        for one, other in combinations(cases, 2):
            self.model.conditions += 1
            row.must.append(f"row: not ({one} and {other})")
        if (mandatory := choice.search_one("mandatory")) is not None and mandatory.arg == "true":
            self.model.conditions += 1
            row.must.append(f"row: {' or '.join(one.strip('()') for one in cases)}")

    def _field(self, table: str, leaf: Node) -> str:
        is_list = leaf.keyword == "leaf-list"
        default, mandatory = default_of(leaf), leaf.search_one("mandatory")
        least = leaf.search_one("min-elements")
        required = (mandatory is not None and mandatory.arg == "true") or (least is not None and least.arg != "0")
        words = ["required"] if required else []
        if is_list:
            many = "filled list" if default is not None else "list"
            words += [self._sources.separated.get((table, leaf.arg), many), "of"]
        elif default is not None and not required:
            if leaf.parent.keyword == "case" or not re.fullmatch(r'[^"\n]*', default):
                self._report(leaf, f"default {json.dumps(default)}")
            else:
                words.append(f"default {_quoted(default)}")
        return " ".join([*words, self._types.said(leaf)])

    def _numbers(self, leaf: Node) -> Iterator[str]:
        """Yield the conditions on how many values a list has."""
        for kind, sign, trivial in (("min-elements", ">=", ("0", "1")), ("max-elements", "<=", ("unbounded",))):
            stated = leaf.search_one(kind)
            if stated is None or stated.arg in trivial:
                continue
            if not leaf.arg.replace("-", "_").isidentifier():
                self._report(leaf, f"{kind} {stated.arg}")
            else:
                yield f"{leaf.arg}: count({leaf.arg.replace('-', '_')}) {sign} {stated.arg}"

    def _conditions(self, holder: Node, context: Node, subjects: list[str]) -> Iterator[str]:
        """Yield the conditions that a statement holds, for each field that they are for."""
        for kind in ("when", "must"):
            for stated in holder.search(kind):
                self.model.conditions += 1
                try:
                    said = condition(stated.arg, context)
                except Unsaid as unsaid:
                    self._report(holder, f'{kind} "{" ".join(stated.arg.split())}": {unsaid}')
                    continue
                for subject in subjects:
                    yield f"{subject} when {said}" if kind == "when" and subject != "row" else f"{subject}: {said}"


def _modules(sources: Sources) -> list[Node]:
    standard = Path(get_path("data"), "share", "yang", "modules", "ietf")
    context = Context(FileRepository(str(standard), use_env=False))
    modules = [context.add_module(name, text) for name, text in sorted(sources.models.items())]
    context.validate()
    for where, tag, facts in context.errors:
        if is_error(err_level(tag)):
            raise Unusable(f"{sources.release}: {where}: {err_to_str(tag, facts)}")
    return [module for module in modules if module is not None]


def _key(row: Node) -> str:
    return "|".join(f"<{key.arg}>" for key in row.i_key) if row.keyword == "list" else str(row.arg)


def _either(names: list[str]) -> str:
    said = " or ".join(name.replace("-", "_") for name in names)
    return f"({said})" if len(names) > 1 else said


def _quoted(text: str) -> str:
    return text if re.fullmatch(r"[^\s\"]+", text) else f'"{text}"'


def _path(node: Node) -> str:
    names = []
    while node.parent is not None:
        names.append(str(node.arg))
        node = node.parent
    return "/" + "/".join(reversed(names))
