"""Which ports of switches the NICs of a host file face, and which hosts it is about."""

from collections.abc import Iterator
from typing import NamedTuple

from nodrop import hardware
from nodrop.model.fabric import Device, Host, HostPort, Interface, Link
from nodrop.model.index import Index
from nodrop.model.nics import Nic
from nodrop.model.qos import QosProfile
from nodrop.model.states import Unknown, is_known_off
from nodrop.model.subject import Subject


class PortFacingNic(NamedTuple):
    """A port of a switch that a NIC faces; without a cable it is any port at which a host may be."""

    device: Device
    port: Interface
    link: Link | None = None

    @property
    def subject(self) -> Subject:
        """The port's subject."""
        return (self.device.name, self.port.name)

    @property
    def name(self) -> str:
        """The port as a message names it."""
        return f"{self.device.name} {self.port.name}"


class HostFileTargets:
    """The hosts and ports of a fabric that a file is about; each is searched once."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._found: dict[tuple[str, ...], tuple[PortFacingNic, ...]] = {}
        self._names: dict[tuple[str, ...], frozenset[str]] = {}
        self._models = sorted(hardware.nics(), key=len, reverse=True)

    def hosts_of_file(self, nic: Nic) -> list[Host]:
        """Return the hosts that a file is about: the one it names, those with the NIC that it names, else all."""
        if (host := self._find_host_named_by_file(nic)) is not None:
            return [host] if _has_nic_model(host, nic) else []
        models = nic.models or self._model_from_file_name(nic)
        hosts = self._index.fabric.hosts
        return [host for host in hosts if not models or isinstance(host.nic, Unknown) or host.nic in models]

    def host_names_of_file(self, nic: Nic) -> frozenset[str]:
        """Return the names of the hosts that a file is about."""
        key = (nic.host, nic.file, *nic.models)
        if key not in self._names:
            self._names[key] = frozenset(host.name for host in self.hosts_of_file(nic))
        return self._names[key]

    def ports_facing_nics_of_file(self, nic: Nic) -> tuple[PortFacingNic, ...]:
        """Return the ports that its NICs face, of those with equal settings the first; any host port without hosts."""
        named_host = self._find_host_named_by_file(nic)
        if named_host is not None and not _has_nic_model(named_host, nic):
            return ()
        words = set(_split_words(nic.file)) if named_host is not None else set()
        port = (
            next((port.name for port in named_host.ports if port.name in words), "") if named_host is not None else ""
        )
        key = (
            (named_host.name, port)
            if named_host is not None
            else ("", *(nic.models or self._model_from_file_name(nic)))
        )
        if key not in self._found:
            distinct: dict[tuple[object, ...], PortFacingNic] = {}
            for facing_port in (
                self._cabled_switch_ports_facing_hosts(self.hosts_of_file(nic), port)
                if self._index.fabric.hosts
                else self._switch_ports_that_may_face_hosts()
            ):
                length_m = facing_port.link.length_m if facing_port.link else None
                speed, mtu_bytes = (
                    _unknown_to_none(facing_port.port.speed_mbps),
                    _unknown_to_none(facing_port.port.mtu_bytes),
                )
                distinct.setdefault((facing_port.port.qos, mtu_bytes, speed, _unknown_to_none(length_m)), facing_port)
            self._found[key] = tuple(distinct.values())
        return self._found[key]

    def _find_host_named_by_file(self, nic: Nic) -> Host | None:
        """Return the host whose name a file has or begins with."""
        if (host := self._index.hosts.get(nic.host)) is not None:
            return host
        stem = nic.host or nic.file
        for text in (stem, nic.file):
            for end in range(len(text), 0, -1):
                if (end == len(text) or not text[end].isalnum()) and text[:end] in self._index.hosts:
                    return self._index.hosts[text[:end]]
        return None

    def _model_from_file_name(self, nic: Nic) -> tuple[str, ...]:
        """Return the NIC model with whose name a file begins."""
        return next(((model,) for model in self._models if _begins_with_model(nic.host, model)), ())

    def _cabled_switch_ports_facing_hosts(self, hosts: list[Host], port: str) -> Iterator[PortFacingNic]:
        for host in hosts:
            for own_port in host.ports:
                if (not port or own_port.name == port) and (
                    facing_port := self._find_facing_port(host, own_port)
                ) is not None:
                    yield facing_port

    def _find_facing_port(self, host: Host, own_host_port: HostPort) -> PortFacingNic | None:
        link = self._index.link(host.name, own_host_port.name)
        if link is None:
            return None
        far = link.b if link.a == (host.name, own_host_port.name) else link.a
        port = self._index.interface(*far)
        return (
            None
            if port is None or is_known_off(port.enabled)
            else PortFacingNic(self._index.devices[far.node], port, link)
        )

    def _switch_ports_that_may_face_hosts(self) -> Iterator[PortFacingNic]:
        for device in self._index.fabric.devices:
            for port in device.interfaces:
                side = None if isinstance(port.side, Unknown) else port.side
                if side != "fabric" and isinstance(port.qos, QosProfile) and not is_known_off(port.enabled):
                    yield PortFacingNic(device, port)


def _has_nic_model(host: Host, nic: Nic) -> bool:
    """Whether a host has NICs of the models that a file is about, as far as it is known."""
    return not nic.models or isinstance(host.nic, Unknown) or host.nic in nic.models


def _begins_with_model(text: str, model: str) -> bool:
    return text.startswith(model) and not text[len(model) : len(model) + 1].isalnum()


def _split_words(file: str) -> list[str]:
    return "".join(char if char.isalnum() else " " for char in file).split()


def _unknown_to_none(value: object) -> object:
    return None if isinstance(value, Unknown) else value


def host_file_targets_of(index: Index) -> HostFileTargets:
    """Return the hosts of a fabric, the same to every rule."""
    return index.compute_once("hosts", lambda: HostFileTargets(index))
