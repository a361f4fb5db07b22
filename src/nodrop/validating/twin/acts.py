"""Actions on a settled twin, as parts of the observation: packets over every cable and to every prefix."""

import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import closing

from nodrop.model.effects import cnp_dscps, probed_dscps
from nodrop.model.subject import Subject
from nodrop.model.subject import link as link_subject
from nodrop.routing.prefixes import Prefix, prefix
from nodrop.routing.roce_opcodes import CNP_OPCODE
from nodrop.validating import destinations
from nodrop.validating.twin.box import Tell
from nodrop.validating.twin.breaking import Breaking
from nodrop.validating.twin.crossing import crossings
from nodrop.validating.twin.hosts import settle_hosts
from nodrop.validating.twin.lab import Lab
from nodrop.validating.twin.packets import Posts
from nodrop.validating.twin.plan import Space
from nodrop.validating.twin.reaching import Item, Kind, Reaching
from nodrop.validating.twin.work import Part, Work


def act(lab: Lab, work: Work, tell: Tell) -> Part:
    """Give hosts their ways out, send packets over every cable and path, let things fail and come back."""
    settle_hosts(lab)
    observed_part, asked = Part(), work.options.checks
    with closing(Posts(lab.plan)) as sockets:
        if "packets" in asked:
            tell(f"packets over {sum(bool(wire.links) for wire in lab.plan.wires)} cables")
            observed_part.take(packets(lab, work, sockets))
        if "reach" in asked:
            observed_part.take(reach(lab, work, sockets))
        if {"failures", "recoveries"} & asked:
            observed_part.take(failures(lab, work, sockets, observed_part.seen.get("reach", {}), tell))
    return observed_part


def packets(lab: Lab, work: Work, sockets: Posts) -> Part:
    """Send the largest packets over every cable, both ways: check `packets`, also of cables of hosts."""
    crossing_by_link = crossings(sockets, lab.plan)
    packet = Part(seen={"packets": {}}, unseen={"packets": {}})
    for link, crossing in crossing_by_link.items():
        item = link_subject(link.a, link.b)
        nics = (*lab.plan.at.get(link.a, ()), *lab.plan.at.get(link.b, ()))
        if not crossing.crosses and any(lab.filters.filters_egress(nic) for nic in nics):
            packet.unseen["packets"][item] = "an access list acts on what leaves one of its ports"
            continue
        packet.seen["packets"][item] = "crosses" if crossing.crosses else "lost"
        packet.said["packets", item] = crossing.said
    for item in work.computed.get("packets", {}):
        if item not in packet.seen["packets"]:
            packet.unseen["packets"].setdefault(item, "the twin has no such cable")
    crossed = sum(link_crossing.crosses for link_crossing in crossing_by_link.values())
    packet.told.append(f"packets of the largest size crossed {crossed} of {len(crossing_by_link)} cables, both ways")
    return packet


def reach(lab: Lab, work: Work, sockets: Posts) -> Part:
    """Send packets to every prefix by every equal path, from routers and hosts: check `reach`."""
    items: dict[Item, Subject] = {}
    reach_part = Part(seen={"reach": {}}, unseen={"reach": {}})
    for subject in work.computed.get("reach", {}):
        item = Item(Space(subject[0], subject[2] or None), _parse_prefix(subject[3]))
        if item.space.node in lab.devices:
            items[item] = subject
        else:
            reach_part.unseen["reach"][subject] = f"{item.space.node} runs no daemons"
    hosts = [host.name for host in lab.fabric.hosts]
    sent = Reaching(sockets, lab.plan, hosts, kinds=_kinds(lab), because=lab.filters.cause)
    for item, reached in sent.of(items).items():
        if reached.fate is None:
            reach_part.unseen["reach"][items[item]] = reached.said
        else:
            reach_part.seen["reach"][items[item]] = reached.fate
            reach_part.said["reach", items[item]] = reached.said
    reach_part.told.append(f"{sent.packets} packets were followed from router to router")
    return reach_part


def _kinds(lab: Lab) -> Iterator[Kind]:
    """Yield the kinds of packets that access lists may treat differently; of a fabric without any, one."""
    first, *others = probed_dscps(lab.fabric)
    yield Kind(first)
    if lab.filters.acting:
        cnps = cnp_dscps(lab.fabric)
        for dscp in others:
            yield Kind(dscp, "CNPs", CNP_OPCODE) if dscp in cnps else Kind(dscp, f"data of DSCP {dscp}")


def failures(lab: Lab, work: Work, sockets: Posts, reached: Mapping[Subject, Hashable], tell: Tell) -> Part:
    """Let one of everything fail that fails alike, one at a time: checks `failures` and `recoveries`.

    What packets have not `reached` before anything failed is not lost by a failure.
    """
    failure = Part(seen={"failures": {}, "recoveries": {}}, unseen={"failures": {}, "recoveries": {}})
    counted = destinations(lab.index)
    delivered_prefixes = {
        (Space(device, vrf or None), _parse_prefix(to)): counted[to]
        for (device, _, vrf, to), fate in {**work.computed.get("reach", {}), **reached}.items()
        if to in counted and fate == "delivered"
    }
    breaking = Breaking(lab, sockets, delivered_prefixes)
    items = list(work.computed.get("failures", {}))
    begun = time.monotonic()
    for number, item in enumerate(items, 1):
        tell(f"failure {number} of {len(items)}: {item[-1].replace('--', ' to ')}")
        broken = breaking.break_(item[-1])
        back = breaking.mend(item[-1])
        failure.seen["failures"][item], failure.said["failures", item] = broken.lost, broken.said
        failure.seen["recoveries"][item] = "not as before" if back else "as before"
        failure.said["recoveries", item] = back
    failure.told.append(f"{len(items)} failures came and went in {time.monotonic() - begun:.0f} s")
    return failure


def _parse_prefix(text: str) -> Prefix:
    found_prefix = prefix(text)
    if found_prefix is None:
        raise ValueError(text)
    return found_prefix
