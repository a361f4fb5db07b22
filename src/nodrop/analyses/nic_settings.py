"""NICs held against the switch ports that they face and against the classes of the fabric, one setting at a time."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._facing import HostFileTargets, PortFacingNic, host_file_targets_of
from nodrop.analyses._link_layers import LINK_LAYER_FACT, is_nic_file_for_roce
from nodrop.model import effects
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.nics import ROCE_HEADERS_BYTES, Nic, rdma_dscps_of_nic, value_or_none
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, UnknownFact, require_fact
from nodrop.units import show_ids

GIVES_CHANGES = frozenset(
    {
        "tos", "ecn_capable", "cnp_dscp", "cnp_priority", "pfc_priorities", "dcqcn_priorities", "dscp_to_priority",
        "trust", "rdma_mtu", "mtu_bytes", "cable_length_m", "roce_version", "link_pause", "storm_guard",
    }
)  # fmt: skip
RESTS_ON = frozenset({"cables", "hosts"})
RESTS_ON_WITH = {"classes": frozenset({"tos", "ecn_capable", "cnp_dscp", "cnp_priority", "dscp_to_priority"})}
PFC_MODES = ("lossless", "pfc-only")
ECT_CODEPOINTS = (1, 2)
"""The ECN bits that say that a packet may be marked (RFC 3168, section 5)."""
ROCE_ONLY_FIELDS = frozenset({"gid_index", "loopback"})
"""Fields that are at fault with RoCE only, while InfiniBand has them, too."""


class SettingFault(NamedTuple):
    """The value of a NIC and the expected value, in the words of messages."""

    found: str
    expected: str
    wanted: object = None
    """The value of the field that ends it, where there is one alone."""


SettingCheck = Callable[[Nic, int, Fabric, PortFacingNic | None], SettingFault | None]
"""Judges a setting of a NIC, given its value, before one port, or before none where no switch was read."""


def find(index: Index, *, setting: str) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the NICs whose `setting` is wrong; facts: found, expected and port, the first at which it is."""
    hosts = host_file_targets_of(index)
    for nic in index.fabric.nics:
        if value_or_none(nic, "link_layer") == "infiniband":
            continue
        for field in FIELDS_BY_SETTING.get(setting, (setting,)):
            check = CHECKS_BY_SETTING_AND_FIELD.get((setting, field), CHECKS_BY_SETTING[setting])
            if (value := value_or_none(nic, field)) is not None and not (
                nic.spectrum_x and setting == "dcqcn_priorities"
            ):
                yield from _check_setting(index, nic, field, value, check, hosts)


def _check_setting(
    index: Index, nic: Nic, field: str, value: int, check: SettingCheck, hosts: HostFileTargets
) -> Iterator[AnalysisHit | UndecidedSubject]:
    for facing in hosts.ports_facing_nics_of_file(nic) or (
        (None,) if hosts.hosts_of_file(nic) or not index.fabric.hosts else ()
    ):
        try:
            fault = check(nic, value, index.fabric, facing)
        except UnknownFact as unknown:
            subject = (facing.device.name,) if facing else nic.subject
            yield UndecidedSubject(subject=subject, missing=str(unknown))
            return
        if fault is not None and field in ROCE_ONLY_FIELDS and (roce := is_nic_file_for_roce(index, nic)) is not True:
            if roce is None:
                yield UndecidedSubject(subject=nic.subject, missing=LINK_LAYER_FACT)
            return
        if fault is not None:
            yield AnalysisHit(
                subject=nic.subject,
                at=(*nic.subject, field),
                facts={"found": fault.found, "expected": fault.expected, "port": facing.name if facing else "a switch"},
                related=((facing.subject, "the switch port at the other end"),) if facing else (),
                discriminator=field,
                changes=() if fault.wanted is None else (((*nic.subject, field), fault.wanted),),
            )
            return


def _require_qos(facing: PortFacingNic | None) -> QosProfile | None:
    return None if facing is None else require_fact(facing.port.qos, "interface.qos")


def _pfc_priorities_of_port(facing: PortFacingNic | None) -> tuple[int, ...] | None:
    """Return the priorities on which a port obeys pause; None without a port."""
    qos = _require_qos(facing)
    if qos is None:
        return None if facing is None else ()
    return require_fact(qos.pfc_rx_priorities, "interface.qos.pfc_rx_priorities")


