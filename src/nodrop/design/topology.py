"""The topology of an intent of any kind: groups of equal switches in tiers, and the joins between two groups.

A switch is identified by its tier and its number there, which is its id plus the offset of its group. Addresses and AS
numbers follow from these, ports from ids. Switches of a pod have consecutive ids.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from nodrop.design.naming import NamingScheme, NodeIdentity, name_of, naming_of, switch_identity
from nodrop.design.sheet import CableSheetSwitch, ResolvedCableSheet, StatedCable, resolve_cable_sheet
from nodrop.hardware import switch
from nodrop.hardware.schema import SwitchModel
from nodrop.intent.schema import EndpointGroup, Intent
from nodrop.intent.topology import CableSheetTopology, GroupUplinks, LeafSpine, Switches, Tiers, Uplinks
from nodrop.routing.tiers import RANK_BY_ROLE
from nodrop.units import show_ids

ROLES_BY_TIER = tuple(sorted(RANK_BY_ROLE, key=RANK_BY_ROLE.__getitem__))
"""The roles of switches by tier, from the hosts up."""

KeyPath = tuple[str, ...]
_OVERSUBSCRIPTION_KEY_PATH = ("topology", "max_oversubscription")
CABLES_KEY_PATH = ("topology", "cables")


@dataclass(frozen=True, slots=True, kw_only=True)
class TierSwitchGroup:
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
    limit_keys: KeyPath = field(compare=False)
    keys: KeyPath = field(compare=False)
    asn_keys: KeyPath = field(compare=False)

    @property
    def ports_keys(self) -> KeyPath:
        """Return the keys of the intent that list its panel ports by use."""
        return (*self.keys, "ports")

    @property
    def role(self) -> str:
        """Return the role of its switches, which follows from the tier."""
        return ROLES_BY_TIER[self.tier]

    def position_in_pod(self, number: int) -> int:
        """Return the place of an id in its pod, from 1; the id itself where there are no pods."""
        return number if self.per_pod is None else (number - 1) % self.per_pod + 1

    def pod(self, number: int) -> int:
        """Return the pod of an id, from 1; 0 where there are no pods."""
        return 0 if self.per_pod is None else (number - 1) // self.per_pod + 1


@lru_cache(maxsize=64)  # of one intent, alternatives to a join ask the same again and again
def _fewest_uppers_of_pods(
    lower_ids: tuple[int, ...], lower_per_pod: int, upper_ids: tuple[int, ...], upper_per_pod: int
) -> int:
    """Return the upper switches of the pod that has the fewest, of those pods that any lower switch has links to."""
    uppers_by_pod = Counter((number - 1) // upper_per_pod for number in upper_ids)
    return min(uppers_by_pod[pod] for pod in {(number - 1) // lower_per_pod for number in lower_ids})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JoinKeys:
    """The names that the keys of a join have in the intent."""

    links: str
    lower_slots: str
    upper_slots: str
    upper_split: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupJoin:
    """The links from every switch of a group to every switch of a higher one, or to those of the same pod."""

    lower: TierSwitchGroup
    upper: TierSwitchGroup
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
    keys: KeyPath
    ports_keys: KeyPath
    words: JoinKeys
    pods: int = 1
    """Pods of the lower group for each of the upper one."""
    cables: tuple[StatedCable, ...] = ()
    """Those that a sheet states one by one; they are all of the join, and `links` is of no meaning then."""

    @property
    def upper_split_factor(self) -> int:
        """Return into how many ports the upper switches' panel ports are split."""
        return self.split if self.stated_upper_split is None else self.stated_upper_split

    @property
    def upper_ports_keys(self) -> KeyPath:
        """Return the keys that list the upper switches' panel ports; empty where none does."""
        return () if self.upper_ports is None else (*self.keys, "peer_ports")

    @property
    def stays_in_pod(self) -> bool:
        """Whether links stay in a pod."""
        return self.lower.per_pod is not None and self.upper.per_pod is not None

    @property
    def fewest_uppers(self) -> int:
        """Return the upper switches of a lower one, in the pod that has the fewest."""
        lower, upper = self.lower, self.upper
        if lower.per_pod is None or upper.per_pod is None:
            return len(upper.wanted.ids)
        return _fewest_uppers_of_pods(lower.wanted.ids, lower.per_pod * self.pods, upper.wanted.ids, upper.per_pod)

    @property
    def up_mbps(self) -> int:
        """Bandwidth of a lower switch to all upper ones, where pods differ of one in the pod with the fewest."""
        return self.links * self.fewest_uppers * self.wanted.speed

    def pod_above(self, number: int) -> int:
        """Return the pod of the upper switches that a lower switch has links to; 0 where these are all."""
        return (self.lower.pod(number) - 1) // self.pods + 1 if self.stays_in_pod else 0

    def lower_position(self, number: int) -> int:
        """Return the place of a lower switch among those that an upper switch has links to."""
        per_pod = self.lower.per_pod
        return number if per_pod is None or not self.stays_in_pod else (number - 1) % (per_pod * self.pods) + 1

    def upper_position(self, number: int) -> int:
        """Return the place of an upper switch among those that a lower switch has links to."""
        return self.upper.position_in_pod(number) if self.stays_in_pod else number

    def upper_panels(self, model: SwitchModel) -> tuple[int, ...]:
        """Return the panel ports of the upper switches, of a model, for these links."""
        if self.upper_ports is not None:
            return self.upper_ports
        usable = model.panels_splittable_at_once(self.upper_split_factor, self.wanted.speed)
        return tuple(panel for panel in usable if panel not in self.upper.dead)

    def replace_split_factor(self, into: int) -> "GroupJoin":
        """Return the join with panel ports split into so many at both ends."""
        wanted = self.wanted.model_copy(update={"split": into})
        return replace(self, split=into, wanted=wanted)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Topology:
    """All groups, the lowest tier first, all joins, and the groups of hosts."""

    groups: tuple[TierSwitchGroup, ...]
    joins: tuple[GroupJoin, ...]
    endpoints: Mapping[str, EndpointGroup]
    """The groups of hosts by name."""
    sheet: ResolvedCableSheet | None = None
    """Where every cable is stated; a join is the cables that are alike then."""

    @property
    def host_groups(self) -> tuple[TierSwitchGroup, ...]:
        """Return the groups next to hosts."""
        return tuple(group for group in self.groups if group.tier == 0)

    def group(self, name: str) -> TierSwitchGroup:
        """Return a group by its name; KeyError where there is none."""
        return {group.name: group for group in self.groups}[name]

    def joins_above(self, group: TierSwitchGroup) -> tuple[GroupJoin, ...]:
        """Return the joins of a group to higher ones."""
        return tuple(join for join in self.joins if join.lower == group)

    def joins_below(self, group: TierSwitchGroup) -> tuple[GroupJoin, ...]:
        """Return the joins of a group to lower ones."""
        return tuple(join for join in self.joins if join.upper == group)


