"""fabric.yaml: what no switch file can say, written beside a build and read beside any configurations."""

from nodrop.stated.reading import MAX_BYTES, declared, loads
from nodrop.stated.schema import Stated
from nodrop.stated.spelling import spell

FILE = "fabric.yaml"

__all__ = ["FILE", "MAX_BYTES", "Stated", "declared", "loads", "spell"]
