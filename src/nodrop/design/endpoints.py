"""The links between switches and hosts: which host is on which switch and port, by ids alone."""

from collections.abc import Callable, Iterator, Set
from itertools import islice
from typing import NamedTuple

from nodrop.design.boxes import PlannedSwitches, format_panel_ports
from nodrop.design.cabling import HostCable, LinkEndKind, resolve_cabling, splits_at_which_medium_fits
from nodrop.design.faults import IntentFault, KeyFault
from nodrop.design.naming import NamingScheme, host_identity, name_of
from nodrop.design.rails import rail_faults, suggest_more_switches
from nodrop.design.splits import SplitPort, panels_of_endpoints, split_ports
from nodrop.design.topology import Topology, endpoints_of_group, group_of_endpoints, model_of
from nodrop.design.uplinks import can_upper_switches_connect
from nodrop.hardware import nearest_word_hint, nic, nics
from nodrop.hardware.schema import NicModel
from nodrop.intent.schema import EndpointGroup
from nodrop.units import show_ids

MAX_HOST_PORTS = 100_000
"""Of a group, in a fabric of two tiers; more are not even looked at."""

_MORE_PORTS_HINT = "more endpoint ports"


class HostPortAttachment(NamedTuple):
    """The destination of a host's port: the switch, and the position among the group's ports there, from 0."""

    host: int
    host_port: int
    switch: int
    slot: int


def attachments_of_host_ports(group: EndpointGroup) -> Iterator[HostPortAttachment]:
    """Yield the place of every port of a group; all follow from ids."""
    width, together = group.leaves_per_host, group.host_ports_per_switch
    for host in group.ids:
        block, position = divmod(host - 1, group.leaf_group)
        for port in range(1, group.ports + 1):
            switch_index, port_index = divmod(port - 1, together)
            yield HostPortAttachment(host, port, block * width + switch_index + 1, position * together + port_index)


def host_cables(
    topology: Topology, naming: NamingScheme, switches: PlannedSwitches, problems: list[IntentFault]
) -> tuple[HostCable, ...]:
    """Return the links to all hosts; every fault is found, one problem for each group and kind."""
    _check_host_group_names(topology, problems)
    taken: dict[tuple[str, int], dict[SplitPort, str]] = {}
    groups = topology.endpoints
    return tuple(
        cable for name in groups for cable in _cables_of_group(topology, naming, name, switches, taken, problems)
    )


def _check_host_group_names(topology: Topology, problems: list[IntentFault]) -> None:
    """Refuse groups whose hosts would have the identity of a switch, or of a host of another group."""
    owner: dict[str, str] = {}
    of_switches = {group.name for group in topology.groups}
    for name, group in topology.endpoints.items():
        if name.rstrip("0123456789") in of_switches:
            fault = f"{name}{group.ids[0]} would be the name of a switch"
            problems.append(KeyFault(("endpoints", name), fault, "another name for the group"))
        number_by_group = {owner.setdefault(f"{name}{number}", name): number for number in reversed(group.ids)}
        number_by_group.pop(name, None)
        if number_by_group:
            other_group, number = next(iter(number_by_group.items()))
            fault = f"{name}{number} would be the name of two hosts, here and in {other_group}"
            problems.append(KeyFault(("endpoints", name), fault, "a name that does not end in a digit"))


