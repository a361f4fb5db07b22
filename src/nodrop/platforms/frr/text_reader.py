"""From an FRR configuration to the model's routing; a command that is not understood is kept, to be told."""

import re
from dataclasses import dataclass, field
from typing import Any

from nodrop.limits import MAX_DISTANCE
from nodrop.model.routing import Bgp, StaticRoute
from nodrop.model.subject import natural
from nodrop.model.values import replace_fields
from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.frr.bgp import Process
from nodrop.platforms.frr.harmless import harmless
from nodrop.platforms.frr.policies import Policies
from nodrop.platforms.frr.words import number, without_no
from nodrop.platforms.frr.words import prefix as prefix_in
from nodrop.syntax.frr import Statement, parse
from nodrop.syntax.lines import NotUnderstood, understood

ADDRESSES = (("ip", "address"), ("ipv6", "address"))
"""How commands begin that give an interface an address."""
TRADITIONAL, DATACENTER = "traditional", "datacenter"
"""FRR's profiles of defaults: the first is its own, the second Cumulus Linux's."""
_FORWARDS_NOT = (("no", "ip", "forwarding"), ("no", "ipv6", "forwarding"))
_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
_POLICIES_SINCE = (7, 4)
"""The release since which sessions to other ASes ask for policies, and networks for routes (bgpd/bgp_vty.c)."""


@dataclass(slots=True)
class Routing:
    """What an FRR configuration says: BGP, static routes, its hostname, and the commands that were not understood."""

    bgp: Bgp | None = None
    vrf_bgp: tuple[Bgp, ...] = ()
    static_routes: tuple[StaticRoute, ...] = ()
    hostname: str | None = None
    not_understood: list[Statement] = field(default_factory=list)
    undefined: list[tuple[Statement, str, str]] = field(default_factory=list)
    """(command, kind, name) of every reference to a list or map that is not there."""
    shut: dict[str, Statement] = field(default_factory=dict)
    """The interfaces that zebra takes down, and the commands that say so."""
    raised: dict[str, Statement] = field(default_factory=dict)
    """The interfaces that zebra takes up, and the commands that say so."""
    forwards_not: list[Statement] = field(default_factory=list)
    """The commands that turn forwarding in the kernel off."""


def read_frr(text: str, profile: str = TRADITIONAL, *, addressed: bool = False) -> Routing:
    """Return what the text says, as far as the model goes; `profile` is FRR's where no `frr defaults` names one.

    `addressed`: the addresses that it gives to interfaces are read elsewhere.
    """
    return _Reader(text, profile, addressed=addressed).build_routing()


