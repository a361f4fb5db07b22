"""FRR's configuration on a switch with Cumulus Linux, as its FRR file has it, with the places of its lines."""

from collections.abc import Callable, Mapping

from nodrop.model.reading import FilePlace
from nodrop.platforms.cumulus.reader import find_frr_text
from nodrop.syntax.places import BYTE_ORDER_MARK, Span


def find_frr_source(config_files: Mapping[str, bytes]) -> tuple[str, Callable[[int], FilePlace | None]] | None:
    """Return the text of FRR's configuration, and the places of its lines; None where there is none."""
    texts = {name: data.decode(errors="replace").removeprefix(BYTE_ORDER_MARK) for name, data in config_files.items()}
    routing = find_frr_text(texts)
    if routing is None:
        return None
    file, text = routing
    lines = text.split("\n")
    return text, lambda line: FilePlace(file, Span(line, 1, line, max(len(lines[line - 1]), 1) + 1))
