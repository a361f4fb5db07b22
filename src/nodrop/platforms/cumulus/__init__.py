"""Cumulus Linux files of any release: QoS, interfaces, ports and FRR, read and never written."""

from collections.abc import Mapping

from nodrop.model.fabric import Device
from nodrop.syntax.comments import CommentSyntax

COMMENTS: Mapping[str, CommentSyntax] = {
    **dict.fromkeys(("frr.conf", "Quagga.conf", "zebra.conf", "bgpd.conf"), "frr"),
    "": "shell",
}
"""By how their names end, how files have comments."""


def command_languages_of_device(device: Device) -> tuple[str, ...]:
    """Return what takes commands: FRR for routing, else lines of files."""
    return "frr", "cumulus"
