"""Random small fabrics with random BGP, sensible or not: what the control plane is tried with."""

from random import Random
from typing import Any, Literal

from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Loopback, Port
from nodrop.model.routing import (
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PolicyAction,
    PrefixList,
    PrefixRule,
    Redistribution,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)

Family = Literal["ipv4", "ipv6"]
COMMUNITIES = (
    CommunityList(name="C1", rules=(("permit", ("65000:1",)),)),
    CommunityList(name="C2", rules=(("deny", ("65000:1", "65000:2")), ("permit", ("65000:2",)))),
)
SHARED = 65000
"""The AS number that several routers may have."""


class _Maker:
    """Draws a fabric of three to six routers, out of one source of chance."""

    def __init__(self, chance: Random, *, preferences: bool) -> None:
        self.chance, self.preferences = chance, preferences
        count = chance.randint(3, 6)
        self.names = [f"r{number}" for number in range(count)]
        shares = chance.random() < 0.5
        self.asn = {
            name: SHARED if shares and chance.random() < 0.4 else 65001 + number
            for number, name in enumerate(self.names)
        }
        self.families: tuple[Family, ...] = chance.choice([("ipv4",), ("ipv4",), ("ipv6",), ("ipv4", "ipv6")])
        self.ports: dict[str, list[Interface]] = {name: [] for name in self.names}
        self.neighbors: dict[str, list[BgpNeighbor]] = {name: [] for name in self.names}
        self.links: list[Link] = []
        self.joined: list[set[str]] = []
        self.ways: dict[str, list[str]] = {name: [] for name in self.names}

    def fabric(self) -> Fabric:
        """Return the fabric."""
        chance, names = self.chance, self.names
        tree = [(names[number], names[chance.randrange(number)]) for number in range(1, len(names))]
        more = [tuple(chance.sample(names, 2)) for _ in range(chance.randint(1, len(names) + 2))]
        for number, (one, other) in enumerate([*tree, *more]):
            self._join(number, one, other)
        relax = chance.random() < 0.7
        devices = tuple(self._device(number, name, relax=relax) for number, name in enumerate(names))
        links = tuple(sorted(self.links, key=lambda link: (link.a, link.b)))
        return Fabric(name="random", mode="lossless", devices=devices, links=links)

    def _join(self, number: int, one: str, other: str) -> None:
        """Cable two routers, mostly with a session over the cable."""
        chance = self.chance
        kinds = {"ipv4": ["ipv4", "ipv4", "none"], "ipv6": ["ipv6", "none"]}
        apart = {one, other} not in self.joined  # of two link-local addresses nobody knows which is lower
        kind = chance.choice([way for family in self.families for way in kinds[family] if apart or way != "none"])
        self.joined.append({one, other})
        pair = {
            "ipv4": ((f"10.1.{number}.0/31",), (f"10.1.{number}.1/31",)),
            "ipv6": ((f"fd01:{number}::/127",), (f"fd01:{number}::1/127",)),
            "none": ((), ()),
        }[kind]
        ends = [End(name, f"e{len(self.ports[name])}") for name in (one, other)]
        for place, end in enumerate(ends):
            self.ports[end.node].append(
                Interface(
                    name=end.port,
                    port=Port(len(self.ports[end.node]) + 1),
                    enabled=place == 1 or chance.random() > 0.08,
                    addresses=pair[place],
                    link_local=kind == "none",
                )
            )
        self.links.append(Link(a=min(ends), b=max(ends)))
        for place, end in enumerate(ends):
            far, own = pair[1 - place], pair[place]
            self.ways[end.node] += [far[0].partition("/")[0], end.port] if kind == "ipv4" else [end.port]
            same = self.asn[ends[0].node] == self.asn[ends[1].node]
            asn: Any = chance.choice([self.asn[ends[1 - place].node], "internal" if same else "external"])
            if chance.random() < 0.96:
                self.neighbors[end.node].append(
                    BgpNeighbor(
                        address=far[0].partition("/")[0] if far else None,
                        interface=None if far else end.port,
                        remote_asn=asn if chance.random() < 0.96 else 64999,
                        enabled=chance.random() < 0.96,
                        **self._transport(own),
                        **self._ipv4(kind),
                        ipv6=self._ipv6(kind),
                    )
                )

    def _transport(self, own: tuple[str, ...]) -> dict[str, Any]:
        """Choose what changes nothing between the two ends of a cable, and is only said of addresses."""
        chance, said = self.chance, {}
        if own and chance.random() < 0.15:
            said["update_source"] = own[0].partition("/")[0]
        if own and chance.random() < 0.15:
            said["ebgp_multihop"] = chance.randint(1, 5)
        return said

    def _ipv4(self, kind: str) -> dict[str, Any]:
        """IPv4 over addresses of IPv6 needs next hops of IPv6, and both ends to know them."""
        if kind != "ipv6":
            return {"active": True, **self._policies("ipv4")}
        if "ipv4" not in self.families or self.chance.random() < 0.3:
            return {"active": False}
        return {"active": True, "extended_next_hop": self.chance.random() < 0.8, **self._policies("ipv4")}

    def _ipv6(self, kind: str) -> Ipv6Unicast:
        if kind == "ipv4" or "ipv6" not in self.families:
            return Ipv6Unicast()
        return Ipv6Unicast(active=True, **self._policies("ipv6"))

    def _policies(self, family: Family) -> dict[str, Any]:
        """Choose the policies of a session among those that every router has; `GONE` is not there."""
        chance, mark = self.chance, family[-1]
        said: dict[str, Any] = {
            "import_policy": chance.choice([None, None, f"I{mark}a", f"I{mark}b"]),
            "export_policy": chance.choice([None, None, f"O{mark}a", f"O{mark}b"]),
            "allowas_in": chance.choice([None, None, None, None, None, 1, 2]),
            "next_hop_self": chance.random() < 0.1,
        }
        if chance.random() < 0.05:
            said["import_policy"] = "GONE"
        for way in ("import", "export"):
            if chance.random() < 0.15:
                said[f"{way}_prefix_list"] = chance.choice([f"P{mark}a", f"P{mark}b"])
        return said

    def _device(self, number: int, name: str, *, relax: bool) -> Device:
        chance = self.chance
        loopback = [*([f"10.9.{number}.1/32"] if "ipv4" in self.families else []), f"fd09::{number}/128"]
        if "ipv6" not in self.families:
            loopback.pop()
        blocks = [f"10.8.{number}.0/24", *([f"10.7.{chance.randint(0, 3)}.0/24"] if chance.random() < 0.5 else [])]
        if "ipv6" in self.families:
            blocks.append(f"fd08:{number}::/64")
        absent = [f"10.6.{number}.0/24"] if chance.random() < 0.3 else []
        redistributions = tuple(self._redistributions())
        routes = [StaticRoute(prefix=block, next_hop="blackhole") for block in sorted(blocks)]
        if "ipv4" in self.families and self.ways[name] and chance.random() < 0.5:
            over = f"10.5.{number}.0/24"
            # A neighbor refuses what is redistributed with its own address as the next hop: this is not computed.
            told = any(one.source == "static" for one in redistributions)
            known = [way for way in self.ways[name] if "." not in way] if told else self.ways[name]
            ways = chance.sample(known, min(len(known), chance.randint(1, 2)))
            routes += [StaticRoute(prefix=over, next_hop=way) for way in sorted(ways)]
            blocks += [over] if chance.random() < 0.6 else []
        return Device(
            name=name,
            platform="sonic",
            interfaces=tuple(self.ports[name]),
            loopbacks=(Loopback(name="Loopback0", addresses=tuple(loopback)),),
            static_routes=tuple(sorted(routes, key=lambda one: (one.prefix, one.next_hop))),
            bgp=Bgp(
                asn=self.asn[name],
                router_id=f"10.9.{number}.1",
                networks=tuple(sorted([*loopback, *blocks, *absent], key=lambda one: (":" in one, one))),
                maximum_paths=chance.choice([64, 64, 64, 1]),
                maximum_paths_ipv6=64 if "ipv6" in self.families else None,
                multipath_relax=relax,
                compare_router_id=True,
                always_compare_med=chance.random() < 0.3,
                requires_policy=chance.random() < 0.1,
                import_check=chance.random() < 0.8,
                graceful_shutdown=self.preferences and chance.random() < 0.1,
                default_ipv4_unicast=False,
                redistributions=redistributions,
                prefix_lists=tuple(self._prefix_list(f"P{one[-1]}{mark}", one) for one in FAMILIES for mark in "ab"),
                community_lists=COMMUNITIES,
                as_path_lists=(
                    AsPathList(name="A1", rules=(("permit", f"_{self._some_asn()}_"),)),
                    AsPathList(name="A2", rules=(("deny", f"^{self._some_asn()}_"), ("permit", ".*"))),
                ),
                route_maps=tuple(
                    self._route_map(f"{way}{one[-1]}{mark}", one, name)
                    for way in "IO"
                    for one in FAMILIES
                    for mark in "ab"
                ),
                neighbors=tuple(self.neighbors[name]),
            ),
        )

    def _some_asn(self) -> int:
        return self.chance.choice(list(self.asn.values()))

    def _redistributions(self) -> list[Redistribution]:
        chance = self.chance
        found = []
        for family in self.families:
            mark = family[-1]
            if chance.random() < 0.3:
                policy = chance.choice([None, f"I{mark}a"])
                found.append(Redistribution(source="connected", family=family, policy=policy))
            if chance.random() < 0.25:
                policy = chance.choice([None, f"O{mark}a", "GONE"])
                found.append(Redistribution(source="static", family=family, policy=policy))
        return found

    def _prefix_list(self, name: str, family: Family) -> PrefixList:
        chance, rules = self.chance, []
        for number in range(1, chance.randint(2, 4)):
            some = chance.randrange(len(self.names))
            ge = le = None
            if family == "ipv4":
                wide = chance.choice(["10.9.0.0/16", "10.8.0.0/16", "10.0.0.0/8", "0.0.0.0/0", ""])
                prefix = wide or chance.choice([f"10.8.{some}.0/24", f"10.9.{some}.1/32"])
                if wide:
                    ge, le = chance.choice([(None, 24), (None, 32), (24, None), (20, 24), (24, 32), (None, None)])
            else:
                prefix = chance.choice(["fd09::/16", "fd08::/16", f"fd08:{some}::/64"])
                le = 128 if prefix.endswith("/16") else None
            action: PolicyAction = chance.choice(["permit", "permit", "deny"])
            rules.append(PrefixRule(sequence=5 * number, action=action, prefix=prefix, ge=ge, le=le))
        if chance.random() < 0.6:
            every = ("0.0.0.0/0", 32) if family == "ipv4" else ("::/0", 128)
            rules.append(PrefixRule(sequence=100, action="permit", prefix=every[0], le=every[1]))
        return PrefixList(name=name, family=family, rules=tuple(rules))

    def _route_map(self, name: str, family: Family, of: str) -> RouteMap:
        chance, rules = self.chance, []
        for number in range(1, chance.randint(2, 4)):
            action: PolicyAction = chance.choice(["permit", "permit", "permit", "permit", "deny"])
            matches = []
            if chance.random() < 0.5:
                word = "ip address prefix-list" if family == "ipv4" else "ipv6 address prefix-list"
                matches.append((word, chance.choice([f"P{family[-1]}a", f"P{family[-1]}b"])))
            if chance.random() < 0.25:
                matches.append(("community", chance.choice(["C1", "C2", "C2 exact-match", "GONE"])))
            if chance.random() < 0.25:
                matches.append(("as-path", chance.choice(["A1", "A2"])))
            sets = self._sets(name, of) if action == "permit" else ()
            rules.append(RouteMapRule(sequence=10 * number, action=action, matches=tuple(matches), sets=sets))
        if chance.random() < 0.7:
            rules.append(RouteMapRule(sequence=100, action="permit"))
        return RouteMap(name=name, rules=tuple(rules))

    def _sets(self, name: str, of: str) -> tuple[tuple[str, str], ...]:
        chance, found = self.chance, []
        if self.preferences and name[0] == "I" and chance.random() < 0.3:
            found.append(chance.choice([("local-preference", "50"), ("local-preference", "200"), ("weight", "7")]))
        if chance.random() < 0.3:
            given = ["65000:1", "65000:2 additive", "65000:1 65000:2", "no-export", "no-advertise additive", "none"]
            found.append(("community", chance.choice(given)))
        if chance.random() < 0.2:
            often = chance.randint(1, 2)
            own = " ".join([str(self.asn[of])] * often)
            found.append(("as-path prepend", chance.choice([own, own, f"last-as {often}"])))
        if chance.random() < 0.2:
            found.append(("metric", chance.choice(["5", "10", "+5", "-3"])))
        if chance.random() < 0.1:
            found.append(("origin", chance.choice(["egp", "incomplete"])))
        return tuple(found)


FAMILIES: tuple[Family, ...] = ("ipv4", "ipv6")


def routed(chance: Random, *, preferences: bool = True) -> Fabric:
    """Return a fabric out of a source of chance, of the standard library or of hypothesis.

    Without `preferences` no router prefers a longer path, and there is one outcome: with them there may be several, or
    none (RFC 4264).
    """
    return _Maker(chance, preferences=preferences).fabric()
