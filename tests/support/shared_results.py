"""Results that the processes of one test run share: what one has computed, the others read."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest


def shared(
    tmp_path_factory: pytest.TempPathFactory, compute: Callable[[int, str], tuple[str, str]]
) -> Callable[[int, str], tuple[str, str]]:
    """Return a function that computes two texts of a number and a name once in a whole test run."""
    own = tmp_path_factory.getbasetemp()
    run = own.parent if own.name.startswith("popen-") else own
    folder = run / f"shared-{compute.__module__}.{compute.__qualname__}"
    folder.mkdir(exist_ok=True)

    @cache
    def compute_or_read(number: int, name: str) -> tuple[str, str]:
        path = folder / f"{number}-{name}.json"
        if path.exists():
            first, second = json.loads(path.read_text())
            return first, second
        result = compute(number, name)
        _write_whole(path, json.dumps(result), own.name)
        return result

    return compute_or_read


def _write_whole(path: Path, text: str, process: str) -> None:
    """Write a file that nobody sees half written."""
    part = path.with_suffix(f".{process}")
    part.write_text(text)
    part.replace(path)
