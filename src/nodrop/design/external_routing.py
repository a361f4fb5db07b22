"""The sessions with neighbors outside the fabric, and their policies.

A switch takes the accepted prefixes alone, and none inside a pool of the fabric. It announces networks of pools alone.
It passes on in the fabric what it has from its own neighbor outside, by the AS path: what it has from another switch
goes down to no other, so no path goes down and up again.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nodrop.design.addressing import AddressPlan
from nodrop.design.external import (
    accepted_prefixes,
    family_of_address,
    networks_announced,
    own_pool_prefixes,
    sort_accepted,
)
from nodrop.design.policies import POLICY_NAMES_BY_FAMILY, SEQUENCE_STEP, accept_rules, number_prefix_rules
from nodrop.design.ports import PortCables
from nodrop.intent.external import ExternalNeighbor
from nodrop.model.addresses import ADDRESS_BITS, DEFAULT_ROUTE_BY_FAMILY, AddressFamily
from nodrop.model.routing import (
    AsPathList,
    BgpNeighbor,
    Ipv6Unicast,
    PrefixList,
    RouteMap,
    RouteMapRule,
)


class ExternalPolicyNames(NamedTuple):
    """How the policies of a neighbor outside are called, in a family."""

    path: str
    accept: str
    announce: str
    import_map: str
    export_map: str

    @classmethod
    def of(cls, neighbor: str, family: AddressFamily) -> "ExternalPolicyNames":
        """Return the names for a neighbor, by its name in the intent."""
        head = f"{'EXT' if family == 'ipv4' else 'EXT6'}-{neighbor}"
        return cls(f"EXT-{neighbor}", f"{head}-ACCEPT", f"{head}-ANNOUNCE", f"{head}-IN", f"{head}-OUT")


class ExternalRouting:
    """What the neighbors outside mean for one switch: those at its own ports, and the prefixes of all."""

    def __init__(self, plan: AddressPlan, external: Mapping[str, ExternalNeighbor], cables: PortCables) -> None:
        self._plan, self._external = plan, external
        self._cables = [wire for wire in cables.values() if wire.external]
        at_switch = {wire.external for wire in self._cables}
        self._own = [name for name in external if name in at_switch]

    def prefixes_in_fabric(self, family: AddressFamily) -> Iterator[tuple[str, str, int | None, int | None]]:
        """Yield rules for the prefixes that all switches take from each other because some neighbor announces them."""
        for accepted in accepted_prefixes(self._external, family):
            yield "permit", accepted.prefix, None, accepted.most

    def prefix_lists(self, family: AddressFamily) -> Iterator[PrefixList]:
        """Yield the lists of prefixes that each neighbor at the switch may announce, and that are announced to it."""
        for name in self._own_of_family(family):
            names, wanted = ExternalPolicyNames.of(name, family), self._external[name]
            longest = ADDRESS_BITS[family]
            own_pools = own_pool_prefixes(self._plan, family)
            accepted = sort_accepted(one for one in wanted.accept if family_of_address(one.prefix) == family)
            rows: list[tuple[str, str, int | None, int | None]] = [
                ("deny", pool, None, None if pool.endswith(f"/{longest}") else longest) for pool in own_pools
            ]
            rows += [("permit", prefix, None, most) for prefix, most in accepted]
            yield PrefixList(name=names.accept, family=family, rules=number_prefix_rules(rows))
            announced = [
                ("permit", row.prefix, *_exact_range(row.prefix, row.length))
                for row in networks_announced(wanted.announce, self._plan)
                if row.family == family
            ]
            yield PrefixList(
                name=names.announce,
                family=family,
                rules=number_prefix_rules(announced or [("deny", DEFAULT_ROUTE_BY_FAMILY[family], None, longest)]),
            )

    def path_lists(self) -> tuple[AsPathList, ...]:
        """Return the lists of the AS paths that begin at a neighbor of the switch."""
        return tuple(
            AsPathList(
                name=ExternalPolicyNames.of(name, "ipv4").path,
                rules=(("permit", f"^{self._external[name].asn}_"),),
            )
            for name in sorted(self._own)
            if self._external[name].accept
        )

    def send_rules(self, family: AddressFamily, after: int) -> Iterator[RouteMapRule]:
        """Yield the rules that pass routes of the neighbors at the switch on to others, numbered from `after`."""
        match = POLICY_NAMES_BY_FAMILY[family].match
        for name in self._own_of_family(family):
            names = ExternalPolicyNames.of(name, family)
            if any(family_of_address(one.prefix) == family for one in self._external[name].accept):
                after += SEQUENCE_STEP
                matches = (("as-path", names.path), (match, names.accept))
                yield RouteMapRule(sequence=after, action="permit", matches=matches)

    def route_maps(self, family: AddressFamily) -> Iterator[RouteMap]:
        """Yield the policies for routes from and to the neighbors at the switch."""
        match = POLICY_NAMES_BY_FAMILY[family].match
        for name in self._own_of_family(family):
            names = ExternalPolicyNames.of(name, family)
            rules = accept_rules((match, names.accept), global_next_hops=family == "ipv6")
            yield RouteMap(name=names.import_map, rules=rules)
            rule = RouteMapRule(sequence=SEQUENCE_STEP, action="permit", matches=((match, names.announce),))
            yield RouteMap(name=names.export_map, rules=(rule,))

    def neighbors(self) -> Iterator[BgpNeighbor]:
        """Yield the sessions, one for each address of a link."""
        for wire in self._cables:
            wanted = self._external[wire.external]
            for address in wire.far_addresses:
                family = family_of_address(address)
                names = ExternalPolicyNames.of(wire.external, family)
                shared: dict[str, object] = {
                    "import_policy": names.import_map,
                    "export_policy": names.export_map,
                    "maximum_prefix": wanted.max_prefixes,
                }
                new = family == "ipv6"
                yield BgpNeighbor(
                    address=address,
                    remote_asn=wanted.asn,
                    description=wire.external,
                    active=not new,
                    bfd=wanted.bfd,
                    ipv6=Ipv6Unicast(active=True, **shared) if new else Ipv6Unicast(),  # type: ignore[arg-type]
                    **({} if new else shared),  # type: ignore[arg-type]
                )

    def _own_of_family(self, family: AddressFamily) -> list[str]:
        """Return the neighbors at the switch with a session of a family."""
        names = {
            wire.external
            for wire in self._cables
            if any(family_of_address(address) == family for address in wire.far_addresses)
        }
        return [name for name in sorted(self._own) if name in names]


def _exact_range(prefix: str, length: int) -> tuple[int | None, int | None]:
    """Return the least and the most length of networks inside a prefix that have one length."""
    if prefix.endswith(f"/{length}"):
        return None, None
    return length, length
