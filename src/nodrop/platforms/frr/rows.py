"""How FRR states the fields of BGP: a row per field, in the order of writing the commands.

The commands of `SESSION_COMMANDS` and `SESSION_FAMILY_COMMANDS` follow `neighbor KEY`, in a process and in its address
families. Those of `PROCESS_COMMANDS` and `PROCESS_FAMILY_COMMANDS` belong to a process and to its address families,
those of `TOP_LEVEL_COMMANDS` to no process. The reader, the writer, the places, the limits and the edits derive from
the rows. The ranges are those of FRR (bgpd/bgp_vty.c): vtysh refuses a file with other values.
"""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import IPv4Address

from nodrop.limits import MAX_DSCP, MAX_UINT32
from nodrop.model.addresses import AddressFamily, is_address_or_prefix
from nodrop.model.routing import Aggregate, Bgp, BgpNeighbor, Ipv6Unicast
from nodrop.platforms.frr.commands import CommandBinding, CommandValues, FieldCommandTable
from nodrop.platforms.frr.local_as import LOCAL_AS_BINDINGS
from nodrop.platforms.frr.next_hop import NEXT_HOP_BINDINGS
from nodrop.platforms.frr.row_shapes import flag_row, number_row, value_row
from nodrop.platforms.frr.words import checked_address, checked_number, checked_prefix_or_address, password_digest
from nodrop.platforms.kit.bindings import FieldBinding, NumberRangeCheck, refuse_unless_default
from nodrop.syntax.lines import CommandNotUnderstood

FAMILY_BY_BLOCK_COMMAND: Mapping[tuple[str, ...], AddressFamily] = {
    ("address-family", "ipv4", "unicast"): "ipv4",
    ("address-family", "ipv4"): "ipv4",
    ("address-family", "ipv6", "unicast"): "ipv6",
    ("address-family", "ipv6"): "ipv6",
}
"""The commands that open the block of an address family."""


# Of sessions


def _encode_remote_as(asn: int | str, neighbor: BgpNeighbor) -> str:
    """Return the command that makes a session."""
    return f"{'interface ' if neighbor.interface else ''}remote-as {asn}"


def _decode_asn(said: CommandValues) -> int | str:
    if not said.on:
        raise CommandNotUnderstood
    (word,) = said.values
    return word if word in ("external", "internal") else checked_number(word, 1)


def _join_words(*command_text: str) -> str:
    return " ".join(command_text)


def _decode_hold_time(said: CommandValues) -> int | None:
    return checked_number(said.values[1]) if said.on else None


def _encode_timers(hold_s: int, _: BgpNeighbor) -> str:
    return f"timers {hold_s // 3} {hold_s}"


_COMMAND_BY_PRIVATE_ASNS: Mapping[str, str] = {
    "remove": "remove-private-AS",
    "remove-all": "remove-private-AS all",
    "replace": "remove-private-AS replace-AS",
    "replace-all": "remove-private-AS all replace-AS",
}
"""What is done with private AS numbers, and its command."""
_PRIVATE_ASNS_BY_WORDS = {command.partition(" ")[2]: private for private, command in _COMMAND_BY_PRIVATE_ASNS.items()}


def _decode_private_as(said: CommandValues) -> str | None:
    private = _PRIVATE_ASNS_BY_WORDS.get(" ".join(said.values))
    if private is None:
        raise CommandNotUnderstood
    return private if said.on else None


def _encode_default_route(originates: bool, carried: BgpNeighbor | Ipv6Unicast) -> str:
    policy = f" route-map {carried.default_policy}" if originates and carried.default_policy else ""
    return f"{'' if originates else 'no '}default-originate{policy}"


def _default_policy_fault(policy: str | None, carried: BgpNeighbor | Ipv6Unicast) -> str | None:
    alone = policy is not None and not carried.default_originate
    return "there is no default route for it to be about" if alone else None


def _decode_prefix_limit(said: CommandValues) -> int | None:
    """Return the maximum number of prefixes of a session; the warning threshold (a share) takes nothing down."""
    if len(said.values) == 2:
        checked_number(said.values[1], 1, 100)
    return checked_number(said.values[0], 1, MAX_UINT32) if said.on else None


