"""A BGP process of an FRR configuration: the commands below `router bgp`.

The defaults of a process depend on `frr defaults` and `frr version` (bgpd/bgp_vty.c): the profile `datacenter` and
releases before 7.4 do not ask for policies on sessions to other ASes.
"""

from collections.abc import Mapping
from typing import Any

from nodrop.model.addresses import AddressFamily
from nodrop.model.routing import ROUTE_SOURCE_BY_NAME, Aggregate, Bgp, BgpNeighbor, Ipv6Unicast, Redistribution
from nodrop.model.values import replace_fields
from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.frr.harmless import find_harmless_row
from nodrop.platforms.frr.policies import BFD_PROFILE, RoutingPolicyBuilder
from nodrop.platforms.frr.rows import FAMILY_BY_BLOCK_COMMAND
from nodrop.platforms.frr.words import checked_address, checked_prefix_or_address, is_neighbor_address, strip_no_word
from nodrop.platforms.kit.bindings import bound_fields
from nodrop.platforms.kit.session_groups import mark_local_asn_of_group
from nodrop.syntax.frr import FrrStatement
from nodrop.syntax.lines import CommandNotUnderstood, read_or_keep_line

_SESSION_FAMILY_FIELDS = bound_fields(frr_rows.SESSION_FAMILY_COMMANDS.rows)
_PROCESS_FIRST_WORDS = frozenset().union(
    frr_rows.PROCESS_COMMANDS.first_words,
    frr_rows.ALL_SESSIONS_OF_PROCESS_COMMANDS.first_words,
    frr_rows.EVERY_SESSION_IPV6_COMMANDS.first_words,
)
_DEFAULT_IPV6_UNICAST = Ipv6Unicast()
_EVPN_FAMILY_COMMANDS = (("address-family", "l2vpn", "evpn"), ("address-family", "evpn"))
"""The commands that open the address family of EVPN: FRR's, and that of Cumulus' Quagga, which FRR refuses."""


