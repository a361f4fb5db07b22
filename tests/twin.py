"""A fabric in real FRR daemons: each switch and host is a network namespace, and cables are pairs of veth."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import TypeVar

from nodrop.fabric.fabric import Device, End, Fabric, Host, Link
from nodrop.fabric.states import those_known
from nodrop.platforms import frr
from requirements import require

DAEMONS = Path("/usr/lib/frr")
PATIENCE_S = 60
SYSCTLS = (
    *("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1", "net.ipv6.conf.default.forwarding=1"),
    "net.ipv6.conf.default.accept_dad=0",
)
Table = dict[str, tuple[str, frozenset[str]]]
"""The routes of a router: of each prefix the protocol and the interfaces of its next hops, `discard` for none."""

_numbers = count()
_Seen = TypeVar("_Seen")


def run(*words: str | Path) -> str:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout


def prepare(folder: Path) -> Path:
    """Skip the test where a twin cannot be made; else let the daemons' own user look into its folder."""
    there = os.geteuid() == 0 and (DAEMONS / "bgpd").exists() and shutil.which("ip") is not None
    require("twin", there, "there are no FRR daemons, no ip, or no right to make network namespaces")
    for parent in (folder, *folder.parents[:3]):
        parent.chmod(parent.stat().st_mode | 0o011)
    return folder


def until_equal(expected: _Seen, look: Callable[[], _Seen], times: int = 1) -> _Seen:
    """What is seen once it is as expected, that many times one after the other, or at the end of all patience."""
    end, equal = time.monotonic() + PATIENCE_S, 0
    while True:
        found = look()
        equal = equal + 1 if found == expected else 0
        if equal == times or time.monotonic() > end:
            return found
        time.sleep(0.7)


class Twin:
    """The switches and hosts of a fabric, each a namespace, joined as its links say."""

    def __init__(self, fabric: Fabric, folder: Path, failed: frozenset[End] = frozenset()) -> None:
        self._fabric, self._folder, self._failed = fabric, folder, failed
        mark = f"nd{os.getpid()}-{next(_numbers)}"
        self._nodes = {node.name: f"{mark}-{node.name}" for node in (*fabric.devices, *fabric.hosts)}

    def start(self) -> None:
        """Make the namespaces and links, give them their addresses, and start the daemons."""
        for space in self._nodes.values():
            run("ip", "netns", "add", space)
            run("ip", "netns", "exec", space, "sysctl", "-qw", *SYSCTLS)
            run("ip", "-n", space, "link", "set", "lo", "up")
        cabled: set[End] = set()
        for link in self._fabric.links:
            if link.a.node in self._nodes and link.b.node in self._nodes:
                here, there = self._nodes[link.a.node], self._nodes[link.b.node]
                far = ("peer", "name", link.b.port, "netns", there)
                run("ip", "-n", here, "link", "add", link.a.port, "type", "veth", *far)
                cabled |= {link.a, link.b}
        for device in self._fabric.devices:
            for loopback in those_known(device.loopbacks):
                self._address(device, "lo", loopback.addresses)
            for port in device.interfaces:
                end = End(device.name, port.name)
                if end in cabled or port.addresses:
                    up = bool(port.enabled) and end not in self._failed
                    self._port(device, port.name, port.addresses, alone=end not in cabled, up=up)  # type: ignore[arg-type]
            for vlan in those_known(device.vlans):
                if vlan.addresses:
                    self._port(device, f"Vlan{vlan.id}", vlan.addresses, alone=True)
        for host in self._fabric.hosts:
            for host_port in host.ports:
                self._port(host, host_port.name, host_port.addresses, alone=False)
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(self._daemons, self._fabric.devices))

    def _port(
        self, node: Device | Host, name: str, addresses: tuple[str, ...], *, alone: bool, up: bool = True
    ) -> None:
        """Set a port up, with its addresses; one that is alone has another end that nobody looks at."""
        space = self._nodes[node.name]
        if alone:
            run("ip", "-n", space, "link", "add", name, "type", "veth", "peer", "name", f"-{name}"[:15])
            run("ip", "-n", space, "link", "set", f"-{name}"[:15], "up")
        run("ip", "-n", space, "link", "set", name, "up" if up else "down")
        self._address(node, name, addresses)

    def _address(self, node: Device | Host, port: str, addresses: tuple[str, ...]) -> None:
        for address in addresses:
            run("ip", "-n", self._nodes[node.name], "address", "add", address, "dev", port)

    def _daemons(self, device: Device) -> None:
        home = self._folder / device.name
        home.mkdir(mode=0o777)
        home.chmod(0o777)
        (home / "empty.conf").touch()
        (home / "frr.conf").write_text(frr.write(device))
        (home / "vtysh.conf").write_text("service integrated-vtysh-config\n")
        for daemon in ("zebra", "staticd", "bgpd"):
            places = ("-i", home / f"{daemon}.pid", "--vty_socket", home, "-z", home / "zserv.api")
            run(
                *("ip", "netns", "exec", self._nodes[device.name], DAEMONS / daemon, "-d", "-u", "frr", "-g", "frr"),
                *(*places, "-A", "127.0.0.1", "-f", home / "empty.conf"),
            )
        until_equal(True, lambda: all((home / f"{one}.vty").exists() for one in ("zebra", "staticd", "bgpd")))
        run("vtysh", "--vty_socket", home, "--config_dir", home, "-b")

    def stop(self) -> None:
        """End the daemons by their numbers, and remove what was made."""
        for pid in self._folder.glob("*/*.pid"):
            try:
                os.kill(int(pid.read_text()), signal.SIGKILL)
            except (ProcessLookupError, ValueError):
                continue
        for space in self._nodes.values():
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def cut(self, link: Link) -> None:
        """Take both ports of a cable down."""
        for end in (link.a, link.b):
            run("ip", "-n", self._nodes[end.node], "link", "set", end.port, "down")

    def ask(self, name: str, command: str) -> str:
        """What the daemons of a switch answer to a command of vtysh."""
        return run("vtysh", "--vty_socket", self._folder / name, "-c", command)

    def sessions(self, name: str, family: str) -> dict[str, str]:
        """The sessions of a switch that carry a family, and how they are."""
        said = self.ask(name, f"show bgp {family} unicast summary json")
        return {key: peer["state"] for key, peer in json.loads(said or "{}").get("peers", {}).items()}

    def paths(self, name: str, prefix: str) -> set[str]:
        """The ports by which a switch reaches a prefix."""
        version = "-6" if ":" in prefix else "-4"
        (route, *_) = [*json.loads(run("ip", "-n", self._nodes[name], version, "-j", "route", "show", prefix)), {}]
        return {hop["dev"] for hop in route.get("nexthops", [route]) if "dev" in hop}

    def tables(self) -> Mapping[str, Table]:
        """The routes that every switch uses, those of links themselves (fe80::/64) aside."""
        return {device.name: self._table(device.name) for device in self._fabric.devices}

    def _table(self, name: str) -> Table:
        found: Table = {}
        for version in ("ip", "ipv6"):
            for prefix, routes in json.loads(self.ask(name, f"show {version} route json") or "{}").items():
                for route in routes:
                    if route.get("selected") and not prefix.startswith("fe80"):
                        hops = route.get("nexthops", [])
                        ports = frozenset(hop["interfaceName"] for hop in hops if "interfaceName" in hop and _used(hop))
                        dropped = any(hop.get("blackhole") for hop in hops)
                        found[prefix] = (route["protocol"], frozenset({"discard"}) if dropped else ports)
        return found


def _used(hop: Mapping[str, object]) -> bool:
    return bool(hop.get("fib") or hop.get("active"))
