"""Classes that do not stay one class on their path: their DSCPs land elsewhere on the next switch.

Switches sort by the DSCP again at every hop, so the maps of all ports on a path have to agree. Switches joined by
cables are checked, each by where most of its ports have a class, against where most of the fabric has it. A switch that
is merely unlike others of its role is left to the analyses that compare siblings, unless it pauses another priority for
a lossless class, which loses packets. Packets of no class, the default, have no place to keep.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from nodrop.analyses import AnalysisHit
from nodrop.analyses._islands import group_representative_by_device
from nodrop.model import effects
from nodrop.model.fabric import Device, Fabric, Interface, TrafficClass
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, UnknownFact, is_known_off, require_fact
from nodrop.model.subject import FABRIC_HEAD, Subject
from nodrop.units import show_ids

RESTS_ON = frozenset({"cables", "classes", "roles"})
GIVES_CHANGES = True


class ClassLanding(NamedTuple):
    """Where a class lands: in lossless traffic classes or not, the priorities of those, else the classes; all of them.

    Where the traffic classes are the same, whether they are lossless is for rules about PFC and priority groups.
    """

    lossless: bool
    numbers: tuple[int, ...]
    tcs: tuple[int, ...]

    def __str__(self) -> str:
        return f"{'lossless priority' if self.lossless else 'lossy traffic class'} {show_ids(self.numbers)}"


class AlikeLandingPorts(NamedTuple):
    """Ports where a class lands alike: the switch and name of the first, its landing, and the number of ports."""

    device: Device
    port: Interface
    qos: QosProfile
    number: int

    def __add__(self, other: "AlikeLandingPorts") -> "AlikeLandingPorts":  # type: ignore[override]
        return AlikeLandingPorts(self.device, self.port, self.qos, self.number + other.number)


def find(index: Index, *, unseen: bool) -> Iterator[AnalysisHit]:
    """Yield the classes that land differently on some switches of their path.

    With `unseen` those that are lossless and that no port, cable or sibling shows: every port obeys the priorities of
    all, and the maps alone differ. Without it all others. Facts: name, dscps, one and other (where it lands), here and
    there (a switch with the rarer landing, and one with the usual).
    """
    every = index.compute_once(__name__, lambda: list(_find_split_class_hits(index)))
    yield from (hit for hidden, hit in every if hidden is unseen)


def _find_split_class_hits(index: Index) -> Iterator[tuple[bool, AnalysisHit]]:
    """Yield the hits of split classes, and whether only the path shows them."""
    wanted_traffic_classes = [
        fabric_class for fabric_class in index.fabric.classes if fabric_class.purpose not in ("default", "unknown")
    ]
    for group in _connected_switch_groups(index):
        profiles = [_ports_by_profile(index, device) for device in group]
        for traffic_class in wanted_traffic_classes:
            yield from _split_class_hits(index.fabric, profiles, traffic_class)


def _ports_by_profile(index: Index, device: Device) -> tuple[AlikeLandingPorts, ...]:
    """Return the ports of a switch that are in use, by their profile."""
    found_ports: dict[QosProfile, AlikeLandingPorts] = {}
    for ports in index.groups_of_alike_ports(device):
        first_interface, qos = ports[0], ports[0].qos
        if (
            isinstance(qos, QosProfile)
            and first_interface.side is not None
            and not is_known_off(first_interface.enabled)
        ):
            alike = AlikeLandingPorts(device, first_interface, qos, len(ports))
            found_ports[qos] = found_ports[qos] + alike if qos in found_ports else alike
    return tuple(found_ports.values())


def _connected_switch_groups(index: Index) -> list[list[Device]]:
    """Return the switches of the fabric by the cables that join them, each group of two or more."""
    devices: dict[str, list[Device]] = {}
    for name, island in group_representative_by_device(index).items():
        devices.setdefault(island, []).append(index.devices[name])
    return [group for group in devices.values() if len(group) > 1]


def _split_class_hits(
    fabric: Fabric, group: list[tuple[AlikeLandingPorts, ...]], wanted_traffic_class: TrafficClass
) -> Iterator[tuple[bool, AnalysisHit]]:
    landings: dict[QosProfile, ClassLanding | None] = {}
    by_device = [
        usual
        for profiles in group
        if (usual := _landing_on_most_ports(fabric, profiles, wanted_traffic_class, landings))
    ]
    whole_counts = Counter[ClassLanding]()
    tiers: dict[str, Counter[ClassLanding]] = {}
    for landing, ports in by_device:
        whole_counts[landing] += ports.number
        tiers.setdefault(_role_of_device(ports.device), Counter())[landing] += ports.number
    if len(whole_counts) < 2:
        return
    most = _most_common_landing(whole_counts)
    ports_by_landing: dict[ClassLanding, AlikeLandingPorts] = {}
    for landing, ports in by_device:
        tier = tiers[_role_of_device(ports.device)]
        paused_elsewhere = landing.lossless and most.lossless and landing.numbers != most.numbers
        alone = (
            landing != most
            and tier[most] >= tier[landing]
            and landing.lossless is wanted_traffic_class.lossless
            and not paused_elsewhere
        )
        same = landing.tcs == most.tcs and landing.lossless is not most.lossless
        if not alone and not same:
            ports_by_landing[landing] = ports_by_landing[landing] + ports if landing in ports_by_landing else ports
    if len(ports_by_landing) < 2:
        return
    odd = min(ports_by_landing, key=lambda landing: (landing == most, ports_by_landing[landing].number, landing))
    near_ports, far_ports = ports_by_landing[odd], ports_by_landing[most]
    hit = AnalysisHit(
        subject=(FABRIC_HEAD, "classes", wanted_traffic_class.name),
        at=_first_dscp_map_row(near_ports, wanted_traffic_class),
        facts={
            "name": wanted_traffic_class.name,
            "dscps": show_ids(wanted_traffic_class.dscp),
            "one": str(odd),
            "other": str(most),
            "here": near_ports.device.name,
            "there": far_ports.device.name,
        },
        related=((_first_dscp_map_row(far_ports, wanted_traffic_class), "a different traffic class here"),),
        changes=tuple(
            _traffic_class_changes(
                [ports.device for at, ports in by_device if at == odd], landings, wanted_traffic_class, odd, most
            )
        ),
        discriminator=min(ports.device.name for _, ports in by_device),
    )
    yield _is_split_seen_by_no_other_rule(wanted_traffic_class, (odd, near_ports), (most, far_ports)), hit


def _traffic_class_changes(
    devices: Iterable[Device],
    landings: Mapping[QosProfile, ClassLanding | None],
    wanted_traffic_class: TrafficClass,
    odd: ClassLanding,
    most: ClassLanding,
) -> Iterator[tuple[Subject, object]]:
    """Yield what brings a class to the traffic class that most switches have for it, where that is another and one."""
    if odd.tcs == most.tcs or len(most.tcs) != 1:
        return
    for device in devices:
        for port in device.interfaces:
            if isinstance(port.qos, QosProfile) and landings.get(port.qos) == odd:
                for dscp in wanted_traffic_class.dscp:
                    yield (device.name, port.name, "qos", "dscp_to_tc", str(dscp)), most.tcs[0]


def _most_common_landing(counts: Counter[ClassLanding]) -> ClassLanding:
    """Return the most frequent landing; of equally frequent ones the lossless one, then that of the lower number."""
    return min(counts, key=lambda landing: (-counts[landing], not landing.lossless, landing.numbers))


def _role_of_device(device: Device) -> str:
    """Return a switch's role; where that is not known the switch is like no other."""
    return f"@{device.name}" if isinstance(device.role, Unknown) else device.role


