"""Rules about jobs take time in proportion to the files of hosts, not to their squares: calls are counted."""

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import FrameType

import pytest

from nodrop.analyses import AnalysisHit, infiniband_jobs, nic_persistence, unmarked_jobs
from nodrop.model.fabric import Fabric, Host, TrafficClass
from nodrop.model.index import Index
from nodrop.model.nics import Nic

RDMA = TrafficClass(name="rdma", purpose="rdma", dscp=(26,), tc=3, lossless=True)


class Nics(tuple[Nic, ...]):
    """Rows of which each takes a call, so that going through them is counted."""

    def __iter__(self) -> Iterator[Nic]:
        yield from map(self.__getitem__, range(len(self)))


def index(count: int, *, hosts: bool) -> Index:
    """Return hosts with a job, a unit, and a script that sets a default until the next restart."""
    names = [f"h{number}" for number in range(count)]
    job = partial(Nic, file="job.env", unmarked=("NCCL",), link_layer="infiniband", nvshmem_traffic_class=106)
    nics = [
        *(Nic(host=name, file="job.env", unmarked=("NCCL",), gid_index=3) for name in names),
        *(Nic(host=name, file=f"set-{name}.sh", kept=False, driver_traffic_class=106) for name in names),
        *(Nic(host=name, file=f"boot-{name}.service", kept=True, starts=(f"/opt/{name}.sh",)) for name in names),
        *(job(host=f"ib-{name}") for name in names),
    ]
    stated = (*names, *(f"ib-{name}" for name in names)) if hosts else ()
    rows = tuple(Host(name=name, group="gpus", gpus=8, nic="ConnectX-7", ports=()) for name in stated)
    return Index(Fabric(name="f", mode="lossless", devices=(), nics=Nics(nics), hosts=rows, classes=(RDMA,)))


def count_calls(find: Callable[[Index], Iterable[object]], fabric: Index) -> int:
    """Return how often functions begin or go on while an analysis finds all faults."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        list(find(fabric))
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("hosts", [False, True])
@pytest.mark.parametrize(
    "find",
    [
        *(pytest.param(partial(unmarked_jobs.find, by=by), id=by) for by in ("gpu", "cpu", "restart", "kernel")),
        pytest.param(infiniband_jobs.find, id="infiniband"),
        pytest.param(nic_persistence.find, id="persistence"),
    ],
)
def test_four_times_the_hosts_take_four_times_the_calls(find: Callable[[Index], Iterable[object]], hosts: bool) -> None:
    few, many = (count_calls(find, index(count, hosts=hosts)) for count in (10, 40))
    assert many < 5 * few


def test_the_jobs_that_are_counted_have_faults() -> None:
    fabric = index(3, hosts=True)
    assert len(list(unmarked_jobs.find(fabric, by="restart"))) == 3
    assert len(list(infiniband_jobs.find(fabric))) == 3
    assert len(list(nic_persistence.find(fabric))) == 3


def test_all_files_that_give_a_default_are_named() -> None:
    files = [Nic(host="h", file=name, kept=True, driver_traffic_class=106) for name in ("b.sh", "a.sh")]
    job = Nic(host="h", file="job.env", unmarked=("NCCL",), gid_index=3)
    fabric = Index(Fabric(name="f", mode="lossless", devices=(), nics=(job, *files), classes=(RDMA,)))
    (hit,) = unmarked_jobs.find(fabric, by="kernel")
    assert isinstance(hit, AnalysisHit)
    assert hit.facts["file"] == "a.sh and b.sh"
    assert hit.facts["settings"] == "NCCL_IB_TC=106", "which releases before 2.30.7 read, too"
