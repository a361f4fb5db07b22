"""Changes to the settings of a given file, setting by setting, in the words of its dialect."""

from nodrop.model.reading import DeviceReading
from nodrop.platforms.nvue.edit_operations import THERE, Operation, operations
from nodrop.platforms.nvue.names import keys
from nodrop.platforms.nvue.read_ports import Ports
from nodrop.platforms.nvue.read_values import Config, View
from nodrop.platforms.nvue.releases import RELEASES
from nodrop.platforms.nvue.schema_check import find_dialect
from nodrop.platforms.nvue.spelling import Dialect, dialect
from nodrop.platforms.nvue.tree import Path, Tree

_USUAL = {"old": "5.14", "new": "5.16"}
"""A release of each dialect, for files that name none which is written."""


class Draft:
    """The settings to remove and then those to make, and the file's current settings."""

    def __init__(self, tree: Tree, reading: DeviceReading) -> None:
        """Take a file that has been read."""
        self.gone: dict[Path, None] = {}
        self.wanted: dict[Path, str] = {}
        self.config = Config(reading.device.name, tree)
        self.ports = Ports(self.config)
        version = reading.device.version
        is_known = isinstance(version, str) and version in RELEASES
        self.release = str(version) if is_known else _USUAL[find_dialect(tree.root, version)]
        self.say: Dialect = dialect(self.release)

    @property
    def top(self) -> View:
        """All that the file sets."""
        return self.config.top

    def set(self, *path: str, to: object = THERE) -> None:
        """Let a setting have a value, or be there."""
        self.wanted[path] = str(to)

    def unset(self, *path: str) -> None:
        """Take a setting away, and all below it, where the file has it."""
        if has(self.top.node, path):
            self.gone[path] = None

    @property
    def operations(self) -> list[Operation]:
        """Return all operations, in order."""
        return [*operations(self.gone), *operations(self.wanted)]

    def put(self, *path: str, to: object) -> None:
        """Let a setting have a value, none where that is None."""
        if to is None:
            self.unset(*path)
        else:
            self.set(*path, to=to)


def has(node: object, path: Path, parent: str = "") -> bool:
    """Whether a tree has a path of single keys."""
    if not path:
        return True
    if not isinstance(node, dict):
        return path == (node,)
    return any(path[0] in keys(parent, key) and has(value, path[1:], path[0]) for key, value in node.items())
