"""The other fabrics of a command, used by the analyses that set `NEEDS_OTHER_FABRICS = True`.

Such an analysis compares one fabric with earlier ones of the same command that are known to have an identifier in
common (`model/identifiers.py`). A part of another fabric has a subject that begins with `OTHER_FABRICS_SUBJECT` and
the name of that fabric; `nodrop.shared_identifiers` finds its place.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nodrop.model.fabric import Fabric
from nodrop.model.index import Index, IndexChannel
from nodrop.model.subject import Subject

OTHER_FABRICS_SUBJECT = "@fabrics"
_MAX_LISTED_PHRASES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherFabric:
    """Another fabric of the same command."""

    name: str
    """The name that it states if no other has that, else where its files lie."""
    index: Index
    one_site: bool
    """Whether both fabrics are in one site: one `nodrop build`, or the fabrics of one nodrop.yaml."""
    joined: bool
    """Whether cables between switches join both."""

    @property
    def fabric(self) -> Fabric:
        """The fabric."""
        return self.index.fabric

    def subject_of_part(self, *subject_path: str) -> Subject:
        """Return the subject of a part of it."""
        return (OTHER_FABRICS_SUBJECT, self.name, *subject_path)

    def do_names_mean_same_device(self, index: Index) -> bool:
        """Whether a name means the same switch or host in both."""
        return self.one_site or index.devices.keys().isdisjoint(self.index.devices.keys())


OTHER_FABRICS_CHANNEL = IndexChannel[Sequence[OtherFabric]]("beside")
"""The other fabrics of the command."""


def earlier_overlapping_fabrics(index: Index) -> Sequence[OtherFabric]:
    """Return the earlier fabrics of the command that have something in common with this one."""
    return index.get_channel_value(OTHER_FABRICS_CHANNEL, ())


def undescribed_cabled_nodes(index: Index) -> Iterator[str]:
    """Yield what cables lead to and no file describes."""
    for link in index.fabric.links:
        yield from (end.node for end in (link.a, link.b) if end.node not in index.devices)


def abbreviate_phrases(phrases: Iterable[str]) -> str:
    """Return the first words, and how many more there are."""
    every = list(phrases)
    count_suffix = f" and {len(every) - _MAX_LISTED_PHRASES} more" if len(every) > _MAX_LISTED_PHRASES else ""
    return f"{', '.join(every[:_MAX_LISTED_PHRASES])}{count_suffix}"
