"""The parts that the routing policies of all sessions share: names, numbers, and what each import does."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from nodrop.model.addresses import AddressFamily
from nodrop.model.policy_values import PREFIX_LIST_MATCH_BY_FAMILY
from nodrop.model.routing import PrefixRule, RouteMapRule

SHUTDOWN_ROUTE_MAP = "GSHUT"
DRAINED_LOCAL_PREFERENCE = "0"
SET_PREFER_GLOBAL_NEXT_HOP = ("ipv6 next-hop", "prefer-global")
SEQUENCE_STEP = 10


class PolicyNames(NamedTuple):
    """How the policies of a family are called."""

    fabric: str
    own: str
    accept: str
    send: str
    match: str


POLICY_NAMES_BY_FAMILY: Mapping[AddressFamily, PolicyNames] = {
    "ipv4": PolicyNames("FABRIC", "OWN", "FABRIC-IN", "FABRIC-OUT", PREFIX_LIST_MATCH_BY_FAMILY["ipv4"]),
    "ipv6": PolicyNames("FABRIC6", "OWN6", "FABRIC6-IN", "FABRIC6-OUT", PREFIX_LIST_MATCH_BY_FAMILY["ipv6"]),
}


def number_prefix_rules(rows: Iterable[tuple[str, str, int | None, int | None]]) -> tuple[PrefixRule, ...]:
    """Return the rules of a prefix list: action, prefix, and the least and the most length, in their order."""
    return tuple(
        PrefixRule(sequence=SEQUENCE_STEP * number, action="permit" if action == "permit" else "deny",
                   prefix=prefix, ge=least, le=most)
        for number, (action, prefix, least, most) in enumerate(rows, 1)
    )  # fmt: skip


def accept_rules(match: tuple[str, str], *, global_next_hops: bool) -> tuple[RouteMapRule, ...]:
    """Return the rules of an import for routes that a list matches; those with GRACEFUL_SHUTDOWN are preferred least.

    With `global_next_hops`, routes of IPv6 use the neighbor's own address, and not its link-local one.
    """
    always = (SET_PREFER_GLOBAL_NEXT_HOP,) if global_next_hops else ()
    return (
        RouteMapRule(
            sequence=SEQUENCE_STEP,
            action="permit",
            matches=(("community", SHUTDOWN_ROUTE_MAP), match),
            sets=(*always, ("local-preference", DRAINED_LOCAL_PREFERENCE)),
        ),
        RouteMapRule(sequence=2 * SEQUENCE_STEP, action="permit", matches=(match,), sets=always),
    )
