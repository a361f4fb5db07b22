"""Ways to join the tiers: the intent's, and alternatives that make ports and rates suffice."""

from dataclasses import dataclass, replace
from math import ceil

from nodrop.design.blocks import Peers
from nodrop.design.boxes import LEAF, SPINE, Boxes
from nodrop.design.splits import spine_panels, spine_split_factor, split_ports
from nodrop.intent.schema import MOST_PER_SPINE, Intent

_SLOTS_KEYS = {SPINE: "spine_slots", LEAF: "leaf_slots"}
_PARTS = 10**6
"""Limits have at most six decimals, so in millionths they compare exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """How the tiers are joined: by an intent, or by an alternative to it."""

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
        """Return the choice of an intent."""
        topology, uplinks = intent.topology, intent.topology.uplinks
        of_leaf = split_ports(topology.leaves.ports.uplinks, uplinks.split)
        of_spine = split_ports(spine_panels(intent, switches.spines[0].model), spine_split_factor(intent))
        return cls(
            per_spine=uplinks.per_spine,
            spines=Peers(role=SPINE, ids=topology.spines.ids, ports=of_leaf, slots=uplinks.spine_slots),
            leaves=Peers(role=LEAF, ids=topology.leaves.ids, ports=of_spine, slots=uplinks.leaf_slots),
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
        return not any(peers.explain_clash(self.per_spine) for peers in (self.spines, self.leaves))

    @property
    def exceeds_ratio(self) -> bool:
        """Whether some leaf has more bandwidth to hosts than the limit allows."""
        return self.down_mbps * _PARTS > self.up_mbps * round(self.limit * _PARTS)

    def with_even_ports(self, *roles: str) -> "Choice":
        """Return this with the ports for the peers of these roles shared out evenly."""
        spines, leaves = (
            replace(peers, slots=max(peers.ids)) if peers.role in roles else peers
            for peers in (self.spines, self.leaves)
        )
        return replace(self, spines=spines, leaves=leaves)

    def with_ports(self) -> "Choice | None":
        """Return the smallest change of the assignment of ports that gives all peers theirs; None if there is none."""
        choices = (self.with_even_ports(*roles) for roles in ((), (SPINE,), (LEAF,), (SPINE, LEAF)))
        return next((choice for choice in choices if choice.fits), None)


def ways_to_fit(choice: Choice) -> str:
    """Return changes that make the ports suffice: other ports, fewer links, or both; empty if there are none."""
    same = choice.with_ports()
    fewer = [replace(choice, per_spine=links) for links in range(choice.per_spine - 1, 0, -1)]
    plain = next((option for option in fewer if option.fits), None)
    both_choice = next((option for less in fewer if (option := less.with_ports())), None)
    choices = [option for option in (same, plain) if option] or [option for option in (both_choice,) if option]
    return ", or ".join(_describe_key_changes(choice, option) for option in choices)


def ways_to_widen(choice: Choice) -> str:
    """Return changes that end the oversubscription of all leaves: more links, or a higher limit."""
    further_choices = (replace(choice, per_spine=links) for links in range(choice.per_spine + 1, MOST_PER_SPINE + 1))
    wider = next((fit for wide in further_choices if not wide.exceeds_ratio and (fit := wide.with_ports())), None)
    raised = f"max_oversubscription: {_format_ratio(choice)}"
    return f"{_describe_key_changes(choice, wider)}, or {raised}" if wider else raised


def _describe_key_changes(old: Choice, new: Choice) -> str:
    """Return how the intent's keys must change to get from one choice to another that its limit allows."""
    key_changes = [f"per_spine: {new.per_spine}"] if new.per_spine != old.per_spine else []
    key_changes += slots_keys(new) if (new.spines, new.leaves) != (old.spines, old.leaves) else []
    key_changes += [f"max_oversubscription: {_format_ratio(new)}"] if new.exceeds_ratio else []
    return " and ".join(key_changes)


def slots_keys(choice: Choice) -> list[str]:
    """Return the keys of an intent that share out ports evenly."""
    peers = (choice.spines, choice.leaves)
    return [f"{_SLOTS_KEYS[peer.role]}: {peer.slots}" for peer in peers if peer.slots is not None]


def _format_ratio(choice: Choice) -> str:
    """Return the least limit, in hundredths, that allows a choice."""
    return f"{ceil(100 * choice.down_mbps / choice.up_mbps) / 100:g}"
