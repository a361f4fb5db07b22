"""Fabrics in real FRR daemons and network namespaces: sessions come up, and hosts are reached over all equal paths."""

from pathlib import Path

import pytest

from designs import build, shipped
from twin import Twin, prepare, until_equal

pytestmark = pytest.mark.slow

V6_ONLY = {f"addressing.{key}": f"fd00:{n}::/48" for n, key in enumerate(("loopbacks", "links", "endpoints"))}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return prepare(tmp_path)


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
                    lambda node=device.name, of=family: list(twin.sessions(node, of).values()),
                )
                assert found == ["Established"] * count, (device.name, family)
        blocks = [one.prefix for one in fabric.device("leaf2").static_routes]  # type: ignore[union-attr]
        assert len(blocks) == len(sessions)
        for block in blocks:
            assert until_equal(uplinks, lambda prefix=block: twin.paths("leaf1", prefix)) == uplinks
    finally:
        twin.stop()
