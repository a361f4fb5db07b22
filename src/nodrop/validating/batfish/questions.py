"""Batfish's answers on the items of each check, as the values that other validators use.

Each function takes unchanged rows; the questions are named next to it. Items missing in an answer stay out, and the
comparison then finds them missing.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from nodrop.model.fabric import End
from nodrop.model.subject import Subject
from nodrop.model.subject import link_subject as link_subject
from nodrop.routing.observation import address_item, route_item
from nodrop.routing.prefixes import Address, parse_address
from nodrop.validating.batfish.names import AddressOwners, NodeNames, vrf_of_row
from nodrop.validating.batfish.service import AnswerRow

ESTABLISHED_STATE: Final = "ESTABLISHED"

FATES_BY_DISPOSITION: Final[Mapping[str, str]] = {
    "LOOP": "loop",
    "NO_ROUTE": "no route",
    "NULL_ROUTED": "no route",
    "NEIGHBOR_UNREACHABLE": "no route",
    "INSUFFICIENT_INFO": "no route",
    "DENIED_IN": "denied",
    "DENIED_OUT": "denied",
    "ACCEPTED": "delivered",
    "DELIVERED_TO_SUBNET": "delivered",
    "EXITS_NETWORK": "delivered",
}
"""Where packets end in Batfish's words, the worst first."""


def link_subjects_of_edges(edges: Iterable[AnswerRow], node_names: NodeNames) -> set[Subject]:
    """Return the links between legs that are next routers (`layer3Edges`), or that a cable joins (`layer1Edges`).

    Of cables Batfish leaves out without a word those to nodes and ports that it does not have.
    """
    links = set()
    for row in edges:
        a, b = (
            node_names.end_of_interface_cell(row["Interface"]),
            node_names.end_of_interface_cell(row["Remote_Interface"]),
        )
        if a is not None and b is not None:
            links.add(link_subject(a, b))
    return links


class PortState(NamedTuple):
    """What Batfish holds of a leg: its MTU in bytes, whether it works, and whether it has an address."""

    mtu_bytes: int
    active: bool
    addressed: bool


def port_states_by_end(properties: Iterable[AnswerRow], node_names: NodeNames) -> dict[End, PortState]:
    """All legs (`interfaceProperties`)."""
    port_by_end = {}
    for row in properties:
        end = node_names.end_of_interface_cell(row["Interface"])
        if end is not None and row["MTU"] is not None:
            port_by_end[end] = PortState(int(row["MTU"]), bool(row["Active"]), bool(row["All_Prefixes"]))
    return port_by_end


class ExpectedPeer(NamedTuple):
    """The expected ends of a session: the leg that it goes over, and the device at the other end."""

    leg: str
    device: str | None


class SessionRow(NamedTuple):
    """Batfish's row about a session."""

    item: Subject
    up: bool
    said: str


def session_rows_with_down_reason(
    status: Iterable[AnswerRow],
    compatibility: Iterable[AnswerRow],
    node_names: NodeNames,
    owners: AddressOwners,
    expected: Mapping[Subject, ExpectedPeer],
) -> Iterator[SessionRow]:
    """Yield the sessions (`bgpSessionStatus`) with the reason why one cannot be (`bgpSessionCompatibility`)."""
    reasons = {_session_key(row, node_names): str(row["Configured_Status"]) for row in compatibility}
    for row in status:
        device = node_names.device(row["Node"])
        if device is None:
            continue
        item = _session_item(row, device, node_names, owners, expected)
        word = str(row["Established_Status"])
        if word != ESTABLISHED_STATE:
            reason = reasons.get(_session_key(row, node_names), "")
            yield SessionRow(item, up=False, said=reason if reason not in ("", "UNIQUE_MATCH") else word)
        elif not row["Address_Families"]:
            yield SessionRow(item, up=False, said=f"{word} without an address family")
        else:
            peer, far = expected.get(item), node_names.device(row["Remote_Node"])
            strange = peer is not None and peer.device is not None and far != peer.device
            yield SessionRow(item, up=not strange, said=f"{word} with {far}" if strange else word)


def _session_key(answer_row: AnswerRow, node_names: NodeNames) -> tuple[object, ...]:
    return (
        node_names.device(answer_row["Node"]),
        vrf_of_row(answer_row),
        node_names.end_of_interface_cell(answer_row["Local_Interface"]),
        str(answer_row["Remote_IP"]),
    )


