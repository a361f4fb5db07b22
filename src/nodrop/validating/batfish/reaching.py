"""Where RoCE packets end: from every leaf to every destination, in few questions.

Batfish's answer about reachability has one witness per start. That none is lost of many destinations takes one
question; which of them are lost takes halving, with one question per half.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final

from nodrop.model.subject import natural_sort_key
from nodrop.routing.prefixes import Address
from nodrop.validating.batfish import questions
from nodrop.validating.batfish.names import NodeNames, format_node_specifier
from nodrop.validating.batfish.service import AnswerRow

MAX_REACHABILITY_QUESTIONS: Final = 200
"""Questions about reachability, at half a second each in a fabric of 200 switches."""
ROCE_PORT: Final = 4791
"""The UDP port of RoCEv2 (InfiniBand Architecture Specification, annex A17)."""

DeviceAndVrf = tuple[str, str | None]
"""A device and a VRF."""
FlowFate = tuple[str, str]
"""What becomes of packets, and Batfish's word for it."""
_SUCCESS_ACTION: Final = "SUCCESS"
_FAILURE_ACTION: Final = "FAILURE"
_DELIVERED_FATE: Final = ("delivered", "")


class ReachabilityQuestions:
    """Questions about packets of RDMA. `left` are starts and destinations for which there were too many to ask."""

    def __init__(
        self, ask: Callable[..., Sequence[AnswerRow]], names: NodeNames, nodes: Mapping[str, str], dscp: int
    ) -> None:
        self._ask, self._names, self._nodes, self._dscp, self._most = (
            ask,
            names,
            nodes,
            dscp,
            MAX_REACHABILITY_QUESTIONS,
        )
        self._asked = 0
        self.left: list[tuple[str, str | None, Address]] = []

    @property
    def reason_for_unasked_pairs(self) -> str:
        """Why there are some left."""
        return f"Batfish shows one lost packet per switch and question, and {self._most} questions did not tell all"

    def fates(
        self, starts: Collection[DeviceAndVrf], destinations: Collection[Address]
    ) -> dict[tuple[str, str | None, Address], FlowFate]:
        """Return the fate of packets from each start to each destination; none of starts that send nothing."""
        able = {start for start in starts if start[0] in self._nodes}
        everywhere = sorted(destinations)
        if not able or not everywhere:
            return {}
        sending = set(self._ask_witness_fates(able, everywhere, _SUCCESS_ACTION))
        lost = self._ask_witness_fates(able, everywhere, _FAILURE_ACTION)
        found_fates = {(*start, to): _DELIVERED_FATE for start in sending - set(lost) for to in everywhere}
        found_fates.update(self._fates_of_pairs(lost, everywhere, sending))
        return found_fates

    def _fates_of_pairs(
        self, lost: Mapping[DeviceAndVrf, FlowFate], to: Sequence[Address], sending: Collection[DeviceAndVrf]
    ) -> Iterator[tuple[tuple[str, str | None, Address], FlowFate]]:
        """Yield the fate of each pair of a start and an address; some starts lose packets and are `sending` others."""
        if len(to) == 1:
            yield from (((*start, to[0]), fate) for start, fate in lost.items())
            return
        alike = set(
            self._uniformly_lost_starts({start: fate for start, fate in lost.items() if start not in sending}, to)
        )
        yield from (((*start, address), lost[start]) for start in alike for address in to)
        remaining_starts = set(lost) - alike
        if remaining_starts and self._asked >= self._most:
            self.left += [(*start, address) for start in remaining_starts for address in to]
            return
        middle = (len(to) + 1) // 2
        for half in (to[:middle], to[middle:]) if remaining_starts else ():
            losing = self._ask_witness_fates(remaining_starts, half, _FAILURE_ACTION)
            yield from (
                ((*start, address), _DELIVERED_FATE) for start in remaining_starts - set(losing) for address in half
            )
            if losing:
                delivering = self._ask_witness_fates(losing, half, _SUCCESS_ACTION) if len(half) > 1 else {}
                yield from self._fates_of_pairs(losing, half, set(delivering))

    def _uniformly_lost_starts(
        self, lost: Mapping[DeviceAndVrf, FlowFate], to: Sequence[Address]
    ) -> Iterator[DeviceAndVrf]:
        """Yield the starts without any arriving packets, if all packets end like the one that was shown."""
        for fate in sorted({lost_fate[0] for lost_fate in lost.values()}):
            starts = {start for start, lost_fate in lost.items() if lost_fate[0] == fate}
            other_action = ", ".join(
                word
                for word, action_fate in questions.FATES_BY_DISPOSITION.items()
                if action_fate not in (fate, "delivered")
            )
            yield from starts - set(self._ask_witness_fates(starts, to, other_action))

    def _ask_witness_fates(
        self, starts: Collection[DeviceAndVrf], to: Sequence[Address], actions: str
    ) -> dict[DeviceAndVrf, FlowFate]:
        """Return the starts that send a packet which ends as is asked, with its fate."""
        self._asked += 1
        headers = {
            "dstIps": ", ".join(map(str, to)),
            "ipProtocols": ["UDP"],
            "dstPorts": str(ROCE_PORT),
            "dscps": str(self._dscp),
        }
        nodes = sorted({self._nodes[device] for device, _ in starts}, key=natural_sort_key)
        where = {"startLocation": format_node_specifier(nodes)}
        rows = self._ask("reachability", pathConstraints=where, headers=headers, actions=actions)
        fate_of_start = {
            (witness.device, witness.vrf): (witness.fate, witness.said)
            for witness in questions.packets_with_worst_fate(rows, self._names)
        }
        return {start: fate for start, fate in fate_of_start.items() if start in starts}

    def looping_packets(self) -> Iterator[questions.LostPacket]:
        """Packets that go round, from anywhere to anywhere."""
        return questions.packets_with_worst_fate(self._ask("detectLoops"), self._names)
