"""BGP neighbor statements that get no session, by the reason.

If the other end of a session has a separate reason, that is reported there; AS numbers have a separate analysis.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._plane import control_plane_of
from nodrop.model.index import Index
from nodrop.routing.routers import DownSession

RESTS_ON = frozenset({"cables"})
NEEDS_ROUTING = True
GIVES_CHANGES = frozenset({"shutdown"})

_FAULTY_FIELD_BY_DOWN_REASON = {"shutdown": ("enabled",), "families": ("active",)}
"""The part of a statement that is at fault, where it is not the whole."""

_RELATED_PART_BY_DOWN_REASON = {"no-member": "the interface without ports", "static": "the static route"}
"""What a related place is, where it is not at the other end."""

_NO_SHARED_SUBNET_REASON = "no address in a subnet with its neighbor"


def find(index: Index, *, reason: str) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield the statements that get no session for this `reason` (routing.routers.Reason)."""
    by_reason = index.compute_once(
        "sessions that are down, by reason", lambda: _down_sessions_by_reason(control_plane_of(index).down)
    )
    for down in by_reason.get(reason, ()):
        if not down.there:
            facts = {"device": down.router.name, "session": down.neighbor.key, "description": ""}
            if down.neighbor.description:
                facts["description"] = f" ({down.neighbor.description})"
            if reason == "no-subnet":
                over = down.neighbor.interface
                facts["lack"] = (
                    f"no interface {over} for its session"
                    if over
                    else f"{_NO_SHARED_SUBNET_REASON} {down.neighbor.key}"
                )
            subject = down.router.subject_of_neighbor(down.neighbor)
            yield AnalysisHit(
                subject=subject,
                at=(*subject, *_FAULTY_FIELD_BY_DOWN_REASON.get(reason, ())),
                facts={**facts, **down.facts},
                related=tuple(
                    (place, _RELATED_PART_BY_DOWN_REASON.get(reason, "the other end")) for place in down.related
                ),
                changes=(((*subject, "enabled"), True),) if reason == "shutdown" else (),
                names=tuple(str(named) for named in (facts["description"], down.facts.get("port")) if named),
            )
    for down in by_reason.get("unread", ()) if reason == "nobody" else ():
        if down.facts["node"] in index.external_nodes:
            continue
        unread_nodes = frozenset({str(node)} if (node := down.facts["node"]) else ())
        missing = str(down.facts.get("missing") or ("device.bgp" if unread_nodes else "fabric.links"))
        yield UndecidedSubject(subject=(down.router.device.name,), missing=missing, others=unread_nodes)


def _down_sessions_by_reason(downs: Iterable[DownSession]) -> Mapping[str, Sequence[DownSession]]:
    grouped: dict[str, list[DownSession]] = {}
    for down in downs:
        grouped.setdefault(down.reason, []).append(down)
    return grouped
