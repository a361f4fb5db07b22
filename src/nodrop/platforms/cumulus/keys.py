"""The files of QoS: a key, an equals sign, and a value or a list in brackets on a line; `#` begins a comment."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nodrop.model.reading import FilePlace
from nodrop.platforms.kit.translating import non_blank_lines

_BOOLEAN_BY_WORD = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_KEY_VALUE_LINE = re.compile(r"([A-Za-z0-9_.-]+)[ \t]*=[ \t]*([^#]*)")


class QosFileSetting(NamedTuple):
    """A setting: the parts of its key, its value, and where it stands."""

    parts: tuple[str, ...]
    value: str
    place: FilePlace

    @property
    def key(self) -> str:
        """The key as it is written."""
        return ".".join(self.parts)

    @property
    def items(self) -> tuple[str, ...]:
        """The items of a list; those of a single value are itself."""
        return tuple(item.strip() for item in self.value.strip("[] \t").split(",") if item.strip())

    @property
    def flag(self) -> bool | None:
        """Whether the value is a yes or a no; None where it is neither."""
        return _BOOLEAN_BY_WORD.get(self.value.lower())


def parse_lines(file: str, text: str) -> Iterator[QosFileSetting | FilePlace]:
    """Yield the settings in their order, and the place of each line that is none."""
    for _, line, span in non_blank_lines(text):
        if line.startswith("#"):
            continue
        match = _KEY_VALUE_LINE.fullmatch(line.partition("#")[0].rstrip())
        place = FilePlace(file, span)
        yield QosFileSetting(tuple(match[1].split(".")), match[2].strip(), place) if match else place
