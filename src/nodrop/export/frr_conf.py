"""The frr.conf that a device runs: the very text of its files where they hold it, else one made of the model.

What is handed to others to be validated is, as far as it can be, what the switch itself is given, so that they see
what nodrop did not understand of it. Where the files say it in other words (tables, commands, a document), FRR's own
words for what the model holds take their place.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nodrop import platforms
from nodrop.errors import Unsupported
from nodrop.locate import load
from nodrop.model.fabric import Device
from nodrop.model.reading import Place, Reading
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import Unknown, those_known
from nodrop.model.types import fields
from nodrop.model.values import changed
from nodrop.platforms import frr
from nodrop.platforms.bindings import faults
from nodrop.platforms.frr_rows import OF_SESSION


@dataclass(frozen=True, slots=True, kw_only=True)
class FrrConf:
    """A device's frr.conf; `own` tells that it was made here, and is no text of the device's."""

    text: str
    own: bool
    place: Callable[[int], Place | None]
    """Where a line of it, from 1, stands in the device's files; None for lines made here."""
    missing: tuple[str, ...] = ()
    """What of the device's routing is not in it, and why."""


def frr_conf(reading: Reading, device: Device) -> FrrConf | None:
    """Return what FRR runs on a device; None where nothing is known of its routing.

    InputProblems where a file has changed since it was read.
    """
    bundle = {source.name: load(source) for source in reading.sources.get(device.name, ())}
    stated = platforms.frr_text(device.platform, bundle)
    if stated is not None and (added := _added(stated[0], device)) is not None:
        text, place = stated
        return FrrConf(
            text="".join(f"{line}\n" for line in added) + text,
            own=False,
            place=lambda line: place(line - len(added)) if line > len(added) else None,
        )
    return rendered(device)


def rendered(device: Device) -> FrrConf | None:
    """Return FRR's words for what is known of a device's routing; None where nothing is."""
    if isinstance(device.bgp, Unknown):
        return None
    known, missing = _known(device)
    try:
        text = frr.write(known)
    except Unsupported as error:
        known, missing = changed(known, bgp=None, vrf_bgp=(), static_routes=()), (*missing, str(error))
        text = frr.write(known)
    return FrrConf(text=text, own=True, place=_nowhere, missing=missing)


def _nowhere(_line: int) -> None:
    return None


def _added(text: str, device: Device) -> list[str] | None:
    """Return the static routes that are added to a text on its device; None where a session is, too."""
    said = frr.read(text)
    if not set(_sessions(said.bgp, said.vrf_bgp)).issuperset(_sessions(device.bgp, device.vrf_bgp)):
        return None
    return [frr.static_route(one) for one in those_known(device.static_routes) if one not in said.static_routes]


def _sessions(bgp: Bgp | None | Unknown, others: tuple[Bgp, ...] | Unknown) -> Iterator[tuple[str | None, str]]:
    processes = those_known(others) if isinstance(bgp, Unknown) or bgp is None else (bgp, *those_known(others))
    for process in processes:
        for neighbor in those_known(process.neighbors):
            yield process.vrf, neighbor.key


def _known(device: Device) -> tuple[Device, tuple[str, ...]]:
    """Return a device with what is known of its routing, and what is not."""
    missing = [
        f"device.{name} is not known"
        for name in ("vrf_bgp", "static_routes", "shut_by_daemon")
        if isinstance(getattr(device, name), Unknown)
    ]
    bgp = device.bgp
    return changed(
        device,
        bgp=None if isinstance(bgp, Unknown) or bgp is None else _process(bgp, missing),
        vrf_bgp=tuple(_process(one, missing) for one in those_known(device.vrf_bgp)),
        static_routes=those_known(device.static_routes),
        shut_by_daemon=those_known(device.shut_by_daemon),
    ), tuple(missing)


def _process(bgp: Bgp, missing: list[str]) -> Bgp:
    """Return a process without what is not known of it, for which FRR's own defaults hold.

    Of every session it is known whether it carries IPv4, so that what holds of one that says nothing makes no odds.
    """
    if isinstance(bgp.default_ipv4_unicast, Unknown):
        bgp = changed(bgp, default_ipv4_unicast=True)
    for field in _OF_NO_ROUTE:
        if isinstance(getattr(bgp, field), Unknown):
            bgp = changed(bgp, **{field: getattr(_DEFAULTS, field)})
    for field in (name for name in _MAY_BE_UNKNOWN if isinstance(getattr(bgp, name), Unknown)):
        missing.append(f"{field} of BGP in VRF {bgp.key} is not known")
        bgp = changed(bgp, **{field: getattr(_DEFAULTS, field)})
    sessions: list[BgpNeighbor] = []
    for neighbor in those_known(bgp.neighbors):
        if neighbor.remote_asn is None:
            missing.append(f"the session to {neighbor.key} has no remote AS, without which FRR opens none")
        else:
            sessions.append(_session(neighbor, missing))
    return changed(bgp, neighbors=tuple(sessions))


def _session(neighbor: BgpNeighbor, missing: list[str]) -> BgpNeighbor:
    """Return a session without the fields for which FRR has no command, such as hops of one over an interface."""
    for field, reason in [*faults(OF_SESSION.limited, neighbor)]:
        if field != "remote_asn":
            missing.append(f"{field} of the session to {neighbor.key}: {reason}")
            neighbor = changed(neighbor, **{field: getattr(_NO_SESSION, field)})
    return neighbor


_NO_SESSION = BgpNeighbor()
_DEFAULTS = Bgp(asn=1)
_OF_NO_ROUTE = ("suppress_fib_pending", "preserve_forwarding")
"""Fields that may be unknown and change no route."""
_MAY_BE_UNKNOWN = sorted(
    (name for name, kind in fields(Bgp).items() if kind.unknown), key=lambda name: name != "neighbors"
)