def _format_ids(numbers: tuple[int, ...]) -> str:
    return show_ids(tuple(sorted(numbers))) or "none"


def _check_pfc_priorities(nic: Nic, _: int, __: Fabric, facing: PortFacingNic | None) -> SettingFault | None:
    numbers, wanted_numbers = require_fact(nic.pfc_priorities), _pfc_priorities_of_port(facing)
    return (
        None
        if wanted_numbers is None or sorted(numbers) == sorted(wanted_numbers)
        else SettingFault(_format_ids(numbers), _format_ids(wanted_numbers), tuple(sorted(wanted_numbers)))
    )


def _check_trust(nic: Nic, _: int, __: Fabric, facing: PortFacingNic | None) -> SettingFault | None:
    qos = _require_qos(facing)
    port_trust = None if qos is None else require_fact(qos.trust, "interface.qos.trust")
    trust = str(require_fact(nic.trust))
    return (
        SettingFault(trust, port_trust, "dscp" if port_trust == "dscp" else None)
        if port_trust is not None and port_trust != "both" and trust != port_trust
        else None
    )


def _check_rdma_tos(_: Nic, tos: int, fabric: Fabric, __: PortFacingNic | None) -> SettingFault | None:
    wanted_rdma_dscps = effects.rdma_dscps(fabric)
    if not wanted_rdma_dscps or tos >> 2 in wanted_rdma_dscps:
        return None
    return SettingFault(
        f"ToS {tos} (DSCP {tos >> 2})",
        " or ".join(f"ToS {dscp << 2 | 2} (DSCP {dscp})" for dscp in wanted_rdma_dscps),
        wanted_rdma_dscps[0] << 2 | 2 if len(wanted_rdma_dscps) == 1 else None,
    )


def _check_connection_manager_tos(
    nic: Nic, tos: int, fabric: Fabric, facing: PortFacingNic | None
) -> SettingFault | None:
    """Check the ToS of the connection manager, which storage over RoCE may have as its own."""
    return None if tos >> 2 in effects.roce_dscps(fabric) else _check_rdma_tos(nic, tos, fabric, facing)


def _check_ecn_bits(nic: Nic, tos: int, fabric: Fabric, _: PortFacingNic | None) -> SettingFault | None:
    """Check a ToS with the right DSCP; another DSCP is reported already.

    Adaptive routing of NCCL and Spectrum-X are features of NVIDIA's NICs, which set the two bits themselves.
    """
    if nic.spectrum_x or (not isinstance(nic.nccl_adaptive_routing, Unknown) and nic.nccl_adaptive_routing):
        return None
    if tos >> 2 not in effects.roce_dscps(fabric) or tos & 3 in ECT_CODEPOINTS:
        return None
    return SettingFault(f"ToS {tos}", f"ToS {tos & ~3 | 2}", tos & ~3 | 2)


def _check_cnp_dscp(_: Nic, dscp: int, fabric: Fabric, facing: PortFacingNic | None) -> SettingFault | None:
    """Check against the CNP class; if none is stated, against the port's traffic of strict priority without pause."""
    dscps = sorted(
        {
            class_dscp
            for traffic_class in fabric.classes
            if traffic_class.purpose == "cnp"
            for class_dscp in traffic_class.dscp
        }
    )
    if dscps:
        return (
            None
            if dscp in dscps
            else SettingFault(
                f"DSCP {dscp}",
                " or ".join(f"DSCP {cnp_dscp}" for cnp_dscp in dscps),
                dscps[0] if len(dscps) == 1 else None,
            )
        )
    qos = _require_qos(facing)
    if qos is None:
        return None
    tc = effects.tc_of_dscp(qos, dscp)
    queue = effects.find_queue(qos, effects.queue_of_tc(qos, tc))
    scheduler = None if queue is None else require_fact(queue.scheduler, "queue.scheduler")
    strict = scheduler is not None and scheduler.type == "strict"
    if strict and not effects.is_lossless(qos, tc):
        return None
    return SettingFault(f"DSCP {dscp}, which lands in traffic class {tc}", "a DSCP of a strict, lossy traffic class")


