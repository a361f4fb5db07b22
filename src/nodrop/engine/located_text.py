"""A text of a rule file and its place, which gives every fault in it a line and a column."""

import re
from dataclasses import dataclass, replace

from nodrop.errors import InputProblems, Problem


class MayBeNoneError(InputProblems):
    """An expression measures what may be None; where `when` is at fault itself, that may be why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpressionText:
    """An expression or message as written in the file `path`, at `line` and `column`, under the key path `where`.

    `literal` means that the file has the text letter by letter, so each place inside it has a separate column.
    """

    text: str
    path: str
    where: str
    line: int
    column: int
    literal: bool = True
    unwritten: int = 0
    """How many characters of the text, from its beginning, go without saying in the file."""

    def fault(
        self, found_text: str, expected: str = "", *, hint: str = "", at: str = "", after: str = ""
    ) -> InputProblems:
        """Return the fault at the words `at` of the text, past their beginning `after`, else where the text begins."""
        found_at = self._find_offset(at) if at and self.literal else -1
        offset = max(found_at + len(after) - self.unwritten, 0) if found_at >= 0 else 0
        return InputProblems(
            [
                Problem(
                    path=self.path,
                    line=self.line,
                    column=self.column + offset,
                    where=self.where,
                    found=found_text,
                    expected=expected,
                    hint=hint,
                )
            ]
        )

    def with_scope_prefix(self, scope: str) -> "ExpressionText":
        """Return the same words as a path that begins with `scope`, which is not written there."""
        return replace(self, text=f"{scope}.{self.text}", unwritten=len(scope) + 1)

    def _find_offset(self, words: str) -> int:
        before = r"(?<![\w.])" if re.match(r"\w", words) else ""
        after = r"(?!\w)" if re.search(r"\w$", words) else ""
        match = re.search(before + re.escape(words) + after, self.text)
        return match.start() if match else -1
