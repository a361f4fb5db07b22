"""Intents on SONiC, on NVUE and on both."""

from nodrop.resources import home
from support.designs import Data, shipped

OTHERS = ("reference-256-", "broadcom", "adaptive")
INTENTS = sorted(path.stem for path in home("intents").glob("*.yaml") if not path.stem.startswith(OTHERS))
"""All but those that are another's mix, and those that only one of the platforms can carry."""
RELEASES = {"sonic": ("202505",), "nvue": ("5.14", "5.19")}
MIXES = (("sonic", "sonic"), ("sonic", "nvue"), ("nvue", "sonic"), ("nvue", "nvue"))
"""Platform of the leaves, and of the spines."""


def on(name: str, leaves: str, spines: str, release: int = -1) -> Data:
    """An intent on a mix of platforms, each by its last release or another; its switches are named by their groups."""
    groups = shipped(name)["topology"].get("groups", {})
    tiers = {f"groups.{key}": leaves if group["tier"] == "1" else spines for key, group in groups.items()}
    tiers = tiers or {"leaves": leaves, "spines": spines}
    changes = {f"topology.{tier}.platform": platform for tier, platform in tiers.items()}
    releases = {f"topology.{tier}.version": RELEASES[platform][release] for tier, platform in tiers.items()}
    return shipped(name, changes | releases | {"names": None})
