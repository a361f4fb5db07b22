"""What some tests need outside Python: where it is missing they are skipped, or failed where it is required."""

import os

import pytest


def require(name: str, available: bool, reason: str) -> None:
    """Skip the test unless `available`; fail it where NODROP_REQUIRE, a list with commas, names `name`."""
    if available:
        return
    if name in os.environ.get("NODROP_REQUIRE", "").split(","):
        pytest.fail(f"NODROP_REQUIRE has {name}, but {reason}")
    pytest.skip(f"{name}: {reason}")
