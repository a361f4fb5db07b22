"""Styles of a terminal."""


def style_text(shown_text: str, style: str, color: bool) -> str:
    """Return a text in a style, if there is one and color; a style are parameters of SGR (ECMA-48, 8.3.117): `1;31`."""
    return f"\x1b[{style}m{shown_text}\x1b[0m" if style and color else shown_text
