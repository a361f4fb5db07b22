"""FRR and the model: written through a template, read from the syntax of `syntax.frr`; used by several platforms."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nodrop.model.addresses import AddressFamily
from nodrop.model.fabric import Device
from nodrop.model.routing import Bgp, BgpNeighbor, Ipv6Unicast, Redistribution, StaticRoute
from nodrop.model.states import Unknown, require_fact
from nodrop.platforms.frr import rows as frr_rows
from nodrop.platforms.frr.limits import expressible_bgp_processes
from nodrop.platforms.frr.places import place_finder_for_files as place_finder_for_files
from nodrop.platforms.frr.text_reader import ADDRESS_COMMANDS as ADDRESS_COMMANDS
from nodrop.platforms.frr.text_reader import DATACENTER as DATACENTER
from nodrop.platforms.frr.text_reader import FrrRouting as FrrRouting
from nodrop.platforms.frr.text_reader import read_frr as read_frr
from nodrop.platforms.kit.address_families import has_ipv6_settings, stated_families
from nodrop.platforms.kit.rendering import EscapedText, load_template
from nodrop.platforms.kit.session_groups import (
    NO_FAR_ENDS,
    GroupedSessions,
    GroupNameByFarEnd,
    group_sessions_into_peer_groups,
    without_group_fields,
)


def render_frr_conf(device: Device, far_ends: GroupNameByFarEnd = NO_FAR_ENDS) -> str:
    """Return the device's frr.conf; UnsupportedByPlatform names the model path that FRR cannot express.

    `far_ends` names the peer groups of its sessions.
    """
    processes = expressible_bgp_processes(device)
    bgp = processes[0] if processes else None
    routes = list(map(format_static_route, device.static_routes))
    installed = [] if bgp is None else [*frr_rows.ZEBRA_COMMANDS.commands_of_non_default_fields(bgp)]
    return _render_template(
        "frr",
        device=device,
        bgp=bgp,
        routes=routes,
        installed=installed,
        processes=[_render_process(process, far_ends) for process in processes],
    )


def format_static_route(route: StaticRoute) -> str:
    """Return the command of a static route."""
    family = "ipv6" if ":" in route.prefix else "ip"
    distance = f" {route.distance}" if route.distance != 1 else ""
    return f"{family} route {route.prefix} {route.next_hop}{distance}{f' vrf {route.vrf}' if route.vrf else ''}"


def _render_process(bgp: Bgp, ends: GroupNameByFarEnd) -> EscapedText:
    """Return the commands of a process; rendered here because lines of an included template are passed through."""
    head, *own_commands = frr_rows.PROCESS_COMMANDS.commands_of_non_default_fields(bgp)
    session = group_sessions_into_peer_groups(bgp, ends)
    for name, group in session.groups.items():
        own_commands += [frr_rows.format_session_command(name, "peer-group"), *frr_rows.session_lines(name, group)]
    for neighbor in require_fact(bgp.neighbors):
        own_commands += _session_commands(neighbor, session)
    sessions = session.groups_and_sessions(require_fact(bgp.neighbors))
    blocks = [(family.name, list(_family_commands(bgp, family))) for family in find_address_families(bgp, sessions)]
    return _render_template("bgp", head=head, commands=own_commands, families=blocks)


def _session_commands(neighbor: BgpNeighbor, peer_groups: GroupedSessions) -> list[str]:
    """Return the commands of a session: all its settings, or those that its peer group does not hold."""
    group = peer_groups.group_of.get(neighbor.key)
    if group is None:
        return frr_rows.session_lines(neighbor.key, neighbor)
    makes_it, *setting_lines = frr_rows.session_lines(neighbor.key, without_group_fields(neighbor))
    return [makes_it, frr_rows.format_session_command(neighbor.key, f"peer-group {group}"), *setting_lines]


def _family_commands(bgp: Bgp, family: "AddressFamilySettings") -> Iterator[str]:
    """Yield the commands of an address family of a process."""
    for network in family.networks:
        yield f"network {network}"
    for aggregate in bgp.aggregates:
        if (":" in aggregate.prefix) is (family.name == "ipv6"):
            yield frr_rows.aggregate_line(aggregate)
    for redistribution in family.redistributions:
        policy = f" route-map {redistribution.policy}" if redistribution.policy else ""
        yield f"redistribute {redistribution.source}{policy}"
    for key, carried in family.sessions:
        yield from frr_rows.session_family_lines(key, carried, by_default=family.by_default)
    yield from frr_rows.PROCESS_FAMILY_COMMANDS[family.name].commands_of_non_default_fields(bgp)


def _render_template(file: str, **names: object) -> EscapedText:
    return EscapedText(load_template(f"frr/{file}.conf.j2").render(**names))


class AddressFamilySettings(NamedTuple):
    """The settings of a BGP address family: `by_default` is a session's behavior where it has no setting."""

    name: AddressFamily
    networks: list[str]
    redistributions: list[Redistribution]
    sessions: list[tuple[str, BgpNeighbor | Ipv6Unicast]]
    """Peer groups and sessions by name, with their settings in this family."""
    by_default: bool | Unknown


def find_address_families(bgp: Bgp, sessions: Sequence[tuple[str, BgpNeighbor]]) -> Iterator[AddressFamilySettings]:
    """Yield the address families that a process states; `sessions` are pairs of name and session."""
    for name in stated_families(bgp, [neighbor for _, neighbor in sessions]):
        is_ipv6 = name == "ipv6"
        networks = [network for network in bgp.networks if (":" in network) is is_ipv6]
        other_redistributions = [
            redistribution for redistribution in bgp.redistributions if redistribution.family == name
        ]
        carrying: list[tuple[str, BgpNeighbor | Ipv6Unicast]] = (
            [(key, neighbor.ipv6) for key, neighbor in sessions if has_ipv6_settings(neighbor)]
            if is_ipv6
            else [*sessions]
        )
        yield AddressFamilySettings(
            name, networks, other_redistributions, carrying, False if is_ipv6 else bgp.default_ipv4_unicast
        )
