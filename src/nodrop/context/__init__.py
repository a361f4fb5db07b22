"""fabric.yaml: the facts that no switch file can hold, written next to a build and read next to any configurations."""

from nodrop.context.reading import MAX_BYTES, declared, loads
from nodrop.context.schema import Stated
from nodrop.context.spelling import spell

FILE = "fabric.yaml"

__all__ = ["FILE", "MAX_BYTES", "Stated", "declared", "loads", "spell"]
