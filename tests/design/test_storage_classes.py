"""Storage classes by protocol: what is refused, what switches and hosts are set to, and builds without findings."""

import pytest

import nodrop
from nodrop import design
from nodrop.design.classes import keep_one_lossless_class
from nodrop.errors import InputProblems
from nodrop.model.fabric import Fabric
from nodrop.model.qos import QosProfile
from support.designs import build, load, shipped
from support.storage_classes import with_nvme


@pytest.mark.parametrize("purpose", ["nvme-tcp", "lustre-tcp"])
def test_storage_over_tcp_is_refused_in_a_lossless_class(purpose: str) -> None:
    with pytest.raises(InputProblems) as refused:
        build(with_nvme("two-by-two", purpose=purpose))
    assert [(one.found, one.expected) for one in refused.value.problems] == [(f"true, for {purpose}", "a lossy class")]


@pytest.mark.parametrize("purpose", ["nvme-rdma", "lustre-o2ib", "nfs-rdma"])
def test_storage_over_roce_is_refused_in_a_lossy_class_and_as_the_rest(purpose: str) -> None:
    with pytest.raises(InputProblems) as refused:
        build(with_nvme("two-by-two", {"hosts.pfc": ["3"]}, purpose=purpose, lossless=None))
    assert [(one.found, one.expected) for one in refused.value.problems] == [
        (f"{purpose}, which is RoCE, in a lossy class, in mode lossless", "lossless: true")
    ]
    with pytest.raises(InputProblems) as refused:
        build(with_nvme("two-by-two", {"classes.default.dscp": "10"}, purpose=purpose, dscp="rest"))
    assert [(one.found, one.expected) for one in refused.value.problems] == [
        ("rest", f"DSCPs that only {purpose} has, such as 34")
    ]


def test_storage_over_roce_may_be_lossy_where_the_fabric_is() -> None:
    nvme = {"purpose": "nvme-rdma", "dscp": "34", "priority": "4", "strict": True}
    classes = build(shipped("lossy", {"classes.nvme": nvme})).classes
    assert [(one.purpose, one.lossless) for one in classes if one.name == "nvme"] == [("nvme-rdma", False)]


@pytest.mark.parametrize("intent", ["two-by-two", "broadcom"])
def test_two_lossless_classes_pause_everywhere_on_sonic_and_have_no_findings(intent: str) -> None:
    fabric = build(with_nvme(intent))
    _without_findings(fabric)


@pytest.mark.slow  # all of NVUE
def test_two_lossless_classes_pause_everywhere_on_nvue_and_have_no_findings() -> None:
    tiers = {f"topology.{tier}.{key}": value for tier in ("leaves", "spines") for key, value in _NVUE.items()}
    _without_findings(build(with_nvme("two-by-two", tiers)))


_NVUE = {"platform": "nvue", "version": "5.16"}


def _without_findings(fabric: Fabric) -> None:
    reading = nodrop.read_back([*nodrop.write(fabric), *nodrop.host_files(fabric)], fabric)
    ports = [port for device in reading.fabric.devices for port in device.interfaces if port.enabled is True]
    assert {port.qos.pfc_rx_priorities for port in ports if isinstance(port.qos, QosProfile)} == {(3, 4)}
    assert [one.rule for one in nodrop.lint(reading).findings if one.severity != "note"] == []


def test_hosts_map_the_dscp_of_storage_over_roce_and_keep_its_own_tos() -> None:
    written = {one.path: one.text for one in nodrop.host_files(build(with_nvme("two-by-two", dscp="42")))}
    script = written["hosts/ConnectX-7.sh"]
    assert [line.strip() for line in script.splitlines() if "dscp2prio" in line] == [
        'mlnx_qos -i "$port" --dscp2prio set,42,4'
    ]
    assert "tc/1/traffic_class" not in script
    own = {one.path: one.text for one in nodrop.host_files(build(shipped("two-by-two")))}
    assert 'echo 106 > "/sys/class/infiniband/${rdma##*/}/tc/1/traffic_class"' in own["hosts/ConnectX-7.sh"]


def test_the_lossless_class_that_stays_alone_is_that_of_rdma() -> None:
    intent = load(with_nvme("two-by-two", {"hosts.pfc": ["2", "3"]}, priority="2"))
    alone = keep_one_lossless_class(intent)
    assert alone is not None
    assert [one.name for one in design.build(alone).classes if one.lossless is True] == ["rdma"]
    assert [one.name for one in design.build(intent).classes if one.lossless is True] == ["nvme", "rdma"]
    assert keep_one_lossless_class(load(shipped("two-by-two"))) is None
