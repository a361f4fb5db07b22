"""Which packets get through in one build and not in another, as Batfish proves it for all of them at once.

Batfish gives one packet for each place where packets start, so destinations are halved until each that differs stands
alone. Packets start at the leaves, and at the cables to hosts of those leaves that are not written alike in both: what
happens to packets that come in, such as filters, is written there and nowhere else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network, ip_address, ip_network
from typing import Final

from nodrop.export.batfish import build_snapshot
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.model.subject import natural_sort_key
from nodrop.routing.observation import DifferingFlow
from nodrop.routing.stand_ins import addresses_outside, with_stand_ins
from nodrop.validating import compute_observation, leaves_by_destination_prefix
from nodrop.validating.batfish.failures import MAX_SHOWN_PACKET_PATHS, BatfishNames, DifferingPacket
from nodrop.validating.batfish.names import ExportedSnapshot, format_node_specifier
from nodrop.validating.batfish.service import BatfishService, LoadedSnapshot

MAX_QUESTIONS: Final = 200
"""So many questions are asked at most, of half a second each in a small fabric and of some seconds for 50 switches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedBuild:
    """One of two builds, as Batfish has it."""

    loaded: LoadedSnapshot
    called: BatfishNames
    fabric: Fabric
    leaves: frozenset[str]
    texts: Mapping[str, str]
    """What each device is in the snapshot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketDifference:
    """What packets gain and lose from one build to another."""

    flows: tuple[DifferingFlow, ...]
    notes: tuple[str, ...] = ()
    """What a reader should know of how it was done."""


def compare_builds(
    old_reading: Reading,
    new_reading: Reading,
    service: str,
    *,
    index: Index | None = None,
    progress: Callable[[str], None] | None = None,
) -> PacketDifference:
    """Compare two builds in the service at HOST or HOST:PORT; `index` is of the new one's fabric, if available.

    ServiceUnavailable if there is no service or it stops in the middle; InputProblems if a file has changed since it
    was read.
    """
    builds = [
        (old_reading, Index(old_reading.fabric), build_snapshot(old_reading)),
        (new_reading, index or Index(new_reading.fabric), build_snapshot(new_reading)),
    ]
    prefixes: set[str] = set()
    with BatfishService(service, progress=progress) as opened:
        sides = []
        for reading, own_index, exported in builds:
            if progress is not None:
                progress(f"Batfish reads {len(exported.files)} files")
            loaded = opened.load_snapshot(exported.files)
            leaves = frozenset(item[0] for item in compute_observation(own_index).seen.get("reach", {}))
            called = BatfishNames.of(exported, loaded)
            texts = _texts_by_device(exported)
            fabric = with_stand_ins(reading.fabric)
            sides.append(ComparedBuild(loaded=loaded, called=called, fabric=fabric, leaves=leaves, texts=texts))
            prefixes |= leaves_by_destination_prefix(own_index).keys()
        found_difference = compare_reachability(sides[0], sides[1], prefixes, progress)
    return replace(found_difference, notes=(opened.versions, *found_difference.notes))


def compare_reachability(
    old_side: ComparedBuild,
    new_side: ComparedBuild,
    prefixes: Iterable[str],
    progress: Callable[[str], None] | None = None,
) -> PacketDifference:
    """Return what becomes of packets to some prefixes, from every leaf that both builds have."""
    notes = []
    wanted_prefixes = sorted(set(prefixes), key=natural_sort_key)
    ipv4 = {prefix: network for prefix in wanted_prefixes if isinstance(network := ip_network(prefix), IPv4Network)}
    if len(ipv4) < len(wanted_prefixes):
        notes.append("the builds are compared for IPv4 alone: Batfish reads no IPv6 routes")
    single = sorted(old_side.leaves ^ new_side.leaves, key=natural_sort_key)
    notes += [f"packets from {leaf} are not compared: only one of the builds has it" for leaf in single]
    starts = list(_start_locations(old_side, new_side))
    if not starts or not ipv4 or old_side.loaded.name == new_side.loaded.name:
        return PacketDifference(flows=(), notes=tuple(notes))
    search = _PacketDifferenceSearch(old_side, new_side, ipv4, starts, progress)
    flows = tuple(
        sorted(
            search.flows(),
            key=lambda flow: (natural_sort_key(flow.source), natural_sort_key(flow.prefix), flow.lost, flow.port),
        )
    )
    if search.left:
        notes.append(f"{len(search.left)} prefixes differ together and were not separated:  {', '.join(search.left)}")
    return PacketDifference(flows=flows, notes=tuple(notes))


def _texts_by_device(exported: ExportedSnapshot) -> dict[str, str]:
    """Return the text of each device's files."""
    texts: dict[str, str] = {}
    for file, (device, _) in sorted(exported.where.items()):
        texts[device] = texts.get(device, "") + exported.files[file]
    return texts


