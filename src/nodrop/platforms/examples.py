"""The example fabric on each platform that is written: what is laid over its tiers, and whose port names it goes by."""

from collections.abc import Mapping
from typing import Any

NAMES = "sonic"
"""The platform by whose names of ports the examples of rules go."""

TIERS: Mapping[str, Mapping[str, Any]] = {
    "sonic": {},
    "nvue": {"spines": {"platform": "nvue", "version": "5.14"}, "leaves": {"platform": "nvue", "version": "5.16"}},
}
"""What is laid over the tiers of two-by-two for each platform: NVUE in both of its dialects."""
