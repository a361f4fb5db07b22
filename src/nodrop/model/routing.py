"""The control plane of a device: BGP, its policies, static routes."""

from collections.abc import Mapping
from typing import Literal, get_args

from nodrop.model.addresses import AddressFamily
from nodrop.model.states import Unknown
from nodrop.model.values import model_dataclass

PolicyAction = Literal["permit", "deny"]
TITLE_BY_ADDRESS_FAMILY: Mapping[AddressFamily, str] = {"ipv4": "IPv4", "ipv6": "IPv6"}
RouteSource = Literal["connected", "static", "kernel"]
PrivateAsnRemoval = Literal["remove", "remove-all", "replace", "replace-all"]
LocalAsnMode = Literal["prepend", "no-prepend", "replace-as"]
ROUTE_SOURCE_BY_NAME: Mapping[str, RouteSource] = {
    route_source: route_source for route_source in sorted(get_args(RouteSource))
}
"""The sources of routes that BGP can originate by redistribution, by name; every platform has the same names."""


@model_dataclass
class PrefixRule:
    """One line of a prefix list; `ge` and `le` bound the length of the prefixes that it matches."""

    sequence: int
    action: PolicyAction
    prefix: str
    ge: int | None = None
    le: int | None = None


@model_dataclass
class PrefixList:
    """A named list of prefixes, of one address family."""

    name: str
    family: AddressFamily
    rules: tuple[PrefixRule, ...]


@model_dataclass
class CommunityList:
    """A named community list: (action, communities) per line, or if `expanded` (action, one regular expression)."""

    name: str
    rules: tuple[tuple[PolicyAction, tuple[str, ...]], ...]
    expanded: bool = False


@model_dataclass
class AsPathList:
    """A named list of AS paths: (action, FRR's regular expression as written) per line."""

    name: str
    rules: tuple[tuple[PolicyAction, str], ...]


@model_dataclass
class RouteMapRule:
    """One entry of a route map: all of `matches` must hold, then `sets` apply.

    Both are tuples of (attribute, value), written as in FRR: `("ip address prefix-list", "FABRIC")`,
    `("local-preference", "0")`. `sets` also has the next entry or map of the route: `("call", "OTHER")` through another
    map, which has to let it pass too, and `("on-match", "next")` or `("on-match", "goto 30")` to a later entry.
    """

    sequence: int
    action: PolicyAction
    matches: tuple[tuple[str, str], ...] = ()
    sets: tuple[tuple[str, str], ...] = ()


@model_dataclass
class RouteMap:
    """A named policy: the first rule that matches decides; a route that none matches is denied."""

    name: str
    rules: tuple[RouteMapRule, ...]


@model_dataclass
class StaticRoute:
    """A static route; `next_hop` is an address, an interface or `blackhole`."""

    prefix: str
    next_hop: str
    vrf: str | None = None
    distance: int = 1
    """Of several routes to a prefix the least distance wins; one of 255 is never used."""


def format_next_hop(route: StaticRoute) -> str:
    """Return a next hop as a command of FRR names it: with distance and VRF, unless these are the defaults."""
    distance = "" if route.distance == 1 else f" {route.distance}"
    return f"{route.next_hop}{distance}{f' vrf {route.vrf}' if route.vrf else ''}"


@model_dataclass
class Redistribution:
    """Routes of another source that BGP originates, in one address family; those that `policy` lets pass."""

    source: RouteSource
    family: AddressFamily = "ipv4"
    policy: str | None = None

    @property
    def key(self) -> str:
        """The row's name in a subject: family and source."""
        return f"{self.family}-{self.source}"


@model_dataclass
class Aggregate:
    """A prefix that BGP originates while it has a longer one inside it, and drops packets to the rest of."""

    prefix: str
    summary_only: bool = False
    """Whether the longer prefixes are not announced."""
    as_set: bool = False
    """Whether the AS numbers of their paths are announced with it."""


