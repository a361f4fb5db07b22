"""FRR's configuration on a switch with Cumulus Linux, as its FRR file has it, with the places of its lines."""

from collections.abc import Callable, Mapping

from nodrop.model.reading import FilePlace
from nodrop.platforms.cumulus.reader import find_frr_texts, place_frr_lines, states_bgp
from nodrop.syntax.places import BYTE_ORDER_MARK


def find_frr_source(config_files: Mapping[str, bytes]) -> tuple[str, Callable[[int], FilePlace | None]] | None:
    """Return the text of FRR's configuration, and the places of its lines; None where there is none."""
    texts = {name: data.decode(errors="replace").removeprefix(BYTE_ORDER_MARK) for name, data in config_files.items()}
    routing = find_frr_texts(texts)
    if not states_bgp(routing):
        return None
    placed = place_frr_lines(routing)
    return "\n".join(line for line, _ in placed), lambda line: placed[line - 1][1]
