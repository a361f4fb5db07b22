"""frr.conf against FRR itself: `vtysh -C` accepts every file that is written, and would refuse what is wrong."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import nodrop
from nodrop.model.fabric import Device, Fabric
from nodrop.plan.effects import switch_files_if_unchanged
from nodrop.platforms import frr
from nodrop.platforms.frr.changes import find_vtysh_changes
from nodrop.resources import resource_folder
from support import frr_real
from support.designs import build, shipped
from support.plan_pairs import reading, reading_of
from support.random_fabrics import devices
from support.random_intents import built
from support.requirements import require

_PATHS = re.compile(r"^(\s*maximum-paths )(\d+)$", re.MULTILINE)
_MOST_PATHS = 256
"""What Debian builds FRR with; SONiC builds it with 514."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for vtysh's own configuration, so that nothing of the machine's counts."""
    require("frr", shutil.which("vtysh") is not None, "there is no vtysh (apt install frr)")
    made = tmp_path_factory.mktemp("frr")
    (made / "vtysh.conf").write_text("service integrated-vtysh-config\n")
    return made


def refusals(folder: Path, text: str) -> str:
    """What vtysh says against a configuration; nothing where it accepts it."""
    file = folder / "frr.conf"
    file.write_text(_PATHS.sub(lambda found: f"{found[1]}{min(int(found[2]), _MOST_PATHS)}", text))
    done = subprocess.run(
        ["vtysh", "--config_dir", str(folder), "-C", "-f", str(file)], capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    return said or ("" if done.returncode == 0 else f"exit {done.returncode}")


def assert_accepted(folder: Path, text: str) -> None:
    assert refusals(folder, text) == "", text


def test_frr_accepts_lines_of_unknown_effect_where_they_are_placed(folder: Path) -> None:
    own = ["router bgp", " bgp dampening", " neighbor SPINES addpath-tx-bestpath-per-AS", "exit"]
    own += ["zebra nexthop kernel enable", "router ospf", "network 10.0.0.0/8 area 0", "exit"]
    fabric = build(shipped("two-by-two", {"extra": {"leaf": {"lines": own}}}))
    for artifact in nodrop.write(fabric):
        if artifact.path == "frr.conf":
            assert_accepted(folder, artifact.text)


@pytest.mark.parametrize("path", sorted(resource_folder("intents").glob("*.yaml")), ids=lambda path: path.stem)
def test_frr_accepts_what_shipped_intents_become(folder: Path, path: Path) -> None:
    fabric = nodrop.build(nodrop.load(path))
    texts = [artifact.text for artifact in nodrop.write(fabric) if artifact.path == "frr.conf"]
    assert len(texts) == sum(device.platform == "sonic" for device in fabric.devices)
    for text in texts:
        assert_accepted(folder, text)


@settings(max_examples=20)
@given(fabric=built())
def test_frr_accepts_what_random_intents_become(folder: Path, fabric: Fabric) -> None:
    for device in (fabric.devices[0], fabric.devices[-1]):
        assert_accepted(folder, frr.render_frr_conf(device))


@pytest.mark.nightly
@settings(max_examples=20)
@given(device=devices().filter(lambda device: device.bgp is not None))
def test_frr_accepts_random_routing(folder: Path, device: Device) -> None:
    assert_accepted(folder, frr.render_frr_conf(device))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("router bgp 0", "Unknown command"),
        ("router bgp 65000\n neighbor 10.0.0.1 remote-as", "Command incomplete"),
        ("ip prefix-list A seq 5 permit 10.0.0.0/33", "Unknown command"),
    ],
)
def test_frr_refuses_what_is_wrong(folder: Path, line: str, said: str) -> None:
    """The check has teeth."""
    assert said in refusals(folder, f"{line}\n")


CHANGES: tuple[dict[str, Any], ...] = (
    {"topology.leaves.ids": "1-3"},
    {"devices": {"spine1": {"drained": True}}},
    {"routing.bfd": True},
    {"routing.asn": {"spines": "4200000001", "leaves": "4200200000+"}},
    {"routing.sessions": "unnumbered", "addressing.links": None},
    {"addressing.loopbacks": "10.7.0.0/16"},
    {
        "addressing.loopbacks": ["10.0.0.0/16", "fd00::/48"],
        "addressing.links": ["10.1.0.0/16", "fd00:1::/48"],
        "addressing.endpoints": ["10.2.0.0/16", "fd00:2::/48"],
    },
)
"""What changes frr.conf: neighbors that come and go, lines of a process, another process, entries that move."""


@pytest.mark.slow
@pytest.mark.parametrize("wanted", CHANGES, ids=str)
def test_lines_for_vtysh_make_one_running_configuration_of_another(wanted: dict[str, Any]) -> None:
    """What FRR runs then is what it runs when it has loaded the new frr.conf alone, line by line."""
    require("frr", frr_real.available(), "there is no FRR (apt install frr), or no namespace to be had")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # where daemons that are not root find their way
        Path(folder).chmod(0o755)
        one, other = (_frr(of, "spine1") for of in (reading("sonic"), reading_of("sonic", wanted)))
        for number, (old, new) in enumerate(((one, other), (other, one))):
            lines = find_vtysh_changes(old, new)
            assert lines
            with frr_real.started(Path(folder, f"old{number}"), old) as running:
                running.load(lines)
                got = running.runs()
            with frr_real.started(Path(folder, f"new{number}"), new) as running:
                assert got == running.runs()


def _frr(of: Any, device: str) -> str:
    files = switch_files_if_unchanged(of, device)
    assert files is not None
    return files["frr.conf"].decode()
