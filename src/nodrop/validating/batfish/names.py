"""Between Batfish's names and the model's: nodes and devices, interfaces and legs, VRFs, lines and places."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, Protocol

from nodrop.model.fabric import End
from nodrop.model.reading import FilePlace
from nodrop.model.subject import Subject
from nodrop.routing.prefixes import Prefix, parse_address, parse_prefix
from nodrop.validating.batfish.service import AnswerRow

_UNQUOTED_NODE_PATTERN: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]*")


class ExportedSnapshot(Protocol):
    """A snapshot as it was made from a fabric."""

    @property
    def files(self) -> Mapping[str, str]:
        """The text of its files."""

    @property
    def where(self) -> Mapping[str, tuple[str, Callable[[int], FilePlace | None]]]:
        """The device that a file describes, and where its lines stand in that device's own files."""

    @property
    def names(self) -> Mapping[str, str]:
        """The devices and hosts by the names of Batfish's nodes."""

    @property
    def ports(self) -> Mapping[tuple[str, str], str]:
        """The names of legs by device and Batfish's name of the interface."""

    @property
    def unseen(self) -> Mapping[Subject, str]:
        """The parts of the fabric that are not in the files, or not as they are, and why."""


class NodeNames:
    """Batfish's names for the parts of a fabric's devices; they do not distinguish capitals from small letters."""

    def __init__(self, exported: ExportedSnapshot) -> None:
        self._exported = exported
        devices = {device for device, _ in exported.where.values()}
        self._devices = {node.lower(): device for node, device in exported.names.items() if device in devices}
        self._legs = {(device, name.lower()): leg for (device, name), leg in exported.ports.items()}

    @cached_property
    def node_by_device(self) -> Mapping[str, str]:
        """Batfish's names of the devices."""
        return {device: node for node, device in self._devices.items()}

    def device(self, node: object) -> str | None:
        """Return the device of a node, from its name or its cell in a row; None for hosts and unknown nodes."""
        name = node.get("name") if isinstance(node, dict) else node
        return self._devices.get(str(name).lower())

    def end_of_interface_cell(self, interface: object) -> End | None:
        """Return the device and leg of an interface's cell in a row; None where it is none of a device."""
        if not isinstance(interface, dict):
            return None
        return self.end_of_interface_name(self.device(interface.get("hostname")), interface.get("interface"))

    def end_of_interface_name(self, device: str | None, interface: object) -> End | None:
        """Return the same of a device and an interface name; one without a name in the model keeps Batfish's."""
        if device is None or interface is None:
            return None
        return End(device, self._legs.get((device, str(interface).lower()), str(interface)))

    def device_and_place_of_line(self, file: str, line: int | None) -> tuple[str | None, FilePlace | None]:
        """Return the device of a file of the snapshot, and the place of a line of it in the device's files."""
        file_origin = self._exported.where.get(file)
        if file_origin is None:
            return None, None
        return file_origin[0], None if line is None else file_origin[1](line)

    def line(self, file: str, line: int | None) -> str:
        """Return a line of the snapshot."""
        lines = self._exported.files.get(file, "").splitlines()
        return lines[line - 1].strip() if line is not None and 0 < line <= len(lines) else ""


def vrf_of_row(answer_row: AnswerRow) -> str | None:
    """Return the VRF of a row; None is the default one."""
    name = answer_row.get("VRF")
    return None if name in (None, "default") else str(name)


class AddressOwners:
    """The addresses of a fabric as Batfish has them (`ipOwners`): who has one, and which leg its subnet is at."""

    def __init__(self, rows: Iterable[AnswerRow], names: NodeNames) -> None:
        self.of: dict[tuple[str | None, str], set[End]] = {}
        self._subnets: dict[tuple[str, str | None], dict[Prefix, End]] = {}
        for row in rows:
            end = names.end_of_interface_name(names.device(row["Node"]), row["Interface"])
            own_address = parse_address(str(row["IP"]))
            if end is None or own_address is None:
                continue
            self.of.setdefault((vrf_of_row(row), str(own_address)), set()).add(end)
            subnet = parse_prefix(f"{own_address}/{row['Mask']}")
            if subnet is not None:
                self._subnets.setdefault((end.node, vrf_of_row(row)), {})[subnet] = end

    def leg_towards(self, device: str, where: str | None, far: str) -> str | None:
        """Return the leg in whose subnet an address is, the longest first."""
        found_address = parse_address(far)
        subnets = self._subnets.get((device, where), {})
        matching = [
            subnet for subnet in subnets if found_address is not None and subnet.contains_address(found_address)
        ]
        return subnets[max(matching, key=lambda candidate: candidate.length)].port if matching else None


def format_node_specifier(nodes: Sequence[str]) -> str:
    """Nodes as Batfish wants them named: a union, odd names in quotes (its grammar of node specifiers)."""
    return ", ".join(node if _UNQUOTED_NODE_PATTERN.fullmatch(node) else f'"{node}"' for node in nodes)
