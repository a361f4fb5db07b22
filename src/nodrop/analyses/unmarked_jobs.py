"""Environments of jobs that send RDMA without a traffic class: it leaves with a DSCP of its library's choice.

Defaults of the libraries: NVIDIA NCCL user guide (NCCL_IB_TC, 0) and src/transport/net_ib/gin.cc; NVIDIA/nvshmem
src/modules/transport/common/env_defs.h (IB_TRAFFIC_CLASS, 0); OpenUCX, src/uct/ib/base/ib_iface.c (IB_TRAFFIC_CLASS,
106 with RoCE version 2).
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from nodrop import hardware
from nodrop.analyses import AnalysisHit, HitFact, UndecidedSubject
from nodrop.analyses._facing import HostFileTargets, host_file_targets_of
from nodrop.analyses._link_layers import LINK_LAYER_FACT, is_nic_file_for_roce
from nodrop.analyses.nic_persistence import is_lost_at_reboot
from nodrop.model import effects
from nodrop.model.index import Index
from nodrop.model.nics import Nic, value_or_none

RESTS_ON = frozenset({"classes", "hosts"})
UnmarkedCase = Literal["gpu", "cpu", "restart", "kernel"]


class LibraryTrafficClass(NamedTuple):
    """The variable that gives a library's RDMA a traffic class, and the DSCP without it."""

    variable: str
    dscp: int = 0


_GPU_LIBRARIES = {
    "NCCL GIN": LibraryTrafficClass("NCCL_GIN_IB_TC"),
    "NCCL GIN before 2.30.7": LibraryTrafficClass("NCCL_IB_TC"),
    "NVSHMEM IBGDA": LibraryTrafficClass("NVSHMEM_IB_TRAFFIC_CLASS"),
}
_CPU_LIBRARIES = {"NCCL": LibraryTrafficClass("NCCL_IB_TC"), "UCX": LibraryTrafficClass("UCX_IB_TRAFFIC_CLASS", 26)}
_GIN_LIBRARIES = {"NCCL": LibraryTrafficClass("NCCL_IB_TC")}
"""The variable for what GPUs send, by the library of the job: the one that all releases with GIN read."""
_ANY_HOST = ""
"""What files are for where no hosts are stated."""
_LIBRARIES_BY_CASE = {"gpu": _GPU_LIBRARIES, "cpu": _CPU_LIBRARIES, "restart": _CPU_LIBRARIES, "kernel": _GIN_LIBRARIES}


class _DefaultTosSources(NamedTuple):
    """What gives RDMA of a job's hosts a ToS: files, whether a restart loses all, whether only kernels have one."""

    files: tuple[str, ...] = ()
    are_lost: bool = False
    are_of_kernel: bool = False


def find(index: Index, *, by: UnmarkedCase) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the files with such libraries, once for each DSCP with which their RDMA leaves.

    `by` is what leaves so: RDMA that GPUs start (`gpu`), or that the CPU does, where no file gives the host a default
    (`cpu`), or where a restart loses that default (`restart`). `kernel` is RDMA that GPUs may start where only the
    kernel of the host has a default, which does not apply to it. Facts: libraries, variables, dscp, expected,
    settings, which are the variables with that value as a shell takes them, and file, which gives the default: all such
    files.
    """
    dscps = effects.rdma_dscps(index.fabric)
    if not dscps:
        return
    hosts = host_file_targets_of(index)
    for nic in index.fabric.nics:
        by_dscp = _libraries_marking_non_rdma_dscp(nic, _LIBRARIES_BY_CASE[by], dscps)
        if not by_dscp or (roce := is_nic_file_for_roce(index, nic)) is False:
            continue
        defaults = _DefaultTosSources() if by == "gpu" else _default_tos_sources(index, nic, hosts)
        if not _is_fault_of_kind(nic, by, defaults, hosts) or (
            by != "gpu" and _marks_rdma_by_default(nic, hosts, dscps)
        ):
            continue
        if roce is None:
            yield UndecidedSubject(subject=nic.subject, missing=LINK_LAYER_FACT)
            continue
        for dscp, libraries in by_dscp.items():
            expected = " or ".join(str(wanted << 2 | 2) for wanted in dscps)
            facts: dict[str, HitFact] = {
                "libraries": " and ".join(libraries),
                "variables": " and ".join(library.variable for library in libraries.values()),
                "dscp": dscp,
                "settings": " ".join(f"{library.variable}={expected}" for library in libraries.values()),
                "expected": expected,
                "file": " and ".join(defaults.files),
            }
            yield AnalysisHit(
                subject=nic.subject, at=(*nic.subject, "unmarked"), facts=facts, discriminator=str(dscp) if dscp else ""
            )


def _libraries_marking_non_rdma_dscp(
    nic: Nic, libraries: dict[str, LibraryTrafficClass], dscps: tuple[int, ...]
) -> dict[int, dict[str, LibraryTrafficClass]]:
    """Return the libraries of a file whose own DSCP is none of RDMA's, by that DSCP."""
    by_dscp: dict[int, dict[str, LibraryTrafficClass]] = {}
    for name in value_or_none(nic, "unmarked") or ():
        if (library := libraries.get(name)) is not None and library.dscp not in dscps:
            by_dscp.setdefault(library.dscp, {})[name] = library
    return by_dscp


