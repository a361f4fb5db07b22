"""Policies of sessions on routes that they hear and announce: route maps and lists by value, before compilation."""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop.model.addresses import AddressFamily
from nodrop.model.policy_values import PREFIX_LIST_MATCH_BY_FAMILY
from nodrop.model.routing import (
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PrivateAsnRemoval,
    RouteMapRule,
)
from nodrop.model.values import replace_fields
from nodrop.routing.destinations import PrefixListRules
from nodrop.routing.next_hop_policy import PEER_ADDRESS_NEXT_HOP, UNCHANGED_HOP_CLAUSE, find_set_next_hops
from nodrop.routing.prefixes import Address, Prefix, parse_address, parse_prefix


class SessionPolicy(NamedTuple):
    """A session's policy in one direction, by value: two of equal words are one policy.

    `rules` is None without a route map and empty if the map is missing; `prefix_lists` are the prefix lists that it
    names, and `listed` the session's own, None without one. `filtered` likewise is the session's list of AS paths.
    `maps` are the route maps that it calls.
    """

    rules: tuple[RouteMapRule, ...] | None
    prefix_lists: tuple[tuple[str, PrefixListRules | None], ...]
    community_lists: tuple[tuple[str, CommunityList | None], ...]
    as_path_lists: tuple[tuple[str, AsPathList | None], ...]
    listed: PrefixListRules | None
    nothing: bool = False
    """Whether nothing passes at all: RFC 8212 without a policy, or a list that is not there."""
    filtered: AsPathList | None = None
    maps: tuple[tuple[str, tuple[RouteMapRule, ...] | None], ...] = ()
    weight: int = 0
    """What a route weighs before the route map sees it."""
    shown: "LocalAsnEffect | None" = None
    """What the local AS number of the session does to received paths."""
    named: tuple[int, ...] = ()
    """The AS numbers with which announced paths begin; without any, that of the process."""
    preference: int | None = None
    """Its preference before the route map sees it; None is the one that it has."""
    default: "SessionPolicy | None" = None
    """The route map of a default route that is announced; without rules, it always is."""
    rewrite: "AsnRewrite | None" = None
    """How the AS numbers of announced paths change."""
    peering: "IbgpOrMultihopPeering | None" = None
    """How the session differs from one with another AS at the far end of a link."""
    refused: PrefixListRules = ()
    """Permits the prefixes that come with the router's own address as their next hop, which it refuses."""
    marks_hops: bool = False
    """Whether `set ip next-hop unchanged` marks the next hops of imported routes."""
    drops_marked: bool = False
    """Whether routes with that mark are of no use to the neighbor: their next hop is out of its reach."""

    networks: frozenset[Prefix] = frozenset()
    """The networks of the process, which the route map of a default route is asked about, reached or not."""
    new_hops: frozenset[Address] = frozenset()
    """The addresses that `set ip next-hop` gives imported routes."""
    told_hops: frozenset[Address | None] = frozenset()
    """The next hops that `set ip next-hop` gives announced routes; None is the router's own address."""
    heard_hops: frozenset[Address] = frozenset()
    """The next hops that a route map of the neighbor gives the routes that it announces."""
    own_addresses: frozenset[Address] | None = None
    """The router's addresses, where routes have next hops of a link unless a route map prefers global ones."""
    own_hop: Address | None = None
    """The address of the neighbor, which refuses routes that have it as their next hop."""

    @property
    def sets_next_hop_unchanged(self) -> bool:
        """Whether it sets `ip next-hop unchanged`."""
        return any(UNCHANGED_HOP_CLAUSE in rule.sets for rule in self._all_rules())

    def _all_rules(self) -> Iterator[RouteMapRule]:
        """Yield its rules, and those of the route maps that it calls."""
        return (rule for rules in (self.rules, *(rules for _, rules in self.maps)) for rule in rules or ())

    def named_next_hops(self, family: AddressFamily) -> frozenset[Address]:
        """Return the addresses that it sets as next hops of routes of a family."""
        return frozenset(find_set_next_hops(self._all_rules(), family))

    def announced_next_hops(self, family: AddressFamily) -> frozenset[Address | None]:
        """Return the next hops that it gives announced routes; None is the router's own address, by `peer-address`."""
        is_own = family == "ipv4" and any(
            ("ip next-hop", PEER_ADDRESS_NEXT_HOP) in rule.sets for rule in self._all_rules()
        )
        return frozenset({None}) if is_own else self.named_next_hops(family)

    @property
    def reads_as_paths(self) -> bool:
        """Whether it reads the AS numbers of a path."""
        return bool(self.as_path_lists or self.filtered or self.rewrite or self.shown or self.named) or any(
            kind == "as-path prepend" and value.startswith("last-as")
            for rule in self._all_rules()
            for kind, value in rule.sets
        )

    @property
    def has_interface_match(self) -> bool:
        """Whether it asks over which leg a connected route goes."""
        return any(kind == "interface" for rule in self._all_rules() for kind, _ in rule.matches)


