"""SONiC: config_db.json and, for routing, frr.conf in mode split-unified."""

from collections.abc import Mapping

from nodrop.formats.comments import Syntax

COMMENTS: Mapping[str, Syntax] = {".conf": "frr", "": "lines"}
"""By how their names end, how files have comments."""
