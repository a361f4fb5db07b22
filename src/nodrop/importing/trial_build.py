"""The result of building an imported intent: the same fabric, or where it differs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, is_dataclass, replace
from typing import NamedTuple

from nodrop import context, platforms
from nodrop.collect import read_artifacts
from nodrop.design import build
from nodrop.design.decisions import FabricPart, format_deciding_keys
from nodrop.errors import InputProblems, Problem, UnsupportedByPlatform
from nodrop.importing.tier_view import TierView
from nodrop.intent.schema import Intent
from nodrop.model.assemble import assemble_fabric
from nodrop.model.compare import ModelDifference, differences
from nodrop.model.fabric import Device, Fabric, Link, Policy
from nodrop.model.index import Index
from nodrop.model.intern import Interner
from nodrop.model.reading import Note
from nodrop.model.states import Unknown
from nodrop.model.types import ROW_KEY_ATTRIBUTES, key_of
from nodrop.platforms.kit.artifact import Artifact

_PLATFORM_DEPENDENT_FIELDS = ("platform", "version", "hwsku", "role")
"""What of a switch is another where it is written for another platform."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceFromImportedFact:
    """A fact of one part that differs from the intent's result."""

    device: str
    """The switch; empty for the fabric itself."""
    part: str
    """Which of its parts: a port, a neighbor, a pool …; empty for the switch itself."""
    path: str
    """The fact, by the model's path below that."""
    has: str
    """What the files say."""
    built: str
    """What the intent comes to."""
    key: str
    """The key of the intent that decides it; empty where none does."""


class TrialBuild(NamedTuple):
    """The content of an intent's files when they are read back, the files of each switch, and the readers' notes."""

    fabric: Fabric
    files: dict[str, dict[str, bytes]]
    notes: tuple[Note, ...]


def build_and_read_back(intent: Intent) -> TrialBuild:
    """Build an intent, write its files, and read them back.

    InputProblems where it cannot be built or written.
    """
    fabric = build(intent)
    index = Index(fabric)
    artifacts: list[Artifact] = []
    for device in fabric.devices:
        try:
            artifacts += platforms.writer_of_platform(device.platform).write(device, index)
        except UnsupportedByPlatform as error:
            raise InputProblems([Problem(path=device.name, where=error.path, found=error.reason)]) from None
    readings = list(read_artifacts(artifacts, {switch.name: switch.platform for switch in fabric.devices}, ""))
    declared = context.loads(context.format_fabric_file(fabric).encode(), context.FABRIC_FILE)
    files: dict[str, dict[str, bytes]] = {}
    for artifact in artifacts:
        files.setdefault(artifact.device, {})[artifact.path] = artifact.text.encode()
    reading = assemble_fabric(readings, declared)
    return TrialBuild(reading.fabric, files, reading.notes)


def find_unlike_facts(tier_view: TierView, other_fabric: Fabric) -> tuple[DifferenceFromImportedFact, ...]:
    """Return every fact of a sight that differs in a fabric; a value that the sight's files do not state is no fact.

    Nor is a text that is the same except for the names of switches, which are reported separately.
    """
    return tuple(_fabric_differences(tier_view, other_fabric))


def _fabric_differences(sight: TierView, other_fabric: Fabric) -> Iterator[DifferenceFromImportedFact]:
    own_fabric, interner = sight.fabric, Interner()
    other_devices = {device.name: interner.device(device) for device in other_fabric.devices}
    for device in map(interner.device, own_fabric.devices):
        far_device = other_devices.get(device.name)
        if far_device is None:
            yield DifferenceFromImportedFact(
                device=device.name, part="", path="", has="present", built="missing", key="topology"
            )
            continue
        if device.platform != far_device.platform:
            far_device = replace(far_device, **{name: getattr(device, name) for name in _PLATFORM_DEPENDENT_FIELDS})
        else:  # additions carry access lists as their files have them
            far_device = replace(far_device, access_lists=device.access_lists)
        yield from _device_mismatches(device, far_device, sight)
    for name in sorted(other_devices.keys() - {own_device.name for own_device in own_fabric.devices}):
        yield DifferenceFromImportedFact(device=name, part="", path="", has="missing", built="present", key="topology")
    yield from _fabric_mismatches(own_fabric, other_fabric)


