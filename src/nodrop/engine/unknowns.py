"""The undecided checks, reported once per rule and missing fact, with the source that would supply it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nodrop.engine.finding import Located, UnknownVerdict
from nodrop.engine.scopes import SCOPES
from nodrop.hardware.bounds import ROW_OF
from nodrop.hardware.commitment import MEMORY_OF
from nodrop.hardware.pausing import RESPONSE_OF
from nodrop.model.fabric import Fabric, Host, HostPort, Policy
from nodrop.model.nics import Nic
from nodrop.model.reading import UNCOMPUTED_PREFIX, UNKNOWN_LINE, Note
from nodrop.model.subject import natural
from nodrop.model.types import attributes
from nodrop.syntax.places import Span

_STATED = "state them under {key} in fabric.yaml"
_WORKED_OUT = f"models of devices, from which it is computed: {_STATED.format(key='models')}"
_ADVICE: Mapping[tuple[str, str], str] = {
    ("Fabric", "mode"): "the mode: --assume mode=lossless or mode=lossy, or `mode: lossless` in fabric.yaml",
    ("Fabric", "links"): f"cables: {_STATED.format(key='cables')}",
    ("Link", "length_m"): f"cable lengths: {_STATED.format(key='cables')}",
    ("Link", "media"): f"kinds of cable: {_STATED.format(key='cables')}",
    ("Interface", "side"): f"cables: {_STATED.format(key='cables')}",
    ("Device", "role"): f"roles of devices: {_STATED.format(key='roles')}",
    ("Device", "bgp"): "a file with its routing (frr.conf)",
    ("Device", "neighbors"): "a file with its routing (frr.conf)",
    ("Device", "model"): f"models of devices: {_STATED.format(key='models')}",
    ("Headroom", "xoff_bytes"): _WORKED_OUT,
    ("BufferPool", "size_bytes"): _WORKED_OUT,
    ("TrafficClass", ""): f"traffic classes: {_STATED.format(key='classes')}",
    ("Policy", ""): f"what is wanted of every port: {_STATED.format(key='policy')}",
    ("Host", ""): f"hosts and what they send: {_STATED.format(key='hosts')}",
    ("Nic", "link_layer"): "a file of the host with its link layer (LINK_TYPE of mlxconfig), or the switches",
    ("HostPort", ""): f"hosts and their ports: {_STATED.format(key='hosts')}",
}
"""By class and field of the model, or by class alone: where an owner states what no switch file says (contract 9.4)."""

_OF_RDMA = (
    *("interface.qos", "queue.", "priority_group.", "buffer_pool.", "device.buffer_pools", "device.buffer_model"),
    *("device.adaptive_routing", "interface.adaptive_routing", "interface.utilization_threshold_percent"),
)
"""How the facts begin that nobody misses where nothing carries RDMA."""

_ROOTS: Mapping[str, Any] = {name: kind for scope in SCOPES.values() for name, kind in scope.parts.items()} | {
    "fabric": Fabric,
    "nic": Nic,
    "host": Host,
    "host_port": HostPort,
    "policy": Policy,
}


@dataclass(slots=True)
class _Tally:
    subjects: int = 0
    devices: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)


class UnknownFacts:
    """Counts by rule and missing fact."""

    def __init__(self) -> None:
        self._tallies: defaultdict[tuple[str, str], _Tally] = defaultdict(_Tally)

    def add(self, rule: str, missing: str, devices: Iterable[str], count: int = 1, others: Iterable[str] = ()) -> None:
        """Note that `count` subjects, on these devices, were not checked; `others` are devices that could supply the
        fact.
        """
        tally = self._tallies[rule, missing]
        tally.subjects += count
        tally.devices.update(devices)
        tally.others.update(others)

    def verdicts(self, *, rdma: bool = True) -> tuple[UnknownVerdict, ...]:
        """Return all of it, sorted by rule and missing fact; without RDMA nothing of queues, buffers and balancing."""
        return tuple(
            UnknownVerdict(
                rule=rule,
                missing=missing,
                subjects_count=tally.subjects,
                devices=tuple(sorted(tally.devices, key=natural)),
                resolved_by=_format_configurations(tally.others) if tally.others else advise_on_missing_fact(missing),
            )
            for (rule, missing), tally in sorted(self._tallies.items())
            if rdma or not missing.startswith(_OF_RDMA)
        )


def unknown_line_verdicts(notes: Iterable[Note]) -> tuple[UnknownVerdict, ...]:
    """Return a verdict for each kind of unknown lines, sorted, with the place of every line."""
    kinds: defaultdict[str, list[Note]] = defaultdict(list)
    for note in notes:
        if note.kind == UNKNOWN_LINE:
            kinds[note.about].append(note)
    return tuple(
        UnknownVerdict(
            rule=UNKNOWN_LINE,
            missing=about,
            subjects_count=len(lines),
            devices=tuple(sorted({line.device for line in lines if line.device is not None}, key=natural)),
            resolved_by="",
            places=tuple(_locate_note(line) for line in lines),
        )
        for about, lines in sorted(kinds.items())
    )


def _locate_note(note: Note) -> Located:
    span = None if note.line is None else Span(note.line, 1, note.line, 1)
    return Located(file=note.file or note.device or "", span=span)


def is_statement_of_owner(path: str) -> bool:
    """Whether the owner of a fabric states a fact; no change of a switch's file makes it unknown then."""
    supply = advise_on_missing_fact(path)
    return supply.endswith("in fabric.yaml") and supply != _WORKED_OUT


def advise_on_missing_fact(path: str) -> str:
    """Return what would supply a fact: where an owner states it, else a file that has it.

    For a value that a word computes, such as `committed_bytes(device)`, name the word's inputs. The result
    is empty for what nodrop does not compute, since no file supplies that.
    """
    if path.startswith(UNCOMPUTED_PREFIX):
        return ""
    if path.startswith(ROW_OF):
        return "a HWSKU whose table has that row: `nodrop hardware MODEL` lists them"
    if path.startswith((MEMORY_OF, RESPONSE_OF)):
        return "a published figure: the catalogue has no source for it"
    _, bracket, argument_text = path.partition("(")
    if bracket:
        facts = [fact_path for fact_path in argument_text.rstrip(")").split(", ") if "." in fact_path]
        return f"a file that states {' and '.join(facts) or 'the facts that it is computed from'}"
    root, *steps = path.split(".")
    owner = _ROOTS.get(root)
    for step in steps[:-1]:
        kind = attributes(owner).get(step) if owner else None
        owner = kind.owners[0] if kind and kind.owners else None
    name = getattr(owner, "__name__", "")
    stated = _ADVICE.get((name, steps[-1] if steps else ""), _ADVICE.get((name, "")))
    return stated or f"a file that states {path}"


def _format_configurations(devices: set[str]) -> str:
    first_devices, extra_count = sorted(devices, key=natural)[:3], len(devices) - 3
    names_text = ", ".join(first_devices) + (f" and {extra_count} more" if extra_count > 0 else "")
    return f"the configuration{'s' if len(devices) > 1 else ''} of {names_text}"