def _interface_multihop_fault(hops: int | None, neighbor: BgpNeighbor) -> str | None:
    is_refused = hops is not None and neighbor.interface is not None
    return "a session over an interface is to the far end of its link" if is_refused else None


def _ttl_security_with_multihop_fault(hops: int | None, neighbor: BgpNeighbor) -> str | None:
    """Refuse both at one session, as bgpd does (bgpd/bgpd.c, peer_ttl_security_hops_set)."""
    return None if hops is None or neighbor.ebgp_multihop is None else "the session has ebgp-multihop, too"


def _interface_ttl_security_hops_fault(hops: int | None, neighbor: BgpNeighbor) -> str | None:
    """Refuse more hops at a session over an interface, as bgpd does unless its group has them (bgpd/bgp_vty.c)."""
    too_many = hops is not None and hops > 1 and neighbor.interface is not None
    return "a session over an interface is one hop long" if too_many else None


def _extended_next_hop_on_interface_fault(on: bool, neighbor: BgpNeighbor) -> str | None:
    return "a session over an interface has it by itself" if on and neighbor.interface is not None else None


_SESSION_BINDINGS: tuple[CommandBinding, ...] = (
    FieldBinding(field="interface", where=("interface ...",)),
    FieldBinding(
        field="remote_asn",
        where=("remote-as *",),
        decode=_decode_asn,
        encode=_encode_remote_as,
        refuses=(NumberRangeCheck(1, MAX_UINT32),),
    ),
    value_row("description", "description **", read=_join_words),
    flag_row("bfd", "bfd", "bfd # # #", "bfd profile *", "bfd check-control-plane-failure ..."),
    FieldBinding(
        field="hold_s",
        where=("timers # #",),
        decode=_decode_hold_time,
        encode=_encode_timers,
        refuses=(NumberRangeCheck(3, 65535, frozenset({0})),),
    ),
    number_row(
        "ebgp_multihop", "ebgp-multihop [*]", NumberRangeCheck(1, 255), _interface_multihop_fault, bare=255
    ),  # bgpd/bgpd.h, MAXTTL
    flag_row("passive", "passive"),
    *LOCAL_AS_BINDINGS,
    number_row(
        "ttl_security_hops",
        "ttl-security hops *",
        NumberRangeCheck(1, 254),
        _ttl_security_with_multihop_fault,
        _interface_ttl_security_hops_fault,
    ),
    flag_row("connected_check", "disable-connected-check", means=False),
    FieldBinding(
        field="password",
        where=("password **",),
        decode=lambda said: password_digest(" ".join(said.values)) if said.on else None,
        refuses=(refuse_unless_default("nodrop keeps no password, and writes none"),),
    ),
    FieldBinding(
        field="evpn",
        refuses=(refuse_unless_default("nodrop does not write the address family of EVPN", default=False),),
    ),
    value_row("update_source", "update-source *"),
    flag_row("extended_next_hop", "capability extended-nexthop", refuses=(_extended_next_hop_on_interface_fault,)),
    flag_row("enabled", "shutdown", "shutdown message ...", means=False),
)


