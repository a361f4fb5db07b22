"""Environments of jobs that send RDMA without a traffic class: it leaves with DSCP 0, which switches drop first."""

from collections.abc import Iterator

from nodrop import hardware
from nodrop.analyses import Hit, Unsettled
from nodrop.analyses._facing import Hosts, hosts_of
from nodrop.analyses._link_layers import LINK_LAYER, is_roce
from nodrop.model import effects
from nodrop.model.index import Index
from nodrop.model.nics import Nic, value_or_none

RESTS_ON = frozenset({"classes", "hosts"})
_BY_GPU = {"NCCL GIN": "NCCL_GIN_IB_TC", "NVSHMEM IBGDA": "NVSHMEM_IB_TRAFFIC_CLASS"}
_BY_CPU = {"NCCL": "NCCL_IB_TC", "UCX": "UCX_IB_TRAFFIC_CLASS"}
"""The libraries, and the variable that gives each a traffic class."""


def find(index: Index, *, by: str) -> Iterator[Hit | Unsettled]:
    """Yield the files with such libraries, those that send from the GPU (`by: gpu`) or from the CPU (`by: cpu`).

    Of the latter, a default that another file sets for the same hosts is enough. Facts: libraries, variables, expected.
    """
    dscps = effects.rdma_dscps(index.fabric)
    if not dscps or 0 in dscps:
        return
    variables = {"gpu": _BY_GPU, "cpu": _BY_CPU}[by]
    hosts = hosts_of(index)
    for nic in index.fabric.nics:
        libraries = [one for one in value_or_none(nic, "unmarked") or () if one in variables]
        if not libraries or (roce := is_roce(index, nic)) is False:
            continue
        if by == "cpu" and (_has_default(index, nic, hosts) or _marks_by_itself(nic, hosts, dscps)):
            continue
        if roce is None:
            yield Unsettled(subject=nic.subject, missing=LINK_LAYER)
            continue
        facts = {
            "libraries": " and ".join(libraries),
            "variables": " and ".join(variables[library] for library in libraries),
            "expected": " or ".join(str(dscp << 2 | 2) for dscp in dscps),
        }
        yield Hit(subject=nic.subject, at=(*nic.subject, "unmarked"), facts=facts)


def _marks_by_itself(nic: Nic, hosts: Hosts, dscps: tuple[int, ...]) -> bool:
    """Whether the NICs give RDMA its DSCP as they come from the factory."""
    models = set(nic.models) or {host.nic if isinstance(host.nic, str) else "" for host in hosts.of(nic)}
    held = [hardware.nic(model).roce_dscp if model in hardware.nics() else None for model in models]
    return bool(held) and all(dscp in dscps for dscp in held)


def _has_default(index: Index, nic: Nic, hosts: Hosts) -> bool:
    """Whether a script or template, or /etc/nccl.conf, gives RDMA of the same hosts a ToS.

    Where no hosts are stated, any file that gives one may be for the same job. The ToS of the connection manager is
    none for these libraries, which set up connections by themselves; that of a template is taken for all of a host's.
    """
    own_names = {host.name for host in hosts.of(nic)}
    for one in index.fabric.nics:
        giving = ("traffic_class", "driver_traffic_class") if one.template is None else ("tos",)
        if all(value_or_none(one, field) is None for field in giving):
            continue
        is_default = (
            value_or_none(one, "kept") is not None or one.template is not None or one.file.startswith("nccl.conf")
        )
        if not index.fabric.hosts or (is_default and own_names & {host.name for host in hosts.of(one)}):
            return True
    return False
