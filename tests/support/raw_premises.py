"""What the raw files of a build say about forwarding and lossless classes: read and routed without nodrop.

It reads as much of config_db.json, frr.conf and startup.yaml as builds write. A plain path-vector computation follows
the sessions: shortest AS paths, all equal ones, no path with the own AS number, policies of prefix lists alone.
"""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_interface, ip_network
from pathlib import Path
from typing import Any

import yaml

Prefix = IPv4Network | IPv6Network
Hop = tuple[str, str, str]
"""A port, the switch behind its cable, and the port there."""


@dataclass
class Qos:
    """What a port does: traffic class by DSCP, group and queue by class, priorities that pause by group, queues."""

    tc: list[int]
    group: list[int]
    queue: list[int]
    pauses: dict[int, set[int]]
    stops: dict[int, int]


SEEN_WHERE_DRAINED = {"community-list"}
"""What no route matches here: marks of a drained switch. Paths from a neighbor outside begin with its number."""


@dataclass
class Switch:
    """A switch as its files have it."""

    name: str
    asn: int = 0
    router_id: str = ""
    networks: set[Prefix] = field(default_factory=set)
    lists: dict[str, list[tuple[Prefix, int, int]]] = field(default_factory=lambda: defaultdict(list))
    """By prefix list, in order: prefix, least and greatest length; those that permit."""
    maps: dict[str, list[tuple[str | None, bool]]] = field(default_factory=lambda: defaultdict(list))
    """By route map, in order: the prefix list that matches, and whether a community has to match too."""
    sessions: dict[str, dict[int, tuple[str, str]]] = field(default_factory=dict)
    """By port, and by version of IP: the route maps in and out."""
    qos: dict[str, Qos] = field(default_factory=dict)

    def allows(self, name: str, prefix: Prefix) -> bool:
        """Whether a route map permits a prefix that has no community."""
        return any(
            inner.version == prefix.version and prefix.subnet_of(inner) and least <= prefix.prefixlen <= most  # type: ignore[arg-type]
            for listed, needs_community in self.maps[name]
            if listed is not None and not needs_community
            for inner, least, most in self.lists[listed]
        )


class RawBuild:
    """The switches of a build, and the cables between them."""

    def __init__(self, folder: Path) -> None:
        self.switches = {path.name: read_switch(path) for path in sorted(folder.iterdir()) if is_switch(path)}
        self.far: dict[tuple[str, str], tuple[str, str]] = {}
        self.entries: set[str] = set()
        stated = yaml.safe_load((folder / "fabric.yaml").read_text()).get("external", {})
        for name, neighbor in stated.items():
            self.switches[name] = neighbor_outside(name, neighbor)
        with (folder / "plan/cabling.csv").open() as file:
            for row in csv.DictReader(file):
                a, b = (row["a_device"], row["a_port"]), (row["b_device"], row["b_port"])
                self.far[a], self.far[b] = b, a
                self.entries |= {near[0] for near, far in ((a, b), (b, a)) if far[0] not in self.switches}
        self.entries &= self.switches.keys()
        self.entries |= {name for name in stated if self.switches[name].networks}
        blocks = {prefix for name in self.entries for prefix in self.switches[name].networks}
        self.destinations = {prefix for prefix in blocks if prefix.prefixlen < prefix.max_prefixlen}
        self.wide = {prefix for name in stated for prefix in self.switches[name].networks}

    def hops(self, switch: Switch, version: int) -> Iterator[Hop]:
        """Yield the sessions of a switch in a family."""
        for port, families in switch.sessions.items():
            if version in families and self.far[switch.name, port][0] in self.switches:
                yield (port, *self.far[switch.name, port])

    def passes(self, announcer: Switch, listener: Switch, hop: Hop, prefix: Prefix) -> bool:
        """Whether the policies of both ends let a prefix through; `hop` is the listener's."""
        port, _, far_port = hop
        out, into = announcer.sessions[far_port][prefix.version][1], listener.sessions[port][prefix.version][0]
        return announcer.allows(out, prefix) and listener.allows(into, prefix)

    def next_hops(self, prefix: Prefix) -> dict[str, set[Hop]]:
        """Return where each switch sends packets of a prefix; nothing where they end."""
        best: dict[str, tuple[int, ...]] = {
            name: () for name, switch in self.switches.items() if prefix in switch.networks
        }
        result: dict[str, set[Hop]] = {name: set() for name in best}
        changed = True
        while changed:
            changed = False
            for name, switch in self.switches.items():
                if prefix in switch.networks:
                    continue
                ways: dict[Hop, tuple[int, ...]] = {}
                for hop in self.hops(switch, prefix.version):
                    far = self.switches[hop[1]]
                    path = (far.asn, *best[far.name]) if far.name in best else (switch.asn,)
                    if switch.asn not in path and self.passes(far, switch, hop, prefix):
                        ways[hop] = path
                least = min(map(len, ways.values()), default=0)
                equal = {hop: path for hop, path in ways.items() if len(path) == least}
                if equal.keys() != result.get(name, set()):
                    result[name], changed = set(equal), True
                    chosen = min(equal, key=lambda hop: (int(ip_address(self.switches[hop[1]].router_id)), hop))
                    best[name] = equal[chosen]
        return result


