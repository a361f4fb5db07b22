"""Switches whose cables to one switch above carry less than those to another, though both get the same share."""

from collections import defaultdict
from collections.abc import Iterator

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._tiers import UplinkCable, uplink_cables
from nodrop.model.index import Index

RESTS_ON = frozenset({"cables", "roles"})
READS_NEARBY_FACTS = True


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield each switch with unequal sums of cables once, at its first port to where the sum is least."""
    below: defaultdict[str, defaultdict[str, list[UplinkCable]]] = defaultdict(lambda: defaultdict(list))
    for cable in uplink_cables(index):
        below[cable.lower.name][cable.upper.name].append(cable)
    for name, by_upper in below.items():
        sums: dict[str, int] = {}
        for upper, cables in by_upper.items():
            ports = [index.interface(name, cable.lower_port) for cable in cables]
            speeds = [port.speed_mbps for port in ports if port is not None]
            if not all(isinstance(speed, int) for speed in speeds):
                yield UndecidedSubject(subject=(name,), missing="interface.speed_mbps")
                break
            sums[upper] = sum(speed for speed in speeds if isinstance(speed, int))
        if len(sums) < len(by_upper) or len(set(sums.values())) < 2:
            continue
        least, most = min(sums, key=lambda spine: sums[spine]), max(sums, key=lambda one: sums[one])
        yield AnalysisHit(
            subject=(name, by_upper[least][0].lower_port),
            facts={
                "device": name,
                "least": least,
                "cables": len(by_upper[least]),
                "gbps": sums[least] / 1000,
                "most": most,
                "most_cables": len(by_upper[most]),
                "most_gbps": sums[most] / 1000,
            },
            related=(((name, by_upper[most][0].lower_port), f"to {most}"),),
        )
