"""Cumulus Linux as a virtual machine, Cumulus VX in an image of vrnetlab: the device's own settings, but for eth0.

The image (srl-labs/vrnetlab nvidia/cumulus-vx) applies /config/startup.yaml with `nv config patch`. How many ports the
machine has, and which of them are broken out, it takes from /config/ports.conf: lines `PORT=1x` up to `8x`; it has a
network card for every port up to the last, then one for each part of each port that is broken out, in their order.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from nodrop.errors import NodropError
from nodrop.model.change import Change
from nodrop.model.fabric import Device, Management
from nodrop.platforms import main_config_file
from nodrop.platforms.kit.virtual_switches import ContainerlabNodeKind, VirtualSwitch
from nodrop.platforms.nvue.edit import edit
from nodrop.platforms.nvue.read_values import STARTUP_FILE
from nodrop.platforms.nvue.tree import NvueFileTree
from nodrop.syntax import nvset
from nodrop.syntax.shapes import value_at

KIND = ContainerlabNodeKind(
    name="nvidia_cumulusvx",
    image="vrnetlab/nvidia_cumulus-vx:latest",
    remarks=(
        "a part swpNsM of a broken-out port is ethN of its network card, after the whole ports",
        "buffers, PFC, ECN and adaptive routing are configured at most: there is no ASIC, and an image of another "
        "release may refuse what it does not know",
        "the machine applies its settings over those of the image, once it has started",
    ),
)

_PORTS_FILE = "ports.conf"
WRITES = (STARTUP_FILE, _PORTS_FILE)
"""The names of the files of a switch."""
_CONTAINER_FOLDER = "/config"
_PORT_NAME_PATTERN = re.compile(r"swp([1-9][0-9]{0,2})(?:s([0-7]))?")
_BREAKOUT_PART_COUNTS = (2, 4, 8)
_MAX_PORTS = 999


def make_virtual_switch(device: Device, config_files: Mapping[str, bytes], frr: str | None) -> VirtualSwitch:
    """Return the switch: its settings without those of eth0, and its ports; the settings configure FRR, too."""
    del frr
    remarks: list[str] = []
    widths = _split_count_by_panel(port.name for port in device.interfaces)
    ports = dict(_containerlab_ports(widths, [port.name for port in device.interfaces], remarks))
    files = {
        STARTUP_FILE: _virtual_settings(device, config_files, remarks),
        _PORTS_FILE: "".join(f"{panel}={width}x\n" for panel, width in sorted(widths.items())),
    }
    return VirtualSwitch(
        files=files,
        binds={name: f"{_CONTAINER_FOLDER}/{name}" for name in files},
        ports=ports,
        remarks=tuple(remarks),
    )


def _virtual_settings(device: Device, bundle: Mapping[str, bytes], remarks: list[str]) -> str:
    name = main_config_file("nvue", bundle)
    raw = bundle[name]
    management = device.management
    if isinstance(management, Management) and management.interface == "eth0":
        change = Change(subject=(device.name, "@management"), old=management, new=None)
        try:
            new_edit = edit({name: raw}, [change], name=device.name)
        except NodropError:
            new_edit = None
        if new_edit is None or new_edit.by_hand or name not in new_edit.files:
            remarks.append("what is said of eth0 stays, and may take containerlab's address away")
        else:
            raw = new_edit.files[name]
            remarks.append("nothing is said of eth0, whose address containerlab gives")
    root = NvueFileTree(raw, name).root
    if value_at(root, "system", "aaa", "user"):
        remarks.append("users and passwords are those of the settings, no longer the image's")
    if nvset.has_nv_lines(raw):
        remarks.append(f"its nv commands are one {STARTUP_FILE}")
        return json.dumps([{"set": root}], indent=2, ensure_ascii=False) + "\n"
    return raw.decode()


def _split_count_by_panel(names: Iterable[str]) -> dict[int, int]:
    """Return into how many parts ports are broken out, 1 for none; every panel port up to the last has a line."""
    widths: dict[int, int] = {}
    for name in names:
        if match := _PORT_NAME_PATTERN.fullmatch(name):
            panel, split_count = int(match[1]), int(match[2]) + 1 if match[2] else 1
            least = next(width for width in _BREAKOUT_PART_COUNTS if split_count <= width) if match[2] else 1
            widths[panel] = max(widths.get(panel, 1), least)
    return {panel: widths.get(panel, 1) for panel in range(1, max(widths, default=0) + 1)}


def _containerlab_ports(
    widths: Mapping[int, int], object_names: Iterable[str], remarks: list[str]
) -> Iterator[tuple[str, str]]:
    """Yield ports with the names that containerlab has for them: parts of ports come behind all whole ones."""
    cards: dict[str, str] = {f"swp{panel}": f"swp{panel}" for panel in widths}
    behind = len(widths)
    for panel, width in widths.items():
        for subport in range(width if width > 1 else 0):
            behind += 1
            cards[f"swp{panel}s{subport}"] = f"eth{behind}"
    if behind > _MAX_PORTS:
        remarks.append(f"{behind} ports, and an image has {_MAX_PORTS} at most")
    for name in object_names:
        if name in cards:
            yield name, cards[name]
        elif name.startswith("swp"):
            remarks.append(f"{name} is not there: the image names ports swpN and swpNsM, N up to 999, M up to 7")
