"""Switches whose cables to one switch above carry less than those to another, though both get the same share."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from nodrop.analyses import AnalysisHit, UndecidedSubject
from nodrop.analyses._shares import are_paths_weighed_by_count
from nodrop.analyses._tiers import UplinkCable, uplink_cables
from nodrop.model.index import Index

RESTS_ON = frozenset({"cables", "roles"})

_MOST_LOAD = 1.1
"""From which load of the cables to a switch above, over their part of the capacity, weights do not fit."""


def find(index: Index) -> Iterator[AnalysisHit | UndecidedSubject]:
    """Yield each switch with unequal sums of cables once, at its first port to where the sum is least.

    Not one to which the others send in ratio to the cables, by the number of paths that the switches above send. The
    fact weights is whether they send it, in words.
    """
    below: defaultdict[str, defaultdict[str, list[UplinkCable]]] = defaultdict(lambda: defaultdict(list))
    for cable in uplink_cables(index):
        below[cable.lower.name][cable.upper.name].append(cable)
    counts = {name: {upper: len(cables) for upper, cables in by_upper.items()} for name, by_upper in below.items()}
    for name, by_upper in below.items():
        sums: dict[str, int] = {}
        speeds = set[object]()
        for upper, cables in by_upper.items():
            ports = [index.interface(name, cable.lower_port) for cable in cables]
            port_speeds = [port.speed_mbps for port in ports if port is not None]
            if not all(isinstance(speed, int) for speed in port_speeds):
                yield UndecidedSubject(subject=(name,), missing="interface.speed_mbps")
                break
            sums[upper] = sum(speed for speed in port_speeds if isinstance(speed, int))
            speeds.update(port_speeds)
        if len(sums) < len(by_upper) or len(set(sums.values())) < 2:
            continue
        weighted = all(are_paths_weighed_by_count(index, index.devices[upper], frozenset(counts)) for upper in by_upper)
        if weighted and len(speeds) == 1 and _do_weights_fit(counts, name, sums):
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
                "weights": "spines send them, but they do not fit" if weighted else "not all spines send them",
            },
            related=(((name, by_upper[most][0].lower_port), f"to {most}"),),
        )


def _do_weights_fit(counts: Mapping[str, Mapping[str, int]], name: str, sums: Mapping[str, int]) -> bool:
    """Whether the load from other switches of the tier, on average, fits the cables to each switch above.

    A sender has as many paths over a switch above as it has cables to it, each with the weight of the paths from there
    on: the load is in ratio to the product.
    """
    own, total = counts[name], sum(sums.values())
    shares, senders = dict.fromkeys(own, 0.0), 0
    for sender, cables in counts.items():
        paths = {upper: cables.get(upper, 0) * count for upper, count in own.items()}
        if sender == name or not any(paths.values()):
            continue
        senders += 1
        for upper, count in paths.items():
            shares[upper] += count / sum(paths.values())
    return senders > 0 and all(shares[upper] / senders <= _MOST_LOAD * sums[upper] / total for upper in own)
