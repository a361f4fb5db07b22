"""The undecided checks, reported once per rule and missing fact, with the source that would supply it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from nodrop import platforms
from nodrop.engine.fact_words import describe_fact, describe_facts
from nodrop.engine.finding import FileLocation, UnknownVerdict
from nodrop.engine.scopes import SCOPES
from nodrop.hardware.bounds import MISSING_ROW_TEXT_START
from nodrop.hardware.commitment import MISSING_MEMORY_TEXT_START
from nodrop.hardware.pausing import MISSING_RESPONSE_TEXT_START
from nodrop.model.fabric import Device, Fabric, Host, HostPort, Policy
from nodrop.model.nics import Nic
from nodrop.model.reading import NOT_COMPUTED_TEXT_START, UNKNOWN_LINE_NOTE_KIND, Note
from nodrop.model.states import Unknown, is_known_off
from nodrop.model.subject import natural_sort_key
from nodrop.model.types import attributes_of
from nodrop.syntax.places import Span

_FABRIC_YAML_ADVICE = "state them under {key} in fabric.yaml"
_COMPUTED_FACT_ADVICE = f"models of devices, from which it is computed: {_FABRIC_YAML_ADVICE.format(key='models')}"
_ADVICE_BY_FIELD: Mapping[tuple[str, str], str] = {
    ("Fabric", "mode"): "the mode: --assume mode=lossless or mode=lossy, or `mode: lossless` in fabric.yaml",
    ("Fabric", "links"): f"cables: {_FABRIC_YAML_ADVICE.format(key='cables')}",
    ("Link", "length_m"): f"cable lengths: {_FABRIC_YAML_ADVICE.format(key='cables')}",
    ("Link", "media"): f"kinds of cable: {_FABRIC_YAML_ADVICE.format(key='cables')}",
    ("Interface", "side"): f"cables: {_FABRIC_YAML_ADVICE.format(key='cables')}",
    ("Device", "role"): f"roles of devices: {_FABRIC_YAML_ADVICE.format(key='roles')}",
    ("Device", "bgp"): "a file with its routing (frr.conf)",
    ("Device", "neighbors"): "a file with its routing (frr.conf)",
    ("Device", "model"): f"models of devices: {_FABRIC_YAML_ADVICE.format(key='models')}",
    ("Headroom", "xoff_bytes"): _COMPUTED_FACT_ADVICE,
    ("BufferPool", "size_bytes"): _COMPUTED_FACT_ADVICE,
    ("TrafficClass", ""): f"traffic classes: {_FABRIC_YAML_ADVICE.format(key='classes')}",
    ("Policy", ""): f"what is wanted of every port: {_FABRIC_YAML_ADVICE.format(key='policy')}",
    ("Host", ""): f"hosts and what they send: {_FABRIC_YAML_ADVICE.format(key='hosts')}",
    ("Nic", "link_layer"): "a file of the host with its link layer (LINK_TYPE of mlxconfig), or the switches",
    ("HostPort", ""): f"hosts and their ports: {_FABRIC_YAML_ADVICE.format(key='hosts')}",
}
"""By class and field of the model, or by class alone: where an owner states what no switch file says (contract 9.4)."""

_RDMA_FACT_STARTS = (
    *("interface.qos", "queue.", "priority_group.", "buffer_pool.", "device.buffer_pools", "device.buffer_model"),
    *("device.adaptive_routing", "interface.adaptive_routing", "interface.utilization_threshold_percent"),
)
"""How the facts begin that nobody misses where nothing carries RDMA."""

_MODEL_PATH_BY_ROOT: Mapping[str, str] = {
    "device": "",
    "interface": "interfaces/*/",
    "queue": "interfaces/*/qos/queues/*/",
    "priority_group": "interfaces/*/qos/priority_groups/*/",
    "neighbor": "neighbors/*/",
    "buffer_pool": "buffer_pools/*/",
}
"""The paths below a device of what facts begin with."""

_TYPE_BY_ROOT: Mapping[str, Any] = {name: kind for scope in SCOPES.values() for name, kind in scope.parts.items()} | {
    "fabric": Fabric,
    "nic": Nic,
    "host": Host,
    "host_port": HostPort,
    "policy": Policy,
}


@dataclass(slots=True)
class _UnknownTally:
    subjects: int = 0
    devices: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)


class UnknownFactCounts:
    """Counts by rule and missing fact; what no file of a device's platform can state is not missed there."""

    def __init__(self, devices: Mapping[str, Device] | None = None) -> None:
        """Begin without any, for devices by name."""
        self._devices = devices or {}
        self._tallies: defaultdict[tuple[str, str], _UnknownTally] = defaultdict(_UnknownTally)

    def count_unchecked_subjects(
        self, rule: str, missing: str, devices: Iterable[str], count: int = 1, others: Iterable[str] = ()
    ) -> None:
        """Note that `count` subjects, on these devices, were not checked; `others` are devices that could supply the
        fact.
        """
        if platforms_without_fact(missing) and devices:
            devices = self.devices_that_can_state(missing, devices)
            if not devices:
                return
        tally = self._tallies[rule, missing]
        tally.subjects += count
        tally.devices.update(devices)
        tally.others.update(others)

    def devices_that_can_state(self, missing: str, devices: Iterable[str]) -> list[str]:
        """Return the devices whose files can state a fact; files of other platforms never can."""
        without = platforms_without_fact(missing)
        known = self._devices
        return [name for name in devices if name not in known or known[name].platform not in without]

    def verdicts(self, *, rdma: bool = True) -> tuple[UnknownVerdict, ...]:
        """Return all of it, sorted by rule and missing fact; without RDMA nothing of queues, buffers and balancing."""
        return tuple(
            UnknownVerdict(
                rule=rule,
                missing=missing,
                subjects_count=tally.subjects,
                devices=tuple(sorted(tally.devices, key=natural_sort_key)),
                resolved_by=_format_configurations(tally.others)
                if tally.others
                else _advise_on_devices(missing, [self._devices.get(name) for name in tally.devices]),
            )
            for (rule, missing), tally in sorted(self._tallies.items())
            if rdma or not missing.startswith(_RDMA_FACT_STARTS)
        )


