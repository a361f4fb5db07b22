"""The rows of BGP on NVUE: the fields of a session, those of each address family of it, and those of a process.

Ranges are those of the NVUE command reference (5.14 and 5.16) and of `nv list-commands`. A peer group has the paths of
a session, which inherits settings that it does not state itself.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from ipaddress import AddressValueError, IPv4Address
from typing import Any, Literal

from nodrop.limits import MAX_UINT32
from nodrop.model.addresses import AddressFamily, is_address_or_prefix
from nodrop.model.routing import ROUTE_SOURCE_BY_NAME, Aggregate, BgpNeighbor, Redistribution
from nodrop.model.states import UNKNOWN
from nodrop.platforms.frr.words import password_digest
from nodrop.platforms.kit.bindings import FieldBinding, NumberRangeCheck, refuse_unless_default
from nodrop.platforms.nvue.bindings import (
    IS,
    READS,
    ConfigNodeViews,
    NodeStatement,
    NodeStatements,
    NvueBinding,
    feature_state_statement,
    first_value_decoder,
    flag_binding,
    number_binding,
    policy_name_binding,
    read_policy_name,
    text_binding,
)
from nodrop.platforms.nvue.bindings_local_as import LOCAL_AS_BINDINGS
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.read_values import ConfigNodeView, is_on
from nodrop.platforms.nvue.spelling import DialectWords
from nodrop.platforms.nvue.tree import Path
from nodrop.syntax.places import quote_text

FAMILY_PATHS: tuple[Path, ...] = (("address-family", "ipv4-unicast"), ("address-family", "ipv6-unicast"))
_ALLOW_MY_ASN_PATH = ("aspath", "allow-my-asn")
_EVPN_FAMILY_PATH = ("address-family", "l2vpn-evpn")
_REMOTE_AS_WORDS: Mapping[str, Literal["external", "internal"]] = {"external": "external", "internal": "internal"}


# What a session does in an address family, below it


def _decode_allowed_as_count(node: ConfigNodeView) -> int | None:
    """Return how often the own AS number may be in a path; FRR takes three where no number is stated."""
    inside = node.below(*_ALLOW_MY_ASN_PATH)
    if not inside or is_on(inside) is False:
        return None
    return inside.integer("occurrences", 1, 10) or 3


def _encode_allowed_as_count(value: int, spoken: DialectWords) -> NodeStatements:
    return feature_state_statement(_ALLOW_MY_ASN_PATH, spoken), NodeStatement(
        (*_ALLOW_MY_ASN_PATH, "occurrences"), IS, value
    )


def _decode_prefix_limit(node: ConfigNodeView) -> int | None:
    """Return of how many prefixes a session goes down; none does where it only warns, or opens again by itself."""
    limits = node.below("prefix-limits", "inbound")
    return None if limits.flag("warning-only") else limits.integer("maximum", 1, MAX_UINT32)


def _decode_default_route(node: ConfigNodeView) -> bool | None:
    inside = node.below("default-route-origination")
    return is_on(inside) if inside else None


def _decode_forced_next_hop(node: ConfigNodeView) -> bool | None:
    stated = node.text("nexthop-setting")
    return None if stated is None else stated == "force"


SESSION_FAMILY_BINDINGS: tuple[NvueBinding, ...] = (
    FieldBinding(
        field="active",
        where=(("state",), ("enable",)),
        decode=first_value_decoder(is_on),
        encode=lambda value, spoken: (feature_state_statement((), spoken, is_enabled=value),),
    ),
    policy_name_binding("import_policy", ("policy", "inbound", "route-map")),
    policy_name_binding("export_policy", ("policy", "outbound", "route-map")),
    policy_name_binding("import_prefix_list", ("policy", "inbound", "prefix-list")),
    policy_name_binding("export_prefix_list", ("policy", "outbound", "prefix-list")),
    flag_binding("next_hop_self", ("nexthop-setting",), on=("self", "force"), written="self"),
    FieldBinding(
        field="next_hop_forced",
        where=(("nexthop-setting",),),
        decode=first_value_decoder(_decode_forced_next_hop),
        refuses=(refuse_unless_default("nodrop does not write next hops of reflected routes of NVUE", default=False),),
    ),
    flag_binding("reflector_client", ("route-reflector-client",)),
    FieldBinding(
        field="allowas_in",
        where=((*_ALLOW_MY_ASN_PATH, "occurrences"), _ALLOW_MY_ASN_PATH),
        decode=first_value_decoder(_decode_allowed_as_count),
        encode=_encode_allowed_as_count,
        refuses=(NumberRangeCheck(1, 10),),
    ),
    number_binding("weight", ("weight",), 0, 65535),
    policy_name_binding("import_path_list", ("policy", "inbound", "aspath-list"), "as-path-list"),
    policy_name_binding("export_path_list", ("policy", "outbound", "aspath-list"), "as-path-list"),
    flag_binding("as_override", ("aspath", "replace-peer-as")),
    FieldBinding(
        field="private_asns",
        refuses=(refuse_unless_default("which AS numbers NVUE takes out of a path is not known"),),
    ),
    FieldBinding(
        field="default_originate",
        where=(("default-route-origination", "state"), ("default-route-origination", "enable")),
        decode=first_value_decoder(_decode_default_route),
        encode=lambda value, spoken: (
            (feature_state_statement(("default-route-origination",), spoken),) if value else ()
        ),
    ),
    policy_name_binding("default_policy", ("default-route-origination", "policy"), "route-map"),
    FieldBinding(
        field="maximum_prefix",
        where=(("prefix-limits", "inbound", "maximum"),),
        decode=first_value_decoder(_decode_prefix_limit),
        encode=lambda value, _: (NodeStatement(("prefix-limits", "inbound", "maximum"), IS, value),),
        refuses=(NumberRangeCheck(1, MAX_UINT32),),
    ),
)


# A session or peer group, below it


def _decode_enabled_state(nodes: ConfigNodeViews) -> bool:
    """Return whether a session may come up: neither shut down nor disabled, each by the first node that states it."""
    return (
        first_value_decoder(lambda node: node.flag("shutdown"))(nodes) is not True
        and first_value_decoder(is_on)(nodes) is not False
    )


def _has_bfd(nodes: ConfigNodeViews) -> bool:
    """Return whether a session has BFD, which it has with any setting below `bfd` that does not turn it off."""
    nodes = [node.below("bfd") for node in nodes]
    return any(bool(node) if (stated := is_on(node)) is None else stated for node in nodes)


def _encode_bfd(value: bool, spoken: DialectWords) -> NodeStatements:
    """Return the statement of BFD, which needs a profile since 5.15."""
    if not value:
        return ()
    return (
        (NodeStatement(("bfd", "enable"), IS, "on"),)
        if spoken.old
        else (NodeStatement(("bfd", "profile"), IS, "fabric"),)
    )


def _decode_ttl_security_hops(nodes: ConfigNodeViews) -> int | None:
    """Return from how many hops a session accepts packets; one, where TTL security is on without a number."""
    node = first_value_decoder(lambda view: view.below("ttl-security") or None)(nodes)
    if node is None or not is_on(node):
        return None
    return node.integer("hops", 1, 254) or 1


def _encode_ttl_security(value: int, spoken: DialectWords) -> NodeStatements:
    return feature_state_statement(("ttl-security",), spoken), NodeStatement(("ttl-security", "hops"), IS, value)


def _decode_password(node: ConfigNodeView) -> str | None:
    stated = node.text("password")
    return None if stated is None else password_digest(stated)


def _encode_timers(hold_s: int, _: DialectWords) -> NodeStatements:
    """Return the statements of both timers, for FRR takes a keepalive time of at most a third of the hold time."""
    times = (("hold", hold_s), ("keepalive", hold_s // 3))
    return tuple(NodeStatement(("timers", key), IS, time or "none") for key, time in times)


def _decode_remote_asn(node: ConfigNodeView) -> int | Literal["external", "internal"] | None:
    stated = node.text("remote-as")
    return None if stated is None else _REMOTE_AS_WORDS.get(stated) or node.integer("remote-as", 1, MAX_UINT32)


def _session_type_encoder(spelt: str) -> Callable[[str, DialectWords], NodeStatements]:
    """Return the encoder for the end of a session: its key names it, and its type states its kind."""
    return lambda _key, _spoken: (NodeStatement(("type",), IS, spelt),)


def _unknown_port_refusal(interface: str | None, _: object) -> str | None:
    if interface is None or nvue_port(interface) is not None:
        return None
    return f"{interface} is no port of the switch"


def _refuse_unless_to_address(reason: str) -> Callable[[Any, BgpNeighbor], str | None]:
    """Return the check that a field at another value than its default is that of a session to an address."""
    return lambda value, session: reason if value and session.interface is not None else None


NUMBERED_SESSION_BINDINGS: tuple[NvueBinding, ...] = (
    number_binding(
        "ebgp_multihop",
        ("multihop-ttl",),
        1,
        255,
        words={"auto": None},
        refuses=(_refuse_unless_to_address("a session over an interface is to the far end of its link"),),
    ),
    flag_binding(
        "extended_next_hop",
        ("capabilities", "extended-nexthop"),
        on=("on", "enabled"),
        refuses=(_refuse_unless_to_address("a session over an interface has it by itself"),),
    ),
)
"""What only sessions to an address have: at its default on one over an interface, whatever its group states."""
COMMON_SESSION_BINDINGS: tuple[NvueBinding, ...] = (
    FieldBinding(
        field="enabled",
        where=(("shutdown",),),
        decode=_decode_enabled_state,
        encode=lambda value, spoken: () if value else (NodeStatement(("shutdown",), IS, spoken.on),),
    ),
    FieldBinding(
        field="bfd", where=(("bfd", "enable"), ("bfd", "profile"), ("bfd",)), decode=_has_bfd, encode=_encode_bfd
    ),
    replace(
        number_binding("hold_s", ("timers", "hold"), 3, 65535, "s", words={"none": 0, "auto": None}),
        encode=_encode_timers,
    ),
    flag_binding("passive", ("passive-mode",)),
    *LOCAL_AS_BINDINGS,
    replace(
        number_binding("ttl_security_hops", ("ttl-security", "hops"), 1, 254),
        decode=_decode_ttl_security_hops,
        encode=_encode_ttl_security,
    ),
    FieldBinding(
        field="connected_check",
        where=(("nexthop-connected-check",),),
        decode=first_value_decoder(lambda node: node.flag("nexthop-connected-check")),
        encode=lambda value, spoken: () if value else (NodeStatement(("nexthop-connected-check",), IS, spoken.off),),
    ),
    FieldBinding(
        field="password",
        where=(("password",),),
        decode=first_value_decoder(_decode_password),
        refuses=(refuse_unless_default("nodrop keeps no password, and writes none"),),
    ),
    FieldBinding(
        field="evpn",
        where=((*_EVPN_FAMILY_PATH, "state"), (*_EVPN_FAMILY_PATH, "enable")),
        decode=first_value_decoder(lambda node: is_on(node.below(*_EVPN_FAMILY_PATH))),
        refuses=(refuse_unless_default("nodrop does not write the address family of EVPN", default=False),),
    ),
    text_binding("update_source", ("update-source",), ("capabilities", "source-address")),
    *NUMBERED_SESSION_BINDINGS,
)
"""What sessions may have in common: of sessions in the same words, it is decoded once."""
ALL_SESSIONS_OF_PROCESS_BINDINGS = tuple(row for row in COMMON_SESSION_BINDINGS if row.field == "hold_s")
"""What a process states for its sessions, at the same path below it: counts if neither session nor group states it.

