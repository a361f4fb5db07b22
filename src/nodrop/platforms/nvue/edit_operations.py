"""Single settings to make or remove, combined to operations on lists and ranges."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from nodrop.platforms.nvue.names import PARENTS_OF_INTERFACE_KEYS, PARENTS_OF_NUMBER_KEYS
from nodrop.platforms.nvue.tree import Path

MultiKeyPath = tuple[tuple[str, ...], ...]
"""A path with several single keys at each step."""
PRESENT_WITHOUT_VALUE = ""
"""The value of a setting that is there and no more."""


@dataclass(frozen=True, slots=True)
class SetOrUnsetOperation:
    """A value for all paths of some steps; None takes them away."""

    steps: MultiKeyPath
    value: str | None

    @property
    def paths(self) -> Iterator[Path]:
        """The paths of single keys."""
        return product(*self.steps)


def combine_operations(
    values: Mapping[Path, str] | Mapping[Path, None] | Iterable[tuple[Path, str | None]],
) -> list[SetOrUnsetOperation]:
    """Return settings as operations: interfaces, and numbers, with the same setting together."""
    pairs = values.items() if isinstance(values, Mapping) else values
    items: list[tuple[MultiKeyPath, str | None]] = [(tuple((step,) for step in path), value) for path, value in pairs]
    for place in range(max((len(steps) for steps, _ in items), default=0) - 1, 0, -1):
        keys_by_setting: dict[tuple[MultiKeyPath, MultiKeyPath | None, str | None], list[str]] = {}
        for steps, value in items:
            if place < len(steps) and _may_list_name(steps[place - 1][0], steps[place][0]):
                keys_by_setting.setdefault((steps[:place], steps[place + 1 :], value), []).extend(steps[place])
            else:
                keys_by_setting[steps, None, value] = []
        items = [
            (before if behind is None else (*before, tuple(singles), *behind), value)
            for (before, behind, value), singles in keys_by_setting.items()
        ]
    return [SetOrUnsetOperation(steps, value) for steps, value in items]


def _may_list_name(parent: str, name: str) -> bool:
    """Whether commands may list a name below `parent` with others; no document shows lists of addresses."""
    if parent in PARENTS_OF_NUMBER_KEYS:
        return True
    return parent in PARENTS_OF_INTERFACE_KEYS and not name[:1].isdigit() and ":" not in name
