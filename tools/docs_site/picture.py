"""Pictures of a terminal: what a command prints, with its colors, as SVG."""

import re
from collections.abc import Iterator
from html import escape

CHARACTER_WIDTH, LINE_HEIGHT, MARGIN, BAR = 8.4, 19, 18, 34
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
BACKGROUND, FOREGROUND, FRAME = "#16181d", "#d5d9e0", "#2a2e37"
COLORS = {"31": "#ff6b68", "32": "#7fd88f", "33": "#e5c07b", "34": "#6cb6ff", "35": "#c792ea", "36": "#56c8d8"}
"""Colors of SGR parameters (ECMA-48, 8.3.117)."""
_SEQUENCE = re.compile(r"\x1b\[([0-9;]*)m|\x1b\]8;[^\x1b]*\x1b\\")


def terminal_svg(command: str, output: str, columns: int = 108) -> str:
    """Return an SVG of a terminal in which a command printed its output, with SGR colors; long lines are cut."""
    lines = [[("1", "$ "), ("", command)], *_styled_lines(output)]
    width = round(columns * CHARACTER_WIDTH + 2 * MARGIN)
    height = len(lines) * LINE_HEIGHT + 2 * MARGIN + BAR
    title = escape(f"Terminal: {command}")
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}" stroke="{FRAME}"/>',
        *(f'<circle cx="{MARGIN + 18 * at}" cy="{BAR / 2 + 2:g}" r="5.5" fill="{FRAME}"/>' for at in range(3)),
        f'<g font-family="{FONTS}" font-size="14" fill="{FOREGROUND}">',
    ]
    for number, line in enumerate(lines):
        spans = "".join(_span(style, text) for style, text in _cut(line, columns))
        if spans:
            y = BAR + MARGIN + number * LINE_HEIGHT
            parts.append(f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{spans}</text>')
    return "\n".join([*parts, "</g>", "</svg>"]) + "\n"


def without_rule_counts(output: str) -> str:
    """Return what lint prints without the numbers of rules: each new rule would change the picture."""
    lines = [line for line in output.splitlines() if " rules skipped: " not in line]
    return re.sub(r", \d+ rules:", ":", "\n".join(lines))


def _styled_lines(text: str) -> Iterator[list[tuple[str, str]]]:
    """Yield each line as texts with their SGR parameters."""
    style = ""
    for line in text.rstrip("\n").split("\n"):
        spans, at = [], 0
        for sequence in _SEQUENCE.finditer(line):
            spans.append((style, line[at : sequence.start()]))
            at = sequence.end()
            if sequence[1] is not None:
                style = "" if sequence[1] in ("", "0") else sequence[1]
        spans.append((style, line[at:]))
        yield [(its, part) for its, part in spans if part]


def _cut(spans: list[tuple[str, str]], columns: int) -> Iterator[tuple[str, str]]:
    """Yield the texts of a line up to its last column; `…` ends one that is longer."""
    left = columns
    whole = sum(len(text) for _, text in spans) <= columns
    for style, text in spans:
        if not whole and len(text) >= left:
            yield style, text[: left - 1] + "…"
            return
        yield style, text
        left -= len(text)


def _span(style: str, text: str) -> str:
    codes = style.split(";")
    color = next((COLORS[code] for code in codes if code in COLORS), None)
    attributes = (f' fill="{color}"' if color else "") + (' font-weight="bold"' if "1" in codes else "")
    return f"<tspan{attributes}>{escape(text, quote=False)}</tspan>"
