"""Ways to join the tiers: the intent's, and alternatives that make ports and rates suffice."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil

from nodrop.design.blocks import PeerPortBlocks
from nodrop.design.splits import split_ports
from nodrop.design.topology import GroupJoin, model_of
from nodrop.intent.topology import MOST_LINKS_PER_SWITCH_PAIR

_OVERSUBSCRIPTION_LIMIT_SCALE = 10**6
"""Limits have at most six decimals, so in millionths they compare exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinChoice:
    """How two groups are joined: by an intent, or by an alternative to it."""

    join: GroupJoin
    links: int
    """Between two switches."""
    uppers: PeerPortBlocks
    """Of a lower switch."""
    lowers: PeerPortBlocks
    """Of an upper switch."""
    down_mbps: int
    """Bandwidth downwards of the lower switch that has most."""
    beside_mbps: int
    """Bandwidth of a lower switch to higher groups by other joins."""

    @classmethod
    def of(cls, join: GroupJoin, down_mbps: int, beside_mbps: int = 0) -> "JoinChoice":
        """Return the choice of an intent."""
        lower, upper = join.lower, join.upper
        return cls(
            join=join,
            links=join.links,
            uppers=PeerPortBlocks(
                role=upper.name,
                ids=_sorted_distinct(map(join.upper_position, upper.wanted.ids)),
                ports=split_ports(join.lower_ports, join.split),
                slots=join.upper_slots,
            ),
            lowers=PeerPortBlocks(
                role=lower.name,
                ids=_sorted_distinct(map(join.lower_position, lower.wanted.ids)),
                ports=split_ports(join.upper_panels(model_of(upper)), join.upper_split_factor),
                slots=join.lower_slots,
            ),
            down_mbps=down_mbps,
            beside_mbps=beside_mbps,
        )

    @property
    def speed_mbps(self) -> int:
        """Speed of each link."""
        return self.join.wanted.speed

    @property
    def oversubscription_limit(self) -> float:
        """Oversubscription, at most."""
        return self.join.lower.limit

    @property
    def up_mbps(self) -> int:
        """Bandwidth of a lower switch to all upper ones, where pods differ of one in the pod with the fewest."""
        return self.links * self.join.fewest_uppers * self.speed_mbps + self.beside_mbps

    @property
    def has_ports_for_all_peers(self) -> bool:
        """Whether every peer gets its ports and nobody else's."""
        return not any(peers.explain_clash(self.links) for peers in (self.uppers, self.lowers))

    @property
    def exceeds_ratio(self) -> bool:
        """Whether some lower switch has more bandwidth downwards than the limit allows."""
        return self.down_mbps * _OVERSUBSCRIPTION_LIMIT_SCALE > self.up_mbps * round(
            self.oversubscription_limit * _OVERSUBSCRIPTION_LIMIT_SCALE
        )

    def with_even_ports(self, *, uppers: bool = False, lowers: bool = False) -> "JoinChoice":
        """Return this with the ports for the peers above, or below, shared out evenly."""
        return replace(
            self,
            uppers=replace(self.uppers, slots=_default_slot_count(self.uppers.ids)) if uppers else self.uppers,
            lowers=replace(self.lowers, slots=_default_slot_count(self.lowers.ids)) if lowers else self.lowers,
        )

    def with_ports_for_all_peers(self) -> "JoinChoice | None":
        """Return the smallest change of the assignment of ports that gives all peers theirs; None if there is none."""
        ends = ((False, False), (True, False), (False, True), (True, True))
        choices = (self.with_even_ports(uppers=uppers, lowers=lowers) for uppers, lowers in ends)
        return next((choice for choice in choices if choice.has_ports_for_all_peers), None)


def _default_slot_count(ids: tuple[int, ...]) -> int:
    """Return among how many peers ports are shared out evenly: as many as there are if ids then have separate slots."""
    count = len(ids)
    return count if len({number % count for number in ids}) == count else max(ids)


def _sorted_distinct(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(numbers)))


def suggest_port_changes(choice: JoinChoice) -> str:
    """Return changes that make the ports suffice: other ports, fewer links, or both; empty if there are none."""
    same = choice.with_ports_for_all_peers()
    fewer = [replace(choice, links=links) for links in range(choice.links - 1, 0, -1)]
    plain = next((option for option in fewer if option.has_ports_for_all_peers), None)
    both_choice = next((option for less in fewer if (option := less.with_ports_for_all_peers())), None)
    choices = [option for option in (same, plain) if option] or [option for option in (both_choice,) if option]
    return ", or ".join(_describe_key_changes(choice, option) for option in choices)


def suggest_oversubscription_fixes(choice: JoinChoice) -> str:
    """Return changes that end the oversubscription of all leaves: more links, or a higher limit."""
    further_choices = (
        replace(choice, links=links) for links in range(choice.links + 1, MOST_LINKS_PER_SWITCH_PAIR + 1)
    )
    wider = next(
        (fit for wide in further_choices if not wide.exceeds_ratio and (fit := wide.with_ports_for_all_peers())), None
    )
    raised = f"max_oversubscription: {_format_oversubscription_limit(choice)}"
    return f"{_describe_key_changes(choice, wider)}, or {raised}" if wider else raised


def _describe_key_changes(old: JoinChoice, new: JoinChoice) -> str:
    """Return how the intent's keys must change to get from one choice to another that its limit allows."""
    key_changes = [f"{old.join.words.links}: {new.links}"] if new.links != old.links else []
    key_changes += format_slot_settings(new) if (new.uppers, new.lowers) != (old.uppers, old.lowers) else []
    key_changes += [f"max_oversubscription: {_format_oversubscription_limit(new)}"] if new.exceeds_ratio else []
    return " and ".join(key_changes)


def format_slot_settings(choice: JoinChoice) -> list[str]:
    """Return the keys of an intent that share out ports evenly."""
    words = choice.join.words
    slots = ((words.upper_slots, choice.uppers.slots), (words.lower_slots, choice.lowers.slots))
    return [f"{key}: {count}" for key, count in slots if count is not None]


def _format_oversubscription_limit(choice: JoinChoice) -> str:
    """Return the least limit, in hundredths, that allows a choice."""
    return f"{ceil(100 * choice.down_mbps / choice.up_mbps) / 100:g}"
