"""Which ports ought to be alike: those of switches of one role, platform and model, at one speed, towards one side.

Hosts of different groups are different sides. Where a switch's role or model is not known its ports are compared with
one another only. What most have is usual; where two kinds are as frequent, the one that more of the whole fabric has.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from nodrop.fabric.fabric import Device, Interface
from nodrop.fabric.index import Index
from nodrop.fabric.qos import QosProfile
from nodrop.fabric.states import Unknown

Family = tuple[Hashable, ...]
_V = TypeVar("_V", bound=Hashable)

UNKNOWN_SIDE = "unknown"


class Member(NamedTuple):
    """A port in use with a QoS profile."""

    device: Device
    port: Interface
    qos: QosProfile


class Kind(NamedTuple):
    """The ports of a family that share a profile object: how many, and the first of them."""

    first: Member
    ports: int


class Kinship:
    """The ports of a fabric by family and profile; with `sides`, ports that face different things are no family."""

    def __init__(self, index: Index, *, sides: bool) -> None:
        self._index, self._sides = index, sides
        counts: defaultdict[Family, dict[int, Kind]] = defaultdict(dict)
        for family, member in self.members():
            kinds, key = counts[family], id(member.qos)
            known = kinds.get(key)
            kinds[key] = Kind(member, 1) if known is None else Kind(known.first, known.ports + 1)
        self.families: Mapping[Family, Mapping[int, Kind]] = counts

    def members(self) -> Iterator[tuple[Family, Member]]:
        """Yield every port in use that has QoS, with its family."""
        for device in self._index.fabric.devices:
            root = _root(device)
            for port in device.interfaces:
                qos = port.qos
                if not isinstance(qos, QosProfile) or (not isinstance(port.enabled, Unknown) and not port.enabled):
                    continue
                speed = UNKNOWN_SIDE if isinstance(port.speed_mbps, Unknown) else port.speed_mbps
                yield (*root, speed, self._side(device, port) if self._sides else ""), Member(device, port, qos)

    def _side(self, device: Device, port: Interface) -> str | None:
        """What a port faces: the fabric, a group of hosts, nothing (None), or what no source says."""
        if isinstance(port.side, Unknown):
            return UNKNOWN_SIDE
        if port.side != "host":
            return port.side
        end = self._index.far_end(device.name, port.name)
        host = self._index.hosts.get(end.node) if end else None
        return f"host {host.group}" if host else "host"

    def usual(self, value: Callable[[Member], _V | None]) -> dict[Family, tuple[_V, Member, int]]:
        """The value that most ports of each family have, a port that has it, and how many do; not below a half.

        None as a value does not take part. Of two that as many ports have there is none that is usual.
        """
        everywhere: Counter[_V] = Counter()
        by_family: dict[Family, dict[_V, Kind]] = {}
        for family, kinds in self.families.items():
            tally: dict[_V, Kind] = {}
            for kind in kinds.values():
                if (found := value(kind.first)) is not None:
                    everywhere[found] += kind.ports
                    known = tally.get(found)
                    tally[found] = kind if known is None else Kind(known.first, known.ports + kind.ports)
            by_family[family] = tally
        result = {}
        for family, tally in by_family.items():
            if len(tally) > 1:
                ranked = sorted(tally, key=lambda each: (tally[each].ports, everywhere[each]), reverse=True)
                best, second = ranked[:2]
                is_usual = 2 * tally[best].ports >= sum(kind.ports for kind in tally.values())
                if is_usual and (tally[best].ports, everywhere[best]) > (tally[second].ports, everywhere[second]):
                    result[family] = (best, tally[best].first, tally[best].ports)
        return result


def _root(device: Device) -> Family:
    """What a switch is compared with: others of its role, platform and model, or itself alone."""
    if isinstance(device.role, Unknown) or isinstance(device.model, Unknown):
        return ("device", device.name, "")
    return (device.role, device.platform, device.model)
