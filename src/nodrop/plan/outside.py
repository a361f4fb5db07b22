"""What files of a switch set that is no fact of the model, where it changes: by table or part, never with values."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Literal

from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.model.compare import differences
from nodrop.model.fabric import Device
from nodrop.model.reading import DeviceReading, Reading, Source
from nodrop.plan.effects import bundle, once, shape_of
from nodrop.plan.model import DeviceChange, Effect, Outside, worst
from nodrop.plan.telling import Make, make_of
from nodrop.platforms.editing import sources
from nodrop.platforms.settings import Difference, Opened, Path

_UNKNOWN = "no model of nodrop has it, and no table says what the switch does with it"
_HIDDEN = "…"
Alike = tuple[str, Make, tuple[Difference, ...]]
"""What switches share of which the same is told: platform, make and what differs."""


def outside(old: Reading, new: Reading, found: Sequence[DeviceChange]) -> list[Outside]:
    """Return what changes in files beside the facts of the model, that of several switches once.

    Only files whose bytes differ are opened. Where facts of a switch change too, a setting is one of the model if the
    switch reads otherwise with it than without it; that is tried on the first switch of each shape of changes.
    """
    told: dict[Alike, list[str]] = {}
    known = Known(recabled=old.fabric.links != new.fabric.links)
    effects: dict[Alike, Mapping[Path, Effect]] = {}
    for device, change in staying(old, new, found):
        name, platform = device.name, device.platform
        if _same(old.sources.get(name, ()), new.sources.get(name, ())):
            continue
        files = [bundle(one, name) for one in (old, new)]
        if files[0] is None or files[1] is None:
            continue
        means = platforms.settings_of(platform)
        try:
            both = Opened(files[0], means), Opened(files[1], means)
        except InputProblems:
            continue
        every = tuple(both[0].differences(both[1]))
        beside = tuple(known.beside(change, both, every))
        key = (platform, make_of(change), beside)
        if beside and key not in told:
            effects[key] = effects_of(change, files[0], files[1], beside)
        if beside:
            told.setdefault(key, []).append(name)
    return list(together(told, effects))


def staying(old: Reading, new: Reading, found: Sequence[DeviceChange]) -> Iterator[tuple[Device, DeviceChange]]:
    """Yield every old switch that stays and keeps its system, with its change: an empty one, where `found` lacks it."""
    changes = {one.name: one for one in found}
    after = {one.name: one for one in new.fabric.devices}
    for device in old.fabric.devices:
        name = device.name
        change = changes.get(name) or DeviceChange(name=name, kind="changed", old=device, new=after.get(name))
        if change.kind == "changed" and change.new is not None:
            yield device, change


def _same(old: Sequence[Source], new: Sequence[Source]) -> bool:
    """Whether files have the same bytes, as far as that is known without opening any."""
    if old is new:
        return True
    return [(one.name, one.digest, one.held) for one in old] == [(one.name, one.digest, one.held) for one in new]


class Known:
    """Which kinds of settings are of the model, on switches of a make whose changes have one shape."""

    def __init__(self, *, recabled: bool = False, by_facts: bool = False) -> None:
        """Take whether cables of the fabric change; and whether facts tell all of the model, whatever its words are."""
        self._recabled, self._by_facts = recabled, by_facts
        self._of_model: dict[tuple[object, Path], bool] = {}

    def beside(
        self, change: DeviceChange, both: tuple[Opened, Opened], every: Sequence[Difference]
    ) -> Iterator[Difference]:
        """Yield the differences that are no facts of the model.

        Of a switch of which no fact changes, all are; but for cables, where those of the fabric change. Where facts
        tell all of the model, what says the same in other words is of it, too, and cables are not.
        """
        assert change.old is not None
        if not (self._by_facts or change.parts or self._recabled):
            yield from every
            return
        kinds: dict[Path, set[Path]] = {}
        for one in every:
            kinds.setdefault(one.shape, set()).add(one.path)
        shape = shape_of(change)
        for kind, paths in kinds.items():
            if (shape, kind) not in self._of_model:
                found = _read_otherwise(change.old.platform, both, paths)
                cables = "cables" in found and not self._by_facts
                self._of_model[shape, kind] = cables or ("facts" in found and bool(change.parts or self._by_facts))
        yield from (one for one in every if not self._of_model[shape, one.shape])


def _read_otherwise(platform: str, both: tuple[Opened, Opened], paths: set[Path]) -> set[Literal["facts", "cables"]]:
    """Return what a switch reads otherwise with some settings of the other side, whichever side it is."""
    found: set[Literal["facts", "cables"]] = set()
    for one, other in (both, both[::-1]):
        was, now = (_read(platform, files) for files in (one.bundle, one.taking(other, paths)))
        if next(differences(was.device, now.device, whole_lists=True), None) is not None:
            found.add("facts")
        if was.cables != now.cables:
            found.add("cables")
    return found


def _read(platform: str, files: Mapping[str, bytes]) -> DeviceReading:
    return platforms.reader(platform).read("", sources(files))


def effects_of(
    change: DeviceChange, old: Mapping[str, bytes], new: Mapping[str, bytes], beside: Sequence[Difference]
) -> Mapping[Path, Effect]:
    """Return what the platform's own tool does to the switch for each part; unknown where no table says."""
    assert change.old is not None
    platform = change.old.platform
    between = platforms.between(platform)
    try:
        edit = between(old, new, name=change.name) if between is not None else None
    except InputProblems:
        edit = None
    found: dict[Path, Effect] = {}
    for head, _ in groupby(beside, partial(head_of, platform)):
        words = list(head[1:])
        steps = [one for one in edit.steps if one.path.split("/")[1:][: len(words)] == words] if edit else []
        disturbing = [one for one in steps if one.disruption != "none"]
        if disturbing:
            reasons = once([one.reason for one in disturbing])
            found[head] = Effect(risk=worst(one.disruption for one in disturbing), reasons=reasons)
        else:
            found[head] = Effect(risk="unknown", reasons=(_UNKNOWN,), means="patch" if steps else "unknown")
    return found


def head_of(platform: str, one: Difference) -> Path:
    """Return the file and the table, or part of the configuration, that a difference is in."""
    means = platforms.settings_of(platform)
    return one.path[: 1 + means.HEAD] if means is not None and not one.line else one.path[:1]


def together(told: Mapping[Alike, Sequence[str]], effects: Mapping[Alike, Mapping[Path, Effect]]) -> Iterator[Outside]:
    """Yield each part of files once, with all switches on which the same of it changes and does the same."""
    found: dict[tuple[Path, tuple[Difference, ...], Effect], list[str]] = {}
    for key, names in told.items():
        platform, _, beside = key
        for head, inside in groupby(beside, partial(head_of, platform)):
            keys = tuple(shown(platform, one) for one in inside)
            at = shown(platform, Difference(head, "changed")).path
            found.setdefault((at, keys, effects[key][head]), []).extend(names)
    for (head, keys, effect), names in found.items():
        yield Outside(devices=tuple(names), at=head, keys=keys, effect=effect)


def shown(platform: str, one: Difference) -> Difference:
    """Return a difference without the words of its path that are secrets."""
    means = platforms.settings_of(platform)
    words = one.path[1:]
    hidden = (_HIDDEN if means is not None and means.secret(words, at) else word for at, word in enumerate(words))
    return one._replace(path=(one.path[0], *hidden))