In FRR it is `timers bgp` (bgpd/bgp_vty.c), in NVIDIA's command reference `nv set vrf VRF router bgp timers`.
"""
FAR_END_BINDINGS: tuple[NvueBinding, ...] = (
    FieldBinding(field="address", encode=_session_type_encoder("numbered")),
    FieldBinding(field="interface", encode=_session_type_encoder("unnumbered"), refuses=(_unknown_port_refusal,)),
    FieldBinding(
        field="remote_asn",
        where=(("remote-as",),),
        decode=first_value_decoder(_decode_remote_asn),
        encode=lambda value, _: (NodeStatement(("remote-as",), IS, value),),
        refuses=(NumberRangeCheck(1, MAX_UINT32),),
    ),
    replace(
        text_binding("description", ("description",), mark=READS),
        decode=lambda nodes: nodes[0].text("description"),  # not inherited
    ),
)
"""What names the other end of a session, and is decoded for each."""
SESSION_BINDINGS: tuple[NvueBinding, ...] = (*FAR_END_BINDINGS, *COMMON_SESSION_BINDINGS)
SESSION_ONLY_WORDS = frozenset(path[0] for row in FAR_END_BINDINGS for path in row.where)
"""The words of a session's own settings."""


# A process, below that of its VRF


def _decode_networks(nodes: ConfigNodeViews) -> tuple[str, ...]:
    """Return the prefixes that a process originates, those of IPv4 first."""
    family_prefixes = [
        (":" in prefix, prefix)
        for family in FAMILY_PATHS
        for prefix in nodes[0].below(*family).texts("network")
        if check_prefix(nodes[0], prefix, *family, "network", prefix)
    ]
    return tuple(prefix for _, prefix in sorted(family_prefixes))


