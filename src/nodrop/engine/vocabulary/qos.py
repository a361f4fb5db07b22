"""Words about classes, pause and marking: a port's treatment of the fabric's traffic."""

from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.general import ranges
from nodrop.engine.vocabulary.sides import misplaced_tcs
from nodrop.model import effects
from nodrop.model.addresses import Network, network_of
from nodrop.model.fabric import Device, Fabric, Interface
from nodrop.model.index import Index
from nodrop.model.purposes import STORAGE_PURPOSES, TCP_STORAGE
from nodrop.model.qos import PfcWatchdog, QosProfile
from nodrop.model.states import Unknown, UnknownFact, known_rows, require_fact

MAX_PFC_PRIORITIES = 2
DUAL_LEAF_PAUSED_PRIORITIES = (2, 3, 4, 6)
_RDMA_INCOMPATIBLE_PURPOSES = (STORAGE_PURPOSES - TCP_STORAGE) | {"inband", "control"}
"""Purposes that must not share the class of RDMA; storage over TCP must not share any lossless class."""


@declare_word("test")
def in_use(enabled: bool | Unknown) -> bool:
    """Whether a port is not known to be shut: `interface.enabled is in_use`."""
    return isinstance(enabled, Unknown) or enabled


@declare_word("filter", rests_on=("cables",))
def facing(side: str | None | Unknown) -> str:
    """Return what is at the far end of a port's cable: `host`, `fabric`, `nothing`, or `unknown` without a source.

    Used as `interface.side | facing`.
    """
    return "unknown" if isinstance(side, Unknown) else side or "nothing"


@declare_word("function", rests_on=("cables",))
def runs_session(name: str, port: str, *, index: Index) -> bool:
    """Whether a BGP session runs over a port, by its name (unnumbered) or to an address of its networks."""
    return port in _cached_session_ports(name, index)


@declare_word("function", rests_on=("cables", "policy"))
def may_go_unwatched(fabric: Fabric, name: str, port: str, side: str | None | Unknown, *, index: Index) -> bool:
    """Whether a port without a PFC watchdog leads to a switch, where a watchdog is advised and not necessary.

    A BGP session may lead to a switch, or to a host that runs a routing daemon. Without cables its port needs a
    watchdog where another port with a session has one. It is UNKNOWN where no such port has one, and where the policy
    has none between switches.
    """
    if not isinstance(side, Unknown):
        return side == "fabric"
    device, sessions = index.devices[name], _cached_session_ports(name, index)
    if port not in sessions:
        return False
    if not policy_turns_fabric_watchdog_off(fabric, device.role):
        watched = index.compute_once(f"watched ports: {name}", lambda: _ports_maybe_watched(device))
        if watched & sessions:
            return False
    raise UnknownFact("interface.side")


def _cached_session_ports(name: str, index: Index) -> set[str]:
    """Return the ports of a device that BGP sessions run over."""
    return index.compute_once(f"ports of sessions: {name}", lambda: _compute_session_ports(index.devices[name]))


def _ports_maybe_watched(device: Device) -> set[str]:
    """Return the ports of a device with a PFC watchdog, and those of which it is not known."""
    return {
        interface.name
        for interface in device.interfaces
        if isinstance(qos := interface.qos, QosProfile) and qos.pfc_watchdog is not None
    }


def _compute_session_ports(device: Device) -> set[str]:
    """Return the ports of a device that BGP sessions run over, by their name or to an address of their networks."""
    ports_by_network: dict[Network, list[str]] = {}
    for interface in device.interfaces:
        for text in known_rows(interface.addresses):
            if (network := network_of(text)) is not None:
                ports_by_network.setdefault(network, []).append(interface.name)
    lengths = {network.prefixlen for network in ports_by_network}
    ports: set[str] = set()
    for process in device.known_bgp_processes:
        for session in known_rows(process.neighbors):
            if session.interface is not None:
                ports.add(session.interface)
            elif session.address is not None:
                networks = (network_of(f"{session.address}/{length}") for length in lengths)
                ports.update(name for network in networks if network for name in ports_by_network.get(network, ()))
    return ports