def neighbor_outside(name: str, stated: Any) -> Switch:
    """Return a neighbor outside the fabric: it takes all, announces its own, and has no classes."""
    switch = Switch(name, stated["asn"], router_id="255.255.255.255")
    switch.networks = {ip_network(text.split()[0]) for text in stated["announces"]}
    everything = [(ip_network(text), 0, 128) for text in ("0.0.0.0/0", "::/0")]
    switch.lists |= {"all": everything, "own": [(one, one.prefixlen, one.prefixlen) for one in switch.networks]}
    switch.maps |= {"all": [("all", False)], "own": [("own", False)]}
    nothing = Qos([0] * 64, [0] * 8, [0] * 8, {}, {})
    for port, addresses in stated["addresses"].items():
        switch.sessions[port] = {ip_interface(text).version: ("all", "own") for text in addresses}
        switch.qos[port] = nothing
    return switch


def is_switch(folder: Path) -> bool:
    return (folder / "config_db.json").exists() or (folder / "startup.yaml").exists()


def read_switch(folder: Path) -> Switch:
    if (folder / "config_db.json").exists():
        return read_sonic(folder)
    return read_nvue(folder)


# --- SONiC


def read_sonic(folder: Path) -> Switch:
    tables = json.loads((folder / "config_db.json").read_text())
    switch = Switch(folder.name)
    for port, row in tables["PORT_QOS_MAP"].items():

        def numbers(table: str, key: str, count: int, row: Any = row) -> list[int]:
            named = tables.get(table, {}).get(row.get(key), {})
            return [int(named.get(str(index), 0)) for index in range(count)]

        groups = tables.get("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", {}).get(row.get("pfc_to_pg_map"))
        priorities = [int(text) for text in row.get("pfc_enable", "").split(",") if text]
        pauses: dict[int, set[int]] = defaultdict(set)
        for priority in priorities:
            group = priority if groups is None else int(groups[str(priority)])
            pauses[group].add(priority)
        queues = numbers("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue_map", 8)
        switch.qos[port] = Qos(
            numbers("DSCP_TO_TC_MAP", "dscp_to_tc_map", 64),
            numbers("TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map", 8),
            numbers("TC_TO_QUEUE_MAP", "tc_to_queue_map", 8),
            dict(pauses),
            {priority: queues[priority] for priority in priorities},
        )
    addresses = {
        ip_interface(key.partition("|")[2]): key.partition("|")[0] for key in tables["INTERFACE"] if "|" in key
    }
    read_frr((folder / "frr.conf").read_text(), switch, addresses)
    return switch


def read_frr(text: str, switch: Switch, addresses: dict[Any, str]) -> None:
    group_of: dict[str, str] = {}
    active: dict[str, dict[int, list[str]]] = defaultdict(dict)
    version, rule = 4, ("", 0)
    for line in text.splitlines():
        match line.split():
            case ["ip" | "ipv6", "prefix-list", name, "seq", _, "permit", prefix, *bounds]:
                add_to_list(switch, name, prefix, dict(zip(bounds[::2], map(int, bounds[1::2]), strict=True)))
            case ["route-map", name, "permit", _]:
                switch.maps[name].append((None, False))
                rule = (name, len(switch.maps[name]) - 1)
            case ["match", "community", _]:
                name, place = rule
                switch.maps[name][place] = (switch.maps[name][place][0], True)
            case ["match", "ip" | "ipv6", "address", "prefix-list", listed]:
                name, place = rule
                switch.maps[name][place] = (listed, switch.maps[name][place][1])
            case ["router", "bgp", asn]:
                switch.asn = int(asn)
            case ["bgp", "router-id", number]:
                switch.router_id = number
            case ["neighbor", peer, "peer-group", group]:
                group_of[peer] = group
            case ["address-family", family, "unicast"]:
                version = int(family[-1])
            case ["network", prefix]:
                switch.networks.add(ip_network(prefix))
            case ["neighbor", group, "activate"]:
                active[group][version] = ["", ""]
            case ["neighbor", group, "route-map", name, way]:
                active[group][version][way == "out"] = name
    add_sessions(switch, addresses, group_of, active)


def add_to_list(switch: Switch, name: str, prefix: str, bounds: dict[str, int]) -> None:
    network = ip_network(prefix)
    least = bounds.get("ge", network.prefixlen)
    most = bounds.get("le", network.max_prefixlen if "ge" in bounds else network.prefixlen)
    switch.lists[name].append((network, least, most))


