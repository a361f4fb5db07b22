"""Files of a switch are opened up to a size that depends on how they are read."""

from pathlib import Path

import pytest

from nodrop import opening
from nodrop.inputs.model import FileText


@pytest.mark.parametrize(("name", "read"), [("frr.conf", 0), ("startup.yaml", 0), ("config_db.json", 1)])
def test_what_is_read_by_line_has_a_limit_of_its_own(
    name: str, read: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "MAX_TEXT_BYTES", 10)
    path = tmp_path / name
    path.write_bytes(b"x" * 10)
    text = FileText(display=name, path=path)
    assert [source.name for source, _ in opening.open_files([(name, text)])[0]] == [name]
    path.write_bytes(b"x" * 11)
    found, problems = opening.open_files([(name, text)])
    assert len(found) == read
    assert [str(one) for one in problems] == [f"{name}: 11 bytes; expected at most 10 bytes"] * (1 - read)