class BgpProcessBuilder:
    """The BGP process of a VRF, put together command by command."""

    def __init__(self, bgp: Bgp, policies: RoutingPolicyBuilder, other_statements: list[FrrStatement]) -> None:
        self._said: dict[str, Any] = {}
        self._bgp, self._policies, self._others = bgp, policies, other_statements
        self._networks: list[str] = []
        self._aggregates: dict[str, Aggregate] = {}
        self._redistributions: dict[tuple[str, str], Redistribution] = {}
        self._neighbors: dict[str, dict[str, Any]] = {}
        self._groups: dict[str, dict[str, Any]] = {}
        self._ipv6: dict[str, dict[str, Any]] = {}
        self._member_of: dict[str, str] = {}
        self._every: dict[str, Any] = {}
        self._every_ipv6: dict[str, Any] = {}

    @property
    def asn(self) -> int:
        """The number of its AS."""
        return self._bgp.asn

    def read_statements(self, statements: list[FrrStatement]) -> None:
        """Read the commands below `router bgp`."""
        for statement in statements:
            read_or_keep_line(statement, self._read_process_command, self._others)

    def build_bgp(self, shared: dict[str, Any], *, drained: bool) -> Bgp:
        """Return the process with the settings that those of all VRFs share."""
        process_fields = self._said
        unicast = process_fields.get("default_ipv4_unicast", self._bgp.default_ipv4_unicast)
        return replace_fields(
            self._bgp,
            **shared,
            **process_fields | {"graceful_shutdown": drained or process_fields.get("graceful_shutdown", False)},
            networks=tuple(sorted(self._networks, key=lambda network: ":" in network)),
            aggregates=tuple(sorted(self._aggregates.values(), key=lambda aggregate: ":" in aggregate.prefix)),
            redistributions=tuple(redistribution for _, redistribution in sorted(self._redistributions.items())),
            neighbors=tuple([self._build_neighbor(key, unicast) for key in self._neighbors]),
        )

    def _build_neighbor(self, key: str, unicast: bool) -> BgpNeighbor:
        """Return a neighbor with the settings of its peer group, before or after, wherever it has none itself."""
        own_fields = self._neighbors[key]
        group = self._groups.get(self._member_of.get(key, ""), {})
        inherited = {name: value for name, value in group.items() if name not in frr_rows.FIELDS_NOT_INHERITED}
        settings = {"active": unicast} | self._every | inherited | own_fields
        if settings.get("interface") is not None:
            settings.pop("extended_next_hop", None)
            settings.pop("ebgp_multihop", None)  # bgpd refuses it, for such a neighbor is at the far end of its link
        neighbor = BgpNeighbor(ipv6=self._build_ipv6_unicast(key), **settings)
        return neighbor if "local_asn" in own_fields else mark_local_asn_of_group(neighbor, self.asn)

    def _build_ipv6_unicast(self, key: str) -> Ipv6Unicast:
        ipv6_fields = self._every_ipv6 | self._ipv6.get(self._member_of.get(key, ""), {}) | self._ipv6.get(key, {})
        return Ipv6Unicast(**ipv6_fields) if ipv6_fields else _DEFAULT_IPV6_UNICAST

    def _read_process_command(self, statement: FrrStatement) -> None:
        words = statement.words
        on = words[0] != "no"
        command_words = words if on else words[1:] or words
        if command_words[0] == "neighbor":
            self._read_neighbor_statement(statement, command_words[1:], on=on, family="ipv4")
        elif words in FAMILY_BY_BLOCK_COMMAND:
            family = FAMILY_BY_BLOCK_COMMAND[words]
            for child in statement.children:
                read_or_keep_line(child, lambda inner: self._read_family_command(inner, family), self._others)
        elif words in _EVPN_FAMILY_COMMANDS:
            self._read_evpn_sessions(statement)
            raise CommandNotUnderstood
        elif command_words[0] not in _PROCESS_FIRST_WORDS or not self._try_read_fields(command_words, on):
            self._read_family_command(
                statement, "ipv4"
            )  # FRR takes commands of IPv4 unicast right under `router bgp` too

    def _read_evpn_sessions(self, block: FrrStatement) -> None:
        """Read which sessions carry EVPN; the routes of EVPN are not computed, so the block stays unknown."""
        for child in block.children:
            words, on = strip_no_word(child.words)
            if words[:1] == ("neighbor",) and words[2:] == ("activate",):
                self._stated_fields_of_session(words[1])["evpn"] = on

    def _stated_fields_of_session(self, key: str) -> dict[str, Any]:
        """Return the stated settings of a session or peer group."""
        if key in self._groups:
            return self._groups[key]
        return self._neighbors.setdefault(
            key, {"address": checked_address(key)} if is_neighbor_address(key) else {"interface": key}
        )

    def _try_read_fields(self, words: tuple[str, ...], on: bool) -> bool:
        """Read a command that states fields of the process or of all its sessions; return whether it is one."""
        tables = (
            (frr_rows.PROCESS_COMMANDS, self._said),
            (frr_rows.ALL_SESSIONS_OF_PROCESS_COMMANDS, self._every),
            (frr_rows.EVERY_SESSION_IPV6_COMMANDS, self._every_ipv6),
        )
        for commands, stated_fields in tables:
            stated = commands.read_fields(words, on)
            if stated is not None:
                _update_stated_fields(stated_fields, stated)
                return True
        return False

    def _read_family_command(self, statement: FrrStatement, family: AddressFamily) -> None:
        """Read a command of an address family."""
        words = statement.words
        on = words[0] != "no"
        if words[0 if on else 1 :][:1] == ("neighbor",):
            self._read_neighbor_statement(statement, words[1 if on else 2 :], on=on, family=family)
        elif words[0] == "network" and len(words) == 2:
            self._networks.append(_require_prefix_family(family, checked_prefix_or_address(words[1])))
        elif words[0] == "aggregate-address":
            aggregate = frr_rows.parse_aggregate(words[1:])
            self._aggregates[_require_prefix_family(family, aggregate.prefix)] = aggregate
        elif words[0] == "redistribute" and words[1:2] and words[1] in ROUTE_SOURCE_BY_NAME:
            self._read_redistribution(statement, words[1], words[2:], family)
        elif (
            stated := frr_rows.PROCESS_FAMILY_COMMANDS[family].read_fields(words if on else words[1:] or words, on)
        ) is not None:
            _update_stated_fields(self._said, stated)
        elif find_harmless_row("process", *strip_no_word(words)) is None:
            raise CommandNotUnderstood

    def _read_redistribution(
        self, statement: FrrStatement, source: str, options: tuple[str, ...], family: AddressFamily
    ) -> None:
        policy = None
        if options:
            if options[0] != "route-map" or len(options) != 2:
                raise CommandNotUnderstood
            policy = options[1]
            self._policies.record_reference(statement, "route map", policy)
        row = Redistribution(source=ROUTE_SOURCE_BY_NAME[source], family=family, policy=policy)
        self._redistributions[family, source] = row

    def _read_neighbor_statement(
        self, statement: FrrStatement, words: tuple[str, ...], *, on: bool, family: AddressFamily
    ) -> None:
        if len(words) < 2:
            raise CommandNotUnderstood
        key, remaining_words = words[0], words[1:]
        if remaining_words == ("peer-group",) and on:
            self._groups.setdefault(key, {})
            return
        stated = self._read_session_fields(statement, key, remaining_words, on, family)
        if family == "ipv6":
            if not _SESSION_FAMILY_FIELDS.issuperset(stated):
                raise CommandNotUnderstood
            _update_stated_fields(self._ipv6.setdefault(key, {}), stated)
        else:
            session_fields = self._stated_fields_of_session(key)
            if on and any(
                {name, *session_fields} >= frr_rows.EXCLUSIVE_HOP_FIELDS
                for name in frr_rows.EXCLUSIVE_HOP_FIELDS.intersection(stated)
            ):
                # bgpd refuses the second of the two (bgpd/bgpd.c, peer_ttl_security_hops_set)
                raise CommandNotUnderstood
            _update_stated_fields(session_fields, stated)

    def _join_peer_group(self, key: str, group: str) -> None:
        """Put a session into a peer group; raise CommandNotUnderstood where bgpd refuses it.

        Members are all internal or all external, as the group states, or its first member if the group does not: a
        member without an AS number keeps out all that have one (bgpd/bgpd.c, peer_group_bind and peer_sort).
        """
        own_asn, stated = self._stated_fields_of_session(key).get("remote_asn"), self._groups[group].get("remote_asn")
        first_member = self._first_member(group)
        if stated is None and first_member is not None:
            first_kind = self._session_kind(self._neighbors[first_member].get("remote_asn"))
        else:
            first_kind = self._session_kind(own_asn if stated is None else stated)
        fits = own_asn is None or isinstance(stated, int) or self._session_kind(own_asn) == first_kind
        if not fits or self._member_of.get(key, group) != group:
            raise CommandNotUnderstood
        self._member_of[key] = group

    def _first_member(self, group: str) -> str | None:
        """Return the session that joined a peer group first; None for a group without sessions."""
        return next((member for member, joined in self._member_of.items() if joined == group), None)

    def _is_ibgp_session(self, key: str) -> bool:
        """Return whether a session or peer group is stated to be one inside the AS so far.

        A group without an AS number is what its first session is (bgpd/bgpd.c, peer_calc_sort).
        """
        member_key = self._first_member(key) or key
        own_asn = self._stated_fields_of_session(key).get(
            "remote_asn", self._stated_fields_of_session(member_key).get("remote_asn")
        )
        return (
            self._session_kind(self._groups.get(self._member_of.get(key, ""), {}).get("remote_asn", own_asn))
            == "internal"
        )

    def _session_kind(self, asn: int | str | None) -> str | None:
        """Return whether sessions to an AS are `internal` or `external`; None for none."""
        return asn if asn is None or isinstance(asn, str) else "internal" if asn == self.asn else "external"

    def _read_session_fields(
        self, statement: FrrStatement, key: str, words: tuple[str, ...], on: bool, family: AddressFamily
    ) -> Mapping[str, Any]:
        """Return the fields that a command of a session states, None for one that it takes back."""
        if words[0] == "interface" and on:
            words = frr_rows.words_behind_interface(words)
            if not words:
                return {}
        if words[0] == "peer-group" and on and len(words) == 2 and words[1] in self._groups:
            self._join_peer_group(key, words[1])
            return {}
        over_interface = not is_neighbor_address(key) and key not in self._groups
        if words == ("capability", "extended-nexthop") and not on and over_interface:
            raise CommandNotUnderstood  # bgpd refuses it (bgpd/bgp_vty.c, no_neighbor_capability_enhe)
        if words[:2] == ("ttl-security", "hops") and words[2:] != ("1",) and on and over_interface:
            raise CommandNotUnderstood  # bgpd refuses it (bgpd/bgp_vty.c, neighbor_ttl_security)
        if find_harmless_row("session", words, on) is not None:
            return {}
        stated = frr_rows.SESSION_AND_FAMILY_COMMANDS.read_fields(words, on)
        if stated is None:
            raise CommandNotUnderstood
        if stated.get("reflector_client") and not self._is_ibgp_session(key):
            raise CommandNotUnderstood  # bgpd refuses it (bgpd/bgpd.c, peer_af_flag_modify)
        if not on:
            stated = {name: None if name in frr_rows.GROUP_DEFAULT_FLAGS else value for name, value in stated.items()}
        if words[0] in frr_rows.LIST_KINDS_BY_COMMAND:
            self._policies.record_reference(statement, frr_rows.LIST_KINDS_BY_COMMAND[words[0]][family], words[1])
        elif words[:2] == ("bfd", "profile"):
            self._policies.record_reference(statement, BFD_PROFILE, words[2])
        return stated


def _require_prefix_family(family: AddressFamily, found: str) -> str:
    """Return a prefix of an address family; CommandNotUnderstood for one of the other family, which bgpd refuses."""
    if (":" in found) is not (family == "ipv6"):
        raise CommandNotUnderstood
    return found


def _update_stated_fields(current_fields: dict[str, object], stated: Mapping[str, object]) -> None:
    """Update the fields that are stated so far by those of a command."""
    for field, value in stated.items():
        if value is None:
            current_fields.pop(field, None)
        else:
            current_fields[field] = value
