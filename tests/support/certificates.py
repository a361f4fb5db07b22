"""Certificates of small fabrics, made and checked packet by packet as docs/certificates.md says, without nodrop."""

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise, permutations
from typing import Any

Document = dict[str, Any]
Buffer = tuple[int, int]
Packet = tuple[str, int, int]
"""Where a packet enters, its DSCP there, and its destination."""

Held = tuple[int, int | None, int | None]
"""The DSCP of a packet, its tunnel if it is in one, and the place of the VLAN in which it is flooded on, if it is."""

LOSSLESS = (26, 34)
"""DSCPs of traffic class 3 and 4 in the map of `plain_map`."""


PARTS = {
    "premises": {
        *("sets", "destinations", "outer", "maps", "channels", "entries", "ends", "next_hops", "tunnels"),
        *("floods", "as_numbers", "sessions", "session_kinds"),
    },
    "witness": {"positions", "cycle", "levels"},
}


def nested(document: Document) -> Document:
    """Return the document of a certificate, whose premises and witness are all on one level here."""
    parts = {part: {key: document[key] for key in sorted(keys) if key in document} for part, keys in PARTS.items()}
    return {key: value for key, value in document.items() if key not in set().union(*PARTS.values())} | parts


def flat(document: Document) -> Document:
    """Return a certificate with its premises and witness on one level, from its document."""
    rest = {key: value for key, value in document.items() if key not in PARTS}
    return rest | document["premises"] | document["witness"]


def sealed(document: Document) -> Document:
    """Return a certificate with the seal that its document needs."""
    body = {key: value for key, value in document.items() if key != "seal"}
    text = json.dumps(nested(body), sort_keys=True, separators=(",", ":"))
    return {**body, "seal": hashlib.sha256(text.encode()).hexdigest()}


def plain_map(**changes: Any) -> Document:
    """Return a map with the lossless classes 3 and 4."""
    tc = [0] * 64
    tc[26], tc[34] = 3, 4
    return {
        "tc": tc,
        "group": [0, 0, 0, 3, 4, *[0] * 11],
        "queue": [0, 0, 0, 3, 4, *[0] * 11],
        "dscp": [None] * 16,
        "pauses": {"3": [3], "4": [4]},
        "stops": {"3": 3, "4": 4},
    } | changes


def host_map() -> Document:
    """Return the map of a port to hosts, which pauses hosts and obeys nobody."""
    return plain_map(stops={})


