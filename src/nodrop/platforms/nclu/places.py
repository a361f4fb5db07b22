"""Where a subject stands in a list of NCLU's commands."""

from collections.abc import Callable, Mapping

from nodrop.model.reading import Place
from nodrop.model.subject import Subject
from nodrop.platforms.kit import translating
from nodrop.platforms.nclu.commands import FILE, translated


def where(config_files: Mapping[str, bytes]) -> Callable[[Subject], Place | None]:
    """Return a function that finds a subject, its device first, in a device's files by canonical name."""
    return translating.where(translated(config_files.get(FILE, b"").decode(errors="replace")))
