"""NVIDIA Onyx (before: MLNX-OS Ethernet) on Spectrum-1 to Spectrum-3: a running-config, read and never written."""

from collections.abc import Mapping

from nodrop.syntax.comments import CommentSyntax

COMMENTS: Mapping[str, CommentSyntax] = {"": "lines"}
"""By how their names end, how files have comments."""
