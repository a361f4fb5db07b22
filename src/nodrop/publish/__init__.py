"""The output tree of a build: replaced as a whole or not at all, and never at the cost of a file of the user's."""

from collections.abc import Mapping
from pathlib import Path

from nodrop.publish.compare import (
    ComparedFiles,
    FolderComparison,
    TreeDrift,
    begin_comparison,
    compare_with_build,
    interrupted_build_hint,
)
from nodrop.publish.disk import DEFAULT_DISK, Disk
from nodrop.publish.draft import Draft, Part, PublishedFiles, PutFiles, open_draft, require_relative
from nodrop.publish.inplace import BuildFolder, Replacement, built_from, replace_files
from nodrop.publish.names import IsCommandFile, match_file_names
from nodrop.publish.tree import MANIFEST_FILE, content_digest, require_safe_paths

__all__ = [
    "DEFAULT_DISK",
    "MANIFEST_FILE",
    "BuildFolder",
    "ComparedFiles",
    "Disk",
    "Draft",
    "FolderComparison",
    "IsCommandFile",
    "Part",
    "PublishedFiles",
    "PutFiles",
    "Replacement",
    "TreeDrift",
    "begin_comparison",
    "built_from",
    "compare_with_build",
    "content_digest",
    "interrupted_build_hint",
    "match_file_names",
    "open_draft",
    "publish",
    "replace_files",
]


def publish(
    directory: Path,
    files: Mapping[str, bytes],
    file_names: IsCommandFile,
    *,
    inputs: Mapping[str, str],
    display: str,
    disk: Disk = DEFAULT_DISK,
    overwrite_edited: bool = False,
    mark: str | None = None,
    private: bool = False,
) -> PublishedFiles:
    """Replace the content of `directory` with exactly these files and the manifest: a draft of one part.

    With a `mark`, replace only content that has a file of that name: files that another command wrote stay.

    An existing manifest claims no files but those that the command gives such `file_names`. `private` files may hold
    secrets, and are for their owner alone.

    Raises InputProblems, and then nothing has changed: see `drafting`, and a listed file edited by hand
    (unless `overwrite_edited`).
    """
    require_safe_paths(files)
    require_relative(inputs)
    with open_draft(
        directory, file_names, display=display, disk=disk, overwrite_edited=overwrite_edited, mark=mark, private=private
    ) as draft:
        return draft.publish([draft.part().put(files)], inputs)