def check_prefix(node: ConfigNodeView, prefix: str, *below: str) -> bool:
    """Return whether a text is a prefix; if not, remark it at a path below a node."""
    is_valid = is_address_or_prefix(prefix)
    if not is_valid:
        node.config.remark_malformed_value((*node.path, *below), quote_text(prefix), "a prefix, such as 10.1.0.0/24")
    return is_valid


def _decode_aggregates(nodes: ConfigNodeViews) -> tuple[Aggregate, ...]:
    """Return the aggregates of a process, prefixes of IPv4 first; an aggregate with a route map is left out."""
    return tuple(
        Aggregate(
            prefix=prefix,
            summary_only=rows.below(prefix).flag("summary-only") is True,
            as_set=rows.below(prefix).flag("as-set") is True,
        )
        for family in FAMILY_PATHS
        for rows in [nodes[0].below(*family, "aggregate-route")]
        for prefix in sorted(nodes[0].below(*family).texts("aggregate-route"))
        if check_prefix(nodes[0], prefix, *family, "aggregate-route", prefix)
    )


def _encode_aggregates(rows: tuple[Aggregate, ...], spoken: DialectWords) -> NodeStatements:
    lines = []
    for row in rows:
        path = (*FAMILY_PATHS[":" in row.prefix], "aggregate-route", row.prefix)
        option_keys = [key for key, on in (("summary-only", row.summary_only), ("as-set", row.as_set)) if on]
        lines += [NodeStatement((*path, key), IS, spoken.on) for key in option_keys] or [NodeStatement(path)]
    return tuple(lines)


