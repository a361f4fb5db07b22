"""A snapshot for Batfish: one node for every switch and host, the parts that Batfish's own readers take, and the
cables.

The parts that they take, and those that they skip silently, are in the sources of Batfish 0.36 and tested against it. A
SONiC switch keeps its own tables, cut down to those that are read, if nothing on it needs more; every other switch is
written as the interfaces file and frr.conf that Cumulus Linux would have, in one file. Omissions are reported.
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from nodrop import platforms
from nodrop.errors import UnsupportedByPlatform
from nodrop.export.batfish.hosts import batfish_host_files
from nodrop.export.batfish.lost import (
    comment_out_lines,
    find_fatal_interface_lines,
    find_first_fatal_bgp_line,
    spell_underscores_of_as_path_lists,
)
from nodrop.export.batfish.names import BatfishInterfaceNames, node_names_of
from nodrop.export.batfish.stanzas import format_interfaces_part
from nodrop.export.batfish.unseen import NO_IPV4_HOST_REASON, unseen_access_lists, unseen_parts_of_device
from nodrop.export.frr_conf import FrrConf, frr_conf, render_routing
from nodrop.locate import load_unchanged_source
from nodrop.model import subject
from nodrop.model.fabric import Device, End
from nodrop.model.index import Index
from nodrop.model.reading import FilePlace, Reading
from nodrop.model.states import known_rows
from nodrop.model.subject import Subject
from nodrop.routing.legs import routed_interfaces
from nodrop.routing.observation import RefusedLine
from nodrop.routing.routers import find_sub_interfaces
from nodrop.routing.stand_ins import with_stand_ins

PlaceOf = Callable[[int], FilePlace | None]
LAYER1_FILE = "batfish/layer1_topology.json"
"""The file of the cables, which every snapshot has."""
SNAPSHOT_FILE_PATTERNS = (LAYER1_FILE, "hosts/*.json", "configs/*.cfg", "*_configs/*/*.json", "*_configs/*/frr.conf")
"""The names of the files, as patterns."""
_EMPTY_FRR_CONF = "line vty\n"
"""A frr.conf without a statement is refused."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The files of a snapshot by their names in its folder, and the way back from Batfish's results about them.

    `where` has, per file of a switch, its device, and the place of a line of it in the device's own files; `names` the
    device or host of each node; `ports` the leg of each (device, interface of the node).
    """

    files: Mapping[str, str]
    where: Mapping[str, tuple[str, PlaceOf]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[tuple[str, str], str] = field(default_factory=dict)
    unseen: Mapping[Subject, str] = field(default_factory=dict)
    """The parts that Batfish does not see, or not as they are, with the fact that says why."""
    links: int = 0
    """How many cables the snapshot has."""
    refused: tuple[RefusedLine, ...] = ()
    """Lines that are left out, for Batfish would lose the device at them."""
    anew: tuple[str, ...] = ()
    """The devices whose own frr.conf could not be kept."""
    made: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What of the snapshot comes from nodrop's reading of the files and not from their text, with whose it is."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the names and texts of all files, hex: equal snapshots have equal ones, on every machine."""
        hasher = hashlib.sha256()
        for name, text in sorted(self.files.items()):
            for encoded_text in (name.encode(), text.encode()):
                hasher.update(len(encoded_text).to_bytes(8, "big") + encoded_text)
        return hasher.hexdigest()


def build_snapshot(reading: Reading) -> Snapshot:
    """Return the snapshot of a reading; InputProblems where a file has changed since it was read."""
    return _SnapshotWriter(reading).snapshot()


_MAX_LISTED = 3


def report_omissions(new_snapshot: Snapshot) -> Iterator[str]:
    """Yield the parts not seen, rewritten or left out: a line for each reason, with the first parts concerned."""
    unseen = ((subject.subject_text(subjects), reason) for subjects, reason in new_snapshot.unseen.items())
    yield from _format_by_reason("not seen", unseen)
    yield from _format_by_reason("written anew", ((device, _WHY_LINES_REPLACED) for device in new_snapshot.anew))
    yield from _format_by_reason(
        "left out", ((_format_refused_line(refusal), refusal.said) for refusal in new_snapshot.refused)
    )


