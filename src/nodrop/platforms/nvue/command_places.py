"""Places of commands by model path: an index of their words, to find each place in one walk down the path."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nodrop.limits import MAX_EXPANDED_NAMES
from nodrop.platforms.nvue.names import expand_key
from nodrop.syntax import nvset
from nodrop.syntax.places import Span

Path = tuple[str, ...]


@dataclass(slots=True)
class _CommandWordNode:
    """A word after the words above it, the last command that has it, and the words after it."""

    last: nvset.NvSetCommand | None = None
    after: dict[str, "_CommandWordNode"] = field(default_factory=dict)


class CommandPlaces:
    """The places of commands of one verb; lists and ranges are written out, up to MAX_PLACES names."""

    def __init__(self, commands: Sequence[nvset.NvSetCommand], verb: str) -> None:
        """Index the commands of a verb, `set` or `unset`."""
        self._root = _CommandWordNode()
        self._left = MAX_EXPANDED_NAMES
        for command in commands:
            if command.verb == verb:
                self._add_command_words(command)

    def _add_command_words(self, command: nvset.NvSetCommand) -> None:
        words, parent = [self._root], ""
        for word in command.words:
            singles = (word, *(key for key in expand_key(parent, word) if key != word))
            if len(singles) > 1:
                singles = singles[: self._left + 1]
                self._left -= (len(singles) - 1) * len(words)
                singles = singles if self._left >= 0 else singles[:1]
            words = [above.after.setdefault(key, _CommandWordNode()) for above in words for key in singles]
            for word_node in words:
                word_node.last = command
            parent = word

    def span(self, path: Path, least: int, *, key: bool = False) -> Span | None:
        """Return the place of the value that the last command for a path gives, or of the path's last word there is.

        None if no command has the first `least` words of the path.
        """
        word, depth = self._root, 0
        for step in path:
            if step not in word.after:
                break
            word, depth = word.after[step], depth + 1
        if depth < max(least, 1) or word.last is None:
            return None
        command = word.last
        value = not key and depth == len(path) and depth + 1 == len(command.words)
        return command.spans[depth if value else depth - 1]
