"""Addresses and AS numbers: all follow from a device's id and port and from declared pools, never from an order.

Every tier has a quarter of a pool to itself, so that a tier added later moves nothing. A link's /31 belongs to the
lower switch and the slot of its port: (panel port - 1) × maximum split + split, in a block of `slots_per_device`.
"""

from dataclasses import dataclass

import netaddr

from nodrop.design.layout import TIERS, FabricCable, HostCable, Layout, Node
from nodrop.errors import Problem
from nodrop.intent.schema import Intent
from nodrop.intent.types import MAX_ASN

_TIER_SHARES = 4
_FAMILIES = ("loopbacks", "links", "endpoints")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A range of IPv4 addresses as integers, and the intent key that declares it."""

    first: int
    size: int
    key: str

    def share(self, index: int, shares: int) -> "Pool":
        """Return one of `shares` equal parts."""
        part = self.size // shares
        return Pool(first=self.first + index * part, size=part, key=self.key)


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
    oob_prefix: int
    slots: dict[str, int]
    """Link slots per device, by role."""

    def loopback(self, node: Node) -> int:
        """Return a device's loopback address."""
        return self.loopbacks.share(TIERS.index(node.role), _TIER_SHARES).first + node.id

    def link(self, cable: FabricCable) -> int:
        """Return the first address of a fabric link's /31: the lower switch's; the upper one has the next."""
        share = self.links.share(TIERS.index(cable.lower.role), _TIER_SHARES)
        return share.first + self._offset(cable.lower, cable.lower_port.panel, cable.lower_port.split)

    def endpoint(self, cable: HostCable) -> int:
        """Return the first address of an endpoint link's /31: the switch's; the host has the next."""
        return self.endpoints.first + self._offset(cable.leaf, cable.leaf_port.panel, cable.leaf_port.split)

    def endpoint_block(self, node: Node) -> str:
        """Return the prefix that holds all endpoint links of a leaf."""
        size = 2 * self.slots[node.role]
        return f"{dotted(self.endpoints.first + node.id * size)}/{self.endpoint_block_length}"

    @property
    def endpoint_block_length(self) -> int:
        """The prefix length of every leaf's endpoint block."""
        return 32 - self.slots[TIERS[0]].bit_length()

    def management(self, node: Node) -> int:
        """Return a device's out-of-band address."""
        return self.oob.share(TIERS.index(node.role), _TIER_SHARES).first + node.id

    @property
    def gateway(self) -> int:
        """The out-of-band gateway: the last usable address of the subnet."""
        return self.oob.first + self.oob.size - 2

    def _offset(self, node: Node, panel: int, split: int) -> int:
        slots = self.slots[node.role]
        return 2 * (node.id * slots + (panel - 1) * node.model.max_split + split)


def plan_addresses(intent: Intent, layout: Layout, problems: list[Problem]) -> Plan:
    """Return the plan; pools that overlap, or that a device's number exceeds, are problems."""
    pools = {key: _pool(intent, key) for key in (*_FAMILIES, "oob")}
    for key in _FAMILIES:
        if len(getattr(intent.addressing, key)) > 1:
            found = f"{len(getattr(intent.addressing, key))} pools"
            problems.append(intent.problem(("addressing", key), found, "one IPv4 pool"))
    oob = netaddr.IPNetwork(intent.addressing.oob)
    plan = Plan(**pools, oob_prefix=oob.prefixlen, slots={role: _slots(intent, layout, role) for role in TIERS})
    _check_overlap(intent, list(pools.items()), problems)
    _check_capacity(intent, layout, plan, problems)
    return plan


def _pool(intent: Intent, key: str) -> Pool:
    declared = getattr(intent.addressing, key)
    network = netaddr.IPNetwork(declared if isinstance(declared, str) else declared[0])
    return Pool(first=network.first, size=network.size, key=key)


def _slots(intent: Intent, layout: Layout, role: str) -> int:
    declared = intent.topology.slots_per_device
    largest = max((node.model for node in layout.role(role)), key=lambda model: max(model.panels))
    needed = max(largest.panels) * largest.max_split
    return 1 << ((declared or needed) - 1).bit_length()


def _check_overlap(intent: Intent, pools: list[tuple[str, Pool]], problems: list[Problem]) -> None:
    for index, (key, pool) in enumerate(pools):
        for other_key, other in pools[:index]:
            if pool.first < other.first + other.size and other.first < pool.first + pool.size:
                problems.append(intent.problem(("addressing", key), f"overlaps {other_key}", "pools of their own"))


def _check_capacity(intent: Intent, layout: Layout, plan: Plan, problems: list[Problem]) -> None:
    share = 1 / _TIER_SHARES
    for node in layout.nodes:
        slots = plan.slots[node.role]
        needs = {"loopbacks": (node.id + 1, share), "oob": (node.id + 2, share)}
        if node.role != TIERS[-1]:
            needs |= {"links": (2 * slots * (node.id + 1), share), "endpoints": (2 * slots * (node.id + 1), 1)}
        for key, (needed, part) in needs.items():
            pool: Pool = getattr(plan, key)
            if needed > pool.size * part:
                found = f"{node.name} does not fit: its tier has {round(pool.size * part)} addresses there and needs {needed}"
                smallest = 32 - (round(needed / part) - 1).bit_length()
                problems.append(intent.problem(("addressing", key), found, hint=f"a /{smallest} holds it"))
                return
    if max(node.model.max_split * max(node.model.panels) for node in layout.nodes) > min(plan.slots.values()):
        found = f"slots_per_device: {intent.topology.slots_per_device} is less than a switch has port slots"
        problems.append(intent.problem(("topology", "slots_per_device"), found))


def asn(intent: Intent, node: Node, problems: list[Problem]) -> int:
    """Return a device's AS number; one that overflows is a problem."""
    key = "leaves" if node.role == TIERS[0] else "spines"
    base, counted = getattr(intent.routing.asn, key)
    number = int(base) + (node.id if counted else 0)
    if number > MAX_ASN:
        problems.append(
            intent.problem(("routing", "asn", key), f"{node.name} would be AS {number}", f"at most {MAX_ASN}")
        )
    return number


def check_asns(intent: Intent, numbers: dict[str, int], problems: list[Problem]) -> None:
    """Refuse an AS number that a leaf shares with any other device; spines may share theirs."""
    seen: dict[int, str] = {}
    for name, number in numbers.items():
        other = seen.setdefault(number, name)
        if other != name and not (other.startswith("spine") and name.startswith("spine")):
            found = f"{other} and {name} would both be AS {number}"
            hint = "write leaves: N+ so that each leaf has its own"
            problems.append(intent.problem(("routing", "asn"), found, hint=hint))
            return