def _is_split_seen_by_no_other_rule(
    wanted_traffic_class: TrafficClass, *ends: tuple[ClassLanding, AlikeLandingPorts]
) -> bool:
    """Whether a lossless class is split and all else is well, which hides it from every rule about a port or a cable.

    Lossy RDMA is reported on the port, and a priority that is not obeyed on the cable.
    """
    if wanted_traffic_class.lossless is not True or (
        wanted_traffic_class.purpose == "rdma" and not all(landing.lossless for landing, _ in ends)
    ):
        return False
    priorities = {number for landing, _ in ends if landing.lossless for number in landing.numbers}
    obeyed = [ports.qos.pfc_rx_priorities for _, ports in ends]
    return all(not isinstance(rx_priorities, Unknown) and priorities <= {*rx_priorities} for rx_priorities in obeyed)


def _first_dscp_map_row(ports: AlikeLandingPorts, wanted_traffic_class: TrafficClass) -> Subject:
    """Return the row of a map that sorts the first DSCP of a class."""
    return (ports.device.name, ports.port.name, "qos", "dscp_to_tc", *map(str, wanted_traffic_class.dscp[:1]))


def _landing_on_most_ports(
    fabric: Fabric,
    profiles: tuple[AlikeLandingPorts, ...],
    wanted_traffic_class: TrafficClass,
    landings: dict[QosProfile, ClassLanding | None],
) -> tuple[ClassLanding, AlikeLandingPorts] | None:
    """Return where a class lands on most ports of a switch; None if no port shows it.

    Equal profiles are computed once.
    """
    ports_by_landing: dict[ClassLanding, AlikeLandingPorts] = {}
    for ports in profiles:
        if ports.qos not in landings:
            landings[ports.qos] = _compute_landing(fabric, ports.qos, wanted_traffic_class)
        landing = landings[ports.qos]
        if landing is not None:
            ports_by_landing[landing] = ports_by_landing[landing] + ports if landing in ports_by_landing else ports
    if not ports_by_landing:
        return None
    best = _most_common_landing(Counter({landing: ports.number for landing, ports in ports_by_landing.items()}))
    return best, ports_by_landing[best]


def _compute_landing(fabric: Fabric, qos: QosProfile, wanted_traffic_class: TrafficClass) -> ClassLanding | None:
    """Return where a class lands by a profile; None if that is not known.

    CNPs that share a queue, and ports that do not trust DSCP, are reported on the port and need no second check.
    """
    try:
        if require_fact(qos.trust, "interface.qos.trust") == "pcp" or qos.dscp_to_tc is None:
            return None
        if wanted_traffic_class.purpose == "cnp" and effects.cnp_dscps_sharing_lossy_queue(fabric, qos):
            return None
        tcs = sorted({effects.tc_of_dscp(qos, dscp) for dscp in wanted_traffic_class.dscp})
        paused = [tc for tc in tcs if effects.is_lossless(qos, tc)]
        if len(paused) < len(tcs):
            return ClassLanding(lossless=False, numbers=tuple(tc for tc in tcs if tc not in paused), tcs=tuple(tcs))
        priorities = {
            pausing_priority
            for tc in paused
            for pausing_priority in effects.pausing_priorities_of_priority_group(
                qos, effects.priority_group_of_tc(qos, tc)
            )
        }
        return ClassLanding(lossless=True, numbers=tuple(sorted(priorities)), tcs=tuple(tcs))
    except UnknownFact:
        return None
