"""Write the settings that platforms/nvue/schema.yaml leaves open, or compare those that it has with the sources.

A source is RELEASE=FILE, NVIDIA's OpenAPI document of one release of Cumulus Linux (JSON or YAML), or PACKAGE, the
wheel of the Python package `nvueschema` or a folder with its modules, which has all releases. Where both have a
release, NVIDIA's document is used. See CONTRIBUTING.md.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from nodrop.platforms.nvue.schema import schema_without_published_words
from nodrop.platforms.nvue.schema_types import parse_release
from nvue_compare import differences, summary
from nvue_merge import Merged, Release, lines, merged, unsaid
from nvue_models import read_module, texts_of
from nvue_openapi import read_openapi
from nvue_rest import left_open
from nvue_tree import Source, Unusable

_FIRST = "5.9"
"""The oldest release that schema.yaml covers."""


def text_of(tree: Merged, sources: Mapping[Release, tuple[str, Source]]) -> str:
    """Return the text of published.yaml."""
    head = [
        "# Settings of NVUE by release of Cumulus Linux, below what schema.yaml leaves open, in its notation.",
        "# Written by tools/openapi2schema.py; not to be edited. Paths without since or until are in all releases.",
        "# Sources: version and SHA-256 of NVIDIA's OpenAPI document of each release, and the file that was read.",
        "sources:",
        *(
            f'  "{_name(one.release)}": {{version: {one.version}, sha256: {one.digest}, file: {file}}}'
            for file, one in sources.values()
        ),
        "settings:",
    ]
    return "\n".join([*head, *lines(tree, 1)]) + "\n"


def _name(release: Release) -> str:
    return ".".join(map(str, release))


def _release(text: str) -> Release:
    if not re.fullmatch(r"[0-9]+\.[0-9]+", text):
        raise Unusable(f"{text}: expected a release such as 5.16")
    return parse_release(text)


def _read(given: Sequence[str], first: Release) -> dict[Release, tuple[str, Source]]:
    """Return the sources from a release on, oldest first, each with the name of its file."""
    found: dict[Release, tuple[str, Source]] = {}
    for one in sorted(given, key=lambda one: "=" in one):
        stated, _, path = one.rpartition("=")
        file = Path(path)
        if stated:
            release = _release(stated)
            found[release] = (file.name, read_openapi(file.read_bytes(), file.name, release))
        else:
            texts = texts_of(file)
            found |= {each: (file.name, read_module(text, each)) for each, text in texts.items() if each >= first}
    kept = {release: found[release] for release in sorted(found) if release >= first}
    if not kept:
        raise Unusable(f"no source of {_name(first)} or later")
    return kept


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tool; return 2 if the input cannot be used, and 1 if --compare finds differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="+", metavar="SOURCE", help="RELEASE=FILE, or PACKAGE")
    parser.add_argument("--since", default=_FIRST, metavar="RELEASE", help=f"the oldest release; default: {_FIRST}")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE", help="write what schema.yaml leaves open to this file")
    what.add_argument("--compare", action="store_true", help="print the differences from schema.yaml; write nothing")
    given = parser.parse_args(arguments)
    try:
        sources = _read(given.source, _release(given.since))
    except (Unusable, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    tree = merged([source for _, source in sources.values()])
    if given.compare:
        found = differences(schema_without_published_words(), tree)
        print("\n".join(summary(found)))
        return 1 if found else 0
    rest = left_open(schema_without_published_words(), tree) or Merged()
    given.write.write_text(text_of(rest, sources))
    print("\n".join([f"{_name(release)}: {one.version}" for release, (_, one) in sources.items()]))
    print("\n".join(unsaid(rest)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
