"""Which ports of a switch each of its peers gets: a block that follows from the peer's id.

Nothing moves when a peer is added or when every peer gets more ports.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from nodrop.design.splits import SplitPort


def van_der_corput_slot(index: int, slots: int) -> int:
    """Return where the `index`-th of a growing number of blocks starts among `slots`: 0, ½, ¼, ¾, ⅛, …

    The van der Corput sequence in base 2: every new block lands in the middle of the largest gap, so blocks that
    exist never move, and each can grow until it meets the next.
    """
    numerator, denominator = 0, 1
    while index:
        numerator, denominator = numerator * 2 + index % 2, denominator * 2
        index //= 2
    return slots * numerator // denominator


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerPortBlocks:
    """The switches of one role that a switch of the other has links to, and the ports that they share."""

    role: str
    ids: tuple[int, ...]
    ports: tuple[SplitPort, ...]
    slots: int | None
    """Peers among whom the ports are shared out evenly; None shares them out by halving.

    The ids of one slot are this far apart, so a fabric whose ids begin after those of another has the same ports.
    """

    def block(self, number: int, ports_per_peer: int) -> tuple[SplitPort, ...]:
        """Return the ports of a peer."""
        start = self._block_start(number)
        return self.ports[start : start + ports_per_peer]

    def explain_clash(self, ports_per_peer: int) -> str:
        """Return why blocks of `ports_per_peer` ports cannot be, empty if they can."""
        return next(self._block_clashes(ports_per_peer), "")

    def _block_clashes(self, ports_per_peer: int) -> Iterator[str]:
        if self.slots is not None and self.slots > len(self.ports):
            yield f"{self.slots} slots are more than the {len(self.ports)} ports"
        taken: dict[int, int] = {}
        for number in self.ids:
            start = self._block_start(number)
            for position in range(start, start + ports_per_peer):
                if position >= len(self.ports):
                    yield f"{self.role}{number} would need ports past the last"
                elif position in taken:
                    other_peer = f"{self.role}{taken[position]}"
                    yield f"{other_peer} and {self.role}{number} would both get port {self.ports[position]}"
                taken[position] = number

    def _block_start(self, number: int) -> int:
        """Return where a peer's block starts, counted from 0."""
        if self.slots is None:
            return van_der_corput_slot(number - 1, len(self.ports))
        return (number - 1) % self.slots * (len(self.ports) // self.slots)
