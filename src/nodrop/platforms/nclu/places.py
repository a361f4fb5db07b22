"""Where a subject stands in a list of NCLU's commands."""

from collections.abc import Callable, Mapping

from nodrop.model.reading import FilePlace
from nodrop.model.subject import Subject
from nodrop.platforms.kit import translating
from nodrop.platforms.nclu.commands import COMMANDS_FILE, translate_commands


def place_finder_for_files(config_files: Mapping[str, bytes]) -> Callable[[Subject], FilePlace | None]:
    """Return a function that finds a subject, its device first, in a device's files by canonical name."""
    return translating.make_place_finder(
        translate_commands(config_files.get(COMMANDS_FILE, b"").decode(errors="replace"))
    )
