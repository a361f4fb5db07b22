"""Reports of a device's daemons and kernel about themselves, with the names of nodrop's items."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from nodrop.model.states import known_rows
from nodrop.model.subject import Subject
from nodrop.routing.observation import route_item
from nodrop.routing.prefixes import parse_address
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.plan import NamespaceKey

ESTABLISHED_STATE: Final = "Established"


class TcpConnection(NamedTuple):
    """The addresses and ports of a session's connection, as one of its ends has them."""

    own_address: str
    own_port: int
    far_address: str
    far_port: int

    @property
    def seen_from_far_end(self) -> "TcpConnection":
        """Return the same connection as the other end has it."""
        return TcpConnection(self.far_address, self.far_port, self.own_address, self.own_port)


class ObservedSession(NamedTuple):
    """State of a session: FRR's word for it, the reason why it ended last ("" if not given), and its connection."""

    state: str
    why: str
    connection: TcpConnection | None = None

    @property
    def describe_state(self) -> str:
        """Return the words of a message about it."""
        return f"{self.state} ({self.why})" if self.why else self.state


def model_name_by_kernel_name(twin_lab: TwinLab, node: str) -> Mapping[str, str]:
    """Return the model's names of the interfaces whose names the kernel does not take, by the names that it has."""
    return {short: long for long, short in twin_lab.plan.names.get(node, {}).items()}


SessionItemByVrfAndNeighbor = dict[tuple[str | None, str], Subject]
"""The items of the sessions that a device states, by VRF, and by address as FRR writes it or by interface."""
SessionStatesAndMessageCounts = dict[tuple[str, str, str], tuple[Any, ...]]


def stated_sessions_of_device(twin_lab: TwinLab, node: str) -> SessionItemByVrfAndNeighbor:
    """Return the sessions that a device states."""
    found_configured_sessions: SessionItemByVrfAndNeighbor = {}
    device = twin_lab.fabric.device(node)
    for process in device.known_bgp_processes:
        for neighbor in known_rows(process.neighbors):
            inside = (node, "@neighbors") if process.vrf is None else (node, "@vrf_bgp", process.vrf, "neighbors")
            key = str(parse_address(neighbor.key) or neighbor.key)
            found_configured_sessions[process.vrf, key] = (*inside, neighbor.key)
    return found_configured_sessions


def bgpd_sessions(twin_lab: TwinLab, node: str) -> dict[Subject, ObservedSession]:
    """Return the sessions that bgpd has, by their items; those that the model does not state have FRR's names."""
    known_configured_sessions, own_names = (
        stated_sessions_of_device(twin_lab, node),
        model_name_by_kernel_name(twin_lab, node),
    )
    notices = {
        match["peer"]: f"{match['way']}: {match['what']}"
        for match in _BGP_NOTIFICATION_PATTERN.finditer(twin_lab.read_daemon_log(node))
    }
    session: dict[Subject, ObservedSession] = {}
    for name, rows in twin_lab.json_answer_of_daemon(node, "show bgp vrf all neighbors").items():
        vrf = None if name == "default" else name
        for peer, row in rows.items():
            if isinstance(row, dict) and "bgpState" in row:
                key = own_names.get(peer, peer)
                at = (node, "@neighbors") if vrf is None else (node, "@vrf_bgp", vrf, "neighbors")
                session[known_configured_sessions.get((vrf, key), (*at, key))] = ObservedSession(
                    row["bgpState"], _why_session_down(row, notices.get(peer, "")), _connection_of_session(row)
                )
    return session


def _connection_of_session(row: Mapping[str, Any]) -> TcpConnection | None:
    """Return the connection of a row of `show bgp neighbors`, None while there is none."""
    if not all(field in row for field in _CONNECTION_FIELDS):
        return None
    own_address, own_port, far_address, far_port = (row[field] for field in _CONNECTION_FIELDS)
    return TcpConnection(str(own_address), int(own_port), str(far_address), int(far_port))


_CONNECTION_FIELDS: Final = ("hostLocal", "portLocal", "hostForeign", "portForeign")


def sessions_up_at_one_end(sessions: Mapping[Subject, ObservedSession]) -> frozenset[Subject]:
    """Return those of all devices' sessions that bgpd has up, while none has the other end of their connection up.

    Where packets with too few hops are dropped, one end is up for a hold time each time that its messages arrive before
    the other bgpd has set the limit of the socket.
    """
    up = {item: session.connection for item, session in sessions.items() if session.state == ESTABLISHED_STATE}
    connections = set(up.values())
    return frozenset(
        item
        for item, connection in up.items()
        if connection is not None and connection.seen_from_far_end not in connections
    )


_BGP_NOTIFICATION_PATTERN: Final = re.compile(
    r"%NOTIFICATION: (?P<way>sent|received)\b.* neighbor (?P<peer>\S+) \S+ \((?P<what>[^)]*)\)"
)
"""How bgpd logs what ended a session (FRR, bgpd/bgp_debug.c, bgp_notify_print), where it logs changes of neighbors."""


