"""Switches that run as containers or virtual machines of a lab: input of a platform's image, and its wiring.

A platform that has an image states in `platforms/<os>/virtual.py` the kind of its nodes (`KIND`), and how to convert
one of its switches (`make_virtual_switch`). Settings that the image cannot take unchanged are changed there, and each
change is reported.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

from nodrop.model.fabric import Device

_PLATFORMS_FOLDER = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerlabNodeKind:
    """What containerlab calls nodes of a platform, and what all of them have.

    `image` is the name that a user's own image most often has. `binds` are files of the lab's folder, by their name
    there, and where a container sees them; `scripts` are those that are made for it, templates below `containerlab/`.
    """

    name: str
    image: str
    binds: Mapping[str, str] = field(default_factory=dict)
    scripts: tuple[str, ...] = ()
    command: str | None = None
    """What the container is started with, before it has its cables."""
    execute: tuple[str, ...] = ()
    """What is run in it once it has them."""
    takes_frr: bool = False
    """Whether FRR has to be given its configuration by itself, because the image makes none of the device's files."""
    empty_ports: bool = False
    """Whether a port without a cable has to be there, too."""
    remarks: tuple[str, ...] = ()
    """What is unlike a real switch, whatever is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VirtualSwitch:
    """One switch of a lab: its files by name, with the container path of each, and its ports.

    `ports` are the names that the lab's cables have for the model's interfaces; a missing name has no place in the
    image. `remarks` are the changes, as a sentence without its subject.
    """

    files: Mapping[str, str]
    binds: Mapping[str, str]
    ports: Mapping[str, str]
    remarks: tuple[str, ...] = ()


class VirtualSwitchModule(Protocol):
    """A platform's `virtual.py`."""

    KIND: ContainerlabNodeKind
    WRITES: tuple[str, ...]
    """The names of the files of a switch."""

    def make_virtual_switch(self, device: Device, bundle: Mapping[str, bytes], frr: str | None) -> VirtualSwitch:
        """Make a lab switch from a device's files, given by canonical name, and from its FRR configuration.

        Raises InputProblems where a file cannot be read.
        """


def virtual_switch_module_of(platform: str) -> VirtualSwitchModule | None:
    """Return what makes a platform's virtual switches; None where no image of it can be set up."""
    if not (_PLATFORMS_FOLDER / platform / "virtual.py").exists():
        return None
    return cast("VirtualSwitchModule", importlib.import_module(f"nodrop.platforms.{platform}.virtual"))


def virtual_switch_modules_by_platform() -> Mapping[str, VirtualSwitchModule]:
    """Return the available makers, by platform."""
    found_makers = {
        path.parent.name: virtual_switch_module_of(path.parent.name)
        for path in sorted(_PLATFORMS_FOLDER.glob("*/virtual.py"))
    }
    return {platform: factory for platform, factory in found_makers.items() if factory is not None}