def has_ipv4_next_hops(neighbor: BgpNeighbor) -> bool:
    """Return whether IPv4 routes over a session have next hops of IPv4, as far as its own end states it."""
    return neighbor.interface is None and not neighbor.extended_next_hop


class IbgpOrMultihopPeering(NamedTuple):
    """How one end of a session in an AS, or over several hops, treats the routes that it hears and announces."""

    internal: bool
    """Whether both ends are in one AS."""
    client: bool
    """Whether the other end is a client of this one, a route reflector (RFC 4456)."""
    self_hop: bool
    """Whether the router announces routes with its address as their next hop; reflected ones only if `forced`."""
    forced: bool
    over_ipv6: bool
    """Whether next hops are addresses of IPv6."""
    router_id: int
    cluster: int
    behind: Address | None
    """The address of a neighbor that is several hops away, which is the next hop of routes that it originates."""


class LocalAsnEffect(NamedTuple):
    """The effect of a local AS number on received paths (FRR, bgpd/bgp_attr.c, bgp_attr_aspath_check)."""

    asn: int
    prepends: bool
    """Whether received paths begin with it."""
    most: int
    """How often it may be in a received path (bgpd/bgp_route.c, bgp_update)."""

    def path_after_receipt(self, path: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return a path as it is after it was received, None for one that has the number too often."""
        if path.count(self.asn) > self.most:
            return None
        return (self.asn, *path) if self.prepends else path


class AsnRewrite(NamedTuple):
    """How a session changes the AS numbers of announced paths (FRR, bgpd/bgp_aspath.c)."""

    private: PrivateAsnRemoval | None
    override: bool
    own: int
    far: int

    def announced_path(self, path: tuple[int, ...]) -> tuple[int, ...]:
        """Return the announced path, without the router's own number in front."""
        if self.private is not None and (self.private.endswith("all") or all(map(_is_private_asn, path))):
            if self.private.startswith("replace"):
                path = tuple([self.own if _is_private_asn(asn) and asn != self.far else asn for asn in path])
            else:
                path = tuple([asn for asn in path if not _is_private_asn(asn) or asn == self.far])
        if self.override:
            path = tuple([self.own if asn == self.far else asn for asn in path])
        return path


def _is_private_asn(asn: int) -> bool:
    """Whether an AS number is for private use (RFC 6996; FRR counts 65535 among them, bgpd/bgp_aspath.h)."""
    return 64512 <= asn <= 65535 or 4200000000 <= asn <= 4294967294


def neighbor_family_statement(neighbor: BgpNeighbor, family: AddressFamily) -> BgpNeighbor | Ipv6Unicast:
    """Return the settings of a neighbor statement for a family."""
    return neighbor if family == "ipv4" else neighbor.ipv6


class PolicyReader:
    """Reads the policies of a BGP process; each name is looked for once."""

    def __init__(self, bgp: Bgp, family: AddressFamily) -> None:
        self._maps = {route_map.name: route_map.rules for route_map in bgp.route_maps}
        self._prefix_lists = {
            prefix_list.name: prefix_list.rules for prefix_list in bgp.prefix_lists if prefix_list.family == family
        }
        self._communities = {community_list.name: community_list for community_list in bgp.community_lists}
        self._paths = {as_path_list.name: as_path_list for as_path_list in bgp.as_path_lists}
        self._family, self._requires = family, bgp.requires_policy is True
        self._asn, self._preference = bgp.asn, bgp.default_preference
        stated_networks = (parse_prefix(text) for text in bgp.networks)
        self._networks = frozenset({row for row in stated_networks if row is not None and row.family == family})
        self._marks = family == "ipv4" and any(
            UNCHANGED_HOP_CLAUSE in rule.sets for rules in self._maps.values() for rule in rules
        )
        every = [rule for rules in self._maps.values() for rule in rules]
        self._sets_hops = any(find_set_next_hops(every, family))
        self._tells_hops = self._sets_hops or any(("ip next-hop", PEER_ADDRESS_NEXT_HOP) in rule.sets for rule in every)
        self._matches_peers = any(kind == "peer" for rule in every for kind, _ in rule.matches)
        self._read: dict[tuple[str | None, str | None, str | None, bool], SessionPolicy] = {}
        self._inbound: dict[tuple[object, ...], SessionPolicy] = {}
        self._outbound: dict[tuple[object, ...], SessionPolicy] = {}

    def of(
        self, name: str | None, listed: str | None = None, filtered: str | None = None, *, external: bool = True
    ) -> SessionPolicy:
        """Return the words of a route map, a prefix list and a list of AS paths; each may be None."""
        key = (name, listed, filtered, external)
        if key not in self._read:
            unsaid = name is None and listed is None and filtered is None
            nothing = (
                (unsaid and self._requires and external)
                or (listed is not None and listed not in self._prefix_lists)
                or (filtered is not None and filtered not in self._paths)
            )
            rules = None if name is None else self._rules_of_route_map(name) or ()
            maps = self._called_route_maps(rules or ())
            every = [rule for own_rules in (rules, *maps.values()) for rule in own_rules or ()]
            named_matches = list(dict.fromkeys(match for rule in every for match in rule.matches))
            self._read[key] = SessionPolicy(
                rules,
                tuple(
                    (value, self._prefix_lists.get(value))
                    for kind, value in named_matches
                    if kind == self._prefix_list_match_kind
                ),
                tuple((label, self._communities.get(label)) for label in _names_in_matches(named_matches, "community")),
                tuple((label, self._paths.get(label)) for label in _names_in_matches(named_matches, "as-path")),
                None if listed is None else self._prefix_lists.get(listed),
                nothing,
                None if filtered is None else self._paths.get(filtered),
                tuple(sorted(maps.items())),
            )
        return self._read[key]

    def _rules_of_route_map(self, name: str) -> tuple[RouteMapRule, ...] | None:
        rules = self._maps.get(name)
        return None if rules is None else tuple(sorted(rules, key=lambda rule: rule.sequence))

    def _called_route_maps(self, rules: tuple[RouteMapRule, ...]) -> dict[str, tuple[RouteMapRule, ...] | None]:
        """Return the route maps that rules call, and those that these call; None for one that is not there."""
        rules_by_name: dict[str, tuple[RouteMapRule, ...] | None] = {}
        waiting = [*rules]
        while waiting:
            for name in [value for kind, value in waiting.pop().sets if kind == "call"]:
                if name not in rules_by_name:
                    rules_by_name[name] = self._rules_of_route_map(name)
                    waiting += rules_by_name[name] or ()
        return rules_by_name

    @property
    def _prefix_list_match_kind(self) -> str:
        return PREFIX_LIST_MATCH_BY_FAMILY[self._family]

    def _local_asn_effect(self, neighbor: BgpNeighbor, local: int | None) -> LocalAsnEffect | None:
        if local is None:
            return None
        prepends, often = (
            neighbor.local_asn_mode == "prepend",
            neighbor_family_statement(neighbor, self._family).allowas_in or 0,
        )
        return LocalAsnEffect(local, prepends, max(often - 1, 0) if prepends else often)

    def _leading_asns(self, neighbor: BgpNeighbor, local: int | None) -> tuple[int, ...]:
        """Return what announced paths begin with (FRR, bgpd/bgp_attr.c, bgp_packet_attribute and bgp_append_local_as).

        The own number is left out where private ones are removed, too.
        """
        if local is None:
            return ()
        removed = neighbor_family_statement(neighbor, self._family).private_asns is not None and _is_private_asn(
            self._asn
        )
        return (local,) if removed or neighbor.local_asn_mode == "replace-as" else (local, self._asn)

    def inbound(
        self, neighbor: BgpNeighbor, peering: IbgpOrMultihopPeering | None = None, local_asn: int | None = None
    ) -> SessionPolicy:
        """Return the import policy of a neighbor statement; statements that differ in nothing that counts share it."""
        config = neighbor_family_statement(neighbor, self._family)
        key = (
            (config.import_policy, config.import_prefix_list, config.import_path_list),
            (config.weight, config.allowas_in, neighbor.local_asn_mode, has_ipv4_next_hops(neighbor)),
            (peering, local_asn, neighbor.key if self._matches_peers else None),
        )
        if key not in self._inbound:
            self._inbound[key] = self._read_inbound(neighbor, config, peering, local_asn)
        return self._inbound[key]

    def _read_inbound(
        self,
        neighbor: BgpNeighbor,
        config: BgpNeighbor | Ipv6Unicast,
        peering: IbgpOrMultihopPeering | None,
        local_asn: int | None,
    ) -> SessionPolicy:
        external = peering is None or not peering.internal
        words = self.of(config.import_policy, config.import_prefix_list, config.import_path_list, external=external)
        preference = self._preference if external else None
        marks = self._family == "ipv4" and has_ipv4_next_hops(neighbor) and words.sets_next_hop_unchanged
        is_near = self._family == "ipv4" or peering is None
        new_hops = words.named_next_hops(self._family) if self._sets_hops and is_near else frozenset[Address]()
        words = words._replace(shown=self._local_asn_effect(neighbor, local_asn), marks_hops=marks, new_hops=new_hops)
        return _evaluate_peer_matches(words, neighbor)._replace(
            weight=config.weight or 0, preference=preference, peering=peering
        )

    def outbound(
        self,
        neighbor: BgpNeighbor,
        far_router: int,
        peering: IbgpOrMultihopPeering | None = None,
        local_asn: int | None = None,
    ) -> SessionPolicy:
        """Return the export policy of a neighbor statement if the neighbor shows this AS number.

        Statements that differ in nothing that counts share it.
        """
        config = neighbor_family_statement(neighbor, self._family)
        is_rewritten = config.private_asns is not None or config.as_override
        key = (
            (config.export_policy, config.export_prefix_list, config.export_path_list),
            (config.default_originate, config.default_policy, config.private_asns, config.as_override),
            (neighbor.local_asn_mode, has_ipv4_next_hops(neighbor), neighbor.address if self._sets_hops else None),
            (peering, local_asn, far_router if is_rewritten else None),
        )
        if key not in self._outbound:
            self._outbound[key] = self._read_outbound(neighbor, config, far_router, peering, local_asn)
        return self._outbound[key]

    def _read_outbound(
        self,
        neighbor: BgpNeighbor,
        config: BgpNeighbor | Ipv6Unicast,
        far_router: int,
        peering: IbgpOrMultihopPeering | None,
        local_asn: int | None,
    ) -> SessionPolicy:
        inside = peering is not None and peering.internal
        words = self.of(config.export_policy, config.export_prefix_list, config.export_path_list, external=not inside)
        drops = self._marks and not inside and words.rules is None and has_ipv4_next_hops(neighbor)
        over_ipv4 = self._family == "ipv4" and has_ipv4_next_hops(neighbor)
        own_hop = (
            parse_address(neighbor.address or "") if self._family == "ipv4" and self._sets_hops and not inside else None
        )
        told_hops = frozenset[Address | None]()
        if self._tells_hops and (over_ipv4 or (self._family == "ipv6" and peering is None)):
            told_hops = words.announced_next_hops(self._family)
        named = self._leading_asns(neighbor, local_asn)
        words = words._replace(named=named, drops_marked=drops, own_hop=own_hop, told_hops=told_hops)
        if config.default_originate:
            default = self.of(config.default_policy, external=False)._replace(preference=self._preference)
            words = words._replace(default=default._replace(networks=self._networks) if default.rules else default)
        if inside:
            return words._replace(peering=peering)
        if config.private_asns is None and not config.as_override:
            return words
        return words._replace(rewrite=AsnRewrite(config.private_asns, config.as_override, self._asn, far_router))


def _evaluate_peer_matches(words: SessionPolicy, neighbor: BgpNeighbor) -> SessionPolicy:
    """Return words without `match peer` where it names this neighbor; with any other it matches nothing."""
    if words.rules is None or not any(kind == "peer" for rule in words.rules for kind, _ in rule.matches):
        return words
    clause = ("peer", neighbor.key)
    rules = [
        replace_fields(rule, matches=tuple(match for match in rule.matches if match != clause)) for rule in words.rules
    ]
    return words._replace(rules=tuple(rules))


def _names_in_matches(matches: list[tuple[str, str]], kind: str) -> Iterator[str]:
    return (value.split()[0] for match_kind, value in matches if match_kind == kind and value.split())


def prefix_lists_read_by(policy_terms: SessionPolicy) -> Iterator[PrefixListRules]:
    """Yield the prefix lists that a policy reads."""
    if policy_terms.listed is not None:
        yield policy_terms.listed
    if policy_terms.refused:
        yield policy_terms.refused
    yield from (shape for _, shape in policy_terms.prefix_lists if shape is not None)
    if policy_terms.default is not None:
        yield from prefix_lists_read_by(policy_terms.default)
