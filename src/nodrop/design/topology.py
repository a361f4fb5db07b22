"""The topology of an intent, whatever its kind: groups of equal switches in tiers, and the joins between two groups.

A switch is identified by its tier and its number there, which is its id plus the offset of its group. Addresses and AS
numbers follow from these, ports from ids. Switches of a pod have consecutive ids.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from nodrop.errors import Problem
from nodrop.hardware import nearest, switch
from nodrop.hardware.schema import Switch
from nodrop.intent.schema import Intent
from nodrop.intent.topology import GroupUplinks, LeafSpine, Switches, Tiers, Uplinks
from nodrop.routing.tiers import RANK_BY_ROLE
from nodrop.units import show_ids

ROLES = tuple(sorted(RANK_BY_ROLE, key=RANK_BY_ROLE.__getitem__))
"""The roles of switches by tier, from the hosts up."""

Keys = tuple[str, ...]
_LIMIT = ("topology", "max_oversubscription")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Switches of a tier that are alike; a topology has one of a name."""

    name: str
    """A switch is named by it and its id."""
    label: str = field(compare=False)
    """The switches of the group in a sentence."""
    tier: int = field(compare=False)
    """0 next to the hosts."""
    wanted: Switches = field(compare=False)
    endpoints: tuple[int, ...] = field(compare=False)
    """Panel ports towards hosts."""
    dead: tuple[int, ...] = field(compare=False)
    """Panel ports that stay shut."""
    offset: int = field(default=0, compare=False)
    per_pod: int | None = field(default=None, compare=False)
    limit: float = field(compare=False)
    """Oversubscription, at most."""
    limit_keys: Keys = field(compare=False)
    keys: Keys = field(compare=False)
    asn_keys: Keys = field(compare=False)

    @property
    def ports_keys(self) -> Keys:
        """Return the keys of the intent that list its panel ports by use."""
        return (*self.keys, "ports")

    @property
    def role(self) -> str:
        """Return the role of its switches, which follows from the tier."""
        return ROLES[self.tier]

    def position(self, number: int) -> int:
        """Return the place of an id in its pod, from 1; the id itself where there are no pods."""
        return number if self.per_pod is None else (number - 1) % self.per_pod + 1

    def pod(self, number: int) -> int:
        """Return the pod of an id, from 1; 0 where there are no pods."""
        return 0 if self.per_pod is None else (number - 1) // self.per_pod + 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JoinKeys:
    """The names that the keys of a join have in the intent."""

    links: str
    lower_slots: str
    upper_slots: str
    upper_split: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Join:
    """The links from every switch of a group to every switch of a higher one, or to those of the same pod."""

    lower: Group
    upper: Group
    wanted: Uplinks | GroupUplinks
    """Speed, medium, length, split and lanes of each link."""
    links: int
    """Links between two switches."""
    lower_ports: tuple[int, ...]
    upper_ports: tuple[int, ...] | None
    """None is all that take links of the speed."""
    split: int
    stated_upper_split: int | None
    lower_slots: int | None
    upper_slots: int | None
    keys: Keys
    ports_keys: Keys
    words: JoinKeys

    @property
    def upper_split_factor(self) -> int:
        """Return into how many ports the upper switches' panel ports are split."""
        return self.split if self.stated_upper_split is None else self.stated_upper_split

    @property
    def upper_ports_keys(self) -> Keys:
        """Return the keys that list the upper switches' panel ports; empty where none does."""
        return () if self.upper_ports is None else (*self.keys, "peer_ports")

    @property
    def by_pod(self) -> bool:
        """Whether links stay in a pod."""
        return self.lower.per_pod is not None and self.upper.per_pod is not None

    @property
    def fewest_uppers(self) -> int:
        """Return the upper switches of a lower one, in the pod that has the fewest."""
        if not self.by_pod:
            return len(self.upper.wanted.ids)
        uppers_by_pod = Counter(map(self.upper.pod, self.upper.wanted.ids))
        return min(uppers_by_pod[self.lower.pod(number)] for number in self.lower.wanted.ids)

    def lower_position(self, number: int) -> int:
        """Return the place of a lower switch among those that an upper switch has links to."""
        return self.lower.position(number) if self.by_pod else number

    def upper_position(self, number: int) -> int:
        """Return the place of an upper switch among those that a lower switch has links to."""
        return self.upper.position(number) if self.by_pod else number

    def upper_panels(self, model: Switch) -> tuple[int, ...]:
        """Return the panel ports of the upper switches, of a model, for these links."""
        if self.upper_ports is not None:
            return self.upper_ports
        usable = model.usable(self.upper_split_factor, self.wanted.speed)
        return tuple(panel for panel in usable if panel not in self.upper.dead)

    def replace_split_factor(self, into: int) -> "Join":
        """Return the join with panel ports split into so many at both ends."""
        wanted = self.wanted.model_copy(update={"split": into})
        return replace(self, split=into, wanted=wanted)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Topology:
    """All groups, the lowest tier first, and all joins."""

    groups: tuple[Group, ...]
    joins: tuple[Join, ...]

    @property
    def host_groups(self) -> tuple[Group, ...]:
        """Return the groups next to hosts."""
        return tuple(group for group in self.groups if group.tier == 0)

    def group(self, name: str) -> Group:
        """Return a group by its name; KeyError where there is none."""
        return {group.name: group for group in self.groups}[name]

    def joins_above(self, group: Group) -> tuple[Join, ...]:
        """Return the joins of a group to higher ones."""
        return tuple(join for join in self.joins if join.lower == group)

    def joins_below(self, group: Group) -> tuple[Join, ...]:
        """Return the joins of a group to lower ones."""
        return tuple(join for join in self.joins if join.upper == group)


