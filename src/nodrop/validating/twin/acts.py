"""Actions on a settled twin, as parts of the observation: packets over every cable and to every prefix."""

import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import closing

from nodrop.model.effects import cnp_dscps, dscps_of_probe_packets
from nodrop.model.subject import Subject
from nodrop.model.subject import link_subject as link_subject
from nodrop.report.names import format_count
from nodrop.routing.prefixes import Prefix, parse_prefix
from nodrop.routing.roce_opcodes import CNP_OPCODE
from nodrop.validating import leaves_by_destination_prefix
from nodrop.validating.twin.box import ReportProgress
from nodrop.validating.twin.breaking import FailureInjection
from nodrop.validating.twin.crossing import send_largest_packets_over_cables
from nodrop.validating.twin.hosts import set_host_routes_and_neighbors
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.packets import TwinSockets
from nodrop.validating.twin.plan import NamespaceKey
from nodrop.validating.twin.reaching import PacketKind, ReachabilityTest, ReachItem
from nodrop.validating.twin.work import ObservationWork, PartialObservation


def observe_packets_and_failures(
    twin_lab: TwinLab, twin_work: ObservationWork, tell: ReportProgress
) -> PartialObservation:
    """Give hosts their ways out, send packets over every cable and path, let things fail and come back."""
    set_host_routes_and_neighbors(twin_lab)
    observed_part, asked = PartialObservation(), twin_work.options.checks
    with closing(TwinSockets(twin_lab.plan)) as sockets:
        if "packets" in asked:
            tell(f"packets over {sum(bool(wire.links) for wire in twin_lab.plan.wires)} cables")
            observed_part.merge_part(observe_largest_packets_on_cables(twin_lab, twin_work, sockets))
        if "reach" in asked:
            observed_part.merge_part(observe_reach_of_packets(twin_lab, twin_work, sockets))
        if {"failures", "recoveries"} & asked:
            observed_part.merge_part(
                observe_failures(twin_lab, twin_work, sockets, observed_part.seen.get("reach", {}), tell)
            )
    return observed_part


def observe_largest_packets_on_cables(
    twin_lab: TwinLab, twin_work: ObservationWork, twin_sockets: TwinSockets
) -> PartialObservation:
    """Send the largest packets over every cable: check `observe_largest_packets_on_cables`, also of hosts' cables."""
    crossing_by_link = send_largest_packets_over_cables(twin_sockets, twin_lab.plan)
    packet = PartialObservation(seen={"packets": {}}, unseen={"packets": {}})
    for link, crossing in crossing_by_link.items():
        item = link_subject(link.a, link.b)
        nics = (*twin_lab.plan.nics_by_port.get(link.a, ()), *twin_lab.plan.nics_by_port.get(link.b, ()))
        if not crossing.crosses and any(twin_lab.filters.filters_egress(nic) for nic in nics):
            packet.unseen["packets"][item] = "an access list acts on what leaves one of its ports"
            continue
        packet.seen["packets"][item] = "crosses" if crossing.crosses else "lost"
        packet.said["packets", item] = crossing.said
    for item in twin_work.computed.get("packets", {}):
        if item not in packet.seen["packets"]:
            packet.unseen["packets"].setdefault(item, "the twin has no such cable")
    crossed = sum(link_crossing.crosses for link_crossing in crossing_by_link.values())
    packet.notes.append(f"packets of the largest size crossed {crossed} of {len(crossing_by_link)} cables, both ways")
    return packet


def observe_reach_of_packets(
    twin_lab: TwinLab, twin_work: ObservationWork, twin_sockets: TwinSockets
) -> PartialObservation:
    """Send packets to every prefix by every equal path, from routers and hosts: check `observe_reach_of_packets`."""
    items: dict[ReachItem, Subject] = {}
    reach_part = PartialObservation(seen={"reach": {}}, unseen={"reach": {}})
    for subject in twin_work.computed.get("reach", {}):
        item = ReachItem(NamespaceKey(subject[0], subject[2] or None), _require_prefix(subject[3]))
        if item.space.node in twin_lab.running_devices:
            items[item] = subject
        else:
            reach_part.unseen["reach"][subject] = f"{item.space.node} runs no daemons"
    sent = ReachabilityTest(
        twin_sockets,
        twin_lab.plan,
        twin_lab.fabric,
        kinds=_packet_kinds(twin_lab),
        because=twin_lab.filters.denial_cause,
    )
    for item, reached in sent.test_items(items).items():
        if reached.fate is None:
            reach_part.unseen["reach"][items[item]] = reached.said
        else:
            reach_part.seen["reach"][items[item]] = reached.fate
            reach_part.said["reach", items[item]] = reached.said
    reach_part.notes.append(f"{format_count(sent.packets, 'packet')} followed from router to router")
    return reach_part


def _packet_kinds(lab: TwinLab) -> Iterator[PacketKind]:
    """Yield the kinds of packets that access lists may treat differently; of a fabric without any, one."""
    first, *others = dscps_of_probe_packets(lab.fabric)
    yield PacketKind(first)
    if lab.filters.acting:
        cnps = cnp_dscps(lab.fabric)
        for dscp in others:
            yield PacketKind(dscp, "CNPs", CNP_OPCODE) if dscp in cnps else PacketKind(dscp, f"data of DSCP {dscp}")


def observe_failures(
    twin_lab: TwinLab,
    twin_work: ObservationWork,
    twin_sockets: TwinSockets,
    reached: Mapping[Subject, Hashable],
    tell: ReportProgress,
) -> PartialObservation:
    """Let one of everything fail that fails alike, one at a time: checks `observe_failures` and `recoveries`.

    What packets have not `reached` before anything failed is not lost by a failure.
    """
    failure = PartialObservation(seen={"failures": {}, "recoveries": {}}, unseen={"failures": {}, "recoveries": {}})
    counted = leaves_by_destination_prefix(twin_lab.index)
    delivered_prefixes = {
        (NamespaceKey(device, vrf or None), _require_prefix(to)): counted[to]
        for (device, _, vrf, to), fate in {**twin_work.computed.get("reach", {}), **reached}.items()
        if to in counted and fate == "delivered"
    }
    breaking = FailureInjection(twin_lab, twin_sockets, delivered_prefixes)
    items = list(twin_work.computed.get("failures", {}))
    begun = time.monotonic()
    for number, item in enumerate(items, 1):
        tell(f"failure {number} of {len(items)}: {item[-1].replace('--', ' to ')}")
        broken = breaking.fail_and_find_losses(item[-1])
        back = breaking.mend_and_compare(item[-1])
        failure.seen["failures"][item], failure.said["failures", item] = broken.lost, broken.said
        failure.seen["recoveries"][item] = "not as before" if back else "as before"
        failure.said["recoveries", item] = back
    failure.notes.append(f"{format_count(len(items), 'failure')} came and went in {time.monotonic() - begun:.0f} s")
    return failure


def _require_prefix(text: str) -> Prefix:
    found_prefix = parse_prefix(text)
    if found_prefix is None:
        raise ValueError(text)
    return found_prefix