def topology_of(intent: Intent) -> Topology:
    """Return the topology of an intent; links to groups that do not exist are left out."""
    return intent.compute_once(__name__, (intent.topology, intent.endpoints), lambda: _make_topology(intent))


def _make_topology(intent: Intent) -> Topology:
    wanted, endpoints = intent.topology, intent.endpoints
    if isinstance(wanted, LeafSpine):
        return _topology_of_leaf_spine(wanted, endpoints)
    return _topology_of_tiers(wanted, endpoints) if isinstance(wanted, Tiers) else _topology_of_sheet(intent, wanted)


def group_of_endpoints(topology: Topology, name: str) -> TierSwitchGroup:
    """Return the group of switches that a group of hosts connects to: the stated one, else the only one."""
    stated = topology.endpoints[name].leaves
    return topology.host_groups[0] if stated is None else topology.group(stated)


def endpoints_of_group(topology: Topology, group: TierSwitchGroup) -> tuple[str, ...]:
    """Return the groups of hosts that connect to a group of switches."""
    return tuple(name for name in topology.endpoints if group_of_endpoints(topology, name) == group)


_LEAF_SPINE_JOIN_KEYS = JoinKeys(
    links="per_spine", lower_slots="leaf_slots", upper_slots="spine_slots", upper_split="spine_split"
)
_TIERS_JOIN_KEYS = JoinKeys(links="links", lower_slots="slots", upper_slots="peer_slots", upper_split="peer_split")


def _topology_of_leaf_spine(wanted: LeafSpine, endpoints: Mapping[str, EndpointGroup]) -> Topology:
    lower, upper = (
        TierSwitchGroup(
            name=ROLES_BY_TIER[tier],
            label=key,
            tier=tier,
            wanted=switches,
            endpoints=wanted.leaves.ports.endpoints if tier == 0 else (),
            dead=wanted.leaves.ports.dead if tier == 0 else (),
            limit=wanted.max_oversubscription,
            limit_keys=_OVERSUBSCRIPTION_KEY_PATH,
            keys=("topology", key),
            asn_keys=("routing", "asn", key),
        )
        for tier, (key, switches) in enumerate((("leaves", wanted.leaves), ("spines", wanted.spines)))
    )
    links = wanted.uplinks
    join = GroupJoin(
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
        words=_LEAF_SPINE_JOIN_KEYS,
    )
    return Topology(groups=(lower, upper), joins=(join,), endpoints=endpoints)