def unknown_line_verdicts(notes: Iterable[Note]) -> tuple[UnknownVerdict, ...]:
    """Return a verdict for each kind of unknown lines, sorted, with the place of every line."""
    kinds: defaultdict[str, list[Note]] = defaultdict(list)
    for note in notes:
        if note.kind == UNKNOWN_LINE_NOTE_KIND:
            kinds[note.about].append(note)
    return tuple(
        UnknownVerdict(
            rule=UNKNOWN_LINE_NOTE_KIND,
            missing=about,
            subjects_count=len(lines),
            devices=tuple(sorted({line.device for line in lines if line.device is not None}, key=natural_sort_key)),
            resolved_by="",
            places=tuple(_locate_note(line) for line in lines),
        )
        for about, lines in sorted(kinds.items())
    )


def _locate_note(note: Note) -> FileLocation:
    span = None if note.line is None else Span(note.line, 1, note.line, 1)
    return FileLocation(file=note.file or note.device or "", span=span)


@cache
def platforms_without_fact(path: str) -> frozenset[str]:
    """Return the platforms whose files cannot express a missing fact: no switch of theirs can have a fault in it.

    Of a value that a word computes, these are the platforms without one of its inputs. Facts that the owner states are
    of every platform.
    """
    if "(" in path:
        return frozenset().union(*map(platforms_without_fact, _argument_facts_of_word(path)))
    if is_statement_of_owner(path):
        return frozenset()
    root, *steps = path.split(".")
    model_path = f"{_MODEL_PATH_BY_ROOT.get(root, '/')}{'/'.join(steps)}"
    return frozenset(
        platform
        for platform in platforms.platform_names()
        for without in platforms.unsupported_paths(platform)
        if model_path == without or model_path.startswith(f"{without}/")
    )


def is_statement_of_owner(path: str) -> bool:
    """Whether the owner of a fabric states a fact; no change of a switch's file makes it unknown then."""
    supply = advise_on_missing_fact(path)
    return supply.endswith("in fabric.yaml") and supply != _COMPUTED_FACT_ADVICE


