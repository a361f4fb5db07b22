"""Operations as steps, with the effect of each on a running switch, and in the forms that `nv` takes."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path as File
from typing import Any, cast

from nodrop.model.change import PatchStep
from nodrop.model.fabric import Device
from nodrop.model.states import Unknown
from nodrop.platforms.kit.artifact import FirstApplyDisruption
from nodrop.platforms.nvue.edit_document import join_single_keys, nodes_for_nv_config_patch
from nodrop.platforms.nvue.edit_draft import has_path
from nodrop.platforms.nvue.edit_operations import SetOrUnsetOperation
from nodrop.platforms.nvue.edit_script import format_command
from nodrop.platforms.nvue.names import expand_key
from nodrop.platforms.nvue.naming import nvue_port
from nodrop.platforms.nvue.releases import is_same_or_earlier
from nodrop.platforms.nvue.stages import quote_yaml, quote_yaml_key
from nodrop.platforms.nvue.tree import Node
from nodrop.syntax.yaml import parse_yaml
from nodrop.syntax.yaml_edit import dump_mappings

COMMANDS, PATCH = "changes.nv", "changes.yaml"
"""The same changes for a shell of the switch, and for `nv config patch`."""


@cache
def _read_edit_effects() -> Sequence[Mapping[str, Any]]:
    path = File(__file__).with_name("edit_effects.yaml")
    return cast("Sequence[Mapping[str, Any]]", parse_yaml(path.read_bytes(), path.name).data)


def settings_bouncing_ports(release: str) -> list[str]:
    """Return the settings whose change brings all ports of a switch down, `*` being any word."""
    return [path for effect in _effects_on_all_ports(release) for path in effect["paths"]]


def _effects_on_all_ports(release: str) -> Iterator[Mapping[str, Any]]:
    """Yield the effects on all ports of a switch of a release."""
    rows = (effect for effect in _read_edit_effects() if effect.get("ports") == "all")
    return (effect for effect in rows if is_same_or_earlier(release, effect.get("until", release)))


def first_apply_disruptions(device: Device) -> Iterator[FirstApplyDisruption]:
    """Yield the settings of a switch whose first apply brings all its ports down."""
    for effect in _effects_on_all_ports(str(device.version)):
        value = getattr(device, effect["field"])
        if value is not None and value is not False and not isinstance(value, Unknown):
            until = f" (up to {effect['until']})" if "until" in effect else ""
            yield FirstApplyDisruption(effect["field"].replace("_", " ") + until, effect["reason"], effect["source"])


def format_operations(operations: Sequence[SetOrUnsetOperation]) -> dict[str, str]:
    """Return operations, those that take away first, as lines of `nv` and as YAML."""
    lines = "".join(f"{format_command(operation)}\n" for operation in operations)
    return {COMMANDS: lines, PATCH: dump_mappings(nodes_for_nv_config_patch(operations), quote_yaml_key, quote_yaml)}


def split_into_steps(
    operations: Sequence[SetOrUnsetOperation], root: Node, device: Device, release: str
) -> Iterator[PatchStep]:
    """Yield operations on a switch that `root` is configured on, as steps."""
    for operation in operations:
        words = [
            join_single_keys(operation.steps[at - 1][0] if at else "", step) for at, step in enumerate(operation.steps)
        ]
        path = "".join("/" + word.replace("~", "~0").replace("/", "~1") for word in words)
        is_present = all(has_path(root, paths) for paths in operation.paths)
        step = PatchStep(
            op="remove" if operation.value is None else "replace" if is_present else "add",
            path=path,
            value=operation.value or {},
        )
        yield _assess_step(step, operation, device, release)


def _assess_step(step: PatchStep, operation: SetOrUnsetOperation, device: Device, release: str) -> PatchStep:
    shut = {port.name for port in device.interfaces if port.enabled is False}
    whole = {port.name for port in device.interfaces}
    for effect in _read_edit_effects():
        if not any(_pattern_matches_operation(path.split(" "), operation) for path in effect["paths"]):
            continue
        value, until = operation.value or "unset", effect.get("until")
        if value not in effect.get("values", [value]) or (until and not is_same_or_earlier(release, until)):
            continue
        if "there" in effect and step.op == "add":
            continue
        every = [port.name for port in device.interfaces if port.enabled is not False]
        names = [name for step in operation.steps[1:2] for key in step for name in expand_key("interface", key)]
        ports = (
            every
            if effect.get("ports") == "all" or not names
            else [name for name in names if name not in shut and not _is_part_of(name, whole)]
        )
        if "ports" in effect and not ports:
            continue
        return PatchStep(
            op=step.op,
            path=step.path,
            value=step.value,
            disruption=effect["disruption"],
            reason=effect["reason"],
            affected=tuple(ports if "ports" in effect else [effect["service"]]),
        )
    return step


def _is_part_of(name: str, whole_ports: Collection[str]) -> bool:
    """Whether a name is of a part of a port that is still whole: the part does not exist yet."""
    port = nvue_port(name)
    return port is not None and bool(port.part) and f"swp{port.port.panel}" in whole_ports


def _pattern_matches_operation(pattern: Sequence[str], operation: SetOrUnsetOperation) -> bool:
    """Whether an operation is on a setting, on a setting below it, or removes a part above it."""
    if operation.value is not None and len(pattern) > len(operation.steps):
        return False
    return all(word in ("*", step[0]) for word, step in zip(pattern, operation.steps, strict=False))
