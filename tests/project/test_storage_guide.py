"""docs/storage.md: its classes build, and what it shows of them is what `nodrop show` prints."""

import json
import re
from pathlib import Path

from nodrop.model.fabric import PURPOSES
from nodrop.model.purposes import RDMA_STORAGE, STORAGE_PURPOSES, TCP_STORAGE
from support.command import nodrop
from support.designs import data_of, shipped
from support.places import ROOT

GUIDE = (ROOT / "docs" / "storage.md").read_text()


def test_the_classes_of_the_guide_have_the_memory_that_it_shows(tmp_path: Path) -> None:
    (classes,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    (table,) = re.findall(r"```text\n(.*?)```", GUIDE, re.DOTALL)
    path = tmp_path / "intent.yaml"
    path.write_text(json.dumps(shipped("two-by-two") | data_of(classes)))
    done = nodrop("show", str(path))
    assert (done.code, done.err) == (0, "")
    assert table in done.out


def test_the_guide_has_every_purpose_of_storage_with_its_kind_of_class() -> None:
    rows = dict(re.findall(r"^\| `([a-z0-9-]+)` \| [^|]* \| ([a-z]+)", GUIDE, re.MULTILINE))
    kinds = dict.fromkeys(RDMA_STORAGE, "lossless") | dict.fromkeys(TCP_STORAGE, "lossy") | {"storage": "either"}
    assert {name: rows[name] for name in PURPOSES if name in STORAGE_PURPOSES} == kinds
