"""A tree as it was: at a revision of git, or in another folder, read as if it lay where the tree lies now."""

from nodrop.revisions.base import is_base_on_empty_remote, open_base_state
from nodrop.revisions.state import FormerTree

__all__ = ["FormerTree", "is_base_on_empty_remote", "open_base_state"]
