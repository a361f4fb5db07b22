"""Which files of hosts are about RoCE, which about InfiniBand, and of which neither is known."""

import pytest

from nodrop.analyses import UndecidedSubject, nic_settings, unmarked_jobs
from nodrop.analyses._link_layers import LINK_LAYER_FACT, is_nic_file_for_roce
from nodrop.model.fabric import Device, Fabric, TrafficClass
from nodrop.model.index import Index
from nodrop.model.nics import Nic

JOB = Nic(host="h", file="job.sh", gid_index=0, unmarked=("NCCL",))


def index(*nics: Nic, devices: tuple[Device, ...] = ()) -> Index:
    rdma = TrafficClass(name="rdma", purpose="rdma", dscp=(26,), tc=3, lossless=True)
    return Index(Fabric(name="f", mode="lossless", devices=devices, nics=nics, classes=(rdma,)))


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        pytest.param({}, None, id="a GID index of 0 alone"),
        pytest.param({"gid_index": 3}, True, id="a GID index that InfiniBand does not have"),
        pytest.param({"link_layer": "ethernet"}, True, id="the link layer"),
        pytest.param({"link_layer": "infiniband", "tos": 106}, False, id="InfiniBand, whatever is set"),
        pytest.param({"traffic_class": 106}, True, id="a traffic class"),
        pytest.param({"spectrum_x": True}, True, id="Spectrum-X"),
    ],
)
def test_the_link_layer_is_known_by_what_a_host_says(beside: dict[str, int | str], expected: bool | None) -> None:
    other = Nic(host="h", file="other.sh", **beside)  # type: ignore[arg-type]
    assert is_nic_file_for_roce(index(JOB, other), JOB) is expected
    assert is_nic_file_for_roce(index(JOB, Nic(host="i", file="other.sh", tos=106)), JOB) is None


def test_switches_that_are_read_are_of_ethernet() -> None:
    assert is_nic_file_for_roce(index(JOB, devices=(Device(name="leaf1", platform="sonic"),)), JOB) is True


def test_a_job_of_an_unknown_link_layer_is_not_judged() -> None:
    unknown = [UndecidedSubject(subject=JOB.subject, missing=LINK_LAYER_FACT)]
    assert list(nic_settings.find(index(JOB), setting="gid_index")) == unknown
    assert list(unmarked_jobs.find(index(JOB), by="cpu")) == unknown
    through_nics = Nic(host="h", file="job.sh", loopback=True)
    assert list(nic_settings.find(index(through_nics), setting="loopback")) == unknown
    on_infiniband = Nic(host="h", file="link.sh", link_layer="infiniband")
    assert list(nic_settings.find(index(through_nics, on_infiniband), setting="loopback")) == []
