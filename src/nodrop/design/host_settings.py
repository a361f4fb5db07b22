"""How NICs are set: as the intent states, else as its classes need; and where the two contradict each other."""

from collections.abc import Iterator, Mapping

from nodrop.design.classes import dscps_without_class, lossless_priorities, purpose_of
from nodrop.design.faults import KeyFault
from nodrop.design.modes import has_pfc
from nodrop.intent.hosts import HostNicSettings
from nodrop.intent.schema import Intent, TrafficClass
from nodrop.model.fabric import Mode, Purpose
from nodrop.model.nics import ROCE_HEADERS_BYTES
from nodrop.units import show_ids

DEFAULT_RDMA_DSCP = 26
"""NVIDIA's convention: Cumulus Linux, "RDMA over Converged Ethernet (RoCE)", maps DSCP 26 to switch priority 3."""
DEFAULT_CNP_DSCP = 48
"""What NICs of NVIDIA (`mlxconfig query`: CNP_DSCP_P1) and Broadcom (hardware/nics/Thor-2.yaml) send as shipped."""
NO_DCQCN_REASON_BY_MODE: Mapping[str, str] = {
    "pfc-only": "the switches mark nothing",
    "uec": "UET has its own congestion control, without CNPs",
}
"""Modes in which NICs do not slow down for CNPs unless the intent says so, and why."""
_ECT0_CODEPOINT = 2
"""ECT(0), in the two low bits of the ToS byte (RFC 3168, section 5)."""


def host_tos(classes: Mapping[str, TrafficClass], hosts: HostNicSettings) -> int:
    """Return the ToS byte of RoCE packets; left out, that of the RDMA class."""
    stated = hosts.tos
    return (
        ect_tos_of_dscp(_dscp_of_purpose_or_default(classes, "rdma", DEFAULT_RDMA_DSCP)) if stated is None else stated
    )


def host_cnp_dscp(classes: Mapping[str, TrafficClass], hosts: HostNicSettings) -> int:
    """Return the DSCP of CNPs; left out, that of the CNP class, or the usual one without such a class."""
    stated = hosts.cnp_dscp
    return _dscp_of_purpose_or_default(classes, "cnp", DEFAULT_CNP_DSCP) if stated is None else stated


def host_pfc_priorities(classes: Mapping[str, TrafficClass], mode: Mode, hosts: HostNicSettings) -> tuple[int, ...]:
    """Return the priorities with PFC on the NICs; left out, those of the lossless classes."""
    stated = hosts.pfc
    if stated is not None:
        return stated
    return lossless_priorities(classes) if has_pfc(mode) else ()


def hosts_use_dcqcn(mode: Mode, hosts: HostNicSettings) -> bool:
    """Return whether NICs slow down for CNPs; left out, not in the modes `NO_DCQCN_REASON_BY_MODE`."""
    return hosts.dcqcn and (mode not in NO_DCQCN_REASON_BY_MODE or "dcqcn" in hosts.model_fields_set)


def nccl_fifo_tos(classes: Mapping[str, TrafficClass], hosts: HostNicSettings) -> int | None:
    """Return the ToS byte of NCCL's control messages, of the first DSCP of their class; None if no class is named."""
    wanted_traffic_class = classes.get(hosts.fifo_class or "")
    return (
        None
        if wanted_traffic_class is None or wanted_traffic_class.dscp == "rest"
        else ect_tos_of_dscp(wanted_traffic_class.dscp[0])
    )


def ect_tos_of_dscp(dscp: int) -> int:
    """Return the ToS byte of ECN-capable packets with a DSCP."""
    return dscp << 2 | _ECT0_CODEPOINT


def redundant_host_keys(intent: Intent) -> tuple[str, ...]:
    """Return the keys of `hosts` that state what would follow from the classes without them."""
    bare = intent.hosts.model_copy(update=dict.fromkeys(("tos", "cnp_dscp", "pfc")))
    followed = {
        "tos": host_tos(intent.classes, bare),
        "cnp_dscp": host_cnp_dscp(intent.classes, bare),
        "pfc": host_pfc_priorities(intent.classes, intent.mode, bare),
    }
    return tuple(key for key, value in followed.items() if getattr(intent.hosts, key) == value)


def nic_setting_faults(intent: Intent) -> Iterator[KeyFault]:
    """Yield contradictions between the classes and how NICs are set, each at a line that makes it."""
    hosts = intent.hosts
    yield from _ambiguous_nic_class_faults(intent.classes, intent.hosts)
    rdma, cnp = _classes_of_purpose(intent.classes, "rdma"), _classes_of_purpose(intent.classes, "cnp")
    if hosts.tos is not None and (dscps := _dscps_of_classes(intent.classes, rdma)) and hosts.tos >> 2 not in dscps:
        fault = f"ToS {hosts.tos} is DSCP {hosts.tos >> 2}, which is not of the RDMA class"
        expected = " or ".join(str(ect_tos_of_dscp(dscp)) for dscp in dscps)
        yield KeyFault(("hosts", "tos"), fault, expected, _hint_leave_key_out(intent, "tos", rdma, "dscp"))
    if hosts.cnp_dscp is not None and (dscps := _dscps_of_classes(intent.classes, cnp)) and hosts.cnp_dscp not in dscps:
        fault = f"DSCP {hosts.cnp_dscp} is not of the CNP class"
        expected = " or ".join(map(str, dscps))
        yield KeyFault(("hosts", "cnp_dscp"), fault, expected, _hint_leave_key_out(intent, "cnp_dscp", cnp, "dscp"))
    lossless = lossless_priorities(intent.classes)
    if hosts.pfc is not None and hosts.pfc != lossless:
        fault = f"NICs with PFC on {show_ids(hosts.pfc) or 'nothing'}"
        expected = f"[{show_ids(lossless)}], the lossless priorities"
        classes = {
            name: wanted_traffic_class
            for name, wanted_traffic_class in intent.classes.items()
            if wanted_traffic_class.lossless
        }
        yield KeyFault(("hosts", "pfc"), fault, expected, _hint_leave_key_out(intent, "pfc", classes, "priority"))
    yield from _nccl_fifo_class_faults(intent.classes, intent.hosts)
    yield from _rdma_mtu_faults(intent.mtu, intent.hosts)


