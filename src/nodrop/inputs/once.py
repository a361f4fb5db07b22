"""Files that are found under several names: a link beside the file that it leads to, or several links to one file."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from nodrop.inputs.disk import Disk
from nodrop.inputs.known import Ignored
from nodrop.inputs.model import Bundle, Inputs, Text

_T = TypeVar("_T", Bundle, Text)


def keep_once(inputs: Inputs, disk: Disk) -> None:
    """Keep each device, host and intent once in a fabric: as the file itself is named, else by the first link to it.

    Two devices are one if all their files are the same; the other names are ignored.
    """
    inputs.bundles = _kept(inputs, inputs.bundles, disk)
    inputs.hosts = _kept(inputs, inputs.hosts, disk)
    inputs.intents = _kept(inputs, inputs.intents, disk)


def _kept(inputs: Inputs, found: Sequence[_T], disk: Disk) -> list[_T]:
    real = [tuple(disk.real(text.display) for text in _texts(one)) for one in found]
    held: dict[tuple[str, ...], int] = {}
    for number, (one, paths) in enumerate(zip(found, real, strict=True)):
        if paths not in held or (_is_itself(one, paths) and not _is_itself(found[held[paths]], paths)):
            held[paths] = number
    stays = set(held.values())
    for number, (one, paths) in enumerate(zip(found, real, strict=True)):
        if number not in stays:
            kept = _texts(found[held[paths]])
            names = zip(_texts(one), kept, strict=True)
            inputs.ignored += (Ignored(text.display, f"the same file as {own.display}") for text, own in names)
    return [one for number, one in enumerate(found) if number in stays]


def _texts(one: Bundle | Text) -> tuple[Text, ...]:
    return (one,) if isinstance(one, Text) else tuple(text for _, text in one.files)


def _is_itself(one: Bundle | Text, paths: Iterable[str]) -> bool:
    """Whether the files are named as they lie on the disk, and not by links."""
    return all(str(Path(text.display).absolute()) == path for text, path in zip(_texts(one), paths, strict=True))
