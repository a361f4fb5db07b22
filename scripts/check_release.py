"""Refuse a tag that is not the release of this commit: `python scripts/check_release.py TAG`.

The version of pyproject.toml, the label of Containerfile and the newest heading of CHANGELOG.md have to be the tag's,
and that heading has a date. Prints every difference; exit 1 where there is one.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def find_differences(tag: str, root: Path = ROOT) -> Iterator[str]:
    """Yield, in words, what differs from a tag such as `v0.1.0`."""
    version = tag.removeprefix("v")
    if not re.fullmatch(r"v[0-9]+\.[0-9]+\.[0-9]+", tag):
        yield f"the tag is {tag}; expected v and three numbers, such as v0.1.0"
        return
    stated = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    if stated != version:
        yield f"pyproject.toml: version is {stated}; the tag is {tag}"
    labels = re.findall(r'org\.opencontainers\.image\.version="([^"]*)"', (root / "Containerfile").read_text())
    if labels != [version]:
        yield f"Containerfile: the label of the version is {', '.join(labels) or 'missing'}; the tag is {tag}"
    heading = re.search(r"^## (\S+) - (\S+)$", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    if heading is None or heading[1] != version:
        yield f"CHANGELOG.md: the newest version is {heading[1] if heading else 'missing'}; the tag is {tag}"
    elif not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", heading[2]):
        yield f"CHANGELOG.md: {version} has no date but `{heading[2]}`; expected YYYY-MM-DD"


def main() -> int:
    """Check the tag that the command line names."""
    if len(sys.argv) != 2:
        print("usage: python scripts/check_release.py TAG", file=sys.stderr)
        return 2
    differences = list(find_differences(sys.argv[1]))
    print("\n".join(differences), end="\n" if differences else "")
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
