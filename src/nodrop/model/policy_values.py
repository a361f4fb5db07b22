"""The meaning of values of route maps and lists in FRR, as the model keeps them: numbers, AS paths, communities.

Each is None where FRR takes no such value, or where its effect is not computed. Sources: FRR bgpd/bgp_regex.c and
bgp_filter.c (AS paths), bgp_clist.c and bgp_community.c (communities), bgp_routemap.c (set commands), lib/asn.c (AS
numbers with a dot, since FRR 9.0), lib/command.h (words of a command). `set local-preference +5` is not computed: on a
route of another AS it counts from 0 in FRR 8.4 to 10.0, and from the default in later releases (bgp_routemap.c,
route_set_local_pref).
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, NamedTuple

from nodrop.limits import MAX_UINT32
from nodrop.model.addresses import AddressFamily, is_address_or_prefix
from nodrop.model.routing import AsPathList, CommunityList
from nodrop.syntax.posix import PosixRegularExpression, compile_posix_regex

MAX_PREPENDED = 250
"""How many AS numbers one command can prepend: FRR reads 256 words of one (CMD_ARGC_MAX)."""
MAX_REGEX_STATES_PER_LIST = 20_000
"""How many states the expressions of one list may have together."""

_FRR_UNDERSCORE_PATTERN = "(^|[,{}() ]|$)"
"""What bgp_regcomp puts in the place of each `_`."""
_AS_PATH_EXPRESSION_PATTERN = re.compile(r"[0-9_^|\[,{}() \]$*+.?\\-]*")
"""What FRR takes in an expression of AS paths (config_bgp_aspath_validate)."""
_DIGITS_PATTERN = re.compile(r"[0-9]{1,20}")
_DECIMAL_PATTERN = re.compile(r"0|[1-9][0-9]{0,9}")
_LAST_AS_PATTERN = re.compile(r"last-as ([1-9]|10)")
_SIGNED_NUMBER_PATTERN = re.compile(r"([+-]?)([0-9]{1,20})")
_GOTO_PATTERN = re.compile(r"goto ([1-9][0-9]{0,4})")
_LARGEST_SEQUENCE = 65535
_IPV4_PATTERN = re.compile(r"([0-9]{1,3})(?:\.[0-9]{1,3}){3}")
_FIRST_MULTICAST_OCTET = 224
_LINK_BANDWIDTH_PATTERN = re.compile(
    r"(?:num-multipaths|cumulative|[1-9][0-9]{0,3}|1[0-9]{4}|2[0-4][0-9]{3}|25[0-5][0-9]{2}|25600)(?: non-transitive)?"
)
"""bgpd/bgp_routemap.c, set_ecomm_lb: megabytes per second from 1 to 25600, or a number of paths, or their sum."""
_COMMUNITY_PATTERN = re.compile(r"([0-9]{1,5}):([0-9]{1,5})")

PREFIX_LIST_MATCH_BY_FAMILY: Final[Mapping[AddressFamily, str]] = {
    "ipv4": "ip address prefix-list",
    "ipv6": "ipv6 address prefix-list",
}
"""What a route map matches to hold routes of a family against a prefix list."""
LINK_BANDWIDTH: Final = "extcommunity bandwidth"
"""What a route map sets to give a route a link bandwidth (RFC 10005)."""
BANDWIDTH_BY_PATH_COUNT: Final = "num-multipaths"
"""The link bandwidth that is the number of equal paths, which is independent of the speed of cables."""
ORIGIN_NUMBER_BY_NAME: Final = {"igp": 0, "egp": 1, "incomplete": 2}

_NUMBER_BY_WELL_KNOWN_COMMUNITY: Final = {
    "internet": 0,
    "graceful-shutdown": 0xFFFF0000,
    "accept-own": 0xFFFF0001,
    "route-filter-translated-v4": 0xFFFF0002,
    "route-filter-v4": 0xFFFF0003,
    "route-filter-translated-v6": 0xFFFF0004,
    "route-filter-v6": 0xFFFF0005,
    "llgr-stale": 0xFFFF0006,
    "no-llgr": 0xFFFF0007,
    "accept-own-nexthop": 0xFFFF0008,
    "blackhole": 0xFFFF029A,
    "no-export": 0xFFFFFF01,
    "no-advertise": 0xFFFFFF02,
    "local-AS": 0xFFFFFF03,
    "no-peer": 0xFFFFFF04,
}
_WELL_KNOWN_COMMUNITY_BY_NUMBER: Final = {number: name for name, number in _NUMBER_BY_WELL_KNOWN_COMMUNITY.items()}


class NumberChange(NamedTuple):
    """A route map's change to a number: with a sign it is added or subtracted, else it replaces the old number."""

    sign: str
    amount: int

    def apply_to(self, before: int) -> int:
        """Return the new number; it stays within 32 bits."""
        if self.sign:
            before += -self.amount if self.sign == "-" else self.amount
            return min(max(before, 0), MAX_UINT32)
        return self.amount


