"""Neighbors in the files of a switch, compared with the cables: neighbor tables and descriptions of ports.

Both are written once and stay when cables are moved, so a port may name its former neighbor; or the files are right,
and the cable is in the wrong place. Only names of a device or host of the fabric are checked, and ports only where that
device has one of that name: others may be other names of the same port.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property

from nodrop.model.fabric import End, Host, Link
from nodrop.model.reading import DeviceReading, Remark
from nodrop.model.states import Unknown

NEIGHBOR_REMARK_KIND = "neighbor-unlike-cable"
_WORD_SEPARATOR_PATTERN = re.compile(r"[\s:,;|()<>\[\]]+")
"""What stands between the words of a description; names of devices and ports have none of it."""
_DIGIT_PATTERN = re.compile(r"\d")
"""What follows the name of a device is its port only if it has a number: `spine1 swp3`, and not `spine1 backup`."""


def find_neighbors_unlike_cabling(
    readings: Sequence[DeviceReading], links: Iterable[Link], hosts: Iterable[Host]
) -> Iterator[Remark]:
    """Yield ports whose neighbor table, else their description, names another end than their cable's."""
    far: dict[tuple[str, str], End] = {}
    for link in links:
        far[link.a], far[link.b] = link.b, link.a
    known_ends = _KnownDevicePorts(readings, hosts, far)
    for reading in readings:
        name = reading.device.name
        reported_ports: set[str] = set()
        for cable in reading.cables:
            if far.get((name, cable.local_port)) == cable.remote:
                continue
            near = End(name, cable.local_port)
            if truth := known_ends.explain_contradiction(far, near, cable.remote):
                reported_ports.add(cable.local_port)
                yield _make_cabling_remark((*near, "neighbor"), cable.evidence, cable.remote, truth)
        for port in reading.device.interfaces:
            text = port.description
            if isinstance(text, Unknown) or not text or port.name in reported_ports:
                continue
            end = far.get((name, port.name))
            if end is not None and text == f"{end[0]}:{end[1]}":
                continue
            near, named_end = End(name, port.name), known_ends.find_end(text)
            if named_end is not None and (truth := known_ends.explain_contradiction(far, near, named_end)):
                yield _make_cabling_remark((*near, "description"), "its description", named_end, truth)


def only_node_in_text(description: str, nodes: Container[str]) -> str | None:
    """Return the one of some names that a description has as a word; None where it has none of them, or several."""
    named_words = {word for word in _split_words(description) if word in nodes}
    return named_words.pop() if len(named_words) == 1 else None


def _split_words(description: str) -> list[str]:
    return [word for word in _WORD_SEPARATOR_PATTERN.split(description) if word]


def _make_cabling_remark(subject: tuple[str, ...], source: str, named_end: End, truth: str) -> Remark:
    facts = {
        "port": f"{subject[0]}:{subject[1]}",
        "source": source,
        "named": str(named_end).rstrip(":"),
        "truth": truth,
    }
    return Remark(kind=NEIGHBOR_REMARK_KIND, subject=subject, place=None, facts=facts)


class _KnownDevicePorts:
    """The devices and hosts of a fabric and their ports, made when they are first asked for.

    Of a device that was not read they are those that cables lead to.
    """

    def __init__(
        self, readings: Iterable[DeviceReading], hosts: Iterable[Host], cabled: Iterable[tuple[str, str]]
    ) -> None:
        self._sources = readings, hosts, cabled

    @cached_property
    def _ports(self) -> Mapping[str, Set[str]]:
        readings, hosts, cabled = self._sources
        ports: dict[str, set[str]] = {}
        for node, port in cabled:
            ports.setdefault(node, set()).add(port)
        for reading in readings:
            ports.setdefault(reading.device.name, set()).update(port.name for port in reading.device.interfaces)
        for host in hosts:
            ports.setdefault(host.name, set()).update(port.name for port in host.ports)
        return ports

    def explain_contradiction(self, far: Mapping[tuple[str, str], End], near: End, named_end: End) -> str:
        """How the cables contradict that `near` leads to `named_end`, as the end of a sentence; else nothing."""
        ports = self._ports.get(named_end.node)
        if ports is None or near.node == named_end.node:
            return ""
        end = far.get(near)
        if end is None:
            other_end = far.get(named_end)
            return f"{named_end} is cabled to {other_end}" if other_end is not None else ""
        if end.node != named_end.node or (named_end.port in ports and end.port != named_end.port):
            return f"its cable leads to {end}"
        return ""

    def find_end(self, description: str) -> End | None:
        """Return the one end that a description names: a device, with what follows if that may be a port."""
        node = only_node_in_text(description, self._ports)
        if node is None:
            return None
        words = _split_words(description)
        after = next(after for word, after in zip(words, [*words[1:], ""], strict=True) if word == node)
        return End(node, after) if words == [node] or _DIGIT_PATTERN.search(after) else None
