"""Changes to the settings of a given file, setting by setting, in the words of its dialect."""

from nodrop.model.reading import DeviceReading
from nodrop.platforms.nvue.edit_operations import PRESENT_WITHOUT_VALUE, SetOrUnsetOperation, combine_operations
from nodrop.platforms.nvue.names import expand_key
from nodrop.platforms.nvue.read_ports import FileInterfaces
from nodrop.platforms.nvue.read_values import ConfigNodeView, NvueConfigFile
from nodrop.platforms.nvue.releases import RELEASES
from nodrop.platforms.nvue.schema_check import find_dialect
from nodrop.platforms.nvue.spelling import DialectWords, dialect_of_release
from nodrop.platforms.nvue.tree import NvueFileTree, Path

_ASSUMED_RELEASE_BY_DIALECT = {"old": "5.14", "new": "5.16"}
"""A release of each dialect, for files that name none which is written."""


class PendingSettingChanges:
    """The settings to remove and then those to make, and the file's current settings."""

    def __init__(self, tree: NvueFileTree, reading: DeviceReading) -> None:
        """Take a file that has been read."""
        self.gone: dict[Path, None] = {}
        self.wanted: dict[Path, str] = {}
        self.config = NvueConfigFile(reading.device.name, tree)
        self.ports = FileInterfaces(self.config)
        version = reading.device.version
        is_known = isinstance(version, str) and version in RELEASES
        self.release = str(version) if is_known else _ASSUMED_RELEASE_BY_DIALECT[find_dialect(tree.root, version)]
        self.say: DialectWords = dialect_of_release(self.release)

    @property
    def top(self) -> ConfigNodeView:
        """All that the file sets."""
        return self.config.top

    def set(self, *path: str, to: object = PRESENT_WITHOUT_VALUE) -> None:
        """Let a setting have a value, or be there."""
        self.wanted[path] = str(to)

    def unset(self, *path: str) -> None:
        """Take a setting away, and all below it, where the file has it."""
        if has_path(self.top.node, path):
            self.gone[path] = None

    @property
    def operations(self) -> list[SetOrUnsetOperation]:
        """Return all operations, in order."""
        return [*combine_operations(self.gone), *combine_operations(self.wanted)]

    def set_or_unset(self, *path: str, to: object) -> None:
        """Let a setting have a value, none where that is None."""
        if to is None:
            self.unset(*path)
        else:
            self.set(*path, to=to)


def has_path(node: object, path: Path, parent: str = "") -> bool:
    """Whether a tree has a path of single keys."""
    if not path:
        return True
    if not isinstance(node, dict):
        return path == (node,)
    return any(path[0] in expand_key(parent, key) and has_path(value, path[1:], path[0]) for key, value in node.items())
