"""What two schema files say differently, by table, row, field and release."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_SPAN = re.compile(r"(?:since (?P<since>\w+) ?)?(?:until (?P<until>\w+) ?)?(?P<rest>.*)")

Said = dict[tuple[str, ...], set[str]]
"""What is said of a place: table, row, and field, `row` or `must`."""


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each place and each span of releases with the same difference."""
    releases = list(dict.fromkeys([*old["releases"], *new["releases"]]))
    found: dict[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for release in releases:
        one, other = (_said(each, release) for each in (old, new))
        for place in sorted(one.keys() | other.keys()):
            before, after = one.get(place, set()), other.get(place, set())
            if before != after:
                if len(place) > 1 and place[:-1] not in (one if place not in one else other):
                    continue
                key = (place, tuple(sorted(before - after)), tuple(sorted(after - before)))
                found.setdefault(key, []).append(release)
    for (place, gone, come), spans in sorted(found.items()):
        yield f"{' / '.join(place)} ({' '.join(spans)})"
        yield from (f"  - {one}" for one in gone)
        yield from (f"  + {one}" for one in come)


def _said(schema: Mapping[str, Any], release: str) -> Said:
    """Return all that a schema says of one release."""
    if release not in schema["releases"]:
        return {}
    order = schema["releases"]

    def has(text: str) -> str | None:
        found = _SPAN.match(text)
        assert found is not None
        since, until = found["since"] or order[0], found["until"] or order[-1]
        return found["rest"] if order.index(since) <= order.index(release) <= order.index(until) else None

    said: Said = {}
    for table, rows in schema["tables"].items():
        spans = {word: rows[word] for word in ("since", "until") if isinstance(rows.get(word), str)}
        if has(" ".join(f"{word} {name}" for word, name in spans.items()) + " ") is None:
            continue
        said[table,] = {"is a table"}
        for key, row in rows.items():
            if not isinstance(row, dict | type(None)):
                continue
            limits = [text for one in _all((row or {}).get("row", "")) if (text := has(one)) is not None]
            if not limits:
                continue
            said[table, key] = {f"is a row {limits[0]}".strip()}
            for name, stated in (row or {}).items():
                texts = {text for one in _all(stated) if (text := has(one))}
                if texts and name != "row":
                    said[table, key, name] = texts
    return said


def _all(stated: str | list[str]) -> list[str]:
    return [stated] if isinstance(stated, str) else stated
