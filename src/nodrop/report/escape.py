"""What may not reach a reader as it stands, one function per output format (contract 9.20)."""

from unicodedata import category

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
"""With what a spreadsheet begins a formula; some take the wide forms too."""


def terminal(text: str, *, lines: bool = False) -> str:
    r"""Text that can neither steer a terminal nor hide: what is unseen is written out, as `\x1b` or `\u202e`.

    Unseen are control characters, formatting characters (bidi overrides, zero-width spaces), separators of lines and
    lone surrogates. The two joiners stay, since words and emoji are spelt with them. Line feeds stay with `lines`.
    What comes out contains nothing that would be written out again.
    """
    if text.isprintable():
        return text
    kept = "\n" if lines else ""
    return "".join(char if char in kept or _seen(char) else _written(char) for char in text)


def cell(text: str) -> str:
    """Text as a cell of a CSV file that no spreadsheet takes for a formula: those begin with one of `= + - @`.

    What is unseen is written out, tabs and line breaks too; a quote in front makes the rest a text.
    """
    if text[:1].isalnum() and text.isprintable():  # as nearly all of some hundred thousand cells of a pod are
        return text
    seen = terminal(text)
    return f"'{seen}" if seen.lstrip().startswith(_FORMULA) else seen


def utf8(text: str) -> str:
    r"""Text that UTF-8 can hold: a lone surrogate, which an undecodable byte of a file name becomes, is `\udcff`."""
    return text.encode("utf-8", "backslashreplace").decode()


def _seen(char: str) -> bool:
    return char in _JOINERS or category(char) not in _UNSEEN


def _written(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