class _Reader:
    def __init__(self, text: str, profile: str, *, addressed: bool) -> None:
        self._addressed = addressed
        self._top = parse(text)
        self._result = Routing()
        self._policies = Policies(self._result.not_understood)
        self._routes: list[StaticRoute] = []
        self._processes: dict[str | None, Process] = {}
        self._shared: dict[str, Any] = {}
        self._drained = False
        self._installed: dict[str, Any] = {}
        self._profile, self._old = profile, False

    def build_routing(self) -> Routing:
        result = self._result
        for statement in self._top:
            understood(statement, self._command, result.not_understood)
        shared = self._policies.fields() | self._shared if self._processes else {}
        bgps = {vrf: process.bgp(shared, drained=self._drained) for vrf, process in self._processes.items()}
        result.bgp = bgps.pop(None, None)
        if result.bgp is not None:
            result.bgp = replace_fields(result.bgp, **self._installed)
        result.vrf_bgp = tuple(bgp for _, bgp in sorted(bgps.items(), key=lambda pair: natural(pair[0] or "")))
        result.static_routes = tuple(self._routes)
        result.undefined = self._policies.undefined()
        return result

    def _command(self, statement: Statement) -> None:
        words = statement.words
        if words[:2] in (("ip", "prefix-list"), ("ipv6", "prefix-list")):
            self._policies.prefix_list(statement)
        elif words[:2] == ("bgp", "community-list"):
            self._policies.community_list(statement)
        elif words[:3] in (("bgp", "as-path", "access-list"), ("ip", "as-path", "access-list")):
            self._policies.as_path_list(statement)
        elif words[:2] in (("ip", "route"), ("ipv6", "route")):
            self._route(words, None)
        elif words[0] == "vrf" and len(words) == 2:
            for child in statement.children:
                understood(child, lambda inner: self._route(inner.words, words[1]), self._result.not_understood)
        elif words[0] == "route-map" and len(words) == 4:
            self._policies.route_map(statement)
        elif words[:2] == ("router", "bgp"):
            self._process(words[2:]).read_statements(statement.children)
        elif (stated := frr_rows.TOP.read(words, True)) is not None:
            self._shared |= stated
        elif (stated := frr_rows.INSTALLED.read(words, True)) is not None:
            self._installed |= stated
            self._policies.refer(statement, "route map", words[-1])
        elif words == ("bgp", "graceful-shutdown"):
            self._drained = True
        elif words[0] == "interface":
            name = words[1] if len(words) > 1 else ""
            for child in statement.children:
                understood(child, lambda inner: self._in_interface(inner, name), self._result.not_understood)
        elif words in _FORWARDS_NOT:
            self._result.forwards_not.append(statement)
        elif words == ("bfd",):
            for child in statement.children:
                understood(child, self._in_bfd, self._result.not_understood)
        elif words[0] == "hostname" and len(words) == 2:
            self._result.hostname = words[1]
        elif words[:2] == ("frr", "defaults") and words[2:] in ((TRADITIONAL,), (DATACENTER,)):
            self._profile = words[2]
        elif words[:2] == ("frr", "version") and (match := _VERSION.match("".join(words[2:3]))):
            self._old = (int(match[1]), int(match[2])) < _POLICIES_SINCE
        elif harmless("top", *without_no(words)) is None:
            raise NotUnderstood

    def _process(self, words: tuple[str, ...]) -> Process:
        """Return the process of a VRF, which is made with the defaults that hold so far."""
        match words:
            case (asn,) | (asn, "vrf", "default"):
                vrf = None
            case (asn, "vrf", name):
                vrf = name
            case _:
                raise NotUnderstood
        if vrf not in self._processes:
            traditional = self._profile == TRADITIONAL
            bgp = Bgp(
                asn=number(asn, 1),
                vrf=vrf,
                requires_policy=traditional and not self._old,
                import_check=not (traditional and self._old),
            )
            self._processes[vrf] = Process(bgp, self._policies, self._result.not_understood)
        if self._processes[vrf].asn != number(asn, 1):
            raise NotUnderstood
        return self._processes[vrf]

    def _route(self, words: tuple[str, ...], vrf: str | None) -> None:
        """Read a static route; the words behind its next hop come in any order (staticd/static_vty.c, ip_route)."""
        _, _, prefix, next_hop, *rest = (*words, *[""] * (4 - len(words)))
        if not next_hop:
            raise NotUnderstood
        distance = 1
        while rest:
            match rest:
                case ["vrf", own, *rest]:
                    vrf = own
                case [word, *rest] if word.isdecimal():
                    distance = number(word, 1, MAX_DISTANCE)
                case _:
                    raise NotUnderstood
        route = StaticRoute(prefix=prefix_in(prefix), next_hop=next_hop, vrf=vrf, distance=distance)
        self._routes.append(route)

    def _in_bfd(self, statement: Statement) -> None:
        """Read a profile of BFD, of which only its name is in the model."""
        match statement.words:
            case ("profile", name):
                self._policies.bfd_profiles.add(name)
            case _:
                raise NotUnderstood
        for child in statement.children:
            words, on = without_no(child.words)
            if harmless("bfd profile", words, on) is None:
                self._result.not_understood.append(child)

    def _in_interface(self, statement: Statement, name: str) -> None:
        """Read a command of an interface: of `shutdown` and `no shutdown` the last one counts."""
        words, on = without_no(statement.words)
        if words == ("shutdown",):
            statements, before = (self._result.shut, self._result.raised)[:: 1 if on else -1]
            before.pop(name, None)
            statements[name] = statement
            return
        if self._addressed and words[:2] in ADDRESSES:
            return
        if harmless("interface", words, on) is None:
            raise NotUnderstood
