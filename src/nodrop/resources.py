"""Where shipped templates, rules, intents, profiles and schemas lie: in a wheel, or at the top of a checkout."""

from pathlib import Path

_PACKAGE_FOLDER = Path(__file__).parent


def resource_folder(name: str) -> Path:
    """Return the folder of shipped data called `name`: `templates`, `rules`, `intents`, `profiles` or `schemas`."""
    inside = _PACKAGE_FOLDER / "data" / name
    return inside if inside.is_dir() else _PACKAGE_FOLDER.parents[1] / name
