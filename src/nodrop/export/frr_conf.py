"""The frr.conf that a device runs: the exact text of its files where they hold it, else text made of the model.

The text handed to others for validation is, as far as possible, the text that the switch itself is given. So they see
the parts that nodrop did not understand. Where the files use other words (tables, commands, a document), FRR's own
words for the content of the model take their place.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nodrop import platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.locate import load_unchanged_source
from nodrop.model.fabric import Device
from nodrop.model.reading import FilePlace, Reading
from nodrop.model.routing import Bgp, BgpNeighbor
from nodrop.model.states import Unknown, known_rows
from nodrop.model.types import fields_of
from nodrop.model.values import replace_fields
from nodrop.platforms import frr
from nodrop.platforms.frr.rows import SESSION_AND_FAMILY_COMMANDS
from nodrop.platforms.kit.bindings import find_refused_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class FrrConf:
    """A device's frr.conf; `own` means that nodrop made it, and that it is no text of the device."""

    text: str
    own: bool
    place: Callable[[int], FilePlace | None]
    """Where a line of it, from 1, stands in the device's files; None for lines made here."""
    missing: tuple[str, ...] = ()
    """What of the device's routing is not in it, and why."""


def frr_conf(reading: Reading, device: Device) -> FrrConf | None:
    """Return what FRR runs on a device; None where nothing is known of its routing.

    InputProblems where a file has changed since it was read.
    """
    bundle = {source.name: load_unchanged_source(source) for source in reading.sources.get(device.name, ())}
    stated = platforms.find_frr_text(device.platform, bundle)
    if stated is not None and (added := _find_added_routes(stated[0], device)) is not None:
        text, place = stated
        return FrrConf(
            text="".join(f"{line}\n" for line in added) + text,
            own=False,
            place=lambda line: place(line - len(added)) if line > len(added) else None,
        )
    return render_routing(device)


def render_routing(device: Device) -> FrrConf | None:
    """Return FRR's words for the known parts of a device's routing; None where nothing is known."""
    if isinstance(device.bgp, Unknown):
        return None
    known_device, missing = _split_known_routing(device)
    try:
        text = frr.render_frr_conf(known_device)
    except UnsupportedByPlatform as error:
        known_device, missing = (
            replace_fields(known_device, bgp=None, vrf_bgp=(), static_routes=()),
            (*missing, str(error)),
        )
        text = frr.render_frr_conf(known_device)
    return FrrConf(text=text, own=True, place=_no_place_for_line, missing=missing)


def _no_place_for_line(_line: int) -> None:
    return None


def _find_added_routes(text: str, device: Device) -> list[str] | None:
    """Return the static routes that are added to a text on its device; None where a session is, too."""
    routing = frr.read_frr(text)
    if not set(_vrf_neighbor_keys(routing.bgp, routing.vrf_bgp)).issuperset(
        _vrf_neighbor_keys(device.bgp, device.vrf_bgp)
    ):
        return None
    return [
        frr.format_static_route(static_route)
        for static_route in known_rows(device.static_routes)
        if static_route not in routing.static_routes
    ]


def _vrf_neighbor_keys(
    bgp: Bgp | None | Unknown, other_bgps: tuple[Bgp, ...] | Unknown
) -> Iterator[tuple[str | None, str]]:
    processes = known_rows(other_bgps) if isinstance(bgp, Unknown) or bgp is None else (bgp, *known_rows(other_bgps))
    for process in processes:
        for neighbor in known_rows(process.neighbors):
            yield process.vrf, neighbor.key


def _split_known_routing(device: Device) -> tuple[Device, tuple[str, ...]]:
    """Return a device with the known parts of its routing, and the unknown parts."""
    missing = [
        f"device.{name} is not known"
        for name in ("vrf_bgp", "static_routes", "shut_by_daemon")
        if isinstance(getattr(device, name), Unknown)
    ]
    bgp = device.bgp
    return replace_fields(
        device,
        bgp=None if isinstance(bgp, Unknown) or bgp is None else _fill_unknown_bgp_fields(bgp, missing),
        vrf_bgp=tuple(_fill_unknown_bgp_fields(process, missing) for process in known_rows(device.vrf_bgp)),
        static_routes=known_rows(device.static_routes),
        shut_by_daemon=known_rows(device.shut_by_daemon),
    ), tuple(missing)


def _fill_unknown_bgp_fields(bgp: Bgp, missing: list[str]) -> Bgp:
    """Return a process without its unknown parts, which get FRR's own defaults.

    For every session it is known whether it carries IPv4, so the default for a session that does not state it makes no
    difference.
    """
    if isinstance(bgp.default_ipv4_unicast, Unknown):
        bgp = replace_fields(bgp, default_ipv4_unicast=True)
    for field in _ROUTE_NEUTRAL_FIELDS:
        if isinstance(getattr(bgp, field), Unknown):
            bgp = replace_fields(bgp, **{field: getattr(_DEFAULT_BGP, field)})
    for field in (name for name in _POSSIBLY_UNKNOWN_FIELDS if isinstance(getattr(bgp, name), Unknown)):
        missing.append(f"{field} of BGP in VRF {bgp.key} is not known")
        bgp = replace_fields(bgp, **{field: getattr(_DEFAULT_BGP, field)})
    sessions: list[BgpNeighbor] = []
    for neighbor in known_rows(bgp.neighbors):
        if neighbor.remote_asn is None:
            missing.append(f"the session to {neighbor.key} has no remote AS, without which FRR opens none")
        else:
            sessions.append(_drop_unsupported_fields(neighbor, missing))
    return replace_fields(bgp, neighbors=tuple(sessions))


def _drop_unsupported_fields(neighbor: BgpNeighbor, missing: list[str]) -> BgpNeighbor:
    """Return a session without the fields for which FRR has no command, such as hops of one over an interface."""
    for field, reason in [*find_refused_fields(SESSION_AND_FAMILY_COMMANDS.limited, neighbor)]:
        if field != "remote_asn":
            missing.append(f"{field} of the session to {neighbor.key}: {reason}")
            neighbor = replace_fields(neighbor, **{field: getattr(_DEFAULT_NEIGHBOR, field)})
    return neighbor


_DEFAULT_NEIGHBOR = BgpNeighbor()
_DEFAULT_BGP = Bgp(asn=1)
_ROUTE_NEUTRAL_FIELDS = ("suppress_fib_pending", "preserve_forwarding")
"""Fields that may be unknown and change no route."""
_POSSIBLY_UNKNOWN_FIELDS = sorted(
    (name for name, kind in fields_of(Bgp).items() if kind.unknown), key=lambda name: name != "neighbors"
)
