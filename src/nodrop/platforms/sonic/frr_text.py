"""The configuration that FRR runs on a SONiC switch: one text from its files or field, and the place of each line.

starting.py knows which files the bgp container keeps when it starts; FRR does not run those that it deletes or
overwrites. The configuration of a running FRR, in `show runningconfiguration all`, takes precedence over any file,
which must not differ.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

from nodrop.model.reading import FilePlace
from nodrop.platforms.frr.files import BGPD_FILE, END_OF_FILE, FRR_FILE, STATICD_FILE, ZEBRA_FILE
from nodrop.platforms.sonic.document import TablesDocument, open_documents
from nodrop.platforms.sonic.starting import (
    DAEMON_FILES,
    FRR_FILES,
    MINIGRAPH_FILE,
    BgpContainerStart,
    bgp_container_start_of,
)
from nodrop.syntax.places import BYTE_ORDER_MARK, Span

_FILE_SEPARATOR_TEXT = f"\n{END_OF_FILE}\n"
"""What closes the blocks of one file before the next."""
_RUNNING_BESIDE_REASON = "the configuration that FRR runs is given, and was checked instead"
_INTEGRATED_FILE_REASON = f"{FRR_FILE} is given, and the daemons start with that"


class _PlaceFinder(Protocol):
    def __call__(self, span: Span) -> FilePlace | None: ...


@dataclass(frozen=True, slots=True)
class FrrText:
    """The text, and for each part of it the number of its first line and how a span of the part becomes a place."""

    text: str
    parts: tuple[tuple[int, _PlaceFinder], ...]
    unused: Mapping[str, str] = field(default_factory=dict)
    """The files that are not read, and why."""
    names: tuple[str, ...] = (FRR_FILE,)
    """Which files it is from; what runs is told as frr.conf."""
    beside: "FrrText | None" = None
    """What the files say, where this is what runs."""
    lost: "FrrText | None" = None
    """What the files say that the bgp container does not keep."""

    @property
    def would_hold_bgp(self) -> bool:
        """Whether BGP would stand in it."""
        return FRR_FILE in self.names or BGPD_FILE in self.names

    @property
    def would_hold_interfaces(self) -> bool:
        """Whether it would have settings of interfaces, if there are any; also where FRR starts with no file at all."""
        return not self.names or FRR_FILE in self.names or ZEBRA_FILE in self.names

    @property
    def would_hold_static_routes(self) -> bool:
        """Whether static routes would stand in it."""
        return FRR_FILE in self.names or STATICD_FILE in self.names

    def place(self, span: Span) -> FilePlace | None:
        """Return where a span of the text stands."""
        first_line, finds = self.parts[0]
        if len(self.parts) > 1:
            first_line, finds = next(part for part in reversed(self.parts) if part[0] <= span.line)
        before = first_line - 1
        if before == 0:
            return finds(span)
        return finds(Span(span.line - before, span.column, span.end_line - before, span.end_column))


def read_tables_and_frr(config_files: Mapping[str, bytes]) -> tuple[list[TablesDocument], FrrText | None]:
    """Return the tables of a device's files, given by canonical name, and what FRR runs; a file of neither is left."""
    documents = open_documents(config_files)
    minigraph = config_files[MINIGRAPH_FILE].decode(errors="replace") if MINIGRAPH_FILE in config_files else None
    texts = {
        name: config_files[name].decode(errors="replace").removeprefix(BYTE_ORDER_MARK)
        for name in FRR_FILES
        if name in config_files
    }
    return documents, running_frr_text(texts, documents, bgp_container_start_of(documents, minigraph))


def find_frr_source(config_files: Mapping[str, bytes]) -> tuple[str, Callable[[int], FilePlace | None]] | None:
    """Return the configuration that FRR runs, and the place of its lines; None if the files do not state its BGP."""
    _, found_frr_text = read_tables_and_frr(config_files)
    if found_frr_text is None or not found_frr_text.would_hold_bgp:
        return None
    lines = found_frr_text.text.split("\n")
    return found_frr_text.text, lambda line: found_frr_text.place(Span(line, 1, line, max(len(lines[line - 1]), 1) + 1))


def running_frr_text(
    files: Mapping[str, str], documents: Sequence[TablesDocument], start: BgpContainerStart | None
) -> FrrText | None:
    """Return the configuration that FRR runs, from the files' texts by name; None if none of them states it.

    Without a `start` all files are taken to be kept, frr.conf before those of the daemons.
    """
    fates = start.fates if start else {}
    why_lost = {name: f"the bgp container {fate} when it starts" for name, fate in fates.items() if name in files}
    kept_frr_text = _join_frr_files({name: text for name, text in files.items() if name not in fates})
    lost = _join_frr_files({name: text for name, text in files.items() if name in fates})
    running = _find_running_frr(documents)
    if running is not None:
        text, place = running.running_frr or "", partial(_place_in_json_string, running)
        unused = dict.fromkeys(sorted(files), _RUNNING_BESIDE_REASON)
        return FrrText(text, ((1, place),), unused, beside=kept_frr_text, lost=lost)
    if kept_frr_text is None:
        return lost and FrrText("", ((1, lambda span: None),), dict(sorted(why_lost.items())), (), lost=lost)
    return replace(kept_frr_text, unused={**kept_frr_text.unused, **why_lost}, lost=lost)


def _find_running_frr(documents: Sequence[TablesDocument]) -> TablesDocument | None:
    return next((document for document in documents if document.running_frr is not None), None)


def _join_frr_files(files: Mapping[str, str]) -> FrrText | None:
    daemons = [name for name in DAEMON_FILES if name in files]
    used, unused_files = ([FRR_FILE], daemons) if FRR_FILE in files else (daemons, [])
    if not used:
        return None
    text_parts, line = [], 1
    for name in used:
        text_parts.append((line, partial(FilePlace, name)))
        line += files[name].count("\n") + _FILE_SEPARATOR_TEXT.count("\n")
    return FrrText(
        _FILE_SEPARATOR_TEXT.join(files[name] for name in used),
        tuple(text_parts),
        dict.fromkeys(unused_files, _INTEGRATED_FILE_REASON),
        tuple(used),
    )


def _place_in_json_string(document: TablesDocument, span: Span) -> FilePlace | None:
    inner_span = document.locator.span_inside_string(document.frr_keys, span)
    return None if inner_span is None else FilePlace(document.name, inner_span)
