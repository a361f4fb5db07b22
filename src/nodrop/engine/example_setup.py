"""How a rule's examples become readings: two-by-two is built for a platform, changed, written, and read back.

Examples name ports as one platform does. On another they mean the port in that place of the panel.
"""

import json
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import nodrop
from nodrop import context, platforms
from nodrop.engine.examples import FabricOnPlatform, build_example_views
from nodrop.engine.rule import RuleExample
from nodrop.errors import InputProblems, UnsupportedByPlatform
from nodrop.hardware import switch
from nodrop.hardware.dynamic import fill_in_computed_buffer_sizes
from nodrop.identity import IdentityKey
from nodrop.intent.load import validate_document
from nodrop.intent.schema import Intent
from nodrop.model.assemble import assemble_fabric
from nodrop.model.declared import DeclaredFacts
from nodrop.model.fabric import Device, End, Fabric, Interface, Link, Port
from nodrop.model.index import Index
from nodrop.model.reading import Reading, Source
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown
from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key, matches, natural_sort_key
from nodrop.model.subject import parse_subject as parse_subject
from nodrop.model.values import replace_fields
from nodrop.platforms import HOSTS_PLATFORM, port_name
from nodrop.platforms.kit.artifact import Artifact
from nodrop.platforms.kit.examples import PORT_NAMES_PLATFORM as EXAMPLES
from nodrop.platforms.kit.examples import TIER_CHANGES_BY_PLATFORM
from nodrop.platforms.kit.session_groups import group_name_by_far_end
from nodrop.resources import resource_folder
from nodrop.syntax.yaml import parse_yaml

BASE_INTENT = "two-by-two"
"""The intent that examples change."""

PortNameTable = Mapping[tuple[str, str], str]
"""(device, name of a port) to another name of that port."""

_MAX_CACHED_SWITCHES = 256
"""Most examples change one switch of a few fabrics; the others are kept as they are named, written and read."""


class UnsupportedExample(Exception):
    """A platform cannot express the subject of an example."""


@lru_cache(maxsize=1)
def _read_base_intent() -> bytes:
    return (resource_folder("intents") / f"{BASE_INTENT}.yaml").read_bytes()


def merge_overlay(data: object, overlay: object) -> object:
    """Return a document with an overlay: mappings are joined key by key, anything else is replaced."""
    if isinstance(data, dict) and isinstance(overlay, Mapping):
        return data | {key: merge_overlay(data.get(key), value) for key, value in overlay.items()}
    return overlay


@dataclass(frozen=True)
class PlatformExamples:
    """The examples on one platform."""

    platform: str

    def build_base_fabric(self, overlay: Mapping[str, object]) -> Fabric:
        """Return the fabric of two-by-two with an overlay on its intent, its ports named as in the examples."""
        return _build_example_fabric(self.platform, json.dumps(overlay))

    def read_fabric_from_platform_files(self, fabric: Fabric) -> Iterator[FabricOnPlatform]:
        """Yield the fabric as the platform's files express it; raise CannotSay if the platform cannot express it."""
        devices = tuple(
            _resolve_buffers_and_port_names(IdentityKey(device), self.platform) for device in fabric.devices
        )
        settled = replace(
            fabric, devices=devices, links=_rename_links(fabric.links, build_port_name_table(fabric, self.platform))
        )
        try:
            artifacts = [*write_fabric_with_cache(settled), *nodrop.host_files(settled)]
        except UnsupportedByPlatform as error:
            raise UnsupportedExample(str(error)) from None
        reading = nodrop.read_back(artifacts, settled)
        yield self._build_view(replace(reading, fabric=replace(reading.fabric, profile=fabric.profile)))

    def views_of_edited_artifacts(
        self, edits: Mapping[str, Any], overlay: Mapping[str, Any]
    ) -> Iterator[FabricOnPlatform]:
        """Yield two-by-two read from artifacts with texts replaced, each at its first occurrence.

        `overlay` is first laid over its intent. Files of hosts alone are edited on each platform. Files that a build
        does not write are not changed.
        """
        alone = [
            edit for edit in edits if edit in platforms.platform_names() and edit not in platforms.writable_platforms()
        ]
        if alone and self.platform == EXAMPLES:
            yield from (_view_of_read_only_platform(platform, edits[platform]) for platform in alone)
            return
        if self.platform not in (edits.keys() - {HOSTS_PLATFORM} or {self.platform}):
            raise UnsupportedExample(f"the example edits files of {', '.join(edits)}")
        fabric = self._build_base_fabric_of_overlay(overlay)
        files = {**edits.get(self.platform, {})}
        files |= {f"/{HOSTS_PLATFORM}/{name}": changes for name, changes in edits.get(HOSTS_PLATFORM, {}).items()}
        artifacts = []
        for host_file in _write_base_fabric_files(self.platform, json.dumps(overlay)):
            text = _apply_text_edits(
                host_file.text,
                files.pop(f"{host_file.device}/{host_file.path}", ()),
                f"{host_file.device}/{host_file.path}",
            )
            artifacts.append(Artifact(device=host_file.device, path=host_file.path, text=text))
        artifacts += (
            Artifact(device="", path=path.removeprefix("/"), text=_apply_text_edits("", changes, path))
            for path, changes in files.items()
            if path.startswith("/")
        )
        beside = [path for path in files if path.count("/") == 1 and not path.startswith("/")]
        for device, name in (path.split("/") for path in beside):
            new_text = _apply_text_edits("", files[f"{device}/{name}"], f"{device}/{name}")
            artifacts.append(Artifact(device=device, path=name, text=new_text))
        yield self._build_view(nodrop.read_back(artifacts, fabric))

    def raise_if_example_unsupported(self, example: RuleExample) -> None:
        """Raise CannotSay if the example changes facts that the platform's files do not carry."""
        for path in platforms.unsupported_paths(self.platform):
            for written in example.model or {}:
                if matches((*path.split("/"), "**"), _attribute_path_of_subject(parse_subject(written))):
                    raise UnsupportedExample(f"its files do not say {path}")

    def render_example(self, example: RuleExample) -> list[FabricOnPlatform]:
        """Return an example as this platform expresses it; nothing if the platform cannot express it."""
        try:
            self.raise_if_example_unsupported(example)
            return build_example_views(
                example, self.build_base_fabric, self.read_fabric_from_platform_files, self.views_of_edited_artifacts
            )
        except UnsupportedExample:
            return []

    def _build_base_fabric_of_overlay(self, overlay: Mapping[str, object]) -> Fabric:
        return _build_base_fabric(self.platform, json.dumps(overlay))

    def _build_view(self, reading: Reading) -> FabricOnPlatform:
        table = build_port_name_table(reading.fabric, EXAMPLES)
        return FabricOnPlatform(self.platform, reading, lambda subject: rename_subject_ports(subject, table))


