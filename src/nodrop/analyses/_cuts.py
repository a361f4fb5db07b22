"""Which switches and cables all ways from a leaf to some hosts go through: the only ones whose failure can hit them.

Where two ways have no switch in common, the failure of either leaves the other one, which is as short; so routes to
hosts neither end nor go down and up again. Routers are taken by the length of their paths: the next hops of one have
shorter ones.
"""

from nodrop.analyses._drops import RoutePropagation
from nodrop.routing.decision import LearnedTableEntry

DestinationsByCutRouter = dict[int, int]
"""By router, the destinations to which all ways go through it."""


class UnavoidableRouters:
    """The `routers` that a leaf cannot do without, and `pairs` of a leaf and a neighbor whose hosts it has from it."""

    def __init__(self, reach: RoutePropagation) -> None:
        self._reach = reach
        self._through: dict[int, DestinationsByCutRouter] = {}
        self.routers: set[int] = set()
        self.pairs: set[tuple[int, int]] = set()
        rows = [
            (len(entry.attributes.path), number, entry)
            for number in reach.world.speakers
            for entry in reach.state.table(number).entries
            if entry.bits & reach.hosts
        ]
        for _, number, entry in sorted(rows, key=lambda row: row[:2]):
            self._add_cuts_of_table_entry(number, entry)

    def _add_cuts_of_table_entry(self, number: int, entry: LearnedTableEntry) -> None:
        links = self._reach.world.speakers[number].links
        bits = entry.bits & self._reach.hosts & ~self._reach.destinations_announced_by(number)
        fars = list(dict.fromkeys(links[hop].far for hop in entry.hops))
        if not bits or not fars:
            return
        common = self._find_cuts_via(fars[0], bits)
        for far in fars[1:]:
            if not common:
                break
            cuts = self._find_cuts_via(far, bits)
            common = {node: overlap for node, mask in common.items() if (overlap := mask & cuts.get(node, 0))}
        bits_by_node = self._through.setdefault(number, {})
        for cut_node, cut_bits in common.items():
            bits_by_node[cut_node] = bits_by_node.get(cut_node, 0) | cut_bits
        if self._reach.ranks[number] in (0, None):
            self.routers |= common.keys()
            if len(fars) == 1 and bits & self._reach.destinations_announced_by(fars[0]):
                self.pairs.add((number, fars[0]))

    def _find_cuts_via(self, router_number: int, destination_bits: int) -> DestinationsByCutRouter:
        """Return the nodes that all paths over a next hop cross, itself included; none where it is the end."""
        far_bits = destination_bits & ~self._reach.destinations_announced_by(router_number)
        if not far_bits:
            return {}
        cuts = {
            node: overlap for node, mask in self._through.get(router_number, {}).items() if (overlap := mask & far_bits)
        }
        cuts[router_number] = far_bits
        return cuts
