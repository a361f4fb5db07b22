"""Settings of single switches that differ from their group's: another AS number or HWSKU, ports held back."""

from collections.abc import Iterator, Mapping

from nodrop.design.asns import asns_by_device
from nodrop.design.boxes import PlannedSwitch, resolve_switches, switches_of
from nodrop.design.faults import IntentFault
from nodrop.design.hwskus import hwsku_of
from nodrop.design.layout import lay_out
from nodrop.design.naming import naming_of
from nodrop.design.topology import topology_of
from nodrop.importing.parts import KeyTree, format_number_ranges
from nodrop.importing.tier_view import CableLookup, GroupedSwitch, TierView
from nodrop.intent.schema import Intent
from nodrop.model.fabric import Port
from nodrop.model.routing import Bgp

_Jack = tuple[str, Port]
"""A port of a switch, by the switch's name and the panel port and part."""


def derive_settings_by_switch(tier_view: TierView, intent: Intent) -> KeyTree:
    """Return the settings by switch, in order, that an intent without them lacks."""
    nodes = {str(node.identity): node for node in switches_of(intent).all}
    boxes = {box.device.name: box for box in tier_view.switches_from_lowest_tier if box.device.name in nodes}
    found: dict[str, KeyTree] = {}
    for name, asn in _asns_unlike_designed(intent, boxes):
        found.setdefault(name, {})["asn"] = asn
    for name, hwsku in _hwskus_unlike_designed(intent, nodes, boxes):
        found.setdefault(name, {})["hwsku"] = hwsku
    for name, panels in _spare_panels(tier_view, intent).items():
        found.setdefault(name, {})["spare"] = panels
    return {name: found[name] for name in boxes if name in found}


def _asns_unlike_designed(intent: Intent, boxes: Mapping[str, GroupedSwitch]) -> Iterator[tuple[str, int]]:
    """Yield switches whose AS number does not follow from the rule of their group."""
    designed = asns_by_device(topology_of(intent), intent.routing, {}, switches_of(intent), [])
    for name, box in boxes.items():
        if isinstance(box.device.bgp, Bgp) and designed.get(name, box.device.bgp.asn) != box.device.bgp.asn:
            yield name, box.device.bgp.asn


def _hwskus_unlike_designed(
    intent: Intent, nodes: Mapping[str, PlannedSwitch], boxes: Mapping[str, GroupedSwitch]
) -> Iterator[tuple[str, str]]:
    """Yield switches with a known HWSKU of their model that the design does not give them."""
    for name, box in boxes.items():
        node, device = nodes[name], box.device
        sonic = node.model.sonic
        same_kind = device.platform == node.declaration.platform and device.model == node.model.name
        hwsku = sonic.hwsku if device.hwsku is None else device.hwsku
        usual = hwsku_of(topology_of(intent), node.group, node.model) or sonic.hwsku
        if same_kind and isinstance(hwsku, str) and hwsku in sonic.hwskus and hwsku != usual:
            yield name, hwsku


def _spare_panels(tier_view: TierView, intent: Intent) -> dict[str, object]:
    """Return the panel ports that are held back: those of cables that the intent has and the fabric does not.

    Both ends must be shut. A switch without any cable is `all`; else the lower switch holds its panel port back, or the
    upper one where other parts of that panel port have cables.
    """
    cables, faults = CableLookup(tier_view), list[IntentFault]()
    open_jacks, read_names = (
        _ports_not_shut(tier_view),
        {box.device.name for box in tier_view.switches_from_lowest_tier},
    )
    topology, naming = topology_of(intent), naming_of(intent)
    layout = lay_out(
        topology, naming, intent.devices, intent.external, resolve_switches(topology, naming, faults), faults
    )
    pairs = [(lower, upper) for lower in tier_view.groups for upper in tier_view.groups]
    present = {
        frozenset({(f"{lower.name}{run.lower}", run.lower_port), (f"{upper.name}{run.upper}", run.upper_port)})
        for lower, upper in pairs
        for run in cables.cables_between_groups(lower, upper)
    }
    if faults or not present:
        return {}
    used = {(name, port.panel) for pair in present for name, port in pair}
    linked = {name for name, _ in used}
    found: dict[str, set[int]] = {}
    reserve: set[str] = set()
    for cable in layout.fabric_cables:
        ends = (cable.lower, cable.lower_port.port), (cable.upper, cable.upper_port.port)
        lower, upper = ((str(node.identity), port) for node, port in ends)
        if lower in open_jacks or upper in open_jacks or not {lower[0], upper[0]} <= read_names:
            continue
        if alone := {lower[0], upper[0]} - linked:
            reserve.add(upper[0] if upper[0] in alone else lower[0])
        elif free := [(name, port.panel) for name, port in (lower, upper) if (name, port.panel) not in used]:
            found.setdefault(free[0][0], set()).add(free[0][1])
    return {name: format_number_ranges(panels) for name, panels in found.items()} | dict.fromkeys(reserve, "all")


def _ports_not_shut(tier_view: TierView) -> frozenset[_Jack]:
    """Return the ports that are up, or of which no file states whether they are."""
    return frozenset(
        (box.device.name, port.port)
        for box in tier_view.switches_from_lowest_tier
        for port in box.device.interfaces
        if isinstance(port.port, Port) and port.enabled is not False
    )
