"""The hosts and GPUs that a pause stops, each counted once for any number of ports."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from operator import or_
from typing import NamedTuple

from nodrop.model.fabric import End
from nodrop.model.index import Index
from nodrop.proofs.forwarding import unite_bits


class FillTime(NamedTuple):
    """How long a buffer takes to reach its threshold, in microseconds.

    `least_us` is while all lossless ports of the switch fill up, `most_us` while one sender at line rate fills one.
    """

    least_us: float
    most_us: float


class HostPortKind(NamedTuple):
    """Ports to hosts of one switch with the same behavior and times."""

    behavior: int
    fills: tuple[FillTime | None, ...]


class StoppedHostCounter:
    """Counts the hosts behind ports, each once, as bits of integers."""

    def __init__(self, index: Index, hosts: Mapping[int, Mapping[HostPortKind, Iterable[End]]]) -> None:
        """Take the hosts behind the ports of each router and kind."""
        self._hosts = hosts
        numbers = {name: number for number, name in enumerate(index.hosts)}
        self._gpus = [host.gpus for host in index.hosts.values()]
        self._with_gpus: defaultdict[int, int] = defaultdict(int)
        for number, gpus in enumerate(self._gpus):
            self._with_gpus[gpus] |= 1 << number
        self._host_at: dict[End, int] = {}
        for end in (end for kinds in hosts.values() for ends in kinds.values() for end in ends) if numbers else ():
            far = index.far_end(*end)
            if far is not None and far.node in numbers:
                self._host_at[end] = numbers[far.node]
        self._known: dict[tuple[int, HostPortKind], int] = {}

    def _host_bits_behind_ports(self, routers: Iterable[int], kind: HostPortKind) -> int:
        bits = 0
        for router in routers:
            for end in self._hosts.get(router, {}).get(kind, ()):
                if end in self._host_at:
                    bits |= 1 << self._host_at[end]
        return bits

    def count_stopped_hosts(
        self,
        members: Sequence[int],
        paused: HostPortKind,
        stopped: Mapping[int, Sequence[HostPortKind]],
        stand_for: Callable[[int], tuple[int, ...]],
    ) -> Iterator[tuple[int, End, tuple[int, int]]]:
        """Yield each port of a kind at some routers, with its router, and how many hosts and GPUs its NIC stops.

        `stopped` has by router the kinds of ports that stop if the first of the `members` is the one of the NIC: at
        itself, at another member for all others, and at each router for all that `stand_for` gives.
        """
        own, elsewhere = frozenset(members), 0
        for number, kinds in stopped.items():
            for kind in kinds if number not in own else ():
                if (number, kind) not in self._known:
                    self._known[number, kind] = self._host_bits_behind_ports(stand_for(number), kind)
                elsewhere |= self._known[number, kind]
        beside = [kind for number in stopped if number in own and number != members[0] for kind in stopped[number]]
        each = [unite_bits(self._host_bits_behind_ports((number,), kind) for kind in beside) for number in members]
        for number, others in zip(members, _bit_unions_without_each(each), strict=True):
            ends = [end for kind in stopped.get(members[0], ()) for end in self._hosts[number][kind]]
            times = Counter(self._host_at[end] for end in ends if end in self._host_at)
            far = elsewhere | others
            whole = far | unite_bits(1 << host for host in times)
            hosts, gpus = whole.bit_count(), sum(n * (whole & bits).bit_count() for n, bits in self._with_gpus.items())
            for end in self._hosts[number][paused]:
                host = self._host_at.get(end)
                if host is not None and times[host] == 1 and paused in stopped[members[0]] and not far >> host & 1:
                    yield number, end, (hosts - 1, gpus - self._gpus[host])
                else:
                    yield number, end, (hosts, gpus)


def _bit_unions_without_each(each: Sequence[int]) -> list[int]:
    """Return for each number the bits of all others."""
    before = list(accumulate(each, or_, initial=0))
    behind = list(accumulate(reversed(each), or_, initial=0))
    return [before[place] | behind[len(each) - 1 - place] for place in range(len(each))]
