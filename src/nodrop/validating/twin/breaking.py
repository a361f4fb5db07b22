"""Cables and switches of a twin that fail and come back: checks `failures` and `recoveries`.

A cable fails as one that is pulled: both ends lose their carrier. A switch fails as one without power does, for its
neighbors: all its cables do. What should come of it is computed for that very failure, so the twin has settled as soon
as its kernels have those routes; only one that does not get there is waited for.
"""

import time
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from nodrop.model.effects import dscps_of_probe_packets
from nodrop.model.fabric import End
from nodrop.model.states import known_rows
from nodrop.model.subject import Subject, ends_of_cable_key
from nodrop.routing import compute_control_plane
from nodrop.routing.prefixes import Prefix
from nodrop.validating.twin.kernel import KernelRoutes
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.packets import TwinSockets
from nodrop.validating.twin.plan import NamespaceKey
from nodrop.validating.twin.reaching import PacketKind, ReachabilityTest, ReachItem
from nodrop.validating.twin.vty import DaemonSilent

NextHopInterfacesByPrefix = dict[tuple[NamespaceKey, Prefix], frozenset[str]]
"""Routes of BGP and static ones: the interfaces of the next hops as the kernel calls them, none where it drops."""
_CARRIER_LOSS_TIMEOUT_S: Final = 15.0
"""For how long routes may take to be as computed where a neighbor is seen to be gone by the carrier."""
_POLL_S: Final = 0.1


class FailureTimeouts(NamedTuple):
    """How long, in seconds, a failure may take to be noticed everywhere, and a mended session to be up again."""

    broken_s: float
    mended_s: float


class FailureInjection:
    """Failures of one twin, one after the other.

    `delivered_prefixes` has the destinations that each router should reach, with the devices that announce them; a
    destination that only a failed device announces does not count as lost.
    """

    def __init__(
        self,
        lab: TwinLab,
        sockets: TwinSockets,
        delivered_prefixes: Mapping[tuple[NamespaceKey, Prefix], Collection[str]],
        waits: FailureTimeouts | None = None,
    ) -> None:
        self._lab, self._sockets, self._wanted = lab, sockets, delivered_prefixes
        self._names = {(space, leg): name for (space, name), leg in lab.plan.leg_by_nic.items()}
        self._patience = waits or failure_and_recovery_timeouts(lab)
        self.before = self._observe_routes()
        self._up = self._session_states()
        self._else = self._differing_routes(self._compute_routes(frozenset()), self.before)

    def fail_and_find_losses(self, failed_name: str) -> "FailureLosses":
        """Let something fail, and return the losses once routes are as they will be, before it is mended."""
        ends = self._ends_of_failure(failed_name)
        gone = "" if ends_of_cable_key(failed_name) else failed_name
        self._lab.cut_ports(*(ends[:1] if not gone else ends))
        far = [end for near_end in ends if (end := self._lab.index.far_end(*near_end)) is not None]
        expected = self._compute_routes(frozenset((*ends, *far)))
        current_routes = self._wait_for_routes(expected, self._patience.broken_s, gone)
        wrong = [key for key in self._differing_routes(expected, current_routes) - self._else if key[0].node != gone]
        surviving_routes = {key for key, owners in self._wanted.items() if key[0].node != gone and {*owners} != {gone}}
        lost = {key for key in surviving_routes if key in self.before and key not in current_routes}
        loss_notes = [f"{key[0].node} has no route to {key[1]}" for key in sorted(lost, key=str)]
        loss_notes += [f"{key[0].node} sends otherwise to {key[1]} than is computed" for key in sorted(wrong, key=str)]
        still = [ReachItem(*key) for key in sorted(surviving_routes - lost, key=str)]
        kinds = (PacketKind(dscps_of_probe_packets(self._lab.fabric)[0]),)
        sent = ReachabilityTest(self._sockets, self._lab.plan, self._lab.fabric, without=gone, kinds=kinds)
        for item, reached in sent.test_items(still).items():
            if reached.fate not in ("delivered", None):
                lost.add((item.space, item.prefix))
                loss_notes.append(f"{reached.fate}: {reached.said}")
        return FailureLosses(frozenset((space.node, str(to)) for space, to in lost), "; ".join(loss_notes[:3]))

    def mend_and_compare(self, failed_name: str) -> str:
        """Mend it, and return the difference from the former state when its time is over; "" if there is none."""
        ends = self._ends_of_failure(failed_name)
        self._lab.restore_ports(*ends)
        end = time.monotonic() + self._patience.mended_s
        while True:
            missing = [item for item, up in self._up.items() if up and not self._session_states().get(item)]
            if not missing or time.monotonic() > end:
                break
            time.sleep(_POLL_S)
        if missing:
            return f"{len(missing)} sessions stay down"
        current_routes = self._wait_for_routes(self.before, max(end - time.monotonic(), 0.0), "")
        different = self._differing_routes(self.before, current_routes)
        return "; ".join(f"{space.node} sends otherwise to {to}" for space, to in sorted(different, key=str)[:3])

    def _ends_of_failure(self, node: str) -> tuple[End, ...]:
        """Return the ports at what fails: the ends of a cable, or all ports of a device."""
        return ends_of_cable_key(node) or self._lab.ports_of_node(node)

    def _observe_routes(self) -> NextHopInterfacesByPrefix:
        return _routes_by_prefix(
            {space: self._sockets.posts[space].kernel.routes() for space in self._running_router_spaces()}
        )

    def _running_router_spaces(self) -> Iterator[NamespaceKey]:
        alive = frozenset(self._lab.running_devices)
        return (space for space in self._lab.plan.spaces if space.node in alive)

    def _compute_routes(self, failed: frozenset[End]) -> NextHopInterfacesByPrefix:
        """Compute the routes of the fabric with some ports failed."""
        plane = compute_control_plane(self._lab.index, failed)
        routes: NextHopInterfacesByPrefix = {}
        for family in plane.families:
            for router in plane.routers:
                space = NamespaceKey(router.device.name, router.vrf)
                for route in plane.of(family).routes(router.number):
                    if route.source != "connected":
                        legs = () if route.discard else [hop.leg for hop in route.hops]
                        routes[space, route.prefix] = frozenset(self._names.get((space, leg), leg) for leg in legs)
        return routes

    def _differing_routes(
        self, expected_routes: NextHopInterfacesByPrefix, actual_routes: NextHopInterfacesByPrefix
    ) -> set[tuple[NamespaceKey, Prefix]]:
        """Where two differ, of the namespaces that run."""
        spaces = set(self._running_router_spaces())
        return {
            key
            for key in expected_routes.keys() | actual_routes.keys()
            if expected_routes.get(key) != actual_routes.get(key) and key[0] in spaces
        }

    def _wait_for_routes(
        self, expected: NextHopInterfacesByPrefix, patience_s: float, gone: str
    ) -> NextHopInterfacesByPrefix:
        """Wait until the routes are as expected, those aside that never were, and return them; or for so long."""
        end = time.monotonic() + patience_s
        while True:
            observe_routes = self._observe_routes()
            different = self._differing_routes(expected, observe_routes) - self._else
            if not any(key[0].node != gone for key in different) or time.monotonic() > end:
                return observe_routes
            time.sleep(_POLL_S)

    def _session_states(self) -> dict[Subject, bool]:
        sessions: dict[Subject, bool] = {}
        asked = [name for name in self._lab.running_devices if self._lab.has_daemon(name, "bgpd")]
        for rows in self._lab.map_concurrently(lambda name: is_session_up_by_subject(self._lab, name), asked):
            sessions |= rows
        return sessions


