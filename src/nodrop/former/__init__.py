"""A tree as it was: at a revision of git, or in another folder, read as if it lay where the tree lies now."""

from nodrop.former.git import REVISION_HINT, Repository, open_repository
from nodrop.former.tree import Former, of_folder, of_revision

__all__ = ["REVISION_HINT", "Former", "Repository", "of_folder", "of_revision", "open_repository"]