def _why_session_down(row: Mapping[str, object], logged: str) -> str:
    """Why a session is down, in bgpd's words: the last notification that it sent or got, else why it was reset last."""
    if row["bgpState"] == ESTABLISHED_STATE:
        return ""
    reset = str(row.get("lastResetDueTo", ""))
    notification = str(row.get("lastNotificationReason", "")) if "otification" in reset else ""
    return logged or ", ".join(filter(None, (reset, notification)))


def observed_router_id(twin_lab: TwinLab, node: str) -> str:
    """Return the router id of a device's default VRF, as bgpd has it; "" where it has no BGP there."""
    process = twin_lab.json_answer_of_daemon(node, "show bgp vrfs").get("vrfs", {}).get("default", {})
    return str(process.get("routerId", ""))


def read_session_states_and_counts(twin_lab: TwinLab, node: str) -> SessionStatesAndMessageCounts:
    """Return the state of each VRF, family and session that changes while routes do, and the counts of messages."""
    session_states: SessionStatesAndMessageCounts = {}
    for vrf, families in twin_lab.json_answer_of_daemon(node, "show bgp vrf all summary").items():
        for family, rows in families.items():
            if not isinstance(rows, dict) or "peers" not in rows:
                continue
            session_states[vrf, family, ""] = (rows.get("tableVersion"), rows.get("ribCount"))
            for peer, row in rows["peers"].items():
                counts = (row.get("pfxRcd"), row.get("pfxSnt"), row.get("outq"), row.get("inq"))
                session_states[vrf, family, peer] = (row.get("state"), *counts)
    return session_states


ObservedRoutes = dict[Subject, tuple[str, frozenset[str]]]
"""Routes in use by their items: the protocol, and the ports of the next hops as the model calls them, or `discard`."""


def installed_protocol_routes(
    twin_lab: TwinLab, node: str, sources: frozenset[str] = frozenset({"bgp", "static"})
) -> ObservedRoutes:
    """Return the routes of some protocols that zebra has put into the kernel, without those of links."""
    found_routes: ObservedRoutes = {}
    for space in twin_lab.plan.spaces:
        if space.node != node:
            continue
        vrf_words = f" vrf {space.vrf}" if space.vrf else ""
        for family in ("ip", "ipv6"):
            for prefix, rows in twin_lab.json_answer_of_daemon(
                node, f"show {family} route{vrf_words}", "zebra"
            ).items():
                for row in rows:
                    if row.get("selected") and row.get("protocol") in sources and not prefix.startswith("fe80:"):
                        hops = frozenset(_ports_of_hops(twin_lab, space, row.get("nexthops", ())))
                        found_routes[route_item(node, prefix, space.vrf)] = row["protocol"], hops
    return found_routes


def best_path_reason(twin_lab: TwinLab, node: str, prefix: str, vrf: str = "") -> str:
    """Return bgpd's reason for using its path to a prefix, in its words (`Older Path`); "" if it gives none."""
    vrf_words = f"vrf {vrf} " if vrf else ""
    family = "ipv6" if ":" in prefix else "ipv4"
    paths = twin_lab.json_answer_of_daemon(node, f"show bgp {vrf_words}{family} unicast {prefix}").get("paths", ())
    best = (path.get("bestpath", {}) for path in paths)
    return next(
        (
            str(bestpath["selectionReason"])
            for bestpath in best
            if bestpath.get("overall") and "selectionReason" in bestpath
        ),
        "",
    )


def _ports_of_hops(twin_lab: TwinLab, namespace: NamespaceKey, hops: Any) -> Iterator[str]:
    for hop in hops:
        if hop.get("blackhole") or hop.get("reject"):
            yield "discard"
        elif "interfaceName" in hop and (hop.get("fib") or hop.get("active")):
            name = hop["interfaceName"]
            yield twin_lab.plan.leg_by_nic.get((namespace, name), name)


def kernel_addresses(twin_lab: TwinLab, node: str) -> Iterator[tuple[str, str]]:
    """Yield the addresses that the kernel has in a device's default VRF, with the interface of each in the model."""
    space = NamespaceKey(node)
    loopbacks = {loopback for at, rows in twin_lab.plan.loopbacks if at == space for loopback in rows}
    for row in twin_lab.interfaces_with_addresses(node):
        for address_row in row.get("addr_info", ()):
            text = f"{address_row['local']}/{address_row['prefixlen']}"
            if address_row.get("scope") == "link" or address_row.get("dadfailed"):
                continue
            if row["ifname"] != "lo" or text in loopbacks or not address_row["local"].startswith(("127.", "::1")):
                yield address_row["local"], twin_lab.plan.leg_by_nic.get((space, row["ifname"]), row["ifname"])
