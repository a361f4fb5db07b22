"""Two texts of a file as a unified diff, which `patch -p0` takes; lines that hold a secret are never among it."""

import difflib
from collections.abc import Iterable, Iterator, Sequence

from nodrop.platforms.kit.secrets import looks_like_secret
from nodrop.report.escape import escape_terminal
from nodrop.report.paint import style_text
from nodrop.results.fixed import RewrittenFile

CONTEXT_LINES = 3
"""Lines around a change."""
_ANSI_STYLE_BY_SIGN = {"-": "31", "+": "32", "@": "36"}
_NO_NEWLINE = "\\ No newline at end of file\n"

_DiffOpcode = tuple[str, int, int, int, int]


def format_diff(file: RewrittenFile) -> str:
    """Write how a file changes; nothing if it does not. Bytes that are not UTF-8 are kept as lone surrogates.

    Changes of lines with a secret are left out, and a comment before the diff states that.
    """
    old, new = (text.decode("utf-8", "surrogateescape") for text in (file.old, file.new))
    before, after = _split_lines(old), _split_lines(new)
    hidden = file.hidden | {number for number, line in enumerate(before, 1) if looks_like_secret(line)}
    added = frozenset(number for number, line in enumerate(after, 1) if looks_like_secret(line))
    groups = list(_hunk_opcode_groups(before, after))
    opcode_groups = [
        opcode_group for group in groups for opcode_group in _split_around_hidden_lines(group, hidden, added)
    ]
    hunks = [line for opcode_group in opcode_groups for line in _hunk_lines(opcode_group, before, after)]
    has_hidden = _count_changes(groups) > _count_changes(opcode_groups)
    comments = (
        [f"# {_diff_file_name(file.display)}: changes of lines that hold a secret are not shown\n"]
        if has_hidden
        else []
    )
    head = [f"--- {_diff_file_name(file.display)}\n", f"+++ {_diff_file_name(file.display)}\n"] if hunks else []
    return "".join([*comments, *head, *hunks])


def _count_changes(groups: Iterable[Sequence[_DiffOpcode]]) -> int:
    return sum(opcode[0] != "equal" for group in groups for opcode in group)


def color_diff(shown_text: str) -> str:
    """Return a diff for a terminal: in colors, and with nothing in it that steers one."""
    return "".join(f"{_paint_line(line)}\n" for line in shown_text.removesuffix("\n").split("\n")) if shown_text else ""


def _paint_line(line: str) -> str:
    seen = escape_terminal(line.removesuffix("\r"))
    of_file = line.startswith(("--- ", "+++ "))
    return style_text(seen, "1" if of_file else _ANSI_STYLE_BY_SIGN.get(line[:1], ""), color=True)


def _diff_file_name(display: str) -> str:
    """Return the name of a file as a diff may hold it; one with a tab or line break has it written out."""
    return escape_terminal(display)


def _split_lines(text: str) -> list[str]:
    """Return the lines of a text with their line feeds; nothing else ends a line of a diff."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def _hunk_opcode_groups(before: Sequence[str], after: Sequence[str]) -> Iterator[list[_DiffOpcode]]:
    """Yield what belongs into one hunk; what both texts begin and end with is not looked at twice."""
    least = min(len(before), len(after))
    head = next((at for at in range(least) if before[at] != after[at]), least)
    tail = next((at for at in range(least - head) if before[-1 - at] != after[-1 - at]), least - head)
    start, stop = max(0, head - CONTEXT_LINES), max(0, tail - CONTEXT_LINES)
    matcher = difflib.SequenceMatcher(None, before[start : len(before) - stop], after[start : len(after) - stop])
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        yield [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in group]


def _split_around_hidden_lines(
    group: list[_DiffOpcode], hidden: frozenset[int], added: frozenset[int]
) -> Iterator[list[_DiffOpcode]]:
    """Yield a hunk in parts that have no hidden line (1-based, of the old and of the new text).

    A change of such a line is left out.
    """
    opcode_group: list[_DiffOpcode] = []
    for tag, a, b, c, d in group:
        if tag != "equal" and not (hidden.isdisjoint(range(a + 1, b + 1)) and added.isdisjoint(range(c + 1, d + 1))):
            if any(opcode[0] != "equal" for opcode in opcode_group):
                yield opcode_group
            opcode_group = []
            continue
        shown = [at for at in range(a, b) if at + 1 not in hidden]
        if tag != "equal" or len(shown) == b - a:
            opcode_group.append((tag, a, b, c, d))
            continue
        lead = next(at for at in range(a, b) if at + 1 in hidden)
        trail = next(at for at in range(b - 1, a - 1, -1) if at + 1 in hidden) + 1
        opcode_group += [("equal", a, lead, c, c + lead - a)] if lead > a and opcode_group else []
        if any(opcode[0] != "equal" for opcode in opcode_group):
            yield opcode_group
        opcode_group = [("equal", trail, b, d - (b - trail), d)] if b > trail else []
    if any(opcode[0] != "equal" for opcode in opcode_group):
        yield opcode_group


def _hunk_lines(group: Sequence[_DiffOpcode], before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
    yield f"@@ -{_format_hunk_range(a, b)} +{_format_hunk_range(c, d)} @@\n"
    for tag, old_start, last, new_start, end in group:
        if tag == "equal":
            yield from _diff_lines_with_sign(" ", before[old_start:last])
            continue
        yield from _diff_lines_with_sign("-", before[old_start:last])
        yield from _diff_lines_with_sign("+", after[new_start:end])


def _format_hunk_range(start: int, stop: int) -> str:
    """Return lines as the head of a hunk counts them."""
    length = stop - start
    return str(start + 1) if length == 1 else f"{start if length == 0 else start + 1},{length}"


def _diff_lines_with_sign(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield f"{mark}{line}"
        if not line.endswith("\n"):
            yield f"\n{_NO_NEWLINE}"
