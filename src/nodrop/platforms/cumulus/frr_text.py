"""FRR's configuration on a switch with Cumulus Linux, as its FRR file has it, with the places of its lines."""

from collections.abc import Callable, Mapping

from nodrop.model.reading import Place
from nodrop.platforms.cumulus.reader import FRR
from nodrop.syntax.places import BOM, Span


def find_frr_source(config_files: Mapping[str, bytes]) -> tuple[str, Callable[[int], Place | None]] | None:
    """Return the text of the first existing FRR file, and the places of its lines; None where there is none."""
    file = next((name for name in FRR if name in config_files), None)
    if file is None:
        return None
    text = config_files[file].decode(errors="replace").removeprefix(BOM)
    lines = text.split("\n")
    return text, lambda line: Place(file, Span(line, 1, line, max(len(lines[line - 1]), 1) + 1))
