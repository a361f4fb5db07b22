"""Random BGP processes, policies and static routes as FRR can be told them, the policies that are named all there."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from nodrop.fabric.routing import (
    Bgp,
    BgpNeighbor,
    CommunityList,
    Ipv6Unicast,
    PrefixList,
    PrefixRule,
    RouteMap,
    RouteMapRule,
    StaticRoute,
)

PREFIXES = ("10.0.0.0/8", "10.1.0.0/16", "192.0.2.0/24", "0.0.0.0/0")
PREFIXES6 = ("2001:db8::/32", "fd00::1/128", "::/0")
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
def route_maps(
    draw: st.DrawFn, prefixes: Sequence[PrefixList], communities: Sequence[CommunityList]
) -> tuple[RouteMap, ...]:
    v4 = [one.name for one in prefixes if one.family == "ipv4"]
    options: list[st.SearchStrategy[Any]] = [st.just(("tag", "7"))]
    options += [st.just(("ip address prefix-list", name)) for name in v4]
    options += [st.just(("ip next-hop prefix-list", name)) for name in v4]
    options += [st.just(("ipv6 address prefix-list", one.name)) for one in prefixes if one.family == "ipv6"]
    options += [st.just(("community", one.name)) for one in communities]
    settings = st.sampled_from(
        [
            ("local-preference", "0"),
            ("metric", "10"),
            ("community", "65000:1 no-export"),
            ("community", "graceful-shutdown additive"),
            ("as-path prepend", "65000 65000"),
            ("ip next-hop", "10.0.0.1"),
            ("ipv6 next-hop", "prefer-global"),
            ("weight", "5"),
            ("origin", "igp"),
            ("tag", "9"),
        ]
    )
    made = []
    for name in rows(draw, ("IN", "OUT", "a-b"), 2):
        rules = tuple(
            RouteMapRule(
                sequence=sequence,
                action=draw(st.sampled_from(["permit", "deny"])),
                matches=tuple(draw(st.lists(st.one_of(options), max_size=2, unique_by=lambda one: one[0]))),
                sets=tuple(draw(st.lists(settings, max_size=2, unique_by=lambda one: one[0]))),
            )
            for sequence in sorted(draw(st.sets(st.integers(1, 65535), min_size=1, max_size=2)))
        )
        made.append(RouteMap(name=name, rules=rules))
    return tuple(made)


@st.composite
def neighbors(draw: st.DrawFn, policies: Sequence[RouteMap]) -> tuple[BgpNeighbor, ...]:
    """Sessions to addresses and over interfaces, each once, in any order."""
    ends = draw(
        st.lists(
            st.sampled_from(["10.1.0.1", "10.1.0.3", "2001:db8::1", "Ethernet0", "Ethernet8"]), max_size=4, unique=True
        )
    )
    policy = maybe(st.sampled_from([one.name for one in policies])) if policies else st.none()
    return tuple(
        BgpNeighbor(
            address=None if end.startswith("Eth") else end,
            interface=end if end.startswith("Eth") else None,
            remote_asn=draw(asns | st.sampled_from(["external", "internal"])),
            description=draw(maybe(clean_texts)),
            enabled=draw(st.booleans()),
            active=draw(st.booleans()),
            import_policy=draw(policy),
            export_policy=draw(policy),
            bfd=draw(st.booleans()),
            allowas_in=draw(maybe(st.integers(1, 10))),
            ipv6=Ipv6Unicast(
                active=draw(st.booleans()),
                import_policy=draw(policy),
                export_policy=draw(policy),
                allowas_in=draw(maybe(st.integers(1, 10))),
            ),
            extended_next_hop=not end.startswith("Eth") and draw(st.booleans()),
        )
        for end in ends
    )


@st.composite
def _bgps(draw: st.DrawFn) -> Bgp:
    prefixes, communities = draw(prefix_lists()), draw(community_lists())
    policies = draw(route_maps(prefixes, communities))
    return Bgp(
        asn=draw(asns),
        router_id=draw(maybe(st.just("10.0.0.1"))),
        networks=tuple(
            network
            for prefixes_of in (PREFIXES, PREFIXES6)
            for network in draw(st.lists(st.sampled_from(prefixes_of), max_size=2, unique=True))
        ),
        maximum_paths=draw(maybe(st.integers(1, 256))),
        maximum_paths_ipv6=draw(maybe(st.integers(1, 256))),
        multipath_relax=draw(st.booleans()),
        session_dscp=draw(maybe(st.integers(0, 63))),
        default_ipv4_unicast=draw(st.booleans()),
        graceful_shutdown=draw(st.booleans()),
        prefix_lists=prefixes,
        community_lists=communities,
        route_maps=policies,
        neighbors=draw(neighbors(policies)),
    )


bgps = _bgps()
static_routes = st.lists(
    st.builds(
        StaticRoute,
        prefix=st.sampled_from(["10.2.0.0/24", "192.0.2.0/25"]),
        next_hop=st.sampled_from(["blackhole", "10.0.0.9", "Ethernet0"]),
        vrf=maybe(st.just("Vrf-a")),
    )
    | st.builds(StaticRoute, prefix=st.just("2001:db8:1::/48"), next_hop=st.sampled_from(["2001:db8::9", "blackhole"])),
    max_size=3,
).map(tuple)
