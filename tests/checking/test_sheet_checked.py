"""`nodrop check` of an intent whose cabling sheet is in another file."""

import shutil
from pathlib import Path

from nodrop.resources import resource_folder
from support.check_repositories import Git, commit, of_json, written
from support.command import nodrop


def sheet_beside_intent() -> None:
    """Write the shipped intent with its cables in cables.csv."""
    text = (resource_folder("intents") / "cabling-sheet.yaml").read_text()
    head, rest = text.split("  cables: |\n")
    rows, rest = rest.split("endpoints:\n")
    Path("cables.csv").write_text("".join(f"{line.strip()}\n" for line in rows.splitlines()))
    Path("site.yaml").write_text(f"{head}  cables: {{file: cables.csv}}\nendpoints:\n{rest}")


def test_a_change_of_the_sheet_is_a_change_of_the_fabric(git: Git) -> None:
    sheet_beside_intent()
    commit(git)
    assert of_json("--base", "HEAD", ".")["fabrics"] == []
    written("cables.csv", "leaf1,  Ethernet224,", "leaf1,  Ethernet192,")
    (fabric,) = of_json("--base", "HEAD", ".")["fabrics"]
    assert [device["name"] for device in fabric["plan"]["devices"]] == ["leaf1", "spine1"]


def test_the_base_has_the_sheet_of_the_base(git: Git) -> None:
    """A sheet that is gone is an error now, and none of before."""
    sheet_beside_intent()
    commit(git)
    shutil.move("cables.csv", "moved.csv")
    done = nodrop("check", "--base", "HEAD", ".")
    assert done.code == 2
    assert "site.yaml:12:18: topology.cables.file: cables.csv: no such file" in done.out + done.err
    written("site.yaml", "file: cables.csv", "file: moved.csv")
    assert nodrop("check", "--base", "HEAD", ".").code == 0
    Path("moved.csv").write_text("device,port,device,port\n")
    commit(git)
    sheet_beside_intent()
    assert nodrop("check", "--base", "HEAD", ".").code == 0
