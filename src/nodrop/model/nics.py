"""NIC settings of hosts, as the files of the hosts state them: outputs of tools, scripts, templates, environments."""

from typing import Any, Literal

from nodrop.model.addresses import AddressFamily
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.model.values import model_dataclass

ROCE_HEADERS_BYTES = 96
"""Room around a RoCE payload (Linux include/rdma/ib_addr.h, iboe_get_mtu): IPv6 or GRH 40, UDP 8, BTH 12, XRC 4,
AtomicETH 28, ICRC 4."""

UNSET_TOS = -1
"""A ToS that no option states: storage over RoCE then has that of the connection manager, over TCP it has 0."""


@model_dataclass
class Nic:
    """NIC settings in one file of a host; UNKNOWN is a setting that the file does not mention.

    `host` is the name under which the file was found: a host's, a NIC model's, or any other, which means all hosts.
    `part` distinguishes several NICs or ports in one file. `models` are the NICs that it is meant for, as the catalogue
    names them; without any it is meant for all.
    """

    host: str
    file: str
    part: str = ""
    models: tuple[str, ...] = ()
    pci_addresses: tuple[str, ...] = ()
    template: str | None = None
    """The name of the operator's template that says it; None where it is said otherwise."""
    node_selector: tuple[str, ...] = ()
    """Labels of the nodes for which a template is meant; without any, all."""
    trust: Literal["dscp", "pcp"] | Unknown = UNKNOWN
    pfc_priorities: tuple[int, ...] | Unknown = UNKNOWN
    tos: int | Unknown = UNKNOWN
    """ToS byte of connections that the connection manager sets up."""
    traffic_class: int | Unknown = UNKNOWN
    """ToS byte of connections that an application sets up itself (NCCL)."""
    driver_traffic_class: int | Unknown = UNKNOWN
    """ToS byte that the driver gives all RoCE connections, whatever they ask for (tc/1/traffic_class)."""
    ucx_traffic_class: int | Unknown = UNKNOWN
    nvme_rdma_tos: int | Unknown = UNKNOWN
    """ToS byte of connections to an NVMe target over RoCE; UNSET where no option states one."""
    nvme_tcp_tos: int | Unknown = UNKNOWN
    """ToS byte of connections to an NVMe target over TCP; UNSET where no option states one."""
    lustre_o2ib_tos: int | Unknown = UNKNOWN
    """ToS byte of Lustre over RoCE (the module ko2iblnd); UNSET where no option states one."""
    lustre_tcp_tos: int | Unknown = UNKNOWN
    """ToS byte of Lustre over TCP (the module ksocklnd); UNSET where no option states one."""
    cnp_dscp: int | Unknown = UNKNOWN
    cnp_priority: int | Unknown = UNKNOWN
    dcqcn_priorities: tuple[int, ...] | Unknown = UNKNOWN
    """Priorities on which the NIC answers marks and slows down for CNPs."""
    dscp_to_priority: tuple[int | None, ...] | Unknown = UNKNOWN
    """By DSCP (64), None where the file does not say."""
    priority_to_buffer: tuple[int, ...] | Unknown = UNKNOWN
    cable_length_m: int | Unknown = UNKNOWN
    link_pause: bool | Unknown = UNKNOWN
    mtu_bytes: int | Unknown = UNKNOWN
    roce_version: int | Unknown = UNKNOWN
    gid_index: int | Unknown = UNKNOWN
    gid_family: AddressFamily | Unknown = UNKNOWN
    """The family of addresses among whose GIDs NCCL chooses, where no index chooses one."""
    storm_guard: bool | Unknown = UNKNOWN
    """Whether the NIC stops sending pause by itself when its receiver has stalled."""
    loopback: bool | Unknown = UNKNOWN
    """Whether the GPUs of one host are made to talk through its NICs, other than in a test of those NICs."""
    spectrum_x: bool = False
    """Whether another congestion control than DCQCN is set up, and by another program."""
    link_layer: Literal["ethernet", "infiniband"] | Unknown = UNKNOWN
    rdma: bool | Unknown = UNKNOWN
    """Whether virtual functions are handed out with RDMA."""
    adaptive_routing: bool | Unknown = UNKNOWN
    """Whether the NIC sends and takes the packets of a connection over several paths at once."""
    nccl_adaptive_routing: bool | Unknown = UNKNOWN
    """Whether NCCL sends data so that it may take several paths."""
    queue_pairs: int | Unknown = UNKNOWN
    """Queue pairs that NCCL opens for a connection between two GPUs: to a switch's hash, each is a separate flow."""
    cross_nic: bool | Unknown = UNKNOWN
    """Whether NCCL may connect NICs of different rails."""
    pxn: bool | Unknown = UNKNOWN
    """Whether NCCL may reach a rail by NVLink and the NIC of another GPU (PXN)."""
    gin_traffic_class: int | Unknown = UNKNOWN
    """ToS byte of what GPUs send through NCCL without the CPU (GIN)."""
    gin: bool | Unknown = UNKNOWN
    """Whether GPUs may send through NCCL without the CPU (GIN): False where it is off, or the release has none."""
    ibgda: bool | Unknown = UNKNOWN
    """Whether NVSHMEM of the job sends from GPUs over InfiniBand verbs, as far as variables say."""
    nvshmem_traffic_class: int | Unknown = UNKNOWN
    """ToS byte of what NVSHMEM sends, also from GPUs (IBGDA)."""
    control_traffic_class: int | Unknown = UNKNOWN
    """ToS byte of NCCL's control messages; that of its data unless stated."""
    unmarked: tuple[str, ...] | Unknown = UNKNOWN
    """Libraries that the file lets use RDMA without a traffic class, by name: NCCL, NCCL GIN, NVSHMEM IBGDA, UCX.

    NCCL GIN before 2.30.7 has a separate name: it does not read the variable of later releases.
    """
    reaction_point: tuple[tuple[str, int], ...] | Unknown = UNKNOWN
    """Parameters by which the NIC slows down for CNPs (`roce_rp`), by their names in sysfs, sorted."""
    pcie_mbps: int | Unknown = UNKNOWN
    """What its PCIe link carries in one direction, after line encoding."""
    kept: bool | Unknown = UNKNOWN
    """Whether what the file sets is set again after a restart, as far as this file says."""
    starts: tuple[str, ...] | Unknown = UNKNOWN
    """Programs that the file starts at each boot."""

    @property
    def subject(self) -> tuple[str, ...]:
        """Return its name: the host, the file and the part of the file."""
        return (self.host, self.file, *([self.part] if self.part else []))


def value_or_none(nic: Nic, field: str) -> Any:
    """Return the value of a NIC field from a file, None where the file does not mention it."""
    fact = getattr(nic, field)
    return None if isinstance(fact, Unknown) else fact


def rdma_dscps_of_nic(nic: Nic) -> frozenset[int]:
    """Return the DSCPs that a file gives to RDMA: that of the driver, which is for all connections, else all others."""
    driver = value_or_none(nic, "driver_traffic_class")
    stated = (driver,) if driver else (value_or_none(nic, "tos"), value_or_none(nic, "traffic_class"))
    return frozenset(tos >> 2 for tos in stated if tos)