class FailureLosses(NamedTuple):
    """The losses of a failure: pairs of a device and a prefix; and the words for it."""

    lost: frozenset[tuple[str, str]]
    said: str


def is_session_up_by_subject(twin_lab: TwinLab, node: str) -> dict[Subject, bool]:
    """Return the sessions of a device in each family, and whether each is up; none if bgpd does not answer."""
    try:
        summary: Mapping[str, Any] = twin_lab.json_answer_of_daemon(node, "show bgp vrf all summary")
    except DaemonSilent:
        return {}
    return {
        (node, vrf, family, peer): row.get("state") == "Established"
        for vrf, families in summary.items()
        for family, rows in families.items()
        if isinstance(rows, dict)
        for peer, row in rows.get("peers", {}).items()
    }


def failure_and_recovery_timeouts(twin_lab: TwinLab) -> FailureTimeouts:
    """How long the timers that the daemons run with let things take.

    A lost carrier ends a session with a direct neighbor at once (RFC 4271, 8.2.1: the TCP connection fails; FRR's
    fast-external-failover). Elsewhere the hold timer has to run out. A session that ended is opened again by either
    end when its connect retry timer runs out, at the latest.
    """
    hold_s = retry_s = 0.0
    for name in twin_lab.running_devices:
        try:
            vrfs = (
                twin_lab.json_answer_of_daemon(name, "show bgp vrf all neighbors")
                if twin_lab.has_daemon(name, "bgpd")
                else {}
            )
        except DaemonSilent:
            continue
        for rows in vrfs.values():
            for row in rows.values() if isinstance(rows, dict) else ():
                if isinstance(row, dict) and "bgpState" in row:
                    hold_s = max(hold_s, row.get("bgpTimerHoldTimeMsecs", 0) / 1000)
                    retry_s = max(retry_s, row.get("connectRetryTimer", 0))
    slow = any(_relies_on_hold_timer(twin_lab, name) for name in twin_lab.running_devices)
    return FailureTimeouts(_CARRIER_LOSS_TIMEOUT_S + (hold_s if slow else 0), _CARRIER_LOSS_TIMEOUT_S + 2 * retry_s)


def _relies_on_hold_timer(lab: TwinLab, name: str) -> bool:
    """Whether a device notices that a neighbor is gone by silence alone."""
    device = lab.fabric.device(name)
    processes = device.known_bgp_processes
    far = any(neighbor.ebgp_multihop for process in processes for neighbor in known_rows(process.neighbors))
    return far or "no bgp fast-external-failover" in lab.answer_of_daemon(name, "show running-config")


def _routes_by_prefix(tables: Mapping[NamespaceKey, KernelRoutes]) -> NextHopInterfacesByPrefix:
    return {
        (space, to): frozenset(row.hops)
        for space, table in tables.items()
        for to, row in table.rows.items()
        if row.source in ("bgp", "static")
    }
