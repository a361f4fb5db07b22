"""Given lines of `nv set`, changed in the value of a setting: in its line, or in a new line right behind it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod

from nodrop.platforms.nvue.edit_document import join_single_keys
from nodrop.platforms.nvue.edit_operations import MultiKeyPath, SetOrUnsetOperation, combine_operations
from nodrop.platforms.nvue.names import expand_key
from nodrop.platforms.nvue.stages import quote_for_shell
from nodrop.platforms.nvue.tree import Path
from nodrop.syntax import nvset
from nodrop.syntax.places import BYTE_ORDER_MARK, line_starts

MAX_PATHS_PER_OPERATION = 65_536
"""Single settings in one operation."""


@dataclass(eq=False)
class _ScriptCommand:
    """A command: `given` is None where it is new, `words` are its current words; None where it is taken out."""

    verb: str
    words: list[str] | None
    given: nvset.NvSetCommand | None = None
    stands_for: list[tuple[str, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stands_for = list(_expanded_keys_of_words(self.words or ()))

    def replace_word(self, at: int, word: str) -> None:
        """Change a word."""
        assert self.words is not None
        self.words[at] = word
        self.stands_for = list(_expanded_keys_of_words(self.words))


def _expanded_keys_of_words(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return (expand_key(words[at - 1] if at else "", word) for at, word in enumerate(words))


def format_command(operation: SetOrUnsetOperation) -> str:
    """Spell an operation as a line, without its end."""
    words = _statement_words(operation.steps, operation.value)
    return f"nv {'unset' if operation.value is None else 'set'} {' '.join(map(quote_for_shell, words))}"


def _statement_words(statement_steps: MultiKeyPath, value: str | None) -> list[str]:
    words = [
        join_single_keys(statement_steps[at - 1][0] if at else "", step) for at, step in enumerate(statement_steps)
    ]
    return [*words, value] if value else words


class ScriptDocument:
    """A script of commands."""

    def __init__(self, text: str) -> None:
        """Take a text that the reader has accepted."""
        self._text = text.removeprefix(BYTE_ORDER_MARK)
        self._bom = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
        commands = nvset.parse_nv_commands(self._text).commands
        self._lines = [_ScriptCommand(one.verb, list(one.words), one) for one in commands]
        self._starts = [*line_starts(self._text), len(self._text)]

    @property
    def text(self) -> str:
        """Return the current text."""
        edits: list[tuple[int, int, str]] = []
        behind = 0
        newline = "\r\n" if "\r\n" in self._text else "\n"
        for line in self._lines:
            if line.given is None:
                if line.words is not None:
                    command_text = " ".join(["nv", line.verb, *map(quote_for_shell, line.words)])
                    cut = behind and not self._text[:behind].endswith("\n")
                    edits.append((behind, behind, f"{newline if cut else ''}{command_text}{'' if cut else newline}"))
                continue
            start, behind = self._offsets_of_command(line.given)
            if line.words is None:
                edits.append((start, behind, ""))
                continue
            for word, was, span in zip(line.words, line.given.words, line.given.spans, strict=True):
                if word != was:
                    at = self._starts[span.line - 1] + span.column - 1
                    end = self._starts[span.end_line - 1] + span.end_column - 1
                    edits.append((at, end, quote_for_shell(word)))
        out, at = [], 0
        for start, end, new in sorted(edits, key=lambda edit: edit[0]):
            out += [self._text[at:start], new]
            at = end
        return self._bom + "".join([*out, self._text[at:]])

    def _offsets_of_command(self, command: nvset.NvSetCommand) -> tuple[int, int]:
        """Return where the lines begin and end that a command stands on."""
        return self._starts[command.spans[0].line - 1], self._starts[command.spans[-1].end_line]

    def _is_alone(self, command: nvset.NvSetCommand) -> bool:
        """Whether nothing else stands on a command's lines."""
        start, end = self._offsets_of_command(command)
        return len(nvset.parse_nv_commands(self._text[start:end]).commands) == 1 and "#" not in self._text[start:end]

    def apply_operation(self, operation: SetOrUnsetOperation) -> None:
        """Make a change where a command has the setting, else behind the nearest; ValueError for too many settings."""
        if prod(map(len, operation.steps)) > MAX_PATHS_PER_OPERATION:
            raise ValueError(f"more than {MAX_PATHS_PER_OPERATION:,} settings at once")
        if operation.value is None:
            self._unset_path(operation)
        else:
            self._set_path(operation)

    def append_operations(self, changes: Sequence[SetOrUnsetOperation]) -> None:
        """Write changes behind all existing commands."""
        for change in changes:
            verb = "unset" if change.value is None else "set"
            self._lines.append(_ScriptCommand(verb, _statement_words(change.steps, change.value)))

    def _set_path(self, operation: SetOrUnsetOperation) -> None:
        value = operation.value or ""
        by_line: dict[int, list[Path]] = {}
        new: list[Path] = []
        length = len(operation.steps) + bool(value)
        fitting = [
            at
            for at, line in enumerate(self._lines)
            if line.words is not None and line.verb == "set" and len(line.words) == length
        ]
        for path in operation.paths:
            last = next((at for at in reversed(fitting) if _line_covers_path(self._lines[at], path)), None)
            if last is None:
                new.append(path)
            else:
                by_line.setdefault(last, []).append(path)
        for at, paths in sorted(by_line.items(), reverse=True):
            line = self._lines[at]
            if not value or (line.words or [])[-1] == value:
                continue
            if not self._remove_paths(line, paths, len(operation.steps)):
                line.replace_word(-1, value)
                continue
            self._insert_lines(at + 1, combine_operations((path, value) for path in paths))
        if new:
            self._insert_lines(self._nearest_line(new[0]) + 1, combine_operations((path, value) for path in new))

    def _unset_path(self, operation: SetOrUnsetOperation) -> None:
        paths = list(operation.paths)
        length = len(operation.steps)
        for at in range(len(self._lines) - 1, -1, -1):
            line = self._lines[at]
            if line.words is None or line.verb != "set" or len(line.words) < length:
                continue
            found_paths = [path for path in paths if _line_covers_path(line, path)]
            if not found_paths:
                continue
            if self._remove_paths(line, found_paths, length):
                if all(_line_covers_path(line, path) for path in found_paths):
                    self._insert_lines(at + 1, combine_operations((path, None) for path in found_paths))
            elif line.given is None or self._is_alone(line.given):
                line.words = None
            else:
                self._insert_lines(at + 1, combine_operations((path, None) for path in found_paths))

    def _insert_lines(self, at: int, changes: Iterable[SetOrUnsetOperation]) -> None:
        self._lines[at:at] = [
            _ScriptCommand("unset" if change.value is None else "set", _statement_words(change.steps, change.value))
            for change in changes
        ]

    @staticmethod
    def _remove_paths(line: _ScriptCommand, paths: Sequence[Path], length: int) -> bool:
        """Take paths out of the list or range of a command; return whether it sets anything in addition to them.

        Where that takes more than one word, the command stays as it is, and a later one must overrule it.
        """
        key_lists = line.stands_for[:length]
        removed_keys = [tuple(dict.fromkeys(path[at] for path in paths)) for at in range(length)]
        if prod(map(len, key_lists)) == len(paths):
            return False
        wide = [at for at in range(length) if len(removed_keys[at]) < len(key_lists[at])]
        if len(wide) == 1 and prod(map(len, removed_keys)) == len(paths):
            (at,) = wide
            remaining_keys = [key for key in key_lists[at] if key not in removed_keys[at]]
            line.replace_word(at, join_single_keys((line.words or [])[at - 1] if at else "", remaining_keys))
        return True

    def _nearest_line(self, path: Path) -> int:
        """Return the last command of those that share most words with a path."""
        best, most = len(self._lines) - 1, 0
        for at, line in enumerate(self._lines):
            if line.words is None or line.verb != "set":
                continue
            shared = 0
            for word, stands_for in zip(path, line.stands_for, strict=False):
                if word not in stands_for:
                    break
                shared += 1
            if shared >= max(most, 1):
                best, most = at, shared
        return best


def _line_covers_path(line: _ScriptCommand, path: Path) -> bool:
    return all(word in stands_for for word, stands_for in zip(path, line.stands_for, strict=False))