def _session_item(
    answer_row: AnswerRow,
    device: str,
    node_names: NodeNames,
    owners: AddressOwners,
    expected: Mapping[Subject, ExpectedPeer],
) -> Subject:
    """Return the item of a session: by its interface, or its address; over a numbered interface, the interface."""
    where = vrf_of_row(answer_row)
    kind: Subject = (device, "@neighbors") if where is None else (device, "@vrf_bgp", where, "neighbors")
    local = node_names.end_of_interface_cell(answer_row["Local_Interface"])
    if local is not None:
        return (*kind, local.port)
    far = answer_row["Remote_IP"]
    key = str(far.get("value", "") if isinstance(far, dict) else far).removesuffix("/32")
    leg = None if (*kind, key) in expected else owners.leg_towards(device, where, key)
    return (*kind, leg) if leg is not None and (*kind, leg) in expected else (*kind, key)


def devices_by_address(owners: AddressOwners, plain: Iterable[End]) -> dict[Subject, tuple[str, ...]]:
    """Who has each address of the default VRF (`ipOwners`), of ports and loopbacks."""
    counted = set(plain)
    owners_by_address = {}
    for (where, text), ends in owners.of.items():
        names = tuple(sorted(str(end) for end in ends if end in counted))
        if where is None and names:
            owners_by_address[address_item(text)] = names
    return owners_by_address


def devices_by_router_id(processes: Iterable[AnswerRow], node_names: NodeNames) -> dict[Subject, tuple[str, ...]]:
    """Return the router ids of the default VRF (`bgpProcessConfiguration`), each with the devices that have it."""
    owners: defaultdict[str, set[str]] = defaultdict(set)
    for row in processes:
        device = node_names.device(row["Node"])
        if device is not None and vrf_of_row(row) is None and row["Router_ID"] is not None:
            owners[str(row["Router_ID"])].add(device)
    return {address_item(f"router id {router_id}"): tuple(sorted(devices)) for router_id, devices in owners.items()}


def next_hop_ports_by_route(
    answer_rows: Iterable[AnswerRow], node_names: NodeNames, owners: AddressOwners
) -> dict[Subject, frozenset[str]]:
    """Return the ports of the next hops of routes of BGP and static ones (`next_hop_ports_by_route`), by item."""
    ports_by_route: defaultdict[Subject, set[str]] = defaultdict(set)
    port_of_hop: dict[tuple[str, str | None, str], str] = {}
    for row in answer_rows:
        device = node_names.device(row["Node"])
        if device is None or row["Protocol"] in ("connected", "local"):
            continue
        where, hop = vrf_of_row(row), row["Next_Hop"]
        key = (device, where, f"{hop.get('type')} {hop.get('interface')} {hop.get('ip')}")
        if key not in port_of_hop:
            port_of_hop[key] = _next_hop_port(device, where, hop, node_names, owners)
        ports_by_route[route_item(device, str(row["Network"]), where)].add(port_of_hop[key])
    return {item: frozenset(ports) for item, ports in ports_by_route.items()}


def _next_hop_port(
    device: str, vrf_name: str | None, hop: Mapping[str, object], node_names: NodeNames, owners: AddressOwners
) -> str:
    match hop.get("type"):
        case "discard":
            return "discard"
        case "interface":
            end = node_names.end_of_interface_name(device, hop["interface"])
            return end.port if end is not None else str(hop["interface"])
        case "ip":
            return owners.leg_towards(device, vrf_name, str(hop["ip"])) or f"to {hop['ip']}"
        case other:
            return f"{other} {hop.get('vrf', '')}".strip()


class LostPacket(NamedTuple):
    """A packet that does not arrive, and its fate at worst; `said` is Batfish's word."""

    device: str
    vrf: str | None
    to: Address
    fate: str
    said: str


def packets_with_worst_fate(answer_rows: Iterable[AnswerRow], node_names: NodeNames) -> Iterator[LostPacket]:
    """Yield the packets of an answer about reachability or loops, each with the worst of its traces."""
    for row in answer_rows:
        flow = row["Flow"]
        device, to = node_names.device(flow["ingressNode"]), parse_address(str(flow["dstIp"]))
        if device is None or to is None:
            continue
        ends = {str(trace["disposition"]) for trace in row["Traces"]}
        word = next((fate for fate in FATES_BY_DISPOSITION if fate in ends), min(ends, default="nothing"))
        where = flow.get("ingressVrf")
        yield LostPacket(
            device,
            None if where in (None, "default") else str(where),
            to,
            FATES_BY_DISPOSITION.get(word, "no route"),
            word,
        )
