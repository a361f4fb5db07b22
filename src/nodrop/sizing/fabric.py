"""A sized fabric in detail: groups of switches, panel ports, links, hosts, media and pools, as an intent states.

Planes are groups: spines and cores of plane a are `spine-a` and `core-a`. Hosts have the low panel ports of a leaf, and
uplinks the high ones, unless a HWSKU of the model has them the other way round.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from nodrop.design.addressing import TIER_SHARES_PER_POOL, format_ipv4_address, power_of_two_port_slots
from nodrop.design.blocks import PeerPortBlocks
from nodrop.design.cabling import LinkEndKind, can_medium_link
from nodrop.design.splits import split_ports
from nodrop.hardware import media, nic
from nodrop.hardware.schema import SwitchModel
from nodrop.intent.topology import GroupUplinks
from nodrop.sizing.counting import AlikeHosts, CannotSize, FabricDemand, FabricShape, PanelPortsForSpeed
from nodrop.units import show_speed

_GROUP_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_STORAGE_LEAF_NUMBER_STEP = 100
"""Storage leaves are numbered from a multiple of it, above the other leaves of their tier, so that both can grow."""
_POOL_10, _LEAST_POOL, _LEAST_OOB = 10 << 24, 2**16, 2**8


class MaxCableLengths(NamedTuple):
    """The longest cables in meters: from hosts to leaves, from leaves to spines, from spines to cores."""

    hosts_m: int = 5
    leaves_m: int = 30
    spines_m: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedGroup:
    """Equal switches."""

    name: str
    tier: int
    """1 next to the hosts."""
    model: SwitchModel
    count: int
    per_pod: int | None
    offset: int
    endpoints: tuple[int, ...] = ()
    """Panel ports towards hosts."""

    @property
    def highest_number(self) -> int:
        """Return the highest number of its switches in their tier."""
        return self.offset + self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedLinks:
    """The links between two groups."""

    lower: str
    upper: str
    links: int
    """Between two switches."""
    count: int
    """Between all switches of the groups."""
    ports: tuple[int, ...]
    """Panel ports of the lower switches."""
    peer_ports: tuple[int, ...] | None
    """Of the upper switches; None is all that take the speed, where nothing else is connected to these."""
    split: int
    peer_split: int
    slots: int | None
    peer_slots: int | None
    speed_mbps: int
    media: str
    length_m: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedHosts:
    """Hosts that are alike, and how they are connected."""

    hosts: AlikeHosts
    leaves: str
    """The group of their switches."""
    leaf_group: int
    spread: Literal["rails", "leaves", "one-leaf"]
    ports: tuple[int, ...]
    """Panel ports of the leaves for them."""
    media: str
    length_m: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedFabric:
    """A fabric with all that an intent states of its topology."""

    shape: FabricShape
    groups: tuple[SizedGroup, ...]
    links: tuple[SizedLinks, ...]
    hosts: tuple[SizedHosts, ...]

    def group(self, name: str) -> SizedGroup:
        """Return a group by its name."""
        return next(group for group in self.groups if group.name == name)

    def address_pools(self) -> dict[str, str]:
        """Return the pools of addresses by their key in an intent; CannotSize where 10.0.0.0/8 is too small."""
        linked = {links.lower for links in self.links}
        owners = [group for group in self.groups if group.tier == 1 or group.name in linked]
        addresses = 2 * max(power_of_two_port_slots(group.model) for group in owners)
        highest = max(group.highest_number for group in self.groups) + 1
        leaf = max(group.highest_number for group in self.groups if group.tier == 1) + 1
        below = max(group.highest_number for group in owners) + 1
        needs = {
            "loopbacks": TIER_SHARES_PER_POOL * highest,
            "links": TIER_SHARES_PER_POOL * addresses * below,
            "endpoints": addresses * leaf,
        }
        pools, start = {}, _POOL_10
        for key, needed in needs.items():
            if key == "links" and not self.links:
                continue
            size = 1 << (max(needed, _LEAST_POOL) - 1).bit_length()
            start = -(-start // size) * size
            pools[key], start = _format_subnet(start, size), start + size
        if start > _POOL_10 + 2**24:
            raise CannotSize("their links need more addresses than 10.0.0.0/8 has")
        size = 1 << (max(TIER_SHARES_PER_POOL * highest, _LEAST_OOB) - 1).bit_length()
        first = "192.168.100.0" if size == _LEAST_OOB else "192.168.0.0" if size <= _LEAST_POOL else "172.16.0.0"
        return pools | {"oob": f"{first}/{33 - size.bit_length()}"}


def _format_subnet(first: int, size: int) -> str:
    return f"{format_ipv4_address(first)}/{33 - size.bit_length()}"


def expand_shape_to_sized_fabric(demand: FabricDemand, shape: FabricShape, lengths: MaxCableLengths) -> SizedFabric:
    """Return a fabric in detail, for the switches and hosts of a demand."""
    names = _plane_name_suffixes(shape.planes)
    down, up = _leaf_panels(shape)
    groups, hosts = _leaf_groups(shape, down), _sized_hosts(shape, down, lengths)
    links: list[SizedLinks] = []
    if shape.spines_of_pod:
        below, above = _spine_panels_down_and_up(demand.upper, shape)
        links += _leaf_links(demand, shape, names, (up, below), lengths)
        groups += _spine_and_core_groups(demand.upper.model, shape, names)
        links += _core_links(demand.upper, shape, names, above, lengths) if shape.cores_of_plane else ()
    return SizedFabric(shape=shape, groups=tuple(groups), links=tuple(links), hosts=tuple(hosts))


def _plane_name_suffixes(planes: int) -> list[str]:
    """Return what is added to the names of groups of each plane: nothing where there is one."""
    if planes == 1:
        return [""]
    return [f"-{_letters_of_index(index)}" for index in range(planes)]


def _letters_of_index(index: int) -> str:
    high, low = divmod(index, len(_GROUP_LETTERS))
    return (_GROUP_LETTERS[high - 1] if high else "") + _GROUP_LETTERS[low]


def _leaf_name(hosts: AlikeHosts) -> str:
    """Return the group of the leaves of hosts: `leaf` for those of GPUs, else by the name of the hosts."""
    return "leaf" if hosts.gpus else f"{hosts.name}-leaf"


def _leaf_panels(shape: FabricShape) -> tuple[list[tuple[int, ...]], list[list[tuple[int, ...]]]]:
    """Return the panel ports of each kind of leaf: towards hosts, and towards each plane.

    On a single switch, kinds of hosts share its ports.
    """
    if not shape.spines_of_pod:
        taken: set[int] = set()
        own: list[tuple[int, ...]] = []
        for leaves in shape.leaves:
            free = [panel for panel in leaves.hosts.down.panels if panel not in taken]
            own.append(tuple(free[: leaves.hosts.down.count_panels(leaves.ports_down_per_leaf)]))
            taken.update(own[-1])
        return own, [[] for _ in own]
    down, up = [], []
    for leaves, links in zip(shape.leaves, shape.links, strict=True):
        hosts, to_plane = leaves.hosts, links * shape.spines_of_pod // shape.planes
        of_plane = hosts.up.count_panels(to_plane)
        below, above = _divide_panel_ports(
            hosts, hosts.down.count_panels(leaves.ports_down_per_leaf), of_plane * shape.planes
        )
        down.append(below)
        up.append([above[start : start + of_plane] for start in range(0, len(above), of_plane)])
    return down, up


def _divide_panel_ports(hosts: AlikeHosts, below: int, above: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return so many panel ports for hosts and for uplinks: as a HWSKU has them, else the low and the high ones."""
    choices = [
        _choose_panel_ports_from_both_ends(hosts, below, above, low_first=low_first) for low_first in (True, False)
    ]
    model = hosts.down.model
    for down, up in choices:
        ports = dict.fromkeys(down, (hosts.down.split, hosts.down.speed_mbps))
        ports |= dict.fromkeys(up, (hosts.up.split, hosts.up.speed_mbps))
        if any(layout.covers_breakouts(ports) for layout in model.sonic.layouts):
            return down, up
    return choices[0]


