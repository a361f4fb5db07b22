"""A fabric as a lab of containerlab: a topology file, and the files for each switch's image.

Switches keep their files as they were read, with the changes that an image needs; each change is reported. Hosts are
Linux containers with their addresses, and use the switches that they are cabled to as gateways. Names, kinds and
interfaces are those that containerlab takes (its schemas/clab.schema.json, and nodes/ for each kind).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from nodrop.errors import UnsupportedByPlatform
from nodrop.export.frr_conf import frr_conf
from nodrop.export.host_commands import host_iproute2_commands, lacks_gateway
from nodrop.locate import load_unchanged_source
from nodrop.model.fabric import Device, End, Host, Link
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.platforms.kit.rendering import load_template
from nodrop.platforms.kit.virtual_switches import (
    ContainerlabNodeKind,
    virtual_switch_module_of,
    virtual_switch_modules_by_platform,
)

HOSTS_IMAGE_NAME = "hosts"
"""What the image of hosts is called, beside the platforms'."""
_HOST_NODE_KIND = ContainerlabNodeKind(
    name="linux",
    image="ghcr.io/srl-labs/network-multitool",
    remarks=("hosts have their addresses, and the switches beside them as default gateways instead of Docker's",),
)
_CONTAINER_NAME_START = "clab"
_MAX_CONTAINER_NAME_CHARACTERS = 60
"""Of a container that is found by its name (containerlab nodes/default_node.go)."""
_INVALID_CHARACTERS_PATTERN = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_LISTED_NODES = 4
"""How many names are told of whom something is said; the rest is counted."""
_WHY_NODE_LEFT_OUT = "not in the lab, cables either, for lack of a description"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """The files of a lab by path, and the notes for its user."""

    topology: str
    """The path of the topology file."""
    files: Mapping[str, str]
    changed: tuple[str, ...]
    """What is otherwise than it was read, or left out."""
    remarks: tuple[str, ...]
    """What is otherwise than on real switches and servers, of each kind."""
    switches: int
    hosts: int
    cables: int