@declare_word("function", rests_on=("roles",))
def is_leaf(role: str | Unknown) -> bool:
    """Whether a switch is known to be of the tier that hosts are cabled to."""
    return not isinstance(role, Unknown) and role == "leaf"


@declare_word("function", rests_on=("cables", "roles"))
def expects_rdma(
    role: str | Unknown, interfaces: tuple[Interface, ...], side: str | None | Unknown, qos: QosProfile | None
) -> bool:
    """Whether a port of a lossless fabric has to be: one towards hosts or switches, or with QoS on a switch of RDMA.

    One that is known to face neither is none if other ports have PFC and it has not.

    Without cables a switch whose role is known is one of RDMA, and so is one with PFC on any of its ports. One without
    may be of another network, such as that for management: UNKNOWN.
    """
    if not isinstance(side, Unknown):
        others_pause = any(_may_have_pfc(interface.qos) for interface in interfaces)
        return side is not None or (qos is not None and (_may_have_pfc(qos) or not others_pause))
    if qos is None:
        return False
    if isinstance(role, Unknown) and not any(_may_have_pfc(interface.qos) for interface in interfaces):
        raise UnknownFact("interface.side")
    return True


def _may_have_pfc(qos: QosProfile | None | Unknown) -> bool:
    """Whether a port has PFC, or may have it."""
    if isinstance(qos, Unknown) or qos is None:
        return isinstance(qos, Unknown)
    return any(
        isinstance(priorities, Unknown) or priorities != ()
        for priorities in (qos.pfc_rx_priorities, qos.pfc_tx_priorities)
    )


@declare_word("function", rests_on=("policy",))
def policy_turns_fabric_watchdog_off(fabric: Fabric, role: str | Unknown) -> bool:
    """Whether the owner states that links between switches have no PFC watchdog, at all or on devices of a role."""
    policy = fabric.policy
    if policy.fabric_watchdog is None:
        return True
    return bool(policy.fabric_unwatched_roles) and require_fact(role, "device.role") in policy.fabric_unwatched_roles


@declare_word("function", rests_on=("policy", "cables"))
def policy_watchdog(fabric: Fabric, side: str | None | Unknown) -> PfcWatchdog | None | Unknown:
    """Return the PFC watchdog that the owner wants at a port of that side; UNKNOWN where no policy is stated."""
    policy = fabric.policy
    return policy.fabric_watchdog if facing(side) == "fabric" else policy.host_watchdog


@declare_word("function", rests_on=("classes",))
def lossy_rdma_dscps(fabric: Fabric, qos: QosProfile | None) -> tuple[int, ...]:
    """Return the DSCPs of lossless RoCE classes that land where a port neither pauses nor has headroom."""
    wanted_traffic_classes = [
        roce_class
        for roce_class in effects.roce_classes(fabric)
        if require_fact(roce_class.lossless, "traffic_class.lossless")
    ]
    dscps = {dscp for traffic_class in wanted_traffic_classes for dscp in traffic_class.dscp}
    return tuple(sorted(d for d in dscps if _is_unprotected_tc(qos, effects.tc_of_dscp(qos, d))))


def _is_unprotected_tc(qos: QosProfile | None, tc: int) -> bool:
    """Whether nothing protects a traffic class; other rules report headroom without pause, and misplaced pause."""
    if qos is None or effects.is_lossless(qos, tc) or tc in misplaced_tcs(qos):
        return qos is None
    try:
        buffer = effects.buffer_of_priority_group(qos, effects.priority_group_of_tc(qos, tc))
        return buffer is None or not buffer.lossless
    except UnknownFact:
        return True


@declare_word("function", rests_on=("classes",))
def lossy_rdma_tcs(fabric: Fabric, qos: QosProfile | None) -> tuple[int, ...]:
    """Return the traffic classes of `lossy_rdma_dscps`."""
    return tuple(sorted({effects.tc_of_dscp(qos, dscp) for dscp in lossy_rdma_dscps(fabric, qos)}))


@declare_word("function")
def dscps_protected_instead(qos: QosProfile | None) -> str:
    """Return the DSCPs that a port protects, as the end of a sentence: what RDMA may be meant to be marked with."""
    try:
        dscps = tuple(dscp for dscp in range(64) if effects.is_lossless(qos, effects.tc_of_dscp(qos, dscp)))
    except UnknownFact:
        return ""
    return f"; lossless there: DSCP {ranges(dscps)}" if dscps else ""


