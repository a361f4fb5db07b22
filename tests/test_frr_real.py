"""frr.conf against FRR itself: `vtysh -C` accepts every file that is written, and would refuse what is wrong."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings

import nodrop
from nodrop.fabric.fabric import Device, Fabric
from nodrop.platforms import frr
from nodrop.resources import home
from random_fabrics import devices
from random_intents import built
from requirements import require

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


@pytest.mark.parametrize("path", sorted(home("intents").glob("*.yaml")), ids=lambda path: path.stem)
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
        assert_accepted(folder, frr.write(device))


@settings(max_examples=20)
@given(device=devices().filter(lambda device: device.bgp is not None))
def test_frr_accepts_random_routing(folder: Path, device: Device) -> None:
    assert_accepted(folder, frr.write(device))


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