def report_generated_parts(snapshot: Snapshot) -> Iterator[str]:
    """Yield the parts of a snapshot made from nodrop's reading instead of a file.

    No answer of a validator can reveal a misreading of these parts.
    """
    part_texts = [f"{part_kind} of {_list_first_parts(whose)}" for part_kind, whose in snapshot.made]
    if snapshot.links:
        part_texts.append(f"{snapshot.links} cables")
    if part_texts:
        yield f"given as nodrop reads it, so that a misreading shows in no answer: {'; '.join(part_texts)}"


def _format_refused_line(refused_line: RefusedLine) -> str:
    place = f"{refused_line.place.file}:{refused_line.place.span.line}" if refused_line.place else "frr.conf"
    return f"{refused_line.device}, {place}, `{refused_line.text}`"


def _format_by_reason(heading: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    subjects_by_reason: dict[str, list[str]] = {}
    for subject_text, reason in pairs:
        subjects_by_reason.setdefault(reason, []).append(subject_text)
    for reason, all_of in subjects_by_reason.items():
        yield f"{heading}: {_list_first_parts(all_of)}: {reason}"


def _list_first_parts(texts: Sequence[str]) -> str:
    suffix = f" and {len(texts) - _MAX_LISTED} more" if len(texts) > _MAX_LISTED else ""
    return f"{', '.join(texts[:_MAX_LISTED])}{suffix}"


class _SnapshotWriter:
    def __init__(self, reading: Reading) -> None:
        self._reading, self._index = reading, Index(with_stand_ins(reading.fabric))
        self._files: dict[str, str] = {}
        self._where: dict[str, tuple[str, PlaceOf]] = {}
        self._ports: dict[tuple[str, str], str] = {}
        self._unseen: dict[Subject, str] = {}
        self._bundled: set[End] = set()
        self._refused: list[RefusedLine] = []
        self._anew: list[str] = []
        self._made: dict[str, list[str]] = {}
        self._at: dict[End, tuple[str, str]] = {}
        """By the end of a cable, its node and that node's interface."""

    def snapshot(self) -> Snapshot:
        names, written = node_names_of(self._index), set[str]()
        for device in self._index.devices.values():
            try:
                self._export_device(device, names[device.name])
            except UnsupportedByPlatform as error:
                self._unseen[(device.name,)] = f"it cannot be written for Batfish: {error}"
            else:
                written.add(names[device.name])
        for host in batfish_host_files(self._index, names):
            self._files[f"hosts/{host.node}.json"] = host.text
            self._made.setdefault(_HOSTS_PHRASE, []).append(host.name)
            self._at.update({End(host.name, port): (host.node, port) for port in host.ports})
            written.add(host.node)
        edges = list(self._cable_edges())
        self._files[LAYER1_FILE] = json.dumps({"edges": edges}, indent=1) + "\n"
        return Snapshot(
            files=dict(sorted(self._files.items())),
            where=self._where,
            names={node: name for name, node in names.items() if node in written},
            ports=self._ports,
            unseen=self._unseen,
            links=len(edges),
            refused=tuple(self._refused),
            anew=tuple(self._anew),
            made=tuple((part_kind, tuple(whose)) for part_kind, whose in self._made.items()),
        )

    def _export_device(self, device: Device, node: str) -> None:
        conf = self._frr_conf_for_batfish(device)
        bundle = {source.name: load_unchanged_source(source) for source in self._reading.sources.get(device.name, ())}
        text = spell_underscores_of_as_path_lists(conf.text) if conf else ""
        tables = platforms.batfish_tables(device, bundle, node, text)
        self._unseen |= unseen_parts_of_device(device, conf)
        self._made.setdefault(_PORTS_PHRASE if tables is None else _PORT_STATES_PHRASE, []).append(device.name)
        if conf is not None and conf.own:
            self._made.setdefault(_ROUTING_PHRASE, []).append(device.name)
        if tables is not None:
            folder = f"{tables.folder}/{node}"
            self._files[f"{folder}/{tables.file}"] = tables.text
            self._unseen |= tables.unseen
            names = BatfishInterfaceNames.of_tables(device, tables.vlan)
            self._write_frr_file(f"{folder}/frr.conf", device.name, "", conf, text)
        else:
            self._unseen |= unseen_access_lists(device)
            names = BatfishInterfaceNames.of_stanzas(device)
            text = names.rename_interfaces_in_text(text)
            self._write_frr_file(
                f"configs/{node}.cfg", device.name, format_interfaces_part(device, node, names, text), conf, text
            )
        self._ports |= {(device.name, names.leg(leg)): leg.name for leg in routed_interfaces(device)}
        if tables is None:
            self._ports |= {(device.name, names.port(sub.name)): sub.name for sub in find_sub_interfaces(device)}
        channels = known_rows(device.port_channels)
        self._bundled |= {End(device.name, port) for channel in channels for port in channel.members}
        self._at.update({End(device.name, port.name): (node, names.port(port.name)) for port in device.interfaces})

    def _frr_conf_for_batfish(self, device: Device) -> FrrConf | None:
        """Return the device's FRR text without lines at which Batfish would lose the device, or else text made of the
        reading.
        """
        conf = frr_conf(self._reading, device)
        if conf is None or conf.own:
            return conf
        lost = find_fatal_interface_lines(conf.text)
        if (loss := find_first_fatal_bgp_line(conf.text)) is not None and (
            own_frr_conf := render_routing(device)
        ) is not None:
            lost, new_frr_conf = [loss], own_frr_conf
            self._anew.append(device.name)
        else:
            new_frr_conf = dataclasses.replace(conf, text=comment_out_lines(conf.text, lost))
        self._refused += [
            RefusedLine(
                device=device.name, text=stray.text, said=stray.why, place=conf.place(stray.line), matters=False
            )
            for stray in lost
        ]
        return new_frr_conf

    def _write_frr_file(self, file: str, device: str, before: str, conf: FrrConf | None, text: str) -> None:
        """Write what FRR runs, behind what stands `before` it."""
        if not any(line.strip() and line.strip()[0] not in "!#" for line in text.split("\n")):
            text = f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{_EMPTY_FRR_CONF}"
        lines = text.count("\n") + 1
        start = before.count("\n")
        place = conf.place if conf else _no_place_for_line
        limit = conf.text.count("\n") + 1 if conf else 0
        self._files[file] = before + text
        self._where[file] = device, lambda line: place(line - start) if 0 < line - start <= min(limit, lines) else None

    def _cable_edges(self) -> Iterator[dict[str, dict[str, str]]]:
        """Yield the cables between ports that the snapshot has, each once."""
        seen = set()
        for link in self._reading.fabric.links:
            ends = [self._at.get(end) for end in (link.a, link.b)]
            of_host = any(end.node in self._index.hosts for end in (link.a, link.b))
            if ends[0] is None or ends[1] is None:
                self._unseen[subject.link_subject(link.a, link.b)] = (
                    NO_IPV4_HOST_REASON if of_host else _WHY_CABLE_LEFT_OUT
                )
            elif of_host and self._bundled & {link.a, link.b}:
                self._unseen[subject.link_subject(link.a, link.b)] = _WHY_HOST_BOND_LEFT_OUT
            elif (key := frozenset(ends)) not in seen:
                seen.add(key)
                a, b = ({"hostname": node, "interfaceName": port} for node, port in (ends[0], ends[1]))
                yield {"node1": a, "node2": b}


_PORTS_PHRASE = "ports, VLANs and their addresses"
_PORT_STATES_PHRASE = "MTUs and states of ports"
_ROUTING_PHRASE = "BGP, policies and static routes"
_HOSTS_PHRASE = "addresses and gateways"
_WHY_LINES_REPLACED = (
    "Batfish loses the device at lines of its frr.conf, so nodrop replaces them by the lines that it read"
)
_WHY_HOST_BOND_LEFT_OUT = "Batfish has no bonds of hosts, so a port channel with cables to ports outside a bond is down"
_WHY_CABLE_LEFT_OUT = "one end is at no port that was read, and Batfish has cables between ports only"


def _no_place_for_line(_line: int) -> None:
    return None
