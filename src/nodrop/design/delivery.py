"""BGP in tables of a switch's configuration (`routing.delivery`): who has it, and a process as tables hold it."""

from collections.abc import Iterator, Mapping
from dataclasses import fields

from nodrop.design.boxes import PlannedSwitches
from nodrop.design.faults import KeyFault
from nodrop.design.topology import Topology
from nodrop.intent.network import Routing
from nodrop.intent.schema import PassThroughSettings
from nodrop.intent.topology import Switches
from nodrop.model.addresses import ADDRESS_BITS
from nodrop.model.routing import Bgp, BgpNeighbor, PrefixList, PrefixRule, RouteMap
from nodrop.model.states import require_fact
from nodrop.model.values import replace_fields
from nodrop.platforms.kit.traits import BgpTableTraits, first_release, traits_of_platform

_DELIVERY_KEY_PATH = ("routing", "delivery")


def can_keep_bgp_in_config_tables(tier: Switches) -> bool:
    """Return whether the BGP of a tier's switches can be in tables, in any release."""
    return traits_of_platform(tier.platform).routing_tables is not None


def keeps_bgp_in_config_tables(routing: Routing, tier: Switches) -> bool:
    """Return whether the BGP of a tier's switches is in tables."""
    return routing.delivery == "tables" and can_keep_bgp_in_config_tables(tier)


def bgp_config_table_faults(
    topology: Topology, routing: Routing, extra: Mapping[str, PassThroughSettings], switches: PlannedSwitches
) -> Iterator[KeyFault]:
    """Yield tiers whose release cannot have BGP in tables, and lines for frr.conf, which tables replace."""
    if routing.delivery != "tables":
        return
    tiers = [group.wanted for group in topology.groups]
    if not any(keeps_bgp_in_config_tables(routing, tier) for tier in tiers):
        titles = " and ".join(sorted({traits_of_platform(tier.platform).title for tier in tiers}))
        yield KeyFault(_DELIVERY_KEY_PATH, f"tables, which {titles} does not have", "frr.conf")
        return
    for platform, release in sorted(
        {(tier.platform, tier.version) for tier in tiers if keeps_bgp_in_config_tables(routing, tier)}
    ):
        os_traits = traits_of_platform(platform, release)
        if os_traits.routing_tables is None:
            since = first_release(platform, lambda release_traits: release_traits.routing_tables is not None)
            fault = f"tables, which {os_traits.title} {release} cannot have of this design"
            yield KeyFault(_DELIVERY_KEY_PATH, fault, "frr.conf", f"or {os_traits.title} {since} or later")
    names = {
        name
        for node in switches.all
        if keeps_bgp_in_config_tables(routing, node.declaration)
        for name in (node.declaration.platform, node.role, node.group.name, *node.words)
    }
    for name, additions in extra.items():
        if additions.lines and name in names:
            fault = "lines for frr.conf, which is made of tables"
            yield KeyFault(("extra", name, "lines"), fault, "no lines", "or routing.delivery: frr.conf")


def fit_bgp_to_config_tables(bgp: Bgp, routing_tables: BgpTableTraits) -> Bgp:
    """Return a process as tables hold it."""
    maps = tuple(_remove_rules_lost_in_config_tables(route_map, routing_tables) for route_map in bgp.route_maps)
    matched = {(kind, name) for route_map in maps for rule in route_map.rules for kind, name in rule.matches}
    paths = (bgp.maximum_paths, bgp.maximum_paths_ipv6)
    ipv4, ipv6 = (count if count is None else min(count, routing_tables.most_paths) for count in paths)
    return replace_fields(
        bgp,
        **_defaults_of_fields_outside_tables(bgp, routing_tables.process),
        requires_policy=True,
        maximum_paths=ipv4,
        maximum_paths_ipv6=ipv6,
        prefix_lists=tuple(_complete_list_ranges(prefix_list, routing_tables) for prefix_list in bgp.prefix_lists),
        community_lists=tuple(
            community_list for community_list in bgp.community_lists if ("community", community_list.name) in matched
        ),
        route_maps=maps,
        neighbors=tuple(
            replace_fields(
                neighbor,
                **_defaults_of_fields_outside_tables(neighbor, routing_tables.session),
                hold_s=routing_tables.hold_s,
            )
            for neighbor in require_fact(bgp.neighbors)
        ),
    )


def _defaults_of_fields_outside_tables(bgp_row: Bgp | BgpNeighbor, table_fields: frozenset[str]) -> dict[str, object]:
    """Return the defaults of the fields that tables do not hold."""
    return {field.name: field.default for field in fields(bgp_row) if field.name not in table_fields}


def _remove_rules_lost_in_config_tables(policy: RouteMap, routing_tables: BgpTableTraits) -> RouteMap:
    """Return a policy without the rules that set what does not reach the routing daemon.

    Those lower the preference of routes with GRACEFUL_SHUTDOWN, as the daemon does by itself.
    """
    rules = (
        rule for rule in policy.rules if routing_tables.lost_sets.isdisjoint(attribute for attribute, _ in rule.sets)
    )
    return replace_fields(policy, rules=tuple(rules))


def _complete_list_ranges(prefix_list: PrefixList, routing_tables: BgpTableTraits) -> PrefixList:
    """Return a prefix list of ranges with both ends; a least length that would be lost is left out."""
    return replace_fields(
        prefix_list,
        rules=tuple(
            _complete_rule_range(rule, ADDRESS_BITS[prefix_list.family], routing_tables) for rule in prefix_list.rules
        ),
    )


def _complete_rule_range(rule: PrefixRule, longest: int, routing_tables: BgpTableTraits) -> PrefixRule:
    if rule.ge is None:
        return rule
    most = longest if rule.le is None else rule.le
    return replace_fields(rule, ge=None if routing_tables.loses_ge(rule.prefix, rule.ge) else rule.ge, le=most)