class Builder:
    """A fabric that is given cable by cable and next hop by next hop."""

    def __init__(self, maps: list[Document] | None = None) -> None:
        self.maps = maps or [plain_map(), host_map()]
        self.channels: list[list[str | int]] = []
        self.between: dict[tuple[str, str], list[int]] = {}
        self.destinations: list[str] = []
        self.shared: dict[int, list[str]] = {}
        """The tables where a destination ends that ends at several."""
        self.hops: dict[tuple[str, int], list[int]] = {}
        self.entries: dict[str, list[int]] = {}
        self.sessions: list[list[str | int]] = []
        self.levels: dict[str, int] = {}
        self.numbers: dict[str, int] = {}
        self.kinds: list[Document] = []
        self.tunnels: list[Document] = []
        self.floods: list[Document] = []
        self.extra: Document = {}

    def cable(self, left: str, right: str, left_map: int = 0, right_map: int = 0) -> None:
        """Join two tables by a cable, a channel each way."""
        ports = [f"p{len(self.channels)}", f"p{len(self.channels) + 1}"]
        for start, port, end, far, leaves, enters in (
            (left, ports[0], right, ports[1], left_map, right_map),
            (right, ports[1], left, ports[0], right_map, left_map),
        ):
            self.between.setdefault((start, end), []).append(len(self.channels))
            self.channels.append([start, port, end, far, leaves, enters])

    def hosts(self, table: str, at: int = 1) -> None:
        """Put hosts at a table, with a prefix that ends there."""
        self.entries[table] = [at]
        self.destinations.append(table)

    def send(self, table: str, destination: int, over: list[int]) -> None:
        """Let a table send a destination over channels."""
        self.hops.setdefault((table, destination), []).extend(over)

    def flood(self, table: str, to: set[int], cables: list[tuple[int, int | None]], vlan: int = 100) -> None:
        """Let a table flood packets in a VLAN with members: a channel out of each, and the VLAN behind it, if any."""
        members = [{"out": [[channel, far]], "in": [channel ^ 1]} for channel, far in cables]
        self.floods.append({"at": table, "vlan": vlan, "to": to, "members": members})

    def document(self, claim: str, failures: str) -> Document:
        """Return the certificate of a claim, with the witness that the packets give."""
        sets: list[list[list[int]]] = [[]]
        numbers: dict[frozenset[int], int] = {frozenset(): 0}

        def numbered(members: frozenset[int]) -> int:
            if members not in numbers:
                numbers[members] = len(sets)
                sets.append([[member, member] for member in sorted(members)])
            return numbers[members]

        rows: dict[str, dict[tuple[int, ...], set[int]]] = {}
        for (table, destination), over in self.hops.items():
            rows.setdefault(table, {}).setdefault(tuple(sorted(set(over))), set()).add(destination)
        document: Document = {
            "version": 1,
            "fabric": "small",
            "claim": claim,
            "failures": failures,
            "failed": [],
            "files": [],
            "rests_on": [],
            "assumptions": ["Hosts do not pause."],
            "destinations": [[f"10.0.{number}.0/24"] for number in range(len(self.destinations))],
            "outer": 0,
            "maps": self.maps,
            "channels": self.channels,
            "entries": self.entries,
            "ends": {
                table: numbered(
                    frozenset(n for n, end in enumerate(self.destinations) if table in self.shared.get(n, [end]))
                )
                for table in sorted({*self.destinations, *chain(*self.shared.values())})
            },
            "next_hops": {
                table: [{"to": numbered(frozenset(to)), "over": list(over)} for over, to in of_table.items()]
                for table, of_table in rows.items()
            },
            "tunnels": [{**one, "servers": numbered(frozenset(one["servers"]))} for one in self.tunnels],
            "floods": [{**one, "to": numbered(frozenset(one["to"]))} for one in self.floods],
            "as_numbers": self.numbers if failures == "any" else {},
            "sessions": self.sessions if failures == "any" else [],
            "session_kinds": self.kinds if failures == "any" else [],
            "sets": sets,
            "positions": [],
            "cycle": [],
            "levels": self.levels if failures == "any" else {},
            **self.extra,
        }
        document = copy.deepcopy(document)
        if claim == "deadlock-free":
            document["positions"] = order(document)
        else:
            document["cycle"] = circle(document)
        return sealed(document)


def claimed(builder: Builder, failures: str = "none") -> Document:
    """Return the certificate of what is true: that a fabric is free of deadlocks, or not."""
    try:
        return builder.document("deadlock-free", failures)
    except CycleError:
        return builder.document("deadlock-possible", "listed")


def order(document: Document) -> list[list[int]]:
    """Return positions in which every buffer has a lower one than those it depends on; raise CycleError without."""
    graph: dict[Buffer, set[Buffer]] = {}
    for left, right in dependencies(document):
        graph.setdefault(right, set()).add(left)
    return [[*buffer, place] for place, buffer in enumerate(TopologicalSorter(graph).static_order())]


def circle(document: Document) -> list[Document]:
    """Return a circle of buffers, with the packets of each dependency."""
    made = dependencies(document)
    graph: dict[Buffer, set[Buffer]] = {}
    for left, right in made:
        graph.setdefault(right, set()).add(left)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle = error.args[1]
    else:
        raise AssertionError("there is no circle")
    entries = []
    for left, right in pairwise(cycle):
        (source, source_dscp, destination), (dscp, tunnel, flood) = made[left, right]
        entries.append(
            {
                "channel": left[0],
                "group": left[1],
                "destination": destination,
                "dscp": dscp,
                "source": source,
                "source_dscp": source_dscp,
                "tunnel": tunnel,
                "flood": flood,
            }
        )
    return entries


def members(document: Document, number: int) -> set[int]:
    """Return the destinations of a set."""
    return {member for first, last in document["sets"][number] for member in range(first, last + 1)}


