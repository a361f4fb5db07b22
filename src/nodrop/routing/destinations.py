"""The destinations of a fabric: announced prefixes, and the classes of those that no router can distinguish."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property

from nodrop.model.addresses import ADDRESS_BITS, AddressFamily
from nodrop.model.routing import PrefixList, PrefixRule
from nodrop.routing.prefixes import Prefix, parse_prefix

PrefixListRules = tuple[PrefixRule, ...]
"""A prefix list without its name."""


class DestinationClasses:
    """The prefixes of one family that routers originate, in classes.

    `origins` gives the origins of each prefix. Prefixes are one class if the same routers originate them in the same
    way, as long as the same port works, and every one of `lists` permits all of them or none: no policy distinguishes
    them.
    """

    def __init__(
        self, family: AddressFamily, origins: Mapping[Prefix, tuple[object, ...]], lists: Iterable[PrefixListRules]
    ) -> None:
        self.family = family
        self.prefixes = tuple(sorted(origins))
        self._position = {own_prefix: number for number, own_prefix in enumerate(self.prefixes)}
        self._firsts = [own_prefix.first for own_prefix in self.prefixes]
        permitted: defaultdict[int, list[int]] = defaultdict(list)
        chosen: dict[PrefixListRules, frozenset[int]] = {}
        for shape in lists:
            if shape not in chosen:
                chosen[shape] = frozenset(self._permitted_prefix_positions(shape))
                for position in chosen[shape]:
                    permitted[position].append(len(chosen))
        classes: dict[tuple[object, ...], int] = {}
        self.class_of: dict[Prefix, int] = {}
        for position, announced_prefix in enumerate(self.prefixes):
            key = (origins[announced_prefix], tuple(permitted[position]))
            self.class_of[announced_prefix] = classes.setdefault(key, len(classes))
        self.count = len(classes)
        self._bits = {
            shape: self.class_bits_of_prefixes(self.prefixes[n] for n in positions)
            for shape, positions in chosen.items()
        }

    def class_bits_of_prefixes(self, prefixes: Iterable[Prefix]) -> int:
        """Return the set of the classes of some prefixes."""
        numbers = {self.class_of[own_prefix] for own_prefix in prefixes if own_prefix in self.class_of}
        if not numbers:
            return 0
        bitmap = bytearray(max(numbers) // 8 + 1)
        for number in numbers:
            bitmap[number >> 3] |= 1 << (number & 7)
        return int.from_bytes(bitmap, "little")

    def bits_permitted_by(self, shape: PrefixListRules) -> int:
        """Return the set of the classes that a prefix list permits."""
        return self._bits[shape]

    @cached_property
    def prefixes_by_class(self) -> tuple[tuple[Prefix, ...], ...]:
        """The prefixes of each class."""
        prefixes_by_class: list[list[Prefix]] = [[] for _ in range(self.count)]
        for own_prefix in self.prefixes:
            prefixes_by_class[self.class_of[own_prefix]].append(own_prefix)
        return tuple(map(tuple, prefixes_by_class))

    def _permitted_prefix_positions(self, rules: PrefixListRules) -> Iterable[int]:
        """Yield the positions of the prefixes that a list permits: the first rule that matches one decides."""
        decided: set[int] = set()
        for rule in sorted(rules, key=lambda prefix_rule: prefix_rule.sequence):
            for position in self._matching_prefix_positions(rule):
                if position not in decided:
                    decided.add(position)
                    if rule.action == "permit":
                        yield position

    def _matching_prefix_positions(self, rule: PrefixRule) -> Iterable[int]:
        """Return the positions of the prefixes that a rule is for; `any` is 0.0.0.0/0 le 32 (FRR, lib/filter_nb.c)."""
        block = _prefix_of_rule(rule, self.family)
        if block is None or block.family != self.family:
            return ()
        exact = rule.ge is None and rule.prefix != "any"
        least = block.length if rule.ge is None else rule.ge
        most = rule.le if rule.le is not None else block.length if exact else ADDRESS_BITS[self.family]
        if least == most == block.length:
            position = self._position.get(block)
            return () if position is None else (position,)
        start = bisect_left(self._firsts, block.first)
        end = bisect_left(self._firsts, block.first + (1 << (ADDRESS_BITS[self.family] - block.length)))
        return [n for n in range(start, end) if least <= self.prefixes[n].length <= most]


def _prefix_of_rule(rule: PrefixRule, family: AddressFamily) -> Prefix | None:
    return Prefix(family, 0, 0) if rule.prefix == "any" else parse_prefix(rule.prefix)


def is_prefix_permitted(listed: PrefixList, tested_prefix: Prefix) -> bool:
    """Whether a prefix list lets a prefix pass."""
    return bool(
        DestinationClasses(tested_prefix.family, {tested_prefix: ()}, [listed.rules]).bits_permitted_by(listed.rules)
    )


def rules_without_name(listed: PrefixList) -> PrefixListRules:
    """Return a prefix list without its name, which is compared by its rules."""
    return listed.rules
