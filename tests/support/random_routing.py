"""Random BGP processes, policies and static routes as FRR can be told them, the policies that are named all there."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, get_args

from hypothesis import strategies as st

from nodrop.model.routing import (
    Aggregate,
    AsPathList,
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PrefixList,
    PrefixRule,
    PrivateAsnRemoval,
    Redistribution,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.kit.session_groups import SESSION_ONLY_FIELDS

PREFIXES = ("10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24", "0.0.0.0/0")
PREFIXES6 = ("2001:db8::/32", "fd00::1/128", "::/0")
SHARED = ("session_dscp", "prefix_lists", "community_lists", "as_path_lists", "route_maps")
LISTS = ("A", "FABRIC", "GSHUT", "own_1", "x.y-z")
asns = st.sampled_from([1, 65000, 4200000000, 4294967294])
clean_texts = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=8)
    | st.sampled_from(["!", "#", '"', "\\", "spine1", "port", "remote-as", "1"]),
    min_size=1,
    max_size=4,
).map(" ".join)
"""Text on one line, its words one space apart, as FRR keeps it."""


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def rows(draw: st.DrawFn, names: Sequence[str], most: int) -> list[str]:
    return sorted(draw(st.sets(st.sampled_from(names), max_size=most)))


@st.composite
def prefix_lists(draw: st.DrawFn) -> tuple[PrefixList, ...]:
    made = [
        PrefixList(name=name, family="ipv4", rules=tuple(draw(prefix_rules(PREFIXES, 32))))
        for name in rows(draw, LISTS, 2)
    ]
    made += [
        PrefixList(name=name, family="ipv6", rules=tuple(draw(prefix_rules(("2001:db8::/32", "::/0"), 128))))
        for name in rows(draw, LISTS, 1)
    ]
    return tuple(made)


@st.composite
def prefix_rules(draw: st.DrawFn, prefixes: Sequence[str], most: int) -> list[PrefixRule]:
    made = []
    for sequence in sorted(draw(st.sets(st.integers(1, 100), min_size=1, max_size=3))):
        prefix = draw(st.sampled_from(prefixes))
        low = draw(maybe(st.integers(int(prefix.partition("/")[2]) + 1, most)))
        high = draw(maybe(st.integers((low or int(prefix.partition("/")[2]) + 1), most)))
        action = draw(st.sampled_from(["permit", "deny"]))
        made.append(PrefixRule(sequence=sequence, action=action, prefix=prefix, ge=low, le=high))
    return made


@st.composite
def community_lists(draw: st.DrawFn) -> tuple[CommunityList, ...]:
    communities = st.lists(
        st.sampled_from(["graceful-shutdown", "65000:1", "no-export"]), min_size=1, max_size=2, unique=True
    )
    rules = st.lists(st.tuples(st.sampled_from(["permit", "deny"]), communities.map(tuple)), min_size=1, max_size=2)
    return tuple(CommunityList(name=name, rules=tuple(draw(rules))) for name in rows(draw, LISTS, 2))


@st.composite
def as_path_lists(draw: st.DrawFn) -> tuple[AsPathList, ...]:
    """Lists of AS paths, each line another, for FRR keeps one of two that are alike."""
    paths = st.sampled_from([".*", "^$", "^65000_", "_65001 65002$", "_(65000|65001)_", "^[0-9]+$"])
    rules = st.lists(
        st.tuples(st.sampled_from(["permit", "deny"]), paths), min_size=1, max_size=2, unique_by=lambda one: one[1]
    )
    return tuple(AsPathList(name=name, rules=tuple(draw(rules))) for name in rows(draw, LISTS, 2))


@st.composite
def redistributions(draw: st.DrawFn, policies: Sequence[RouteMap]) -> tuple[Redistribution, ...]:
    """Routes of other sources, sorted by family and source."""
    policy = maybe(st.sampled_from([one.name for one in policies])) if policies else st.none()
    keys = st.tuples(st.sampled_from(["ipv4", "ipv6"]), st.sampled_from(["connected", "kernel", "static"]))
    return tuple(
        Redistribution(family=family, source=source, policy=draw(policy))
        for family, source in sorted(draw(st.sets(keys, max_size=3)))
    )


@st.composite
def route_maps(
    draw: st.DrawFn,
    prefixes: Sequence[PrefixList],
    communities: Sequence[CommunityList],
    paths: Sequence[AsPathList] = (),
) -> tuple[RouteMap, ...]:
    v4 = [one.name for one in prefixes if one.family == "ipv4"]
    options: list[st.SearchStrategy[Any]] = [st.just(("tag", "7")), st.just(("interface", "Loopback0"))]
    options += [st.just(("ip address prefix-list", name)) for name in v4]
    options += [st.just(("ip next-hop prefix-list", name)) for name in v4]
    options += [st.just(("ipv6 address prefix-list", one.name)) for one in prefixes if one.family == "ipv6"]
    options += [st.just(("community", one.name)) for one in communities]
    options += [st.just(("as-path", one.name)) for one in paths]
    names = rows(draw, ("IN", "OUT", "a-b"), 2)
    settings = st.sampled_from(
        [
            ("local-preference", "0"),
            ("metric", "10"),
            ("community", "65000:1 no-export"),
            ("community", "graceful-shutdown additive"),
            ("as-path prepend", "65000 65000"),
            ("ip next-hop", "peer-address"),
            ("ipv6 next-hop", "prefer-global"),
            ("weight", "5"),
            ("origin", "igp"),
            ("tag", "9"),
            ("src", "10.0.0.1"),
            ("extcommunity bandwidth", "num-multipaths"),
            *(("call", name) for name in names),
            ("on-match", "next"),
            ("on-match", "goto 65535"),
        ]
    )
    made = []
    for name in names:
        rules = []
        for sequence in sorted(draw(st.sets(st.integers(1, 65534), min_size=1, max_size=2))):
            action = draw(st.sampled_from(["permit", "deny"]))
            sets = draw(st.lists(settings, max_size=2, unique_by=lambda one: one[0]))
            rules.append(
                RouteMapRule(
                    sequence=sequence,
                    action=action,
                    matches=tuple(draw(st.lists(st.one_of(options), max_size=2, unique_by=lambda one: one[0]))),
                    sets=tuple(
                        one for one in sets if one != ("call", name) and (action == "permit" or one[0] != "on-match")
                    ),
                )
            )
        made.append(RouteMap(name=name, rules=tuple(rules)))
    return tuple(made)


def alike(one: BgpNeighbor, other: BgpNeighbor) -> BgpNeighbor:
    """Return a session with the settings of another, as far as one to its end can have them."""
    names = {field.name for field in fields(BgpNeighbor)} - SESSION_ONLY_FIELDS
    settings = {name: getattr(other, name) for name in names}
    if one.interface is not None:
        hops = other.ttl_security_hops and 1
        settings |= {"ebgp_multihop": None, "extended_next_hop": False, "ttl_security_hops": hops}
    return replace(one, **settings)


def _more(
    draw: st.DrawFn, policy: st.SearchStrategy[str | None], paths: st.SearchStrategy[str | None]
) -> dict[str, Any]:
    """What an address family of some sessions has besides."""
    if draw(st.booleans()):
        return {}
    default = draw(st.booleans())
    return {
        "weight": draw(maybe(st.integers(0, 65535))),
        "import_path_list": draw(paths),
        "export_path_list": draw(paths),
        "private_asns": draw(maybe(st.sampled_from(get_args(PrivateAsnRemoval)))),
        "as_override": draw(st.booleans()),
        "default_originate": default,
        "default_policy": draw(policy) if default else None,
        "maximum_prefix": draw(maybe(st.integers(1, 100_000))),
    }


def _inside(draw: st.DrawFn) -> dict[str, Any]:
    """What a session tells of next hops."""
    itself = draw(st.booleans())
    return {"next_hop_self": itself, "next_hop_forced": itself and draw(st.booleans())}


def _reflecting(draw: st.DrawFn, one: BgpNeighbor) -> BgpNeighbor:
    """Return a session inside an AS that may be with a client: bgpd takes no others."""
    if one.remote_asn != "internal":
        return one
    v6 = replace(one.ipv6, reflector_client=draw(st.booleans()))
    return replace(one, reflector_client=draw(st.booleans()), ipv6=v6)


@st.composite
def neighbors(
    draw: st.DrawFn,
    policies: Sequence[RouteMap],
    prefixes: Sequence[PrefixList] = (),
    path_lists: Sequence[AsPathList] = (),
) -> tuple[BgpNeighbor, ...]:
    """Sessions to addresses and over interfaces, each once, in any order."""
    ends = draw(
        st.lists(
            st.sampled_from(["10.1.0.1", "10.1.0.3", "2001:db8::1", "Ethernet0", "Ethernet8"]), max_size=4, unique=True
        )
    )
    policy = maybe(st.sampled_from([one.name for one in policies])) if policies else st.none()
    paths = maybe(st.sampled_from([one.name for one in path_lists])) if path_lists else st.none()
    listed = {family: [one.name for one in prefixes if one.family == family] for family in ("ipv4", "ipv6")}
    v4, v6 = (maybe(st.sampled_from(names)) if names else st.none() for names in listed.values())
    made = tuple(
        BgpNeighbor(
            address=None if end.startswith("Eth") else end,
            interface=end if end.startswith("Eth") else None,
            remote_asn=draw(asns | st.sampled_from(["external", "internal"])),
            description=draw(maybe(clean_texts)),
            enabled=draw(st.booleans()),
            active=draw(st.booleans()),
            import_policy=draw(policy),
            export_policy=draw(policy),
            import_prefix_list=draw(v4),
            export_prefix_list=draw(v4),
            bfd=draw(st.booleans()),
            hold_s=draw(maybe(st.just(0) | st.integers(3, 65_535))),
            **_inside(draw),
            update_source=draw(maybe(st.sampled_from(["10.0.0.1", "2001:db8::9", "Loopback0"]))),
            ebgp_multihop=None if end.startswith("Eth") else draw(maybe(st.integers(1, 255))),
            passive=draw(st.booleans()),
            **draw(
                st.sampled_from([{}, {}, {"local_asn": 64999}, {"local_asn": 64998, "local_asn_mode": "replace-as"}])
            ),
            connected_check=draw(st.booleans()),
            allowas_in=draw(maybe(st.integers(1, 10))),
            ipv6=Ipv6Unicast(
                active=draw(st.booleans()),
                import_policy=draw(policy),
                export_policy=draw(policy),
                import_prefix_list=draw(v6),
                export_prefix_list=draw(v6),
                allowas_in=draw(maybe(st.integers(1, 10))),
                **_inside(draw),
                **_more(draw, policy, paths),
            ),
            **_more(draw, policy, paths),
            extended_next_hop=not end.startswith("Eth") and draw(st.booleans()),
        )
        for end in ends
    )
    limited = [None if one.ebgp_multihop else draw(maybe(st.integers(1, 1 if one.interface else 254))) for one in made]
    made = tuple(replace(one, ttl_security_hops=hops) for one, hops in zip(made, limited, strict=True))
    made = tuple(one if draw(st.booleans()) else alike(one, made[0]) for one in made)
    return tuple(_reflecting(draw, one) for one in made)


@st.composite
def _bgps(draw: st.DrawFn) -> Bgp:
    prefixes, communities, paths = draw(prefix_lists()), draw(community_lists()), draw(as_path_lists())
    policies = draw(route_maps(prefixes, communities, paths))
    shared = {
        "session_dscp": draw(maybe(st.integers(0, 63))),
        "prefix_lists": prefixes,
        "community_lists": communities,
        "as_path_lists": paths,
        "route_maps": policies,
    }
    return draw(_processes(None, shared))


@st.composite
def _processes(draw: st.DrawFn, vrf: str | None, shared: dict[str, Any]) -> Bgp:
    """The process of a VRF with what those of all VRFs share."""
    distances = maybe(st.tuples(*[st.integers(1, 255)] * 3))
    policy = maybe(st.sampled_from([one.name for one in shared["route_maps"]])) if shared["route_maps"] else st.none()
    return Bgp(
        asn=draw(asns),
        vrf=vrf,
        router_id=draw(maybe(st.just("10.0.0.1"))),
        networks=tuple(
            network
            for prefixes_of in (PREFIXES, PREFIXES6)
            for network in draw(st.lists(st.sampled_from(prefixes_of), max_size=2, unique=True))
        ),
        redistributions=draw(redistributions(shared["route_maps"])),
        aggregates=tuple(
            Aggregate(prefix=one, summary_only=draw(st.booleans()), as_set=draw(st.booleans()))
            for prefixes_of in (PREFIXES, PREFIXES6)
            for one in draw(st.lists(st.sampled_from(sorted(prefixes_of)), max_size=1))
        ),
        default_preference=draw(maybe(st.sampled_from([0, 50, 4294967295]))),
        maximum_med=draw(maybe(st.integers(0, 4294967295))),
        distances=draw(distances),
        distances_ipv6=draw(distances),
        installed_policy=draw(policy) if vrf is None else None,
        maximum_paths=draw(maybe(st.integers(1, 256))),
        maximum_paths_ipv6=draw(maybe(st.integers(1, 256))),
        maximum_paths_internal=draw(maybe(st.integers(1, 256))),
        maximum_paths_internal_ipv6=draw(maybe(st.integers(1, 256))),
        cluster_id=draw(maybe(st.just("10.0.0.9"))),
        multipath_relax=draw(st.booleans()),
        compare_router_id=draw(st.booleans()),
        always_compare_med=draw(st.booleans()),
        requires_policy=draw(st.booleans()),
        import_check=draw(st.booleans()),
        default_ipv4_unicast=draw(st.booleans()),
        suppress_fib_pending=draw(st.booleans()),
        graceful_restart=draw(st.booleans()),
        preserve_forwarding=draw(st.booleans()),
        restart_s=draw(maybe(st.integers(1, 3600))),
        select_defer_s=draw(maybe(st.integers(0, 3600))),
        graceful_shutdown=draw(st.booleans()),
        neighbors=draw(neighbors(shared["route_maps"], shared["prefix_lists"], shared["as_path_lists"])),
        **shared,
    )


@st.composite
def vrf_bgps(draw: st.DrawFn, bgp: Bgp | None) -> tuple[Bgp, ...]:
    """Processes of other VRFs than that of `bgp`, with its lists and maps; none without it."""
    if bgp is None:
        return ()
    shared = {name: getattr(bgp, name) for name in SHARED}
    chosen = draw(st.sets(st.sampled_from(["BLUE", "Vrf-a", "Vrf2"]), max_size=2))
    return tuple(draw(_processes(vrf, shared)) for vrf in sorted(chosen, key=natural_sort_key))


LOCAL: list[dict[str, Any]] = [{}, {}, {"local_asn": 64999}, {"local_asn": 64998, "local_asn_mode": "replace-as"}]
bgps = _bgps()
DISTANCES = st.sampled_from([1, 1, 1, 2, 250, 255])
static_routes = st.lists(
    st.builds(
        StaticRoute,
        prefix=st.sampled_from(["10.2.0.0/24", "192.0.2.0/25"]),
        next_hop=st.sampled_from(["blackhole", "10.0.0.9", "Ethernet0"]),
        vrf=maybe(st.just("Vrf-a")),
        distance=DISTANCES,
    )
    | st.builds(
        StaticRoute,
        prefix=st.just("2001:db8:1::/48"),
        next_hop=st.sampled_from(["2001:db8::9", "blackhole"]),
        distance=DISTANCES,
    ),
    max_size=3,
).map(tuple)
