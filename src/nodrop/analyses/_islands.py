"""Switches joined by cables: a switch that is not joined is in another fabric, or is a device without known facts."""

from collections.abc import Mapping

from nodrop.model.index import Index
from nodrop.model.modes import find_connected_components


def group_representative_by_device(index: Index) -> Mapping[str, str]:
    """By device, one device of all that cables join, itself included."""
    return find_connected_components(index.devices, index.fabric.links)
