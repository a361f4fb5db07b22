"""Environments of NCCL, NVSHMEM and UCX: what they set, and which libraries they leave without a traffic class."""

import time

import pytest

from nodrop.model.nics import Nic, value_or_none
from nodrop.model.reading import Source
from nodrop.platforms import hosts

POD = """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - name: train
      env:
        - name: NCCL_IB_HCA
          value: mlx5
        - name: "NCCL_IB_TC"
          value: "106"
        - {name: NCCL_IB_ADAPTIVE_ROUTING, value: "0"}
        - name: NCCL_IB_FIFO_TC
          valueFrom: {configMapKeyRef: {name: tc, key: fifo}}
        - name: OTHER
          value: "7"
"""


def nic(text: str, name: str = "job.sh") -> Nic:
    (found,) = hosts.read_host("gpu1", [(Source(name=name, display=name), text.encode())]).nics
    return found


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("NCCL_IB_TC=106", "traffic_class", 106),
        ("export NCCL_IB_TC=${NCCL_IB_TC:-106}", "traffic_class", 106),
        ("NCCL_IB_FIFO_TC=84", "control_traffic_class", 84),
        ("mpirun -x NCCL_GIN_IB_TC=106 -x NCCL_IB_HCA=mlx5 app", "gin_traffic_class", 106),
        ("NCCL_IB_TC=106 NCCL_GIN_ENABLE=0", "gin", False),
        ("NCCL_IB_TC=106 NCCL_GIN_TYPE=4", "gin", False),
        ("NCCL_IB_TC=106 NCCL_GIN_TYPE=3", "gin", None),
        ("NCCL_IB_TC=106 NCCL_GIN_TYPE=-1", "gin", None),
        ("NCCL_VERSION=2.28.3-1 NCCL_IB_TC=106", "gin", False),
        ("NCCL_VERSION=2.28.7-1 NCCL_IB_TC=106", "gin", None),
        ("NVSHMEM_IB_TRAFFIC_CLASS=0x6a", "nvshmem_traffic_class", 106),
        ("NCCL_IB_ADAPTIVE_ROUTING=1", "nccl_adaptive_routing", True),
        ("NCCL_IB_ADAPTIVE_ROUTING=0", "nccl_adaptive_routing", False),
        ("NCCL_IB_TC=106\nNCCL_CROSS_NIC=0", "cross_nic", False),
        ("NCCL_IB_TC=106\nNCCL_CROSS_NIC=2", "cross_nic", True),
        ("NCCL_IB_TC=106\nNCCL_CROSS_NIC=9", "cross_nic", None),
        ("NCCL_IB_TC=106\nNCCL_PXN_DISABLE=0", "pxn", True),
        ("NCCL_IB_TC=106\nNCCL_PXN_DISABLE=1", "pxn", False),
        ("NCCL_IB_ADDR_FAMILY=AF_INET", "gid_family", "ipv4"),
        ("NCCL_IB_ADDR_FAMILY=AF_INET6", "gid_family", "ipv6"),
        ("NCCL_IB_TC=106\nNCCL_IB_ADDR_FAMILY=AF_INET4", "gid_family", None),
        ("NCCL_IB_QPS_PER_CONNECTION=4", "queue_pairs", 4),
        ("data:\n  NCCL_IB_TC: '106'", "traffic_class", 106),
    ],
)
def test_what_a_variable_sets(text: str, field: str, value: object) -> None:
    assert value_or_none(nic(text), field) is value or value_or_none(nic(text), field) == value


def test_the_environment_of_a_container() -> None:
    found = nic(POD, "pod.yaml")
    fields = ("traffic_class", "nccl_adaptive_routing", "control_traffic_class", "unmarked")
    assert [value_or_none(found, field) for field in fields] == [106, False, None, None]


