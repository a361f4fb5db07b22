"""The links of a cabling sheet: each between the ports that its row names; what cannot be is refused at the row."""

from collections import Counter
from collections.abc import Iterator, Mapping
from math import ceil

from nodrop.design.boxes import PlannedSwitch, PlannedSwitches
from nodrop.design.cabling import CableProperties, FabricCable, HostCable, LinkEndKind, resolve_cabling
from nodrop.design.faults import IntentFault, KeyFault
from nodrop.design.sheet import ResolvedCableSheet, StatedCableEnd
from nodrop.design.splits import SplitPort
from nodrop.design.topology import GroupJoin, Topology, model_of
from nodrop.design.uplinks import sum_down_mbps
from nodrop.errors import Problem
from nodrop.model.subject import natural_sort_key
from nodrop.platforms import port_name
from nodrop.platforms.kit.panel_names import find_panel_parts
from nodrop.syntax.places import sanitize_for_message
from nodrop.units import show_speed


def stated_cables(
    topology: Topology, switches: PlannedSwitches, down_mbps: Mapping[str, int], problems: list[IntentFault]
) -> tuple[FabricCable, ...]:
    """Return the links of a sheet by switch and port, those of lower tiers first.

    `down_mbps` is the bandwidth to hosts of every switch that has any; empty where it is not known.
    """
    nodes = {(node.group.name, node.id): node for node in switches.all}
    cables: list[FabricCable] = []
    for join in topology.joins:
        link = _cabling_of_join(topology, join, problems)
        if link is None:
            continue
        for cable in join.cables:
            (lower, lower_port), (upper, upper_port) = (_find_port(nodes, end) for end in (cable.lower, cable.upper))
            cables.append(
                FabricCable(lower=lower, lower_port=lower_port, upper=upper, upper_port=upper_port, cabling=link)
            )
    if down_mbps and not problems:
        problems += _oversubscription_faults(topology, switches, down_mbps, cables)
    return tuple(
        sorted(cables, key=lambda cable: (cable.lower.tier, natural_sort_key(cable.lower.name), cable.lower_port))
    )


def _find_port(nodes: Mapping[tuple[str, int], PlannedSwitch], end: StatedCableEnd) -> tuple[PlannedSwitch, SplitPort]:
    return nodes[end.group, end.id], SplitPort(*end.part)


def _cabling_of_join(topology: Topology, join: GroupJoin, problems: list[IntentFault]) -> CableProperties | None:
    """Return the properties of cables that are alike; a fault of their medium is one of the first of them."""
    ends = [
        LinkEndKind.of(model_of(group), into, panels)
        for group, into, panels in (
            (join.lower, join.split, join.lower_ports),
            (join.upper, join.upper_split_factor, join.upper_panels(model_of(join.upper))),
        )
    ]
    faults, sheet = list[IntentFault](), topology.sheet
    link = resolve_cabling(join.keys, join.wanted, ends, faults, lambda _: False)
    if sheet:
        places = (sheet.places.problem(join.cables[0].row, fault.found, fault.expected, fault.hint) for fault in faults)
        problems += places
    return link


def _oversubscription_faults(
    topology: Topology, switches: PlannedSwitches, down_mbps: Mapping[str, int], cables: list[FabricCable]
) -> Iterator[KeyFault]:
    """Yield the switch of each group that has the most bandwidth downwards for its bandwidth upwards, if too much."""
    down, up = Counter(down_mbps) + sum_down_mbps(cables), Counter[str]()
    for cable in cables:
        up[cable.lower.name] += cable.cabling.speed_mbps
    for group in topology.groups:
        names = [node.name for node in switches.groups[group] if down[node.name]]
        if not names or not topology.joins_above(group):
            continue
        if lacking := next((name for name in names if not up[name]), None):
            yield KeyFault(("topology", "cables"), f"{lacking} has no cable to a higher tier", "one at least")
            continue
        worst = max(names, key=lambda name: down[name] / up[name])
        if down[worst] > up[worst] * group.limit:
            ratio = down[worst] / up[worst]
            rates = f"{show_speed(down[worst])} down and {show_speed(up[worst])} up"
            fault, hint = f"{worst} is {ratio:.4g}:1 oversubscribed, {rates}", f"{ceil(100 * ratio) / 100:g}"
            yield KeyFault(
                group.limit_keys, fault, f"at most {group.limit:g}:1", f"max_oversubscription: {hint}, or more cables"
            )


def host_row_faults(sheet: ResolvedCableSheet, cables: tuple[HostCable, ...]) -> Iterator[Problem]:
    """Yield rows of hosts that are unlike the cables that follow from `endpoints`."""
    cable_by_port = {(cable.host, str(cable.host_port)): cable for cable in cables}
    for row in sheet.host_rows if cables else ():
        cable = cable_by_port.get((row.host, row.host_port.removeprefix("nic")))
        if cable is None:
            fault = f"{row.host} has no port {sanitize_for_message(row.host_port)}"
            yield sheet.places.problem(row.row, fault, "nic1 and so on, as endpoints have it")
            continue
        parts = (tuple(part) for part in find_panel_parts(row.switch.model, row.port))
        if cable.switch.name != row.switch.name or tuple(cable.switch_port) not in parts:
            fault = f"{row.host}:{row.host_port} in {row.switch.name}:{sanitize_for_message(row.port)}"
            jack = cable.switch_port
            port = port_name(cable.switch.declaration.platform, cable.switch.model.name, jack.port, jack.splits)
            yield sheet.places.problem(row.row, fault, f"{cable.switch.name}:{port}, by endpoints.{cable.group}")
