"""The tables of several releases as one: what differs gets `since` and `until`, as schema.yaml has them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from release_spans import span
from yang_models import Model, Row
from yang_sources import Unusable

_T = TypeVar("_T")
_PLAIN = re.compile(r"[A-Za-z_][\w.+-]*(?: [\w.+-]+)*", re.ASCII)
_KEY = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""What YAML 1.1 takes for something else than text."""

Run = tuple[int, int]
"""The first and the last release of a span, by place."""


def lines(models: Mapping[str, Model]) -> Iterator[str]:
    """Yield the lines of schema.yaml from `releases:` on, for releases with the oldest first."""
    releases = list(models)
    yield f"releases: [{', '.join(releases)}]"
    yield "tables:"
    tables = [model.tables for model in models.values()]
    for name in sorted(set().union(*tables)):
        yield f"  {_key(name)}:"
        yield from _table(name, [each.get(name) for each in tables], releases)


def _table(name: str, tables: Sequence[Mapping[str, Row] | None], releases: Sequence[str]) -> Iterator[str]:
    whole = _one_run(name, [table is not None for table in tables])
    for word in span(whole, (0, len(releases) - 1), releases.__getitem__).split() if whole else ():
        if word in ("since", "until"):
            yield f"    {word}: {releases[whole[0] if word == 'since' else whole[1]]}"
    for key in _keys(table or {} for table in tables):
        rows = [table.get(key) if table is not None else None for table in tables]
        yield f"    {_key(key)}:"
        yield from _row(rows, whole, releases)


def _row(rows: Sequence[Row | None], within: Run, releases: Sequence[str]) -> Iterator[str]:
    present = [place for place, row in enumerate(rows) if row is not None]
    whole = (present[0], present[-1])
    limits = [_limit(row) if row is not None else None for row in rows]
    said = [_within(run, within, releases, text).strip() for run, text in _runs(limits)]
    if said != [""]:
        yield from _variants("row", said)
    for each in _keys(row.fields for row in rows if row is not None):
        values = [row.fields.get(each) if row is not None else None for row in rows]
        yield from _variants(each, [_within(run, whole, releases, text) for run, text in _runs(values)])
    conditions = list(_conditions(rows, whole, releases))
    if conditions:
        yield "      must:"
        yield from (f"        - {_text(one)}" for one in conditions)


def _variants(name: str, said: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a field, or of limits of its row: one text, or a list with one per span."""
    if len(said) == 1:
        yield f"      {_key(name)}: {_text(said[0])}"
    else:
        yield f"      {_key(name)}:"
        yield from (f"        - {_text(one)}" for one in said)


def _limit(row: Row) -> str:
    return f"at most {row.most}" if row.most is not None else ""


def _conditions(rows: Sequence[Row | None], whole: Run, releases: Sequence[str]) -> Iterator[str]:
    for said in _keys(row.must for row in rows if row is not None):
        values = [said if row is not None and said in row.must else None for row in rows]
        for run, text in _runs(values):
            yield _within(run, whole, releases, text)


def _keys(many: Iterable[Iterable[str]]) -> list[str]:
    """Return all names, in the order of the first release and, after them, of those that follow."""
    return list(dict.fromkeys(name for each in many for name in each))


def _runs(values: Sequence[_T | None]) -> Iterator[tuple[Run, _T]]:
    """Yield what is said, with the first and the last release that says it without a break."""
    start = 0
    for place in range(1, len(values) + 1):
        if place == len(values) or values[place] != values[start]:
            if (value := values[start]) is not None:
                yield (start, place - 1), value
            start = place


def _one_run(name: str, present: Sequence[bool]) -> Run:
    runs = [run for run, _ in _runs([each or None for each in present])]
    if len(runs) != 1:
        raise Unusable(f"{name}: there, gone and there again, which the notation does not say")
    return runs[0]


def _within(run: Run, within: Run, releases: Sequence[str], text: str) -> str:
    """Return a text with since and until when it is so; the text alone for the whole span around it."""
    words = span(run, within, releases.__getitem__)
    return f"{words} {text}" if words else text


def _key(text: str) -> str:
    return text if _KEY.fullmatch(text) and text.lower() not in _WORDS else f'"{text}"'


def _text(text: str) -> str:
    """Write a text in YAML: plain, or in the quotes that need no escapes."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    if "'" not in text:
        return f"'{text}'"
    if '"' in text or "\\" in text:
        raise Unusable(f"{text}: needs both kinds of quotes")
    return f'"{text}"'
