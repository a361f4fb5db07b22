"""Words about the mapping of classes: packets that a port does not map, shared queues, and DSCPs changed on sending."""

from nodrop.engine.vocabulary import declare_word
from nodrop.engine.vocabulary.qos import lossy_rdma_dscps
from nodrop.engine.vocabulary.scheduling import lossless_queues
from nodrop.model import effects
from nodrop.model.bridging import PortChannel, Vlan
from nodrop.model.fabric import Fabric, Trimming
from nodrop.model.purposes import TCP_STORAGE
from nodrop.model.qos import QosProfile
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown, require_fact

ROUTING_DSCP = 48
"""CS6, the default of FRR's BGP (bgpd/bgp_network.c)."""
_BULK_PURPOSES = frozenset({"storage", *TCP_STORAGE, "inband", "default", "unknown"})


@declare_word("function")
def missing_qos_maps(qos: QosProfile | None) -> str:
    """Return the missing maps of a port with PFC, and their effect: `no DSCP map (all …)`; else nothing.

    The effects are those of SAI without a map (inc/saiport.h). A port that trusts PCP needs no map of DSCPs. Without
    a map of PFC priorities each stops the queue of its number: another rule checks whether that is the right one.
    """
    if qos is None or not _uses_pfc(qos):
        return ""
    by_dscp, by_pcp = (
        require_fact(qos.dscp_to_tc, "interface.qos.dscp_to_tc"),
        require_fact(qos.pcp_to_tc, "interface.qos.pcp_to_tc"),
    )
    lacking = (
        ("DSCP map (all packets land in traffic class 0)", by_dscp is None and by_pcp is None),
        (
            "map to priority groups (all packets use group 0)",
            require_fact(qos.tc_to_priority_group, "interface.qos.tc_to_priority_group") is None,
        ),
        (
            "map to queues (all packets use queue 0)",
            require_fact(qos.tc_to_queue, "interface.qos.tc_to_queue") is None,
        ),
    )
    return ", and ".join(f"no {map_text}" for map_text, lacks in lacking if lacks)


def _uses_pfc(qos: QosProfile) -> bool:
    sent = require_fact(qos.pfc_tx_priorities, "interface.qos.pfc_tx_priorities")
    return bool(sent or require_fact(qos.pfc_rx_priorities, "interface.qos.pfc_rx_priorities"))


@declare_word("function")
def unmapped_dscps(fabric: Fabric, qos: QosProfile) -> tuple[int, ...]:
    """Return the DSCPs that a port's map leaves out, without those of RDMA and of CNPs that other rules report.

    The classes only decide which rule reports a DSCP, so assumed ones do not make a finding less sure.
    """
    table = require_fact(qos.dscp_to_tc, "interface.qos.dscp_to_tc") or ()
    unmapped = [dscp for dscp, tc in enumerate(table) if tc is None]
    if not unmapped:
        return ()
    reported_dscps = {
        *lossy_rdma_dscps(fabric, qos),
        *(effects.cnp_dscps(fabric) if effects.cnp_dscps_sharing_lossy_queue(fabric, qos) else ()),
    }
    return tuple(dscp for dscp in unmapped if dscp not in reported_dscps)


@declare_word("function", rests_on=("classes",))
def cnp_dscps_in_default_queue(fabric: Fabric, qos: QosProfile | None) -> tuple[int, ...]:
    """Return the DSCPs of CNPs that use the queue of unmarked traffic, DSCP 0."""
    return tuple(
        dscp
        for dscp, company in effects.cnp_dscps_sharing_lossy_queue(fabric, qos)
        if company == effects.REST_TRAFFIC_LABEL
    )


@declare_word("function", rests_on=("classes",))
def cnp_dscps_in_bulk_queue(fabric: Fabric, qos: QosProfile | None) -> tuple[int, ...]:
    """Return the DSCPs of CNPs in a queue of storage, in-band or lossy RDMA traffic, except in DSCP 0's queue."""
    return tuple(
        dscp
        for dscp, company in effects.cnp_dscps_sharing_lossy_queue(fabric, qos)
        if company != effects.REST_TRAFFIC_LABEL
    )


