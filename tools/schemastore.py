"""Write what SchemaStore needs of nodrop into a clone of it: `python tools/schemastore.py CLONE`.

Schemas go to src/schemas/json, shipped files as examples to src/test, and an entry for each schema to the catalog,
src/api/json/catalog.json, in its order. `node cli.js check --schema-name=nodrop-intent.json` in the clone then checks
one. Schemas with a choice of types have to be named under `ajvNotStrictMode` in src/schema-validation.jsonc.
https://github.com/SchemaStore/schemastore, CONTRIBUTING.md, says what a pull request has to have.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from nodrop.resources import resource_folder
from nodrop.schemas import USER_FILE_KINDS, json_schema, render_schema

FILE_MATCH = {"config": ["nodrop.yaml"], "intent": ["*.nodrop.yaml"]}
"""Names by which editors know a file. Files without an entry have names that other tools use, too, such as
fabric.yaml, so their first line has to name the schema."""

_EXAMPLES = {
    "intent": "intents/two-by-two.yaml",
    "profile": "profiles/nvidia.yaml",
    "rule": "rules/pfc/link-pause-with-pfc.yaml",
}


def catalog_entry(kind: str) -> dict[str, Any]:
    """Return the entry of the catalog about a schema."""
    described = json_schema(kind)
    entry = {"name": described["title"], "description": described["description"].rstrip("."), "url": described["$id"]}
    return entry | ({"fileMatch": FILE_MATCH[kind]} if kind in FILE_MATCH else {})


def write(clone: Path) -> list[Path]:
    """Write schemas, examples and entries into a clone of SchemaStore, and return the files."""
    written = []
    for kind in USER_FILE_KINDS:
        path = clone / "src" / "schemas" / "json" / f"nodrop-{kind}.json"
        path.write_text(render_schema(kind), encoding="utf-8", newline="\n")
        written.append(path)
        if kind in _EXAMPLES:
            folder, _, name = _EXAMPLES[kind].partition("/")
            example = clone / "src" / "test" / path.stem / Path(name).name
            example.parent.mkdir(parents=True, exist_ok=True)
            text = re.sub(
                r"\A# yaml-language-server:.*\n", "", (resource_folder(folder) / name).read_text(encoding="utf-8")
            )
            head = f"# yaml-language-server: $schema=../../schemas/json/{path.name}\n"
            example.write_text(head + text, encoding="utf-8", newline="\n")
            written.append(example)
    catalog = clone / "src" / "api" / "json" / "catalog.json"
    document = json.loads(catalog.read_text(encoding="utf-8"))
    own = [catalog_entry(kind) for kind in USER_FILE_KINDS]
    others = [entry for entry in document["schemas"] if entry["url"] not in {entry["url"] for entry in own}]
    document["schemas"] = _inserted(others, sorted(own, key=_order))
    catalog.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    return [*written, catalog]


def _inserted(others: list[dict[str, Any]], own: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return all entries, nodrop's before the first whose name follows, so that no other entry moves."""
    at = next((place for place, entry in enumerate(others) if _order(entry) > _order(own[0])), len(others))
    return [*others[:at], *own, *others[at:]]


def _order(entry: dict[str, Any]) -> str:
    return str(entry["name"]).lower()


def main() -> int:
    """Write into the clone that the command line names, and print the files."""
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "src" / "api" / "json" / "catalog.json").is_file():
        print("usage: python tools/schemastore.py CLONE, a clone of SchemaStore", file=sys.stderr)
        return 2
    print("\n".join(str(path) for path in write(Path(sys.argv[1]))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
