"""From NCLU's commands, typed or as `net show configuration commands` prints them, to a device."""

import re
from collections.abc import Iterable

from nodrop.errors import Problem
from nodrop.model.reading import DeviceReading, Source
from nodrop.platforms.kit import translating
from nodrop.platforms.nclu.commands import COMMANDS_FILE, translate_commands

CANONICAL_FILES = (COMMANDS_FILE,)
COMPANION_FILES = ()
SUBFOLDER_ENDINGS: tuple[tuple[str, str], ...] = ()
USUAL_SUFFIXES = (".txt", ".sh", ".cfg", ".conf", ".nclu", "")
WRITTEN_AS = "nvue"

_NET_ADD_LINE = re.compile(
    rb"^(?:[\w.-]++@[\w.:~/-]++[$#][ \t]*+)?[ \t]*+net[ \t]++"
    rb"(?:add[ \t]++(?:interface|bgp|loopback|bond|bridge|hostname|vlan|roce)\b|"
    rb"del[ \t]++all\b)",
    re.MULTILINE,
)


def detect(name: str, file_head: bytes) -> bool:
    """Whether a file is a list of NCLU's commands."""
    return name == COMMANDS_FILE or bool(_NET_ADD_LINE.search(file_head))


def read_device(name: str, bundle: Iterable[tuple[Source, bytes]]) -> DeviceReading:
    """Read a device; a file that cannot be read at all is a problem of the reading."""
    problems: list[Problem] = []
    sources, texts = translating.decode_sources(bundle, problems)
    return translating.read_translation(
        "nclu", name, sources, translate_commands(texts.get(COMMANDS_FILE, "")), problems
    )
