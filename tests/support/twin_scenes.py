"""What tests do inside a twin, and bring out of it: functions that `box.call` finds by name."""

import time

from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.platforms import frr
from nodrop.platforms.kit.running import daemons_of_platform
from nodrop.routing.prefixes import parse_prefix
from nodrop.validating import compute_observation
from nodrop.validating.twin import acts, breaking
from nodrop.validating.twin.box import ReportProgress
from nodrop.validating.twin.breaking import FailureInjection, FailureTimeouts
from nodrop.validating.twin.crossing import send_largest_packets_over_cables
from nodrop.validating.twin.daemons import BootConfiguration
from nodrop.validating.twin.hosts import set_host_routes_and_neighbors
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.packets import TwinSockets
from nodrop.validating.twin.plan import NamespaceKey
from nodrop.validating.twin.reaching import ReachabilityTest, ReachItem
from nodrop.validating.twin.waiting import wait_until_settled
from nodrop.validating.twin.work import ObservationWork, TwinOptions


def work(fabric: Fabric) -> ObservationWork:
    """A fabric that starts with the frr.conf that its model is."""
    boots = {
        device.name: BootConfiguration(
            text=frr.render_frr_conf(device), daemons=daemons_of_platform(device.platform).daemons, profile="datacenter"
        )
        for device in fabric.devices
    }
    seen = compute_observation(Index(fabric)).seen
    return ObservationWork(fabric=fabric, boots=boots, without={}, computed=seen, options=TwinOptions())


def running(of: ObservationWork) -> TwinLab:
    """The twin, once it has settled."""
    lab = TwinLab(of.fabric, of.boots)
    lab.start()
    wait_until_settled(lab, of.expected_sessions, patience_s=60)
    set_host_routes_and_neighbors(lab)
    return lab


def cross(tell: ReportProgress, fabric: Fabric, sizes: dict[tuple[str, str], int]) -> dict[str, tuple[bool, str]]:
    """How packets cross the cables of a fabric without daemons, in which some ports have another MTU."""
    lab = TwinLab(fabric, {})
    lab.start()
    for (node, port), size in sizes.items():
        lab.output_of_ip_command(node, "link", "set", port, "mtu", str(size))
    time.sleep(0.5)
    found = send_largest_packets_over_cables(TwinSockets(lab.plan), lab.plan)
    return {f"{link.a}--{link.b}": (one.crosses, one.said) for link, one in found.items()}


def reach(
    tell: ReportProgress, of: ObservationWork, source: str, to: str, steps: tuple[tuple[str, ...], ...]
) -> tuple[tuple[str | None, str], ...]:
    """How packets from a device fare to a prefix, at first and after each step: a node and what `ip` does there."""
    lab = running(of)
    aim = parse_prefix(to)
    assert aim is not None
    found, sockets = [], TwinSockets(lab.plan)
    for step in ((), *steps):
        if step:
            lab.output_of_ip_command(*step)
        item = ReachItem(NamespaceKey(source), aim)
        found.append(tuple(ReachabilityTest(sockets, lab.plan, lab.fabric).test_items([item])[item]))
    return tuple(found)


def fail(
    tell: ReportProgress, of: ObservationWork, what: str, mended_s: float
) -> tuple[frozenset[tuple[str, str]], str, str]:
    """What a failure loses, the words for it, and what is not as before so long after it is mended; 0: it never is."""
    lab = running(of)
    wanted = {(NamespaceKey(item[0]), parse_prefix(item[3])): ("nobody",) for item in of.computed["reach"]}
    if not mended_s:
        lab.restore_ports = lambda *ends: None  # type: ignore[method-assign]
    acting = FailureInjection(lab, TwinSockets(lab.plan), wanted, FailureTimeouts(10, mended_s))  # type: ignore[arg-type]
    broken = acting.fail_and_find_losses(what)
    return broken.lost, broken.said, acting.mend_and_compare(what)


def timers(tell: ReportProgress, of: ObservationWork) -> tuple[float, float]:
    """How long failures and repairs are waited for."""
    return tuple(breaking.failure_and_recovery_timeouts(running(of)))


def act(tell: ReportProgress, of: ObservationWork) -> tuple[dict[str, object], list[str]]:
    """All acts; what they see, and what they tell."""
    part = acts.observe_packets_and_failures(running(of), of, tell)
    return {str(check): dict(found) for check, found in part.seen.items()}, part.notes