def _cables_of_group(
    topology: Topology,
    naming: NamingScheme,
    name: str,
    switches: PlannedSwitches,
    taken: dict[tuple[str, int], dict[SplitPort, str]],
    problems: list[IntentFault],
) -> Iterator[HostCable]:
    """Yield the links of a group; `taken` holds the hosts of each panel port of each switch, and is updated."""
    group, keys = topology.endpoints[name], ("endpoints", name)
    sharing_fault = _ports_per_host_switch_fault(topology, name)
    if sharing_fault is not None:
        problems.append(sharing_fault)
        return
    count = len(group.ids) * group.ports
    if count > MAX_HOST_PORTS:
        problems.append(KeyFault((*keys, "ids"), f"{count:,} host ports", f"at most {MAX_HOST_PORTS:,}"))
        return
    present = {node.id: node for node in switches.switches_of_host_group(topology, name)}
    model = model_of(group_of_endpoints(topology, name))
    card = _find_nic(keys, group, problems)
    panels = _panels_of_group(topology, name, problems)
    ends = [LinkEndKind.of(model, group.split, panels, group.lanes), *([LinkEndKind.of_nic(card)] if card else [])]
    needed = _ports_needed_per_switch(group)
    link = resolve_cabling(keys, group, ends, problems, lambda n: needed <= len(panels) * n) if card else None
    ports = split_ports(panels, group.split)
    spots = tuple(attachments_of_host_ports(group))
    finer = (
        [
            into
            for into in splits_at_which_medium_fits(group, ends)
            if _has_exclusive_panels(topology, name) and into > group.split
        ]
        if card
        else []
    )
    problems += _placement_faults(topology, name, switches, spots, panels, finer)
    for place in spots:
        if not ports or place.switch not in present or place.slot >= len(ports):
            continue
        host, jack = name_of(naming, host_identity(name, place.host)), ports[place.slot]
        switch = present[place.switch]
        host_of_jack = taken.setdefault((switch.name, jack.panel), {})
        clash = _claim_port_or_describe_clash(host_of_jack, jack, host, switch.name)
        if clash:
            hint = _suggest_host_ports(topology, name) or _MORE_PORTS_HINT
            problems.append(KeyFault((*keys, "leaf_ports"), clash, "separate leaf_ports", hint))
            return
        if link is not None:
            yield HostCable(
                switch=switch,
                switch_port=jack,
                host=host,
                host_port=place.host_port,
                host_lanes=link.lanes or ends[1].lanes[group.speed],
                bond=ports[place.slot - place.host_port + 1] if group.bond else None,
                group=name,
                cabling=link,
            )


def _ports_per_host_switch_fault(topology: Topology, name: str) -> KeyFault | None:
    """Return why so many ports of each host of a group cannot share a switch."""
    group, switch_label = topology.endpoints[name], group_of_endpoints(topology, name).name
    together, path = group.ports_per_leaf, ("endpoints", name, "ports_per_leaf")
    if together == 1:
        return None
    if group.spread == "one-leaf":
        return KeyFault(path, f"{together} ports on each {switch_label}, and all on one", "none", "ports_per_leaf: 1")
    if together == group.ports:
        return KeyFault(
            path,
            f"all {group.ports} ports on one {switch_label}",
            "fewer ports",
            "ports_per_leaf: 1 and spread: one-leaf",
        )
    if group.ports % together:
        divisors = [number for number in range(1, group.ports) if group.ports % number == 0]
        closest = min(divisors, key=lambda number: (abs(number - together), number))
        return KeyFault(
            path, f"{together} of {group.ports} ports", f"a divisor: {show_ids(divisors)}", f"ports_per_leaf: {closest}"
        )
    return None


def _find_nic(keys: tuple[str, ...], group: EndpointGroup, problems: list[IntentFault]) -> NicModel | None:
    """Return the NIC of a group; None where it is not known. More ports than its accelerators have are a problem."""
    if group.nic not in nics():
        hint = nearest_word_hint(group.nic, nics())
        problems.append(KeyFault((*keys, "nic"), group.nic, "a NIC of the catalogue", hint))
        return None
    card = nic(group.nic)
    if card.ports_per_gpu is not None and group.ports > (most := card.ports_per_gpu * group.gpus):
        fault = f"{group.ports} ports, but {group.gpus} {card.name} have {most} that leave the server"
        hint = f"gpus: {-(-group.ports // card.ports_per_gpu)}"
        problems.append(KeyFault((*keys, "ports"), fault, f"at most {card.ports_per_gpu} for each of `gpus`", hint))
    return card