def beginnings(document: Document) -> Iterator[Packet]:
    """Yield where each kind of packet enters the fabric."""
    for table in document["entries"]:
        for destination, prefixes in enumerate(document["destinations"]):
            if prefixes:
                yield from ((table, dscp, destination) for dscp in range(64))


State = tuple[str, int, Held, int | None]
"""Where a packet is: the table, the map by which it entered, what it is, and the channel behind which it is."""


def steps(document: Document, packet: Packet) -> Iterator[tuple[Buffer, Buffer, Held]]:
    """Yield the dependencies that a packet makes: the two buffers, and what it is in the first."""
    source, source_dscp, destination = packet
    floods = [None, *flooded_at(document, source, destination)]
    states: list[State] = [
        (source, number, (source_dscp, None, flood), None) for number in document["entries"][source] for flood in floods
    ]
    seen = set(states)
    for state in states:
        over, (group, tc) = state[3], held_by(document, state)
        enters = document["maps"][state[1]]
        for onward, into, joins in ways(document, state, destination):
            leaving = document["maps"][document["channels"][onward][4]]
            stopped = leaving["queue"][tc] if into is None else document["tunnels"][into]["queue"][tc]
            stopped = leaving["queue"][tc] if stopped is None else stopped
            far = document["maps"][document["channels"][onward][5]]
            for held, priorities in far["pauses"].items() if over is not None and group is not None else ():
                if any(leaving["stops"].get(str(p)) == stopped for p in priorities):
                    yield (over, group), (onward, int(held)), state[2]
            for flood in joins:
                after = crossing(document, state, enters["tc"][state[2][0]], onward, into, flood)
                if after not in seen:
                    seen.add(after)
                    states.append(after)


def flooded_at(document: Document, table: str, destination: int) -> list[int]:
    """Return the VLANs in which a table floods packets to a destination that end there."""
    if table not in document["ends"] or destination not in members(document, document["ends"][table]):
        return []
    floods = enumerate(document["floods"])
    return [place for place, one in floods if one["at"] == table and destination in members(document, one["to"])]


Way = tuple[int, int | None, list[int | None]]
"""A channel by which a packet goes on, the tunnel into which it goes, and in which VLANs it is flooded behind it."""


def ways(document: Document, state: State, destination: int) -> Iterator[Way]:
    """Yield how a packet goes on from a table."""
    table, _, (_, tunnel, flood), over = state
    if flood is not None:
        for member in document["floods"][flood]["members"]:
            if over not in member["in"]:
                yield from ((onward, None, [] if far is None else [far]) for onward, far in member["out"])
        return
    for to, into in hops(document, state, destination):
        for row in document["next_hops"].get(table, []):
            for onward in row["over"] if to in members(document, row["to"]) else []:
                end = document["channels"][onward][2]
                is_plain = tunnel is None and into is None
                yield onward, into, [None, *(flooded_at(document, end, destination) if is_plain else [])]


def hops(document: Document, state: State, destination: int) -> Iterator[tuple[int, int | None]]:
    """Yield where a packet goes from a table: the destination outside, and the tunnel into which it goes there."""
    table, _, (_, tunnel, _), _ = state
    ending = members(document, document["ends"][table]) if table in document["ends"] else set()
    to = destination if tunnel is None else document["tunnels"][tunnel]["to"]
    if to not in ending:
        yield to, None
    for number, one in enumerate(document["tunnels"]):
        inside = tunnel is None and one["at"] == table and destination in members(document, one["servers"]) & ending
        if inside and one["to"] not in ending:
            yield one["to"], number


def held_by(document: Document, state: State) -> tuple[int | None, int]:
    """Return the group that holds a packet (None: no buffer), and its traffic class."""
    enters = document["maps"][state[1]]
    tc: int = enters["tc"][state[2][0]]
    group: int = enters["group"][tc]
    return (group if str(group) in enters["pauses"] else None), tc


def crossing(document: Document, state: State, tc: int, onward: int, into: int | None, flood: int | None) -> State:
    """Return a packet behind a channel."""
    dscp, tunnel, _ = state[2]
    _, _, end, _, leaves, far = document["channels"][onward]
    written = document["maps"][leaves]["dscp"][tc]
    if into is not None:
        outside = document["tunnels"][into]["outside"][tc]
        written = written if outside is None else outside
        tunnel = into
    return end, far, (dscp if written is None else written, tunnel, flood), onward


