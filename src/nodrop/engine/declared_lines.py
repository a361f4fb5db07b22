"""Lines that nodrop does not know and that a site declares harmless: which, why, until when.

`mark_unknown_lines_as_declared` gives the notes about them another kind before rules are run, which keeps them from
becoming an unknown
verdict (`unknowns.of_lines`) and counts them apart. A declaration is matched against such notes alone: it covers no
line that is modelled, or known to be harmless. The faults of declarations are remarks like those about suppressions.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from nodrop.engine.suppressions import EXPIRED, UNUSED, CheckedScope, SiteDeclaration, today
from nodrop.model.reading import DECLARED_HARMLESS_LINE_NOTE_KIND, UNKNOWN_LINE_NOTE_KIND, Note, Reading, Remark
from nodrop.model.subject import FABRIC_HEAD, matches


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
