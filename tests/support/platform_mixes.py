"""Intents on SONiC, on NVUE and on both."""

from nodrop.resources import resource_folder
from support.designs import Data, shipped, tiers_of

OTHERS = ("reference-256-", "broadcom", "adaptive")
INTENTS = sorted(path.stem for path in resource_folder("intents").glob("*.yaml") if not path.stem.startswith(OTHERS))
"""All but those that are another's mix, and those that only one of the platforms can carry."""
RELEASES = {"sonic": ("202505",), "nvue": ("5.14", "5.19")}
MIXES = (("sonic", "sonic"), ("sonic", "nvue"), ("nvue", "sonic"), ("nvue", "nvue"))
"""Platform of the leaves, and of the spines."""


def on(name: str, leaves: str, spines: str, release: int = -1) -> Data:
    """An intent on a mix of platforms, each by its last release or another; its switches are named by their groups."""
    platforms = {path: leaves if tier == 1 else spines for path, tier in tiers_of(name).items()}
    changes = {f"{path}.platform": platform for path, platform in platforms.items()}
    releases = {f"{path}.version": RELEASES[platform][release] for path, platform in platforms.items()}
    return shipped(name, changes | releases | {"names": None})