def dependencies(document: Document) -> dict[tuple[Buffer, Buffer], tuple[Packet, Held]]:
    """Return each dependency with a packet that makes it, and what the packet is in the first buffer."""
    result: dict[tuple[Buffer, Buffer], tuple[Packet, Held]] = {}
    for packet in beginnings(document):
        for left, right, held in steps(document, packet):
            result.setdefault((left, right), (packet, held))
    return result


def is_proof(document: Document) -> bool:
    """Whether the witness proves the claim: each condition of the page, packet by packet."""
    claim = document["claim"], document["failures"]
    if not _do_floods_fit(document):
        return False
    if claim == ("deadlock-possible", "listed"):
        return bool(document["cycle"]) and all(_is_step(document, n) for n in range(len(document["cycle"])))
    if claim not in {("deadlock-free", "none"), ("deadlock-free", "any")} or document["cycle"]:
        return False
    places: dict[Buffer, list[int]] = {}
    for channel, group, position in document["positions"]:
        places.setdefault((channel, group), []).append(position)
    if any(len(of_buffer) > 1 for of_buffer in places.values()):
        return False
    for left, right in dependencies(document):
        if left not in places or right not in places or places[left] >= places[right]:
            return False
    if claim[1] == "none":
        return not document["levels"] and not document["sessions"]
    if document["tunnels"] or document["floods"]:
        return False
    return _levels_prove(document)


def _do_floods_fit(document: Document) -> bool:
    """Whether the channels of VLANs begin and end at their tables, each at one member, and lead where they say."""
    channels, floods = document["channels"], document["floods"]
    arriving = [[channel for member in one["members"] for channel in set(member["in"])] for one in floods]
    return all(
        len(set(into)) == len(into)
        and all(channels[channel][2] == one["at"] for channel in into)
        and all(
            channels[channel][0] == one["at"] and (far is None or channel in arriving[far])
            for member in one["members"]
            for channel, far in member["out"]
        )
        for one, into in zip(floods, arriving, strict=True)
    )


def _is_step(document: Document, number: int) -> bool:
    entry = document["cycle"][number]
    onward = document["cycle"][(number + 1) % len(document["cycle"])]
    packet = (entry["source"], entry["source_dscp"], entry["destination"])
    if packet not in set(beginnings(document)):
        return False
    held = (entry["dscp"], entry["tunnel"], entry["flood"])
    wanted = ((entry["channel"], entry["group"]), (onward["channel"], onward["group"]), held)
    return wanted in set(steps(document, packet))


def _levels_prove(document: Document) -> bool:
    levels, numbers = document["levels"], document["as_numbers"]
    sessions = [(a, b, document["session_kinds"][kind]) for a, b, kind in document["sessions"]]
    pairs = {(a, b) for a, b, _ in sessions}
    if pairs != {(b, a) for a, b in pairs} or any(levels[a] == levels[b] for a, b in pairs):
        return False
    used = {channel for rows in document["next_hops"].values() for row in rows for channel in row["over"]}
    if any((document["channels"][c][0], document["channels"][c][2]) not in pairs for c in used):
        return False
    ends = {table: members(document, number) for table, number in document["ends"].items()}
    for v, u, kind in sessions:
        if levels[v] > levels[u]:
            continue
        everything = set(range(len(document["destinations"])))
        passing = everything if kind["passes"] is None else members(document, kind["passes"])
        own = ends.get(v, set())
        if passing & own & members(document, document["outer"]):
            return False
        foreign = {d for d in passing if d not in own or any(d in ends[t] for t in ends if t != v)}
        refused = kind["own_as"] == 0 and kind["keeps_path"]
        for w, listener, other in sessions:
            heard = everything if other["passes"] is None else members(document, other["passes"])
            from_above = listener == v and levels[w] > levels[v] and foreign & heard
            if from_above and not (refused and numbers[w] == numbers[u] and other["keeps_path"]):
                return False
    return True


def plain_tunnel(at: str, to: int, servers: set[int], **changes: Any) -> Document:
    """Return a tunnel without maps, which copies the DSCP to the outside."""
    return {"at": at, "to": to, "servers": servers, "outside": [None] * 16, "queue": [None] * 16} | changes


