"""Switches that run as containers or virtual machines of a lab: what a platform's image is given, and how it is wired.

A platform that has an image says in `platforms/<os>/virtual.py` of what kind its nodes are (`KIND`), and what one of
its switches comes to (`virtual`). What the image cannot take as it stands is changed there, and each change is told.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast

from nodrop.model.fabric import Device

_PLATFORMS = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
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
    told: tuple[str, ...] = ()
    """What is otherwise than on a real switch, whatever is configured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Virtual:
    """One switch of a lab: its files by name, with where the container sees each of them, and its ports.

    `ports` are the names that the lab's cables have for the model's interfaces; one that is not there has no place in
    the image. `told` is what was changed, a sentence without its subject.
    """

    files: Mapping[str, str]
    binds: Mapping[str, str]
    ports: Mapping[str, str]
    told: tuple[str, ...] = ()


class Maker(Protocol):
    """A platform's `virtual.py`."""

    KIND: Kind
    WRITES: tuple[str, ...]
    """The names of the files of a switch."""

    def virtual(self, device: Device, bundle: Mapping[str, bytes], frr: str | None) -> Virtual:
        """Make a switch of a lab of a device's files, given by canonical name, and of what FRR runs on it.

        InputProblems where a file cannot be read.
        """


def maker(platform: str) -> Maker | None:
    """Return what makes a platform's virtual switches; None where no image of it can be set up."""
    if not (_PLATFORMS / platform / "virtual.py").exists():
        return None
    return cast("Maker", importlib.import_module(f"nodrop.platforms.{platform}.virtual"))


def makers() -> Mapping[str, Maker]:
    """Return the makers that there are, by platform."""
    found_makers = {path.parent.name: maker(path.parent.name) for path in sorted(_PLATFORMS.glob("*/virtual.py"))}
    return {platform: factory for platform, factory in found_makers.items() if factory is not None}