def advise_on_missing_fact(path: str) -> str:
    """Return what would supply a fact: where an owner states it, else a file that has it.

    For a value that a word computes, such as `committed_bytes(device)`, name the word's inputs. The result
    is empty for what nodrop does not compute, since no file supplies that.
    """
    if path.startswith(NOT_COMPUTED_TEXT_START):
        return ""
    if path.startswith(MISSING_ROW_TEXT_START):
        return "a HWSKU whose table has that row: `nodrop hardware MODEL` lists them"
    if path.startswith((MISSING_MEMORY_TEXT_START, MISSING_RESPONSE_TEXT_START)):
        return "a published figure: the catalogue has no source for it"
    if "(" in path:
        facts_text = describe_facts(_argument_facts_of_word(path))
        return f"a file that states {facts_text or 'the facts that it is computed from'}"
    root, *steps = path.split(".")
    owner = _TYPE_BY_ROOT.get(root)
    for step in steps[:-1]:
        kind = attributes_of(owner).get(step) if owner else None
        owner = kind.owners[0] if kind and kind.owners else None
    name = getattr(owner, "__name__", "")
    stated = _ADVICE_BY_FIELD.get((name, steps[-1] if steps else ""), _ADVICE_BY_FIELD.get((name, "")))
    return stated or f"a file that states {describe_fact(path)}"


def _advise_on_devices(path: str, devices: Iterable[Device | None]) -> str:
    """Return what would supply a fact of some devices: of a computed one, the first input that is unknown."""
    advice = advise_on_missing_fact(path)
    if advice != _COMPUTED_FACT_ADVICE and path.partition("(")[0] != "committed_bytes":
        return advice
    inputs = {_find_unknown_input(device) for device in devices if device is not None}
    if None in inputs or not inputs:
        return advice
    return "a file that states " + " and ".join(sorted(map(describe_fact, filter(None, inputs))))


def _find_unknown_input(device: Device) -> str | None:
    """Return the first fact that buffers are computed from and that is unknown; None for the model, or for none."""
    if isinstance(device.model, Unknown):
        return None
    ports = [port for port in device.interfaces if not is_known_off(port.enabled)]
    for name in ("speed_mbps", "mtu_bytes", "cable_length_m"):
        if any(isinstance(getattr(port, name), Unknown) for port in ports):
            return f"interface.{name}"
    return "device.dynamic_buffers" if isinstance(device.dynamic_buffers, Unknown) else None


def _argument_facts_of_word(path: str) -> list[str]:
    """Return the facts from which a word computes a missing value: those that it is given."""
    _, _, argument_text = path.partition("(")
    return [fact_path for fact_path in argument_text.rstrip(")").split(", ") if "." in fact_path]


def format_owner_statement(verdict: UnknownVerdict) -> tuple[str, str] | None:
    """Return what the owner of a fabric has to state for a verdict, and a line of fabric.yaml that shows how.

    None where a file of a switch or host is missing instead.
    """
    what, _, remainder = verdict.resolved_by.partition(": state them under ")
    key, in_file, _ = remainder.partition(" in fabric.yaml")
    if not in_file:
        is_mode = verdict.resolved_by == _ADVICE_BY_FIELD["Fabric", "mode"]
        return ("the mode", _FABRIC_YAML_EXAMPLE_BY_KEY["mode"]) if is_mode else None
    device = verdict.devices[0] if verdict.devices else "leaf1"
    return what.partition(",")[0], _FABRIC_YAML_EXAMPLE_BY_KEY[key].format(device=device)


_FABRIC_YAML_EXAMPLE_BY_KEY: Mapping[str, str] = {
    "mode": "mode: lossless",
    "cables": 'cables: ["{device}:PORT--gpu1:nic1 3m DR4"]',
    "roles": "roles: {{{device}: leaf}}",
    "models": "models: {{{device}: SN5600}}",
    "classes": "classes: {{rdma: {{purpose: rdma, dscp: [26], tc: 3, lossless: true}}}}",
    "policy": "policy: {{rdma_mtu: 4096}}",
    "hosts": "hosts: {{gpu1: {{group: gpu, gpus: 8, nic: ConnectX-7, ports: {{nic1: {{}}}}}}}}",
}
"""A line of fabric.yaml for each key that an owner states."""


def _format_configurations(devices: set[str]) -> str:
    first_devices, extra_count = sorted(devices, key=natural_sort_key)[:3], len(devices) - 3
    names_text = ", ".join(first_devices) + (f" and {extra_count} more" if extra_count > 0 else "")
    return f"the configuration{'s' if len(devices) > 1 else ''} of {names_text}"