def _check_cnp_priority(_: Nic, priority: int, fabric: Fabric, __: PortFacingNic | None) -> SettingFault | None:
    cnp_tcs = sorted(
        {
            require_fact(traffic_class.tc, "traffic_class.tc")
            for traffic_class in fabric.classes
            if traffic_class.purpose == "cnp"
        }
    )
    if not cnp_tcs or priority in cnp_tcs:
        return None
    wanted = cnp_tcs[0] if len(cnp_tcs) == 1 else None
    return SettingFault(str(priority), " or ".join(map(str, cnp_tcs)), wanted)


def _check_dscp_to_priority(nic: Nic, _: int, fabric: Fabric, facing: PortFacingNic | None) -> SettingFault | None:
    table, wanted_numbers = require_fact(nic.dscp_to_priority), _pfc_priorities_of_port(facing)
    for dscp in effects.roce_dscps(fabric) if fabric.mode in PFC_MODES else ():
        if table[dscp] is not None and wanted_numbers and table[dscp] not in wanted_numbers:
            found = f"DSCP {dscp} to priority {table[dscp]}"
            wanted = (*table[:dscp], wanted_numbers[0], *table[dscp + 1 :]) if len(wanted_numbers) == 1 else None
            return SettingFault(found, f"priority {_format_ids(wanted_numbers)}", wanted)
    return None


def _check_dcqcn_priorities(nic: Nic, _: int, fabric: Fabric, facing: PortFacingNic | None) -> SettingFault | None:
    """Where switches mark, NICs have to answer; where the mode has no marking, it is only an effort for nothing.

    A NIC whose file says what DSCP its RDMA has answers on the priority of that DSCP, the others are not asked for.
    """
    if fabric.mode == "pfc-only":
        return None
    numbers = require_fact(nic.dcqcn_priorities)
    wanted_numbers = (_pfc_priorities_of_port(facing) or ()) if fabric.mode == "lossless" else ()
    own_numbers = _priorities_of_own_rdma(nic)
    wanted_numbers = tuple(number for number in wanted_numbers if number in own_numbers) or wanted_numbers
    if numbers and set(wanted_numbers) <= set(numbers):
        return None
    if not wanted_numbers:
        return SettingFault(_format_ids(numbers), "the priority of RDMA")
    wanted = tuple(sorted({*wanted_numbers, *(numbers if len(numbers) > 1 else ())}))
    return SettingFault(_format_ids(numbers), _format_ids(wanted_numbers), wanted)


def _priorities_of_own_rdma(nic: Nic) -> frozenset[int]:
    """Return the priorities of the DSCPs that a file gives to RDMA, by its map, else by the upper bits."""
    table: tuple[int | None, ...] = value_or_none(nic, "dscp_to_priority") or (None,) * 64
    stated = ((dscp >> 3, table[dscp]) for dscp in rdma_dscps_of_nic(nic))
    return frozenset(by_default if number is None else number for by_default, number in stated)


def _check_mtu(_: Nic, mtu_bytes: int, __: Fabric, facing: PortFacingNic | None) -> SettingFault | None:
    max_bytes = None if facing is None else require_fact(facing.port.mtu_bytes, "interface.mtu_bytes")
    if max_bytes is None or mtu_bytes <= max_bytes:
        return None
    return SettingFault(str(mtu_bytes), f"at most {max_bytes}", max_bytes)


def _check_mtu_fits_rdma(_: Nic, mtu_bytes: int, fabric: Fabric, facing: PortFacingNic | None) -> SettingFault | None:
    """Against the RDMA MTU that the owner states of all hosts, and headers; where none is stated, nothing is asked.

    The MTU of the port that the NIC faces ends it, where that is enough.
    """
    stated_bytes = fabric.policy.rdma_mtu_bytes
    least = 0 if isinstance(stated_bytes, Unknown) else stated_bytes + ROCE_HEADERS_BYTES
    if mtu_bytes >= least:
        return None
    port_bytes = None if facing is None else facing.port.mtu_bytes
    wanted = port_bytes if isinstance(port_bytes, int) and port_bytes >= least else None
    return SettingFault(str(mtu_bytes), f"{least} or more", wanted)


def _check_cable_length(_: Nic, length_m: int, __: Fabric, facing: PortFacingNic | None) -> SettingFault | None:
    link = facing.link if facing else None
    true_m = None if link is None else require_fact(link.length_m, "link.length_m")
    return None if true_m is None or length_m >= true_m else SettingFault(f"{length_m} m", f"{true_m} m", true_m)