@declare_word("function", rests_on=("classes",))
def classes_in_queue_of_cnps(fabric: Fabric, qos: QosProfile | None) -> tuple[str, ...]:
    """Return the classes whose queue CNPs share, as `cnp_dscps_in_bulk_queue` finds them."""
    return tuple(
        sorted(
            {company for _, company in effects.cnp_dscps_sharing_lossy_queue(fabric, qos)}
            - {effects.REST_TRAFFIC_LABEL}
        )
    )


@declare_word("function", rests_on=("classes",))
def rewritten_dscps(fabric: Fabric, trimming: Trimming | None | Unknown, qos: QosProfile) -> str:
    """Return the DSCPs of classes that a port sends on as another one: `26 to 34`; else nothing.

    A map that trimmed packets get their DSCP by is not for the others. DSCPs without a class may be rewritten.
    """
    table = require_fact(qos.tc_to_dscp, "interface.qos.tc_to_dscp")
    if table is None or (isinstance(trimming, Trimming) and trimming.dscp == "from-tc"):
        return ""
    dscps = sorted(
        {
            dscp
            for traffic_class in fabric.classes
            if traffic_class.purpose not in ("default", "unknown")
            for dscp in traffic_class.dscp
        }
    )
    sent = [(dscp, effects.map_entry(table, effects.tc_of_dscp(qos, dscp))) for dscp in dscps]
    return ", ".join(f"{dscp} to {new}" for dscp, new in sent if new is not None and new != dscp)


@declare_word("function")
def flooded_lossless_tcs(qos: QosProfile) -> tuple[int, ...]:
    """Return the lossless traffic class of packets flooded in the VLAN of a port; none where it is lossy.

    Broadcasts such as ARP are no IP packets: their PCP decides, which is 0 without a tag, and by traffic class 0
    where the port has no map of PCPs.
    """
    by_pcp = require_fact(qos.pcp_to_tc, "interface.qos.pcp_to_tc")
    tc = (by_pcp[0] or 0) if by_pcp else 0
    return (tc,) if effects.is_lossless(qos, tc) else ()


@declare_word("function")
def is_in_vlan(vlans: tuple[Vlan, ...] | Unknown, channels: tuple[PortChannel, ...] | Unknown, name: str) -> bool:
    """Whether a port, or its port channel, is in a VLAN by the files."""
    if isinstance(vlans, Unknown) or not vlans:
        return False
    bundles = () if isinstance(channels, Unknown) else channels
    names = {name, *(bundle.name for bundle in bundles if name in bundle.members)}
    return any(member.interface in names for vlan in vlans for member in vlan.members)


@declare_word("function", rests_on=("classes",))
def queues_of_cnps_and_bgp(fabric: Fabric, bgp: Bgp | None, qos: QosProfile) -> tuple[int, ...]:
    """Return the queue of both CNPs and BGP packets."""
    if bgp is None:
        return ()
    queue = effects.queue_of_tc(
        qos, effects.tc_of_dscp(qos, ROUTING_DSCP if bgp.session_dscp is None else bgp.session_dscp)
    )
    cnps = {effects.queue_of_tc(qos, effects.tc_of_dscp(qos, dscp)) for dscp in effects.cnp_dscps(fabric)}
    return (queue,) if queue in cnps else ()


@declare_word("function", rests_on=("classes", "mode"))
def unmarkable_traffic_in_queue(fabric: Fabric, qos: QosProfile, queue: int) -> tuple[str, ...]:
    """Return the traffic of a lossy queue that is mostly not ECN-capable: control traffic, and with RDMA all other.

    CNPs are left out, and lossless queues: other rules report what else is in those.
    """
    if queue in lossless_queues(qos):
        return ()
    beside_rdma = queue in effects.rdma_queues(fabric, qos)
    purposes = {"control", *_BULK_PURPOSES} if beside_rdma else {"control"}

    def leaves(dscps: tuple[int, ...]) -> bool:
        return any(effects.queue_of_tc(qos, effects.tc_of_dscp(qos, dscp)) == queue for dscp in dscps)

    names = [
        traffic_class.name
        for traffic_class in fabric.classes
        if traffic_class.purpose in purposes and leaves(traffic_class.dscp)
    ]
    stated = {dscp for traffic_class in fabric.classes for dscp in traffic_class.dscp}
    return (*sorted(names), *(["traffic with DSCP 0"] if beside_rdma and 0 not in stated and leaves((0,)) else []))
