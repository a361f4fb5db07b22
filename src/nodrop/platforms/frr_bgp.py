"""A BGP process of an FRR configuration: what stands below `router bgp`.

What a process does of which nothing is said depends on `frr defaults` and `frr version` (bgpd/bgp_vty.c): the profile
`datacenter` and releases before 7.4 do not ask for policies on sessions to other ASes.
"""

from typing import Any, Literal

from nodrop.formats.frr import Statement
from nodrop.formats.lines import NotUnderstood, understood
from nodrop.model.routing import Bgp, BgpNeighbor, Ipv6Unicast, Redistribution
from nodrop.model.values import changed
from nodrop.platforms.frr_policies import PREFIXES, Policies
from nodrop.platforms.frr_words import address, is_address, number, prefix

Family = Literal["ipv4", "ipv6"]
_SOURCES: dict[str, Literal["connected", "static", "kernel"]] = {
    "connected": "connected",
    "static": "static",
    "kernel": "kernel",
}
_ASN_WORDS = ("external", "internal")
_OWN = frozenset({"address", "interface", "description"})
"""What a member does not take over from its peer group."""
_OF_FAMILY = frozenset(
    {
        "active",
        "import_policy",
        "export_policy",
        "import_prefix_list",
        "export_prefix_list",
        "allowas_in",
        "next_hop_self",
    }
)
"""What is said of a session in an address family."""
_NOTHING = Ipv6Unicast()
_FAMILIES: dict[tuple[str, ...], Family] = {
    ("address-family", "ipv4", "unicast"): "ipv4",
    ("address-family", "ipv4"): "ipv4",
    ("address-family", "ipv6", "unicast"): "ipv6",
    ("address-family", "ipv6"): "ipv6",
}
_FLAGS = {
    ("bgp", "bestpath", "as-path", "multipath-relax"): "multipath_relax",
    ("bgp", "bestpath", "as-path", "multipath-relax", "no-as-set"): "multipath_relax",
    ("bgp", "bestpath", "compare-routerid"): "compare_router_id",
    ("bgp", "always-compare-med"): "always_compare_med",
    ("bgp", "graceful-shutdown"): "graceful_shutdown",
    ("bgp", "ebgp-requires-policy"): "requires_policy",
    ("bgp", "network", "import-check"): "import_check",
    ("bgp", "network", "import-check", "exact"): "import_check",
    ("bgp", "default", "ipv4-unicast"): "default_ipv4_unicast",
}
_WITHOUT_EFFECT = {
    ("bgp", "log-neighbor-changes"),
    ("bgp", "graceful-restart"),
    ("bgp", "suppress-fib-pending"),
    ("bgp", "suppress-duplicates"),
    ("bgp", "deterministic-med"),
    ("bgp", "fast-external-failover"),
    ("bgp", "hard-administrative-reset"),
    ("bgp", "update-delay"),
    ("bgp", "route-map"),
    ("bgp", "listen", "limit"),
    ("bgp", "default", "show-hostname"),
    ("bgp", "default", "show-nexthop-hostname"),
    ("update-delay",),
    ("coalesce-time",),
    ("read-quanta",),
    ("write-quanta",),
    ("bmp",),
}
"""Commands of a process that change how fast and how loud it is, and not which routes it ends up with."""
_NEIGHBOR_WITHOUT_EFFECT = {
    "timers",
    "advertisement-interval",
    "password",
    "soft-reconfiguration",
    "graceful-restart",
    "graceful-restart-helper",
    "graceful-restart-disable",
    "enforce-first-as",
}
"""The same of a session."""