def _make_groups(wanted: Tiers | CableSheetTopology) -> dict[str, TierSwitchGroup]:
    """Return the groups by name, the lowest tier first."""
    groups = (
        TierSwitchGroup(
            name=name,
            label=f"{name} switches",
            tier=switches.tier - 1,
            wanted=switches,
            endpoints=switches.ports.endpoints,
            dead=switches.ports.dead,
            offset=switches.offset,
            per_pod=switches.per_pod,
            limit=switches.max_oversubscription or wanted.max_oversubscription,
            limit_keys=("topology", "groups", name, _OVERSUBSCRIPTION_KEY_PATH[1])
            if switches.max_oversubscription
            else _OVERSUBSCRIPTION_KEY_PATH,
            keys=("topology", "groups", name),
            asn_keys=("routing", "asn", name),
        )
        for name, switches in wanted.groups.items()
    )
    return {group.name: group for group in sorted(groups, key=lambda group: group.tier)}


def _topology_of_tiers(wanted: Tiers, endpoints: Mapping[str, EndpointGroup]) -> Topology:
    groups = _make_groups(wanted)
    joins = (
        _build_join(groups[name], groups[upper], links)
        for name, switches in wanted.groups.items()
        for upper, links in switches.uplinks.items()
        if upper in groups
    )
    return Topology(groups=tuple(groups.values()), joins=tuple(joins), endpoints=endpoints)


def _topology_of_sheet(intent: Intent, wanted: CableSheetTopology) -> Topology:
    groups = _make_groups(wanted)
    sheet = resolve_cable_sheet(intent, wanted, _sheet_switches_by_name(naming_of(intent), groups.values()))
    alike: dict[tuple[object, ...], list[StatedCable]] = {}
    for cable in sheet.cables:
        ends = (cable.lower, cable.upper)
        kinds = (model_of(groups[end.group]).group(end.part.panel) for end in ends)
        key = (
            *(end.group for end in ends),
            *(end.part.splits for end in ends),
            *(kind and kind.panels for kind in kinds),
        )
        alike.setdefault((*key, cable.speed_mbps, cable.media, cable.length_m), []).append(cable)
    joins = (_join_of_cables(groups, tuple(cables)) for cables in alike.values())
    return Topology(groups=tuple(groups.values()), joins=tuple(joins), endpoints=intent.endpoints, sheet=sheet)


def _sheet_switches_by_name(naming: NamingScheme, groups: Iterable[TierSwitchGroup]) -> dict[str, CableSheetSwitch]:
    """Return the switches by the words that a sheet can have for them: their names, then their identities."""
    by_name, by_identity = dict[str, CableSheetSwitch](), dict[str, CableSheetSwitch]()
    for group in groups:
        uses = dict.fromkeys(group.endpoints, "hosts") | dict.fromkeys(group.dead, "nothing: it is dead")
        for identity in identities_of_group(group):
            name = name_of(naming, identity)
            by_name[name] = by_identity[str(identity)] = CableSheetSwitch(
                name=name,
                group=group.name,
                id=identity.id,
                tier=group.tier,
                model=group.wanted.model,
                platform=group.wanted.platform,
                other_uses=uses,
            )
    return by_identity | by_name


def _join_of_cables(groups: Mapping[str, TierSwitchGroup], cables: tuple[StatedCable, ...]) -> GroupJoin:
    """Return the join of cables that are alike, whose panel ports are those of all switches of its groups."""
    first = cables[0]
    wanted = GroupUplinks.model_construct(
        ports=tuple(sorted({cable.lower.part.panel for cable in cables})),
        peer_ports=tuple(sorted({cable.upper.part.panel for cable in cables})),
        links=1,
        pods=1,
        speed=first.speed_mbps,
        media=first.media,
        length=first.length_m,
        split=first.lower.part.splits,
        peer_split=first.upper.part.splits,
    )
    join = _build_join(groups[first.lower.group], groups[first.upper.group], wanted)
    return replace(join, keys=CABLES_KEY_PATH, ports_keys=CABLES_KEY_PATH, cables=cables)


def identities_of_group(group: TierSwitchGroup) -> Iterator[NodeIdentity]:
    """Yield the identities of a group's switches."""
    return (switch_identity(group.role, group.name, number, max(group.pod(number), 1)) for number in group.wanted.ids)


def _build_join(lower: TierSwitchGroup, upper: TierSwitchGroup, links: GroupUplinks) -> GroupJoin:
    keys = (*lower.keys, "uplinks", upper.name)
    return GroupJoin(
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
        words=_TIERS_JOIN_KEYS,
        pods=links.pods,
    )


def model_of(group: TierSwitchGroup) -> SwitchModel:
    """Return the facts of the model of a group, which the catalogue has."""
    return switch(group.wanted.model)


def show_group_ids(group: TierSwitchGroup) -> str:
    """Return the switches of a group: `leaf 1-4`."""
    return f"{group.name} {show_ids(group.wanted.ids)}"
