"""fabric.yaml: the facts that no switch file can hold, written next to a build and read next to any configurations."""

from nodrop.context.reading import MAX_FABRIC_FILE_BYTES, loads, parse_declared_facts
from nodrop.context.schema import FabricFile
from nodrop.context.spelling import format_fabric_file

FABRIC_FILE = "fabric.yaml"

__all__ = ["FABRIC_FILE", "MAX_FABRIC_FILE_BYTES", "FabricFile", "format_fabric_file", "loads", "parse_declared_facts"]