_SESSION_FAMILY_BINDINGS: tuple[CommandBinding, ...] = (
    flag_row("active", "activate"),
    *NEXT_HOP_BINDINGS,
    flag_row("reflector_client", "route-reflector-client"),
    number_row("allowas_in", "allowas-in [*]", NumberRangeCheck(1, 10), bare=3),
    value_row("import_prefix_list", "prefix-list * in"),
    value_row("export_prefix_list", "prefix-list * out"),
    value_row("import_policy", "route-map * in"),
    value_row("export_policy", "route-map * out"),
    value_row("import_path_list", "filter-list * in"),
    value_row("export_path_list", "filter-list * out"),
    number_row("weight", "weight *", NumberRangeCheck(0, 65535)),
    flag_row("as_override", "as-override"),
    FieldBinding(
        field="private_asns",
        where=("remove-private-AS [*] [*]",),
        decode=_decode_private_as,
        encode=lambda value, _: _COMMAND_BY_PRIVATE_ASNS[value],
    ),
    FieldBinding(
        field="default_originate",
        where=("default-originate", "default-originate route-map *"),
        decode=lambda said: said.on,
        encode=_encode_default_route,
    ),
    FieldBinding(
        field="default_policy",
        where=("default-originate", "default-originate route-map *"),
        decode=lambda said: said.values[0] if said.on and said.values else None,
        encode=lambda value, _: f"default-originate route-map {value}",
        refuses=(_default_policy_fault,),
    ),
    FieldBinding(
        field="maximum_prefix",
        where=("maximum-prefix #", "maximum-prefix # #"),
        decode=_decode_prefix_limit,
        encode=lambda value, _: f"maximum-prefix {value}",
        refuses=(NumberRangeCheck(1, MAX_UINT32),),
    ),
)
LIST_KINDS_BY_COMMAND: Mapping[str, Mapping[AddressFamily, str]] = {
    "route-map": {"ipv4": "route map", "ipv6": "route map"},
    "prefix-list": {"ipv4": "IPv4 prefix list", "ipv6": "IPv6 prefix list"},
    "filter-list": {"ipv4": "AS path list", "ipv6": "AS path list"},
}
"""The commands of a session whose first value is the name of a list or map, and its kind in each address family."""


