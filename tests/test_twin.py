"""Fabrics in real FRR daemons and network namespaces: sessions come up, and hosts are reached over all equal paths."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import nodrop
from designs import build, shipped
from nodrop.fabric.fabric import Device, Fabric, Host
from requirements import require

pytestmark = pytest.mark.slow

DAEMONS = Path("/usr/lib/frr")
PATIENCE_S = 60
V6_ONLY = {f"addressing.{key}": f"fd00:{n}::/48" for n, key in enumerate(("loopbacks", "links", "endpoints"))}
SYSCTLS = (
    *("net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1", "net.ipv6.conf.default.forwarding=1"),
    "net.ipv6.conf.default.accept_dad=0",
)


def run(*words: str | Path) -> str:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True).stdout


class Twin:
    """The switches and hosts of a fabric, each a namespace, joined as its links say."""

    def __init__(self, fabric: Fabric, folder: Path) -> None:
        self._fabric, self._folder = fabric, folder
        self._texts = {one.device: one.text for one in nodrop.write(fabric) if one.path == "frr.conf"}
        self._nodes = {node.name: f"nd{os.getpid()}{node.name}" for node in (*fabric.devices, *fabric.hosts)}

    def start(self) -> None:
        """Make the namespaces and links, give them their addresses, and start the daemons."""
        for space in self._nodes.values():
            run("ip", "netns", "add", space)
            run("ip", "-n", space, "link", "set", "lo", "up")
            run("ip", "netns", "exec", space, "sysctl", "-qw", *SYSCTLS)
        for number, link in enumerate(self._fabric.links):
            one, other = f"nd{number}a", f"nd{number}b"
            run("ip", "link", "add", one, "type", "veth", "peer", "name", other)
            for end, name in ((link.a, one), (link.b, other)):
                run("ip", "link", "set", name, "netns", self._nodes[end.node], "name", end.port)
                run("ip", "-n", self._nodes[end.node], "link", "set", end.port, "up")
        for device in self._fabric.devices:
            for loopback in device.loopbacks:  # type: ignore[union-attr]
                self._address(device, "lo", loopback.addresses)
            for port in device.interfaces:
                self._address(device, port.name, port.addresses)  # type: ignore[arg-type]
        for host in self._fabric.hosts:
            for host_port in host.ports:
                self._address(host, host_port.name, host_port.addresses)
        for device in self._fabric.devices:
            self._daemons(device.name)

    def _address(self, node: Device | Host, port: str, addresses: tuple[str, ...]) -> None:
        for address in addresses:
            run("ip", "-n", self._nodes[node.name], "address", "add", address, "dev", port)

    def _daemons(self, name: str) -> None:
        home = self._folder / name
        home.mkdir(mode=0o777)
        home.chmod(0o777)
        (home / "empty.conf").touch()
        (home / "frr.conf").write_text(self._texts[name])
        (home / "vtysh.conf").write_text("service integrated-vtysh-config\n")
        for daemon in ("zebra", "staticd", "bgpd"):
            places = ("-i", home / f"{daemon}.pid", "--vty_socket", home, "-z", home / "zserv.api")
            run(
                *("ip", "netns", "exec", self._nodes[name], DAEMONS / daemon, "-d", "-u", "frr", "-g", "frr"),
                *(*places, "-A", "127.0.0.1", "-f", home / "empty.conf"),
            )
        time.sleep(1)
        run("vtysh", "--vty_socket", home, "--config_dir", home, "-b")

    def stop(self) -> None:
        """End the daemons by their numbers, and remove what was made."""
        for pid in self._folder.glob("*/*.pid"):
            try:
                os.kill(int(pid.read_text()), signal.SIGTERM)
            except (ProcessLookupError, ValueError):
                continue
        for space in self._nodes.values():
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)

    def sessions(self, name: str, family: str) -> dict[str, str]:
        """The sessions of a switch that carry a family, and how they are."""
        home = self._folder / name
        said = run("vtysh", "--vty_socket", home, "-c", f"show bgp {family} unicast summary json")
        return {key: peer["state"] for key, peer in json.loads(said or "{}").get("peers", {}).items()}

    def paths(self, name: str, prefix: str) -> set[str]:
        """The ports by which a switch reaches a prefix."""
        version = "-6" if ":" in prefix else "-4"
        (route, *_) = [*json.loads(run("ip", "-n", self._nodes[name], version, "-j", "route", "show", prefix)), {}]
        return {hop["dev"] for hop in route.get("nexthops", [route]) if "dev" in hop}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    there = os.geteuid() == 0 and (DAEMONS / "bgpd").exists() and shutil.which("ip") is not None
    require("twin", there, "there are no FRR daemons, no ip, or no right to make network namespaces")
    for parent in (tmp_path, *tmp_path.parents[:3]):
        parent.chmod(parent.stat().st_mode | 0o011)
    return tmp_path


def until_equal(expected: object, seen: Iterator[object]) -> object:
    """What is seen once it is as expected, or at the end of all patience."""
    end = time.monotonic() + PATIENCE_S
    for found in seen:
        if found == expected or time.monotonic() > end:
            return found
        time.sleep(1)
    return None


@pytest.mark.parametrize(
    ("name", "changes", "sessions"),
    [
        pytest.param("dual-stack", {}, {"ipv4": 4, "ipv6": 4}, id="dual stack"),
        pytest.param("two-by-two", V6_ONLY, {"ipv6": 4}, id="IPv6 only"),
        pytest.param("unnumbered", {}, {"ipv4": 4, "ipv6": 4}, id="unnumbered"),
    ],
)
def test_sessions_come_up_and_hosts_are_reached_by_every_uplink(
    folder: Path, name: str, changes: dict[str, object], sessions: dict[str, int]
) -> None:
    fabric = build(shipped(name, changes))
    uplinks = {port.name for port in fabric.device("leaf1").interfaces if port.side == "fabric"}
    twin = Twin(fabric, folder)
    try:
        twin.start()
        for family, count in sessions.items():
            for device in fabric.devices:
                found = until_equal(
                    ["Established"] * count,
                    iter(lambda node=device.name, of=family: list(twin.sessions(node, of).values()), None),
                )
                assert found == ["Established"] * count, (device.name, family)
        blocks = [one.prefix for one in fabric.device("leaf2").static_routes]  # type: ignore[union-attr]
        assert len(blocks) == len(sessions)
        for block in blocks:
            assert until_equal(uplinks, iter(lambda prefix=block: twin.paths("leaf1", prefix), None)) == uplinks
    finally:
        twin.stop()
