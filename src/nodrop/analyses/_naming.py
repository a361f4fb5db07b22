"""Names in messages for the checked items of a running fabric, and the place where a finding about them points."""

from collections.abc import Hashable, Sequence

from nodrop.analyses._computed import compute_observation
from nodrop.analyses._plane import control_plane_of
from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key

MAX_LEFT_OUT_NAMES = 30
"""How many names a report lists that a message leaves out."""


def format_observed_value(value: Hashable) -> str:
    """Return the observed value of an item in the words of a message."""
    if isinstance(value, frozenset | tuple):
        words = sorted(" to ".join(member) if isinstance(member, tuple) else str(member) for member in value)
        return abbreviate_list(words) or "nothing"
    return str(value)


def abbreviate_list(phrases: list[str], max_names: int = 3) -> str:
    """Return some words and how many more there are."""
    return ", ".join(phrases[:max_names]) + (
        f" and {len(phrases) - max_names} more" if len(phrases) > max_names else ""
    )


def names_left_out(names: Sequence[object], max_names: int = 1) -> tuple[str, ...]:
    """Return the names after those that a message shows, up to `MAX_LEFT_OUT_NAMES`."""
    return tuple(map(str, names[max_names : max_names + MAX_LEFT_OUT_NAMES]))


def format_item_name(checked_subject: Subject) -> str:
    """Return how a message names an item."""
    if checked_subject[0] == FABRIC_HEAD:
        return " to ".join(map(str, ends_of_cable_key(checked_subject[2]))) or checked_subject[2]
    return f"{checked_subject[0]} to {checked_subject[-1]}" if len(checked_subject) > 1 else checked_subject[0]


def describe_cable_ends(index: Index, checked_subject: Subject) -> str:
    """Return the ends of a cable with their addresses: `leaf1 Ethernet0 (10.1.1.0/31) and spine1 Ethernet8`."""
    return " and ".join(
        f"{end.node} {end.port}{_format_addresses(index, end)}" for end in ends_of_cable_key(checked_subject[2])
    )


def _format_addresses(index: Index, end: End) -> str:
    """Return the addresses of a port in brackets; nothing where they are not known."""
    port = index.interface(*end)
    if port is None or isinstance(port.addresses, Unknown):
        return ""
    return f" ({abbreviate_list(list(port.addresses), 2) or 'no address'})"


def subject_and_part_to_point_at(index: Index, checked_subject: Subject) -> tuple[Subject, Subject | None]:
    """Return the subject of an item, and the part to point at."""
    if checked_subject[:2] == (FABRIC_HEAD, "failures"):
        checked_subject = (
            (FABRIC_HEAD, "links", checked_subject[2])
            if ends_of_cable_key(checked_subject[2])
            else (checked_subject[2],)
        )
    if checked_subject[:2] == (FABRIC_HEAD, "links"):
        ends = ends_of_cable_key(checked_subject[2])
        return checked_subject, tuple(ends[0]) if ends else None
    if checked_subject[:2] == (FABRIC_HEAD, "addresses"):
        return _find_address_holder(index, checked_subject)
    if checked_subject[1:2] in (("@routes",), ("@reach",)):
        return (
            (checked_subject[0], "@bgp")
            if not checked_subject[2]
            else (checked_subject[0], "@vrf_bgp", checked_subject[2])
        ), None
    return checked_subject, None


def _find_address_holder(index: Index, item: Subject) -> tuple[Subject, Subject | None]:
    """Who has an address, the last of several; of a router id, the process."""
    owners = compute_observation(index).seen["addresses"].get(item)
    device, _, leg = str(owners[-1] if isinstance(owners, tuple) else item[-1]).partition(":")
    for router in control_plane_of(index).routers:
        if router.device.name == device and leg in router.leg_by_name:
            subject = router.leg_by_name[leg].subject
            return subject, (*subject, "addresses")
    return (device, "@bgp"), (device, "@bgp", "router_id")
