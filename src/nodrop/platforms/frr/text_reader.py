"""From an FRR configuration to the model's routing; a command that is not understood is kept and reported."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from nodrop.identity import IdentityMap
from nodrop.limits import MAX_ADMINISTRATIVE_DISTANCE
from nodrop.model.routing import Bgp, StaticRoute
from nodrop.model.subject import natural_sort_key
from nodrop.model.values import replace_fields
from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.frr.bgp import BgpProcessBuilder
from nodrop.platforms.frr.harmless import BlockKind, find_harmless_row
from nodrop.platforms.frr.policies import RoutingPolicyBuilder, UndefinedReference
from nodrop.platforms.frr.words import checked_number, strip_no_word
from nodrop.platforms.frr.words import checked_prefix_or_address as prefix_in
from nodrop.syntax.frr import FrrStatement, parse_frr
from nodrop.syntax.lines import CommandNotUnderstood, read_or_keep_line

ADDRESS_COMMANDS = (("ip", "address"), ("ipv6", "address"))
"""How commands begin that give an interface an address."""
TRADITIONAL, DATACENTER = "traditional", "datacenter"
"""FRR's profiles of defaults: the first is its own, the second Cumulus Linux's."""
_VERSION_PATTERN = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
_EBGP_POLICIES_REQUIRED_SINCE = (7, 4)
"""The release since which sessions to other ASes ask for policies, and networks for routes (bgpd/bgp_vty.c)."""

_BGP_LIST_COMMANDS_SINCE = (7, 3)
"""The release since which lists of communities and AS paths begin with `bgp` only, not `ip` (bgpd/bgp_vty.c)."""


@dataclass(slots=True)
class FrrRouting:
    """The content of an FRR configuration: BGP, static routes, its hostname, and the commands not understood."""

    bgp: Bgp | None = None
    vrf_bgp: tuple[Bgp, ...] = ()
    static_routes: tuple[StaticRoute, ...] = ()
    hostname: str | None = None
    not_understood: list[FrrStatement] = field(default_factory=list)
    undefined: list[UndefinedReference] = field(default_factory=list)
    """(command, kind, name) of every reference to a list or map that is not there."""
    shut: dict[str, FrrStatement] = field(default_factory=dict)
    """The interfaces that zebra takes down, and the commands that say so."""
    static_statements: list[FrrStatement] = field(default_factory=list)
    """The commands of static routes."""
    addresses: list[tuple[str, FrrStatement]] = field(default_factory=list)
    """The commands that give addresses to interfaces, by interface, unless they are read elsewhere."""
    raised: dict[str, FrrStatement] = field(default_factory=dict)
    """The interfaces that zebra takes up, and the commands that say so."""
    forwards_not: list[FrrStatement] = field(default_factory=list)
    """The commands that turn forwarding in the kernel off."""


def read_frr(config_text: str, profile: str = TRADITIONAL, *, addressed: bool = False) -> FrrRouting:
    """Return the content of the text, as far as the model covers it.

    `profile` is FRR's where no `frr defaults` names one. `addressed`: the addresses that it gives to interfaces are
    read elsewhere.
    """
    return _FrrTextReader(config_text, profile, addressed=addressed).build_routing()


class _FrrTextReader:
    def __init__(self, text: str, profile: str, *, addressed: bool) -> None:
        self._addressed = addressed
        self._top = parse_frr(text)
        self._result = FrrRouting()
        self._policies = RoutingPolicyBuilder(self._result.not_understood)
        self._routes: list[StaticRoute] = []
        self._processes: dict[str | None, BgpProcessBuilder] = {}
        self._shared: dict[str, object] = {}
        self._drained = False
        self._installed: dict[str, object] = {}
        self._profile, self._release = profile, (0, 0)
        self._old = False

    def build_routing(self) -> FrrRouting:
        result = self._result
        for statement in self._top:
            read_or_keep_line(statement, self._read_statement, result.not_understood)
        shared = self._policies.bgp_fields_of_policies() | self._shared if self._processes else {}
        bgps = {vrf: process.build_bgp(shared, drained=self._drained) for vrf, process in self._processes.items()}
        result.bgp = bgps.pop(None, None)
        if result.bgp is not None:
            result.bgp = replace_fields(result.bgp, **self._installed)
        result.vrf_bgp = tuple(bgp for _, bgp in sorted(bgps.items(), key=lambda pair: natural_sort_key(pair[0] or "")))
        result.static_routes = tuple(self._routes)
        undefined = self._policies.undefined_references()
        around = IdentityMap(_find_enclosing_blocks(self._top) if undefined else ())
        result.undefined = [each._replace(within=around.get(each.statement, ())) for each in undefined]
        return result

    def _read_statement(self, statement: FrrStatement) -> None:
        """Read a statement by its first words, as a row of one setting, or as one that means nothing to the model."""
        words = statement.words
        if (read := _reader_of_command(words)) is not None:
            read(self, statement)
        elif (shared := frr_rows.TOP_LEVEL_COMMANDS.read_fields(words, True)) is not None:
            self._shared |= shared
        elif (installed := frr_rows.ZEBRA_COMMANDS.read_fields(words, True)) is not None:
            self._installed |= installed
            self._policies.record_reference(statement, "route map", words[-1])
        else:
            _require_harmless("top", words)

    def _read_default_vrf_route(self, statement: FrrStatement) -> None:
        self._read_static_route(statement, None)

    def _read_vrf_static_routes(self, statement: FrrStatement) -> None:
        _, name = statement.words
        for child in statement.children:
            read_or_keep_line(child, lambda inner: self._read_static_route(inner, name), self._result.not_understood)

    def _read_process(self, statement: FrrStatement) -> None:
        self._get_or_make_bgp_process(statement.words[2:]).read_statements(statement.children)

    def _read_drain(self, _statement: FrrStatement) -> None:
        self._drained = True

    def _read_interface(self, statement: FrrStatement) -> None:
        name = "".join(statement.words[1:2])
        for child in statement.children:
            read_or_keep_line(
                child, lambda inner: self._read_interface_command(inner, name), self._result.not_understood
            )

    def _read_no_forwarding(self, statement: FrrStatement) -> None:
        self._result.forwards_not.append(statement)

    def _read_bfd(self, statement: FrrStatement) -> None:
        for child in statement.children:
            read_or_keep_line(child, self._read_bfd_profile, self._result.not_understood)

    def _read_hostname(self, statement: FrrStatement) -> None:
        _, self._result.hostname = statement.words

    def _read_frr_defaults_profile(self, statement: FrrStatement) -> None:
        *_, profile = statement.words
        if profile in (TRADITIONAL, DATACENTER):
            self._profile = profile
        else:
            _require_harmless("top", statement.words)

    def _read_version(self, statement: FrrStatement) -> None:
        if match := _VERSION_PATTERN.match("".join(statement.words[2:3])):
            self._release = int(match[1]), int(match[2])
            self._old = self._release < _EBGP_POLICIES_REQUIRED_SINCE
        else:
            _require_harmless("top", statement.words)

    def _read_prefix_list(self, statement: FrrStatement) -> None:
        self._policies.read_prefix_list(statement)

    def _read_community_list(self, statement: FrrStatement) -> None:
        self._policies.read_community_list(statement)

    def _read_as_path_list(self, statement: FrrStatement) -> None:
        self._policies.read_as_path_list(statement)

    def _read_list_of_old_release(self, statement: FrrStatement) -> None:
        """Read a list as old releases write it; later ones refuse the line, so without a release it is unknown too."""
        if self._release >= _BGP_LIST_COMMANDS_SINCE:
            raise CommandNotUnderstood
        if statement.words[1] == "as-path":
            self._policies.read_as_path_list(statement)
        else:
            self._policies.read_community_list(statement)
        if not any(self._release):
            self._result.not_understood.append(statement)

    def _read_route_map(self, statement: FrrStatement) -> None:
        self._policies.read_route_map(statement)

    def _get_or_make_bgp_process(self, words: tuple[str, ...]) -> BgpProcessBuilder:
        """Return the process of a VRF, which is made with the defaults that hold so far."""
        match words:
            case (asn,) | (asn, "vrf", "default"):
                vrf = None
            case (asn, "vrf", name):
                vrf = name
            case _:
                raise CommandNotUnderstood
        if vrf not in self._processes:
            traditional = self._profile == TRADITIONAL
            bgp = Bgp(
                asn=checked_number(asn, 1),
                vrf=vrf,
                requires_policy=traditional and not self._old,
                import_check=not (traditional and self._old),
            )
            self._processes[vrf] = BgpProcessBuilder(bgp, self._policies, self._result.not_understood)
        if self._processes[vrf].asn != checked_number(asn, 1):
            raise CommandNotUnderstood
        return self._processes[vrf]

    def _read_static_route(self, statement: FrrStatement, vrf: str | None) -> None:
        """Read a static route; the words behind its next hop come in any order (staticd/static_vty.c, ip_route)."""
        words = statement.words
        _, _, prefix, next_hop, *options = (*words, *[""] * (4 - len(words)))
        if not next_hop:
            raise CommandNotUnderstood
        distance = 1
        while options:
            match options:
                case ["vrf", own, *options]:
                    vrf = own
                case [word, *options] if word.isdecimal():
                    distance = checked_number(word, 1, MAX_ADMINISTRATIVE_DISTANCE)
                case _:
                    raise CommandNotUnderstood
        route = StaticRoute(prefix=prefix_in(prefix), next_hop=next_hop, vrf=vrf, distance=distance)
        self._routes.append(route)
        self._result.static_statements.append(statement)

    def _read_bfd_profile(self, statement: FrrStatement) -> None:
        """Read a profile of BFD; only its name is in the model."""
        match statement.words:
            case ("profile", name):
                self._policies.bfd_profiles.add(name)
            case _:
                raise CommandNotUnderstood
        for child in statement.children:
            words, on = strip_no_word(child.words)
            if find_harmless_row("bfd profile", words, on) is None:
                self._result.not_understood.append(child)

    def _read_interface_command(self, statement: FrrStatement, name: str) -> None:
        """Read a command of an interface: of `shutdown` and `no shutdown` the last one counts."""
        words, on = strip_no_word(statement.words)
        if words == ("shutdown",):
            statements, before = (self._result.shut, self._result.raised)[:: 1 if on else -1]
            before.pop(name, None)
            statements[name] = statement
            return
        if on and words[:2] in ADDRESS_COMMANDS:
            if not self._addressed:
                self._result.addresses.append((name, statement))
            return
        if find_harmless_row("interface", words, on) is None:
            raise CommandNotUnderstood


def _require_harmless(block: BlockKind, words: tuple[str, ...]) -> None:
    """Raise CommandNotUnderstood unless a statement of a block is one that is known to mean nothing to the model."""
    if find_harmless_row(block, *strip_no_word(words)) is None:
        raise CommandNotUnderstood


def _reader_of_command(words: tuple[str, ...]) -> Callable[[_FrrTextReader, FrrStatement], None] | None:
    for length in (3, 2, 1):
        number_of_words, read = _READER_BY_COMMAND.get(words[:length], (None, None))
        if read is not None and number_of_words in (None, len(words)):
            return read
    return None


_READER_BY_COMMAND: Mapping[tuple[str, ...], tuple[int | None, Callable[[_FrrTextReader, FrrStatement], None]]] = {
    ("ip", "prefix-list"): (None, _FrrTextReader._read_prefix_list),
    ("ipv6", "prefix-list"): (None, _FrrTextReader._read_prefix_list),
    ("bgp", "community-list"): (None, _FrrTextReader._read_community_list),
    ("bgp", "as-path", "access-list"): (None, _FrrTextReader._read_as_path_list),
    ("ip", "as-path", "access-list"): (None, _FrrTextReader._read_list_of_old_release),
    ("ip", "community-list"): (None, _FrrTextReader._read_list_of_old_release),
    ("ip", "route"): (None, _FrrTextReader._read_default_vrf_route),
    ("ipv6", "route"): (None, _FrrTextReader._read_default_vrf_route),
    ("vrf",): (2, _FrrTextReader._read_vrf_static_routes),
    ("route-map",): (4, _FrrTextReader._read_route_map),
    ("router", "bgp"): (None, _FrrTextReader._read_process),
    ("bgp", "graceful-shutdown"): (2, _FrrTextReader._read_drain),
    ("interface",): (None, _FrrTextReader._read_interface),
    ("no", "ip", "forwarding"): (3, _FrrTextReader._read_no_forwarding),
    ("no", "ipv6", "forwarding"): (3, _FrrTextReader._read_no_forwarding),
    ("bfd",): (1, _FrrTextReader._read_bfd),
    ("hostname",): (2, _FrrTextReader._read_hostname),
    ("frr", "defaults"): (3, _FrrTextReader._read_frr_defaults_profile),
    ("frr", "version"): (None, _FrrTextReader._read_version),
}
"""What reads a statement that begins with these words, and how many words it has where that is fixed."""


def _find_enclosing_blocks(
    statements: Iterable[FrrStatement], within: tuple[str, ...] = ()
) -> Iterator[tuple[FrrStatement, tuple[str, ...]]]:
    """Yield each command with the commands that open the blocks around it."""
    for statement in statements:
        yield statement, within
        yield from _find_enclosing_blocks(statement.children, (*within, statement.text))
