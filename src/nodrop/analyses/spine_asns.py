"""Spines with separate AS numbers, above a leaf that would carry traffic from one spine up to another.

With one number for all spines the second spine drops such a path as a loop (RFC 7938, section 5.2). With different
numbers it takes the path, down and up again, as soon as two failures leave no better one, and lossless traffic on it
can wait for itself in a circle. A leaf whose export policy passes only its own prefixes closes the way as well.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._tiers import UplinkCable, port_addresses_without_length, possible_bgp_peers_by_key, uplink_cables
from nodrop.model.addresses import ADDRESS_FAMILIES
from nodrop.model.fabric import Device
from nodrop.model.index import Index
from nodrop.model.policy_values import PREFIX_LIST_MATCH_BY_FAMILY
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown, known_rows
from nodrop.model.subject import Subject
from nodrop.routing.destinations import is_prefix_permitted
from nodrop.routing.prefixes import Prefix, parse_prefix
from nodrop.routing.words import neighbor_family_statement

RESTS_ON = frozenset({"cables", "roles"})
GIVES_CHANGES = True
LOOKS_AT = frozenset({"role", "bgp", "loopbacks", "addresses"})

_ROUTE_MAP_CONTINUATION_KINDS = ("call", "on-match")
"""What sends a route through more than one rule."""


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the upper switches whose number is not that of their neighbors in the tier, where a lower one transits."""
    below: defaultdict[str, list[UplinkCable]] = defaultdict(list)
    for cable in uplink_cables(index):
        below[cable.lower.name].append(cable)
    reported_switches: set[str] = set()
    for name, cables in below.items():
        uppers = {cable.upper.name: cable.upper for cable in cables}
        if len(uppers) < 2:
            continue
        numbers: dict[str, int] = {}
        for upper in uppers.values():
            if isinstance(upper.bgp, Unknown):
                if upper.name not in reported_switches:
                    yield UndecidedSubject(subject=(upper.name,), missing="device.bgp")
                reported_switches.add(upper.name)
            elif upper.bgp is not None:
                numbers[upper.name] = upper.bgp.asn
        if len(set(numbers.values())) < 2 or numbers.keys() <= reported_switches:
            continue
        passes = _provides_transit(index, cables, _prefixes_of_other_leaves(below, name))
        if isinstance(passes, str):
            yield UndecidedSubject(subject=(name,), missing=passes)
        elif passes:
            yield from _outlier_asn_hits(index, below, name, numbers, reported_switches)


def _outlier_asn_hits(
    index: Index, below: Iterable[str], lower: str, numbers: dict[str, int], reported_switches: set[str]
) -> Iterator[AnalysisHit]:
    """Return a hit for each number that is not the shared one: the most common, if more than one switch has it."""
    counted = Counter(numbers.values())
    shared, count = min(counted.items(), key=lambda item: (-item[1], item[0]))
    for upper, asn in numbers.items():
        if upper in reported_switches or (count > 1 and asn == shared):
            continue
        reported_switches.add(upper)
        peer = next(other_name for other_name, number in numbers.items() if number != asn)
        yield AnalysisHit(
            subject=(upper,),
            at=(upper, "@bgp", "asn"),
            facts={"spine": upper, "asn": asn, "other": peer, "other_asn": numbers[peer], "leaf": lower},
            related=(((peer, "@bgp", "asn"), f"AS {numbers[peer]}"),),
            changes=tuple(_changes_to_shared_asn(index, below, upper, asn, shared)) if asn != shared else (),
        )


def _changes_to_shared_asn(
    index: Index, below: Iterable[str], upper: str, asn: int, shared: int
) -> Iterator[tuple[Subject, object]]:
    """Yield what gives a switch the shared number: its own, and that which sessions from below expect of it."""
    yield (upper, "@bgp", "asn"), shared
    for name in below:
        device = index.devices[name]
        above = possible_bgp_peers_by_key(index, device)
        for session in known_rows(device.neighbors):
            if session.remote_asn == asn and session.key in above and above[session.key].name == upper:
                yield (name, "@neighbors", session.key, "remote_asn"), shared


def _prefixes_of_other_leaves(below: dict[str, list[UplinkCable]], name: str) -> tuple[Prefix, ...]:
    """Return the prefixes that other switches of the lower tier originate: `name` can only learn them from above."""
    for other_name, cables in below.items():
        if other_name != name and (prefixes := _originated_prefixes(cables[0].lower)):
            return prefixes
    return ()


def _originated_prefixes(device: Device) -> tuple[Prefix, ...]:
    """Return the prefixes that a switch puts into BGP, else its loopbacks."""
    texts = () if isinstance(device.bgp, Unknown) or device.bgp is None else device.bgp.networks
    if not texts and not isinstance(device.loopbacks, Unknown):
        texts = tuple(address for loopback in device.loopbacks for address in loopback.addresses)
    parsed_prefixes = map(parse_prefix, texts)
    return tuple(network for network in parsed_prefixes if network is not None)


def _provides_transit(index: Index, cables: list[UplinkCable], foreign: tuple[Prefix, ...]) -> bool | str:
    """Whether a switch announces to one upper neighbor the routes from another; else the missing fact to decide it."""
    lower = cables[0].lower
    if isinstance(lower.bgp, Unknown):
        return "device.bgp"
    if lower.bgp is None:
        return False
    if isinstance(lower.bgp.neighbors, Unknown):
        return "device.bgp.neighbors"
    if not foreign:
        return "device.bgp.networks"
    answers: list[bool | str] = []
    for cable in cables:
        port = index.interface(cable.upper.name, cable.upper_port)
        keys = {cable.lower_port, *(port_addresses_without_length(port) if port else ())}
        for session in lower.bgp.neighbors:
            if session.key not in keys or not session.enabled:
                continue
            for family in ADDRESS_FAMILIES:
                carried = neighbor_family_statement(session, family)
                own_prefixes = tuple(network for network in foreign if network.family == family)
                if own_prefixes and carried.active:
                    answers.append(_policy_permits_prefixes(lower.bgp, carried.export_policy, own_prefixes))
    if True in answers:
        return True
    return next((answer for answer in answers if isinstance(answer, str)), False)


def _policy_permits_prefixes(bgp: Bgp, name: str | None, foreign: tuple[Prefix, ...]) -> bool | str:
    """Whether an export policy lets any of these prefixes out, looking at prefix lists alone."""
    if name is None:
        return True
    policy = next((route_map for route_map in bgp.route_maps if route_map.name == name), None)
    if policy is None:
        return False
    for network in foreign:
        for rule in policy.rules:
            fits = [_condition_matches(bgp, kind, value, network) for kind, value in rule.matches]
            if False in fits:
                continue
            if None in fits or any(kind in _ROUTE_MAP_CONTINUATION_KINDS for kind, _ in rule.sets):
                return "device.bgp.route_maps"
            if rule.action == "permit":
                return True
            break
    return False


def _condition_matches(bgp: Bgp, kind: str, value: str, network: Prefix) -> bool | None:
    """Whether a condition holds for a prefix; None where that depends on more than the prefix."""
    if kind not in PREFIX_LIST_MATCH_BY_FAMILY.values():
        return None
    family = "ipv6" if kind.startswith("ipv6") else "ipv4"
    listed = next(
        (prefix_list for prefix_list in bgp.prefix_lists if (prefix_list.name, prefix_list.family) == (value, family)),
        None,
    )
    return listed is not None and is_prefix_permitted(listed, network)
