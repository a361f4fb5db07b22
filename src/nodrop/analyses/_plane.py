"""The control plane of a fabric, computed once for all rules that check its behavior."""

from collections.abc import Iterator

from nodrop.analyses import UndecidedSubject
from nodrop.model.index import Index
from nodrop.model.reading import NOT_COMPUTED_TEXT_START
from nodrop.routing import ControlPlane, compute_control_plane


def control_plane_of(index: Index) -> ControlPlane:
    """Return the control plane of a fabric, the same to every rule."""
    return index.compute_once("plane", lambda: compute_control_plane(index))


def undecided_subjects_of_gaps(plane: ControlPlane) -> Iterator[UndecidedSubject]:
    """Yield the facts and uncomputed parts of a configuration that leave what depends on them unknown."""
    for gap in plane.gaps:
        yield UndecidedSubject(
            subject=gap.subject, missing=f"{NOT_COMPUTED_TEXT_START}{gap.what}" if " " in gap.what else gap.what
        )