def _ambiguous_nic_class_faults(classes: Mapping[str, TrafficClass], hosts: HostNicSettings) -> Iterator[KeyFault]:
    """Yield purposes with several classes that could be the NICs' own, if the intent does not choose."""
    asked: tuple[tuple[str, Purpose, int, int | None], ...] = (
        ("tos", "rdma", DEFAULT_RDMA_DSCP, hosts.tos),
        ("cnp_dscp", "cnp", DEFAULT_CNP_DSCP, hosts.cnp_dscp),
    )
    for key, purpose, usual, stated in asked:
        candidates = _classes_of_purpose(classes, purpose)
        dscps = _dscps_of_classes(classes, candidates)
        if stated is None and dscps and _dscp_of_purpose(classes, purpose, usual) is None:
            *earlier_names, last = candidates
            fault = f"{', '.join(earlier_names)} and {last} are for {purpose}, and NICs send one DSCP"
            values = " or ".join(str(ect_tos_of_dscp(dscp) if key == "tos" else dscp) for dscp in dscps)
            yield KeyFault(("classes", last), fault, f"hosts.{key}: {values}")


def _nccl_fifo_class_faults(classes: Mapping[str, TrafficClass], hosts: HostNicSettings) -> Iterator[KeyFault]:
    name = hosts.fifo_class
    if name is None:
        return
    wanted_traffic_class = classes.get(name)
    if wanted_traffic_class is None:
        expected = f"a class of the intent: {', '.join(classes)}"
        yield KeyFault(("hosts", "fifo_class"), f"no class {name}", expected)
    elif wanted_traffic_class.dscp == "rest":
        fault = f"{name} takes the rest"
        hint = "NCCL marks its control messages with the first"
        yield KeyFault(("hosts", "fifo_class"), fault, "a class that names its DSCPs", hint)


def _rdma_mtu_faults(mtu_bytes: int, hosts: HostNicSettings) -> Iterator[KeyFault]:
    needed = hosts.rdma_mtu + ROCE_HEADERS_BYTES
    if needed <= mtu_bytes:
        return
    fitting = max(size for size in (256, 512, 1024, 2048) if size + ROCE_HEADERS_BYTES <= mtu_bytes)
    if "rdma_mtu" in hosts.model_fields_set:
        fault = f"RoCE MTU {hosts.rdma_mtu} and its headers do not fit MTU {mtu_bytes}"
        yield KeyFault(("hosts", "rdma_mtu"), fault, f"at most {fitting}", f"or mtu: {needed}")
    else:
        fault = f"{mtu_bytes}, which RoCE MTU {hosts.rdma_mtu} (the default) and its headers do not fit"
        yield KeyFault(("mtu",), fault, f"mtu: {needed} or more", f"or hosts.rdma_mtu: {fitting}")


def _hint_leave_key_out(intent: Intent, key: str, classes: dict[str, TrafficClass], class_key: str) -> str:
    """Return what to do instead: leave the key out, with the classes that then decide it and their lines."""
    class_places = []
    for name in classes:
        line = intent.problem(("classes", name, class_key), "").line
        class_places.append(f"classes.{name}" + (f" at line {line}" if line is not None else ""))
    return f"or leave hosts.{key} out: it follows from {' and '.join(class_places)}" if class_places else ""


def _dscp_of_purpose_or_default(classes: Mapping[str, TrafficClass], purpose: Purpose, default_dscp: int) -> int:
    dscp = _dscp_of_purpose(classes, purpose, default_dscp)
    return default_dscp if dscp is None else dscp


def _dscp_of_purpose(classes: Mapping[str, TrafficClass], purpose: Purpose, default_dscp: int) -> int | None:
    """Return the DSCP that NICs send for a purpose: the default one if a class has it, else the first of the class.

    Of several classes it is the one that is named like the purpose; None if none is.
    """
    candidates = _classes_of_purpose(classes, purpose)
    if default_dscp in _dscps_of_classes(classes, candidates):
        return default_dscp
    own_dscps = _dscps_of_classes(
        classes,
        {name: traffic_class for name, traffic_class in candidates.items() if name == purpose or len(candidates) == 1},
    )
    return own_dscps[0] if own_dscps else None


def _classes_of_purpose(classes: Mapping[str, TrafficClass], purpose: Purpose) -> dict[str, TrafficClass]:
    return {
        name: wanted_traffic_class
        for name, wanted_traffic_class in classes.items()
        if purpose_of(name, wanted_traffic_class) == purpose
    }


def _dscps_of_classes(classes: Mapping[str, TrafficClass], chosen: dict[str, TrafficClass]) -> tuple[int, ...]:
    """Return the DSCPs of some of the classes, sorted."""
    owned = (
        dscps_without_class(classes) if wanted_traffic_class.dscp == "rest" else wanted_traffic_class.dscp
        for wanted_traffic_class in chosen.values()
    )
    return tuple(sorted(dscp for dscps in owned for dscp in dscps))