def _device_mismatches(device: Device, far_device: Device, sight: TierView) -> Iterator[DifferenceFromImportedFact]:
    for difference in differences(device, far_device):
        if not _are_both_values_known(difference) or (
            isinstance(difference.b, str) and difference.a == sight.restore_names(difference.b)
        ):
            continue
        of_port = difference.path[:1] == ("interfaces",) and len(difference.path) > 1
        rows = len(difference.path) > 1 and isinstance(getattr(device, difference.path[0], None), tuple)
        if of_port:
            row_key, path, aspect = difference.path[1], difference.path[2:], FabricPart("port", difference.path[2:])
        elif difference.path[:2] == ("bgp", "neighbors"):
            row_key, path, aspect = (
                "/".join(difference.path[2:3]),
                ("bgp", "neighbors", *difference.path[3:]),
                FabricPart("device", difference.path[1:]),
            )
        elif rows:
            row_key, path, aspect = (
                difference.path[1],
                (difference.path[0], *difference.path[2:]),
                FabricPart("device", difference.path),
            )
        else:
            row_key, path, aspect = "", difference.path, FabricPart("device", difference.path)
        if of_port and not path:
            has, new_built = ("none" if side is None else "present" for side in (difference.a, difference.b))
            yield DifferenceFromImportedFact(
                device=device.name, part=row_key, path="", has=has, built=new_built, key=format_deciding_keys(aspect)
            )
            continue
        new_built = (
            "the name of the other end"
            if of_port and path == ("description",) and difference.b
            else render_value(sight.restore_names(difference.b) if isinstance(difference.b, str) else difference.b)
        )
        yield DifferenceFromImportedFact(
            device=device.name, part=row_key, path="/".join(path), has=render_value(difference.a), built=new_built,
            key=format_deciding_keys(aspect),
        )  # fmt: skip


def _are_both_values_known(difference: ModelDifference) -> bool:
    """Whether a difference is one between facts: UNKNOWN is none, and nor is a row of nothing but that."""
    return not isinstance(difference.a, Unknown) and not isinstance(difference.b, Unknown)


def _fabric_mismatches(own_fabric: Fabric, other_fabric: Fabric) -> Iterator[DifferenceFromImportedFact]:
    switches = {device.name for device in own_fabric.devices}
    links, other_links = own_fabric.links, other_fabric.links
    hosts = own_fabric.hosts
    if not hosts:  # nobody states hosts: those of the intent are a guess, and so are their cables
        links, other_links = (
            tuple(link for link in side if _is_between_switches(link, switches)) for side in (links, other_links)
        )
        other_links = other_links if links else ()  # no file says where cables lead
    classes = (
        own_fabric.classes
        if any(isinstance(traffic_class.tc, int) for traffic_class in own_fabric.classes)
        else other_fabric.classes
    )
    stated_policy = own_fabric.policy if own_fabric.policy != Policy() else other_fabric.policy
    is_outside_stated = any(isinstance(neighbor.asn, int) for neighbor in own_fabric.external)
    external = own_fabric.external if is_outside_stated else other_fabric.external
    own_facts = replace(own_fabric, links=links, hosts=hosts, external=external, classes=classes, policy=stated_policy)
    built_ = replace(other_fabric, links=other_links, hosts=other_fabric.hosts if hosts else ())
    own_facts, built_ = (replace(fabric, devices=(), nics=(), profile=None) for fabric in (own_facts, built_))
    for difference in differences(own_facts, built_):
        if _are_both_values_known(difference):
            heading, row_key, remaining_paths = difference.path[0], "/".join(difference.path[1:2]), difference.path[2:]
            if heading == "policy":
                row_key, remaining_paths = "", difference.path[1:]
            yield DifferenceFromImportedFact(
                device="", part=row_key, path="/".join((heading, *remaining_paths)),
                has=render_value(difference.a), built=render_value(difference.b),
                key=format_deciding_keys(FabricPart("fabric", difference.path)),
            )  # fmt: skip


def _is_between_switches(link: Link, switches: set[str]) -> bool:
    return link.a.node in switches and link.b.node in switches


def render_value(value: object) -> str:
    """Render a value of the model in a few words."""
    if isinstance(value, Unknown):
        return "unknown"
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "none"
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return ", ".join(map(render_value, value)) or "none"
    if is_dataclass(value) and not isinstance(value, type):
        return key_of(value, 0) if any(hasattr(value, key) for key in ROW_KEY_ATTRIBUTES) else "present"
    return str(value)


def group_differences(
    unlikes: Iterable[DifferenceFromImportedFact],
) -> dict[tuple[str, str, str, str], dict[str, list[str]]]:
    """Return facts that are unlike in the same way as one: by fact, values and key, the parts of each switch."""
    groups: dict[tuple[str, str, str, str], dict[str, list[str]]] = {}
    for difference in unlikes:
        parts_by_switch = groups.setdefault((difference.path, difference.has, difference.built, difference.key), {})
        parts_by_switch.setdefault(difference.device, []).append(difference.part)
    return groups
