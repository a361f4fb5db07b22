"""`nodrop path`: the way of a packet through a fabric."""

from itertools import product
from typing import TYPE_CHECKING

import click

from nodrop.cli.options import single_format_option, unknown_word_message

if TYPE_CHECKING:
    from nodrop.model.fabric import End, Fabric
    from nodrop.model.index import Index
    from nodrop.report.hops import FactsByKey
    from nodrop.routing import ControlPlane
    from nodrop.routing.paths import PathStart
    from nodrop.routing.prefixes import Address

FINDINGS_EXIT_CODE = 1


@click.command()
@click.argument("src")
@click.argument("dst")
@click.argument("path", default=".", type=click.Path())
@click.option("--dscp", type=click.IntRange(0, 63), help="DSCP of the packet.  [default: that of RDMA]")
@click.option(
    "--without",
    multiple=True,
    metavar="PORT|DEVICE",
    help="Trace with this cable (leaf1:Ethernet0) or switch removed (repeatable).",
)
@single_format_option("text", "json")
def command(src: str, dst: str, path: str, dscp: int | None, without: tuple[str, ...], form: str) -> int:
    """Trace packets from SRC to DST.

    SRC and DST are a host, a port of a host (gpu1:nic1), a switch, a port of a switch, a neighbor outside the fabric,
    or an address. PATH is as for `nodrop lint`; without PATH, the working directory is read.

    Each hop is shown with its route and with the traffic class, priority group and queue of the packet. Access
    lists are evaluated for a RoCE packet (UDP 4791); the entries that match are shown. Between two hosts,
    every pair of ports is traced; with isolated rails, every pair within a rail. The first is shown in full.

    Exit 1 if packets of any pair do not arrive on all paths.

    \b
    Examples:
      nodrop path gpu1 gpu2 intent.yaml
      nodrop path gpu1 gpu2 intent.yaml --without spine1
    """
    from nodrop.cli.output import write_output
    from nodrop.fabric_readings import read_fabric_at_path
    from nodrop.model.index import Index
    from nodrop.report import hops
    from nodrop.report.json import encode_json_document
    from nodrop.routing import compute_control_plane
    from nodrop.routing.paths import PathWalk

    fabric = read_fabric_at_path(path).fabric
    index = Index(fabric)
    plane = compute_control_plane(index, _parse_failed_ends(index, without))
    marked = _default_rdma_dscp(fabric) if dscp is None else dscp
    start, own_address = _parse_source(plane, src)
    to = _find_target_address(plane, dst, own_address)
    walk = PathWalk(plane, start, to)
    shown = hops.path_facts(plane, walk, marked, own_address)
    pairs = _trace_host_port_pairs(plane, src, dst, marked)
    title = f"{src} to {dst} ({to}), DSCP {marked}: {_format_path_count(shown)}"
    query = {"source": src, "destination": dst, "address": str(to), "dscp": marked}
    shown = {"version": 2, **query, **shown, "pairs": pairs}
    if form == "json":
        write_output(encode_json_document(shown).decode())
    else:
        write_output(hops.format_path_page({**shown, "title": title}))
    return 0 if shown["delivered"] and all(pair["delivered"] for pair in pairs) else FINDINGS_EXIT_CODE


def _format_path_count(shown: "FactsByKey") -> str:
    """Return how many equal paths there are and, where packets are lost on some, how many arrive."""
    count = shown["paths"]
    arriving = sum(trace["paths"] for trace in shown["traces"] if trace["outcome"] == "delivered")
    if arriving < count:
        return f"{arriving} of {count} equal paths arrive"
    return f"{count} equal path{'s' if count != 1 else ''}"


def _trace_host_port_pairs(plane: "ControlPlane", src: str, dst: str, dscp: int) -> "list[FactsByKey]":
    """Return for every pair of ports of two hosts how packets get from one to the other; nothing of a single pair."""
    from nodrop.report.buffering import known_or_none
    from nodrop.routing.hop_filters import find_dropping_access_list
    from nodrop.routing.paths import PathWalk, find_start_at_host
    from nodrop.routing.roce_packets import roce_packets_of_dscp

    def trace_pair(near: str, far: str) -> "FactsByKey | None":
        node, _, port = near.partition(":")
        cut = node in plane.index.hosts and find_start_at_host(plane, node, port) is None
        if cut and plane.index.far_end(node, port) is None:
            return None
        start, own_address = (None, None) if cut else _parse_source(plane, near)
        try:
            to = _find_target_address(plane, far, own_address)
        except click.UsageError:
            return None  # a port without an address of its own, as one of a bond
        pair_facts = {"source": near, "destination": far, "address": str(to)}
        if start is None:
            return {**pair_facts, "paths": 0, "delivered": False, "outcome": "no cable"}
        walk = PathWalk(plane, start, to)
        failed = (path.outcome for path in walk.ways if path.outcome != "delivered")
        outcome = "delivered" if walk.arrives_on_every_path else next(failed, "no route")
        packet = roce_packets_of_dscp(plane.index.fabric, own_address, to, dscp)
        filtered = find_dropping_access_list(plane, walk, packet) if walk.arrives_on_every_path else None
        if filtered is not None:
            outcome = f"dropped by access list {filtered.rules.name}"
        delivered = walk.arrives_on_every_path and filtered is None
        return {**pair_facts, "paths": walk.path_count, "delivered": delivered, "outcome": outcome}

    hosts = plane.index.hosts
    if src not in hosts or dst not in hosts:
        return []
    sources, targets = ([f"{host}:{port.name}" for port in hosts[host].ports] for host in (src, dst))
    if len(sources) * len(targets) == 1:
        return []
    facts = (plane.index.fabric.policy.rails, hosts[src].spread, hosts[dst].spread)
    stated, *spreads = map(known_or_none, facts)
    isolated = stated == "isolated" and spreads in (["rails", "rails"], ["leaves", "leaves"])
    wanted = zip(sources, targets, strict=False) if isolated else product(sources, targets)
    every = (trace_pair(near, far) for near, far in wanted)
    return [pair for pair in every if pair is not None]


