"""fabric.yaml: what no switch file can say, written beside a build and read beside any configurations."""

from nodrop.context.reading import MAX_BYTES, declared, loads
from nodrop.context.schema import Stated
from nodrop.context.spelling import spell

FILE = "fabric.yaml"

__all__ = ["FILE", "MAX_BYTES", "Stated", "declared", "loads", "spell"]
