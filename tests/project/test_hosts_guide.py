"""docs/hosts.md: its examples come out as it says, and its table is that of the catalogue."""

import re

import nodrop
from nodrop.hardware import nic, nics
from nodrop.syntax.yaml import parse_yaml
from support.designs import build, shipped
from support.places import ROOT

PAGE = (ROOT / "docs/hosts.md").read_text()


def test_the_example_of_control_messages_comes_out_as_it_says() -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    data = parse_yaml(text, "hosts.md").data
    changes = {"classes.storage": None, "classes.inband": None, "classes.default.share": "35%"}
    changes |= {f"classes.{name}": one for name, one in data["classes"].items()} | {"hosts": data["hosts"]}
    (environment,) = (
        one.text for one in nodrop.host_files(build(shipped("two-by-two", changes))) if "nccl" in one.path
    )
    (expected,) = re.findall(r"# (NCCL_IB_FIFO_TC=\d+)", text)
    assert expected in environment.splitlines()


def test_tools_and_nics_with_adaptive_routing_are_those_of_the_catalogue() -> None:
    tools = {"NVIDIA": "mlnx_qos", "Broadcom": "bnxt_setupcc", "AMD": "nicctl"}
    assert {nic(name).vendor: nic(name).tool for name in nics() if nic(name).tool} == tools
    (row,) = re.findall(r"\| tool \|.*", PAGE)
    assert [name for name in tools.values() if name not in row] == []
    (row,) = re.findall(r"\| adaptive routing \| ([^|]*) \|", PAGE)
    assert sorted(row.split(", ")) == [name for name in sorted(nics()) if nic(name).adaptive_routing]
