"""Configurations that vendors recommend."""

import json
from pathlib import Path
from typing import Any

from nodrop.syntax.yaml import parse_yaml
from support.places import TESTS

HERE = TESTS / "rules" / "recommended"


def said(name: str) -> dict[str, Any]:
    return parse_yaml((HERE / f"{name}.yaml").read_bytes(), name).data


def put(folder: Path, row: dict[str, Any]) -> Path:
    """Write the configuration of a row below a folder."""
    files = dict(row.get("files", {}))
    if "once" in row:
        files["switch/config_db.json"] = json.dumps(config(row), indent=4)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if "declared" in row:
        (folder / "fabric.yaml").write_text(json.dumps(row["declared"]))
    return folder


def config(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    tables: dict[str, dict[str, Any]] = {}
    for path, fields in row["once"].items():
        table, key = path.split("/")
        tables.setdefault(table, {})[key] = mapped(fields)
    lanes, first = int(row["ports"]["lanes"]), int(row["ports"].get("first_lane", 0))
    for nth, port in enumerate(row["ports"]["names"]):
        words = {
            "port": port,
            "panel": str(nth + 1),
            "nth": str(nth + 1),
            "part": "abcd"[nth],
            "lanes": ",".join(str(first + nth * lanes + lane) for lane in range(lanes)),
        }
        for path, fields in row["each"].items():
            table, key = path.format(**words).split("/")
            row_of = tables.setdefault(table, {}).setdefault(key, {})
            row_of.update({name.format(**words): str(value).format(**words) for name, value in fields.items()})
    return tables


def mapped(fields: dict[str, str]) -> dict[str, str]:
    """Return the fields of a row, those of a map spelt out: `rest` of all DSCPs, `same` to itself, ranges."""
    if "same" in fields:
        return {str(number): str(number) for number in range(int(fields["same"]))}
    if "rest" not in fields:
        return dict(fields)
    made = {str(dscp): fields["rest"] for dscp in range(64)}
    for key, value in fields.items():
        first, _, last = key.partition("-")
        if first != "rest":
            made.update({str(dscp): value for dscp in range(int(first), int(last or first) + 1)})
    return made