class AsPathPrepend(NamedTuple):
    """AS numbers that come before a path, or how often its own first one does."""

    numbers: tuple[int, ...] = ()
    last: int = 0

    def apply_to(self, path: tuple[int, ...]) -> tuple[int, ...]:
        """Return the longer path."""
        return (*self.numbers, *path[:1] * self.last, *path)


def parse_as_path_expression(subject_text: str) -> PosixRegularExpression | None:
    """Return an expression of an AS path list, for paths such as `65001 65002`; None where nothing is known of it."""
    return (
        compile_posix_regex(subject_text.replace("_", _FRR_UNDERSCORE_PATTERN))
        if _AS_PATH_EXPRESSION_PATTERN.fullmatch(subject_text)
        else None
    )


def parse_community_expression(subject_text: str) -> PosixRegularExpression | None:
    """Return an expression of an expanded community list; None where nothing is known of it."""
    return compile_posix_regex(subject_text.replace("_", _FRR_UNDERSCORE_PATTERN))


def is_route_map_clause_computable(verb: Literal["match", "set"], kind: str, value: str) -> bool:
    """Whether FRR takes a value of a route map and its effect is computed: false for `set metric rtt`."""
    return _READER_BY_CLAUSE[verb, kind](value) is not None if (verb, kind) in _READER_BY_CLAUSE else True


def is_valid_route_map_goto(sequence: int, value: str) -> bool:
    """Whether a rule with this number can go on there: FRR takes no goto to the rule itself or to an earlier one."""
    match = _GOTO_PATTERN.fullmatch(value)
    return value == "next" or (match is not None and sequence < int(match[1]) <= _LARGEST_SEQUENCE)


def are_policy_list_lines_computable(policy_list: CommunityList | AsPathList) -> bool:
    """Whether all lines of a list are computed."""
    if isinstance(policy_list, CommunityList) and not policy_list.expanded:
        return all(map(normalize_community, (text for _, texts in policy_list.rules for text in texts)))
    read = parse_as_path_expression if isinstance(policy_list, AsPathList) else parse_community_expression
    states = 0
    for _, expression_text in policy_list.rules:
        expression = read(expression_text if isinstance(expression_text, str) else " ".join(expression_text))
        if expression is None:
            return False
        states += expression.states
    return states <= MAX_REGEX_STATES_PER_LIST


def parse_as_number(subject_text: str) -> int | None:
    """Return an AS number, plain or with a dot (RFC 5396); None where the text is none."""
    high, dot, low = subject_text.partition(".")
    numerals = [high, low] if dot else [high]
    if not all(map(_DECIMAL_PATTERN.fullmatch, numerals)):
        return None
    number = int(high)
    if dot:
        if max(number, int(low)) > 65535:
            return None
        number = (number << 16) + int(low)
    return number if 0 < number <= MAX_UINT32 else None


def parse_prepend(value: str) -> AsPathPrepend | None:
    """Return what `set as-path prepend` adds."""
    if last := _LAST_AS_PATTERN.fullmatch(value):
        return AsPathPrepend(last=int(last[1]))
    words = value.split()
    numbers = tuple(number for word in words[: MAX_PREPENDED + 1] if (number := parse_as_number(word)) is not None)
    return AsPathPrepend(numbers) if words and len(numbers) == len(words) <= MAX_PREPENDED else None


def parse_number_change(value: str) -> NumberChange | None:
    """Return what `set metric` and its like make of a number."""
    match = _SIGNED_NUMBER_PATTERN.fullmatch(value)
    return NumberChange(match[1], int(match[2])) if match and int(match[2]) <= MAX_UINT32 else None


def parse_32_bit_number(value: str) -> int | None:
    """Return a number of 32 bits."""
    return int(value) if _DIGITS_PATTERN.fullmatch(value) and int(value) <= MAX_UINT32 else None


def parse_tag(value: str) -> int | None:
    """Return a tag; `untagged` is 0, which cannot be written as a number."""
    return 0 if value == "untagged" else parse_32_bit_number(value) or None


def parse_origin(value: str) -> int | None:
    """Return the number of an origin (RFC 4271, section 4.3)."""
    return ORIGIN_NUMBER_BY_NAME.get(value)


