"""The neighbors that ARP and ND find over a cable: asked for, and held if there are many.

All namespaces of a machine, its own too, share one table of 1024 neighbors for each family (net/ipv4/arp.c and
net/ipv6/ndisc.c, gc_thresh3; a separate namespace cannot have more). Held neighbors do not count.
"""

import contextlib
import socket
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple, cast

from nodrop.routing.prefixes import Address, parse_address, parse_prefix
from nodrop.syntax.json import parse_json_text
from nodrop.validating.twin.entering import namespace_command_prefix, thread_in_namespace
from nodrop.validating.twin.plan import TwinInterface

_DISCARD_PORT: Final = 9
"""UDP port to which what is sent is for nobody (RFC 863); what counts is that the far end has to be found for it."""
_LOOKS, _PAUSE_S = 5, 0.05
"""How often it is looked whether neighbors are found: it takes less than a millisecond where there are any."""
_UNRESOLVED_STATES: Final = frozenset({"FAILED", "INCOMPLETE", "NOARP"})


class KernelNeighbor(NamedTuple):
    """A namespace's knowledge of a neighbor: its interface, its address and its MAC."""

    port: str
    address: str
    mac: str
    held: bool


def neighbor_addresses(first_interface: TwinInterface, second_interface: TwinInterface) -> Iterator[Address]:
    """Yield the addresses of one end that are in a subnet of the other."""
    own_addresses = {
        own_address for text in first_interface.addresses if (own_address := parse_address(text)) is not None
    }
    subnets = [found_prefix for text in first_interface.addresses if (found_prefix := parse_prefix(text)) is not None]
    for text in second_interface.addresses:
        far = parse_address(text)
        if far is not None and far not in own_addresses and any(subnet.contains_address(far) for subnet in subnets):
            yield far


def trigger_neighbor_resolution(namespace_name: str, far_addresses: Iterable[tuple[str, Address]]) -> None:
    """Send a datagram to each far end over an interface of a namespace, to make the kernel find it."""
    with thread_in_namespace(namespace_name):
        for port, far in far_addresses:
            family = socket.AF_INET if far.family == "ipv4" else socket.AF_INET6
            with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as out:
                out.setblocking(False)
                out.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, port.encode())
                out.sendto(b"", (str(far), _DISCARD_PORT))


def read_neighbors(namespace_name: str) -> list[KernelNeighbor]:
    """Return the neighbors that a namespace has found."""
    words = [*namespace_command_prefix(namespace_name), "ip", "-json", "neighbor"]
    stdout = subprocess.run(words, capture_output=True, check=True).stdout
    rows = cast("list[dict[str, Any]]", parse_json_text(stdout, "ip neighbor")) if stdout.strip() else []
    return [
        KernelNeighbor(row["dev"], str(parse_address(row["dst"])), row["lladdr"], "PERMANENT" in row["state"])
        for row in rows
        if "lladdr" in row and not _UNRESOLVED_STATES & set(row.get("state", ()))
    ]


def resolve_and_pin_neighbors(namespace_name: str, far_addresses: Collection[tuple[str, Address]]) -> None:
    """Have a namespace find far ends over its interfaces, and hold those that are found within a while."""
    far_ends = {(port, str(far)) for port, far in far_addresses}
    trigger_neighbor_resolution(namespace_name, far_addresses)
    for _ in range(_LOOKS):
        make_neighbors_permanent(namespace_name)
        if far_ends <= {(neighbor.port, neighbor.address) for neighbor in read_neighbors(namespace_name)}:
            return
        time.sleep(_PAUSE_S)


def make_neighbors_permanent(namespace_name: str) -> None:
    """Keep the neighbors that a namespace has found, until their interface goes down."""
    loose = [neighbor for neighbor in read_neighbors(namespace_name) if not neighbor.held]
    if loose:
        lines = [
            f"neighbor replace {neighbor.address} lladdr {neighbor.mac} dev {neighbor.port} nud permanent\n"
            for neighbor in loose
        ]
        words = [*namespace_command_prefix(namespace_name), "ip", "-force", "-batch", "-"]
        subprocess.run(words, input="".join(lines), capture_output=True, text=True, errors="replace", check=False)
