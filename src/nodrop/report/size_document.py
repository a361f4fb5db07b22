"""A sized fabric as a document: switches by tier, ports in use, cables by medium and length, and modules."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from nodrop.hardware import media
from nodrop.report.document import Paragraph, ReportDocument, Table
from nodrop.report.names import format_count
from nodrop.sizing.fabric import SizedFabric, SizedGroup, SizedHosts, SizedLinks
from nodrop.sizing.request import SizeRequest
from nodrop.units import show_speed


class SizedGroupFacts(TypedDict):
    """A group of equal switches; ports are panel ports of the switch that has most in use."""

    name: str
    tier: int
    model: str
    count: int
    pods: int
    ports_in_use: int
    ports: int
    down_mbps: int
    up_mbps: int
    oversubscription: float | None


CableFacts = TypedDict(
    "CableFacts", {"from": str, "to": str, "count": int, "speed_mbps": int, "media": str, "length_m": int}
)
_OfModel = TypedDict("_OfModel", {"in": str})


class TransceiverFacts(_OfModel):
    """Transceivers of a kind in a model, each for so many links."""

    media: str
    speed_mbps: int
    links: int
    count: int


class SizedFabricFacts(TypedDict):
    """A sized fabric as `nodrop size --format json` has it; rates in Mb/s, lengths in meters."""

    version: int
    gpus: int
    servers: int
    ports_of_server: int
    storage_nodes: int
    rails: int
    most_oversubscription: float
    switches: int
    pods: int
    planes: int
    groups: list[SizedGroupFacts]
    cables: list[CableFacts]
    modules: list[TransceiverFacts]
    pools: Mapping[str, str]


FORMAT_VERSION = 1
_SWITCH_HEAD = ("tier", "group", "count", "model", "panel ports in use", "down", "up", "oversubscription")
_CABLE_HEAD = ("from", "to", "count", "speed", "medium", "length")
_MODULE_HEAD = ("in", "medium", "links of each", "count")


def size_facts(fabric: SizedFabric, request: SizeRequest) -> SizedFabricFacts:
    """Return what a sized fabric consists of, as plain data; rates in Mb/s, lengths in meters."""
    cables = list(_all_cable_facts(fabric))
    return {
        "version": FORMAT_VERSION,
        "gpus": request.gpus,
        "servers": request.gpus // request.gpus_of_server,
        "ports_of_server": request.ports,
        "storage_nodes": request.storage.nodes if request.storage else 0,
        "rails": request.rails,
        "most_oversubscription": float(request.ratio),
        "switches": sum(group.count for group in fabric.groups),
        "pods": fabric.shape.pods,
        "planes": fabric.shape.planes,
        "groups": [_group_facts(fabric, group) for group in fabric.groups],
        "cables": cables,
        "modules": list(_transceiver_facts(fabric)),
        "pools": fabric.address_pools(),
    }


def _group_facts(fabric: SizedFabric, group: SizedGroup) -> SizedGroupFacts:
    """Return what there is of a group."""
    uses = list(_panels_in_use(fabric, group))
    down, up = (sum(mbps for side, _, mbps in uses if side == wanted) for wanted in ("down", "up"))
    return {
        "name": group.name,
        "tier": group.tier,
        "model": group.model.name,
        "count": group.count,
        "pods": -(-group.count // group.per_pod) if group.per_pod else 0,
        "ports_in_use": sum(panels for _, panels, _ in uses),
        "ports": len(group.model.panels),
        "down_mbps": down,
        "up_mbps": up,
        "oversubscription": round(down / up, 4) if up else None,
    }


def _panels_in_use(fabric: SizedFabric, group: SizedGroup) -> Iterator[tuple[str, int, int]]:
    """Yield, for each use of a switch's ports: down or up, panel ports, and Mb/s; of the switch that has most."""
    for sized in fabric.hosts:
        if sized.leaves == group.name:
            down = sized.leaf_group * _ports_per_leaf_and_leaf_count(sized)[0]
            yield "down", sized.hosts.down.count_panels(down), down * sized.hosts.down.speed_mbps
    for links in fabric.links:
        for name, side, split in ((links.lower, "up", links.split), (links.upper, "down", links.peer_split)):
            if name == group.name:
                ports = links.links * _max_peer_switches(fabric, links, name)
                yield side, -(-ports // split), ports * links.speed_mbps


def _all_cable_facts(fabric: SizedFabric) -> Iterator[CableFacts]:
    """Yield the cables of hosts, then those between switches, planes together."""
    for sized in fabric.hosts:
        hosts = sized.hosts
        ends = (hosts.name, sized.leaves)
        yield _cable_facts(ends, hosts.count * hosts.ports, hosts.down.speed_mbps, sized.media, sized.length_m)
    counts: Counter[tuple[tuple[str, str], int, str, int]] = Counter()
    for links in fabric.links:
        ends = (_group_name_without_plane(fabric, links.lower), _group_name_without_plane(fabric, links.upper))
        counts[ends, links.speed_mbps, links.media, links.length_m] += links.count
    for (ends, speed, medium, length_m), number in counts.items():
        yield _cable_facts(ends, number, speed, medium, length_m)


def _cable_facts(ends: tuple[str, str], number: int, speed_mbps: int, medium: str, length_m: int) -> CableFacts:
    return {
        "from": ends[0],
        "to": ends[1],
        "count": number,
        "speed_mbps": speed_mbps,
        "media": medium,
        "length_m": length_m,
    }


def _group_name_without_plane(fabric: SizedFabric, name: str) -> str:
    """Return what groups of all planes have in common."""
    return name.rpartition("-")[0] if fabric.shape.planes > 1 and fabric.group(name).tier > 1 else name


def _transceiver_facts(fabric: SizedFabric) -> Iterator[TransceiverFacts]:
    """Yield the transceivers: one for each panel port in use, for so many links, and one for each port of a host.

    Cables with fixed ends have none. A pod with fewer leaves than others counts as a whole one at its spines.
    """
    counts: Counter[tuple[str, str, int, int]] = Counter()
    for sized in fabric.hosts:
        hosts, use = sized.hosts, sized.hosts.down
        if _is_transceiver_medium(sized.media):
            sets, rest = divmod(hosts.count, sized.leaf_group)
            on_leaf, leaves = _ports_per_leaf_and_leaf_count(sized)
            panels = leaves * (sets * use.count_panels(sized.leaf_group * on_leaf) + use.count_panels(rest * on_leaf))
            counts[use.model.name, sized.media, use.speed_mbps, use.split] += panels
            counts[hosts.nic, sized.media, use.speed_mbps, 1] += hosts.count * hosts.ports
    for links in fabric.links:
        if _is_transceiver_medium(links.media):
            for name, split in ((links.lower, links.split), (links.upper, links.peer_split)):
                group = fabric.group(name)
                panels = group.count * -(-links.links * _max_peer_switches(fabric, links, name) // split)
                counts[group.model.name, links.media, links.speed_mbps, split] += panels
    for (model, medium, speed, split), number in counts.items():
        yield {"in": model, "media": medium, "speed_mbps": speed, "links": split, "count": number}


def _ports_per_leaf_and_leaf_count(sized: SizedHosts) -> tuple[int, int]:
    """Return how many ports of a host are on a leaf, and on how many leaves it has ports."""
    return sized.hosts.ports_on_leaf, sized.hosts.leaves_per_host


def _max_peer_switches(fabric: SizedFabric, links: SizedLinks, name: str) -> int:
    """Return to how many switches of the other group a switch has links, at most."""
    lower, upper = fabric.group(links.lower), fabric.group(links.upper)
    if name == links.lower:
        return upper.per_pod or upper.count
    return min(lower.per_pod or lower.count, lower.count) if upper.per_pod else lower.count


def _is_transceiver_medium(name: str) -> bool:
    """Whether a medium is a transceiver with a fiber; DAC and AOC are cables with fixed ends."""
    return not media()[name].passive and name != "AOC"


def build_size_document(facts: SizedFabricFacts) -> ReportDocument:
    """Return the facts as a document."""
    hosts = f"{facts['gpus']} GPUs in {format_count(facts['servers'], 'server')}"
    if facts["storage_nodes"]:
        hosts += f" and {format_count(facts['storage_nodes'], 'storage node')}"
    shape = f" in {format_count(facts['pods'], 'pod')}" if facts["pods"] > 1 else ""
    shape += f" and {format_count(facts['planes'], 'plane')}" if facts["planes"] > 1 else ""
    groups = tuple(map(_group_row, _merge_planes(facts["groups"])))
    return ReportDocument(
        body=(
            Paragraph(f"{hosts}: {format_count(facts['switches'], 'switch')}{shape}"),
            Table(title="Switches", heads=_SWITCH_HEAD, rows=groups),
            Table(title="Cables", heads=_CABLE_HEAD, rows=tuple(map(_cable_row, facts["cables"]))),
            Table(title="Modules", heads=_MODULE_HEAD, rows=tuple(map(_transceiver_row, facts["modules"]))),
        )
    )


def _merge_planes(groups: Sequence[SizedGroupFacts]) -> Iterator[SizedGroupFacts]:
    """Yield groups with those that differ in the plane alone as one."""
    by_facts: dict[tuple[object, ...], list[SizedGroupFacts]] = {}
    for row in groups:
        by_facts.setdefault(tuple(value for key, value in row.items() if key != "name"), []).append(row)
    for alike in by_facts.values():
        name = alike[0]["name"] if len(alike) == 1 else f"{alike[0]['name']} to {alike[-1]['name']}"
        yield {**alike[0], "name": name, "count": sum(row["count"] for row in alike)}


def _group_row(row: SizedGroupFacts) -> Sequence[str]:
    ratio = "" if row["oversubscription"] is None else f"{row['oversubscription']:.4g}:1"
    rates = (show_speed(mbps) if mbps else "" for mbps in (row["down_mbps"], row["up_mbps"]))
    ports = f"{row['ports_in_use']} of {row['ports']}"
    return (str(row["tier"]), row["name"], str(row["count"]), row["model"], ports, *rates, ratio)


def _cable_row(row: CableFacts) -> Sequence[str]:
    speed = show_speed(row["speed_mbps"])
    return (row["from"], row["to"], str(row["count"]), speed, row["media"], f"{row['length_m']}m")


def _transceiver_row(row: TransceiverFacts) -> Sequence[str]:
    links = f"{row['links']} × {show_speed(row['speed_mbps'])}"
    return (row["in"], row["media"], links, str(row["count"]))
