"""What running files set otherwise than is wanted, and no fact of the model tells; by table or part, never with values.

Settings alone are compared: the lines of a file, such as FRR's, a switch shows in another order and with defaults.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nodrop import platforms
from nodrop.errors import InputProblems
from nodrop.model.reading import Reading
from nodrop.plan.effects import bundle
from nodrop.plan.model import DeviceChange, Effect, Outside
from nodrop.plan.outside import Alike, Head, Known, effects_of, head_of, shown, staying, together
from nodrop.plan.telling import make_of
from nodrop.platforms.adding import own_setting, writes
from nodrop.platforms.settings import Difference, Opened, Path, Settings


def outside_drift(
    running: Reading, wanted: Reading, found: Sequence[DeviceChange]
) -> tuple[list[Outside], list[Outside]]:
    """Return what drifts beside the facts of the model, and what switches wrote there by themselves.

    What is wanted was said, and is drift wherever it does not run. What runs alone is drift unless the platform's table
    has it. What the model reads is told by its facts, and no drift where those are equal: the same in other words.
    """
    known = Known(by_facts=True)
    drifting: dict[Alike, list[str]] = {}
    mine: dict[Alike, list[str]] = {}
    effects: dict[Alike, Mapping[Head, Effect]] = {}
    for device, change in staying(running, wanted, found):
        name, platform = device.name, device.platform
        both = opened(platform, bundle(running, name), bundle(wanted, name))
        if both is None:
            continue
        differing, own = _apart(platform, both)
        beside = tuple(known.beside(change, both, differing))
        key = (platform, make_of(change), beside)
        if beside:
            if key not in drifting:
                then = both[0].taking(both[1], {one.path for one in beside})
                effects[key] = effects_of(change, both[0].bundle, then, beside)
            drifting.setdefault(key, []).append(name)
        if own:
            mine.setdefault((platform, make_of(change), own), []).append(name)
    unharmed = {key: {(head_of(key[0], one), ""): Effect() for one in key[2]} for key in mine}
    return list(together(drifting, effects)), list(together(mine, unharmed))


def opened(
    platform: str, running: Mapping[str, bytes] | None, wanted: Mapping[str, bytes] | None
) -> tuple[Opened, Opened] | None:
    """Return both sides' files, each with all settings in one; None where they have none, or cannot be read."""
    means = platforms.settings_of(platform)
    if means is None or running is None or wanted is None:
        return None
    try:
        (shown_files, runs), (files, wants) = means.laid(running), means.laid(wanted)
        return Opened(shown_files, means, runs), Opened(files, means, wants)
    except InputProblems:
        return None


def settings_between(platform: str, both: tuple[Opened, Opened]) -> Iterator[Difference]:
    """Yield the settings that differ, without those that one side does not speak of, and secrets that both have."""
    means = platforms.settings_of(platform)
    if means is None:
        return
    for one in both[0].differences(both[1]):
        file, *words = one.path
        if not one.line and all(file in side.trees for side in both) and not _aside(means, one, both, tuple(words)):
            yield one


def with_outside(
    platform: str, running: Mapping[str, bytes], wanted: Mapping[str, bytes], told: Sequence[Outside]
) -> Mapping[str, bytes]:
    """Return running files with what is told of them as it is wanted, as far as they can be changed for that.

    What the software writes by itself, and runs otherwise, stays: without it, it would not be as it was.
    """
    means, both = platforms.settings_of(platform), opened(platform, running, wanted)
    if means is None or both is None:
        return running
    keys = {key for one in told for key in one.keys}
    differing = (one for one in _apart(platform, both)[0] if shown(platform, one) in keys)
    paths = {one.path for one in differing if one.kind != "removed" or not writes(platform, one.path[1:])}
    try:
        return Opened(running, means).taking(both[1], paths)
    except InputProblems:
        return running


def left_outside(
    platform: str, running: Mapping[str, bytes], wanted: Mapping[str, bytes], told: Sequence[Outside]
) -> Iterator[Path]:
    """Yield the settings that are told and still differ, the name of the file left out."""
    both = opened(platform, running, wanted)
    left = {shown(platform, one) for one in _apart(platform, both)[0]} if both is not None else set()
    for one in told:
        yield from (key.path[1:] for key in one.keys if both is None or key in left)


def _aside(means: Settings, one: Difference, both: tuple[Opened, Opened], words: Path) -> bool:
    trees = [side.trees[one.path[0]] for side in both]
    if one.kind == "changed":
        before, after = (_as_words(_at(tree, words)) for tree in trees)
        return before == after or means.masked(words)
    return not means.covers(trees[0 if one.kind == "added" else 1], words)


def _as_words(value: Any) -> Any:
    """Return a value as a word that has nothing below it, as commands say it."""
    return {value: {}} if isinstance(value, str) else value


def _apart(platform: str, both: tuple[Opened, Opened]) -> tuple[tuple[Difference, ...], tuple[Difference, ...]]:
    """Return what differs, and what the switch wrote by itself; rows that are both, setting by setting."""
    differing: list[Difference] = []
    own: list[Difference] = []
    for one in settings_between(platform, both):
        file, *words = one.path
        runs = None if one.kind == "added" else _at(both[0].trees[file], words)
        if one.kind == "removed":
            for path, mine in _parted(platform, tuple(words), runs):
                (own if mine else differing).append(one._replace(path=(file, *path)))
        elif one.kind == "changed" and own_setting(platform, tuple(words), runs, over=True):
            own.append(one)
        else:
            differing.append(one)
    return tuple(differing), tuple(own)


def _at(tree: Any, words: Sequence[str]) -> Any:
    for word in words:
        tree = tree[word]
    return tree


def _parted(platform: str, path: Path, value: Any) -> list[tuple[Path, bool]]:
    """Return what is set at a path and below, as high as all there is the switch's own, or nothing is; and which."""
    if not isinstance(value, dict) or not value:
        return [(path, own_setting(platform, path, value))]
    parts = [part for key, inside in value.items() for part in _parted(platform, (*path, key), inside)]
    kinds = {mine for _, mine in parts}
    return [(path, kinds.pop())] if len(kinds) == 1 else parts
