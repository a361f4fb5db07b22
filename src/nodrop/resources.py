"""Where the shipped templates, rules, intents and profiles lie: in an installed wheel, or at the top of a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def home(name: str) -> Path:
    """Return the folder of shipped data called `name`: `templates`, `rules`, `intents` or `profiles`."""
    inside = _PACKAGE / "data" / name
    return inside if inside.is_dir() else _PACKAGE.parents[1] / name
