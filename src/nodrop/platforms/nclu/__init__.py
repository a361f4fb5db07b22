"""NCLU, the commands of Cumulus Linux up to 4.4: `net add …`, read and never written."""

from collections.abc import Mapping

from nodrop.syntax.comments import CommentSyntax

COMMENTS: Mapping[str, CommentSyntax] = {"": "shell"}
"""By how their names end, how files have comments."""
