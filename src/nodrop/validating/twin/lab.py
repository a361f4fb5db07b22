"""A fabric that runs: a namespace for each routing table, veth for cables, FRR's daemons; inside the tree of `box`.

Nothing is taken away again here: the tree ends, and all of it with it.
"""

import os
import re
import shlex
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from nodrop.model.fabric import End, Fabric
from nodrop.model.index import Index
from nodrop.model.states import is_known_off, known_rows
from nodrop.routing.prefixes import Address
from nodrop.syntax.json import parse_json_text
from nodrop.validating.twin import neighbors
from nodrop.validating.twin.daemons import BootConfiguration, DaemonsFailed, FrrDaemons, RefusedFrrLine
from nodrop.validating.twin.entering import namespace_command_prefix
from nodrop.validating.twin.lists import TwinFilters, build_filters
from nodrop.validating.twin.plan import NamespaceKey, TwinInterface, TwinPlan, kernel_sysctls_by_device, plan_twin

_T = TypeVar("_T")
_R = TypeVar("_R")

DEVICE_THREADS: Final = min(8, 2 * (os.cpu_count() or 1))
"""How many devices are made or asked at a time: what takes the time are other processes."""
_HOST_SYSCTLS: Final[Mapping[str, int]] = {
    "net.ipv6.conf.all.disable_ipv6": 0,
    "net.ipv6.conf.default.accept_dad": 0,
    "net.ipv6.conf.all.keep_addr_on_down": 1,
    "net.ipv4.conf.all.rp_filter": 0,
    "net.ipv4.conf.default.rp_filter": 0,
}
_COMMAND_TIMEOUT_S = 60
_MIN_CABLES_TO_HOLD_NEIGHBORS: Final = 100
"""From how many cables on neighbors are held, and how many ends look for each other at a time."""


