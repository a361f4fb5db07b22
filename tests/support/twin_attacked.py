"""A twin of many hostile devices, and the files that they are after."""

import time
from contextlib import closing
from pathlib import Path
from typing import Final

from nodrop.model.fabric import Device, Fabric
from nodrop.validating.twin import box, looking
from nodrop.validating.twin.crossing import send_largest_packets_over_cables
from nodrop.validating.twin.daemons import BootConfiguration
from nodrop.validating.twin.lab import TwinLab
from nodrop.validating.twin.outward import comment_out_outward_lines
from nodrop.validating.twin.packets import TwinSockets
from support.twin_attacks import ATTACKS

_SETTLE_S: Final = 4
"""How long daemons have to write: bgpd opens a dump at once, and its log with the first line of it."""


def plant(guard: Path) -> None:
    """Fill a folder with what attacks are after."""
    for attack in ATTACKS:
        folder = guard / attack.name
        folder.mkdir()
        for name in ("precious", "secret"):
            (folder / name).write_text(f"{name}\n")
        (folder / "link").symlink_to("precious")
    own = guard / "home"
    (own / ".ssh").mkdir(parents=True)
    for name in (".bashrc", ".profile", ".ssh/authorized_keys"):
        (own / name).write_text("# mine\n")


def run(guard: str, token: str, filtered: str) -> dict[str, str]:
    """Run the twin, with the lines that are left out or without."""
    return box.call_in_sandbox(attacked, guard, token, filtered == "filtered")


def attacked(tell: box.ReportProgress, guard: str, token: str, filtered: bool) -> dict[str, str]:
    """Start a device for each attack; return what the bgpd of each runs with and refused, or why it did not start."""
    devices = tuple(Device(name=attack.name, platform="nvue") for attack in ATTACKS)
    boots = {}
    for attack in ATTACKS:
        text = "\n".join(("router bgp 65000", " bgp router-id 10.0.0.1", "exit", *given(attack.lines, guard, token)))
        if filtered:
            text = comment_out_outward_lines(text).text
        boots[attack.name] = BootConfiguration(text=text, daemons=("zebra", "bgpd", "staticd"), profile="datacenter")
    lab = TwinLab(Fabric(name="attacked", mode="lossless", devices=devices), boots)
    lab.start()
    time.sleep(_SETTLE_S)
    said = {name: "\n".join(one.said for one in rows) for name, rows in lab.refused.items()}
    return {
        name: lab.answer_of_daemon(name, "show running-config") + said[name] for name in lab.running_devices
    } | lab.dead


def given(lines: tuple[str, ...], guard: str, token: str) -> list[str]:
    """The lines of an attack, with the paths of this run."""
    return [line.replace("{guard}", guard).replace("{token}", token) for line in lines]


def named(tell: box.ReportProgress, fabric: Fabric) -> tuple[dict[str, bool], dict[str, str], dict[str, str]]:
    """Run devices with hostile names; return which cables packets cross, who does not start, and who answers."""
    text = "router bgp 65000\n bgp router-id 10.0.0.1\nexit\n"
    boots = {
        device.name: BootConfiguration(text=text, daemons=("zebra", "bgpd"), profile="datacenter")
        for device in fabric.devices
    }
    lab = TwinLab(fabric, boots)
    lab.start()
    time.sleep(0.5)
    with closing(TwinSockets(lab.plan)) as sockets:
        crossed = {
            link.a.port: one.crosses for link, one in send_largest_packets_over_cables(sockets, lab.plan).items()
        }
    return crossed, lab.dead, {name: looking.observed_router_id(lab, name) for name in lab.running_devices}
