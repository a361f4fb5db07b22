"""Where in a YAML text a place is, also in a text that is being written: a look by indentation and brackets."""

import re

_QUOTED = r""""(?:[^"\\]|\\.)*"?|'[^']*'?"""
_PLAIN = r"(?:[^\s,\[\]{}#:\"']|:(?=\S))(?:[^\s,\[\]{}:]|:(?=[^\s,\[\]{}])|[ ]+(?=[^\s,\[\]{}#:]))*"
_WORD = re.compile(rf"\s*(?:{_QUOTED}|{_PLAIN}|\S)")


def word_end(line: str, start: int) -> int:
    """Return the column behind the word, quoted text or plain text that begins at a column, all from 0."""
    found = _WORD.match(line, start)
    return found.end() if found and found[0].strip() else len(line)
