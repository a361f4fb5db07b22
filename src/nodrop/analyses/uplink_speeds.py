"""Switches with uplinks of different speeds among equal paths, each of which gets the same share of the traffic."""

from collections import defaultdict
from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._shares import do_shares_follow_speeds
from nodrop.analyses._tiers import UplinkCable, uplink_cables
from nodrop.model.fabric import Interface
from nodrop.model.index import Index

RESTS_ON = frozenset({"cables", "roles"})
READS_NEARBY_FACTS = True


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield each switch with uplinks of several speeds once, at the first of the slowest, unless shares follow them.

    Where sums to the switches above differ, `uplink_shares` yields it.
    """
    below: defaultdict[str, list[tuple[UplinkCable, Interface]]] = defaultdict(list)
    for cable in uplink_cables(index):
        port = index.interface(cable.lower.name, cable.lower_port)
        if port is not None:
            below[cable.lower.name].append((cable, port))
    for name, uplinks in below.items():
        speeds = [port.speed_mbps for _, port in uplinks if isinstance(port.speed_mbps, int) and port.speed_mbps > 0]
        if len(speeds) < len(uplinks):
            yield UndecidedSubject(subject=(name,), missing="interface.speed_mbps")
            continue
        if len(set(speeds)) < 2 or _do_sums_differ(uplinks, speeds):
            continue
        if do_shares_follow_speeds(index, index.devices[name], [port for _, port in uplinks]):
            continue
        slowest, fastest = min(speeds), max(speeds)
        first, other = uplinks[speeds.index(slowest)][1], uplinks[speeds.index(fastest)][1]
        yield AnalysisHit(
            subject=(name, first.name),
            facts={
                "device": name,
                "uplinks": len(speeds),
                "slowest": slowest / 1000,
                "fastest": fastest / 1000,
                "usable": len(speeds) * slowest / 1000,
                "total": sum(speeds) / 1000,
            },
            related=(((name, other.name), "one of the fastest"),),
        )


def _do_sums_differ(uplinks: list[tuple[UplinkCable, Interface]], speeds: list[int]) -> bool:
    sums: defaultdict[str, int] = defaultdict(int)
    for (cable, _), speed in zip(uplinks, speeds, strict=True):
        sums[cable.upper.name] += speed
    return len(set(sums.values())) > 1