def topology_of(intent: Intent) -> Topology:
    """Return the topology of an intent; links to groups that do not exist are left out."""
    wanted, made = intent.topology, intent.cache.get(__name__)
    if made is None or made[0] is not wanted:
        made = wanted, _of_two_tiers(wanted) if isinstance(wanted, LeafSpine) else _of_tiers(wanted)
        intent.cache[__name__] = made
    topology: Topology = made[1]
    return topology


def group_of_endpoints(intent: Intent, name: str) -> Group:
    """Return the group of switches that a group of hosts connects to: the stated one, else the only one."""
    topology, stated = topology_of(intent), intent.endpoints[name].leaves
    return topology.host_groups[0] if stated is None else topology.group(stated)


def endpoints_of_group(intent: Intent, group: Group) -> tuple[str, ...]:
    """Return the groups of hosts that connect to a group of switches."""
    return tuple(name for name in intent.endpoints if group_of_endpoints(intent, name) == group)


_TWO_TIERS = JoinKeys(links="per_spine", lower_slots="leaf_slots", upper_slots="spine_slots", upper_split="spine_split")
_ANY_TIERS = JoinKeys(links="links", lower_slots="slots", upper_slots="peer_slots", upper_split="peer_split")


def _of_two_tiers(wanted: LeafSpine) -> Topology:
    lower, upper = (
        Group(
            name=ROLES[tier],
            label=key,
            tier=tier,
            wanted=switches,
            endpoints=wanted.leaves.ports.endpoints if tier == 0 else (),
            dead=wanted.leaves.ports.dead if tier == 0 else (),
            limit=wanted.max_oversubscription,
            limit_keys=_LIMIT,
            keys=("topology", key),
            asn_keys=("routing", "asn", key),
        )
        for tier, (key, switches) in enumerate((("leaves", wanted.leaves), ("spines", wanted.spines)))
    )
    links = wanted.uplinks
    join = Join(
        lower=lower,
        upper=upper,
        wanted=links,
        links=links.per_spine,
        lower_ports=wanted.leaves.ports.uplinks,
        upper_ports=None,
        split=links.split,
        stated_upper_split=links.spine_split,
        lower_slots=links.leaf_slots,
        upper_slots=links.spine_slots,
        keys=("topology", "uplinks"),
        ports_keys=("topology", "leaves", "ports", "uplinks"),
        words=_TWO_TIERS,
    )
    return Topology(groups=(lower, upper), joins=(join,))


def _of_tiers(wanted: Tiers) -> Topology:
    groups = {
        name: Group(
            name=name,
            label=f"{name} switches",
            tier=switches.tier - 1,
            wanted=switches,
            endpoints=switches.ports.endpoints,
            dead=switches.ports.dead,
            offset=switches.offset,
            per_pod=switches.per_pod,
            limit=switches.max_oversubscription or wanted.max_oversubscription,
            limit_keys=("topology", "groups", name, _LIMIT[1]) if switches.max_oversubscription else _LIMIT,
            keys=("topology", "groups", name),
            asn_keys=("routing", "asn", name),
        )
        for name, switches in wanted.groups.items()
    }
    joins = (
        _join(groups[name], groups[upper], links)
        for name, switches in wanted.groups.items()
        for upper, links in switches.uplinks.items()
        if upper in groups
    )
    return Topology(groups=tuple(sorted(groups.values(), key=lambda group: group.tier)), joins=tuple(joins))


def _join(lower: Group, upper: Group, links: GroupUplinks) -> Join:
    keys = (*lower.keys, "uplinks", upper.name)
    return Join(
        lower=lower,
        upper=upper,
        wanted=links,
        links=links.links,
        lower_ports=links.ports,
        upper_ports=links.peer_ports,
        split=links.split,
        stated_upper_split=links.peer_split,
        lower_slots=links.slots,
        upper_slots=links.peer_slots,
        keys=keys,
        ports_keys=(*keys, "ports"),
        words=_ANY_TIERS,
    )


