"""What becomes of routing from one state to the next: the items of nodrop's own computation that differ."""

from collections.abc import Iterator

from nodrop.analyses._computed import compute_observation
from nodrop.model.fabric import Device, Interface
from nodrop.model.fields import field_of
from nodrop.model.index import Index
from nodrop.model.subject import Subject, ends_of_cable_key, subject_sort_key
from nodrop.plan.model import Plan
from nodrop.results.checked import RoutingDifference
from nodrop.routing.observation import OBSERVATION_CHECKS

MAX_DEVICES_FOR_ROUTING = 500
"""Of larger fabrics, routing is worked out on request: every leaf is held against every other."""
_ROUTING_CHECKS = tuple(
    check for check in OBSERVATION_CHECKS if check not in ("configuration", "recoveries", "packets", "addresses")
)


def may_reroute(plan: Plan) -> bool:
    """Return whether sessions or routes may depend on anything that changes (the column `routing` of fields).

    Lost packets of full size are no matter of routing: rules check them.
    """
    if any(device.kind != "changed" for device in plan.devices):
        return True
    of_fabric = (entry for block in plan.changes if not block.devices for fact in block.facts for entry in fact.entries)
    recabled = any(entry.path[0] == "links" for entry in of_fabric)
    return recabled or any(
        field_of(Interface if device_part.ports else Device, entry.path[0]).routing
        for device in plan.devices
        for device_part in device.parts
        for entry in device_part.entries
    )


def find_routing_changes(old_index: Index, new_index: Index) -> Iterator[RoutingDifference]:
    """Yield what differs, check by check; of switches that only one side has, and of cables to them, nothing."""
    before, after = compute_observation(old_index).seen, compute_observation(new_index).seen
    names = {device.name for device in old_index.fabric.devices} & {device.name for device in new_index.fabric.devices}
    for check in _ROUTING_CHECKS:
        was, current_items = before.get(check, {}), after.get(check, {})
        for item in sorted(was.keys() | current_items.keys(), key=subject_sort_key):
            change = RoutingDifference(check=check, item=item, old=was.get(item), new=current_items.get(item))
            if change.old != change.new and _is_reportable(change) and _devices_of_item(item) <= names:
                yield change


def _devices_of_item(checked_subject: Subject) -> set[str]:
    """Return the switches that an item is of: a cable is of both that it joins."""
    if not checked_subject[0].startswith("@"):
        return {checked_subject[0]}
    return {end.node for end in ends_of_cable_key(checked_subject[-1])}


def _is_reportable(change: RoutingDifference) -> bool:
    """Whether a change is worth a line: failures are tried by kind, and packets to new destinations should arrive."""
    if change.check == "failures":
        return change.old is not None and change.new is not None
    if change.check == "reach":
        return change.new is not None and (change.old is not None or change.new != "delivered")
    return True
