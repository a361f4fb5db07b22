"""The product of a writer: a file of a device."""

from collections.abc import Mapping
from typing import NamedTuple

from nodrop.model.subject import Subject
from nodrop.model.values import model_dataclass


@model_dataclass
class Artifact:
    """A file to be carried to a switch: the device, its path below the device's folder, and the text."""

    device: str
    path: str
    text: str


class FirstApplyDisruption(NamedTuple):
    """A setting of a build that restarts services, or brings all ports of a switch down, when it is applied first."""

    setting: str
    reason: str
    source: str


class BatfishTables(NamedTuple):
    """A device's tables, cut down to the columns that Batfish reads: the file and the folder that it expects."""

    folder: str
    file: str
    text: str
    vlan: str
    """What stands before the number of a VLAN in the name of its interface."""
    unseen: Mapping[Subject, str]
    """What was left out, and why."""
