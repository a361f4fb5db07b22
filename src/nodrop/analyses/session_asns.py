"""BGP sessions between two switches whose AS numbers are not what the sessions expect, so that they never come up.

A session that leads to no switch that was read is not looked at: nothing says what the far end has.
"""

from collections.abc import Iterator

from nodrop.analyses import Hit
from nodrop.analyses._tiers import peers
from nodrop.fabric.fabric import Device
from nodrop.fabric.index import Index
from nodrop.fabric.routing import BgpNeighbor
from nodrop.fabric.states import Unknown, those_known

RESTS_ON = frozenset({"cables"})


def find(index: Index) -> Iterator[Hit]:
    """Yield, for each pair of switches, the first session with such a fault; of two external ends with one AS, one."""
    told: set[tuple[str, str, str]] = set()
    for device in index.fabric.devices:
        if isinstance(device.bgp, Unknown) or device.bgp is None:
            continue
        leads_to: dict[str, Device] = {}
        for session in those_known(device.bgp.neighbors):
            leads_to = leads_to or peers(index, device)
            far = leads_to.get(session.key)
            if not session.enabled or far is None or isinstance(far.bgp, Unknown) or far.bgp is None:
                continue
            expected = _expected(session, device.bgp.asn, far.bgp.asn)
            first, second = sorted((device.name, far.name)) if expected == "another" else (device.name, far.name)
            if expected and (first, second, expected) not in told:
                told.add((first, second, expected))
                yield Hit(
                    subject=(device.name, "@neighbors", session.key),
                    at=(device.name, "@neighbors", session.key, "remote_asn"),
                    facts={
                        "session": session.key,
                        "device": device.name,
                        "own": device.bgp.asn,
                        "far": far.name,
                        "found": far.bgp.asn,
                        "expected": expected,
                    },
                    related=(((far.name, "@bgp", "asn"), f"AS {far.bgp.asn}"),),
                )


def _expected(session: BgpNeighbor, own: int, far: int) -> str:
    """Return which AS number a session wants at the far end, in words; nothing where it finds that."""
    wanted = session.remote_asn
    if wanted == "external":
        return "another" if own == far else ""
    if wanted == "internal":
        return "the same" if own != far else ""
    return "" if wanted is None or wanted == far else f"AS {wanted}"