@model_dataclass
class Ipv6Unicast:
    """The IPv6 unicast settings of a BGP session; policies as those of BgpNeighbor, which are for IPv4 unicast."""

    active: bool = False
    """Whether the session carries IPv6 unicast."""
    import_policy: str | None = None
    export_policy: str | None = None
    import_prefix_list: str | None = None
    export_prefix_list: str | None = None
    allowas_in: int | None = None
    next_hop_self: bool = False
    next_hop_forced: bool = False
    reflector_client: bool = False
    weight: int | None = None
    import_path_list: str | None = None
    export_path_list: str | None = None
    private_asns: PrivateAsnRemoval | None = None
    as_override: bool = False
    default_originate: bool = False
    default_policy: str | None = None
    maximum_prefix: int | None = None


@model_dataclass
class BgpNeighbor:
    """A BGP session: to an `address`, or over an `interface` (unnumbered); exactly one of the two is set.

    `import_policy` and `export_policy` name route maps of IPv4 unicast, `import_prefix_list` and `export_prefix_list`
    its prefix lists, which a route has to pass too; None means no policy.
    """

    address: str | None = None
    interface: str | None = None
    remote_asn: int | Literal["external", "internal"] | None = None
    description: str | None = None
    enabled: bool = True
    active: bool = True
    """Whether the session carries IPv4 unicast."""
    import_policy: str | None = None
    export_policy: str | None = None
    import_prefix_list: str | None = None
    export_prefix_list: str | None = None
    bfd: bool = False
    hold_s: int | None = None
    """After how many seconds of silence this end gives it up, where that is stated for it, its group or its process; 0
    is never, None the daemon's own choice (FRR: 9 with the defaults `datacenter`, 180 with `traditional`)."""
    allowas_in: int | None = None
    next_hop_self: bool = False
    """Whether routes of IPv4 unicast are passed on with the session's own address as their next hop."""
    next_hop_forced: bool = False
    """Whether those are too that a route reflector passes on within its AS; only with `next_hop_self`."""
    reflector_client: bool = False
    """Whether the other end is a client of this one, a route reflector (RFC 4456); only inside an AS."""
    weight: int | None = None
    """The weight of received routes, unless the route map sets another; None is 0. The largest wins before all else."""
    import_path_list: str | None = None
    export_path_list: str | None = None
    """AS path lists that a route of IPv4 unicast has to pass too."""
    private_asns: PrivateAsnRemoval | None = None
    """Whether private AS numbers are removed from announced paths, or replaced by the own one; without `-all` only if
    all numbers of the path are private."""
    as_override: bool = False
    """Whether the neighbor's AS number in announced paths is replaced by the own one."""
    default_originate: bool = False
    """Whether a default route is announced to the neighbor, with or without one in the routing table."""
    default_policy: str | None = None
    """The route map of the default route, which is announced while the map permits any route of BGP."""
    maximum_prefix: int | None = None
    """The session goes down when more prefixes than this are accepted; None is never."""
    local_asn: int | None = None
    """The AS number that this end shows to a neighbor of another AS instead of that of its process."""
    local_asn_mode: LocalAsnMode = "prepend"
    """Whether received paths begin with that number, too; with `replace-as` neither do they, nor is the number of the
    process in announced ones."""
    local_asn_of_group: bool = False
    """Whether a peer group states a local AS number that bgpd refuses at the session itself: the order of lines decides
    whether it takes it."""
    passive: bool = False
    """Whether this end only waits for the other to open the session."""
    ttl_security_hops: int | None = None
    """From how many hops away this end accepts packets (GTSM, RFC 5082); None is without that check."""
    connected_check: bool = True
    """Whether a session to another AS without `ebgp_multihop` needs a subnet that both ends are in."""
    password: str | None = None
    """Sixteen bits of a digest of the password (TCP MD5, RFC 2385): they compare two, and do not give one away."""
    evpn: bool = False
    """Whether the session carries EVPN routes, which are not computed."""
    update_source: str | None = None
    """The address or the interface from which the session is opened; None is that of the route to the other end."""
    ebgp_multihop: int | None = None
    """The most hops to a neighbor in another AS; None is one, the far end of a link."""
    ipv6: Ipv6Unicast = Ipv6Unicast()
    extended_next_hop: bool = False
    """Whether IPv4 prefixes may have IPv6 next hops (RFC 8950) on a session to an address; one over an interface
    always has it."""

    @property
    def key(self) -> str:
        """The neighbor's name in a subject: its address, else its interface."""
        return self.address or self.interface or ""

    def has_refused_local_asn(self, own_asn: int) -> bool:
        """Return whether bgpd refuses the local AS number at a session of a process with this number.

        It refuses one for a neighbor in the own AS, the own number, and the neighbor's (FRR, bgpd/bgpd.c,
        peer_local_as_set).
        """
        asked = self.remote_asn
        return self.local_asn is not None and (
            self.local_asn in (own_asn, asked) or asked in ("internal", own_asn, None)
        )


