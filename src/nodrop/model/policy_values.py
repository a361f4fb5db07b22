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

from nodrop.limits import MAX_32_BITS
from nodrop.model.addresses import is_prefix
from nodrop.model.routing import AsPathList, CommunityList
from nodrop.syntax.posix import Expression, compiled

MAX_PREPENDED = 250
"""How many AS numbers one command can prepend: FRR reads 256 words of one (CMD_ARGC_MAX)."""
MAX_LIST_STATES = 20_000
"""How many states the expressions of one list may have together."""

_BETWEEN = "(^|[,{}() ]|$)"
"""What bgp_regcomp puts in the place of each `_`."""
_OF_PATHS = re.compile(r"[0-9_^|\[,{}() \]$*+.?\\-]*")
"""What FRR takes in an expression of AS paths (config_bgp_aspath_validate)."""
_DIGITS = re.compile(r"[0-9]{1,20}")
_DECIMAL = re.compile(r"0|[1-9][0-9]{0,9}")
_LAST = re.compile(r"last-as ([1-9]|10)")
_CHANGE = re.compile(r"([+-]?)([0-9]{1,20})")
_GOTO = re.compile(r"goto ([1-9][0-9]{0,4})")
_LARGEST_SEQUENCE = 65535
_IPV4 = re.compile(r"([0-9]{1,3})(?:\.[0-9]{1,3}){3}")
_FIRST_MULTICAST = 224
_LINK_BANDWIDTH = re.compile(
    r"(?:num-multipaths|cumulative|[1-9][0-9]{0,3}|1[0-9]{4}|2[0-4][0-9]{3}|25[0-5][0-9]{2}|25600)(?: non-transitive)?"
)
"""bgpd/bgp_routemap.c, set_ecomm_lb: megabytes per second from 1 to 25600, or a number of paths, or their sum."""
_COMMUNITY = re.compile(r"([0-9]{1,5}):([0-9]{1,5})")

ORIGINS: Final = {"igp": 0, "egp": 1, "incomplete": 2}