def _claim_port_or_describe_clash(host_of_jack: dict[SplitPort, str], jack: SplitPort, host: str, switch: str) -> str:
    """Return why a host cannot have a part of a panel port, empty if it can; `host_of_jack` is kept up."""
    for other_jack, owner in host_of_jack.items():
        if other_jack.splits != jack.splits:
            splits = f"{jack.splits} for {host} and into {other_jack.splits} for {owner}"
            return f"port {jack.panel} of {switch} would be split into {splits}"
    owner = host_of_jack.setdefault(jack, host)
    return f"{host} and {owner} would both get port {jack} of {switch}" if owner != host else ""


def _panels_of_group(topology: Topology, name: str, problems: list[IntentFault]) -> tuple[int, ...]:
    """Return the panel ports that a group has on every switch; none if the group should state them and does not."""
    group, switches = topology.endpoints[name], group_of_endpoints(topology, name)
    of_switch = switches.endpoints
    if group.leaf_ports is None:
        if len(endpoints_of_group(topology, switches)) == 1:
            return of_switch
        fault = f"several groups share the {switches.label}' endpoint ports"
        hint = _suggest_host_ports(topology, name) or _MORE_PORTS_HINT
        problems.append(KeyFault(("endpoints", name), fault, "separate leaf_ports", hint))
        return ()
    foreign = set(group.leaf_ports) - set(of_switch)
    if foreign:
        fault = f"{format_panel_ports(foreign)} of the {switches.label}, not for endpoints"
        expected = f"some of {show_ids(of_switch)}"
        problems.append(KeyFault(("endpoints", name, "leaf_ports"), fault, expected))
    return group.leaf_ports


