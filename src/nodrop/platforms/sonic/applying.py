"""States of a running switch while the Generic Config Updater applies a patch: it sorts the steps again.

The order is that of sonic-utilities generic_config_updater/patch_sorter.py (SortAlgorithmFactory, MoveWrapper): rows
go, rows come, then fields go, change and come. Changes that need ports shut are done last, and the ports stay shut
meanwhile (RequiredValueMoveValidator), so the states between meet no traffic.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from nodrop.model.change import EditResult, PatchStep
from nodrop.platforms.sonic.config import CONFIG_DB_FILE
from nodrop.platforms.sonic.gcu import gcu_facts
from nodrop.platforms.sonic.patch import split_path
from nodrop.syntax.json import parse_json_text
from nodrop.syntax.shapes import get_or_make_mapping, mapping_or_empty

_ROW_PATH_LENGTH = 2
_STEP_RANK_BY_OPERATION = {
    ("remove", True): 0,
    ("add", True): 1,
    ("remove", False): 2,
    ("replace", False): 3,
    ("add", False): 4,
}
"""By what is done, and whether to a table or row."""


def states_during_edit(
    config_files: Mapping[str, bytes], edit: EditResult
) -> Iterator[tuple[str, Mapping[str, bytes]]]:
    """Yield the last step, and the files after it; the last state, with all of the edit, is left out.

    A patch that is refused is not applied at all: the file is loaded whole. Commands, and steps by hand, come
    after a patch.
    """
    if CONFIG_DB_FILE not in edit.files or edit.disruption == "refused":
        return
    tables = dict(mapping_or_empty(parse_json_text(config_files[CONFIG_DB_FILE], CONFIG_DB_FILE)))
    groups = list(_named_step_groups(edit.steps))
    for at, (state_label, steps) in enumerate(groups):
        for step in steps:
            _apply_step(tables, step)
        if at < len(groups) - 1:
            yield state_label, {**config_files, CONFIG_DB_FILE: json.dumps(tables).encode()}
    if edit.by_hand:
        yield "the patch, before what is done by hand", {**config_files, **edit.files}


def _named_step_groups(steps: Sequence[PatchStep]) -> Iterator[tuple[str, list[PatchStep]]]:
    """Yield (name, steps) of the groups of steps that are made together, in order."""
    found_steps: dict[tuple[int, str], list[PatchStep]] = {}
    for step in steps:
        table, *below = split_path(step.path)
        if step.command:
            key = len(_STEP_RANK_BY_OPERATION) + 1, step.command
        elif table in gcu_facts()["shut_for"]:
            key = len(_STEP_RANK_BY_OPERATION), "what ports are shut for"
        else:
            key = (
                _STEP_RANK_BY_OPERATION.get(
                    (step.op, len(below) < _ROW_PATH_LENGTH), _STEP_RANK_BY_OPERATION["replace", False]
                ),
                f"{table} ({step.op})",
            )
        found_steps.setdefault(key, []).append(step)
    for key in sorted(found_steps, key=lambda key: key[0]):
        yield key[1], found_steps[key]


def _apply_step(tables: dict[str, object], step: PatchStep) -> None:
    *above, last = split_path(step.path)
    inside = get_or_make_mapping(tables, *above)
    if step.op == "remove":
        inside.pop(last, None)
    else:
        inside[last] = step.value
