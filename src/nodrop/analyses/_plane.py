"""The control plane of a fabric, computed once for all rules that look at what it does."""

from collections.abc import Iterator

from nodrop.analyses import Unsettled
from nodrop.model.index import Index
from nodrop.routing import ControlPlane, compute


def of(index: Index) -> ControlPlane:
    """Return the control plane of a fabric, the same to every rule."""
    return index.keep("plane", lambda: compute(index))


def unsettled(plane: ControlPlane) -> Iterator[Unsettled]:
    """Yield what of a configuration is not computed, so that what hangs on it is not known."""
    for gap in plane.gaps:
        yield Unsettled(subject=gap.subject, missing=gap.what)
