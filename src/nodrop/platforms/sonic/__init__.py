"""SONiC: config_db.json and, for routing, frr.conf in mode split-unified."""

from collections.abc import Mapping

from nodrop.model.fabric import Device
from nodrop.syntax.comments import CommentSyntax

COMMENTS: Mapping[str, CommentSyntax] = {".conf": "frr", "": "lines"}
"""By how their names end, how files have comments."""

WRITES = ("config_db.json", "frr.conf", "apply/apply.sh")
"""The names of the files that are written, as patterns; also those of earlier versions."""

DEFAULT = True
"""This platform is used where none is named: in first intents, in examples of rules, in an import without releases."""

EXAMPLE: Mapping[str, object] = {}
"""The changes to the tiers of the example intent, two-by-two, that put it on this platform."""


def command_languages_of_device(device: Device) -> tuple[str, ...]:
    """Return what takes commands: FRR first for what frr.conf holds, unless BGP is in tables of config_db.json."""
    return ("sonic",) if device.routing_tables is True else ("frr", "sonic")