def words_behind_interface(line_words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the rest of a session command behind `interface`: `neighbor PORT interface v6only remote-as 65000`."""
    return line_words[2:] if line_words[1:2] == ("v6only",) else line_words[1:]


GROUP_DEFAULT_FLAGS = frozenset({"enabled", "passive", "connected_check"})
"""Flags of a session that `no` leaves to its peer group (bgpd/bgpd.c, peer_flag_modify)."""
EXCLUSIVE_HOP_FIELDS = frozenset({"ebgp_multihop", "ttl_security_hops"})
"""Fields of which bgpd takes the first that is stated, and refuses the other."""
FIELDS_NOT_INHERITED = frozenset({"address", "interface", "description"})
"""What a member does not inherit from its peer group."""

# Of processes


def _router_id_fault(value: str | None, _: object) -> str | None:
    fits = value is None or (":" not in value and "/" not in value and is_address_or_prefix(value))
    return None if fits else f"{value} is not an address of IPv4"


def _parse_cluster_id(word: str) -> str:
    """Return the id of a cluster, which may be stated as a number."""
    return checked_address(word) if "." in word else str(IPv4Address(checked_number(word, 1, MAX_UINT32)))


def _prefix_fault(networks: tuple[str, ...], _: object) -> str | None:
    wrong = next((network for network in networks if not is_address_or_prefix(network)), None)
    return None if wrong is None else f"{wrong} is not a prefix"


def _network_order_fault(networks: tuple[str, ...], _: object) -> str | None:
    ordered = list(networks) == sorted(networks, key=lambda network: ":" in network)
    return None if ordered else "those of IPv6 are written behind those of IPv4"


def _router_bgp_line(asn: int, bgp: Bgp) -> str:
    return f"router bgp {asn}{f' vrf {bgp.vrf}' if bgp.vrf else ''}"


def _maximum_paths_row(field: str, words: str = "maximum-paths *") -> CommandBinding:
    """Return the row of equal paths: more are read than SONiC's bgpd takes (MULTIPATH_NUM), for others take more."""
    return value_row(field, words, read=checked_number, refuses=(NumberRangeCheck(1, 514),))


def _seconds_row(field: str, words: str, most: int) -> CommandBinding:
    """Return the row of a time in seconds, which `no` leaves to the daemon."""
    return FieldBinding(
        field=field,
        where=(f"{words} *",),
        decode=lambda said: checked_number(said.values[0], 0, most) if said.on else None,
        encode=lambda value, _: f"{words} {value}",
        refuses=(NumberRangeCheck(0, most),),
    )


def _bgp_distances_row(field: str) -> CommandBinding:
    def parse_number(*words: str) -> tuple[int, ...]:
        return tuple(checked_number(word, 1, 255) for word in words)

    def refuses(value: tuple[int, int, int] | None, _: object) -> str | None:
        within = value is None or all(1 <= distance <= 255 for distance in value)
        return None if within else "is not from 1 to 255"

    return replace(
        value_row(field, "distance bgp * * *", read=parse_number, refuses=(refuses,)),
        encode=lambda value, _: f"distance bgp {' '.join(map(str, value))}",
    )


def _zebra_route_map_row(field: str, family: str) -> CommandBinding:
    """Return the row of the route map that zebra asks of routes of the default VRF."""

    def refuses(name: str | None, bgp: Bgp) -> str | None:
        return "it is written for the default VRF only" if name is not None and bgp.vrf is not None else None

    return value_row(field, f"{family} protocol bgp route-map *", refuses=(refuses,))


def parse_aggregate(line_words: tuple[str, ...]) -> Aggregate:
    """Return the aggregate that words behind `aggregate-address` state; CommandNotUnderstood for any other word."""
    if not line_words or not {"summary-only", "as-set"}.issuperset(line_words[1:]):
        raise CommandNotUnderstood
    return Aggregate(
        prefix=checked_prefix_or_address(line_words[0]),
        summary_only="summary-only" in line_words,
        as_set="as-set" in line_words,
    )


def aggregate_line(route: Aggregate) -> str:
    """Return the command of an aggregate."""
    return f"aggregate-address {route.prefix}{' as-set' * route.as_set}{' summary-only' * route.summary_only}"


def _aggregate_fault(aggregates: tuple[Aggregate, ...], _: object) -> str | None:
    names = tuple(one.prefix for one in aggregates)
    again = "one prefix is aggregated once" if len(set(names)) < len(names) else None
    return again or _prefix_fault(names, _) or _network_order_fault(names, _)


_PROCESS_BINDINGS: tuple[CommandBinding, ...] = (
    FieldBinding(
        field="asn",
        where=("router bgp *", "router bgp * vrf ..."),
        encode=_router_bgp_line,
        refuses=(NumberRangeCheck(1, MAX_UINT32),),
    ),
    value_row("router_id", "bgp router-id *", read=checked_address, refuses=(_router_id_fault,)),
    value_row("cluster_id", "bgp cluster-id *", read=_parse_cluster_id, refuses=(_router_id_fault,)),
    flag_row("default_ipv4_unicast", "bgp default ipv4-unicast"),
    flag_row("requires_policy", "bgp ebgp-requires-policy"),
    flag_row("import_check", "bgp network import-check", "bgp network import-check exact"),
    FieldBinding(
        field="default_preference",
        where=("bgp default local-preference *",),
        decode=lambda said: checked_number(said.values[0]) if said.on else None,
        encode=lambda value, _: f"bgp default local-preference {value}",
        refuses=(NumberRangeCheck(0, MAX_UINT32),),
    ),
    flag_row("always_compare_med", "bgp always-compare-med"),
    flag_row(
        "multipath_relax",
        "bgp bestpath as-path multipath-relax",
        "bgp bestpath as-path multipath-relax no-as-set",
    ),
    flag_row("compare_router_id", "bgp bestpath compare-routerid"),
    flag_row("suppress_fib_pending", "bgp suppress-fib-pending"),
    _seconds_row("restart_s", "bgp graceful-restart restart-time", 4095),
    flag_row("graceful_restart", "bgp graceful-restart"),
    flag_row("preserve_forwarding", "bgp graceful-restart preserve-fw-state"),
    _seconds_row("select_defer_s", "bgp graceful-restart select-defer-time", 3600),
    flag_row("graceful_shutdown", "bgp graceful-shutdown"),
    number_row("maximum_med", "bgp max-med administrative [*]", NumberRangeCheck(0, MAX_UINT32), bare=4294967294),
    FieldBinding(
        field="aggregates", where=("aggregate-address *", "aggregate-address * ..."), refuses=(_aggregate_fault,)
    ),
    FieldBinding(field="networks", where=("network *",), refuses=(_prefix_fault, _network_order_fault)),
)
_ALL_SESSIONS_OF_PROCESS_BINDINGS = tuple(
    replace(row, where=("timers bgp # #",)) for row in _SESSION_BINDINGS if row.where == ("timers # #",)
)
"""Commands of a process that state a field of all its sessions."""
_EVERY_SESSION_IPV6_BINDINGS: tuple[CommandBinding, ...] = (flag_row("active", "bgp default ipv6-unicast"),)

SESSION_COMMANDS = FieldCommandTable(BgpNeighbor, _SESSION_BINDINGS)
SESSION_FAMILY_COMMANDS = FieldCommandTable(BgpNeighbor, _SESSION_FAMILY_BINDINGS)
SESSION_AND_FAMILY_COMMANDS = FieldCommandTable(BgpNeighbor, (*_SESSION_BINDINGS, *_SESSION_FAMILY_BINDINGS))
"""All commands of a session: FRR takes those of IPv4 unicast in the process, too."""
PROCESS_COMMANDS = FieldCommandTable(Bgp, _PROCESS_BINDINGS)
ALL_SESSIONS_OF_PROCESS_COMMANDS = FieldCommandTable(BgpNeighbor, _ALL_SESSIONS_OF_PROCESS_BINDINGS)
EVERY_SESSION_IPV6_COMMANDS = FieldCommandTable(Ipv6Unicast, _EVERY_SESSION_IPV6_BINDINGS)
PROCESS_FAMILY_COMMANDS: Mapping[AddressFamily, FieldCommandTable] = {
    "ipv4": FieldCommandTable(
        Bgp,
        (
            _maximum_paths_row("maximum_paths"),
            _maximum_paths_row("maximum_paths_internal", "maximum-paths ibgp *"),
            _bgp_distances_row("distances"),
        ),
    ),
    "ipv6": FieldCommandTable(
        Bgp,
        (
            _maximum_paths_row("maximum_paths_ipv6"),
            _maximum_paths_row("maximum_paths_internal_ipv6", "maximum-paths ibgp *"),
            _bgp_distances_row("distances_ipv6"),
        ),
    ),
}
ZEBRA_COMMANDS = FieldCommandTable(
    Bgp, (_zebra_route_map_row("installed_policy", "ip"), _zebra_route_map_row("installed_policy_ipv6", "ipv6"))
)
"""Commands of zebra, outside any BGP process."""
TOP_LEVEL_COMMANDS = FieldCommandTable(
    Bgp, (number_row("session_dscp", "bgp session-dscp *", NumberRangeCheck(0, MAX_DSCP)),)
)
ALL_PROCESS_COMMANDS = FieldCommandTable(
    Bgp,
    (
        row
        for commands in (PROCESS_COMMANDS, *PROCESS_FAMILY_COMMANDS.values(), ZEBRA_COMMANDS, TOP_LEVEL_COMMANDS)
        for row in commands.rows
    ),
)
"""All commands that state fields of a process."""


def is_session_field_command(field: str, line_words: tuple[str, ...]) -> bool:
    """Whether a command, with `neighbor KEY` and perhaps `no`, states a field of the session."""
    start = 1 if line_words[0] == "no" else 0
    setting = line_words[start + 2 :]
    inner = words_behind_interface(setting) if setting[:1] == ("interface",) else setting
    return SESSION_AND_FAMILY_COMMANDS.states_field(
        field, (*line_words[:start], *setting)
    ) or SESSION_AND_FAMILY_COMMANDS.states_field(field, (*line_words[:start], *inner))


def format_session_command(key: str, command_text: str) -> str:
    """Return a command of a session, or of a peer group, from its words behind the name."""
    taken_back = command_text.startswith("no ")
    return f"no neighbor {key} {command_text[3:]}" if taken_back else f"neighbor {key} {command_text}"


def session_lines(key: str, session: BgpNeighbor) -> list[str]:
    """Return the commands of a session in its process; for a peer group, give the group's name as the key."""
    return [format_session_command(key, words) for words in SESSION_COMMANDS.commands_of_non_default_fields(session)]


def session_family_lines(key: str, carried: BgpNeighbor | Ipv6Unicast, *, by_default: object) -> list[str]:
    """Return the commands of a session in an address family, which it carries `by_default` if no command states it."""
    return [
        format_session_command(key, words)
        for words in SESSION_FAMILY_COMMANDS.commands_of_non_default_fields(carried, active=by_default)
    ]
