"""The artifacts and the fabric that the last reading was made of."""

from collections.abc import Sequence

import pytest

import nodrop
from nodrop.model.fabric import Fabric
from nodrop.model.reading import Reading
from nodrop.platforms.kit.artifact import Artifact


class LastReading:
    """Remembers what `nodrop.read_back` was last called with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.artifacts: list[Artifact] = []
        self.fabric: Fabric | None = None
        self.read_back = nodrop.read_back
        """As it is without this."""
        monkeypatch.setattr(nodrop, "read_back", self._remember)

    def _remember(self, artifacts: Sequence[Artifact], fabric: Fabric, below: str = "") -> Reading:
        self.artifacts, self.fabric = list(artifacts), fabric
        return self.read_back(artifacts, fabric, below)
