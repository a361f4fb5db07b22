"""What may join two leaves that no known cable joins: shared by the analyses of hosts that do not reach each other."""

from collections.abc import Mapping

from nodrop.analyses import UndecidedSubject
from nodrop.analyses._pairs import UNREAD_LINK_END_FACT, are_no_cable_ends_shut
from nodrop.model.fabric import Interface
from nodrop.model.index import Index
from nodrop.model.modes import find_connected_components
from nodrop.model.states import Unknown, is_known_off


def switch_group_by_name(index: Index) -> Mapping[str, str]:
    """Return for each switch one of all that cables in service join to it, those that were not read included."""
    return index.compute_once("switches joined by cables in service", lambda: _group_switches(index))


def _group_switches(index: Index) -> Mapping[str, str]:
    hosts = index.hosts.keys()
    links = [link for link in index.fabric.links if not (link.a.node in hosts or link.b.node in hosts)]
    names = [*index.devices, *(end.node for link in links for end in (link.a, link.b))]
    return find_connected_components(
        dict.fromkeys(names), [link for link in links if are_no_cable_ends_shut(index, link.a, link.b)]
    )


def find_possible_join(index: Index, groups: Mapping[str, str], leaves: tuple[str, str]) -> UndecidedSubject | None:
    """Return the possible joints of two leaves: switches that were not read, or ports without a known cable."""
    first_leaf, other_leaf = leaves
    switch_names = [name for name, group in groups.items() if group in (groups[first_leaf], groups[other_leaf])]
    if unread := frozenset(switch_names) - index.devices.keys():
        return UndecidedSubject(subject=(first_leaf,), missing=UNREAD_LINK_END_FACT, others=unread)
    unknown = next((name for name in switch_names if _has_unknown_cable(index, name)), None)
    return None if unknown is None else UndecidedSubject(subject=(unknown,), missing="interface.side")


def _has_unknown_cable(index: Index, name: str) -> bool:
    """Whether a port of a switch may lead to a switch that no known cable names."""
    return any(
        _may_be_fabric_port(port) and index.far_end(name, port.name) is None for port in index.devices[name].interfaces
    )


def _may_be_fabric_port(port: Interface) -> bool:
    return (isinstance(port.side, Unknown) or port.side == "fabric") and not is_known_off(port.enabled)