@model_dataclass
class Bgp:
    """The BGP process of a VRF. `networks` are the prefixes that it originates, those of IPv4 first.

    `redistributions` are sorted by family and source. Lists and maps are the device's: every process has all of them.
    """

    asn: int
    vrf: str | None = None
    """None is the default VRF."""
    router_id: str | None = None
    networks: tuple[str, ...] = ()
    redistributions: tuple[Redistribution, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    """Those of IPv4 first."""
    maximum_paths: int | None = None
    """Equal paths of IPv4 unicast."""
    maximum_paths_ipv6: int | None = None
    maximum_paths_internal: int | None = None
    """Equal paths of IPv4 unicast that routers of the own AS announce; None is the daemon's own choice."""
    maximum_paths_internal_ipv6: int | None = None
    cluster_id: str | None = None
    """The cluster of a route reflector, as an IPv4 address; None is the router id."""
    distances: tuple[int, int, int] | None = None
    """Administrative distances of IPv4 routes from other ASes, of those from the own AS, and of aggregates; None is the
    daemon's own choice (FRR: 20, 200, 200). A route with 255 is not installed."""
    distances_ipv6: tuple[int, int, int] | None = None
    installed_policy: str | None = None
    """The route map that IPv4 routes of BGP have to pass to be installed in the routing table."""
    installed_policy_ipv6: str | None = None
    default_preference: int | None = None
    """LOCAL_PREF of routes to which no other is given; None is the daemon's own choice (FRR: 100)."""
    maximum_med: int | None = None
    """The MED with which every route is announced; None keeps the MED of the route."""
    multipath_relax: bool = False
    compare_router_id: bool = False
    """Whether the lower router id, and not the older route, decides between routes that are equal otherwise."""
    always_compare_med: bool = False
    """Whether MEDs of routes from different neighboring ASes are compared."""
    requires_policy: bool | Unknown = False
    """Whether a session to another AS without policies passes nothing (RFC 8212)."""
    import_check: bool | Unknown = True
    """Whether a prefix of `networks` is originated only while the routing table has it."""
    session_dscp: int | None = None
    """DSCP of BGP's own packets; None is the daemon's own choice, CS6 (48) in FRR."""
    default_ipv4_unicast: bool | Unknown = True
    suppress_fib_pending: bool | Unknown = False
    """Whether a route is announced only once the forwarding hardware has it."""
    graceful_restart: bool = False
    """Whether the neighbors keep its routes while its BGP restarts (RFC 4724). Without it a device still keeps those of
    neighbors that restart."""
    preserve_forwarding: bool | Unknown = False
    """Whether it tells them that its hardware forwards meanwhile (the F bit)."""
    restart_s: int | None = None
    """How long they wait for its BGP to come back; None is the daemon's own choice (FRR: 120)."""
    select_defer_s: int | None = None
    """How long it waits after a restart for all neighbors' routes before it chooses; None is the daemon's own choice
    (FRR: 120)."""
    graceful_shutdown: bool = False
    """Whether the device marks all it sends with GRACEFUL_SHUTDOWN, so that others route around it (RFC 8326)."""
    prefix_lists: tuple[PrefixList, ...] = ()
    community_lists: tuple[CommunityList, ...] = ()
    as_path_lists: tuple[AsPathList, ...] = ()
    route_maps: tuple[RouteMap, ...] = ()
    neighbors: tuple[BgpNeighbor, ...] | Unknown = ()

    @property
    def key(self) -> str:
        """The process's name in a subject: its VRF."""
        return self.vrf or "default"
