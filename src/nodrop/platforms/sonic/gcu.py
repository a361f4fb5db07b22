"""Patches that the Generic Config Updater takes, and the effect of each step on a running switch; data in gcu.yaml."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

from nodrop import hardware
from nodrop.model.change import Disruption, PatchStep, worst_disruption
from nodrop.model.states import Unknown
from nodrop.platforms.sonic.patch import PatchTree, split_path
from nodrop.platforms.sonic.schema import schema_of_release
from nodrop.platforms.sonic.schema_check import TABLES_WITHOUT_MODEL
from nodrop.syntax.shapes import mapping_at, value_at
from nodrop.syntax.yaml import parse_yaml
from nodrop.units import parse_whole_number

_PORT_TABLE = "PORT"
_IGNORE_NON_YANG_COMMAND = "`config apply-patch --ignore-non-yang-tables`"


@cache
def gcu_facts() -> Mapping[str, Any]:
    """Return the content of gcu.yaml."""
    path = Path(__file__).with_name("gcu.yaml")
    return cast("Mapping[str, Any]", parse_yaml(path.read_bytes(), path.name).data)


@lru_cache(maxsize=256)
def chip_of(hwsku: str, release: str) -> str | None:
    """Return the chip that a release takes a HWSKU for; None where its lists do not have it."""
    name = hwsku.lower()
    for entry in gcu_facts()["chips"]:
        hwskus = [sku.lower() for sku in entry["hwskus"]]
        if _applies_to_release(entry, release) and (
            name in hwskus or ("part" in entry and any(sku in name for sku in hwskus))
        ):
            return str(entry["chip"])
    return None


def annotate_steps_with_effects(
    patch_steps: Iterable[PatchStep],
    old_tables: PatchTree,
    new_tables: PatchTree,
    version: object,
    *,
    was: Iterable[str] = (),
    will: Iterable[str] = (),
) -> Iterator[PatchStep]:
    """Yield the steps with the effect of each on the switch, or why it is refused there.

    `version` is the release; if that is not known, a step is refused that some release refuses. `was` and `will` are
    the kinds of faults that the YANG models refuse the old and the new configuration for: the updater takes no step of
    a patch from or to one that is not valid (patch_sorter.py, `sort`: "Given patch will produce invalid config").
    """
    known_facts = list(gcu_facts()["releases"])
    stated = "" if version is None or isinstance(version, Unknown) else str(version)
    releases = [stated] if stated in known_facts else known_facts
    given_steps = list(patch_steps)
    gone = [value_at(old_tables, *split_path(step.path)) for step in given_steps if step.op == "remove"]
    ends = [*will, *_lane_faults(new_tables)]
    judge = _PatchStepJudge(old_tables, new_tables, gone, [*was, *_lane_faults(old_tables)], ends)
    new_steps = list(_add_step_disruptions(given_steps, judge, releases))
    yield from new_steps if ends else _replace_refused_steps_by_commands(new_steps, old_tables, releases)


def _add_step_disruptions(
    steps: Iterable[PatchStep], judge: "_PatchStepJudge", releases: Sequence[str]
) -> Iterator[PatchStep]:
    for step in steps:
        why = [text for release in releases if (text := judge.reason_for_refusal(step, release))]
        if why and len(why) < len(releases):
            reason = f"not every release takes it, and the file names none: {why[0]}"
            yield replace(step, disruption="refused", reason=reason)
        elif why:
            yield replace(step, disruption="refused", reason=why[0])
        else:
            yield judge.note_kept_map(judge.note_stale_headroom(judge.step_with_effect(step), releases))


def _lane_faults(tables: PatchTree) -> Iterator[str]:
    """Yield the faults in lanes that the updater itself finds: a lane that is not a number, and a lane of two ports."""
    stated = (value_at(row, "lanes") for row in mapping_at(tables, _PORT_TABLE).values())
    not_numbers, twice = _faults_of_lanes(tuple(lanes for lanes in stated if isinstance(lanes, str)))
    if not_numbers:
        yield "a lane that is no number"
    if twice and value_at(tables, "DEVICE_METADATA", "localhost", "platform") not in gcu_facts()["shared_lanes"]:
        yield "a lane of two ports"


@lru_cache(maxsize=8)
def _faults_of_lanes(lanes_of_ports: tuple[str, ...]) -> tuple[bool, bool]:
    """Return whether a lane is no number, and whether two ports have one; the same before and after most patches."""
    lanes = [lane.strip() for lanes in lanes_of_ports for lane in lanes.split(",")]
    return not all(lane.isdigit() for lane in lanes), len(set(lanes)) < len(lanes)


def _replace_refused_steps_by_commands(
    steps: Sequence[PatchStep], old: PatchTree, releases: Sequence[str]
) -> Iterator[PatchStep]:
    """Yield the steps; those in rows with a refused step have the command that makes them instead, if there is one."""
    rows: dict[tuple[str, str], list[PatchStep]] = {}
    for step in steps:
        table, row, *_ = (*split_path(step.path), "")
        if row in mapping_at(old, table) and _has_command(step, releases):
            rows.setdefault((table, row), []).append(step)
    typed: dict[str, PatchStep] = {}
    for (table, row), own_rows in rows.items():
        refused = [step for step in own_rows if step.disruption == "refused"]
        if refused:
            tool = gcu_facts()["typed"][table]
            fields = [(tool["options"][split_path(step.path)[2]], str(step.value)) for step in own_rows]
            command = shlex.join((*tool["command"].split(), row, *(word for pair in fields for word in pair)))
            reason = refused[0].reason.partition("; instead")[0]
            typed |= {step.path: replace(step, disruption="none", reason=reason, command=command) for step in own_rows}
    yield from (typed.get(step.path, step) for step in steps)


def _has_command(step: PatchStep, releases: Sequence[str]) -> bool:
    """Whether a command makes the change of a step."""
    table, _, field, *sub_path = (*split_path(step.path), "", "")
    tool = gcu_facts()["typed"].get(table)
    if tool is None or any(sub_path) or field not in tool["options"] or step.op not in tool["operations"]:
        return False
    without = tool.get("without", {"values": ()})
    return step.value not in without["values"] or not any(_applies_to_release(without, release) for release in releases)


@dataclass(frozen=True, slots=True)
class _PatchStepJudge:
    old: PatchTree
    new: PatchTree
    gone: Sequence[object]
    """What the patch takes out: the updater makes a move of it where the same is put in elsewhere."""
    begins: Sequence[str]
    """What makes the old configuration one that the updater does not begin with."""
    ends: Sequence[str]
    """What makes the new configuration one that it does not come to."""

    def reason_for_refusal(self, step: PatchStep, release: str) -> str:
        """Say why a release does not take a step; nothing where it does."""
        if self.begins:
            return f"the updater takes nothing while the configuration has a fault ({self.begins[0]}): `config reload`"
        if self.ends:
            return f"the updater refuses a patch whose result has a fault ({self.ends[0]}): fix that first"
        if step.op == "remove" and step.path in gcu_facts()["never_removed"]:
            return f"the updater never removes {step.path}"
        table = split_path(step.path)[0]
        if table not in TABLES_WITHOUT_MODEL and schema_of_release(release).table(table) is None:
            return (
                f"the updater of {release} changes no table without a model, as "
                f"{table}; instead: {_IGNORE_NON_YANG_COMMAND}"
            )
        rules = [
            rule for rule in gcu_facts()["guarded"] if rule["table"] == table and _applies_to_release(rule, release)
        ]
        moved = step.op == "add" and step.value in self.gone
        if moved and table == _PORT_TABLE and split_path(step.path)[-1] in gcu_facts()["supported_only"]:
            return f"the updater of {release} makes a move of a port's field, and fails for it has no value"
        if not rules:
            return ""
        instead = gcu_facts()["instead"].get(table)
        end = f"; instead: {instead}" if instead else ""
        if len(split_path(step.path)) == 2 and not moved and any("rows" in rule for rule in rules):
            return ""
        hwsku = str(value_at(self.old, "DEVICE_METADATA", "localhost", "hwsku") or "")
        chip = chip_of(hwsku, release)
        if chip is None:
            return f"the updater of {release} guards {table} and does not know the HWSKU {hwsku or '(none)'}{end}"
        if moved:
            return (
                f"the updater of {release} turns the removal from one row and the addition to another into a move{end}"
            )
        for name in _step_fields(step):
            fitting = [rule for rule in rules if _rule_matches_path(rule, step.path, name)]
            if not any(step.op in rule["operations"] and _rule_covers_chip(rule, chip, release) for rule in fitting):
                target = "a whole table" if len(split_path(step.path)) == 1 else name or "a row"
                return f"the updater of {release} does not {step.op} {target} in {table} on {chip}{end}"
        return ""

    def step_with_effect(self, step: PatchStep) -> PatchStep:
        """Return a step that is taken, with its effect."""
        table, *row_path = split_path(step.path)
        shut = self._ports_shut_for_step(step)
        if shut:
            reason = f"the updater shuts {'the port' if len(shut) == 1 else 'the ports'} while {table} changes"
            return replace(step, disruption="port bounce", reason=reason + self._watchdog_note(step), affected=shut)
        fields = set(row_path[1:2]) or set(step.value if isinstance(step.value, Mapping) and len(row_path) == 2 else ())
        if table == _PORT_TABLE and (down := fields & set(gcu_facts()["down_for"])):
            return self._step_with_effect_on_port(step, row_path[0], min(down))
        new_fields = fields & set(gcu_facts()["created_with"].get(table, ()))
        if new_fields and len(row_path) == 2:
            reason = f"{min(new_fields)} is set when the row is made: the updater takes the row out and in again"
            return replace(step, disruption="service restart", reason=reason, affected=(row_path[0],))
        for field, service in gcu_facts()["read_at_start"].get(table, {}).items():
            if field in fields:
                reason = f"{field} is read when {service} starts: restart it, no patch does"
                return replace(step, disruption="service restart", reason=reason, affected=(service,))
        restart = gcu_facts()["restarts"].get(table)
        if restart and (not restart.get("fields") or fields & set(restart["fields"])):
            reason = f"the updater restarts {restart['service']}"
            return replace(step, disruption="service restart", reason=reason, affected=(restart["service"],))
        return step

    def note_stale_headroom(self, step: PatchStep, releases: Sequence[str]) -> PatchStep:
        """Return a step with the headroom that it leaves as it was, of the traditional buffer model.

        Releases without sonic-swss#4004 look it up when the speed, admin_status or pfc_enable of the port is set.
        """
        table, name, port, *_ = (*split_path(step.path), "", "")
        old, new = (value_at(tables, table, name, port) for tables in (self.old, self.new))
        dynamic = value_at(self.new, "DEVICE_METADATA", "localhost", "buffer_model") == "dynamic"
        since = str(gcu_facts()["cable_length_looked_up_since"])
        if table != "CABLE_LENGTH" or None in (old, new) or old == new or dynamic or min(releases) >= since:
            return step
        if not value_at(self.new, "PORT_QOS_MAP", port, "pfc_enable") or self._triggers_headroom_lookup(port):
            return step
        reason = f"before {since}, {port} keeps the headroom of {old} until its speed or admin_status is set again"
        disruption: Disruption = "traffic-affecting" if _parse_cable_length(new) > _parse_cable_length(old) else "none"
        kept_step = replace(step, disruption=disruption, reason="; ".join(filter(None, (step.reason, reason))))
        return replace(kept_step, disruption=worst_disruption((step, kept_step)))

    def note_kept_map(self, step: PatchStep) -> PatchStep:
        """Return a step with the map of the switch that a chip of Broadcom may keep, of a step that removes it.

        Source: sonic-buildimage issue 29487 (`config qos clear` on Broadcom; the map is gone after `config reload`).
        """
        where = ["PORT_QOS_MAP", "global", "dscp_to_tc_map"]
        if (
            split_path(step.path) != where[: len(split_path(step.path))]
            or not value_at(self.old, *where)
            or value_at(self.new, *where)
            or self._vendor_of_chip() not in (None, "Broadcom")
        ):
            return step
        reason = "the chip may keep the map of the switch after this: `config reload` removes it for certain"
        kept_step = replace(step, disruption="traffic-affecting", reason="; ".join(filter(None, (step.reason, reason))))
        return replace(kept_step, disruption=worst_disruption((step, kept_step)))

    def _vendor_of_chip(self) -> str | None:
        """Return the vendor of the switch's ASIC; None where the HWSKU is not known."""
        metadata = mapping_at(self.old, "DEVICE_METADATA", "localhost")
        model = hardware.model_of_sku(str(metadata.get("hwsku") or ""), str(metadata.get("platform") or ""))
        return None if model is None else hardware.asic(hardware.switch(model).asic).vendor

    def _triggers_headroom_lookup(self, port: str) -> bool:
        """Whether a patch sets what makes the switch look up the headroom of a port, or states it itself."""
        paths = (
            (_PORT_TABLE, port, "speed"),
            (_PORT_TABLE, port, "admin_status"),
            ("PORT_QOS_MAP", port, "pfc_enable"),
        )
        before, after = (
            {key: row for key, row in mapping_at(tables, "BUFFER_PG").items() if key.partition("|")[0] == port}
            for tables in (self.old, self.new)
        )
        return before != after or any(value_at(self.old, *path) != value_at(self.new, *path) for path in paths)

    def _step_with_effect_on_port(self, step: PatchStep, port: str, field: str) -> PatchStep:
        needed_fields = gcu_facts()["down_for"][field]
        if any(value_at(self.old, _PORT_TABLE, port, name) != value for name, value in needed_fields.items()):
            disruption: Disruption = "none"
            needed = " and ".join(f"{name} {value}" for name, value in needed_fields.items())
            reason = f"the port does not use {field} without {needed}"
        elif value_at(self.old, _PORT_TABLE, port, "admin_status") != "up":
            disruption = "none"
            reason = "the port comes up" if field == "admin_status" else ""
        else:
            disruption = "port bounce"
            reason = "the port is shut" if field == "admin_status" else f"the port goes down while its {field} changes"
        if listed := gcu_facts()["supported_only"].get(field):
            reason += f"{'; ' if reason else ''}refused unless STATE_DB lists it in {listed} of the port"
        if field in gcu_facts()["restarts"][_PORT_TABLE]["fields"]:
            reason += "; the updater restarts telemetry"
        return replace(step, disruption=disruption, reason=reason, affected=(port,))

    def _ports_shut_for_step(self, step: PatchStep) -> tuple[str, ...]:
        """Return the ports that the updater shuts for a step: those that are up before and after."""
        table, *row_path = split_path(step.path)
        if table not in gcu_facts()["shut_for"]:
            return ()
        keys = row_path[:1] or [*mapping_at(self.old, table), *mapping_at(self.new, table)]
        ports = dict.fromkeys(key.partition("|")[0] for key in keys)
        states = self.old, self.new
        return tuple(
            port
            for port in ports
            if all(value_at(state, _PORT_TABLE, port, "admin_status") == "up" for state in states)
        )

    def _watchdog_note(self, step: PatchStep) -> str:
        _, port, field, *_ = (*split_path(step.path), "", "")
        watched = step.op == "replace" and field == "pfcwd_sw_enable" and value_at(self.old, *split_path(step.path))
        if watched and port in mapping_at(self.new, "PFC_WD"):
            return f"; a watchdog that runs keeps its priorities until PFC_WD|{port} is taken out and put in again"
        return ""


