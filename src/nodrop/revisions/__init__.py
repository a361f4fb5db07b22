"""A tree as it was: at a revision of git, or in another folder, read as if it lay where the tree lies now."""

from nodrop.revisions.base import at_base, is_first_push
from nodrop.revisions.state import FormerTree

__all__ = ["FormerTree", "at_base", "is_first_push"]
