"""SONiC: config_db.json and, for routing, frr.conf in mode split-unified."""

from collections.abc import Mapping

from nodrop.formats.comments import Syntax

COMMENTS: Mapping[str, Syntax] = {".conf": "frr", "": "lines"}
"""By how their names end, how files have comments."""

WRITES = ("config_db.json", "frr.conf")
"""The names of the files that are written, as patterns; also those of earlier versions."""
