"""Where RoCE packets end: from every leaf to every destination, in few questions.

Batfish's answer about reachability has one witness per start. That none is lost of many destinations takes one
question; which of them are lost takes halving, with one question per half.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from nodrop.fabric.subject import natural
from nodrop.routing.prefixes import Address
from nodrop.validate.batfish import questions
from nodrop.validate.batfish.names import Names, specified
from nodrop.validate.batfish.service import Row

MOST: Final = 200
"""Questions about reachability, at half a second each in a fabric of 200 switches."""
ROCE_PORT: Final = 4791
"""The UDP port of RoCEv2 (InfiniBand Architecture Specification, annex A17)."""

Start = tuple[str, str | None]
"""A device and a VRF."""
Fate = tuple[str, str]
"""What becomes of packets, and Batfish's word for it."""


class Reaching:
    """Questions about packets of RDMA. `left` are starts and destinations for which there were too many to ask."""

    def __init__(
        self, ask: Callable[..., Sequence[Row]], names: Names, nodes: Mapping[str, str], dscp: int, most: int = MOST
    ) -> None:
        self._ask, self._names, self._nodes, self._dscp, self._most = ask, names, nodes, dscp, most
        self._asked = 0
        self.left: list[tuple[str, str | None, Address]] = []

    @property
    def why_left(self) -> str:
        """Why there are some left."""
        return f"Batfish shows one lost packet per switch and question, and {self._most} questions did not tell all"

    def fates(
        self, starts: Collection[Start], destinations: Collection[Address]
    ) -> dict[tuple[str, str | None, Address], Fate]:
        """What becomes of packets from each start to each destination; none of starts that send nothing anywhere."""
        able = {one for one in starts if one[0] in self._nodes}
        everywhere = sorted(destinations)
        if not able or not everywhere:
            return {}
        sending = able & {(one.device, one.vrf) for one in self._witnesses(able, everywhere, "SUCCESS")}
        lost = {(one.device, one.vrf): (one.fate, one.said) for one in self._witnesses(able, everywhere, "FAILURE")}
        found = {(*start, to): ("delivered", "") for start in sending - set(lost) for to in everywhere}
        found.update(((*start, to), lost[start]) for start in able & set(lost) - sending for to in everywhere)
        found.update(self._halved(sending & set(lost), everywhere))
        return found

    def _halved(self, starts: Collection[Start], to: Sequence[Address]) -> Iterator[tuple[tuple[Any, ...], Fate]]:
        """Yield what becomes of each pair, knowing that from each start something is lost."""
        if not starts:
            return
        if self._asked >= self._most:
            self.left += [(*start, one) for start in starts for one in to]
            return
        middle = (len(to) + 1) // 2
        for half in (to[:middle], to[middle:]):
            if not half:
                continue
            lost = {(one.device, one.vrf): one for one in self._witnesses(starts, half, "FAILURE")}
            for start in set(starts) - set(lost):
                yield from (((*start, one), ("delivered", "")) for one in half)
            failing = set(starts) & set(lost)
            if len(half) == 1:
                yield from (((*start, half[0]), (lost[start].fate, lost[start].said)) for start in failing)
            else:
                yield from self._halved(failing, half)

    def _witnesses(self, starts: Collection[Start], to: Sequence[Address], actions: str) -> Iterator[questions.Witness]:
        self._asked += 1
        headers = {
            "dstIps": ", ".join(map(str, to)),
            "ipProtocols": ["UDP"],
            "dstPorts": str(ROCE_PORT),
            "dscps": str(self._dscp),
        }
        nodes = sorted({self._nodes[device] for device, _ in starts}, key=natural)
        where = {"startLocation": specified(nodes)}
        rows = self._ask("reachability", pathConstraints=where, headers=headers, actions=actions)
        return questions.witnesses(rows, self._names)

    def loops(self) -> Iterator[questions.Witness]:
        """Packets that go round, from anywhere to anywhere."""
        return questions.witnesses(self._ask("detectLoops"), self._names)