def _start_locations(old: ComparedBuild, new: ComparedBuild) -> Iterator[str]:
    """Yield the places where packets start: leaves, and ports of changed leaves at which both builds have a host."""
    nodes = old.called.nodes.keys() & new.called.nodes.keys()
    ports: dict[str, list[str]] = {}
    for end in sorted(_leaf_ports_with_hosts(old) & _leaf_ports_with_hosts(new)):
        ports.setdefault(end[0], []).append(end[1])
    for leaf in sorted(old.leaves & new.leaves & nodes, key=natural_sort_key):
        node = new.called.nodes[leaf]
        yield (name := format_node_specifier([node]))
        if node in ports and old.texts.get(leaf) != new.texts.get(leaf):
            yield f"@enter({name}[{format_node_specifier(ports[node])}])"


def _leaf_ports_with_hosts(snapshot_side: ComparedBuild) -> set[tuple[str, str]]:
    devices = {device.name for device in snapshot_side.fabric.devices}
    links = [link for link in snapshot_side.fabric.links if not {link.a.node, link.b.node} <= devices]
    ends = {end for link in links for end in (link.a, link.b)}
    return {(port.node, port.port) for end in ends if (port := snapshot_side.called.ports.get(end)) is not None}


class _PacketDifferenceSearch:
    """The questions that distinguish differing prefixes."""

    def __init__(
        self,
        old: ComparedBuild,
        new: ComparedBuild,
        prefixes: Mapping[str, IPv4Network],
        starts: Sequence[str],
        progress: Callable[[str], None] | None,
    ) -> None:
        self._old, self._new, self._prefixes, self._progress = old, new, prefixes, progress
        outside = {**addresses_outside(old.fabric), **addresses_outside(new.fabric)}
        self._outside = {str(prefix): ", ".join(map(str, addresses)) for prefix, addresses in outside.items()}
        """The addresses of stand-ins by prefix: nobody has any other address of the default route."""
        self._start = ", ".join(starts)
        self._devices = {node: device for side in (old, new) for device, node in side.called.nodes.items()}
        self._asked = 0
        self.left: list[str] = []
        """Prefixes that were not looked at one by one when the questions were used up."""

    def flows(self) -> Iterator[DifferingFlow]:
        """Yield what differs, once for each start and prefix; of a device's ports only where it delivers itself."""
        found_flows: dict[tuple[str, str, bool, str], DifferingFlow] = {}
        sets = [tuple(self._prefixes)]
        while sets:
            prefixes = sets.pop(0)
            witnesses = list(self._ask_differing_packets(prefixes))
            if witnesses and len(prefixes) > 1:
                if self._asked + len(sets) + 2 <= MAX_QUESTIONS:
                    half = len(prefixes) // 2
                    sets += [prefixes[:half], prefixes[half:]]
                    continue
                self.left += prefixes
            for witness in witnesses:
                flow = self._flow_of_witness(witness, prefixes)
                found_flows.setdefault((flow.source, flow.prefix, flow.lost, flow.port), flow)
        for start, prefix, lost, port in found_flows:
            if not port or (start, prefix, lost, "") not in found_flows:
                yield found_flows[start, prefix, lost, port]

    def _ask_differing_packets(self, prefixes: Sequence[str]) -> Iterator[DifferingPacket]:
        self._asked += 1
        if self._progress is not None:
            self._progress(f"comparing builds: question {self._asked}")
        rows = self._new.loaded.ask(
            "differentialReachability",
            reference=self._old.loaded,
            pathConstraints={"startLocation": self._start},
            headers={"dstIps": self._addresses_in(prefixes), "srcIps": self._addresses_in(self._prefixes)},
            maxTraces=MAX_SHOWN_PACKET_PATHS,
        )
        return (DifferingPacket.of(row, self._devices) for row in rows)

    def _addresses_in(self, prefixes: Iterable[str]) -> str:
        return ", ".join(self._outside.get(prefix, prefix) for prefix in prefixes)

    def _flow_of_witness(self, witness: DifferingPacket, prefixes: Sequence[str]) -> DifferingFlow:
        to = ip_address(witness.to)
        within = [prefix for prefix in prefixes if to in self._prefixes[prefix]]
        prefix = max(within, key=lambda candidate: self._prefixes[candidate].prefixlen)
        return DifferingFlow(
            source=witness.start,
            port=witness.port,
            prefix=prefix,
            destination=witness.to,
            old=witness.before,
            new=witness.after,
            lost=witness.lost,
        )