_WELL_KNOWN: Final = {
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
_NAMES: Final = {number: name for name, number in _WELL_KNOWN.items()}


class Change(NamedTuple):
    """A route map's change to a number: with a sign it is added or subtracted, else it replaces the old number."""

    sign: str
    amount: int

    def of(self, before: int) -> int:
        """Return the new number; it stays within 32 bits."""
        if self.sign:
            before += -self.amount if self.sign == "-" else self.amount
            return min(max(before, 0), MAX_32_BITS)
        return self.amount


class Prepend(NamedTuple):
    """AS numbers that come before a path, or how often its own first one does."""

    numbers: tuple[int, ...] = ()
    last: int = 0

    def of(self, path: tuple[int, ...]) -> tuple[int, ...]:
        """Return the longer path."""
        return (*self.numbers, *path[:1] * self.last, *path)


def path_expression(subject_text: str) -> Expression | None:
    """Return an expression of an AS path list, for paths such as `65001 65002`; None where nothing is known of it."""
    return compiled(subject_text.replace("_", _BETWEEN)) if _OF_PATHS.fullmatch(subject_text) else None


def community_expression(subject_text: str) -> Expression | None:
    """Return an expression of an expanded community list; None where nothing is known of it."""
    return compiled(subject_text.replace("_", _BETWEEN))


def computable(verb: Literal["match", "set"], kind: str, value: str) -> bool:
    """Whether FRR takes a value of a route map and its effect is computed: false for `set metric rtt`."""
    return _READ[verb, kind](value) is not None if (verb, kind) in _READ else True


def goes_on(sequence: int, value: str) -> bool:
    """Whether a rule with this number can go on there: FRR takes no goto to the rule itself or to an earlier one."""
    match = _GOTO.fullmatch(value)
    return value == "next" or (match is not None and sequence < int(match[1]) <= _LARGEST_SEQUENCE)


def is_computable_list(policy_list: CommunityList | AsPathList) -> bool:
    """Whether all lines of a list are computed."""
    if isinstance(policy_list, CommunityList) and not policy_list.expanded:
        return all(map(community, (text for _, texts in policy_list.rules for text in texts)))
    read = path_expression if isinstance(policy_list, AsPathList) else community_expression
    states = 0
    for _, expression_text in policy_list.rules:
        expression = read(expression_text if isinstance(expression_text, str) else " ".join(expression_text))
        if expression is None:
            return False
        states += expression.states
    return states <= MAX_LIST_STATES


def as_number(subject_text: str) -> int | None:
    """Return an AS number, plain or with a dot (RFC 5396); None where the text is none."""
    high, dot, low = subject_text.partition(".")
    numerals = [high, low] if dot else [high]
    if not all(map(_DECIMAL.fullmatch, numerals)):
        return None
    number = int(high)
    if dot:
        if max(number, int(low)) > 65535:
            return None
        number = (number << 16) + int(low)
    return number if 0 < number <= MAX_32_BITS else None


def prepended(value: str) -> Prepend | None:
    """Return what `set as-path prepend` adds."""
    if last := _LAST.fullmatch(value):
        return Prepend(last=int(last[1]))
    words = value.split()
    numbers = tuple(number for word in words[: MAX_PREPENDED + 1] if (number := as_number(word)) is not None)
    return Prepend(numbers) if words and len(numbers) == len(words) <= MAX_PREPENDED else None


def change(value: str) -> Change | None:
    """Return what `set metric` and its like make of a number."""
    match = _CHANGE.fullmatch(value)
    return Change(match[1], int(match[2])) if match and int(match[2]) <= MAX_32_BITS else None


def number(value: str) -> int | None:
    """Return a number of 32 bits."""
    return int(value) if _DIGITS.fullmatch(value) and int(value) <= MAX_32_BITS else None


def tag(value: str) -> int | None:
    """Return a tag; `untagged` is 0, which cannot be written as a number."""
    return 0 if value == "untagged" else number(value) or None


def origin(value: str) -> int | None:
    """Return the number of an origin (RFC 4271, section 4.3)."""
    return ORIGINS.get(value)


def link_bandwidth(value: str) -> str | None:
    """Return the link bandwidth that `set extcommunity bandwidth` gives a route; None where FRR takes no such value.

    It weighs equal paths, and decides neither the best path nor which paths are equal.
    """
    return value if _LINK_BANDWIDTH.fullmatch(value) else None


def communities_set(value: str) -> tuple[tuple[str, ...], bool] | None:
    """Return the communities that `set community` gives, and whether those that are there stay."""
    if value == "none":
        return (), False
    *tokens, last = value.split() or [""]
    added = last == "additive"
    communities = tuple(map(community, tokens if added else (*tokens, last)))
    return (tuple(text for text in communities if text), added) if communities and None not in communities else None


def preferred_next_hop(value: str) -> str | None:
    """Return the value of `set ipv6 next-hop` where it names no other next hop: which of the two of a link is used."""
    return value if value == "prefer-global" else None


def global_next_hop(value: str) -> str | None:
    """Return the value of `set ipv6 next-hop global`: an IPv6 address that is not of a link alone, nor multicast."""
    first = value.partition(":")[0].lower()
    is_of_link = first.startswith(("fe8", "fe9", "fea", "feb", "ff")) and len(first) == 4
    return value if ":" in value and "/" not in value and is_prefix(value) and first and not is_of_link else None


def next_hop(value: str) -> str | None:
    """Return the value of `set ip next-hop`: an address that a neighbor can have, or the next hop that a route has."""
    return value if value in ("unchanged", "peer-address") or is_unicast_address(value) else None


def is_unicast_address(value: str) -> bool:
    """Whether a text is an IPv4 address that a next hop can have (FRR, lib/prefix.h, ipv4_unicast_valid)."""
    found = _IPV4.fullmatch(value)
    return found is not None and int(found[1]) not in (0, 127) and int(found[1]) < _FIRST_MULTICAST and is_prefix(value)


def source(value: str) -> str | None:
    """Return the source address that a route gives to packets of the switch."""
    return value if "/" not in value and is_prefix(value) else None


def name(value: str) -> str | None:
    """Return the name of a list."""
    return value if len(value.split()) == 1 else None


def community_list(value: str) -> tuple[str, bool] | None:
    """Return the list that `match community` names, and whether no other community may be there."""
    match value.split():
        case [name]:
            return name, False
        case [name, "exact-match"]:
            return name, True
    return None


def community(subject_text: str) -> str | None:
    """Return a community in FRR's display form; None where the text is not a community."""
    value = _value(subject_text)
    return None if value is None else _NAMES.get(value, f"{value >> 16}:{value & 0xFFFF}")


def render_communities(communities: Iterable[str]) -> str:
    """Return communities as FRR shows them, in the order of their values: what expressions are matched with."""
    return " ".join(sorted(communities, key=lambda text: _value(text) or 0))


def _value(subject_text: str) -> int | None:
    if subject_text in _WELL_KNOWN:
        return _WELL_KNOWN[subject_text]
    if pair := _COMMUNITY.fullmatch(subject_text):
        high, low = int(pair[1]), int(pair[2])
        return (high << 16) + low if max(high, low) <= 65535 else None
    return number(subject_text)


_READ: Final[Mapping[tuple[str, str], Callable[[str], object]]] = {
    ("match", "ip address prefix-list"): name,
    ("match", "ipv6 address prefix-list"): name,
    ("match", "as-path"): name,
    ("match", "community"): community_list,
    ("match", "tag"): tag,
    ("match", "metric"): number,
    ("set", "as-path prepend"): prepended,
    ("set", "community"): communities_set,
    ("set", "extcommunity bandwidth"): link_bandwidth,
    ("set", "ip next-hop"): next_hop,
    ("set", "ipv6 next-hop"): preferred_next_hop,
    ("set", "ipv6 next-hop global"): global_next_hop,
    ("set", "local-preference"): number,
    ("set", "metric"): change,
    ("set", "origin"): origin,
    ("set", "src"): source,
    ("set", "tag"): tag,
    ("set", "weight"): number,
}