@declare_word("function", rests_on=("classes",))
def foreign_classes_with_lossless_rdma(fabric: Fabric, qos: QosProfile | None) -> tuple[str, ...]:
    """Return the storage, in-band and control classes in a traffic class or priority group of lossless RDMA."""
    rdma = {effects.tc_of_dscp(qos, dscp) for dscp in effects.rdma_dscps(fabric)}
    groups = {effects.priority_group_of_tc(qos, tc) for tc in rdma if effects.is_lossless(qos, tc)}

    def intrudes(dscp: int) -> bool:
        tc = effects.tc_of_dscp(qos, dscp)
        return effects.is_lossless(qos, tc) and effects.priority_group_of_tc(qos, tc) in groups

    return tuple(
        sorted(
            traffic_class.name
            for traffic_class in fabric.classes
            if traffic_class.purpose in _RDMA_INCOMPATIBLE_PURPOSES and any(map(intrudes, traffic_class.dscp))
        )
    )


@declare_word("function", rests_on=("classes",))
def paused_tcp_storage(fabric: Fabric, qos: QosProfile | None) -> tuple[str, ...]:
    """Return the classes of storage over TCP with a DSCP in a lossless traffic class."""

    def paused(dscp: int) -> bool:
        return effects.is_lossless(qos, effects.tc_of_dscp(qos, dscp))

    tcp = [traffic_class for traffic_class in fabric.classes if traffic_class.purpose in TCP_STORAGE]
    return tuple(sorted(traffic_class.name for traffic_class in tcp if any(map(paused, traffic_class.dscp))))


@declare_word("function", rests_on=("classes",))
def unintended_priorities(fabric: Fabric, qos: QosProfile | None) -> tuple[int, ...]:
    """Return the priorities with PFC that no lossless class of the fabric has."""
    paused = set(paused_priorities(qos))
    intended: set[int] = set()
    for traffic_class in fabric.classes:
        if traffic_class.lossless is not True:
            continue
        if not isinstance(traffic_class.tc, Unknown):
            intended.add(traffic_class.tc)
            continue
        landed = {effects.tc_of_dscp(qos, dscp) for dscp in traffic_class.dscp} & paused
        if paused and not landed:
            raise UnknownFact("traffic_class.tc")
        intended |= landed
    return tuple(sorted(paused - intended))


@declare_word("function")
def paused_priorities(qos: QosProfile | None) -> tuple[int, ...]:
    """Return the priorities with PFC, in either direction; none on a port without QoS."""
    if qos is None:
        return ()
    obeyed = require_fact(qos.pfc_rx_priorities, "interface.qos.pfc_rx_priorities")
    return tuple(sorted({*obeyed, *require_fact(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities")}))


@declare_word("function")
def too_many_paused(qos: QosProfile | None) -> bool:
    """Whether a port has PFC on more than two priorities, or four where two are for what bounces between leaves.

    Two classes are what headroom for all ports fits beside. SONiC pauses 2, 3, 4 and 6 where servers have two leaves
    (files/build_templates/qos_config.j2).
    """
    paused = paused_priorities(qos)
    return len(paused) > MAX_PFC_PRIORITIES and paused != DUAL_LEAF_PAUSED_PRIORITIES


@declare_word("function")
def obeys_or_sends_pause(qos: QosProfile | None) -> bool:
    """Whether a port has PFC on any priority, in either direction."""
    return qos is not None and bool(
        require_fact(qos.pfc_rx_priorities, "interface.qos.pfc_rx_priorities")
        or require_fact(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities")
    )


@declare_word("function")
def priorities_sent_but_not_obeyed(qos: QosProfile | None) -> tuple[int, ...]:
    """Return the priorities on which a port pauses its neighbor for what packets land in, and does not stop itself."""
    if qos is None:
        return ()
    obeyed = require_fact(qos.pfc_rx_priorities, "interface.qos.pfc_rx_priorities")
    return tuple(priority for priority in effects.pausing_priorities_in_use(qos) if priority not in obeyed)
