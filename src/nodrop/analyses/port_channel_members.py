"""Members of a port channel that treat lossless traffic differently from the rest: the choice of a member decides."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.model.fabric import Device, Interface
from nodrop.model.index import Index
from nodrop.model.qos import QosProfile
from nodrop.model.states import UnknownFact, known_rows, require_fact

GIVES_CHANGES = True
READS_NEARBY_FACTS = True

MemberTraits = tuple[tuple[str, str], ...]
"""What a port does, in words, and the attribute of its QoS that says so."""


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the members unlike most others of their port channel, once for each aspect with a difference."""
    for device in index.fabric.devices:
        for channel in known_rows(device.port_channels):
            members = [
                port for name in channel.members if (port := _find_active_member(index, device, name)) is not None
            ]
            for aspect, read in MEMBER_TRAITS_BY_ASPECT.items():
                yield from _outlier_member_hits(device, channel.name, members, aspect, read)


def _find_active_member(index: Index, device: Device, name: str) -> Interface | None:
    port = index.interface(device.name, name)
    return port if port is not None and port.enabled is not False and isinstance(port.qos, QosProfile) else None


def _outlier_member_hits(
    device: Device, channel: str, members: Sequence[Interface], aspect: str, read: Callable[[QosProfile], MemberTraits]
) -> Iterator[AnalysisHit]:
    """Yield the members whose traits are not those of most; of as many on either side, the first is right."""
    traits = [(port, member_traits) for port in members if (member_traits := _read_member_traits(port, read))]
    usual = Counter(member_traits for _, member_traits in traits).most_common(1)
    for port, own_traits in traits if len(traits) > 1 else ():
        if own_traits != usual[0][0]:
            like = next(
                other_interface.name for other_interface, member_traits in traits if member_traits == usual[0][0]
            )
            place, own_trait, usual_trait = next(
                (name, member_trait, expected_trait)
                for (member_trait, name), (expected_trait, _) in zip(own_traits, usual[0][0], strict=True)
                if member_trait != expected_trait
            )
            yield AnalysisHit(
                subject=(device.name, port.name),
                at=(device.name, port.name, "qos", place),
                facts={
                    "device": device.name,
                    "port": port.name,
                    "channel": channel,
                    "aspect": aspect,
                    "own": own_trait,
                    "sibling_device": device.name,
                    "sibling_port": like,
                    "usual": usual_trait,
                },
                related=(((device.name, like, "qos", place), "another member"),),
                changes=(((device.name, port.name, "qos", place), _find_qos_value(members, like, place)),),
                discriminator=aspect,
            )


def _read_member_traits(port: Interface, read: Callable[[QosProfile], MemberTraits]) -> MemberTraits:
    """Return the traits of a member; none where its source does not state them."""
    try:
        return read(port.qos) if isinstance(port.qos, QosProfile) else ()
    except UnknownFact:
        return ()


def _find_qos_value(members: Sequence[Interface], name: str, field: str) -> object:
    """Return the value that the QoS of a member has at a place."""
    return next(getattr(port.qos, field) for port in members if port.name == name)


def _format_numbers(numbers: Sequence[int], noun: str) -> str:
    return f"{noun} {', '.join(map(str, numbers))}" if numbers else f"no {noun}"


def _pause_traits(qos: QosProfile) -> MemberTraits:
    sent, obeyed = require_fact(qos.pfc_tx_priorities), require_fact(qos.pfc_rx_priorities)
    groups = tuple(group.index for group in require_fact(qos.priority_groups) if group.lossless)
    return (
        (f"sends pause on {_format_numbers(sent, 'priority')}", "pfc_tx_priorities"),
        (f"obeys pause on {_format_numbers(obeyed, 'priority')}", "pfc_rx_priorities"),
        (f"has headroom in {_format_numbers(groups, 'priority group')}", "priority_groups"),
    )


def _watchdog_traits(qos: QosProfile) -> MemberTraits:
    """Return the watchdog's mask and action; nothing without one: other rules report that, and times."""
    watchdog = require_fact(qos.pfc_watchdog)
    if watchdog is None:
        return ()
    mask = f"has a watchdog of {_format_numbers(require_fact(watchdog.priorities), 'priority')}"
    action = f"has watchdog action {require_fact(watchdog.taken_action)}"
    return (mask, "pfc_watchdog"), (action, "pfc_watchdog")


def _map_traits(qos: QosProfile, name: str, size: int, template: str) -> MemberTraits:
    """Return the entries of a map; an index that it does not name maps to 0, and all do without a map."""
    table = require_fact(getattr(qos, name)) or (None,) * size
    return tuple((f"maps {template.format(index)} {target or 0}", name) for index, target in enumerate(table))


def _classification_traits(qos: QosProfile) -> MemberTraits:
    return (
        *_map_traits(qos, "dscp_to_tc", 64, "DSCP {} to traffic class"),
        *_map_traits(qos, "tc_to_priority_group", 16, "traffic class {} to priority group"),
    )


MEMBER_TRAITS_BY_ASPECT: dict[str, Callable[[QosProfile], MemberTraits]] = {
    "pause": _pause_traits,
    "watchdog": _watchdog_traits,
    "classification": _classification_traits,
    "scheduling": lambda qos: _map_traits(qos, "tc_to_queue", 16, "traffic class {} to queue"),
}
"""What is compared, one aspect after the other; a member that differs in two has two faults."""