@pytest.mark.parametrize(
    ("text", "libraries"),
    [
        ("NCCL_IB_HCA=mlx5", ("NCCL",)),
        ("NCCL_IB_HCA=mlx5 NCCL_IB_TC=106", None),
        ("NCCL_IB_HCA=mlx5 NCCL_IB_TC=$TC", None),
        ("NCCL_IB_HCA=mlx5 NCCL_IB_DISABLE=1", None),
        ("NCCL_IB_HCA=mlx5 NCCL_NET=Socket", None),
        ("NCCL_IB_HCA=mlx5 NCCL_NET_PLUGIN=/opt/libnccl-net-other.so", None),
        ("NCCL_IB_HCA=mlx5 NCCL_NET_PLUGIN=none", ("NCCL",)),
        ("NCCL_IB_GID_INDEX=0 FI_PROVIDER=efa", None),
        ("NCCL_IB_GID_INDEX=0 NVSHMEM_LIBFABRIC_PROVIDER=efa", None),
        ("NCCL_IB_DISABLE=0", None),
        ("NCCL_GIN_TYPE=2 NCCL_GIN_IB_TC=106", None),
        ("NCCL_GIN_TYPE=3 NCCL_IB_TC=106", None),
        ("NCCL_GIN_TYPE=3", ("NCCL GIN",)),
        ("NCCL_GIN_ENABLE=1", ("NCCL GIN",)),
        ("NCCL_VERSION=2.30.4-1 NCCL_GIN_IB_TC=106", ("NCCL GIN before 2.30.7",)),
        ("pip install nvidia-nccl-cu12==2.28.9\nexport NCCL_GIN_TYPE=3", ("NCCL GIN before 2.30.7",)),
        ("apt install libnccl2=2.30.7-1+cuda13.1\nexport NCCL_GIN_TYPE=3 NCCL_GIN_IB_TC=106", None),
        ("NCCL_VERSION=2.30.4-1 NCCL_GIN_IB_TC=40 NCCL_IB_TC=106", None),
        ("NCCL_GIN_ENABLE=1 NCCL_GIN_TYPE=4", None),
        ("NCCL_VERSION=2.30.4-1 NCCL_GIN_IB_TC=106 NCCL_GIN_ENABLE=0", None),
        ("NCCL_VERSION=2.30.4-1 NCCL_GIN_IB_TC=106 NCCL_IB_DISABLE=1", None),
        ("NCCL_GIN_TYPE=3 NCCL_GIN_ENABLE=0", None),
        ("NVSHMEM_IB_ENABLE_IBGDA=true", ("NVSHMEM IBGDA",)),
        ("NVSHMEM_IBGDA_NIC_HANDLER=gpu", ("NVSHMEM IBGDA",)),
        ("NVSHMEM_IB_ENABLE_IBGDA=0 NVSHMEM_IBGDA_NIC_HANDLER=gpu", None),
        ("NVSHMEM_IB_ENABLE_IBGDA=1 NVSHMEM_IB_TRAFFIC_CLASS=106", None),
        ("UCX_TLS=rc_x,cuda_copy", ("UCX",)),
        ("UCX_TLS=tcp,cuda_copy UCX_IB_GID_INDEX=3", None),
        ("UCX_TLS=tcp", None),
        ("UCX_TLS=rc UCX_IB_TRAFFIC_CLASS=106", None),
        ("source /etc/nccl.env\nNCCL_IB_HCA=mlx5", None),
        (". /opt/env/bin/activate-nccl; export NCCL_IB_HCA=mlx5", None),
        ("source ~/.bashrc\nNCCL_IB_HCA=mlx5", ("NCCL",)),
    ],
)
def test_which_libraries_have_no_traffic_class(text: str, libraries: tuple[str, ...] | None) -> None:
    reading = hosts.read_host("gpu1", [(Source(name="job.sh", display="job.sh"), f"{text}\n".encode())])
    assert [value_or_none(one, "unmarked") for one in reading.nics if value_or_none(one, "unmarked")] == (
        [libraries] if libraries else []
    )


LOOPBACK = "export NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1\nexport NCCL_IB_TC=106\n"


@pytest.mark.parametrize(
    ("job", "loopback"),
    [
        ("mpirun -H node1,node2 ./all_reduce_perf", True),
        ("mpirun -H localhost:8 ./all_reduce_perf", False),
        ("mpirun --host 127.0.0.1 ./all_reduce_perf", False),
        ("mpirun -H localhost,node2 ./all_reduce_perf", True),
        ("srun --mpi=pmix -N 1 ./all_reduce_perf", False),
        ("srun -N1 ./all_reduce_perf", False),
        ("srun -N 16 ./all_reduce_perf", True),
        ("srun -N 16 ./all_reduce_perf | tee -N 1", True),
        ("torchrun --standalone train.py", False),
        ("torchrun --nnodes=1 train.py", False),
        ("torchrun --nnodes=1:4 train.py", True),
        ("cd run; torchrun --nnodes 1 train.py", False),
    ],
)
def test_gpus_that_talk_through_nics_of_their_own_host_are_a_test_on_one_host(job: str, loopback: bool) -> None:
    assert nic(LOOPBACK + job).loopback is loopback


@pytest.mark.parametrize("word", ["srun ", "torchrun ", "mpirun -H ", "srun -N ", "-host "])
def test_a_long_line_of_one_word_is_read_in_linear_time(word: str) -> None:
    line = word * (1_000_000 // len(word))
    started = time.process_time()
    nic(f"{LOOPBACK}{line}\n")
    assert time.process_time() - started < 5