def topology_faults(intent: Intent) -> Iterator[Problem]:
    """Yield names, tiers, numbers and links that make no topology, and hosts at no group of switches."""
    if isinstance(intent.topology, LeafSpine):
        yield from _attachment_faults(intent, {group.name: group.tier for group in topology_of(intent).groups})
        return
    groups = intent.topology.groups
    yield from _group_faults(intent, intent.topology)
    yield from _number_clashes(intent)
    for name, group in groups.items():
        for upper in group.uplinks:
            keys = ("topology", "groups", name, "uplinks", upper)
            if upper not in groups:
                hint = nearest(upper, tuple(groups))
                yield intent.problem(keys, f"no group {upper}", "a group of the topology", hint)
            elif groups[upper].tier <= group.tier:
                fault = f"{upper} is in tier {groups[upper].tier}, and {name} in tier {group.tier}"
                yield intent.problem(keys, fault, "a group of a higher tier")
    yield from _shared_peer_ports(intent)
    yield from _pods_without_peers(intent)
    yield from _attachment_faults(intent, {name: group.tier - 1 for name, group in groups.items()})


def _group_faults(intent: Intent, wanted: Tiers) -> Iterator[Problem]:
    linked = {upper for group in wanted.groups.values() for upper in group.uplinks}
    tiers = {group.tier for group in wanted.groups.values()}
    if 1 not in tiers:
        yield intent.problem(("topology", "groups"), "no group of tier 1", "a group next to the hosts")
    for name, group in wanted.groups.items():
        keys = ("topology", "groups", name)
        if name[-1].isdigit():
            yield intent.problem(keys, f"{name} ends in a digit", "a name that ids can be added to")
        if group.tier > 1 and name not in linked:
            yield intent.problem(keys, f"no group has uplinks to {name}", f"uplinks: {{{name}: ...}} of a lower group")
        below = max((tier for tier in tiers if tier < group.tier), default=group.tier - 1)
        if below < group.tier - 1:
            fault = f"{name} is in tier {group.tier}, and no group in tier {group.tier - 1}"
            yield intent.problem((*keys, "tier"), fault, "tiers without a gap", f"tier: {below + 1}")
        if group.tier > 1 and group.ports.endpoints:
            fault = f"endpoint ports in tier {group.tier}"
            yield intent.problem((*keys, "ports", "endpoints"), fault, "hosts at tier 1 alone")


def _number_clashes(intent: Intent) -> Iterator[Problem]:
    """Yield groups that have a number of their tier in common, with an offset that keeps them apart."""
    taken: dict[tuple[int, int], str] = {}
    for group in topology_of(intent).groups:
        numbers = [(group.tier, group.offset + number) for number in group.wanted.ids]
        clash = next((number for number in numbers if number in taken), None)
        if clash is not None:
            last = max(number for tier, number in taken if tier == group.tier)
            fault = f"{group.name}{clash[1] - group.offset} and {taken[clash]} are both number {clash[1]} of their tier"
            yield intent.problem((*group.keys, "offset"), fault, "numbers of no other group", f"offset: {last}")
        taken |= {key: f"{group.name}{number}" for key, number in zip(numbers, group.wanted.ids, strict=True)}


def _shared_peer_ports(intent: Intent) -> Iterator[Problem]:
    """Yield links without ports on upper switches that have links to several groups."""
    topology = topology_of(intent)
    for group in topology.groups:
        joins = topology.joins_below(group)
        if len(joins) + len(topology.joins_above(group)) > 1:
            for join in joins:
                if join.upper_ports is None:
                    fault = f"{group.name} has links to several groups"
                    yield intent.problem((*join.keys, "peer_ports"), fault, f"panel ports of {group.name} for these")


def _pods_without_peers(intent: Intent) -> Iterator[Problem]:
    """Yield pods of a group in which a group above it has no switch."""
    for join in topology_of(intent).joins:
        pods = {join.lower.pod(number) for number in join.lower.wanted.ids}
        lacking = pods - {join.upper.pod(number) for number in join.upper.wanted.ids}
        if join.by_pod and lacking:
            fault = f"pod {show_ids(lacking)} of {join.lower.name} has no {join.upper.name}"
            yield intent.problem((*join.upper.keys, "ids"), fault, f"a {join.upper.name} in every pod")


def _attachment_faults(intent: Intent, tiers: Mapping[str, int]) -> Iterator[Problem]:
    """Yield groups of hosts whose group of switches is not known, not stated, or not next to hosts."""
    lowest = [name for name, tier in tiers.items() if tier == 0]
    for name, group in intent.endpoints.items():
        keys, expected = ("endpoints", name, "leaves"), f"one of {', '.join(lowest)}"
        if group.leaves is None and len(lowest) > 1:
            yield intent.problem(keys, f"{len(lowest)} groups of switches are next to hosts", expected)
        elif group.leaves is not None and group.leaves not in tiers:
            yield intent.problem(keys, f"no group {group.leaves}", expected, nearest(group.leaves, tuple(lowest)))
        elif group.leaves is not None and group.leaves not in lowest:
            yield intent.problem(keys, f"{group.leaves} is in tier {tiers[group.leaves] + 1}", expected)


def model_of(group: Group) -> Switch:
    """Return the facts of the model of a group, which the catalogue has."""
    return switch(group.wanted.model)


def show_group_ids(group: Group) -> str:
    """Return the switches of a group: `leaf 1-4`."""
    return f"{group.name} {show_ids(group.wanted.ids)}"
