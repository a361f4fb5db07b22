"""A build is put aside only where its intent tells all of it, and told it before too."""

import json
import shutil
from pathlib import Path

import pytest

from support.check_repositories import Git, commit
from support.command import nodrop
from support.gitops import EXAMPLE


@pytest.fixture
def site(git: Git) -> Git:
    """A repository with the intents of two pods and their builds on the branch main, worked on in the branch topic."""
    for name in ("intents", "build"):
        shutil.copytree(EXAMPLE / name, name)
    commit(git)
    git("checkout", "-q", "-b", "topic")
    return git


def errors() -> tuple[int, set[str]]:
    """Return how a check against the branch main ends, and the rules of what is no note."""
    ended = nodrop("check", "--base", "main", "--format", "json")
    made = json.loads(ended.out)
    told = [*made["findings"], *made["blockers"]]
    return ended.code, {one["rule"] for one in told if one["severity"] != "note"}


def touched(path: str) -> None:
    Path(path).write_text(f"{Path(path).read_text()}# x\n")


def test_host_files_of_a_build_are_checked_where_its_intent_changes_too(site: Git) -> None:
    path = Path("build/pod1/hosts/ConnectX-7.sh")
    path.write_text(path.read_text().replace("--pfc 0,0,0,1,0,0,0,0", "--pfc 1,1,1,1,1,1,1,1"))
    alone = errors()
    assert (alone[0], alone[1] != set()) == (1, True)
    touched("intents/pod1.yaml")
    assert errors() == alone


def test_an_intent_that_only_gets_a_comment_has_its_build_put_aside(site: Git) -> None:
    touched("intents/pod1.yaml")
    touched("build/pod1/leaf1/frr.conf")
    assert errors() == (0, set())


LOST = {"build-unlike-intent", "fabric-pfc-without-watchdog", "file-not-loaded", "pfc-without-watchdog"}


@pytest.mark.parametrize(
    ("layer", "found"), [("golden_config_db.json", LOST), ("init_cfg.json", {"device-not-checked"})]
)
def test_a_build_with_more_files_than_its_intent_makes_is_checked(site: Git, layer: str, found: set[str]) -> None:
    path = Path("build/pod1/leaf1/config_db.json")
    config = json.loads(path.read_text())
    (path.parent / layer).write_text(json.dumps({"PFC_WD": config.pop("PFC_WD")}))
    path.write_text(json.dumps(config))
    alone = errors()
    assert alone == (1, found)
    touched("intents/pod1.yaml")
    assert errors() == alone


def test_a_build_with_fewer_files_than_its_intent_makes_is_checked(site: Git) -> None:
    folder = Path("build/pod1/leaf1")
    config = json.loads((folder / "config_db.json").read_text())
    frr = folder / "frr.conf"
    (folder / "config_db.json").write_text(json.dumps(config | {"bgpraw": frr.read_text()}))
    frr.unlink()
    touched("intents/pod1.yaml")
    assert errors() == (1, {"device-not-checked"})


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["other", "pod1"])
def test_a_new_intent_does_not_decide_of_a_folder_that_was_there(site: Git, fabric: str) -> None:
    site("checkout", "-q", "main")
    shutil.rmtree("intents")
    shutil.rmtree("build/pod2")
    commit(site)
    site("checkout", "-q", "-B", "topic")
    text = (EXAMPLE / "intents" / "pod1.yaml").read_text().replace("fabric: pod1", f"fabric: {fabric}")
    start, end = text.index("pfc:\n"), text.index("routing:")
    text = text[:start] + text[end:]
    text = text.replace("lossless: true, ", "").replace("nodrop: 1", "nodrop: 1\nmode: lossy")
    Path("intents").mkdir()
    Path("intents/evil.yaml").write_text(text)
    assert nodrop("build", "intents/evil.yaml", "-o", "../made").code == 0
    top = Path("../made") / fabric if (Path("../made") / fabric).is_dir() else Path("../made")
    for name in ("leaf1", "leaf2", "spine1", "spine2", "hosts"):
        shutil.rmtree(Path("build/pod1") / name)
        shutil.copytree(top / name, Path("build/pod1") / name)
    code, told = errors()
    assert (code, told != set()) == (1, True)


def test_a_description_does_not_make_a_file_of_a_switch_one_of_a_host(site: Git) -> None:
    site("checkout", "-q", "main")
    for name in ("intents", "build/pod1"):
        shutil.rmtree(name)
    for name in ("leaf9", "leaf10", "spine9", "spine10"):
        Path(f"build/pod2/{name}/startup.yaml").rename(f"build/pod2/{name}.yaml")
    commit(site)
    site("checkout", "-q", "-B", "topic")
    path = Path("build/pod2/leaf9.yaml")
    text = path.read_text()
    assert "description: gpu25:nic1" in text
    path.write_text(text.replace("description: gpu25:nic1", "description: 'mlnx_qos -i eth0'"))
    made = json.loads(nodrop("check", "--base", "main", "--format", "json").out)
    (fabric,) = made["fabrics"]
    assert [(one["name"], one["kind"]) for one in fabric["plan"]["devices"]] == [("leaf9", "changed")]
