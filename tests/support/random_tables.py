"""Random devices with BGP in tables: what tables cannot say of them is left out, and what is named is there."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp, BgpNeighbor, CommunityList, PrefixList, PrefixRule, RouteMap, StaticRoute
from nodrop.model.subject import natural_sort_key
from nodrop.platforms.frr.words import is_neighbor_address
from nodrop.platforms.sonic.policy_rows import ROUTE_MAP_MATCH_BINDINGS, ROUTE_MAP_SET_BINDINGS, does_template_drop_ge

_LENGTH = {"ipv4": 32, "ipv6": 128}


def in_tables(device: Device) -> Device:
    """The device with its BGP in tables."""
    ports = [port.name for port in device.interfaces]
    assert isinstance(device.bgp, Bgp)
    bgp = _process(device.bgp, ports)
    vrfs = sorted({str(port.vrf) for port in device.interfaces if port.vrf}, key=natural_sort_key)
    others = [replace(_process(one, ports), vrf=vrf) for one, vrf in zip(device.vrf_bgp, vrfs, strict=False)]
    routes = tuple(_routes(device.static_routes))
    return replace(device, routing_tables=True, bgp=bgp, vrf_bgp=tuple(others), static_routes=routes, extra_lines=())


def _routes(routes: Iterable[StaticRoute]) -> Iterable[StaticRoute]:
    """Those to addresses, each prefix once."""
    by_prefix = {(one.vrf, one.prefix): one for one in routes}
    yield from by_prefix.values()


def _process(bgp: Bgp, ports: Sequence[str]) -> Bgp:
    v4 = {one.name for one in bgp.prefix_lists if one.family == "ipv4"}
    lists = tuple(_list(one) for one in bgp.prefix_lists if one.family == "ipv4" or one.name not in v4)
    families: dict[str | None, str] = {one.name: one.family for one in lists}

    def session(one: BgpNeighbor, port: str) -> BgpNeighbor:
        other = replace(
            one.ipv6,
            import_prefix_list=_of(families, one.ipv6.import_prefix_list, "ipv6"),
            export_prefix_list=_of(families, one.ipv6.export_prefix_list, "ipv6"),
            next_hop_forced=False,
            reflector_client=False,
        )
        return replace(
            one,
            interface=port if one.interface else None,
            description=one.description and one.description.replace("'", "´"),
            update_source=one.update_source if is_neighbor_address(one.update_source or "x") else None,
            next_hop_forced=False,
            reflector_client=False,
            ipv6=other,
        )

    neighbors = list(bgp.neighbors)
    over_ports = [one for one in neighbors if one.interface][: len(ports)]
    kept = [one for one in neighbors if one.interface is None or one in over_ports]
    named = {one.key: port for one, port in zip(over_ports, ports, strict=False)}
    return replace(
        bgp,
        requires_policy=True,
        import_check=True,
        aggregates=(),
        maximum_med=None,
        distances=None,
        distances_ipv6=None,
        installed_policy=None,
        installed_policy_ipv6=None,
        session_dscp=None,
        cluster_id=None,
        maximum_paths_internal=None,
        maximum_paths_internal_ipv6=None,
        suppress_fib_pending=False,
        select_defer_s=None,
        prefix_lists=lists,
        community_lists=tuple(map(_communities, bgp.community_lists)),
        as_path_lists=tuple(
            replace(one, rules=tuple(("permit", path) for _, path in one.rules)) for one in bgp.as_path_lists
        ),
        route_maps=tuple(_map(one, families, ports) for one in bgp.route_maps),
        neighbors=tuple(session(one, named.get(one.key, "")) for one in kept),
    )


def _of(families: dict[str | None, str], name: str | None, family: str) -> str | None:
    return name if families.get(name) == family else None


def _list(one: PrefixList) -> PrefixList:
    return replace(one, rules=tuple(_range(rule, _LENGTH[one.family]) for rule in one.rules))


def _range(rule: PrefixRule, longest: int) -> PrefixRule:
    if rule.ge is None:
        return rule
    return replace(rule, ge=None if does_template_drop_ge(rule.prefix, rule.ge) else rule.ge, le=rule.le or longest)


def _communities(one: CommunityList) -> CommunityList:
    rules: list[Any] = list(dict.fromkeys(("permit", communities) for _, communities in one.rules))
    mixed = len(rules) > 1 and any(len(communities) > 1 for _, communities in rules)
    return replace(one, rules=tuple(rules[:1] if mixed else rules))


def _map(one: RouteMap, families: dict[str | None, str], ports: Sequence[str]) -> RouteMap:
    def kept(rows: Any, parts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        order = {row.field: (number, row) for number, row in enumerate(rows) if row.encode is not None}
        taken: set[str] = set()
        found = []
        expressed = [part for part in parts if part[0] in order]
        for attribute, stated in sorted(expressed, key=lambda part: order[part[0]][0]):
            value = ports[0] if attribute == "interface" else stated
            wanted = {"ipv6 address prefix-list": "ipv6"}.get(attribute, "ipv4")
            if attribute.endswith("prefix-list") and families.get(value) != wanted:
                continue
            columns = set(order[attribute][1].encode(value, None))
            if not columns & taken:
                taken |= columns
                found.append((attribute, value))
        return tuple(found)

    rules = (
        replace(
            rule, matches=kept(ROUTE_MAP_MATCH_BINDINGS, rule.matches), sets=kept(ROUTE_MAP_SET_BINDINGS, rule.sets)
        )
        for rule in one.rules
    )
    return replace(one, rules=tuple(rules))