class TwinLab:
    """The devices and hosts of a fabric, running. `boots` gives the configuration that each device starts with.

    Nodes are named as in the fabric; as a VRF, None is the default one.
    """

    def __init__(self, fabric: Fabric, boots: Mapping[str, BootConfiguration], failed: Iterable[End] = ()) -> None:
        self.fabric = fabric
        self.index = Index(fabric)
        self.plan: TwinPlan = plan_twin(fabric)
        self.filters: TwinFilters = build_filters(fabric, self.plan)
        self.unfiltered: dict[str, str] = {}
        """Devices where the kernel refuses a program of an access list, and what it says."""
        self.refused: dict[str, tuple[RefusedFrrLine, ...]] = {}
        """Of each device the lines of its frr.conf that are refused."""
        self.dead: dict[str, str] = {}
        """Devices whose daemons do not start, and what they say."""
        self._cut = {*failed, *_shut_non_routing_ports(fabric)}
        self._up: dict[tuple[NamespaceKey, str], bool] = {}
        self._daemons = {name: self._make_daemons(name, boot) for name, boot in boots.items()}

    def _make_daemons(self, name: str, boot: BootConfiguration) -> FrrDaemons:
        vrfs = {
            space.vrf: new_space for space, new_space in self.plan.spaces.items() if space.node == name and space.vrf
        }
        text = boot.text
        for long, short in self.plan.names.get(name, {}).items():
            text = re.sub(rf"(?<!\S){re.escape(long)}(?!\S)", short, text)
        space = self.plan.spaces[NamespaceKey(name)]
        return FrrDaemons(
            space, space, BootConfiguration(text=text, daemons=boot.daemons, profile=boot.profile, vrfs=vrfs)
        )

    @property
    def running_devices(self) -> tuple[str, ...]:
        """The devices that run daemons."""
        return tuple(name for name in self._daemons if name not in self.dead)

    def start(self) -> None:
        """Make all of it, and start the daemons."""
        new_plan, spaces = self.plan, self.plan.spaces
        _run_ip_batch([f"netns add {space}" for space in spaces.values()])
        _run_ip_batch(self._cable_commands())
        sysctls = dict(kernel_sysctls_by_device(self.fabric))
        lines: dict[NamespaceKey, list[str]] = {space: ["link set dev lo up"] for space in spaces}
        for space, addresses in new_plan.loopbacks:
            lines[space] += [f"address add {address} dev lo" for address in addresses]
        for nic in new_plan.nics:
            lines[nic.space] += list(_nic_commands(nic))
            self._up[nic.space, nic.name] = up = self._should_nic_be_up(nic)
            lines[nic.space] += [f"link set dev {nic.name} up"] if up else []

        def ready(namespace: NamespaceKey) -> None:
            rows = sysctls.get(namespace.node, _HOST_SYSCTLS)
            words = [f"{name}={value}" for name, value in rows.items()]
            self.run_in_node(namespace.node, ["sysctl", "-qew", *words], vrf=namespace.vrf)
            _run_ip_batch(lines[namespace], spaces[namespace], force=True)
            self._apply_access_lists(namespace)

        for _ in self.map_concurrently(ready, spaces):
            continue
        self._resolve_cable_neighbors()
        for _ in self.map_concurrently(self.start_device_daemons, self._daemons):
            continue

    def _apply_access_lists(self, space: NamespaceKey) -> None:
        """Have the programs of access lists run at the interfaces of a namespace."""
        text = "".join(f"{line}\n" for line in self.filters.tc_batch_commands(space))
        if text:
            words = [*self.command_prefix(space.node, space.vrf), "tc", "-batch", "-"]
            done = subprocess.run(words, input=text, capture_output=True, text=True, errors="replace", check=False)
            if done.returncode:
                self.unfiltered[space.node] = done.stderr.strip()

    def _cable_commands(self) -> Iterator[str]:
        """Yield what makes bridges and cables; an end that nobody looks at is here, outside of all nodes."""
        spaces = self.plan.spaces
        for number, wire in enumerate(self.plan.wires):
            a, b = wire.a, wire.b
            far = f"peer name {b.name} netns {spaces[b.space]}" if b else f"peer name void{number}"
            size = f" mtu {b.mtu_bytes}" if b and b.mtu_bytes else ""
            near = f" mtu {a.mtu_bytes}" if a.mtu_bytes else ""
            far = far.replace("peer ", f"peer{size} ", 1)
            yield f"link add name {a.name} netns {spaces[a.space]}{near} type veth {far}"
            if b is None:
                yield f"link set dev void{number} up"

    def start_device_daemons(self, name: str) -> None:
        """Start the daemons of a device with its frr.conf; they are `dead` if they do not start."""
        try:
            self.refused[name] = self._daemons[name].start()
            self.dead.pop(name, None)
        except DaemonsFailed as error:
            self.dead[name] = str(error)

    def cut_ports(self, *ends: End) -> None:
        """Take ports down."""
        self._cut.update(ends)
        self._update_link_states(ends)

    def restore_ports(self, *ends: End) -> None:
        """Take ports up again, as far as their devices have them up."""
        self._cut.difference_update(ends)
        self._cut.update(_shut_non_routing_ports(self.fabric))
        self._update_link_states(ends)

    def ports_of_node(self, node: str) -> tuple[End, ...]:
        """Return the ports of a node at which there is anything."""
        return tuple(end for end in self.plan.nics_by_port if end.node == node)

    def _update_link_states(self, ends: Iterable[End]) -> None:
        touched = {nic for end in ends for nic in self.plan.nics_by_port.get(end, ())}
        for nic in tuple(touched):
            if wire := self.plan.cable_by_nic.get((nic.space, nic.name)):
                touched |= {wire.a} | ({wire.b} if wire.b else set())
        for nic in touched:
            up = self._should_nic_be_up(nic)
            if up != self._up[nic.space, nic.name]:
                self._up[nic.space, nic.name] = up
                _run_ip_batch([f"link set dev {nic.name} {'up' if up else 'down'}"], self.plan.spaces[nic.space])

    def _should_nic_be_up(self, nic: TwinInterface) -> bool:
        """Whether an interface must be up: for a bundle, while enough of its cables work at both ends."""
        wire = self.plan.cable_by_nic.get((nic.space, nic.name))
        if not nic.enabled:
            return False
        if wire is None or not nic.ends:
            return True
        if not wire.links or (nic.least == 1 and len(wire.links) == 1):
            return len(set(nic.ends) - self._cut) >= nic.least
        return sum(not {link.a, link.b} & self._cut for link in wire.links) >= nic.least

    def run_in_node(
        self, node: str, words: Sequence[str], *, vrf: str | None = None, timeout_s: float = _COMMAND_TIMEOUT_S
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in a node; what becomes of it is for the caller to see."""
        return subprocess.run(
            [*self.command_prefix(node, vrf), *words],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=timeout_s,
        )

    def command_prefix(self, node: str, vrf: str | None = None) -> tuple[str, ...]:
        """Return the words that a program runs behind to be in a node."""
        return namespace_command_prefix(self.plan.spaces[NamespaceKey(node, vrf)])

    def output_of_ip_command(self, node: str, *words: str, vrf: str | None = None) -> str:
        """Return the output of `ip` in a node; RuntimeError if it fails."""
        return _run_and_read_output([*self.command_prefix(node, vrf), "ip", *words])

    def run_ip_batch(self, node: str, lines: Iterable[str], *, vrf: str | None = None) -> None:
        """Have `ip` do many things in a node, one after the other, also past what fails."""
        _run_ip_batch(lines, self.plan.spaces[NamespaceKey(node, vrf)], force=True)

    def interfaces_with_addresses(self, node: str, vrf: str | None = None) -> Any:
        """Return the interfaces of a node with their addresses, as `ip -json address` has them."""
        return parse_json_text(self.output_of_ip_command(node, "-json", "address", vrf=vrf).encode(), "ip address")

    def json_answer_of_daemon(self, node: str, command: str, daemon: str = "bgpd") -> Any:
        """Return the parsed JSON of a daemon's answer to a command (`show bgp summary`, without ` json`).

        Silent where it does not answer.
        """
        return self._daemons[node].json_answer_of_daemon(command, daemon)

    def answer_of_daemon(self, node: str, command: str, daemon: str = "bgpd") -> str:
        """Return the answer of a device's daemon, in words; Silent if it does not answer."""
        return self._daemons[node].answer_of_daemon(command, daemon)

    def read_daemon_log(self, node: str, daemon: str = "bgpd") -> str:
        """Return the log of a device's daemon."""
        return self._daemons[node].read_daemon_log(daemon)

    def has_daemon(self, node: str, daemon: str) -> bool:
        """Whether a device is started with a daemon."""
        return node in self._daemons and daemon in self._daemons[node].daemon_names

    def pin_neighbor_entries(self) -> None:
        """Keep the neighbors that ARP and ND have found, where there are many; to be called again for new ones."""
        if len(self.plan.wires) > _MIN_CABLES_TO_HOLD_NEIGHBORS:
            for _ in self.map_concurrently(neighbors.make_neighbors_permanent, self.plan.spaces.values()):
                continue

    def _resolve_cable_neighbors(self) -> None:
        """Have the ends of cables find each other, where there are many: some at a time, which then are held."""
        ends = [
            (near_nic, far_nic)
            for wire in self.plan.wires
            if wire.b
            for near_nic, far_nic in ((wire.a, wire.b), (wire.b, wire.a))
        ]
        for at in range(
            0, len(ends) if len(self.plan.wires) > _MIN_CABLES_TO_HOLD_NEIGHBORS else 0, _MIN_CABLES_TO_HOLD_NEIGHBORS
        ):
            asked: defaultdict[str, list[tuple[str, Address]]] = defaultdict(list)
            for nic, other_nic in ends[at : at + _MIN_CABLES_TO_HOLD_NEIGHBORS]:
                asked[self.plan.spaces[nic.space]] += [
                    (nic.name, far) for far in neighbors.neighbor_addresses(nic, other_nic)
                ]
            for _ in self.map_concurrently(lambda row: neighbors.resolve_and_pin_neighbors(*row), asked.items()):
                continue

    def map_concurrently(self, function: Callable[[_T], _R], items: Iterable[_T]) -> Iterator[_R]:
        """Call a function for many devices or namespaces at a time; yield its results, in their order."""
        with ThreadPoolExecutor(DEVICE_THREADS) as threads:
            yield from threads.map(function, items)


def _shut_non_routing_ports(fabric: Fabric) -> Iterator[End]:
    """Yield the ports that are shut in bundles and VLANs; ports that route are separate interfaces."""
    for device in fabric.devices:
        bundled = {name for channel in known_rows(device.port_channels) for name in channel.members}
        for port in device.interfaces:
            if port.name in bundled and is_known_off(port.enabled):
                yield End(device.name, port.name)


def _nic_commands(nic: TwinInterface) -> Iterator[str]:
    """Yield the commands that configure an interface; a bridge is made, too."""
    if nic.leg.startswith("VLAN ") and not nic.ends:
        yield f"link add name {nic.name} type bridge forward_delay 0"
        yield f"link set dev {nic.name} mtu {nic.mtu_bytes}" if nic.mtu_bytes else f"link set dev {nic.name} down"
    if nic.bridge:
        yield f"link set dev {nic.name} master {nic.bridge}"
    for address in nic.addresses:
        yield f"address add {address} dev {nic.name}"


def _run_ip_batch(lines: Iterable[str], space: str = "", *, force: bool = False) -> None:
    """Have `ip` do many things at once, in a namespace; one after the other, also past what fails if that is asked."""
    text = "".join(f"{line}\n" for line in lines)
    words = [*(namespace_command_prefix(space) if space else ()), "ip", *(["-force"] if force else []), "-batch", "-"]
    done = subprocess.run(words, input=text, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode and not force:
        raise RuntimeError(f"{shlex.join(words)}: {done.stderr.strip()}")


def _run_and_read_output(words: Sequence[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise RuntimeError(f"{shlex.join(words)}: {done.stderr.strip()}")
    return done.stdout
