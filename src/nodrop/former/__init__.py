"""A tree as it was: at a revision of git, or in another folder, read as if it lay where the tree lies now."""

from nodrop.former.base import at_base
from nodrop.former.state import Former

__all__ = ["Former", "at_base"]