class Process:
    """The BGP process of a VRF, put together command by command."""

    def __init__(self, bgp: Bgp, policies: Policies, others: list[Statement]) -> None:
        self._said: dict[str, Any] = {}
        self._bgp, self._policies, self._others = bgp, policies, others
        self._networks: list[str] = []
        self._redistributions: dict[tuple[str, str], Redistribution] = {}
        self._neighbors: dict[str, dict[str, Any]] = {}
        self._groups: dict[str, dict[str, Any]] = {}
        self._ipv6: dict[str, dict[str, Any]] = {}
        self._member_of: dict[str, str] = {}
        self._default_ipv6 = False
        self._hold_s: int | None = None

    @property
    def asn(self) -> int:
        """The number of its AS."""
        return self._bgp.asn

    def read(self, statements: list[Statement]) -> None:
        """Read commands that stand below `router bgp`."""
        for statement in statements:
            understood(statement, self._command, self._others)

    def bgp(self, shared: dict[str, Any], *, drained: bool) -> Bgp:
        """Return the process with what it shares with those of other VRFs."""
        said = self._said
        unicast = said.get("default_ipv4_unicast", self._bgp.default_ipv4_unicast)
        return changed(
            self._bgp,
            **shared,
            **said | {"graceful_shutdown": drained or said.get("graceful_shutdown", False)},
            networks=tuple(sorted(self._networks, key=lambda network: ":" in network)),
            redistributions=tuple(one for _, one in sorted(self._redistributions.items())),
            neighbors=tuple([self._with_group(key, unicast) for key in self._neighbors]),
        )

    def _with_group(self, key: str, unicast: bool) -> BgpNeighbor:
        """Return a neighbor with what its peer group says, before or after, wherever it says nothing itself."""
        own = self._neighbors[key]
        group = self._groups.get(self._member_of.get(key, ""), {})
        inherited = {name: value for name, value in group.items() if name not in _OWN}
        said = {"active": unicast, "hold_s": self._hold_s} | inherited | own
        if said.get("interface") is not None:
            said.pop("extended_next_hop", None)
            said.pop("ebgp_multihop", None)  # bgpd refuses it, for such a neighbor is at the far end of its link
        return BgpNeighbor(ipv6=self._ipv6_of(key), **said)

    def _ipv6_of(self, key: str) -> Ipv6Unicast:
        group = self._ipv6.get(self._member_of.get(key, ""), {})
        own = self._ipv6.get(key, {})
        said = {"active": self._default_ipv6} | group | own
        return Ipv6Unicast(**said) if group or own or self._default_ipv6 else _NOTHING

    def _command(self, statement: Statement) -> None:
        words = statement.words
        on = words[0] != "no"
        said = words if on else words[1:] or words
        if said[0] == "neighbor":
            self._neighbor(statement, said[1:], negated=not on, family="ipv4")
        elif said[:2] == ("bgp", "router-id") and len(words) == 3:
            self._said["router_id"] = address(words[2])
        elif said[:2] == ("timers", "bgp"):
            self._hold_s = number(said[3]) if on and len(said) > 3 else None
        elif said in _FLAGS:
            self._said[_FLAGS[said]] = on
        elif words == ("bgp", "default", "ipv6-unicast"):
            self._default_ipv6 = True
        elif words in _FAMILIES:
            family = _FAMILIES[words]
            for child in statement.children:
                understood(child, lambda inner: self._in_family(inner, family), self._others)
        elif not any(said[:length] in _WITHOUT_EFFECT for length in (1, 2, 3)):
            self._in_family(statement, "ipv4")  # FRR takes commands of IPv4 unicast right under `router bgp` too

    def _in_family(self, statement: Statement, family: Family) -> None:
        """Read a command of an address family."""
        words = statement.words
        if words[0] == "neighbor":
            self._neighbor(statement, words[1:], negated=False, family=family)
        elif words[:2] == ("no", "neighbor"):
            self._neighbor(statement, words[2:], negated=True, family=family)
        elif words[0] == "network" and len(words) == 2:
            self._networks.append(prefix(words[1]))
        elif words[0] == "maximum-paths" and len(words) == 2:
            self._said["maximum_paths" if family == "ipv4" else "maximum_paths_ipv6"] = number(words[1])
        elif words[0] == "redistribute" and words[1:2] and words[1] in _SOURCES:
            self._redistribute(statement, words[1], words[2:], family)
        else:
            raise NotUnderstood

    def _redistribute(self, statement: Statement, source: str, rest: tuple[str, ...], family: Family) -> None:
        policy = None
        if rest:
            if rest[0] != "route-map" or len(rest) != 2:
                raise NotUnderstood
            policy = rest[1]
            self._policies.refer(statement, "route map", policy)
        row = Redistribution(source=_SOURCES[source], family=family, policy=policy)
        self._redistributions[family, source] = row

    def _neighbor(self, statement: Statement, words: tuple[str, ...], *, negated: bool, family: Family) -> None:
        if len(words) < 2:
            raise NotUnderstood
        key, rest = words[0], words[1:]
        if rest == ("peer-group",) and not negated:
            self._groups.setdefault(key, {})
            return
        changes = self._changes(statement, key, rest, negated, family)
        if family == "ipv6":
            if not _OF_FAMILY.issuperset(changes):
                raise NotUnderstood
            self._ipv6.setdefault(key, {}).update(changes)
        elif key in self._groups:
            self._groups[key].update(changes)
        else:
            if key not in self._neighbors:
                self._neighbors[key] = {"address": address(key)} if is_address(key) else {"interface": key}
            self._neighbors[key].update(changes)

    def _changes(
        self, statement: Statement, key: str, rest: tuple[str, ...], negated: bool, family: Family
    ) -> dict[str, Any]:
        """Return the fields that a neighbor command sets."""
        match rest:
            case ("activate",):
                return {"active": not negated}
            case ("route-map", name, "in" | "out" as way) if not negated:
                self._policies.refer(statement, "route map", name)
                return {"import_policy" if way == "in" else "export_policy": name}
            case ("prefix-list", name, "in" | "out" as way) if not negated:
                self._policies.refer(statement, PREFIXES[family], name)
                return {"import_prefix_list" if way == "in" else "export_prefix_list": name}
            case ("interface", *more) if not negated:
                more = more[1:] if more[:1] == ["v6only"] else more
                return self._changes(statement, key, tuple(more), negated, family) if more else {}
            case ("peer-group", group) if group in self._groups and not negated:
                self._member_of[key] = group
                return {}
            case ("remote-as", asn) if not negated:
                return {"remote_asn": asn if asn in _ASN_WORDS else number(asn, 1)}
            case ("description", *text) if text and not negated:
                return {"description": " ".join(text)}
            case ("shutdown", *_):
                return {"enabled": negated}
            case ("capability", "extended-nexthop"):
                return {"extended_next_hop": not negated}
            case ("timers", keepalive, hold) if keepalive != "connect":
                return {} if negated else {"hold_s": number(hold)}
            case ("bfd", *_):
                return {"bfd": not negated}
            case ("allowas-in",) if not negated:
                return {"allowas_in": 3}
            case ("allowas-in", times) if not negated:
                return {"allowas_in": number(times, 1, _MOST_OWN)}
            case ("next-hop-self",):
                return {"next_hop_self": not negated}
            case ("update-source", source) if not negated:
                return {"update_source": source}
            case ("ebgp-multihop", *hops) if not negated and len(hops) < 2:
                return {"ebgp_multihop": number(hops[0], 1, _MOST_HOPS) if hops else _MOST_HOPS}
        if not _without_effect(rest, negated):
            raise NotUnderstood
        return {}


_MOST_OWN = 10
"""How often a path may have the own AS number by `allowas-in` (bgpd/bgp_vty.c)."""
_MOST_HOPS = 255
"""`ebgp-multihop` without a number (bgpd/bgpd.h, MAXTTL)."""


def _without_effect(rest: tuple[str, ...], negated: bool) -> bool:
    """Whether a neighbor command does not change which routes there are: communities are sent unless told not to."""
    return (
        rest[0] in _NEIGHBOR_WITHOUT_EFFECT
        or rest == ("capability", "dynamic")
        or (rest[0] == "send-community" and not negated)
        or (rest[0] == "maximum-prefix" and "warning-only" in rest)
    )
