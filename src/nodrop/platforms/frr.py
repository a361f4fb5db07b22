"""FRR and the model: written through a template, read from the syntax of `formats.frr`; used by several platforms."""

from collections.abc import Callable, Iterator

from nodrop.fabric.fabric import Device
from nodrop.fabric.subject import Subject
from nodrop.formats.frr import Statement, parse, walk
from nodrop.formats.places import Span
from nodrop.platforms.frr_limits import check
from nodrop.platforms.frr_reader import Routing as Routing
from nodrop.platforms.frr_reader import read as read
from nodrop.platforms.rendering import template


def write(device: Device) -> str:
    """Return the device's frr.conf; Unsupported names the model path that FRR cannot express."""
    return template("frr/frr.conf.j2").render(device=device, bgp=check(device))


def where(text: str) -> Callable[[Subject], Span | None]:
    """Return a function that finds the line of a subject (without its device) in an FRR configuration."""
    statements = list(walk(parse(text)))

    def find(subject: Subject) -> Span | None:
        return next((found.span for found in _candidates(statements, subject)), None)

    return find


_NEIGHBOR_WORDS = {
    "remote_asn": "remote-as",
    "import_policy": "route-map",
    "export_policy": "route-map",
    "description": "description",
    "enabled": "shutdown",
    "active": "activate",
    "bfd": "bfd",
    "allowas_in": "allowas-in",
}
_BGP_WORDS = {
    "router_id": ("bgp", "router-id"),
    "maximum_paths": ("maximum-paths",),
    "multipath_relax": ("bgp", "bestpath"),
    "session_dscp": ("bgp", "session-dscp"),
    "networks": ("network",),
    "asn": ("router", "bgp"),
}


def _candidates(statements: list[tuple[tuple[Statement, ...], Statement]], subject: Subject) -> Iterator[Statement]:
    """Yield the commands that say the subject, the most exact first."""
    head, *rest = subject or ("",)
    if head == "@neighbors" and rest:
        of_neighbor = [
            found for _, found in statements if rest[0] in found.words[1:3] and "neighbor" in found.words[:2]
        ]
        if len(rest) > 1:
            word = _NEIGHBOR_WORDS.get(rest[1], rest[1])
            way = {"import_policy": "in", "export_policy": "out"}.get(rest[1])
            yield from (s for s in of_neighbor if word in s.words and (way is None or s.words[-1] == way))
        yield from of_neighbor
    elif head in ("@bgp", "@static_routes", "@neighbors"):
        if head == "@bgp" and rest and rest[0] in _BGP_WORDS:
            yield from (s for _, s in statements if s.starts(*_BGP_WORDS[rest[0]]))
        if head == "@bgp" and len(rest) > 1 and rest[0] in ("route_maps", "prefix_lists", "community_lists"):
            yield from (s for _, s in statements if rest[1] in s.words[1:4])
        if head == "@static_routes":
            yield from (s for _, s in statements if s.words[:2] == ("ip", "route"))
        yield from (s for _, s in statements if s.starts("router", "bgp"))
