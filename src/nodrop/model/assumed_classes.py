"""The class of RDMA without a stated one: from lossless maps and hosts, else NVIDIA's convention."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from nodrop.model import effects, modes
from nodrop.model.effects import DEFAULT_RDMA_DSCP
from nodrop.model.fabric import Device, Mode, TrafficClass
from nodrop.model.nics import rdma_dscps_of_nic
from nodrop.model.qos import QosProfile
from nodrop.model.reading import Assumption, HostReading, Remark
from nodrop.model.states import UNKNOWN, Unknown, UnknownFact
from nodrop.units import show_ids

_NVIDIA_RDMA_DSCP_CONVENTION: tuple[tuple[int, ...], tuple[int, ...], str] = (
    (DEFAULT_RDMA_DSCP,),
    (),
    "NVIDIA's convention",
)
"""The DSCPs of RDMA, those of other lossless traffic, and the evidence, where no file has better."""


def assume_rdma_class(
    devices: Sequence[Device], mode: Mode, hosts_read: Iterable[HostReading], *, mode_stated: bool
) -> tuple[tuple[TrafficClass, ...], Assumption]:
    """Return the RDMA class and that of other lossless traffic, if any, and what is assumed of RDMA.

    Where maps protect the DSCPs that hosts send, RDMA has those; else, where they protect other DSCPs than 26, it has
    these: the owner wants them lossless. A RoCE macro is made for 26.
    Switches without QoS on any port and without a stated purpose have no class: it would be reported missing on every
    port of every network that is not meant for RDMA.
    """
    hosts_read = list(hosts_read)
    profiles = modes.qos_profiles_of(devices)
    if devices and not (mode_stated or hosts_read or profiles):
        return (), Assumption(fact="RDMA", value="none", reason="no port has QoS")
    if any(not isinstance(device.qos_style, Unknown) and device.qos_style == "macro" for device in devices):
        dscps, others, because = _NVIDIA_RDMA_DSCP_CONVENTION
    else:
        dscps, others, because = _infer_rdma_and_lossless_dscps(
            profiles, _count_hosts_by_rdma_dscp(hosts_read), has_switches=bool(devices)
        )
    rdma = TrafficClass(name="rdma", purpose="rdma", dscp=dscps, tc=UNKNOWN, lossless=mode in modes.PFC_MODES)
    other = TrafficClass(name="other-lossless", purpose="unknown", dscp=others, tc=UNKNOWN, lossless=True)
    assumption = Assumption(fact="RDMA", value=f"DSCP {show_ids(dscps)}", reason=because)
    return ((rdma, other) if others else (rdma,)), assumption


def find_lossy_conventional_rdma_dscp(devices: Iterable[Device], classes: Sequence[TrafficClass]) -> Iterator[Remark]:
    """Yield a remark for each switch whose maps protect other DSCPs than 26 and send that to a lossy class.

    `classes` are the assumed ones: of the protected DSCPs only those of RDMA are named, where the switch has these.
    Others are for traffic that switches mark themselves, as those of dual ToRs for what bounces between the two are.
    Hosts may follow the convention that the switch does not.
    """
    if not classes or any(DEFAULT_RDMA_DSCP in rdma.dscp for rdma in classes):
        return
    lossless_dscps = cache(_find_lossless_dscps)
    of_rdma = {dscp for traffic_class in classes if traffic_class.purpose == "rdma" for dscp in traffic_class.dscp}
    for device in devices:
        port_by_profile = {port.qos: port for port in reversed(device.interfaces) if isinstance(port.qos, QosProfile)}
        rows = [(port, qos) for port in port_by_profile.values() if isinstance(qos := port.qos, QosProfile)]
        protecting = [(port, qos) for port, qos in rows if lossless_dscps(qos)]
        if protecting:
            every = frozenset[int]().union(*(lossless_dscps(qos) for _, qos in protecting))
            facts = {
                "dscp": str(DEFAULT_RDMA_DSCP),
                "tcs": show_ids({effects.tc_of_dscp(qos, DEFAULT_RDMA_DSCP) for _, qos in protecting}),
                "lossless": show_ids(every & of_rdma or every),
            }
            at = (device.name, protecting[-1][0].name, "qos", "dscp_to_tc")
            yield Remark(kind="conventional-rdma-dscp-lossy", subject=(device.name,), place=None, facts=facts, at=at)


def _infer_rdma_and_lossless_dscps(
    profiles: Iterable[QosProfile], host_counts: Mapping[int, int], *, has_switches: bool
) -> tuple[tuple[int, ...], tuple[int, ...], str]:
    """Return the DSCPs of RDMA, those of other lossless traffic, and the evidence.

    RDMA has the DSCPs that hosts send and all ports with lossless classes protect, else those that these ports protect.
    Some ports of dual ToRs also protect what bounces between the two. Fewer than half as many hosts as send the most
    frequent DSCP do not decide: theirs may be a fault.
    """
    protected = [lossless for qos in profiles if (lossless := _find_lossless_dscps(qos))]
    some = frozenset[int]().union(*protected)
    most = max(host_counts.values(), default=0)
    sent = frozenset(dscp for dscp, count in host_counts.items() if 2 * count >= most)
    lossless = sent.intersection(*protected) if protected else frozenset[int]()
    if lossless - {DEFAULT_RDMA_DSCP}:
        return tuple(sorted(lossless)), tuple(sorted(some - lossless)), "hosts send RDMA with it, and it is lossless"
    if some and DEFAULT_RDMA_DSCP not in some:
        common = frozenset.intersection(*protected) or some
        because = f"the only DSCP{'s' if len(common) > 1 else ''} in a lossless class"
        return (
            tuple(sorted(common)),
            tuple(sorted(some - common)),
            f"{because}{' of every port' if some > common else ''}",
        )
    if not has_switches and len(host_counts) == 1 and DEFAULT_RDMA_DSCP not in host_counts:
        return tuple(host_counts), (), "the only DSCP that files of hosts give to RDMA"
    return _NVIDIA_RDMA_DSCP_CONVENTION


def _find_lossless_dscps(qos: QosProfile) -> frozenset[int]:
    """Return the DSCPs in traffic classes that a port pauses, or obeys the pause of; none where its map is unknown.

    Another fault may keep a traffic class with PFC from sending pauses: it is lossless by intention.
    """
    if isinstance(qos.dscp_to_tc, Unknown) or not qos.dscp_to_tc:
        return frozenset()
    lossless_by_tc = {tc: _is_meant_lossless(qos, tc) for tc in {tc or 0 for tc in qos.dscp_to_tc}}
    return frozenset(dscp for dscp in range(64) if lossless_by_tc[effects.tc_of_dscp(qos, dscp)])


def _is_meant_lossless(qos: QosProfile, tc: int) -> bool:
    if not isinstance(qos.pfc_rx_priorities, Unknown) and tc in qos.pfc_rx_priorities:
        return True
    try:
        return effects.is_lossless(qos, tc)
    except UnknownFact:
        return False


def _count_hosts_by_rdma_dscp(readings: Iterable[HostReading]) -> Counter[int]:
    """Return how many hosts give each DSCP to RDMA by their files, without 0, which is what RDMA has unless set."""
    counts: Counter[int] = Counter()
    for reading in readings:
        counts.update(frozenset[int]().union(*map(rdma_dscps_of_nic, reading.nics)) - {0})
    return counts
