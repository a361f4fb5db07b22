"""The twin of a whole build: everything that is computed is seen."""

import pytest

import nodrop
from nodrop.model.fabric import Fabric
from nodrop.model.index import Index
from nodrop.model.reading import Reading
from nodrop.validating import compute_observation
from nodrop.validating.twin import observe_in_twin
from support.designs import build, shipped
from support.twin_runs import needed

pytestmark = pytest.mark.nightly


def read_back(fabric: Fabric) -> Reading:
    """A fabric as it is read from its files."""
    return nodrop.read_back(list(nodrop.write(fabric)), fabric)


@pytest.mark.parametrize(
    "name", ["two-by-two", "reference-256", "cabling-sheet", "uneven-pods", "your-names", "rail-only", "single-switch"]
)
def test_all_that_is_computed_is_seen(name: str) -> None:
    needed()
    reading = read_back(build(shipped(name)))
    index = Index(reading.fabric)
    own = compute_observation(index)
    lines: list[str] = []
    seen = observe_in_twin(reading, index, progress=lines.append)
    assert seen.refused == ()
    for check, items in own.seen.items():
        found = {item: seen.seen[check].get(item, seen.reason_unseen(check, item)) for item in items}
        assert found == items, check
    assert any(line.startswith("failure 1 of ") for line in lines) == bool(own.seen["failures"])
