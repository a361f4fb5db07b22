"""From NCLU's commands, typed or as `net show configuration commands` prints them, to a device."""

import re
from collections.abc import Iterable

from nodrop.errors import Problem
from nodrop.model.reading import DeviceReading, Source
from nodrop.platforms.kit import translating
from nodrop.platforms.nclu.commands import FILE, translated

FILES = (FILE,)
BESIDE = ()
BELOW: tuple[tuple[str, str], ...] = ()
SUFFIXES = (".txt", ".sh", ".cfg", ".conf", ".nclu", "")
WRITTEN_AS = "nvue"

_COMMAND = re.compile(
    rb"^(?:[\w.-]++@[\w.:~/-]++[$#][ \t]*+)?[ \t]*+net[ \t]++"
    rb"(?:add[ \t]++(?:interface|bgp|loopback|bond|bridge|hostname|vlan|roce)\b|"
    rb"del[ \t]++all\b)",
    re.MULTILINE,
)


def detect(name: str, file_head: bytes) -> bool:
    """Whether a file is a list of NCLU's commands."""
    return name == FILE or bool(_COMMAND.search(file_head))


def read_device(name: str, bundle: Iterable[tuple[Source, bytes]]) -> DeviceReading:
    """Read a device; a file that cannot be read at all is a problem of the reading."""
    problems: list[Problem] = []
    sources, texts = translating.decoded(bundle, problems)
    return translating.read_translation("nclu", name, sources, translated(texts.get(FILE, "")), problems)