@lru_cache(maxsize=128)  # most of two thousand examples lie on one of a few fabrics
def _build_base_fabric(platform: str, overlay: str) -> Fabric:
    """Return the fabric of two-by-two on a platform, with an overlay on its intent, given as JSON."""
    document = parse_yaml(_read_base_intent(), f"{BASE_INTENT}.yaml")
    document.data = merge_overlay(
        merge_overlay(document.data, {"topology": TIER_CHANGES_BY_PLATFORM[platform]}), json.loads(overlay)
    )
    try:
        return nodrop.build(validate_document(document, Intent))
    except InputProblems as error:
        raise UnsupportedExample(str(replace(error.problems[0], line=None, column=None))) from None


@lru_cache(maxsize=128)
def _build_example_fabric(platform: str, overlay: str) -> Fabric:
    """Return the fabric of `_build_base_fabric`, its ports named as in the examples."""
    fabric = _build_base_fabric(platform, overlay)
    return rename_ports(fabric, build_port_name_table(fabric, EXAMPLES))


@lru_cache(maxsize=_MAX_CACHED_SWITCHES)
def _resolve_buffers_and_port_names(example_device: IdentityKey[Device], platform: str) -> Device:
    """Return a device with what the switch computes, its ports named as on the platform."""
    device = fill_in_computed_buffer_sizes(example_device.value)
    return _rename_device_ports(device, _port_names_of_device(IdentityKey(device), platform))


_ARTIFACTS_CACHE: OrderedDict[Hashable, tuple[Artifact, ...]] = OrderedDict()


def write_fabric_with_cache(fabric: Fabric) -> Iterator[Artifact]:
    """Yield the same files as `nodrop.write`; a device that was written before with the same far ends is not again."""
    index = Index(fabric)
    for device in fabric.devices:
        key = (
            IdentityKey(device),
            tuple(index.far_ends.get(device.name, {}).items()),
            tuple(group_name_by_far_end(device, index).items()),
        )
        if key not in _ARTIFACTS_CACHE:
            _ARTIFACTS_CACHE[key] = platforms.writer_of_platform(device.platform).write(device, index)
            if len(_ARTIFACTS_CACHE) > _MAX_CACHED_SWITCHES:
                _ARTIFACTS_CACHE.popitem(last=False)
        _ARTIFACTS_CACHE.move_to_end(key)
        yield from _ARTIFACTS_CACHE[key]
    yield Artifact(device="", path=context.FABRIC_FILE, text=context.format_fabric_file(fabric))


