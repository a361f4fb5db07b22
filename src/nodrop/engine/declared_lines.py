"""Lines that nodrop does not know and that a site declares harmless: which, why, until when.

`mark_unknown_lines_as_declared` gives the notes about them another kind before rules are run, which keeps them from
becoming an unknown
verdict (`unknowns.of_lines`) and counts them apart. A declaration is matched against such notes alone: it covers no
line that is modelled, or known to be harmless. The faults of declarations are remarks like those about suppressions.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from nodrop.engine.suppressions import EXPIRED, UNUSED, CheckedScope, SiteDeclaration, today
from nodrop.limits import MAX_DECLARED_LINE_CHARACTERS
from nodrop.model.reading import DECLARED_HARMLESS_LINE_NOTE_KIND, UNKNOWN_LINE_NOTE_KIND, Note, Reading, Remark
from nodrop.model.subject import FABRIC_HEAD, matches

_REMAINDER, _MASK = "**", "…"
_PLAIN_YAML_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_./*-]*(?: [A-Za-z0-9_./*|+-]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredHarmlessLine(SiteDeclaration):
    """A site's declaration: a pattern of words, the switches (`at`), the reason, until when and where.

    The reason explains why such lines are harmless.
    """

    pattern: tuple[str, ...]
    """Globs of words; the first is a plain word, a last `**` stands for all that follows."""

    def covers(self, note: Note, words: tuple[str, ...]) -> bool:
        """Whether it is about a line of these words, which a note has noted."""
        return matches(self.pattern, words) and matches((self.at,), (note.device or "",))

    def note_as_declared(self, note: Note) -> Note:
        """Return the note about a line that it covers: that it is declared, until when, why and where."""
        until = "" if self.until is None else f" until {self.until}"
        quoted = note.message[: note.message.rindex("`") + 1]
        message = f"{quoted} is declared harmless{until}: {self.reason} ({self.file}:{self.line})"
        return replace(note, kind=DECLARED_HARMLESS_LINE_NOTE_KIND, message=message)

    def build_remark(self, kind: str, **facts: str) -> Remark:
        """Return a remark about it, at its place."""
        pattern = " ".join(self.pattern)
        where = f"`{pattern}`" if self.at == "*" else f"`{pattern}` at {self.at}"
        return Remark(
            kind=kind,
            subject=(FABRIC_HEAD, "suppressions", UNKNOWN_LINE_NOTE_KIND, self.at, pattern),
            place=self.place,
            facts={"rule": UNKNOWN_LINE_NOTE_KIND, "where": where, **facts},
        )


def mark_unknown_lines_as_declared(
    reading: Reading, declared: Sequence[DeclaredHarmlessLine]
) -> tuple[Reading, tuple[int, ...]]:
    """Return a reading with the notes about unknown lines that are declared, and how many each declaration covers.

    The first one that holds gives the reason. Ended ones declare nothing, but are counted.
    """
    if not declared:
        return reading, ()
    day = today()
    by_word: dict[str, list[tuple[int, DeclaredHarmlessLine]]] = {}
    for number, declared_line in enumerate(declared):
        by_word.setdefault(declared_line.pattern[0], []).append((number, declared_line))
    hits = [0] * len(declared)
    notes = []
    for note in reading.notes:
        words = tuple(note.text.split()) if note.kind == UNKNOWN_LINE_NOTE_KIND else ()
        covering = (
            [
                (number, declaration)
                for number, declaration in by_word.get(words[0], ())
                if declaration.covers(note, words)
            ]
            if words
            else []
        )
        for number, _ in covering:
            hits[number] += 1
        holding = next((declaration for _, declaration in covering if not declaration.ended(day)), None)
        notes.append(note if holding is None else holding.note_as_declared(note))
    return replace(reading, notes=tuple(notes)), tuple(hits)


def suggest_declarations(notes: Iterable[Note]) -> tuple[str, ...]:
    """Return the lines of nodrop.yaml that declare the unknown lines of notes harmless, each kind of line once.

    Who knows the lines fills in the reasons.
    """
    devices: dict[str, dict[str | None, None]] = {}
    for note in notes:
        if note.kind == UNKNOWN_LINE_NOTE_KIND:
            devices.setdefault(_format_pattern(note.text), {})[note.device] = None
    yaml_lines = ["harmless:"] if devices else []
    for pattern, names in devices.items():
        yaml_lines.append(f"  - line: {_quote_unless_plain(pattern)}")
        yaml_lines += [f"    at: {_quote_unless_plain(str(name))}" for name in names if len(names) == 1 and name]
        yaml_lines.append("    reason: (why it changes nothing that you check)")
    return tuple(yaml_lines)


def _format_pattern(text: str) -> str:
    """Return the pattern that covers a line: its words, `**` from a secret on, or from the length limit on."""
    words: list[str] = []
    length = len(_REMAINDER)
    for word in text.split():
        length += len(word) + 1
        if _MASK in word or length > MAX_DECLARED_LINE_CHARACTERS:
            return " ".join((*words, _REMAINDER))
        words.append(word)
    return " ".join(words)


def _quote_unless_plain(text: str) -> str:
    """Return a text as YAML has it."""
    return text if _PLAIN_YAML_PATTERN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def find_declared_line_faults(
    declared_lines: Iterable[DeclaredHarmlessLine], hits: Iterable[int], ran: Sequence[CheckedScope]
) -> Iterator[Remark]:
    """Yield the faults of declarations, each with the number of lines that it covers."""
    day = today()
    devices = [device for run in ran for device in run.devices]
    for declared_line, count in zip(declared_lines, hits, strict=True):
        if declared_line.ended(day):
            back = "its lines are unknown again" if count else "it covers nothing any more"
            yield declared_line.build_remark(EXPIRED, until=str(declared_line.until), back=back)
        elif not count and any(matches((declared_line.at,), (device,)) for device in devices):
            yield declared_line.build_remark(UNUSED, hint="")
