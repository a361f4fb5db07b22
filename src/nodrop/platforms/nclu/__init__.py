"""NCLU, the commands of Cumulus Linux up to 4.4: `net add …`, read and never written."""

from collections.abc import Mapping

from nodrop.model.fabric import Device
from nodrop.syntax.comments import CommentSyntax

COMMENTS: Mapping[str, CommentSyntax] = {"": "shell"}
"""By how their names end, how files have comments."""


def command_languages_of_device(device: Device) -> tuple[str, ...]:
    """Return what takes commands: NCLU, into which lines of FRR are translated."""
    return "nclu", "frr"
