"""Remarks on files that a SONiC switch does not load at start although only they state a setting."""

from collections.abc import Mapping, Sequence
from typing import Any

from nodrop.model.change import CommandsForCase
from nodrop.model.reading import NO_REMEDY, FilePlace, Remark, Remedy
from nodrop.model.states import Unknown
from nodrop.platforms import frr
from nodrop.platforms.frr.files import FRR_FILE
from nodrop.platforms.sonic.config import DeviceTables, RowFields
from nodrop.platforms.sonic.document import (
    CONFIG_DB_FILE,
    GOLDEN_FILE,
    LOCALHOST_PATH,
    ROUTING_MODE_FIELD,
    find_files_not_loaded_at_start,
)
from nodrop.platforms.sonic.frr_text import FrrText
from nodrop.platforms.sonic.read_bgp import read_routing
from nodrop.platforms.sonic.starting import FRR_FILES, MINIGRAPH_FILE, BgpContainerStart
from nodrop.syntax.places import Span

_MAX_SHOWN_PLACES = 3
"""Places of a file that are named in one finding."""
_GENERATED_FILE_MARK = "Managed by sonic-cfggen"
"""What is written in files that the bgp container makes itself (sonic-buildimage dockers/docker-fpm-frr/frr)."""
_FILE_START_SPAN = Span(1, 1, 1, 1)


def remark_unloaded_tables_and_routing(
    config: DeviceTables,
    localhost: RowFields,
    start: BgpContainerStart | None,
    frr_text: FrrText | None,
    frr_routing: frr.FrrRouting | None,
) -> None:
    """Remark tables in files that a start leaves out, and routing in files of FRR that the bgp container drops."""
    for document, how, paths in find_files_not_loaded_at_start(config.documents):
        place = document.place(paths[0])
        remainder_text = f" and {len(paths) - _MAX_SHOWN_PLACES:,} more" if len(paths) > _MAX_SHOWN_PLACES else ""
        places = ", ".join(" ".join(path) for path in paths[:_MAX_SHOWN_PLACES]) + remainder_text
        facts = {"file": document.name, "places": places, "how": how}
        _add_remark(config, "file-not-loaded", place[1] if place else None, facts)
    if (
        start is None
        or frr_text is None
        or frr_text.lost is None
        or frr_text.would_hold_bgp
        or _GENERATED_FILE_MARK in frr_text.lost.text
    ):
        return
    names = [name for name in FRR_FILES if name in frr_text.lost.names]
    file_routing, _ = read_routing(config, localhost, frr_text.lost, frr.read_frr(frr_text.lost.text))
    if _essential_routing(file_routing) == _essential_routing(
        read_routing(config, localhost, frr_text, frr_routing)[0]
    ):
        return
    state = f"is {start.mode}" if start.mode else "is not set"
    by = "" if start.taken_from == CONFIG_DB_FILE else f", from {start.taken_from} (db_migrator)"
    keeping = "split-unified" if FRR_FILE in names else "split"
    facts = {
        "file": ", ".join(names),
        "fate": start.fates[names[0]],
        "mode": f"{ROUTING_MODE_FIELD} {state}{by}",
        "keeping": keeping,
    }
    lines = _lines_to_keep_frr_files(start, keeping)
    remedy = Remedy(choices=(CommandsForCase(condition="", language="sonic", lines=lines),))
    _add_remark(config, "frr-file-not-kept", _place_of_routing_mode(config, start), facts, remedy)


def _lines_to_keep_frr_files(start: BgpContainerStart, keeping: str) -> tuple[str, ...]:
    """Return what to write and type for a mode `keeping` the files, below the file that would undo the rest."""
    mode = f'"{ROUTING_MODE_FIELD}": "{keeping}"'
    golden = (f"# in {GOLDEN_FILE} below DEVICE_METADATA|localhost: {mode}",) if start.taken_from == GOLDEN_FILE else ()
    return (
        *golden,
        f'sudo sonic-db-cli CONFIG_DB HSET "DEVICE_METADATA|localhost" {ROUTING_MODE_FIELD} {keeping}',
        "sudo config save -y",
        "sudo systemctl restart bgp",
    )


def _place_of_routing_mode(config: DeviceTables, start: BgpContainerStart) -> FilePlace | None:
    """Return where the mode is stated, or would be."""
    if start.taken_from == MINIGRAPH_FILE:
        return FilePlace(MINIGRAPH_FILE, _FILE_START_SPAN)
    document = next((candidate for candidate in config.documents if candidate.name == start.taken_from), None)
    place = document.place((*LOCALHOST_PATH, ROUTING_MODE_FIELD)) if document is not None else None
    return place[1] if place is not None else config.place((*LOCALHOST_PATH, ROUTING_MODE_FIELD))


def _add_remark(
    config: DeviceTables, kind: str, place: FilePlace | None, facts: Mapping[str, str], remedy: Remedy = NO_REMEDY
) -> None:
    config.remarks.append(Remark(kind=kind, subject=(config.device,), place=place, facts=dict(facts), remedy=remedy))


def _essential_routing(facts: Mapping[str, object]) -> Sequence[object]:
    """Return of routing what decides who hears which routes: AS numbers, sessions, networks and static routes."""
    processes = [
        bgp
        for bgp in (facts["bgp"], *_rows_or_empty_if_unknown(facts["vrf_bgp"]))
        if bgp is not None and not isinstance(bgp, Unknown)
    ]
    process_rows = [
        (
            str(process.vrf),
            process.asn,
            sorted((near.key, str(near.remote_asn)) for near in _rows_or_empty_if_unknown(process.neighbors)),
            process.networks,
        )
        for process in processes
    ]
    return [process_rows, sorted(map(repr, _rows_or_empty_if_unknown(facts["static_routes"])))]


def _rows_or_empty_if_unknown(rows: Any) -> Sequence[Any]:
    return () if isinstance(rows, Unknown) else tuple(rows)