def _read_redistributions(nodes: ConfigNodeViews) -> tuple[Redistribution, ...]:
    families: tuple[tuple[Path, AddressFamily], ...] = ((FAMILY_PATHS[0], "ipv4"), (FAMILY_PATHS[1], "ipv6"))
    return tuple(
        Redistribution(source=source, family=family, policy=read_policy_name(rows.below(key), "route-map"))
        for path, family in families
        for rows in [nodes[0].below(*path, "redistribute")]
        for key, source in ROUTE_SOURCE_BY_NAME.items()
        if rows.has(key) and is_on(rows.below(key)) is not False
    )


def _encode_redistributions(rows: tuple[Redistribution, ...], spoken: DialectWords) -> NodeStatements:
    return tuple(line for row in rows for line in _redistribution_lines(row, spoken))


def _redistribution_lines(row: Redistribution, spoken: DialectWords) -> Iterator[NodeStatement]:
    path = (*FAMILY_PATHS[row.family == "ipv6"], "redistribute", row.source)
    yield feature_state_statement(path, spoken)
    if row.policy:
        yield NodeStatement((*path, "route-map"), READS, row.policy)


def _router_id_refusal(router_id: str | None, _: object) -> str | None:
    try:
        IPv4Address(router_id or 0)
    except AddressValueError:
        return f"{router_id} is no IPv4 address"
    return None