def _is_fault_of_kind(nic: Nic, by: UnmarkedCase, defaults: _DefaultTosSources, hosts: HostFileTargets) -> bool:
    """Whether a job without a traffic class is a fault of this kind, given the defaults of its hosts."""
    if by == "gpu":
        return True
    if by == "cpu":
        return not defaults.files
    if by == "restart":
        return defaults.are_lost
    reported = any(name in _GPU_LIBRARIES for name in value_or_none(nic, "unmarked") or ())
    own_hosts = hosts.hosts_of_file(nic)
    without_gpus = bool(own_hosts) and all(host.gpus == 0 for host in own_hosts)
    unmarked_gin = value_or_none(nic, "gin") is not False and value_or_none(nic, "gin_traffic_class") is None
    may_start_rdma = unmarked_gin and not (reported or without_gpus)
    return defaults.are_of_kernel and not defaults.are_lost and may_start_rdma


def _marks_rdma_by_default(nic: Nic, hosts: HostFileTargets, dscps: tuple[int, ...]) -> bool:
    """Whether the NICs give RDMA its DSCP as they come from the factory."""
    models = set(nic.models) or {host.nic if isinstance(host.nic, str) else "" for host in hosts.hosts_of_file(nic)}
    held = [hardware.nic(model).roce_dscp if model in hardware.nics() else None for model in models]
    return bool(held) and all(dscp in dscps for dscp in held)


def _default_tos_sources(index: Index, nic: Nic, hosts: HostFileTargets) -> _DefaultTosSources:
    """Return what gives RDMA of the same hosts a ToS; where no hosts are stated, any file may be for the same job."""
    by_host: dict[str, list[Nic]] = index.compute_once(
        "unmarked_jobs.files", lambda: _default_tos_files_by_host(index, hosts)
    )
    of_hosts: dict[frozenset[str], _DefaultTosSources] = index.compute_once("unmarked_jobs.defaults", dict)
    names = hosts.host_names_of_file(nic) if index.fabric.hosts else frozenset({_ANY_HOST})
    if names not in of_hosts:
        files = dict.fromkeys(file for name in sorted(names) for file in by_host.get(name, ()))
        of_hosts[names] = _DefaultTosSources(
            tuple(sorted({file.file for file in files})),
            are_lost=bool(files) and all(is_lost_at_reboot(index, file, hosts) for file in files),
            are_of_kernel=bool(files) and all(value_or_none(file, "traffic_class") is None for file in files),
        )
    return of_hosts[names]


def _default_tos_files_by_host(index: Index, hosts: HostFileTargets) -> dict[str, list[Nic]]:
    """Return the scripts, the templates, and /etc/nccl.conf, that give RDMA a ToS, by the hosts that they are for.

    The ToS of the connection manager is none for these libraries, which set up connections by themselves; that of a
    template is taken for all of a host's.
    """
    by_host: dict[str, list[Nic]] = {}
    for nic in index.fabric.nics:
        giving = ("traffic_class", "driver_traffic_class") if nic.template is None else ("tos",)
        if all(value_or_none(nic, field) is None for field in giving):
            continue
        is_default = (
            value_or_none(nic, "kept") is not None or nic.template is not None or nic.file.startswith("nccl.conf")
        )
        if not index.fabric.hosts:
            by_host.setdefault(_ANY_HOST, []).append(nic)
        elif is_default:
            for name in hosts.host_names_of_file(nic):
                by_host.setdefault(name, []).append(nic)
    return by_host
