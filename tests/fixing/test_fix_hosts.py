"""`nodrop fix --unsafe` of files of hosts: a setting of a NIC as switches and classes have it, and nothing else."""

import json
from pathlib import Path

import pytest

from support.command import nodrop
from support.places import TESTS

SWITCH = (TESTS / "fixing" / "foreign" / "9-sonic-stock-dscp-26.json").read_text()
JOB = "export API_TOKEN_OF_SOMEBODY=abcd\nexport NCCL_IB_HCA=mlx5_0\nexport NCCL_IB_TC=0\nexport ANY=thing\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "hosts").mkdir()
    (tmp_path / "hosts" / "job.env").write_text(JOB)
    (tmp_path / "config_db.json").write_text(SWITCH)
    (tmp_path / "fabric.yaml").write_text("classes:\n  rdma: {dscp: [26], tc: 3, purpose: rdma, lossless: true}\n")
    return tmp_path


def _fix(site: Path, *options: str) -> str:
    return nodrop("fix", "--unsafe", "--select", "nic-tos-not-rdma", *options, str(site)).out


def test_the_traffic_class_of_a_job_becomes_that_of_the_rdma_class(site: Path) -> None:
    assert "1 finding fixed in 1 file" in _fix(site)
    assert (site / "hosts" / "job.env").read_text() == JOB.replace("NCCL_IB_TC=0", "NCCL_IB_TC=106")
    assert json.loads((site / "config_db.json").read_text()) == json.loads(SWITCH)


def test_a_difference_shows_no_other_line_of_a_host(site: Path) -> None:
    shown = _fix(site, "--diff")
    assert "-export NCCL_IB_TC=0\n+export NCCL_IB_TC=106\n" in shown
    assert "SOMEBODY" not in shown
    assert "ANY" not in shown


def test_a_patch_for_switches_holds_no_file_of_a_host(site: Path, tmp_path: Path) -> None:
    _fix(site, "--patch", str(tmp_path / "patches"))
    assert not list((tmp_path / "patches").rglob("*.env"))
