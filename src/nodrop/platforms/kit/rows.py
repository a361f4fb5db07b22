"""Facts about paths of the model, as rows of YAML files in the platforms' folders."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from nodrop.model.subject import Subject
from nodrop.syntax.yaml import parse_yaml

_PLATFORMS_FOLDER = Path(__file__).parent.parent
_Row = TypeVar("_Row")


def read_platform_rows(platform: str, name: str, row: Callable[[Mapping[str, object]], _Row]) -> tuple[_Row, ...]:
    """Return the rows of a platform's file of that name, as `row` makes each; none if there is no such file."""
    path = _PLATFORMS_FOLDER / platform / name
    if not path.exists():
        return ()
    raw_rows: Any = parse_yaml(path.read_bytes(), path.name).data
    return tuple(map(row, raw_rows))


def parse_path_patterns(texts: Iterable[str]) -> tuple[Subject, ...]:
    """Return the paths of a row, as it writes them; they may have globs."""
    return tuple(tuple(text.split("/")) for text in texts)


def path_below_switch(path: Subject, of_port: bool) -> Subject:
    """Return a path below a switch, or below any of its ports, as rows write it."""
    return ("interfaces", "*", *path) if of_port else path
