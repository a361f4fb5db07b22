"""A report as a tree: what it says, without any format; one module for each format, `document_<format>`, writes it.

Texts in it are as configurations have them; modules of formats escape them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from nodrop.results.outcome import FabricOutcome

Tone = Literal["added", "removed", "replaced", "changed", "harmless", "error", "warning", "note"]
"""What a line is about, which formats show as a color or a mark."""


@dataclass(frozen=True, slots=True)
class RuleName:
    """The name of a rule behind the severity of a finding, such as `new error`; formats may link it to its page."""

    rule: str
    label: str = ""


Span = str | RuleName


@dataclass(frozen=True, slots=True)
class ListItem:
    """One line of a list, and lines that explain it."""

    spans: tuple[Span, ...]
    tone: Tone | None = None
    details: tuple["ListItem", ...] = ()
    brief: str = ""
    """What replaces the details where they would take too much room."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A list with a title, or without one; a section without items is not shown."""

    title: str = ""
    items: tuple[ListItem, ...]
    folded: bool = False
    """Whether formats that fold show the title alone at first."""
    numbered: bool = False
    remarks: tuple[ListItem, ...] = ()
    """Lines that belong to the list and are never folded."""
    optional: bool = False
    """Whether formats that cannot fold leave it out unless all is asked for."""


def list_lines(
    lines: Iterable[str], title: str = "", *, tone: Tone | None = None, folded: bool = False, optional: bool = False
) -> Section:
    """Return lines of one tone as a list."""
    items = tuple(ListItem((line,), tone=tone) for line in lines)
    return Section(title=title, items=items, folded=folded, optional=optional)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Cells below heads, and an explanation below them; a table without rows is not shown."""

    title: str = ""
    heads: Sequence[str]
    rows: tuple[Sequence[str], ...]
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class FactList:
    """Facts behind their names; a name may come more than once."""

    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRow:
    """The changes in one place; `others` are places where the same changes to other values."""

    place: str
    short_place: str
    """The place with the number of its ports where their names are long."""
    items: tuple[ListItem, ...]
    others: str
    risk: str
    risk_rank: int
    """The higher the worse."""
    short_risk: str
    """The risk with how the change is made, or that the change follows from others."""
    quiet: bool
    """Whether it disturbs nothing and needs no person, so that its details can be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTable:
    """Changes by place: in full where there is room, else a table, the worst first, with the rest folded."""

    title: str
    rows: tuple[ChangeRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingList:
    """The problems and findings of an outcome: with quoted lines where there is room, else a line for each cause."""

    outcome: "FabricOutcome"
    which: str = ""
    """What findings they are, such as `new `."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictLine:
    """The result in one line; `decision` is what blocks a change, "" where it passes, None where nothing decides."""

    text: str
    decision: str | None = None
    base: str = ""
    """What the state was compared with."""
    unchanged: tuple[str, ...] = ()
    """Parts that are as they were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportDocument:
    """A report, or a part of it.

    Formats that are read from the top have the verdict first and `urgent` before `body`. Those whose end is seen first,
    as in a terminal, have both last. `lead` precedes both.
    """

    heading: str = ""
    lead: tuple["Node", ...] = ()
    body: tuple["Node", ...] = ()
    urgent: tuple["Node", ...] = ()
    verdict: VerdictLine | None = None


Node = Paragraph | Section | Table | FactList | ChangeTable | FindingList | ReportDocument
