"""NVIDIA Cumulus Linux 5.x as NVUE configures it, on Spectrum switches."""

from collections.abc import Mapping

from nodrop.syntax.comments import CommentSyntax

COMMENTS: Mapping[str, CommentSyntax] = {"frr.conf": "frr", ".conf": "shell", "": "yaml"}
"""By how their names end, how files have comments."""

WRITES = ("startup.yaml", "apply/*.nv", "apply/*.yaml", "apply/apply.sh")
"""The names of the files that are written, as patterns; also those of earlier versions."""

EXAMPLE: Mapping[str, object] = {
    "spines": {"platform": "nvue", "version": "5.14"},
    "leaves": {"platform": "nvue", "version": "5.16"},
}
"""The changes to the tiers of the example intent, two-by-two, that put it on this platform: in both of its dialects."""