def _choose_panel_ports_from_both_ends(
    hosts: AlikeHosts, below: int, above: int, *, low_first: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return panel ports for hosts from one end and for uplinks from the other, those that suit only one use first."""
    shared = set(hosts.down.panels) & set(hosts.up.panels)
    order = 1 if low_first else -1
    down = sorted(hosts.down.panels, key=lambda panel: (panel in shared, order * panel))[:below]
    free = [panel for panel in hosts.up.panels if panel not in down]
    up = sorted(free, key=lambda panel: (panel in shared, -order * panel))[:above]
    return tuple(sorted(down)), tuple(sorted(up))


def _leaf_groups(shape: FabricShape, down: Sequence[tuple[int, ...]]) -> list[SizedGroup]:
    if not shape.spines_of_pod:
        panels = tuple(sorted(panel for own in down for panel in own))
        model = shape.leaves[0].hosts.down.model
        return [SizedGroup(name="leaf", tier=1, model=model, count=1, per_pod=None, offset=0, endpoints=panels)]
    groups: list[SizedGroup] = []
    for kind, leaves in enumerate(shape.leaves):
        highest = groups[-1].highest_number if groups else 0
        groups.append(
            SizedGroup(
                name=_leaf_name(leaves.hosts),
                tier=1,
                model=leaves.hosts.down.model,
                count=leaves.count,
                per_pod=shape.max_leaves_per_pod(kind) if shape.pods > 1 else None,
                offset=-(-highest // _STORAGE_LEAF_NUMBER_STEP) * _STORAGE_LEAF_NUMBER_STEP,
                endpoints=down[kind],
            )
        )
    return groups


def _sized_hosts(shape: FabricShape, down: Sequence[tuple[int, ...]], lengths: MaxCableLengths) -> Iterator[SizedHosts]:
    for leaves, panels in zip(shape.leaves, down, strict=True):
        hosts = leaves.hosts
        use, card = hosts.down, nic(hosts.nic)
        ends = (LinkEndKind.of(use.model, use.split, panels), LinkEndKind.of_nic(card))
        yield SizedHosts(
            hosts=hosts,
            leaves=_leaf_name(hosts) if shape.spines_of_pod else "leaf",
            leaf_group=leaves.max_hosts_per_set,
            spread=("rails" if hosts.rails else "leaves") if hosts.apart else "one-leaf",
            ports=panels,
            media=choose_medium(use.speed_mbps, lengths.hosts_m, ends),
            length_m=lengths.hosts_m,
        )


def _spine_panels_down_and_up(
    upper: PanelPortsForSpeed, shape: FabricShape
) -> tuple[list[tuple[int, ...] | None], tuple[int, ...]]:
    """Return the panel ports of a spine: towards leaves of each kind, from the first on, and up, from the last back.

    None is all of them, for the only kind of leaf below the top tier.
    """
    if len(shape.links) == 1 and not shape.cores_of_plane:
        return [None], ()
    below: list[tuple[int, ...] | None] = []
    start = 0
    for kind, links in enumerate(shape.links):
        count = upper.count_panels(links * shape.max_leaves_per_pod(kind))
        below.append(upper.panels[start : start + count])
        start += count
    above = upper.count_panels(shape.cores_of_plane * shape.core_links)
    return below, upper.panels[len(upper.panels) - above :]


def _spine_and_core_groups(model: SwitchModel, shape: FabricShape, names: Sequence[str]) -> Iterator[SizedGroup]:
    of_pod = shape.spines_of_pod // shape.planes
    spines = shape.pods * of_pod
    for plane, name in enumerate(names):
        per_pod = of_pod if shape.pods > 1 else None
        yield SizedGroup(name=f"spine{name}", tier=2, model=model, count=spines, per_pod=per_pod, offset=plane * spines)
    for plane, name in enumerate(names if shape.cores_of_plane else ()):
        cores = shape.cores_of_plane
        yield SizedGroup(name=f"core{name}", tier=3, model=model, count=cores, per_pod=None, offset=plane * cores)


def _leaf_links(
    demand: FabricDemand,
    shape: FabricShape,
    names: Sequence[str],
    panels: tuple[Sequence[Sequence[tuple[int, ...]]], Sequence[tuple[int, ...] | None]],
    lengths: MaxCableLengths,
) -> Iterator[SizedLinks]:
    """Yield the links of leaves to the spines of each plane; `panels` are those of leaves, by plane, and of spines."""
    of_leaves, of_spines = panels
    spines = shape.spines_of_pod // shape.planes
    for kind, (leaves, links) in enumerate(zip(shape.leaves, shape.links, strict=True)):
        for plane, name in enumerate(names):
            yield _build_links(
                (_leaf_name(leaves.hosts), f"spine{name}"),
                links,
                (leaves.hosts.up, demand.upper),
                (of_leaves[kind][plane], of_spines[kind]),
                (min(shape.max_leaves_per_pod(kind), leaves.count), spines),
                leaves.count * spines * links,
                lengths.leaves_m,
            )


def _core_links(
    upper: PanelPortsForSpeed,
    shape: FabricShape,
    names: Sequence[str],
    above: tuple[int, ...],
    lengths: MaxCableLengths,
) -> Iterator[SizedLinks]:
    spines = shape.pods * shape.spines_of_pod // shape.planes
    for name in names:
        yield _build_links(
            (f"spine{name}", f"core{name}"),
            shape.core_links,
            (upper, upper),
            (above, None),
            (spines, shape.cores_of_plane),
            spines * shape.cores_of_plane * shape.core_links,
            lengths.spines_m,
        )


def _build_links(
    names: tuple[str, str],
    links: int,
    uses: tuple[PanelPortsForSpeed, PanelPortsForSpeed],
    panels: tuple[tuple[int, ...], tuple[int, ...] | None],
    peers: tuple[int, int],
    count: int,
    length_m: int,
) -> SizedLinks:
    """Return the links of two groups, the lower first; `peers` are the lower and upper switches that are joined."""
    lower, upper = uses
    upper_panels = upper.panels if panels[1] is None else panels[1]
    ends = [LinkEndKind.of(lower.model, lower.split, panels[0]), LinkEndKind.of(upper.model, upper.split, upper_panels)]
    return SizedLinks(
        lower=names[0],
        upper=names[1],
        links=links,
        count=count,
        ports=panels[0],
        peer_ports=panels[1],
        split=lower.split,
        peer_split=upper.split,
        slots=_peers_sharing_ports_evenly(upper, upper_panels, peers[0], links),
        peer_slots=_peers_sharing_ports_evenly(lower, panels[0], peers[1], links),
        speed_mbps=lower.speed_mbps,
        media=choose_medium(lower.speed_mbps, length_m, ends),
        length_m=length_m,
    )


def _peers_sharing_ports_evenly(use: PanelPortsForSpeed, panels: tuple[int, ...], peers: int, links: int) -> int | None:
    """Return among how many peers ports are shared out evenly; None where each gets its ports by halving."""
    ids = tuple(range(1, peers + 1))
    halved = PeerPortBlocks(role="", ids=ids, ports=split_ports(panels, use.split), slots=None)
    return peers if halved.explain_clash(links) else None


def choose_medium(speed_mbps: int, length_m: int, ends: Sequence[LinkEndKind]) -> str:
    """Return a medium that joins two ends: DR optics, else an active cable, of the least reach; else CannotSize."""
    links = GroupUplinks.model_construct(ports=(), links=1, media="", speed=speed_mbps, length=length_m)
    fitting = [medium for medium in media().values() if can_medium_link(medium.name, links, ends)]
    optical = [medium for medium in fitting if medium.name.startswith("DR")]
    if not fitting:
        models = " and ".join(dict.fromkeys(end.model for end in ends))
        raise CannotSize(f"no medium of the catalogue joins {models} at {show_speed(speed_mbps)} over {length_m}m")
    return min(optical or fitting, key=lambda medium: (medium.passive, medium.max_length_m, medium.name)).name
