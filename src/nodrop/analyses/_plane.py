"""The control plane of a fabric, computed once for all rules that check its behavior."""

from collections.abc import Iterator

from nodrop.analyses import Unsettled
from nodrop.model.index import Index
from nodrop.model.reading import UNCOMPUTED_PREFIX
from nodrop.routing import ControlPlane, compute


def control_plane_of(index: Index) -> ControlPlane:
    """Return the control plane of a fabric, the same to every rule."""
    return index.keep("plane", lambda: compute(index))


def uncomputed_gaps(plane: ControlPlane) -> Iterator[Unsettled]:
    """Yield the facts and uncomputed parts of a configuration that leave what depends on them unknown."""
    for gap in plane.gaps:
        yield Unsettled(subject=gap.subject, missing=f"{UNCOMPUTED_PREFIX}{gap.what}" if " " in gap.what else gap.what)
