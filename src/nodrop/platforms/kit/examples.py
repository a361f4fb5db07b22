"""The example fabric on each platform that is written, from `EXAMPLE` of the platform's folder."""

import importlib
from collections.abc import Mapping

from nodrop.platforms import default_platform, platforms_default_first

PORT_NAMES_PLATFORM = default_platform()
"""The platform whose port names the examples of rules use."""

TIER_CHANGES_BY_PLATFORM: Mapping[str, Mapping[str, object]] = {
    name: importlib.import_module(f"nodrop.platforms.{name}").EXAMPLE for name in platforms_default_first()
}
"""The changes to the tiers of two-by-two for each platform, the default platform first."""