def remapping_tunnel(at: str, to: int, servers: set[int]) -> Document:
    """Return a tunnel whose packets of class 3 are in class 4 of everybody."""
    four = [4 if tc == 3 else 0 for tc in range(16)]
    return plain_tunnel(at, to, servers, outside=[34 if tc == 3 else 0 for tc in range(16)], queue=four)


def pair(make: Callable[..., Document] = plain_tunnel, leaves: int = 3, spines: int = 2, lossless: int = 2) -> Builder:
    """Return leaves and spines of which the first two leaves have the same servers, and tunnels to each other.

    With one lossless class, hosts send none in class 4.
    """
    maps = [plain_map(), host_map()]
    if lossless == 1:
        tc = [3 if dscp == 26 else 0 for dscp in range(64)]
        maps[1] = host_map() | {"tc": tc}
    fabric = Builder(maps)
    names, tops = [f"leaf{number}" for number in range(leaves)], [f"spine{number}" for number in range(spines)]
    for name in names:
        fabric.hosts(name)
    fabric.hosts("leaf0")
    shared = len(fabric.destinations) - 1
    fabric.shared[shared] = ["leaf0", "leaf1"]
    for top in tops:
        for number, name in enumerate(names):
            fabric.cable(name, top)
            fabric.send(top, number, fabric.between[top, name])
            for other in set(range(leaves)) - {number}:
                fabric.send(name, other, fabric.between[name, top])
            fabric.send(
                *((name, shared, fabric.between[name, top]) if number > 1 else (top, shared, fabric.between[top, name]))
            )
    fabric.tunnels = [make("leaf0", 1, {shared}), make("leaf1", 0, {shared})]
    return fabric


def flooding_clos(
    leaves: int = 2, spines: int = 2, *, maps: list[Document] | None = None, lossy: tuple[str, str] | None = None
) -> Builder:
    """Return leaves and spines in which each leaf has a VLAN of hosts on all its uplinks too.

    The cable between two `lossy` tables has a map without pauses.
    """
    fabric = Builder([plain_map(), host_map(), plain_map(pauses={}, stops={})] if maps is None else maps)
    low = [f"leaf{number}" for number in range(leaves)]
    high = [f"spine{number}" for number in range(spines)]
    for leaf in low:
        fabric.hosts(leaf)
        for spine in high:
            at = 2 if lossy == (leaf, spine) else 0
            fabric.cable(leaf, spine, at, at)
    for number, leaf in enumerate(low):
        for spine in high:
            fabric.send(spine, number, fabric.between[spine, leaf])
            for other in set(range(leaves)) - {number}:
                fabric.send(leaf, other, fabric.between[leaf, spine])
        fabric.flood(leaf, {number}, [(fabric.between[leaf, spine][0], None) for spine in high])
    return fabric


def bridged_line(tables: int = 4, *, back: bool = False) -> Builder:
    """Return switches in a line with one VLAN on all cables, whose hosts are at the first and the last one.

    With `back`, routes lead from the last one to the first over a cable of their own.
    """
    fabric = Builder()
    names = [f"l{number}" for number in range(tables)]
    for name in names:
        fabric.hosts(name)
    fabric.shared[0] = [names[0], names[-1]]
    for left, right in pairwise(names):
        fabric.cable(left, right)
    if back:
        fabric.cable(names[-1], names[0])
        fabric.send(names[-1], 1, fabric.between[names[-1], names[0]])
        fabric.send(names[0], 1, fabric.between[names[0], names[1]])
        fabric.send(names[-2], 1, fabric.between[names[-2], names[-1]])
    for number, name in enumerate(names):
        cables = [(fabric.between[name, names[far]][0], far) for far in (number - 1, number + 1) if 0 <= far < tables]
        fabric.flood(name, {0} if number in (0, tables - 1) else set(), cables)
    return fabric


