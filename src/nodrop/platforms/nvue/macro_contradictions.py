"""Settings beside the macro `qos roce` that contradict its mode, and how to end each contradiction.

A fabric that is stated to have PFC determines the mode, and that PFC is on. The memory of a lossless pool that does not
exist in mode lossless is that of the pool which does. All else is the owner's choice.

Sources: Cumulus Linux 5.16, Quality of Service (traffic pools: one of the lossless ones), RDMA over Converged Ethernet
(the modes).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nodrop.model.change import FILE_SETTING_AREA, CommandsForCase
from nodrop.model.fabric import Mode
from nodrop.model.reading import FileCorrection, Remedy
from nodrop.platforms.kit.command_lines import is_typable
from nodrop.platforms.nvue.edit_operations import SetOrUnsetOperation
from nodrop.platforms.nvue.edit_script import format_command
from nodrop.platforms.nvue.read_qos import GLOBAL_PROFILE
from nodrop.platforms.nvue.read_values import ConfigNodeView
from nodrop.platforms.nvue.tree import Path

_MODES_WITH_PFC: tuple[Mode, ...] = ("lossless", "pfc-only")
_IF_LOSSLESS, _IF_LOSSY = "if RDMA is to be lossless", "if RDMA is to be lossy"
_MODE_PATH = ("qos", "roce", "mode")
_PFC_PATH = ("qos", "pfc", GLOBAL_PROFILE)
_POOL_PATHS = {name: ("qos", "traffic-pool", name, "memory-percent") for name in ("default-lossless", "roce-lossless")}
_ON_WORD_BY_OFF_WORD = {"disable": "enable", "disabled": "enabled"}

_Setting = tuple[Path, str | None, str | None]
"""A path, the value there, and the value that it is to have."""


@dataclass(frozen=True, slots=True)
class RoceModeContradiction:
    """A setting below `qos`, why the mode contradicts it, and what ends that."""

    path: Path
    reason: str
    remedy: Remedy


def mode_contradictions(qos: ConfigNodeView, mode: str) -> Iterator[RoceModeContradiction]:
    """Yield the settings that contradict a mode of the macro."""
    to_lossless: _Setting = (_MODE_PATH, qos.below("roce").text("mode"), "lossless")
    pfc = qos.below("pfc", GLOBAL_PROFILE)
    words = {direction: pfc.text(direction) for direction in ("tx", "rx")}
    pauses = any(word not in _ON_WORD_BY_OFF_WORD for word in words.values())
    if mode.startswith("lossy") and pfc.texts("switch-priority") and pauses:
        path = (*_PFC_PATH, "switch-priority")
        reason = f"mode {mode} is one without PFC"
        yield RoceModeContradiction(path[1:], reason, _mode_remedy([to_lossless], [(path, "", None)]))
    elif mode == "lossy" and pfc:
        reason = "mode lossy is refused as long as there is the profile"
        yield RoceModeContradiction(_PFC_PATH[1:], reason, _mode_remedy([to_lossless], [(_PFC_PATH, "", None)]))
    if mode.startswith("lossless") and not pauses:
        enable = [((*_PFC_PATH, key), word, _ON_WORD_BY_OFF_WORD[word]) for key, word in words.items() if word]
        make_lossy: list[_Setting] = [(_PFC_PATH, "", None), (_MODE_PATH, mode, "lossy")]
        reason = f"mode {mode} is one with PFC, and neither direction is left"
        yield RoceModeContradiction((*_PFC_PATH[1:], "tx"), reason, _mode_remedy(enable, make_lossy))
    if qos.below("traffic-pool", "default-lossless").has("memory-percent"):
        pool = "roce-lossless" if mode == "lossless" else "none"
        reason = f"in mode {mode} the lossless pool is {pool}"
        yield RoceModeContradiction(("traffic-pool", "default-lossless"), reason, _pool_remedy(qos, mode, to_lossless))


def _pool_remedy(qos: ConfigNodeView, mode: str, to_lossless: _Setting) -> Remedy:
    """Return what ends that the lossless pool of the explicit form has memory beside the macro."""
    percents = {name: qos.below("traffic-pool", name).text("memory-percent") for name in _POOL_PATHS}
    own_percent, macro_percent = percents["default-lossless"], percents["roce-lossless"]
    remove: _Setting = (_POOL_PATHS["default-lossless"], own_percent, None)
    move: list[_Setting] = [remove, (_POOL_PATHS["roce-lossless"], macro_percent, own_percent)]
    if mode != "lossless":
        return _mode_remedy([to_lossless, *move], [remove], "" if mode.startswith("lossy") else "if one pool is meant")
    if macro_percent is None:
        return Remedy(corrections=_corrections(move))
    return choices_for_single_lossless_pool(qos, "roce-lossless")


def choices_for_single_lossless_pool(qos: ConfigNodeView, kept: str) -> Remedy:
    """Return the choices that leave memory to one lossless pool of two, with the share of one or the other."""
    (gone,) = _POOL_PATHS.keys() - {kept}
    kept_percent, gone_percent = (qos.below("traffic-pool", name).text("memory-percent") for name in (kept, gone))
    remove: _Setting = (_POOL_PATHS[gone], gone_percent, None)
    cases = {f"if {kept_percent} % are meant": [remove]}
    if gone_percent != kept_percent:
        cases[f"if {gone_percent} % are meant"] = [remove, (_POOL_PATHS[kept], kept_percent, gone_percent)]
    return Remedy(choices=tuple(_commands_for_each_case(cases.items())))


def _mode_remedy(with_pfc: Sequence[_Setting], without_pfc: Sequence[_Setting], condition: str = "") -> Remedy:
    """Return settings for a fabric with PFC as corrections, and as a choice beside those for one without."""
    cases = {_IF_LOSSLESS if not condition else "if two pools are meant": with_pfc, condition or _IF_LOSSY: without_pfc}
    return Remedy(
        corrections=() if condition else _corrections(with_pfc),
        choices=tuple(_commands_for_each_case(cases.items())),
        modes=() if condition else _MODES_WITH_PFC,
    )


def _corrections(settings: Iterable[_Setting]) -> tuple[FileCorrection, ...]:
    return tuple(FileCorrection((FILE_SETTING_AREA, *path), old, new) for path, old, new in settings)


def _commands_for_each_case(cases: Iterable[tuple[str, Sequence[_Setting]]]) -> Iterator[CommandsForCase]:
    for condition, settings in cases:
        if all(new is None or is_typable(new) for _, _, new in settings):
            operations = (SetOrUnsetOperation(tuple((step,) for step in path), new) for path, _, new in settings)
            yield CommandsForCase(condition=condition, language="nvue", lines=tuple(map(format_command, operations)))
