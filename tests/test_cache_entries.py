"""What is kept of readings and names a platform that does not exist is read again."""

from pathlib import Path

import pytest

from support.fuzzing.prepared import entries_of
from support.fuzzing.targets import TARGETS
from support.fuzzing.trial import write

FILES = {"leaf1/config_db.json": b'{"PORT": {"Ethernet0": {"speed": "400000"}}, "DEVICE_METADATA": {"localhost": {}}}'}
CACHE = next(target for target in TARGETS if target.name == "cache")


def test_a_kept_reading_of_an_unknown_platform_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [entry for entry in entries_of(FILES) if b'"DeviceReading"' in entry]
    (entry,) = kept
    assert b'"sonic"' in entry
    for name, accepted in (("sonic", True), ("sonc", False)):
        folder = tmp_path / name
        write({**FILES, "entry.bin": entry.replace(b'"sonic"', f'"{name}"'.encode())}, folder)
        monkeypatch.chdir(folder)
        assert CACHE.accepted(folder) is accepted
