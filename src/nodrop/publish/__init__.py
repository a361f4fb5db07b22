"""The output tree of a build: replaced as a whole or not at all, and never at the cost of a file of the user's."""

from collections.abc import Mapping
from pathlib import Path

from nodrop.publish.compare import (
    BuildFolderDifference,
    ComparedFolder,
    FileDigestsAndDifferences,
    begin_comparison,
    compare_with_build,
    interrupted_build_hint,
)
from nodrop.publish.disk import DEFAULT_DISK_WRITER, DiskWriter
from nodrop.publish.draft import (
    OutputTreeChanges,
    OutputTreeDraft,
    OutputTreeDraftPart,
    PutFilesResult,
    open_draft,
    require_relative_input_names,
)
from nodrop.publish.inplace import BuildFolderWithInputs, FileReplacement, build_folder_of_file, replace_files
from nodrop.publish.names import IsOutputNameOfCommand, file_name_matcher
from nodrop.publish.tree import MANIFEST_FILE, content_digest, require_safe_paths

__all__ = [
    "DEFAULT_DISK_WRITER",
    "MANIFEST_FILE",
    "BuildFolderDifference",
    "BuildFolderWithInputs",
    "ComparedFolder",
    "DiskWriter",
    "FileDigestsAndDifferences",
    "FileReplacement",
    "IsOutputNameOfCommand",
    "OutputTreeChanges",
    "OutputTreeDraft",
    "OutputTreeDraftPart",
    "PutFilesResult",
    "begin_comparison",
    "build_folder_of_file",
    "compare_with_build",
    "content_digest",
    "file_name_matcher",
    "interrupted_build_hint",
    "open_draft",
    "publish",
    "replace_files",
]


def publish(
    directory: Path,
    files: Mapping[str, bytes],
    file_names: IsOutputNameOfCommand,
    *,
    inputs: Mapping[str, str],
    display: str,
    disk: DiskWriter = DEFAULT_DISK_WRITER,
    overwrite_edited: bool = False,
    mark: str | None = None,
    private: bool = False,
) -> OutputTreeChanges:
    """Replace the content of `directory` with exactly these files and the manifest: a draft of one part.

    With a `mark`, replace only content that has a file of that name: files that another command wrote stay.

    An existing manifest claims no files but those that the command gives such `file_names`. `private` files may hold
    secrets, and are for their owner alone.

    Raises InputProblems, and then nothing has changed: see `drafting`, and a listed file edited by hand
    (unless `overwrite_edited`).
    """
    require_safe_paths(files)
    require_relative_input_names(inputs)
    with open_draft(
        directory, file_names, display=display, disk=disk, overwrite_edited=overwrite_edited, mark=mark, private=private
    ) as draft:
        return draft.publish([draft.part_for_prefix().put(files)], inputs)
