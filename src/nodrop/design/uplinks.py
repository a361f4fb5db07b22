"""The links between leaves and spines: how many, on which ports; what does not fit is refused with what does."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil

from nodrop.design.blocks import Peers
from nodrop.design.boxes import LEAF, SPINE, Boxes, lanes_by_speed
from nodrop.design.cabling import Cabling, Ends, FabricCable, cabling
from nodrop.errors import Problem
from nodrop.fabric.fabric import Port
from nodrop.intent.schema import Intent
from nodrop.units import show_speed

_KEYS = ("topology", "uplinks")
_SLOTS_KEYS = {SPINE: "spine_slots", LEAF: "leaf_slots"}
_MOST_PER_SPINE = 64


def fabric_cables(
    intent: Intent, switches: Boxes, down_mbps: Mapping[str, int], problems: list[Problem]
) -> tuple[FabricCable, ...]:
    """Return the links between the tiers; `down_mbps` is the bandwidth to hosts of every leaf that has any."""
    ends = [Ends(tier[0].model.name, lanes_by_speed(tier[0].model)) for tier in (switches.leaves, switches.spines)]
    link = cabling(intent, _KEYS, intent.topology.uplinks, ends, problems)
    choice = Choice.of(intent, switches, max(down_mbps.values(), default=0))
    faults = list(_port_faults(intent, choice))
    if not (problems or faults):
        faults += _bandwidth_faults(intent, choice, down_mbps)
    problems += faults
    return () if link is None or faults else tuple(_cables(switches, choice, link))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How the tiers are joined: what an intent says, or might say instead."""

    per_spine: int
    spines: Peers
    leaves: Peers
    speed_mbps: int
    down_mbps: int
    """Bandwidth to hosts of the leaf that has most."""
    limit: float
    """Oversubscription, at most."""

    @classmethod
    def of(cls, intent: Intent, switches: Boxes, down_mbps: int) -> "Choice":
        """Return what an intent says."""
        topology, uplinks = intent.topology, intent.topology.uplinks
        return cls(
            per_spine=uplinks.per_spine,
            spines=Peers(
                role=SPINE, ids=topology.spines.ids, ports=topology.leaves.ports.uplinks, slots=uplinks.spine_slots
            ),
            leaves=Peers(
                role=LEAF, ids=topology.leaves.ids, ports=switches.spines[0].model.panels, slots=uplinks.leaf_slots
            ),
            speed_mbps=uplinks.speed,
            down_mbps=down_mbps,
            limit=topology.max_oversubscription,
        )

    @property
    def up_mbps(self) -> int:
        """Bandwidth of a leaf to all spines."""
        return self.per_spine * len(self.spines.ids) * self.speed_mbps

    @property
    def fits(self) -> bool:
        """Whether every peer gets its ports and nobody else's."""
        return not any(peers.clash(self.per_spine) for peers in (self.spines, self.leaves))

    @property
    def oversubscribed(self) -> bool:
        """Whether some leaf has more bandwidth to hosts than the limit allows."""
        return self.down_mbps > self.up_mbps * self.limit

    def evenly(self, *roles: str) -> "Choice":
        """Return this with the ports for the peers of these roles shared out evenly."""
        spines, leaves = (
            replace(peers, slots=max(peers.ids)) if peers.role in roles else peers
            for peers in (self.spines, self.leaves)
        )
        return replace(self, spines=spines, leaves=leaves)

    def variants(self) -> "Iterator[Choice]":
        """Yield this and what shares ports out evenly, the smallest change first."""
        for roles in ((), (SPINE,), (LEAF,), (SPINE, LEAF)):
            yield self.evenly(*roles)


def _port_faults(intent: Intent, choice: Choice) -> Iterator[Problem]:
    """Yield what is wrong with the ports, each with changes that put all of it right."""
    each = choice.per_spine
    for near, peers in ((LEAF, choice.spines), (SPINE, choice.leaves)):
        needed = each * len(peers.ids)
        clash = peers.clash(each)
        if needed > len(peers.ports):
            what = f"{len(peers.ids)} {_plural(peers.role)} × {each} uplinks are {needed} ports of every {near}"
            expected = f"at most its {len(peers.ports)} {'uplink ports' if near == LEAF else 'ports'}"
            yield intent.problem((*_KEYS, "per_spine"), what, expected, _ways_to_fit(choice))
        elif clash:
            yield intent.problem((*_KEYS, "per_spine"), f"on every {near}, {clash}", "", _ways_to_fit(choice))


def _bandwidth_faults(intent: Intent, choice: Choice, down_mbps: Mapping[str, int]) -> Iterator[Problem]:
    if choice.oversubscribed:
        leaf = max(down_mbps, key=down_mbps.__getitem__)
        down, up = choice.down_mbps, choice.up_mbps
        found = f"{leaf} is {down / up:.4g}:1 oversubscribed, {show_speed(down)} down and {show_speed(up)} up"
        expected = f"at most {choice.limit:g}:1"
        keys = ("topology", "max_oversubscription")
        yield intent.problem(keys, found, expected, _ways_to_widen(choice))


def _ways_to_fit(choice: Choice) -> str:
    """Return changes by which the ports suffice: other ports, fewer links, or both."""
    same = next((one for one in choice.variants() if one.fits), None)
    fewer = [
        next((one for one in replace(choice, per_spine=each).variants() if one.fits), None)
        for each in range(choice.per_spine - 1, 0, -1)
    ]
    plain = next((one for one in fewer if one and one.spines == choice.spines and one.leaves == choice.leaves), None)
    ways = [one for one in (same, plain) if one] or [one for one in fewer if one][:1]
    return ", or ".join(_change(choice, one) for one in ways) or "a model with more ports, or fewer switches"


def _ways_to_widen(choice: Choice) -> str:
    """Return changes by which no leaf is oversubscribed: more links, or a higher limit."""
    more = (replace(choice, per_spine=each) for each in range(choice.per_spine + 1, _MOST_PER_SPINE + 1))
    wider = next((one for wide in more if not wide.oversubscribed for one in wide.variants() if one.fits), None)
    raised = f"max_oversubscription: {_ratio(choice)}"
    return f"{_change(choice, wider)}, or {raised}" if wider else raised


def _change(old: Choice, new: Choice) -> str:
    """Return how the intent's keys must change to get from one choice to another that its limit allows."""
    parts = [f"per_spine: {new.per_spine}"] if new.per_spine != old.per_spine else []
    parts += [
        f"{_SLOTS_KEYS[after.role]}: {after.slots}"
        for before, after in ((old.spines, new.spines), (old.leaves, new.leaves))
        if after.slots != before.slots
    ]
    parts += [f"max_oversubscription: {_ratio(new)}"] if new.oversubscribed else []
    return " and ".join(parts)


def _ratio(choice: Choice) -> str:
    """Return the least limit, in hundredths, that allows a choice."""
    return f"{ceil(100 * choice.down_mbps / choice.up_mbps) / 100:g}"


def _plural(role: str) -> str:
    return {LEAF: "leaves", SPINE: "spines"}[role]


def _cables(switches: Boxes, choice: Choice, link: Cabling) -> Iterator[FabricCable]:
    each = choice.per_spine
    up = {leaf.id: choice.leaves.block(leaf.id, each) for leaf in switches.leaves}
    down = {spine.id: choice.spines.block(spine.id, each) for spine in switches.spines}
    for leaf in switches.leaves:
        for spine in switches.spines:
            for lower, upper in zip(down[spine.id], up[leaf.id], strict=True):
                yield FabricCable(lower=leaf, lower_port=Port(lower), upper=spine, upper_port=Port(upper), cabling=link)
