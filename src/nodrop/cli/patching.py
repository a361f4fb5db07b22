"""Patches of switches in a folder: one folder for each, replaced as a whole or not at all."""

import re
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path


def write(directory: str, patches: Iterable[tuple[str, str, Mapping[str, bytes], Mapping[str, bytes]]]) -> None:
    """Write the files of each switch below a folder of its name; what an earlier run has written there is replaced.

    Given of each: the folder above (empty, or ending with `/`), its name, the files, and the files that it had, of
    which the digests are kept. A name that is no folder's is made one, and of two that come to the same the second
    gets a number.
    """
    from nodrop.publish import digest, publish

    files: dict[str, bytes] = {}
    inputs: dict[str, str] = {}
    taken: set[str] = set()
    for above, device, given, had in patches:
        plain = re.sub(r"[^A-Za-z0-9._@+=-]", "-", device).lstrip(".") or "device"
        numbers = (above + (plain if number == 1 else f"{plain}.{number}") for number in count(1))
        folder = next(name for name in numbers if name not in taken)
        taken.add(folder)
        files |= {f"{folder}/{name}": text for name, text in given.items()}
        inputs |= {f"{folder}/{name}": digest(text) for name, text in had.items()}
    publish(Path(directory), files, inputs=inputs, display=directory)
