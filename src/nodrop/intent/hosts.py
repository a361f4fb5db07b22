"""The part of an intent that is about the NICs of hosts."""

from typing import Annotated, Literal

from pydantic import Field

from nodrop.intent.part import SchemaMapping
from nodrop.intent.types import Bool, Name, Priorities, scalar_of_whole, scalar_of_words


class HostNicSettings(SchemaMapping):
    """How the servers' NICs are set; the fabric is checked against it."""

    tos: Annotated[int, scalar_of_whole(0, 255)] | None = Field(
        None,
        description="IP ToS byte of RoCE packets, DSCP times 4, plus 2 for ECN; default: of the RDMA class, from its "
        "DSCP 26 or else its first",
    )
    cnp_dscp: Annotated[int, scalar_of_whole(0, 63)] | None = Field(
        None, description="DSCP of the CNPs that the NICs send; default: 48, or the first of the CNP class without it"
    )
    fifo_class: Name | None = Field(
        None,
        description="class in which NCCL sends its control messages (NCCL_IB_FIFO_TC), with the first of its DSCPs; "
        "default: as all RDMA",
    )
    trust: Literal["dscp", "pcp"] = Field("dscp", description="by what the NICs classify what they receive")
    pfc: Priorities | None = Field(
        None, description="priorities with PFC on the NIC; default: those of the lossless classes"
    )
    dcqcn: Bool = Field(True, description="whether the NICs slow down for CNPs; default in pfc-only and uec: false")
    rdma_mtu: Annotated[int, scalar_of_words("256", "512", "1024", "2048", "4096", read=int)] = Field(
        4096, description="RoCE MTU: bytes of payload in a packet, one of InfiniBand's five path MTUs"
    )
    queue_pairs: Annotated[int, scalar_of_whole(1, 128)] | None = Field(
        None,
        description="queue pairs of NCCL for a connection between two GPUs (NCCL_IB_QPS_PER_CONNECTION), which ECMP "
        "may spread over paths; default: what the job states, or NCCL's own 1",
    )
    out_of_order: Bool | None = Field(
        None,
        description="whether the NICs take packets of a connection in any order, as adaptive routing delivers them",
    )


class ReachPolicy(SchemaMapping):
    """Which hosts and ports the owner does not expect to reach each other over switches."""

    rails: Literal["joined", "isolated"] | None = Field(
        None,
        description="joined: switches join the leaves of a host's ports; isolated: they do not, as in two planes, and "
        "the GPUs of a host forward between its ports (NVLink, PXN); default: isolated for rails without uplinks, else "
        "joined",
    )
    parts: Literal["joined", "separate"] | None = Field(
        None,
        description="joined: cables join all hosts; separate: parts of the fabric are separate, such as planes with "
        "separate hosts or a network for storage; default: joined",
    )