@lru_cache(maxsize=32)
def _write_base_fabric_files(platform: str, overlay: str) -> tuple[Artifact, ...]:
    """Return the files of switches and hosts of `_build_base_fabric`."""
    fabric = _build_base_fabric(platform, overlay)
    return (*nodrop.write(fabric), *nodrop.host_files(fabric))


def _view_of_read_only_platform(platform: str, files: Mapping[str, str]) -> FabricOnPlatform:
    """Return a device of a platform that is only read, from its files as they are given, below the device's folder."""
    bundle = [
        (Source(name=path.partition("/")[2], display=path, held=text.encode()), text.encode())
        for path, text in files.items()
    ]
    reading = platforms.reader(platform).read_device(next(iter(files)).partition("/")[0], bundle)
    return FabricOnPlatform(platform, assemble_fabric([reading], DeclaredFacts()))


def _apply_text_edits(text: str, edits: Iterable[Mapping[str, str]], name: str) -> str:
    for edit in edits:
        if edit["replace"] not in text:
            raise ValueError(f"{name} has no {edit['replace']!r}")
        text = text.replace(edit["replace"], edit["with"], 1)
    return text


def _attribute_path_of_subject(subject: Subject) -> Subject:
    """Return a subject as a path from its device, like the paths that a platform lists as not carried."""
    match subject[1:]:
        case (area, *rest) if area.startswith("@"):
            return (area[1:], *rest)
        case rest:
            return ("interfaces", *rest)


def build_port_name_table(fabric: Fabric, platform: str) -> PortNameTable:
    """Return the platform's name for every port of a fabric, by the port's name in the fabric."""
    name_of_port: dict[tuple[str, str], str] = {}
    for device in fabric.devices:
        name_of_port |= _port_names_of_device(IdentityKey(device), platform)
    return name_of_port


@lru_cache(maxsize=_MAX_CACHED_SWITCHES)
def _port_names_of_device(known_device: IdentityKey[Device], platform: str) -> PortNameTable:
    """Return the platform's names for the ports of a device."""
    device = known_device.value
    return {
        (device.name, interface.name): _platform_port_name(platform, str(device.model), interface)
        for interface in device.interfaces
    }


def _platform_port_name(platform: str, model: str, interface: Interface) -> str:
    port = interface.port
    if not isinstance(port, Port) or switch(model).group(port.panel) is None:
        return interface.name
    try:
        return port_name(platform, model, port)
    except KeyError:  # no source has the port map of the model
        return interface.name


def rename_ports(fabric: Fabric, port_name_table: PortNameTable) -> Fabric:
    """Return the fabric with the names of its ports replaced, also where cables name them."""
    devices = tuple(_rename_device_ports(device, port_name_table) for device in fabric.devices)
    return replace(fabric, devices=devices, links=_rename_links(fabric.links, port_name_table))


def _rename_device_ports(device: Device, port_name_table: PortNameTable) -> Device:
    interfaces = tuple(
        interface
        if (name := port_name_table.get((device.name, interface.name), interface.name)) == interface.name
        else replace_fields(interface, name=name)
        for interface in device.interfaces
    )
    return replace_fields(device, interfaces=interfaces, bgp=_rename_session_ports(device, port_name_table))


def _rename_links(links: Iterable[Link], port_name_table: PortNameTable) -> tuple[Link, ...]:
    renamed = (
        replace_fields(link, a=_rename_end(link.a, port_name_table), b=_rename_end(link.b, port_name_table))
        for link in links
    )
    return tuple(sorted(renamed, key=lambda link: (link.a, link.b)))


def _rename_session_ports(device: Device, table: PortNameTable) -> Bgp | None | Unknown:
    """Return a device's BGP with the ports renamed over which its sessions go, in the order of their names."""
    bgp = device.bgp
    if not isinstance(bgp, Bgp) or isinstance(bgp.neighbors, Unknown):
        return bgp
    sessions = [
        replace_fields(neighbor, interface=table.get((device.name, neighbor.interface), neighbor.interface))
        if neighbor.interface
        else neighbor
        for neighbor in bgp.neighbors
    ]
    return replace_fields(bgp, neighbors=tuple(sorted(sessions, key=lambda neighbor: natural_sort_key(neighbor.key))))


def _rename_end(end: End, port_name_table: PortNameTable) -> End:
    return End(end.node, port_name_table.get((end.node, end.port), end.port))


def rename_subject_ports(subject: Subject, port_name_table: PortNameTable) -> Subject:
    """Return a subject with the names of ports replaced."""
    match subject:
        case (root, "links", ends, *rest) if root == FABRIC_HEAD:
            a, b = (_rename_end(end, port_name_table) for end in ends_of_cable_key(ends))
            return (FABRIC_HEAD, "links", "--".join(sorted((str(a), str(b)))), *rest)
        case (device, name, *rest):
            return (device, port_name_table.get((device, name), name), *rest)
    return subject