PROCESS_BINDINGS: tuple[NvueBinding, ...] = (
    FieldBinding(
        field="requires_policy",
        refuses=(
            refuse_unless_default("NVUE has no setting for it: sessions pass routes without policies", default=False),
        ),
    ),
    FieldBinding(
        field="import_check",
        refuses=(
            refuse_unless_default(
                "NVUE has no setting for it: networks are announced if there is a route", default=True
            ),
        ),
    ),
    FieldBinding(
        field="networks",
        decode=_decode_networks,
        encode=lambda prefixes, _: tuple(
            NodeStatement((*FAMILY_PATHS[":" in prefix], "network", prefix)) for prefix in prefixes
        ),
    ),
    FieldBinding(field="aggregates", decode=_decode_aggregates, encode=_encode_aggregates),
    FieldBinding(
        field="distances", refuses=(refuse_unless_default("nodrop does not write administrative distances of NVUE"),)
    ),
    FieldBinding(
        field="distances_ipv6",
        refuses=(refuse_unless_default("nodrop does not write administrative distances of NVUE"),),
    ),
    FieldBinding(
        field="installed_policy",
        refuses=(refuse_unless_default("nodrop does not write filters of NVUE's routing table"),),
    ),
    FieldBinding(
        field="installed_policy_ipv6",
        refuses=(refuse_unless_default("nodrop does not write filters of NVUE's routing table"),),
    ),
    FieldBinding(
        field="default_preference",
        refuses=(refuse_unless_default("NVUE has no setting for the default local preference"),),
    ),
    FieldBinding(
        field="maximum_med", refuses=(refuse_unless_default("NVUE has no setting for the MED of all routes"),)
    ),
    FieldBinding(field="redistributions", decode=_read_redistributions, encode=_encode_redistributions),
    number_binding("maximum_paths", (*FAMILY_PATHS[0], "multipaths", "ebgp"), 1, 256, most=128),
    number_binding("maximum_paths_ipv6", (*FAMILY_PATHS[1], "multipaths", "ebgp"), 1, 256, most=128),
    number_binding("maximum_paths_internal", (*FAMILY_PATHS[0], "multipaths", "ibgp"), 1, 256, most=128),
    number_binding("maximum_paths_internal_ipv6", (*FAMILY_PATHS[1], "multipaths", "ibgp"), 1, 256, most=128),
    FieldBinding(
        field="cluster_id", refuses=(refuse_unless_default("nodrop does not write route reflection of NVUE"),)
    ),
    flag_binding("multipath_relax", ("path-selection", "multipath", "aspath-ignore")),
    flag_binding("compare_router_id", ("path-selection", "routerid-compare")),
    flag_binding("always_compare_med", ("path-selection", "med", "compare-always")),
    FieldBinding(field="default_ipv4_unicast", decode=lambda _: UNKNOWN),
    FieldBinding(field="preserve_forwarding", decode=lambda _: UNKNOWN),
)
PROCESS_OR_GLOBAL_BINDINGS: tuple[NvueBinding, ...] = (
    number_binding("asn", ("autonomous-system",), 1, MAX_UINT32, words=dict.fromkeys(("none", "leaf", "spine"))),
    text_binding("router_id", ("router-id",), absent=("none", "auto"), refuses=(_router_id_refusal,)),
)
"""What is stated for a process, or for those of all VRFs at once below `router bgp`."""
GLOBAL_BGP_BINDINGS: tuple[NvueBinding, ...] = (
    flag_binding("suppress_fib_pending", ("wait-for-install",)),
    flag_binding("graceful_restart", ("graceful-restart", "mode"), on=("full",), written="full"),
    number_binding(
        "restart_s", ("graceful-restart", "restart-time"), 0, 4095, "s", refuses=(NumberRangeCheck(1, 3600),)
    ),
    number_binding("select_defer_s", ("graceful-restart", "path-selection-deferral-time"), 0, 3600, "s"),
    flag_binding("graceful_shutdown", ("graceful-shutdown",)),
    FieldBinding(
        field="session_dscp",
        refuses=(refuse_unless_default("NVUE has no setting for the DSCP of BGP's own packets"),),
    ),
)
"""What is stated only for those of all VRFs at once."""
