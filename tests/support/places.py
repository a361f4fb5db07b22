"""Where the repository is, its golden files, and the data of its tests: no other module of tests asks `__file__`."""

from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
DATA = TESTS / "data"
GOLDEN = ROOT / "golden"
SOURCE = ROOT / "src" / "nodrop"