def ring(tables: int = 5, *, clockwise: bool = True, maps: list[Document] | None = None) -> Builder:
    """Return a ring of switches; packets go clockwise, or by the shortest way."""
    fabric = Builder(maps)
    names = [f"r{number}" for number in range(tables)]
    for number, name in enumerate(names):
        fabric.cable(name, names[(number + 1) % tables])
        fabric.hosts(name)
    for number, name in enumerate(names):
        for destination in range(tables):
            ahead = (destination - number) % tables
            step = 1 if clockwise or ahead <= tables / 2 else -1
            if ahead:
                fabric.send(name, destination, fabric.between[name, names[(number + step) % tables]])
    return fabric


def line(tables: int = 4) -> Builder:
    """Return switches in a line."""
    fabric = Builder()
    names = [f"l{number}" for number in range(tables)]
    for name in names:
        fabric.hosts(name)
    for left, right in pairwise(names):
        fabric.cable(left, right)
    for (number, name), (destination, _) in permutations(enumerate(names), 2):
        onward = names[number + (1 if destination > number else -1)]
        fabric.send(name, destination, fabric.between[name, onward])
    return fabric


def clos(leaves: int = 4, spines: int = 2, suffix: str = "", maps: list[Document] | None = None) -> Builder:
    """Return leaves and spines with sessions in which leaves announce only their own prefixes."""
    fabric = Builder(maps)
    low = [f"leaf{number}{suffix}" for number in range(leaves)]
    high = [f"spine{number}{suffix}" for number in range(spines)]
    for number, leaf in enumerate(low):
        fabric.hosts(leaf)
        for spine in high:
            fabric.cable(leaf, spine)
        fabric.numbers[leaf], fabric.levels[leaf] = 65100 + number, 0
    for spine in high:
        fabric.numbers[spine], fabric.levels[spine] = 65000, 1
    for (_, leaf), (destination, other) in permutations(enumerate(low), 2):
        for spine in high:
            fabric.send(leaf, destination, fabric.between[leaf, spine])
            if (spine, destination) not in fabric.hops:
                fabric.send(spine, destination, fabric.between[spine, other])
    fabric.kinds = [{"passes": None, "keeps_path": True, "own_as": 0}]
    for leaf in low:
        for spine in high:
            fabric.sessions += [[leaf, spine, 0], [spine, leaf, 0]]
    return fabric


def clos_with_policies(leaves: int = 3, spines: int = 2) -> Builder:
    """Return leaves and spines of different AS numbers, where a policy lets only the leaf's prefixes pass upward."""
    fabric = clos(leaves, spines)
    for number in range(spines):
        fabric.numbers[f"spine{number}"] = 65000 + number
    fabric.kinds = [{"passes": None, "keeps_path": False, "own_as": 3}]
    passing = {}
    for number in range(leaves):
        passing[f"leaf{number}"] = len(fabric.kinds)
        fabric.kinds.append({"passes": number + 1, "keeps_path": True, "own_as": 1})
    for session in fabric.sessions:
        session[2] = passing.get(str(session[0]), 0)
    return fabric


def pods(count: int = 2, width: int = 2) -> Builder:
    """Return pods of leaves and spines below cores; the spines of a pod share an AS number, as all cores do."""
    fabric = Builder()
    cores = [f"core{number}" for number in range(width)]
    low, high = ([f"pod{p}-{tier}{n}" for p in range(count) for n in range(width)] for tier in ("leaf", "spine"))
    for name in low:
        fabric.hosts(name)
    for number in range(count * width):
        pod = number // width
        fabric.numbers |= {low[number]: 65200 + number, high[number]: 65100 + pod}
        fabric.levels |= {low[number]: 0, high[number]: 1}
        for spine in high[pod * width : (pod + 1) * width]:
            fabric.cable(low[number], spine)
        for core in cores:
            fabric.cable(high[number], core)
    fabric.numbers |= dict.fromkeys(cores, 65000)
    fabric.levels |= dict.fromkeys(cores, 2)
    for (start, end), over in fabric.between.items():
        for destination, leaf in enumerate(low):
            up, at_home = fabric.levels[end] > fabric.levels[start], leaf[:4] == start[:4]
            if (not up and leaf[:4] == end[:4] and end in (leaf, *high)) or (
                up and leaf != start and (start in low or not at_home)
            ):
                fabric.send(start, destination, over)
    fabric.kinds = [{"passes": None, "keeps_path": True, "own_as": 0}]
    fabric.sessions = [[start, end, 0] for start, end in fabric.between]
    return fabric
