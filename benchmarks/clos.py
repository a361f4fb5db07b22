"""Clos fabrics of the model, of any size, with the BGP that nodrop designs: what routing is measured and tried with."""

from collections import defaultdict
from collections.abc import Mapping

from nodrop.model.fabric import Device, End, Fabric, Host, HostPort, Interface, Link, Loopback, Port
from nodrop.model.routing import (
    Bgp,
    BgpNeighbor,
    CommunityList,
    PrefixList,
    PrefixRule,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.values import replace_fields

LEAVES, PODS, TOP = 4200100000, 4200000001, 4200000000
"""The AS numbers of the first leaf and of the spines of the first pod, and that of the tier above."""
_MATCH = "ip address prefix-list"
_LISTED = PrefixList(
    name="FABRIC",
    family="ipv4",
    rules=(
        PrefixRule(sequence=10, action="permit", prefix="10.0.0.0/9", ge=32),
        PrefixRule(sequence=20, action="permit", prefix="10.128.0.0/9", ge=24, le=24),
    ),
)
_DRAINED = (CommunityList(name="GSHUT", rules=(("permit", ("graceful-shutdown",)),)),)
_IN = RouteMap(
    name="IN",
    rules=(
        RouteMapRule(
            sequence=10,
            action="permit",
            matches=(("community", "GSHUT"), (_MATCH, "FABRIC")),
            sets=(("local-preference", "0"),),
        ),
        RouteMapRule(sequence=20, action="permit", matches=((_MATCH, "FABRIC"),)),
    ),
)


def _out(listed: str) -> RouteMap:
    return RouteMap(name="OUT", rules=(RouteMapRule(sequence=10, action="permit", matches=((_MATCH, listed),)),))


_OUT = {"leaf": _out("OWN"), "spine": _out("FABRIC"), "superspine": _out("FABRIC")}


class _Cables:
    """Ports and sessions as cables are laid."""

    def __init__(self, asns: Mapping[str, int]) -> None:
        self._asns = asns
        self.ports: defaultdict[str, list[Interface]] = defaultdict(list)
        self.neighbors: defaultdict[str, list[BgpNeighbor]] = defaultdict(list)
        self.links: list[Link] = []

    def join(self, one: str, other: str, count: int = 1) -> None:
        for _ in range(count):
            ends = [End(name, f"e{len(self.ports[name])}") for name in (one, other)]
            for end, far in zip(ends, reversed(ends), strict=True):
                port = Port(len(self.ports[end.node]) + 1)
                self.ports[end.node].append(
                    Interface(name=end.port, port=port, side="fabric", speed_mbps=400_000, mtu_bytes=9216)
                )
                self.neighbors[end.node].append(
                    BgpNeighbor(
                        interface=end.port,
                        remote_asn=self._asns[far.node],
                        import_policy="IN",
                        export_policy="OUT",
                    )
                )
            self.links.append(Link(a=min(ends), b=max(ends), length_m=30))


def _fabric(asns: Mapping[str, int], roles: Mapping[str, str], cables: _Cables, *, filtered: bool) -> Fabric:
    devices = []
    for number, name in enumerate(sorted(asns), 1):
        loopback = f"10.{number >> 16 & 127}.{number >> 8 & 255}.{number & 255}/32"
        own = [loopback]
        if roles[name] == "leaf":
            own.append(f"10.{128 + (number - 1 >> 8 & 127)}.{number - 1 & 255}.0/24")
        listed = tuple(PrefixRule(sequence=10 * n, action="permit", prefix=one) for n, one in enumerate(own, 1))
        lists = (_LISTED, PrefixList(name="OWN", family="ipv4", rules=listed)) if len(own) > 1 else (_LISTED,)
        devices.append(
            Device(
                name=name,
                platform="sonic",
                role=roles[name],
                interfaces=tuple(cables.ports[name]),
                loopbacks=(Loopback(name="Loopback0", addresses=(loopback,)),),
                static_routes=tuple(StaticRoute(prefix=block, next_hop="blackhole") for block in own[1:]),
                bgp=Bgp(
                    asn=asns[name],
                    router_id=loopback[:-3],
                    networks=tuple(own),
                    maximum_paths=64,
                    multipath_relax=True,
                    default_ipv4_unicast=False,
                    prefix_lists=lists,
                    community_lists=_DRAINED,
                    route_maps=(_IN, _OUT[roles[name]] if filtered else _OUT["spine"]),
                    neighbors=tuple(cables.neighbors[name]),
                ),
            )
        )
    links = tuple(sorted(cables.links, key=lambda link: (link.a, link.b)))
    return Fabric(name="clos", mode="lossless", devices=tuple(devices), links=links)


def two_tier(leaves: int, spines: int, *, parallel: int = 1, shared: bool = True, filtered: bool = True) -> Fabric:
    """Leaves l1, l2 … and spines s1, s2 …, which have one AS number or, not `shared`, one each.

    Without `filtered` a leaf tells what it has heard from others too.
    """
    asns = {f"l{n}": LEAVES + n for n in range(1, leaves + 1)}
    asns |= {f"s{n}": TOP if shared else TOP + n for n in range(1, spines + 1)}
    cables = _Cables(asns)
    for leaf in range(1, leaves + 1):
        for spine in range(1, spines + 1):
            cables.join(f"l{leaf}", f"s{spine}", parallel)
    roles = {name: "leaf" if name[0] == "l" else "spine" for name in asns}
    return _fabric(asns, roles, cables, filtered=filtered)


def three_tier(pods: int, leaves: int, spines: int, superspines: int, *, shared: bool = True) -> Fabric:
    """Pods of `leaves` and `spines`, and `superspines` for every spine of a pod, which is joined to these alone.

    Superspines have one AS number or, not `shared`, one each.
    """
    wide = len(str(pods - 1)), len(str(leaves - 1)), len(str(spines - 1)), len(str(superspines - 1))
    asns: dict[str, int] = {}
    roles: dict[str, str] = {}
    pairs = []
    for pod in range(pods):
        lows = [f"p{pod:0{wide[0]}}-leaf{n:0{wide[1]}}" for n in range(leaves)]
        highs = [f"p{pod:0{wide[0]}}-spine{n:0{wide[2]}}" for n in range(spines)]
        asns |= {name: LEAVES + pod * leaves + n for n, name in enumerate(lows)}
        asns |= dict.fromkeys(highs, PODS + pod)
        roles |= dict.fromkeys(lows, "leaf") | dict.fromkeys(highs, "spine")
        pairs += [(low, high) for high in highs for low in lows]
        for n, high in enumerate(highs):
            tops = [f"super{n:0{wide[2]}}-{m:0{wide[3]}}" for m in range(superspines)]
            asns |= {name: TOP if shared else TOP - 1 - n * superspines - m for m, name in enumerate(tops)}
            roles |= dict.fromkeys(tops, "superspine")
            pairs += [(high, top) for top in tops]
    cables = _Cables(asns)
    for one, other in pairs:
        cables.join(one, other)
    return _fabric(asns, roles, cables, filtered=True)


def sized(switches: int, *, shared: bool = True) -> Fabric:
    """About so many switches, from 200 on: pods of up to 128 leaves and 16 spines, below 128 more."""
    pods = max(2, round((switches - 128) / 144))
    return three_tier(
        pods=pods, leaves=min(128, (switches - 128) // pods - 16), spines=16, superspines=8, shared=shared
    )


def with_hosts(fabric: Fabric, ports: int, *, rails: int = 8) -> Fabric:
    """A fabric with so many ports to hosts on each leaf; a host has a port and a GPU for each of `rails` leaves."""
    leaves = [device for device in fabric.devices if device.role == "leaf"]
    links, hosts, changed = list(fabric.links), [], {}
    for first in range(0, len(leaves), rails):
        near = leaves[first : first + rails]
        nics = tuple(HostPort(name=f"nic{rail}", speed_mbps=400_000, lanes=4) for rail in range(len(near)))
        names = [f"host-{first}-{number}" for number in range(ports)]
        hosts += [Host(name=name, group="gpus", gpus=len(near), nic="", ports=nics) for name in names]
        for leaf, nic in zip(near, nics, strict=True):
            assert isinstance(leaf.bgp, Bgp)
            block = leaf.bgp.networks[1].rpartition(".")[0]
            added = tuple(
                Interface(
                    name=f"h{number}",
                    port=Port(len(leaf.interfaces) + number + 1),
                    side="host",
                    speed_mbps=400_000,
                    mtu_bytes=9216,
                    addresses=(f"{block}.{2 * number}/31",),
                )
                for number in range(ports)
            )
            changed[leaf.name] = replace_fields(leaf, interfaces=(*leaf.interfaces, *added))
            for port, name in zip(added, names, strict=True):
                ends = sorted((End(leaf.name, port.name), End(name, nic.name)))
                links.append(Link(a=ends[0], b=ends[1], length_m=3))
    return replace_fields(
        fabric,
        devices=tuple(changed.get(device.name, device) for device in fabric.devices),
        links=tuple(sorted(links, key=lambda link: (link.a, link.b))),
        hosts=tuple(hosts),
    )
