"""The control plane of a fabric, computed once for all rules that check its behavior."""

from collections.abc import Iterator

from nodrop.analyses import Unsettled
from nodrop.model.index import Index
from nodrop.routing import ControlPlane, compute


def control_plane_of(index: Index) -> ControlPlane:
    """Return the control plane of a fabric, the same to every rule."""
    return index.keep("plane", lambda: compute(index))


def uncomputed_gaps(plane: ControlPlane) -> Iterator[Unsettled]:
    """Yield the parts of a configuration that are not computed, which leaves all that depends on them unknown."""
    for gap in plane.gaps:
        yield Unsettled(subject=gap.subject, missing=gap.what)