def _check_paused_priorities_have_own_buffers(
    nic: Nic, _: int, fabric: Fabric, __: PortFacingNic | None
) -> SettingFault | None:
    buffers, paused = require_fact(nic.priority_to_buffer), value_or_none(nic, "pfc_priorities")
    if fabric.mode not in PFC_MODES:
        return None
    for priority in paused or ():
        other_numbers = tuple(
            number for number in range(8) if buffers[number] == buffers[priority] and number not in paused
        )
        if other_numbers:
            return SettingFault(
                f"priority {priority} with {_format_ids(other_numbers)} in buffer {buffers[priority]}",
                "a separate buffer",
            )
    return None


def _check_roce_version(_: Nic, version: int, __: Fabric, ___: PortFacingNic | None) -> SettingFault | None:
    return None if version != 1 else SettingFault("RoCE version 1", "version 2", 2)


def _check_gid_index_is_rocev2_routable(
    _: Nic, index: int, __: Fabric, ___: PortFacingNic | None
) -> SettingFault | None:
    """Drivers list each address twice, version 1 first; 0 and 1 are link-local (`show_gids`)."""
    if index >= 2 and index % 2:
        return None
    return SettingFault(f"GID index {index}, {'link-local' if index == 1 else 'RoCE version 1'}", "3, or none")


def _check_global_link_pause_is_off(nic: Nic, on: int, _: Fabric, __: PortFacingNic | None) -> SettingFault | None:
    return SettingFault("on", "off", False) if on and value_or_none(nic, "pfc_priorities") != () else None


def _check_pfc_storm_guard_is_on(_: Nic, guarded: int, fabric: Fabric, __: PortFacingNic | None) -> SettingFault | None:
    return None if guarded or fabric.mode not in PFC_MODES else SettingFault("off", "auto", True)


def _check_pcie_speed(_: Nic, pcie_mbps: int, __: Fabric, facing: PortFacingNic | None) -> SettingFault | None:
    """Check against the port that a cable leads to, because a host also has NICs that are no part of the fabric."""
    if facing is None or facing.link is None:
        return None
    port_mbps = require_fact(facing.port.speed_mbps, "interface.speed_mbps")
    if port_mbps is None or pcie_mbps >= port_mbps:
        return None
    return SettingFault(f"{pcie_mbps / 1000:.0f} Gb/s", f"at least {port_mbps // 1000} Gb/s")


def _check_nic_loopback_off(_: Nic, on: int, __: Fabric, ___: PortFacingNic | None) -> SettingFault | None:
    return SettingFault("through the NICs", "by NVLink or shared memory") if on else None


_TOS_FIELDS = (
    "tos",
    "driver_traffic_class",
    "traffic_class",
    "ucx_traffic_class",
    "gin_traffic_class",
    "nvshmem_traffic_class",
)
FIELDS_BY_SETTING: Mapping[str, tuple[str, ...]] = {
    "tos": _TOS_FIELDS,
    "ecn_capable": (*_TOS_FIELDS, "nvme_rdma_tos", "lustre_o2ib_tos"),
    "rdma_mtu": ("mtu_bytes",),
}
"""By setting the fields of a NIC that say it, where they are not called so themselves."""

CHECKS_BY_SETTING: Mapping[str, SettingCheck] = {
    "pfc_priorities": _check_pfc_priorities,
    "trust": _check_trust,
    "tos": _check_rdma_tos,
    "ecn_capable": _check_ecn_bits,
    "cnp_dscp": _check_cnp_dscp,
    "cnp_priority": _check_cnp_priority,
    "dscp_to_priority": _check_dscp_to_priority,
    "dcqcn_priorities": _check_dcqcn_priorities,
    "mtu_bytes": _check_mtu,
    "rdma_mtu": _check_mtu_fits_rdma,
    "cable_length_m": _check_cable_length,
    "priority_to_buffer": _check_paused_priorities_have_own_buffers,
    "roce_version": _check_roce_version,
    "gid_index": _check_gid_index_is_rocev2_routable,
    "link_pause": _check_global_link_pause_is_off,
    "storm_guard": _check_pfc_storm_guard_is_on,
    "loopback": _check_nic_loopback_off,
    "pcie_mbps": _check_pcie_speed,
}

CHECKS_BY_SETTING_AND_FIELD: Mapping[tuple[str, str], SettingCheck] = {("tos", "tos"): _check_connection_manager_tos}
"""By setting and field the checks of fields that allow more than the setting's own check."""
