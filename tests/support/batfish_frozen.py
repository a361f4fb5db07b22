"""Configurations that stay as they are, for what a real service answered of them: tests/validating/batfish/<name>/.

They were built from intents once, without the tables of SONiC that say nothing of routes. `freeze` builds them anew,
which only who records anew does. Faults are put into copies of them (faults.yaml).
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

import nodrop
from nodrop.model.reading import Reading
from nodrop.model.subject import subject_text
from nodrop.routing.observation import OBSERVATION_CHECKS, ValidatorObservation
from support.designs import build, shipped
from support.places import TESTS

HERE = TESTS / "validating" / "batfish"
LEAVES = {"topology.leaves.platform": "nvue", "topology.leaves.version": "5.16"}
SPINES = {"topology.spines.platform": "nvue", "topology.spines.version": "5.16"}
CASES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "two-by-two": ("two-by-two", {}),
    "nvue": ("two-by-two", LEAVES | SPINES),
    "mixed": ("two-by-two", SPINES),
    "unnumbered": ("unnumbered", {}),
    "storage-vlan": ("storage-vlan", {}),
}
"""Intent and changes of each."""

_TABLES = re.compile(
    "ACL_.*|DEVICE_(METADATA|NEIGHBOR)|(LOOPBACK_|VLAN_|PORTCHANNEL_)?INTERFACE|LOOPBACK|MGMT_.*|PORT|"
    "PORTCHANNEL(_MEMBER)?|STATIC_ROUTE|VERSIONS|VLAN(_MEMBER)?|VRF"
)


@dataclass(frozen=True)
class Fault:
    """A fault in one of the cases: lines of files, as (file, regular expression, replacement)."""

    name: str
    of: str
    edits: tuple[tuple[str, str, str], ...]


def faults() -> tuple[Fault, ...]:
    """The faults of faults.yaml."""
    rows: list[dict[str, Any]] = YAML(typ="safe").load(TESTS / "validating" / "batfish" / "faults.yaml")
    return tuple(Fault(row["name"], row["of"], tuple(tuple(edit) for edit in row["edits"])) for row in rows)


def freeze(name: str) -> None:
    """Build the configurations of a case anew."""
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    intent, changes = CASES[name]
    for artifact in nodrop.write(build(shipped(intent, dict(changes)))):
        if not artifact.path.startswith("apply/"):
            path = folder / artifact.device / artifact.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_kept(artifact.text) if path.name == "config_db.json" else artifact.text)


def _kept(config: str) -> str:
    """The tables that say something of routes, a row a line."""
    tables = {name: rows for name, rows in json.loads(config).items() if _TABLES.fullmatch(name)}
    return "{\n" + ",\n".join(_table(name, rows) for name, rows in tables.items()) + "\n}\n"


def _table(name: str, rows: Mapping[str, Any]) -> str:
    return f' "{name}": {{\n' + ",\n".join(f'  "{key}": {json.dumps(row)}' for key, row in rows.items()) + "\n }"


def faulty(fault: Fault, folder: Path) -> Reading:
    """Read the case of a fault with the fault in it, from a copy below a folder."""
    copy = folder / fault.name
    shutil.copytree(HERE / fault.of, copy)
    for file, pattern, replacement in fault.edits:
        before = (copy / file).read_text()
        after, count = re.subn(pattern, replacement, before, flags=re.MULTILINE)
        assert count, (fault.name, file, pattern)
        (copy / file).write_text(after)
    return read(copy)


def read(folder: Path) -> Reading:
    """Read a case, without the rules."""
    reading = nodrop.read([str(folder)])
    assert reading.problems == ()
    return reading


def shown(seen: ValidatorObservation, computed: ValidatorObservation, sound: ValidatorObservation | None = None) -> str:
    """What was seen, next to what is computed: how much is alike, and each item that is not.

    Of a fault also what is seen otherwise than of the `sound` fabric.
    """
    return "\n".join([*_shown(seen, computed), *(_changed(seen, sound) if sound is not None else ()), ""])


def _changed(seen: ValidatorObservation, sound: ValidatorObservation) -> Iterator[str]:
    for check in OBSERVATION_CHECKS:
        now, before = seen.seen.get(check, {}), sound.seen.get(check, {})
        for item in sorted(now.keys() | before.keys()):
            hidden = item not in now and seen.reason_unseen(check, item)
            if now.get(item) != before.get(item) and not hidden:
                said = seen.said.get((check, item), "")
                was, is_now = _value(before.get(item, "nothing")), _value(now.get(item, "nothing"))
                yield f"changed: {check} {subject_text(item)}: {was}, now {is_now}{said and f' ({said})'}"


def _shown(seen: ValidatorObservation, computed: ValidatorObservation) -> Iterator[str]:
    for check in OBSERVATION_CHECKS:
        items, there = seen.seen.get(check, {}), computed.seen.get(check, {})
        alike = {item for item in there if item in items and items[item] == there[item]}
        yield f"{check}: {len(alike)} of {len(there)} as computed"
        for item in sorted(items.keys() - alike):
            said = seen.said.get((check, item), "")
            yield (
                f"  {subject_text(item)}: {_value(items[item])}, computed "
                f"{_value(there.get(item))}{said and f' ({said})'}"
            )
        hidden = Grouped()
        for item in sorted(there.keys() - items.keys()):
            hidden.add(seen.reason_unseen(check, item) or "nobody says why", subject_text(item))
        yield from (f"  unseen: {line}" for line in hidden.lines())
    refused = Grouped()
    for one in seen.refused:
        line = "no line" if one.place is None else one.place.span.line
        refused.add(f"{one.text}: {one.said}{'' if one.matters else ' (does not matter)'}", f"{one.device}:{line}")
    yield from (f"refused: {line}" for line in refused.lines())
    for line in seen.notes:
        yield "told: " + re.sub(r"[0-9.]+ (s|ms)\b", r"… \1", line)


class Grouped:
    """Names by what is true of them."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}

    def add(self, fact: str, name: str) -> None:
        """Add a name to a fact."""
        self._names.setdefault(fact, []).append(name)

    def lines(self) -> Iterator[str]:
        """A fact a line, with the names in it."""
        for fact, names in self._names.items():
            yield f"{fact}: {', '.join(names)}"


def _value(value: object) -> str:
    return str(sorted(value)) if isinstance(value, frozenset) else str(value)