def add_sessions(
    switch: Switch, addresses: dict[Any, str], group_of: dict[str, str], active: dict[str, dict[int, list[str]]]
) -> None:
    for peer, group in group_of.items():
        port = peer
        if re.fullmatch("[0-9a-f.:]+", peer):
            port = next(port for own, port in addresses.items() if ip_address(peer) in own.network)
        for version, (into, out) in active[group].items():
            switch.sessions.setdefault(port, {})[version] = (into, out)


# --- NVUE


def read_yaml(text: str) -> Any:
    """Return the mappings of a YAML file in blocks, with texts for all scalars; lists are mappings by number."""
    root: dict[str, Any] = {}
    stack: list[tuple[int, dict[str, Any]]] = [(-1, root)]
    items = 0
    for line in text.splitlines():
        indent, words = len(line) - len(line.lstrip()), line.strip()
        if not words or words.startswith("#"):
            continue
        while stack[-1][0] >= indent:
            stack.pop()
        if words.startswith("- "):
            item: dict[str, Any] = {}
            stack[-1][1][f"-{items}"] = item
            items += 1
            stack.append((indent, item))
            indent, words = indent + 2, words[2:]
        key, _, value = words.rpartition(":") if words.endswith(":") else words.partition(": ")
        made: Any = {} if value in ("", "{}") else value.strip("'\"")
        stack[-1][1][key.strip("'\"")] = made
        if isinstance(made, dict):
            stack.append((indent, made))
    return root


def expand(key: str) -> Iterator[str]:
    """Yield the names of `swp1-3` and `swp1s0-1,swp5`."""
    for part in key.split(","):
        found = re.fullmatch(r"(.*?)(\d+)-(\d+)", part)
        if found is None:
            yield part
        else:
            yield from (f"{found[1]}{number}" for number in range(int(found[2]), int(found[3]) + 1))


def read_nvue(folder: Path) -> Switch:
    parts = read_yaml((folder / "startup.yaml").read_text())
    tree = next(part["set"] for part in parts.values() if "set" in part)
    switch, addresses = Switch(folder.name), dict[Any, str]()
    for key, row in tree["interface"].items():
        for port in expand(key):
            for family in ("ip", "ipv4", "ipv6"):  # `ip` of both families up to 5.14
                for address in row.get(family, {}).get("address", {}):
                    addresses[ip_interface(address)] = port
            if port.startswith("swp"):
                has_pfc = row.get("qos", {}).get("pfc", {}).get("profile") != "pfc-off"
                switch.qos[port] = nvue_qos(tree["qos"], has_pfc=has_pfc)
    bgp = tree["router"]["bgp"]
    switch.asn, switch.router_id = int(bgp["autonomous-system"]), bgp["router-id"]
    policy = tree["router"]["policy"]
    for name, listed in policy["prefix-list"].items():
        for rule in listed["rule"].values():
            for prefix, bounds in rule["match"].items() if rule["action"] == "permit" else ():
                words = {"min-prefix-len": "ge", "max-prefix-len": "le"}
                add_to_list(switch, name, prefix, {words[key]: int(value) for key, value in bounds.items()})
    for name, listed in policy["route-map"].items():
        for rule in listed["rule"].values():
            match = rule.get("match", {})
            switch.maps[name].append((match.get("ip-prefix-list"), not match.keys().isdisjoint(SEEN_WHERE_DRAINED)))
    routing = tree["vrf"]["default"]["router"]["bgp"]
    for family in routing["address-family"].values():
        switch.networks |= {ip_network(prefix) for prefix in family.get("network", {})}
    active = {
        group: {
            int(family[3]): [facts["policy"][way]["route-map"] for way in ("inbound", "outbound")]
            for family, facts in row.get("address-family", {}).items()
            if facts.get("state") == "enabled" or facts.get("enable") == "on"
        }
        for group, row in routing["peer-group"].items()
    }
    group_of = {peer: row["peer-group"] for peer, row in routing["neighbor"].items()}
    add_sessions(switch, addresses, group_of, active)
    return switch


def nvue_qos(tree: dict[str, Any], *, has_pfc: bool) -> Qos:
    """Return the classes of a port.

    `qos roce` maps DSCPs by eights to switch priorities, has switch priority 3 in traffic class 3 with PFC, 6 in 6, and
    all others in 0 (Cumulus Linux user guide, RDMA over Converged Ethernet).
    """
    tc = [dscp // 8 for dscp in range(64)]
    for key, row in tree["mapping"]["default-global"]["dscp"].items():
        for number in expand(key):
            tc[int(number)] = int(row["switch-priority"])
    queue = [0, 0, 0, 3, 0, 0, 6, 0]
    for priority, row in (
        tree.get("egress-queue-mapping", {}).get("default-global", {}).get("switch-priority", {}).items()
    ):
        queue[int(priority)] = int(row["traffic-class"])
    lossless = {3} if has_pfc and tree.get("roce", {}).get("mode") == "lossless" else set()
    group = [priority if priority in lossless else 0 for priority in range(8)]
    return Qos(tc, group, queue, {one: {one} for one in lossless}, {one: queue[one] for one in lossless})