def _parse_cable_length(length: object) -> int:
    """Return the metres of a cable length such as 40m; 0 for any other value."""
    digits = length.removesuffix("m") if isinstance(length, str) else ""
    return parse_whole_number(digits) or 0


def _applies_to_release(entry: Mapping[str, object], release: str) -> bool:
    """Whether an entry holds for a release; `master` sorts behind all numbers."""
    return bool(str(entry.get("since", "")) <= release <= str(entry.get("until", "master")))


def _rule_covers_chip(rule: Mapping[str, Any], chip: str, release: str) -> bool:
    since = rule["chips"].get(chip)
    return since is not None and str(since) <= release


def _step_fields(step: PatchStep) -> Iterator[str]:
    """Yield the fields that a step names, as the updater determines them: those of a row, or of its path."""
    below = "/".join(split_path(step.path)[1:])
    if isinstance(step.value, Mapping):
        yield from step.value
    else:
        yield below.rpartition("/")[2] if below.count("/") else ""


def _rule_matches_path(rule: Mapping[str, Any], path: str, name: str) -> bool:
    below = split_path(path)[1:]
    if rule["match"] == "last":
        return name in rule["names"]
    words = [word for word in below if not any(char.isdigit() for char in word)]
    whole_name = "/".join(words).lower()
    if name and (not below or below[-1] != name):
        whole_name = f"{whole_name}/{name}" if whole_name else name
    return whole_name in rule["names"]
