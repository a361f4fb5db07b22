"""A text of a rule file and the place where it stands, so that whatever is wrong in it has a line and a column."""

import re
from dataclasses import dataclass, replace

from nodrop.errors import InputProblems, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """An expression or message as it stands in the file `path`, at `line` and `column`, under the key path `where`.

    `literal` says that the text stands there letter by letter, so that a place inside it has a column of its own.
    """

    text: str
    path: str
    where: str
    line: int
    column: int
    literal: bool = True

    def fault(self, found: str, expected: str = "", *, hint: str = "", at: str = "", after: str = "") -> InputProblems:
        """What is wrong, at the words `at` of the text, past their beginning `after`, else where the text begins."""
        offset = self._offset(at) if at and self.literal else -1
        return InputProblems(
            [
                Problem(
                    path=self.path,
                    line=self.line,
                    column=self.column + (offset + len(after) if offset >= 0 else 0),
                    where=self.where,
                    found=found,
                    expected=expected,
                    hint=hint,
                )
            ]
        )

    def below(self, scope: str) -> "Written":
        """The same words as a path that begins with `scope`, which is not written there."""
        return replace(self, text=f"{scope}.{self.text}", column=self.column - len(scope) - 1)

    def _offset(self, words: str) -> int:
        before = r"(?<![\w.])" if re.match(r"\w", words) else ""
        after = r"(?!\w)" if re.search(r"\w$", words) else ""
        found = re.search(before + re.escape(words) + after, self.text)
        return found.start() if found else -1
