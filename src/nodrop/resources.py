"""Where the shipped templates, rules and intents lie: inside an installed wheel, or at the top of a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def home(name: str) -> Path:
    """Return the folder of shipped data called `name`: `templates`, `rules` or `intents`."""
    inside = _PACKAGE / "data" / name
    return inside if inside.is_dir() else _PACKAGE.parents[1] / name