def lab_file_patterns() -> list[str]:
    """Return the names that files of a lab can have, as patterns."""
    every = virtual_switch_modules_by_platform().values()
    scripts = (script for kind_maker in every for script in kind_maker.KIND.scripts)
    return ["*.clab.yml", *scripts, *(f"*/{name}" for kind_maker in every for name in kind_maker.WRITES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _LabNode:
    """A container: `ports` are its interfaces by the model's names."""

    name: str
    kind: str
    ports: Mapping[str, str]
    binds: tuple[str, ...] = ()
    execute: list[str] = field(default_factory=list)
    empty_ports: bool = False


class _LabNodeKind(NamedTuple):
    """A kind of nodes as the topology has it."""

    kind: ContainerlabNodeKind
    image: str
    binds: tuple[str, ...]


def image_keys() -> tuple[str, ...]:
    """Return the possible keys of an image: the platforms that have an image, and hosts."""
    return (*virtual_switch_modules_by_platform(), HOSTS_IMAGE_NAME)


def export_lab(reading: Reading, chosen_images: Mapping[str, str] | None = None) -> Lab:
    """Return the lab of a fabric; `chosen_images` are names of images, by the keys that `image_keys` returns.

    InputProblems where a file cannot be read, or has changed since it was.
    """
    return _LabBuilder(reading, chosen_images or {}).build_lab()


class _LabBuilder:
    """A lab while it is put together."""

    def __init__(self, reading: Reading, chosen: Mapping[str, str]) -> None:
        self._reading, self._chosen = reading, chosen
        self._index = Index(reading.fabric)
        self._name = _sanitize_name(reading.fabric.name) or "fabric"
        self._topology = f"{self._name}.clab.yml"
        self._changed: defaultdict[str, list[str]] = defaultdict(list)
        self._kinds: dict[str, ContainerlabNodeKind] = {}
        self._nodes: dict[str, _LabNode] = {}
        self._files: dict[str, str] = {}
        self._taken = {self._topology}

    def build_lab(self) -> Lab:
        """Put everything in its place."""
        fabric = self._reading.fabric
        devices = [device for device in fabric.devices if virtual_switch_module_of(device.platform)]
        for platform in sorted({device.platform for device in devices}):
            self._add_platform_scripts(platform)
        for device in fabric.devices:
            self._add_switch(device)
        if not self._nodes:
            platforms = ", ".join(sorted({device.platform for device in fabric.devices}))
            raise UnsupportedByPlatform("platform", f"containerlab has no image that takes files of {platforms}")
        cabled = {end.node for link in fabric.links for end in _ends_of_link(link)}
        for host in fabric.hosts:
            if host.name in cabled and host.name not in self._nodes:
                self._add_host(host)
        links = list(self._cables_in_lab())
        used = {end for link in links for end in link}
        reached = {end.node for end in used}
        hosts = [host for host in fabric.hosts if host.name in self._nodes and host.name not in self._index.devices]
        for host in hosts:
            if host.name in reached:
                self._set_host_addresses(
                    host, frozenset(port.name for port in host.ports if End(host.name, port.name) in used)
                )
            else:
                del self._nodes[host.name]
        hosts = [host for host in hosts if host.name in self._nodes]
        if hosts:
            self._kinds[HOSTS_IMAGE_NAME] = _HOST_NODE_KIND
        for node in self._nodes.values():
            if len(called := f"{_CONTAINER_NAME_START}-{self._name}-{node.name}") > _MAX_CONTAINER_NAME_CHARACTERS:
                self._record_change(
                    node.name,
                    f"not found by its name, {called}, longer than {_MAX_CONTAINER_NAME_CHARACTERS} characters",
                )
        changed = tuple(self._format_changes())
        return Lab(
            topology=self._topology,
            files={self._topology: self._render_topology_file(links, used, changed), **self._files},
            changed=changed,
            remarks=tuple(f"{kind.name}: {text}" for kind in self._kinds.values() for text in kind.remarks),
            switches=len(self._nodes) - len(hosts),
            hosts=len(hosts),
            cables=len(links),
        )

    def _record_change(self, name: str, text: str) -> None:
        self._changed[text].append(name)

    def _format_changes(self) -> Iterator[str]:
        """Yield the changes, each once with the names of all whom it concerns."""
        for text, names in self._changed.items():
            if not names:
                continue
            omitted_count = len(names) - _MAX_LISTED_NODES + 1
            if omitted_count > 1:
                names = [*names[: _MAX_LISTED_NODES - 1], f"{omitted_count} others"]
            yield f"{', '.join(names)}: {text}"

    def _make_unique_name(self, name: str) -> str:
        """Return a name of a container that no other has."""
        plain = _sanitize_name(name) or "node"
        container_name, number = plain, 2
        while container_name in self._taken:
            container_name, number = f"{plain}-{number}", number + 1
        self._taken.add(container_name)
        if container_name != name:
            self._record_change(name, f"called {container_name} in the lab")
        return container_name

    def _add_platform_scripts(self, platform: str) -> None:
        """Add the files that all switches of a platform share next to the topology."""
        new_maker = virtual_switch_module_of(platform)
        assert new_maker is not None
        self._kinds[platform] = new_maker.KIND
        for script in new_maker.KIND.scripts:
            self._taken.add(script)
            self._files[script] = load_template(f"containerlab/{script}.j2").render()

    def _add_switch(self, device: Device) -> None:
        new_maker = virtual_switch_module_of(device.platform)
        if new_maker is None:
            self._record_change(
                device.name, f"left out, cables too: containerlab has no image that takes files of {device.platform}"
            )
            return
        kind, name = new_maker.KIND, self._make_unique_name(device.name)
        bundle = {source.name: load_unchanged_source(source) for source in self._reading.sources.get(device.name, ())}
        frr = frr_conf(self._reading, device) if kind.takes_frr else None
        switch = new_maker.make_virtual_switch(device, bundle, None if frr is None else frr.text)
        if frr is not None and frr.own:
            self._record_change(device.name, "frr.conf is made by nodrop, for the files say routing in other words")
        for text in (*(frr.missing if frr else ()), *switch.remarks):
            self._record_change(device.name, text)
        self._files |= {f"{name}/{file}": text for file, text in switch.files.items()}
        self._nodes[device.name] = _LabNode(
            name=name,
            kind=kind.name,
            ports=switch.ports,
            binds=_format_container_binds(switch.binds, f"{name}/"),
            empty_ports=kind.empty_ports,
        )

    def _add_host(self, host: Host) -> None:
        ports = {port.name: f"eth{number}" for number, port in enumerate(host.ports, 1)}
        self._nodes[host.name] = _LabNode(
            name=self._make_unique_name(host.name), kind=_HOST_NODE_KIND.name, ports=ports
        )

    def _set_host_addresses(self, host: Host, cabled: frozenset[str]) -> None:
        """Let a host have the addresses of its ports that are there."""
        node = self._nodes[host.name]
        node.execute.extend(host_iproute2_commands(host, {name: node.ports[name] for name in cabled}, self._index))
        if lacks_gateway(host, cabled, self._index):
            self._record_change(host.name, "no gateway: no switch at the ports has an address beside theirs")

    def _cables_in_lab(self) -> Iterator[tuple[End, End]]:
        """Yield the cables with both ends present, none of them twice."""
        used: set[End] = set()
        for link in self._reading.fabric.links:
            ends = _ends_of_link(link)
            gone = [end for end in ends if end.port not in self._ports(end.node)]
            if gone:
                for end in gone:
                    self._report_missing_end(end)
            elif twice := [end for end in ends if end in used]:
                self._record_change(str(twice[0]), "a second cable is left out")
            else:
                used.update(ends)
                yield ends

    def _report_missing_end(self, end: End) -> None:
        """Tell why a cable has no such end, once for a node that is not there."""
        if end.node in self._nodes:
            self._record_change(str(end), "not in the lab, nor is its cable")
        elif end.node not in self._index.devices and end.node not in self._changed[_WHY_NODE_LEFT_OUT]:
            self._record_change(end.node, _WHY_NODE_LEFT_OUT)

    def _ports(self, name: str) -> Mapping[str, str]:
        return self._nodes[name].ports if name in self._nodes else {}

    def _render_end(self, link_end: End) -> str:
        node = self._nodes[link_end.node]
        return f"{node.name}:{node.ports[link_end.port]}"

    def _render_topology_file(self, links: list[tuple[End, End]], used: set[End], changed: tuple[str, ...]) -> str:
        empty = [
            (node.name, interface)
            for name, node in self._nodes.items()
            if node.empty_ports
            for port, interface in node.ports.items()
            if End(name, port) not in used
        ]
        shared = [
            _LabNodeKind(kind, self._chosen.get(key, kind.image), _format_container_binds(kind.binds))
            for key, kind in self._kinds.items()
        ]
        return load_template("containerlab/topology.clab.yml.j2").render(
            name=self._reading.fabric.name,
            lab=self._name,
            file=self._topology,
            kinds=shared,
            changed=changed,
            nodes=list(self._nodes.values()),
            links=[(self._render_end(a), self._render_end(b)) for a, b in links],
            empty=empty,
        )


def _format_container_binds(files: Mapping[str, str], below: str = "") -> tuple[str, ...]:
    """Return files of the lab's folder with where a container sees them, and does not change them."""
    return tuple(f"{below}{file}:{inside}:ro" for file, inside in files.items())


def _ends_of_link(link: Link) -> tuple[End, End]:
    """Return the two ends of a cable."""
    return link.a, link.b


def _sanitize_name(name: str) -> str:
    """Return a name as containers may have it: letters, digits, dots, dashes and underscores, the first no sign."""
    return _INVALID_CHARACTERS_PATTERN.sub("-", name).lstrip("._-")
