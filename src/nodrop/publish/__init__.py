"""The output tree of a build: replaced as a whole or not at all, and never at the cost of a file of the user's."""

from collections.abc import Mapping
from pathlib import Path

from nodrop.publish.compare import Compared, Comparison, Drift, check, comparison, interrupted
from nodrop.publish.disk import DISK, Disk
from nodrop.publish.draft import Draft, Part, Published, Put, drafting, require_relative
from nodrop.publish.inplace import Built, Replacement, built_from, replace_files
from nodrop.publish.names import Names, matching
from nodrop.publish.tree import MANIFEST, digest, require_safe_paths

__all__ = [
    "DISK",
    "MANIFEST",
    "Built",
    "Compared",
    "Comparison",
    "Disk",
    "Draft",
    "Drift",
    "Names",
    "Part",
    "Published",
    "Put",
    "Replacement",
    "built_from",
    "check",
    "comparison",
    "digest",
    "drafting",
    "interrupted",
    "matching",
    "publish",
    "replace_files",
]


def publish(
    directory: Path,
    files: Mapping[str, bytes],
    file_names: Names,
    *,
    inputs: Mapping[str, str],
    display: str,
    disk: Disk = DISK,
    overwrite_edited: bool = False,
    mark: str | None = None,
    private: bool = False,
) -> Published:
    """Replace the content of `directory` with exactly these files and the manifest: a draft of one part.

    With a `mark`, replace only content that has a file of that name: files that another command wrote stay.

    An existing manifest claims no files but those that the command gives such `file_names`. `private` files may hold
    secrets, and are for their owner alone.

    Raises InputProblems, and then nothing has changed: see `drafting`, and a listed file edited by hand
    (unless `overwrite_edited`).
    """
    require_safe_paths(files)
    require_relative(inputs)
    with drafting(
        directory, file_names, display=display, disk=disk, overwrite_edited=overwrite_edited, mark=mark, private=private
    ) as draft:
        return draft.publish([draft.part().put(files)], inputs)
