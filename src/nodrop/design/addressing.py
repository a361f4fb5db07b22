"""Addresses: all follow from a device's id and port and from declared pools, never from an order.

Every tier has a quarter of a pool to itself, so that a tier added later moves nothing. A link's /31 belongs to the
leaf and the slot of its port, (panel port - 1) × maximum split + split, in the leaf's block of slots.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import netaddr

from nodrop.design.boxes import LEAF, TIERS, Boxes, Node
from nodrop.design.cabling import FabricCable, HostCable
from nodrop.design.splits import Jack
from nodrop.errors import Problem
from nodrop.hardware.schema import Switch
from nodrop.intent.schema import Intent

_TIER_SHARES = 4
_POOLS = ("loopbacks", "links", "endpoints", "oob")
_LONGEST_POOL = 8
"""The shortest prefix that a hint offers: IPv4 has no larger pool for private use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A range of IPv4 addresses as integers."""

    first: int
    size: int

    def share(self, index: int) -> "Pool":
        """Return the part of a tier."""
        part = self.size // _TIER_SHARES
        return Pool(first=self.first + index * part, size=part)

    @property
    def prefix_length(self) -> int:
        """The length of the prefix that the range is."""
        return 32 - (self.size - 1).bit_length()

    def __str__(self) -> str:
        return f"{dotted(self.first)}/{self.prefix_length}"


def dotted(address: int) -> str:
    """Spell an IPv4 address."""
    return f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Where every address of the fabric comes from."""

    loopbacks: Pool
    links: Pool
    endpoints: Pool
    oob: Pool
    slots: int
    """Links to hosts, and as many to spines, for which a leaf has addresses."""

    def loopback(self, node: Node) -> int:
        """Return a device's loopback address."""
        return self.loopbacks.share(TIERS.index(node.role)).first + node.id

    def management(self, node: Node) -> int:
        """Return a device's out-of-band address."""
        return self.oob.share(TIERS.index(node.role)).first + node.id

    @property
    def gateway(self) -> int:
        """The out-of-band gateway: the last usable address of the subnet."""
        return self.oob.first + self.oob.size - 2

    def link(self, cable: FabricCable) -> int:
        """Return the first address of a fabric link's /31: the leaf's; the spine has the next."""
        return self.links.share(TIERS.index(LEAF)).first + self._offset(cable.lower, cable.lower_port)

    def endpoint(self, cable: HostCable) -> int:
        """Return the first address of an endpoint link's /31: the leaf's; the host has the next."""
        return self.endpoints.first + self._offset(cable.leaf, cable.leaf_port)

    def endpoint_block(self, leaf: Node) -> Pool:
        """Return the block that holds all endpoint links of a leaf."""
        return Pool(first=self.endpoints.first + 2 * self.slots * leaf.id, size=2 * self.slots)

    def _offset(self, leaf: Node, port: Jack) -> int:
        return 2 * (leaf.id * self.slots + (port.panel - 1) * leaf.model.max_split + port.split)


def slots_of(model: Switch) -> int:
    """Return the smallest power of two that holds the ports times splits of a leaf's model."""
    return 1 << (_port_slots(model) - 1).bit_length()


def _port_slots(model: Switch) -> int:
    return max(model.panels) * model.max_split


def plan_addresses(intent: Intent, switches: Boxes, problems: list[Problem]) -> Plan:
    """Return the plan; pools that overlap, or that a device's number exceeds, are problems."""
    pools = {key: _pool(intent, key, problems) for key in _POOLS}
    plan = Plan(slots=_slots(intent, switches.leaves[0].model, problems), **pools)
    problems += _overlaps(intent, pools)
    problems += _exhausted(intent, switches, plan)
    return plan


def _pool(intent: Intent, key: str, problems: list[Problem]) -> Pool:
    declared = getattr(intent.addressing, key)
    networks = [declared] if isinstance(declared, str) else declared
    if len(networks) > 1:
        problems.append(intent.problem(("addressing", key), f"{len(networks)} pools", "one IPv4 pool"))
    network = netaddr.IPNetwork(networks[0])
    return Pool(first=network.first, size=network.size)


def _slots(intent: Intent, model: Switch, problems: list[Problem]) -> int:
    least = slots_of(model)
    declared = intent.topology.slots_per_device or least
    if declared < least:
        expected = f"at least {least}, for {model.name} has {max(model.panels)} ports of up to {model.max_split} splits"
        problems.append(intent.problem(("topology", "slots_per_device"), str(declared), expected))
    return declared


def _overlaps(intent: Intent, pools: dict[str, Pool]) -> Iterator[Problem]:
    for index, (key, pool) in enumerate(pools.items()):
        for other_key, other in list(pools.items())[:index]:
            if pool.first < other.first + other.size and other.first < pool.first + pool.size:
                found = f"{pool} overlaps {other_key}, {other}"
                yield intent.problem(("addressing", key), found, "a pool of its own")


def _exhausted(intent: Intent, switches: Boxes, plan: Plan) -> Iterator[Problem]:
    """Yield the pools that are too small for the largest id, with the prefix length that is enough."""
    last, last_leaf = (max(nodes, key=lambda node: node.id) for nodes in (switches.all, switches.leaves))
    for key, node, each, shares in (
        ("loopbacks", last, 1, _TIER_SHARES),
        ("links", last_leaf, 2 * plan.slots, _TIER_SHARES),
        ("endpoints", last_leaf, 2 * plan.slots, 1),
        ("oob", last, 1, _TIER_SHARES),
    ):
        needed, there = each * (node.id + 1), getattr(plan, key).size // shares
        if needed > there:
            of = "the pool" if shares == 1 else "its tier's quarter of the pool"
            found = f"{node.name} needs {needed} addresses from the start of {of}, which has {there}"
            length = 32 - (needed * shares - 1).bit_length()
            hint = f"a /{length} holds it" if length >= _LONGEST_POOL else "no pool is that large; use smaller ids"
            yield intent.problem(("addressing", key), found, hint=hint)