def parse_link_bandwidth(value: str) -> str | None:
    """Return the link bandwidth that `set extcommunity bandwidth` gives a route; None where FRR takes no such value.

    It weighs equal paths, and decides neither the best path nor which paths are equal.
    """
    return value if _LINK_BANDWIDTH_PATTERN.fullmatch(value) else None


def parse_set_community(value: str) -> tuple[tuple[str, ...], bool] | None:
    """Return the communities that `set community` gives, and whether those that are there stay."""
    if value == "none":
        return (), False
    *tokens, last = value.split() or [""]
    added = last == "additive"
    communities = tuple(map(normalize_community, tokens if added else (*tokens, last)))
    return (tuple(text for text in communities if text), added) if communities and None not in communities else None


def parse_ipv6_next_hop_preference(value: str) -> str | None:
    """Return the value of `set ipv6 next-hop` where it names no other next hop: which of the two of a link is used."""
    return value if value == "prefer-global" else None


def parse_global_ipv6_next_hop(value: str) -> str | None:
    """Return the value of `set ipv6 next-hop global`: an IPv6 address that is not of a link alone, nor multicast."""
    first = value.partition(":")[0].lower()
    is_of_link = first.startswith(("fe8", "fe9", "fea", "feb", "ff")) and len(first) == 4
    return (
        value
        if ":" in value and "/" not in value and is_address_or_prefix(value) and first and not is_of_link
        else None
    )


def parse_set_next_hop(value: str) -> str | None:
    """Return the value of `set ip next-hop`: an address that a neighbor can have, or the next hop that a route has."""
    return value if value in ("unchanged", "peer-address") or is_ipv4_unicast_address(value) else None


def is_ipv4_unicast_address(value: str) -> bool:
    """Whether a text is an IPv4 address that a next hop can have (FRR, lib/prefix.h, ipv4_unicast_valid)."""
    found = _IPV4_PATTERN.fullmatch(value)
    return (
        found is not None
        and int(found[1]) not in (0, 127)
        and int(found[1]) < _FIRST_MULTICAST_OCTET
        and is_address_or_prefix(value)
    )


def parse_source_address(value: str) -> str | None:
    """Return the source address that a route gives to packets of the switch."""
    return value if "/" not in value and is_address_or_prefix(value) else None


def parse_list_name(value: str) -> str | None:
    """Return the name of a list."""
    return value if len(value.split()) == 1 else None


def parse_match_community(value: str) -> tuple[str, bool] | None:
    """Return the list that `match community` names, and whether no other community may be there."""
    match value.split():
        case [name]:
            return name, False
        case [name, "exact-match"]:
            return name, True
    return None


def normalize_community(subject_text: str) -> str | None:
    """Return a community in FRR's display form; None where the text is not a community."""
    value = _community_number(subject_text)
    return None if value is None else _WELL_KNOWN_COMMUNITY_BY_NUMBER.get(value, f"{value >> 16}:{value & 0xFFFF}")


def render_communities(communities: Iterable[str]) -> str:
    """Return communities as FRR shows them, in the order of their values: what expressions are matched with."""
    return " ".join(sorted(communities, key=lambda text: _community_number(text) or 0))


def _community_number(subject_text: str) -> int | None:
    if subject_text in _NUMBER_BY_WELL_KNOWN_COMMUNITY:
        return _NUMBER_BY_WELL_KNOWN_COMMUNITY[subject_text]
    if pair := _COMMUNITY_PATTERN.fullmatch(subject_text):
        high, low = int(pair[1]), int(pair[2])
        return (high << 16) + low if max(high, low) <= 65535 else None
    return parse_32_bit_number(subject_text)


_READER_BY_CLAUSE: Final[Mapping[tuple[str, str], Callable[[str], object]]] = {
    ("match", "ip address prefix-list"): parse_list_name,
    ("match", "ipv6 address prefix-list"): parse_list_name,
    ("match", "as-path"): parse_list_name,
    ("match", "community"): parse_match_community,
    ("match", "tag"): parse_tag,
    ("match", "metric"): parse_32_bit_number,
    ("set", "as-path prepend"): parse_prepend,
    ("set", "community"): parse_set_community,
    ("set", LINK_BANDWIDTH): parse_link_bandwidth,
    ("set", "ip next-hop"): parse_set_next_hop,
    ("set", "ipv6 next-hop"): parse_ipv6_next_hop_preference,
    ("set", "ipv6 next-hop global"): parse_global_ipv6_next_hop,
    ("set", "local-preference"): parse_32_bit_number,
    ("set", "metric"): parse_number_change,
    ("set", "origin"): parse_origin,
    ("set", "src"): parse_source_address,
    ("set", "tag"): parse_tag,
    ("set", "weight"): parse_32_bit_number,
}
