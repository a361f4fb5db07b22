"""The headroom table that a switch's image has for its HWSKU: pg_profile_lookup.ini, read and used as buffermgrd does.

Lines have speed, cable length, size, xon, xoff, threshold, and xon_offset where the chip has one. Of two lines for the
same speed and length the later one counts (sonic-swss cfgmgr/buffermgr.cpp, readPgProfileLookupFile).
"""

import re

from nodrop.errors import InputProblems, Problem
from nodrop.hardware.bounds import shipped_headroom_rows
from nodrop.model.buffers import BufferProfile, Headroom, HeadroomRow
from nodrop.model.states import UNKNOWN, Unknown
from nodrop.platforms.sonic.config import DeviceTables
from nodrop.syntax.places import decode_utf8, quote_text

HEADROOM_TABLE_FILE = "pg_profile_lookup.ini"
"""On a switch in /usr/share/sonic/device/PLATFORM/HWSKU/."""

_MOST_ROWS = 10_000
_HEADROOM_ROW_PATTERN = re.compile(
    r"(\d{1,9})\s+(\d{1,6})m\s+(\d{1,15})\s+(\d{1,15})\s+(\d{1,15})\s+(-?\d{1,15})(?:\s+(\d{1,15}))?", re.ASCII
)
_EXPECTED_LINE_TEXT = "speed, cable, size, xon, xoff and threshold, such as 100000 40m 1248 2288 53248 -3"


def read_headroom_table(raw: bytes, display: str) -> tuple[HeadroomRow, ...]:
    """Return the rows of a table, sorted by speed and cable; InputProblems with the line that is none."""
    rows: dict[tuple[int, int], HeadroomRow] = {}
    for number, line in enumerate(decode_utf8(raw, display).splitlines(), start=1):
        if line.startswith("#") or not line.strip():
            continue
        match = _HEADROOM_ROW_PATTERN.fullmatch(line.strip())
        if match is None:
            found = quote_text(line.strip())
            raise InputProblems(
                [Problem(path=display, line=number, column=1, found=found, expected=_EXPECTED_LINE_TEXT)]
            )
        speed, cable, size, xon, xoff, threshold = map(int, match.groups()[:6])
        offset = None if match[7] is None else int(match[7])
        rows[speed, cable] = HeadroomRow(speed, cable, size, xon, xoff, threshold, offset)
        if len(rows) > _MOST_ROWS:
            raise InputProblems([Problem(path=display, found="more rows", expected=f"at most {_MOST_ROWS:,}")])
    return tuple(rows[key] for key in sorted(rows))


def find_headroom_rows(
    own: tuple[HeadroomRow, ...] | None | Unknown, model: str | Unknown, hwsku: str | None
) -> tuple[HeadroomRow, ...] | Unknown:
    """Return the rows of a switch's own table, else those that its SKU ships; UNKNOWN where neither is known."""
    if own is None:
        return UNKNOWN
    if not isinstance(own, Unknown):
        return own
    return UNKNOWN if isinstance(model, Unknown) else shipped_headroom_rows(model, hwsku)


def lossless_profile_of_row(
    config: DeviceTables, rows: tuple[HeadroomRow, ...], speed_mbps: int, cable_m: int
) -> BufferProfile | None:
    """Return the lossless profile of a table's row; None where it has no such row, or the pool is not there yet."""
    row = next((row for row in rows if row[:2] == (speed_mbps, cable_m)), None)
    mode = config.rows("BUFFER_POOL").get("ingress_lossless_pool", {}).get("mode")
    if row is None or mode is None:
        return None
    return BufferProfile(
        pool="ingress_lossless",
        size_bytes=row.size_bytes,
        dynamic_th=None if mode == "static" else row.threshold,
        static_th_bytes=row.threshold if mode == "static" else None,
        headroom=Headroom(xoff_bytes=row.xoff_bytes, xon_bytes=row.xon_bytes, xon_offset_bytes=row.xon_offset_bytes),
    )
