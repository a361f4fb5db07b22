"""Names that devices state, against those of other devices and of the folders or files that contain them.

Devices with the same name are one device at two times, or in two places. A folder is evidence for its devices' names
only where names match: where most of its neighbors match, or where another device has its name.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from nodrop.model.reading import DeviceReading, Remark

_WORD_PATTERN = re.compile(r"[a-z0-9]+")


def find_misnamed_devices(readings: Sequence[DeviceReading], distinct: Sequence[DeviceReading]) -> Iterator[Remark]:
    """Yield remarks of devices with the name of another, or with one unlike their folder's or file's.

    `distinct` are the readings by the names that they have in the fabric.
    """
    groups: defaultdict[PurePath, list[tuple[DeviceReading, str]]] = defaultdict(list)
    for reading, own_device_reading in zip(readings, distinct, strict=True):
        if reading.called is not None and reading.sources:
            groups[_containing_folder(reading)].append((reading, own_device_reading.device.name))
    for group in groups.values():
        if len(group) > 1:
            yield from _name_remarks(group)


def _name_remarks(group: list[tuple[DeviceReading, str]]) -> Iterator[Remark]:
    alike = sum(_matches_file_name(reading) for reading, _ in group)
    shared = Counter(reading.device.name for reading, _ in group)
    owners: dict[str, DeviceReading] = {}
    for reading, _ in sorted(group, key=lambda pair: not _matches_file_name(pair[0])):
        owners.setdefault(reading.device.name, reading)
    for reading, name in group:
        own_name = reading.device.name
        other_device_reading = owners[own_name]
        if _matches_file_name(reading):
            continue
        facts = {"name": own_name, "file": reading.called or ""}
        if other_device_reading is not reading:
            other_file = other_device_reading.called or ""
            yield Remark(kind="name-of-two-devices", subject=(name,), place=None, facts={**facts, "other": other_file})
        elif shared[own_name] == 1 and (2 * alike > len(group) or reading.called in owners):
            yield Remark(kind="name-unlike-file", subject=(name,), place=None, facts=facts)


def _containing_folder(reading: DeviceReading) -> PurePath:
    """Return the folder that contains a device's folder or file."""
    source = reading.sources[0]
    path = PurePath(source.display)
    return path.parent.parent if path.name == source.name else path.parent


def _matches_file_name(reading: DeviceReading) -> bool:
    """Whether the words of a device's name are in the name of its folder or file, or the other way round."""
    name, called = (_WORD_PATTERN.findall(text.lower()) for text in (reading.device.name, reading.called or ""))
    short, long = sorted((name, called), key=len)
    return any(long[start : start + len(short)] == short for start in range(len(long) - len(short) + 1))
