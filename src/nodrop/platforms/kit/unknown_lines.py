"""Lines whose effect is not known: neither in the model nor on a list of harmless ones.

A reader makes a note of each (`note_unknown_line`, `note_unknown_command`); the linter makes one unknown verdict of
those that set the same (`engine/unknowns.of_lines`), which counts in the last line and fails at `--fail-on unknown`.
"""

import re

from nodrop.model.reading import UNKNOWN_LINE_NOTE_KIND, Note
from nodrop.platforms.kit.secrets import mask_secret

_KEYWORD_PATTERN = re.compile(r"ipv[46]|srv6|[a-z]+(?:-[a-z]+)*")
_MOST_KEYWORDS = 4
_MAX_QUOTED_CHARACTERS = 80
"""Characters of a line that a message quotes."""


_ROUTE_LEAK_PATTERN = re.compile(
    "(?<![^ ])(?:import vrf|import vpn|export vpn|route-import from-vrf|import_vrf)(?![^ ])"
)
"""Words of settings that bring routes of one VRF into another."""
_STATIC_ROUTE_LEAK_WORD = "nexthop-vrf"


def is_route_leak_note(note: Note) -> bool:
    """Whether an unknown line brings routes of one VRF into another: it is said that these are not computed."""
    if note.kind != UNKNOWN_LINE_NOTE_KIND:
        return False
    of_static_route = _STATIC_ROUTE_LEAK_WORD in note.text and _STATIC_ROUTE_LEAK_WORD in note.text.split()
    return of_static_route or _ROUTE_LEAK_PATTERN.search(note.about) is not None


def note_unknown_line(text: str, about: str, device: str, file: str | None, line: int | None) -> Note:
    """Return the note about a setting that has `text`.

    `about` describes the setting, without names and values: notes with an equal one become one verdict. It holds no
    secret.
    """
    return _unknown_line_note(mask_secret(text), about, device, file, line)


def note_unknown_command(text: str, device: str, file: str | None, line: int | None) -> Note:
    """Return the note about a line that is a command: its first keywords describe the setting."""
    quoted = mask_secret(text)
    return _unknown_line_note(quoted, _first_keywords(quoted), device, file, line)


def _unknown_line_note(quoted: str, about: str, device: str, file: str | None, line: int | None) -> Note:
    shown = quoted if len(quoted) <= _MAX_QUOTED_CHARACTERS else f"{quoted[:_MAX_QUOTED_CHARACTERS]}..."
    message = f"`{shown}` is neither modelled nor known to be harmless"
    return Note(
        kind=UNKNOWN_LINE_NOTE_KIND, message=message, device=device, file=file, line=line, about=about, text=quoted
    )


def _first_keywords(quoted: str) -> str:
    """Return the first keywords of a command without its secret, and `...` for the session that it is about."""
    words = quoted.split()
    head = ["no"] if words[:1] == ["no"] and len(words) > 1 else []
    words = words[len(head) :]
    if words[:1] == ["neighbor"]:
        head += ["neighbor", "..."]
        words = words[2:]
    if not words or not _KEYWORD_PATTERN.fullmatch(words[0]):
        return " ".join(head or ["a line without a command"])
    for word in words[:_MOST_KEYWORDS]:
        if not _KEYWORD_PATTERN.fullmatch(word):
            break
        head.append(word)
    return " ".join(head)
