"""The ToS of storage traffic from hosts, compared with the classes of that storage and with lossless classes.

NVIDIA's driver gives all RoCE connections the ToS of tc/1/traffic_class, if a value is written there, before it checks
the ToS that a connection asks for (MLNX_OFED, drivers/infiniband/hw/mlx5: tclass_get_tclass_locked, `tcd->val`).
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._facing import HostFileTargets, host_file_targets_of
from nodrop.model import effects
from nodrop.model.fabric import Fabric, StorageProtocol, TrafficClass
from nodrop.model.index import Index
from nodrop.model.nics import UNSET_TOS, Nic, value_or_none
from nodrop.model.purposes import RDMA_STORAGE, TCP_STORAGE
from nodrop.model.states import UnknownFact, require_fact

RESTS_ON = frozenset({"cables", "classes", "hosts"})


class StorageTosOption(NamedTuple):
    """How a kind of storage is called, which field of a NIC states its ToS, and which option sets it."""

    name: str
    field: str
    option: str


STORAGE_TOS_OPTIONS: Mapping[StorageProtocol, StorageTosOption] = {
    "nvme-rdma": StorageTosOption("NVMe over RoCE", "nvme_rdma_tos", "--tos={tos} of nvme connect"),
    "nvme-tcp": StorageTosOption("NVMe over TCP", "nvme_tcp_tos", "--tos={tos} of nvme connect"),
    "lustre-o2ib": StorageTosOption("Lustre over RoCE", "lustre_o2ib_tos", "options ko2iblnd tos={tos}"),
    "lustre-tcp": StorageTosOption("Lustre over TCP", "lustre_tcp_tos", "options ksocklnd tos={tos}"),
}
"""Storage with a separate option for its ToS; NFS over RDMA has none, and takes that of the connection manager."""


def tos_byte_of_dscp(purpose: StorageProtocol, dscp: int) -> int:
    """Return the ToS byte of a DSCP: over RoCE ECN-capable (ECT(0)), over TCP the kernel keeps the ECN bits itself."""
    return dscp << 2 | (0 if purpose in TCP_STORAGE else 2)


def find(index: Index, *, lossless: bool) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield storage over TCP whose DSCP is lossless where `lossless`, else other storage outside its class.

    Facts: name, found, expected and port, the first at which the DSCP is lossless.
    """
    hosts = host_file_targets_of(index)
    for nic in index.fabric.nics:
        for purpose, sender in STORAGE_TOS_OPTIONS.items():
            if value_or_none(nic, sender.field) is None:
                continue
            try:
                fault = _find_tos_fault(index.fabric, hosts, nic, purpose)
            except UnknownFact as unknown:
                yield UndecidedSubject(subject=nic.subject, missing=str(unknown))
                continue
            if fault is not None and fault.lossless == lossless:
                yield AnalysisHit(
                    subject=nic.subject,
                    at=(*nic.subject, sender.field),
                    facts={"name": sender.name, **fault.facts},
                    discriminator=sender.field,
                )


class _StorageTosFault(NamedTuple):
    """The fault of a ToS, and whether that is a lossless class for TCP."""

    lossless: bool
    facts: Mapping[str, str]


def _find_tos_fault(
    fabric: Fabric, hosts: HostFileTargets, nic: Nic, purpose: StorageProtocol
) -> _StorageTosFault | None:
    sender, wanted_traffic_classes = STORAGE_TOS_OPTIONS[purpose], _classes_of_storage(fabric, purpose)
    tos: int = value_or_none(nic, sender.field)
    tcp = purpose in TCP_STORAGE
    if not tcp and not wanted_traffic_classes:
        return None
    forced = () if tcp else _values_stated_for_hosts(fabric, hosts, nic, "driver_traffic_class")
    sent = (
        forced[0]
        if len(forced) == 1
        else tos
        if tos != UNSET_TOS
        else 0
        if tcp
        else _tos_of_connection_manager(fabric, hosts, nic)
    )
    tos_text = f"ToS {sent} (DSCP {sent >> 2})"
    if len(forced) == 1:
        tos_text += ", the driver's default (tc/1/traffic_class)"
    elif tos == UNSET_TOS:
        tos_text = f"no separate ToS, so {tos_text}"
    dscps = [
        dscp
        for traffic_class in wanted_traffic_classes
        for dscp in traffic_class.dscp
        if not (tcp and require_fact(traffic_class.lossless, "traffic_class.lossless"))
    ]
    options = [f"DSCP {dscp} ({sender.option.format(tos=tos_byte_of_dscp(purpose, dscp))})" for dscp in dscps]
    if tcp and (port := _first_lossless_port(hosts, nic, sent >> 2)):
        return _StorageTosFault(
            True, {"found": tos_text, "expected": " or ".join(options) or "a lossy class", "port": port}
        )
    if not wanted_traffic_classes or any(sent >> 2 in traffic_class.dscp for traffic_class in wanted_traffic_classes):
        return None
    return _StorageTosFault(False, {"found": tos_text, "expected": " or ".join(options), "port": ""})


def _classes_of_storage(fabric: Fabric, purpose: StorageProtocol) -> list[TrafficClass]:
    """Return the classes of a kind of storage, else those without a protocol, else those of the same transport."""
    alike = TCP_STORAGE if purpose in TCP_STORAGE else RDMA_STORAGE
    class_lists = (
        [traffic_class for traffic_class in fabric.classes if traffic_class.purpose in purposes]
        for purposes in ({purpose}, {"storage"}, alike)
    )
    return next(filter(None, class_lists), [])


def _tos_of_connection_manager(fabric: Fabric, hosts: HostFileTargets, nic: Nic) -> int:
    """Return the ToS of the connection manager on the hosts of a NIC, which storage over RoCE has by default."""
    values = _values_stated_for_hosts(fabric, hosts, nic, "tos")
    if len(values) != 1:
        raise UnknownFact("nic.tos")
    return values[0]


def _values_stated_for_hosts(fabric: Fabric, hosts: HostFileTargets, nic: Nic, field: str) -> tuple[int, ...]:
    """Return the values that files of the same hosts state of a field, each once."""
    own_names = {host.name for host in hosts.hosts_of_file(nic)}
    field_values = dict.fromkeys(
        value
        for other_nic in fabric.nics
        if (value := value_or_none(other_nic, field)) is not None
        and (not own_names or own_names.intersection(host.name for host in hosts.hosts_of_file(other_nic)))
    )
    return tuple(field_values)


def _first_lossless_port(hosts: HostFileTargets, nic: Nic, dscp: int) -> str:
    """Return the first port that the hosts face and that has a DSCP in a lossless traffic class; else nothing."""
    for facing in hosts.ports_facing_nics_of_file(nic):
        qos = require_fact(facing.port.qos, "interface.qos")
        if effects.is_lossless(qos, effects.tc_of_dscp(qos, dscp)):
            return facing.name
    return ""
