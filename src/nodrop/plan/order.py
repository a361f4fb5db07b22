"""In which order a plan is rolled out: one switch as a trial, what lies beside it, the rest, then tier by tier."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodrop.fabric.fabric import Fabric
from nodrop.fabric.states import Unknown
from nodrop.fabric.subject import natural
from nodrop.plan.model import DeviceChange, Stage
from nodrop.routing.tiers import RANK


def stages(changes: Sequence[DeviceChange], new: Fabric) -> tuple[Stage, ...]:
    """Return the switches of a plan in the order in which they may be changed.

    New ones first, which carry nothing yet. Of those nearest to hosts one goes alone; when it has proved well, the
    others of its pod (those that share a switch above it) go, then the rest of its tier. Each tier above goes one
    switch at a time, so that its others carry the traffic. What is to go goes last.
    """
    kinds = {change.name: change.kind for change in changes}
    added = tuple(name for name, kind in kinds.items() if kind == "added")
    removed = tuple(name for name, kind in kinds.items() if kind == "removed")
    found: list[Stage] = []
    if added:
        found.append(Stage(devices=added, why="new: they carry nothing before their cables do"))
    beside = _beside(new)
    depth = _depths(new, beside)
    staying = [name for name, kind in kinds.items() if kind in ("changed", "replaced")]
    tiers = sorted({depth.get(name, 0) for name in staying})
    for tier in tiers:
        here = [name for name in staying if depth.get(name, 0) == tier]
        found += _one_by_one(here, tier) if tier else _nearest_hosts(here, beside)
    if removed:
        found.append(Stage(devices=removed, why="last: drain them, and take their cables away once nothing needs them"))
    return tuple(found)


def _nearest_hosts(names: Sequence[str], beside: Mapping[str, set[str]]) -> Iterator[Stage]:
    first, *others = sorted(names, key=natural)
    yield Stage(devices=(first,), why="alone, and looked at before all others")
    above = beside.get(first, set())
    pod = tuple(name for name in others if beside.get(name, set()) & above)
    rest = tuple(name for name in others if name not in pod)
    if pod:
        yield Stage(devices=pod, why=f"its pod: they share a switch with {first}")
    if rest:
        yield Stage(devices=rest, why="the rest of the tier")


def _one_by_one(names: Iterable[str], tier: int) -> Iterator[Stage]:
    for name in sorted(names, key=natural):
        yield Stage(devices=(name,), why="alone: the others of its tier carry the traffic meanwhile", tier=tier)


def _beside(fabric: Fabric) -> Mapping[str, set[str]]:
    """Return the switches that each switch has cables to."""
    switches = {device.name for device in fabric.devices}
    found: dict[str, set[str]] = {name: set() for name in switches}
    for link in fabric.links:
        if {link.a.node, link.b.node} <= switches:
            found[link.a.node].add(link.b.node)
            found[link.b.node].add(link.a.node)
    return found


def _depths(fabric: Fabric, beside: Mapping[str, set[str]]) -> Mapping[str, int]:
    """Return how many cables lie between each switch and the nearest that has hosts, or is called a leaf."""
    hosts = {host.name for host in fabric.hosts}
    edge = {
        end.node for link in fabric.links for end, other in ((link.a, link.b), (link.b, link.a)) if other.node in hosts
    }
    edge |= {
        device.name for device in fabric.devices if not isinstance(device.role, Unknown) and RANK.get(device.role) == 0
    }
    depths = dict.fromkeys(sorted(edge & beside.keys()), 0)
    ring = list(depths)
    while ring:
        ring = sorted({other for name in ring for other in beside[name]} - depths.keys())
        depths |= {name: depths[_nearest_below(name, beside, depths)] + 1 for name in ring}
    return depths


def _nearest_below(name: str, beside: Mapping[str, set[str]], depths: Mapping[str, int]) -> str:
    """Return the switch nearest to hosts that a switch has a cable to."""
    return min((other for other in beside[name] if other in depths), key=lambda other: (depths[other], natural(other)))
