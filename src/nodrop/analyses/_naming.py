"""Names in messages for the checked items of a running fabric, and the place where a finding about them points."""

from collections.abc import Hashable

from nodrop.analyses._computed import compute_observation
from nodrop.analyses._plane import of
from nodrop.model.index import Index
from nodrop.model.subject import FABRIC, Subject, cable_ends


def words_of(value: Hashable) -> str:
    """Return the observed value of an item in the words of a message."""
    if isinstance(value, frozenset | tuple):
        words = sorted(" to ".join(member) if isinstance(member, tuple) else str(member) for member in value)
        return abbreviate_list(words) or "nothing"
    return str(value)


def abbreviate_list(words: list[str], most: int = 3) -> str:
    """Return some words and how many more there are."""
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def name_of(item: Subject) -> str:
    """Return how a message names an item."""
    if item[0] == FABRIC:
        return " to ".join(map(str, cable_ends(item[2]))) or item[2]
    return f"{item[0]} to {item[-1]}" if len(item) > 1 else item[0]


def place_of(index: Index, item: Subject) -> tuple[Subject, Subject | None]:
    """Return the subject of an item, and the part to point at."""
    if item[:2] == (FABRIC, "failures"):
        item = (FABRIC, "links", item[2]) if cable_ends(item[2]) else (item[2],)
    if item[:2] == (FABRIC, "links"):
        ends = cable_ends(item[2])
        return item, tuple(ends[0]) if ends else None
    if item[:2] == (FABRIC, "addresses"):
        return _find_address_holder(index, item)
    if item[1:2] in (("@routes",), ("@reach",)):
        return ((item[0], "@bgp") if not item[2] else (item[0], "@vrf_bgp", item[2])), None
    return item, None


def _find_address_holder(index: Index, item: Subject) -> tuple[Subject, Subject | None]:
    """Who has an address, the last of several; of a router id, the process."""
    owners = compute_observation(index).seen["addresses"].get(item)
    device, _, leg = str(owners[-1] if isinstance(owners, tuple) else item[-1]).partition(":")
    for router in of(index).routers:
        if router.device.name == device and leg in router.by_name:
            subject = router.by_name[leg].subject
            return subject, (*subject, "addresses")
    return (device, "@bgp"), (device, "@bgp", "router_id")
