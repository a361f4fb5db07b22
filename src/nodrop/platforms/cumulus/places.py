"""Where a subject stands in the files of Cumulus Linux."""

from collections.abc import Callable, Mapping

from nodrop.model.reading import FilePlace
from nodrop.model.subject import Subject
from nodrop.platforms.cumulus.reader import translate_files
from nodrop.platforms.kit import translating


def place_finder_for_files(config_files: Mapping[str, bytes]) -> Callable[[Subject], FilePlace | None]:
    """Return a function that finds a subject, its device first, in a device's files by canonical name."""
    return translating.make_place_finder(
        translate_files({file: raw.decode(errors="replace") for file, raw in config_files.items()})
    )
