"""Leaves whose ports towards hosts carry more, over what their uplinks carry, than their owner wants."""

from collections.abc import Iterable, Iterator

from nodrop.analyses import AnalysisHit, HitFact, UndecidedSubject
from nodrop.analyses._shares import usable_mbps
from nodrop.analyses._tiers import uplink_cables
from nodrop.model.fabric import Interface
from nodrop.model.index import Index
from nodrop.model.states import Unknown
from nodrop.model.subject import Subject

RESTS_ON = frozenset({"cables", "roles", "hosts", "policy"})
READS_NEARBY_FACTS = True
GIVES_CHANGES = True


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield each switch with uplinks whose cabled ports towards hosts exceed the stated ratio; shut ones count too."""
    wanted_max_oversubscription = index.fabric.policy.max_oversubscription
    if isinstance(wanted_max_oversubscription, Unknown):
        return
    up: dict[str, list[Interface]] = {}
    for cable in uplink_cables(index):
        port = index.interface(cable.lower.name, cable.lower_port)
        if port is not None:
            up.setdefault(cable.lower.name, []).append(port)
    for name, above in up.items():
        below = [port for port in index.devices[name].interfaces if _is_towards_host(port)]
        if not below:
            continue
        down, total, usable = _total_gbps(below), _total_gbps(above), usable_mbps(index, index.devices[name], above)
        most = None if usable is None else usable / 1000
        if down is None or most is None or total is None:
            yield UndecidedSubject(subject=(name,), missing="interface.speed_mbps")
        elif down > wanted_max_oversubscription * most:
            facts: dict[str, HitFact] = {
                "device": name,
                "down": down,
                "up": most,
                "of": "" if most == total else f" (of {total:g})",
                "ratio": round(down / most, 2),
                "wanted": wanted_max_oversubscription,
            }
            changes = tuple(_faster_far_end_speeds(index, name, above))
            yield AnalysisHit(subject=(name,), at=(name, above[0].name), facts=facts, changes=changes)


def _faster_far_end_speeds(index: Index, name: str, uplinks: Iterable[Interface]) -> Iterator[tuple[Subject, object]]:
    """Yield the speeds of the far ends of uplinks that are slower than those."""
    for uplink in uplinks:
        end = index.far_end(name, uplink.name)
        far_port = None if end is None else index.port_at_end(end)
        speed = None if far_port is None else far_port.speed_mbps
        if isinstance(speed, int) and isinstance(uplink.speed_mbps, int) and uplink.speed_mbps < speed:
            yield (name, uplink.name, "speed_mbps"), speed


def _is_towards_host(port: Interface) -> bool:
    return not isinstance(port.side, Unknown) and port.side == "host"


def _total_gbps(ports: Iterable[Interface]) -> float | None:
    """Return the sum of ports' speeds, Gb/s; None where one is not known."""
    speeds = [port.speed_mbps for port in ports]
    known_speeds = [speed for speed in speeds if isinstance(speed, int) and speed > 0]
    return sum(known_speeds) / 1000 if len(known_speeds) == len(speeds) else None