def _default_rdma_dscp(fabric: "Fabric") -> int:
    from nodrop.model.effects import rdma_dscps

    found_rdma_dscps = rdma_dscps(fabric)
    if not found_rdma_dscps:
        raise click.UsageError("no class of the fabric carries RDMA; state the DSCP: --dscp 26")
    return found_rdma_dscps[0]


def _parse_failed_ends(index: "Index", without: tuple[str, ...]) -> "frozenset[End]":
    """Return the ends of cables that are taken away."""
    from nodrop.model.fabric import End

    ends: set[End] = set()
    for text in without:
        node, colon, port = text.partition(":")
        if node not in index.devices:
            raise click.UsageError(unknown_word_message("switch", node, index.devices))
        ports = [interface.name for interface in index.devices[node].interfaces]
        if colon and port not in ports:
            raise click.UsageError(unknown_word_message(f"port of {node}", port, ports))
        ends |= {End(node, port_name) for port_name in ([port] if colon else ports)}
    return frozenset(ends)


def _parse_source(plane: "ControlPlane", text: str) -> "tuple[PathStart, Address | None]":
    """Return where packets enter, and the address that they come from where the source is a host's."""
    from nodrop.routing import paths
    from nodrop.routing.prefixes import parse_address

    at = parse_address(text)
    if at is not None:
        start = paths.find_host_start(plane, at)
        if start is not None:
            return start, at
        raise click.UsageError(f"no switch has an address in a subnet with {text}")
    node, _, port = text.partition(":")
    host = plane.index.hosts.get(node)
    if host is not None:
        for host_port in host.ports:
            if (
                port in ("", host_port.name)
                and (found_start := paths.find_start_at_host(plane, node, host_port.name)) is not None
            ):
                return found_start, next(iter(_parse_addresses(host_port.addresses)), None)
        known_names = [known_port.name for known_port in host.ports]
        raise click.UsageError(
            unknown_word_message(f"port of {node}", port, known_names)
            if port and port not in known_names
            else f"no cable of {text} is known"
        )
    if node not in plane.index.devices:
        raise click.UsageError(unknown_word_message("host or switch", node, (*plane.index.hosts, *plane.index.devices)))
    start = paths.find_start_at_device(plane, node, port or None)
    if start is None:
        raise click.UsageError(f"{text} routes nothing")
    return start, None


def _find_target_address(plane: "ControlPlane", text: str, own_address: "Address | None") -> "Address":
    """Return an address of the destination, of the source's family if it has one."""
    from nodrop.model.states import Unknown, known_rows
    from nodrop.routing.prefixes import parse_address

    at = parse_address(text)
    if at is not None:
        return at
    node, _, port = text.partition(":")
    host, device = plane.index.hosts.get(node), plane.index.devices.get(node)
    texts: list[str] = []
    if host is not None:
        texts = [cidr for host_port in host.ports if port in ("", host_port.name) for cidr in host_port.addresses]
    elif device is not None:
        rows = device.interfaces if port else ()
        of_ports = [row.addresses for row in rows if row.name == port and not isinstance(row.addresses, Unknown)]
        texts = [cidr for port_addresses in of_ports for cidr in port_addresses]
        texts = texts if port else [cidr for loopback in known_rows(device.loopbacks) for cidr in loopback.addresses]
    else:
        raise click.UsageError(unknown_word_message("host or switch", node, (*plane.index.hosts, *plane.index.devices)))
    addresses = _parse_addresses(tuple(texts))
    if not addresses:
        raise click.UsageError(f"{text} has no address that is known")
    return next((ip for ip in addresses if own_address is not None and ip.family == own_address.family), addresses[0])


def _parse_addresses(texts: tuple[str, ...]) -> "list[Address]":
    from nodrop.routing.prefixes import parse_address

    return [parsed_address for text in texts if (parsed_address := parse_address(text)) is not None]