def _suggest_host_ports(topology: Topology, name: str) -> str:
    """Return `leaf_ports` that are enough for a group and nobody else's; empty if there are too few."""
    switches = group_of_endpoints(topology, name)
    groups = {key: topology.endpoints[key] for key in endpoints_of_group(topology, switches)}
    stated = {panel for key, group in groups.items() if key != name for panel in group.leaf_ports or ()}
    free = [panel for panel in switches.endpoints if panel not in stated]
    for key, group in groups.items():
        needed = -(-_ports_needed_per_switch(group) // group.split)
        if key == name:
            break
        if group.leaf_ports is None:
            free = free[needed:]
    return f"leaf_ports: {show_ids(free[:needed])}" if needed <= len(free) else ""


def _ports_needed_per_switch(group: EndpointGroup) -> int:
    """Return how many ports of a switch a group needs."""
    hosts = 1 + max((host - 1) % group.leaf_group for host in group.ids)
    return hosts * group.host_ports_per_switch


def _has_exclusive_panels(topology: Topology, name: str) -> bool:
    """Whether no other group shares panel ports with a group, which allows a different split of these."""
    own_panels = set(panels_of_endpoints(topology, name))
    return not any(
        own_panels & set(panels_of_endpoints(topology, other_endpoint))
        for other_endpoint in endpoints_of_group(topology, group_of_endpoints(topology, name))
        if other_endpoint != name
    )


def _placement_faults(
    topology: Topology,
    name: str,
    switches: PlannedSwitches,
    spots: tuple[HostPortAttachment, ...],
    panels: tuple[int, ...],
    finer: list[int],
) -> Iterator[KeyFault]:
    """Yield the faults in the placement of a group's hosts, with the right values; `finer` are other splits."""
    group, keys = topology.endpoints[name], ("endpoints", name)
    box, present = (
        group_of_endpoints(topology, name),
        {node.id for node in switches.switches_of_host_group(topology, name)},
    )
    missing = {place.switch for place in spots} - present
    of_rails = list(
        rail_faults(
            topology,
            name,
            present,
            {place.switch for place in spots},
            _switch_hint_function(topology, name),
            lambda switch_count: _fits_on_fewer_switches(group, switch_count, len(panels) * group.split),
        )
    )
    yield from of_rails
    if missing and not of_rails:
        lost = {place.host for place in spots if place.switch in missing}
        fault = f"{name} {show_ids(lost)} would be on {box.name} {show_ids(missing)}"
        change_hint = (lost == set(group.ids) and _render_host_ids(_host_ids_on_present_switches(group, present))) or (
            _join_alternatives(
                _render_change_with_switches(topology, name, "", missing), _render_host_ids(set(group.ids) - lost)
            )
        )
        hint = change_hint or suggest_more_switches(topology, box)
        yield KeyFault((*keys, "ids"), fault, f"{box.name} {show_ids(present)}", hint)
    needed, port_count = _ports_needed_per_switch(group), len(panels) * group.split
    if panels and needed > port_count:
        most = port_count // group.host_ports_per_switch
        smaller = (
            {place.switch for place in attachments_of_host_ports(group.model_copy(update={"leaf_group": most}))}
            if most
            else set()
        )
        lost = {place.host for place in spots if place.switch in missing or place.slot >= port_count}
        where = show_ids(panels) + (f" split into {group.split}" if group.split > 1 else "")
        fault = f"{name} needs {needed} ports of a {box.name}"
        fewer = _render_change_with_switches(topology, name, f"leaf_group: {most}", smaller - present) if most else ""
        split = next((f"split: {into}" for into in finer if needed <= len(panels) * into), "")
        hint = (
            _join_alternatives(
                split, _suggest_host_ports(topology, name), fewer, _render_host_ids(set(group.ids) - lost)
            )
            or _MORE_PORTS_HINT
        )
        yield KeyFault((*keys, "leaf_group"), fault, f"at most the {port_count} it has, {where}", hint)


def _fits_on_fewer_switches(group: EndpointGroup, switch_count: int, port_count: int) -> bool:
    """Whether the ports of each host fit on fewer switches, several on each; `port_count` is that of a switch."""
    together, rest = divmod(group.ports, switch_count)
    return not rest and _ports_needed_per_switch(group.model_copy(update={"ports_per_leaf": together})) <= port_count


def _host_ids_on_present_switches(group: EndpointGroup, present: Set[int]) -> set[int]:
    """Return the lowest ids for as many hosts on switches that exist; empty if these take fewer."""
    width = group.leaves_per_host
    blocks = sorted({(switch - 1) // width for switch in present})
    whole = (block for block in blocks if set(range(block * width + 1, (block + 1) * width + 1)) <= present)
    hosts = (block * group.leaf_group + host for block in whole for host in range(1, group.leaf_group + 1))
    ids = set(islice(hosts, len(group.ids)))
    return ids if len(ids) == len(group.ids) else set()


def _switch_hint_function(topology: Topology, name: str) -> Callable[[Set[int]], str]:
    """Return a function that names the switches of a group of hosts with some more; "" if they do not fit."""
    return lambda missing: _render_change_with_switches(topology, name, "", missing)


def _render_change_with_switches(topology: Topology, name: str, change: str, missing: Set[int]) -> str:
    """Return a change together with the switches that it needs besides; empty if those above cannot take them."""
    group = group_of_endpoints(topology, name)
    present = missing | set(group.wanted.ids)
    if missing and not can_upper_switches_connect(topology, group, present):
        return ""
    keys = ".".join((*group.keys, "ids"))
    return " and ".join(filter(None, (change, f"{keys}: {show_ids(present)}" if missing else "")))


def _render_host_ids(kept_numbers: Set[int]) -> str:
    return f"ids: {show_ids(kept_numbers)}" if kept_numbers else ""


def _join_alternatives(*changes: str) -> str:
    """Return the ways there are to put something right."""
    return ", or ".join(filter(None, changes))
